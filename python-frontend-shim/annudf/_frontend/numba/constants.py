# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Arithmetic and comparisons of constants alone, done by Python: ``K // 2``, ``2 ** K``, ``pow(2, K)``, ``K != K``.

numba types what is computed of two constants by its own rules and lowers it by its own code, which knows neither
``//`` of floats nor powers, takes NaN for equal to all and wraps integers around. So such expressions become constants
in numba's IR, before anything is typed, and constants that leave the place where they are known (what a variable begins
with or has in a branch, one of the values of a conditional, what a helper is given or returns) become numbers of a
metric, whose arithmetic is ours.
``~`` is ours whatever it is of: numba's of a Python bool is NumPy's ``not``. So is ``.bit_count()``.
"""

from __future__ import annotations

import math
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from numba_cuda_mlir.numba_cuda.core import ir
from numba_cuda_mlir.numba_cuda.core.analysis import compute_cfg_from_blocks

from annudf._frontend.numba.ncm import active
from annudf._frontend.source.functions import METHODS, REDUCTIONS, STUBS
from annudf._frontend.source.report import unsupported

_INT64 = range(-(2**63), 2**63)
_MOST_BITS = 4096
"""Longer integers are not computed."""

_BINARY: dict[object, str] = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/", operator.floordiv: "//",
    operator.mod: "%", operator.pow: "**", operator.lshift: "<<", operator.rshift: ">>", operator.and_: "&",
    operator.or_: "|", operator.xor: "^",
}  # fmt: skip
_UNARY: dict[object, str] = {operator.neg: "-", operator.pos: "+", operator.invert: "~"}

_CALLS: dict[str, Any] = {
    "abs": abs, "int": int, "max": max, "min": min, "pow": pow, "math_pow": math.pow, "round": round,
    "bit_count": int.bit_count,
}  # fmt: skip
"""Stubs whose calls are arithmetic of Python's, too."""

_COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)

Number = bool | int | float


def fold(function: Any) -> None:
    """Replaces expressions of constants in numba's IR of a function by their values.

    Raises
    ------
    UnsupportedError
        Python has no number for one, or it does not fit 64 bits.
    """
    _give_defaults(function)
    _take_apart(function)
    _call_methods(function)
    known: dict[str, Number] = {}
    first = min(function.blocks)
    for block, statement in _assignments(function):
        name, value = statement.target.name, statement.value
        number = _number(function, value, known)
        if number is None:
            continue
        if isinstance(number, int) and number not in _INT64:
            _refuse(f"{_shown(number)} does not fit 64 bits; write a float, such as 1e30", statement.loc)
        if isinstance(value, ir.Expr):
            _assign(function, statement, ir.Const(number, value.loc))
        # A variable of the user's may have no value elsewhere, if it has one in a branch.
        if len(function._definitions[name]) == 1 and (name.startswith("$") or block == first):
            known[name] = number
    _make_numbers(function, known)


def _assignments(function: Any) -> Iterator[tuple[int, Any]]:
    for label, block in sorted(function.blocks.items()):
        for statement in block.body:
            if isinstance(statement, ir.Assign):
                yield label, statement


def _give_defaults(function: Any) -> None:
    """``helper(x)`` as ``helper(x, p=2)``: to numba the default of an argument has a type of its own, no number's."""
    for block in function.blocks.values():
        body: list[Any] = []
        for statement in block.body:
            value = getattr(statement, "value", None)
            if isinstance(value, ir.Expr) and value.op == "call":
                for name, default in _not_given(function, value).items():
                    source = ir.Global(name, default, statement.loc)
                    given = _new(function, statement, "default", source, body)
                    value.kws = (*value.kws, (name, given))
            body.append(statement)
        block.body = body


def _not_given(function: Any, call: Any) -> dict[str, Any]:
    """Defaults of the helper's that the call leaves to it."""
    helper = getattr(_held(function, call.func), "py_func", None)
    if helper is None or call.vararg is not None:
        return {}
    code = helper.__code__
    names = code.co_varnames[: code.co_argcount]
    defaults = helper.__defaults__ or ()
    every = {**dict(zip(names[len(names) - len(defaults) :], defaults, strict=True)), **(helper.__kwdefaults__ or {})}
    taken = {*names[: len(call.args)], *dict(call.kws)}
    return {name: default for name, default in every.items() if name not in taken}


