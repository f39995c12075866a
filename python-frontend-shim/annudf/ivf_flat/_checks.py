# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Checks of plain arguments."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from annudf.errors import ArgumentError


def check_int(value: Any, name: str, low: int, high: int) -> int:
    """The integer, or ArgumentError with the limits."""
    if isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"{name} is {value}, it must be an integer from {low} to {high}")
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name} is {value!r}, it must be an integer from {low} to {high}") from None
    if not low <= number <= high:
        raise ArgumentError(f"{name} is {number}, it must be an integer from {low} to {high}")
    return number


def check_number(value: Any, name: str) -> float:
    """The number as a float, or ArgumentError."""
    if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
        raise ArgumentError(f"{name} is {value!r}, it must be a number")
    return float(value)


def check_bool(value: Any, name: str) -> bool:
    """The bool, or ArgumentError."""
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"{name} is {value!r}, it must be True or False")
    return bool(value)
