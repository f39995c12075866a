# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Lowering of whole vectors: entries, lengths, and loops for functions that make one number of them."""

from __future__ import annotations

import math as pymath
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numba_cuda_mlir._mlir.dialects import arith, scf
from numba_cuda_mlir._mlir.dialects import math as mlir_math
from numba_cuda_mlir.extending import lowering_registry

from annudf._frontend.emit import arithmetic
from annudf._frontend.emit.arithmetic import Dtype, Value, constant, convert, dtype_of, in_float
from annudf._frontend.emit.lowering import Elements, elements_of, length_of, operation, refusing, value_of_variable
from annudf._frontend.numba.ncm import CONTEXT, ir, types
from annudf._frontend.source.functions import STUBS
from annudf._frontend.types.arrays import REDUCED
from annudf._frontend.types.dtypes import BOOL, I64
from annudf._frontend.types.numba_types import Array, Elementwise, Scratch, mlir_type, operand_of

WORD_OF = {np.dtype(np.float32): "f32", np.dtype(np.float64): "f64"}
Step = Callable[[Dtype, Any, list[Value]], Any]
"""The next value of what a loop carries: its type, its value, and what the vectors are there."""


def _extreme(name: str) -> Step:
    return lambda dtype, carried, v: arithmetic.numpy_extreme(name, dtype, carried, convert(v[0], dtype))


def _sum_of(term: Callable[[Dtype, list[Value]], Any]) -> Step:
    def step(dtype: Dtype, carried: Any, v: list[Value]) -> Any:
        return arithmetic.binary(operator.add, Value(carried, dtype), Value(term(dtype, v), dtype))

    return step


def _product(dtype: Dtype, a: Any, b: Any) -> Any:
    return arithmetic.binary(operator.mul, Value(a, dtype), Value(b, dtype))


_add = _sum_of(lambda dtype, v: convert(v[0], dtype))
_STEPS: dict[str, Step] = {
    "sum": _add,
    "mean": _add,
    "count_nonzero": _sum_of(lambda dtype, v: convert(Value(arithmetic.truth(v[0]), BOOL), dtype)),
    "dot": _sum_of(lambda dtype, v: _product(dtype, *(convert(one, dtype) for one in v))),
    "norm": _sum_of(lambda dtype, v: _product(dtype, convert(v[0], dtype), convert(v[0], dtype))),
    "cumsum": _add,
    "cumprod": lambda dtype, carried, v: _product(dtype, carried, convert(v[0], dtype)),
    "prod": lambda dtype, carried, v: _product(dtype, carried, convert(v[0], dtype)),
    "amax": _extreme("maximum"),
    "amin": _extreme("minimum"),
    "any": lambda dtype, carried, v: arith.ori(carried, arithmetic.truth(v[0])),
    "all": lambda dtype, carried, v: arith.andi(carried, arithmetic.truth(v[0])),
}


def _start(name: str, dtype: Dtype) -> Any:
    if name in ("amax", "amin"):
        sign = -1 if name == "amax" else 1
        if dtype.kind == "f":
            return constant(dtype, sign * pymath.inf)
        bits = 8 * dtype.itemsize - (dtype.kind == "i")
        smallest = -(1 << bits) if dtype.kind == "i" else 0
        return constant(dtype, smallest if sign < 0 else (1 << bits) - 1)
    return constant(dtype, name in ("prod", "cumprod", "all"))


def _reduced(
    name: str, dtype: Dtype, parts: list[Callable[[Any], Value]], last: Any = None, array: Scratch | None = None
) -> Any:
    """Reduces all coordinates, or those up to the last, or all entries of an array."""
    index = ir.IndexType.get(CONTEXT)
    begin, step = arith.constant(index, 0), arith.constant(index, 1)
    end = length_of(array) if last is None else arith.addi(last, step)
    loop = scf.ForOp(begin, end, step, [_start(name, dtype)])
    with ir.InsertionPoint(loop.body):
        values = [part(loop.induction_variable) for part in parts]
        with refusing():
            scf.yield_([_STEPS[name](dtype, loop.inner_iter_args[0], values)])
    result = loop.results[0]
    if name == "norm":
        return in_float(dtype, mlir_math.sqrt, result)
    if name == "mean":
        return arithmetic.binary(operator.truediv, Value(result, dtype), Value(_length(array), I64))
    return result


