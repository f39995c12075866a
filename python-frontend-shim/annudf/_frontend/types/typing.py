# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Typing of operators, functions and ``ctx`` on a metric's types, by the rules of ``dtypes``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numba_cuda_mlir.extending import typing_registry
from numba_cuda_mlir.numba_cuda.types import abstract
from numba_cuda_mlir.numba_cuda.types.containers import NamedTuple, NamedUniTuple
from numba_cuda_mlir.numba_cuda.types.iterators import RangeType
from numba_cuda_mlir.numba_cuda.typing.templates import AbstractTemplate, AttributeTemplate, signature

from annudf._frontend.numba.ncm import active, types
from annudf._frontend.source import functions
from annudf._frontend.source.functions import STUBS
from annudf._frontend.source.signature import INDICES, no_attribute
from annudf._frontend.source.vectors import LOOP
from annudf._frontend.types import dtypes
from annudf._frontend.types.dtypes import Operand, Refused, Weak
from annudf._frontend.types.numba_types import (
    Array,
    Capture,
    Context,
    Elementwise,
    Number,
    Scratch,
    Strong,
    as_type,
    element_of,
    operand_of,
    read_as,
)

Rule = Callable[..., Operand]

SUMS = frozenset({"sum", "mean", "dot", "cumsum", "prod", "std", "var"})
"""Attributes of arrays that a message says more of."""


def refuse(message: str) -> None:
    """Remembered, because numba turns a template's error into pages of its own."""
    active.refusals.append(message)


def _template(rule: Rule, name: str, arities: tuple[int, ...], needs_number: bool) -> type:
    class Template(AbstractTemplate):
        def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
            elements = [element_of(a) if active.has_vectors and name not in _OF_NUMBERS else None for a in args]
            is_array = any(element is not None for element in elements)  # Not `in`: a dtype equals None.
            operands = [operand_of(a) if e is None else e for a, e in zip(args, elements, strict=True)]
            if needs_number and not is_array and not any(isinstance(a, (Number, Array)) for a in args):
                return None  # Constants among themselves: numba's typing is Python's.
            if kws:
                refuse(f"{name} takes no keyword arguments here")
                return None
            # By identity: to NumPy, None equals float64.
            bad = next((arg for arg, operand in zip(args, operands, strict=True) if operand is None), None)
            if bad is not None:
                refuse(f"{name} needs numbers, got {spell_argument(bad)}")
                return None
            if len(args) not in arities:
                takes = f"{arities[0]} to {arities[-1]} arguments" if len(arities) > 1 else _arguments(arities[0])
                refuse(f"{name} takes {takes}, got {len(args)}{_MORE.get(name, '')}")
                return None
            try:
                result = rule(*operands)
                return signature(Elementwise(result) if is_array else as_type(result), *args)
            except Refused as refused:
                refuse(str(refused))
                return None

    Template.__name__ = f"annudf_{name}"
    return Template


_OF_NUMBERS = frozenset(("max", "min", "int", "float", "bool", "not", ".bit_count()", *functions.INT_UNARY))
"""Functions that NumPy does not call for each number of an array."""
_MORE = {"round": "; write np.rint(v * 100) / 100 for two digits", "power": "; write (a ** b) % c"}
"""What to write instead of arguments that Python has beside those of a metric."""


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def spell_argument(numba_type: Any) -> str:
    """What is no number, for messages."""
    if isinstance(numba_type, Capture):
        return f"the array ctx.{numba_type.capture}; read one entry, {numba_type.example}"
    if isinstance(numba_type, Context):
        return "ctx"
    if isinstance(numba_type, Array):
        return f"a whole vector; read one coordinate of it, x[i], in a loop: {LOOP}"
    if isinstance(numba_type, Scratch):
        return "an array; read its entries, d[i], in a loop: for i in range(len(d))"
    if isinstance(numba_type, types.BaseTuple):
        return "a tuple; write its numbers one by one"
    if isinstance(numba_type, types.Module):
        return f"{numba_type.pymod.__name__}, which is none"
    if numba_type == types.none:
        return "None, which a function without return gives"
    return "a function" if isinstance(numba_type, abstract.Callable) else str(numba_type)


def _axes(count: int) -> str:
    return "1 axis" if count == 1 else f"{count} axes"


def _register(key: object, rule: Rule, name: str, arities: tuple[int, ...], needs_number: bool = False) -> None:
    typing_registry.register_global(key)(_template(rule, name, arities, needs_number))


def _of_stub(name: str, rule: Rule, arities: tuple[int, ...]) -> None:
    ufunc = name in functions.UFUNCS
    _register(STUBS[name], lambda *of: rule(*(dtypes.as_numpy(*of) if ufunc else of)), name, arities)


