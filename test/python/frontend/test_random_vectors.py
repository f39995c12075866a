# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random functions of two vectors: what they are raised to, interpreted, against NumPy.

Each calls random bodies of metrics (bodies.py) in one loop over the coordinates, or in two. Some of floats take a second
pass, with a value of each vector and one of the query that needs a second pass itself. The interpreter shares no
code with the compiler and fuses nothing, so its distances are those of NumPy to the bit. ANNUDF_RANDOM_VECTORS says how
many functions there are (60; 400 in the long form).
"""

from __future__ import annotations

import functools
import linecache
import os
import re
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bodies import Body, bodies
from hypothesis import HealthCheck, Phase, given, settings
from test_random_bodies import CONSTANTS, HELPER, Typed

import annudf
from annudf._metric.definition import Definition
from interpreter.evaluate import Interpreter, Scan
from interpreter.text import parse

TOTAL = int(os.environ.get("ANNUDF_RANDOM_VECTORS", "60"))
PER_MODULE = 10
DIMS = 5
WEIGHTS = np.array([0.75, -2, 0, 1.5, 3], np.float32)
SCALARS = {"p": np.float32(-1.25), "n": np.int32(11)}
ROW, QUERY, LIST = 4, 1, 2


def source_of(some: list[Body]) -> str:
    """The bodies, with their dimension as an argument, and a function of vectors for each."""
    text = "import numpy as np\n" + "".join(f"{name} = {value}\n" for name, value in CONSTANTS.items()) + HELPER
    for body in some:
        text += re.sub(r"ctx\.dim\b", "k", body.source.replace("ctx.w[ctx.dim]", "w")).replace(
            "acc, ctx)", "acc, w, k, ctx)"
        )
    to = "np.int32" if some[0].integer else "np.float32"
    for number in range(len(some)):
        text += f"def distance_{number}(a, b, ctx):\n    first = {to}(3)\n"
        x, y = "a[i]", "b[i]"
        if takes_two_passes(some, number):
            x, y = "np.float32(a[i] - third)", "np.float32(b[i] * of_b)"
            text += "    of_a = of_b = third = np.float32(0)\n    for u, v in zip(a, b):\n"
            text += "        of_a, of_b = np.float32(of_a + ctx.p * u), np.float32(max(of_b, abs(v)))\n"
            text += "    for u in a:\n        third = np.float32(third + abs(u - of_a))\n"
        text += f"    for i in range({('a.shape[0]', 'len(b)', 'ctx.dims')[number % 3]}):\n"
        text += f"        first = {to}(body_{number}({x}, {y}, first, ctx.w[i], i, ctx))\n"
        if number % 2:
            text += f"    second = {to}(-2)\n    for x, y in zip(a, b):\n        second = {to}(helper(x, second) + y)\n"
            text += "    if second < first:\n        return second\n"
        text += "    return first\n"
    return text


def takes_two_passes(some: list[Body], number: int) -> bool:
    return number % 4 == 1 and not some[0].integer


def functions(text: str) -> dict[str, Any]:
    file = f"<random vectors {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {}
    exec(compile(text, file, "exec"), space)
    return space


@functools.cache
def lowered(definition: Definition, part: str) -> str:
    return definition.lower("mlir", "", part).decode()


def interpreted(definition: Definition, part: str, integer: bool, a: Any, b: Any) -> tuple[np.float32, int]:
    """The distance by the hooks of the metric, and how many values were prepared for it."""
    text = lowered(definition, part)
    interpreter = Interpreter(parse(text))
    captures: dict[str, Any] = {"w": WEIGHTS, "p": SCALARS["p"], "n": int(SCALARS["n"])}
    prepared = re.findall(r'"(prepared_[xy]_\d+)"', text)
    for name in prepared:
        captures[name] = np.full(ROW + 1, interpreted(definition, f"{definition.name}_{name}", integer, a, b)[0])
    scan = Scan(0, DIMS, captures, ROW, QUERY, LIST)
    fields = interpreter.fields("init", [], scan)
    for dim in range(DIMS):
        scan = Scan(dim, DIMS, scan.captures, ROW, QUERY, LIST)
        coordinates = [int(v) & 0xFFFFFFFF if integer else v for v in (a[dim], b[dim])]
        fields = interpreter.fields("update", [*fields, *coordinates], scan)
    has_end = "finalize" in interpreter.metric.hooks
    return np.float32(interpreter.fields("finalize", fields, scan)[0] if has_end else fields[0]), len(prepared)


def in_numpy(function: Callable[..., Any], a: Any, b: Any) -> np.float32 | None:
    ctx = SimpleNamespace(w=WEIGHTS, dims=DIMS, row=ROW, query=QUERY, list=LIST, **SCALARS)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.float32(function(a, b, ctx))
        except ZeroDivisionError:
            return None  # Python's own numbers raise where a metric has inf or NaN.


def check(some: list[Body], rng: np.random.Generator) -> tuple[int, int]:
    """How many distances were compared, and how many of them had prepared values."""
    text, integer = source_of(some), some[0].integer
    space, oracle = functions(text), functions(text)
    oracle["np"] = Typed()
    compared = second_passes = 0
    for number in range(len(some)):
        name = f"distance_{number}"
        metric = annudf.metric(captures={"w": WEIGHTS, **SCALARS}, dtype="int32" if integer else "float32")(space[name])
        for _ in range(3):
            a, b = rng.integers(-9, 10, (2, DIMS)).astype(np.int32)
            if not integer:
                a, b = a.astype(np.float32) / 4, b.astype(np.float32) / 4
            want = in_numpy(oracle[name], a, b)
            if want is not None:
                got, prepared = interpreted(metric._definition, "", integer, a, b)
                np.testing.assert_array_equal(got, want, text + metric.mlir())
                # A body that reads no coordinate needs no second pass.
                assert prepared == 0 or takes_two_passes(some, number)
                compared, second_passes = compared + 1, second_passes + (prepared > 0)
    return compared, second_passes


@pytest.mark.parametrize("integer", [False, True], ids=["float32", "int32"])
def test_functions(integer: bool) -> None:
    examples = max(1, TOTAL // (2 * PER_MODULE))
    rng = np.random.default_rng(35)
    compared = second_passes = 0

    @settings(
        max_examples=examples, derandomize=True, deadline=None, database=None,
        phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(bodies(integer, PER_MODULE).filter(lambda some: not some[0].pair))
    def each(some: list[Body]) -> None:
        nonlocal compared, second_passes
        more = check(some, rng)
        compared, second_passes = compared + more[0], second_passes + more[1]

    each()
    assert compared >= examples * PER_MODULE
    assert integer or second_passes >= examples
