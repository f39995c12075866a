# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Functions of NumPy and SciPy that take whole vectors, too, written in what a metric of vectors may use.

They have no branch, so that each coordinate goes its own way.
"""

from __future__ import annotations

import math
import types
from typing import Any

import numpy as np

from annudf._frontend.source import composed
from annudf._frontend.source.digest import codes_of


def logaddexp(a: Any, b: Any) -> Any:
    largest = np.maximum(a, b)
    return np.where(a == b, a + 0.6931471805599453, largest + np.log1p(np.exp(-np.abs(a - b))))


def logaddexp2(a: Any, b: Any) -> Any:
    largest = np.maximum(a, b)
    return np.where(a == b, a + 1.0, largest + np.log1p(np.exp2(-np.abs(a - b))) * 1.4426950408889634)


def sinc(a: Any) -> Any:
    return np.where(a == 0, 1.0 + 0.0 * a, np.sin(math.pi * a) / (math.pi * a))


def signbit(a: Any) -> Any:
    return np.copysign(1.0, a) < 0


def numpy_isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8) -> Any:
    return (a == b) | ((np.abs(b) < math.inf) & (np.abs(a - b) <= atol + rtol * np.abs(b)))


def logical_and(a: Any, b: Any) -> Any:
    return (a != 0) & (b != 0)


def logical_or(a: Any, b: Any) -> Any:
    return (a != 0) | (b != 0)


def logical_xor(a: Any, b: Any) -> Any:
    return (a != 0) ^ (b != 0)


def xlogy(a: Any, b: Any) -> Any:
    return np.where((a == 0) & np.logical_not(np.isnan(b)), 0.0, a * np.log(b))


def xlog1py(a: Any, b: Any) -> Any:
    return np.where((a == 0) & np.logical_not(np.isnan(b)), 0.0, a * np.log1p(b))


def entr(a: Any) -> Any:
    return np.where(a > 0, -a * np.log(a), np.where(a < 0, -math.inf, a + 0.0))


def rel_entr(a: Any, b: Any) -> Any:
    other = np.where((a == 0) & (b >= 0), 0.0, math.inf)
    return np.where(np.isnan(a) | np.isnan(b), a + b, np.where((a > 0) & (b > 0), a * np.log(a / b), other))


def kl_div(a: Any, b: Any) -> Any:
    other = np.where((a == 0) & (b >= 0), b + 0.0, math.inf)
    return np.where(np.isnan(a) | np.isnan(b), a + b, np.where((a > 0) & (b > 0), a * np.log(a / b) - a + b, other))


def var(a: Any, ddof: Any = 0) -> Any:
    apart = a - np.mean(a)
    return np.sum(apart * apart) / (len(a) - ddof)


def std(a: Any, ddof: Any = 0) -> Any:
    apart = a - np.mean(a)
    return np.sqrt(np.sum(apart * apart) / (len(a) - ddof))


def popcount_u8(a: Any) -> Any:
    return np.int32(np.bitwise_count(a & 255))


def intrinsic(value: object) -> types.FunctionType | None:
    """What stands for an intrinsic of Numba's that counts bits, as pynndescent has one; None for others."""
    code = getattr(getattr(value, "_defn", None), "__code__", None)
    if type(value).__name__ != "_Intrinsic" or code is None:
        return None
    named = [one for inner in codes_of(code) for one in inner.co_consts if isinstance(one, str) and "llvm." in one]
    found: Any = popcount_u8 if named == ["llvm.ctpop.i8"] else None
    return found if isinstance(found, types.FunctionType) else None


ELEMENTWISE = {
    getattr(composed, one.__name__): one
    for one in (
        logaddexp, logaddexp2, sinc, signbit, numpy_isclose, logical_and, logical_or, logical_xor, xlogy, xlog1py, entr,
        rel_entr, kl_div,
    )
}  # fmt: skip
"""What stands for a function of composed.py where a metric takes vectors."""
REDUCING = {"var": var, "std": std}
"""Functions of NumPy that make one number of a vector."""


def composed_names(module: str, has_vectors: bool = False) -> set[str]:
    """The functions of a module for which something stands in a metric."""
    return {*composed.COMPOSED[module], *(REDUCING if has_vectors and module == "numpy" else ())}
