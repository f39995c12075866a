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
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from annudf._core import MAX_SCRATCH, MAX_SCRATCH_DIM
from annudf._frontend.source.functions import make_scratch, put
from annudf._frontend.source.trees import names

GIVEN: dict[str, Any] = {"annudf_scratch": make_scratch, "annudf_put": put}
"""Functions that a changed tree calls by these names."""
_MAKE, _PUT = GIVEN
WORDS = ("f32", "f64", "i32", "i64")


def _bytes_of(word: str) -> int:
    return int(word[1:]) // 8


_WORDS = {"float": 1, "int": 3, "float32": 0, "float64": 1, "int32": 2, "int64": 3, "intp": 3}
"""Types of NumPy and builtins, as indices of `WORDS`."""
_MOST_BITS = (MAX_SCRATCH // min(map(_bytes_of, WORDS))).bit_length()
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


class Refuse(Protocol):
    """Raises UnsupportedError at a node."""

    def __call__(self, node: ast.AST, message: str, rule: str = "") -> NoReturn: ...


@dataclass(frozen=True)
class Outside:
    """What a tree does not say by itself."""

    is_length: Callable[[ast.expr], bool]
    type_of: Callable[[ast.expr], str]
    """The type of a constant by NumPy's name, empty if it is not known."""
    unused: Callable[[str], str]
    refuse: Refuse


def with_scratch(tree: ast.FunctionDef, outside: Outside) -> set[str]:
    """Changes the function in place. Returns the names of its arrays, none where it has none."""
    entries = [one for one in ast.walk(tree) if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store)]
    stored = {one.value.id for one in entries if isinstance(one.value, ast.Name)}
    times = Counter(one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
    wanted = stored - {one.arg for one in ast.walk(tree.args) if isinstance(one, ast.arg)}
    maker = _Maker(outside, set(times), _read_from(tree, stored))
    made: dict[str, ast.stmt] = {}
    for statement in ast.walk(tree):
        target = _single_target(statement)
        if not isinstance(statement, ast.Assign) or target is None or target.id not in wanted:
            continue
        if not isinstance(statement.value, ast.Call) or not _makes(statement.value):
            continue
        name = target.id
        if statement not in tree.body:
            outside.refuse(statement, f"'{name}' is made in a loop or a branch; make it before, once")
        if times[name] != 1:
            told = f"'{name}' is an array and assigned more than once"
            outside.refuse(statement, f"{told}; give each array its own name, or assign entries in a loop")
        made[name] = ast.copy_location(ast.Assign([target], maker.call(statement.value)), statement)
    if not made:
        return set()
    puts = _Puts(set(made), outside.unused("written"), outside.refuse)
    body = [puts.visit(one) for one in tree.body if not _assigns(one, made)]
    tree.body = [*made.values(), *body]
    for one in made.values():
        _place(one, one)
    return set(made)


def _single_target(node: ast.AST) -> ast.Name | None:
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    return target if isinstance(target, ast.Name) else None


def _read_from(tree: ast.FunctionDef, stored: set[str]) -> set[str]:
    """The arrays, and variables such as ``m = len(d)``, which is no number of dimensions."""
    return stored | {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and not stored.isdisjoint(names(node.value))
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _makes(call: ast.Call) -> bool:
    """Whether it is ``np.zeros`` or one of its like."""
    return isinstance(call.func, ast.Attribute) and call.func.attr in _FILLS and isinstance(call.func.value, ast.Name)


def _assigns(node: ast.stmt, made: dict[str, ast.stmt]) -> bool:
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    return isinstance(target, ast.Name) and target.id in made


def _place(node: ast.AST, at: ast.AST) -> None:
    for one in ast.walk(node):
        if "lineno" in one._attributes and not hasattr(one, "lineno"):
            ast.copy_location(one, at)


class _Maker:
    """The calls that make what ``np.zeros(n)`` and its like do."""

    def __init__(self, outside: Outside, assigned: set[str], no_lengths: set[str]) -> None:
        self._outside, self._assigned, self._no_lengths = outside, assigned, no_lengths
        self._bytes = self._per_dim = 0

    def call(self, value: ast.Call) -> ast.expr:
        assert isinstance(value.func, ast.Attribute)
        name, rest = value.func.attr, list(value.args)
        keywords = {one.arg: one.value for one in value.keywords}

        def given(keyword: str) -> ast.expr | None:
            return rest.pop(0) if rest else keywords.pop(keyword, None)

        shape = given("shape")
        fill = given("fill_value") if name == "full" else ast.Constant(_FILLS[name])
        dtype = given("dtype")
        if shape is None or fill is None or rest or keywords:
            takes = "a number of entries, a fill" if name == "full" else "a number of entries"
            self._outside.refuse(value, f"np.{name} takes {takes} and dtype= here, and no other options")
        entries = _entries(shape, self._is_length)
        if entries is None:
            self._outside.refuse(shape, "an array has one axis, of n = x.shape[0], n + 1 or 8 entries")
        if not _is_constant(fill, self._assigned):
            self._outside.refuse(fill, "np.full takes a constant here; assign other values in a loop, d[i] = v")
        word = self._word(name, fill, dtype)
        self._count(value, *entries, _bytes_of(WORDS[word]))
        bits = [ast.Constant(one) for one in encode(entries[0], word, entries[1])]
        call = ast.copy_location(ast.Call(ast.Name(_MAKE, ast.Load()), [fill, *bits], []), value)
        _place(call, value)
        return call

    def _is_length(self, node: ast.expr) -> bool:
        return self._outside.is_length(node) and self._no_lengths.isdisjoint(names(node))

    def _word(self, name: str, fill: ast.expr, dtype: ast.expr | None) -> int:
        """The type as an index of `WORDS`; without `dtype`, np.full takes that of its fill, as NumPy does."""
        if dtype is not None:
            is_text = isinstance(dtype, ast.Constant) and isinstance(dtype.value, str)
            word = _WORDS.get(ast.literal_eval(dtype) if is_text else ast.unparse(dtype).rpartition(".")[2])
            if word is None:
                told = f"an array has no dtype {ast.unparse(dtype)} here"
                self._outside.refuse(dtype, f"{told}; give np.float32, np.float64, np.int32 or np.int64")
            return word
        kind = self._outside.type_of(fill) if name == "full" else "float64"
        if kind not in _WORDS:
            told = f"is of type {kind}" if kind else "has no type that is known here"
            self._outside.refuse(fill, f"{ast.unparse(fill)} {told}; give np.full a type, such as dtype=np.float64")
        return _WORDS[kind]

    def _count(self, node: ast.expr, per_dim: bool, entries: int, size: int) -> None:
        """As rule W22 does, which also counts arrays that the compiler makes."""
        self._bytes += entries * size
        self._per_dim += size if per_dim else 0
        if self._bytes > MAX_SCRATCH or self._per_dim > MAX_SCRATCH_DIM:
            told = f"the arrays have {self._bytes} bytes and {self._per_dim} for each dimension"
            most = f"more than {MAX_SCRATCH} and {MAX_SCRATCH_DIM}"
            self._outside.refuse(node, f"[W22] {told}, {most}; keep fewer or smaller arrays", "W22")


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

    def __init__(self, arrays: set[str], nothing: str, refuse: Refuse) -> None:
        self._arrays, self._nothing, self._refuse = arrays, nothing, refuse

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
        for target in node.targets:
            entries = target.elts if isinstance(target, ast.Tuple) else [target]
            for one in filter(self._is_entry, entries):
                told = f"assign {ast.unparse(one)} in a statement of its own"
                self._refuse(one, f"{told}; what both need goes into a variable first")
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if not self._is_entry(node.target):
            return node
        assert isinstance(node.target, ast.Subscript) and isinstance(node.target.value, ast.Name)
        read = ast.Subscript(ast.Name(node.target.value.id, ast.Load()), node.target.slice, ast.Load())
        return self._put(node.target, ast.BinOp(read, node.op, node.value), node)
