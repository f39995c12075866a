# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What calls share: :class:`Resources` (where and on which stream) and :class:`device_ndarray`."""

from __future__ import annotations

import copy
import math
import re
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from annudf import _arrays
from annudf._arrays import CPU, Device
from annudf._devices import backends
from annudf._support.checks import check_int, refusal, shown
from annudf._support.limits import MAX_DEVICE
from annudf._support.repr import of_whole
from annudf.errors import ArgumentError, DeviceError, UnavailableError

__all__ = ["Resources", "device_ndarray"]


class Resources:
    """Where a call runs: the CUDA stream, and for host arrays the device.

    Parameters
    ----------
    stream : int or stream object, optional
        CUDA stream that device work is enqueued on: a ``CUstream`` or ``cudaStream_t`` as an
        integer (``cupy_stream.ptr``), or a stream of CuPy or PyTorch itself. Default: the current
        stream of the library that the queries belong to, and the legacy default stream for arrays
        of other libraries.
    device : {"cpu", "cuda", "cuda:N"} or int, optional
        Where to search with host arrays (NumPy): ``"cuda"`` (device 0), ``"cuda:1"`` or ``1`` copies
        queries there and results back, and waits for them. Default: the CPU. Device arrays
        are always searched on their own device.
    devices : "all" or list of int, optional
        Several CUDA devices that share each search. An index that is built with them is searched
        there by default. Device arrays are on the first.
    mode : {"sharded", "replicated"}, optional
        What each of `devices` has: a part of every list, the default, or all vectors.

    Raises
    ------
    ArgumentError
        The value is not a stream, or the device, the devices or the mode is not one of the above.

    Examples
    --------
    >>> from annudf import Resources
    >>> Resources(device="cpu")
    Resources(device='cpu')
    """

    def __init__(
        self,
        stream: object = None,
        *,
        device: str | int | None = None,
        devices: str | Iterable[int] | None = None,
        mode: str | None = None,
    ) -> None:
        self._stream = backends.stream_handle(stream)
        # A stream object that nobody else holds would be destroyed with work on it.
        self._owner = stream
        self._device = _parse_device(device) if devices is None else _parse_devices(devices, mode)
        if devices is not None and device is not None:
            raise ArgumentError("device and devices are given; give one of them")
        if devices is None and mode is not None:
            raise ArgumentError(f"mode is {shown(mode)}, but devices is not given; give devices='all' or a list")
        self._used: set[tuple[Device, int]] = set()

    @property
    def stream(self) -> int | None:
        """Handle of the stream, or None for the current one."""
        return self._stream

    @property
    def device(self) -> Device | None:
        """Where host arrays are searched, or None for the CPU."""
        return self._device

    def sync(self) -> None:
        """Waits until all work that was enqueued with this object is done."""
        used, self._used = self._used, set()
        for device, stream in used:
            backends.backend(device).synchronize(stream)
        backends.release_done()

    @of_whole("_used")
    def __repr__(self) -> str:
        parts = []
        if self._stream is not None:
            parts.append(f"stream=0x{self._stream:x}")
        if self._device is not None:
            if self._device.team:
                parts.append(f"devices={list(self._device.team)}, mode={self._device.mode!r}")
            else:
                text = "cpu" if self._device == CPU else str(self._device)
                parts.append(f"device={text!r}")
        return f"Resources({', '.join(parts)})"

    def place(self, device: Device, what: str) -> Device:
        """The device that work on an array on `device` is done on."""
        if device.kind == "cuda":
            if self._device is not None and self._device.team:
                if device.index != self._device.index:
                    raise DeviceError(
                        f"{what} is on {device}, but resources ask for {self._device}, whose arrays are on the first; "
                        "copy the array there"
                    )
                return self._device
            if self._device is not None and self._device != device:
                raise DeviceError(
                    f"{what} is on {device}, but resources ask for {self._device}; "
                    "copy the array there or drop the device"
                )
            return device
        if self._device is None and self._stream is not None:
            raise DeviceError(
                f"{what} is on {device} and resources name a CUDA stream; give a device array, or "
                "Resources(device='cuda', ...) to copy it there"
            )
        return self._device or CPU

    def over(self, team: Device | None) -> Resources:
        """These, with the devices that an index was built with unless a device is given."""
        if team is None or self._device is not None:
            return self
        with_team = copy.copy(self)
        with_team._device = team  # What is noted is noted of both.
        return with_team

    def note(self, device: Device, stream: int) -> None:
        """Remembers that work was enqueued, for :meth:`sync`."""
        self._used.add((device, stream))


def check_resources(resources: object) -> Resources:
    """The resources given, or new ones for None."""
    if resources is None:
        return Resources()
    if not isinstance(resources, Resources):
        raise ArgumentError(
            f"resources is a {type(resources).__name__}, it must be an annudf.Resources; "
            "for a stream write Resources(stream=...)"
        )
    return resources


def _parse_device(device: str | int | None) -> Device | None:
    if device is None:
        return None
    if isinstance(device, str):
        if device == "cpu":
            return CPU
        match = re.fullmatch(r"(?:cuda|gpu)(?::([0-9]{1,10}))?", device)
        number = int(match[1] or 0) if match else -1
    else:
        number = device if isinstance(device, int) and not isinstance(device, bool) else -1
    if not 0 <= number <= MAX_DEVICE:
        raise refusal("device", device, "'cpu', 'cuda', 'cuda:N' or the number of a device")
    return Device("cuda", number)


