# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Filters from Roaring bitmaps, which pyroaring reads."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from annudf._core import MAX_FILTER_IDS
from annudf._core import Filter as _CoreFilter
from annudf._support.checks import check_int, class_of
from annudf.errors import ArgumentError, InputError, UnavailableError
from annudf.filters._bits import Prefilter

_COOKIES = (12346, 12347)
"""The first 16 bits of the 32-bit format, without runs and with runs. The 64-bit format begins with its number of
parts, each of 2**32 ids; a filter has at most eight of them."""

_STEP = 2**22
"""Ids that are unpacked at a time; a multiple of 32."""


def from_roaring(bitmap: Any, n_ids: int) -> Prefilter:
    """A filter from a Roaring bitmap of the ids that may be found.

    Parameters
    ----------
    bitmap : pyroaring.BitMap, FrozenBitMap, BitMap64, FrozenBitMap64 or bytes-like
        Ids below `n_ids`. Bytes are Roaring's portable serialization, 32-bit or 64-bit, as CRoaring and ``serialize()``
        of pyroaring write it.
    n_ids : int
        Number of ids that the filter covers, from 1 to 2**35: one more than the largest id of the index. The bitmap
        does not contain this number, because the largest ids may not pass.

    Returns
    -------
    Prefilter

    Raises
    ------
    ArgumentError
        An argument cannot be used; the message names it.
    InputError
        The bytes are not one valid bitmap.
    UnavailableError
        pyroaring, which reads bytes, is not installed (``pip install annudf[roaring]``).

    Examples
    --------
    >>> from pyroaring import BitMap
    >>> from annudf import filters
    >>> in_stock = BitMap([0, 3, 4])
    >>> filters.from_roaring(in_stock, n_ids=6)
    Prefilter(3 of 6 ids pass)
    >>> ~filters.from_roaring(in_stock.serialize(), n_ids=6)
    Prefilter(3 of 6 ids pass)
    """
    bits = check_int(n_ids, "n_ids", 1, MAX_FILTER_IDS)
    if isinstance(bitmap, (bytes, bytearray, memoryview)):
        bitmap = _deserialized(bytes(bitmap))
    roaring: Any = sys.modules.get("pyroaring")
    is_wide = isinstance(bitmap, getattr(roaring, "AbstractBitMap64", ()))
    if not is_wide and not isinstance(bitmap, getattr(roaring, "AbstractBitMap", ())):
        raise ArgumentError(
            f"argument 'bitmap' is {class_of(bitmap)}; give a bitmap of pyroaring, or bytes of Roaring's portable "
            "serialization"
        )
    kind = roaring.BitMap64 if is_wide else roaring.BitMap
    end = bitmap.max() + 1 if bitmap else 0
    if end > bits:
        raise ArgumentError(
            f"argument 'bitmap' has ids up to {end - 1}, n_ids is {bits}; give an n_ids above them, or only ids of the "
            f"index, bitmap & pyroaring.{kind.__name__}(range(n_ids))"
        )
    words = np.zeros(-(-bits // 32), "<u4")
    packed = words.view(np.uint8)
    for first in range(0, end, _STEP):
        count = min(_STEP, end - first)
        if part := bitmap & kind(range(first, first + count)):
            passes = np.zeros(count, np.bool_)
            passes[np.asarray(part.to_array()) - first] = True
            packed[first // 8 : (first + count + 7) // 8] = np.packbits(passes, bitorder="little")
    return Prefilter(_CoreFilter.from_bitset(words.ctypes.data, bits), words)


def _deserialized(data: bytes) -> Any:
    try:
        import pyroaring
    except ImportError:
        raise UnavailableError("Roaring bitmaps in bytes are read by pyroaring: pip install annudf[roaring]") from None
    has_cookie = int.from_bytes(data[:2], "little") in _COOKIES
    kind: Any = pyroaring.BitMap if has_cookie else pyroaring.BitMap64
    try:
        read = kind.deserialize(data)
    except (ValueError, IndexError) as error:  # IndexError: there are no bytes.
        raise InputError(
            f"bitmap: its {len(data)} bytes are not a Roaring bitmap in the portable serialization ({error}); give all "
            "bytes that serialize() wrote"
        ) from None
    if (size := len(read.serialize())) < len(data):
        raise InputError(f"bitmap: the Roaring bitmap ends at byte {size} of {len(data)}; give the bytes of one bitmap")
    return read
