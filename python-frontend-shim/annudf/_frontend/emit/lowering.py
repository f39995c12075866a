# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Lowering of a metric's operations to MLIR: registration with numba-cuda-mlir.

Operations on a metric's own types, and the stubs of ``functions``, are lowered here and by nothing
else. ``ctx`` becomes ops of the annudf dialect; docs/spec/frontend-form.md describes the result.
"""

from __future__ import annotations

import math as pymath
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba_cuda_mlir._mlir.dialects import arith, memref
from numba_cuda_mlir._mlir.dialects import math as mlir_math
from numba_cuda_mlir.extending import lower_cast, lowering_registry
from numba_cuda_mlir.lowering_utilities import IterResult, RangeObject

from annudf._frontend.emit import arithmetic, special
from annudf._frontend.emit.arithmetic import Value, constant, constant_of, convert, dtype_of, in_float
from annudf._frontend.numba.ncm import CONTEXT, active, ir, types
from annudf._frontend.source import functions
from annudf._frontend.source.functions import STUBS
from annudf._frontend.source.signature import INDICES
from annudf._frontend.types import dtypes
from annudf._frontend.types.dtypes import BOOL, F32, I64, Refused, Weak
from annudf._frontend.types.numba_types import (
    LOADED,
    NUMPY,
    Array,
    Capture,
    Context,
    Elementwise,
    Number,
    Scratch,
    Vector,
    capture_type_text,
    mlir_type,
    operand_of,
    read_as,
)

Emit = Callable[..., Any]
Dtype = np.dtype[Any]


class LoweringRefused(Exception):
    """Raised through numba-cuda-mlir; the message is in ``active.refusals``."""


@contextmanager
def refusing() -> Iterator[None]:
    """Refusals of `arithmetic` as those of the user's expression."""
    try:
        yield
    except Refused as refused:
        active.refusals.append(str(refused))
        raise LoweringRefused(str(refused)) from refused


def value_of_variable(builder: Any, variable: Any) -> Value:
    """A number that a variable of numba-cuda-mlir holds."""
    return _value_of(builder.load_var(variable), builder.get_numba_type(variable.name))


def _value_of(ssa: Any, numba_type: Any) -> Value:
    operand = operand_of(numba_type)
    assert operand is not None, f"{ssa} of type {numba_type} is no number"
    ssa = getattr(ssa, "result", ssa)
    if dtypes.is_bool(operand) and str(ssa.type) == "i8":  # As numba-cuda-mlir keeps booleans in slots.
        ssa = arith.cmpi(arith.CmpIPredicate.ne, ssa, constant(np.dtype(np.int8), 0))
    return Value(ssa, operand, constant_of(ssa))


class Elements:
    """An expression of whole vectors: what it is at an index. It is computed where that is asked for."""

    def __init__(self, at: Callable[[Any], Value]) -> None:
        place = ir.Location.current

        def located(index: Any) -> Value:
            with place, refusing():
                return at(index)

        self.at = located


def elements_of(builder: Any, variable: Any) -> Callable[[Any], Value]:
    """What a number, or the entry of an array, is at an index."""
    numba_type = builder.get_numba_type(variable.name)
    loaded = builder.load_var(variable)
    if isinstance(numba_type, Elementwise):
        at: Callable[[Any], Value] = loaded.at
        return at
    if isinstance(numba_type, Vector):
        dtype = NUMPY[numba_type.word]
        return lambda index: Value(operation("annudf.at", mlir_type(dtype), [loaded, index]), dtype)
    if isinstance(numba_type, Capture):
        element = numba_type.element
        return lambda index: Value(load_entry(element, [loaded, index]), read_as(element))
    if isinstance(numba_type, Scratch):
        of_array = numba_type.dtype
        return lambda index: Value(operation("annudf.get", mlir_type(of_array), [loaded, index]), of_array)
    value = _value_of(loaded, numba_type)
    return lambda index: value


