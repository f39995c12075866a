# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A view of each library's arrays.

None of the libraries is imported here but NumPy: an object of a library proves that the library is loaded.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from annudf._arrays import driver
from annudf._arrays.views import CPU, DTYPE_OF_ELEMENT, Device, Library, View, c_strides
from annudf.errors import ArgumentError, DeviceError, DtypeError


def library_of(array: object) -> Library:
    """Which library's array it is, without importing any: another thread may be at it, so that a name is missing."""
    if isinstance(array, np.ndarray):
        return "numpy"
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, getattr(torch, "Tensor", ())):
        return "torch"
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(array, getattr(cupy, "ndarray", ())):
        return "cupy"
    return "other"


def view_any(array: object, name: str, stream: int | None) -> View:
    """As :func:`annudf._arrays.view`, of whatever is one array."""
    library = library_of(array)
    arrow: Any = sys.modules.get("pyarrow")
    if isinstance(array, (getattr(arrow, "Array", ()), getattr(arrow, "ChunkedArray", ()))):
        return _view_arrow(arrow, array, name)
    if library == "torch":
        return view_torch(array, name)
    if library == "cupy":
        return view_cupy(array, name)
    if library == "other":
        interface = getattr(array, "__cuda_array_interface__", None)
        if interface is not None:
            return _view_cuda_array_interface(array, interface, name)
        if hasattr(array, "__dlpack__") and not isinstance(array, np.generic):
            return _view_dlpack(array, name, stream)
    return view_numpy(array, name)


def view_numpy(array: object, name: str) -> View:
    # NumPy imports numpy.ma when it is first asked for, which takes longer than a search.
    masked: Any = sys.modules.get("numpy.ma")
    if isinstance(array, getattr(masked, "MaskedArray", ())) and masked.is_masked(array):
        raise ArgumentError(
            f"argument '{name}' is a masked array with masked entries, which cannot be searched; fill them with "
            ".filled(value)"
        )
    try:
        host = np.asarray(array)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"argument '{name}' is not an array: {error}") from error
    if host.dtype.hasobject:
        raise DtypeError(
            f"argument '{name}' has dtype {host.dtype}, which holds Python objects; give a rectangular array of numbers"
        )
    if not host.dtype.isnative:
        raise DtypeError(
            f"argument '{name}' has dtype {host.dtype.str}, which is not in this machine's byte "
            f"order; convert by .astype(numpy.{host.dtype.name})"
        )
    address, read_only = host.__array_interface__["data"]
    return View(
        address=address,
        shape=host.shape,
        strides=host.strides,
        dtype=host.dtype.name,
        device=CPU,
        library="numpy",
        owner=host,
        source=array,
        read_only=read_only,
    )


def _view_arrow(arrow: Any, array: Any, name: str) -> View:
    whole = array.combine_chunks() if isinstance(array, arrow.ChunkedArray) else array
    if isinstance(whole, arrow.ExtensionArray):  # A tensor of fixed shape.
        whole = whole.storage
    rows = isinstance(whole, arrow.FixedSizeListArray)
    values = whole.flatten() if rows else whole
    if whole.null_count or values.null_count:
        raise ArgumentError(f"argument '{name}' is an array of Arrow with nulls, which cannot be searched; fill them")
    kinds = (arrow.types.is_integer, arrow.types.is_floating, arrow.types.is_boolean)
    if not any(is_one(values.type) for is_one in kinds):
        raise DtypeError(
            f"argument '{name}' is an array of Arrow of type {whole.type}; give a fixed_size_list of numbers, or the "
            "vectors as a NumPy array"
        )
    host = values.to_numpy(zero_copy_only=False)
    return view_numpy(host.reshape(len(whole), whole.type.list_size) if rows else host, name)


def view_torch(tensor: Any, name: str) -> View:
    torch = sys.modules["torch"]
    if tensor.layout != torch.strided:
        raise ArgumentError(f"argument '{name}' is a tensor of layout {tensor.layout}; make it dense with .to_dense()")
    if tensor.device.type not in ("cpu", "cuda"):
        raise DeviceError(f"argument '{name}' is on device {tensor.device}; move it with .cpu() or .cuda()")
    # A gradient through a search does not exist; the values are what is meant.
    data = tensor.detach().resolve_conj().resolve_neg()
    itemsize = data.element_size()
    address = data.data_ptr()
    _check_address(address, data.numel(), name)
    device, producer = CPU, None
    if tensor.device.type == "cuda":
        device = Device("cuda", tensor.device.index)
        producer = int(torch.cuda.current_stream(tensor.device).cuda_stream)
    return View(
        address=address,
        shape=tuple(data.shape),
        strides=tuple(step * itemsize for step in data.stride()),
        dtype=str(data.dtype).removeprefix("torch."),
        device=device,
        library="torch",
        owner=data,
        source=tensor,
        producer=producer,
    )


