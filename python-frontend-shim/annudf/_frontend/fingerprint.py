# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What a compiled metric depends on, as one hash; computed without numba-cuda-mlir.

Equal fingerprints mean equal machine code: bytecode and constants of the function and its helpers,
the values of the globals and closures that they read, the options, and the versions of Python,
NumPy, numba-cuda-mlir and annudf. Values of captures are not part of it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import types
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from annudf._frontend.functions import stub_for
from annudf._frontend.links import Linked, is_linked, resolve
from annudf._frontend.rewrite import (
    attribute_names,
    codes_of,
    composed_for,
    holds_numbers,
    is_namespace,
    name_of,
    named_tuple,
    outside_names,
    plain_function,
)
from annudf._options import MetricOptions


@cache
def _versions() -> tuple[str, ...]:
    from annudf import __version__

    # importlib.metadata would tell too, but takes 30 ms to import.
    found = importlib.util.find_spec("numba_cuda_mlir")
    frontend = "none"
    if found is not None and found.submodule_search_locations:
        version = Path(found.submodule_search_locations[0], "VERSION")
        frontend = version.read_text().strip() if version.is_file() else f"unknown at {version.parent}"
    return (sys.version, np.__version__, frontend, __version__, _own_source())


def _own_source() -> str:
    """Digest of this package: what it makes of a function is the code that is cached."""
    digest = hashlib.sha256()
    here = Path(__file__).parent
    for file in (*sorted(here.glob("*.py")), here.parent / "_options.py"):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


class _Hash:
    """Length-prefixed fields, so that no two sequences of fields collide."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.kept: list[object] = []
        """What must live on, as it is known by its id."""

    def add(self, *fields: object) -> None:
        for field in fields:
            data = field if isinstance(field, bytes) else repr(field).encode("utf-8", "surrogatepass")
            self._hash.update(len(data).to_bytes(8, "little"))
            self._hash.update(data)

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


def _add_code(into: _Hash, code: types.CodeType) -> None:
    for part in codes_of(code):
        # Lines are in the artifact's diagnostics and manifest. Directories are not hashed, so that
        # a notebook's cells, which live in another temporary folder each time, are found again.
        into.add(part.co_code, part.co_names, part.co_varnames, part.co_freevars, part.co_argcount, part.co_flags)
        into.add(os.path.basename(part.co_filename), part.co_firstlineno, part.co_linetable)
        into.add([c for c in part.co_consts if not isinstance(c, types.CodeType)])


def _add_function(into: _Hash, function: types.FunctionType, seen: dict[object, int]) -> None:
    if function in seen:
        into.add("function number", seen[function])
        return
    seen[function] = len(seen)
    into.add(function.__name__, function.__defaults__, function.__kwdefaults__)
    _add_code(into, function.__code__)
    attributes = attribute_names(function)
    for name, value in outside_names(function):
        into.add(name)
        _add_value(into, value, attributes, seen)


def _add_value(into: _Hash, value: Any, attributes: frozenset[str], seen: dict[object, int]) -> None:
    if is_linked(value):
        _add_linked(into, value)
    elif isinstance(value, np.generic):
        into.add(value.dtype.str, value.tobytes())
    elif isinstance(value, float):
        into.add("float", value.hex())
    elif isinstance(value, bool | int):
        into.add(type(value).__name__, int(value))
    elif holds_numbers(value):
        into.add("module", name_of(value))
        key = (id(value), attributes)
        if not is_namespace(value) and key not in seen:
            seen[key] = len(seen)  # First: modules import each other.
            into.kept.append(value)
            for name in sorted(attributes):
                if hasattr(value, name):
                    into.add(name)
                    _add_value(into, getattr(value, name), attributes, seen)
    elif (stub := stub_for(value)) is not None:
        into.add("function", stub.__name__)
    elif (composed := composed_for(value)) is not None:
        into.add("function", composed.__name__)  # Whose code is part of the frontend's own.
    elif (helper := plain_function(value)) is not None:
        _add_function(into, helper, seen)
    elif (named := named_tuple(value)) is not None:
        into.add("named tuple", _fields(named))
    else:
        # Refused when it is compiled, so it never has an artifact to be mistaken for.
        into.add("other", type(value).__qualname__)


def _add_linked(into: _Hash, value: Any) -> None:
    """The code itself, so that a file that is written again is another metric."""
    linked = resolve(value)
    if not isinstance(linked, Linked):
        into.add("refused")
        return
    for one in linked.overloads:
        into.add("linked", one.symbol, one.convention, [a.name for a in one.arguments], one.result.name)
        for piece in one.pieces:
            into.add(piece.kind, piece.data)


def _fields(named: type | None) -> object:
    """What of a NamedTuple decides the code: names, and defaults."""
    return named and (named._fields, repr(named._field_defaults))  # type: ignore[attr-defined]


def fingerprint(function: types.FunctionType, options: MetricOptions) -> str:
    """SHA-256, in hexadecimal, of everything that the compiled metric depends on.

    Raises
    ------
    UnsupportedError
        The function reads a name that is not defined.
    """
    into = _Hash()
    into.add("annudf frontend 1", *_versions())
    initial = options.initial if isinstance(options.initial, tuple) else (options.initial,)
    into.add(options.name, options.order, options.coarse, options.coarse_order)
    into.add([value if isinstance(value, int) else value.hex() for value in initial])
    into.add(options.compute, options.accumulator, options.elements, _fields(options.fields))
    into.add(options.numerics)
    into.add("filter" if options.is_filter else "metric", options.missing_values)
    into.add([(name, capture.element, capture.extents) for name, capture in options.captures.items()])
    seen: dict[object, int] = {}
    _add_function(into, function, seen)
    for name, other in options.other_hooks.items():
        if other is None:
            into.add(f"no {name}")
        else:
            _add_function(into, other, seen)
    return into.hexdigest()
