# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Prepared searches on a real GPU: results, streams, lifetimes."""

from __future__ import annotations

import numpy as np
import pytest

from annudf import ArgumentError, Resources, ivf_flat
from reference import vectors

pytestmark = pytest.mark.gpu

DIMS, K = 24, 10
PARAMS = ivf_flat.SearchParams(n_probes=8)


@pytest.fixture(scope="module")
def index():
    return ivf_flat.build(ivf_flat.IndexParams(n_lists=16), vectors(5000, DIMS, "float32", 1))


def assert_equal(library, found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(library.get(one), library.get(other))


@pytest.mark.parametrize("rows", [1, 16, 500])
def test_finds_what_a_search_finds(library, index, rows):
    like = library.put(vectors(rows, DIMS, "float32", 0))
    keep = np.arange(5000) % 3 != 0
    for filter in (None, keep):
        nearest = ivf_flat.prepare(PARAMS, index, like, K, filter=filter)
        neighbors, distances = library.empty((rows, K), "int64"), library.empty((rows, K), "float32")
        for seed in (2, 3, 3, 2):
            queries = library.put(vectors(rows, DIMS, "float32", seed))
            expected = ivf_flat.search(PARAMS, index, queries, K, filter=filter)
            assert_equal(library, nearest(queries), expected)
            assert_equal(library, nearest(queries, neighbors, distances), expected)
            assert_equal(library, (distances, neighbors), expected)


def test_quick_for_arrays_with_streams(with_streams, index):
    queries = with_streams.put(vectors(1, DIMS, "float32", 2))
    nearest = ivf_flat.prepare(PARAMS, index, queries, K)
    assert nearest._queries_at(queries) != 0
    assert nearest._plain.in_order()
    stream = with_streams.stream()
    with stream:
        assert not nearest._plain.in_order()
        other = ivf_flat.prepare(PARAMS, index, queries, K)
        assert other._plain.in_order()
    turned = with_streams.noncontiguous(vectors(7, DIMS, "float32", 3))
    nearest = ivf_flat.prepare(PARAMS, index, turned, K)
    assert nearest._queries_at(turned) == 0
    assert_equal(with_streams, nearest(turned), ivf_flat.search(PARAMS, index, turned, K))


@pytest.mark.parametrize("where", ["current", "resources"])
def test_waits_for_late_writes(with_streams, index, where):
    """The queries are written by work that is not done when the search is called."""
    values = vectors(5, DIMS, "float32", 4)
    expected = ivf_flat.search(PARAMS, index, with_streams.put(values), K)
    stream = with_streams.stream()
    queries = with_streams.put(values)
    if where == "current":
        with stream:
            nearest = ivf_flat.prepare(PARAMS, index, queries, K)
    else:
        nearest = ivf_flat.prepare(PARAMS, index, queries, K, Resources(stream=stream.ptr))
    late = with_streams.put(np.zeros_like(values))
    with_streams.delay(late)
    late += queries
    found = nearest(late)
    stream.synchronize()
    assert_equal(with_streams, found, expected)


def test_dropped_arrays_are_kept(with_streams, index):
    stream = with_streams.stream()
    many = [vectors(3, DIMS, "float32", seed) for seed in range(20)]
    expected = [ivf_flat.search(PARAMS, index, with_streams.put(one), K) for one in many]
    with stream:
        nearest = ivf_flat.prepare(PARAMS, index, with_streams.put(many[0]), K)
        found = [nearest(with_streams.put(one)) for one in many]
        nearest.close()
    for one, other in zip(found, expected, strict=True):
        assert_equal(with_streams, one, other)


def test_an_index_that_changed_is_refused(library):
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), vectors(500, DIMS, "float32", 1))
    queries = library.put(vectors(2, DIMS, "float32", 2))
    nearest = ivf_flat.prepare(ivf_flat.SearchParams(n_probes=4), index, queries, K)
    nearest(queries)
    ivf_flat.extend(index, vectors(3, DIMS, "float32", 5))
    with pytest.raises(ArgumentError) as caught:
        nearest(queries)
    assert str(caught.value) == "the index has changed since the search was prepared; prepare it again"
    nearest.close()
    with pytest.raises(ArgumentError) as caught:
        nearest(queries)
    assert str(caught.value) == "the prepared search is closed; prepare another"
