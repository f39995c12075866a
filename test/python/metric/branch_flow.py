# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Shapes of control flow, integers, several accumulators."""

from __future__ import annotations

import math

import numpy as np
from branch_body import body

# --- Shapes of control flow ------------------------------------------------------------------------


def nested_straight(x, y, acc, ctx):
    d = x - y
    inner = np.where(x > 0, ctx.w[ctx.dim] * d, ctx.a * d)
    return acc + np.where(d > 0, inner, np.where(y > 0, ctx.b * -d, -d))


@body(nested_straight, "w a b")
def nested(x, y, acc, ctx):
    d = x - y
    if d > 0:
        if x > 0:
            return acc + ctx.w[ctx.dim] * d
        return acc + ctx.a * d
    if y > 0:
        return acc + ctx.b * -d
    return acc - d


def chain_straight(x, y, acc, ctx):
    d = abs(x - y)
    low = np.where(d < 1, ctx.b * d, ctx.w[ctx.dim] * d)
    return acc + np.where(d < 0.5, d, np.where(d < 2, low, ctx.a))


@body(chain_straight, "a b w")
def chain(x, y, acc, ctx):
    d = abs(x - y)
    if d < 0.5:
        term = d
    elif d < 1:
        term = ctx.b * d
    elif d < 2:
        term = ctx.w[ctx.dim] * d
    else:
        term = ctx.a
    return acc + term


def kinds_straight(x, y, acc, ctx):
    d, kind = abs(x - y), ctx.kind[ctx.row]
    high = np.where(kind == 2, d**ctx.p, np.where(kind == 3, ctx.w[ctx.dim] * d, ctx.a))
    return acc + np.where(kind == 0, d, np.where(kind == 1, d * d, high))


@body(kinds_straight, "kind p w a")
def kinds(x, y, acc, ctx):
    d = abs(x - y)
    match ctx.kind[ctx.row]:
        case 0:
            return acc + d
        case 1:
            return acc + d * d
        case 2:
            return acc + d**ctx.p
        case 3:
            return acc + ctx.w[ctx.dim] * d
        case _:
            return acc + ctx.a


def early_straight(x, y, acc, ctx):
    d = abs(x - y)
    kept = (ctx.w[ctx.dim] >= 0.2) & (d >= 0.1)
    return acc + np.where(kept, ctx.qw[ctx.query, ctx.dim] * d, 0.0)


@body(early_straight, "w qw")
def early(x, y, acc, ctx):
    if ctx.w[ctx.dim] < 0.2:
        return acc
    d = abs(x - y)
    if d < 0.1:
        return acc
    return acc + ctx.qw[ctx.query, ctx.dim] * d


def shorts_straight(x, y, acc, ctx):
    far = (x > 0) & ((y < 0) | (ctx.age[ctx.row] > 0.5))
    return acc + np.where(far, ctx.a, abs(x - y))


@body(shorts_straight, "age a")
def shorts(x, y, acc, ctx):
    if x > 0 and (y < 0 or ctx.age[ctx.row] > 0.5):
        return acc + ctx.a
    return acc + abs(x - y)


def looped_straight(x, y, acc, ctx):
    d = abs(x - y)
    total = ctx.table[0] * d + ctx.table[1] * d + ctx.table[2] * d + ctx.table[3] * d
    return acc + np.where(d > 1, total, d)


@body(looped_straight, "table")
def looped(x, y, acc, ctx):
    d = abs(x - y)
    if d > 1:
        total = 0.0
        for i in range(4):
            total += ctx.table[i] * d
        return acc + total
    return acc + d


def branch_in_loop_straight(x, y, acc, ctx):
    d = abs(x - y)
    for i in range(4):
        acc += np.where(d > i * 0.5, ctx.table[i] * d, 0.0)
    return acc


@body(branch_in_loop_straight, "table")
def branch_in_loop(x, y, acc, ctx):
    d = abs(x - y)
    for i in range(4):
        if d > i * 0.5:
            acc += ctx.table[i] * d
    return acc


def found_straight(x, y, acc, ctx):
    d = abs(x - y)
    at = np.where(d < 0.5, 0, np.where(d < 1, 1, np.where(d < 1.5, 2, 3)))
    return acc + np.where(at < 3, ctx.table[min(max(at, 0), 16)], d)


@body(found_straight, "table")
def found(x, y, acc, ctx):
    """A search that returns from a loop."""
    d = abs(x - y)
    for i in range(3):
        if d < 0.5 * (i + 1):
            return acc + ctx.table[min(i, 16)]
    return acc + d


def longer_straight(x, y, acc, ctx):
    d = abs(x - y)
    total = 0.0
    for i in range(16):
        total += ctx.table[i] * min(d, i + 0.5)
    return acc + np.where(d > 1, total, d)


@body(longer_straight, "table")
def longer(x, y, acc, ctx):
    d = abs(x - y)
    if d > 1:
        total = 0.0
        for i in range(16):
            total += ctx.table[i] * min(d, i + 0.5)
        return acc + total
    return acc + d


def bucket_straight(x, y, acc, ctx):
    i = int(max(min(abs(x - y) * 4, 16.0), 0.0))
    return acc + np.where(x > y, ctx.table[min(max(i, 0), 16)], 0.0)


@body(bucket_straight, "table")
def bucket(x, y, acc, ctx):
    if x > y:
        acc += ctx.table[min(max(int(4 * abs(x - y)), 0), 16)]
    return acc