def view_cupy(array: Any, name: str) -> View:
    cupy = sys.modules["cupy"]
    device = int(array.device.id)
    address = int(array.data.ptr)
    _check_address(address, array.size, name)
    return View(
        address=address,
        shape=tuple(array.shape),
        strides=tuple(array.strides),
        dtype=np.dtype(array.dtype).name,
        device=Device("cuda", device),
        library="cupy",
        owner=array,
        source=array,
        producer=int(cupy.cuda.get_current_stream(device).ptr),
    )


def _view_cuda_array_interface(array: object, interface: Any, name: str) -> View:
    what = f"argument '{name}' has a __cuda_array_interface__ "
    try:
        version = int(interface.get("version", 0))
        shape = tuple(int(extent) for extent in interface["shape"])
        dtype = np.dtype(interface["typestr"])
        address, read_only = interface["data"]
        strides = interface.get("strides")
        strides = c_strides(shape, dtype.itemsize) if strides is None else tuple(map(int, strides))
        mask = interface.get("mask")
        stream = interface.get("stream")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ArgumentError(f"{what}that is malformed: {error!r}") from error
    if version < 2:
        raise ArgumentError(f"{what}of version {version}; give version 2 or 3")
    if any(extent < 0 for extent in shape) or math.prod(shape) * dtype.itemsize >= 1 << 63:
        raise ArgumentError(f"{what}of shape {shape}; extents must be 0 or above and the bytes below 2**63")
    if mask is not None:
        raise ArgumentError(f"{what}with a mask, which annudf does not apply; apply it first")
    if len(strides) != len(shape):
        raise ArgumentError(f"{what}with {len(strides)} strides for {len(shape)} extents; give one an extent")
    if not dtype.isnative:
        raise DtypeError(f"{what}of type {dtype.str}, which is not in this machine's byte order")
    address = int(address or 0)
    size = math.prod(shape)
    _check_address(address, size, name)
    device = driver.pointer_device(address, name) if size else 0
    return View(
        address=address,
        shape=shape,
        strides=strides,
        dtype=dtype.name,
        device=Device("cuda", device),
        library="other",
        owner=array,
        source=array,
        read_only=bool(read_only),
        producer=None if stream is None else int(stream),
    )


_DLPACK_DEVICES: dict[int, str] = {1: "cpu", 2: "cuda", 3: "cpu", 13: "cuda"}
"""Device types of dlpack.h that can be read as host (with pinned) or device memory (with managed)."""


def _view_dlpack(array: Any, name: str, stream: int | None) -> View:
    from annudf import _core

    device_type, device_id = (int(part) for part in array.__dlpack_device__())
    kind = _DLPACK_DEVICES.get(device_type)
    if kind is None:
        raise DeviceError(
            f"argument '{name}' is on a device of DLPack type {device_type}; "
            "the CPU (1) and CUDA (2) are supported, so copy it to one of them"
        )
    # 0 is not allowed by the protocol as it could mean two streams; 1 is the legacy default one.
    consumer = None if kind == "cpu" else (stream or 1)
    try:
        tensor = _core.from_dlpack(array, consumer)
    except BufferError as error:
        raise ArgumentError(f"argument '{name}' cannot be read by DLPack: {error}") from error
    _check_address(tensor.address, math.prod(tensor.shape), name)
    return View(
        address=tensor.address,
        shape=tuple(tensor.shape),
        strides=tuple(tensor.strides),
        dtype=DTYPE_OF_ELEMENT.get(tensor.dtype, tensor.dtype),
        device=CPU if kind == "cpu" else Device("cuda", device_id),
        library="other",
        owner=tensor,
        source=array,
        read_only=tensor.read_only,
    )


def _check_address(address: int, size: int, name: str) -> None:
    if size and not address:
        raise ArgumentError(f"argument '{name}' has no memory: its buffer was freed")
