# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Radius search against NumPy in float64."""

from __future__ import annotations

import numpy as np
import pytest

import annudf
from annudf import ArgumentError, Resources, ivf_flat
from annudf.neighbors import brute_force
from reference import vectors

GPU = Resources(device="cuda")
DIMS, ROWS, LISTS = 12, 800, 10
WEIGHTS = (1 + np.arange(DIMS) % 4).astype(np.float32) / 4


@annudf.metric
def opaque(x, y, acc):
    return acc + abs(x - y)


@annudf.metric(captures={"w": WEIGHTS})
def weighted(x, y, acc, ctx):
    return acc + ctx.w[ctx.dim] * (x - y) ** 2


@annudf.metric(order="max")
def product(x, y, acc):
    return acc + x * y


@annudf.metric(finalize=lambda acc, ctx: acc**0.5)
def rooted(x, y, acc):
    """NaN for some pairs: a root of what may be below 0."""
    return acc + x * y


EXACT = {
    "opaque": lambda x, y: np.abs(x[:, None] - y).sum(2),
    "weighted": lambda x, y: (WEIGHTS.astype(np.float64) * (x[:, None] - y) ** 2).sum(2),
    "product": lambda x, y: x @ y.T,
    "rooted": lambda x, y: np.sqrt(x @ y.T),
    "cosine": lambda x, y: 1 - (x @ y.T) / np.sqrt((x**2).sum(1)[:, None] * (y**2).sum(1)),
}
METRICS = {"opaque": opaque, "weighted": weighted, "product": product, "rooted": rooted, "cosine": "cosine"}


def whole_numbers(rows, dtype, seed):
    """Small ones, so that sums are exact; no row is 0, as cosines have none of it."""
    values = np.random.default_rng(seed).integers(0 if dtype == "uint8" else -3, 4, (rows, DIMS))
    values[:, 0] = np.where(values.any(1), values[:, 0], 1)
    return values.astype(dtype)


def radii_of(exact, largest, count):
    """Radii with nothing within, a row just at it, about ten rows a query, and all; between two distances if not at."""
    some = np.unique(np.round(exact[np.isfinite(exact)], 9))
    if largest:
        some = some[::-1]
    at = np.sort(exact[np.isfinite(exact)])[:: -1 if largest else 1][min(10 * count, np.isfinite(exact).sum() - 1)]
    near = int(np.flatnonzero(some == np.round(at, 9))[0])
    apart = near + np.flatnonzero(np.abs(np.diff(some[near:])) > 1e-4)
    step = -1 if largest else 1
    yield float(some[0]) - step, False
    yield float(some[0]), True
    yield float(at), True
    if len(apart):
        yield float(some[apart[0]] + some[apart[0] + 1]) / 2, False
    yield step * np.inf, False


def check_within(found, exact, candidates, radius, largest, exactly):
    lims, distances, ids = found
    assert (lims.dtype, distances.dtype, ids.dtype) == (np.int64, np.float32, np.int64)
    assert lims[0] == 0
    assert lims.shape == (len(exact) + 1,)
    assert len(ids) == len(distances) == lims[-1]
    query = np.repeat(np.arange(len(exact)), np.diff(lims))
    with np.errstate(invalid="ignore"):
        inside = candidates & (exact >= radius if largest else exact <= radius)
    by_id = np.lexsort((ids, query))
    np.testing.assert_array_equal((query[by_id], ids[by_id]), np.nonzero(inside))
    if exactly:
        np.testing.assert_array_equal(distances, exact[query, ids].astype(np.float32))
    else:
        np.testing.assert_allclose(distances, exact[query, ids], rtol=1e-5, atol=1e-5)
    order = np.lexsort((ids, -distances if largest else distances, query))
    assert (order == np.arange(len(order))).all()


def candidates_of(params, index, queries, passing):
    """The rows of the lists that each query probes, by a search for all of them, with a metric without NaN."""
    without = ivf_flat.SearchParams(
        n_probes=params.n_probes, metric=opaque if params.metric is rooted else params.metric
    )
    found = ivf_flat.search(without, index, queries, ROWS)[1]
    there = np.zeros((len(queries), ROWS), bool)
    for query, ids in enumerate(found):
        there[query, ids[ids >= 0]] = True
    return there & passing


