# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Typing of scratch: how it is made, and its entries read and written."""

from __future__ import annotations

import operator
from typing import Any

from numba_cuda_mlir.extending import typing_registry
from numba_cuda_mlir.numba_cuda.types.containers import Tuple
from numba_cuda_mlir.numba_cuda.typing.templates import AbstractTemplate, AttributeTemplate, signature

from annudf._frontend.source.functions import STUBS
from annudf._frontend.source.scratch import decode
from annudf._frontend.types import dtypes
from annudf._frontend.types.dtypes import Weak, dtype_of
from annudf._frontend.types.numba_types import Scratch, as_type, operand_of
from annudf._frontend.types.typing import refuse


def _is_whole(numba_type: Any) -> bool:
    operand = operand_of(numba_type)
    return operand is not None and not dtypes.is_float(operand) and not dtypes.is_bool(operand)


class _Make(AbstractTemplate):
    def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        fill, *shape = map(operand_of, args)
        if fill is None:
            refuse("an array is filled with one number here")
            return None
        per_dim, word, entries = decode([one is Weak.FLOAT for one in shape])
        made = Scratch(per_dim, entries, word)
        if made.dtype.kind == "i" and dtype_of(fill).kind == "f":
            refuse("an array of integers is filled with an integer; make it of floats, or fill it with int(v)")
            return None
        return signature(made, *args)


class _Entry(AbstractTemplate):
    def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        if len(args) != 2 or not isinstance(args[0], Scratch):
            return None
        if not _is_whole(args[1]):
            refuse("an array is indexed by one integer; read and write one entry, d[i]")
            return None
        return signature(as_type(args[0].dtype), *args)


class _Put(AbstractTemplate):
    def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        array, index, value = args
        if not isinstance(array, Scratch):
            return None
        operand = operand_of(value)
        if not _is_whole(index) or operand is None:
            refuse("an array is written at one integer, with one number: d[i] = v")
            return None
        if array.dtype.kind == "i" and dtype_of(operand).kind == "f":
            refuse("an array of integers takes no floating number; write int(v), or make it of floats")
            return None
        return signature(as_type(Weak.INT), *args)


class _OfScratch(AttributeTemplate):
    key = Scratch

    def generic_resolve(self, array: Scratch, name: str) -> Any:
        if name == "shape":
            return Tuple((as_type(Weak.INT),))
        if name == "size":
            return as_type(Weak.INT)
        refuse(f"an array has no attribute '{name}' in a metric; it has d[i], d.shape[0], d.size and len(d)")
        return None


typing_registry.register_attr(_OfScratch)
typing_registry.register_global(operator.getitem)(_Entry)
typing_registry.register_global(STUBS["scratch"])(_Make)
typing_registry.register_global(STUBS["put"])(_Put)
