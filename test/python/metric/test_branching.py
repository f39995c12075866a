# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Branches mean what plain Python says, and on the CPU cost what their straight forms cost."""

from __future__ import annotations

import linecache
import logging
import math
import platform
import re
from pathlib import Path
from typing import Any

import branching
import numpy as np
import pytest

from annudf import ivf_flat
from annudf.distance import pairwise_distance
from on_devices import distances, on_each_device

DIMS, ROWS, QUERIES = 7, 67, 5
COOKBOOK = Path(__file__).parents[3] / "docs/use/cookbook.md"

on_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="other hosts have no vector variants of libm")


@on_each_device
@pytest.mark.parametrize("body", branching.BODIES, ids=lambda body: body.name)
def test_both_forms_mean_what_python_says(body: branching.Body, device: str) -> None:
    captures = branching.captures_of(DIMS, ROWS, QUERIES)
    queries, base = branching.data_of(body, DIMS, ROWS, QUERIES)
    exact = branching.exact(body, queries, base, captures)
    for metric in body.metrics(captures):
        np.testing.assert_allclose(distances(queries, base, metric, device), exact, rtol=2e-4, atol=1e-4)


@on_x86
def test_no_branch_keeps_rows_from_being_lanes(caplog: pytest.LogCaptureFixture) -> None:
    """Whether a table that coordinates index is read as vectors is for LLVM to say."""
    caplog.set_level(logging.WARNING, logger="annudf")
    captures = branching.captures_of(DIMS, ROWS, QUERIES)
    for body in branching.BODIES:
        if not {"lut", "table"} & set(body.uses):
            body.metrics(captures)[0].precompile(body.element)
    assert [record.getMessage() for record in caplog.records] == []


@on_x86
def test_the_cookbook_has_no_slow_metric(caplog: pytest.LogCaptureFixture) -> None:
    """The page's own code, whose results the page compares with NumPy; of tables LLVM says."""
    blocks = re.findall(r"^```python\n(.*?)^```", COOKBOOK.read_text(), re.MULTILINE | re.DOTALL)
    text = "\n".join(blocks)
    file = str(COOKBOOK)
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    caplog.set_level(logging.WARNING, logger="annudf")
    exec(compile(text, file, "exec"), {"__name__": "cookbook"})
    slow = [record.getMessage() for record in caplog.records if "several times slower" in record.getMessage()]
    assert [message for message in slow if "table" not in message] == []


def picked(x: float, y: float, acc: float, ctx: Any) -> float:
    """Only the condition keeps the index inside, which may be of infinity or NaN."""
    far = y * 3e38
    i = int(y if x == 0 else (far if x == 1 else far - far))
    if 0 <= i < 5:
        return acc + ctx.entries[i]
    return acc - 1.0


def signed(x: float, y: float, acc: float, ctx: Any) -> float:
    """As above, from a capture that holds any number."""
    i = ctx.where[ctx.row]
    if i >= 0:
        if i < 5:
            return acc + ctx.entries[i]
        return acc - 2.0
    return acc - 1.0


def divided(x: int, y: int, acc: int, ctx: Any) -> int:
    if y > 0:
        return acc + x // y
    return acc - 1


def shifted(x: int, y: int, acc: int, ctx: Any) -> int:
    if 0 <= y < 31:
        return acc + (1 << y)
    return acc - 1


@on_each_device
@pytest.mark.parametrize("rows", [1, 31, 40])
def test_what_a_condition_excludes_is_computed_of_nothing(rows: int, device: str) -> None:
    entries = np.array([1, 2, 4, 8, 16], np.float32)
    special = np.array([-1, -0.5, -0.0, 0, 4, 4.9, 5, 1e30, -1e30, 2**31, 2**63, 3], np.float32)
    base = np.resize(special, (rows, 1))
    query = np.array([[0], [1], [2]], np.float32)
    with np.errstate(all="ignore"):
        far = base[:, 0] * np.float32(3e38)
        numbers = np.stack([base[:, 0], far, far - far])
    whole = np.clip(np.nan_to_num(np.trunc(numbers.astype(np.float64))), -10, 10).astype(int)
    inside = (whole >= 0) & (whole < 5)
    expected = np.where(inside, entries[np.where(inside, whole, 0)], -1)
    metric = ivf_flat.metric(captures={"entries": entries})(picked)
    np.testing.assert_array_equal(distances(query, base, metric, device), expected)

    where = np.resize(np.array([-(2**31), -1, 0, 3, 4, 5, 2**31 - 1], np.int32), rows)
    inside = (where >= 0) & (where < 5)
    expected = np.where(inside, entries[np.where(inside, where, 0)], np.where(where < 0, -1, -2))
    metric = ivf_flat.metric(captures={"entries": entries, "where": where})(signed)
    found = distances(query, base, metric, device)
    np.testing.assert_array_equal(found, np.broadcast_to(expected, found.shape))


