# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Searches that widen until queries found enough, and the best rows of groups; against NumPy in float64."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import annudf
from annudf import ArgumentError, DtypeError, Resources, brute_force, ivf_flat

ROWS, QUERIES, DIMS, LISTS = 1200, 40, 8, 24
random = np.random.default_rng(5)
# Small whole numbers: distances are exact, and many are equal.
data = random.integers(-4, 5, (ROWS, DIMS)).astype(np.float32)
asked = random.integers(-4, 5, (QUERIES, DIMS)).astype(np.float32)
tenant = random.integers(0, 60, ROWS).astype(np.int32)
mine = random.integers(0, 60, QUERIES).astype(np.int32)
document = random.integers(0, 90, ROWS) - 7
distances_of_all = np.abs(asked[:, None].astype(np.float64) - data).sum(2)


@annudf.filter(captures={"tenant": tenant, "mine": mine})
def own(ctx):
    return ctx.tenant[ctx.row] == ctx.mine[ctx.query]


@annudf.metric(captures={"scale": 1 + mine.astype(np.float32) % 3})
def scaled(x, y, acc, ctx):
    """Its distance depends on the number of the query."""
    return acc + ctx.scale[ctx.query] * abs(x - y)


PASSES = {
    "none": np.ones((QUERIES, ROWS), bool),
    "own": tenant == mine[:, None],
    "few": np.zeros((QUERIES, ROWS), bool),
}
PASSES["few"][:, ::150] = True
FILTERS = {"none": None, "own": own, "few": np.arange(ROWS) % 150 == 0}


@pytest.fixture(scope="module")
def index():
    return ivf_flat.build(ivf_flat.IndexParams(n_lists=LISTS), data, columns={"document": document.astype(np.int16)})


