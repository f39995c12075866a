# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What a decorator can say about a metric's functions without numba-cuda-mlir."""

from __future__ import annotations

import ast
import dis
import types
import warnings
import weakref
from collections.abc import Collection, Iterable

from annudf._frontend.source.methods import reads_fields
from annudf._frontend.source.report import unsupported
from annudf._frontend.source.rewrite import check_attributes, is_namespace
from annudf._frontend.source.syntax import Source, check, own_signature
from annudf._frontend.source.vectors import LOOP, VECTORS
from annudf._support.options import MetricOptions

_ACCUMULATOR = 2
"""Which argument it is."""

INDICES = ("dim", "dims", "row", "query", "list")
"""What ``ctx`` says of where the scan is."""

_INIT = "has no meaning in init, which may be called once for many rows; use it in update"
ABSENT: dict[str, dict[str, str]] = {
    "update": {},
    "combine": {"dim": "ctx.dim has no meaning in combine, which joins what many dimensions gave; use it in update"},
    "finalize": {"dim": "ctx.dim has no meaning in finalize, which is called once a row; use it in update"},
    "init": {"dim": f"ctx.dim {_INIT}", "row": f"ctx.row {_INIT}"},
    "distance": {
        "dim": f"ctx.dim has no meaning in a metric of two vectors; write a loop, whose counter it is: {LOOP}",
    },
    "filter": {
        "dim": "ctx.dim has no meaning in a filter, which sees no coordinates; it has ctx.row, ctx.query, ctx.list and "
        "ctx.dims",
    },
    "function": {
        name: f"ctx.{name} has no meaning in a device function, which no search calls; take it as an argument"
        for name in INDICES
    },
}
"""The attributes of ``ctx`` that a hook does not have, and what a message says about each."""


def no_attribute(name: str, hook: str, captures: Iterable[str]) -> str:
    """What a message says of ``ctx.<name>``, or nothing if there is one."""
    if refusal := ABSENT[hook].get(name):
        return refusal
    captures = tuple(captures)
    if name in INDICES or name in captures:
        return ""
    known = ", ".join(f"ctx.{one}" for one in (*INDICES, *captures) if one not in ABSENT[hook])
    return f"there is no ctx.{name}; there are {known} (declare arrays and scalars in captures={{...}})"


_checked: weakref.WeakSet[types.CodeType] = weakref.WeakSet()


def check_early(function: types.FunctionType) -> None:
    """Refuses what the function's own syntax shows; its helpers and globals may come later.

    Raises
    ------
    UnsupportedError
    """
    if function.__code__ not in _checked:  # A factory decorates the same code each time.
        check(Source(function))
        _checked.add(function.__code__)


def check_hooks(update: types.FunctionType, options: MetricOptions) -> None:
    """Refuses what the functions of a metric show with its options, before anything is compiled.

    Raises
    ------
    UnsupportedError
    """
    if options.is_pairwise:
        check_early(update)
        kinds = [_WHOLE] * VECTORS
        _check_use(update, "distance", kinds, update.__code__.co_argcount > VECTORS, options.captures, True)
        return
    acc = _HAS_FIELDS if isinstance(options.accumulator, tuple) else _ONE_ACCUMULATOR
    hooks: tuple[tuple[object, str, dict[str, str]], ...] = (
        (update, "update", {"x": _COORDINATE, "y": _COORDINATE, "acc": acc}),
        (options.finalize, "finalize", {"acc": acc}),
        (options.init, "init", {}),
        (options.combine, "combine", {"acc": acc, "other": acc}),
    )
    for hook, kind, parameters in hooks:
        if isinstance(hook, types.FunctionType):
            has_context = takes_context(hook, tuple(parameters))
            check_early(hook)
            _check_use(hook, kind, list(parameters.values()), has_context, options.captures)


_COORDINATE = (
    "a number has no entries; leave out [...]: x and y are the coordinates of dimension ctx.dim already, "
    "and a scalar capture is ctx.p"
)
_ONE_ACCUMULATOR = (
    "the accumulator is one number, as initial is; give initial a number a field, such as initial=(0.0, 0.0), or leave "
    "out [...]"
)
_HAS_FIELDS = ""
_WHOLE = ""
"""A vector, which has entries."""


