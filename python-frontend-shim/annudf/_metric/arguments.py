# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What a metric says beside its code, checked: the arguments that `metric` and `cuda_source_metric` share."""

from __future__ import annotations

import math
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast, get_args

import numpy as np
import numpy.typing as npt

from annudf._arrays import DTYPE_OF_ELEMENT, ELEMENT_OF_DTYPE, FLOATS, VECTORS
from annudf._core import MAX_FIELDS, MAX_NAME
from annudf._metric.captures import DeclaredCapture, DeclaredColumn, Value, check_name, in_one_axis, make_value
from annudf._metric.extents import inferred
from annudf._support.checks import check_bool, check_choice, dtype_name, is_number, refusal, shown
from annudf._support.options import (
    ACCUMULATOR_WORDS,
    COARSE_OF_METRIC,
    WORDS,
    AccumulatorWord,
    CaptureType,
    CaptureWord,
    Coarse,
    DeviceBackend,
    ElementName,
    Extent,
    Numerics,
    Order,
    Word,
)
from annudf.errors import ArgumentError, CaptureError, DtypeError


@dataclass(frozen=True, slots=True)
class Arguments:
    """The checked arguments, by the ABI's names; see :func:`annudf.metric`."""

    order: Order
    initial: float | int | tuple[float | int, ...]
    coarse: Coarse
    coarse_order: Order | None
    values: dict[str, Value]
    extents: dict[str, tuple[Extent, ...]]
    accumulator: AccumulatorWord | tuple[AccumulatorWord, ...]
    elements: tuple[ElementName, ...]
    allow_non_finite: bool
    fields: type | None
    numerics: Numerics
    missing_values: bool = False
    columns: dict[str, CaptureWord] = field(default_factory=dict)

    def captures(self, *functions: Callable[..., Any] | None, unread: Extent = "dim") -> dict[str, CaptureType]:
        """Declared types of the captures, as the functions of a metric (update, finalize) or a filter read them."""
        shapes = {name: value.shape for name, value in self.values.items() if name not in self.extents}
        extents = {**inferred(shapes, *functions, unread=unread), **self.extents}
        for name, value in self.values.items():
            if 0 in extents[name]:
                raise CaptureError(f"capture '{name}' has shape {value.shape}, which has no entries; give some")
        types = {name: CaptureType(value.element, extents[name]) for name, value in self.values.items()}
        return types | {name: CaptureType(element, ("row",)) for name, element in self.columns.items()}


def check_arguments(
    *,
    order: object,
    initial: object,
    coarse_metric: object,
    coarse_order: object,
    captures: Mapping[str, Any] | None,
    compute: Word,
    accumulator: object,
    elements: Iterable[npt.DTypeLike] | npt.DTypeLike | None,
    allow_non_finite: object,
    numerics: object = "strict",
    missing_values: object = False,
) -> Arguments:
    """Raises ArgumentError at the first that has none of its values."""
    finite = not check_bool(allow_non_finite, "allow_non_finite")
    if captures is not None and not isinstance(captures, Mapping):
        raise ArgumentError(f"captures is a {type(captures).__name__}, it must be a mapping of names to values")
    words, starts, named = check_accumulator(initial, accumulator, compute)
    given = dict(captures or {})
    columns = {check_name(name): one.element for name, one in given.items() if isinstance(one, DeclaredColumn)}
    given = {name: one for name, one in given.items() if name not in columns}
    declared = {name: one for name, one in given.items() if isinstance(one, DeclaredCapture)}
    given.update({name: one.value for name, one in declared.items()})
    values = {check_name(name): make_value(name, value, None, not finite) for name, value in given.items()}
    for name, one in declared.items():
        _check_extents(name, values[name], one.extents)
    accepted = _elements(elements, compute)
    if check_bool(missing_values, "missing_values") and not any(DTYPE_OF_ELEMENT[one] in FLOATS for one in accepted):
        raise ArgumentError(
            "missing_values is True, but the metric takes vectors of integers only, which have no NaN; leave it out"
        )
    return Arguments(
        order=_order(order, "order"),
        initial=starts,
        coarse=_coarse(coarse_metric),
        coarse_order=None if coarse_order is None else _order(coarse_order, "coarse_order"),
        values=values,
        extents={name: one.extents for name, one in declared.items()},
        accumulator=words,
        elements=accepted,
        allow_non_finite=not finite,
        fields=named,
        numerics=_numerics(numerics),
        missing_values=bool(missing_values),
        columns=columns,
    )