def _lower(key: object, emit: Emit, *signature: Any) -> None:
    """Registers `emit(values, result dtype)`, whose result is stored."""

    def implementation(builder: Any, target: Any, args: Any, kws: Any) -> None:
        made = builder.get_numba_type(target.name)
        if isinstance(made, Elementwise):
            parts, element = [elements_of(builder, a) for a in args], made.element
            computed = Elements(lambda i: Value(emit([part(i) for part in parts], dtype_of(element)), element))
            builder.store_var(target, computed)
            return
        values = [value_of_variable(builder, a) for a in args]
        result = operand_of(builder.get_numba_type(target.name))
        assert result is not None
        with refusing():
            builder.store_var(target, emit(values, dtype_of(result)))

    lowering_registry.lower(key, *signature)(implementation)


_PAIRS = (
    (Number, Number), (Number, types.Any), (types.Any, Number),
    *((one, other) for one in (Array, Capture) for other in (Array, Capture, Number)),
    *((Number, one) for one in (Array, Capture)),
    *(pair for one in (Array, Capture) for pair in ((one, types.Any), (types.Any, one))),
)  # fmt: skip
_ONE = (Number, Array, Capture)


def _operators() -> None:
    def binary(fn: Callable[..., object]) -> Emit:
        return lambda v, result: convert(_typed(fn, v), result)

    def _typed(fn: Callable[..., object], v: list[Value]) -> Value:
        return Value(arithmetic.binary(fn, *v), dtype_of(dtypes.arithmetic(fn, v[0].operand, v[1].operand)))

    plain = {**dtypes.ARITHMETIC, **dtypes.BITWISE}
    for fn in [*plain, *dtypes.INPLACE]:
        for pair in _PAIRS:
            _lower(fn, binary(dtypes.INPLACE.get(fn, fn)), *pair)
    for fn, symbol in dtypes.COMPARISONS.items():
        for pair in _PAIRS:
            _lower(fn, lambda v, result, symbol=symbol: arithmetic.compare(symbol, *v), *pair)
    for one in _ONE:
        _lower(operator.neg, lambda v, result: arithmetic.negative(v[0]), one)
        _lower(operator.pos, lambda v, result: arithmetic.number(v[0]).ssa, one)
    for name in ("invert", "np_invert"):
        _stub(name, lambda v, result: arithmetic.inverted(v[0]))
    _lower(operator.not_, lambda v, result: _not(v[0]), Number)
    _lower(bool, lambda v, result: arithmetic.truth(v[0]), Number)


def _not(value: Value) -> Any:
    return arith.xori(arithmetic.truth(value), constant(BOOL, 1))


def _stub(name: str, emit: Emit) -> None:
    ufunc = name in functions.UFUNCS
    _lower(STUBS[name], lambda v, result: emit(_as_numpy(v) if ufunc else v, result), types.VarArg(types.Any))


def _as_numpy(values: list[Value]) -> list[Value]:
    operands = dtypes.as_numpy(*(one.operand for one in values))
    return [Value(one.ssa, to, one.constant) for one, to in zip(values, operands, strict=True)]


_FLOAT_UNARY: dict[str, Callable[[Any], Any]] = {
    "sqrt": mlir_math.sqrt, "exp": mlir_math.exp, "exp2": mlir_math.exp2, "expm1": mlir_math.expm1,
    "log": mlir_math.log, "log2": mlir_math.log2, "log10": mlir_math.log10, "log1p": mlir_math.log1p,
    "sin": mlir_math.sin, "cos": mlir_math.cos,
    "tan": mlir_math.tan, "arcsin": mlir_math.asin, "arccos": mlir_math.acos, "arctan": mlir_math.atan,
    "sinh": mlir_math.sinh, "cosh": mlir_math.cosh, "tanh": mlir_math.tanh, "arcsinh": mlir_math.asinh,
    "arccosh": mlir_math.acosh, "arctanh": mlir_math.atanh, "cbrt": mlir_math.cbrt, "erf": mlir_math.erf,
    "erfc": mlir_math.erfc,
    "rint": mlir_math.roundeven,
}  # fmt: skip
_INT_UNARY = {
    "floor": mlir_math.floor,
    "ceil": mlir_math.ceil,
    "trunc": mlir_math.trunc,
    "round": mlir_math.roundeven,
}
_SAME_ROUNDED = {"np_floor": mlir_math.floor, "np_ceil": mlir_math.ceil, "np_trunc": mlir_math.trunc}
_PREDICATES = {"isnan": mlir_math.isnan, "isinf": mlir_math.isinf, "isfinite": mlir_math.isfinite}


