# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random bodies on the CPU engine against NumPy, for every element type.

One metric holds `PER_METRIC` bodies and a capture picks the one that runs, because linking costs
more than a search. With one dimension a search over a list returns ``update(x, y, initial)``
for every pair of a query and a row. Metrics take turns with element types, so that each type has
its share of the bodies; ANNUDF_RANDOM_ELEMENTS=all runs every body on every type, and ANNUDF_RANDOM_BODIES says
how many there are (200; 600 in the long form).

Half of the metrics have an accumulator of two fields, of which a body is asked for one.

int32 bodies are compared for equality. In float32 the ABI allows a multiplication and an addition to
be rounded once, so a result may be off by about what rounding did to the oracle: that is the distance
between the body in float32 and in float64. All but a few results are equal.

What the frontend made of a body is also interpreted, by code that shares nothing with LLVM: nothing is
fused there, so the interpreted text equals NumPy to the bit in both types.
"""

from __future__ import annotations

import linecache
import os
import warnings
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bodies import Body, bodies
from hypothesis import HealthCheck, Phase, given, settings

from annudf import ivf_flat
from interpreter.evaluate import Interpreter, Scan
from interpreter.inputs import vectors
from interpreter.text import parse

TOTAL = int(os.environ.get("ANNUDF_RANDOM_BODIES", "200"))
PER_METRIC = 25
EXAMPLES = max(1, TOTAL // (2 * PER_METRIC))
ALL_ELEMENTS = os.environ.get("ANNUDF_RANDOM_ELEMENTS") == "all"
QUERIES, ROWS = 3, 16
INTERPRETED_ROWS = 4
INITIAL = 3
SECOND = -2
"""What an accumulator of two fields begins its second with."""
CONSTANTS = {"K": 7, "N": -5}
"""Globals that bodies read."""

HELPER = "def helper(a, b):\n    d = a - b\n    if d < 0:\n        return -d\n    return d + b\n"


class Typed:
    """NumPy for the oracle, where a Python float among arguments is float32, as in a metric.

    ``np.floor(min(x, -1.5))`` is float64 in NumPy where -1.5 is the least, and float32 where x is.
    """

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if isinstance(found, type) or not callable(found):
            return found
        return lambda *given: found(*(np.float32(one) if type(one) is float else one for one in given))


def oracle_of(some: list[Body]) -> dict[str, object]:
    """The module again, as NumPy runs it: its functions look np up there."""
    space = build(some)
    space["np"] = Typed()
    return space


def build(some: list[Body]) -> dict[str, object]:
    """The module with the bodies and the metric over them, with source that inspect finds."""
    text = "import numpy as np\n" + "".join(f"{name} = {value}\n" for name, value in CONSTANTS.items())
    text += HELPER + "".join(b.source for b in some)
    text += "def update(x, y, acc, ctx):\n"
    for number, body in enumerate(some):
        text += f"    if ctx.which == {number}:\n        return {body.name}(x, y, acc, ctx)\n"
    text += "    return acc\n"
    text += "def finalize(acc, ctx):\n    return acc[0] if ctx.part == 0 else acc[1]\n"
    file = f"<random bodies {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, object] = {}
    exec(compile(text, file, "exec"), space)
    return space


def evaluated(body: object, to: type[np.generic], query: np.generic, row: np.generic, ctx: object) -> float:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(np.float32(to(body(to(query), to(row), to(INITIAL), ctx))))  # type: ignore[operator, call-arg]


def one_field(body: object, number: int) -> object:
    """A body of two fields as one of a number: every other one is asked for its second field."""
    return lambda x, y, acc, ctx: body(x, y, (acc, type(acc)(SECOND)), ctx)[number % 2]  # type: ignore[operator]


@dataclass
class Tally:
    """Results compared, and those that were not equal to the bit."""

    compared: int = 0
    rounded: int = 0
    interpreted: int = 0

    def compare(
        self, have: float | None, body: object, integer: bool, pair: tuple[Any, Any], ctx: SimpleNamespace
    ) -> bool:
        """Whether a search's distance is what the body gives; None: the row was not returned."""
        try:
            want = evaluated(body, np.int32 if integer else np.float32, *pair, ctx)
        except ZeroDivisionError:
            return True  # Python's own numbers raise where a metric has inf or NaN.
        self.compared += 1
        # NaN and +inf are never among the nearest.
        equal = np.isnan(want) or want == np.inf if have is None else have == want
        if equal or integer:
            return bool(equal)
        self.rounded += 1
        wide = SimpleNamespace(w=ctx.w.astype(np.float64), p=np.float64(ctx.p), n=ctx.n, dim=0, dims=1)
        wide.row, wide.query, wide.list = ctx.row, ctx.query, ctx.list
        exact = evaluated(body, np.float64, *pair, wide)
        if have is None or not np.isfinite(want) or not np.isfinite(exact):
            return want != exact
        return abs(have - want) <= 4 * abs(want - exact) + 8 * float(np.spacing(np.float32(abs(want))))


