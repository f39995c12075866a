# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Prepared searches on the CPU; arrays/test_prepared_on_device.py has streams and lifetimes, test_gpu_prepared.py a real GPU."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from annudf import ArgumentError, DeviceError, DtypeError, PackedBits, Resources, filters, ivf_flat
from reference import DTYPES, vectors

DIMS, K = 8, 3
W = np.linspace(0.5, 2, DIMS, dtype=np.float32)
PARAMS = ivf_flat.SearchParams(n_probes=2)


@ivf_flat.metric(captures={"w": W})
def weighted(x, y, acc, ctx):
    return acc + ctx.w[ctx.dim] * (x - y) * (x - y)


@pytest.fixture
def index():
    return ivf_flat.build(ivf_flat.IndexParams(n_lists=4), vectors(100, DIMS, "float32", 1))


@pytest.fixture
def queries():
    return vectors(5, DIMS, "float32", 2)


def buffers(rows=5, k=K):
    return np.full((rows, k), -7, np.int64), np.full((rows, k), -7, np.float32)


def assert_equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", DTYPES)
def test_finds_what_a_search_finds(dtype):
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), vectors(100, DIMS, dtype, 1))
    params = ivf_flat.SearchParams(n_probes=2, metric=weighted)
    nearest = ivf_flat.prepare(params, index, vectors(5, DIMS, dtype, 0), K)
    for seed in (2, 3, 2):
        queries = vectors(5, DIMS, dtype, seed)
        expected = ivf_flat.search(params, index, queries, K)
        assert_equal(nearest(queries), expected)
        neighbors, distances = buffers()
        assert nearest(queries, neighbors, distances)[1] is neighbors
        assert_equal((distances, neighbors), expected)
        neighbors, distances = buffers()
        assert_equal(nearest(queries, distances=distances), expected)
        assert_equal(nearest(queries, neighbors=neighbors), expected)
        assert_equal((distances, neighbors), expected)


def test_all_that_a_search_takes(index, queries):
    nearest = ivf_flat.prepare(PARAMS, index, queries, K)
    expected = ivf_flat.search(PARAMS, index, queries, K)
    wide = np.zeros((5, 2 * DIMS), np.float32)
    wide[:, ::2] = queries
    unaligned = np.frombuffer(b"\0" + queries.tobytes(), np.uint8)[1:].view(np.float32).reshape(5, DIMS)
    masked = np.ma.masked_array(queries, np.zeros(queries.shape, bool))
    for given in (wide[:, ::2], np.asfortranarray(queries), unaligned, masked, memoryview(queries)):
        assert_equal(nearest(given), expected)
    # Another type of element than the index's.
    narrow = queries.astype(np.float16)
    by_half = ivf_flat.prepare(PARAMS, index, narrow, K)
    assert_equal(by_half(narrow), ivf_flat.search(PARAMS, index, narrow, K))


def test_bfloat16(index):
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    queries = vectors(5, DIMS, "float32", 2).astype(bfloat16)
    nearest = ivf_flat.prepare(PARAMS, index, queries, K)
    assert nearest._queries_at(queries) != 0
    assert_equal(nearest(queries), ivf_flat.search(PARAMS, index, queries, K))


def test_bits():
    truths = np.random.default_rng(5).random((200, 16)) < 0.5
    packed = np.packbits(truths, axis=1, bitorder="little")
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), PackedBits(packed))
    params = ivf_flat.SearchParams(n_probes=4, metric="bitwise_hamming")
    expected = ivf_flat.search(params, index, packed[:2], K)
    for like in (PackedBits(packed[5:7]), packed[5:7]):
        nearest = ivf_flat.prepare(params, index, like, K)
        assert repr(nearest).startswith("PreparedSearch(metric='bitwise_hamming', shape=(2, 16), dtype=bits, ")
        for given in (PackedBits(packed[:2]), packed[:2].copy(), PackedBits(truths[:2])):
            assert nearest._queries_at(given) != 0
            assert_equal(nearest(given), expected)
        with pytest.raises(DtypeError, match=r"^argument 'queries' has dtype float32, it must be annudf.PackedBits"):
            nearest(truths[:2].astype(np.float32))
    # Bytes are no bits where the rows are numbers.
    numbers = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), truths.astype(np.uint8))
    nearest = ivf_flat.prepare(params, numbers, PackedBits(packed[:2]), K)
    assert_equal(nearest(PackedBits(packed[:2])), ivf_flat.search(params, numbers, PackedBits(packed[:2]), K))
    assert nearest._queries_at(packed[:2]) == 0
    with pytest.raises(ArgumentError):
        nearest(packed[:2])


