# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Searches whose results a second metric ranks, against NumPy in float64."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import annudf
from annudf import ArgumentError, DtypeError, NaNDistanceWarning, Resources, brute_force, ivf_flat

ROWS, QUERIES, DIMS, LISTS = 700, 30, 6, 9
random = np.random.default_rng(11)
# Small whole numbers: distances are exact, and many are equal.
data = random.integers(-4, 5, (ROWS, DIMS)).astype(np.float32)
asked = random.integers(-4, 5, (QUERIES, DIMS)).astype(np.float32)
weights = random.integers(1, 4, DIMS).astype(np.float32)
price = random.integers(0, 9, ROWS).astype(np.float32)
document = random.integers(0, 40, ROWS)
every_second = np.arange(ROWS) % 2 == 0


@annudf.metric(captures={"w": weights, "price": price, "taste": asked[:, 0]})
def dear(x, y, acc, ctx):
    """Its distance grows with a row's price and a query's taste."""
    return acc + ctx.w[ctx.dim] * abs(x - y) + (ctx.price[ctx.row] * ctx.taste[ctx.query] if ctx.dim == 0 else 0)


@annudf.metric(order="max")
def product(x, y, acc):
    return acc + x * y


x, y = asked[:, None].astype(np.float64), data.astype(np.float64)
EXACT = {
    "sqeuclidean": ((x - y) ** 2).sum(2),
    "l1": np.abs(x - y).sum(2),
    "dear": (weights * np.abs(x - y)).sum(2) + price * asked[:, :1],
    "product": -(x * y).sum(2),
}
METRICS = {"sqeuclidean": "sqeuclidean", "l1": "l1", "dear": dear, "product": product}


@pytest.fixture(scope="module")
def index():
    return ivf_flat.build(ivf_flat.IndexParams(n_lists=LISTS), data, columns={"document": document})


def expected(first, second, k, count, passes=None, groups=None):
    """The k best by the second metric of the `count` best by the first; equal ones by id."""
    ids = np.full((QUERIES, k), -1)
    distances = np.full((QUERIES, k), np.inf)
    for query in range(QUERIES):
        order = np.argsort(EXACT[first][query], kind="stable")
        found = np.sort(order[passes[order]][:count] if passes is not None else order[:count])
        ranked = found[np.argsort(EXACT[second][query, found], kind="stable")]
        if groups is not None:
            ranked = ranked[np.sort(np.unique(groups[ranked], return_index=True)[1])]
        ranked = ranked[:k]
        ids[query, : len(ranked)], distances[query, : len(ranked)] = ranked, EXACT[second][query, ranked]
    return (-distances if second == "product" else distances).astype(np.float32), ids


def params(first, second, ratio, **options):
    return ivf_flat.SearchParams(
        n_probes=options.pop("n_probes", LISTS),
        metric=METRICS[first],
        refine=ivf_flat.Refine(METRICS[second], ratio=ratio),
        **options,
    )


@pytest.mark.parametrize(("first", "second"), [("sqeuclidean", "dear"), ("l1", "product"), ("product", "l1")])
@pytest.mark.parametrize(("k", "ratio", "count"), [(1, 1, 1), (7, 2.5, 18), (10, 20, 200), (400, 3, ROWS)])
def test_the_second_ranks_what_the_first_finds(index, first, second, k, ratio, count):
    for passes in (None, every_second):
        found = ivf_flat.search(params(first, second, ratio), index, asked, k, filter=passes)
        by_hand = expected(first, second, k, count, passes)
        np.testing.assert_array_equal(found[1], by_hand[1])
        np.testing.assert_array_equal(found[0], by_hand[0])


def test_equals_a_search_and_refine(index):
    candidates = ivf_flat.search(ivf_flat.SearchParams(n_probes=2), index, asked, 40)[1]
    one = annudf.refine(index, asked, candidates, 8, metric=dear)
    two = ivf_flat.search(params("sqeuclidean", "dear", 5, n_probes=2), index, asked, 8)
    np.testing.assert_array_equal(one[1], two[1])
    np.testing.assert_array_equal(one[0], two[0])


