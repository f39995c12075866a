# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Functions that are defined inside a metric's function: which one a call means, and what its arguments are.

numba-cuda-mlir inlines them, but takes the arguments of a call by their position alone, however they were given, and
leaves a function that it did not inline to the CUDA driver. So the arguments are bound here, by Python's own rules, in
numba's IR, where they are computed already; and what is left is refused.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from typing import Any, NoReturn

from numba_cuda_mlir.numba_cuda.core import inline_closurecall, interpreter
from numba_cuda_mlir.numba_cuda.core import ir as numba_ir
from numba_cuda_mlir.numba_cuda.core.analysis import compute_cfg_from_blocks
from numba_cuda_mlir.numba_cuda.core.ir_utils import dead_code_elimination

from annudf._frontend.numba.ncm import active
from annudf._frontend.source.report import unsupported

_OF_NUMBA = ("$", "closure__")
"""How names begin that are not the user's: of temporaries, and of what was inlined."""


def _on() -> bool:
    return getattr(active, "on", False)


class _Default:
    """An argument's default, which a message shows as ``b=...``."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "..."


def signature(code: types.CodeType, defaults: tuple[Any, ...]) -> inspect.Signature:
    """The signature of the function with this code; `defaults` belong to its last arguments by position."""
    last = code.co_argcount - len(defaults)
    kinds = (
        *[inspect.Parameter.POSITIONAL_ONLY] * code.co_posonlyargcount,
        *[inspect.Parameter.POSITIONAL_OR_KEYWORD] * (code.co_argcount - code.co_posonlyargcount),
        *[inspect.Parameter.KEYWORD_ONLY] * code.co_kwonlyargcount,
    )
    parameters = [
        inspect.Parameter(
            code.co_varnames[number],
            kind,
            default=_Default(defaults[number - last]) if last <= number < code.co_argcount else inspect.Parameter.empty,
        )
        for number, kind in enumerate(kinds)
    ]
    return inspect.Signature(parameters)


def name_of(code: types.CodeType) -> str:
    """What messages call a function inside another."""
    return "this lambda" if code.co_name == "<lambda>" else code.co_name


def _refuse(message: str, at: Any) -> NoReturn:
    unsupported(message, at.filename, at.line, at.col or 0)


def _bound(call: Any, made: Any, at: Any, function: Any) -> list[Any]:
    """The variables that a call gives the arguments of a function that is made in this one, in their order."""
    name = name_of(made.code)
    if made.code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        star = "*args" if made.code.co_flags & inspect.CO_VARARGS else "**kwargs"
        _refuse(f"{name} takes {star}; name its arguments", made.loc)
    if call.vararg or getattr(call, "varkwarg", None):
        _refuse(f"{name} is called with *; name the arguments", at)
    if not _is_made_before(call, made, function):
        _refuse(f"{_called(call, function)} may be called before it is defined; define it before, on every path", at)
    takes = signature(made.code, _defaults(made, function))
    try:
        arguments = takes.bind(*call.args, **dict(call.kws))
    except TypeError as error:
        _refuse(f"{name} takes {takes}, and is called with other arguments: {error}", at)
    arguments.apply_defaults()
    return [one.value if isinstance(one, _Default) else one for one in arguments.arguments.values()]


def _defaults(made: Any, function: Any) -> tuple[Any, ...]:
    """Variables with the defaults: they were computed where the function is made, and are not again in a call."""
    if not made.defaults:
        return ()
    if isinstance(made.defaults, tuple):
        return made.defaults
    items: tuple[Any, ...] = tuple(function.get_definition(made.defaults).items)
    return items


def _is_made_before(call: Any, made: Any, function: Any) -> bool:
    places = {}
    for label, block in function.blocks.items():
        for number, statement in enumerate(block.body):
            value = getattr(statement, "value", None)
            if value is call or value is made:
                places[id(value)] = (label, number)
    (at, number), (before, of) = places[id(call)], places[id(made)]
    if at == before:
        return of < number
    return before in compute_cfg_from_blocks(function.blocks).dominators()[at]


def _patch_arguments() -> None:
    original = inline_closurecall._get_callee_args

    def arguments(call: Any, callee: Any, at: Any, function: Any) -> Any:
        is_made = isinstance(callee, numba_ir.Expr) and callee.op == "make_function"
        if not (_on() and is_made and call.op == "call"):
            return original(call, callee, at, function)
        return _bound(call, callee, at, function)

    inline_closurecall._get_callee_args = arguments


def _patch_made() -> None:
    original = interpreter.Interpreter.op_MAKE_FUNCTION

    def made(self: Any, inst: Any, *, code: Any, kwdefaults: Any, **others: Any) -> None:
        if _on() and kwdefaults is not None:
            of = name_of(self.definitions[code][0].value)
            _refuse(
                f"{of} has a default after *, which a function inside a metric cannot have; leave out the *", self.loc
            )
        original(self, inst, code=code, kwdefaults=kwdefaults, **others)

    interpreter.Interpreter.op_MAKE_FUNCTION = made
    closure = interpreter.Interpreter.op_LOAD_CLOSURE

    def loaded(self: Any, inst: Any, **others: Any) -> None:
        try:
            closure(self, inst, **others)
        except NotImplementedError:
            if not _on():
                raise
            name = self.func_id.func.__code__._varname_from_oparg(inst.arg)
            _refuse(
                f"a function inside a metric reads '{name}', which has no value before it; assign it before def, and "
                "write a loop instead of a function that calls itself",
                self.loc,
            )

    interpreter.Interpreter.op_LOAD_CLOSURE = loaded


def _patch_rest() -> None:
    original = inline_closurecall.InlineClosureCallPass.run

    def run(self: Any) -> None:
        original(self)
        if _on() and any(_made(self.func_ir)):
            dead_code_elimination(self.func_ir)
            _refuse_rest(self.func_ir)

    inline_closurecall.InlineClosureCallPass.run = run


def _assignments(function: Any) -> Iterator[Any]:
    for _, block in sorted(function.blocks.items()):
        yield from (statement for statement in block.body if isinstance(statement, numba_ir.Assign))


def _made(function: Any) -> Iterator[Any]:
    for statement in _assignments(function):
        if isinstance(statement.value, numba_ir.Expr) and statement.value.op == "make_function":
            yield statement


def _called(call: Any, function: Any) -> str:
    """The variable that is called, for messages."""
    copied = {one.target.name: one.value.name for one in _assignments(function) if isinstance(one.value, numba_ir.Var)}
    name: str = call.func.name
    while name.startswith(_OF_NUMBA) and name in copied:
        name = copied[name]
    return "this function" if name.startswith(_OF_NUMBA) else f"'{name.split('.')[0]}'"


def _refuse_rest(function: Any) -> None:
    """Refuses functions that are still there: numba could not tell which one is called, or none is."""
    functions = {statement.target.name for statement in _made(function)}
    if not functions:
        return
    known = 0
    while known < len(functions):  # Copies of them, and of copies.
        known = len(functions)
        functions |= {
            statement.target.name
            for statement in _assignments(function)
            if isinstance(statement.value, numba_ir.Var) and statement.value.name in functions
        }
    for statement in _assignments(function):
        value = statement.value
        if isinstance(value, numba_ir.Expr) and value.op == "call" and value.func.name in functions:
            _refuse(
                f"{_called(value, function)} may be one of several functions here; give each its own name, and choose "
                "between their results",
                value.loc,
            )
    first = next(_made(function))
    _refuse(
        f"{name_of(first.value.code)} is a function that is kept in a variable, returned or given to another; "
        "call it by name",
        first.loc,
    )


_patch_arguments()
_patch_made()
_patch_rest()
