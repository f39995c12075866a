# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""One view of every kind of array that annudf takes.

NumPy arrays and whatever ``numpy.asarray`` takes, PyTorch tensors (CPU and CUDA), CuPy arrays,
objects with ``__cuda_array_interface__`` (versions 2 and 3) and objects with ``__dlpack__`` become a
:class:`View`: an address with shape, element type and device, and the owner that keeps it alive.
None of the array libraries is imported here but NumPy: an object of a library proves that the
library is loaded.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from annudf import _driver
from annudf._options import ALL_ELEMENTS
from annudf._repr import of_whole
from annudf.errors import ArgumentError, DeviceError, DtypeError, UnavailableError

Library = Literal["numpy", "cupy", "torch", "other"]

ELEMENT_OF_DTYPE = {
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "int8": "i8",
    "uint8": "u8",
    "float64": "f64",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "bool": "b1",
    "bits": "bits",
}
DTYPE_OF_ELEMENT = {element: dtype for dtype, element in ELEMENT_OF_DTYPE.items()}

VECTORS = tuple(DTYPE_OF_ELEMENT[element] for element in ALL_ELEMENTS)
"""Element types of vectors, by NumPy's names; `bits` are those of :class:`annudf.PackedBits`."""

FLOATS = ("float32", "float16", "bfloat16")
"""Those of them that have fractions, and NaN."""


def numpy_dtype(name: str) -> np.dtype[Any]:
    """NumPy's dtype of that name; bfloat16 is a type of the package ml_dtypes.

    Raises
    ------
    UnavailableError
        Without ml_dtypes.
    """
    if name == "bits":  # What they are packed in.
        return np.dtype(np.uint8)
    if name != "bfloat16":
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        raise UnavailableError("NumPy has bfloat16 from ml_dtypes only: pip install ml_dtypes") from None
    bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return bfloat16


@dataclass(frozen=True, slots=True)
class Device:
    """A place for memory: the host, or a CUDA device by its ordinal."""

    kind: Literal["cpu", "cuda"]
    index: int = 0

    def __str__(self) -> str:
        return "the CPU" if self.kind == "cpu" else f"cuda:{self.index}"


CPU = Device("cpu")


