# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""`knn_merge_parts`, against a sort of all results in Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

from annudf import ArgumentError, DtypeError
from annudf.neighbors import brute_force, knn_merge_parts
from reference import vectors

LARGEST = np.iinfo(np.int64).max


def random_parts(rng, parts, queries, found, values):
    distances = rng.integers(-values, values, (parts, queries, found)).astype(np.float32)
    neighbors = rng.integers(0, LARGEST if rng.integers(2) else 9, distances.shape)
    kinds = rng.integers(0, 30, distances.shape)
    distances[kinds == 0] = np.nan
    distances[kinds == 1] = np.inf
    distances[kinds == 2] = -0.0
    neighbors[kinds == 3] = -1
    neighbors[kinds == 4] = LARGEST
    return distances, neighbors


def sorted_parts(distances, neighbors, k, order):
    sign = -1 if order == "max" else 1
    for query in range(distances.shape[1]):
        pairs = zip(distances[:, query].ravel().tolist(), neighbors[:, query].ravel().tolist(), strict=True)
        best = sorted((sign * distance, row) for distance, row in pairs if row >= 0 and not math.isnan(distance))
        best += [(math.inf, -1)] * k
        yield [sign * distance for distance, _ in best[:k]], [row for _, row in best[:k]]


def check_parts(merge, k_of):
    rng = np.random.default_rng(3)
    for order in ("min", "max"):
        for parts, queries, found in ((1, 1, 1), (2, 3, 10), (8, 5, 16), (3, 2, 700), (1, 4, 7)):
            for values in (1, 4, 10000):
                distances, neighbors = random_parts(rng, parts, queries, found, values)
                k = k_of(found)
                got = merge(distances, neighbors, k, order)
                assert got[0].dtype == np.float32
                assert got[1].dtype == np.int64
                for query, (best, rows) in enumerate(sorted_parts(distances, neighbors, k, order)):
                    assert got[0][query].tolist() == best
                    assert got[1][query].tolist() == rows


@pytest.mark.parametrize("k_of", [lambda found: found, lambda found: 3 * found + 2, lambda _: 1])
def test_equals_a_sort(k_of):
    check_parts(lambda d, n, k, order: knn_merge_parts(d, n, k=k, order=order), k_of)


@pytest.mark.gpu
def test_equals_a_sort_on_a_device(library):
    def merge(distances, neighbors, k, order):
        found = knn_merge_parts(library.put(distances), library.put(neighbors), k=k, order=order)
        return tuple(library.get(one) for one in found)

    check_parts(merge, lambda found: found + 1)


def test_as_cuvs_has_it():
    """Parts below each other, ids that each part numbers from 0, results in arrays of the caller."""
    rows, queries = vectors(90, 6, "float32", 1), vectors(7, 6, "float32", 2)
    found = [brute_force.knn(rows[first : first + 30], queries, 4) for first in (0, 30, 60)]
    below = [np.concatenate(arrays) for arrays in zip(*found, strict=True)]
    distances, neighbors = np.empty((7, 4), np.float32), np.empty((7, 4), np.int64)
    given = knn_merge_parts(*below, distances, neighbors, np.array([0, 30, 60]))
    assert given[0] is distances
    assert given[1] is neighbors
    for one, other in zip(given, brute_force.knn(rows, queries, 4), strict=True):
        np.testing.assert_array_equal(one, other)
    fewer = np.empty((7, 2), np.int64)
    assert knn_merge_parts(*below, neighbors=fewer, translations=[0, 30, 60])[0].shape == (7, 2)
    np.testing.assert_array_equal(fewer, neighbors[:, :2])
    assert knn_merge_parts(np.empty((2, 0, 3), np.float32), np.empty((2, 0, 3), np.int64))[0].shape == (0, 3)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"order": "least"}, ArgumentError, "order is 'least', it must be 'min' or 'max'"),
        ({"k": 0}, ArgumentError, "k is 0, it must be an integer from 1 to 1073741824"),
        (
            {"in_neighbors": np.zeros((2, 3, 4), np.int32)},
            DtypeError,
            "argument 'in_neighbors' has dtype int32, it must be int64; convert by .astype(numpy.int64)",
        ),
        (
            {"in_neighbors": np.zeros((2, 3, 5), np.int64)},
            ArgumentError,
            "argument 'in_neighbors' has shape (2, 3, 5), 'in_distances' (2, 3, 4); give an id for each distance",
        ),
        (
            {"translations": [0, 1, 2]},
            ArgumentError,
            "argument 'translations' has 3 numbers and 'in_distances' 2 parts; give one a part",
        ),
        (
            {"translations": [0, -5]},
            ArgumentError,
            "argument 'translations' has -5 at 1; give numbers that are 0 or above",
        ),
        (
            {"translations": [0, LARGEST], "in_neighbors": np.ones((2, 3, 4), np.int64)},
            ArgumentError,
            "part 1: id 1 of query 0 plus its translation 9223372036854775807 is above 9223372036854775807, "
            "the largest id",
        ),
        (
            {"in_distances": np.zeros((6, 4), np.float32), "in_neighbors": np.zeros((6, 4), np.int64)},
            ArgumentError,
            "argument 'in_distances' has shape (6, 4) and translations is None, so the number of parts is not known; "
            "give translations, or arrays of shape (n_parts, n_queries, n_found)",
        ),
        (
            {
                "in_distances": np.zeros((5, 4), np.float32),
                "in_neighbors": np.zeros((5, 4), np.int64),
                "translations": [0, 1],
            },
            ArgumentError,
            "argument 'in_distances' has 5 rows, no multiple of the 2 parts of translations",
        ),
        (
            {"in_distances": np.zeros(4, np.float32)},
            ArgumentError,
            "argument 'in_distances' has shape (4,), it must be (n_parts, n_queries, n_found) or "
            "(n_parts * n_queries, n_found)",
        ),
        (
            {"distances": np.zeros((2, 4), np.float32)},
            ArgumentError,
            "argument 'distances' has shape (2, 4), it must be (3, 4)",
        ),
    ],
)
def test_refused(change, error, message):
    given = {"in_distances": np.zeros((2, 3, 4), np.float32), "in_neighbors": np.zeros((2, 3, 4), np.int64)}
    with pytest.raises(error) as caught:
        knn_merge_parts(**{**given, **change})
    assert str(caught.value) == message


def test_refuses_results_over_its_arguments():
    distances, neighbors = np.zeros((1, 3, 4), np.float32), np.zeros((1, 3, 4), np.int64)
    with pytest.raises(ArgumentError) as caught:
        knn_merge_parts(distances, neighbors, distances[0])
    assert str(caught.value) == "arguments 'distances' and 'in_distances' share memory; give another array"
