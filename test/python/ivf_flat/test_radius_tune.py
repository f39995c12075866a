# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Neighbours within a radius, and the probes that a recall needs."""

from __future__ import annotations

import numpy as np
import pytest

from annudf import ArgumentError, CaptureError, PackedBits, ivf_flat
from annudf.distance import pairwise_distance
from annudf.neighbors import brute_force
from reference import DTYPES, check, distances_of, vectors


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("metric", ["sqeuclidean", "inner_product"])
def test_all_within_a_radius(dtype, metric):
    base, queries = vectors(900, 6, dtype, 1), vectors(25, 6, dtype, 2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=12, metric=metric), base)
    terms = (lambda x, y: (x - y) ** 2) if metric == "sqeuclidean" else (lambda x, y: x * y)
    exact = distances_of(terms, queries, base)
    params = ivf_flat.SearchParams(n_probes=12)
    # From nobody within it to all.
    for share in (-1, 0.01, 0.3, 1.1):
        low, high = exact.min() - 1, exact.max() + 1
        radius = low + share * (high - low) if metric == "sqeuclidean" else high - share * (high - low)
        distances, neighbors = ivf_flat.radius_neighbors(params, index, queries, radius)
        assert distances.shape == neighbors.shape == (25,)
        for q in range(25):
            inside = exact[q] <= radius if metric == "sqeuclidean" else exact[q] >= radius
            assert sorted(neighbors[q].tolist()) == np.flatnonzero(inside).tolist()
            np.testing.assert_allclose(distances[q], exact[q][neighbors[q]], rtol=1e-4, atol=1e-4)
            steps = np.diff(distances[q])
            assert (steps >= 0).all() if metric == "sqeuclidean" else (steps <= 0).all()


def test_packed_queries_of_an_index_of_bits():
    random = np.random.default_rng(4)
    base, queries = random.random((300, 24)) < 0.5, random.random((6, 24)) < 0.5
    packed = np.packbits(queries, axis=1, bitorder="little")
    exact = (queries[:, None] != base[None]).sum(axis=2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=5), PackedBits(base))
    params = ivf_flat.SearchParams(n_probes=5, metric="l1")
    for given in (packed, PackedBits(packed), queries.astype(np.uint8)):
        distances, neighbors = ivf_flat.radius_neighbors(params, index, given, 9)
        for q in range(6):
            assert sorted(neighbors[q].tolist()) == np.flatnonzero(exact[q] <= 9).tolist()
            assert distances[q].tolist() == sorted(exact[q][exact[q] <= 9].tolist())
    tuned = [ivf_flat.tune_n_probes(index, given, 5, metric="l1") for given in (packed, PackedBits(packed))]
    assert tuned[0] == tuned[1]


def test_a_filter_of_code_is_not_computed_for_nothing():
    base = vectors(50, 3, "float32", 1)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), base)

    @ivf_flat.filter
    def even(ctx):
        return ctx.row % 2 == 0

    params = ivf_flat.SearchParams(n_probes=2)
    distances, neighbors = ivf_flat.radius_neighbors(params, index, base[:0], 1.0, filter=even)
    assert distances.shape == neighbors.shape == (0,)
    with pytest.raises(
        ArgumentError, match=r"^argument 'queries' has no rows, so there is no recall; give at least one$"
    ):
        ivf_flat.tune_n_probes(index, base[:0], filter=even)
    with pytest.raises(ArgumentError, match=r"^k is 51, but the index has 50 rows$"):
        ivf_flat.tune_n_probes(index, base, 51, filter=even)
    assert len(even._found) == 0
    ivf_flat.radius_neighbors(params, index, base, 1.0, filter=even)
    assert len(even._found) == 1


def test_radius_is_checked():
    base = vectors(50, 3, "float32", 1)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), base)
    refused = r"^radius is nan, it must be a number that distances can be compared with$"
    for queries in (base, base[:0]):
        with pytest.raises(ArgumentError, match=refused):
            ivf_flat.radius_neighbors(ivf_flat.SearchParams(), index, queries, float("nan"))
        with pytest.raises(ArgumentError, match=refused):
            brute_force.radius_search(base, queries, np.float32("nan"))
    with pytest.raises(ArgumentError, match=r"^radius is '1', it must be a number$"):
        ivf_flat.radius_neighbors(ivf_flat.SearchParams(), index, base, "1")


