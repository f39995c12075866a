# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Checks of how long two vectors are, which a function of them begins with: ``if x.shape[0] != 2: raise``."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection

from annudf._frontend.source.syntax import Source


class Lengths:
    """What the statements at the top of a function check of its two vectors, whose lengths are always equal.

    Attributes
    ----------
    dims : int or None
        The number of dimensions that they ask for.
    rest : list of ast.stmt
        The other statements.
    """

    def __init__(self, tree: ast.FunctionDef, source: Source, vectors: Collection[str]) -> None:
        stored = Counter(
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
        self._vectors = {name for name in vectors if not stored[name]}
        self._names = {
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign) and self._is_length(node.value)
            for target in node.targets
            if isinstance(target, ast.Name) and stored[target.id] == 1
        }
        self.dims: int | None = None
        self.rest: list[ast.stmt] = []
        for statement in tree.body:
            compared = _compared(statement)
            if compared is None or not self._holds(*compared):
                self.rest.append(statement)
            elif self.dims is not None and self._asked is not None and self._asked != self.dims:
                source.refuse(statement, f"this asks for {self._asked} dimensions, and a check before for {self.dims}")
            else:
                self.dims = self._asked or self.dims

    def _holds(self, left: ast.expr, right: ast.expr) -> bool:
        """Whether lengths are compared, with each other or with the number of dimensions that is asked for."""
        self._asked: int | None = None
        if self._is_length(right):
            left, right = right, left
        if not self._is_length(left):
            return self._is_shape(left) and self._is_shape(right)
        if isinstance(right, ast.Constant) and type(right.value) is int and right.value > 0:
            self._asked = right.value
            return True
        return self._is_length(right)

    def _is_length(self, node: ast.expr) -> bool:
        """``x.shape[0]``, ``x.size``, ``len(x)``, or a variable with that."""
        if isinstance(node, ast.Subscript):
            return self._is_shape(node.value) and isinstance(node.slice, ast.Constant) and node.slice.value == 0
        if isinstance(node, ast.Call):
            is_len = isinstance(node.func, ast.Name) and node.func.id == "len" and not node.keywords
            return is_len and len(node.args) == 1 and self._is_vector(node.args[0])
        if isinstance(node, ast.Attribute):
            return node.attr == "size" and self._is_vector(node.value)
        return isinstance(node, ast.Name) and node.id in getattr(self, "_names", ())

    def _is_shape(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Attribute) and node.attr == "shape" and self._is_vector(node.value)

    def _is_vector(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self._vectors


def _compared(statement: ast.stmt) -> tuple[ast.expr, ast.expr] | None:
    """What a statement raises an exception for unless it is equal."""
    equal: type[ast.cmpop]
    if isinstance(statement, ast.Assert):
        test, equal = statement.test, ast.Eq
    elif (
        isinstance(statement, ast.If)
        and not statement.orelse
        and len(statement.body) == 1
        and isinstance(statement.body[0], ast.Raise)
    ):
        test, equal = statement.test, ast.NotEq
    else:
        return None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], equal):
        return None
    return test.left, test.comparators[0]
