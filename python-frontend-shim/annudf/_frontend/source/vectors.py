# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Functions of two whole vectors: ``f(a, b)`` and ``f(a, b, ctx)``, as pynndescent, UMAP and HDBSCAN call them.

They loop over the coordinates by themselves. Other loops than ``for i in range(...)`` become that loop here. Other
arguments become variables of a closure, or captures where they are arrays, so what comes after meets values from
outside the function. The places of the file are kept.
"""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NoReturn, TypeGuard, cast

import numpy as np

from annudf._frontend.source import scratch
from annudf._frontend.source.definitions import remember
from annudf._frontend.source.filled import GIVEN, MADE, with_expressions
from annudf._frontend.source.lengths import Lengths
from annudf._frontend.source.report import unsupported
from annudf._frontend.source.syntax import Source, own_signature
from annudf._frontend.source.trees import compiled, names, unused

VECTORS = 2
"""How many arguments are vectors."""
CONTEXT = "ctx"
_ACCUMULATORS = ("acc", "_acc")
LOOP = "for i in range(x.shape[0])"
"""How messages spell the loop over all coordinates."""
UNREADABLE = f"define it in a file or a notebook, or write {LOOP}"
"""What to do where the source of a loop is missing."""


def takes_vectors(function: types.FunctionType, given: Collection[str] = ()) -> bool:
    """Whether it is ``f(a, b)`` or ``f(a, b, ctx)``, and all other arguments have defaults or are `given` by name."""
    parameters = list(own_signature(function).parameters.values())
    if len(parameters) < VECTORS:
        return False
    vectors, others = parameters[:VECTORS], _others(parameters)
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if any(one.kind not in plain for one in parameters if one in vectors or one.name == CONTEXT):
        return False
    return all(one.default is one.empty and one.name not in given for one in vectors) and all(
        one.name not in _ACCUMULATORS and (one.default is not one.empty or one.name in given) for one in others
    )


def _others(parameters: list[inspect.Parameter]) -> list[inspect.Parameter]:
    return [one for one in parameters[VECTORS:] if one.name != CONTEXT]


def of_vectors(
    function: types.FunctionType, given: Mapping[str, Any]
) -> tuple[types.FunctionType, dict[str, Any], int | None]:
    """The function of two vectors, and of ctx if it needs that, with the arrays that it reads from ctx.

    The number is how many dimensions the function checks that the vectors have, None if it takes any.

    Raises
    ------
    UnsupportedError
        A value is neither number nor array, or a loop is none that a metric can have.
    """
    source = Source(function)
    parameters = list(own_signature(function).parameters.values())
    values = {one.name: given.get(one.name, one.default) for one in _others(parameters)}
    arrays = {name: value for name, value in values.items() if _is_array(value)}
    if arrays and CONTEXT in [one.name for one in parameters[:VECTORS]]:
        unsupported(
            f"a vector of {function.__name__} is named '{CONTEXT}', which has the arrays; give it another name",
            source.file,
            source.line,
        )
    for name, value in values.items():
        if name not in arrays:
            _check_value(name, value, function)
    if values and source.tree is None:
        unsupported(
            f"the source of {function.__name__} cannot be read, which values of {', '.join(values)} need; define it in "
            "a file or a notebook",
            source.file,
            source.line,
        )
    lengths = None
    if source.tree is not None:
        lengths = Lengths(source.tree, source, [one.name for one in parameters[:VECTORS]])
    made = _rewritten(function, source, values, arrays, lengths)
    return made, arrays, None if lengths is None else lengths.dims


def with_plain_loops(function: types.FunctionType) -> types.FunctionType:
    """A helper whose loops are all over ``range``; itself where they are."""
    return _rewritten(function, Source(function), {})


def _check_value(name: str, value: object, function: types.FunctionType) -> None:
    if isinstance(value, bool | int | float | np.generic | types.FunctionType):
        return
    if not hasattr(value, "py_func"):
        unsupported(
            f"argument '{name}' of {function.__name__} is of type {type(value).__name__}; a metric can read numbers "
            "and arrays",
            function.__code__.co_filename,
            function.__code__.co_firstlineno,
        )


def _is_array(value: object) -> bool:
    if isinstance(value, np.generic):
        return False
    return hasattr(value, "__array_interface__") or hasattr(value, "__cuda_array_interface__")


def _rewritten(
    function: types.FunctionType,
    source: Source,
    values: Mapping[str, Any],
    arrays: Collection[str] = (),
    lengths: Lengths | None = None,
) -> types.FunctionType:
    if source.tree is None:
        return function  # Only syntax that is ours needs a tree, and each kind of it is refused by its name then.
    tree = copy.deepcopy(source.tree)
    checks = lengths is not None and len(lengths.rest) < len(tree.body)
    if lengths is not None:
        tree.body = copy.deepcopy(lengths.rest)
    tree = _Decided(values, source.assigned_names()).visit(tree)
    known = names_of_lengths(ast.walk(tree))
    value_of = _values_of(function, source, values)
    _refuse_others(tree, value_of, source)
    filled = with_expressions(tree, lambda node: is_length(node, known))
    tree = filled or tree
    arrays_made = set()
    if filled is None and lengths is not None:  # Helpers have none, as a loop may call them.
        outside = scratch.Outside(
            lambda node: is_length(node, known),
            lambda node: _type_of(value_of(node)),
            lambda name: unused(name, tree),
            source.refuse,
        )
        arrays_made = scratch.with_scratch(tree, outside)
    loops = _Loops(source, tree, arrays, _not_builtin(function, source))
    tree.body = [loops.visit(statement) for statement in tree.body]
    if not values and not loops.is_changed and not checks and filled is None and not arrays_made:
        return function
    tree.decorator_list, tree.returns = [], None
    arguments = tree.args
    if values:
        every = [*arguments.posonlyargs, *arguments.args]
        arguments.posonlyargs, arguments.kwonlyargs, arguments.kw_defaults, arguments.defaults = [], [], [], []
        arguments.args = every[:VECTORS]
        if arrays or any(one.arg == CONTEXT for one in (*every, *source.tree.args.kwonlyargs)):
            arguments.args.append(ast.copy_location(ast.arg(CONTEXT), every[0]))
        _Captured(source, arrays).visit(ast.Module(tree.body, []))
    else:  # The function keeps its defaults.
        arguments.defaults = [ast.copy_location(ast.Constant(0), one) for one in arguments.defaults]
        arguments.kw_defaults = [one and ast.copy_location(ast.Constant(0), one) for one in arguments.kw_defaults]
    for one in ast.walk(arguments):
        if isinstance(one, ast.arg):
            one.annotation = None
    given = _given(tree, source, {name: value for name, value in values.items() if name not in arrays})
    if filled is not None:
        given |= {name: GIVEN[name] for name in names(tree) if name in GIVEN}
    if arrays_made:
        given |= {name: scratch.GIVEN[name] for name in names(tree) if name in scratch.GIVEN}
    code = function.__code__
    made = compiled(tree, code.replace(co_freevars=(*code.co_freevars, *given)))
    remember(made, tree)
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    cells.update({name: types.CellType(value) for name, value in given.items()})
    closure = tuple(cells[name] for name in made.co_freevars)
    result = types.FunctionType(made, function.__globals__, function.__name__, None, closure)
    if not values:
        result.__defaults__, result.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    result.__qualname__, result.__module__, result.__doc__ = (
        function.__qualname__, function.__module__, function.__doc__,
    )  # fmt: skip
    return result


_UNKNOWN = object()


def _values_of(function: types.FunctionType, source: Source, values: Mapping[str, Any]) -> Callable[[ast.expr], Any]:
    """Tells what is of the file, of functions around, or a further argument; `_UNKNOWN` of all else."""
    inside = set(own_signature(function).parameters) | source.assigned_names()
    around = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

    def value_of(node: ast.expr) -> Any:
        if not (inside - values.keys()).isdisjoint(names(node)):
            return _UNKNOWN
        try:
            cells = {name: around[name].cell_contents for name in around.keys() & names(node)}
            return eval(compile(ast.Expression(node), "", "eval"), {**function.__globals__, **cells, **values})
        except Exception:  # It says the same, at its line, when it is compiled.
            return _UNKNOWN

    return value_of


def _type_of(value: Any) -> str:
    return np.asarray(value).dtype.name if isinstance(value, bool | int | float | np.generic) else ""


def _refuse_others(tree: ast.FunctionDef, value_of: Callable[[ast.expr], Any], source: Source) -> None:
    """An object's own ``zeros`` is none of NumPy's, and its ``float`` is no type."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr not in MADE:
            continue
        told, found = ast.unparse(call.func), value_of(call.func)
        if found is not _UNKNOWN and found is not getattr(np, call.func.attr):
            source.refuse(call, f"{told} is not numpy.{call.func.attr}; a metric makes arrays by NumPy's")
        for given in (one.value for one in call.keywords if one.arg == "dtype"):
            name, found = ast.unparse(given).rpartition(".")[2], value_of(given)
            if isinstance(given, ast.Attribute) and found is not _UNKNOWN and found is not getattr(np, name, float):
                source.refuse(given, f"{ast.unparse(given)} is not numpy.{name}; give {told} a type of NumPy")


