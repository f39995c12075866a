# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Candidates ranked again, against NumPy in float64 and against an exact search that a filter restricts."""

from __future__ import annotations

import inspect
import itertools
import re

import numpy as np
import pytest

import annudf
from annudf import ArgumentError, CaptureError, DtypeError, PackedBits, errors, filters, ivf_flat
from annudf.neighbors import brute_force, refine
from reference import DTYPES, distances_of, vectors

ROWS, DIMS = 300, 9
TERMS = {
    "sqeuclidean": lambda x, y: (x - y) ** 2,
    "l1": lambda x, y: abs(x - y),
    "inner_product": lambda x, y: x * y,
}
OF_ROWS = np.linspace(-3, 3, ROWS).astype(np.float32)


@ivf_flat.metric(order="max", captures={"w": np.linspace(0, 1, DIMS, dtype=np.float32)})
def lopsided(x, y, acc, ctx):
    return acc + ctx.w[ctx.dim] * (2 * x - y)


@ivf_flat.metric(
    captures={"of_row": OF_ROWS},
    finalize=lambda acc, ctx: acc + ctx.of_row[ctx.row],
)
def with_rows(x, y, acc, ctx):
    return acc + abs(x - y)


@ivf_flat.metric(finalize=lambda acc, ctx: acc + 1000 * ctx.list)
def by_list(x, y, acc, ctx):
    return acc + abs(x - y)


@annudf.filter
def not_every_third(ctx):
    return ctx.row % 3 != 0


def candidates_of(queries, columns, seed=0, rows=ROWS):
    """Rows at random, an eighth of them none, and an eighth the one before again."""
    generator = np.random.default_rng(seed)
    found = generator.integers(0, rows, (queries, columns))
    kind = generator.integers(0, 8, found.shape)
    found[kind == 0] = -1
    again = kind[:, 1:] == 1
    found[:, 1:][again] = found[:, :-1][again]
    return found


def best_of(exact, candidates, k, order):
    """The k best candidates of each query by distances to all rows; distances equal to the bit go by number."""
    worst = np.inf if order == "min" else -np.inf
    distances, numbers = np.full((len(exact), k), worst), np.full((len(exact), k), -1)
    for query, row in enumerate(candidates):
        own = np.unique(row[row >= 0])
        key = exact[query, own] if order == "min" else -exact[query, own]
        chosen = own[np.lexsort((own, key))][:k]
        distances[query, : len(chosen)], numbers[query, : len(chosen)] = exact[query, chosen], chosen
    return distances, numbers


def restricted(dataset, queries, candidates, k, metric, get=np.asarray):
    """An exact search of the candidates of each query alone; all queries ask, for captures of queries."""
    found = []
    index = brute_force.build(dataset, metric)
    for query, own in enumerate(candidates):
        mask = np.zeros(index.size, bool)
        mask[own[own >= 0]] = True
        found.append(
            [get(part)[query] for part in brute_force.search(index, queries, k, prefilter=mask, on_nan="skip")]
        )
    return np.stack([one[0] for one in found]), np.stack([one[1] for one in found])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("metric", [*TERMS, lopsided], ids=str)
