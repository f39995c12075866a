# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Whether arrays are plainly those that a prepared search waits for, asked in as few steps as can be.

:func:`annudf._arrays.view` takes any array apart and says what is wrong with it. A prepared search is called again and
again with arrays like those before, so here only their addresses are asked for, of memory that is looked at anew in
every call. No address, 0, gives no reason: whoever gets it asks ``view``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from annudf._arrays import View, c_strides, numpy_dtype

Address = Callable[[Any], int]


class Plain(Protocol):
    """A library, for work on one stream of one device."""

    def address_of(self, shape: tuple[int, ...], dtype: str, written: bool) -> Address:
        """Gives the address of an array of that library, shape and type, in C order on the device; else 0."""

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        """A new array, while work is in order."""

    def in_order(self) -> bool:
        """Whether what the library does now comes on the stream, so that nobody has to wait for anybody."""

    def keeper(self, array: Any) -> object:
        """What keeps the memory that the array has now."""


def plain_library(array: View, stream: int) -> Plain | None:
    """What asks arrays of the library of `array`; None for libraries that only have protocols."""
    if array.library == "numpy":
        return _Numpy()
    if array.library == "cupy":
        return _Cupy(array.device.index, stream)
    if array.library == "torch":
        return _Torch(array.source, stream)
    return None


class _Numpy:
    def address_of(self, shape: tuple[int, ...], dtype: str, written: bool) -> Address:
        element = numpy_dtype(dtype)

        def address(array: Any) -> int:
            if type(array) is np.ndarray and array.shape == shape and array.dtype == element:
                flags = array.flags
                if flags.carray if written else flags.c_contiguous and flags.aligned:
                    data: int = array.__array_interface__["data"][0]
                    return data
            return 0

        return address

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        return np.empty(shape, dtype)

    def in_order(self) -> bool:
        return True

    def keeper(self, array: Any) -> object:
        return array


class _Cupy:
    def __init__(self, device: int, stream: int) -> None:
        self._cupy: Any = sys.modules["cupy"]
        self._device, self._stream = device, stream
        self._owner = self._cupy.cuda.get_current_stream(device)  # Whose last reference would end a stream in use.

    def address_of(self, shape: tuple[int, ...], dtype: str, written: bool) -> Address:
        kind, device, element = self._cupy.ndarray, self._device, numpy_dtype(dtype)
        strides = c_strides(shape, element.itemsize)  # An axis of length 1 may have others, which are not plain.

        def address(array: Any) -> int:
            if (
                type(array) is kind
                and array.shape == shape
                and array.dtype == element
                and array.strides == strides
                and array.device.id == device
            ):
                data: int = array.data.ptr
                return data
            return 0

        return address

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        return self._cupy.empty(shape, dtype)

    def in_order(self) -> bool:
        cuda = self._cupy.cuda
        # New memory is the current device's, on its current stream.
        return bool(cuda.runtime.getDevice() == self._device and cuda.get_current_stream().ptr == self._stream)

    def keeper(self, array: Any) -> object:
        return array


class _Torch:
    def __init__(self, like: Any, stream: int) -> None:
        self._torch: Any = sys.modules["torch"]
        self._device, self._stream = like.device, stream

    def address_of(self, shape: tuple[int, ...], dtype: str, written: bool) -> Address:
        torch, device = self._torch, self._device
        kind, dense, element = torch.Tensor, torch.strided, getattr(torch, "uint8" if dtype == "bits" else dtype)

        def address(tensor: Any) -> int:
            if (
                type(tensor) is kind
                and tensor.shape == shape
                and tensor.dtype is element
                and tensor.device == device
                and tensor.layout is dense
                and tensor.is_contiguous()
                and not tensor.is_neg()  # Its memory holds the negated values.
                and not (written and tensor.requires_grad)
            ):
                data: int = tensor.data_ptr()
                return data
            return 0

        return address

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        return self._torch.empty(shape, dtype=getattr(self._torch, dtype), device=self._device)

    def in_order(self) -> bool:
        if self._device.type == "cpu":
            return True
        return bool(self._torch.cuda.current_stream(self._device).cuda_stream == self._stream)

    def keeper(self, array: Any) -> object:
        return array.detach()  # set_() and resize_() give the tensor itself other memory.
