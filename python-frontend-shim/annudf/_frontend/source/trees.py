# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Code of changed syntax trees, at the places of the file: what CPython or numba have no form for is written otherwise.

``continue`` in ``while`` is such: CPython writes the loop's condition twice then, and neither copy counts the loop
alone.
"""

from __future__ import annotations

import ast
import copy
import dis
import itertools
import types
from collections.abc import Iterator, Sequence

from annudf._frontend.source.definitions import is_edited, remember
from annudf._frontend.source.report import unsupported
from annudf._frontend.source.syntax import Source, bound_by_match, of_loop


def unused(name: str, tree: ast.AST) -> str:
    """The name, or one like it that no variable of the tree has."""
    taken = set(names(tree))
    while name in taken:
        name += "_"
    return name


def names(tree: ast.AST) -> Iterator[str]:
    """The names of variables and arguments."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Match):
            yield from bound_by_match(node)


def arguments(of: Sequence[str]) -> ast.arguments:
    """Plain arguments of these names."""
    return ast.arguments([], [ast.arg(name) for name in of], None, [], [], None, [])


def compiled(tree: ast.FunctionDef, code: types.CodeType) -> types.CodeType:
    """Code of a tree that stands for the function whose code is given, with the same closure variables."""
    inside: list[ast.stmt] = [tree]
    if owner := _class_of(code.co_qualname):  # By which Python spells names that begin with two underscores.
        inside = [ast.ClassDef(owner, [], [], inside, [])]
    module = ast.Module([ast.FunctionDef("around", arguments(code.co_freevars), inside, [], None, None)], [])
    for node in ast.walk(module):
        if "type_params" in node._fields:  # Since Python 3.12.
            node.type_params = []  # type: ignore[attr-defined, unused-ignore]
    found = compile(ast.fix_missing_locations(module), code.co_filename, "exec", dont_inherit=True)
    for name in ("around", *([owner] if owner else []), tree.name):
        inner = [constant for constant in found.co_consts if isinstance(constant, types.CodeType)]
        found = next(one for one in inner if one.co_name == name)
    return found.replace(co_qualname=code.co_qualname)


def _class_of(qualname: str) -> str:
    """The innermost class around a function, or nothing."""
    *around, _ = qualname.split(".")
    classes = [name for name, after in itertools.pairwise([*around, ""]) if "<locals>" not in (name, after)]
    return classes[-1] if classes else ""


def placed_at(function: types.FunctionType, user: Source, node: ast.AST) -> types.FunctionType:
    """A function of annudf's own with all its code at a place of the user's, so that messages name that."""
    tree = copy.deepcopy(Source(function).tree)
    assert tree is not None
    tree.returns = None
    for inner in ast.walk(tree):
        if isinstance(inner, ast.arg):
            inner.annotation = None
        if "lineno" in inner._attributes:
            ast.copy_location(inner, node)
    line, _ = user.place(node)
    code = compiled(tree, function.__code__.replace(co_filename=user.file, co_firstlineno=line))
    remember(code, tree)
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__)
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made


def without_continue(code: types.CodeType, source: Source) -> types.CodeType:
    """The code with ``continue`` in ``while`` written as conditions; itself where there is none."""
    tree = source.tree
    if tree is None and _may_continue(code) and is_edited(code):
        unsupported(
            f"the file was edited after {code.co_name} was defined, and continue in while is compiled from the source; "
            "run the file again",
            source.file,
            source.line,
        )
    if tree is None or not any(_continues(node) for node in ast.walk(tree)):
        return code
    changed = copy.deepcopy(tree)
    changed.decorator_list, changed.returns = [], None
    for argument in ast.walk(changed.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    _Continue(unused("skipped", changed)).visit(changed)
    return compiled(changed, code)


def _may_continue(code: types.CodeType) -> bool:
    """Whether a ``while`` seems to begin again within its body: two jumps back cross, where loops would nest."""
    instructions = list(dis.get_instructions(code))
    of_for = {one.offset for one in instructions if one.opname == "FOR_ITER"}
    back = [(at.argval, at.offset) for at in instructions if "BACKWARD" in at.opname and at.argval not in of_for]
    return any(first <= start <= last < end for first, last in back for start, end in back)


def _continues(node: ast.AST) -> bool:
    return isinstance(node, ast.While) and any(isinstance(inner, ast.Continue) for inner in of_loop(node))


class _Continue(ast.NodeTransformer):
    """``if c: continue`` and a rest become ``skipped = c`` and the rest below ``if not skipped``."""

    def __init__(self, variable: str) -> None:
        self._variable = variable
        self._loops = 0

    def visit_While(self, node: ast.While) -> ast.AST:
        continues = _continues(node)
        self.generic_visit(node)  # Loops inside first, whose variables have other names.
        if continues:
            name = f"{self._variable}_{self._loops}" if self._loops else self._variable
            self._loops += 1
            node.body = [_assigned(name, False, node.body[0]), *_guarded(node.body, name)]
        return node


def _guarded(statements: list[ast.stmt], name: str) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    for number, statement in enumerate(statements):
        if isinstance(statement, ast.Continue):
            return [*result, _assigned(name, True, statement)]
        result.append(statement)
        if isinstance(statement, (ast.For, ast.While)) or not any(
            isinstance(inner, ast.Continue) for inner in of_loop(statement)
        ):
            continue
        if isinstance(statement, ast.If):
            statement.body, statement.orelse = _guarded(statement.body, name), _guarded(statement.orelse, name)
        elif isinstance(statement, ast.Match):
            for case in statement.cases:
                case.body = _guarded(case.body, name)
        if rest := _guarded(statements[number + 1 :], name):
            condition = ast.UnaryOp(ast.Not(), ast.Name(name, ast.Load()))
            guard = ast.If(condition, rest, [])
            for node in (condition.operand, condition, guard):
                ast.copy_location(node, rest[0])
            result.append(guard)
        return result
    return result


def _assigned(name: str, value: bool, at: ast.stmt) -> ast.stmt:
    target, constant = ast.Name(name, ast.Store()), ast.Constant(value)
    assigned = ast.Assign([target], constant)
    for node in (target, constant, assigned):
        ast.copy_location(node, at)
    return assigned
