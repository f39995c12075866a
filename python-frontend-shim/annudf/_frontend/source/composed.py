# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Functions of NumPy, math, SciPy and Python that are written in what a metric may use, as a user would.

A metric that calls ``np.logaddexp`` calls the function here instead, as a helper of its own. Where the argument is
a float32 the result is, as NumPy's is. This file imports nothing of annudf, so that the site can list what it has.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def logaddexp(a: Any, b: Any) -> Any:
    if a == b:  # Infinities too, whose difference is NaN.
        return a + 0.6931471805599453
    return max(a, b) + np.log1p(np.exp(-abs(a - b)))


def logaddexp2(a: Any, b: Any) -> Any:
    if a == b:
        return a + 1.0
    return max(a, b) + np.log1p(np.exp2(-abs(a - b))) * 1.4426950408889634


def heaviside(a: Any, b: Any) -> Any:
    return np.where(np.isnan(a), a, np.where(a < 0, 0, np.where(a > 0, 1, b)))


def sinc(a: Any) -> Any:
    if a == 0:
        return a + 1.0
    return np.sin(math.pi * a) / (math.pi * a)


def signbit(a: Any) -> Any:
    return np.bool_(np.copysign(1.0, a) < 0)


def numpy_isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8) -> Any:
    return np.bool_(a == b or (abs(b) < math.inf and abs(a - b) <= atol + rtol * abs(b)))


def math_isclose(a: Any, b: Any, *, rel_tol: Any = 1e-9, abs_tol: Any = 0.0) -> Any:
    if a == b:
        return True
    largest = max(abs(a), abs(b))
    return bool(largest < math.inf and abs(a - b) <= max(rel_tol * largest, abs_tol))


def logical_and(a: Any, b: Any) -> Any:
    return np.bool_(bool(a) and bool(b))


def logical_or(a: Any, b: Any) -> Any:
    return np.bool_(bool(a) or bool(b))


def logical_xor(a: Any, b: Any) -> Any:
    return np.bool_(bool(a) != bool(b))


def equal(a: Any, b: Any) -> Any:
    return np.bool_(a == b)


def not_equal(a: Any, b: Any) -> Any:
    return np.bool_(a != b)


def less(a: Any, b: Any) -> Any:
    return np.bool_(a < b)


def less_equal(a: Any, b: Any) -> Any:
    return np.bool_(a <= b)


def greater(a: Any, b: Any) -> Any:
    return np.bool_(a > b)


def greater_equal(a: Any, b: Any) -> Any:
    return np.bool_(a >= b)


def divmod_(a: Any, b: Any) -> Any:
    return a // b, a % b


def numpy_divmod(a: Any, b: Any) -> Any:
    return np.floor_divide(a, b), np.remainder(a, b)


def xlogy(a: Any, b: Any) -> Any:
    return 0.0 if a == 0 and not np.isnan(b) else a * np.log(b)


def xlog1py(a: Any, b: Any) -> Any:
    return 0.0 if a == 0 and not np.isnan(b) else a * np.log1p(b)


def entr(a: Any) -> Any:
    if a > 0:
        return -a * np.log(a)
    return a if np.isnan(a) else -math.inf if a < 0 else 0.0


def rel_entr(a: Any, b: Any) -> Any:
    if np.isnan(a) or np.isnan(b):
        return a + b
    if a > 0 and b > 0:
        return a * np.log(a / b)
    return 0.0 if a == 0 and b >= 0 else math.inf


def kl_div(a: Any, b: Any) -> Any:
    if np.isnan(a) or np.isnan(b):
        return a + b
    if a > 0 and b > 0:
        return a * np.log(a / b) - a + b
    return b if a == 0 and b >= 0 else math.inf


def expit(a: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-a))


def logit(a: Any) -> Any:
    return np.log(a / (1.0 - a))


def ndtr(a: Any) -> Any:
    return 0.5 * math.erfc(-0.7071067811865476 * a)


def huber(delta: Any, r: Any) -> Any:
    if delta < 0:
        return math.inf
    return 0.5 * r * r if abs(r) <= delta else delta * (abs(r) - 0.5 * delta)


def pseudo_huber(delta: Any, r: Any) -> Any:
    if delta < 0:
        return math.inf
    if delta == 0 or r == 0:
        return 0.0
    if delta == math.inf:
        return math.nan
    # Not delta ** 2 * (sqrt(...) - 1), of which little is left where r is small.
    return abs(r) + delta if abs(r) == math.inf else r * r / (1.0 + np.hypot(1.0, r / delta))


_NUMPY = (
    logaddexp, logaddexp2, heaviside, sinc, signbit, logical_and, logical_or, logical_xor, equal, not_equal, less,
    less_equal, greater, greater_equal,
)  # fmt: skip
_OF_SCIPY = (xlogy, xlog1py, entr, rel_entr, kl_div, expit, logit, ndtr, huber, pseudo_huber)

COMPOSED: dict[str, dict[str, Any]] = {
    "numpy": {
        **{one.__name__: one for one in _NUMPY},
        "isclose": numpy_isclose,
        "divmod": numpy_divmod,
    },
    "math": {"isclose": math_isclose},
    "scipy.special": {one.__name__: one for one in _OF_SCIPY},
}
"""By module and name."""