def best(distances, passes, k):
    """Distances and ids of the k best rows that pass, equal ones by id."""
    distances = np.where(passes, distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    found = np.take_along_axis(distances, order, 1)
    return found, np.where(np.isinf(found), -1, order)


def best_groups(distances, passes, k, groups=document):
    found = np.full((len(distances), k), np.inf), np.full((len(distances), k), -1)
    for query, row in enumerate(np.where(passes, distances, np.inf)):
        order = [at for at in np.argsort(row, kind="stable") if np.isfinite(row[at])]
        _, first = np.unique(groups[order], return_index=True)
        kept = [order[at] for at in np.sort(first)[:k]]
        found[0][query, : len(kept)], found[1][query, : len(kept)] = row[kept], kept
    return found


def widened(index, k, least, chosen, n_probes, max_probes, **options):
    """What queries find that are asked again by hand, with twice the lists, until they find `least` rows."""
    share = 1.0 if chosen is None or callable(chosen) else np.mean(chosen)
    probes, open_ = min(max_probes, math.ceil(n_probes / share)), np.arange(QUERIES)
    distances, ids = np.empty((QUERIES, k), np.float32), np.empty((QUERIES, k), np.int64)
    ends = np.full(QUERIES, n_probes)
    while len(open_):
        params = ivf_flat.SearchParams(n_probes=probes, **options)
        found = ivf_flat.search(params, index, asked, max(k, least), filter=chosen)
        distances[open_], ids[open_], ends[open_] = found[0][open_, :k], found[1][open_, :k], probes
        if probes == max_probes:
            break
        open_ = open_[found[1][open_, max(k, least) - 1] < 0]
        probes = min(2 * probes, max_probes)
    return distances, ids, ends


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("metric", ["l1", "sqeuclidean", scaled], ids=str)
@pytest.mark.parametrize(("k", "least", "most"), [(5, None, LISTS), (5, 12, LISTS), (1, 3, 7)])
def test_queries_that_found_too_little_go_on(index, name, metric, k, least, most):
    params = ivf_flat.SearchParams(n_probes=1, max_probes=most, min_rows=least, metric=metric)
    distances, ids, stats = ivf_flat.search(params, index, asked, k, filter=FILTERS[name], return_stats=True)
    expected = widened(index, k, least or k, FILTERS[name], 1, most, metric=metric)
    np.testing.assert_array_equal(ids, expected[1])
    np.testing.assert_array_equal(distances, expected[0])
    assert stats.n_widened == (expected[2] > 1).sum()
    if most == LISTS:
        found = PASSES[name].sum(1)
        np.testing.assert_array_equal((ids >= 0).sum(1), np.minimum(found, k))


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("k", [1, 7, 90, ROWS])
def test_groups(index, name, k):
    expected = best_groups(distances_of_all, PASSES[name], k)
    exact = brute_force.build(data, "l1")
    params = ivf_flat.SearchParams(n_probes=LISTS, metric="l1")
    for found in (
        brute_force.search(exact, asked, k, prefilter=FILTERS[name], group_by=document),
        brute_force.knn(data, asked, k, metric="l1", prefilter=FILTERS[name], group_by=document.astype(np.int32)),
        ivf_flat.search(params, index, asked, k, filter=FILTERS[name], group_by="document"),
    ):
        np.testing.assert_array_equal(found[0], expected[0].astype(np.float32))
        np.testing.assert_array_equal(found[1], expected[1])


def test_fewer_groups_than_k_are_found_soon():
    """Without another search of all rows for each query."""
    rows = np.repeat(data, 40, axis=0)
    exact = brute_force.build(rows, "l1")
    two = np.arange(len(rows)) % 2
    found = brute_force.search(exact, asked, 5, group_by=two)
    assert ((found[1] >= 0).sum(1) == 2).all()


def test_queries_that_come_to_one_way_by_two(index):
    """Some for more rows after more lists, others the other way round."""
    skewed = np.where(random.random(ROWS) < 0.9, 0, random.integers(0, 30, ROWS))
    params = ivf_flat.SearchParams(n_probes=1, max_probes=LISTS, metric="l1")
    for seed in range(10):
        queries = np.random.default_rng(seed).integers(-4, 5, (60, DIMS)).astype(np.float32)
        together = ivf_flat.search(params, index, queries, 5, group_by=skewed)
        for row in range(len(queries)):
            alone = ivf_flat.search(params, index, queries[row : row + 1], 5, group_by=skewed)
            np.testing.assert_array_equal(alone[1][0], together[1][row])


def test_all_lists_are_at_least_any_probes(index):
    wide = ivf_flat.SearchParams(n_probes=500, max_probes=LISTS, metric="l1")
    assert (ivf_flat.search(wide, index, asked, 5, filter=own)[1][:, 0] >= 0).any()


def test_groups_widen(index):
    params = ivf_flat.SearchParams(n_probes=1, max_probes=LISTS, metric="l1")
    distances, ids, stats = ivf_flat.search(params, index, asked, 8, filter=own, group_by=document, return_stats=True)
    there = [np.unique(document[row]).size for row in PASSES["own"]]
    assert 0 < stats.n_widened <= QUERIES
    np.testing.assert_array_equal((ids >= 0).sum(1), np.minimum(there, 8))
    for row, kept in zip(ids, distances, strict=True):
        groups = document[row[row >= 0]]
        assert len(set(groups)) == len(groups)
        assert (np.diff(kept[row >= 0]) >= 0).all()


def test_groups_of_sparse_ids():
    ids = np.arange(ROWS) * 3 + 5
    by_id = np.full(ids[-1] + 1, -1)
    by_id[ids] = document
    index = brute_force.build(data, "l1", ids=ids, columns={"document": document})
    expected = best_groups(distances_of_all, PASSES["none"], 6)
    for group_by in (by_id, "document"):
        found = brute_force.search(index, asked, 6, group_by=group_by)
        np.testing.assert_array_equal(found[1], ids[expected[1]])


def test_results_are_written_where_they_are_wanted(index):
    params = ivf_flat.SearchParams(n_probes=2, max_probes=8, metric="l1")
    distances, ids = np.empty((QUERIES, 3), np.float32), np.empty((QUERIES, 3), np.int64)
    found = ivf_flat.search(params, index, asked, 3, ids, distances, filter=own, group_by="document")
    assert found[0] is distances and found[1] is ids
    same = ivf_flat.search(params, index, asked, 3, filter=own, group_by="document")
    np.testing.assert_array_equal(same[1], ids)
    none = ivf_flat.search(params, index, asked[:0], 3, group_by="document")
    assert none[1].shape == (0, 3)


REFUSED = [
    (lambda: ivf_flat.SearchParams(max_probes=0), "max_probes is 0, it must be an integer from 1 to"),
    (lambda: ivf_flat.SearchParams(min_rows=3), "min_rows is 3, but max_probes is None; give max_probes, too"),
    (lambda: ivf_flat.SearchParams(max_probes=30, min_rows=0), "min_rows is 0, it must be an integer from 1 to"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_parameters_that_are_refused(call, message):
    with pytest.raises(ArgumentError, match=re.escape(message)):
        call()


def test_arguments_that_are_refused(index):
    params = ivf_flat.SearchParams(n_probes=2, max_probes=8)

    def refused(message, error=ArgumentError, **options):
        with pytest.raises(error, match=re.escape(message)):
            ivf_flat.search(params, index, asked, 3, **options)

    with pytest.raises(ArgumentError, match=r"max_probes is 7, n_probes is 8; give no fewer"):
        ivf_flat.search(ivf_flat.SearchParams(n_probes=8, max_probes=7), index, asked, 3)
    refused("group_by has 1199 entries, the largest id is 1199; give one entry for every id", group_by=document[:-1])
    refused("group_by is 'nothing', which is no column of the index", group_by="nothing")
    refused("group_by is '', which is no column of the index; name one, or give an array", group_by="")
    shared = np.zeros(ROWS, np.int64)
    out = shared[: QUERIES * 3].reshape(QUERIES, 3)
    refused("arguments 'neighbors' and 'group_by' share memory", neighbors=out, group_by=shared)
    refused("argument 'group_by' has shape (2, 2), it must be (n_ids,)", group_by=[[1, 2], [3, 4]])
    refused("argument 'group_by' has dtype float64", DtypeError, group_by=document / 2)
    weights = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), data, columns={"weight": document / 2})
    with pytest.raises(ArgumentError, match=r"group_by is 'weight', a column of f64; give one of integers"):
        ivf_flat.search(ivf_flat.SearchParams(), weights, asked, 3, group_by="weight")
    bf16 = pytest.importorskip("ml_dtypes").bfloat16
    weights = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), data, columns={"weight": document.astype(bf16)})
    with pytest.raises(ArgumentError, match=r"group_by is 'weight', a column of bf16; give one of integers"):
        ivf_flat.search(ivf_flat.SearchParams(), weights, asked, 3, group_by="weight")
    with pytest.raises(ArgumentError, match=r"search_params.max_probes is 8; radius_search does not widen"):
        ivf_flat.radius_search(params, index, asked, 3.0)
    with pytest.raises(ArgumentError, match=r"search_params.max_probes is 8; prepare does not widen"):
        ivf_flat.prepare(params, index, asked, 3)
    with pytest.raises(ArgumentError, match=r"exclude_self is True and group_by is given; give one of them"):
        brute_force.knn(data, data, 3, exclude_self=True, group_by=document)
    with pytest.raises(ArgumentError, match=r"k is 1201"):
        ivf_flat.search(params, index, asked, ROWS + 1)


@pytest.mark.gpu
@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("metric", ["l1", "sqeuclidean", scaled], ids=str)
def test_on_a_gpu(index, library, name, metric):
    """Small whole numbers, so that a CPU finds the same to the bit."""
    for options in ({}, {"min_rows": 20}):
        params = ivf_flat.SearchParams(n_probes=1, max_probes=LISTS, metric=metric, **options)
        for group_by in (None, document, "document"):
            expected = ivf_flat.search(params, index, asked, 6, filter=FILTERS[name], group_by=group_by)
            there = ivf_flat.search(params, index, library.put(asked), 6, filter=FILTERS[name], group_by=group_by)
            host = ivf_flat.search(
                params, index, asked, 6, None, None, Resources(device="cuda"), FILTERS[name], group_by=group_by
            )
            for found in (tuple(map(library.get, there)), host):
                np.testing.assert_array_equal(found[0], expected[0])
                np.testing.assert_array_equal(found[1], expected[1])