def test_what_it_shows(index, queries):
    params = ivf_flat.SearchParams(n_probes=20, metric=weighted)
    with ivf_flat.prepare(params, index, queries, K) as nearest:
        text = "PreparedSearch(metric='weighted', shape=(5, 8), dtype=float32, device=the CPU, k=3, n_probes=4"
        assert repr(nearest) == text + ")"
        assert (nearest.index, nearest.metric, nearest.closed) == (index, weighted, False)
        assert (nearest.shape, nearest.dtype_name, nearest.k, nearest.n_probes) == ((5, DIMS), "float32", K, 4)
    assert repr(nearest) == text + ", closed)"
    assert nearest.closed
    nearest.close()
    with pytest.raises(ArgumentError) as caught:
        nearest(queries)
    assert str(caught.value) == "the prepared search is closed; prepare another"


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_it_is_neither_copied_nor_pickled(index, queries, duplicate):
    nearest = ivf_flat.prepare(PARAMS, index, queries, K)
    with pytest.raises(TypeError) as caught:
        duplicate(nearest)
    assert str(caught.value) == "a prepared search cannot be copied or pickled; prepare one where it is called"


def test_it_keeps_what_it_needs(queries):
    base = vectors(100, DIMS, "float32", 1)
    weights = W.copy()
    keep = np.arange(100) % 2 == 0

    def make():
        index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), base)
        metric = weighted.bind(w=weights)
        params = ivf_flat.SearchParams(n_probes=4, metric=metric)
        expected = ivf_flat.search(params, index, queries, K, filter=keep)
        return ivf_flat.prepare(params, index, queries, K, filter=keep), expected

    nearest, expected = make()
    weights[:], keep[:] = 0, False
    gc.collect()
    assert_equal(nearest(queries), expected)
    assert (expected[1] % 2 == 0).all()


def test_filters(index, queries):
    limit = np.arange(100, dtype=np.float32)

    @ivf_flat.filter(captures={"value": limit})
    def small(ctx):
        return ctx.value[ctx.row] < 50

    for filter in (filters.from_mask(limit < 50), small, ~small):
        expected = ivf_flat.search(PARAMS, index, queries, K, filter=filter)
        assert_equal(ivf_flat.prepare(PARAMS, index, queries, K, filter=filter)(queries), expected)


def test_values_per_query(index, queries):
    @ivf_flat.metric(captures={"scale": np.arange(1, 6, dtype=np.float32)})
    def scaled(x, y, acc, ctx):
        return acc + ctx.scale[ctx.query] * abs(x - y)

    params = ivf_flat.SearchParams(n_probes=4, metric=scaled)
    expected = ivf_flat.search(params, index, queries, K)
    assert_equal(ivf_flat.prepare(params, index, queries, K)(queries), expected)
    with pytest.raises(ArgumentError, match=r"scale"):
        ivf_flat.prepare(params, index, queries[:2], K)