def _held(function: Any, variable: Any) -> Any:
    """What a variable holds that is read from outside the function, or of a module; None of others."""
    definitions = function._definitions[variable.name]
    one = definitions[0] if len(definitions) == 1 else None
    if isinstance(one, (ir.Global, ir.FreeVar)):
        return one.value
    if isinstance(one, ir.Expr) and one.op == "getattr":
        return getattr(_held(function, one.value), one.attr, None)
    return None


def _take_apart(function: Any) -> None:
    """``a, b = 0.0, 1.0``, which is one constant in bytecode, as a tuple that is made of two."""
    for block in function.blocks.values():
        body: list[Any] = []
        for statement in block.body:
            value = getattr(statement, "value", None)
            if isinstance(value, ir.Const) and isinstance(value.value, tuple):
                _assign(function, statement, _made_tuple(function, statement, value.value, body))
            body.append(statement)
        block.body = body


def _made_tuple(function: Any, statement: Any, items: tuple[Any, ...], body: list[Any]) -> Any:
    place, made = statement.loc, []
    for item in items:
        inner = isinstance(item, tuple)
        source = _made_tuple(function, statement, item, body) if inner else ir.Const(item, place)
        made.append(_new(function, statement, "item", source, body))
    return ir.Expr.build_tuple(made, place)


def _call_methods(function: Any) -> None:
    """``v.bit_count()`` as a call of a function, and ``(a - b).sum()`` of a whole vector."""
    methods: dict[str, Any] = {}
    known = {"bit_count": "bit_count"}
    if active.has_vectors:
        known |= {name: REDUCTIONS[name] for name in METHODS}
    for _, statement in _assignments(function):
        value = statement.value
        if not isinstance(value, ir.Expr):
            continue
        if value.op == "getattr" and value.attr in known:
            methods[statement.target.name] = statement
        elif value.op == "call" and not value.kws and value.func.name in methods:
            method = methods[value.func.name]
            name = known[method.value.attr]
            if value.args and name != "dot":
                continue
            if not isinstance(_held(function, method.value.value), types.ModuleType):
                value.args = (method.value.value, *value.args)
                _assign(function, method, ir.Global(name, STUBS[name], method.loc))


def _item(function: Any, value: Any) -> Any:
    """The variable that is an item of a tuple which is made in the function; None of others."""
    of = value.value
    while True:
        definitions = function._definitions[of.name]
        one = definitions[0] if len(definitions) == 1 else None
        if isinstance(one, ir.Expr) and one.op == "build_tuple":
            return one.items[value.index] if -len(one.items) <= value.index < len(one.items) else None
        if isinstance(one, ir.Expr) and one.op == "exhaust_iter":
            of = one.value
        elif isinstance(one, ir.Var):
            of = one
        else:
            return None


def _number(function: Any, value: Any, known: dict[str, Number]) -> Number | None:
    """The constant that the right-hand side of an assignment is."""
    if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)):
        return value.value if type(value.value) in (bool, int, float) else None  # No NumPy scalar.
    if isinstance(value, ir.Var):
        return known.get(value.name)
    if not isinstance(value, ir.Expr):
        return None
    if value.op == "getattr":  # Numbers of a module, or of what holds them as one does.
        held = _held(function, value.value)
        found = getattr(held, value.attr, None) if isinstance(held, types.ModuleType) else None
        return found if type(found) in (bool, int, float) else None
    if value.op == "static_getitem" and isinstance(value.index, int):
        item = _item(function, value)
        return None if item is None else known.get(item.name)
    if value.op == "call":
        return _number_of_call(function, value, known)
    if value.op in ("binop", "inplace_binop"):
        fn = value.fn if value.op == "binop" else value.immutable_fn
        left, right = known.get(value.lhs.name), known.get(value.rhs.name)
        if fn in _BINARY and left is not None and right is not None:
            return _computed(fn, f"{_shown(left)} {_BINARY[fn]} {_shown(right)}", value.loc, left, right)
        if fn in _COMPARISONS and left is not None and right is not None:
            return bool(fn(left, right))
    if value.op == "unary" and value.fn in _UNARY and (number := known.get(value.value.name)) is not None:
        return _computed(value.fn, f"{_UNARY[value.fn]}{_shown(number)}", value.loc, number)
    if value.op == "unary" and value.fn is operator.not_ and (number := known.get(value.value.name)) is not None:
        return not number
    return None


