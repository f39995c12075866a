# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Searches with filters in cells of metric, element, k, kind, selectivity, probes and batch, by every family.

ANNUDF_FILTER_CELLS says how many of the 450 cells of a metric and element are searched (42; all on a GPU).
"""

from __future__ import annotations

import functools
import itertools
import os
import random

import numpy as np
import pytest
from filter_cells import BATCHES, CELLS, KINDS, PASSING, ROWS, Cell, Data, Oracle, half, level, passing, shift

import annudf
from annudf import ArgumentError, Resources, filters, ivf_flat

WEIGHTS = (1 + np.arange(16) % 4).astype(np.float32) / 4


@annudf.metric
def absolute(x, y, acc):
    return acc + abs(x - y)


@annudf.metric
def farthest(x, y, acc):
    return max(acc, abs(x - y))


@annudf.metric(captures={"w": WEIGHTS})
def weighted(x, y, acc, ctx):
    return acc + ctx.w[ctx.dim] * (x - y) ** 2


@annudf.metric(order="max")
def product(x, y, acc):
    return acc + x * y


@annudf.metric(numerics="reassociate")
def in_parts(x, y, acc):
    return acc + abs(x - y)


@annudf.filter(captures={"level": level, "count": 0})
def of_rows(ctx):
    return ctx.level[ctx.row] < ctx.count


@annudf.filter(captures={"level": level, "shift": shift, "count": 0})
def of_queries(ctx):
    above = ctx.level[ctx.row] - ctx.shift[ctx.query]
    return (above if above >= 0 else above + ROWS) < ctx.count


EXACT = {
    absolute: lambda x, y: np.abs(x - y).sum(1),
    farthest: lambda x, y: np.abs(x - y).max(1),
    weighted: lambda x, y: (WEIGHTS * (x - y) ** 2).sum(1),
    product: lambda x, y: (x * y).sum(1),
    in_parts: lambda x, y: np.abs(x - y).sum(1),
    "sqeuclidean": lambda x, y: ((x - y) ** 2).sum(1),
    "bitwise_hamming": lambda x, y: np.abs(x - y).sum(1),
}

#: Metric, element, dimensions, and families that have to run on a GPU, beside "pairs" and "tiles".
SEARCHED = [
    (absolute, "float32", 16, {"staged"}),
    (absolute, "uint8", 16, {"staged"}),
    (farthest, "float32", 16, {"staged"}),
    (farthest, "float16", 16, {"staged"}),
    (weighted, "float32", 16, {"staged"}),
    (weighted, "float16", 16, {"staged"}),
    (product, "float32", 16, {"staged"}),
    (product, "uint8", 16, {"staged"}),
    ("sqeuclidean", "uint8", 16, {"packed"}),
    ("bitwise_hamming", "bits", 64, {"packed"}),
]
IN_PARTS = (in_parts, "float32", 160, {"parts"})
FAMILIES = {
    "cpu": ("groups", "matrix"),
    "cuda": (
        "pairs", "parts", "tiles", "staged", "staged_granules", "packed", "packed_granules", "matrix", "matrix_mma",
    ),
}  # fmt: skip
RESOURCES = {"cpu": None, "cuda": Resources(device="cuda")}
chosen_data = functools.cache(Data)


def name_of(metric):
    return metric if isinstance(metric, str) else metric.name


def named(value):
    """How a parameter is told in the name of a test."""
    return "" if isinstance(value, set) else str(value) if isinstance(value, int) else name_of(value)


def chosen_cells(name, count):
    """Some cells, in the order of CELLS: what the oracle computes serves those that differ in k alone."""
    picked = set(random.Random(name).sample(range(len(CELLS)), min(count, len(CELLS))))
    return [cell for at, cell in enumerate(CELLS) if at in picked]


@functools.cache
def filter_of(kind, count, batch, on_device):
    """A filter that `count` rows pass for each query, of arrays on a device or the host."""
    put = annudf.device_ndarray if on_device else np.asarray
    if kind == "bits":
        return filters.from_mask(put(passing(count, 1, "bits")[0]))
    if kind == "bitmap":
        return filters.from_bitmap(put(passing(count, batch, "bitmap")))
    if kind == "code of rows":
        return of_rows.bind(level=put(level), count=count)
    if kind == "code of queries":
        return of_queries.bind(level=put(level), shift=put(shift[:batch]), count=count)
    code, bitmap = (filter_of(one, count, batch, on_device) for one in ("code of queries", "bitmap"))
    return code & half | ~(~bitmap | half)


class Searches:
    """Searches of one metric and element on one device."""

    def __init__(self, metric, element, dims, device):
        self.data, self.metric, self.device = chosen_data(element, dims), metric, device
        rows, queries = self.data.rows, self.data.queries
        exact = np.stack([EXACT[metric](query, rows) for query in queries]).astype(np.float32)
        self.oracle = Oracle(self.data, exact, metric is product)
        self.ran = dict.fromkeys(FAMILIES[device], 0)
        self.cells = 0

    def check(self, cell, expected):
        """By every family that can, of arrays on host and device in turns; and in some cells by the planner's choice."""
        self.cells += 1
        if self.cells % 4 == 0:
            self._search(cell, expected, None, on_device=False)
        for number, family in enumerate(FAMILIES[self.device]):
            on_device = self.device == "cuda" and (self.cells + number) % 2 == 0
            self.ran[family] += self._search(cell, expected, family, on_device)

    def _given(self, cell, on_device):
        queries = self.data.queries[: cell.batch]
        if not on_device:
            return self.data.given(queries)
        if self.data.element == "bits":
            return annudf.device_ndarray(np.packbits(queries.astype(bool), axis=1, bitorder="little"))
        return annudf.device_ndarray(self.data.given(queries))

    def _search(self, cell, expected, family, on_device):
        params = ivf_flat.SearchParams(n_probes=cell.probes, metric=self.metric, family=family)
        chosen = filter_of(cell.kind, PASSING[cell.passing], cell.batch, on_device)
        queries, resources = self._given(cell, on_device), RESOURCES[self.device]
        try:
            found = ivf_flat.search(params, self.data.index, queries, cell.k, filter=chosen, resources=resources)
        except ArgumentError as error:
            if family is None or f"family '{family}' cannot run this search: " not in str(error):
                raise
            return False
        distances, ids = (one.copy_to_host() if on_device else one for one in found)
        what = f"{cell}, {name_of(self.metric)} of {self.data.element} by {family}"
        np.testing.assert_array_equal(ids, expected[1][:, : cell.k], what)
        np.testing.assert_array_equal(distances, expected[0][:, : cell.k], what)
        return True


