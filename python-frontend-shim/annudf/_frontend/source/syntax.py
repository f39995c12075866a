# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Which Python a metric may use: an allow-list of syntax, told in the user's words.

The check comes before numba-cuda-mlir sees the function, because it knows the expression and its
column, and because some of what Python offers would compile and mean something else.
"""

from __future__ import annotations

import ast
import dis
import inspect
import types
from collections.abc import Iterator
from typing import NoReturn

from annudf._frontend.source.definitions import tree_of
from annudf._frontend.source.report import ENDLESS, unsupported

_ALLOWED = (
    ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.If,
    ast.For, ast.Pass, ast.Continue, ast.Expr, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call,
    ast.keyword, ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.Lambda, ast.expr_context,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.NamedExpr, ast.While, ast.Break, ast.Match, ast.match_case,
    ast.MatchValue, ast.MatchSingleton, ast.MatchOr, ast.MatchAs,
)  # fmt: skip

_WHY: dict[type[ast.AST], str] = {
    ast.Global: "a metric cannot write globals; return the value",
    ast.Nonlocal: "a metric cannot write variables outside it; return the value",
    ast.Try: "a metric cannot raise or catch exceptions; test with if",
    ast.Raise: "a metric cannot raise exceptions; return a value such as math.inf",
    ast.Assert: "a metric cannot raise exceptions; return a value such as math.inf",
    ast.With: "a metric cannot use with; it has nothing to open or close",
    ast.Import: "a metric cannot import; import at the top of the module",
    ast.ImportFrom: "a metric cannot import; import at the top of the module",
    ast.List: "a metric cannot use lists; use several variables, or a capture",
    ast.ListComp: "a metric cannot use lists; write for i in range(<constant>)",
    ast.SetComp: "a metric cannot use sets; write for i in range(<constant>)",
    ast.DictComp: "a metric cannot use dictionaries; write for i in range(<constant>)",
    ast.GeneratorExp: "a metric cannot use generators; write for i in range(<constant>)",
    ast.Dict: "a metric cannot use dictionaries; use captures",
    ast.Set: "a metric cannot use sets; use captures",
    ast.JoinedStr: "a metric cannot use strings",
    ast.Yield: "a metric cannot yield; return the accumulator",
    ast.YieldFrom: "a metric cannot yield; return the accumulator",
    ast.Await: "a metric cannot await; return the accumulator",
    ast.AsyncFunctionDef: "a metric cannot be asynchronous; write def",
    ast.ClassDef: "a metric cannot define classes",
    ast.Delete: "a metric cannot delete variables",
    ast.Starred: "a metric cannot unpack with *; name the arguments",
    ast.Slice: "a metric cannot slice; read one entry, e.g. ctx.weights[ctx.dim]",
    ast.MatchSequence: "a metric matches numbers only; match one number, or write if and elif",
    ast.MatchStar: "a metric matches numbers only; match one number, or write if and elif",
    ast.MatchMapping: "a metric matches numbers only; match one number, or write if and elif",
    ast.MatchClass: "a metric matches numbers only; match one number, or write if and elif",
    ast.MatMult: "@ needs matrices, and a metric sees one coordinate; write the product of two numbers",
    ast.Is: "a metric compares values; write == instead of is",
    ast.IsNot: "a metric compares values; write != instead of is not",
    ast.In: "a metric cannot search collections; compare with ==",
    ast.NotIn: "a metric cannot search collections; compare with !=",
}


class Source:
    """A function's syntax tree with the places of its file; without a tree where there is none of its code."""

    def __init__(self, function: types.FunctionType) -> None:
        self.code = function.__code__
        self.file = function.__code__.co_filename
        self.line = function.__code__.co_firstlineno
        found = tree_of(function.__code__)
        self.tree = found if isinstance(found, ast.FunctionDef) else None

    def place(self, node: ast.AST) -> tuple[int, int]:
        """Line and column (from 1) of a node."""
        return getattr(node, "lineno", self.line), getattr(node, "col_offset", -1) + 1

    def refuse(self, node: ast.AST, message: str, rule: str = "") -> NoReturn:
        line, column = self.place(node)
        unsupported(message, self.file, line, column, rule=rule)

    def attributes(self) -> list[tuple[ast.Attribute, str, str]]:
        """Attributes of names, as ``np.sqrt``: node, name, attribute."""
        return [
            (n, n.value.id, n.attr)
            for n in self._body()
            if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)
        ]

    def subscripts_and_attributes(self) -> list[ast.Subscript | ast.Attribute]:
        """Those of names that are read: ``x[i]``, ``ctx.w``."""
        return [
            n
            for n in self._body()
            if isinstance(n, ast.Subscript | ast.Attribute)
            and isinstance(n.value, ast.Name)
            and isinstance(n.ctx, ast.Load)
        ]

    def assigned_names(self) -> set[str]:
        """Names that are more than the function's own arguments: assigned in it, or arguments of a function in it."""
        found = {n.id for n in self._body() if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        found |= {name for n in self._body() if isinstance(n, ast.Match) for name in bound_by_match(n)}
        return found | {n.arg for n in self._body() if isinstance(n, ast.arg)}

    def place_of_name(self, name: str) -> tuple[int, int]:
        """Where a name is first used, or the function's first line."""
        uses = [n for n in self._body() if isinstance(n, ast.Name) and n.id == name]
        return min((self.place(n) for n in uses), default=(self.line, 0))

    def first_use(self, name: str) -> ast.AST | None:
        """The first node that reads ``name``, or an attribute ``module.name``."""
        *of_module, last = name.split(".")
        uses: list[ast.AST] = (
            [node for node, _, attribute in self.attributes() if attribute == last]
            if of_module
            else [node for node in self._body() if isinstance(node, ast.Name) and node.id == last]
        )
        return min(uses, key=self.place, default=None)

    def _body(self) -> Iterator[ast.AST]:
        # Decorators, defaults and annotations belong to the program around the metric.
        for statement in self.tree.body if self.tree is not None else ():
            yield from ast.walk(statement)


def own_signature(function: types.FunctionType) -> inspect.Signature:
    """The signature of the compiled code, whatever ``functools.wraps`` or ``__signature__`` claims."""
    plain = types.FunctionType(function.__code__, {}, function.__name__, function.__defaults__, function.__closure__)
    plain.__kwdefaults__, plain.__annotations__ = function.__kwdefaults__, _annotations(function)
    return inspect.signature(plain)


def _annotations(function: types.FunctionType) -> dict[str, object]:
    # functools.wraps gives a function those of another, by the names that this one may have too.
    return {} if hasattr(function, "__wrapped__") else dict(function.__annotations__)


def check(source: Source) -> None:
    """Refuses the first construct that a metric cannot use.

    Raises
    ------
    UnsupportedError
        With file, line and column of the construct and what to write instead.
    """
    _check_code(source)
    if source.tree is None:
        return
    try:
        for statement in source.tree.body:
            _Checker(source).visit(statement)
    except RecursionError:
        source.refuse(source.tree, "an expression nests too deep; write it in several statements")


_FORBIDDEN_INSTRUCTIONS: dict[str, type[ast.AST]] = {
    "IMPORT_NAME": ast.Import, "STORE_GLOBAL": ast.Global, "DELETE_GLOBAL": ast.Global, "STORE_DEREF": ast.Nonlocal,
    "RAISE_VARARGS": ast.Raise, "LOAD_ASSERTION_ERROR": ast.Assert, "BUILD_LIST": ast.List, "BUILD_MAP": ast.Dict,
    "BUILD_SET": ast.Set, "BUILD_STRING": ast.JoinedStr, "FORMAT_VALUE": ast.JoinedStr, "BUILD_SLICE": ast.Slice,
    "BINARY_SLICE": ast.Slice, "YIELD_VALUE": ast.Yield, "BEFORE_WITH": ast.With, "MATCH_SEQUENCE": ast.MatchSequence,
    "MATCH_MAPPING": ast.MatchMapping, "MATCH_CLASS": ast.MatchClass,
}  # fmt: skip


def _check_code(source: Source) -> None:
    """What the bytecode shows, for functions whose source is not there, as in an interactive session."""
    flags = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
    if source.code.co_flags & flags:
        asynchronous = source.code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR)
        unsupported(_WHY[ast.AsyncFunctionDef if asynchronous else ast.Yield], source.file, source.line)
    if source.tree is not None:
        return
    for instruction in dis.get_instructions(source.code):
        place = instruction.positions
        where = (place.lineno or source.line, (place.col_offset or 0) + 1) if place else (source.line, 0)
        if instruction.opname in _FORBIDDEN_INSTRUCTIONS:
            unsupported(_WHY[_FORBIDDEN_INSTRUCTIONS[instruction.opname]], source.file, *where)
        if instruction.opname in ("STORE_SUBSCR", "STORE_ATTR"):
            unsupported("captures are read-only; use a variable", source.file, *where)
        if instruction.opname == "LOAD_CONST" and isinstance(instruction.argval, str | bytes | complex):
            unsupported(f"a metric cannot use {instruction.argval!r}; use numbers", source.file, *where)
    if source.code.co_exceptiontable:
        unsupported(_WHY[ast.Try], source.file, source.line)