def _check_extents(name: str, value: Value, extents: tuple[Extent, ...]) -> None:
    if not CaptureType(value.element, extents).fits(value.element, value.shape):
        spelled = ", ".join(map(repr, extents))
        flat = in_one_axis(name, value.shape) if len(extents) == 1 else ""
        raise CaptureError(
            f"capture '{name}' has shape {value.shape}, its extents are ({spelled}); give one an axis"
            + (f", or the array {flat}" if flat else "")
        )


def check_symbol(name: object) -> str:
    """Raises ArgumentError unless device compilers take the name."""
    if isinstance(name, str) and len(name) > MAX_NAME:
        raise ArgumentError(f"symbol_name has {len(name)} characters, a name has at most {MAX_NAME}; shorten it")
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ArgumentError(f"symbol_name is {shown(name)}; use letters, digits and _, not beginning with a digit")
    return name


def check_device_backend(backend: object) -> DeviceBackend:
    """Raises ArgumentError unless it names one."""
    return cast(DeviceBackend, check_choice(backend, "device_backend", get_args(DeviceBackend)))


def check_word(dtype: npt.DTypeLike | None, what: str) -> Word:
    """The ABI's name of a dtype of coordinates and accumulators, or DtypeError."""
    name = dtype_name(dtype, what)
    word = ELEMENT_OF_DTYPE.get(name)
    if word not in WORDS:
        raise DtypeError(f"{what} is {name}, it must be float32, float64, int32 or uint32")
    return word


def _order(order: object, what: str) -> Order:
    return cast(Order, check_choice(order, what, ("min", "max")))


def _numerics(numerics: object) -> Numerics:
    return cast(Numerics, check_choice(numerics, "numerics", ("strict", "reassociate")))


def _coarse(coarse_metric: object) -> Coarse:
    return COARSE_OF_METRIC[check_choice(coarse_metric, "coarse_metric", COARSE_OF_METRIC)]


def check_accumulator(
    initial: object, accumulator: object, compute: Word
) -> tuple[AccumulatorWord | tuple[AccumulatorWord, ...], float | int | tuple[float | int, ...], type | None]:
    """Types and starts of the accumulator's fields, and the NamedTuple that holds them.

    `initial` decides how many there are, or `accumulator` if that is a tuple. A field's type is what `accumulator`
    says, else that of the NumPy scalar it starts with or of the NamedTuple's annotation, else `compute`.
    """
    several = isinstance(initial, (tuple, list)) or isinstance(accumulator, (tuple, list))
    if not several:
        word: AccumulatorWord = compute if accumulator is None else check_accumulator_word(accumulator, "accumulator")
        return word, check_start(initial, word), None
    named = type(initial) if hasattr(type(initial), "_fields") else None
    starts = tuple(cast("tuple[object, ...]", initial)) if isinstance(initial, (tuple, list)) else None
    given = tuple(accumulator) if isinstance(accumulator, (tuple, list)) else None
    count = len(starts if starts is not None else cast("tuple[object, ...]", given))
    what = f"initial has {count} entries" if starts is not None else f"accumulator has {count} entries"
    if count < 2:
        raise ArgumentError(f"{what.replace('entries', 'entry') if count == 1 else what}; write a number for one")
    if count > MAX_FIELDS:
        raise ArgumentError(f"{what}, an accumulator has at most {MAX_FIELDS} fields")
    if starts is None:
        starts = (initial,) * count
    if given is not None and len(given) != count:
        raise ArgumentError(f"{what}, accumulator {len(given)}; name one dtype a field, or one for all")
    hints = annotations_of(named) if named is not None and accumulator is None else {}
    names = getattr(named, "_fields", tuple(range(count)))
    words = tuple(
        check_accumulator_word(given[number], f"accumulator[{number}]")
        if given is not None
        else check_accumulator_word(accumulator, "accumulator")
        if accumulator is not None
        else _word_of_field(start, hints.get(name), compute, number)
        for number, (name, start) in enumerate(zip(names, starts, strict=True))
    )
    numbers = tuple(
        check_start(start, word, f"initial[{number}]")
        for number, (start, word) in enumerate(zip(starts, words, strict=True))
    )
    return words, numbers, named


