# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Prepared searches of device arrays: streams, and how long arrays live."""

from __future__ import annotations

import gc
import weakref

import fake_gpu
import numpy as np
import pytest
from fake_gpu import CupyArray, CupyStream, DeviceArray

from annudf import ArgumentError, DeviceError, Resources, UnavailableError, ivf_flat
from annudf._devices import backends
from reference import vectors

DIMS = 6
PARAMS = ivf_flat.SearchParams(n_probes=4)


@pytest.fixture
def index():
    return ivf_flat.build(ivf_flat.IndexParams(n_lists=4), vectors(100, DIMS, "float32", 1))


@pytest.fixture
def queries():
    return vectors(5, DIMS, "float32", 2)


def buffers():
    return CupyArray(np.zeros((5, 3), np.int64)), CupyArray(np.zeros((5, 3), np.float32))


def assert_equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.array, other)


@pytest.mark.parametrize(("on_nan", "counts"), [("warn", True), ("raise", True), ("skip", False)])
def test_what_is_skipped_is_not_counted(cupy, gpu, index, queries, on_nan, counts):
    params = ivf_flat.SearchParams(n_probes=4, on_nan=on_nan)
    gpu.counts = None
    ivf_flat.search(params, index, CupyArray(queries), 3)
    assert gpu.counts is counts
    gpu.counts = None
    ivf_flat.prepare(params, index, CupyArray(queries), 3)
    assert gpu.counts is counts


def test_cupy(cupy, gpu, index, queries):
    expected = ivf_flat.search(PARAMS, index, queries, 3)
    nearest = ivf_flat.prepare(PARAMS, index, CupyArray(queries), 3)
    gpu.log.clear()
    found = nearest(CupyArray(queries))
    assert_equal(found, expected)
    assert gpu.log == [("empty", 0), ("empty", 0), ("run", 0)]
    neighbors, distances = buffers()
    given = CupyArray(queries)
    gpu.log.clear()
    for _ in range(3):
        found = nearest(given, neighbors, distances)
        assert found[0] is distances
        assert found[1] is neighbors
    # The arrays of the call before go when theirs are done; of those that come again nothing is written down.
    assert gpu.log == [("run", 0), ("record", 0), ("run", 0), ("run", 0)]
    assert_equal(found, expected)
    *found, stats = nearest(given, return_stats=True)
    assert_equal(found, expected)
    assert (stats.metric, stats.n_probes, stats.search_ms, stats.link_ms) == ("sqeuclidean", 4, 0, 0)
    assert (stats.n_missing, stats.scored, stats.nan_distances, stats.rows_per_query) == (None,) * 4
    # What is not in order is looked at as a search does.
    turned = CupyArray(np.asfortranarray(queries))
    gpu.log.clear()
    assert_equal(nearest(turned), expected)
    assert gpu.log == [("contiguous", 0), ("empty", 0), ("empty", 0), ("run", 0), ("record", 0)]


def test_a_library_of_protocols(gpu, index, queries):
    expected = ivf_flat.search(PARAMS, index, queries, 3)
    nearest = ivf_flat.prepare(PARAMS, index, DeviceArray(queries, stream=0x700), 3)
    gpu.log.clear()
    neighbors, distances = DeviceArray(np.zeros((5, 3), np.int64)), DeviceArray(np.zeros((5, 3), np.float32))
    found = nearest(DeviceArray(queries, stream=0x700), neighbors, distances)
    assert_equal(found, expected)
    assert gpu.log == [("run", 0x700)]
    nearest(DeviceArray(queries, stream=0x800), neighbors, distances)
    assert gpu.log[1:] == [("synchronize", 0x800), ("run", 0x700), ("record", 0x700)]


def test_streams(cupy, gpu, index, queries):
    given = CupyArray(queries)
    with CupyStream(gpu, 0x500):
        nearest = ivf_flat.prepare(PARAMS, index, given, 3)
        gpu.log.clear()
        nearest(given, *buffers())
        assert gpu.log == [("run", 0x500)]
    gpu.log.clear()
    # The stream is the prepared one; what the current one still writes is waited for.
    nearest(given, *buffers())
    assert gpu.log == [("wait", 0x500, 0)] * 3 + [("run", 0x500), ("record", 0x500)]
    resources = Resources(stream=0x600)
    nearest = ivf_flat.prepare(PARAMS, index, given, 3, resources)
    gpu.log.clear()
    nearest(given)
    assert ("run", 0x600) in gpu.log
    assert ("empty", 0x600) in gpu.log
    gpu.log.clear()
    resources.sync()
    assert gpu.log == [("synchronize", 0x600)]


def test_another_current_device(cupy, gpu, index, queries):
    nearest = ivf_flat.prepare(PARAMS, index, CupyArray(queries), 3)
    cupy.cuda.runtime.getDevice = lambda: 1
    expected = ivf_flat.search(PARAMS, index, queries, 3)
    assert_equal(nearest(CupyArray(queries)), expected)  # Its memory is not taken from that device.
    with pytest.raises(DeviceError) as caught:
        nearest(CupyArray(queries, device=1))
    assert str(caught.value) == "argument 'queries' is on cuda:1, the search is prepared for cuda:0"
    with pytest.raises(DeviceError) as caught:
        nearest(queries)
    assert str(caught.value) == "argument 'queries' is on the CPU, the search is prepared for cuda:0"
    neighbors, distances = buffers()
    neighbors.device.id = 1
    with pytest.raises(DeviceError) as caught:
        nearest(CupyArray(queries), neighbors, distances)
    assert str(caught.value) == "argument 'neighbors' is on cuda:1, the queries are on cuda:0; give a buffer on cuda:0"


