# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Values of captures: checked, converted to a type of the ABI and copied, or on a device used where they are."""

from __future__ import annotations

import keyword
import math
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from annudf import _arrays
from annudf._devices import backends, transfer
from annudf._support.checks import dtype_name, shown
from annudf._support.options import MAX_RANK, SYMBOLS, CaptureType, CaptureWord, Extent
from annudf.common import Resources
from annudf.errors import ArgumentError, CaptureError, DeviceError, DtypeError

# A truth value of a capture is an element type of its own.
_WORDS = cast(dict[str, CaptureWord], {**_arrays.ELEMENT_OF_DTYPE, "bool": "i1"})
_NAMES = {word: name for name, word in _WORDS.items()}
_FLOATS = ("f16", "bf16", "f32", "f64")

_RESERVED = frozenset({"x", "y", "acc", "ctx", "dim", "dims", "row", "query", "list"})


@dataclass(frozen=True, slots=True)
class Value:
    """A value bound to a capture: its element type, its shape, and a copy of its bytes in C order or where they are."""

    element: CaptureWord
    shape: tuple[int, ...]
    source: bytes | _arrays.View

    @property
    def data(self) -> bytes:
        """The bytes in C order; those on a device are copied to the host."""
        if isinstance(self.source, bytes):
            return self.source
        plain = replace(self.source, dtype=_stored(self.element).name)  # NumPy has no bfloat16.
        return transfer.as_numpy(transfer.to_host(plain, "a capture", Resources())).tobytes()

    def where(self, device: _arrays.Device) -> bytes | tuple[int, int, int, object]:
        """What a search on `device` binds: address, size, device and owner there, or bytes on the host."""
        if isinstance(self.source, bytes) or self.source.device != device:
            return self.data
        return self.source.address, self.source.nbytes, device.index, self.source.owner

    def __reduce__(self) -> tuple[Any, ...]:
        return Value, (self.element, self.shape, self.data)

    @property
    def scalar(self) -> bool:
        """Whether it is one number."""
        return not self.shape

    @property
    def array(self) -> npt.NDArray[Any]:
        """The values; read-only. Those of bfloat16 are float32 where ml_dtypes was not imported."""
        plain = np.frombuffer(self.data, _stored(self.element)).reshape(self.shape)
        if self.element != "bf16":
            return plain
        known = getattr(sys.modules.get("ml_dtypes"), "bfloat16", None)  # Another thread may be importing it.
        if known is not None:
            return plain.view(known)
        wide = _from_bfloat16(plain)
        wide.flags.writeable = False
        return wide

    @property
    def dtype(self) -> str:
        """What the core calls the dtype of the bytes."""
        return "b1" if self.element == "i1" else self.element

    def __str__(self) -> str:
        return " x ".join([*map(str, self.shape), self.element]) if self.shape else f"{self.element} scalar"


@dataclass(frozen=True, slots=True)
class DeclaredCapture:
    """The result of :func:`capture`."""

    value: object
    extents: tuple[Extent, ...]


