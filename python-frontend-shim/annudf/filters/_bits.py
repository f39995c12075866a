# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Filters of bits, and what joins filters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from annudf import _arrays
from annudf._core import MAX_FILTER_IDS
from annudf._core import Filter as _CoreFilter
from annudf._devices import transfer
from annudf._support.checks import check_int, shown
from annudf._support.repr import of_whole
from annudf.common import Resources, check_resources
from annudf.errors import ArgumentError, DtypeError, InputError

if TYPE_CHECKING:
    from annudf._core import Index as _CoreIndex

_MOST_BITS = 2**63 - 32
_MOST_STEPS = 10_000

Words = npt.NDArray[np.uint32]
_T = TypeVar("_T")


class Entries(NamedTuple):
    """What has an entry for each id: how an expression names it, how a message does, and for how many ids it is."""

    name: str
    text: str
    least: int
    most: int
    subset: str = "[subset]"  # What makes it one of a subset of the ids.


class Filter(ABC):
    """Which rows a search may find.

    A filter holds bits (:class:`Prefilter`, :class:`Bitmap`), code (:func:`annudf.filter`), all rows
    (:func:`no_filter`), or a combination of them and of arrays of bool by ``&``, ``|`` and ``~``. It never changes.
    """

    # NumPy leaves `array & filter` to the filter, and does not join it with every entry.
    __array_ufunc__ = None

    @property
    @abstractmethod
    def _own_bits(self) -> int | None:
        """For how many ids it is; None: for those of any index."""

    @abstractmethod
    def _passing(self, index: _CoreIndex, device: _arrays.Device, bits: int, queries: int) -> _CoreFilter:
        """What a search of so many queries takes, for the ids below `bits`, which are all that the index has."""

    @abstractmethod
    def _entries(self) -> Iterator[Entries]:
        """Whatever of it has an entry for each id."""

    def _for_search(self, index: _CoreIndex, device: _arrays.Device, queries: int) -> _CoreFilter:
        """What a search of the index on that device takes, for so many queries."""
        own, least = self._own_bits, index.row_extent
        if own is not None and own < least:
            raise ArgumentError(
                f"the filter has {own} bits, the largest id of the index is {least - 1}; give it a bit for every id"
            )
        return self._passing(index, device, least if own is None else own, queries)

    def __and__(self, other: Any) -> Filter:
        return NotImplemented if (right := _operand(other)) is None else _joined("&", self, right)

    def __rand__(self, other: Any) -> Filter:
        return NotImplemented if (left := _operand(other)) is None else _joined("&", left, self)

    def __or__(self, other: Any) -> Filter:
        return NotImplemented if (right := _operand(other)) is None else _joined("|", self, right)

    def __ror__(self, other: Any) -> Filter:
        return NotImplemented if (left := _operand(other)) is None else _joined("|", left, self)

    def __invert__(self) -> Filter:
        return _Joined((*steps_of(self), "~"), self._own_bits)

    def __bool__(self) -> bool:
        raise ArgumentError("a filter is neither true nor false; join filters with &, | and ~ instead of and, or, not")


class Prefilter(Filter):
    """A bit for every id, set if the row may be found.

    :func:`from_mask`, :func:`from_bitset` and :func:`from_roaring` make it.

    It never changes. ``a & b``, ``a | b`` and ``~a`` join filters for the same ids. It can be pickled.
    """

    def __init__(self, core: _CoreFilter, words: Words | None = None, padded: bool = False) -> None:
        if not isinstance(core, _CoreFilter):
            raise ArgumentError("a filter is made by filters.from_bitset(...) or filters.from_mask(...)")
        self._core = core
        # The core does not give its bits; who sends a filter to another process needs them. Those that a search makes
        # of an array for itself have none.
        self._words = words
        self._padded = padded  # The last word of a bitset may be filled up.

    @property
    def n_bits(self) -> int:
        """Number of ids that it covers: 0 to ``n_bits - 1``."""
        return self._core.bits

    @property
    def n_passing(self) -> int:
        """Number of ids that pass."""
        return self._core.count

    @property
    def _own_bits(self) -> int:
        return self._core.bits

    def _entries(self) -> Iterator[Entries]:
        bits = self._core.bits
        yield Entries("mask", "the filter", bits - 31 if self._padded else bits, bits)

    def _passing(self, index: _CoreIndex, device: _arrays.Device, bits: int, queries: int) -> _CoreFilter:
        return self._core

    def __invert__(self) -> Prefilter:
        return Prefilter(self._core.inverted(), None if self._words is None else ~self._words, self._padded)

    def __copy__(self) -> Prefilter:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Prefilter:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self._words is None:
            raise TypeError("a filter that a search made for itself cannot be pickled")
        return _from_pickle, (self._words.tobytes(), self.n_bits, *((True,) if self._padded else ()))

    @of_whole("_words")
    def __repr__(self) -> str:
        return f"Prefilter({self.n_passing} of {self.n_bits} ids pass)"


