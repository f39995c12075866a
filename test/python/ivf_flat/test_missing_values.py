# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Coordinates that are NaN: index and metric say so, and nan_euclidean is scikit-learn's."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from annudf import ArgumentError, InputError, PackedBits, _core, ivf_flat, metrics
from annudf._arrays import ELEMENT_OF_DTYPE, FLOATS, numpy_dtype
from annudf.distance import pairwise_distance
from annudf.neighbors import NearestNeighbors, brute_force

pairwise = pytest.importorskip("sklearn.metrics.pairwise")

ROWS, QUERIES = 500, 11


def holed(rows: int, dims: int, dtype: str, seed: int) -> np.ndarray:
    """Rows of which a third of the values is missing; of the third row all, and in the last dimension most."""
    random = np.random.default_rng(seed)
    values = random.normal(size=(rows, dims)) + 3
    values[random.random((rows, dims)) < 1 / 3] = np.nan
    values[2] = np.nan
    if dims > 1:
        values[rows // 8 :, -1] = np.nan
    return values.astype(numpy_dtype(dtype))


def exact_of(queries: np.ndarray, base: np.ndarray) -> np.ndarray:
    return pairwise.nan_euclidean_distances(queries.astype(np.float64), base.astype(np.float64))


@ivf_flat.metric(missing_values=True, initial=(0.0, np.int32(0)), finalize=lambda acc, ctx: acc[0] / acc[1])
def mean_difference(x, y, acc, ctx):
    if math.isnan(x) or math.isnan(y):
        return acc
    return acc[0] + abs(x - y), acc[1] + 1


def check(distances, neighbors, exact, *, allowed=None):
    """Each is the best of its rank among the rows that have a distance and are allowed; then comes nothing."""
    for query, row in enumerate(exact):
        known = ~np.isnan(row)
        if allowed is not None:
            known &= allowed
        best = np.sort(row[known])[: distances.shape[1]]
        found = neighbors[query][: len(best)]
        assert (found >= 0).all()
        assert known[found].all()
        assert len(set(found.tolist())) == len(found)
        np.testing.assert_allclose(distances[query][: len(best)], best, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(row[found], best, rtol=1e-5, atol=1e-6)
        assert (neighbors[query][len(best) :] == -1).all()
        assert np.isposinf(distances[query][len(best) :]).all()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("dims", [1, 3, 17, 128])
def test_equals_scikit_learn(dims, dtype):
    base, queries = holed(ROWS, dims, dtype, dims), holed(QUERIES, dims, dtype, dims + 1)
    exact = exact_of(queries, base)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=7, missing_values=True), base)
    params = ivf_flat.SearchParams(n_probes=7, metric="nan_euclidean")
    some = np.random.default_rng(0).random(ROWS) < 0.1
    for k in (1, 10, ROWS):
        check(*ivf_flat.search(params, index, queries, k), exact)
        check(*ivf_flat.search(params, index, queries, k, filter=some), exact, allowed=some)
    # The row and the query without any value are at no distance of anything.
    _, neighbors = ivf_flat.search(params, index, queries, ROWS)
    assert (neighbors[2] == -1).all()
    assert not (neighbors == 2).any()


@pytest.mark.parametrize("metric", ["sqeuclidean", "cosine", "inner_product"])
def test_lists_are_ranked_by_means(metric):
    base, queries = holed(ROWS, 17, "float32", 1), holed(QUERIES, 17, "float32", 2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=9, metric=metric, missing_values=True), base)
    params = ivf_flat.SearchParams(n_probes=3, metric="nan_euclidean")
    means = np.nan_to_num(np.nanmean(base, axis=0, dtype=np.float64))
    filled = np.where(np.isnan(queries), means, queries).astype(np.float64)
    # nan_euclidean ranks lists by L2, whatever they were made by.
    keys = np.square(filled[:, None] - index.centers[None]).sum(axis=2)
    best = np.argsort(keys, axis=1)[:, :3]
    rows = np.where(np.isnan(base), means, base).astype(np.float64)
    if metric == "sqeuclidean":
        assigned = np.square(rows[:, None] - index.centers[None]).sum(axis=2).argmin(axis=1)
    else:
        assigned = (rows @ index.centers.T.astype(np.float64)).argmax(axis=1)
    exact = exact_of(queries, base)
    distances, neighbors = ivf_flat.search(params, index, queries, 20)
    for query in range(QUERIES):
        allowed = np.isin(assigned, best[query])
        check(distances[query : query + 1], neighbors[query : query + 1], exact[query : query + 1], allowed=allowed)