def _unary() -> None:
    for name, fn in _FLOAT_UNARY.items():
        _stub(name, lambda v, result, fn=fn: in_float(result, fn, convert(v[0], result)))
    for name, fn in {"gamma": special.gamma, "lgamma": special.log_gamma}.items():
        _stub(name, lambda v, result, fn=fn: convert(Value(fn(convert(v[0], dtypes.F64)), dtypes.F64), result))
    _stub("math_log", lambda v, result: _logarithm(result, *v))
    scaled = {"radians": pymath.pi / 180, "degrees": 180 / pymath.pi}
    for name, factor in scaled.items():
        _stub(name, lambda v, result, f=factor: arithmetic.binary(
            operator.mul, Value(convert(v[0], result), result), Value(None, Weak.FLOAT, f)))  # fmt: skip
    _stub("reciprocal", lambda v, result: arithmetic.binary(
        operator.truediv, Value(None, Weak.FLOAT, 1.0), Value(convert(v[0], result), result)))  # fmt: skip
    for name, fn in _INT_UNARY.items():
        _stub(name, lambda v, result, fn=fn: _to_int(v[0], fn))
    for name, fn in _SAME_ROUNDED.items():
        _stub(name, lambda v, result, fn=fn: v[0].ssa if result.kind != "f" else in_float(result, fn, v[0].ssa))
    for name, fn in _PREDICATES.items():
        for one in (name, f"math_{name}"):
            _stub(one, lambda v, result, fn=fn: _predicate(v[0], fn))
    for name in ("abs", "np_abs"):
        _stub(name, lambda v, result: arithmetic.absolute(result, arithmetic.number(v[0]).ssa))
    _stub("fabs", lambda v, result: arithmetic.absolute(result, convert(v[0], result)))
    _stub("sign", lambda v, result: arithmetic.sign(result, arithmetic.number(v[0]).ssa))
    for name in ("bitwise_count", "bit_count"):
        _stub(name, lambda v, result: _bitwise_count(arithmetic.number(v[0]), result))
    _stub("square", lambda v, result: arithmetic.binary(operator.mul, v[0], v[0]))
    _stub("negative", lambda v, result: arithmetic.negative(v[0]))
    _stub("positive", lambda v, result: arithmetic.number(v[0]).ssa)
    _stub("logical_not", lambda v, result: _not(v[0]))
    for name in functions.CASTS:
        _stub(name, lambda v, result: convert(v[0], result))
    _stub("int", lambda v, result: convert(v[0], I64))
    _stub("float", lambda v, result: convert(v[0], result))
    _stub("bool", lambda v, result: arithmetic.truth(v[0]))


def _logarithm(dtype: Dtype, value: Value, base: Value | None = None) -> Any:
    """``math.log``: with a base a quotient, as in Python, but exact where the base is 2 or 10."""
    exact: dict[float, Callable[[Any], Any]] = {2: mlir_math.log2, 10: mlir_math.log10}
    number = None if base is None else base.constant
    function: Callable[[Any], Any] = mlir_math.log if number is None else exact.get(number, mlir_math.log)
    result = in_float(dtype, function, convert(value, dtype))
    if base is None or number in exact:
        return result
    if number is not None and number > 0:
        return arithmetic.binary(operator.truediv, Value(result, dtype), Value(None, Weak.FLOAT, pymath.log(number)))
    return in_float(dtype, lambda a, b: arith.divf(a, mlir_math.log(b)), result, convert(base, dtype))


