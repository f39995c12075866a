# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Methods of a class with fields as plain functions: ``update(self, x, y, ctx)`` becomes ``update(x, y, acc, ctx)``.

``self.total`` becomes a variable that the accumulator's field is read into first, and a return gives all fields. The
places of the file are kept, so what comes after (the check of the syntax, extents of captures, numba-cuda-mlir) sees a
function that the user might have written there.
"""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Sequence
from typing import Literal, NoReturn

from annudf._frontend.source.definitions import is_edited, remember
from annudf._frontend.source.report import unsupported
from annudf._frontend.source.syntax import Source, own_signature
from annudf._frontend.source.trees import arguments, compiled, names, unused

Kind = Literal["init", "update", "finalize"]

_without_reads: set[types.CodeType] = set()


def reads_fields(code: types.CodeType) -> bool:
    """False for a method that reads no field: of its result the last dimension alone would count."""
    return code not in _without_reads


def as_function(
    method: types.FunctionType, kind: Kind, owner: str, fields: Sequence[str], starts: Sequence[float | int]
) -> types.FunctionType:
    """The function that a method stands for.

    Parameters
    ----------
    method : function
        Its first parameter is self.
    kind : {"init", "update", "finalize"}
    owner : str
        Name of the class, for messages.
    fields : sequence of str
        In the order of the accumulator's.
    starts : sequence of number
        What they are before ``init``.

    Raises
    ------
    UnsupportedError
        ``self`` is used for more than its fields, or there is no source to read.
    """
    source = Source(method)
    if source.tree is None:
        told = (
            f"the file was edited after class {owner} was defined, and a class with fields is compiled from its "
            "source; run the file again"
            if is_edited(source.code)
            else f"the source of class {owner} cannot be read, which a class with fields needs; define it in a file or "
            "a notebook"
        )
        unsupported(f"{told}, or give initial as a tuple", source.file, source.line)
    tree = copy.deepcopy(source.tree)
    signature = own_signature(method)
    if any(one.kind is not one.POSITIONAL_OR_KEYWORD for one in signature.parameters.values()) or not tree.args.args:
        unsupported(
            f"{kind} of class {owner} takes {signature}; name its arguments, self first", source.file, source.line
        )
    reader = _Fields(source, kind, owner, tree, fields)
    body = [changed for statement in tree.body for changed in [reader.visit(statement)]]
    accumulator = unused("acc", tree)
    variables = [reader.variables[name] for name in fields]
    parameters = [argument.arg for argument in tree.args.args[1:]]
    if kind == "init":
        first: list[ast.stmt] = [
            ast.Assign([ast.Name(one, ast.Store())], ast.Constant(start))
            for one, start in zip(variables, starts, strict=True)
        ]
    else:
        parameters.insert(2 if kind == "update" else 0, accumulator)
        stored: list[ast.expr] = [ast.Name(one, ast.Store()) for one in variables]
        first = [
            ast.Assign(
                [ast.Tuple(stored, ast.Store()) if len(stored) > 1 else stored[0]], ast.Name(accumulator, ast.Load())
            )
        ]
    last: list[ast.stmt] = [] if kind == "finalize" else [ast.Return(reader.state())]
    for node in (*first, *last):
        _place(node, tree)
    made = ast.FunctionDef(tree.name, arguments(parameters), [*first, *body, *last], [], None, None)
    ast.fix_missing_locations(ast.copy_location(made, tree))
    function = _over(compiled(made, method.__code__), method)
    remember(function.__code__, made)
    if not reader.is_read:
        _without_reads.add(function.__code__)
    return function


def _place(node: ast.AST, at: ast.FunctionDef) -> None:
    """The line of ``def``, of which no expression of the user's is a part."""
    for child in ast.walk(node):
        if isinstance(child, (ast.stmt, ast.expr)):
            child.lineno = child.end_lineno = at.lineno
            child.col_offset = child.end_col_offset = at.col_offset


def _over(code: types.CodeType, method: types.FunctionType) -> types.FunctionType:
    """The code over the globals and closures of the method."""
    cells = dict(zip(method.__code__.co_freevars, method.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in code.co_freevars)
    function = types.FunctionType(code, method.__globals__, method.__name__, None, closure)
    function.__qualname__, function.__module__ = method.__qualname__, method.__module__
    function.__doc__ = method.__doc__
    return function


class _Fields(ast.NodeTransformer):
    """Makes variables of the fields."""

    def __init__(self, source: Source, kind: Kind, owner: str, tree: ast.FunctionDef, fields: Sequence[str]) -> None:
        self.source, self.kind, self.owner = source, kind, owner
        self.me = tree.args.args[0].arg
        self.variables = {name: unused(f"{self.me}_{name}", tree) for name in fields}
        self.is_read = False

    def state(self) -> ast.expr:
        """What init and update give: all fields."""
        fields: list[ast.expr] = [ast.Name(one, ast.Load()) for one in self.variables.values()]
        return ast.Tuple(fields, ast.Load()) if len(fields) > 1 else fields[0]

    def _is_field(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == self.me

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if not self._is_field(node):
            return self.generic_visit(node)
        if node.attr not in self.variables:
            known = ", ".join(f"{self.me}.{name}" for name in self.variables)
            declare = f"; declare it in the class, {node.attr}: np.float32 = 0, or use a variable"
            self.source.refuse(
                node,
                f"class {self.owner} has no field '{node.attr}'; it has {known}"
                + ("" if isinstance(node.ctx, ast.Load) else declare),
            )
        self.is_read |= isinstance(node.ctx, ast.Load)
        return ast.copy_location(ast.Name(self.variables[node.attr], node.ctx), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if self._is_field(node.value):
            self.source.refuse(node, f"{ast.unparse(node.value)} is a number, which has no entries; leave out [...]")
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.is_read |= self._is_field(node.target)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id == self.me:
            self._refuse_self(node)
        return node

    def visit_MatchAs(self, node: ast.MatchAs) -> ast.AST:
        if node.name == self.me:
            self._refuse_self(node)
        return self.generic_visit(node)

    def _refuse_self(self, node: ast.AST) -> NoReturn:
        first = next(iter(self.variables))
        self.source.refuse(node, f"{self.me} cannot be passed on or kept; read and write its fields, {self.me}.{first}")

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.AST:
        if self._is_field(node.value):  # Which becomes a variable, and a pattern with a name would assign it.
            field = ast.unparse(node.value)
            self.source.refuse(
                node, f"case {field} compares with a field, which match does not support; write case k if k == {field}"
            )
        return self.generic_visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        if self.me in names(node):
            self.source.refuse(node, f"a lambda cannot use {self.me}; copy the field to a variable first")
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if self.me in names(node):
            self.source.refuse(
                node,
                f"{node.name} cannot use {self.me}; copy the field to a variable first, or give it as an argument",
            )
        return node  # As it is: what it returns is no state.

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if self.kind == "finalize":
            return self.generic_visit(node)
        if node.value is not None:
            first = next(iter(self.variables))
            self.source.refuse(
                node, f"{self.kind} of a class with fields returns nothing; assign the next value to {self.me}.{first}"
            )
        state = self.state()
        made = ast.copy_location(ast.Return(state), node)
        for child in ast.walk(state):
            if isinstance(child, ast.expr):
                ast.copy_location(child, node)
        return made