def capture(value: Any, /, extents: Iterable[Extent] | Extent) -> DeclaredCapture:
    """Declares how many entries each axis of a capture has, if the function does not show it.

    Parameters
    ----------
    value : array
        As in ``captures=``.
    extents : tuple of {"dim", "row", "query"} or int
        One extent per axis. ``"dim"`` means one entry per dimension of the vectors, ``"row"`` one per id of the index
        (an array may have more, unless the call numbers the rows), ``"query"`` one per query of the search, and a
        number that many entries. Only the first axis may be ``"row"`` or ``"query"``.

    Returns
    -------
    DeclaredCapture
        For ``captures=`` of :func:`metric`.

    Raises
    ------
    CaptureError
        There is no such extent.

    Examples
    --------
    >>> import numpy as np
    >>> import annudf
    >>> from annudf import ivf_flat
    >>> @annudf.metric(captures={"w": ivf_flat.capture(np.ones((5, 8), np.float32), extents=("query", "dim"))})
    ... def weighted_l2(x, y, acc, ctx):
    ...     return acc + ctx.w[ctx.query, ctx.dim] * (x - y) ** 2
    >>> weighted_l2
    <annudf metric weighted_l2 (w: query x dim x f32)>
    """
    several = isinstance(extents, Iterable) and not isinstance(extents, str)
    given: tuple[Any, ...] = tuple(cast("Iterable[Any]", extents)) if several else (extents,)
    if not 1 <= len(given) <= MAX_RANK:
        raise CaptureError(f"extents has {len(given)} entries, a capture has one to {MAX_RANK} axes")
    for place, extent in enumerate(given):
        whole = isinstance(extent, (int, np.integer)) and not isinstance(extent, bool)
        if not (extent in SYMBOLS if isinstance(extent, str) else whole and extent > 0):
            raise CaptureError(f"extents has {shown(extent)}; an extent is 'dim', 'row', 'query' or a positive number")
        if place and extent in ("row", "query"):
            raise CaptureError(f"extents has '{extent}' after another; put it first, and transpose the array")
    return DeclaredCapture(value, tuple(cast("Extent", one if isinstance(one, str) else int(one)) for one in given))


@dataclass(frozen=True, slots=True)
class DeclaredColumn:
    """The result of :func:`column`."""

    element: CaptureWord


def column(dtype: npt.DTypeLike) -> DeclaredColumn:
    """Declares a capture without a value: searches read the index's column of its name, indexed by ``ctx.row``.

    Parameters
    ----------
    dtype : dtype
        The column's exact dtype: bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32 or float64.

    Returns
    -------
    DeclaredColumn
        For ``captures=`` of :func:`metric` and :func:`filter`.

    Raises
    ------
    DtypeError
        Columns cannot have this dtype.

    Examples
    --------
    >>> import numpy as np
    >>> import annudf
    >>> from annudf import ivf_flat
    >>> data = np.arange(12, dtype=np.float32).reshape(6, 2)
    >>> price = np.array([9.0, 25.0, 14.0, 30.0, 18.0, 50.0], np.float32)
    >>> index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), data, columns={"price": price})
    >>> @annudf.filter(captures={"price": ivf_flat.column("float32"), "most": 20.0})
    ... def affordable(ctx):
    ...     return ctx.price[ctx.row] <= ctx.most
    >>> ivf_flat.search(ivf_flat.SearchParams(n_probes=1), index, data[5:], 2, filter=affordable)[1]
    array([[4, 2]])
    """
    name = dtype_name(dtype, "dtype")
    element = _WORDS.get(name)
    if element is None:
        raise DtypeError(
            f"dtype is {name}; columns can be bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32 or "
            "float64"
        )
    return DeclaredColumn(element)


def name_of(element: CaptureWord) -> str:
    """NumPy's name of an element type."""
    return _NAMES[element]


