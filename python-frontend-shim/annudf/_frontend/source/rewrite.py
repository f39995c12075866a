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
import dataclasses
import dis
import enum
import functools
import inspect
import math
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, cast

import numpy as np

from annudf._frontend.source import functions
from annudf._frontend.source.composed import COMPOSED, divmod_
from annudf._frontend.source.composed_of_vectors import ELEMENTWISE, REDUCING, composed_names, intrinsic
from annudf._frontend.source.digest import codes_of
from annudf._frontend.source.links import Unlinkable, is_linked, resolve
from annudf._frontend.source.report import unsupported
from annudf._frontend.source.syntax import Source, check
from annudf._frontend.source.trees import placed_at, without_continue
from annudf._frontend.source.vectors import LOOP, UNREADABLE, with_plain_loops
from annudf._support.checks import shown
from annudf.errors import UnsupportedError

_INT64 = range(-(2**63), 2**63)
_MAX_BYTES = 8  # A number's: longdouble has no counterpart on a GPU.
_MAX_INSTRUCTIONS = 20_000
"""Most instructions of bytecode with helpers inlined: five times the operations of a hook (rule S5)."""
_MAX_CALLS = 256
"""Most calls of helpers to inline: numba-cuda-mlir copies its environment for each, some 7 ms a call."""


class StrongFloat(float):
    """A float with a NumPy dtype: what a global ``np.float32(0.5)`` becomes."""

    dtype: np.dtype[np.generic]


class StrongInt(int):
    """An integer or a truth value with a NumPy dtype."""

    dtype: np.dtype[np.generic]


def strong(value: np.generic) -> StrongFloat | StrongInt:
    """A NumPy scalar as a Python number that remembers its dtype; a uint64 is the int64 of its bits, as in MLIR."""
    kept: StrongFloat | StrongInt
    if value.dtype.kind == "f":
        kept = StrongFloat(value)
    else:
        kept = StrongInt(value.view(np.int64) if value.dtype == np.uint64 else value)
    kept.dtype = value.dtype
    return kept


def plain_number(value: bool | float | int) -> bool | float | int:
    """The number that an IntEnum's member, or another subclass of Python's numbers, is."""
    if isinstance(value, bool):
        return value
    return int.__int__(value) if isinstance(value, int) else float.__float__(value)


def plain_function(value: object) -> types.FunctionType | None:
    """The Python function behind a helper: itself, or what numba's jit, functools.cache or np.vectorize made of one."""
    inner = getattr(value, "py_func", value)
    if isinstance(inner, _CACHED):
        inner = inner.__wrapped__
    elif isinstance(inner, np.vectorize):
        inner = inner.pyfunc
    return inner if isinstance(inner, types.FunctionType) else None


def _composed_by_identity() -> Iterator[tuple[int, Any]]:
    modules: dict[str, Any] = {"numpy": np, "math": math}
    for module, found in modules.items():
        for name, function in COMPOSED[module].items():
            yield id(getattr(found, name)), function
    yield id(builtins.divmod), divmod_


_COMPOSED = dict(_composed_by_identity())


_OF_VECTORS = {id(getattr(np, name)): function for name, function in REDUCING.items()}


def composed_for(value: object, has_vectors: bool = False) -> types.FunctionType | None:
    """What stands in a metric for a function given as itself (``np.logaddexp``), or None."""
    found = _COMPOSED.get(id(value)) or COMPOSED[functions.SCIPY].get(functions.scipy_name(value))
    if has_vectors:
        found = _OF_VECTORS.get(id(value)) or ELEMENTWISE.get(found, found) or intrinsic(value)
    assert found is None or isinstance(found, types.FunctionType)
    return found


_CACHED = type(functools.cache(lambda: None))


def holds_numbers(value: object) -> bool:
    """Whether attributes of it can be numbers and functions of a metric: a module, a class, an enum, a dataclass."""
    if isinstance(value, type):
        return value.__module__ != "builtins" and not issubclass(value, (np.generic, tuple))
    return (
        isinstance(value, (types.ModuleType, types.SimpleNamespace))
        or (isinstance(value, enum.Enum) and not isinstance(value, (int, float)))
        or (isinstance(value, tuple) and hasattr(value, "_fields"))
        or dataclasses.is_dataclass(value)
    )


def is_namespace(value: object) -> bool:
    """Whether it is a module whose functions have a meaning of their own in a metric."""
    return value is np or value is math