def narrow_straight(x, y, acc, ctx):
    i = np.int32(abs(x - y) * 4)
    return acc + np.where(x > y, ctx.table[min(max(i, 0), 16)], 0.0)


@body(narrow_straight, "table")
def narrow(x, y, acc, ctx):
    if x > y:
        acc += ctx.table[min(max(np.int32(4 * abs(x - y)), 0), 16)]
    return acc


def helper(d, w):
    if d > 1:
        return w * d**1.5
    return d


def helped_straight(x, y, acc, ctx):
    d = abs(x - y)
    return acc + np.where(d > 1, ctx.w[ctx.dim] * d**1.5, d)


@body(helped_straight, "w")
def helped(x, y, acc, ctx):
    return acc + helper(abs(x - y), ctx.w[ctx.dim])


# --- Integers --------------------------------------------------------------------------------------


def integers_straight(x, y, acc, ctx):
    return acc + np.float32(np.where(x > y, (x - y) // max(ctx.n, 1), y - x))


@body(integers_straight, "n", "uint8", dtype=np.int32, accumulator=np.float32)
def integers(x, y, acc, ctx):
    if x > y:
        return acc + np.float32((x - y) // max(ctx.n, 1))
    return acc + np.float32(y - x)


def divided_straight(x, y, acc, ctx):
    return acc + np.float32(np.where(y > 0, x // max(y, 1), x))


@body(divided_straight, "", "uint8", dtype=np.int32, accumulator=np.float32, elements=[np.uint8])
def divided(x, y, acc, ctx):
    """Never by zero, as the condition says."""
    if y > 0:
        return acc + np.float32(x // y)
    return acc + np.float32(x)


def shifted_straight(x, y, acc, ctx):
    return acc + np.float32(np.where(y < 8, x >> min(y, 7), 0))


@body(shifted_straight, "", "uint8", dtype=np.int32, accumulator=np.float32, elements=[np.uint8])
def shifted(x, y, acc, ctx):
    if y < 8:
        return acc + np.float32(x >> y)
    return acc


def bits_straight(x, y, acc, ctx):
    return acc + np.float32(np.where(x != y, np.bitwise_count(x ^ y), 0))


@body(bits_straight, "", "uint8", dtype=np.uint32, accumulator=np.float32)
def bits(x, y, acc, ctx):
    if x != y:
        acc += np.float32(np.bitwise_count(x ^ y))
    return acc


def counted_straight(x, y, acc, ctx):
    return acc + np.where(x > y, ctx.n, 1)


@body(counted_straight, "n", dtype=np.float32, accumulator=np.int32, initial=0)
def counted(x, y, acc, ctx):
    if x > y:
        return acc + ctx.n
    return acc + 1


# --- Several accumulators --------------------------------------------------------------------------


class MomentsStraight:
    near: np.float32 = 0
    far: np.float32 = 0
    count: np.int32 = 0

    def update(self, x, y, ctx):
        d = abs(x - y)
        self.near += np.where(d < 1, ctx.w[ctx.dim] * d, 0.0)
        self.far += np.where(d < 1, 0.0, d**ctx.p)
        self.count += np.where(d < 1, 0, 1)

    def finalize(self, ctx):
        return self.near + self.far / np.where(self.count > 0, np.float32(self.count), 1.0)


@body(MomentsStraight, "w p")
class Moments:
    near: np.float32 = 0
    far: np.float32 = 0
    count: np.int32 = 0

    def update(self, x, y, ctx):
        d = abs(x - y)
        if d < 1:
            self.near += ctx.w[ctx.dim] * d
        else:
            self.far += d**ctx.p
            self.count += 1

    def finalize(self, ctx):
        if self.count > 0:
            return self.near + self.far / self.count
        return self.near


class GatedStraight:
    total: np.float32 = 0
    weight: np.float32 = 0

    def update(self, x, y, ctx):
        w = ctx.qw[ctx.query, ctx.dim]
        keep = (x > 0) & (y > 0)
        self.total += np.where(keep, w * (x - y) ** 2, 0.0)
        self.weight += np.where(keep, w, 0.0)

    def finalize(self, ctx):
        return np.where(self.weight > 0, self.total / max(self.weight, 1e-6), 9.0) + ctx.age[ctx.row]


@body(GatedStraight, "qw age")
class Gated:
    total: np.float32 = 0
    weight: np.float32 = 0

    def update(self, x, y, ctx):
        if x > 0 and y > 0:
            w = ctx.qw[ctx.query, ctx.dim]
            self.total += w * (x - y) ** 2
            self.weight += w

    def finalize(self, ctx):
        if self.weight > 0:
            return self.total / self.weight + ctx.age[ctx.row]
        return 9.0 + ctx.age[ctx.row]


class PlaceStraight:
    half: np.float32 = 0
    cosines: np.float32 = 1

    def update(self, x, y, ctx):
        self.half += self.cosines * math.sin(0.5 * (x - y)) ** 2
        self.cosines = np.where(ctx.dim == 0, math.cos(x) * math.cos(y), self.cosines)

    def finalize(self, ctx):
        return self.half


@body(PlaceStraight)
class Place:
    half: np.float32 = 0
    cosines: np.float32 = 1

    def update(self, x, y, ctx):
        self.half += self.cosines * math.sin(0.5 * (x - y)) ** 2
        if ctx.dim == 0:
            self.cosines = math.cos(x) * math.cos(y)

    def finalize(self, ctx):
        return self.half