def _median(dtype: Dtype, part: Callable[[Any], Value], array: Scratch | None) -> Any:
    """The middle by counting for each number how many are smaller, once all stand in an array."""
    index = ir.IndexType.get(CONTEXT)
    begin, step, two = (arith.constant(index, one) for one in (0, 1, 2))
    end, nan = length_of(array), constant(dtype, pymath.nan)
    made = ir.Type.parse(Scratch(array is None or array.per_dim, array.entries if array else 0, WORD_OF[dtype]).text)
    kept = operation("annudf.scratch", made, [nan])
    filling = scf.ForOp(begin, end, step, [constant(BOOL, 0)])
    with ir.InsertionPoint(filling.body):
        with refusing():
            value = convert(part(filling.induction_variable), dtype)
        ir.Operation.create("annudf.put", operands=[value, kept, filling.induction_variable])
        is_nan = arith.cmpf(arith.CmpFPredicate.UNO, value, value)
        scf.yield_([arith.ori(filling.inner_iter_args[0], is_nan)])
    below = arith.divui(arith.subi(end, step), two)
    above = arith.divui(end, two)
    finding = scf.ForOp(begin, end, step, [nan, nan])
    with ir.InsertionPoint(finding.body):
        place = finding.induction_variable
        value = operation("annudf.get", mlir_type(dtype), [kept, place])
        counting = scf.ForOp(begin, end, step, [begin])
        with ir.InsertionPoint(counting.body):
            other = operation("annudf.get", mlir_type(dtype), [kept, counting.induction_variable])
            earlier = arith.cmpi(arith.CmpIPredicate.ult, counting.induction_variable, place)
            equal = arith.cmpf(arith.CmpFPredicate.OEQ, other, value)
            smaller = arith.ori(arith.cmpf(arith.CmpFPredicate.OLT, other, value), arith.andi(equal, earlier))
            count = counting.inner_iter_args[0]
            scf.yield_([arith.select(smaller, arith.addi(count, step), count)])
        rank = counting.results[0]
        chosen = [
            arith.select(arith.cmpi(arith.CmpIPredicate.eq, rank, wanted), value, before)
            for wanted, before in zip((below, above), finding.inner_iter_args, strict=True)
        ]
        scf.yield_(chosen)
    return arith.select(filling.results[0], nan, _between(dtype, *finding.results))


def _between(dtype: Dtype, a: Any, b: Any) -> Any:
    """The mean of two numbers, whose sum may be past the largest number."""
    half = constant(dtype, 0.5)
    mean = arith.addf(arith.mulf(a, half), arith.mulf(b, half))
    return arith.select(arith.cmpf(arith.CmpFPredicate.OEQ, a, b), a, mean)


def _length(array: Scratch | None = None) -> Any:
    return arith.index_cast(mlir_type(I64), length_of(array))


def _register() -> None:
    def attribute(context: Any, builder: Any, target: Any, value: Any, attr: str) -> None:
        builder.store_var(target, (_length(),) if attr == "shape" else _length())

    def length(builder: Any, target: Any, args: Any, kws: Any) -> None:
        builder.store_var(target, _length())

    def entry(builder: Any, target: Any, args: Any, kws: Any) -> None:
        at = arithmetic.index(convert(value_of_variable(builder, args[1]), I64))
        builder.store_var(target, elements_of(builder, args[0])(at).ssa)

    def reduction(name: str) -> Callable[..., None]:
        def lowered(builder: Any, target: Any, args: Any, kws: Any) -> None:
            made = builder.get_numba_type(target.name)
            parts = [elements_of(builder, a) for a in args]
            if isinstance(made, Elementwise):
                element = made.element
                until = Elements(lambda i: Value(_reduced(name, dtype_of(element), parts, i), element))
                builder.store_var(target, until)
                return
            operand = operand_of(builder.get_numba_type(target.name))
            assert operand is not None
            first = builder.get_numba_type(args[0].name)
            array = first if isinstance(first, Scratch) else None
            if name == "median":
                builder.store_var(target, _median(dtype_of(operand), parts[0], array))
                return
            builder.store_var(target, _reduced(name, dtype_of(operand), parts, array=array))

        return lowered

    lowering_registry.lower_getattr_generic(Array)(attribute)
    lowering_registry.lower(STUBS["len"], Array)(length)
    lowering_registry.lower(operator.getitem, Array, types.Any)(entry)
    for name in REDUCED:
        lowering_registry.lower(STUBS[name], types.VarArg(types.Any))(reduction(name))


_register()
