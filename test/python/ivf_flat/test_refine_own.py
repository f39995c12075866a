# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Rows of an index ranked again, to the bit as by a search of all lists that leaves out what is no candidate."""

from __future__ import annotations

import numpy as np
import pytest
from test_columns import beside_an_array, beside_the_id, columns_of, in_update
from test_refine import candidates_of, fault

import annudf
from annudf import ArgumentError, CaptureError, PackedBits, Resources, errors, ivf_flat, refine
from annudf.neighbors import brute_force
from on_devices import on_each_device
from reference import DTYPES, vectors

ROWS, DIM = 300, 9
BUILD = ivf_flat.IndexParams(n_lists=5, kmeans_n_iters=2)


def far(ids):
    """Ids that no array reaches."""
    return ids * 2**33 + 5


def changed(data, number=lambda ids: ids + 40, with_columns=True):
    """An index that was extended and has lost rows, and its ids."""
    columns = columns_of if with_columns else lambda ids: None
    index = ivf_flat.build(BUILD, data[:200], columns=columns(np.arange(200)))
    more = number(np.random.default_rng(4).permutation(np.arange(200, len(data))))
    ivf_flat.extend(index, data[200:], more, columns=columns(more))
    gone = np.concatenate([np.arange(0, 200, 7), more[::5]])
    assert ivf_flat.remove(index, gone) == len(gone)
    return index, np.setdiff1d(np.concatenate([np.arange(200), more]), gone)


def expected(index, queries, metric, device, candidates, k):
    """What a search of all rows finds among the candidates."""
    index = getattr(index, "_index", index)
    params = ivf_flat.SearchParams(n_probes=index.n_lists, metric=metric, on_nan="skip")
    distances, ids = ivf_flat.search(params, index, queries, index.size, resources=Resources(device=device))
    worst = np.inf if np.all(np.diff(np.nan_to_num(distances)) >= 0) else -np.inf
    found = np.full((len(queries), k), worst, np.float32), np.full((len(queries), k), -1)
    for query, own in enumerate(candidates):
        keep = np.flatnonzero(np.isin(ids[query], own[own >= 0]))[:k]
        found[0][query, : len(keep)], found[1][query, : len(keep)] = distances[query, keep], ids[query, keep]
    return found


def compare(index, ids, queries, metric, device, columns=40, k=9):
    numbers = candidates_of(len(queries), columns, rows=len(ids))
    candidates = np.where(numbers < 0, -1, ids[numbers])
    found = refine(index, queries, candidates, k, metric=metric, resources=Resources(device=device), on_nan="skip")
    for part, same in zip(found, expected(index, queries, metric, device, candidates, k), strict=True):
        np.testing.assert_array_equal(part, same)


@on_each_device
@pytest.mark.parametrize("dtype", DTYPES)
def test_equals_a_search_of_all_lists(dtype, device):
    data, queries = vectors(ROWS, DIM, dtype, 1), vectors(7, DIM, dtype, 2)
    order = np.random.default_rng(5).permutation(ROWS)
    for metric in ("sqeuclidean", "inner_product") if dtype == "float32" else ("sqeuclidean",):
        compare(ivf_flat.build(BUILD, data), np.arange(ROWS), queries, metric, device)
        compare(*changed(data, with_columns=False), queries, metric, device)
        for number in (lambda ids: ids, lambda ids: ids * 3 + 7, far):
            ids = number(order)
            compare(brute_force.build(data, ids=ids), ids, queries, metric, device)


@on_each_device
def test_bits_and_many_candidates(device):
    data = PackedBits(vectors(ROWS, 16, "uint8", 1))
    ids = far(np.random.default_rng(5).permutation(ROWS))
    queries = PackedBits(vectors(3, 16, "uint8", 2))
    index = brute_force.build(data, ids=ids, metric="hamming")
    everything = np.tile(ids, (3, 17))  # More than a block of threads has room for.
    place = Resources(device=device)
    found = refine(index, queries, everything, 20, metric="hamming", resources=place)
    for part, same in zip(found, brute_force.search(index, queries, 20, resources=place), strict=True):
        np.testing.assert_array_equal(part, same)