def check_name(name: object) -> str:
    """Raises CaptureError unless a capture can be called so."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise CaptureError(
            f"capture name {shown(name)} is invalid; use letters, digits and _, not beginning with a digit"
        )
    if keyword.iskeyword(name) or name in _RESERVED:
        raise CaptureError(f"capture name '{name}' is reserved; choose another")
    return name


def make_value(
    name: str,
    value: object,
    declared: CaptureType | None = None,
    allow_non_finite: bool = False,
    before: Value | None = None,
    remedy: str = "give finite numbers, or allow_non_finite=True to the metric",
) -> Value:
    """Copies a value of a capture; an array on a device that needs no conversion stays where it is, and is not read.

    Parameters
    ----------
    name : str
        The capture's name, for messages.
    value : number or array
        A Python or NumPy number, or an array (of any supported library and device) of at most three axes.
    declared : CaptureType, optional
        What the metric was compiled for; None: the value decides.
    allow_non_finite : bool, default False
    before : Value, optional
        What the capture was bound to before, for messages.
    remedy : str
        What to do where a number is not finite, for the message.

    Raises
    ------
    CaptureError
    """
    if isinstance(value, DeclaredColumn):
        raise CaptureError(f"capture '{name}' is an ivf_flat.column(...), which only declares a column; give an array")
    if isinstance(value, DeclaredCapture):
        raise CaptureError(
            f"capture '{name}' is an ivf_flat.capture(...), which only declares extents; give the array itself"
        )
    # numpy.float64 is a float of Python too, but it says its width.
    if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        result = _from_number(name, value, declared)
    else:
        result = _from_array(name, value, declared)
    if declared is not None and not declared.fits(result.element, result.shape):
        raise CaptureError(
            f"capture '{name}' is declared as {declared}, the value given is {result}"
            + _conversion_hint(name, value, result, declared, before)
        )
    if isinstance(result.source, bytes) and result.element in _FLOATS and not allow_non_finite:
        finite = np.isfinite(result.array)
        if not finite.all():
            at = "" if result.scalar else f"[{', '.join(str(axis[0]) for axis in np.nonzero(~finite))}]"
            worst = result.array if result.scalar else result.array[~finite][0]
            raise CaptureError(f"capture '{name}{at}' is {float(worst)}; {remedy}")
    return result


_ENTRIES = {"dim": "a dimension", "row": "an id", "query": "a query"}


def _conversion_hint(name: str, value: object, given: Value, declared: CaptureType, before: Value | None) -> str:
    if len(given.shape) != len(declared.extents):
        if declared.scalar:
            return "; give a number"
        if len(declared.extents) == 1:
            extent, flat = declared.extents[0], in_one_axis(name, given.shape)
            entries = f"one entry {_ENTRIES[extent]}" if isinstance(extent, str) else f"{extent} entries"
            return f"; give an array{f' of one axis, {flat}' if flat else ''}, {entries}"
        return f"; give an array of {len(declared.extents)} axes"
    if given.element == declared.element:
        return "; the metric was made for that length, so declare it again with this array"
    if declared.element == "i1":
        return "; it was declared by bools, so give " + ("a bool" if declared.scalar else "an array of bool")
    if given.element in _FLOATS and declared.element not in _FLOATS:
        # Converting the value, as for other types, would drop its fraction without a word.
        if not declared.scalar:
            return "; it was declared by integers, so declare it by an array of float32 or give integers"
        origin = "an integer" if before is None else f"the integer {before.array}"
        return (
            f"; it was declared by {origin}, so declare it by a float (captures={{'{name}': {float(value)}}}) "  # type: ignore[arg-type]
            "or give an integer"
        )
    return f"; convert by {_function(declared.element)}(...)"


def in_one_axis(name: str, shape: tuple[int, ...]) -> str:
    """What makes an array with one long axis one of that axis alone; "" for others."""
    return f"{name}.reshape(-1)" if len(shape) > 1 and max(shape) == math.prod(shape) else ""


def _function(element: CaptureWord) -> str:
    """What makes a number or an array of that element, for messages."""
    return {"bf16": "ml_dtypes.bfloat16", "i1": "numpy.bool_"}.get(element, f"numpy.{_NAMES[element]}")


def _stored(element: CaptureWord) -> np.dtype[Any]:
    """As what NumPy holds the bytes: bf16, which it does not know by itself, as their bits."""
    return np.dtype("uint16" if element == "bf16" else _NAMES[element])


def _limits(element: CaptureWord) -> tuple[int, int]:
    if element == "i1":
        return 0, 1
    limits = np.iinfo(_stored(element))
    return int(limits.min), int(limits.max)


def _from_bfloat16(bits: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    return np.left_shift(bits.astype(np.uint32), 16, dtype=np.uint32).view(np.float32)


def _rounded(wide: npt.NDArray[np.float64], element: CaptureWord) -> npt.NDArray[Any]:
    """Floats as the nearest ones of the element, ties to even."""
    with np.errstate(over="ignore"):
        if element != "bf16":
            return wide.astype(_stored(element))
        single = wide.astype(np.float32)
    bits = single.view(np.uint32)
    # Towards zero with a mark of what was lost, so that it is rounded once.
    bits = bits - (np.abs(single) > np.abs(wide)).astype(np.uint32) | (single != wide).astype(np.uint32)
    nearest = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(wide), np.uint32(0x7FC0), nearest).astype(np.uint16)


def _numbers(stored: npt.NDArray[Any], element: CaptureWord) -> npt.NDArray[Any]:
    return _from_bfloat16(stored) if element == "bf16" else stored


def _from_number(name: str, value: bool | int | float, declared: CaptureType | None) -> Value:
    if isinstance(value, float) and declared is not None and declared.element not in _FLOATS and value.is_integer():
        value = int(value)
    element: CaptureWord = "f32" if isinstance(value, float) else "i32"
    # A Python number has no width of its own, so it takes the declared one where that holds it.
    if declared is not None and declared.scalar and (declared.element in _FLOATS or not isinstance(value, float)):
        element = declared.element
    if element not in _FLOATS:
        low, high = _limits(element)
        if not low <= value <= high:
            wider = "; declare it by numpy.int64(...)" if declared is None and -(2**63) <= value < 2**63 else ""
            raise CaptureError(
                f"capture '{name}' is {shown(value)}, which does not fit {element} ({low} to {high}){wider}"
            )
        return Value(element, (), np.array(int(value), _stored(element)).tobytes())
    try:
        wide = np.array(value, np.float64)
    except OverflowError:
        fits = False
    else:
        stored = _rounded(wide, element)
        fits = bool(np.isinf(wide) or not np.isinf(_numbers(stored, element)))
    if not fits:
        raise CaptureError(f"capture '{name}' is {shown(value)}, which does not fit {element}")
    # The last digits of a Python float are not meant; an integer is meant as it is.
    if not isinstance(value, float) and value != _numbers(stored, element).item():
        raise _rounds(f"capture '{name}' is {shown(value)}", element)
    return Value(element, (), stored.tobytes())


def _rounds(what: str, element: CaptureWord) -> CaptureError:
    return CaptureError(
        f"{what}, which {_NAMES[element]} does not hold exactly; round it by {_function(element)}(...) if that is meant"
    )


def _from_array(name: str, value: object, declared: CaptureType | None) -> Value:
    if found := _on_device(name, value, declared):
        return found
    host, element = _host_array(name, value)
    if host.ndim > MAX_RANK:
        raise CaptureError(
            f"capture '{name}' has shape {host.shape}; a capture is a number or an array of at most {MAX_RANK} axes"
        )
    target = declared.element if declared is not None and len(declared.extents) == host.ndim else None
    if isinstance(value, (list, tuple)):
        # Numbers of Python in a list have no width either.
        if element == "f64":
            element = target if target in _FLOATS else "f32"
            host = _floats_of_list(name, value, host, element)
        elif target is None and element in ("i64", "u64"):
            target = "i32"
    if target is None or target == element:
        return _value(element, host)
    if element in _FLOATS:
        if target in ("f32", "f64") and element in ("f16", "bf16"):
            return _value(target, _numbers(host, element))
        if host.ndim == 0 and target not in _FLOATS and float(_numbers(host, element)).is_integer():
            return _from_number(name, float(_numbers(host, element)), declared)
        return _value(element, host)  # The caller tells what was declared.
    return _value(target, _floats_of_integers(name, host, target) if target in _FLOATS else _fitted(name, host, target))


def _value(element: CaptureWord, host: npt.NDArray[Any]) -> Value:
    # The one copy that is made here: of what is converted already, tobytes() reads the array itself.
    plain = np.asarray(host, dtype=_stored(element), order="C")
    return Value(element, plain.shape, plain.tobytes())


def _fitted(name: str, host: npt.NDArray[Any], element: CaptureWord) -> npt.NDArray[Any]:
    """Integers that the element holds, or CaptureError at the first that it does not."""
    low, high = _limits(element)
    if host.size and not (low <= int(host.min()) and int(host.max()) <= high):
        outside = next(one for one in host.ravel().tolist() if not low <= one <= high)
        raise CaptureError(
            f"capture '{name}' has dtype {host.dtype} and holds {outside}, which does not fit {element} "
            f"({low} to {high})"
        )
    return host


def _floats_of_integers(name: str, host: npt.NDArray[Any], element: CaptureWord) -> npt.NDArray[Any]:
    """The same numbers as floats, or CaptureError where one would be rounded."""
    stored = _rounded(host.astype(np.float64), element)
    floats = _numbers(stored, element)
    for given, float_ in zip(host.ravel().tolist(), floats.ravel().tolist(), strict=True):
        if given != float_:  # Python compares the numbers themselves, whatever their types.
            raise _rounds(f"capture '{name}' holds {given}", element)
    return stored


def _floats_of_list(
    name: str, given: Iterable[Any], host: npt.NDArray[np.float64], element: CaptureWord
) -> npt.NDArray[Any]:
    """Numbers of a list, `host` as NumPy reads it, as floats of the element: each is taken as it were by itself."""
    stored = _rounded(host, element)
    floats = _numbers(stored, element)
    if (beyond := np.isinf(floats) & ~np.isinf(host)).any():
        at = ", ".join(str(axis[0]) for axis in np.nonzero(beyond))
        raise CaptureError(f"capture '{name}[{at}]' is {host[beyond][0]}, which does not fit {element}")
    # Among floats NumPy has made floats of integers.
    for one, float_ in zip(_entries(given), floats.ravel().tolist(), strict=False):
        if isinstance(one, (int, np.integer)) and one != float_:
            raise _rounds(f"capture '{name}' holds {one}", element)
    return stored


def _entries(given: Iterable[Any]) -> Iterator[Any]:
    """The numbers of a list of lists, in C order."""
    for one in given:
        if isinstance(one, (list, tuple, np.ndarray)):
            yield from _entries(one)
        else:
            yield one


def _seen(name: str, value: object, what: str) -> tuple[_arrays.View, CaptureWord]:
    seen = _arrays.view(value, what)
    element = _WORDS.get(seen.dtype)
    if element is None:
        raise CaptureError(
            f"capture '{name}' has dtype {seen.dtype}; give numbers: bool, int8 to int64, uint8 to uint64, "
            "float16, bfloat16, float32 or float64"
        )
    return seen, element


def _on_device(name: str, value: object, declared: CaptureType | None) -> Value | None:
    """An array on a device that is of the declared type already; it has been written by then."""
    if value is None or isinstance(value, (list, tuple, np.generic, np.ndarray)):
        return None
    what = f"captures['{name}']"
    try:
        seen, element = _seen(name, value, what)
        fits = declared is None or (declared.element == element and len(declared.extents) == len(seen.shape))
        if seen.device.kind != "cuda" or not fits or not seen.size or not 1 <= len(seen.shape) <= MAX_RANK:
            return None
        seen = _arrays.as_contiguous(seen, what)
        stream = transfer.ready_stream(seen, what, Resources())
        backends.backend(seen.device).synchronize(stream)
        return Value(element, seen.shape, replace(seen, producer=None))
    except DeviceError:
        raise
    except ArgumentError as error:
        raise CaptureError(str(error)) from None


def _host_array(name: str, value: object) -> tuple[npt.NDArray[Any], CaptureWord]:
    """The array in host memory and its element; one of bfloat16 as its bits."""
    what = f"captures['{name}']"
    if value is None:
        raise CaptureError(f"capture '{name}' is None; give a number or an array")
    try:
        seen, element = _seen(name, value, what)
        # NumPy copies from any strides; a device array is first made contiguous by its library.
        if seen.library == "numpy":
            host = np.asarray(seen.owner)
        else:
            seen = _arrays.as_contiguous(seen, what)
            if element == "bf16":
                seen = replace(seen, dtype="uint16")
            host = transfer.as_numpy(transfer.to_host(seen, what, Resources()))
    except DeviceError:
        raise
    except ArgumentError as error:
        raise CaptureError(str(error)) from None
    return host.view(np.uint16) if element == "bf16" else host, element
