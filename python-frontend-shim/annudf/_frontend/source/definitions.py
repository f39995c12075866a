# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The syntax tree that a function was compiled from, or none.

A file may be edited between its import and the first look at a function, and then holds another function. So a tree
counts only if Python compiles it to the very code of the function. It is kept for the code, so later edits do not
matter.
"""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import operator
import os
import types
import weakref
from typing import Any

from annudf._frontend.source.digest import codes_of, digest_of

_FUTURES = (
    functools.reduce(operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names))
    & ~inspect.CO_NESTED
)
"""Flags of code that ``from __future__ import`` sets."""
Tree = ast.FunctionDef | ast.Lambda


class _Source:
    """A text, with all that is defined in it."""

    def __init__(self, text: str, file: str, flags: int) -> None:
        self._file, self._flags = file, flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # A cell of a notebook may await.
        self._statements: list[ast.stmt] = self._compiled(text, ast.PyCF_ONLY_AST).body
        self._codes: dict[int, dict[tuple[str, int], list[types.CodeType]]] = {}

    def _compiled(self, what: str | ast.Module, flags: int = 0) -> Any:
        return compile(what, self._file, "exec", flags=self._flags | flags, dont_inherit=True)

    def _codes_of(self, statements: slice) -> dict[tuple[str, int], list[types.CodeType]]:
        """Code of functions, by name and first line."""
        key = -1 if statements.start is None else statements.start
        if key not in self._codes:
            found = self._codes[key] = {}
            for code in codes_of(self._compiled(ast.Module(self._statements[statements], []))):
                found.setdefault((code.co_name, code.co_firstlineno), []).append(code)
        return self._codes[key]

    def tree(self, code: types.CodeType) -> Tree | None:
        """The function's tree, if this code is what Python makes of it."""
        for number, node in enumerate(self._statements):
            if _first_line(node) <= code.co_firstlineno <= (node.end_lineno or node.lineno) and (
                # A file is compiled as a whole, a notebook's cell by its statements; a call of what the same text
                # imports is compiled in a way of its own.
                _is_among(code, self._codes_of(slice(None)))
                or _is_among(code, self._codes_of(slice(number, number + 1)))
            ):
                return _node(code, node)
        return None


def _is_among(code: types.CodeType, found: dict[tuple[str, int], list[types.CodeType]]) -> bool:
    # One line may have several lambdas, which their columns tell apart.
    places = code.co_name == "<lambda>"
    known = found.get((code.co_name, code.co_firstlineno), ())
    return any(digest_of(one, places=places) == digest_of(code, places=places) for one in known)


def _node(code: types.CodeType, inside: ast.stmt) -> Tree | None:
    if code.co_name == "<lambda>":
        return _lambda(code, [node for node in ast.walk(inside) if isinstance(node, ast.Lambda)])
    named = [node for node in ast.walk(inside) if isinstance(node, ast.FunctionDef) and node.name == code.co_name]
    return next((node for node in named if _first_line(node) == code.co_firstlineno), None)


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def _lambda(code: types.CodeType, nodes: list[ast.Lambda]) -> ast.Lambda | None:
    """The one that the code was compiled from: the smallest around the places of its instructions."""
    places = [(line, column) for line, _, column, _ in code.co_positions() if line is not None and column is not None]
    # The first instruction has the place of none of the body.
    body = [place for place in places if place != (code.co_firstlineno, 0)]

    def extent(node: ast.Lambda) -> tuple[tuple[int, int], tuple[int, int]]:
        end = node.body
        return (end.lineno, end.col_offset), (end.end_lineno or end.lineno, end.end_col_offset or end.col_offset)

    around = [
        node
        for node in nodes
        if [argument.arg for argument in node.args.args] == list(code.co_varnames[: code.co_argcount])
        and body
        and all(extent(node)[0] <= place <= extent(node)[1] for place in body)
    ]
    return max(around, key=lambda node: extent(node)[0], default=None)


_source = functools.lru_cache(maxsize=4)(_Source)

_known: weakref.WeakKeyDictionary[types.CodeType, Tree] = weakref.WeakKeyDictionary()


def remember(code: types.CodeType, tree: ast.FunctionDef) -> None:
    """Has `tree_of` give this tree, with the columns of its file, for code that was compiled from it."""
    _known[code] = tree


def tree_of(code: types.CodeType) -> Tree | None:
    """The tree of a function with the places of its file, which nobody may change.

    None where there is no source, as in an interactive session, or another one by now.
    """
    found = _known.get(code)
    if found is None and (found := _found(code)) is not None:
        _known[code] = found
    return found


def _found(code: types.CodeType) -> Tree | None:
    try:
        # The code is asked: a function would be unwrapped to what functools.wraps says it is.
        text = "".join(inspect.findsource(code)[0])
        return _source(text, code.co_filename, code.co_flags & _FUTURES).tree(code)
    except (OSError, TypeError, SyntaxError, ValueError, IndexError, RecursionError, MemoryError):
        return None  # An interactive function, or a file that is being edited.


def is_edited(code: types.CodeType) -> bool:
    """Whether the code is of a file, but not of what that holds by now."""
    return tree_of(code) is None and os.path.isfile(code.co_filename)
