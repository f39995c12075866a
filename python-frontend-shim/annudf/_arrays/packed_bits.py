# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Vectors of bits, eight to a byte."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from annudf._arrays.checks import check_matrix
from annudf._arrays.libraries import view_any
from annudf._arrays.views import CPU, View
from annudf._support.repr import of_whole
from annudf.errors import ArgumentError, DeviceError, DtypeError


class PackedBits:
    """Vectors of bits, eight to a byte, for all functions of vectors: ``build``, ``extend``, ``search``, ``knn``, ....

    A metric sees each bit as a coordinate, 0 or 1, and `dim` counts bits.

    Parameters
    ----------
    array : array of shape (n_rows, n_bytes) or (n_rows, dim)
        uint8 or bool. In uint8, coordinate i of a row is bit i % 8 of byte i // 8, the lowest first, as in FAISS and
        ``numpy.packbits(..., bitorder="little")``; the array is not copied. An array of bool is packed; its `dim` must
        be a multiple of 8.

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
        """The bytes: the given array of uint8, or the packed truth values."""
        return self._array

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, and of bits per row."""
        return self._shape

    @property
    def dim(self) -> int:
        """Number of bits per row."""
        return self._shape[1]

    def __len__(self) -> int:
        return self._shape[0]

    @of_whole("_shape")
    def __repr__(self) -> str:
        return f"PackedBits(rows={self._shape[0]}, dim={self._shape[1]})"


def as_bits(array: View) -> View:
    """Bytes of uint8 as the bits that they hold."""
    return replace(array, shape=(array.shape[0], array.shape[1] * 8), dtype="bits")


def view(array: object, name: str, stream: int | None = None) -> View:
    """Looks at an array without copying a device array.

    Parameters
    ----------
    array : array
    name : str
        The argument's name, for messages.
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
        raise DtypeError(f"argument '{name}' is an annudf.PackedBits, which is for vectors only; give an array")
    return view_any(array, name, stream)
