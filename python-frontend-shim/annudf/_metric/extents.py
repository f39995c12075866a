# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What an axis of a capture stands for, as the functions of a metric index it.

``ctx.w[ctx.query, ctx.dim]`` has one entry a query and dimension. The syntax says so before anything
is compiled; that each index is inside its extent is proved by the compiler, whatever is found here.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from annudf._frontend.rewrite import outside_names, plain_function
from annudf._frontend.syntax import Source, bound_by_match
from annudf._options import SYMBOLS, Extent
from annudf.errors import UnsupportedError

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
        Of a metric; the last parameter of each is ``ctx``.
    unread : extent
        What an array of one axis has one entry of where nothing is known of it.

    Returns
    -------
    dict of str to tuple of extents
        Of what nothing is known, an array of one axis has extent `unread`, and others their lengths.
    """
    uses: dict[tuple[str, int], list[_Index]] = {}
    if any(shapes.values()):
        for function in functions:
            # Of what is none, as math.sqrt, the compiler says what to do with it.
            if isinstance(function, types.FunctionType) and (count := function.__code__.co_argcount):
                _Reader(uses).read(function, function.__code__.co_varnames[count - 1])
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


class _Reader:
    """Collects the indices of captures over a function and the helpers that it gives ``ctx``."""

    def __init__(self, uses: dict[tuple[str, int], list[_Index]]) -> None:
        self.uses = uses
        self._seen: set[tuple[types.FunctionType, str]] = set()

    def read(self, function: types.FunctionType, ctx: str) -> None:
        if (function, ctx) in self._seen or len(self._seen) >= _MOST_FUNCTIONS:
            return
        self._seen.add((function, ctx))
        tree = _tree(function)
        if tree is None:
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


class _Scope:
    """The names of one function: ``ctx``, and variables that were assigned something of it."""

    def __init__(self, ctx: str, nodes: list[ast.AST]) -> None:
        self._ctx = ctx
        self._assigned: dict[str, list[ast.expr | None]] = {}
        for node in nodes:
            for target, value in _assignments(node):
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


def _joined(found: list[_Index], same: str = "") -> _Index:
    return _Index(same, set().union(*(one.mentions for one in found)), any(one.is_bounded for one in found))


def _assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
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
        yield node.target, None


def _tree(function: types.FunctionType) -> ast.FunctionDef | ast.Lambda | None:
    if function.__name__ != "<lambda>":
        tree = Source(function).tree
        return tree if isinstance(tree, ast.FunctionDef) else None
    code = function.__code__
    with contextlib.suppress(OSError, TypeError, SyntaxError, RecursionError):
        return _lambda(code, "".join(inspect.findsource(code)[0]))
    return None


@functools.lru_cache(maxsize=8)
def _lambdas(text: str) -> list[ast.Lambda]:
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Lambda)]


def _lambda(code: types.CodeType, text: str) -> ast.Lambda | None:
    """The one that the code was compiled from: the smallest around the places of its instructions."""
    places = [(line, column) for line, _, column, _ in code.co_positions() if line is not None and column is not None]
    # The first instruction has the place of none of the body.
    body = [place for place in places if place != (code.co_firstlineno, 0)]

    def extent(node: ast.Lambda) -> tuple[tuple[int, int], tuple[int, int]]:
        end = node.body
        return (end.lineno, end.col_offset), (end.end_lineno or end.lineno, end.end_col_offset or end.col_offset)

    around = [
        node
        for node in _lambdas(text)
        if [argument.arg for argument in node.args.args] == list(code.co_varnames[: code.co_argcount])
        and body
        and all(extent(node)[0] <= place <= extent(node)[1] for place in body)
    ]
    return max(around, key=lambda node: extent(node)[0], default=None)