def test_equals_numpy_and_an_exact_search(dtype, metric):
    dataset = vectors(ROWS, DIMS, dtype, 1)
    order = "min" if metric in ("sqeuclidean", "l1") else "max"
    w = np.linspace(0, 1, DIMS, dtype=np.float32).astype(np.float64)
    terms = TERMS[metric] if isinstance(metric, str) else lambda x, y: w * (2 * x - y)
    for count, columns in itertools.product((1, 10, 1000), (1, 40)):
        queries = vectors(count, DIMS, dtype, 2)
        candidates = candidates_of(count, columns)
        exact = distances_of(terms, queries, dataset)
        for k in {1, columns // 4 + 1, columns}:
            distances, indices = refine(dataset, queries, candidates, k, metric=metric)
            assert (distances.dtype, indices.dtype) == (np.float32, np.int64)
            expected, numbers = best_of(exact, candidates, k, order)
            np.testing.assert_allclose(distances, expected, rtol=1e-4, atol=1e-3)
            np.testing.assert_array_equal(indices < 0, numbers < 0)
            there = np.where(indices < 0, 0, indices)
            np.testing.assert_allclose(
                np.where(indices < 0, expected, np.take_along_axis(exact, there, 1)), expected, rtol=1e-4, atol=1e-3
            )
            if count == 10:
                same = restricted(dataset, queries, candidates, k, metric)
                np.testing.assert_array_equal(distances, same[0])
                np.testing.assert_array_equal(indices, same[1])


def test_every_built_in_metric_equals_an_exact_search():
    dataset, queries = abs(vectors(ROWS, DIMS, "float32", 1)), abs(vectors(6, DIMS, "float32", 2))
    candidates = candidates_of(6, 30)
    compared = 0
    for name in annudf.metrics.names():
        try:
            found = refine(dataset, queries, candidates, 8, metric=name, on_nan="skip")
        except ArgumentError as error:
            # Metrics of bits and bytes alone, those with parameters, and those of two dimensions.
            assert isinstance(error, DtypeError) or re.search("has parameters|argument 'dataset' has 9", str(error))
            continue
        compared += 1
        for part, same in zip(found, restricted(dataset, queries, candidates, 8, name), strict=True):
            np.testing.assert_array_equal(part, same, name)
    assert compared > 15


def test_captures_of_rows_and_queries():
    dataset = vectors(ROWS, DIMS, "float32", 1)
    for count in (1, 10, 1000):
        queries = vectors(count, DIMS, "float32", 2)
        mine = np.linspace(1, 2, count).astype(np.float32)

        @ivf_flat.metric(
            captures={"mine": mine, "of_row": OF_ROWS},
            finalize=lambda acc, ctx: ctx.mine[ctx.query] * acc + ctx.of_row[ctx.row],
        )
        def personal(x, y, acc, ctx):
            return acc + abs(x - y)

        candidates = candidates_of(count, 30)
        exact = distances_of(TERMS["l1"], queries, dataset) * mine[:, None] + OF_ROWS
        distances, indices = refine(dataset, queries, candidates, 5, metric=personal)
        expected, numbers = best_of(exact, candidates, 5, "min")
        np.testing.assert_allclose(distances, expected, rtol=1e-5)
        np.testing.assert_array_equal(indices, numbers)


def test_captures_of_queries_in_pieces():
    """Rows of 1 MiB, so that a piece has few queries; each has the captures of its own number."""
    dims, count = 1 << 18, 40
    dataset, queries = vectors(8, dims, "float32", 1), vectors(count, dims, "float32", 2)
    mine = np.arange(count).astype(np.float32)

    @ivf_flat.metric(captures={"mine": mine}, finalize=lambda acc, ctx: acc + 1e6 * ctx.mine[ctx.query])
    def personal(x, y, acc, ctx):
        return acc + abs(x - y)

    candidates = candidates_of(count, 4, rows=8)
    expected, numbers = best_of(
        np.stack([abs(query - dataset).sum(1, dtype=np.float64) for query in queries]) + 1e6 * mine[:, None],
        candidates, 4, "min",
    )  # fmt: skip
    distances, indices = refine(dataset, queries, candidates, 4, metric=personal)
    np.testing.assert_allclose(distances, expected, rtol=1e-4)
    np.testing.assert_array_equal(indices < 0, numbers < 0)


def test_rows_are_of_one_list():
    dataset, queries = vectors(ROWS, DIMS, "float32", 1), vectors(7, DIMS, "float32", 2)
    everything = np.tile(np.arange(ROWS), (7, 1))
    for part, same in zip(
        refine(dataset, queries, everything, 20, metric=by_list),
        brute_force.knn(dataset, queries, 20, metric=by_list),
        strict=True,
    ):
        np.testing.assert_array_equal(part, same)


def test_bits_and_other_types_of_queries():
    packed = vectors(ROWS, 4, "uint8", 1)
    bits = np.unpackbits(packed, axis=1, bitorder="little")
    candidates = candidates_of(5, 30)
    distances, indices = refine(PackedBits(packed), PackedBits(packed[:5]), candidates, 6, metric="sqeuclidean")
    np.testing.assert_array_equal(refine(PackedBits(packed), packed[:5], candidates, 6)[1], indices)
    expected, numbers = best_of(
        distances_of(TERMS["sqeuclidean"], bits[:5].astype(np.int16), bits.astype(np.int16)), candidates, 6, "min"
    )
    np.testing.assert_array_equal(distances, expected)
    np.testing.assert_array_equal(indices, numbers)
    dataset, queries = vectors(ROWS, DIMS, "uint8", 1), vectors(5, DIMS, "float32", 2)
    found = refine(dataset, queries, candidates, 6)
    expected, numbers = best_of(distances_of(TERMS["sqeuclidean"], queries, dataset), candidates, 6, "min")
    np.testing.assert_allclose(found[0], expected, rtol=1e-5)
    np.testing.assert_array_equal(found[1], numbers)


def test_missing_values():
    dataset, queries = vectors(ROWS, DIMS, "float32", 1), vectors(5, DIMS, "float32", 2)
    dataset[::3, 2] = np.nan
    queries[1, 4] = np.nan
    candidates = candidates_of(5, 30)
    found = refine(dataset, queries, candidates, 6, metric="nan_euclidean")
    for part, same in zip(found, restricted(dataset, queries, candidates, 6, "nan_euclidean"), strict=True):
        np.testing.assert_array_equal(part, same)


def test_the_candidates_of_an_index_get_better():
    """Two phases: an index finds by one metric, refine ranks by another."""
    dataset, queries = vectors(3000, 16, "float32", 1), vectors(20, 16, "float32", 2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=20), dataset)
    _, candidates = ivf_flat.search(ivf_flat.SearchParams(n_probes=20), index, queries, 300)
    _, exact = brute_force.knn(dataset, queries, 10, metric="l1")
    _, found = refine(dataset, queries, candidates, 10, metric="l1")
    assert np.mean([len(set(a) & set(b)) for a, b in zip(exact, found, strict=True)]) >= 9.5