def _check_use(
    function: types.FunctionType,
    kind: str,
    entries: list[str],
    has_context: bool,
    captures: Collection[str],
    has_vectors: bool = False,
) -> None:
    """Refuses entries of numbers, what ctx does not have, and functions that no metric can call."""
    source = Source(function)
    given = function.__code__.co_varnames[: function.__code__.co_argcount]
    # A variable that is assigned, or is another function's argument too, may be something else by then.
    unsure = source.assigned_names() | {*function.__code__.co_freevars}
    refusals = {name: text for name, text in zip(given, entries, strict=False) if text and name not in unsure}
    ctx = given[len(entries)] if has_context and given[len(entries)] not in unsure else ""
    for node in source.subscripts_and_attributes():
        assert isinstance(node.value, ast.Name)
        if isinstance(node, ast.Subscript) and node.value.id in refusals:
            source.refuse(node, refusals[node.value.id])
        of_context = node.attr if isinstance(node, ast.Attribute) and node.value.id == ctx else ""
        if of_context and (message := no_attribute(of_context, kind, captures)):
            source.refuse(node, message)
    # Helpers, constants and modules of the user's may change until the metric is compiled.
    modules = {name: value for name, value in function.__globals__.items() if is_namespace(value)}
    known = {name: value for name, value in modules.items() if name not in (*unsure, *given)}
    check_attributes(source, known, has_vectors)


def takes_context(function: types.FunctionType, names: tuple[str, ...]) -> bool:
    """Whether the function takes ctx; refuses other signatures."""
    expected = f"{function.__name__}({', '.join(names)}, ctx)"
    signature = own_signature(function)
    parameters = list(signature.parameters.values())
    given = [p.name for p in parameters]
    for position, name in enumerate((*names, "ctx")):
        if name in given and given.index(name) != position:
            unsupported(
                f"takes {signature}: '{name}' is in the wrong place; a metric's function is {expected}",
                function.__code__.co_filename, function.__code__.co_firstlineno,
            )  # fmt: skip
    plain = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
    if not plain or len(parameters) not in (len(names), len(names) + 1):
        unsupported(
            f"takes {signature}; a metric's function is {expected}", function.__code__.co_filename,
            function.__code__.co_firstlineno,
        )  # fmt: skip
    return len(parameters) == len(names) + 1


def reads_accumulator(function: types.FunctionType, position: int = _ACCUMULATOR) -> bool:
    """Whether the argument at that position is read anywhere in the function."""
    code = function.__code__
    if not reads_fields(code):
        return False
    acc = code.co_varnames[position] if code.co_argcount > position else ""
    for instruction in dis.get_instructions(code):
        names = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        is_read = instruction.opname.startswith(("LOAD_", "STORE_FAST_LOAD")) or "CLOSURE" in instruction.opname
        if is_read and acc in names:
            return True
    return False


def warn_of_unread_accumulator(name: str, update: types.FunctionType, finalize: types.FunctionType | None) -> None:
    """Warns where update or finalize never reads the accumulator, unless that is named as one that is not: ``_acc``."""
    for function, position in ((update, _ACCUMULATOR), (finalize, 0)):
        code = function.__code__ if function is not None else None
        if function is None or code is None or code.co_argcount <= position:
            continue
        acc = code.co_varnames[position]
        if acc.startswith("_") or reads_accumulator(function, position):
            continue
        is_meant = f"or call the argument _{acc} if that is meant"
        if function is finalize:
            told = f"finalize never reads {acc}, so no coordinate counts; compute the distance from it, {is_meant}"
            if not reads_fields(code):
                told = "finalize reads no field, so no coordinate counts; compute the distance from them"
        elif reads_fields(code):
            told = f"the result does not depend on {acc}, so only the last dimension counts; return {acc} + ..., "
            told += is_meant
        else:
            told = "update reads no field, so only the last dimension counts; write += instead of ="
        warnings.warn_explicit(
            f"metric {name}: {told}",
            UserWarning,
            code.co_filename,
            code.co_firstlineno,
            module=function.__module__ or "__main__",
        )
