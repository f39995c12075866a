# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The functions that a metric may call, as names that typing and lowering agree on.

A user's ``math.sqrt``, ``np.sqrt`` and ``abs`` are replaced by stubs before the function is
compiled, so that their meaning is ours for every type, and nothing changes for other users of
numba-cuda-mlir in the process. Stubs are never executed.
"""

from __future__ import annotations

import builtins
import math
import operator
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

Stub = Callable[..., object]


def _stub(name: str) -> Stub:
    def stub(*args: object) -> object:
        raise NotImplementedError(name)

    # numba wants what it calls to be reachable by its name.
    stub.__name__ = stub.__qualname__ = f"metric_{name}"
    globals()[stub.__name__] = stub
    return stub


FLOAT_UNARY = (
    "sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos",
    "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "cbrt", "erf", "erfc", "gamma", "lgamma",
    "rint", "reciprocal", "radians", "degrees",
)  # fmt: skip
"""Functions of one number whose result is floating, by NumPy's names."""
INT_UNARY = ("floor", "ceil", "trunc", "round")
"""Functions of one number whose result is a Python int."""
PREDICATES = ("isnan", "isinf", "isfinite", "math_isnan", "math_isinf", "math_isfinite")
SAME_UNARY = ("abs", "np_abs", "fabs", "sign", "square", "negative", "positive", "np_floor", "np_ceil", "np_trunc")
FLOAT_BINARY = ("arctan2", "copysign", "hypot", "fmod", "math_pow")
OPERATORS: dict[str, Callable[..., object]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "power": operator.pow, "pow": operator.pow,
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "left_shift": operator.lshift, "right_shift": operator.rshift,
}  # fmt: skip
ARITHMETIC_BINARY = tuple(OPERATORS)
EXTREMES = ("max", "min", "maximum", "minimum", "fmax", "fmin")
CASTS = (
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool_",
)
OTHERS = ("int", "float", "math_log", "where", "clip", "fma", "range", "logical_not", "bitwise_count", "bit_count",
          "invert", "np_invert", "bool")  # fmt: skip
REDUCTIONS = {
    "sum": "sum", "prod": "prod", "mean": "mean", "dot": "dot", "vdot": "dot", "inner": "dot", "max": "amax",
    "amax": "amax", "min": "amin", "amin": "amin", "any": "any", "all": "all", "count_nonzero": "count_nonzero",
    "cumsum": "cumsum", "cumprod": "cumprod", "median": "median",
}  # fmt: skip
"""Functions of NumPy that make one number of whole vectors, or one of each begin of a vector."""
OF_ARRAYS = ("len", "norm", *dict.fromkeys(REDUCTIONS.values()))
OF_SCRATCH = ("scratch", "put")
UFUNCS = frozenset((
    "np_abs", "sign", "square", "negative", "positive", "np_floor", "np_ceil", "np_trunc", "np_invert", "maximum",
    "minimum", "fmax", "fmin", *(name for name in OPERATORS if name not in ("divide", "pow")),
))  # fmt: skip
"""NumPy's, whose result has the type of their arguments: of Python's ints alone int64, which wraps around as such."""

STUBS: dict[str, Stub] = {
    name: _stub(name)
    for group in (
        FLOAT_UNARY,
        INT_UNARY,
        PREDICATES,
        SAME_UNARY,
        FLOAT_BINARY,
        ARITHMETIC_BINARY,
        EXTREMES,
        CASTS,
        OTHERS,
        OF_ARRAYS,
        OF_SCRATCH,
    )
    for name in group
}

_BUILTINS: dict[object, str] = {
    builtins.abs: "abs", builtins.max: "max", builtins.min: "min", builtins.round: "round", builtins.pow: "pow",
    builtins.range: "range", builtins.int: "int", builtins.float: "float", builtins.bool: "bool",
}  # fmt: skip
_MATH = {
    "sqrt": "sqrt", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "math_log", "log2": "log2", "log10": "log10",
    "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "cbrt": "cbrt", "erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "lgamma",
    "fabs": "fabs", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "pow": "math_pow",
    "atan2": "arctan2", "copysign": "copysign", "hypot": "hypot", "fmod": "fmod", "isnan": "math_isnan",
    "isinf": "math_isinf", "isfinite": "math_isfinite", "radians": "radians", "degrees": "degrees", "fma": "fma",
}  # fmt: skip
_NUMPY_SAME = (
    "sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan",
    "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "cbrt", "rint", "reciprocal", "radians", "degrees",
    "isnan", "isinf", "isfinite", "sign", "square", "negative", "positive", "fabs", "arctan2", "copysign", "hypot",
    "fmod", "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "maximum", "minimum", "fmax",
    "fmin", "where", "clip", "logical_not", "bitwise_count", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift",
    "right_shift", *CASTS,
)  # fmt: skip
_NUMPY = {name: name for name in _NUMPY_SAME} | {
    "abs": "np_abs", "absolute": "np_abs", "invert": "np_invert", "bitwise_not": "np_invert",
    "floor": "np_floor", "ceil": "np_ceil", "trunc": "np_trunc",
    "true_divide": "divide", "mod": "remainder", "deg2rad": "radians", "rad2deg": "degrees",
}  # fmt: skip
_CONSTANTS = ("pi", "e", "tau", "inf", "nan", "euler_gamma")