def _number(a: Operand) -> Operand:
    """A Python bool is an int in arithmetic."""
    return Weak.INT if a is Weak.BOOL else a


def _operators() -> None:
    def binary(fn: Callable[..., object]) -> Rule:
        return lambda a, b: dtypes.arithmetic(fn, a, b)

    for fn, spelling in {**dtypes.ARITHMETIC, **dtypes.BITWISE}.items():
        _register(fn, binary(fn), spelling, (2,), True)
    for inplace, fn in dtypes.INPLACE.items():
        _register(inplace, binary(fn), f"{ {**dtypes.ARITHMETIC, **dtypes.BITWISE}[fn] }=", (2,), True)

    def comparison(a: Operand, b: Operand) -> Operand:
        dtypes.compared(a, b)
        return Weak.BOOL if isinstance(a, Weak) and isinstance(b, Weak) else dtypes.BOOL

    for fn, spelling in dtypes.COMPARISONS.items():
        _register(fn, comparison, spelling, (2,), True)

    def negated(a: Operand) -> Operand:
        if isinstance(a, Weak):
            return _number(a)
        if dtypes.is_bool(a):
            raise Refused("NumPy cannot negate booleans with -; write not")
        return a

    def inverted(a: Operand) -> Operand:
        if dtypes.is_float(a):
            raise Refused(f"~ needs an integer, got {dtypes.spell(a)}")
        return _number(a)

    _register(operator.neg, negated, "-", (1,), True)
    _register(operator.pos, _number, "+", (1,), True)
    _register(STUBS["invert"], inverted, "~", (1,))
    _of_stub("np_invert", inverted, (1,))
    _register(operator.not_, lambda a: Weak.BOOL, "not", (1,), True)

    class ToBool(AbstractTemplate):
        def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
            if len(args) == 1 and isinstance(args[0], Number) and not kws:
                return signature(types.boolean, *args)
            if len(args) == 1 and isinstance(args[0], Array):
                refuse("a condition of whole vectors has no one answer; write np.any(...), np.all(...) or a loop")
            return None

    typing_registry.register_global(bool)(ToBool)


def _common(*operands: Operand) -> Operand:
    result = operands[0]
    for operand in operands[1:]:
        result = dtypes.promote(result, operand)
    return result


def _stubs() -> None:
    def number(a: Operand) -> Operand:
        if not isinstance(a, Weak) and dtypes.is_bool(a):
            raise Refused("this function needs a number, not a boolean")
        return _number(a)

    def reciprocal(a: Operand) -> Operand:
        if not dtypes.is_float(a):
            raise Refused("np.reciprocal of an integer is an integer, 0 for most; write 1 / v")
        return a

    for name in functions.FLOAT_UNARY:
        _register(STUBS[name], reciprocal if name == "reciprocal" else dtypes.floating, name, (1,))
    for name in functions.INT_UNARY:
        _register(STUBS[name], lambda a: Weak.INT, name, (1,))
    for name in functions.PREDICATES:
        kind = Weak.BOOL if name.startswith("math_") else dtypes.BOOL
        _register(STUBS[name], lambda a, kind=kind: kind, name, (1,))
    for name in functions.SAME_UNARY:
        _of_stub(name, dtypes.floating if name == "fabs" else number, (1,))
    for name in functions.FLOAT_BINARY:
        _register(STUBS[name], dtypes.divide, name, (2,))
    for name, fn in functions.OPERATORS.items():
        _of_stub(name, lambda a, b, fn=fn: dtypes.arithmetic(fn, a, b), (2,))
    for name in functions.EXTREMES:
        arities = tuple(range(2, 9)) if name in ("max", "min") else (2,)
        _of_stub(name, _common, arities)
    for name in functions.CASTS:
        _register(STUBS[name], lambda a, name=name: np.dtype(name.rstrip("_")), f"np.{name}", (1,))

    def counted(a: Operand, name: str, result: Operand) -> Operand:
        if a is dtypes.BOOL or dtypes.is_float(a):
            raise Refused(f"{name} needs an integer, got {dtypes.spell(a)}")
        return result

    _register(STUBS["bitwise_count"], lambda a: counted(a, "bitwise_count", np.dtype(np.uint8)), "bitwise_count", (1,))
    _register(STUBS["bit_count"], lambda a: counted(a, ".bit_count()", Weak.INT), ".bit_count()", (1,))

    def logarithm(a: Operand, base: Operand = Weak.INT) -> Operand:
        return dtypes.floating(dtypes.promote(a, base))

    _register(STUBS["math_log"], logarithm, "math.log", (1, 2))
    _register(STUBS["int"], lambda a: Weak.INT, "int", (1,))
    _register(STUBS["float"], lambda a: Weak.FLOAT, "float", (1,))
    _register(STUBS["bool"], lambda a: Weak.BOOL, "bool", (1,))
    _register(STUBS["where"], lambda c, a, b: dtypes.promote(*dtypes.as_numpy(a, b)), "where", (3,))
    # NumPy makes an array of the first, and takes the limits as they are.
    _register(STUBS["clip"], lambda a, low, high: _common(*dtypes.as_numpy(a), low, high), "clip", (3,))
    _register(STUBS["fma"], lambda a, b, c: dtypes.floating(_common(a, b, c)), "fma", (3,))
    _register(STUBS["logical_not"], lambda a: dtypes.BOOL, "logical_not", (1,))

    class Range(AbstractTemplate):
        def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
            if kws or not 1 <= len(args) <= 3 or any(operand_of(a) not in (Weak.INT, dtypes.I64) for a in args):
                refuse("range takes 1 to 3 constant integers")
                return None
            return signature(RangeType(as_type(Weak.INT)), *args)

    typing_registry.register_global(STUBS["range"])(Range)


