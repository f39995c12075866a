# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python's own numbers inside a metric: ctx.dim, loop variables, int(...), comparisons of them."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from annudf import ivf_flat
from annudf.distance import pairwise_distance
from annudf.errors import CompileError, UnsupportedError

BASE = np.arange(40, dtype=np.float32).reshape(5, 8) / 7
QUERIES = BASE[:2] / 2

EXPRESSIONS = [
    "~(ctx.dim < 3)", "ctx.dim // 2 + ctx.dim % 3", "ctx.dim ** 2", "(ctx.dim + 1.5) ** 2", "(0.5 * ctx.dim) % 0.3",
    "(ctx.dim * 1.5) // 1", "int(x) // 2 + min(ctx.dim, 3) // 2", "(ctx.dim + 1) ** 0.5", "-(ctx.dim < 3) + (ctx.dim < 3) / 2",
    "(not ctx.dim) + (x if not (ctx.dim < 2 or y < 1) else 0)", "max(ctx.dim, 2) + abs(ctx.dim - 4) + round(x)",
    "(1 if 1 <= ctx.dim < 5 else 0) * x", "(ctx.dim & 3) + (ctx.dim << 2) + (ctx.dim ^ 5) + ~ctx.dim", "-7 // (2 + 0 * 1) * x",
    "float(x) * 0.1 + int(y * 3) * 0.5 - ctx.dim / ctx.dims", "(ctx.dim == 4) * x + (ctx.dim != 4) * y",
    "math.floor(x) + math.ceil(y) - int(-x)", "(True + ctx.dim) * x", "((x > 1) + (ctx.dim > 1)) * x", "((x > 1) & (ctx.dim > 1)) * x + ((ctx.dim > 1) ^ (ctx.dim > 3))", "~(x > 1) * y", "-(-7 % (ctx.dims - 3))",
    "(ctx.dim - 4) // 3 + (ctx.dim - 4) % 3 + (4 - ctx.dim) // -3", "1e30 * ctx.dim * 1e-30", "(3 if ctx.dim > 3 else 0.5) * y",
    "min(abs(x) ** math.inf, 3.0) + min(abs(y) ** -math.inf, 3.0)",
]  # fmt: skip


def brute_force(function: Any) -> np.ndarray[Any, Any]:
    result = np.empty((len(QUERIES), len(BASE)), np.float32)
    for i, query in enumerate(QUERIES):
        for j, row in enumerate(BASE):
            acc = np.float32(0)
            for dim in range(BASE.shape[1]):
                ctx = SimpleNamespace(dim=dim, dims=BASE.shape[1])
                acc = np.float32(function(query[dim], row[dim], acc, ctx))
            result[i, j] = acc
    return result


def scanned(function: Any) -> np.ndarray[Any, Any]:
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), BASE)
    params = ivf_flat.SearchParams(metric=ivf_flat.metric(function))
    distances, neighbors = ivf_flat.search(params, index, QUERIES, len(BASE))
    result = np.empty_like(distances)
    np.put_along_axis(result, neighbors, distances, 1)
    return result


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expression(expression: str) -> None:
    space: dict[str, Any] = {"math": math, "np": np}
    exec(f"def update(x, y, acc, ctx):\n    return acc + ({expression})\n", space)
    if "ctx.dims - 3" in expression:
        with pytest.raises(CompileError, match=r"\[B4\] may divide by zero.*: the divisor is from -2 to 1048573"):
            scanned(space["update"])
        return
    np.testing.assert_allclose(scanned(space["update"]), brute_force(space["update"]), rtol=1e-6)