def test_arrays_that_change_between_calls(index, queries):
    """Nothing of an array is remembered, neither its memory nor its shape."""
    nearest = ivf_flat.prepare(PARAMS, index, queries, K)
    given = queries.copy()
    nearest(given)
    expected = ivf_flat.search(PARAMS, index, np.zeros((5, DIMS), np.float32), K)
    given.resize((50_000, DIMS), refcheck=False)  # Other memory.
    given.resize((5, DIMS), refcheck=False)
    given[:] = 0
    assert_equal(nearest(given), expected)
    given.shape = (DIMS, 5)
    with pytest.raises(ArgumentError, match=r"^argument 'queries' has vectors of 5 dimensions, the index has 8$"):
        nearest(given)
    neighbors, distances = buffers()
    nearest(queries, neighbors, distances)
    neighbors.flags.writeable = False
    with pytest.raises(ArgumentError, match=r"^argument 'neighbors' is read-only; give an array that can be written$"):
        nearest(queries, neighbors, distances)


def test_no_array_is_kept(index, queries):
    nearest = ivf_flat.prepare(PARAMS, index, queries, K)
    given, results = queries.copy(), buffers()
    alive = [weakref.ref(one) for one in (given, *results)]
    nearest(given, *results)
    del given, results
    assert [one() for one in alive] == [None] * 3


GOOD = np.zeros((5, DIMS), np.float32)
BOTH = np.zeros(200, np.float32)
REFUSED = [
    ((GOOD[:2],), ArgumentError, "argument 'queries' has 2 rows, the search is prepared for 5"),
    ((GOOD[:, :4],), ArgumentError, "argument 'queries' has vectors of 4 dimensions, the index has 8"),
    (
        (GOOD[0],),
        ArgumentError,
        "argument 'queries' has shape (8,), it must have two dimensions; one vector is .reshape(1, -1)",
    ),
    (
        (GOOD.astype(np.float16),),
        DtypeError,
        "argument 'queries' has dtype float16, it must be float32; convert by .astype(numpy.float32)",
    ),
    (
        (GOOD.astype(">f4"),),
        DtypeError,
        "argument 'queries' has dtype >f4, which is not in this machine's byte order; convert by "
        ".astype(numpy.float32)",
    ),
    ((None,), ArgumentError, "argument 'queries' is None; give an array"),
    (
        (GOOD, np.zeros((5, 4), np.int64)),
        ArgumentError,
        "argument 'neighbors' has shape (5, 4), it must be (5, 3)",
    ),
    (
        (GOOD, None, np.zeros((5, 3))),
        DtypeError,
        "argument 'distances' has dtype float64, it must be float32; convert by .astype(numpy.float32)",
    ),
    (
        (GOOD, [[0] * 3] * 5),
        ArgumentError,
        "argument 'neighbors' is a list; results can only be written to an array",
    ),
    (
        (BOTH[:40].reshape(5, 8), None, BOTH[30:45].reshape(5, 3)),
        ArgumentError,
        "arguments 'distances' and 'queries' share memory; give another array",
    ),
    (
        (GOOD, BOTH[10:40].view(np.int64).reshape(5, 3), BOTH[30:45].reshape(5, 3)),
        ArgumentError,
        "arguments 'distances' and 'neighbors' share memory; give two arrays",
    ),
    ((GOOD + np.inf,), ArgumentError, "queries: row 0, dim 0 is inf; every coordinate must be finite"),
]


@pytest.mark.parametrize(("arguments", "kind", "message"), REFUSED)
def test_refused(index, arguments, kind, message):
    nearest = ivf_flat.prepare(PARAMS, index, GOOD, K)
    with pytest.raises(kind) as caught:
        nearest(*arguments)
    assert str(caught.value) == message
    assert_equal(nearest(GOOD), ivf_flat.search(PARAMS, index, GOOD, K))


def test_preparing_is_refused(index, queries):
    for arguments, kind, message in (
        ((None, index, queries, K), ArgumentError, "search_params is a NoneType, it must be an ivf_flat.SearchParams"),
        (
            (PARAMS, 5, queries, K),
            ArgumentError,
            "index is an int, it must be an ivf_flat.Index, made by build() or load()",
        ),
        (
            (PARAMS, index, queries[:0], K),
            ArgumentError,
            "argument 'queries' has shape (0, 8): no rows; give at least one",
        ),
        ((PARAMS, index, queries, 101), ArgumentError, "k is 101, but the index has 100 rows"),
        (
            (PARAMS, index, queries, K, Resources(stream=5)),
            DeviceError,
            "argument 'queries' is on the CPU and resources name a CUDA stream; give a device array, or "
            "Resources(device='cuda', ...) to copy it there",
        ),
    ):
        with pytest.raises(kind) as caught:
            ivf_flat.prepare(*arguments)
        assert str(caught.value) == message