@dataclass(slots=True)
class View:
    """Memory of an array.

    Attributes
    ----------
    address : int
        Of the first element, on `device`; 0 only if there is no element.
    shape, strides : tuple of int
        In elements and in bytes.
    dtype : str
        NumPy's name of the element type, also for those that NumPy lacks (``"bfloat16"``, ``"bits"``). Rows of bits
        are whole bytes; their shape counts bits.
    device : Device
    library : {"numpy", "cupy", "torch", "other"}
    owner : object
        Keeps the memory alive.
    source : object
        The array as it was given.
    read_only : bool
    producer : int or None
        CUDA stream on which the array may still be written; None: nothing to wait for.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device: Device
    library: Library
    owner: object
    source: object
    read_only: bool = False
    producer: int | None = None

    @property
    def itemsize(self) -> int:
        return {"bfloat16": 2, "bits": 1}.get(self.dtype) or np.dtype(self.dtype).itemsize

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size // 8 if self.dtype == "bits" else self.size * self.itemsize

    @property
    def contiguous(self) -> bool:
        """Whether the elements stand in C order without gaps."""
        if isinstance(self.owner, np.ndarray):  # It knows.
            return self.owner.flags.c_contiguous
        return self.size == 0 or self.strides == c_strides(self.shape, self.itemsize, like=self.strides)


def c_strides(shape: Sequence[int], itemsize: int, like: Sequence[int] | None = None) -> tuple[int, ...]:
    """Strides in bytes of a C-contiguous array; extents of 1 take their stride from `like`."""
    strides = []
    step = itemsize
    for axis in range(len(shape) - 1, -1, -1):
        strides.append(like[axis] if like is not None and shape[axis] == 1 else step)
        step *= shape[axis]
    return tuple(reversed(strides))


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


def view(array: object, name: str, stream: int | None = None) -> View:
    """Looks at an array without copying a device array.

    Parameters
    ----------
    array : array
    name : str
        Of the argument, for messages.
    stream : int, optional
        Stream on which the caller will work; handed to DLPack producers, which then order it
        after their own work.

    Raises
    ------
    DeviceError, DtypeError, ArgumentError
    """
    if array is None:
        raise ArgumentError(f"argument '{name}' is None; give an array")
    if isinstance(array, PackedBits):
        raise DtypeError(f"argument '{name}' is an annudf.PackedBits, which only vectors can be; give an array")
    library = library_of(array)
    arrow: Any = sys.modules.get("pyarrow")
    if isinstance(array, (getattr(arrow, "Array", ()), getattr(arrow, "ChunkedArray", ()))):
        return _view_arrow(arrow, array, name)
    if library == "torch":
        return _view_torch(array, name)
    if library == "cupy":
        return _view_cupy(array, name)
    if library == "other":
        interface = getattr(array, "__cuda_array_interface__", None)
        if interface is not None:
            return _view_cuda_array_interface(array, interface, name)
        if hasattr(array, "__dlpack__") and not isinstance(array, np.generic):
            return _view_dlpack(array, name, stream)
    return _view_numpy(array, name)


def _view_numpy(array: object, name: str) -> View:
    # NumPy imports numpy.ma when it is first asked for, which takes longer than a search.
    masked: Any = sys.modules.get("numpy.ma")
    if isinstance(array, getattr(masked, "MaskedArray", ())) and masked.is_masked(array):
        raise ArgumentError(
            f"argument '{name}' is a masked array with masked entries, which a search would read; "
            "fill them with .filled(value)"
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
        raise ArgumentError(f"argument '{name}' is an array of Arrow with nulls, which a search would read; fill them")
    kinds = (arrow.types.is_integer, arrow.types.is_floating, arrow.types.is_boolean)
    if not any(is_one(values.type) for is_one in kinds):
        raise DtypeError(
            f"argument '{name}' is an array of Arrow of type {whole.type}; give a fixed_size_list of numbers, or the "
            "vectors as a NumPy array"
        )
    host = values.to_numpy(zero_copy_only=False)
    return _view_numpy(host.reshape(len(whole), whole.type.list_size) if rows else host, name)


def _view_torch(tensor: Any, name: str) -> View:
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


def _view_cupy(array: Any, name: str) -> View:
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
        raise ArgumentError(f"{what}that is not well-formed: {error!r}") from error
    if version < 2:
        raise ArgumentError(f"{what}of version {version}; versions 2 and 3 are understood")
    if any(extent < 0 for extent in shape) or math.prod(shape) * dtype.itemsize >= 1 << 63:
        raise ArgumentError(f"{what}of shape {shape}, which no memory has")
    if mask is not None:
        raise ArgumentError(f"{what}with a mask, which a search would not see; apply it first")
    if len(strides) != len(shape):
        raise ArgumentError(f"{what}with {len(strides)} strides for {len(shape)} extents")
    if not dtype.isnative:
        raise DtypeError(f"{what}of type {dtype.str}, which is not in this machine's byte order")
    address = int(address or 0)
    size = math.prod(shape)
    _check_address(address, size, name)
    device = _driver.pointer_device(address, name) if size else 0
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


def check_dtype(array: View, name: str, accepted: Sequence[str]) -> None:
    """Raises DtypeError unless the element type is one of `accepted`."""
    if array.dtype in accepted:
        return
    if accepted[0] != "bits" and array.dtype != "bool":  # Who has other numbers has no bits.
        accepted = [dtype for dtype in accepted if dtype != "bits"]
    listed = ["annudf.PackedBits" if dtype == "bits" else dtype for dtype in accepted]
    names = listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}"
    accepted = [dtype for dtype in accepted if dtype != "bits"]
    if not accepted or (array.dtype == "bool" and len(accepted) < len(listed)):
        also = f", or convert by .astype(numpy.{accepted[0]})" if accepted else ""
        hint = f"pack truth values by annudf.PackedBits({name}){also}"
        raise DtypeError(f"argument '{name}' has dtype {array.dtype}, it must be {names}; {hint}")
    hint = f"convert by .astype(numpy.{accepted[0]})"
    if array.dtype == "bits":
        hint = "unpack them by numpy.unpackbits(..., axis=1, bitorder='little')"
    elif not array.dtype.startswith(("bool", "int", "uint", "float", "bfloat")):
        hint = "give real numbers"
    elif array.library == "numpy" and not hasattr(array.source, "astype"):
        hint = f"convert by numpy.asarray({name}, numpy.{accepted[0]})"
    elif array.library == "torch":
        hint = f"convert by .to(torch.{accepted[0]})"
    if array.dtype.startswith(("float", "bfloat")) and set(accepted) <= {"int8", "uint8"}:
        hint = (
            f"scale and round {name} as the rows were, since converting alone cuts off fractions (0.7 becomes 0), "
            f"or build the index from {array.dtype if array.dtype in VECTORS else 'float32'}"
        )
    raise DtypeError(f"argument '{name}' has dtype {array.dtype}, it must be {names}; {hint}")


def check_matrix(array: View, name: str, dims: int | None = None) -> None:
    """Raises ArgumentError unless the array has two dimensions, of the given length if one is given."""
    if len(array.shape) == 1:
        raise ArgumentError(
            f"argument '{name}' has shape {array.shape}, it must have two dimensions; one vector is .reshape(1, -1)"
        )
    if len(array.shape) != 2:
        raise ArgumentError(f"argument '{name}' has shape {array.shape}, it must have two dimensions, rows by dims")
    if array.shape[1] == 0:
        raise ArgumentError(f"argument '{name}' has shape {array.shape}: vectors without a dimension")
    if dims is not None and array.shape[1] != dims:
        raise ArgumentError(f"argument '{name}' has vectors of {array.shape[1]} dimensions, the index has {dims}")


class PackedBits:
    """Vectors of bits, eight to a byte, for whatever takes vectors: ``build``, ``extend``, ``search``, ``knn``, ....

    A metric sees each bit as a coordinate, 0 or 1, and `dim` counts bits.

    Parameters
    ----------
    array : array of shape (n_rows, n_bytes) or (n_rows, dim)
        uint8: the bits, coordinate i of a row being bit i % 8 of byte i // 8, the lowest first. That is how FAISS keeps
        binary vectors and what ``numpy.packbits(..., bitorder="little")`` gives. It stays where it is, in host or
        device memory. Or bool: truth values, which are packed; `dim` must be a multiple of 8.

    Raises
    ------
    DtypeError, ArgumentError
        The array cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> import annudf
    >>> truths = np.array([[1, 1, 0, 0, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0, 0, 0]], bool)
    >>> bits = annudf.PackedBits(truths)
    >>> bits
    PackedBits(rows=2, dim=8)
    >>> annudf.distance.pairwise_distance(bits, metric="jaccard")
    array([[0.       , 0.6666667],
           [0.6666667, 0.       ]], dtype=float32)
    """

    def __init__(self, array: Any) -> None:
        seen = view(array, "array")
        check_matrix(seen, "array")
        if seen.dtype == "bool":
            if seen.shape[1] % 8:
                raise ArgumentError(
                    f"argument 'array' has vectors of {seen.shape[1]} truth values, which do not fill bytes; "
                    "pad them with False to a multiple of 8"
                )
            if seen.device != CPU:
                raise DeviceError(
                    f"argument 'array' holds truth values on {seen.device}; pack them there, or on the CPU"
                )
            array = np.packbits(np.asarray(array), axis=1, bitorder="little")
            seen = view(array, "array")
        if seen.dtype != "uint8":
            raise DtypeError(
                f"argument 'array' has dtype {seen.dtype}, it must be uint8, of bits packed eight to a byte, or bool, "
                "of truth values"
            )
        self._array = array
        self._shape = (seen.shape[0], seen.shape[1] * 8)

    @property
    def array(self) -> Any:
        """The bytes: the array as it was given, or what truth values were packed to."""
        return self._array

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and bits of a row."""
        return self._shape

    @property
    def dim(self) -> int:
        """Bits of a row."""
        return self._shape[1]

    def __len__(self) -> int:
        return self._shape[0]

    @of_whole("_shape")
    def __repr__(self) -> str:
        return f"PackedBits(rows={self._shape[0]}, dim={self._shape[1]})"


