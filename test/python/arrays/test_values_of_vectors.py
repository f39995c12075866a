# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Metrics that need values of each vector before the search, with arrays on a device."""

import re

import numpy as np
import pytest
from fake_gpu import DeviceArray

import annudf
from annudf import Resources, brute_force, ivf_flat
from annudf.distance import pairwise_distance
from annudf.errors import CaptureError, DeviceError

ROWS = np.random.default_rng(5).random((40, 10), dtype=np.float32)
QUERIES = ROWS[:3].copy()


@annudf.metric
def centered(a, b):
    u, v = a - np.mean(a), b - np.mean(b)
    return np.sum(np.abs(u - v))


@annudf.metric
def of_rows(a, b):
    total = np.sum(b)
    return np.sum(np.abs(a - b / total))


def indexes():
    return [ivf_flat.build(ivf_flat.IndexParams(n_lists=4), rows) for rows in (ROWS, DeviceArray(ROWS))]


def test_queries_on_a_device_are_refused(gpu):
    told = (
        "metric 'centered' needs a value of each query before the search, which the host computes, and the queries are on "
        "cuda:0; give them as an array of the host"
    )
    rows, queries, candidates = (DeviceArray(one) for one in (ROWS, QUERIES, np.zeros((3, 2), np.int64)))
    params = ivf_flat.SearchParams(n_probes=4, metric=centered)
    for call in (
        *(lambda index=index: ivf_flat.search(params, index, queries, 3) for index in indexes()),
        lambda: brute_force.knn(rows, queries, 3, metric=centered),
        lambda: brute_force.radius_search(rows, queries, radius=1.0, metric=centered),
        lambda: pairwise_distance(queries, rows, metric=centered),
        lambda: annudf.refine(rows, queries, candidates, 2, metric=centered),
    ):
        with pytest.raises(DeviceError, match=f"^{re.escape(told)}$"):
            call()
    for place in (QUERIES, queries):
        with pytest.raises(CaptureError, match="which a prepared search does not compute; call search"):
            ivf_flat.prepare(params, indexes()[place is queries], place, 3)


def test_rows_and_searches_on_a_device(gpu):
    for metric in (centered, of_rows):
        params = ivf_flat.SearchParams(n_probes=4, metric=metric)
        host, device = indexes()
        distances, neighbors = ivf_flat.search(params, host, QUERIES, 3)
        for found in (
            ivf_flat.search(params, device, QUERIES, 3),
            ivf_flat.search(params, host, QUERIES, 3, resources=Resources(device="cuda")),
        ):
            np.testing.assert_array_equal(found[0], distances)
            np.testing.assert_array_equal(found[1], neighbors)
    out = np.zeros((3, 3), np.float32)
    given = DeviceArray(np.zeros((3, 3), np.int64)), DeviceArray(out)
    ivf_flat.search(params, device, DeviceArray(QUERIES), 3, *given)
    np.testing.assert_array_equal(given[1].array, distances)