@pytest.mark.parametrize("adaptive", [False, True])
def test_extend_save_and_load(tmp_path, adaptive):
    base, more = holed(ROWS, 9, "float32", 1), holed(90, 9, "float32", 2)
    queries = holed(QUERIES, 9, "float32", 3)
    params = ivf_flat.IndexParams(n_lists=6, missing_values=True, adaptive_centers=adaptive)
    assert ("missing_values=True" in repr(params), params.missing_values) == (True, True)
    index = ivf_flat.build(params, base)
    assert index.missing_values
    ivf_flat.save(tmp_path / "index", index)
    read = ivf_flat.load(tmp_path / "index")
    assert read.missing_values
    exact = exact_of(queries, np.concatenate([base, more]))
    part = ivf_flat.SearchParams(n_probes=2, metric="nan_euclidean")
    results = []
    for one in (index, read):
        ivf_flat.extend(one, more)
        check(*ivf_flat.search(ivf_flat.SearchParams(n_probes=6, metric="nan_euclidean"), one, queries, 30), exact)
        results.append(ivf_flat.search(part, one, queries, 5))
    np.testing.assert_array_equal(results[0][1], results[1][1])
    np.testing.assert_array_equal(index.centers, read.centers)
    empty = ivf_flat.build(ivf_flat.IndexParams(n_lists=6, missing_values=True, add_data_on_build=False), base)
    ivf_flat.extend(empty, more)
    check(*ivf_flat.search(ivf_flat.SearchParams(n_probes=6, metric="nan_euclidean"), empty, queries, 90),
          exact_of(queries, more))  # fmt: skip


def test_a_metric_of_ones_own():
    base, queries = holed(ROWS, 17, "float32", 4), holed(QUERIES, 17, "float32", 5)
    wide, known = queries.astype(np.float64)[:, None], base.astype(np.float64)[None]
    with np.errstate(all="ignore"):
        exact = np.nansum(abs(wide - known), axis=2) / (~np.isnan(wide - known)).sum(axis=2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=5, missing_values=True), base)
    assert mean_difference.missing_values
    check(*ivf_flat.search(ivf_flat.SearchParams(n_probes=5, metric=mean_difference), index, queries, 20), exact)


def test_comparisons_of_nan_are_pythons():
    """Every way of asking, none of which may be folded away."""

    @ivf_flat.metric(missing_values=True)
    def asked(x, y, acc, ctx):
        bits = (1 if math.isnan(x) else 0) + (2 if x != x else 0) + (4 if not x == x else 0)  # noqa: PLR0124, SIM201
        bits += (8 if x - y < 0 or x - y >= 0 else 0) + (16 if np.isnan(y) else 0) + (32 if y == y else 0)  # noqa: PLR0124
        return acc * 64 + bits

    values = np.array([[1, 1], [np.nan, 1]], np.float32)
    got = pairwise_distance(values, values, metric=asked)
    both, first, second, none = 8 + 32, 7 + 32, 16, 7 + 16
    last = both
    expected = [[both * 64 + last, second * 64 + last], [first * 64 + last, none * 64 + last]]
    np.testing.assert_array_equal(got, np.array(expected, np.float32))


def test_exact_search_takes_them_where_the_metric_does():
    base, queries = holed(ROWS, 17, "float32", 6), holed(QUERIES, 17, "float32", 7)
    exact = exact_of(queries, base)
    check(*brute_force.knn(base, queries, 30, metric="nan_euclidean"), exact)
    rows = brute_force.build(base, "nan_euclidean")
    check(*brute_force.search(rows, queries, ROWS), exact)
    np.testing.assert_allclose(pairwise_distance(queries, base, metric="nan_euclidean"), exact, rtol=1e-5)
    np.testing.assert_allclose(
        pairwise_distance(base, metric="nan_euclidean"), exact_of(base, base), rtol=1e-5, atol=1e-6
    )
    estimator = NearestNeighbors(n_neighbors=9, metric="nan_euclidean").fit(base)
    check(*estimator.kneighbors(queries), exact)
    assert estimator.index_.missing_values
    assert not NearestNeighbors().fit(np.zeros((3, 2), np.float32)).index_.missing_values
    # Integers have none, and need no flag for it.
    integers = np.arange(12, dtype=np.uint8).reshape(4, 3)
    both = ivf_flat.metric(missing_values=True)(lambda x, y, acc, ctx: acc + abs(x - y))
    assert pairwise_distance(integers, metric=both)[0, 1] == 9
    # Nor have bits.
    truths = np.random.default_rng(1).random((20, 16)) < 0.5
    different = (truths[:, None] != truths[None]).sum(axis=2)
    np.testing.assert_array_equal(pairwise_distance(PackedBits(truths), metric=both), different)
    found = brute_force.knn(PackedBits(truths), PackedBits(truths), 7, metric=both)
    np.testing.assert_array_equal(found[0], np.sort(different, axis=1)[:, :7])
    rows = brute_force.build(PackedBits(truths), both)
    np.testing.assert_array_equal(brute_force.search(rows, PackedBits(truths), 7)[0], found[0])