def name_of(value: Any) -> str:
    """What messages call a thing that holds numbers."""
    return getattr(value, "__name__", "") or type(value).__name__


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
    known: dict[str, object] = cast(Any, function).__builtins__
    for code in codes_of(function.__code__):
        for instruction in dis.get_instructions(code):
            if instruction.opname not in ("LOAD_GLOBAL", "LOAD_NAME"):
                continue
            name = instruction.argval
            if name in function.__globals__:
                names[name] = function.__globals__[name]
            elif name in known:
                names[name] = known[name]
            else:
                source = Source(function)
                hint = f"; {_instead_of(name, captures)}" if name in captures or name in _OF_CONTEXT else ""
                unsupported(f"name '{name}' is not defined{hint}", source.file, *source.place_of_name(name))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:
            source = Source(function)
            unsupported(
                f"variable '{name}' has no value yet; assign it before the metric is compiled",
                source.file,
                *source.place_of_name(name),
            )
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
    has_vectors : bool
        Whether the function takes whole vectors.
    """

    def __init__(
        self,
        wrap: Callable[[types.FunctionType], object],
        captures: Collection[str] = (),
        has_vectors: bool = False,
    ) -> None:
        self._wrap = wrap
        self._captures = captures
        self._has_vectors = has_vectors
        self._helpers: dict[types.FunctionType, object] = {}
        self._placed: dict[types.FunctionType, types.FunctionType] = {}
        self._open: list[types.FunctionType] = []
        self._inlined: dict[types.FunctionType, _Inlined] = {}
        self._holders: dict[tuple[int, types.FunctionType], tuple[types.ModuleType, object]] = {}

    def rewrite(self, function: types.FunctionType) -> types.FunctionType:
        """The function over values of known meaning; its name, code and defaults are kept."""
        given = function
        if self._has_vectors:
            function = with_plain_loops(function)
        source = Source(function)
        check(source)
        _check_parameters(function, source)
        if given in self._open:
            unsupported(f"{function.__name__} calls itself; write the loop with for", source.file, source.line)
        self._open.append(given)
        try:
            outside = outside_names(function, self._captures)
            values = {name: self._value(name, value, function) for name, value in outside}
        finally:
            self._open.pop()
        check_attributes(source, values, self._has_vectors)
        self._inlined[given] = self._check_size(function, outside, source)
        code = without_continue(function.__code__, source)
        free = code.co_freevars
        names: dict[str, Any] = {name: values[name] for name in values if name not in free}
        names["__builtins__"] = {}
        # Numba asks for the module's name; the globals themselves are ours.
        names["__name__"] = function.__module__
        closure = tuple(types.CellType(values[name]) for name in free)
        new = types.FunctionType(code, names, function.__name__, None, closure)
        new.__defaults__ = tuple(map(_default, function.__defaults__ or ())) or None
        new.__kwdefaults__ = {name: _default(value) for name, value in (function.__kwdefaults__ or {}).items()} or None
        new.__qualname__ = function.__name__
        new.__module__ = function.__module__
        return new

    def _check_size(self, function: types.FunctionType, outside: list[tuple[str, object]], source: Source) -> _Inlined:
        """Helpers are inlined, so a tree of calls doubles with each level: counted before that is done."""
        inner = {name: self._composed(value) or plain_function(value) for name, value in outside}
        for _, holder in outside:
            for name in attribute_names(function) if holds_numbers(holder) else ():
                value = getattr(holder, name, None)
                inner[name] = inner.get(name) or self._composed(value) or plain_function(value)
        total = _Inlined()
        for code in codes_of(function.__code__):
            for instruction in dis.get_instructions(code):
                helper = inner.get(instruction.argval) if isinstance(instruction.argval, str) else None
                of = self._inlined.get(helper) if helper is not None else None
                total.instructions += of.instructions if of else 1
                total.calls += of.calls + 1 if of else 0
        for size, most, what in (
            (total.calls, _MAX_CALLS, f"calls helpers {total.calls} times once they are inlined"),
            (total.instructions, _MAX_INSTRUCTIONS, f"has {total.instructions} instructions with its helpers inlined"),
        ):
            if size > most:
                message = f"{function.__name__} {what}, more than {most}; call them less often"
                unsupported(message, source.file, source.line)
        return total

    def _value(self, name: str, value: object, user: types.FunctionType) -> object:
        if is_linked(value):
            linked = resolve(value)
            if isinstance(linked, Unlinkable):
                self._refuse(name, user, f"'{name}' {linked.why}")
            return linked
        if isinstance(value, np.generic) and value.dtype.kind in "fiub" and value.dtype.itemsize <= _MAX_BYTES:
            return strong(value)
        if isinstance(value, bool | int | float):
            number = plain_number(value)
            if isinstance(number, int) and number not in _INT64:
                self._refuse(name, user, f"'{name}' is {shown(number)}, which does not fit 64 bits")
            return number
        if (stub := functions.stub_for(value)) is not None:
            return stub
        if self._has_vectors and (stub := functions.stub_of_vectors(value)) is not None:
            return stub
        if (composed := self._composed(value, name, user)) is not None:
            return self._helper(composed)
        if holds_numbers(value):
            return self._holder(value, user)
        if (named := named_tuple(value)) is not None:
            return self._wrap(_maker(named))
        if (helper := plain_function(value)) is not None:
            return self._helper(helper)
        self._refuse(name, user, _why_not(name, value, self._captures, self._has_vectors))

    def _composed(
        self, value: object, name: str = "", user: types.FunctionType | None = None
    ) -> types.FunctionType | None:
        """What stands for a function of NumPy, at the place of its first use where a metric takes vectors."""
        found = composed_for(value, self._has_vectors)
        if found is None or not self._has_vectors:
            return found
        if found not in self._placed and user is not None:
            source = Source(user)
            node = source.first_use(name)
            self._placed[found] = found if node is None else placed_at(found, source, node)
        return self._placed.get(found, found)

    def _helper(self, function: types.FunctionType) -> object:
        if function not in self._helpers:
            self._helpers[function] = self._wrap(self.rewrite(function))
        return self._helpers[function]

    def _holder(self, value: Any, user: types.FunctionType) -> types.ModuleType:
        """A module, or another thing with attributes, as a module of those that the code may mean."""
        if (id(value), user) in self._holders:
            return self._holders[id(value), user][0]
        name = name_of(value)
        proxy = types.ModuleType(name)
        self._holders[id(value), user] = proxy, value  # First: modules import each other.
        if is_namespace(value):
            vars(proxy).update(vars(_namespace(name, self._has_vectors)))
        for attribute in attribute_names(user):
            if hasattr(proxy, attribute) or not hasattr(value, attribute):
                continue
            if is_namespace(value) and attribute not in composed_names(name, self._has_vectors):
                continue
            # Names of other things, a capture's for one, stand among these: what cannot be
            # used is left out, and refused where it is read.
            held = getattr(value, attribute)
            if is_linked(held):
                setattr(proxy, attribute, resolve(held))
                continue
            with contextlib.suppress(UnsupportedError):
                setattr(proxy, attribute, self._value(f"{name}.{attribute}", held, user))
        return proxy

    def _refuse(self, name: str, user: types.FunctionType, message: str) -> NoReturn:
        source = Source(user)
        unsupported(message, source.file, *source.place_of_name(name.split(".", maxsplit=1)[0]))


def _default(value: object) -> object:
    if isinstance(value, np.generic):
        return strong(value) if value.dtype.kind in "fiub" else value
    return plain_number(value) if isinstance(value, bool | int | float) else value


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


def check_attributes(source: Source, values: Mapping[str, object], has_vectors: bool = False) -> None:
    """Refuses attributes that a module does not have inside a metric, at their place."""
    instead = _INSTEAD | _INSTEAD_OF_ARRAYS if has_vectors else _INSTEAD
    for node, name, attribute in source.attributes():
        module = values.get(name)
        if not isinstance(module, types.ModuleType):
            continue
        if isinstance(held := vars(module).get(attribute), Unlinkable):
            source.refuse(node, f"'{module.__name__}.{attribute}' {held.why}")
        if has_attribute(module, attribute, has_vectors):
            continue
        source.refuse(
            node,
            f"a metric cannot use {module.__name__}.{attribute}; {instead[attribute]}"
            if attribute in instead
            else f"a metric cannot use {module.__name__}.{attribute}; it can use the constants and scalar functions"
            " of math and numpy, and plain functions",
        )


def _namespace(name: str, has_vectors: bool) -> types.ModuleType:
    return functions.NUMPY_OF_VECTORS if has_vectors and name == "numpy" else functions.NAMESPACES[name]


def has_attribute(module: types.ModuleType, name: str, has_vectors: bool = False) -> bool:
    """Whether the attribute may mean something in a metric; of a user's module that is seen when it is compiled."""
    if is_namespace(module):
        return hasattr(_namespace(module.__name__, has_vectors), name) or name in composed_names(
            module.__name__, has_vectors
        )
    return hasattr(module, name)


