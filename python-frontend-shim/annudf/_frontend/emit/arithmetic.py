# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""MLIR for operations on values of known type: what NumPy computes, op by op.

Formulas for ``//`` and ``%`` of floats follow numpy/core/src/npymath (``npy_divmod``).
"""

from __future__ import annotations

import math as pymath
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba_cuda_mlir._mlir.dialects import arith
from numba_cuda_mlir._mlir.dialects import math as mlir_math

from annudf._frontend.numba.ncm import CONTEXT, ir
from annudf._frontend.types import dtypes
from annudf._frontend.types.dtypes import BOOL, F16, F32, F64, I32, I64, Operand, Refused, Weak
from annudf._frontend.types.dtypes import dtype_of as dtype_of
from annudf._frontend.types.numba_types import mlir_type

Dtype = np.dtype[Any]
_FLOAT_PREDICATES = {"<": "OLT", "<=": "OLE", ">": "OGT", ">=": "OGE", "==": "OEQ", "!=": "UNE"}
_SIGNED_PREDICATES = {"<": "slt", "<=": "sle", ">": "sgt", ">=": "sge", "==": "eq", "!=": "ne"}
_UNSIGNED_PREDICATES = {"<": "ult", "<=": "ule", ">": "ugt", ">=": "uge", "==": "eq", "!=": "ne"}
_MAX_POWER = 64
"""Largest constant exponent that is unrolled to multiplications."""


@dataclass(frozen=True, slots=True)
class Value:
    """An SSA value and its type; `constant` if it is a Python number known here."""

    ssa: Any
    operand: Operand
    constant: int | float | None = None


def constant_of(ssa: Any) -> int | float | None:
    """The number behind ``arith.constant``, or None."""
    owner = getattr(ssa, "owner", None)
    operation: Any = getattr(owner, "operation", None)  # A block for an argument.
    if operation is None or operation.name != "arith.constant":
        return None
    attribute = operation.attributes["value"]
    if isinstance(attribute, ir.BoolAttr):
        return None
    number: int | float = attribute.value
    return number


def constant(dtype: Dtype, number: float | int) -> Any:
    """``arith.constant``."""
    if dtype.kind != "f":
        bits = 1 if dtype.kind == "b" else 8 * dtype.itemsize
        number = int(number) & ((1 << bits) - 1)
        if bits > 1 and number >= 1 << (bits - 1):
            number -= 1 << bits
        return arith.ConstantOp(mlir_type(dtype), ir.IntegerAttr.get(mlir_type(dtype), number)).result
    return arith.ConstantOp(mlir_type(dtype), ir.FloatAttr.get(mlir_type(dtype), float(number))).result


def convert(value: Value, to: Dtype) -> Any:
    """`value` as `to`: Python numbers take the type of what they meet, casts are NumPy's."""
    source = dtype_of(value.operand)
    if isinstance(value.operand, Weak) and value.constant is not None:
        if value.operand is Weak.INT and to.kind in "iu":
            limits = np.iinfo(to)
            if not limits.min <= value.constant <= limits.max:
                raise Refused(
                    f"the number {value.constant} does not fit {to} ({limits.min} to {limits.max}); convert to a wider "
                    "type"
                )
            return constant(to, value.constant)
        if to.kind == "f":
            with np.errstate(over="ignore"):
                return constant(to, float(np.dtype(to).type(value.constant)))
    if source == to:
        return value.ssa
    result = mlir_type(to)
    if to.kind == "b":
        return truth(value)
    if source.kind == "f":
        if to.kind == "f":
            return (arith.extf if to.itemsize > source.itemsize else arith.truncf)(result, value.ssa)
        wide = convert(value, F32) if source == F16 else value.ssa
        return (arith.fptosi if to.kind == "i" else arith.fptoui)(result, wide)
    if to.kind == "f":
        if to == F16 and source.itemsize > 1:  # One rounding, through a type that holds the integer.
            exact = F32 if source.itemsize < 4 else F64
            return arith.truncf(result, convert(value, exact))
        return (arith.sitofp if source.kind == "i" else arith.uitofp)(result, value.ssa)
    if source.kind == "b":
        return arith.extui(result, value.ssa)
    if to.itemsize == source.itemsize:
        return value.ssa
    if to.itemsize < source.itemsize:
        return arith.trunci(result, value.ssa)
    return (arith.extsi if source.kind == "i" else arith.extui)(result, value.ssa)


