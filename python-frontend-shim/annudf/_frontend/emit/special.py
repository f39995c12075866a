# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Functions that are written out of others, as no device has them as an instruction: gamma and lgamma.

Both are computed in float64 by Stirling's series, which is good from 10 on, after
Γ(z + 10) = z (z + 1) ... (z + 9) Γ(z) and, below one half, Γ(x) Γ(1 - x) = π / sin(πx): within 1e-14 of the larger of
1 and the result for lgamma, and within 1e-12 of the result for gamma.
"""

from __future__ import annotations

import math
from typing import Any

from numba_cuda_mlir._mlir.dialects import arith
from numba_cuda_mlir._mlir.dialects import math as mlir_math

from annudf._frontend.emit.arithmetic import constant
from annudf._frontend.types.dtypes import F64

_SHIFT = 10
_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
"""B(2k) / (2k (2k - 1)), the coefficients of w ** (1 - 2k)."""


def _number(value: float) -> Any:
    return constant(F64, value)


def _is(predicate: str, a: Any, b: float) -> Any:
    return arith.cmpf(getattr(arith.CmpFPredicate, predicate), a, _number(b))


def _log_gamma_and_product(z: Any) -> tuple[Any, Any]:
    """``log Γ(w)`` and the product p with Γ(z) = Γ(w) / p, for z of at least one half."""
    product, factor = z, z
    for _ in range(_SHIFT - 1):
        factor = arith.addf(factor, _number(1.0))
        product = arith.mulf(product, factor)
    is_small = _is("OLT", z, _SHIFT)
    w = arith.select(is_small, arith.addf(z, _number(_SHIFT)), z)
    inverse = arith.divf(_number(1.0), w)
    square = arith.mulf(inverse, inverse)
    series = _number(_SERIES[-1])
    for coefficient in reversed(_SERIES[:-1]):
        series = arith.addf(arith.mulf(series, square), _number(coefficient))
    main = arith.mulf(arith.subf(w, _number(0.5)), arith.subf(mlir_math.log(w), _number(1.0)))
    rest = arith.addf(_number(0.5 * math.log(2 * math.pi) - 0.5), arith.mulf(series, inverse))
    return arith.addf(main, rest), arith.select(is_small, product, _number(1.0))


def _reflected(x: Any) -> tuple[Any, Any, Any]:
    """Whether x is below one half; x or 1 - x, which is not; and ``|sin(πx)|``."""
    is_below = _is("OLT", x, 0.5)
    z = arith.select(is_below, arith.subf(_number(1.0), x), x)
    # The distance to the nearest integer, which has no rounding: that to the one below, of a small negative x, is 1.
    part = mlir_math.absf(arith.subf(x, mlir_math.roundeven(x)))
    return is_below, z, mlir_math.sin(arith.mulf(part, _number(math.pi)))


def log_gamma(x: Any) -> Any:
    """``math.lgamma`` of a float64: infinite at 0, at negative integers and at infinities."""
    is_below, z, sine = _reflected(x)
    logarithm, product = _log_gamma_and_product(z)
    above = arith.subf(logarithm, mlir_math.log(product))
    below = arith.subf(mlir_math.log(arith.divf(_number(math.pi), sine)), above)
    is_infinite = _is("OEQ", x, -math.inf)
    return arith.select(is_infinite, _number(math.inf), arith.select(is_below, below, above))


def gamma(x: Any) -> Any:
    """``math.gamma`` of a float64: infinite at 0, NaN at negative integers."""
    is_below, z, sine = _reflected(x)
    logarithm, product = _log_gamma_and_product(z)
    above = arith.divf(mlir_math.exp(logarithm), product)
    below = arith.divf(_number(math.pi), arith.mulf(sine, above))
    # The sine is negative between an odd integer and the next.
    half = arith.mulf(mlir_math.floor(x), _number(0.5))
    is_odd = arith.cmpf(arith.CmpFPredicate.UNE, half, mlir_math.floor(half))
    below = arith.select(is_odd, arith.negf(below), below)
    is_pole = arith.andi(_is("OLT", x, 0.0), _is("OEQ", sine, 0.0))
    below = arith.select(is_pole, _number(math.nan), below)
    return arith.select(is_below, below, above)
