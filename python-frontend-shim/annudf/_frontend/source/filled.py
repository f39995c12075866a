# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Arrays that a loop over the coordinates fills, as expressions of whole vectors.

``for i in range(n): d[i] = x[i] - y[i]`` becomes ``d = x - y``, and ``for i in range(1, n): c[i] += c[i - 1]`` becomes
``c = np.cumsum(c)``. Each assignment is of a new variable. A function that fills arrays in another way stays as it is,
and is refused at the first entry that it assigns.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from annudf._frontend.source.trees import names

GIVEN: dict[str, Any] = {"annudf_cumsum": np.cumsum, "annudf_where": np.where}
"""Functions that a changed tree calls by these names."""
_CUMSUM, _WHERE = GIVEN
MADE = ("empty", "empty_like", "zeros", "zeros_like", "ones", "full")
_FLOATS = ("float", "np.float32", "np.float64", "numpy.float32", "numpy.float64", "'float'", "'float32'", "'float64'")
_Node = TypeVar("_Node", bound=ast.AST)


class _AnotherWayError(Exception):
    """Arrays are filled in a way that is not known here."""


def with_expressions(tree: ast.FunctionDef, is_length: Callable[[ast.expr], bool]) -> ast.FunctionDef | None:
    """The function without assignments of entries; None where it has none, or others than are known here."""
    filled = {one.value.id for one in _stores([tree]) if isinstance(one.value, ast.Name)}
    if not filled:
        return None
    result = copy.deepcopy(tree)
    try:
        result.body = _Filled(result, filled, is_length).statements(result.body)
    except _AnotherWayError:
        return None
    return result


def _stores(nodes: Iterable[ast.AST]) -> list[ast.Subscript]:
    inner = (one for node in nodes for one in ast.walk(node))
    return [one for one in inner if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store)]


def _names(nodes: Iterable[ast.AST], context: type[ast.expr_context]) -> list[str]:
    inner = (one for node in nodes for one in ast.walk(node))
    return [one.id for one in inner if isinstance(one, ast.Name) and isinstance(one.ctx, context)]


def _at(node: _Node, place: ast.AST) -> _Node:
    for one in ast.walk(node):
        if "lineno" in one._attributes and not hasattr(one, "lineno"):
            ast.copy_location(one, place)
    return node


def _is_float(node: ast.expr) -> bool:
    """Whether it is seen to be: ``1.0``, ``-np.inf``."""
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    if isinstance(node, ast.Attribute):
        return ast.unparse(node) in ("np.inf", "np.nan", "numpy.inf", "numpy.nan", "math.inf", "math.nan")
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