def truth(value: Value) -> Any:
    """``bool(value)``: NaN is true, as in Python."""
    dtype = dtype_of(value.operand)
    if dtype == BOOL:
        return value.ssa
    if dtype.kind == "f":
        wide = F32 if dtype == F16 else dtype
        return arith.cmpf(arith.CmpFPredicate.UNE, convert(value, wide), constant(wide, 0.0))
    return arith.cmpi(arith.CmpIPredicate.ne, value.ssa, constant(dtype, 0))


def compare(symbol: str, a: Value, b: Value) -> Any:
    """A comparison of values, exact for every pair of types."""
    dtype = dtypes.compared(a.operand, b.operand)
    if {a.operand, b.operand} == {Weak.INT, Weak.FLOAT}:
        return _compare_pythons(symbol, a, b)
    wide = F32 if dtype == F16 else dtype
    # A weak number takes float16 first, as NumPy rounds it before it compares.
    left, right = (convert(Value(convert(v, dtype), dtype), wide) for v in (a, b))
    return _compare(symbol, wide, left, right)


def _compare(symbol: str, dtype: Dtype, left: Any, right: Any) -> Any:
    if dtype.kind == "f":
        return arith.cmpf(getattr(arith.CmpFPredicate, _FLOAT_PREDICATES[symbol]), left, right)
    names = _SIGNED_PREDICATES if dtype.kind == "i" else _UNSIGNED_PREDICATES
    return arith.cmpi(getattr(arith.CmpIPredicate, names[symbol]), left, right)


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def _compare_pythons(symbol: str, a: Value, b: Value) -> Any:
    """A Python int and a Python float, compared as exactly as Python does: not every int is a float64."""
    if a.operand is Weak.FLOAT:
        a, b, symbol = b, a, _MIRRORED[symbol]
    rounded, other = convert(a, F64), convert(b, F64)
    if a.constant is not None and int(float(a.constant)) == a.constant:
        return _compare(symbol, F64, rounded, other)
    end = constant(F64, 2.0**63)
    above = arith.cmpf(arith.CmpFPredicate.OEQ, other, end)  # No int is, though the largest are rounded to it.
    rounded = arith.select(above, constant(F64, 0.0), rounded)
    # Rounding keeps the order, so only ints that are rounded to the float itself are left to compare.
    same = arith.cmpf(arith.CmpFPredicate.OEQ, rounded, other)
    whole = _compare(symbol, I64, convert(a, I64), arith.fptosi(mlir_type(I64), other))
    return arith.select(same, whole, _compare(symbol, F64, rounded, other))


def on_path(value: Value, to: Dtype) -> Any:
    """`value` as the type that it has on all paths. Arithmetic wraps around; what is only chosen must not."""
    if value.operand is Weak.INT and value.constant is None and to.kind in "iu" and to not in (I32, I64):
        raise Refused(
            f"a Python int that is computed may not fit {to}, its type on another path; convert one, e.g. np.int32(...)"
        )
    return convert(value, to)


def in_float(dtype: Dtype, function: Callable[..., Any], *values: Any) -> Any:
    """A floating-point function; float16 is computed in float32 and rounded once, as NumPy does."""
    if dtype != F16:
        return function(*values)
    wide = [arith.extf(mlir_type(F32), v) for v in values]
    return arith.truncf(mlir_type(F16), function(*wide))