def check_text(text: str, some: list[Body], space: dict[str, object], base: Any, query: Any, tally: Tally) -> None:
    """The dialect that the frontend emitted, interpreted, against NumPy."""
    interpreter = Interpreter(parse(text))
    to = np.int32 if some[0].integer else np.float32
    ctx = SimpleNamespace(w=np.array([0.75], np.float32), p=np.float32(-1.25), n=np.int32(11), dim=0, dims=1)
    ctx.row, ctx.query, ctx.list = 4, 1, 2
    for number, body in enumerate(some):
        scan = Scan(0, 1, {"w": ctx.w, "p": ctx.p, "n": 11, "which": number, "part": number % 2}, 4, 1, 2)
        function = one_field(space[body.name], number) if body.pair else space[body.name]
        for row in base[:INTERPRETED_ROWS, 0]:
            inputs = [INITIAL, *([SECOND] if body.pair else []), query, row]
            arguments = [int(to(v)) & 0xFFFFFFFF if body.integer else to(v) for v in inputs]
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                have = interpreter.fields("update", arguments, scan)[number % 2 if body.pair else 0]
                try:
                    want = to(function(to(query), to(row), to(INITIAL), ctx))  # type: ignore[operator]
                except ZeroDivisionError:
                    continue
            same = have == int(want) & 0xFFFFFFFF if body.integer else have == want or np.isnan([have, want]).all()
            assert same, (have, want, query, row, body.source, text)
            tally.interpreted += 1


def check(some: list[Body], elements: tuple[str, ...], tally: Tally) -> None:
    integer = some[0].integer
    space, oracle = build(some), oracle_of(some)
    weights, p, n = np.array([0.75], np.float32), np.float32(-1.25), np.int32(11)
    dtype = "int32" if integer else "float32"
    captures = {"w": weights, "p": p, "n": n, "which": np.int32(0)}
    several: dict[str, object] = {"initial": INITIAL}
    if some[0].pair:
        several = {"initial": (INITIAL, SECOND), "finalize": space["finalize"]}
        captures["part"] = np.int32(0)
    metric = ivf_flat.metric(order="min", captures=captures, dtype=dtype, **several)(space["update"])  # type: ignore[call-overload]
    ctx = SimpleNamespace(w=weights, p=p, n=n, dim=0, dims=1)
    check_text(metric.mlir(), some, oracle, vectors(elements[0], ROWS, 1), vectors(elements[0], 1, 2)[0, 0], tally)
    for element in elements:
        base, queries = vectors(element, ROWS, 1), vectors(element, QUERIES, 2)
        index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), base)
        for number, body in enumerate(some):
            bound = metric.bind(which=np.int32(number), **({"part": np.int32(number % 2)} if body.pair else {}))
            function = one_field(oracle[body.name], number) if body.pair else oracle[body.name]
            distances, neighbors = ivf_flat.search(
                ivf_flat.SearchParams(n_probes=1, metric=bound), index, queries, ROWS
            )
            for q in range(QUERIES):
                got = dict(zip(neighbors[q].tolist(), distances[q].tolist(), strict=True))
                for r in range(ROWS):
                    pair = (queries[q, 0], base[r, 0])
                    ctx.row, ctx.query, ctx.list = r, q, 0
                    fits = tally.compare(got.get(r), function, integer, pair, ctx)
                    assert fits, (element, *pair, got.get(r), body.source)


def run(integer: bool, composed: bool = False) -> None:
    seen = 0
    tally = Tally()
    elements = ("int8", "uint8") if integer else ("float32", "float16", "int8", "uint8")
    examples = max(1, EXAMPLES // 5) if composed else EXAMPLES

    @settings(
        max_examples=examples, derandomize=True, deadline=None, database=None,
        phases=[Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(bodies(integer, PER_METRIC, composed))
    def each(some: list[Body]) -> None:
        nonlocal seen
        turn = len(repr(some)) % len(elements)  # From the example alone, so that it can be replayed.
        check(some, elements if ALL_ELEMENTS else elements[turn : turn + 1], tally)
        seen += len(some)

    each()
    kind = "int32" if integer else "float32"
    print(
        f"{seen} random {kind} bodies: {tally.compared} results, {tally.rounded} not equal to the bit, {tally.interpreted} interpreted"
    )
    assert seen >= min(TOTAL // 2, examples * PER_METRIC)
    assert tally.rounded < tally.compared / 50


@pytest.mark.parametrize("integer", [False, True], ids=["float32", "int32"])
def test_bodies(integer: bool) -> None:
    run(integer)


@pytest.mark.parametrize("integer", [False, True], ids=["float32", "int32"])
def test_bodies_that_call_composed_functions(integer: bool) -> None:
    run(integer, composed=True)
