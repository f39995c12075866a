# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What a compiled metric depends on, as one hash; computed without numba-cuda-mlir.

Equal fingerprints mean equal machine code: bytecode and constants of the function and its helpers,
the values of the globals and closures that they read, the options, and the versions of Python,
NumPy, numba-cuda-mlir and annudf. Values of captures are not part of it. `test_fingerprint.py` builds
metrics that differ in one value.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import sys
import types
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from annudf._frontend.source.digest import Digest, add_code
from annudf._frontend.source.functions import stub_for, stub_of_vectors
from annudf._frontend.source.links import Linked, is_linked, resolve
from annudf._frontend.source.rewrite import (
    attribute_names,
    composed_for,
    holds_numbers,
    is_namespace,
    name_of,
    named_tuple,
    outside_names,
    plain_function,
)
from annudf._support.options import CaptureType, MetricOptions


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
    here = Path(__file__).parents[1]
    for file in (*sorted(here.rglob("*.py")), here.parent / "_support/options.py"):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


class _Walk:
    """Adds all that functions reach to a digest.

    Whatever is added begins with what it is, a list with how long it is, and what was met before is a number: so the
    digest tells what there was, and which parts of it are one.
    """

    def __init__(self, into: Digest) -> None:
        self._into = into
        self._numbers: dict[object, int] = {}
        self._kept: list[object] = []
        """What must live on, as it is known by its id."""

    def _is_new(self, key: object, what: str) -> bool:
        """Numbers it before what it holds, as functions and modules refer to each other."""
        number = self._numbers.get(key)
        if number is not None:
            self._into.add("met", what, number)
            return False
        self._numbers[key] = len(self._numbers)
        self._into.add(what)
        return True

    def add_function(self, function: types.FunctionType) -> None:
        if not self._is_new(function, "function"):
            return
        self._into.add(function.__name__)
        add_code(self._into, function.__code__, places=True)
        attributes = attribute_names(function)
        self._add_each("defaults", enumerate(function.__defaults__ or ()), attributes)
        self._add_each("keyword defaults", (function.__kwdefaults__ or {}).items(), attributes)
        self._add_each("names", outside_names(function), attributes)

    def _add_each(self, what: str, of: Iterable[tuple[object, object]], attributes: frozenset[str]) -> None:
        items = list(of)
        self._into.add(what, len(items))
        for name, value in items:
            self._into.add(name)
            self._add_value(value, attributes)

    def _add_value(self, value: Any, attributes: frozenset[str]) -> None:
        """In the order in which `rewrite.Rewriter` asks what a value is."""
        add = self._into.add
        if is_linked(value):
            self._add_linked(value)
        elif isinstance(value, np.generic):
            add("scalar", value.dtype.kind, value.dtype.str, type(value).__qualname__, value.tobytes())
        elif isinstance(value, bool | float | int):
            add("number", value)
        elif (stub := stub_for(value) or stub_of_vectors(value)) is not None:
            add("stub", stub.__name__)
        elif (composed := composed_for(value, True)) is not None:
            add("composed", composed.__name__)  # Whose code is part of the frontend's own.
        elif is_namespace(value):
            add("namespace", name_of(value))
        elif holds_numbers(value):
            # What is looked at hangs on the names in the code of who reads it.
            if self._is_new((id(value), attributes), "holder"):
                self._kept.append(value)
                add(name_of(value))
                held = [(name, getattr(value, name)) for name in sorted(attributes) if hasattr(value, name)]
                self._add_each("attributes", held, attributes)
        elif (named := named_tuple(value)) is not None:
            self.add_named_tuple(named)
        elif (helper := plain_function(value)) is not None:
            self.add_function(helper)
        else:
            # Refused where it is read, so it never has an artifact to be mistaken for.
            add("other", type(value).__qualname__)

    def add_named_tuple(self, named: Any) -> None:
        self._into.add("named tuple", named.__name__, named._fields)
        self._add_each("defaults", named._field_defaults.items(), frozenset())

    def _add_linked(self, value: Any) -> None:
        """The code itself, so that a file that is written again is another metric."""
        linked = resolve(value)
        if not isinstance(linked, Linked):
            self._into.add("refused")
            return
        self._into.add("linked", len(linked.overloads))
        for one in linked.overloads:
            arguments = tuple(argument.name for argument in one.arguments)
            self._into.add(one.symbol, one.convention, arguments, one.result.name, len(one.pieces))
            for piece in one.pieces:
                self._into.add(piece.kind, piece.data)

    def add_option(self, value: object) -> None:
        """Adds the value of one option of a decorator."""
        if isinstance(value, types.FunctionType):
            self.add_function(value)
        elif isinstance(value, Mapping):
            self._into.add("mapping", len(value))
            for name, one in value.items():
                self._into.add(name)
                self.add_option(one)
        elif isinstance(value, CaptureType):
            self._into.add("capture", value.element, value.extents)
        elif named_tuple(value) is not None:
            self.add_named_tuple(value)
        else:
            assert isinstance(value, str | bool | int | float | tuple | None), type(value)
            self._into.add("value", value)


def fingerprint(function: types.FunctionType, options: MetricOptions) -> str:
    """SHA-256, in hexadecimal, of everything that the compiled metric depends on.

    Raises
    ------
    UnsupportedError
        The function reads a name that is not defined.
    """
    into = Digest()
    into.add("annudf frontend 2", *_versions())
    walk = _Walk(into)
    walk.add_function(function)
    for one in dataclasses.fields(options):
        into.add(one.name)
        walk.add_option(getattr(options, one.name))
    return into.hexdigest()