@pytest.mark.filterwarnings("ignore::annudf.NaNDistanceWarning")
@pytest.mark.parametrize("place", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8"])
@pytest.mark.parametrize("name", METRICS)
def test_against_float64(name, dtype, place):
    resources = GPU if place == "gpu" else None
    base = whole_numbers(ROWS, dtype, 1)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=LISTS), base)
    largest, exactly = name == "product", name in ("opaque", "weighted", "product")
    masks = [np.ones(ROWS, bool), np.arange(ROWS) % 2 == 0, np.arange(ROWS) == 7]
    for count in (1, 10, 1000):
        queries = whole_numbers(count, dtype, 2)
        with np.errstate(invalid="ignore"):
            exact = EXACT[name](queries.astype(np.float64), base.astype(np.float64))
        for probes in (1, 3, LISTS):
            params = ivf_flat.SearchParams(n_probes=probes, metric=METRICS[name])
            for mask in masks if count < 1000 else masks[:1]:
                there = candidates_of(params, index, queries, mask)
                for radius, at in radii_of(exact, largest, count):
                    if at and not exactly:
                        continue  # float32 and float64 need not be on one side of it.
                    chosen = None if mask.all() else mask
                    arguments = (params, index, queries, radius)
                    found = ivf_flat.radius_search(*arguments, resources=resources, filter=chosen)
                    check_within(found, exact, there, radius, largest, exactly)
                    if found[0][-1] < 2:
                        continue
                    most = int(found[0][-1])
                    again = ivf_flat.radius_search(*arguments, most, resources, chosen)
                    assert all((one == other).all() for one, other in zip(found, again, strict=True))
                    with pytest.raises(
                        ArgumentError, match=rf"^max_results is {most - 1}, and the search stopped with"
                    ):
                        ivf_flat.radius_search(*arguments, most - 1, resources, chosen)


def test_exact_radius_search_of_arrays_and_indexes():
    base, queries = whole_numbers(ROWS, "float32", 1), whole_numbers(9, "float32", 2)
    exact = EXACT["opaque"](queries.astype(np.float64), base.astype(np.float64))
    everywhere = np.ones((9, ROWS), bool)
    radius = float(np.sort(exact.ravel())[90])
    found = brute_force.radius_search(base, queries, radius, metric=opaque)
    check_within(found, exact, everywhere, radius, False, True)
    index = brute_force.build(base, metric=opaque)
    passing = np.arange(ROWS) % 3 == 0
    of_index = brute_force.radius_search(index, queries, radius, prefilter=passing)
    check_within(of_index, exact, everywhere & passing, radius, False, True)
    ids = np.arange(ROWS)[::-1].copy()
    lims, distances, other = brute_force.radius_search(base, queries, radius, opaque, ids=ids)
    np.testing.assert_array_equal(lims, found[0])
    np.testing.assert_array_equal(distances, found[1])
    assert sorted(ROWS - 1 - other[: lims[1]]) == sorted(found[2][: lims[1]])
    *_, stats = brute_force.radius_search(base, queries, radius, return_stats=True)
    assert (stats.metric, stats.scored) == ("sqeuclidean", 9 * ROWS)
    with pytest.raises(ArgumentError, match=r"^metric, metric_arg, ids or columns is given, and the dataset is an Ind"):
        brute_force.radius_search(index, queries, radius, metric="l1")


def test_neighbors_are_the_same_by_query():
    base, queries = vectors(ROWS, DIMS, "float32", 1), vectors(20, DIMS, "float32", 2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=LISTS), base)
    params = ivf_flat.SearchParams(n_probes=4, metric=weighted)
    lims, distances, ids = ivf_flat.radius_search(params, index, queries, 9.0)
    by_query = ivf_flat.radius_neighbors(params, index, queries, 9.0, max_results=int(lims[-1]))
    for query in range(20):
        one = slice(lims[query], lims[query + 1])
        np.testing.assert_array_equal(by_query[0][query], distances[one])
        np.testing.assert_array_equal(by_query[1][query], ids[one])
    ids[:] = 0  # They are the caller's to change.


def test_refused():
    base = vectors(50, 3, "float32", 1)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), base)
    params = ivf_flat.SearchParams(n_probes=2)

    def search(radius=1.0, **more):
        return ivf_flat.radius_search(params, index, base, radius, **more)

    with pytest.raises(
        ArgumentError, match=r"^radius is nan, it must be a number that distances can be compared with$"
    ):
        search(float("nan"))
    for wrong in (0, -1, 2**40 + 1):
        with pytest.raises(
            ArgumentError, match=rf"^max_results is {wrong}, it must be an integer from 1 to 1099511627776$"
        ):
            search(max_results=wrong)
    with pytest.raises(
        ArgumentError,
        match=r"^max_results is 7, and the search stopped with \d+ rows within the radius; give a smaller radius or a "
        r"larger max_results$",
    ):
        search(100.0, max_results=7)
    empty = ivf_flat.build(ivf_flat.IndexParams(n_lists=2, add_data_on_build=False), base)
    with pytest.raises(ArgumentError, match=r"^the index has 0 rows; add some first$"):
        ivf_flat.radius_search(params, empty, base, 1.0)
    lims, distances, ids = ivf_flat.radius_search(params, index, base[:0], 1.0)
    assert (lims.tolist(), len(distances), len(ids)) == ([0], 0, 0)
