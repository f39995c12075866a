# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Candidates ranked again on a real GPU, against an exact search there that a filter restricts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from test_refine import ROWS, candidates_of, fault, restricted

from annudf import ArgumentError, Resources, refine
from annudf.neighbors import brute_force
from gpu_libraries import Plain
from reference import DTYPES, vectors

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dims", [9, 16, 64])
@pytest.mark.parametrize("metric", ["sqeuclidean", "inner_product", "cosine", "canberra"])
def test_equals_an_exact_search(library, dtype, dims, metric):
    """9 dims: rows are copied on the device. 64: each is read where it is."""
    dataset = vectors(ROWS, dims, dtype, 1)
    for count, columns in itertools.product((1, 10, 1000), (1, 40, 200)):
        queries = vectors(count, dims, dtype, 2)
        candidates = candidates_of(count, columns)
        k = min(columns, 12)
        found = refine(library.put(dataset), library.put(queries), library.put(candidates), k, metric=metric)
        distances, indices = map(library.get, found)
        if count == 10:
            same = restricted(library.put(dataset), library.put(queries), candidates, k, metric, library.get)
            np.testing.assert_array_equal(distances, same[0])
            np.testing.assert_array_equal(indices, same[1])
        on_cpu = refine(dataset, queries, candidates, k, metric=metric)
        np.testing.assert_allclose(distances, on_cpu[0], rtol=1e-3, atol=1e-3)


def test_arrays_in_several_places(library):
    dataset, queries = vectors(ROWS, 24, "float32", 1), vectors(50, 24, "float32", 2)
    candidates = candidates_of(50, 60)
    expected = [library.get(one) for one in refine(*map(library.put, (dataset, queries, candidates)), 10)]
    for places in itertools.product((False, True), repeat=3):
        arrays = (dataset, queries, candidates)
        given = [library.put(array) if there else array for array, there in zip(arrays, places, strict=True)]
        found = refine(*given, 10, resources=Resources(device="cuda"))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(library.get(one) if places[1] else one, other)


def test_rows_of_an_index(library):
    data, queries = vectors(ROWS, 24, "float32", 1), vectors(50, 24, "float32", 2)
    ids = np.random.default_rng(3).permutation(ROWS) * 2**33
    numbers = candidates_of(50, 60)
    candidates = np.where(numbers < 0, -1, ids[numbers])
    for index in (brute_force.build(data, ids=ids), brute_force.build(library.put(data), ids=ids)):
        expected = refine(index, queries, candidates, 10, resources=Resources(device="cuda"))
        for places in ((False, True), (True, False), (True, True)):
            given = [
                library.put(one) if there else one for one, there in zip((queries, candidates), places, strict=True)
            ]
            found = refine(index, *given, 10, resources=Resources(device="cuda"))
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(library.get(one) if places[0] else one, other)
    candidates[3, 1] = 7
    wanted = "candidates[3, 1] is 7, which is no id of the index; give ids of its rows, or -1 for none", "candidates"
    assert fault(ArgumentError, index, library.put(queries), library.put(candidates), 2) == wanted


def test_a_stream_of_the_callers(library):
    if isinstance(library, Plain):
        pytest.skip("device_ndarray enqueues no work of its own")
    dataset, queries = vectors(ROWS, 32, "float32", 1), vectors(50, 32, "float32", 2)
    candidates = candidates_of(50, 60)
    expected = refine(dataset, queries, candidates, 10)
    stream = library.stream()
    with stream:
        late = library.put(dataset * 0)
        there, asked = library.put(candidates), library.put(queries)
        library.delay(late)
        late += library.put(dataset)
        distances, indices = refine(late, asked, there, 10)
        np.testing.assert_array_equal(library.get(indices), expected[1])
        np.testing.assert_allclose(library.get(distances), expected[0], rtol=1e-5)


def test_refused(library):
    dataset, candidates = vectors(ROWS, 8, "float32", 1), np.zeros((5, 4), np.int64)
    candidates[3, 1], candidates[4, 0] = ROWS, -2
    there = [library.put(one) for one in (dataset, dataset[:5], candidates)]
    assert fault(ArgumentError, *there, 2) == (
        "candidates[3, 1] is 300, the dataset has 300 rows; give -1 to 299, where -1 is none", "candidates"
    )  # fmt: skip
    # More candidates than a block of threads has room for.
    many = np.tile(np.arange(ROWS), (3, 20))
    asked = library.put(dataset[:3])
    found = refine(there[0], asked, library.put(many), 7)
    for one, other in zip(found, brute_force.knn(there[0], asked, 7), strict=True):
        np.testing.assert_array_equal(library.get(one), library.get(other))
