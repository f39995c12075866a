# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Bodies that read captures below a condition."""

# ruff: noqa: PLR1730 - branches are what this is about.

from __future__ import annotations

import math

import numpy as np
from branch_body import body

# --- Scalars, and what stands in a conditional -----------------------------------------------------


def asymmetric_straight(x, y, acc, ctx):
    d = x - y
    return acc + np.where(d > 0, ctx.a * d, -ctx.b * d)


@body(asymmetric_straight, "a b")
def asymmetric(x, y, acc, ctx):
    d = x - y
    return acc + (ctx.a * d if d > 0 else -ctx.b * d)


@body(asymmetric_straight, "a b")
def asymmetric_if(x, y, acc, ctx):
    d = x - y
    if d > 0:
        return acc + ctx.a * d
    return acc - ctx.b * d


def scaled_straight(x, y, acc, ctx):
    d = abs(x - y)
    return acc + np.where(d > ctx.b, ctx.a, np.float32(1)) * d


@body(scaled_straight, "a b")
def scaled(x, y, acc, ctx):
    scale = np.float32(1)
    if abs(x - y) > ctx.b:
        scale = ctx.a
    return acc + scale * abs(x - y)


# --- Captures by dimension, query and row ----------------------------------------------------------


def weighted_straight(x, y, acc, ctx):
    d = x - y
    return acc + np.where(d > 0, ctx.w[ctx.dim] * d * d, 0.0)


@body(weighted_straight, "w")
def weighted(x, y, acc, ctx):
    d = x - y
    if d > 0:
        acc += ctx.w[ctx.dim] * d * d
    return acc


def of_query_straight(x, y, acc, ctx):
    d = x - y
    return acc + np.where(d > 0, ctx.qw[ctx.query, ctx.dim] * d * d, d * d)


@body(of_query_straight, "qw")
def of_query(x, y, acc, ctx):
    d = x - y
    if d > 0:
        return acc + ctx.qw[ctx.query, ctx.dim] * d * d
    return acc + d * d


def of_row_straight(x, y, acc, ctx):
    d = x - y
    return acc + np.where(d > 0, ctx.age[ctx.row] * d * d, d * d)


@body(of_row_straight, "age")
def of_row(x, y, acc, ctx):
    d = x - y
    return acc + (ctx.age[ctx.row] * d * d if d > 0 else d * d)


def of_limit_straight(x, y, acc, ctx):
    d = abs(x - y)
    return acc + np.where(d > 1, ctx.limit[ctx.query], d)


@body(of_limit_straight, "limit")
def of_limit(x, y, acc, ctx):
    d = abs(x - y)
    return acc + (ctx.limit[ctx.query] if d > 1 else d)


def of_known_straight(x, y, acc, ctx):
    return acc + np.where(ctx.known[ctx.query, ctx.dim] != 0, (x - y) ** 2, 0.0)


@body(of_known_straight, "known")
def of_known(x, y, acc, ctx):
    if ctx.known[ctx.query, ctx.dim]:
        acc += (x - y) ** 2
    return acc


def of_both_straight(x, y, acc, ctx):
    both = ctx.known[ctx.query, ctx.dim] & ((ctx.has[ctx.row] >> (ctx.dim & 31)) & 1)
    return acc + np.where(both != 0, (x - y) ** 2, 0.0)


@body(of_both_straight, "known has")
def of_both(x, y, acc, ctx):
    if ctx.known[ctx.query, ctx.dim] and ctx.has[ctx.row] >> (ctx.dim & 31) & 1:
        acc += (x - y) ** 2
    return acc


class BothStraight:
    total: np.float32 = 0
    count: np.int32 = 0

    def update(self, x, y, ctx):
        both = ctx.known[ctx.query, ctx.dim] & np.int32((ctx.has[ctx.row] >> (ctx.dim & 31)) & 1)
        self.total += np.where(both != 0, (x - y) ** 2, 0.0)
        self.count += np.where(both != 0, 1, 0)

    def finalize(self, ctx):
        return math.sqrt(self.total / max(self.count, 1))


@body(BothStraight, "known has")
class Both:
    total: np.float32 = 0
    count: np.int32 = 0

    def update(self, x, y, ctx):
        if ctx.known[ctx.query, ctx.dim] and ctx.has[ctx.row] >> (ctx.dim & 31) & 1:
            self.total += (x - y) ** 2
            self.count += 1

    def finalize(self, ctx):
        return math.sqrt(self.total / self.count) if self.count > 0 else 0.0


def flagged_straight(x, y, acc, ctx):
    d = x - y
    return acc + np.where(ctx.on[ctx.dim], ctx.w[ctx.dim] * d * d, abs(d))


@body(flagged_straight, "on w")
def flagged(x, y, acc, ctx):
    d = x - y
    if ctx.on[ctx.dim]:
        return acc + ctx.w[ctx.dim] * d * d
    return acc + abs(d)


def before_straight(x, y, acc, ctx):
    return acc + np.where(ctx.dim > 0, ctx.w[max(ctx.dim - 1, 0)], 1.0) * abs(x - y)


@body(before_straight, "w")
def before(x, y, acc, ctx):
    """In range only where the condition holds."""
    w = 1.0
    if ctx.dim > 0:
        w = ctx.w[ctx.dim - 1]
    return acc + w * abs(x - y)


def after_straight(x, y, acc, ctx):
    last = ctx.dims - 1
    return acc + np.where((x > y) & (ctx.dim < last), ctx.w[min(ctx.dim + 1, last)], 1.0) * abs(x - y)


@body(after_straight, "w")
def after(x, y, acc, ctx):
    if x > y and ctx.dim + 1 < ctx.dims:
        return acc + ctx.w[ctx.dim + 1] * abs(x - y)
    return acc + abs(x - y)


def stepped_straight(x, y, acc, ctx):
    i = ctx.steps[ctx.dim]
    return acc + np.where(x > y, ctx.table[min(max(i, 0), 16)], 1.0) * abs(x - y)


@body(stepped_straight, "steps table")
def stepped(x, y, acc, ctx):
    """A negative entry of `steps` takes the table's first."""
    if x > y:
        i = ctx.steps[ctx.dim]
        if i < 0:
            i = 0
        return acc + ctx.table[min(i, 16)] * abs(x - y)
    return acc + abs(x - y)


def inside_straight(x, y, acc, ctx):
    i = int(4 * y)
    inside = (i >= 0) & (i < 17)
    return acc + np.where(inside, ctx.table[min(max(i, 0), 16)], abs(x - y))


@body(inside_straight, "table")
def inside(x, y, acc, ctx):
    """The condition alone proves the index."""
    i = int(4 * y)
    if 0 <= i < 17:
        return acc + ctx.table[i]
    return acc + abs(x - y)


def codes_straight(x, y, acc, ctx):
    i, j = min(x, 15), min(y, 15)
    return acc + np.where(x != y, ctx.lut[i, j], np.float32(0))


@body(codes_straight, "lut", "uint8", dtype=np.uint32, accumulator=np.float32, elements=[np.uint8])
def codes(x, y, acc, ctx):
    if x != y:
        acc += ctx.lut[min(x, 15), min(y, 15)]
    return acc


@body(codes_straight, "lut", "uint8", dtype=np.uint32, accumulator=np.float32, elements=[np.uint8])
def codes_nested(x, y, acc, ctx):
    if x != y:
        i, j = x, y
        if i > 15:
            i = 15
        if j > 15:
            j = 15
        return acc + ctx.lut[i, j]
    return acc