def _given(tree: ast.FunctionDef, source: Source, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values by the names of the closure; a name that the function assigns begins with a copy of its value."""
    assigned, result = source.assigned_names(), {}
    for name, value in values.items():
        outside = name
        if name in assigned:
            outside = unused(f"{name}_given", tree)
            copied = ast.Assign([ast.Name(name, ast.Store())], ast.Name(outside, ast.Load()))
            for node in ast.walk(copied):
                ast.copy_location(node, tree.body[0])
            tree.body.insert(0, copied)
        result[outside] = value
    return result


def _not_builtin(function: types.FunctionType, source: Source) -> set[str]:
    """Names of loops' builtins that mean something else in the function."""
    own = {*function.__code__.co_varnames, *function.__code__.co_freevars, *source.assigned_names()}
    return {
        name
        for name in ("range", "zip", "enumerate")
        if name in own or function.__globals__.get(name, getattr(builtins, name)) is not getattr(builtins, name)
    }


class _Decided(ast.NodeTransformer):
    """Keeps of a branch what the values of further arguments decide, as `raise` stands in others."""

    _PARTS = (
        ast.Compare,
        ast.BoolOp,
        ast.UnaryOp,
        ast.Constant,
        ast.Name,
        ast.cmpop,
        ast.boolop,
        ast.unaryop,
        ast.Load,
    )

    def __init__(self, values: Mapping[str, Any], assigned: Collection[str]) -> None:
        numbers = (bool, int, float, np.generic)
        self._values = {k: v for k, v in values.items() if isinstance(v, numbers) and k not in assigned}

    def visit_If(self, node: ast.If) -> Any:
        parts = list(ast.walk(node.test))
        names = [one.id for one in parts if isinstance(one, ast.Name)]
        node = cast("ast.If", self.generic_visit(node))
        if not names or not all(isinstance(one, self._PARTS) for one in parts) or not self._values.keys() >= set(names):
            return node
        holds = eval(compile(ast.Expression(node.test), "", "eval"), {"__builtins__": {}}, dict(self._values))
        return (node.body if holds else node.orelse) or ast.copy_location(ast.Pass(), node)


class _Captured(ast.NodeTransformer):
    """Reads arrays from ctx: ``w[i]`` becomes ``ctx.w[i]``."""

    def __init__(self, source: Source, arrays: Collection[str]) -> None:
        self._source, self._arrays = source, arrays

    def visit_arg(self, node: ast.arg) -> ast.AST:
        if node.arg in self._arrays:
            message = f"'{node.arg}' is an array of the function around; give the inner argument another name"
            self._source.refuse(node, message)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self._arrays:
            return node
        if not isinstance(node.ctx, ast.Load):
            self._source.refuse(node, f"'{node.id}' is an array, which a metric reads only; use another variable")
        context = ast.copy_location(ast.Name(CONTEXT, ast.Load()), node)
        return ast.copy_location(ast.Attribute(context, node.id, ast.Load()), node)


class _Loops(ast.NodeTransformer):
    """Makes loops over ``range`` of those over vectors, and refuses what only arrays have."""

    def __init__(
        self, source: Source, tree: ast.FunctionDef, arrays: Collection[str], not_builtin: Collection[str]
    ) -> None:
        self._source, self._tree, self._arrays, self._not_builtin = source, tree, arrays, not_builtin
        self._lengths = names_of_lengths(ast.walk(tree))
        self._counters = 0
        self.is_changed = False

    def visit_For(self, node: ast.For) -> ast.AST:
        for inner in ast.walk(node.iter):
            if isinstance(inner, ast.Name) and inner.id in self._not_builtin:
                self._refuse(inner, f"'{inner.id}' is not Python's own here; give yours another name, or write {LOOP}")
        if not is_call(node.iter, "range"):
            self.is_changed = True
            counter, begin, of = self._over(node.target, node.iter)
            length = ast.Subscript(ast.Attribute(of, "shape", ast.Load()), ast.Constant(0), ast.Load())
            count = ast.Call(ast.Name("range", ast.Load()), [length], [])
            for new in (*ast.walk(count), *(inner for one in begin for inner in ast.walk(one))):
                if "lineno" in new._attributes and not hasattr(new, "lineno"):
                    ast.copy_location(new, node.iter)
            node.target, node.iter, node.body = counter, count, [*begin, *node.body]
        elif (part := self._part(node)) is not None:
            self.is_changed = True
            self._over_all(node, *part)
        self.generic_visit(node)
        return node

    def _part(self, node: ast.For) -> tuple[int, int, ast.expr] | None:
        """The first and how many last coordinates a loop leaves out, and how many there are; None: another loop."""
        assert isinstance(node.iter, ast.Call)
        *begin, end = node.iter.args or [node.iter]
        first = _whole(begin[0]) if begin else 0
        last: int | None = 0
        if isinstance(end, ast.BinOp) and isinstance(end.op, ast.Sub):
            last, end = _whole(end.right), end.left
        if len(begin) > 1 or first is None or last is None or not first + last:
            return None
        return (first, last, end) if is_length(end, self._lengths) and isinstance(node.target, ast.Name) else None

    def _over_all(self, node: ast.For, first: int, last: int, end: ast.expr) -> None:
        """Makes it a loop over all coordinates, which comes to x[i + last] where the other one was at x[i]."""
        assert isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Name)
        body, counter = node.body, node.target
        if last:
            counter = ast.Name(unused(f"{node.target.id}_all", self._tree), ast.Store())
            count = ast.BinOp(ast.Name(counter.id, ast.Load()), ast.Sub(), ast.Constant(last))
            body = [ast.Assign([node.target], count), *body]
        test = ast.Compare(ast.Name(counter.id, ast.Load()), [ast.GtE()], [ast.Constant(first + last)])
        condition = ast.If(test, body, [])
        for new in (counter, *ast.walk(condition)):
            if "lineno" in new._attributes and not hasattr(new, "lineno"):
                ast.copy_location(new, node.iter)
        node.target, node.iter.args, node.body = counter, [end], [condition]

    def _over(self, target: ast.expr, of: ast.expr) -> tuple[ast.Name, list[ast.stmt], ast.expr]:
        """The counter, what a pass begins with, and the vector that is as long as the loop."""
        counter: ast.Name | None = None
        if is_call(of, "enumerate", 1):
            pair = target.elts if isinstance(target, ast.Tuple) else []
            if len(pair) != 2 or not isinstance(pair[0], ast.Name):
                self._refuse(target, "enumerate gives two values; write for i, v in enumerate(x)")
            counter, target, of = pair[0], pair[1], of.args[0]
        if counter is None:
            self._counters += 1
            name = unused("i" if self._counters == 1 else f"i_{self._counters}", self._tree)
            counter = ast.copy_location(ast.Name(name, ast.Store()), target)
        vectors, targets = [of], [target]
        if is_call(of, "zip"):
            vectors = of.args
            targets = target.elts if isinstance(target, ast.Tuple) else []
            if len(targets) != len(vectors):
                self._refuse(target, f"zip gives {len(vectors)} values here; give each a name: for a, b in zip(x, y)")
        if not all(isinstance(one, ast.Name) or _is_capture(one) for one in vectors):
            self._refuse(of, f"a metric of vectors loops over range(...), x, zip(x, y) or enumerate(x); write {LOOP}")
        begin: list[ast.stmt] = []
        for one, vector in zip(targets, vectors, strict=True):
            entry = ast.Subscript(vector, ast.Name(counter.id, ast.Load()), ast.Load())
            begin.append(ast.copy_location(ast.Assign([one], ast.copy_location(entry, vector)), of))
        first = next((one for one in vectors if isinstance(one, ast.Name) and one.id not in self._arrays), None)
        if first is None:
            self._refuse(of, f"a loop over captures alone has no length; write {LOOP}")
        return counter, begin, copy.deepcopy(first)

    def visit_While(self, node: ast.While) -> ast.AST:
        # With another condition beside it, such as a counter's, the compiler knows whether the loop ends.
        for inner in ast.walk(node.test) if isinstance(node.test, ast.Compare) else ():
            if is_length(inner, self._lengths):
                told = "a metric cannot repeat while something about all coordinates holds"
                self._refuse(node.test, f"{told}; write {LOOP}")
        self.generic_visit(node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if isinstance(node.op, ast.MatMult):
            self._refuse(node, f"a metric has no @; write np.dot({ast.unparse(node.left)}, {ast.unparse(node.right)})")
        return self.generic_visit(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        self._refuse(node, f"a metric cannot use generators; write np.sum(...) of whole vectors, or {LOOP}")

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        self._refuse(node, f"a metric cannot use lists; write np.sum(...) of whole vectors, or {LOOP}")

    def visit_Slice(self, node: ast.Slice) -> ast.AST:
        self._refuse(node, f"a metric cannot slice a vector; write {LOOP}, and if for the coordinates to leave out")

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        for target in node.targets:
            self._check_target(target)
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self._check_target(node.target)
        return self.generic_visit(node)

    def _check_target(self, target: ast.expr) -> None:
        for one in target.elts if isinstance(target, ast.Tuple) else [target]:
            if isinstance(one, ast.Subscript):
                self._refuse(
                    one,
                    f"{ast.unparse(one)} cannot be assigned; make an array once, outside of loops, by np.zeros, ones, "
                    "empty or full of x.shape[0] entries",
                )

    def _refuse(self, node: ast.AST, message: str) -> NoReturn:
        self._source.refuse(node, message)


def _whole(node: ast.expr) -> int | None:
    """The number that it is, from 0."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def is_call(node: ast.AST, name: str, arguments: int | None = None) -> TypeGuard[ast.Call]:
    """Whether the function of that name is called, with so many arguments."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == name
        and not node.keywords
        and arguments in (None, len(node.args))
    )


def _is_capture(node: ast.AST) -> bool:
    """``ctx.w``."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == CONTEXT


def is_length(node: ast.AST, known: Collection[str] = ()) -> bool:
    """Whether it is the number of dimensions: ``x.shape[0]``, ``x.size``, ``len(x)``, ``ctx.dims``, one of `known`."""
    if isinstance(node, ast.Subscript):
        return (
            isinstance(node.value, ast.Attribute)
            and node.value.attr == "shape"
            and isinstance(node.slice, ast.Constant)
            and node.slice.value == 0
        )
    if isinstance(node, ast.Attribute):
        return node.attr == "size" or (node.attr == "dims" and _is_capture(node))
    return is_call(node, "len", 1) or (isinstance(node, ast.Name) and node.id in known)


def names_of_lengths(nodes: Iterable[ast.AST]) -> set[str]:
    """Variables that are assigned the number of dimensions."""
    return {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and is_length(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
