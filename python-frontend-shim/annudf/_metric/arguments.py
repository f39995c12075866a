# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What a metric says beside its code, checked: the arguments that `metric` and `cuda_source_metric` share."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from annudf._arrays import DTYPE_OF_ELEMENT, ELEMENT_OF_DTYPE, VECTORS
from annudf._checks import check_bool, dtype_name, is_number, shown
from annudf._metric.captures import Value, check_name, make_value
from annudf._options import COARSE_OF_METRIC, WORDS, CaptureType, Coarse, ElementName, Order, Word
from annudf.errors import ArgumentError, DtypeError


@dataclass(frozen=True, slots=True)
class Arguments:
    """The checked arguments, by the ABI's names; see :func:`annudf.ivf_flat.metric`."""

    order: Order
    initial: float | int
    coarse: Coarse
    coarse_order: Order | None
    values: dict[str, Value]
    accumulator: Word
    elements: tuple[ElementName, ...]
    allow_non_finite: bool

    @property
    def captures(self) -> dict[str, CaptureType]:
        """Declared types of the captures."""
        return {name: value.type for name, value in self.values.items()}


def check_arguments(
    *,
    order: object,
    initial: object,
    coarse_metric: object,
    coarse_order: object,
    captures: Mapping[str, Any] | None,
    compute: Word,
    accumulator: Word,
    elements: Iterable[npt.DTypeLike] | npt.DTypeLike | None,
    allow_non_finite: object,
) -> Arguments:
    """Raises ArgumentError at the first that has none of its values."""
    finite = not check_bool(allow_non_finite, "allow_non_finite")
    if captures is not None and not isinstance(captures, Mapping):
        raise ArgumentError(f"captures is a {type(captures).__name__}, it must be a mapping of names to values")
    return Arguments(
        order=_order(order, "order"),
        initial=_initial(initial, accumulator),
        coarse=_coarse(coarse_metric),
        coarse_order=None if coarse_order is None else _order(coarse_order, "coarse_order"),
        values={
            check_name(name): make_value(name, value, None, not finite) for name, value in (captures or {}).items()
        },
        accumulator=accumulator,
        elements=_elements(elements, compute),
        allow_non_finite=not finite,
    )


def check_symbol(name: object) -> str:
    """Raises ArgumentError unless device compilers take the name."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ArgumentError(f"symbol_name is {shown(name)}; use letters, digits and _, not beginning with a digit")
    return name


def check_word(dtype: npt.DTypeLike | None, what: str) -> Word:
    """The ABI's name of a dtype of coordinates and accumulators, or DtypeError."""
    name = dtype_name(dtype, what)
    word = ELEMENT_OF_DTYPE.get(name)
    if word not in WORDS:
        raise DtypeError(f"{what} is {name}, it must be float32, float64, int32 or uint32")
    return word


def _order(order: object, what: str) -> Order:
    if not isinstance(order, str) or order not in ("min", "max"):
        raise ArgumentError(f"{what} is {shown(order)}, it must be 'min' or 'max'")
    return cast(Order, order)


def _coarse(coarse_metric: object) -> Coarse:
    if not isinstance(coarse_metric, str) or coarse_metric not in COARSE_OF_METRIC:
        raise ArgumentError(
            f"coarse_metric is {shown(coarse_metric)}, it must be 'sqeuclidean', 'euclidean', 'inner_product' "
            "or 'cosine'"
        )
    return COARSE_OF_METRIC[coarse_metric]


def _initial(initial: object, accumulator: Word) -> float | int:
    """The initial accumulator as a float or an int, whichever the accumulator is."""
    if not is_number(initial):
        raise ArgumentError(
            f"initial is {shown(initial)}, it must be a number"
            + (
                ", as a metric has one accumulator (see 'Metrics that need two sums' in the documentation)"
                if isinstance(initial, (tuple, list))
                else ""
            )
        )
    try:
        number = float(cast(float, initial))
    except OverflowError:
        number = math.nan
        fits = False
    else:
        if math.isnan(number):
            raise ArgumentError(
                "initial is nan, so every distance would be, and such rows are not found; give a number"
            )
        fits = not (accumulator == "f32" and float(np.finfo(np.float32).max) < abs(number) < math.inf)
    if accumulator in ("f32", "f64"):
        if not fits:
            raise ArgumentError(
                f"initial is {shown(initial)}, which does not fit a {DTYPE_OF_ELEMENT[accumulator]} accumulator"
            )
        return number
    limits = np.iinfo(DTYPE_OF_ELEMENT[accumulator])
    if not math.isfinite(number) or number != int(number) or not limits.min <= number <= limits.max:
        raise ArgumentError(
            f"initial is {shown(initial)}, which does not fit the accumulator, an integer from {limits.min} to "
            f"{limits.max}"
        )
    return int(number)


def _elements(elements: Iterable[npt.DTypeLike] | npt.DTypeLike | None, compute: Word) -> tuple[ElementName, ...]:
    """The ABI's names of the element types of vectors."""
    integer = compute in ("i32", "u32")
    names: list[str]
    if elements is None:
        names = ["int8", "uint8"] if integer else list(VECTORS)
    elif isinstance(elements, (str, type, np.dtype)):
        names = [dtype_name(elements, "elements")]
    elif isinstance(elements, Iterable):
        names = [dtype_name(cast(Any, one), "an entry of elements") for one in elements]
    else:
        raise ArgumentError(f"elements is {shown(elements)}, it must be one or several dtypes")
    for name in names:
        if name not in VECTORS:
            raise DtypeError(f"elements has {name}, it may have {', '.join(VECTORS)}")
        if integer and name.startswith("float"):
            raise DtypeError(
                f"elements has {name}, but dtype is an integer, which would lose the fraction; "
                "take dtype='float32' or list only int8 and uint8"
            )
    if not names:
        raise ArgumentError("elements is empty; name a type of vectors that the metric accepts")
    return tuple(cast(ElementName, ELEMENT_OF_DTYPE[name]) for name in dict.fromkeys(names))
