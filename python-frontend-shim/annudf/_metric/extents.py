# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What an axis of a capture stands for, as the functions of a metric index it.

``ctx.w[ctx.query, ctx.dim]`` has one entry a query and dimension. The syntax says so before anything
is compiled; that each index is inside its extent is proved by the compiler, whatever is found here.
"""

from __future__ import annotations

import ast
import contextlib
import dis
import types
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from annudf._frontend.source.definitions import tree_of
from annudf._frontend.source.digest import codes_of
from annudf._frontend.source.rewrite import attribute_names, holds_numbers, outside_names, plain_function
from annudf._frontend.source.syntax import bound_by_match
from annudf._frontend.source.vectors import is_call, is_length, names_of_lengths
from annudf._support.options import SYMBOLS, Extent
from annudf.errors import CaptureError, UnsupportedError

_MOST_FUNCTIONS = 64
"""Helpers that take ``ctx`` and are looked at."""

_BOUNDED = (ast.Mod, ast.FloorDiv, ast.BitAnd, ast.RShift)
"""What makes an index of a dimension one of a table: ``ctx.dim % 4``."""


@dataclass
class _Index:
    """What one index of one axis may be."""

    same: str = ""
    """"dim", "row" or "query" where it is nothing else."""
    mentions: set[str] = field(default_factory=set)
    is_bounded: bool = False


def inferred(
    shapes: Mapping[str, tuple[int, ...]], *functions: Callable[..., Any] | None, unread: Extent = "dim"
) -> dict[str, tuple[Extent, ...]]:
    """The extents of arrays of these shapes.

    Parameters
    ----------
    shapes : mapping of str to tuple of int
        By the capture's name.
    *functions : function or None
        The functions of a metric; the last parameter of each is ``ctx``.
    unread : extent
        The extent of an array of one axis that no function is known to index.

    Returns
    -------
    dict of str to tuple of extents
        The extents of each. If nothing is known, an array of one axis has extent `unread`; others have their lengths.

    Raises
    ------
    CaptureError
        The source of a function cannot be read, and its code does not tell how it indexes an array.

    Warns
    -----
    UserWarning
        No function reads an array.
    """
    uses: dict[tuple[str, int], list[_Index]] = {}
    arrays = [name for name, shape in shapes.items() if shape]
    # The compiler says what to do with others, such as math.sqrt.
    known = [one for one in functions if isinstance(one, types.FunctionType)]
    for function in known if arrays else ():
        if count := function.__code__.co_argcount:
            reader = _Reader(uses, {name: len(shape) for name, shape in shapes.items()})
            reader.read(function, function.__code__.co_varnames[count - 1])
            for name in arrays:
                if (name, 0) not in uses and (unsure := reader.unsure.get(name) or reader.unsure.get("")):
                    _refuse_unknown(name, len(shapes[name]), unsure)
    if known:
        _warn_of_unread(arrays, known)
    return {
        name: tuple(_extent(uses.get((name, axis), []), axis, shape, unread) for axis in range(len(shape)))
        for name, shape in shapes.items()
    }


def _extent(uses: list[_Index], axis: int, shape: tuple[int, ...], unread: Extent) -> Extent:
    for symbol in SYMBOLS:
        if any(use.same == symbol for use in uses):
            return symbol  # type: ignore[return-value]
    if any("dims" in use.mentions or ("dim" in use.mentions and not use.is_bounded) for use in uses):
        return "dim"
    return unread if not uses and len(shape) == 1 else shape[axis]


def _refuse_unknown(name: str, axes: int, function: types.FunctionType) -> NoReturn:
    row = '("row",)' if axes == 1 else '("row", "dim")' if axes == 2 else f'("row", {", ".join(["16"] * (axes - 1))})'
    raise CaptureError(
        f"the extents of capture '{name}' are unknown, as the source of {function.__name__} cannot be read; declare "
        f'them: \'{name}\': ivf_flat.capture({name}, extents={row}), where "dim" is one entry a dimension, "row" one '
        'an id, "query" one a query and a number that many entries'
    )


def _warn_of_unread(arrays: list[str], functions: list[types.FunctionType]) -> None:
    """Warns of arrays that no function reads, which have to fit an index nevertheless."""
    unread = dict.fromkeys(arrays)
    seen: set[types.FunctionType] = set()
    waiting = list(reversed(functions))
    while waiting and unread:
        function = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        attributes = attribute_names(function)
        unread = dict.fromkeys(name for name in unread if name not in attributes)
        with contextlib.suppress(UnsupportedError):  # Told when the function is compiled.
            outside = [value for _, value in outside_names(function)]
            held = [getattr(value, name, None) for value in outside if holds_numbers(value) for name in attributes]
            waiting += [helper for value in (*outside, *held) if (helper := plain_function(value)) is not None]
    first = functions[0]
    for name in unread:
        warnings.warn_explicit(
            f"{first.__name__} never reads ctx.{name}; drop '{name}' from captures, or read it",
            UserWarning,
            first.__code__.co_filename,
            first.__code__.co_firstlineno,
            module=first.__module__ or "__main__",  # None, of code made by exec, would tell nothing.
        )


class _Reader:
    """Collects the indices of captures over a function and the helpers that it gives ``ctx``."""

    def __init__(self, uses: dict[tuple[str, int], list[_Index]], axes: Mapping[str, int]) -> None:
        self.uses = uses
        self._axes = axes
        self.unsure: dict[str, types.FunctionType] = {}
        """Functions without source that read a capture in another way than by indices of ``ctx``; "" is any capture."""
        self._seen: set[tuple[types.FunctionType, str]] = set()

    def read(self, function: types.FunctionType, ctx: str) -> None:
        if (function, ctx) in self._seen or len(self._seen) >= _MOST_FUNCTIONS:
            return
        self._seen.add((function, ctx))
        tree = tree_of(function.__code__)
        if tree is None:
            self._read_code(function, ctx)
            return
        body = tree.body if isinstance(tree, ast.FunctionDef) else [tree.body]
        nodes = [node for statement in body for node in ast.walk(statement)]
        scope = _Scope(ctx, nodes)
        for node in nodes:
            if isinstance(node, ast.Subscript) and (name := scope.attribute(node.value)):
                entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                for axis, entry in enumerate(entries):
                    self.uses.setdefault((name, axis), []).append(scope.index(entry))
        calls = [(node, at) for node in nodes if isinstance(node, ast.Call) for at in scope.places(node)]
        if calls:
            self._read_helpers(function, calls)

    def _read_code(self, function: types.FunctionType, ctx: str) -> None:
        """Reads a function without source. Its code shows ``ctx.w[ctx.query, ctx.dim]``, but no other indices."""
        for code in codes_of(function.__code__):
            names = _attributes_of(code, ctx)
            reads = [name for name in names if name and not name.startswith("[") and name not in _INDICES]
            found = [(name, names[at + 1 :]) for at, name in enumerate(names) if name in reads]
            for name, after in found:
                end = next((at for at, one in enumerate(after) if one not in SYMBOLS), len(after))
                if 0 < end < len(after) and after[end] == f"[{end}]":
                    for axis, symbol in enumerate(after[:end]):
                        self.uses.setdefault((name, axis), []).append(_Index(symbol, {symbol}))
                elif self._axes.get(name) == 1 and not any(one in names for one in ("row", "query", "list", _GIVEN)):
                    self.uses.setdefault((name, 0), []).append(_Index("", {"dim"} & {*names} or {"dims"} & {*names}))
                elif any(one in names for one in (*_INDICES, _GIVEN)):
                    self.unsure[name] = function
                else:
                    self.uses.setdefault((name, 0), []).append(_Index())
            if _GIVEN in names:
                self.unsure[""] = function

    def _read_helpers(self, function: types.FunctionType, calls: list[tuple[ast.Call, int | str]]) -> None:
        outside: dict[str, object] = {}
        with contextlib.suppress(UnsupportedError):  # Told when the function is compiled.
            outside = dict(outside_names(function))
        for call, at in calls:
            value: object = None
            if isinstance(call.func, ast.Name):
                value = outside.get(call.func.id)
            elif isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
                value = getattr(outside.get(call.func.value.id), call.func.attr, None)
            helper = plain_function(value)
            if helper is not None:
                names = helper.__code__.co_varnames[: helper.__code__.co_argcount]
                if isinstance(at, str) or at < len(names):
                    self.read(helper, at if isinstance(at, str) else names[at])


_INDICES = ("dim", "dims", "row", "query", "list")
_GIVEN = "[given]"
"""Stands for ctx itself, given to a helper or kept in a variable."""


def _attributes_of(code: types.CodeType, ctx: str) -> list[str]:
    """What the code reads of ctx in its order; ``"[n]"`` where n of them in a row index, and "" for all else."""
    found: list[str] = []
    instructions = [one for one in dis.get_instructions(code) if one.opname not in _SILENT]
    count = 1
    for at, instruction in enumerate(instructions):
        operation, argument = instruction.opname, instruction.argval
        loaded = argument if isinstance(argument, tuple) else (argument,)
        if operation.startswith("LOAD_") and operation != "LOAD_ATTR" and ctx in loaded:
            after = instructions[at + 1] if at + 1 < len(instructions) else None
            reads = after is not None and after.opname in ("LOAD_ATTR", "LOAD_METHOD") and loaded[-1] == ctx
            found.append(str(after.argval) if reads and after is not None else _GIVEN)
        elif operation == "BUILD_TUPLE":
            count = instruction.arg or 0
            continue
        elif operation == "BINARY_SUBSCR" or (operation == "BINARY_OP" and instruction.argrepr == "[]"):
            found.append(f"[{count}]")
        elif operation not in ("LOAD_ATTR", "LOAD_METHOD"):
            found.append("")
        count = 1
    return found


_SILENT = ("CACHE", "RESUME", "NOP", "EXTENDED_ARG", "NOT_TAKEN", "PRECALL")


class _Scope:
    """The names of one function: ``ctx``, and variables that were assigned something of it."""

    def __init__(self, ctx: str, nodes: list[ast.AST]) -> None:
        self._ctx = ctx
        self._assigned: dict[str, list[ast.expr | None]] = {}
        lengths = names_of_lengths(nodes)
        for node in nodes:
            for target, value in _assignments(node, lengths):
                if isinstance(target, ast.Name):
                    self._assigned.setdefault(target.id, []).append(value)
        self._open: set[str] = set()

    def _is_ctx(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == self._ctx

    def attribute(self, node: ast.AST) -> str:
        """The name that is read of ctx, or "" for what is no such read."""
        if isinstance(node, ast.Name) and len(values := self._assigned.get(node.id, [])) == 1 and values[0] is not None:
            node = values[0]  # w = ctx.w
        return node.attr if isinstance(node, ast.Attribute) and self._is_ctx(node.value) else ""

    def places(self, call: ast.Call) -> Iterator[int | str]:
        """Where a call hands ctx over: a position or a keyword."""
        yield from (position for position, given in enumerate(call.args) if self._is_ctx(given))
        yield from (keyword.arg for keyword in call.keywords if keyword.arg and self._is_ctx(keyword.value))

    def index(self, node: ast.AST) -> _Index:
        if node is _COUNTER:
            return _Index("dim", {"dim"})
        if isinstance(node, ast.Attribute) and self._is_ctx(node.value):
            return _Index(node.attr if node.attr in SYMBOLS else "", {node.attr})
        if isinstance(node, ast.Subscript) and self.attribute(node.value):
            return _Index()  # What an array holds is no place in the vectors: ctx.table[ctx.code[ctx.dim]].
        if isinstance(node, ast.Name) and node.id in self._assigned and node.id not in self._open:
            self._open.add(node.id)
            found = [_Index() if value is None else self.index(value) for value in self._assigned[node.id]]
            self._open.discard(node.id)
            same = {one.same for one in found}
            return _joined(found, same.pop() if len(same) == 1 else "")
        found = [self.index(child) for child in ast.iter_child_nodes(node)]
        whole = _joined(found)
        if isinstance(node, ast.BinOp) and isinstance(node.op, _BOUNDED):
            whole.is_bounded = True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "min":
            whole.is_bounded = True
        return whole


_COUNTER = ast.Name("dim", ast.Load())
"""Stands for the counter of a loop over all coordinates."""


def _is_over_dimensions(node: ast.expr, lengths: Collection[str]) -> bool:
    return is_call(node, "range", 1) and is_length(node.args[0], lengths)


def _joined(found: list[_Index], same: str = "") -> _Index:
    return _Index(same, set().union(*(one.mentions for one in found)), any(one.is_bounded for one in found))


def _assignments(node: ast.AST, lengths: Collection[str]) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Targets and values; None for a value that is no expression of its own."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Tuple):
                values = node.value.elts if isinstance(node.value, ast.Tuple) else []
                same = len(values) == len(target.elts)
                yield from ((one, values[i] if same else None) for i, one in enumerate(target.elts))
            else:
                yield target, node.value
    elif isinstance(node, ast.AugAssign):
        yield node.target, ast.BinOp(node.target, node.op, node.value)
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
        yield node.target, node.value
    elif isinstance(node, ast.Match):  # Patterns are numbers, so what has a name is the subject.
        for name in bound_by_match(node):
            yield ast.Name(name, ast.Store()), node.subject
    elif isinstance(node, ast.For):
        yield node.target, _COUNTER if _is_over_dimensions(node.iter, lengths) else None