def annotations_of(named: type) -> dict[str, Any]:
    """Annotations of a class, also those that are kept as text."""
    try:
        # A cell that was executed has no module to look names up in.
        return typing.get_type_hints(named, localns={"np": np, "numpy": np})
    except Exception as error:  # Text can be anything.
        raise ArgumentError(
            f"the annotations of {named.__name__} cannot be read ({error}); define it at the top of its module, "
            "or give accumulator a dtype a field"
        ) from None


def _word_of_field(start: object, hint: object, compute: Word, number: int) -> AccumulatorWord:
    if isinstance(start, np.generic):
        return check_accumulator_word(start.dtype, f"initial[{number}]")
    if isinstance(hint, type) and issubclass(hint, np.generic):
        return check_accumulator_word(hint, f"field {number} of initial")
    return compute


def check_accumulator_word(dtype: Any, what: str) -> AccumulatorWord:
    """The ABI's name of a dtype of accumulators, or DtypeError."""
    name = dtype_name(dtype, what)
    word = ELEMENT_OF_DTYPE.get(name)
    if word not in ACCUMULATOR_WORDS:
        raise DtypeError(f"{what} is {name}, it must be float32, float64, int32, uint32 or int64")
    return word


def check_start(initial: object, accumulator: AccumulatorWord, what: str = "initial") -> float | int:
    """What the accumulator starts with as a float or an int, whichever the accumulator is."""
    if not is_number(initial):
        raise refusal(what, initial, "a number")
    if accumulator == "i64" and isinstance(initial, (int, np.integer)):
        number_i = int(initial)  # A float would round it.
        if not -(2**63) <= number_i < 2**63:
            raise ArgumentError(
                f"{what} is {shown(initial)}, which does not fit the accumulator, an integer of 64 bits"
            )
        return number_i
    try:
        number = float(cast(float, initial))
    except OverflowError:
        number = math.nan
        fits = False
    else:
        if math.isnan(number):
            raise ArgumentError(f"{what} is nan, so every distance would be nan and no row is found; give a number")
        fits = not (accumulator == "f32" and float(np.finfo(np.float32).max) < abs(number) < math.inf)
    if accumulator in ("f32", "f64"):
        if not fits:
            raise ArgumentError(
                f"{what} is {shown(initial)}, which does not fit a {DTYPE_OF_ELEMENT[accumulator]} accumulator"
            )
        # An integer is meant as it is, as in a capture; of a float the last digits are not.
        if isinstance(initial, (int, np.integer)):
            held = float(np.float32(number)) if accumulator == "f32" else number
            if held != int(initial):
                dtype = DTYPE_OF_ELEMENT[accumulator]
                raise ArgumentError(
                    f"{what} is {shown(initial)}, which {dtype} does not hold exactly; round it by "
                    f"float(numpy.{dtype}(...)) if that "
                    "is meant"
                )
        return number
    limits = np.iinfo(DTYPE_OF_ELEMENT[accumulator])
    if not math.isfinite(number) or number != int(number) or not limits.min <= number <= limits.max:
        raise ArgumentError(
            f"{what} is {shown(initial)}, which does not fit the accumulator, an integer from {limits.min} to "
            f"{limits.max}"
        )
    return int(number)


def _elements(elements: Iterable[npt.DTypeLike] | npt.DTypeLike | None, compute: Word) -> tuple[ElementName, ...]:
    """The ABI's names of the element types of vectors."""
    integer = compute in ("i32", "u32")
    names: list[str]
    if elements is None:
        names = [name for name in VECTORS if not integer or name not in FLOATS]
    elif isinstance(elements, (str, type, np.dtype)):
        names = [dtype_name(elements, "elements")]
    elif isinstance(elements, Iterable):
        names = [dtype_name(cast(Any, one), "an entry of elements") for one in elements]
    else:
        raise refusal("elements", elements, "one or several dtypes")
    for name in names:
        if name not in VECTORS:
            raise DtypeError(f"elements has {name}, it may have {', '.join(VECTORS)}")
        if integer and name in FLOATS:
            raise DtypeError(
                f"elements has {name}, but dtype is an integer, which would lose the fraction; "
                "take dtype='float32' or list only int8, uint8 and bits"
            )
    if not names:
        raise ArgumentError("elements is empty; name a type of vectors that the metric accepts")
    return tuple(cast(ElementName, ELEMENT_OF_DTYPE[name]) for name in dict.fromkeys(names))
