# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random bodies that read captures below conditions, on each device against plain Python.

The lowering computes both sides of a branch, on a GPU of a small one, so a load is computed where its condition does not
hold: data and captures hold the ends of their types, for which an index that nothing keeps inside reads far away. Plain
Python runs the same functions over arrays that know when an index is outside. Results are equal to the bit.

Half of ANNUDF_RANDOM_BODIES (400; 600 in the long form) are drawn, as many of update as of finalize.
"""

from __future__ import annotations

import linecache
import math
import os
import re
import textwrap
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from captured import FLOATS, HELPERS, INTS, Body, Generator

from annudf import CompileError, ivf_flat
from interpreter.inputs import vectors
from on_devices import distances

TOTAL = int(os.environ.get("ANNUDF_RANDOM_BODIES", "400"))
PER_METRIC = 2
"""Bodies of each hook in one metric; Numba takes quadratic time in the length of a function."""
QUERIES, ROWS = 5, 35
ELEMENTS = ("float32", "uint8", "float16", "int8")
FAR = (1e30, -1e30, 2.0**31, -(2.0**63), 16.0, 17.0, -1.0, -0.5, 0.0)
"""Coordinates at the ends of what an index may be."""


class Int(int):
    """An integer of a metric: 64 bits that wrap around."""


def _wrapping(name: str) -> Callable[..., Any]:
    def run(self: int, *other: int) -> Any:
        value = getattr(int, name)(self, *other)
        return value if value is NotImplemented else Int((value + 2**63) % 2**64 - 2**63)

    return run


for _name in ("add", "sub", "mul", "floordiv", "mod", "and", "or", "xor", "rshift"):
    setattr(Int, f"__{_name}__", _wrapping(f"__{_name}__"))
    setattr(Int, f"__r{_name}__", _wrapping(f"__r{_name}__"))
for _name in ("neg", "abs"):
    setattr(Int, f"__{_name}__", _wrapping(f"__{_name}__"))


def to_int(value: Any) -> Int:
    """A conversion that saturates, of NaN 0."""
    if isinstance(value, float | np.floating) and not math.isfinite(value):
        return Int(0 if math.isnan(value) else 2**63 - 1 if value > 0 else -(2**63))
    return Int(min(max(int(value), -(2**63)), 2**63 - 1))


class Entries:
    """A capture as a body sees it; outside of it is `there`, a value that no result may depend on."""

    there = 0
    is_left = False

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        narrow = {"float16": "float32", "int8": "int32", "uint8": "int32"}
        self.array = array.astype(narrow.get(array.dtype.name, array.dtype))

    def __getitem__(self, index: Any) -> Any:
        indices = index if isinstance(index, tuple) else (index,)
        if any(not 0 <= i < n for i, n in zip(indices, self.array.shape, strict=True)):
            Entries.is_left = True
            return self.array.dtype.type(Entries.there)
        return self.array[indices]


def captures_of(seed: int, dims: int) -> dict[str, np.ndarray[Any, Any]]:
    random = np.random.default_rng(seed)
    sizes = {"dim": dims, "row": ROWS, "query": QUERIES}
    types = {
        "steps": "int32", "kind": "int32", "code": "uint8", "asked": "int64", "hop": "int8", "pair": "int32",
        "seen": "bool", "on": "bool",
    }  # fmt: skip
    made = {}
    for name, axes in (FLOATS | INTS).items():
        shape = tuple(sizes.get(axis) or int(axis) for axis in axes)
        if name in FLOATS:
            made[name] = (random.integers(-32, 33, shape) / 8).astype(np.float16 if name == "half" else np.float32)
        elif types[name] == "bool":
            made[name] = random.random(shape) < 0.5
        else:
            made[name] = random.integers(-2 if types[name] != "uint8" else 0, 18, shape).astype(types[name])
            limits = np.iinfo(types[name])
            made[name].flat[random.integers(made[name].size)] = limits.min
            made[name].flat[random.integers(made[name].size)] = limits.max
    return made


def built(some: list[Body], finalizes: list[Body], **more: Any) -> dict[str, Any]:
    """A module of functions that pick one of the bodies."""
    text = HELPERS
    for name, arguments, bodies in (("update", "x, y, acc, ctx", some), ("finalize", "acc, ctx", finalizes)):
        text += f"def {name}({arguments}):\n"
        for number, body in enumerate(bodies):
            text += f"    if ctx.which == {number}:\n{textwrap.indent(body.source, ' ' * 8)}\n"
        text += "    return acc\n"
    file = f"<random captures {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {"np": np, "math": math, **more}
    exec(compile(text, file, "exec"), space)
    return space


def metric_of(some: list[Body], finalizes: list[Body], element: str, arrays: dict[str, Any]) -> ivf_flat.Metric:
    space = built(some, finalizes)
    captures: dict[str, Any] = {"which": np.int32(0), "a": 1.5, "b": -0.625, "n": np.int32(5)}
    for name, axes in (FLOATS | INTS).items():
        extents = tuple(int(axis) if axis.isdigit() else axis for axis in axes)
        captures[name] = ivf_flat.capture(arrays[name], extents=extents)
    integer = element in ("uint8", "int8")
    return ivf_flat.metric(
        captures=captures, initial=3.0, dtype="int32" if integer else "float32", accumulator="float32",
        finalize=space["finalize"], elements=("uint8", "int8") if integer else ("float32", "float16"),
    )(space["update"])  # fmt: skip


def accepted(bodies: list[Body], finalize: bool, element: str, arrays: dict[str, Any]) -> list[Body]:
    """Those that are not suspect, and of the others those that the verifier takes; else it says which load may be outside."""
    taken = []
    for body in bodies:
        try:
            if body.suspect:
                metric_of(*([[], [body]] if finalize else [[body], []]), element, arrays).mlir()  # type: ignore[arg-type]
            taken.append(body)
        except CompileError as error:
            assert re.search(r"<random captures -?\d+>:\d+:\d+: error: \[(L2|L3|S5)\]", str(error)), (
                str(error),
                body.source,
            )
    return taken


def expected(
    space: dict[str, Any], number: int, arrays: dict[str, Any], queries: Any, base: Any
) -> np.ndarray[Any, Any]:
    """What plain Python gives, one pair and coordinate after the other."""
    ctx = SimpleNamespace(**{name: Entries(array) for name, array in arrays.items()})
    ctx.a, ctx.b, ctx.n, ctx.dims = np.float32(1.5), np.float32(-0.625), np.int32(5), Int(base.shape[1])
    ctx.which, ctx.list = number, Int(0)
    to = np.int32 if base.dtype.kind in "iu" else np.float32
    out = np.empty((len(queries), len(base)), np.float32)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for q, query in enumerate(queries):
            for r, row in enumerate(base):
                ctx.query, ctx.row = Int(q), Int(r)
                acc = np.float32(3)
                for dim, (x, y) in enumerate(zip(query, row, strict=True)):
                    ctx.dim = Int(dim)
                    acc = np.float32(space["update"](to(x), to(y), acc, ctx))
                out[q, r] = space["finalize"](acc, ctx)
    return out


def data_of(element: str, dims: int) -> tuple[Any, Any]:
    base, queries = vectors(element, ROWS, 1, dims), vectors(element, QUERIES, 2, dims)
    if element == "float32":
        base[1 : 1 + len(FAR), 0] = base[-len(FAR) :, dims - 1] = FAR
        queries[1, :] = FAR[:dims]
    return queries, base


@pytest.mark.parametrize("element", ELEMENTS)
def test_captures_below_conditions(element: str) -> None:
    check_all(element, "cpu")


@pytest.mark.gpu
@pytest.mark.parametrize("element", ELEMENTS)
def test_captures_below_conditions_on_a_gpu(element: str) -> None:
    check_all(element, "cuda")


def check_all(element: str, device: str) -> None:
    for group in range(ELEMENTS.index(element), TOTAL // (4 * PER_METRIC), len(ELEMENTS)):
        check(group, element, device)


def check(group: int, element: str, device: str) -> None:
    dims = 1 + group // len(ELEMENTS) % 5
    arrays = captures_of(group, dims)
    numbers = range(group * PER_METRIC, (group + 1) * PER_METRIC)
    some = accepted([Generator(n).body() for n in numbers], False, element, arrays)
    finalizes = accepted([Generator(n, True).body() for n in numbers], True, element, arrays)
    compare(some, finalizes, element, arrays, data_of(element, dims), device)


def compare(
    some: list[Body], finalizes: list[Body], element: str, arrays: dict[str, Any], data: tuple[Any, Any], device: str
) -> None:
    """All of them as one metric, or as two where they are too large for one."""
    metric = metric_of(some, finalizes, element, arrays)
    try:
        metric.mlir()
    except CompileError as error:
        assert "[S5] weighs" in str(error), str(error)
        if len(some) > 1:
            half = len(some) // 2
            compare(some[:half], finalizes[:half], element, arrays, data, device)
            compare(some[half:], finalizes[half:], element, arrays, data, device)
        return
    oracle = built(some, finalizes, int=to_int)
    for number in range(max(len(some), len(finalizes))):
        sources = "\n\n".join([element, *(each[number].source for each in (some, finalizes) if number < len(each))])
        Entries.there, Entries.is_left = 0, False
        want = expected(oracle, number, arrays, *data)
        have = distances(*data, metric.bind(which=np.int32(number)), device)
        np.testing.assert_array_equal(have, want, sources)
        if Entries.is_left:  # By a load whose value nobody uses: the compiler drops it.
            Entries.there = 3
            np.testing.assert_array_equal(expected(oracle, number, arrays, *data), want, f"reads outside\n{sources}")
