# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A real GPU and the real cuda.compute: a reduction of structs, a scan with captures, a merge sort of unsigned numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import annudf

pytestmark = pytest.mark.gpu

cupy = pytest.importorskip("cupy", reason="no CuPy: operators of cuda.compute are NOT run on a GPU")
compute = pytest.importorskip(
    "cuda.compute", reason="no cuda.compute (pip install cuda-cccl): its algorithms are NOT run with our operators"
)
if not hasattr(compute, "reduce_into"):
    pytest.skip("cuda.compute finds no GPU: its algorithms are NOT run with our operators", allow_module_level=True)

RECORD = np.dtype([("value", np.float32), ("index", np.uint32)])
ROWS = 1_000_003


class Structs:
    """Records in memory of the GPU, which CuPy has no dtype for."""

    def __init__(self, rows: np.ndarray[Any, Any]) -> None:
        self._bytes = cupy.asarray(rows.view(np.uint8))
        self.dtype, self.shape = rows.dtype, rows.shape

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": f"|V{self.dtype.itemsize}",
            "descr": self.dtype.descr,
            "data": (self._bytes.data.ptr, False),
            "strides": None,
            "version": 3,
        }

    def get(self) -> np.ndarray[Any, Any]:
        return self._bytes.get().view(self.dtype)


@pytest.mark.parametrize("signature", [None, (RECORD, RECORD)], ids=["asked for", "given"])
def test_reduction_of_structs(signature: object) -> None:
    rng = np.random.default_rng(1)
    rows = np.empty(ROWS, RECORD)
    rows["value"] = rng.integers(0, 5000, ROWS)  # Many of the largest: the first of them counts.
    rows["index"] = np.arange(ROWS)

    @annudf.device_function
    def larger(a, b):
        if a.value != b.value:
            return a if a.value > b.value else b
        return a if a.index < b.index else b

    result = Structs(np.zeros(1, RECORD))
    start = np.zeros(1, RECORD)
    start["value"], start["index"] = -1, 2**32 - 1
    op = larger.as_raw_op(signature)
    compute.reduce_into(d_in=Structs(rows), d_out=result, num_items=ROWS, op=op, h_init=start)
    found = result.get()[0]
    assert found["index"] == rows["value"].argmax() and found["value"] == rows["value"].max()


def test_scan_with_captures() -> None:
    rows = np.random.default_rng(2).integers(0, 1000, ROWS).astype(np.uint32)
    moduli = cupy.asarray(np.array([7, 65521, 9], np.uint32))

    @annudf.device_function(captures={"moduli": moduli})
    def added(a, b, ctx):
        return (a + b) % max(ctx.moduli[1], 1)

    result = cupy.zeros(ROWS, np.uint32)
    op = added.as_raw_op("uint32(uint32, uint32)")
    start = np.array([0], np.uint32)
    for modulus in (65521, 251):  # The state is read each time.
        moduli[1] = modulus
        compute.inclusive_scan(d_in=cupy.asarray(rows), d_out=result, op=op, init_value=start, num_items=ROWS)
        assert_array_equal(result.get(), np.cumsum(rows, dtype=np.uint64) % modulus)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64, np.int32])
def test_merge_sort(dtype: type) -> None:
    info = np.iinfo(dtype)
    rows = np.random.default_rng(3).integers(info.min, info.max, ROWS, dtype=dtype, endpoint=True)

    @annudf.device_function
    def less(a, b):
        return a < b

    for op in (less.as_raw_op(), less.as_raw_op(f"bool({np.dtype(dtype)}, {np.dtype(dtype)})")):
        keys, out = cupy.asarray(rows), cupy.zeros(ROWS, dtype)
        compute.merge_sort(d_in_keys=keys, d_out_keys=out, num_items=ROWS, op=op)
        assert_array_equal(out.get(), np.sort(rows))
