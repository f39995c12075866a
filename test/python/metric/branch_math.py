# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Bodies that call functions below a condition."""

from __future__ import annotations

import math

import numpy as np
from branch_body import body

# --- Functions -------------------------------------------------------------------------------------


def power_straight(x, y, acc, ctx):
    d = abs(x - y)
    return acc + np.where(d > 1, d**ctx.p, d)


@body(power_straight, "p")
def power(x, y, acc, ctx):
    d = abs(x - y)
    return acc + (d**ctx.p if d > 1 else d)


@body(power_straight, "p")
def power_if(x, y, acc, ctx):
    d = abs(x - y)
    if d > 1:
        d = d**ctx.p
    return acc + d


def powers_straight(x, y, acc, ctx):
    d = abs(x - y)
    return acc + np.where(x > y, ctx.w[ctx.dim] * d**ctx.p, ctx.qw[ctx.query, ctx.dim] * d**2.5)


@body(powers_straight, "p w qw")
def powers(x, y, acc, ctx):
    d = abs(x - y)
    if x > y:
        return acc + ctx.w[ctx.dim] * d**ctx.p
    return acc + ctx.qw[ctx.query, ctx.dim] * d**2.5


def logs_straight(x, y, acc, ctx):
    d = abs(x - y)
    return acc + np.where(d > 0.5, math.log(max(d, 0.5)), 0.0)


@body(logs_straight)
def logs(x, y, acc, ctx):
    d = abs(x - y)
    if d > 0.5:
        acc += math.log(d)
    return acc


def exps_straight(x, y, acc, ctx):
    d = abs(x - y)
    return acc + np.where(d < 2, 1 - math.exp(-d), d)


@body(exps_straight)
def exps(x, y, acc, ctx):
    d = abs(x - y)
    return acc + (1 - math.exp(-d) if d < 2 else d)


def waves_straight(x, y, acc, ctx):
    return acc + np.where(x > y, abs(math.sin(x - y)), 1 - math.cos(x - y))


@body(waves_straight)
def waves(x, y, acc, ctx):
    if x > y:
        return acc + abs(math.sin(x - y))
    return acc + 1 - math.cos(x - y)


def angles_straight(x, y, acc, ctx):
    return acc + np.where(x > 0, abs(math.atan2(y, x)), abs(math.tanh(y)))


@body(angles_straight)
def angles(x, y, acc, ctx):
    if x > 0:
        return acc + abs(math.atan2(y, x))
    return acc + abs(math.tanh(y))


def hypots_straight(x, y, acc, ctx):
    return acc + np.where(x > y, math.hypot(x, y), abs(y))


@body(hypots_straight)
def hypots(x, y, acc, ctx):
    return acc + (math.hypot(x, y) if x > y else abs(y))


def floors_straight(x, y, acc, ctx):
    d = abs(x - y)
    return acc + np.where(d > 1, np.float32(math.floor(d)), d)


@body(floors_straight)
def floors(x, y, acc, ctx):
    d = abs(x - y)
    if d > 1:
        d = math.floor(d)
    return acc + d


def roots_straight(x, y, acc, ctx):
    d = x - y
    return acc + np.where(d > 0, math.sqrt(max(d, 0.0)), -d)


@body(roots_straight)
def roots(x, y, acc, ctx):
    d = x - y
    return acc + (math.sqrt(d) if d > 0 else -d)


def ratios_straight(x, y, acc, ctx):
    s = abs(x) + abs(y)
    return acc + np.where(s > 0, abs(x - y) / s, 0.0)


@body(ratios_straight)
def ratios(x, y, acc, ctx):
    s = abs(x) + abs(y)
    if s > 0:
        acc += abs(x - y) / s
    return acc


def huber_straight(x, y, acc, ctx):
    d = abs(x - y)
    return acc + np.where(d <= ctx.a, 0.5 * d * d, ctx.a * (d - 0.5 * ctx.a))


@body(huber_straight, "a")
def huber(x, y, acc, ctx):
    d = abs(x - y)
    if d <= ctx.a:
        return acc + 0.5 * d * d
    return acc + ctx.a * (d - 0.5 * ctx.a)


def entropy_straight(x, y, acc, ctx):
    p, q = abs(x) + 0.01, abs(y) + 0.01
    m = 0.5 * (p + q)
    return acc + np.where(p > 0, p * math.log(p / m), 0.0) + np.where(q > 0, q * math.log(q / m), 0.0)


@body(entropy_straight)
def entropy(x, y, acc, ctx):
    p, q = abs(x) + 0.01, abs(y) + 0.01
    m = 0.5 * (p + q)
    if p > 0:
        acc += p * math.log(p / m)
    if q > 0:
        acc += q * math.log(q / m)
    return acc


def exponents_straight(x, y, acc, ctx):
    d = abs(x - y)
    return acc + np.where(ctx.p == 2, d * d, d**ctx.p)


@body(exponents_straight, "p")
def exponents(x, y, acc, ctx):
    """The same side for every row of a search."""
    d = abs(x - y)
    if ctx.p == 2:
        return acc + d * d
    return acc + d**ctx.p


def masked_power_straight(x, y, acc, ctx):
    return acc + np.where(ctx.on[ctx.dim], abs(x - y) ** ctx.p, 0.0)


@body(masked_power_straight, "on p")
def masked_power(x, y, acc, ctx):
    """The same side for every row of a dimension."""
    if ctx.on[ctx.dim]:
        acc += abs(x - y) ** ctx.p
    return acc


def known_power_straight(x, y, acc, ctx):
    return acc + np.where(ctx.known[ctx.query, ctx.dim] != 0, abs(x - y) ** ctx.p, 0.0)


@body(known_power_straight, "known p")
def known_power(x, y, acc, ctx):
    if ctx.known[ctx.query, ctx.dim]:
        acc += abs(x - y) ** ctx.p
    return acc
