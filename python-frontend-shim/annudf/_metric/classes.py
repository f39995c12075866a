# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A metric as a class with typed fields: ``total: np.float32 = 0`` and ``update(self, x, y, ctx)``."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from annudf._core import MAX_FIELDS
from annudf._frontend.source.methods import Kind, as_function
from annudf._metric.arguments import annotations_of, check_accumulator_word, check_start
from annudf._support.checks import shown
from annudf._support.options import AccumulatorWord, Word
from annudf.errors import ArgumentError

_SIGNATURES = {"init": "init(self, ctx)", "update": "update(self, x, y, ctx)", "finalize": "finalize(self, ctx)"}
_MACHINERY = frozenset({*vars(type("_", (), {"__annotations__": {}})), "__static_attributes__", "__firstlineno__"})
"""What Python itself puts into a class."""


@dataclass(frozen=True, slots=True)
class FieldClass:
    """What such a class says: its methods as plain functions, and its fields."""

    init: types.FunctionType | None
    update: types.FunctionType
    finalize: types.FunctionType | None
    names: tuple[str, ...]
    accumulator: AccumulatorWord | tuple[AccumulatorWord, ...]
    initial: float | int | tuple[float | int, ...]


def has_fields(target: type) -> bool:
    """Whether a class is meant so; others have functions of ``(x, y, acc, ctx)``, without self."""
    update = vars(target).get("update")
    takes_self = isinstance(update, types.FunctionType) and update.__code__.co_varnames[:1] == ("self",)
    return takes_self or bool(inspect.get_annotations(target))


def read_class(target: type, compute: Word) -> FieldClass:
    """Raises ArgumentError, DtypeError or UnsupportedError at what such a class cannot have."""
    name = target.__name__
    if target.__bases__ != (object,):
        bases = ", ".join(base.__name__ for base in target.__bases__)
        raise ArgumentError(f"class {name} has base class {bases}, whose fields and methods are ignored; leave it out")
    hints = annotations_of(target)
    methods = _methods(target, hints)
    if not hints:
        raise ArgumentError(f"class {name} has no fields; write one above update, such as total: np.float32 = 0")
    if len(hints) > MAX_FIELDS:
        raise ArgumentError(f"class {name} has {len(hints)} fields, an accumulator has at most {MAX_FIELDS}")
    words = tuple(_word(f"field '{one}' of class {name}", hint, compute) for one, hint in hints.items())
    starts = tuple(_start(target, one, word, "init" in methods) for one, word in zip(hints, words, strict=True))
    made = {kind: as_function(method, kind, name, tuple(hints), starts) for kind, method in methods.items()}
    several = len(words) > 1
    return FieldClass(
        init=made.get("init"),
        update=made["update"],
        finalize=made.get("finalize"),
        names=tuple(hints),
        accumulator=words if several else words[0],
        initial=starts if several else starts[0],
    )


def _methods(target: type, hints: dict[str, Any]) -> dict[Kind, types.FunctionType]:
    name, is_dataclass = target.__name__, "__dataclass_fields__" in vars(target)
    methods: dict[Kind, types.FunctionType] = {}
    for member, value in vars(target).items():
        if member in hints or member in _MACHINERY or (is_dataclass and member.startswith("__")):
            continue
        if member == "__init__":
            raise ArgumentError(
                f"class {name} has an __init__; fields start as the class says, or as init(self, ctx) sets them"
            )
        if member in _SIGNATURES and isinstance(value, types.FunctionType):
            kind = cast(Kind, member)
            _check_signature(name, kind, value)
            methods[kind] = value
        elif member in _SIGNATURES:
            raise ArgumentError(
                f"{member} of class {name} is of type {type(value).__name__}; write def {_SIGNATURES[member]}"
            )
        elif isinstance(value, (Callable, staticmethod, classmethod, property)):  # type: ignore[arg-type]
            raise ArgumentError(
                f"class {name} has a method '{member}'; "
                + (
                    "of a class with fields give the decorator a function of two tuples: combine=lambda acc, other: ..."
                    if member == "combine"
                    else "a metric has init, update and finalize only, so make it a helper outside the class"
                )
            )
        else:
            raise ArgumentError(
                f"class {name} has an attribute '{member}' without a type; write {member}: np.float32 = {shown(value)} "
                "for a field, or move a constant to a capture or a global outside the class"
            )
    if "update" not in methods:
        raise ArgumentError(f"class {name} has no update; write def {_SIGNATURES['update']}")
    return methods


def _check_signature(name: str, kind: Kind, method: types.FunctionType) -> None:
    signature = inspect.signature(method)
    most = _SIGNATURES[kind].count(",") + 1
    plain = all(
        one.kind is one.POSITIONAL_OR_KEYWORD and one.default is one.empty for one in signature.parameters.values()
    )
    given = list(signature.parameters)
    without_self = "acc" in given or given[:1] == ["x"]
    if (
        without_self
        or not plain
        or len(given) not in (most - 1, most)
        or ("ctx" in given and given.index("ctx") != most - 1)
    ):
        raise ArgumentError(
            f"{kind} of class {name} takes {signature}; of a class with fields it is {_SIGNATURES[kind]}"
        )


def _word(what: str, hint: object, compute: Word) -> AccumulatorWord:
    if hint is float:
        return "f64" if compute == "f64" else "f32"
    if hint is int:
        return "i32"
    if isinstance(hint, type) and issubclass(hint, np.generic):
        return check_accumulator_word(hint, what)
    spelled = hint.__name__ if isinstance(hint, type) else str(hint)
    raise ArgumentError(f"{what} is annotated {spelled}; write np.float32, np.float64, np.int32, np.uint32 or np.int64")


def _start(target: type, field: str, word: AccumulatorWord, has_init: bool) -> float | int:
    missing = object()
    value = vars(target).get(field, missing)
    what = f"field '{field}' of class {target.__name__}"
    if value is missing:
        if not has_init:
            raise ArgumentError(
                f"{what} has no value to start with; write {field}: ... = 0, or set it in init(self, ctx)"
            )
        value = 0
    return check_start(value, word, what)