def _context() -> None:
    class Attributes(AttributeTemplate):
        key = Context

        def generic_resolve(self, ctx: Context, name: str) -> Any:
            if refusal := no_attribute(name, ctx.hook, ctx.captures):
                refuse(refusal)
                return None
            if name in INDICES:
                return as_type(Weak.INT)
            element, extents = ctx.captures[name]
            return Capture(name, element, extents) if extents else Strong(read_as(element))

    typing_registry.register_attr(Attributes)

    class OfCapture(AttributeTemplate):
        key = Capture

        def generic_resolve(self, array: Capture, name: str) -> Any:
            if name in ("shape", "size", "ndim"):
                told = "a metric does not know shapes; write the number, or ctx.dims for the dimensions"
                refuse(f"ctx.{array.capture} has no .{name} here: {told}")
            elif name not in SUMS:
                refuse(f"ctx.{array.capture} has no attribute '{name}' in a metric; read one entry, {array.example}")

    typing_registry.register_attr(OfCapture)

    class OfFields(AttributeTemplate):
        key = types.BaseTuple

        def generic_resolve(self, fields: Any, name: str) -> Any:
            names = getattr(fields, "fields", ())
            if names and name not in names:
                values = ", ".join(f"acc.{one}" for one in names)
                refuse(
                    f"{fields.instance_class.__name__} has the fields {', '.join(names)} in a metric, and no "
                    f"attribute '{name}'; return what is next of each: return {values.replace(',', ' + x,', 1)}"
                )
            elif not names:
                refuse(
                    f"a tuple has no attribute '{name}'; read its fields by their number, acc[0], or give initial as "
                    "a NamedTuple"
                )

    typing_registry.register_attr(OfFields)

    def of_named(kind: type) -> type:
        """Before what every tuple has: a field may be called `index`, as a tuple's method is."""

        class OfNamed(AttributeTemplate):
            key = kind
            # What a generic target says of tuples comes after.
            metadata: ClassVar[dict[str, str]] = {"target": "cuda"}

            def generic_resolve(self, fields: Any, name: str) -> Any:
                return fields[fields.fields.index(name)] if name in fields.fields else None

        return OfNamed

    for kind in (NamedTuple, NamedUniTuple):
        typing_registry.register_attr(of_named(kind))

    class GetItem(AbstractTemplate):
        def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
            if len(args) == 2 and isinstance(args[0], Number):
                refuse(
                    "a number has no entries; leave out [...]"
                    if active.has_vectors
                    else "a number has no entries; leave out [...]: x and y are the coordinates of dimension ctx.dim"
                    " already, and a scalar capture is ctx.p"
                )
                return None
            if len(args) == 2 and isinstance(args[0], Array):
                return None  # `arrays` types it.
            if len(args) != 2 or not isinstance(args[0], Capture):
                return None
            array = args[0]
            given = tuple(args[1].types) if isinstance(args[1], types.BaseTuple) else (args[1],)
            if len(given) != len(array.extents):
                refuse(
                    f"ctx.{array.capture} has {_axes(len(array.extents))}, it is indexed by {len(given)}; "
                    f"read one entry, {array.example}"
                )
                return None
            for one in given:
                index = operand_of(one)
                if index is not None and dtypes.is_bool(index):
                    refuse(f"ctx.{array.capture} is indexed by integers, not by a boolean; write int(...) of it")
                    return None
                if index is None or dtypes.is_float(index):
                    refuse(f"ctx.{array.capture} is indexed by integers; read one entry, {array.example}")
                    return None
            return signature(Strong(read_as(args[0].element)), *args)

    typing_registry.register_global(operator.getitem)(GetItem)


_operators()
_stubs()
_context()