@pytest.mark.parametrize("metric", [None, "l1"])
def test_probes_for_a_recall(metric):
    base, queries = vectors(4000, 8, "float32", 1), vectors(150, 8, "float32", 2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=60), base)

    def recall(probes, k=10):
        params = ivf_flat.SearchParams(n_probes=probes, metric=metric)
        found = ivf_flat.search(params, index, queries, k)[1]
        truth = ivf_flat.search(ivf_flat.SearchParams(n_probes=60, metric=metric), index, queries, k)[1]
        return np.mean([np.isin(one, other).mean() for one, other in zip(found, truth, strict=True)])

    last = 0
    for wanted in (0.05, 0.5, 0.9, 0.95, 1.0):
        probes = ivf_flat.tune_n_probes(index, queries, recall=wanted, metric=metric)
        assert recall(probes) >= wanted
        assert probes == 1 or recall(probes - 1) < wanted
        assert probes >= last
        last = probes
    # Among few rows that pass, few are missed.
    few = np.arange(4000) < 20
    assert 1 <= ivf_flat.tune_n_probes(index, queries, 5, metric=metric, filter=few) <= 60


def test_recall_is_checked():
    base = vectors(50, 3, "float32", 1)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), base)
    for recall in (0, 1.5, float("nan")):
        with pytest.raises(ArgumentError, match=r"^recall is .*, it must be above 0 and at most 1$"):
            ivf_flat.tune_n_probes(index, base, recall=recall)
    with pytest.raises(
        ArgumentError, match=r"^argument 'queries' has no rows, so there is no recall; give at least one$"
    ):
        ivf_flat.tune_n_probes(index, base[:0])


@ivf_flat.metric(captures={"w": np.ones((3, 6), np.float32)})
def personal(x, y, acc, ctx):
    return acc + ctx.w[ctx.query, ctx.dim] * (x - y) ** 2


def of_everyone(count):
    """A base, queries and weights of each query, with the distances in float64."""
    random = np.random.default_rng(7)
    base, queries = (random.normal(size=(n, 6)).astype(np.float32) for n in (900, count))
    weights = random.uniform(0.1, 3, size=(count, 6)).astype(np.float32)
    difference = queries.astype(np.float64)[:, None] - base
    return base, queries, weights, (weights.astype(np.float64)[:, None] * difference**2).sum(axis=2)


@pytest.mark.parametrize("count", [1, 5, 700])
def test_values_per_query_stay_with_their_query(count):
    base, queries, weights, exact = of_everyone(count)
    metric = personal.bind(w=weights)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=20), base)
    params = ivf_flat.SearchParams(n_probes=20, metric=metric)
    check(*ivf_flat.search(params, index, queries, 9), exact, rtol=1e-4)
    check(*brute_force.search(brute_force.build(base, metric), queries, 9), exact, rtol=1e-4)
    check(*brute_force.knn(base, queries, 9, metric=metric), exact, rtol=1e-4)
    np.testing.assert_allclose(pairwise_distance(queries, base, metric=metric), exact, rtol=1e-4)
    radius = float(np.median(exact[0])) + 1e-3
    distances, neighbors = ivf_flat.radius_neighbors(params, index, queries, radius)
    for i in range(count):
        within = np.flatnonzero(exact[i] <= radius)
        assert abs(len(neighbors[i]) - len(within)) <= 2
        np.testing.assert_allclose(distances[i], exact[i][neighbors[i]], rtol=1e-4)
    probes = ivf_flat.tune_n_probes(index, queries, 5, recall=0.9, metric=metric)
    found = ivf_flat.search(ivf_flat.SearchParams(n_probes=probes, metric=metric), index, queries, 5)[1]
    truth = np.argsort(exact, axis=1)[:, :5]
    hits = sum(len(set(one) & set(other)) for one, other in zip(found.tolist(), truth.tolist(), strict=True))
    assert hits >= 0.9 * 5 * count - 2


def test_values_of_other_queries_are_refused():
    base, queries, weights, _ = of_everyone(5)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), base)
    metric = personal.bind(w=weights[:4].copy())
    params = ivf_flat.SearchParams(n_probes=4, metric=metric)
    message = (
        r"^capture 'w' \(query x dim x f32\) of metric 'personal' has shape \(4, 6\), this search has 5 queries; "
        r"give one entry a query, by \.bind\(w=\.\.\.\)$"
    )
    for call in (
        lambda: ivf_flat.search(params, index, queries, 3),
        lambda: ivf_flat.radius_neighbors(params, index, queries, 1.0),
        lambda: ivf_flat.tune_n_probes(index, queries, 3, metric=metric),
        lambda: brute_force.knn(base, queries, 3, metric=metric),
        lambda: pairwise_distance(queries, base, metric=metric),
    ):
        with pytest.raises(CaptureError, match=message):
            call()
