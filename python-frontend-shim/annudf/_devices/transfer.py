# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Copies between devices, and new arrays for results in the library of the queries."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from annudf._arrays import View, as_bits, numpy_dtype, view
from annudf._devices import backends
from annudf.common import Resources, device_ndarray


def to_host(array: View, name: str, resources: Resources) -> View:
    """The array itself if it is in host memory, else a copy there; waits for its producer."""
    if array.device.kind == "cpu":
        return array
    stream = ready_stream(array, name, resources)
    engine = backends.backend(array.device)
    if array.dtype == "bits":
        packed = replace(array, shape=(array.shape[0], array.shape[1] // 8), dtype="uint8")
        return as_bits(to_host(packed, name, resources))
    # NumPy has no bfloat16, so its bits are taken.
    bits = np.dtype(np.uint16) if array.dtype == "bfloat16" else np.dtype(array.dtype)
    result = replace(view(np.empty(array.shape, bits), name), dtype=array.dtype)
    if array.nbytes:
        engine.copy(result.address, array.address, array.nbytes, stream)
        engine.synchronize(stream)
    return result


def ready_stream(array: View, name: str, resources: Resources) -> int:
    """The stream for work on a device array, which has waited for its producer."""
    resources.place(array.device, f"argument '{name}'")
    stream = working_stream(array, resources)
    backends.order_after(array, stream)
    return stream


def as_numpy(array: View) -> npt.NDArray[Any]:
    """A contiguous array in host memory as a NumPy array; a copy unless it is one already."""
    if isinstance(array.owner, np.ndarray):
        return array.owner
    data = ctypes.string_at(array.address, array.nbytes) if array.nbytes else b""
    return np.frombuffer(data, numpy_dtype(array.dtype)).reshape(array.shape)


def working_stream(array: View, resources: Resources) -> int:
    """The stream that work on a device array is enqueued on."""
    if resources.stream is not None:
        return resources.stream
    return array.producer or 0


def empty_like_library(array: View, shape: tuple[int, ...], dtype: str, stream: int) -> tuple[Any, View]:
    """A new array on the device and in the library of `array`, usable on `stream`, and its view."""
    result: Any
    if array.library == "torch":
        torch: Any = sys.modules["torch"]
        options = {"dtype": getattr(torch, dtype), "device": array.source.device}  # type: ignore[attr-defined]
        if array.device.kind == "cpu":
            result = torch.empty(shape, **options)
        else:
            # The caching allocator hands memory out in the order of the stream that is current.
            with torch.cuda.stream(backends.torch_stream(stream, array.device.index)):
                result = torch.empty(shape, **options)
    elif array.library == "cupy":
        cupy: Any = sys.modules["cupy"]
        with (
            cupy.cuda.Device(array.device.index),
            backends.cupy_stream(stream, array.device.index),
        ):
            result = cupy.empty(shape, dtype=dtype)
    elif array.device.kind == "cpu":
        result = np.empty(shape, dtype)
    else:
        result = device_ndarray.empty(shape, dtype, device=array.device.index, stream=stream)
    # Nothing was enqueued on the new memory, so there is no producer to wait for.
    seen = view(result, "result", stream)
    seen.producer = None
    return result, seen