def bound_by_match(node: ast.Match) -> Iterator[str]:
    """Names that the patterns assign, which are no nodes of their own: ``case k``, ``case 1 | 2 as k``."""
    for case in node.cases:
        for pattern in ast.walk(case.pattern):
            if isinstance(pattern, ast.MatchAs | ast.MatchStar) and pattern.name is not None:
                yield pattern.name


def of_loop(loop: ast.AST) -> Iterator[ast.AST]:
    """What is in a loop, but not in a loop inside it."""
    for child in ast.iter_child_nodes(loop):
        if not isinstance(child, ast.For | ast.While):
            yield child
            yield from of_loop(child)


class _Checker(ast.NodeVisitor):
    def __init__(self, source: Source) -> None:
        self.source = source

    def generic_visit(self, node: ast.AST) -> None:
        if not isinstance(node, _ALLOWED):
            self._refuse(node)
        for child in ast.iter_child_nodes(node):
            if type(child) in _WHY and not hasattr(child, "lineno"):
                self.source.refuse(node, _WHY[type(child)])  # Operators have no place of their own.
        super().generic_visit(node)

    def _refuse(self, node: ast.AST) -> NoReturn:
        default = f"a metric cannot use {type(node).__name__}; use numbers, if, and for over range"
        self.source.refuse(node, _WHY.get(type(node), default))

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # A docstring, or nothing.
        if isinstance(node.value, ast.Call):
            # Its value is dropped, so it could only be called for a side effect.
            name = ast.unparse(node.value.func)
            self.source.refuse(
                node,
                f"the result of {name}(...) is not used, and a metric has no other effect; use it, or drop the call",
            )
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool | int | float):
            return
        kind = {str: "strings", bytes: "bytes", complex: "complex numbers", type(None): "None"}
        self.source.refuse(node, f"a metric cannot use {kind.get(type(node.value), repr(node.value))}; use numbers")

    def visit_For(self, node: ast.For) -> None:
        call = node.iter
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"):
            self.source.refuse(node.iter, "a metric loops over range(<constant>) only")
        if node.orelse:
            self.source.refuse(node.orelse[0], "a metric cannot use for ... else; write it after the loop")
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        if node.orelse:
            self.source.refuse(node.orelse[0], "a metric cannot use while ... else; write it after the loop")
        # CPython leaves out what comes after such a loop, so that the function would be said to return nothing.
        leaves = any(isinstance(n, ast.Break) for n in of_loop(node)) or any(
            isinstance(n, ast.Return) for n in ast.walk(node)
        )
        if isinstance(node.test, ast.Constant) and node.test.value and not leaves:
            unsupported(ENDLESS, self.source.file, *self.source.place(node.test), rule="P13")
        self.generic_visit(node)

    def visit_MatchSingleton(self, node: ast.MatchSingleton) -> None:
        if node.value is None:
            self.source.refuse(node, "a metric cannot use None; use numbers")
        self.source.refuse(node, f"a metric cannot use case {node.value}; write if")

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._check_target(target)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._check_target(node.target)
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if isinstance(node.value, ast.List):
            self.source.refuse(node.value, "a metric cannot use lists; return several fields as a tuple: return a, b")
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        of = node.value.func if isinstance(node.value, ast.Call) else None
        if node.attr == "count" and isinstance(of, ast.Name) and of.id in ("bin", "format"):
            self.source.refuse(node, "a metric cannot use strings; bits are counted by np.bitwise_count(x ^ y)")
        self.generic_visit(node)

    def _check_target(self, target: ast.expr) -> None:
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            name = target.value.id
            self.source.refuse(
                target,
                f"{ast.unparse(target)} cannot be assigned, as a metric changes nothing in place; return the next "
                f"value, or several fields as a tuple: return {name}[0] + x, {name}[1]",
            )
        if isinstance(target, ast.Subscript | ast.Attribute):
            self.source.refuse(
                target, f"{ast.unparse(target)} cannot be assigned: captures are read-only; use a variable"
            )
        if isinstance(target, ast.Tuple):
            for element in target.elts:
                self._check_target(element)
