# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Exact search and merging of device arrays: what goes through the host, and in which order."""

from __future__ import annotations

import numpy as np
import pytest
from fake_gpu import DeviceArray

from annudf import DeviceError, DtypeError, Resources, refine
from annudf.neighbors import brute_force, knn_merge_parts
from reference import vectors


def test_exact_search_keeps_device_rows_on_the_device(gpu):
    rows, queries = vectors(60, 8, "float32", 9), vectors(5, 8, "float32", 10)
    ids = np.arange(60, dtype=np.int64)[::-1] * 7
    for given in (None, ids):
        expected = brute_force.knn(rows, queries, 4, ids=given)
        gpu.log.clear()
        index = brute_force.build(DeviceArray(rows, stream=0x700), ids=given)
        assert [entry for entry in gpu.log if entry[0] != "record"] == [("store", 0x700)]
        searched = (
            brute_force.search(index, DeviceArray(queries, stream=0x700), 4),
            brute_force.knn(DeviceArray(rows), DeviceArray(queries, stream=0x700), 4, ids=given),
        )
        assert not any(entry[0] == "copy" for entry in gpu.log)
        for found in searched:
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(np.asarray(one), other)
    out = DeviceArray(np.empty((5, 4), np.float32)), DeviceArray(np.empty((5, 4), np.int64))
    found = brute_force.search(index, DeviceArray(queries, stream=0x700), 4, out[1], out[0])
    assert found[0] is out[0]
    np.testing.assert_array_equal(out[1].array, expected[1])
    # Rows of the host go to the device that is asked for without a second copy here.
    gpu.log.clear()
    place = Resources(device="cuda:0")
    found = brute_force.knn(rows, queries, 4, ids=ids, resources=place)
    assert gpu.log == [("store", None), ("search", None)]
    np.testing.assert_array_equal(found[1], expected[1])


def test_parts_are_merged_on_the_device(gpu):
    distances, neighbors = np.float32([[[1, 3]], [[0, 2]]]), np.int64([[[5, 6]], [[7, 8]]])
    written = DeviceArray(np.empty((1, 3), np.int64), stream=0x900)
    arrays = DeviceArray(distances, stream=0x700), DeviceArray(neighbors, stream=0x800)
    found = knn_merge_parts(*arrays, neighbors=written)
    assert gpu.log[-1] == ("record", 0x700)
    assert np.asarray(found[0]).tolist() == [[0, 1, 2]]
    assert written.array.tolist() == [[7, 5, 8]]
    for producer in (0x800, 0x900):
        assert gpu.log.index(("synchronize", producer)) < gpu.log.index(("merge", 0x700))
    with pytest.raises(DeviceError, match=r"^argument 'in_neighbors' is on the CPU, 'in_distances' on cuda:0; give "):
        knn_merge_parts(DeviceArray(distances), neighbors)


def test_candidates_are_ranked_where_the_arrays_are(gpu):
    rows, queries = vectors(60, 8, "float32", 9), vectors(5, 8, "float32", 10)
    candidates = np.random.default_rng(3).integers(-1, 60, (5, 20))
    expected = refine(rows, queries, candidates, 4)
    there = DeviceArray(rows, stream=0x700), DeviceArray(queries, stream=0x800), DeviceArray(candidates, stream=0x900)
    found = refine(*there, 4)
    assert gpu.log[-2:] == [("refine", 0x700, 0x800, 0x900), ("record", 0x800)]
    assert not any(entry[0] == "copy" for entry in gpu.log)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(one), other)
    # Results are where the queries are, wherever the rest is.
    found = refine(there[0], queries, candidates, 4)
    assert gpu.log[-1] == ("refine", 0x700, None, None)
    np.testing.assert_array_equal(found[1], expected[1])
    found = refine(rows, queries, candidates, 4, resources=Resources(device="cuda"))
    assert gpu.log[-1] == ("refine", None, None, None)
    np.testing.assert_array_equal(found[1], expected[1])
    out = DeviceArray(np.empty((5, 4), np.float32)), DeviceArray(np.empty((5, 4), np.int64))
    assert refine(*there, None, out[1], out[0])[1] is out[1]
    np.testing.assert_array_equal(out[1].array, expected[1])
    with pytest.raises(DeviceError, match=r"^argument 'distances' is on the CPU, the queries are on cuda:0"):
        refine(*there, 4, distances=np.empty((5, 4), np.float32))
    with pytest.raises(DtypeError, match=r"^argument 'candidates' has dtype int32, it must be int64"):
        refine(*there[:2], DeviceArray(candidates.astype(np.int32)), 4)
