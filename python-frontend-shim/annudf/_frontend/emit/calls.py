# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Calls of linked code: their types, and the ``annudf.call`` that they become.

``active.externs`` collects what is called, with the place of the first call, while a function is lowered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numba_cuda_mlir.extending import typeof_impl
from numba_cuda_mlir.lowering_utilities import DeferredLowering
from numba_cuda_mlir.numba_cuda.typing.templates import AbstractTemplate, signature

from annudf._core import MAX_SOURCE_BYTES
from annudf._frontend.emit.arithmetic import convert
from annudf._frontend.emit.lowering import LoweringRefused, value_of_variable
from annudf._frontend.numba.ncm import CONTEXT, active, ir, types
from annudf._frontend.source.links import Extern, Linked, Unlinkable
from annudf._frontend.source.report import unsupported
from annudf._frontend.types import dtypes
from annudf._frontend.types.dtypes import Operand, Refused, Weak
from annudf._frontend.types.numba_types import Strong, mlir_type, operand_of
from annudf._frontend.types.prototypes import quoted, spell_dialect
from annudf._frontend.types.typing import refuse, spell_argument

Externs: TypeAlias = dict[str, tuple[Extern, tuple[str, int, int]]]
"""By symbol, with file, line and column of a call."""


def merged(into: Externs, found: Externs) -> None:
    """Adds what one function calls to what others do.

    Raises
    ------
    UnsupportedError
        Two functions have one symbol.
    """
    for symbol, (extern, place) in found.items():
        if into.setdefault(symbol, (extern, place))[0] != extern:
            unsupported(_twice(symbol), *place)


def texts(externs: Externs) -> list[str]:
    """Each as an ``annudf.extern``.

    Raises
    ------
    UnsupportedError
        They are longer than a compiler takes.
    """
    made: list[str] = []
    for symbol, (extern, place) in externs.items():
        size = sum(len(piece.data) for piece in extern.pieces)
        if size <= MAX_SOURCE_BYTES:
            made.append(_text(extern, place))
        if size > MAX_SOURCE_BYTES or sum(map(len, made)) > MAX_SOURCE_BYTES:
            told = f"'{symbol}' links {size} bytes; a metric with its code takes at most {MAX_SOURCE_BYTES}"
            unsupported(f"{told}, and a byte that is not ASCII counts as three; link less", *place)
    return made


def _text(extern: Extern, place: tuple[str, int, int]) -> str:
    file, line, column = place
    pieces = ", ".join(f"{piece.kind} {quoted(piece.data)}" for piece in extern.pieces)
    return (
        f"annudf.extern @{extern.symbol} convention({extern.convention}) "
        f"({', '.join(map(spell_dialect, extern.arguments))}) -> {spell_dialect(extern.result)} "
        f"link({pieces}) loc({quoted(file)}:{line}:{column})"
    )


def _twice(symbol: str) -> str:
    return f"two linked functions are called '{symbol}'; rename one"


def _fits(operand: Operand, to: np.dtype[Any]) -> bool:
    """Python's numbers take the type of the argument; others have it, as nothing is converted unasked."""
    if isinstance(operand, Weak):
        return operand is not Weak.FLOAT or to.kind == "f"
    return operand == to


def _chosen(linked: Linked, operands: Sequence[Operand]) -> Extern | None:
    for one in linked.overloads:
        if len(one.arguments) == len(operands) and all(map(_fits, operands, one.arguments)):
            return one
    return None


def _why_none(linked: Linked, operands: Sequence[Operand]) -> str:
    takes = " or ".join(f"({', '.join(a.name for a in one.arguments)})" for one in linked.overloads)
    given = ", ".join(map(dtypes.spell, operands))
    if all(len(one.arguments) != len(operands) for one in linked.overloads):
        return f"'{linked.name}' takes {takes}, and is called with {len(operands)} argument{'s' * (len(operands) != 1)}"
    same = next(one for one in linked.overloads if len(one.arguments) == len(operands))
    wanted = next(to for operand, to in zip(operands, same.arguments, strict=True) if not _fits(operand, to))
    return f"'{linked.name}' takes {takes}, and is called with ({given}); convert, e.g. by np.{wanted}(...)"


class _Call(DeferredLowering):
    """The function as numba-cuda-mlir lowers calls of it."""

    def __init__(self, linked: Linked) -> None:
        self.linked = linked

    def __call__(self, builder: Any, target: Any, args: Any, kws: Any) -> None:
        values = [value_of_variable(builder, one) for one in args]
        extern = _chosen(self.linked, [one.operand for one in values])
        assert extern is not None, "it was typed"
        if active.externs.setdefault(extern.symbol, (extern, active.place))[0] != extern:
            self._refuse(_twice(extern.symbol))
        try:
            given = [convert(one, to) for one, to in zip(values, extern.arguments, strict=True)]
        except Refused as refused:
            self._refuse(str(refused))
        attributes = {"callee": ir.FlatSymbolRefAttr.get(extern.symbol, CONTEXT)}
        made = ir.Operation.create(
            "annudf.call", results=[mlir_type(extern.result)], operands=given, attributes=attributes
        )
        builder.store_var(target, made.result)

    @staticmethod
    def _refuse(message: str) -> None:
        active.refusals.append(message)
        raise LoweringRefused(message)


def _type(linked: Linked) -> Any:
    class Template(AbstractTemplate):
        key = _Call(linked)

        def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
            if kws:
                refuse(f"'{linked.name}' takes no keyword arguments")
                return None
            operands = []
            for given in args:
                operand = operand_of(given)
                if operand is None:
                    refuse(f"'{linked.name}' takes numbers, and is called with {spell_argument(given)}")
                    return None
                operands.append(operand)
            extern = _chosen(linked, operands)
            if extern is None:
                refuse(_why_none(linked, operands))
                return None
            return signature(Strong(extern.result), *args)

    Template.__name__ = f"annudf_linked_{linked.name}"
    return types.Function(Template)


@typeof_impl.register(Linked)
def _typeof(value: Linked, context: Any) -> Any:
    if value.typed is None:
        value.typed = _type(value)
    return value.typed


@typeof_impl.register(Unlinkable)
def _untyped(value: Unlinkable, context: Any) -> None:
    """An attribute of a module in a function whose source is not there, where it could be told before."""
    refuse(f"this function {value.why}")