def test_arrays_for_results_and_statistics():
    dataset, queries = vectors(ROWS, DIMS, "float32", 1), vectors(5, DIMS, "float32", 2)
    candidates = candidates_of(5, 30)
    same = refine(dataset, queries, candidates, 7)
    distances, indices = np.empty((5, 7), np.float32), np.empty((5, 7), np.int64)
    found = refine(dataset, queries, candidates, None, indices, distances)
    assert found[0] is distances
    assert found[1] is indices
    np.testing.assert_array_equal(distances, same[0])
    np.testing.assert_array_equal(indices, same[1])
    *_, stats = refine(dataset, queries, candidates.astype(np.int32), 7, return_stats=True)
    own = [len(np.unique(row[row >= 0])) for row in candidates]
    assert (stats.metric, stats.family, stats.n_missing) == ("sqeuclidean", "groups", 0)
    assert (stats.scored, stats.rows_per_query) == (sum(own), pytest.approx(np.mean(own)))
    assert refine(dataset, queries[:0], candidates[:0], 7)[0].shape == (0, 7)
    strided = np.empty((5, 60), np.int64)[:, ::2]
    strided[:] = candidates
    np.testing.assert_array_equal(refine(dataset[::1], queries, strided, 7)[1], same[1])


def test_memory_map(tmp_path):
    dataset, queries = vectors(ROWS, DIMS, "float32", 1), vectors(5, DIMS, "float32", 2)
    np.save(tmp_path / "rows.npy", dataset)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    candidates = candidates_of(5, 30)
    np.testing.assert_array_equal(refine(mapped, queries, candidates, 7)[1], refine(dataset, queries, candidates, 7)[1])


def test_a_filter_leaves_candidates_out():
    x, queries = vectors(ROWS, DIMS, "float32", 1), vectors(6, DIMS, "float32", 2)
    candidates = candidates_of(6, 40)
    generator = np.random.default_rng(3)
    mask, bits = generator.random(ROWS) < 0.5, generator.random((6, ROWS)) < 0.5
    bitmap, code = filters.from_bitmap(bits), not_every_third
    of_bitmap = np.where(np.take_along_axis(bits, np.maximum(candidates, 0), 1), candidates, -1)
    of_code = np.where(candidates % 3 != 0, candidates, -1)
    index = brute_force.build(x)
    for given, kept in (
        (mask, np.where(mask[candidates], candidates, -1)),
        (filters.no_filter(), candidates),
        (bitmap, of_bitmap),
        (~bitmap & mask, np.where(mask[candidates] & (of_bitmap < 0), candidates, -1)),
        (np.zeros(ROWS, bool), np.full_like(candidates, -1)),
        (code, of_code),
        (mask & ~code, np.where(mask[candidates] & (of_code < 0), candidates, -1)),
    ):
        expected = refine(x, queries, kept, 9, metric="l1")
        for dataset in (x, index):
            for part, same in zip(
                refine(dataset, queries, candidates, 9, metric="l1", filter=given), expected, strict=True
            ):
                np.testing.assert_array_equal(part, same)
    assert fault(ArgumentError, x, queries, candidates, 9, filter=mask[:-1])[0] == (
        "the filter has 299 entries, argument 'dataset' has 300 rows; give one entry a row, mask[subset]"
    )
    assert fault(ArgumentError, x, queries[:5], candidates[:5], 9, filter=bitmap)[0].startswith(
        "the bitmap is for 6 queries, this search has 5"
    )


def test_its_arguments_are_those_of_cuvs():
    names = list(inspect.signature(refine).parameters)
    assert names[:8] == ["dataset", "queries", "candidates", "k", "indices", "distances", "metric", "resources"]
    assert inspect.signature(refine).parameters["metric"].default == "sqeuclidean"
    assert annudf.refine is refine


