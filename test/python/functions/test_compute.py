# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Device functions as operators of cuda.compute: with its interface in place of it where it is not installed."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest

import annudf
from annudf import UnavailableError


class OpAdapter:
    pass


class RawOp(OpAdapter):
    __slots__ = ("arguments", "compiled_for")

    def __init__(self, **arguments: Any) -> None:
        self.arguments = arguments

    def compile(self, input_types: Any, output_type: Any = None) -> Any:
        self.compiled_for = (input_types, output_type)
        return self


class Descriptor:
    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)


@pytest.fixture
def compute(monkeypatch: pytest.MonkeyPatch) -> None:
    op = types.ModuleType("cuda.compute.op")
    op.OpAdapter, op.RawOp = OpAdapter, RawOp  # type: ignore[attr-defined]
    of_types = types.ModuleType("cuda.compute.types")
    of_types.from_numpy_dtype = Descriptor  # type: ignore[attr-defined]
    package = types.ModuleType("cuda.compute")
    for name, module in (("cuda.compute", package), ("cuda.compute.op", op), ("cuda.compute.types", of_types)):
        monkeypatch.setitem(sys.modules, name, module)


@annudf.device_function
def added(a, b):
    return a + b


def test_of_a_signature(compute: None) -> None:
    made = added.as_raw_op("float32(float32, float32)", cc=90)
    assert isinstance(made, RawOp)
    assert made.arguments["ltoir"][:4] == b"\xed\x43\x4e\x7f"
    assert made.arguments["name"].startswith("added_") and made.arguments["state"] == b""
    assert made.arguments["state_alignment"] == 1


def test_of_the_types_that_are_asked_for(compute: None) -> None:
    made = added.as_raw_op(cc=90)
    assert (
        isinstance(made, OpAdapter) and not made.is_stateful and made.get_state() == b"" and made.state_alignment == 1
    )
    asked = (Descriptor(np.int16), Descriptor(np.int16))
    one = made.compile(asked, Descriptor(np.int16))
    other = made.compile((Descriptor(np.float64),) * 2)
    assert one.compiled_for[0] is asked and one.arguments["name"] != other.arguments["name"]
    assert made.get_return_type((Descriptor(np.int16), Descriptor(np.int64))).dtype == np.int64
    assert made.get_return_type((Descriptor(np.int8), Descriptor(np.uint8))).dtype == np.int16
    with pytest.raises(annudf.ArgumentError, match="which is no number and no struct"):
        made.compile((Descriptor("V5"), Descriptor("V5")))


def test_structs_that_are_asked_for(compute: None) -> None:
    record = np.dtype([("value", np.float32), ("index", np.uint32)])

    @annudf.device_function
    def larger(a, b):
        return a if a.value >= b.value else b

    made = larger.as_raw_op(cc=90)
    assert made.compile((Descriptor(record),) * 2, Descriptor(record)).arguments["ltoir"]
    assert made.get_return_type((Descriptor(record),) * 2).dtype is record


def test_structs_that_no_argument_has(compute: None) -> None:
    record = np.dtype([("value", np.int8), ("at", [("row", np.int64), ("column", np.uint8)])], align=True)

    @annudf.device_function
    def turned(a, b):
        return a.at, b.value, a.value > b.value

    found = turned.as_raw_op(cc=90).get_return_type((Descriptor(record),) * 2).dtype
    inner = np.dtype([("f0", np.int64), ("f1", np.uint8)], align=True)
    assert found == np.dtype([("f0", inner), ("f1", np.int8), ("f2", np.bool_)], align=True) and found.isalignedstruct

    @annudf.device_function
    def first(a, b):
        return a.at

    at = record["at"]
    assert first.as_raw_op().get_return_type((Descriptor(record), Descriptor(at))).dtype is at


def test_operators_of_a_function_are_equal(compute: None) -> None:
    """cuda.compute finds by its operator what it has compiled."""

    @annudf.device_function
    def other(a, b):
        return a + b

    one = added.as_raw_op()
    assert one == added.as_raw_op() and hash(one) == hash(added.as_raw_op())
    assert added.as_raw_op(cc=90) == added.as_raw_op(cc="sm_90") == added.as_raw_op(cc=(9, 0))
    assert len({one, added.as_raw_op(), added.as_raw_op(cc=90), other.as_raw_op()}) == 3
    assert one != other.as_raw_op() and one != added


def test_fields_that_are_called_as_methods_of_tuples_are(compute: None) -> None:
    record = np.dtype([("index", np.float32), ("count", np.uint32)])

    @annudf.device_function
    def first(a, b):
        return a if a.index < b.index or a.count > b.count else b

    assert first.return_type((record, record)) == (np.dtype(np.float32), np.dtype(np.uint32))
    assert first.as_raw_op(cc=90).compile((Descriptor(record),) * 2, Descriptor(record)).arguments["ltoir"]


def test_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cuda.compute", "cuda.compute.op"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UnavailableError, match=r"cuda.compute cannot be imported \(.*\): pip install cuda-cccl"):
        added.as_raw_op()
