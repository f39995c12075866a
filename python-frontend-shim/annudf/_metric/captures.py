# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Values of captures: checked, converted to a type of the ABI and copied when they are bound."""

from __future__ import annotations

import keyword
import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from annudf import _arrays, _transfer
from annudf._arrays import DTYPE_OF_ELEMENT
from annudf._checks import shown
from annudf._options import MAX_RANK, SYMBOLS, WORDS, CaptureType, Extent, Word
from annudf.common import Resources
from annudf.errors import ArgumentError, CaptureError, DeviceError

_ELEMENTS: dict[str, Word] = {
    **{DTYPE_OF_ELEMENT[word]: word for word in WORDS},
    # Narrower types widen exactly.
    "float16": "f32",
    "bfloat16": "f32",
    "bool": "i32",
    "int8": "i32",
    "int16": "i32",
    "uint8": "i32",
    "uint16": "i32",
    # Wider ones only where every value fits.
    "int64": "i32",
    "uint64": "u32",
}

_RESERVED = frozenset({"x", "y", "acc", "ctx", "dim", "dims", "row", "query", "list"})


@dataclass(frozen=True, slots=True)
class Value:
    """A value bound to a capture: its element type, its shape and a copy of its bytes in C order."""

    element: Word
    shape: tuple[int, ...]
    data: bytes

    @property
    def scalar(self) -> bool:
        """Whether it is one number."""
        return not self.shape

    @property
    def array(self) -> npt.NDArray[Any]:
        """The values; read-only."""
        return np.frombuffer(self.data, DTYPE_OF_ELEMENT[self.element]).reshape(self.shape)

    def __str__(self) -> str:
        return " x ".join([*map(str, self.shape), self.element]) if self.shape else f"{self.element} scalar"


@dataclass(frozen=True, slots=True)
class DeclaredCapture:
    """What :func:`capture` gives."""

    value: object
    extents: tuple[Extent, ...]


def capture(value: Any, /, extents: Iterable[Extent] | Extent) -> DeclaredCapture:
    """Says how many entries each axis of a capture has, where its use does not show it.

    Parameters
    ----------
    value : array
        As in ``captures=``.
    extents : tuple of {"dim", "row", "query"} or int
        One an axis: ``"dim"`` one entry a dimension of the vectors, ``"row"`` one an id of the index (an array may
        have more), ``"query"`` one a query of the search, a number that many. Only the first may be ``"row"`` or
        ``"query"``.

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
    >>> from annudf import ivf_flat
    >>> @ivf_flat.metric(captures={"w": ivf_flat.capture(np.ones((5, 8), np.float32), extents=("query", "dim"))})
    ... def weighted_l2(x, y, acc, ctx):
    ...     return acc + ctx.w[ctx.query, ctx.dim] * (x - y) ** 2
    >>> weighted_l2
    <annudf metric weighted_l2 (w: query x dim x f32)>
    """
    single = isinstance(extents, (str, int))
    given: tuple[Any, ...] = (extents,) if single else tuple(cast("Iterable[Any]", extents))
    if not 1 <= len(given) <= MAX_RANK:
        raise CaptureError(f"extents has {len(given)} entries, a capture has one to {MAX_RANK} axes")
    for place, extent in enumerate(given):
        whole = isinstance(extent, (int, np.integer)) and not isinstance(extent, bool)
        if not (extent in SYMBOLS if isinstance(extent, str) else whole and extent > 0):
            raise CaptureError(f"extents has {shown(extent)}; an extent is 'dim', 'row', 'query' or a positive number")
        if place and extent in ("row", "query"):
            raise CaptureError(f"extents has '{extent}' after another; put it first, and transpose the array")
    return DeclaredCapture(value, tuple(cast("Extent", one if isinstance(one, str) else int(one)) for one in given))