def test_arrays_live_until_the_stream_is_done(cupy, gpu, index, queries):
    gpu.busy = True
    nearest = ivf_flat.prepare(PARAMS, index, CupyArray(queries), 3)
    watched = []
    for _ in range(3):
        arrays = (CupyArray(queries.copy()), *buffers())
        watched.append([weakref.ref(one) for one in arrays])
        nearest(*arrays)
        del arrays
    gc.collect()
    alive = lambda: [[one() is not None for one in call] for call in watched]  # noqa: E731
    assert alive() == [[True] * 3] * 3
    assert backends.release_done() == 2  # The last call's are with the search.
    gpu.busy = False
    assert backends.release_done() == 0
    gc.collect()
    assert alive() == [[False] * 3, [False] * 3, [True] * 3]
    gpu.log.clear()
    nearest.close()
    gc.collect()
    assert alive() == [[False] * 3] * 3
    assert gpu.log == [("destroyed", 0)]  # Which waits for the last run; the stream may be gone.


def test_what_is_dropped_waits_too(cupy, gpu, index, queries):
    gpu.busy = True
    nearest = ivf_flat.prepare(PARAMS, index, CupyArray(queries), 3)
    given = CupyArray(queries.copy())
    alive = weakref.ref(given, lambda _: gpu.log.append("freed"))
    nearest(given)
    del given
    assert alive() is not None
    gpu.log.clear()
    del nearest
    gc.collect()
    assert gpu.log == [("destroyed", 0), "freed"]


def test_new_results_are_not_kept(cupy, gpu, index, queries):
    """The pool that they come from keeps the order of the stream."""
    gpu.busy = True
    nearest = ivf_flat.prepare(PARAMS, index, CupyArray(queries), 3)
    given = CupyArray(queries)
    nearest(given)
    gpu.log.clear()
    results = [weakref.ref(one) for one in nearest(given)]
    assert [one() for one in results] == [None, None]
    assert gpu.log == [("empty", 0), ("empty", 0), ("run", 0)]
    neighbors, distances = buffers()
    alive = [weakref.ref(one) for one in (neighbors, distances)]
    nearest(given, neighbors=neighbors)
    nearest(given, distances=distances)
    del neighbors, distances
    assert all(one() is not None for one in alive)


def test_memory_that_comes_again_is_not_taken_for_what_was_there(cupy, gpu, index, queries):
    """Addresses say that memory is the same only while something keeps it."""
    nearest = ivf_flat.prepare(PARAMS, index, CupyArray(queries), 3)
    given = (DeviceArray(queries), DeviceArray(np.zeros((5, 3), np.int64)), DeviceArray(np.zeros((5, 3), np.float32)))
    nearest(*given)
    # An object that can be pointed elsewhere keeps no memory: it is held anew in every call.
    gpu.log.clear()
    nearest(*given)
    assert gpu.log == [("run", 0), ("record", 0)]
    other = CupyArray(vectors(5, DIMS, "float32", 9))
    expected = ivf_flat.search(PARAMS, index, other.array, 3)
    same = CupyArray(queries)
    nearest(same, *buffers())
    same.array, same.data = other.array, other.data
    assert_equal(nearest(same, *buffers()), expected)


def test_arrays_are_held_if_a_run_fails_half_way(cupy, gpu, index, queries, monkeypatch):
    nearest = ivf_flat.prepare(PARAMS, index, CupyArray(queries), 3)
    gpu.busy = True

    def fail(*arguments):
        raise UnavailableError("the stream is dead")

    monkeypatch.setattr(nearest._running.core, "run", fail)
    given = CupyArray(queries.copy())
    alive = weakref.ref(given)
    with pytest.raises(UnavailableError, match=r"^the stream is dead$"):
        nearest(given)
    del given
    gc.collect()
    assert alive() is not None


def test_closed_by_another_thread(cupy, gpu, index, queries, monkeypatch):
    """The run that is under way ends, and its arrays live until it is done."""
    nearest = ivf_flat.prepare(PARAMS, index, CupyArray(queries), 3)
    gpu.busy = True
    run = fake_gpu.Prepared.run

    def run_and_close(self, *arguments):
        run(self, *arguments)
        nearest.close()

    monkeypatch.setattr(fake_gpu.Prepared, "run", run_and_close)
    arrays = (CupyArray(queries.copy()), *buffers())
    alive = [weakref.ref(one, lambda _: gpu.log.append("freed")) for one in arrays]
    gpu.log.clear()
    nearest(*arrays)
    assert gpu.log == [("run", 0), ("destroyed", 0)]  # By the end of the call.
    del arrays
    assert [one() for one in alive] == [None] * 3
    with pytest.raises(ArgumentError) as caught:
        nearest(CupyArray(queries))
    assert str(caught.value) == "the prepared search is closed; prepare another"


def test_host_queries_for_a_device_are_refused(gpu, index, queries):
    with pytest.raises(DeviceError) as caught:
        ivf_flat.prepare(PARAMS, index, queries, 3, Resources(device="cuda"))
    assert str(caught.value) == (
        "argument 'queries' is on the CPU and resources ask for cuda:0; a prepared search reads queries where they "
        "are: give an array on the device, or call search()"
    )