def _by_identity() -> dict[int, str]:
    found = {id(key): name for key, name in _BUILTINS.items()}
    for module, names in ((math, _MATH), (np, _NUMPY)):
        for attribute, name in names.items():
            if hasattr(module, attribute):
                found[id(getattr(module, attribute))] = name
    return found


_IDENTITIES = _by_identity()
_KEPT = (*_BUILTINS, *vars(math).values(), *vars(np).values(), np.linalg.norm)
"""A program may replace a function of a module, and another object would have its id once it is gone."""

SCIPY = "scipy.special"
_SCIPY_SAME = {
    "erf": "erf", "erfc": "erfc", "gamma": "gamma", "gammaln": "lgamma", "exp2": "exp2", "expm1": "expm1",
    "log1p": "log1p", "cbrt": "cbrt",
}  # fmt: skip


def scipy_name(value: object) -> str:
    """The name of a function of scipy.special, which nothing here imports."""
    name = getattr(value, "__name__", "") if isinstance(value, np.ufunc) else ""
    return name if name and getattr(sys.modules.get(SCIPY), name, None) is value else ""


def stub_for(value: object) -> Stub | None:
    """The stub of a function given as itself (``from math import sqrt``), or None."""
    name = _IDENTITIES.get(id(value)) or _SCIPY_SAME.get(scipy_name(value))
    return STUBS[name] if name else None


def unary_function(value: object) -> str:
    """The name of a function of one number that a metric may call as it is, or nothing."""
    name = _IDENTITIES.get(id(value), "")
    return name if name in (*FLOAT_UNARY, *SAME_UNARY, *INT_UNARY, "math_log") else ""


def _namespace(module: types.ModuleType, names: dict[str, str]) -> types.ModuleType:
    namespace = types.ModuleType(module.__name__, module.__doc__)
    for attribute, name in names.items():
        setattr(namespace, attribute, STUBS[name])
    for constant in _CONSTANTS:
        if hasattr(module, constant):
            setattr(namespace, constant, float(getattr(module, constant)))
    return namespace


NAMESPACES: dict[str, types.ModuleType] = {"math": _namespace(math, _MATH), "numpy": _namespace(np, _NUMPY)}
"""What the modules ``math`` and ``numpy`` are inside a metric."""


def _of_vectors() -> types.ModuleType:
    names = {attribute: name for attribute, name in _NUMPY.items() if hasattr(np, attribute)}
    namespace = _namespace(np, {**names, **REDUCTIONS})
    linalg: Any = types.ModuleType("numpy.linalg")
    linalg.norm, namespace.linalg = STUBS["norm"], linalg  # type: ignore[attr-defined]
    return namespace


NUMPY_OF_VECTORS = _of_vectors()


def make_scratch(fill: float, *shape: float) -> Any:
    """Never executed: an array of the shape that `scratch.encode` made."""
    raise NotImplementedError


def put(array: Any, index: int, value: Any) -> int:
    """Never executed: assigns an entry of an array."""
    raise NotImplementedError


"""What ``numpy`` is in a function of whole vectors."""
_BUILTINS_OF_VECTORS = {builtins.len: "len", builtins.sum: "sum", builtins.any: "any", builtins.all: "all"}
_IDENTITIES_OF_VECTORS = {id(key): name for key, name in _BUILTINS_OF_VECTORS.items()} | {
    id(getattr(np, attribute)): name for attribute, name in REDUCTIONS.items()
} | {id(np.linalg.norm): "norm", id(make_scratch): "scratch", id(put): "put"}  # fmt: skip
METHODS = ("sum", "prod", "mean", "dot", "max", "min", "any", "all", "cumsum", "cumprod")
"""Those of an array that are functions of NumPy, too."""


def stub_of_vectors(value: object) -> Stub | None:
    """The stub of what only a function of whole vectors may call, or None."""
    name = _IDENTITIES_OF_VECTORS.get(id(value))
    return STUBS[name] if name else None


def builtin(name: str) -> Any:
    """What a builtin's name means inside a metric: a stub, or the builtin itself."""
    value = getattr(builtins, name)
    return stub_for(value) or value
