# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the ranges of integers prove, against NumPy: entries other than ctx.dim, divisors and shifts that are values."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from annudf import ivf_flat
from annudf.distance import pairwise_distance
from annudf.errors import CompileError

WEIGHTS = (np.arange(1, 9) ** 2).astype(np.int32)
generator = np.random.default_rng(5)

INDICES = [
    "ctx.dims - 1 - ctx.dim", "min(ctx.dim + 1, ctx.dims - 1)", "max(ctx.dim - 1, 0)", "(ctx.dim + 1) % ctx.dims",
    "(ctx.dim + 1) % ctx.dims if x > y else 0", "np.minimum(np.maximum(ctx.dim - 2, 0), ctx.dims - 1)", "ctx.dim // 2", "ctx.dim >> 1",
    "ctx.dim & x", "min(abs(x), ctx.dim)", "int(np.clip(x, 0, ctx.dims - 1))", "0",
    "min(max(x + y, 0), ctx.dims - 1)", "ctx.dims - (1 + ctx.dim)",
    # Python's rest has the sign of the divisor.
    "(ctx.dim - 1) % ctx.dims", "(ctx.dim - 3) % ctx.dims", "(ctx.dim - x) % ctx.dims", "(x * y) % ctx.dims", "-x % ctx.dims",
]  # fmt: skip

NUMBERS = [
    "x >> (y & 7)", "x << (y & 15)", "(x * 3) >> max(min(y, 5), 0)", "x // max(y, 1)", "x % max(y, 1)", "-x // (abs(y) + 1)",
    "x % (abs(y) + 2)", "x // (y | 1) if y > 0 else x", "(x // y if y > 0 else 3)", "(x % y if 0 < y else y)", "x // min(y, -2)", "x % min(y, -2)",
    "(ctx.dim + 5) // (ctx.dims - ctx.dim)", "(ctx.dim + x) % ctx.dims", "x >> (ctx.dim % 8)", "(1 << (ctx.dim & 3)) * x", "x >> np.bitwise_count(y)",
    "(ctx.dim - x) // ctx.dims", "x // -ctx.dims", "x % -ctx.dims", "1 << (x - y) % 32", "1 << -((x - y) % -32)",
]  # fmt: skip

CONDITIONS = [
    "    i = ctx.dim + 3\n    if i < ctx.dims:\n        return acc + ctx.weights[i] * x\n    return acc + y\n",
    "    i = x\n    if 0 <= i < ctx.dims:\n        acc += ctx.weights[i]\n    return acc + y\n",
    "    if x >= 0 and x < ctx.dims:\n        acc += ctx.weights[x]\n    else:\n        acc += 1\n    return acc\n",
    "    if y == 0:\n        return acc + 7\n    if y > 0:\n        return acc + x // y\n    return acc\n",
    "    for i in range(1, 6):\n        acc += (x >> i) + x // i\n    return acc\n",
    "    for i in range(-2, 3):\n        acc += ctx.weights[min(max(ctx.dim + i, 0), ctx.dims - 1)] * x\n    return acc\n",
    "    if ctx.dims > 4:\n        return acc + ctx.weights[4] * x\n    return acc + y\n",
    "    k = 6\n    return acc + (ctx.weights[k] * x if 0 <= k < ctx.dims else y)\n",
    # What follows `break` and `return` stands behind the loop.
    "    for i in range(2, 7):\n        if x < i:\n            return acc + ctx.weights[min(i - 2, ctx.dims - 1)] * x\n    return acc + y\n",
    "    for i in range(3):\n        for j in range(6, 1, -1):\n            if x + i > j:\n                acc += ctx.weights[ctx.dim // (j + 1)]\n"
    "                break\n    return acc + y\n",
]


def compiled(body: str) -> Any:
    space: dict[str, Any] = {"np": np}
    exec(f"def update(x, y, acc, ctx):\n{body}", space)
    return space["update"]


def brute_force(function: Any, base: Any, queries: Any) -> Any:
    result = np.empty((len(queries), len(base)), np.float32)
    for i, query in enumerate(queries):
        for j, row in enumerate(base):
            acc = np.int32(0)
            for dim in range(base.shape[1]):
                ctx = SimpleNamespace(dim=dim, dims=base.shape[1], weights=WEIGHTS)
                acc = np.int32(function(np.int32(query[dim]), np.int32(row[dim]), acc, ctx))
            result[i, j] = acc
    return result


def scanned(function: Any, base: Any, queries: Any) -> Any:
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), base)
    metric = ivf_flat.metric(function, dtype=np.int32, captures={"weights": WEIGHTS})
    distances, neighbors = ivf_flat.search(ivf_flat.SearchParams(metric=metric), index, queries, len(base))
    result = np.empty_like(distances)
    np.put_along_axis(result, neighbors, distances, 1)
    return result