class _All(Filter):
    """What every row passes."""

    @property
    def _own_bits(self) -> None:
        return None

    def _entries(self) -> Iterator[Entries]:
        yield from ()

    def _passing(self, index: _CoreIndex, device: _arrays.Device, bits: int, queries: int) -> _CoreFilter:
        if bits > MAX_FILTER_IDS:
            raise ArgumentError(
                f"the largest id of the index is {index.row_extent - 1}, and a filter has a bit for every id up to it, "
                f"at most {MAX_FILTER_IDS}; give the rows smaller ids"
            )
        return _of_words(np.full(-(-bits // 32), 0xFFFFFFFF, np.uint32), bits)

    def __repr__(self) -> str:
        return "no_filter()"


class _Joined(Filter):
    """Filters joined by signs; at least one has code, or bits for each query.

    The steps are in postfix order: a tree of any depth is evaluated without recursion.
    """

    def __init__(self, steps: tuple[Filter | str, ...], bits: int | None) -> None:
        if len(steps) > _MOST_STEPS:
            raise ArgumentError(
                f"the combination has {len(steps)} filters and signs, at most {_MOST_STEPS} are allowed; write several "
                "conditions in one function, or join arrays of bool first"
            )
        self._bits = bits
        self._steps = steps

    @property
    def _own_bits(self) -> int | None:
        return self._bits

    def _entries(self) -> Iterator[Entries]:
        for step in self._steps:
            if isinstance(step, Filter):
                yield from step._entries()

    def _passing(self, index: _CoreIndex, device: _arrays.Device, bits: int, queries: int) -> _CoreFilter:
        def join(sign: str, a: _CoreFilter, b: _CoreFilter) -> _CoreFilter:
            return a.both(b) if sign == "&" else a.either(b)

        return self._fold(lambda one: one._passing(index, device, bits, queries), _CoreFilter.inverted, join)

    def _fold(
        self, of_one: Callable[[Filter], _T], inverted: Callable[[_T], _T], join: Callable[[str, _T, _T], _T]
    ) -> _T:
        stack: list[_T] = []
        for step in self._steps:
            if isinstance(step, Filter):
                stack.append(of_one(step))
            elif step == "~":
                stack.append(inverted(stack.pop()))
            else:
                b = stack.pop()
                stack.append(join(step, stack.pop(), b))
        return stack.pop()

    @of_whole("_steps")
    def __repr__(self) -> str:
        return self._fold(repr, lambda text: f"~{text}", lambda sign, a, b: f"({a} {sign} {b})")


def steps_of(of: Filter) -> tuple[Filter | str, ...]:
    """The filters that it is joined from, and the signs that join them."""
    return of._steps if isinstance(of, _Joined) else (of,)


def _joined(sign: str, a: Filter, b: Filter) -> Filter:
    first, second = a._own_bits, b._own_bits
    if first is not None and second is not None and first != second:
        fewer, more = sorted((first, second))
        hint = "make them for the same index"
        if more % 32 == 0 and more - fewer < 32:
            hint = f"from_bitset takes every bit of its words, so give n_bits={fewer}"
        raise ArgumentError(f"filters of {first} and {second} bits cannot be joined by {sign}; {hint}")
    for one, other in ((a, b), (b, a)):
        if isinstance(one, _All):
            return other if sign == "&" else one
    if isinstance(a, Prefilter) and isinstance(b, Prefilter):
        core = a._core.both(b._core) if sign == "&" else a._core.either(b._core)
        words = None
        if a._words is not None and b._words is not None:
            words = a._words & b._words if sign == "&" else a._words | b._words
        return Prefilter(core, words, a._padded and b._padded)
    return _Joined((*steps_of(a), *steps_of(b), sign), second if first is None else first)


def _operand(other: Any) -> Filter | None:
    """What a filter is joined with: another, or an array of bool; None of what is neither."""
    if isinstance(other, Filter):
        return other
    # None is no filter to a search, but `f & None` is rather a lookup that found nothing.
    if other is None or isinstance(other, (bool, int, float, str, bytes, list, tuple)) or callable(other):
        return None
    return _of_booleans(other, "other", None)


def no_filter() -> Filter:
    """The filter that every row passes; a search with it equals a search without a filter.

    Examples
    --------
    >>> import numpy as np
    >>> from annudf import filters
    >>> filters.no_filter() & filters.from_mask(np.array([True, False]))
    Prefilter(1 of 2 ids pass)
    """
    return _All()


def from_bitset(bitset: Any, n_bits: int | None = None, resources: Resources | None = None) -> Prefilter:
    """A filter from a packed bitset, as cuVS lays it out.

    Parameters
    ----------
    bitset : array of uint32, shape (n_words,)
        Bit ``i % 32`` of word ``i // 32`` is set if the row with id ``i`` may be found. An array on a device is copied
        to the host, and the call waits for its stream.
    n_bits : int, optional
        Number of bits to use, from 1 to ``32 * n_words``. Default: all.
    resources : Resources, optional
        Stream of a device array.

    Returns
    -------
    Prefilter

    Raises
    ------
    ArgumentError, DtypeError, DeviceError
        An argument cannot be used; the message names it.

    Examples
    --------
    >>> import numpy as np
    >>> from annudf import filters
    >>> filters.from_bitset(np.array([0b1011], np.uint32), n_bits=4)
    Prefilter(3 of 4 ids pass)
    """
    words = _vector(bitset, "bitset", "uint32", resources)
    most = min(32 * words.shape[0], _MOST_BITS)
    bits = most if n_bits is None else check_int(n_bits, "n_bits", 1, most, extra=", 32 for each word of the bitset")
    return _of_bits(transfer.as_numpy(words), bits, n_bits is None)


def from_mask(mask: Any, resources: Resources | None = None) -> Prefilter:
    """A filter from booleans.

    Parameters
    ----------
    mask : array of bool, shape (n_ids,)
        True if the row with that id may be found. An array on a device is copied to the host, and the call waits for
        its stream.
    resources : Resources, optional
        Stream of a device array.

    Returns
    -------
    Prefilter

    Raises
    ------
    ArgumentError, DtypeError, DeviceError
        An argument cannot be used; the message names it.

    Examples
    --------
    >>> import numpy as np
    >>> from annudf import filters
    >>> price = np.array([10.0, 30.0, 15.0])
    >>> cheap = filters.from_mask(price <= 20)
    >>> cheap, ~cheap
    (Prefilter(2 of 3 ids pass), Prefilter(1 of 3 ids pass))
    """
    return _of_booleans(mask, "mask", resources)


def check_filter(given: Any, resources: Resources) -> Filter | None:
    """What a search takes as its argument `filter`: a Filter, a boolean array, or None."""
    if isinstance(given, _All):
        return None
    if given is None or isinstance(given, Filter):
        return given
    if isinstance(given, (bool, int, float, str, bytes)) or callable(given):
        what = f"a {type(given).__name__}" if callable(given) else shown(given)
        raise ArgumentError(
            f"filter is {what}; give an array of bool with an entry for every id, filters.from_bitset(...), a function "
            "decorated with @annudf.filter, or None"
        )
    values = _vector(given, "filter", "bool", resources)
    return Prefilter(_CoreFilter.from_bytes(values.address, values.shape[0]))


def _of_booleans(array: Any, name: str, resources: Resources | None) -> Prefilter:
    values = _vector(array, name, "bool", resources)
    return _of_bits(packed_bits(transfer.as_numpy(values)), values.shape[0])


def packed_bits(values: npt.NDArray[np.bool_]) -> Words:
    """A bit for each; any byte but 0 is True, as for the core."""
    packed = np.packbits(values, bitorder="little")
    words = np.zeros(-(-values.shape[0] // 32), "<u4")
    words.view(np.uint8)[: len(packed)] = packed
    return words


def _of_bits(words: Words, bits: int, padded: bool = False) -> Prefilter:
    """Copies the words that have the bits."""
    kept = np.array(words[: -(-bits // 32)], np.uint32)
    return Prefilter(_of_words(kept, bits), kept, padded)


def _of_words(words: Words, bits: int) -> _CoreFilter:
    return _CoreFilter.from_bitset(words.ctypes.data, bits)


def _from_pickle(data: bytes, bits: int, padded: bool = False) -> Prefilter:
    count = check_int(bits, "bits of a pickled filter", 1, _MOST_BITS)
    if len(data) != 4 * -(-count // 32):
        raise InputError(f"pickled filter: holds {len(data)} bytes, {count} bits take {4 * -(-count // 32)}")
    return _of_bits(np.frombuffer(data, np.uint32), count, padded)


_IDS = ("uint16", "uint32", "uint64", "int16", "int32", "int64")
"""Dtypes of arrays that may be ids by mistake, or for uint32 the words of a bitset, in place of an array of bool."""


def _vector(array: Any, name: str, dtype: str, resources: Resources | None) -> _arrays.View:
    place = check_resources(resources)
    seen = _arrays.view(array, name, place.stream)
    if dtype == "bool" and seen.dtype in _IDS:
        packed = f"packed bits are filters.from_bitset({name}), " if seen.dtype == "uint32" else ""
        raise DtypeError(
            f"argument '{name}' has dtype {seen.dtype}, it must be bool; {packed}from ids make it by keep = "
            f"numpy.zeros(n_ids, bool); keep[{name}] = True, from zeros and ones by numpy.asarray({name}, bool)"
        )
    _arrays.check_dtype(seen, name, (dtype,))
    if len(seen.shape) != 1:
        queries = f"; bits for each query are filters.from_bitmap({name})" if len(seen.shape) == 2 else ""
        raise ArgumentError(
            f"argument '{name}' has shape {seen.shape}; give a vector, one entry for each id or word{queries}"
        )
    if seen.shape[0] == 0:
        raise ArgumentError(f"argument '{name}' has no entries; give at least one")
    return transfer.to_host(_arrays.as_contiguous(seen, name), name, place)