@on_each_device
def test_divisors_and_shifts_that_a_condition_excludes(device: str) -> None:
    base = np.array([[0], [-1], [1], [-128], [127], [31], [32], [3]], np.int8)
    queries = np.array([[-128], [127], [0], [5]], np.int8)
    y = base[:, 0].astype(np.int64)
    x = queries.astype(np.int64)
    made = ivf_flat.metric(dtype=np.int32, accumulator=np.int32, initial=0)
    expected = np.where(y > 0, x // np.maximum(y, 1), -1)
    np.testing.assert_array_equal(distances(queries, base, made(divided), device), expected)
    inside = (y >= 0) & (y < 31)
    bits = np.where(inside, 1 << np.where(inside, y, 0), -1).astype(np.float32)
    found = distances(queries, base, made(shifted), device)
    np.testing.assert_array_equal(found, np.broadcast_to(bits, found.shape))


def test_no_rows_are_searched_by_a_body_with_loads() -> None:
    """Nothing is read ahead of rows that are not there."""
    captures = branching.captures_of(DIMS, ROWS, QUERIES)
    body = next(body for body in branching.BODIES if body.name == "kinds")
    queries, base = branching.data_of(body, DIMS, ROWS, QUERIES)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), base)
    params = ivf_flat.SearchParams(n_probes=1, metric=body.metrics(captures)[0])
    nothing = np.zeros(ROWS, bool)
    _, neighbors = ivf_flat.search(params, index, queries, 3, filter=nothing)
    assert (np.asarray(neighbors) == -1).all()


@on_x86
def test_what_is_slow_is_told_with_its_line(caplog: pytest.LogCaptureFixture) -> None:
    def rest(x, y, acc):
        d = abs(x - y)
        return acc + d % 3.0

    def turns(x, y, acc):
        d = abs(x - y)
        for _ in range(300):
            d = d * 0.5 + 0.25
        return acc + d

    caplog.set_level(logging.WARNING, logger="annudf")
    for function, cause, below in ((rest, "fmod", 2), (turns, "a loop of 300 turns", 2)):
        ivf_flat.metric(function).precompile()
        (record,) = caplog.records
        line = function.__code__.co_firstlineno + below
        assert record.getMessage() == (
            f"metric {function.__name__}: computed one row at a time: {cause} in line {line}, which is several times "
            "slower on the CPU; see Make it fast in the documentation"
        )
        caplog.clear()


def test_a_largest_absolute_value_is_what_numpy_says() -> None:
    """NaN stays, whichever side has it, and -0 is below 0: bits are compared."""
    values = np.array([math.nan, -0.0, 0.0, -1, 1, math.inf, -math.inf, 1e-45], np.float32)

    def right(x, y, _acc, ctx):
        return np.maximum(ctx.left[ctx.row], abs(ctx.right[ctx.row]))

    def left(x, y, _acc, ctx):
        return np.maximum(abs(ctx.right[ctx.row]), ctx.left[ctx.row])

    a, b = (each.ravel() for each in np.meshgrid(values, values))
    rows = np.zeros((len(a), 1), np.float32)
    expected = np.maximum(a, abs(b))
    expected[expected == 0] = 0.0  # NumPy may keep the sign of the other zero.
    for function in (right, left):
        captures = {"left": a, "right": b}
        metric = ivf_flat.metric(captures=captures, allow_non_finite=True)(function)
        found = np.asarray(pairwise_distance(rows[:1], rows, metric=metric))[0]
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
        numbers = ~np.isnan(expected)
        np.testing.assert_array_equal(found[numbers].view(np.int32), expected[numbers].view(np.int32))