_ADDS_UP = "it sees one coordinate of two vectors at a time, and acc sums up: acc + x * y"
_OUTSIDE = "assign the number to a name outside, such as EPS = float(np.finfo(np.float32).eps)"
_INSTEAD = {
    **dict.fromkeys(
        ("dot", "vdot", "inner", "sum", "mean", "average", "nansum", "linalg", "cumsum", "prod", "fsum", "dist",
         "sumprod", "cross", "matmul", "einsum", "std", "var", "median"), _ADDS_UP,
    ),
    **dict.fromkeys(("array", "asarray", "zeros", "ones", "arange", "stack", "concatenate"),
                    "it has no arrays; use several variables, or a capture"),
    **dict.fromkeys(("finfo", "iinfo", "float_info"), _OUTSIDE),
    **dict.fromkeys(("round", "around"), "write np.rint(v), or np.rint(v * 100) / 100 for two digits"),
    **dict.fromkeys(("any", "all"), "it sees one coordinate at a time: write a condition of x and y"),
    "nan_to_num": "write np.where(np.isnan(v), 0, v)",
    "float_power": "write a ** b",
    "ldexp": "write v * 2.0 ** n",
    "modf": "write np.trunc(v) and v - np.trunc(v)",
    "select": "write if and elif, or np.where",
    "amax": "write max(acc, v)",
    "amin": "write min(acc, v)",
    "nanmax": "write np.fmax(acc, v)",
    "nanmin": "write np.fmin(acc, v)",
    "random": "it gives the same distance each time; give random numbers as a capture",
}  # fmt: skip
"""What to write instead of an attribute of a module, beside those that have another name."""
_LOOP = f"write the loop: {LOOP}"
_SCRATCH = f"it keeps arrays whose entries it assigns, d[i] = v; compute in a loop, in variables: {LOOP}"
_INSTEAD_OF_ARRAYS = {
    **{name: text.replace(_ADDS_UP, _LOOP) for name, text in _INSTEAD.items() if text == _ADDS_UP},
    **dict.fromkeys(("nanmax", "nanmin", "ptp", "quantile", "percentile"), _LOOP),
    **dict.fromkeys(("array", "asarray", "zeros", "ones", "empty", "full", "arange", "stack", "concatenate",
                     "zeros_like", "ones_like", "empty_like", "copy"), _SCRATCH),
    **dict.fromkeys(("sort", "argsort", "argmax", "argmin", "unique", "searchsorted", "diff", "roll"),
                    "it sees the coordinates once, in their order; transform the vectors before they are indexed"),
}  # fmt: skip
"""What differs where a function takes whole vectors."""
_OF_BUILTINS = {
    "len": "the number of dimensions is ctx.dims",
    "sum": _ADDS_UP,
    "any": _INSTEAD["any"],
    "all": _INSTEAD["any"],
    "zip": "write for i in range(<constant>)",
    "enumerate": "write for i in range(<constant>)",
    "isinstance": "types are those that dtype=, accumulator= and captures say",
    "bin": "bits are counted by np.bitwise_count(x ^ y)",
}


