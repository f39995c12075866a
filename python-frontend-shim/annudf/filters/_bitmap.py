# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Filters with a bit for every query and id."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from annudf import _arrays
from annudf._core import MAX_FILTER_IDS
from annudf._core import Filter as _CoreFilter
from annudf._devices import transfer
from annudf._support.checks import check_int
from annudf._support.repr import of_whole
from annudf.common import Resources, check_resources
from annudf.errors import ArgumentError
from annudf.filters._bits import Entries, Filter, Words, packed_bits

if TYPE_CHECKING:
    from annudf._core import Index as _CoreIndex

_MOST_QUERIES = 2**31 - 1


class Bitmap(Filter):
    """A bit for every query and id, set if that query may find the row; made by :func:`from_bitmap`.

    It never changes. ``a & b``, ``a | b`` and ``~a`` join it with any filter. It can be pickled.
    """

    def __init__(self, words: Words, shape: tuple[int, int]) -> None:
        if not isinstance(words, np.ndarray):
            raise ArgumentError("a bitmap is made by filters.from_bitmap(...)")
        self._words, self._shape = words, shape
        self._core = _CoreFilter.from_bitmap(words.ctypes.data, *shape)

    @property
    def n_queries(self) -> int:
        """Number of queries that a search with it has."""
        return self._shape[0]

    @property
    def n_bits(self) -> int:
        """Number of ids that it covers for each query: 0 to ``n_bits - 1``."""
        return self._shape[1]

    @property
    def _own_bits(self) -> int:
        return self.n_bits

    def _entries(self) -> Iterator[Entries]:
        yield Entries("bitmap", "each row of the bitmap", self.n_bits, self.n_bits, "[:, subset]")

    def _passing(self, index: _CoreIndex, device: _arrays.Device, bits: int, queries: int) -> _CoreFilter:
        if queries != self.n_queries:
            raise ArgumentError(
                f"the bitmap is for {self.n_queries} queries, this search has {queries}; give a row of bits for each "
                "query"
            )
        return self._core

    def __copy__(self) -> Bitmap:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Bitmap:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _bitmap_from_pickle, (self._words.tobytes(), *self._shape)

    @of_whole("_core")
    def __repr__(self) -> str:
        return f"Bitmap({self.n_queries} queries, {self.n_bits} ids)"


def from_bitmap(bitmap: Any, shape: tuple[int, int] | None = None, resources: Resources | None = None) -> Bitmap:
    """A filter from a bit for every query and id.

    Parameters
    ----------
    bitmap : array of bool, shape (n_queries, n_ids), or array of uint32, shape (n_words,)
        True if the query may find the row with that id. Words are those of cuVS: bit ``i % 32`` of word ``i // 32`` is
        entry ``i`` of the rows one after another, without gaps. An array on a device is copied to the host, and the
        call waits for its stream.
    shape : (int, int), optional
        ``(n_queries, n_ids)``; needed for words.
    resources : Resources, optional
        Stream of a device array.

    Returns
    -------
    Bitmap

    Raises
    ------
    ArgumentError, DtypeError, DeviceError
        An argument cannot be used; the message names it.

    Examples
    --------
    >>> import numpy as np
    >>> from annudf import filters
    >>> filters.from_bitmap(np.array([[True, False, True], [False, True, True]]))
    Bitmap(2 queries, 3 ids)
    >>> filters.from_bitmap(np.array([0b110101], np.uint32), shape=(2, 3))
    Bitmap(2 queries, 3 ids)
    """
    place = check_resources(resources)
    seen = _arrays.view(bitmap, "bitmap", place.stream)
    _arrays.check_dtype(seen, "bitmap", ("bool", "uint32"))
    is_words = seen.dtype == "uint32"
    if len(seen.shape) != (1 if is_words else 2) or 0 in seen.shape:
        form = "a vector of words" if is_words else "bools of shape (n_queries, n_ids)"
        raise ArgumentError(f"argument 'bitmap' has dtype {seen.dtype} and shape {seen.shape}; give {form}")
    if shape is None and is_words:
        raise ArgumentError("argument 'bitmap' holds packed words; give their shape=(n_queries, n_ids)")
    if shape is None:
        shape = (seen.shape[0], seen.shape[1])
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise ArgumentError(f"shape is {shape!r}; give two integers, (n_queries, n_ids)")
    queries = check_int(shape[0], "shape[0]", 1, _MOST_QUERIES)
    bits = check_int(shape[1], "shape[1]", 1, MAX_FILTER_IDS)
    if not is_words and seen.shape != (queries, bits):
        raise ArgumentError(f"argument 'bitmap' has shape {seen.shape}, shape is {(queries, bits)}; leave shape out")
    count = -(-queries * bits // 32)
    if is_words and seen.shape[0] != count:
        raise ArgumentError(
            f"argument 'bitmap' has {seen.shape[0]} words, shape {(queries, bits)} takes {count}; give bits without "
            "gaps"
        )
    values = transfer.as_numpy(transfer.to_host(_arrays.as_contiguous(seen, "bitmap"), "bitmap", place))
    return Bitmap(np.array(values) if is_words else packed_bits(values.reshape(-1)), (queries, bits))


def _bitmap_from_pickle(data: bytes, queries: int, bits: int) -> Bitmap:
    return from_bitmap(np.frombuffer(data, np.uint32), (queries, bits))