def _number_of_call(function: Any, value: Any, known: dict[str, Number]) -> Number | None:
    if value.kws or value.vararg is not None:
        return None
    callee = _held(function, value.func)
    fn = next((fn for name, fn in _CALLS.items() if callee is STUBS[name]), None)
    numbers = [number for given in value.args if (number := known.get(given.name)) is not None]
    if fn is None or not numbers or len(numbers) != len(value.args):
        return None
    return _computed(fn, f"{fn.__name__}({', '.join(map(_shown, numbers))})", value.loc, *numbers)


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
        better = f", such as {_in_float(fn, numbers)}" if fn in _BINARY or fn in _UNARY else ""
        _refuse(f"{spelled} does not fit 64 bits; compute it in floating point{better}", place)
    number: Number = result
    return number


def _bits(fn: Any, *numbers: Any) -> int:
    """An upper bound of the bits that powers and shifts have; 0 for others."""
    if fn in (operator.pow, pow) and len(numbers) == 2 and numbers[1] > 0:
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
    ends = set(_ends_of_loops(function.blocks))
    for block in function.blocks.values():
        body: list[Any] = []
        for statement in block.body:
            if isinstance(statement, ir.Assign) and statement.target.name in ends:
                # A condition that does not change would be pruned, and with it what comes after the loop.
                of = statement.value.args[0]
                statement.value.args = (_call(function, statement, of, STUBS["bool"], body),)
            elif isinstance(statement, ir.Assign):
                _make_numbers_of(function, statement, known, body)
            body.append(statement)
        block.body = body


def _make_numbers_of(function: Any, statement: Any, known: dict[str, Number], body: list[Any]) -> None:
    """Puts calls of stubs before an assignment for the constants in it that become numbers of a metric."""
    value = statement.value

    def made(of: Any) -> Any:
        stub = _STUBS.get(type(_number(function, of, known)))
        return of if stub is None else _call(function, statement, of, stub, body)

    if isinstance(value, ir.Expr) and value.op == "unary" and value.fn is operator.invert:
        _assign(function, statement, _call(function, statement, value.value, STUBS["invert"], body))
    elif isinstance(value, ir.Expr) and value.op == "cast":  # What is returned.
        value.value = made(value.value)
    elif isinstance(value, ir.Expr) and value.op == "build_tuple":
        value.items = [made(item) for item in value.items]
    elif isinstance(value, ir.Expr) and value.op == "call" and _held(function, value.func) is not bool:
        value.args = tuple(made(one) for one in value.args)
        value.kws = tuple((name, made(one)) for name, one in value.kws)
    elif isinstance(value, ir.Expr) and value.op == "call":  # numba's bool makes an integer of a float first.
        if (number := known.get(value.args[0].name)) is not None:
            value.args = (_new(function, statement, "truth", ir.Const(bool(number), statement.loc), body),)
    elif statement.target.name not in known or len(function._definitions[statement.target.name]) > 1:
        # On several paths: a variable (begun anew it has another version: i, i.1), or the value of a conditional.
        _assign(function, statement, made(value))


_STUBS: dict[type, Any] = {kind: STUBS[kind.__name__] for kind in (bool, int, float)}


def _ends_of_loops(blocks: dict[int, Any]) -> Iterator[str]:
    """Names of the conditions by which loops begin again or end; numba calls ``bool`` for each."""
    graph = compute_cfg_from_blocks(blocks)
    for loop in graph.loops().values():
        for label in loop.body:
            end, after = blocks[label].body[-1], {block for block, _ in graph.successors(label)}
            if isinstance(end, ir.Branch) and loop.header in after and after & loop.exits:
                yield end.cond.name


def _assign(function: Any, statement: Any, value: Any) -> None:
    definitions, before = function._definitions[statement.target.name], statement.value
    function._definitions[statement.target.name] = [value if old is before else old for old in definitions]
    statement.value = value


def _call(function: Any, statement: Any, of: Any, stub: Any, body: list[Any]) -> Any:
    """Puts the call of a stub before the statement, and gives the variable of its result."""
    place = statement.loc
    callee = _new(function, statement, "stub", ir.Global(stub.__name__, stub, place), body)
    given = _new(function, statement, "given", of, body)
    return _new(function, statement, "number", ir.Expr.call(callee, (given,), (), place), body)


def _new(function: Any, statement: Any, what: str, value: Any, body: list[Any]) -> Any:
    """Puts an assignment of a new variable before the statement, and gives the variable."""
    target = statement.target.scope.redefine(f"$annudf_{what}", statement.loc)
    body.append(ir.Assign(value, target, statement.loc))
    function._definitions[target.name] = [value]
    return target
