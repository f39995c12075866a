# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Typing of whole vectors: their attributes, their entries, and functions that make one number of them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from numba_cuda_mlir.extending import typing_registry
from numba_cuda_mlir.numba_cuda.types.containers import Tuple
from numba_cuda_mlir.numba_cuda.typing.templates import AbstractTemplate, AttributeTemplate, signature

from annudf._frontend.source.functions import METHODS, STUBS
from annudf._frontend.source.vectors import LOOP
from annudf._frontend.types import dtypes
from annudf._frontend.types.dtypes import Operand, Refused, Weak, dtype_of
from annudf._frontend.types.numba_types import Array, Elementwise, Scratch, as_type, element_of, operand_of
from annudf._frontend.types.typing import refuse, spell_argument


def summed(element: Operand) -> Operand:
    """Type of a sum: integers are added up as int64, as NumPy does."""
    dtype = dtype_of(element)
    return dtype if dtype.kind == "f" else dtypes.I64


def _multiplied(a: Operand, b: Operand) -> Operand:
    result = dtype_of(dtypes.promote(a, b))
    if result.kind == "b":
        raise Refused("np.dot of truth values is none that counts; write np.sum(a & b)")
    return result


REDUCED: dict[str, Callable[..., Operand]] = {
    "sum": summed,
    "prod": summed,
    "mean": dtypes.floating,
    "norm": dtypes.floating,
    "dot": _multiplied,
    "amax": dtype_of,
    "amin": dtype_of,
    "any": lambda element: dtypes.BOOL,
    "all": lambda element: dtypes.BOOL,
    "count_nonzero": lambda element: Weak.INT,
    "cumsum": summed,
    "cumprod": summed,
    "median": dtypes.floating,
}
CUMULATIVE = ("cumsum", "cumprod")
"""Those that give a number for each coordinate, of all up to it."""


def _reduction(name: str, rule: Callable[..., Operand]) -> type:
    count = 2 if name == "dot" else 1

    class Template(AbstractTemplate):
        def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
            if kws or len(args) != count:
                refuse(f"{name} takes {'two vectors' if count > 1 else 'one vector'} here, and no options")
                return None
            elements = [element_of(one) for one in args]
            if count == 1 and isinstance(args[0], Scratch) and name not in CUMULATIVE:
                elements = [args[0].dtype]
            bad = next((one for one, element in zip(args, elements, strict=True) if element is None), None)
            if bad is not None:
                what = "a number" if operand_of(bad) is not None else spell_argument(bad)
                refuse(f"{name} needs a whole vector, got {what}")
                return None
            try:
                found = rule(*elements)
                return signature(Elementwise(found) if name in CUMULATIVE else as_type(found), *args)
            except Refused as refused:
                refuse(str(refused))
                return None

    Template.__name__ = f"annudf_{name}"
    return Template


class _OfArray(AttributeTemplate):
    key = Array

    def generic_resolve(self, array: Array, name: str) -> Any:
        if name == "shape":
            return Tuple((as_type(Weak.INT),))
        if name == "size":
            return as_type(Weak.INT)
        if name in METHODS:
            refuse(f".{name}() of a whole vector takes {'a second vector' if name == 'dot' else 'no options'} here")
            return None
        refuse(
            f"a vector has no attribute '{name}' in a metric; it has x[i], x.shape[0], x.size and len(x), so write a "
            f"loop: {LOOP}"
        )


class _Entry(AbstractTemplate):
    def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        if len(args) != 2 or not isinstance(args[0], Array):
            return None
        operand = operand_of(args[1])
        if operand is None or dtypes.is_float(operand) or dtypes.is_bool(operand):
            refuse(f"a vector is indexed by one integer; read one coordinate, x[i], in a loop: {LOOP}")
            return None
        return signature(as_type(args[0].element), *args)


class _Len(AbstractTemplate):
    def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        if len(args) == 1 and isinstance(args[0], Array | Scratch) and not kws:
            return signature(as_type(Weak.INT), *args)
        refuse("len needs one vector here: len(x)")
        return None


typing_registry.register_attr(_OfArray)
typing_registry.register_global(operator.getitem)(_Entry)
typing_registry.register_global(STUBS["len"])(_Len)
for _name, _rule in REDUCED.items():
    typing_registry.register_global(STUBS[_name])(_reduction(_name, _rule))