def _why_not(name: str, value: object, captures: Collection[str], has_vectors: bool) -> str:
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
        entry = "i" if has_vectors else "ctx.dim"
        return f"'{name}' is an array; declare it: captures={{'{name}': {name}}}, and read ctx.{name}[{entry}]"
    if isinstance(value, list | tuple):
        return (
            f"'{name}' is a {type(value).__name__}; give it as a capture, captures={{'{name}': numpy.array({name})}}, "
            f"and read ctx.{name}[i]"
        )
    if isinstance(value, dict | str | bytes):
        return f"'{name}' is of type {type(value).__name__}; give each number of it a name, or declare captures"
    if isinstance(value, functools.partial):
        of = name_of(value.func)
        return f"'{name}' is a functools.partial; write a function that calls {of} with those arguments"
    if has_vectors and name in ("zip", "enumerate"):  # A tree has loops over range in their place.
        return f"'{name}' needs the source of the function, which cannot be read; {UNREADABLE}"
    if name in _OF_BUILTINS and value is getattr(builtins, name):
        return f"a metric cannot call '{name}'; {_OF_BUILTINS[name]}"
    if callable(value):
        return (
            f"a metric cannot call '{name}'; it can call plain functions, math.*, NumPy's scalar functions,"
            " abs, min, max, round, int, float and bool"
        )
    return f"'{name}' is of type {type(value).__name__}; a metric can read numbers, and arrays given as captures"
