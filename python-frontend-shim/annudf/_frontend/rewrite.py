# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The function that is compiled: the user's code over globals and closures of known meaning.

Every name that the code reads outside itself is resolved here: numbers stay numbers (a NumPy
scalar keeps its dtype), ``math`` and ``numpy`` become the namespaces of ``functions``, plain
functions and numba's device functions become helpers, and everything else is refused by name.
"""

from __future__ import annotations

import builtins
import contextlib
import dis
import inspect
import types
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from annudf._frontend import functions
from annudf._frontend.report import unsupported
from annudf._frontend.syntax import Source, check
from annudf._frontend.trees import without_continue
from annudf.errors import UnsupportedError

_INT64 = range(-(2**63), 2**63)
_MAX_BYTES = 8  # Of a number: longdouble has no counterpart on a GPU.
_MAX_INSTRUCTIONS = 20_000
"""Of bytecode, helpers inlined: five times what a hook may have of operations (rule S5)."""
_MAX_CALLS = 256
"""Of helpers, once inlined: numba-cuda-mlir copies its environment for each, some 7 ms a call."""


class StrongFloat(float):
    """A float with a NumPy dtype: what a global ``np.float32(0.5)`` becomes."""

    dtype: np.dtype[np.generic]


class StrongInt(int):
    """An integer with a NumPy dtype."""

    dtype: np.dtype[np.generic]


def strong(value: np.generic) -> StrongFloat | StrongInt | bool:
    """A NumPy scalar as a Python number that remembers its dtype."""
    if isinstance(value, np.bool_):
        return bool(value)
    kept: StrongFloat | StrongInt = StrongFloat(value) if value.dtype.kind == "f" else StrongInt(value)
    kept.dtype = value.dtype
    return kept


def plain_function(value: object) -> types.FunctionType | None:
    """The Python function behind a helper: itself, or what a numba dispatcher wraps."""
    inner = getattr(value, "py_func", value)
    return inner if isinstance(inner, types.FunctionType) else None


def named_tuple(value: object) -> type | None:
    """A NamedTuple that a metric may make of its fields."""
    if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        return value
    return None


def _maker(named: type) -> types.FunctionType:
    """What a call of the class means in a metric: its arguments, in the order of the fields."""
    fields: tuple[str, ...] = getattr(named, "_fields")  # noqa: B009
    names: dict[str, Any] = {}
    exec(f"def make({', '.join(fields)}):\n    return ({', '.join(fields)},)\n", names)
    make: types.FunctionType = names["make"]
    make.__defaults__ = tuple(named._field_defaults.values()) or None  # type: ignore[attr-defined]
    make.__name__ = make.__qualname__ = named.__name__
    return make


def codes_of(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and those of the functions nested in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)


def attribute_names(function: types.FunctionType) -> frozenset[str]:
    """Names that may be attributes of a module in the code; those of globals and of ``ctx`` are among them."""
    return frozenset(name for code in codes_of(function.__code__) for name in code.co_names)


def outside_names(function: types.FunctionType, captures: Collection[str] = ()) -> list[tuple[str, object]]:
    """Names that the code reads from globals, builtins and closures, with their values now.

    `captures` are those of the metric, for the message of a name that was meant to be one.

    Raises
    ------
    UnsupportedError
        For a name that is not defined.
    """
    names: dict[str, object] = {}
    for code in codes_of(function.__code__):
        for instruction in dis.get_instructions(code):
            if instruction.opname not in ("LOAD_GLOBAL", "LOAD_NAME"):
                continue
            name = instruction.argval
            if name in function.__globals__:
                names[name] = function.__globals__[name]
            elif hasattr(builtins, name):
                names[name] = getattr(builtins, name)
            else:
                source = Source(function)
                hint = f"; {_instead_of(name, captures)}" if name in captures or name in _OF_CONTEXT else ""
                unsupported(f"name '{name}' is not defined{hint}", source.file, *source.place_of_name(name))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:
            source = Source(function)
            unsupported(f"variable '{name}' has no value yet", source.file, *source.place_of_name(name))
    return list(names.items())


_OF_CONTEXT = ("dim", "dims")


def _instead_of(name: str, captures: Collection[str]) -> str:
    return f"write ctx.{name}, as it is a capture" if name in captures else f"write ctx.{name}"


@dataclass
class _Inlined:
    """What a function becomes with its helpers inlined."""

    instructions: int = 0
    calls: int = 0


class Rewriter:
    """Rewrites a function and its helpers.

    Parameters
    ----------
    wrap : callable
        Makes a device function of a rewritten helper.
    captures : collection of str
        Names of the metric's captures, for messages.
    """

    def __init__(self, wrap: Callable[[types.FunctionType], object], captures: Collection[str] = ()) -> None:
        self._wrap = wrap
        self._captures = captures
        self._helpers: dict[types.FunctionType, object] = {}
        self._open: list[types.FunctionType] = []
        self._inlined: dict[types.FunctionType, _Inlined] = {}
        self._modules: dict[tuple[types.ModuleType, types.FunctionType], types.ModuleType] = {}

    def rewrite(self, function: types.FunctionType) -> types.FunctionType:
        """The function over values of known meaning; its name, code and defaults are kept."""
        source = Source(function)
        check(source)
        _check_parameters(function, source)
        if function in self._open:
            unsupported(f"{function.__name__} calls itself; write the loop with for", source.file, source.line)
        self._open.append(function)
        try:
            outside = outside_names(function, self._captures)
            values = {name: self._value(name, value, function) for name, value in outside}
        finally:
            self._open.pop()
        _check_attributes(source, values)
        self._check_size(function, outside, source)
        code = without_continue(function.__code__, source)
        free = code.co_freevars
        names: dict[str, Any] = {name: values[name] for name in values if name not in free}
        names["__builtins__"] = {}
        # Numba asks for the module's name; the globals themselves are ours.
        names["__name__"] = function.__module__
        closure = tuple(types.CellType(values[name]) for name in free)
        new = types.FunctionType(code, names, function.__name__, function.__defaults__, closure)
        new.__kwdefaults__ = function.__kwdefaults__
        new.__qualname__ = function.__name__
        new.__module__ = function.__module__
        return new

    def _check_size(self, function: types.FunctionType, outside: list[tuple[str, object]], source: Source) -> None:
        """Helpers are inlined, so a tree of calls doubles with each level: counted before that is done."""
        inner = {name: plain_function(value) for name, value in outside}
        total = _Inlined()
        for code in codes_of(function.__code__):
            for instruction in dis.get_instructions(code):
                helper = inner.get(instruction.argval) if isinstance(instruction.argval, str) else None
                of = self._inlined.get(helper) if helper is not None else None
                total.instructions += of.instructions if of else 1
                total.calls += of.calls + 1 if of else 0
        self._inlined[function] = total
        for size, most, what in (
            (total.calls, _MAX_CALLS, f"calls helpers {total.calls} times once they are inlined"),
            (total.instructions, _MAX_INSTRUCTIONS, f"has {total.instructions} instructions with its helpers inlined"),
        ):
            if size > most:
                message = f"{function.__name__} {what}, more than {most}; call them less often"
                unsupported(message, source.file, source.line)

    def _value(self, name: str, value: object, user: types.FunctionType) -> object:
        if isinstance(value, np.generic) and value.dtype.kind in "fiub" and value.dtype.itemsize <= _MAX_BYTES:
            return strong(value)
        if isinstance(value, bool | float):
            return value
        if isinstance(value, int):
            if int(value) not in _INT64:
                self._refuse(name, user, f"'{name}' is {value}, which does not fit 64 bits")
            return int(value)
        if isinstance(value, types.ModuleType):
            return self._module(value, user)
        if (stub := functions.stub_for(value)) is not None:
            return stub
        if value is bool:
            return value
        if (named := named_tuple(value)) is not None:
            return self._wrap(_maker(named))
        if (helper := plain_function(value)) is not None:
            return self._helper(helper)
        self._refuse(name, user, _why_not(name, value, self._captures))

    def _helper(self, function: types.FunctionType) -> object:
        if function not in self._helpers:
            self._helpers[function] = self._wrap(self.rewrite(function))
        return self._helpers[function]

    def _module(self, module: types.ModuleType, user: types.FunctionType) -> types.ModuleType:
        if module.__name__ in functions.NAMESPACES:
            return functions.NAMESPACES[module.__name__]
        # Of a module of the user's, the attributes that the code may mean.
        if (module, user) in self._modules:
            return self._modules[module, user]
        self._modules[module, user] = proxy = types.ModuleType(module.__name__)  # First: modules import each other.
        for attribute in attribute_names(user):
            if hasattr(proxy, attribute) or not hasattr(module, attribute):
                continue
            # Names of other things, a capture's for one, stand among these: what cannot be
            # used is left out, and refused where it is read.
            with contextlib.suppress(UnsupportedError):
                value = self._value(f"{module.__name__}.{attribute}", getattr(module, attribute), user)
                setattr(proxy, attribute, value)
        return proxy

    def _refuse(self, name: str, user: types.FunctionType, message: str) -> NoReturn:
        source = Source(user)
        unsupported(message, source.file, *source.place_of_name(name.split(".", maxsplit=1)[0]))


def _check_parameters(function: types.FunctionType, source: Source) -> None:
    flags = function.__code__.co_flags
    if flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        star = "*args" if flags & inspect.CO_VARARGS else "**kwargs"
        unsupported(f"{function.__name__} takes {star}; name its arguments", source.file, source.line)
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        if not isinstance(value, bool | int | float | np.generic):
            unsupported(
                f"{function.__name__} has a default of type {type(value).__name__}; use numbers",
                source.file,
                source.line,
            )


def _check_attributes(source: Source, values: dict[str, object]) -> None:
    """Refuses attributes that a module does not have inside a metric, at their place."""
    for node, name, attribute in source.attributes():
        module = values.get(name)
        if isinstance(module, types.ModuleType) and not hasattr(module, attribute):
            source.refuse(
                node,
                f"a metric cannot use {module.__name__}.{attribute}; {_OF_VECTORS[attribute]}"
                if attribute in _OF_VECTORS
                else f"a metric cannot use {module.__name__}.{attribute}; it can use the constants and scalar functions"
                " of math and numpy, and plain functions",
            )


_ADDS_UP = "it sees one coordinate of two vectors at a time, and acc sums up: acc + x * y"
_OF_VECTORS = dict.fromkeys(("dot", "vdot", "inner", "sum", "mean", "average", "nansum", "linalg", "cumsum"), _ADDS_UP)
"""What of numpy is about whole vectors, with what a metric has instead."""
_OF_BUILTINS = {"len": "the number of dimensions is ctx.dims", "sum": _ADDS_UP}


def _why_not(name: str, value: object, captures: Collection[str]) -> str:
    if name in captures:
        return f"'{name}' is of type {type(value).__name__}, which a metric cannot read; {_instead_of(name, captures)}"
    if isinstance(value, np.generic):
        kind = type(value).__name__
        return f"'{name}' is of type {kind}, which a metric cannot compute with; use np.float32 or np.float64"
    if (
        hasattr(value, "__array_interface__")
        or hasattr(value, "__cuda_array_interface__")
        or hasattr(value, "__dlpack__")
    ):
        return f"'{name}' is an array; declare it: captures={{'{name}': {name}}}, and read ctx.{name}[ctx.dim]"
    if isinstance(value, type):
        return f"'{name}' is a class; assign the numbers of it that the metric reads to names of their own"
    if name in _OF_BUILTINS and value is getattr(builtins, name):
        return f"a metric cannot call '{name}'; {_OF_BUILTINS[name]}"
    if callable(value):
        return (
            f"a metric cannot call '{name}'; it can call plain functions, math.*, NumPy's scalar functions,"
            " abs, min, max, round, int, float and bool"
        )
    return f"'{name}' is of type {type(value).__name__}; a metric can read numbers, and arrays given as captures"