def check_name(name: object) -> str:
    """Raises CaptureError unless a capture can be called so."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise CaptureError(f"capture name {shown(name)} is no identifier of letters, digits and _")
    if keyword.iskeyword(name) or name in _RESERVED:
        raise CaptureError(f"capture name '{name}' is reserved; choose another")
    return name


def make_value(
    name: str,
    value: object,
    declared: CaptureType | None = None,
    allow_non_finite: bool = False,
    before: Value | None = None,
) -> Value:
    """Copies a value of a capture.

    Parameters
    ----------
    name : str
        Of the capture, for messages.
    value : number or array
        A Python or NumPy number, or an array (of any supported library and device) of at most three axes.
    declared : CaptureType, optional
        What the metric was compiled for; None: the value decides.
    allow_non_finite : bool, default False
    before : Value, optional
        What the capture was bound to before, for messages.

    Raises
    ------
    CaptureError
    """
    if isinstance(value, DeclaredCapture):
        raise CaptureError(
            f"capture '{name}' is an ivf_flat.capture(...), which says the extents when a metric is made; "
            "give the array itself"
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
    if result.element in ("f32", "f64") and not allow_non_finite:
        finite = np.isfinite(result.array)
        if not finite.all():
            at = "" if result.scalar else f"[{', '.join(str(axis[0]) for axis in np.nonzero(~finite))}]"
            worst = result.array if result.scalar else result.array[~finite][0]
            raise CaptureError(
                f"capture '{name}{at}' is {float(worst)}; give finite numbers, or allow_non_finite=True to the metric"
            )
    return result


_ENTRIES = {"dim": "a dimension", "row": "an id", "query": "a query"}


def _conversion_hint(name: str, value: object, given: Value, declared: CaptureType, before: Value | None) -> str:
    if len(given.shape) != len(declared.extents):
        if declared.scalar:
            return "; give a number"
        if len(declared.extents) == 1 and isinstance(declared.extents[0], str):
            return f"; give an array, one entry {_ENTRIES[declared.extents[0]]}"
        return f"; give an array of {len(declared.extents)} axes"
    if given.element == declared.element:
        return "; the metric was made for that length, so declare it again with this array"
    if given.element[0] == "f" and declared.element[0] != "f":
        # Converting the value, as for other types, would drop its fraction without a word.
        if not declared.scalar:
            return "; it was declared by integers, so declare it by an array of float32 or give integers"
        origin = "an integer" if before is None else f"the integer {before.array}"
        return (
            f"; it was declared by {origin}, so declare it by a float (captures={{'{name}': {float(value)}}}) "  # type: ignore[arg-type]
            "or give an integer"
        )
    return f"; convert by numpy.{DTYPE_OF_ELEMENT[declared.element]}(...)"


def _from_number(name: str, value: bool | int | float, declared: CaptureType | None) -> Value:
    if isinstance(value, float) and declared is not None and declared.element[0] != "f" and value.is_integer():
        value = int(value)
    element: Word = "f32" if isinstance(value, float) else "i32"
    # A Python number has no width of its own, so it takes the declared one where that holds it.
    if declared is not None and declared.scalar and (declared.element[0] == "f" or not isinstance(value, float)):
        element = declared.element
    if element in ("i32", "u32"):
        low, high = (0, 2**32 - 1) if element == "u32" else (-(2**31), 2**31 - 1)
        if not low <= value <= high:
            raise CaptureError(f"capture '{name}' is {shown(value)}, which does not fit {element} ({low} to {high})")
        data = struct.pack("=I" if element == "u32" else "=i", int(value))
    else:
        try:
            wide = np.float64(value)
        except OverflowError:
            wide, fits = np.float64(0), False
        else:
            with np.errstate(over="ignore"):
                fits = bool(np.isinf(wide) or not np.isinf(wide.astype(DTYPE_OF_ELEMENT[element])))
        if not fits:
            raise CaptureError(f"capture '{name}' is {shown(value)}, which does not fit {element}")
        data = wide.astype(DTYPE_OF_ELEMENT[element]).tobytes()
    return Value(element, (), data)


def _from_array(name: str, value: object, declared: CaptureType | None) -> Value:
    host = _host_array(name, value)
    if isinstance(value, (list, tuple)) and host.dtype == np.float64:
        # Numbers of Python in a list have no width either.
        host = host.astype(np.float64 if declared is not None and declared.element == "f64" else np.float32)
    if declared is not None and declared.scalar and host.ndim == 0 and host.dtype.kind == "f":
        number = float(host)
        if declared.element[0] != "f" and number.is_integer():
            return _from_number(name, number, declared)
    same = declared is not None and len(declared.extents) == host.ndim
    if declared is not None and same and declared.element[0] == "f" and host.dtype.kind in "biu":
        host = _floats_of_integers(name, host, DTYPE_OF_ELEMENT[declared.element])
    if host.ndim > MAX_RANK:
        raise CaptureError(
            f"capture '{name}' has shape {host.shape}; a capture is a number or an array of at most {MAX_RANK} axes"
        )
    element = _ELEMENTS.get(host.dtype.name)
    if element is None:
        raise CaptureError(
            f"capture '{name}' has dtype {host.dtype}; captures are float32, float64, int32 or uint32 "
            "(narrower integers, bool and float16 are widened)"
        )
    if host.dtype.name in ("int64", "uint64"):
        if declared is not None and declared.element in ("i32", "u32"):
            element = declared.element
        limits = np.iinfo(DTYPE_OF_ELEMENT[element])
        if host.size and not (int(host.min()) >= limits.min and int(host.max()) <= limits.max):
            wide = host[(host > limits.max) | (host < limits.min)] if host.ndim else host
            raise CaptureError(
                f"capture '{name}' has dtype {host.dtype} and holds {int(wide.flat[0])}, which does "
                f"not fit {element} ({limits.min} to {limits.max})"
            )
    # The one copy that is made here: of what is converted already, tobytes() reads the array itself.
    plain = np.asarray(host, dtype=DTYPE_OF_ELEMENT[element], order="C")
    return Value(element, plain.shape, plain.tobytes())


def _floats_of_integers(name: str, host: npt.NDArray[Any], dtype: str) -> npt.NDArray[Any]:
    """The same numbers as floats, or CaptureError where one would be rounded."""
    floats = host.astype(dtype)
    for given, float_ in zip(host.ravel().tolist(), floats.ravel().tolist(), strict=True):
        if given != float_:  # Python compares the numbers themselves, whatever their types.
            raise CaptureError(
                f"capture '{name}' holds {given}, which no {dtype} is; round it by numpy.{dtype}(...) if that is meant"
            )
    return floats


def _host_array(name: str, value: object) -> npt.NDArray[Any]:
    what = f"captures['{name}']"
    if value is None:
        raise CaptureError(f"capture '{name}' is None; give a number or an array")
    try:
        if _arrays.library_of(value) == "torch" and str(value.dtype) == "torch.bfloat16":  # type: ignore[attr-defined]
            value = value.float()  # type: ignore[attr-defined]
        seen = _arrays.view(value, what)
        if seen.dtype not in _arrays.ELEMENT_OF_DTYPE:
            raise CaptureError(
                f"capture '{name}' has dtype {seen.dtype}; give numbers of float32, float64, int32 or uint32"
            )
        # NumPy copies from any strides; a device array is first made contiguous by its library.
        if seen.library == "numpy":
            return np.asarray(seen.owner)
        host = _transfer.to_host(_arrays.as_contiguous(seen, what), what, Resources())
    except DeviceError:
        raise
    except ArgumentError as error:
        raise CaptureError(str(error)) from None
    return _transfer.as_numpy(host)