def binary(fn: Callable[..., object], a: Value, b: Value) -> Any:
    """A binary operator of ``operator`` that is no comparison."""
    result = dtype_of(dtypes.arithmetic(fn, a.operand, b.operand))
    if fn is operator.pow:
        return power(result, a, b)
    left = convert(a, result)
    if fn in (operator.lshift, operator.rshift):
        return _shift(fn, result, left, b)
    right = convert(b, result)
    if result == BOOL:  # NumPy: + and | are or, * and & are and.
        logical = {
            operator.add: arith.ori,
            operator.mul: arith.andi,
            operator.or_: arith.ori,
            operator.and_: arith.andi,
        }
        return logical.get(fn, arith.xori)(left, right)
    if result.kind == "f":
        simple = {
            operator.add: arith.addf,
            operator.sub: arith.subf,
            operator.mul: arith.mulf,
            operator.truediv: arith.divf,
        }
        if fn in simple:
            return in_float(result, simple[fn], left, right)
        which = 0 if fn is operator.floordiv else 1
        return in_float(result, lambda x, y: _float_divmod(F32 if result == F16 else result, x, y)[which], left, right)
    integer = {operator.add: arith.addi, operator.sub: arith.subi, operator.mul: arith.muli, operator.and_: arith.andi,
               operator.or_: arith.ori, operator.xor: arith.xori}  # fmt: skip
    if fn in integer:
        return integer[fn](left, right)
    return _integer_divmod(result, left, right)[0 if fn is operator.floordiv else 1]


def _shift(fn: Callable[..., object], dtype: Dtype, left: Any, amount: Value) -> Any:
    bits = 8 * dtype.itemsize
    if amount.constant is not None and not 0 <= amount.constant < bits:
        raise Refused(f"shifts by {amount.constant}; shift by 0 to {bits - 1}")
    by = convert(amount, dtype)
    if fn is operator.lshift:
        return arith.shli(left, by)
    return (arith.shrsi if dtype.kind == "i" else arith.shrui)(left, by)


def _integer_divmod(dtype: Dtype, a: Any, b: Any) -> tuple[Any, Any]:
    """Whether a divisor that is no constant may be 0 is for annudf-verify-abi to say."""
    divisor = constant_of(b)
    if divisor == 0:
        raise Refused("an integer cannot be divided by 0; divide in floating point, e.g. np.float32(x) // y")
    if dtype.kind == "u":
        return arith.divui(a, b), arith.remui(a, b)
    zero, one = constant(dtype, 0), constant(dtype, 1)
    if divisor == -1:
        return arith.subi(zero, a), zero
    predicate = arith.CmpIPredicate
    quotient, rest = arith.divsi(a, b), arith.remsi(a, b)
    # Python rounds down, the machine towards zero. In this form the verifier sees that the rest of a
    # divisor that is not negative is from 0 to the divisor - 1.
    moved, fewer = arith.addi(rest, b), arith.subi(quotient, one)

    def rounded_down(wrong_sign: Any) -> tuple[Any, Any]:
        wrong = arith.cmpi(wrong_sign, rest, zero)
        return arith.select(wrong, fewer, quotient), arith.select(wrong, moved, rest)

    if divisor is not None:
        return rounded_down(predicate.slt if divisor > 0 else predicate.sgt)
    is_negative = arith.cmpi(predicate.slt, b, zero)
    below, above = rounded_down(predicate.sgt), rounded_down(predicate.slt)
    return arith.select(is_negative, below[0], above[0]), arith.select(is_negative, below[1], above[1])


