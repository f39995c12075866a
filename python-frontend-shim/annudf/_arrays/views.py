# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A view of an array: an address with shape, element type and device, and the owner that keeps it alive."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from annudf._support.options import ALL_ELEMENTS
from annudf.errors import UnavailableError

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
    """A place for memory: the host, or a CUDA device by its ordinal; or for work, several CUDA devices."""

    kind: Literal["cpu", "cuda"]
    index: int = 0
    team: tuple[int, ...] = ()  #: Of several all ordinals, the first being `index`.
    mode: str = ""

    def __str__(self) -> str:
        if self.team:
            return f"{', '.join(f'cuda:{number}' for number in self.team)} ({self.mode})"
        return "the CPU" if self.kind == "cpu" else f"cuda:{self.index}"


CPU = Device("cpu")


@dataclass(slots=True)
class View:
    """Memory of an array.

    Attributes
    ----------
    address : int
        Address of the first element, on `device`; 0 only if there is no element.
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
