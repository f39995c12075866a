# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic of bodies: Python's integers for integers, NumPy's scalars for floats, fractions in between.

An integer of a body is kept as its unsigned bits. Conversions are made from exact values, with one
rounding of our own, as NumPy's int64 -> float16 rounds twice.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

FLOATS: dict[str, type[np.floating[Any]]] = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
PRECISION = {"f16": (11, -14, 15), "f32": (24, -126, 127), "f64": (53, -1022, 1023)}


def bits(kind: str) -> int:
    """Width of an integer type; index has 64."""
    return 64 if kind == "index" else int(kind[1:])


def wrap(value: int, kind: str) -> int:
    """Two's complement: the low bits."""
    return value & ((1 << bits(kind)) - 1)


def signed(value: int, kind: str) -> int:
    """The bits as a signed number."""
    width = bits(kind)
    return value - (1 << width) if value >> (width - 1) else value


def rounded(value: Fraction, kind: str) -> Any:
    """The nearest number of a float type, ties to even; the sign of zero is plus."""
    scalar = FLOATS[kind]
    if value == 0:
        return scalar(0)
    digits, smallest, largest = PRECISION[kind]
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, smallest) - digits + 1)
    quotient, rest = divmod(magnitude, unit)
    if rest * 2 > unit or (rest * 2 == unit and quotient % 2):
        quotient += 1
    result = quotient * unit
    sign = -1 if value < 0 else 1
    if result >= Fraction(2) ** (largest + 1):
        return scalar(sign * math.inf)
    return scalar(sign * float(result))  # Exact: every such number is a float64.


def exact(value: Any) -> Fraction:
    """A finite float as a fraction."""
    return Fraction(float(value))


def fma(a: Any, b: Any, c: Any, kind: str) -> Any:
    """a * b + c with one rounding."""
    scalar = FLOATS[kind]
    if not (np.isfinite(a) and np.isfinite(b)):
        return scalar(scalar(a * b) + c)
    if not np.isfinite(c):
        return scalar(c)
    product = exact(a) * exact(b)
    total = product + exact(c)
    if total != 0:
        return rounded(total, kind)
    negative = bool(np.signbit(a)) != bool(np.signbit(b))
    if product == 0:
        return scalar(-0.0) if negative and bool(np.signbit(c)) else scalar(0)
    return scalar(0)


def to_integer(value: Any, kind: str, is_signed: bool) -> int:
    """Saturating conversion towards zero; NaN is 0."""
    width = bits(kind)
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if is_signed else (0, (1 << width) - 1)
    if np.isnan(value):
        return 0
    if np.isinf(value):
        return wrap(high if value > 0 else low, kind)
    return wrap(min(max(int(value), low), high), kind)