def _float_divmod(dtype: Dtype, a: Any, b: Any) -> tuple[Any, Any]:
    zero, one, half = (constant(dtype, c) for c in (0.0, 1.0, 0.5))
    predicate = arith.CmpFPredicate
    mod = arith.remf(a, b)
    div = arith.divf(arith.subf(a, mod), b)
    nonzero = arith.cmpf(predicate.UNE, mod, zero)
    differs = arith.xori(arith.cmpf(predicate.OLT, b, zero), arith.cmpf(predicate.OLT, mod, zero))
    adjust = arith.andi(nonzero, differs)
    div = arith.select(adjust, arith.subf(div, one), div)
    rest = arith.select(adjust, arith.addf(mod, b), mod)
    rest = arith.select(nonzero, rest, mlir_math.copysign(zero, b))
    floor = mlir_math.floor(div)
    up = arith.cmpf(predicate.OGT, arith.subf(div, floor), half)
    floor = arith.select(up, arith.addf(floor, one), floor)
    quotient = arith.divf(a, b)
    floor = arith.select(arith.cmpf(predicate.UNE, div, zero), floor, mlir_math.copysign(zero, quotient))
    by_zero = arith.cmpf(predicate.OEQ, b, zero)
    return arith.select(by_zero, quotient, floor), arith.select(by_zero, mod, rest)


def power(dtype: Dtype, base: Value, exponent: Value) -> Any:
    """``base ** exponent`` of the type that the result has."""
    number = exponent.constant
    if dtype.kind == "f":
        x = convert(base, dtype)
        if base.constant == 2:
            return in_float(dtype, mlir_math.exp2, convert(exponent, dtype))
        if number is not None and abs(number) <= _MAX_POWER and 2 * number == int(2 * number):
            wide = F32 if dtype == F16 else dtype
            return in_float(dtype, lambda v: _float_power(wide, v, number), x)
        return in_float(dtype, mlir_math.powf, x, convert(exponent, dtype))
    if number is None or not 0 <= number <= _MAX_POWER or number != int(number):
        given = "an exponent that is not constant" if number is None else f"exponent {number}"
        raise Refused(
            f"an integer to the power of {given}; use a constant from 0 to {_MAX_POWER}, or np.float32(x) ** y"
        )
    return _product(arith.muli, convert(base, dtype), constant(dtype, 1), int(number))


def _product(multiply: Callable[..., Any], factor: Any, one: Any, count: int) -> Any:
    """`count` factors, by repeated squaring."""
    result = None
    while count:
        if count & 1:
            result = factor if result is None else multiply(result, factor)
        count >>= 1
        if count:
            factor = multiply(factor, factor)
    return one if result is None else result


def _float_power(dtype: Dtype, x: Any, exponent: float) -> Any:
    """``x ** exponent`` for multiples of a half: products and a square root, fifty times as fast as pow.

    Each product rounds once, so n factors are within n - 1 units in the last place; of negative
    exponents it is the inverse, which has less digits where the power itself is subnormal, and is 0 where that
    overflows. Zeros, infinities and NaN give what pow gives.
    """
    one = constant(dtype, 1.0)
    whole, half = divmod(abs(exponent), 1)
    if half:
        # pow(-inf, 0.5) is inf and pow(-0.0, 0.5) is 0.0, but not so the roots.
        infinite = arith.cmpf(arith.CmpFPredicate.OEQ, x, constant(dtype, -pymath.inf))
        root = arith.select(infinite, constant(dtype, pymath.inf), mlir_math.absf(mlir_math.sqrt(x)))
        power = arith.mulf(_product(arith.mulf, mlir_math.absf(x), one, int(whole)), root) if whole else root
    else:
        power = _product(arith.mulf, x, one, int(whole))
    return arith.divf(one, power) if exponent < 0 else power


def number(value: Value) -> Value:
    """A Python bool as the int that it is in arithmetic."""
    return Value(convert(value, I64), Weak.INT) if value.operand is Weak.BOOL else value


def negative(value: Value) -> Any:
    """``-value``."""
    value = number(value)
    dtype = dtype_of(value.operand)
    if dtype.kind == "f":
        return in_float(dtype, arith.negf, value.ssa)
    return arith.subi(constant(dtype, 0), value.ssa)