@on_each_device
@pytest.mark.filterwarnings("ignore::annudf.CaptureWarning")
def test_columns(device):
    data, queries = vectors(ROWS, DIM, "float32", 1), vectors(7, DIM, "float32", 2)
    index, ids = changed(data)
    for metric in (in_update, beside_the_id, beside_an_array):
        compare(index, ids, queries, metric, device)
    # In slot order: no array has entries for these ids.
    sparse = far(np.random.default_rng(5).permutation(ROWS))
    compare(brute_force.build(data, ids=sparse, columns=columns_of(sparse)), sparse, queries, in_update, device)
    index, ids = changed(data, number=far)
    compare(index, ids, queries, in_update, device)


@on_each_device
def test_captures_of_rows_and_queries(device):
    data, queries = vectors(ROWS, DIM, "float32", 1), vectors(30, DIM, "float32", 2)
    index, ids = changed(data, with_columns=False)
    of_row = np.linspace(-3, 3, int(ids.max()) + 1).astype(np.float32)
    mine = np.linspace(1, 2, 30).astype(np.float32)

    @annudf.metric(
        captures={"mine": mine, "of_row": of_row},
        finalize=lambda acc, ctx: ctx.mine[ctx.query] * acc + ctx.of_row[ctx.row] + ctx.row % 3,
    )
    def personal(x, y, acc, ctx):
        return acc + abs(x - y)

    compare(index, ids, queries, personal, device)
    with pytest.raises(CaptureError, match="capture 'of_row'"):
        refine(index, queries, np.zeros((30, 3), np.int64), 2, metric=personal.bind(of_row=of_row[:-1]))


@on_each_device
def test_its_own_rows_change(device):
    """A search before the change leaves nothing that the next one finds."""
    data, queries = vectors(ROWS, DIM, "float32", 1), vectors(4, DIM, "float32", 2)
    index = ivf_flat.build(BUILD, data)
    place = Resources(device=device)
    both = np.array([[3, 299]] * 4)
    compare(index, np.arange(ROWS), queries, "l1", device)
    ivf_flat.remove(index, [3])
    wanted = "candidates[0, 0] is 3, which is no id of the index; give ids of its rows, or -1 for none", "candidates"
    assert fault(ArgumentError, index, queries, both, 2, resources=place) == wanted
    ivf_flat.extend(index, data[5:6], [3])
    compare(index, np.arange(ROWS), queries, "l1", device)
    ivf_flat.extend(index, data[:1], [299], allow_repeated_ids=True)
    assert fault(ArgumentError, index, queries, both, 2, resources=place) == (
        "dataset: several rows have id 299, so a candidate does not name one; give each row its own id", "dataset"
    )  # fmt: skip


def test_refused():
    data, some = vectors(ROWS, DIM, "float32", 1), np.zeros((5, 4), np.int64)
    index = ivf_flat.build(BUILD, data)
    assert fault(ArgumentError, index, data[:5], some, 5)[0].startswith("k is 5, but a query has 4 candidates")
    assert fault(ArgumentError, index, data[:5, :8], some, 2)[0] == (
        "argument 'queries' has vectors of 8 dimensions, the index has 9"
    )
    for wrong in (ROWS, -2, 2**63 - 1):
        some[3, 1] = wrong
        assert fault(ArgumentError, index, data[:5], some, 2)[0].startswith(f"candidates[3, 1] is {wrong}, which is no")
    ivf_flat.remove(index, np.arange(ROWS))
    assert fault(ArgumentError, index, data[:5], some, 2) == ("dataset: there are 0 rows; add some first", "dataset")


def test_statistics_and_nan():
    data, queries = vectors(ROWS, DIM, "float32", 1), vectors(5, DIM, "float32", 2)
    index, _ = changed(data, with_columns=False)
    numbers = np.array([[1, 2, 2, -1]] * 5)
    *_, stats = refine(index, queries, numbers, 2, return_stats=True)
    assert (stats.metric, stats.scored, stats.rows_per_query, stats.n_lists) == ("sqeuclidean", 10, 2, 1)

    @annudf.metric
    def odd(x, y, acc):
        return acc + (y if y != 2 else (x - x) / (y - 2))

    three = brute_force.build(np.array([[1], [2], [3]], np.float32), ids=[7, 8, 9])
    with pytest.raises(errors.NaNDistanceError, match="query 0, row 8"):
        refine(three, np.zeros((1, 1), np.float32), np.array([[7, 8]]), 2, metric=odd, on_nan="raise")
