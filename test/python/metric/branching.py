# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Bodies with branches, each with a form that has none: what a branch costs, and that both mean the same.

``scripts/branch-costs`` times them. Plain Python says what a body means: :func:`exact` calls it for each pair.
"""

# ruff: noqa: PLR1730 - branches are what this is about.

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from annudf import ivf_flat

Array = Any


@dataclass(frozen=True)
class Body:
    """A metric in two forms: as it is written with branches, and straight."""

    branches: Any
    straight: Any
    uses: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)
    element: str = "float32"

    @property
    def name(self) -> str:
        name: str = self.branches.__name__
        return name

    def metrics(self, captures: dict[str, Any]) -> tuple[ivf_flat.Metric, ivf_flat.Metric]:
        bound = {name: captures[name] for name in self.uses}
        made = ivf_flat.metric(captures=bound, **self.options)
        return made(self.branches), made(self.straight)


def captures_of(dims: int, rows: int, queries: int) -> dict[str, Any]:
    """One of each kind that a body may use."""
    rng = np.random.default_rng(5)
    return {
        "w": rng.random(dims).astype(np.float32),
        "on": rng.random(dims) < 0.5,
        "qw": rng.random((queries, dims)).astype(np.float32),
        "known": (rng.random((queries, dims)) < 0.7).astype(np.int32),
        "limit": rng.random(queries).astype(np.float32),
        "age": rng.random(rows).astype(np.float32),
        "has": rng.integers(1, 2**31, rows, dtype=np.uint32),
        "kind": rng.integers(0, 5, rows, dtype=np.int32),
        "lut": rng.random((16, 16)).astype(np.float32),
        "table": rng.random(17).astype(np.float32),
        "steps": rng.integers(-3, 9, dims, dtype=np.int32),
        "a": 3.0,
        "b": 0.5,
        "p": 1.5,
        "n": 7,
    }


def data_of(body: Body, dims: int, rows: int, queries: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(6)
    if body.element == "uint8":
        base = rng.integers(0, 256, (rows, dims), dtype=np.uint8)
        return rng.integers(0, 256, (queries, dims), dtype=np.uint8), base
    return tuple(rng.standard_normal((n, dims), dtype=np.float32) for n in (queries, rows))  # type: ignore[return-value]


def exact(body: Body, queries: Array, base: Array, captures: dict[str, Any]) -> Array:
    """What plain Python computes, one coordinate after the other."""
    wide = {
        name: value.astype(np.float64) if isinstance(value, np.ndarray) and value.dtype == np.float32 else value
        for name, value in captures.items()
    }
    ctx = SimpleNamespace(**wide, dims=base.shape[1])
    out = np.empty((len(queries), len(base)))
    for ctx.query, query in enumerate(queries.tolist()):
        for ctx.row, row in enumerate(base.tolist()):
            if isinstance(body.branches, type):
                held = body.branches()
                for ctx.dim, (x, y) in enumerate(zip(query, row, strict=True)):
                    held.update(x, y, ctx)
                out[ctx.query, ctx.row] = held.finalize(ctx)
                continue
            acc = body.options.get("initial", 0.0)
            for ctx.dim, (x, y) in enumerate(zip(query, row, strict=True)):
                acc = body.branches(x, y, acc, ctx)
            out[ctx.query, ctx.row] = acc
    return out


BODIES: list[Body] = []


def body(straight: Any, uses: str = "", element: str = "float32", **options: Any) -> Callable[[Any], Any]:
    """Adds the decorated function, or class, with its straight form."""

    def add(branches: Any) -> Any:
        BODIES.append(Body(branches, straight, tuple(uses.split()), options, element))
        return branches

    return add


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