def _parse_devices(devices: object, mode: str | None) -> Device:
    from annudf import _core

    if mode not in (None, "sharded", "replicated"):
        raise refusal("mode", mode, "'sharded' or 'replicated'")
    if isinstance(devices, str):
        if devices != "all":
            raise refusal("devices", devices, "'all' or a list of device numbers")
        there = _core.describe_environment()["devices"]
        count = len(there) if isinstance(there, list) else 0
        if count == 0:
            raise UnavailableError("devices is 'all', and there is no CUDA device; leave it out to search on the CPU")
        numbers = tuple(range(count))
    else:
        if not isinstance(devices, Iterable):
            raise refusal("devices", devices, "'all' or a list of device numbers")
        numbers = tuple(check_int(number, "devices", 0, MAX_DEVICE) for number in devices)
        if not numbers:
            raise ArgumentError("devices is empty; give at least one device")
    return Device("cuda", numbers[0], numbers, mode or "sharded")


class device_ndarray:
    """An array in device memory for callers that have neither CuPy nor PyTorch.

    It speaks ``__cuda_array_interface__`` (version 3) and DLPack, so CuPy, PyTorch, numba and JAX take
    it without a copy.

    Parameters
    ----------
    np_ndarray : array_like
        The values, which are copied to the device.
    device : int, default 0
        The CUDA device.

    Raises
    ------
    UnavailableError
        There is no driver, no such device or not enough memory.
    """

    def __init__(self, np_ndarray: npt.ArrayLike, device: int = 0) -> None:
        host = np.ascontiguousarray(np_ndarray)
        _check_dtype(host.dtype)
        self._allocate(host.shape, host.dtype, _cuda(device), 0)
        if host.size:
            engine = backends.backend(self._device)
            engine.copy(self._address, host.__array_interface__["data"][0], host.nbytes, 0)
            engine.synchronize(0)

    def _allocate(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: Device, stream: int) -> None:
        self._shape, self._dtype, self._device, self._stream = shape, dtype, device, stream
        size = math.prod(shape) * dtype.itemsize
        self._buffer = backends.backend(device).allocate(size, stream) if size else None
        self._address = self._buffer.address if self._buffer is not None else 0

    @classmethod
    def empty(
        cls,
        shape: int | tuple[int, ...],
        dtype: npt.DTypeLike = np.float32,
        order: str = "C",
        *,
        device: int = 0,
        stream: int = 0,
    ) -> device_ndarray:
        """An uninitialised array.

        Parameters
        ----------
        shape : int or tuple of int
        dtype : dtype, default float32
        order : {"C"}
        device : int, default 0
        stream : int, default 0
            Stream on which the memory may be used at once.
        """
        if order != "C":
            raise ArgumentError(f"order is {order!r}; only 'C' is supported")
        extents = shape if isinstance(shape, Iterable) else (shape,)
        shape = tuple(check_int(extent, "shape", 0, sys.maxsize) for extent in extents)
        result = cls.__new__(cls)
        element = np.dtype(dtype)
        _check_dtype(element)
        result._allocate(shape, element, _cuda(device), stream)
        return result

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's element type."""
        return self._dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents."""
        return self._shape

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in bytes; always those of C order."""
        return _arrays.c_strides(self._shape, self._dtype.itemsize)

    @property
    def c_contiguous(self) -> bool:
        """Always True."""
        return True

    @property
    def f_contiguous(self) -> bool:
        """Whether it also is contiguous in Fortran order."""
        return sum(extent > 1 for extent in self._shape) <= 1

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self._shape,
            "typestr": self._dtype.str,
            "data": (self._address, False),
            "version": 3,
            "strides": None,
            # 0 is not allowed by the protocol; 1 names the same stream.
            "stream": self._stream or 1,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, self._device.index)

    def __dlpack__(self, *, stream: int | None = None, **versioned: Any) -> object:
        from annudf import _core

        if stream != -1 and not backends.same_stream(stream or 1, self._stream):
            # The consumer works elsewhere and knows nothing of our stream.
            backends.backend(self._device).synchronize(self._stream)
        exporter: Any = _core.to_dlpack(
            self,
            self._address,
            self._shape,
            _arrays.ELEMENT_OF_DTYPE[self._dtype.name],
            "cuda",
            self._device.index,
        )
        return exporter.__dlpack__(**versioned)

    def copy_to_host(self) -> npt.NDArray[Any]:
        """A NumPy array of the values; waits for the work that writes them."""
        host = np.empty(self._shape, self._dtype)
        if host.size:
            engine = backends.backend(self._device)
            target = host.__array_interface__["data"][0]
            engine.copy(target, self._address, host.nbytes, self._stream)
            engine.synchronize(self._stream)
        return host

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("a device array cannot become a host array without a copy")
        host = self.copy_to_host()
        return host if dtype is None else host.astype(dtype, copy=False)

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("an array without dimensions has no length")
        return self._shape[0]

    @of_whole("_address")
    def __repr__(self) -> str:
        return f"device_ndarray(shape={self._shape}, dtype={self._dtype}, device={self._device})"


def _cuda(device: object) -> Device:
    return Device("cuda", check_int(device, "device", 0, MAX_DEVICE))


def _check_dtype(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "biuf" or not dtype.isnative:
        raise ArgumentError(f"dtype is {dtype}; give a native boolean, integer or float type")