def _bitwise_count(value: Value, result: Dtype) -> Any:
    """NumPy counts the bits of the absolute value."""
    dtype = dtype_of(value.operand)
    bits = mlir_math.ctpop(arithmetic.absolute(dtype, value.ssa))
    return convert(Value(bits, np.dtype(f"u{dtype.itemsize}")), result)


def _wide(value: Value) -> Any:
    """A floating-point value in a type for which every function is defined."""
    dtype = dtype_of(value.operand)
    return convert(value, F32) if dtype == dtypes.F16 else value.ssa


def _to_int(value: Value, fn: Callable[[Any], Any]) -> Any:
    if not dtypes.is_float(value.operand):
        return convert(value, I64)
    return arith.fptosi(mlir_type(I64), fn(_wide(value)))


def _predicate(value: Value, fn: Callable[[Any], Any]) -> Any:
    if not dtypes.is_float(value.operand):
        return constant(BOOL, fn is mlir_math.isfinite)
    return fn(_wide(value))


def _binary_and_more() -> None:
    both = {"arctan2": mlir_math.atan2, "copysign": mlir_math.copysign, "fmod": arith.remf}
    for name, fn in both.items():
        _stub(name, lambda v, result, fn=fn: in_float(result, fn, *(convert(x, result) for x in v)))
    _stub("hypot", lambda v, result: arithmetic.hypot(result, *(convert(x, result) for x in v)))
    _stub("math_pow", lambda v, result: arithmetic.power(result, *v))
    for name, symbol in functions.OPERATORS.items():
        _stub(name, lambda v, result, symbol=symbol: arithmetic.binary(symbol, *v))
    _stub("max", lambda v, result: arithmetic.python_extreme(">", result, v))
    _stub("min", lambda v, result: arithmetic.python_extreme("<", result, v))
    for name in ("maximum", "minimum", "fmax", "fmin"):
        _stub(
            name,
            lambda v, result, name=name: arithmetic.numpy_extreme(name, result, *(convert(x, result) for x in v)),
        )
    _stub(
        "where",
        lambda v, result: arith.select(arithmetic.truth(v[0]), *(convert(one, result) for one in _as_numpy(v[1:]))),
    )
    _stub("clip", lambda v, result: _clip(result, *(convert(x, result) for x in v)))
    _stub("fma", lambda v, result: in_float(result, mlir_math.fma, *(convert(x, result) for x in v)))


def _clip(dtype: Dtype, x: Any, low: Any, high: Any) -> Any:
    return arithmetic.numpy_extreme("minimum", dtype, arithmetic.numpy_extreme("maximum", dtype, x, low), high)


class _CountedRange(RangeObject):
    """``range`` as one counter, which the import pass recognises: no error code, no trip count."""

    def __init__(self, builder: Any, start: Any, stop: Any, step: int) -> None:
        self._stop, self._step, self._builder = stop, step, builder
        slot = ir.MemRefType.get([1], mlir_type(I64))
        with builder.alloca_insertion_point():
            self._counter = memref.alloca(slot, [], [])
        memref.store(start, self._counter, [arith.constant(ir.IndexType.get(CONTEXT), 0)])

    def next(self) -> Any:
        zero = arith.constant(ir.IndexType.get(CONTEXT), 0)
        current = memref.load(self._counter, [zero])
        predicate = arith.CmpIPredicate.slt if self._step > 0 else arith.CmpIPredicate.sgt
        more = arith.cmpi(predicate, current, self._stop)
        memref.store(arith.addi(current, constant(I64, self._step)), self._counter, [zero])
        return IterResult(current, more)


