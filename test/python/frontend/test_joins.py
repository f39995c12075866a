# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python's numbers beside NumPy's: on different paths, in comparisons, among constants; results are those of Python itself."""

from __future__ import annotations

import linecache
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from annudf import ivf_flat
from annudf.distance import pairwise_distance
from annudf.errors import UnsupportedError

X, Y = 3.0, 1e5
GROUP = 25
"""Bodies of one metric; conditions nest, and a hook has a limit of that."""
NUMPY = {
    "F16": np.float16(0.3), "F32": np.float32(0.3), "F64": np.float64(0.3), "I8": np.int8(100), "I64": np.int64(2**40),
    "U8": np.uint8(200), "U32": np.uint32(4_000_000_000), "U64": np.uint64(2**64 - 1), "TRUE": np.bool_(True),
    "NONE": np.float32(math.nan),
}  # fmt: skip
SPACE: dict[str, Any] = {"np": np, "math": math, "NAN": math.nan, "K": 7, **NUMPY}

JOINS = [
    "t = 0\nif y > 0:\n    t = np.int64(y)\nreturn np.float32(t * np.int32(100000))",
    "t = np.int64(y)\nif y < 0:\n    t = 0\nreturn np.float32(t * np.int32(100000))",
    "t = 0.5\nif y > 0:\n    t = np.float64(0.1)\nreturn np.float32(t * np.float32(3) % np.float64(1e-7))",
    "t = True\nif y > 0:\n    t = x > 1\nreturn np.float32(t + (y > 0))",
    "t = x > 1\nif y < 0:\n    t = True\nreturn np.float32(t + (y > 0))",
    "return np.float32((0 if y < 0 else np.int64(y)) * np.int32(100000))",
    "return np.float32((np.int64(y) if y > 0 else 0) * np.int32(100000))",
    "t = 1\nfor i in range(3):\n    t = np.int64(t) * 1000\nreturn np.float32(t * np.int32(100))",
    "t = 0.5\nfor i in range(3):\n    t = np.float64(t) / 3\nreturn np.float32(t * np.float32(0.1) % np.float64(1e-9))",
    "def f(d):\n    if d > 5:\n        return 0\n    return np.int64(100000)\nreturn np.float32(f(x) * "
    "np.int32(100000))",
    "f = lambda d: 0 if d > 5 else np.int64(1e5)\nreturn np.float32(f(x) * np.int32(100000))",
    "return np.float32(helper(y) * np.int32(100000))",
    "n = np.int64(0)\nfor i in range(np.int64(4)):\n    n += i\nreturn np.float32(n)",
]
COMPARED = [
    "return np.where(NAN != NAN, x, y)", "return x * (NAN != 1.0)", "return x * (math.nan != math.nan)", "return x * (NAN == NAN) + 1",
    "return x if math.inf else y", "return x if NAN else y", "return x if not math.inf else y", "return x if math.nan else y",
    "a, b = NAN, NAN\nreturn (a != b) * x", "t = ((1, NAN), 2)\nreturn (t[0][1] != t[0][1]) * x + t[-1]",
    "n = x\nif x > 0:\n    m = NAN\n    n = (m != m) * x\nreturn n", "k = NAN\nf = lambda d: (k != k) * d\nreturn f(x)",
    "a, b = 2, -1\nreturn a ** b * x", "n = 0\nwhile math.inf:\n    n += 1\n    if n > 5:\n        break\nreturn np.float32(n)",
    "return x * (2**53 + 1 == 2.0**53) + 1", "return x * (NONE != NONE)", "return x * (U8 < 300)",
    "return np.float32((not (x > 5)) + (not (x > 6)))", "return np.float32(math.isnan(NAN * x) + math.isnan(NAN))",
]  # fmt: skip
WHOLE = ("+ 2**53 - 2", "+ 2**53 - 1", "- 2**62 - 2**62 + 5", "+ 0x7FFFFFFFFFFFFFFC")
REAL = ("2.0**53", "(2.0**53 + 2)", "2.0**63", "-2.0**63", "math.inf", "NAN", "(float(x) + 2.0**53 - 3)", "(float(x) * 2.0**62 * 2 / 3)", "(float(x) * NAN)")  # fmt: skip
PAIRS = ("i < f", "f < i", "i <= f", "f <= i", "i > f", "f > i", "i >= f", "f >= i", "i == f", "f != i")
EXACT = [
    "i, f = int(x) " + one + ", " + other + "\nreturn np.float32(" + " + ".join(f"{2**n} * ({pair})" for n, pair in enumerate(PAIRS)) + ")"
    for one in WHOLE for other in REAL
]  # fmt: skip
CONSTANTS = [
    "np.minimum(np.maximum(-5, 2**62), np.int32(255))", "np.where(x > 0, 2**40, 5) * np.int32(1)", "np.clip(2**40, 0, 2**41) * np.int32(1)", "np.clip(ctx.dim, np.int8(x), np.int8(x)) * np.int8(100)",
    "np.abs(-5) * np.int8(100)", "np.sign(-7) * np.int8(3)", "np.power(2, 10) * np.int8(100)", "np.floor_divide(2**40, 3) * np.int32(1)",
    "np.remainder(2**40, 2**39 + 1) * np.int32(1)", "np.add(2**40, 3) * np.int32(1)", "np.subtract(2**40, 3) * np.int32(1)", "np.square(2**20) * np.int32(1)",
    "np.multiply(2**40, 3) * np.int32(1)", "np.left_shift(1, 40) * np.int32(1)", "np.right_shift(2**40, 1) * np.int32(1)", "np.bitwise_or(1, 2**40) * np.int32(1)",
    "np.bitwise_xor(1, 2**40) * np.int32(1)", "np.bitwise_and(3 * 2**40, 2**40) * np.int32(1)", "np.invert(2**40) * np.int32(1)", "np.negative(2**40) * np.int32(1)",
    "np.fmax(2**40, K) * np.int32(1)", "np.divmod(2**40, K)[0] * np.int32(1)", "np.maximum(True, False) + np.maximum(True, True)", "np.add(True, True)",
    "np.logical_or(x, 0) + np.logical_and(x, y)", "np.isclose(x, x) + np.equal(1, 1)", "np.floor(np.int32(2**24 + 1)) - np.int32(2**24)",
    "math.pow(np.int32(100000), 2)", "math.pow(2, 3) * np.int8(100)", "pow(2, 3) * np.int8(10)", "abs(-5) * np.int8(10)", "divmod(7, 2)[0] * np.int8(30)",
    "max(np.int32(x), ctx.dim + 5) + min(np.int64(x), ctx.dim)", "np.maximum(ctx.dim, 2**40) * np.int32(1)",
]  # fmt: skip
BITS = [
    "(5).bit_count() + K.bit_count() * 10 + (-K).bit_count() * 100", "np.uint8(x + 250).bit_count()", "np.int8(x - 131).bit_count() + (np.int64(x) - 4).bit_count() * 10",
    "int(-x).bit_count() + ctx.dim.bit_count() + (ctx.dim > 0).bit_count()", "(np.int32(x) ^ np.int32(y)).bit_count()", "np.uint8(x).bit_count() * np.int8(60)",
]  # fmt: skip
SCALARS = [
    *(f"{name} + {name}" for name in NUMPY), *(f"{name} * 2 + {name} * x" for name in NUMPY if name not in ("I64", "U32", "U64")),
    "x if TRUE else y", "(F32 == 0.3) + (F64 == 0.3) * 2", "U64 // 2", "defaults(x)",
]  # fmt: skip
BODIES = [
    *JOINS, *COMPARED, *EXACT, *(f"return np.float64({one})" for one in (*CONSTANTS, *BITS, *SCALARS)),
]  # fmt: skip


