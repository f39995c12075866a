# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of operations against NumPy's own, for every pair of types and every operator."""

from __future__ import annotations

import operator
import warnings
from itertools import product

import numpy as np
import pytest

from annudf._frontend.types import dtypes
from annudf._frontend.types.dtypes import Refused

NAMES = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
)
OPERANDS = (*NAMES, "int", "float")


def sample(name: str) -> object:
    return {"int": 1, "float": 1.0}.get(name) or np.dtype(name).type(1)


def operand(name: str) -> dtypes.Operand:
    return dtypes.Weak(name) if name in ("int", "float") else np.dtype(name)


def numpys(fn: object, a: str, b: str) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fn(sample(a), sample(b))  # type: ignore[operator]


@pytest.mark.parametrize("fn", [*dtypes.ARITHMETIC, *dtypes.BITWISE], ids=lambda f: f.__name__)
def test_operators(fn: object) -> None:
    checked = narrowed = 0
    for a, b in product(OPERANDS, OPERANDS):
        if {a, b} <= {"int", "float"}:
            continue  # Python's own; numba types them.
        try:
            expected = np.asarray(numpys(fn, a, b)).dtype
        except TypeError:
            with pytest.raises(Refused):
                dtypes.arithmetic(fn, operand(a), operand(b))  # type: ignore[arg-type]
            continue
        try:
            ours = dtypes.arithmetic(fn, operand(a), operand(b))  # type: ignore[arg-type]
        except Refused:
            assert expected == np.float64 and "uint64" in (a, b), (a, b)  # No common integer type.
            continue
        declared = "float64" in (a, b)
        if expected == np.float64 and not declared:
            narrowed += 1
            expected = np.dtype(np.float32)
        if fn is operator.truediv and expected == np.float16 and "float16" not in (a, b):
            expected = np.dtype(np.float32)
        assert ours == expected, (a, b)
        checked += 1
    assert checked > 80
    assert narrowed or fn in dtypes.BITWISE


@pytest.mark.parametrize("fn", dtypes.COMPARISONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    ("a", "b"),
    [
        (np.uint8(200), np.int8(-56)), (np.uint32(2**31), np.int32(-(2**31))), (np.float32(16777216), np.int32(16777217)),
        (np.float32(0.1), 0.1), (np.int8(-1), np.uint8(255)), (np.int32(3), 3.5), (np.float16(0.1), np.float32(0.1)),
    ],
)  # fmt: skip
def test_comparisons_are_exact_in_the_type_that_is_chosen(fn: object, a: np.generic, b: object) -> None:
    kind = {int: "int", float: "float"}.get(type(b))
    common = dtypes.compared(a.dtype, operand(kind) if kind else b.dtype)  # type: ignore[union-attr]
    assert fn(common.type(a), common.type(b)) == fn(a, b)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("value", "to", "allowed"),
    [
        ("float32", "float32", True), ("float64", "float32", True), ("int32", "float32", True), ("int64", "int32", True),
        ("float32", "int32", False), ("bool", "int32", True), ("int32", "uint32", True), ("int", "int32", True),
        ("float", "int32", False), ("float", "float32", True), ("bool", "float32", True),
    ],
)  # fmt: skip
def test_what_may_be_returned(value: str, to: str, allowed: bool) -> None:
    if allowed:
        dtypes.returned(operand(value), np.dtype(to), "the accumulator")
    else:
        with pytest.raises(Refused, match="declare accumulator='float32'"):
            dtypes.returned(operand(value), np.dtype(to), "the accumulator")
