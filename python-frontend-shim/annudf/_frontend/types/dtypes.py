# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Which type an operation has: NumPy's rules (NEP 50), without silent float64.

Values are *strong*, with a NumPy dtype (coordinates, accumulators, captures, ``np.float32(...)``),
or *weak*, as Python's own numbers are: they take the type of what they meet. There is one
difference to NumPy: where it would widen integers to float64, the result is float32; float64
appears only where an operand is float64, and where weak numbers alone are computed with.
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable

import numpy as np


class Weak(enum.Enum):
    """Python's own types. They are no strings: to NumPy ``"int"`` equals the dtype int64."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"


Operand = np.dtype[np.generic] | Weak

F16, F32, F64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
BOOL, I32, I64, U64 = np.dtype(np.bool_), np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.uint64)

_BYTES_OF_INT32 = 4
_SAMPLE: dict[Weak, int | float] = {Weak.BOOL: False, Weak.INT: 0, Weak.FLOAT: 0.0}


class Refused(Exception):
    """An operation that has no meaning here; the text says why and what to write instead."""


def spell(operand: Operand) -> str:
    """How messages call a type."""
    return f"Python {operand.value}" if isinstance(operand, Weak) else str(operand)


def dtype_of(operand: Operand) -> np.dtype[np.generic]:
    """The dtype in which a value is held: weak numbers have 64 bits."""
    if isinstance(operand, Weak):
        return {Weak.BOOL: BOOL, Weak.INT: I64, Weak.FLOAT: F64}[operand]
    return operand


def is_bool(operand: Operand) -> bool:
    """Whether it is NumPy's or Python's bool."""
    return operand is Weak.BOOL if isinstance(operand, Weak) else operand.kind == "b"


def is_float(operand: Operand) -> bool:
    return operand is Weak.FLOAT if isinstance(operand, Weak) else operand.kind == "f"


def _narrowed(result: np.dtype[np.generic], *operands: Operand) -> np.dtype[np.generic]:
    declared = any(not isinstance(o, Weak) and o == F64 for o in operands)
    return F32 if result == F64 and not declared else result


def promote(a: Operand, b: Operand) -> Operand:
    """Common type of two operands of ``+ - *`` and the like."""
    if isinstance(a, Weak) and isinstance(b, Weak):
        return Weak.FLOAT if Weak.FLOAT in (a, b) else Weak.INT  # Python's bools are ints.
    left = _SAMPLE[a] if isinstance(a, Weak) else a
    right = _SAMPLE[b] if isinstance(b, Weak) else b
    result = np.result_type(left, right)
    mixed = not isinstance(a, Weak) and not isinstance(b, Weak)
    if mixed and result.kind == "f" and not is_float(a) and not is_float(b):
        raise Refused(f"{a} and {b} have no common integer type; convert one, e.g. np.int32(...)")
    return _narrowed(result, a, b)


def joined(a: Operand, b: Operand) -> Operand:
    """Type of a variable that has one of two types, on different paths.

    Raises
    ------
    Refused
        The value on one path would be rounded, as an int32 is in a float32.
    """
    if a is b:
        return a
    result = promote(a, b)
    for one in (a, b):
        wide = not isinstance(one, Weak) and one.kind in "iu" and one.itemsize >= _BYTES_OF_INT32
        if wide and result == F32:
            raise Refused(f"{spell(one)} and {spell(b if one == a else a)} on different paths; convert one")
    return result


def as_numpy(*operands: Operand) -> tuple[Operand, ...]:
    """What NumPy's functions take: Python's ints and truth values, where there is nothing else, are int64 and bool."""
    alone = all(one is Weak.INT or one is Weak.BOOL for one in operands)
    return tuple(map(dtype_of, operands)) if alone else operands


def floating(operand: Operand) -> Operand:
    """Type of a function such as sqrt: floats keep theirs, integers become float32."""
    if isinstance(operand, Weak):
        return Weak.FLOAT
    return operand if operand.kind == "f" else F32


def divide(a: Operand, b: Operand) -> Operand:
    """Type of ``/``."""
    return floating(promote(a, b))


def compared(a: Operand, b: Operand) -> np.dtype[np.generic]:
    """The type in which a comparison is exact: NumPy compares values, not bits."""
    kinds = {"float" if is_float(a) else "integer", "float" if is_float(b) else "integer"}
    if kinds == {"integer"}:
        if U64 in (a, b) and not (a == b):
            raise Refused(
                f"uint64 can be compared with uint64 only, got {spell(a)} and {spell(b)}; convert the other by "
                "np.uint64(...), or the uint64 by np.int64(...)"
            )
        return U64 if a == b == U64 else I64
    if isinstance(a, Weak) and isinstance(b, Weak):
        return F64
    for strong, other in ((a, b), (b, a)):
        # A strong float keeps its precision against Python's numbers; everything else is exact in float64.
        if not isinstance(strong, Weak) and strong.kind == "f" and isinstance(other, Weak):
            return strong
    if kinds == {"float"}:
        return np.result_type(a, b) if not isinstance(a, Weak) and not isinstance(b, Weak) else F64
    return F64


def returned(value: Operand, to: np.dtype[np.generic], what: str) -> None:
    """Checks that a hook may return `value` where `to` is declared (NumPy's same-kind casts)."""
    if isinstance(value, Weak):
        allowed = value is not Weak.FLOAT or to.kind == "f"
    else:
        # An unsigned accumulator takes the signed results of its own arithmetic: both wrap around.
        allowed = np.can_cast(value, to, "same_kind") or (value.kind in "iu" and to.kind in "iu")
    if not allowed:
        raise Refused(
            f"{what} is {to}, but the function returns {spell(value)}: declare accumulator='float32',"
            f" or convert what it returns, e.g. np.{to}(...)"
        )


ARITHMETIC: dict[Callable[..., object], str] = {
    operator.add: "+", operator.sub: "-", operator.mul: "*",
    operator.truediv: "/", operator.floordiv: "//", operator.mod: "%", operator.pow: "**",
}  # fmt: skip
BITWISE: dict[Callable[..., object], str] = {
    operator.and_: "&", operator.or_: "|", operator.xor: "^", operator.lshift: "<<", operator.rshift: ">>",
}  # fmt: skip
COMPARISONS: dict[Callable[..., object], str] = {
    operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.eq: "==", operator.ne: "!=",
}  # fmt: skip
INPLACE: dict[Callable[..., object], Callable[..., object]] = {
    operator.iadd: operator.add, operator.isub: operator.sub, operator.imul: operator.mul,
    operator.itruediv: operator.truediv, operator.ifloordiv: operator.floordiv, operator.imod: operator.mod,
    operator.ipow: operator.pow, operator.iand: operator.and_, operator.ior: operator.or_,
    operator.ixor: operator.xor, operator.ilshift: operator.lshift, operator.irshift: operator.rshift,
}  # fmt: skip


def arithmetic(fn: Callable[..., object], a: Operand, b: Operand) -> Operand:
    """Result type of a binary operator that is no comparison."""
    both_bool = is_bool(a) and is_bool(b) and not (isinstance(a, Weak) and isinstance(b, Weak))
    if fn is operator.truediv:
        return divide(a, b)
    logical = fn in (operator.and_, operator.or_, operator.xor)
    if logical and is_bool(a) and is_bool(b):
        return BOOL if both_bool else Weak.BOOL
    if fn in BITWISE:
        result = promote(a, b)
        if is_float(result):
            raise Refused(f"{BITWISE[fn]} needs integers, got {spell(a)} and {spell(b)}")
        if both_bool and fn in (operator.lshift, operator.rshift):
            return np.dtype(np.int8)
        return result
    if both_bool and fn is operator.sub:
        raise Refused("NumPy cannot subtract booleans; use ^, or convert with np.float32(...)")
    if both_bool and fn in (operator.floordiv, operator.mod, operator.pow):
        return np.dtype(np.int8)
    return promote(a, b)