class _Substituted(ast.NodeTransformer):
    """Expressions in place of the variables that hold them."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        is_read = isinstance(node.ctx, ast.Load) and node.id in self._values
        return copy.deepcopy(self._values[node.id]) if is_read else node


class _Vectors(ast.NodeTransformer):
    """``x[i]`` as ``x``."""

    def __init__(self, counter: str) -> None:
        self._counter, self.found = counter, False

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.slice, ast.Name) and node.slice.id == self._counter:
            self.found = True
            return node.value
        raise _AnotherWayError

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id == self._counter:
            raise _AnotherWayError
        return node


class _Filled:
    """Rewrites statements in their order, with the variable that each array is in then."""

    def __init__(self, tree: ast.FunctionDef, filled: set[str], is_length: Callable[[ast.expr], bool]) -> None:
        self._filled, self._is_length = filled, is_length
        self._taken = set(names(tree))
        self._stored = Counter(_names([tree], ast.Store))
        self._arguments = {one.arg for one in ast.walk(tree.args) if isinstance(one, ast.arg)}
        self._now: dict[str, str | None] = {name: name for name in self._arguments}
        """None: an array of whose values none are read, or of zeros."""
        self.zeros: set[str] = set()

    def statements(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [made for one in body for made in self._statement(one)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if _stores([node]):
            if isinstance(node, ast.For):
                return self._loop(node)
            if isinstance(node, ast.If):
                return self._branches(node)
            raise _AnotherWayError
        if not self._filled.intersection(_names([node], ast.Store)):
            return [self._renamed(node)]
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            raise _AnotherWayError
        name = node.targets[0].id
        if self._is_made(node.value):
            self._now[name] = None
            assert isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute)
            if node.value.func.attr.startswith("zeros"):
                self.zeros.add(name)
            return []
        return [self._assigned(name, self._renamed(node.value), node)]

    def _is_made(self, value: ast.expr) -> bool:
        """Whether it is an array of so many floats, without values of its own: ``np.empty(x.shape[0])``."""
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or value.func.attr not in MADE:
            return False
        if len(value.args) != (2 if value.func.attr == "full" else 1) or any(
            one.arg != "dtype" or ast.unparse(one.value) not in _FLOATS for one in value.keywords
        ):
            raise _AnotherWayError
        if value.func.attr == "full" and not value.keywords and not _is_float(value.args[1]):
            raise _AnotherWayError  # It may be of integers, as its fill is.
        size = value.args[0]
        if value.func.attr.endswith("_like"):
            if value.keywords or not isinstance(size, ast.Name):
                raise _AnotherWayError  # It may hold integers.
        elif isinstance(size, ast.Tuple) and len(size.elts) == 1:
            size = size.elts[0]
        is_like = value.func.attr.endswith("_like")
        if not is_like and not self._is_length(size) and getattr(size, "attr", "") != "shape":
            raise _AnotherWayError
        return True

    def _assigned(self, name: str, value: ast.expr, place: ast.stmt) -> ast.stmt:
        """Puts a value into a new variable, which is the array from now on."""
        number = 1
        while (new := f"{name}_{number}") in self._taken:
            number += 1
        self._taken.add(new)
        self._now[name] = new
        return _at(ast.Assign([ast.Name(new, ast.Store())], value), place)

    def is_zeros(self, name: str) -> bool:
        return self._now.get(name, name) is None and name in self.zeros

    def _renamed(self, node: _Node) -> _Node:
        """A copy that reads arrays from the variables that they are in."""
        node = copy.deepcopy(node)
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and one.id in self._filled and isinstance(one.ctx, ast.Load):
                now = self._now.get(one.id)
                if now is None:
                    raise _AnotherWayError
                one.id = now
        return node

    def _loop(self, node: ast.For, may_be_number: bool = False) -> list[ast.stmt]:
        call = node.iter
        is_range = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
        if not is_range or not isinstance(node.target, ast.Name) or node.orelse:
            raise _AnotherWayError
        assert isinstance(call, ast.Call)
        if len(call.args) == 2 and ast.unparse(call.args[0]) == "1" and self._is_length(call.args[1]):
            return [self._cumulative(one, node.target.id) for one in node.body]
        if len(call.args) != 1 or not self._is_length(call.args[0]):
            raise _AnotherWayError
        return _Distributed(self, node, node.target.id, may_be_number).statements

    def _cumulative(self, node: ast.stmt, counter: str) -> ast.stmt:
        """``c[i] += c[i - 1]``."""
        if not isinstance(node, ast.AugAssign) or not isinstance(node.op, ast.Add):
            raise _AnotherWayError
        target = node.target
        name = target.value.id if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) else ""
        if ast.unparse(target) != f"{name}[{counter}]" or ast.unparse(node.value) != f"{name}[{counter} - 1]":
            raise _AnotherWayError
        before = self._renamed(ast.copy_location(ast.Name(name, ast.Load()), node))
        return self._assigned(name, ast.Call(ast.Name(_CUMSUM, ast.Load()), [before], []), node)

    def _branches(self, node: ast.If) -> list[ast.stmt]:
        """Both are computed, as they have no effect, and each array is of one."""
        test, before = self._renamed(node.test), dict(self._now)
        result: list[ast.stmt] = []
        ends: list[dict[str, str | None]] = []
        for body in (node.body, node.orelse):
            self._now = dict(before)
            for one in body:
                made = self._loop(one, True) if isinstance(one, ast.For) and _stores([one]) else self._statement(one)
                if any(not isinstance(each, ast.Assign) for each in made):
                    raise _AnotherWayError
                result += made
            ends.append(self._now)
        if any(self._stored[name] > 1 or name in self._arguments for name in _names(result, ast.Store)):
            raise _AnotherWayError
        self._now = dict(before)
        for name in self._filled:
            chosen = [end.get(name) for end in ends]
            if chosen[0] == chosen[1]:
                continue
            values: list[ast.expr] = [ast.Name(one, ast.Load()) for one in chosen if one is not None]
            if len(values) < 2:
                raise _AnotherWayError
            choice = ast.Call(ast.Name(_WHERE, ast.Load()), [copy.deepcopy(test), *values], [])
            result.append(self._assigned(name, choice, node))
        return result


class _Distributed:
    """A loop that fills arrays as one expression for each, and loops for the statements between."""

    def __init__(self, of: _Filled, node: ast.For, counter: str, may_be_number: bool) -> None:
        self._of, self._node, self._counter, self._may_be_number = of, node, counter, may_be_number
        self._in_loop = Counter(_names(node.body, ast.Store))
        self._temporary: dict[str, ast.expr] = {}
        """Values of variables of one turn, which loops after the one that computes them compute again."""
        self._of_group: dict[str, ast.expr] = {}
        self._group: list[ast.stmt] = []
        self._groups: list[list[ast.stmt]] = []
        self.statements: list[ast.stmt] = []
        self._check_reads()
        for one in node.body:
            if _stores([one]):
                self._end_group()
                self._fill(one)
            else:
                self._keep(one)
        self._end_group()
        self._check_groups()

    def _check_reads(self) -> None:
        """Arrays that the loop fills are read at its counter only: other entries are of another turn."""
        own = {one.value.id for one in _stores(self._node.body) if isinstance(one.value, ast.Name)}
        inner = [one for statement in self._node.body for one in ast.walk(statement)]
        if any(isinstance(one, ast.Break | ast.Continue | ast.Return) for one in inner):
            raise _AnotherWayError
        reads = [one for one in inner if isinstance(one, ast.Name) and one.id in own]
        entries = [
            one
            for one in inner
            if isinstance(one, ast.Subscript)
            and isinstance(one.value, ast.Name)
            and one.value.id in own
            and isinstance(one.slice, ast.Name)
            and one.slice.id == self._counter
        ]
        if len(reads) != len(entries):
            raise _AnotherWayError

    def _keep(self, node: ast.stmt) -> None:
        kept = _Substituted(self._temporary).visit(self._of._renamed(node))
        self._group.append(kept)
        if isinstance(kept, ast.Assign) and len(kept.targets) == 1 and isinstance(kept.targets[0], ast.Name):
            name = kept.targets[0].id
            if self._in_loop[name] == 1 and name not in _names([kept.value], ast.Load):
                self._of_group[name] = kept.value

    def _fill(self, node: ast.stmt) -> None:
        if not isinstance(node, ast.AugAssign | ast.Assign):
            raise _AnotherWayError
        targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets
        target = targets[0]
        if len(targets) > 1 or not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            raise _AnotherWayError
        value = _Substituted(self._temporary).visit(self._of._renamed(node.value))
        if self._in_loop.keys() & _names([value], ast.Load):
            raise _AnotherWayError
        vectors = _Vectors(self._counter)
        value, name = vectors.visit(value), target.value.id
        if isinstance(node, ast.AugAssign) and self._of.is_zeros(name) and isinstance(node.op, ast.Add):
            pass  # Added to nothing.
        elif isinstance(node, ast.AugAssign):
            before = self._of._renamed(ast.copy_location(ast.Name(name, ast.Load()), node))
            value, vectors.found = ast.BinOp(before, node.op, value), True
        if not vectors.found and not self._may_be_number:
            raise _AnotherWayError
        self.statements.append(self._of._assigned(name, value, node))

    def _end_group(self) -> None:
        if self._group:
            loop = copy.copy(self._node)
            loop.target, loop.iter = copy.deepcopy(self._node.target), self._of._renamed(self._node.iter)
            loop.body = self._group
            self.statements.append(loop)
            self._groups.append(self._group)
            self._temporary |= self._of_group
            self._group, self._of_group = [], {}

    def _check_groups(self) -> None:
        """No loop needs a variable of another one, whose turns are over then."""
        for number, group in enumerate(self._groups):
            stored = set(_names(group, ast.Store))
            for other in self._groups[:number] + self._groups[number + 1 :]:
                if stored & {*_names(other, ast.Load), *_names(other, ast.Store)}:
                    raise _AnotherWayError