def test_loops_and_conditions() -> None:
    def update(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        total = 0
        for i in range(5):
            if i % 2 == 0 and ctx.dim > 2:
                total += i // 2
            else:
                total -= i
        few = ctx.dim < 3
        if few:
            return acc + x
        return acc + total * x + (2 if few else 3) * y

    np.testing.assert_allclose(scanned(update), brute_force(update), rtol=1e-6)


CONSTANTS = [
    "N // 3", "N % 3", "N % -3", "K // 2 * x", "K ** 3 * x", "K ** -1 * x", "K ** 0.5", "2 ** K", "F // 2", "F % 2", "-F % 2",
    "K // 2.0", "F ** K", "K ** 2.0", "K << 2", "N >> 1", "~K", "True + K", "K * 10**18 * 1e2 * x", "np.float32(3) * K", "K / 2",
    "~(N > 1) * x", "-(K > 3) + ~(not K)", "(K & 3) + (N | 1) + (K ^ 2)", "-K % 8", "(K if K % 2 else F) * x",
    "pow(K, 3) * x", "pow(2, N) * x", "abs(N) // 2", "max(K, N) // 2 * x", "min(K, F) * x", "round(F) * x", "int(F) * 10**18 * 1e2",
    "round(K / 3, 1) * x", "x * pow(2.0, K)",
]  # fmt: skip
"""Expressions of a global int, a negative one and a float, none of which CPython folds."""


@pytest.mark.parametrize("expression", CONSTANTS)
def test_constants_are_pythons(expression: str) -> None:
    w = np.arange(8, dtype=np.float32)
    space: dict[str, Any] = {"np": np, "K": 7, "N": -7, "F": 2.5}
    exec(f"def update(x, y, acc, ctx):\n    return acc + ({expression}) + y\n", space)
    metric = ivf_flat.metric(captures={"w": w})(space["update"])
    want = [[0.0] * len(BASE) for _ in QUERIES]
    for i, query in enumerate(QUERIES):
        for j, row in enumerate(BASE):
            for dim in range(8):
                want[i][j] += float(space["update"](float(query[dim]), float(row[dim]), 0.0, SimpleNamespace(w=w)))
    np.testing.assert_allclose(pairwise_distance(QUERIES, BASE, metric=metric), want, rtol=1e-5)


def side(d: Any) -> float:
    return 1.0 if d > 0 else 0.0


def steps(d: Any) -> float:
    if d > 0.5:
        return 3
    return 0.5


def is_large(d: Any) -> bool:
    if d > 0.5:  # noqa: SIM103 - Two paths, each with a constant.
        return True
    return False


def pair(d: Any) -> tuple[float, int]:
    return (1.5, 2) if d > 0.5 else (3.0, 4)


def scaled(d: Any, p: Any = 3, *, q: Any = 0.7) -> Any:
    return d * p**2 + p // 2 + p % q


THREE = np.float32(3)


def narrow(d: Any, p: Any = THREE) -> Any:
    return d * p**2


BY_PATHS = [
    "(2.0 if x > 0.5 else 1.5) ** 2", "(2 if x > 0.5 else 1) ** 2", "(2.0 if x > 0.5 else 1.5) % 1", "(2.0 if x > 0.5 else 1.5) // 0.7",
    "(5 if x > 0.5 else 3) // 2", "(-5 if x > 0.5 else 3) % 2", "(2 if x > 0.5 else 1) ** 0.5", "2 ** (1 if x > y else 0.5)",
    "2 ** ((3 if x > 0.25 else 1.5) / 8)", "((1 if x > 0.5 else 2) if y > 0.5 else (3 if x > 1 else 4)) // 2",
    "((1 if x > 0.5 else 2) + (3 if y > 0.5 else 4.5)) % 2", "-(2 if x > 0.5 else 1) // 2", "(True if x > 0.5 else False) ** 2",
    "(True if x > 0.5 else 2) ** 2", "(side(x - 1) - side(y)) ** 2", "steps(x) ** 2 + steps(y) // 2 + 2 ** steps(x)",
    "(is_large(x) + is_large(y)) ** 2", "is_large(x) ** 2 - is_large(y)", "pair(x)[0] ** 2 + pair(y)[1] // 3", "bool(x) ** 2 + bool(y)",
    "(bool(x) if y > 0.5 else 2) ** 2", "scaled(x)", "scaled(x, 2) + scaled(x, q=0.3)", "scaled(x, p=2.5, q=y + 1)",
    "scaled(2 if x > 0.5 else 3, 5)", "narrow(x) + narrow(y, 2)", "(lambda d: 1.0 if d > 0.5 else 2.0)(x) ** 2",
]  # fmt: skip
"""Python's numbers of which only the path, or the helper that has them, says which one it is."""
HELPERS = {f.__name__: f for f in (side, steps, is_large, pair, scaled, narrow)}


@pytest.mark.parametrize("expression", BY_PATHS)
def test_constants_of_paths_and_helpers(expression: str) -> None:
    space: dict[str, Any] = dict(HELPERS)
    exec(f"def update(x, y, acc, ctx):\n    return acc + ({expression})\n", space)
    np.testing.assert_allclose(scanned(space["update"]), brute_force(space["update"]), rtol=1e-6)


def test_constants_of_paths_in_finalize() -> None:
    @ivf_flat.metric(finalize=lambda acc: acc * (2.0 if acc > 3 else 1.0) ** 2)
    def manhattan(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + abs(x - y)

    sums = np.abs(QUERIES[:, None] - BASE[None]).sum(2)
    assert (sums > 3).any() and (sums < 3).any()
    got = pairwise_distance(QUERIES, BASE, metric=manhattan)
    np.testing.assert_allclose(got, np.where(sums > 3, 4 * sums, sums), rtol=1e-6)


@pytest.mark.parametrize(
    "expression",
    [
        "(2.0 if x > 0.5 else 1.5) * y", "(3 if x > 0.5 else 2) * y",
        "steps(x) * y", "(np.float32(2.0) if x > 0.5 else 1.5) ** 2 * y", "np.float32(ctx.dim + 1) ** 0.5 * y",
    ],
)  # fmt: skip
def test_literals_take_32_bits_and_one_typed_number_keeps_them(expression: str) -> None:
    space: dict[str, Any] = {"np": np, "steps": steps}
    exec(f"def update(x, y, acc, ctx):\n    return acc + {expression}\n", space)
    assert "f64" not in ivf_flat.metric(space["update"]).mlir()


def test_truth_values_are_added_as_numpy_does_and_counted_as_integers() -> None:
    def both(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        return acc + ((x > 0.5) + (y > 0.5)) + 100 * (np.int32(x > 0.5) + (y > 0.5))

    np.testing.assert_array_equal(scanned(both), brute_force(both))


def test_an_integer_to_the_power_of_one_path_or_another() -> None:
    def update(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + 2 ** (2 if x > y else 1)

    message = "an integer to the power of an exponent that is not constant; use a constant from 0 to 64, or np.float32(x) ** y"
    with pytest.raises(UnsupportedError) as caught:
        ivf_flat.metric(update).mlir()
    assert caught.value.diagnostics[0].message == message


def test_a_variable_that_counts() -> None:
    def counts(x, y, acc):  # type: ignore[no-untyped-def]
        i = 0
        scale = 0.5
        while i < 8:
            acc += i**3 * x + i // 3 + -i % 3 + scale
            scale = scale * 2
            i += 1
        return acc

    want = [[sum(counts(float(a), 0.0, 0.0) for a in query) for _ in BASE] for query in QUERIES]
    np.testing.assert_allclose(pairwise_distance(QUERIES, BASE, metric=ivf_flat.metric(counts)), want, rtol=1e-6)


def test_a_constant_of_one_path_is_unassigned_on_the_other() -> None:
    def unassigned(x, y, acc):  # type: ignore[no-untyped-def]
        if x > y:
            q = 3
        return acc + q // 2

    with pytest.raises(CompileError, match=r"\[P18\] uses 'q', which may be used before it is assigned"):
        ivf_flat.metric(unassigned).mlir()


@pytest.mark.parametrize(
    "number", [np.float32(3), np.float64(3), np.int32(3), np.uint8(3), np.int64(3), np.True_, 3, 3.0]
)
def test_numbers_of_an_enclosing_function(number):
    def outer(x, y, acc, ctx):
        return acc + number * x * y + (x if number else y)

    np.testing.assert_allclose(scanned(outer), brute_force(outer), rtol=1e-6)