def _range() -> None:
    def implementation(builder: Any, target: Any, args: Any, kws: Any) -> None:
        values = [value_of_variable(builder, a) for a in args]
        bounds = [v.ssa for v in values]
        start, stop = (constant(I64, 0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = 1 if len(values) < 3 else values[2].constant
        if step is None or step == 0:
            message = "range needs a constant step" if step is None else "range needs a step other than 0"
            active.refusals.append(message)
            raise LoweringRefused(message)
        builder.store_var(target, _CountedRange(builder, start, stop, int(step)))

    lowering_registry.lower(STUBS["range"], types.VarArg(types.Any))(implementation)


def operation(name: str, result: Any, operands: list[Any], attributes: dict[str, Any] | None = None) -> Any:
    """An op of the dialect, which is another copy of MLIR's to know."""
    return ir.Operation.create(name, results=[result], operands=operands, attributes=attributes or {}).result


def load_entry(element: str, operands: list[Any]) -> Any:
    """``annudf.load`` of a capture, as functions see its entries."""
    loaded = operation("annudf.load", mlir_type(LOADED[element]), operands)
    return convert(Value(loaded, LOADED[element]), read_as(element))


def _indices(builder: Any, variable: Any) -> list[Value]:
    """The entries of an index, which is a number or a tuple of numbers."""
    numba_type = builder.get_numba_type(variable.name)
    if not isinstance(numba_type, types.BaseTuple):
        return [value_of_variable(builder, variable)]
    loaded = builder.load_var(variable)
    return [_value_of(ssa, one) for ssa, one in zip(loaded, numba_type.types, strict=True)]


def length_of(array: Scratch | None = None) -> Any:
    """How many entries an array has, or how many dimensions there are, as an index."""
    index = ir.IndexType.get(CONTEXT)
    if array is None:
        return scan_index("dims")
    entries = arith.constant(index, array.entries)
    return arith.addi(scan_index("dims"), entries) if array.per_dim else entries


def scan_index(kind: str) -> Any:
    """Where the scan is, or how many dimensions there are."""
    attributes = {"kind": ir.Attribute.parse(f"#annudf.index_kind<{kind}>", CONTEXT)}
    return operation("annudf.index", ir.IndexType.get(CONTEXT), [], attributes)


def _context() -> None:
    def capture(builder: Any, ctx: Any, name: str) -> Any:
        element, extents = builder.get_numba_type(ctx.name).captures[name]
        result = ir.Type.parse(capture_type_text(element, extents), CONTEXT)
        attributes = {"annudf.capture": ir.StringAttr.get(name, CONTEXT)}
        return operation("builtin.unrealized_conversion_cast", result, [builder.load_var(ctx)], attributes)

    def attribute(context: Any, builder: Any, target: Any, value: Any, attr: str) -> None:
        if attr in INDICES:
            builder.store_var(target, arith.index_cast(mlir_type(I64), scan_index(attr)))
            return
        handle = capture(builder, value, attr)
        element, extents = builder.get_numba_type(value.name).captures[attr]
        builder.store_var(target, handle if extents else load_entry(element, [handle]))

    def entry(builder: Any, target: Any, args: Any, kws: Any) -> None:
        element = builder.get_numba_type(args[0].name).element
        indices = [arithmetic.index(convert(one, I64)) for one in _indices(builder, args[1])]
        builder.store_var(target, load_entry(element, [builder.load_var(args[0]), *indices]))

    lowering_registry.lower_getattr_generic(Context)(attribute)
    lowering_registry.lower(operator.getitem, Capture, types.Any)(entry)


@lower_cast(types.Any, Number)
def _cast(context: Any, builder: Any, source: Any, target: Number, ssa: Any) -> Any:
    to = operand_of(target)
    assert to is not None
    with refusing():
        return arithmetic.on_path(_value_of(ssa, source), dtype_of(to))


_operators()
_unary()
_binary_and_more()
_range()
_context()