def inverted(value: Value) -> Any:
    """``~value``."""
    value = number(value)
    dtype = dtype_of(value.operand)
    ones = constant(dtype, 1 if dtype == BOOL else -1)
    return arith.xori(value.ssa, ones)


def absolute(dtype: Dtype, x: Any) -> Any:
    """``abs``: of the smallest integer itself, as in NumPy."""
    if dtype.kind == "f":
        return in_float(dtype, mlir_math.absf, x)
    return mlir_math.absi(x) if dtype.kind == "i" else x


def sign(dtype: Dtype, x: Any) -> Any:
    """``np.sign``: NaN stays NaN."""
    if dtype == F16:
        return arith.truncf(mlir_type(F16), sign(F32, arith.extf(mlir_type(F32), x)))
    zero, one = constant(dtype, 0), constant(dtype, 1)
    positive = _compare(">", dtype, x, zero)
    if dtype.kind == "u":
        return arith.select(positive, one, zero)
    rest = arith.select(_compare("<", dtype, x, zero), constant(dtype, -1), zero)
    result = arith.select(positive, one, rest)
    if dtype.kind == "f":
        result = arith.select(arith.cmpf(arith.CmpFPredicate.UNO, x, x), x, result)
    return result


def python_extreme(symbol: str, dtype: Dtype, values: list[Value]) -> Any:
    """``max`` and ``min`` as Python defines them: the first wins ties, and NaN compares as false."""
    best = values[0]
    for value in values[1:]:
        better = compare(symbol, value, best)
        common = dtype_of(dtypes.promote(best.operand, value.operand))
        best = Value(arith.select(better, on_path(value, common), on_path(best, common)), common)
    return on_path(best, dtype)


def numpy_extreme(name: str, dtype: Dtype, a: Any, b: Any) -> Any:
    """``maximum`` and ``minimum`` (NaN wins), ``fmax`` and ``fmin`` (NaN loses)."""
    if dtype.kind == "f":
        functions = {
            "maximum": arith.maximumf,
            "minimum": arith.minimumf,
            "fmax": arith.maxnumf,
            "fmin": arith.minnumf,
        }
        return in_float(dtype, functions[name], a, b)
    if dtype.kind == "b":
        return (arith.ori if "max" in name else arith.andi)(a, b)
    signed = dtype.kind == "i"
    if "max" in name:
        return (arith.maxsi if signed else arith.maxui)(a, b)
    return (arith.minsi if signed else arith.minui)(a, b)


def hypot(dtype: Dtype, a: Any, b: Any) -> Any:
    """``sqrt(a² + b²)`` without overflow on the way."""
    if dtype == F16:
        wide = hypot(F32, *(arith.extf(mlir_type(F32), v) for v in (a, b)))
        return arith.truncf(mlir_type(F16), wide)
    if dtype == F32:  # Exact squares, and their sum cannot overflow.
        x, y = (arith.extf(mlir_type(F64), v) for v in (a, b))
        root = mlir_math.sqrt(arith.addf(arith.mulf(x, x), arith.mulf(y, y)))
        return arith.truncf(mlir_type(F32), root)
    x, y = mlir_math.absf(a), mlir_math.absf(b)
    large, small = arith.maxnumf(x, y), arith.minnumf(x, y)
    ratio = arith.divf(small, large)
    scaled = arith.mulf(large, mlir_math.sqrt(arith.addf(constant(dtype, 1.0), arith.mulf(ratio, ratio))))
    predicate = arith.CmpFPredicate
    edge = arith.ori(
        arith.cmpf(predicate.OEQ, large, constant(dtype, 0.0)),
        arith.cmpf(predicate.OEQ, large, constant(dtype, pymath.inf)),
    )
    return arith.select(edge, large, scaled)


def index(value: Any) -> Any:
    """An i64 as MLIR's index."""
    return arith.index_cast(ir.IndexType.get(CONTEXT), value)
