# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Lowering of scratch: how it is made, and its entries read and written."""

from __future__ import annotations

import operator
from typing import Any

from numba_cuda_mlir._mlir.dialects import arith
from numba_cuda_mlir.extending import lowering_registry

from annudf._frontend.emit import arithmetic
from annudf._frontend.emit.arithmetic import constant, convert
from annudf._frontend.emit.lowering import length_of, operation, refusing, value_of_variable
from annudf._frontend.numba.ncm import CONTEXT, ir, types
from annudf._frontend.source.functions import STUBS
from annudf._frontend.types.dtypes import I64
from annudf._frontend.types.numba_types import Scratch, mlir_type


def _length(array: Scratch) -> Any:
    return arith.index_cast(mlir_type(I64), length_of(array))


def _at(builder: Any, variable: Any) -> Any:
    return arithmetic.index(convert(value_of_variable(builder, variable), I64))


def _register() -> None:
    def made(builder: Any, target: Any, args: Any, kws: Any) -> None:
        array = builder.get_numba_type(target.name)
        with refusing():
            fill = convert(value_of_variable(builder, args[0]), array.dtype)
        builder.store_var(target, operation("annudf.scratch", ir.Type.parse(array.text, CONTEXT), [fill]))

    def entry(builder: Any, target: Any, args: Any, kws: Any) -> None:
        array = builder.get_numba_type(args[0].name)
        operands = [builder.load_var(args[0]), _at(builder, args[1])]
        builder.store_var(target, operation("annudf.get", mlir_type(array.dtype), operands))

    def put(builder: Any, target: Any, args: Any, kws: Any) -> None:
        array = builder.get_numba_type(args[0].name)
        with refusing():
            value = convert(value_of_variable(builder, args[2]), array.dtype)
        ir.Operation.create("annudf.put", operands=[value, builder.load_var(args[0]), _at(builder, args[1])])
        builder.store_var(target, constant(I64, 0))

    def attribute(context: Any, builder: Any, target: Any, value: Any, attr: str) -> None:
        length = _length(builder.get_numba_type(value.name))
        builder.store_var(target, (length,) if attr == "shape" else length)

    def length(builder: Any, target: Any, args: Any, kws: Any) -> None:
        builder.store_var(target, _length(builder.get_numba_type(args[0].name)))

    lowering_registry.lower(STUBS["scratch"], types.VarArg(types.Any))(made)
    lowering_registry.lower(operator.getitem, Scratch, types.Any)(entry)
    lowering_registry.lower(STUBS["put"], types.VarArg(types.Any))(put)
    lowering_registry.lower_getattr_generic(Scratch)(attribute)
    lowering_registry.lower(STUBS["len"], Scratch)(length)


_register()
