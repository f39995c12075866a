# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What values the parameters of ready-made metrics may have."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annudf._support.checks import is_number, shown
from annudf.errors import CaptureError


@dataclass(frozen=True, slots=True)
class _Condition:
    """What the values of a parameter have to be, beside numbers."""

    said: str
    holds: Callable[[npt.NDArray[Any]], npt.NDArray[np.bool_]]


_POSITIVE = _Condition("positive and finite", lambda values: (values > 0) & (values < math.inf))
_NOT_NEGATIVE = _Condition("0 or above, and finite", lambda values: (values >= 0) & (values < math.inf))
CONDITIONS = {
    ("minkowski", "p"): _POSITIVE,
    ("seuclidean", "V"): _POSITIVE,
    ("gower", "ranges"): _NOT_NEGATIVE,
}
"""By metric and parameter; a test holds the keys against the metrics' captures."""


def check_parameter(own: str, parameter: str, values: npt.NDArray[Any], given: object, name: str) -> None:
    """Raises CaptureError unless the values, which have been made of what was given, are in the domain of a metric."""
    condition = CONDITIONS[own, parameter]
    holds = condition.holds(values)
    if holds.all():
        return
    at = "" if values.ndim == 0 else f"[{', '.join(str(axis[0]) for axis in np.nonzero(~holds))}]"
    worst = shown(given) if is_number(given) else str(float(values[~holds][0]))
    limit = "; its limit for inf is 'chebyshev'" if own == "minkowski" and np.isposinf(values).any() else ""
    raise CaptureError(f"{name}{at} is {worst}, of '{own}' it must be {condition.said}{limit}")