def test_groups_and_more_lists(index):
    by_hand = expected("sqeuclidean", "dear", 5, ROWS, every_second, document)
    exact = params("sqeuclidean", "dear", ROWS)
    found = ivf_flat.search(exact, index, asked, 5, filter=every_second, group_by="document")
    np.testing.assert_array_equal(found[1], by_hand[1])
    few = np.arange(ROWS) % 50 == 0
    wide = params("sqeuclidean", "dear", 4, n_probes=1, max_probes=LISTS)
    found = ivf_flat.search(wide, index, asked, 14, filter=few, return_stats=True)
    np.testing.assert_array_equal(found[1], expected("sqeuclidean", "dear", 14, ROWS, few)[1])
    assert found[2].n_widened == QUERIES


def test_rows_in_place():
    """brute_force.knn copies no rows of the caller; both phases find them."""
    index = brute_force.build(data, "l1")
    rows = index._index  # An index of one list.
    found = ivf_flat.search(params("l1", "dear", 6, n_probes=1), rows, asked, 5)
    np.testing.assert_array_equal(found[1], expected("l1", "dear", 5, 30)[1])


def test_nan_of_the_second_is_told(index):
    @annudf.metric(finalize=lambda acc, ctx: acc**0.5)
    def rooted(x, y, acc):
        return acc + x * y

    roots = ivf_flat.SearchParams(n_probes=LISTS, metric="l1", refine=ivf_flat.Refine(rooted, ROWS))
    with pytest.warns(NaNDistanceWarning, match="metric 'rooted'"):
        ivf_flat.search(roots, index, asked, 5)


def test_rows_that_are_nan_to_the_second_hide_no_group():
    @annudf.metric(finalize=lambda acc, ctx: math.nan if acc == 5 else acc)
    def but_five(x, y, acc):
        return acc + abs(x - y)

    line = np.arange(100, dtype=np.float32)[:, None]
    lines = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), line)
    groups = np.where(np.arange(100) < 20, 0, np.arange(100))
    two = ivf_flat.SearchParams(n_probes=1, metric="l1", refine=ivf_flat.Refine(but_five, 1), on_nan="skip")
    found = ivf_flat.search(two, lines, line[:1] * 0, 3, group_by=groups)
    np.testing.assert_array_equal(found[1], [[0, 20, 21]])


def test_what_is_refused(index):
    for ratio in (0.5, -1, float("nan"), 2**31):
        with pytest.raises(ArgumentError, match=r"ratio is .*, it must be from 1 to"):
            ivf_flat.Refine("l1", ratio)
    with pytest.raises(ArgumentError, match=r"refine is a str, it must be an ivf_flat.Refine"):
        ivf_flat.SearchParams(refine="l1")
    two = params("l1", "dear", 2)
    with pytest.raises(ArgumentError, match=r"search_params.refine is given; radius_search has one phase"):
        ivf_flat.radius_search(two, index, asked, 3.0)
    with pytest.raises(ArgumentError, match=r"search_params.refine is given; prepare has one phase"):
        ivf_flat.prepare(two, index, asked, 3)

    @annudf.metric(elements=("uint8",))
    def bytes_alone(x, y, acc):
        return acc + abs(x - y)

    with pytest.raises(DtypeError, match=re.escape("metric 'bytes_alone' does not accept vectors of float32")):
        again = ivf_flat.SearchParams(n_probes=2, refine=ivf_flat.Refine(bytes_alone))
        ivf_flat.search(again, index, asked, 3)
    assert "refine=Refine(" in repr(two)


@pytest.mark.gpu
@pytest.mark.parametrize(("first", "second"), [("sqeuclidean", "dear"), ("l1", "product")])
def test_on_a_gpu(index, library, first, second):
    for options in ({}, {"filter": every_second}, {"filter": every_second, "group_by": "document"}):
        two = params(first, second, 3, n_probes=2, max_probes=LISTS)
        on_cpu = ivf_flat.search(two, index, asked, 6, **options)
        there = ivf_flat.search(two, index, library.put(asked), 6, **options)
        host = ivf_flat.search(two, index, asked, 6, resources=Resources(device="cuda"), **options)
        for found in (tuple(map(library.get, there)), host):
            np.testing.assert_array_equal(found[1], on_cpu[1])
            np.testing.assert_array_equal(found[0], on_cpu[0])
    once = ivf_flat.search(params(first, second, 3), index, library.put(asked), 6)
    np.testing.assert_array_equal(library.get(once[1]), expected(first, second, 6, 18)[1])