def fault(kind, *arguments, **options):
    with pytest.raises(kind) as caught:
        refine(*arguments, **options)
    return str(caught.value), caught.value.argument


def test_refused():
    x, some = vectors(ROWS, DIMS, "float32", 1), np.zeros((5, 4), np.int64)
    queries = x[:5]
    assert fault(ArgumentError, x, queries, some, 5) == (
        "k is 5, but a query has 4 candidates; ask for fewer, or give more", "k"
    )  # fmt: skip
    assert fault(ArgumentError, x, queries, some)[0] == (
        "k is None; give it, or indices or distances of shape (n_queries, k)"
    )
    assert fault(ArgumentError, x, queries, some, 0)[1] == "k"
    wrong = some.copy()
    wrong[3, 1], wrong[4, 0] = ROWS, -2
    assert fault(ArgumentError, x, queries, wrong, 2) == (
        "candidates[3, 1] is 300, the dataset has 300 rows; give -1 to 299, where -1 is none", "candidates"
    )  # fmt: skip
    wrong[3, 1] = 0
    assert fault(ArgumentError, x, queries, wrong, 2)[0].startswith("candidates[4, 0] is -2, the dataset has")
    assert fault(ArgumentError, x, queries, some[:4], 2)[0] == (
        "argument 'candidates' has shape (4, 4), it must be (5, n_candidates), one row a query"
    )
    assert fault(ArgumentError, x, queries, some[:, :0], 2)[0] == (
        "argument 'candidates' has shape (5, 0): no columns; give each query at least one number, or -1"
    )
    assert fault(DtypeError, x, queries, some.astype(np.float32), 2)[0].startswith(
        "argument 'candidates' has dtype float32, it must be int64, int32"
    )
    large = some.astype(np.uint64)
    assert all(
        (one == two).all() for one, two in zip(refine(x, queries, large, 2), refine(x, queries, some, 2), strict=True)
    )
    large[3, 1] = 2**64 - 1
    assert fault(ArgumentError, x, queries, large, 2)[0] == (
        "candidates[3, 1] is 18446744073709551615; numbers of rows are at most 9223372036854775807"
    )
    assert fault(ArgumentError, x, queries[:, :8], some, 2)[0] == (
        "argument 'queries' has vectors of 8 dimensions, argument 'dataset' has 9"
    )
    assert fault(ArgumentError, x[:0], queries, some, 2)[0].startswith("argument 'dataset' has shape (0, 9): no rows")
    assert re.match("argument 'dataset' has dtype float64", fault(DtypeError, x.astype(float), queries, some, 2)[0])


def test_coordinates_that_are_not_finite():
    x, some = vectors(ROWS, DIMS, "float32", 1), np.zeros((5, 4), np.int64)
    x[7, 3] = np.inf
    refine(x, x[:5], some, 2)  # Nobody asks for row 7.
    some[2, 2] = 7
    assert fault(ArgumentError, x, x[:5], some, 2) == (
        "dataset: row 7, dim 3 is inf; every coordinate must be finite", "dataset"
    )  # fmt: skip
    queries = x[:5].copy()
    queries[4, 1] = np.nan
    assert fault(ArgumentError, x, queries, np.zeros((5, 4), np.int64), 2)[1] == "queries"


def test_captures_that_do_not_fit():
    dataset, some = vectors(ROWS - 1, DIMS, "float32", 1), np.zeros((5, 4), np.int64)
    with pytest.raises(CaptureError, match=r"capture 'of_row' .* has 300 entries, argument 'dataset' has 299 rows"):
        refine(dataset, dataset[:5], some, 2, metric=with_rows)
    with pytest.raises(CaptureError, match="capture 'of_row'"):
        refine(vectors(ROWS + 1, DIMS, "float32", 1), dataset[:5], some, 2, metric=with_rows)


def test_distances_that_are_nan():
    @ivf_flat.metric
    def odd(x, y, acc):
        return acc + (y if y != 2 else (x - x) / (y - 2))

    dataset = np.array([[1], [2], [3]], np.float32)
    found = refine(dataset, np.zeros((1, 1), np.float32), np.array([[0, 1, 2]]), 3, metric=odd, on_nan="skip")
    np.testing.assert_array_equal(found[0], [[1, 3, np.inf]])
    np.testing.assert_array_equal(found[1], [[0, 2, -1]])
    with pytest.raises(errors.NaNDistanceError, match="query 0, row 1"):
        refine(dataset, np.zeros((1, 1), np.float32), np.array([[0, 1, 2]]), 3, metric=odd, on_nan="raise")