def built() -> dict[str, Any]:
    text = "def helper(d):\n    if d < 5:\n        return 0\n    return np.int64(d)\n"
    text += "def defaults(d, flag=np.bool_(True), large=np.uint64(2**64 - 2), small=np.float32(0.1)):\n    return np.float64(small) + (flag + flag) + large * np.float64(d)\n"
    for number, body in enumerate(BODIES):
        text += f"def case_{number}(x, y, ctx):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    for part in range(0, len(BODIES), GROUP):
        text += f"def update_{part}(x, y, acc, ctx):\n"
        for number in range(part, min(part + GROUP, len(BODIES))):
            text += f"    if ctx.which == {number}:\n        return acc + np.float64(case_{number}(x, y, ctx))\n"
        text += "    return acc\n"
    linecache.cache["<joins>"] = (len(text), None, text.splitlines(True), "<joins>")
    space = dict(SPACE)
    exec(compile(text, "<joins>", "exec"), space)
    return space


@pytest.fixture(scope="module")
def space() -> dict[str, Any]:
    return built()


@pytest.fixture(scope="module")
def metrics(space: dict[str, Any]) -> dict[int, Any]:
    make = ivf_flat.metric(accumulator="float64", captures={"which": np.int32(0)})
    return {part: make(space[f"update_{part}"]) for part in range(0, len(BODIES), GROUP)}


@pytest.mark.parametrize("number", range(len(BODIES)))
def test_as_python(number: int, space: dict[str, Any], metrics: dict[int, Any]) -> None:
    metric = metrics[number // GROUP * GROUP].bind(which=np.int32(number))
    x, y = (np.full((1, 1), one, np.float32) for one in (X, Y))
    with np.errstate(all="ignore"):
        want = np.float32(np.float64(space[f"case_{number}"](np.float32(X), np.float32(Y), SimpleNamespace(dim=0))))
    have = pairwise_distance(x, y, metric=metric)[0, 0]
    np.testing.assert_array_equal(have, want, BODIES[number])


REFUSED = [
    ("300 if x > 0 else np.int8(x)", "the number 300 does not fit int8 (-128 to 127); convert to a wider type"),
    ("(ctx.dim + 300) if x > 0 else np.int8(x)", "a Python int that is computed may not fit int8, its type on another path; convert one, e.g. np.int32(...)"),
    ("max(np.uint32(x), ctx.dim - 1)", "a Python int that is computed may not fit uint32, its type on another path; convert one, e.g. np.int32(...)"),
    ("np.maximum(np.int8(x), 300)", "the number 300 does not fit int8 (-128 to 127); convert to a wider type"),
    ("np.power(2, -1)", "an integer to the power of exponent -1; use a constant from 0 to 64, or np.float32(x) ** y"),
    ("np.reciprocal(np.int32(x))", "np.reciprocal of an integer is an integer, 0 for most; write 1 / v"),
    ("x.bit_count()", ".bit_count() needs an integer, got float32"),
    ("(x > 0).bit_count()", ".bit_count() needs an integer, got bool"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "message"), REFUSED)
def test_refused(expression: str, message: str) -> None:
    space = dict(SPACE)
    exec(f"def update(x, y, acc, ctx):\n    return acc + ({expression})\n", space)
    with pytest.raises(UnsupportedError) as caught:
        ivf_flat.metric(space["update"]).mlir()
    assert caught.value.diagnostics[0].message == message