def test_an_index_that_changed_is_refused(index, queries):
    message = "the index has changed since the search was prepared; prepare it again"
    for change in (lambda: ivf_flat.extend(index, queries), lambda: ivf_flat.remove(index, [3])):
        nearest = ivf_flat.prepare(PARAMS, index, queries, K)
        nearest(queries)
        change()
        neighbors, distances = buffers()
        with pytest.raises(ArgumentError) as caught:
            nearest(queries, neighbors, distances)
        assert str(caught.value) == message
        assert (neighbors == -7).all()
        again = ivf_flat.prepare(PARAMS, index, queries, K)
        assert_equal(again(queries), ivf_flat.search(PARAMS, index, queries, K))


@pytest.mark.parametrize("order", ["C", "F"])
def test_statistics(index, queries, order):
    """Those of a search, but for what is timed and what a prepared search does not count."""
    params = ivf_flat.SearchParams(n_probes=9, metric=weighted)
    some = filters.from_mask(np.arange(100) < 2)
    *expected, of_search = ivf_flat.search(params, index, queries, K, filter=some, return_stats=True)
    nearest = ivf_flat.prepare(params, index, queries, K, filter=some)
    *found, stats = nearest(np.asarray(queries, order=order), return_stats=True)
    assert_equal(found, expected)
    assert stats.search_ms > 0
    same = {"rows_per_query": None, "evaluated_per_query": None, "search_ms": stats.search_ms, "link_ms": 0.0}
    assert stats == replace(of_search, **same)
    assert (stats.n_probes, stats.n_probes_asked, stats.n_missing, stats.scored) == (4, 9, 5, 10)
    with pytest.raises(ArgumentError, match=r"^return_stats is 1, it must be True or False$"):
        nearest(queries, return_stats=1)


def test_threads(index):
    """One search for all, while one of them closes another."""
    many = [vectors(5, DIMS, "float32", seed) for seed in range(8)]
    expected = [ivf_flat.search(PARAMS, index, one, K) for one in many]
    nearest = ivf_flat.prepare(PARAMS, index, many[0], K)
    start = threading.Barrier(8)

    def work(number):
        start.wait()
        closing = ivf_flat.prepare(PARAMS, index, many[0], K)
        for _ in range(200):
            assert_equal(nearest(many[number]), expected[number])
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(closing.close)
            try:
                while True:
                    assert_equal(closing(many[number]), expected[number])
            except ArgumentError as error:
                assert str(error) == "the prepared search is closed; prepare another"
            done.result()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))


def test_tensors(index, queries):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    expected = ivf_flat.search(PARAMS, index, queries, K)
    nearest = ivf_flat.prepare(PARAMS, index, torch.from_numpy(queries), K)
    given = torch.from_numpy(queries)
    assert nearest._queries_at(given) == queries.ctypes.data
    found = nearest(given)
    assert isinstance(found[0], torch.Tensor)
    assert_equal([one.numpy() for one in found], expected)
    assert_equal(nearest(queries), expected)
    negative = torch.view_as_complex(torch.stack([given, -given], -1)).conj().imag
    assert negative.is_neg()
    assert nearest._queries_at(negative.clone()) in (0, negative.clone().data_ptr())
    assert_equal([one.numpy() for one in nearest(negative)], expected)
    with pytest.raises(
        ArgumentError,
        match=r"^argument 'distances' requires a gradient; give a tensor without one, such as \.detach\(\)$",
    ):
        nearest(given, distances=torch.zeros(5, K, requires_grad=True))
