# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Arrays that a function of whole vectors fills in any way: memory of one pair of vectors.

``d = np.zeros(n + 1)`` becomes a call that makes it, at the begin of the function, and ``d[i] = v`` a call that writes
an entry. An array is assigned once, of one axis, and has a constant number of entries, or as many as there are
dimensions, and some more.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from typing import Any


def make(fill: float, *shape: float) -> Any:
    """Never executed: an array of the shape that `encode` made."""
    raise NotImplementedError


def put(array: Any, index: int, value: Any) -> int:
    """Never executed: assigns an entry."""
    raise NotImplementedError


GIVEN: dict[str, Any] = {"annudf_scratch": make, "annudf_put": put}
"""Functions that a changed tree calls by these names."""
_MAKE, _PUT = GIVEN
WORDS = ("f32", "f64", "i32", "i64")
_WORDS = {"float": 1, "int": 3, "float32": 0, "float64": 1, "int32": 2, "int64": 3, "intp": 3}
"""Types of NumPy and builtins, as indices of `WORDS`."""
_MOST_BITS = 17
"""An array has no more entries than so many bits count."""
_FILLS = {"zeros": 0, "empty": 0, "ones": 1, "full": None}


def encode(per_dim: bool, word: int, entries: int) -> list[int | float]:
    """A shape as arguments whose types tell it, as typing sees no values: a float is a bit that is set."""
    number = entries << 3 | word << 1 | per_dim
    return [1.0 if number >> bit & 1 else 1 for bit in range(_MOST_BITS + 3)]


def decode(is_float: list[bool]) -> tuple[bool, str, int]:
    """Whether there is an entry for each dimension, the word, and how many entries there are beside."""
    number = sum(bit << place for place, bit in enumerate(is_float))
    return bool(number & 1), WORDS[number >> 1 & 3], number >> 3


def with_scratch(
    tree: ast.FunctionDef, is_length: Callable[[ast.expr], bool], unused: Callable[[str], str]
) -> set[str]:
    """Changes the function in place. Returns the names of its arrays, none where it has none."""
    entries = [one for one in ast.walk(tree) if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store)]
    stored = {one.value.id for one in entries if isinstance(one.value, ast.Name)}
    times = Counter(one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
    arguments = {one.arg for one in ast.walk(tree.args) if isinstance(one, ast.arg)}
    made: dict[str, ast.stmt] = {}
    for statement in tree.body:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or times[target.id] != 1 or target.id in arguments:
            continue
        call = _made(statement.value, is_length, set(times)) if target.id in stored else None
        if call is not None:
            made[target.id] = ast.copy_location(ast.Assign([target], call), statement)
    if not made:
        return set()
    nothing = unused("written")
    puts = _Puts(set(made), nothing)
    body = [puts.visit(one) for one in tree.body if not _assigns(one, made)]
    tree.body = [*made.values(), *body]
    for one in made.values():
        _place(one, one)
    return set(made)


def _assigns(node: ast.stmt, made: dict[str, ast.stmt]) -> bool:
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    return isinstance(target, ast.Name) and target.id in made


def _place(node: ast.AST, at: ast.AST) -> None:
    for one in ast.walk(node):
        if "lineno" in one._attributes and not hasattr(one, "lineno"):
            ast.copy_location(one, at)


def _made(value: ast.expr, is_length: Callable[[ast.expr], bool], assigned: set[str]) -> ast.expr | None:
    """The call that makes what ``np.zeros(n)`` or one of its like does; None for anything else."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or not value.args:
        return None
    name, rest = value.func.attr, list(value.args[1:])
    if name not in _FILLS or not isinstance(value.func.value, ast.Name):
        return None
    fill: ast.expr | None = ast.Constant(_FILLS[name])
    if name == "full":
        fill = rest.pop(0) if rest else None
    keywords = {one.arg: one.value for one in value.keywords}
    dtype = rest.pop(0) if rest else keywords.pop("dtype", None)
    entries = _entries(value.args[0], is_length)
    if fill is None or rest or keywords or entries is None or not _is_constant(fill, assigned):
        return None
    word = 1 if dtype is None else _WORDS.get(ast.unparse(dtype).rpartition(".")[2])
    if word is None:
        return None
    if entries[1] >> _MOST_BITS:
        return None
    shape = [ast.Constant(one) for one in encode(entries[0], word, entries[1])]
    call = ast.copy_location(ast.Call(ast.Name(_MAKE, ast.Load()), [fill, *shape], []), value)
    _place(call, value)
    return call


def _is_constant(node: ast.expr, assigned: set[str]) -> bool:
    """Whether its value is known before the function begins."""
    return all(
        isinstance(one, ast.Constant | ast.UnaryOp | ast.Attribute | ast.expr_context | ast.unaryop)
        or (isinstance(one, ast.Name) and one.id not in assigned)
        for one in ast.walk(node)
    )


def _entries(node: ast.expr, is_length: Callable[[ast.expr], bool]) -> tuple[bool, int] | None:
    """Whether there is one for each dimension, and how many more."""
    if isinstance(node, ast.Tuple) and len(node.elts) == 1:
        node = node.elts[0]
    if is_length(node):
        return True, 0
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if is_length(one) and (more := _whole(other)) is not None:
                return True, more
    count = _whole(node)
    return (False, count) if count else None


def _whole(node: ast.expr) -> int | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


class _Puts(ast.NodeTransformer):
    """``d[i] = v`` and ``d[i] += v`` as calls."""

    def __init__(self, arrays: set[str], nothing: str) -> None:
        self._arrays, self._nothing = arrays, nothing

    def _is_entry(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in self._arrays

    def _put(self, target: Any, value: ast.expr, at: ast.stmt) -> ast.stmt:
        array = ast.Name(target.value.id, ast.Load())
        call = ast.Call(ast.Name(_PUT, ast.Load()), [array, target.slice, value], [])
        made = ast.copy_location(ast.Assign([ast.Name(self._nothing, ast.Store())], call), at)
        for one in ast.walk(made):
            if "lineno" in one._attributes and not hasattr(one, "lineno"):
                ast.copy_location(one, target)
        return made

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if len(node.targets) == 1 and self._is_entry(node.targets[0]):
            return self._put(node.targets[0], node.value, node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if not self._is_entry(node.target):
            return node
        assert isinstance(node.target, ast.Subscript) and isinstance(node.target.value, ast.Name)
        read = ast.Subscript(ast.Name(node.target.value.id, ast.Load()), node.target.slice, ast.Load())
        return self._put(node.target, ast.BinOp(read, node.op, node.value), node)