def test_radius_and_all_lists():
    base, queries = holed(ROWS, 5, "float32", 8), holed(3, 5, "float32", 9)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4, missing_values=True), base)
    exact = exact_of(queries, base)
    params = ivf_flat.SearchParams(n_probes=4, metric="nan_euclidean")
    _, neighbors = ivf_flat.radius_neighbors(params, index, queries, 1.5)
    for query, found in enumerate(neighbors):
        assert set(np.asarray(found).tolist()) == set(np.flatnonzero(exact[query] <= 1.5).tolist())


def test_a_filter_of_code_reads_no_coordinate():
    base, queries = holed(ROWS, 5, "float32", 8), holed(QUERIES, 5, "float32", 9)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4, missing_values=True), base)

    @ivf_flat.filter
    def every_third(ctx):
        return ctx.row % 3 == 0

    params = ivf_flat.SearchParams(n_probes=4, metric="nan_euclidean")
    found = ivf_flat.search(params, index, queries, 20, filter=every_third)
    check(*found, exact_of(queries, base), allowed=np.arange(ROWS) % 3 == 0)


FULL, HOLED = np.ones((20, 4), np.float32), holed(20, 4, "float32", 1)
WITH = ivf_flat.IndexParams(n_lists=2, missing_values=True)
NAN_METRIC = ivf_flat.SearchParams(n_probes=2, metric="nan_euclidean")


def infinite() -> np.ndarray:
    result = HOLED.copy()
    result[1, 3] = -np.inf
    return result


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ivf_flat.build(ivf_flat.IndexParams(n_lists=2), HOLED),
            "dataset: row 0, dim ",
        ),
        (
            lambda: ivf_flat.build(ivf_flat.IndexParams(n_lists=2), HOLED[2:]),
            "dataset: row 0, dim 0 is nan; every coordinate must be finite unless index and metric say missing_values",
        ),
        (
            lambda: ivf_flat.build(WITH, infinite()),
            "dataset: row 1, dim 3 is -inf; every coordinate must be finite, or NaN where it is missing",
        ),
        (
            lambda: ivf_flat.extend(ivf_flat.build(WITH, HOLED), infinite()),
            "new_vectors: row 1, dim 3 is -inf; every coordinate must be finite, or NaN where it is missing",
        ),
        (
            lambda: ivf_flat.search(NAN_METRIC, ivf_flat.build(WITH, HOLED), infinite(), 1),
            "queries: row 1, dim 3 is -inf; every coordinate must be finite, or NaN where it is missing",
        ),
        (
            lambda: ivf_flat.search(NAN_METRIC, ivf_flat.build(ivf_flat.IndexParams(n_lists=2), FULL), HOLED[2:], 1),
            "queries: row 0, dim 0 is nan; every coordinate must be finite unless index and metric say missing_values",
        ),
        (
            lambda: ivf_flat.build(WITH, FULL.astype(np.uint8)),
            "missing_values: vectors of u8 have no NaN to stand for a missing value; give f32, f16 or bf16, or leave "
            "missing_values out",
        ),
        (
            lambda: ivf_flat.search(ivf_flat.SearchParams(n_probes=2), ivf_flat.build(WITH, HOLED), FULL, 1),
            "metric 'l2' (<built-in metric l2, also sqeuclidean>) does not take missing values, and the index may hold "
            "them; search by a metric with missing_values, such as nan_euclidean",
        ),
        (
            lambda: brute_force.knn(HOLED[2:], FULL, 1),
            "dataset: row 0, dim 0 is nan; every coordinate must be finite unless index and metric say missing_values",
        ),
        (
            lambda: pairwise_distance(FULL, HOLED[2:]),
            "Y: row 0, dim 0 is nan; every coordinate must be finite unless index and metric say missing_values",
        ),
        (
            lambda: ivf_flat.metric(missing_values=True, dtype=np.int32)(lambda x, y, acc, ctx: acc),
            "missing_values is True, but the metric takes vectors of integers only, which have no NaN; leave it out",
        ),
        (
            lambda: ivf_flat.metric(missing_values=1),
            "missing_values is 1, it must be True or False",
        ),
    ],
)
def test_refused(call, message):
    with pytest.raises((ArgumentError, InputError), match=re.escape(message)):
        call()


def test_the_estimator_refuses_them_for_other_metrics():
    with pytest.raises(ArgumentError, match="X cannot be used: Input X contains NaN"):
        NearestNeighbors().fit(HOLED)


def test_the_core_calls_the_same_elements_floats():
    kinds = {spelling: kind for _, spelling, _, _, kind, _, since in _core.tables()["elements"] if since >= 0}
    assert {ELEMENT_OF_DTYPE[name] for name in FLOATS} == {name for name, kind in kinds.items() if kind == "float"}


def test_artifacts_say_so(tmp_path):
    metric = metrics.get("nan_euclidean")
    assert metric.missing_values
    assert not metrics.get("euclidean").missing_values
    metric.save(tmp_path / "nan.annudf")
    read = ivf_flat.load_metric(tmp_path / "nan.annudf")
    assert read.missing_values
    assert metric.elements == ("float32", "float16", "bfloat16")
