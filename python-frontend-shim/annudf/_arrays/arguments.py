# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Arrays as arguments: read, or written to in place."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from annudf._arrays.checks import check_dtype, check_matrix
from annudf._arrays.libraries import library_of, view_cupy, view_numpy, view_torch
from annudf._arrays.packed_bits import PackedBits, as_bits, view
from annudf._arrays.views import VECTORS, Device, View
from annudf.errors import ArgumentError, DeviceError


def as_contiguous(array: View, name: str) -> View:
    """The array itself, or a copy in C order if it has gaps or another order.

    A device array is copied by its own library, on that library's current stream.
    """
    if array.contiguous and _aligned(array):
        return array
    if array.device.kind == "cpu":
        if array.library == "torch":
            return view_torch(array.owner.contiguous().clone(), name)  # type: ignore[attr-defined]
        host = array.owner if array.library == "numpy" else np.from_dlpack(array.source)  # type: ignore[arg-type]
        return view_numpy(np.array(host, order="C"), name)
    if array.library == "torch":
        return view_torch(array.owner.contiguous(), name)  # type: ignore[attr-defined]
    if array.library == "cupy":
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(array.device.index):
            return view_cupy(cupy.ascontiguousarray(array.owner), name)
    raise ArgumentError(
        f"argument '{name}' has strides {array.strides} for shape {array.shape} on {array.device}; "
        "make it contiguous in C order first"
    )


def _aligned(array: View) -> bool:
    return array.size == 0 or array.address % array.itemsize == 0


def input_matrix(
    array: object,
    name: str,
    *,
    accepted: Sequence[str] = VECTORS,
    dims: int | None = None,
    stream: int | None = None,
    packed: bool = False,
) -> View:
    """A readable, C-contiguous matrix of an accepted element type; copied only if it has gaps.

    `packed`: it is for an index of bits, so that bytes of uint8, eight times as few as `dims`, are bits.
    """
    result = view(array.array if isinstance(array, PackedBits) else array, name, stream)
    fits = dims is not None and len(result.shape) == 2 and result.shape[1] * 8 == dims
    if isinstance(array, PackedBits) or (packed and fits and result.dtype == "uint8"):
        bits = as_bits(as_contiguous(result, name))
        check_dtype(bits, name, accepted)
        check_matrix(bits, name, dims)
        return bits
    if packed and dims is not None and len(result.shape) == 2 and result.shape[1] != dims:
        raise ArgumentError(
            f"argument '{name}' has vectors of {result.shape[1]} dimensions, the index has {dims} bits a vector: give "
            f"{dims // 8} bytes of uint8 a vector, or {dims} numbers"
        )
    check_dtype(result, name, accepted)
    check_matrix(result, name, dims)
    return as_contiguous(result, name)


def output(
    array: object,
    name: str,
    *,
    shape: tuple[int, ...],
    dtype: str,
    device: Device,
    stream: int | None = None,
) -> View:
    """A buffer that results are written to in place: writable, C-contiguous, of just that shape."""
    if library_of(array) == "other" and not (
        hasattr(array, "__cuda_array_interface__") or hasattr(array, "__dlpack__")
    ):
        # A list or the like would be copied, and the results written to the copy.
        raise ArgumentError(f"argument '{name}' is a {type(array).__name__}; results can only be written to an array")
    result = view(array, name, stream)
    check_dtype(result, name, (dtype,))
    if result.shape != shape:
        raise ArgumentError(f"argument '{name}' has shape {result.shape}, it must be {shape}")
    if result.device != device:
        raise DeviceError(
            f"argument '{name}' is on {result.device}, the queries are on {device}; give a buffer on {device}"
        )
    if result.read_only:
        raise ArgumentError(f"argument '{name}' is read-only; give an array that can be written")
    if getattr(array, "requires_grad", False):
        raise ArgumentError(f"argument '{name}' requires a gradient; give a tensor without one, such as .detach()")
    if not result.contiguous:
        raise ArgumentError(
            f"argument '{name}' has strides {result.strides} for shape {shape}; give an array that is contiguous in C "
            "order"
        )
    if not _aligned(result):
        raise ArgumentError(
            f"argument '{name}' is not aligned to its element type {dtype}; give an aligned array, such as a copy"
        )
    return result


def overlaps(first: View, second: View) -> bool:
    """Whether two contiguous arrays share memory."""
    return (
        first.device == second.device
        and first.size > 0
        and second.size > 0
        and first.address < second.address + second.nbytes
        and second.address < first.address + first.nbytes
    )
