# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A metric's functions as they are now: with the globals, closures and helpers of this moment.

A metric is compiled for several targets, at several times, and found again by its fingerprint. All of
them must be of one function, whatever is assigned to the globals that it reads in the meantime.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from annudf._frontend.source.functions import stub_for, stub_of_vectors
from annudf._frontend.source.links import Callee, is_linked
from annudf._frontend.source.links import resolve as resolve_linked
from annudf._frontend.source.rewrite import (
    attribute_names,
    composed_for,
    holds_numbers,
    is_namespace,
    name_of,
    outside_names,
    plain_function,
)
from annudf._support.options import MetricOptions

_CAPTURES, _RESOLVE = "captures", "resolve"


def snapshot(
    function: types.FunctionType, options: MetricOptions, resolve: Callable[[Any], Callee] = resolve_linked
) -> tuple[types.FunctionType, MetricOptions]:
    """Copies of a metric's functions over copies of what they read; `resolve` reads what is linked.

    Raises
    ------
    UnsupportedError
        A function reads a name that is not defined.
    """
    made: dict[Any, Any] = {}
    made[_CAPTURES], made[_RESOLVE] = tuple(options.captures), resolve
    copied = _freeze(function, made)
    frozen: dict[str, Any] = {
        name: _freeze(other, made) for name, other in options.other_hooks.items() if other is not None
    }
    return copied, replace(options, **frozen) if frozen else options


def _freeze(function: types.FunctionType, made: dict[Any, Any]) -> types.FunctionType:
    if function in made:
        known: types.FunctionType = made[function]
        return known
    names: dict[str, Any] = {"__builtins__": builtins, "__name__": function.__module__}
    free = function.__code__.co_freevars
    cells = {name: types.CellType() for name in free}
    closure = tuple(cells[name] for name in free)
    copy = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, closure)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__ = function.__qualname__
    copy.__module__ = function.__module__
    made[function] = copy  # Before its helpers: one of them may call it, which is refused later, by name.
    attributes = attribute_names(function)
    for name, value in outside_names(function, made[_CAPTURES]):
        frozen = _value(value, attributes, made)
        if name in cells:
            cells[name].cell_contents = frozen
        else:
            names[name] = frozen
    return copy


def _value(value: Any, attributes: frozenset[str], made: dict[Any, Any]) -> Any:
    if is_linked(value):
        linked = ("linked", id(value))
        if linked not in made:
            made[linked] = made[_RESOLVE](value)
            made["kept", id(value)] = value
        return made[linked]
    if holds_numbers(value) and not is_namespace(value):
        key = (id(value), attributes)
        if key not in made:
            made[key] = proxy = types.ModuleType(name_of(value))  # First: modules import each other.
            made["kept", id(value)] = value  # As it is known by its id.
            for name in attributes:
                if hasattr(value, name):
                    setattr(proxy, name, _value(getattr(value, name), attributes, made))
        return made[key]
    stub = stub_for(value) or stub_of_vectors(value)
    if stub is None and composed_for(value, True) is None and (helper := plain_function(value)) is not None:
        return _freeze(helper, made)
    return value