def check(body: str) -> None:
    for dtype in (np.int8, np.uint8):
        limits = np.iinfo(dtype)
        base = generator.integers(limits.min, limits.max + 1, (37, 8)).astype(dtype)
        base[0], base[1], base[2] = limits.min, limits.max, 0
        function = compiled(body)
        np.testing.assert_array_equal(scanned(function, base, base[:4]), brute_force(function, base, base[:4]))


@pytest.mark.parametrize("index", INDICES)
def test_entry(index: str) -> None:
    check(f"    return acc + ctx.weights[{index}] * (x + 1)\n")


@pytest.mark.parametrize("number", NUMBERS)
def test_number(number: str) -> None:
    check(f"    return acc + ({number})\n")


@pytest.mark.parametrize("body", CONDITIONS)
def test_condition(body: str) -> None:
    check(body)


REFUSED = [
    ("ctx.weights[ctx.dims - ctx.dim]", r"\[L3\] an index of this capture may be as large as ctx\.dims, but the extent ends at ctx\.dims - 1"),
    ("ctx.weights[ctx.dim - 1]", r"\[L2\] an index of this capture may be -1, but the extent begins at 0"),
    ("ctx.weights[x]", r"\[L2\] an index of this capture may be -128, but the extent begins at 0"),
    ("ctx.weights[abs(x)]", r"\[L3\] an index of this capture may be as large as 255, but the extent ends at ctx\.dims - 1"),
    ("ctx.weights[(ctx.dim - 1) % -ctx.dims]", r"\[L2\] an index of this capture may be -1048575, but the extent begins at 0"),
    ("ctx.weights[(ctx.dim - 1) % (ctx.dims + 1)]", r"\[L3\] an index of this capture may be as large as ctx\.dims, but the extent ends at ctx\.dims - 1"),
    ("x // y", r"\[B4\] may divide by zero.*: the divisor is from -128 to 255;"),
    ("x % max(y, 0)", r"\[B4\] may divide by zero.*: the divisor is from 0 to 255;"),
    ("acc // min(y, -1)", r"\[B5\] may divide the smallest integer by -1.*: the divisor is from -128 to -1;"),
    ("x << y", r"\[B6\] may shift 'i32' by 32 or more bits.*: the amount is from -128 to 255;"),
    ("x >> (y & 32)", r"\[B6\] may shift 'i32' by 32 or more bits.*: the amount is from 0 to 32;"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "message"), REFUSED)
def test_refused(expression: str, message: str) -> None:
    function = compiled(f"    return acc + {expression}\n")
    metric = ivf_flat.metric(function, dtype=np.int32, captures={"weights": ivf_flat.capture(WEIGHTS, "dim")})
    with pytest.raises(CompileError, match=message):
        metric.mlir()


@pytest.mark.parametrize(
    ("index", "elements", "hint"),
    [
        ("x", None, ", or declare elements=('uint8',)"),
        ("x", ("int8", "uint8"), ", or declare elements=('uint8',)"),
        ("x", ("int8",), ""),
        ("x + 1", None, ""),
    ],
)
def test_elements_that_would_pass(index: str, elements: Any, hint: str) -> None:
    function = compiled(f"    return acc + ctx.table[{index}]\n")
    table = np.arange(256, dtype=np.int32)
    metric = ivf_flat.metric(function, dtype=np.int32, captures={"table": table}, elements=elements)
    with pytest.raises(CompileError, match=r"\[L2\] index of extent 256 may be") as caught:
        metric.mlir()
    assert caught.value.diagnostics[0].message.endswith("bound it below, as max(i, 0) does" + hint)
    if hint:
        assert (
            "elements(u8)"
            in ivf_flat.metric(function, dtype=np.int32, captures={"table": table}, elements=("uint8",)).mlir()
        )


def behind_a_loop(x: int, y: int, acc: int, ctx: Any) -> int:
    """What follows `break` is compiled as what follows the loop, where a row and a query are what they were."""
    for i in range(3):
        row = ctx.row
        if ctx.limit[ctx.query] < y + i:
            acc += ctx.code[row] * ctx.table[row % 5]
            break
        if ctx.query * i > 2:
            return acc + ctx.limit[ctx.query]
    return acc + x


def test_rows_and_queries_behind_a_loop() -> None:
    base = generator.integers(-9, 10, (37, 3)).astype(np.int8)
    captures = {
        "limit": generator.integers(-9, 10, 4).astype(np.int32),
        "code": generator.integers(-9, 10, 37).astype(np.int32),
        "table": np.arange(5, dtype=np.int32),
    }
    metric = ivf_flat.metric(dtype=np.int32, captures=captures)(behind_a_loop)
    expected = np.zeros((4, 37))
    for (query, row), _ in np.ndenumerate(expected):
        ctx = SimpleNamespace(query=query, row=row, **captures)
        for x, y in zip(base[query], base[row], strict=True):
            expected[query, row] = behind_a_loop(int(x), int(y), int(expected[query, row]), ctx)
    np.testing.assert_array_equal(pairwise_distance(base[:4], base, metric=metric), expected)
