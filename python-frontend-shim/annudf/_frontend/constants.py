# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Arithmetic of constants alone, done by Python: ``K // 2``, ``2 ** K``.

numba types what is computed of two constants by its own rules and lowers it by its own code, which knows neither
``//`` of floats nor powers and wraps integers around. So such expressions become constants in numba's IR, before
anything is typed, and variables that begin with a constant and change become numbers of a metric. ``~`` is ours
whatever it is of: numba's of a Python bool is NumPy's ``not``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from numba_cuda_mlir.numba_cuda.core import ir

from annudf._frontend.functions import STUBS
from annudf._frontend.report import unsupported

_INT64 = range(-(2**63), 2**63)
_MOST_BITS = 4096
"""Of an integer that is computed at all."""

_BINARY: dict[object, str] = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/", operator.floordiv: "//",
    operator.mod: "%", operator.pow: "**", operator.lshift: "<<", operator.rshift: ">>", operator.and_: "&",
    operator.or_: "|", operator.xor: "^",
}  # fmt: skip
_UNARY: dict[object, str] = {operator.neg: "-", operator.pos: "+", operator.invert: "~"}

_TRUTHS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, operator.not_)
"""What gives a bool, which stays as numba has it; ``~`` and arithmetic of that are Python's, not numba's."""

Number = bool | int | float


def fold(function: Any) -> None:
    """Replaces expressions of constants in numba's IR of a function by their values.

    Raises
    ------
    UnsupportedError
        Python has no number for one, or it does not fit 64 bits.
    """
    known: dict[str, Number] = {}
    first = min(function.blocks)
    for block, statement in _assignments(function):
        name, value = statement.target.name, statement.value
        number = _number(value, known)
        if number is None:
            continue
        if isinstance(number, int) and number not in _INT64:
            _refuse(f"{_shown(number)} does not fit 64 bits; write a float, such as 1e30", statement.loc)
        if isinstance(value, ir.Expr) and value.fn not in _TRUTHS:
            statement.value = ir.Const(number, value.loc)
            function._definitions[name] = [
                statement.value if old is value else old for old in function._definitions[name]
            ]
        # A variable of the user's may have no value elsewhere, if it has one in a branch.
        if len(function._definitions[name]) == 1 and (name.startswith("$") or block == first):
            known[name] = number
    _make_numbers(function, known)


def _assignments(function: Any) -> Iterator[tuple[int, Any]]:
    for label, block in sorted(function.blocks.items()):
        for statement in block.body:
            if isinstance(statement, ir.Assign):
                yield label, statement


def _number(value: Any, known: dict[str, Number]) -> Number | None:
    """The constant that the right-hand side of an assignment is."""
    if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)):
        return value.value if type(value.value) in (bool, int, float) else None  # No NumPy scalar.
    if isinstance(value, ir.Var):
        return known.get(value.name)
    if not isinstance(value, ir.Expr):
        return None
    if value.op in ("binop", "inplace_binop"):
        fn = value.fn if value.op == "binop" else value.immutable_fn
        left, right = known.get(value.lhs.name), known.get(value.rhs.name)
        if fn in _BINARY and left is not None and right is not None:
            return _computed(fn, f"{_shown(left)} {_BINARY[fn]} {_shown(right)}", value.loc, left, right)
        if fn in _TRUTHS and left is not None and right is not None:
            return bool(fn(left, right))
    if value.op == "unary" and value.fn in _UNARY and (number := known.get(value.value.name)) is not None:
        return _computed(value.fn, f"{_UNARY[value.fn]}{_shown(number)}", value.loc, number)
    if value.op == "unary" and value.fn is operator.not_ and (number := known.get(value.value.name)) is not None:
        return not number
    return None


def _computed(fn: Any, spelled: str, place: Any, *numbers: Number) -> Number:
    compute: Callable[..., Any] = fn
    if all(isinstance(number, int) for number in numbers) and _bits(fn, *numbers) > _MOST_BITS:
        _refuse(f"{spelled} does not fit 64 bits; compute it in floating point", place)
    try:
        result = compute(*numbers)
    except ZeroDivisionError:
        _refuse(f"{spelled} divides by zero", place)
    except (OverflowError, ValueError, TypeError) as error:
        _refuse(f"{spelled} has no value: {error}", place)
    if isinstance(result, complex):
        _refuse(f"{spelled} is a complex number; use numbers that are real", place)
    if isinstance(result, int) and result not in _INT64:
        _refuse(
            f"{spelled} does not fit 64 bits; compute it in floating point, such as {_in_float(fn, numbers)}", place
        )
    number: Number = result
    return number


def _bits(fn: Any, *numbers: Any) -> int:
    """An upper bound of the bits that powers and shifts have; 0 for others."""
    if fn is operator.pow and numbers[1] > 0:
        return int(numbers[0]).bit_length() * int(numbers[1])
    return int(numbers[1]) if fn is operator.lshift else 0


def _in_float(fn: Any, numbers: tuple[Number, ...]) -> str:
    return f"{float(numbers[0])!r} {_BINARY[fn]} {_shown(numbers[1])}" if len(numbers) > 1 else f"{float(numbers[0])!r}"


def _shown(number: Number) -> str:
    if isinstance(number, int) and int(number).bit_length() > 256:
        return f"an integer of {number.bit_length()} bits"
    return repr(number)


def _refuse(message: str, place: Any) -> NoReturn:
    unsupported(message, place.filename, place.line, place.col or 0)


def _make_numbers(function: Any, known: dict[str, Number]) -> None:
    """``i = 0`` of a variable that is assigned elsewhere too: ``i = int(0)``, whose type is a metric's own."""
    for block in function.blocks.values():
        body: list[Any] = []
        for statement in block.body:
            if isinstance(statement, ir.Assign):
                value = statement.value
                number = _number(value, known) if _begins(function, statement) else None
                if type(number) in (int, float):
                    _call(function, statement, value, STUBS["int" if isinstance(number, int) else "float"], body)
                elif isinstance(value, ir.Expr) and value.op == "unary" and value.fn is operator.invert:
                    _call(function, statement, value.value, STUBS["invert"], body)
            body.append(statement)
        block.body = body


def _begins(function: Any, statement: Any) -> bool:
    name: str = statement.target.name
    # A variable that is begun anew has another version: i, i.1.
    return name.partition(".")[0].isidentifier() and len(function._definitions[name]) > 1


def _call(function: Any, statement: Any, of: Any, stub: Any, body: list[Any]) -> None:
    """Puts the call of a stub before the statement, which assigns its result."""
    place, scope, value = statement.loc, statement.target.scope, statement.value
    callee, given, result = (scope.redefine(f"$annudf_{part}", place) for part in ("stub", "given", "number"))
    call = ir.Expr.call(callee, (given,), (), place)
    for target, source in ((callee, ir.Global(stub.__name__, stub, place)), (given, of), (result, call)):
        body.append(ir.Assign(source, target, place))
        function._definitions[target.name] = [source]
    definitions = function._definitions[statement.target.name]
    statement.value = result
    function._definitions[statement.target.name] = [result if old is value else old for old in definitions]