def check(metric, element, dims, device, count):
    searches = Searches(metric, element, dims, device)
    but_k, expected = None, None
    for cell in chosen_cells(f"{name_of(metric)} {element}", count):
        if but_k != (but_k := Cell(0, cell.kind, cell.passing, cell.probes, cell.batch)):
            expected = searches.oracle.expected(cell)
        searches.check(cell, expected)
    assert searches.cells == count
    print(f"{name_of(metric)} of {element} on {device}: {count} cells, searches by {searches.ran}")
    return searches.ran


@pytest.mark.parametrize(("metric", "element", "dims", "needed"), SEARCHED, ids=named)
def test_on_the_cpu(metric, element, dims, needed):
    count = int(os.environ.get("ANNUDF_FILTER_CELLS", "42"))
    ran = check(metric, element, dims, "cpu", count)
    assert ran["groups"] == count
    assert (ran["matrix"] == count) == (metric in (weighted, product) and element == "float32")


@pytest.mark.gpu
@pytest.mark.parametrize(("metric", "element", "dims", "needed"), [*SEARCHED, IN_PARTS], ids=named)
def test_on_a_gpu(metric, element, dims, needed):
    ran = check(metric, element, dims, "cuda", len(CELLS))
    for family in needed | {"pairs", "tiles"}:
        assert ran[family] == len(CELLS), family


def test_the_cells_that_are_chosen_cover_all_pairs():
    """Any two values of k, kind, selectivity, probes and batch come together in some cell."""
    cells = [cell for metric, element, *_ in SEARCHED for cell in chosen_cells(f"{name_of(metric)} {element}", 42)]
    assert len(cells) >= 400
    values = [(one.k, one.kind, one.passing, one.probes, one.batch) for one in cells]
    for i, j in itertools.combinations(range(5), 2):
        all_pairs = {(one[i], one[j]) for one in ((c.k, c.kind, c.passing, c.probes, c.batch) for c in CELLS)}
        assert {(one[i], one[j]) for one in values} == all_pairs
    assert len(CELLS) == 3 * len(KINDS) * len(PASSING) * 2 * len(BATCHES)