def as_bits(array: View) -> View:
    """Bytes of uint8 as the bits that they hold."""
    return replace(array, shape=(array.shape[0], array.shape[1] * 8), dtype="bits")


def as_contiguous(array: View, name: str) -> View:
    """The array itself, or a copy in C order if it has gaps or another order.

    A device array is copied by its own library, on that library's current stream.
    """
    if array.contiguous and _aligned(array):
        return array
    if array.device.kind == "cpu":
        if array.library == "torch":
            return _view_torch(array.owner.contiguous().clone(), name)  # type: ignore[attr-defined]
        host = array.owner if array.library == "numpy" else np.from_dlpack(array.source)  # type: ignore[arg-type]
        return _view_numpy(np.array(host, order="C"), name)
    if array.library == "torch":
        return _view_torch(array.owner.contiguous(), name)  # type: ignore[attr-defined]
    if array.library == "cupy":
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(array.device.index):
            return _view_cupy(cupy.ascontiguousarray(array.owner), name)
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
            f"argument '{name}' has vectors of {result.shape[1]} dimensions, the index has {dims} of a bit each: "
            f"give {dims // 8} bytes of uint8 a vector, or {dims} numbers"
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
        raise DeviceError(f"argument '{name}' is on {result.device}, the queries are on {device}; give a buffer there")
    if result.read_only:
        raise ArgumentError(f"argument '{name}' is read-only; give an array that can be written")
    if getattr(array, "requires_grad", False):
        raise ArgumentError(f"argument '{name}' requires a gradient; give a tensor that does not")
    if not result.contiguous:
        raise ArgumentError(
            f"argument '{name}' has strides {result.strides} for shape {shape}; results are only "
            "written to memory that is contiguous in C order"
        )
    if not _aligned(result):
        raise ArgumentError(f"argument '{name}' is not aligned to its element type {dtype}")
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
