# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A real GPU: arrays of every library, streams of the user's, lifetimes, threads, several devices.

Needs a driver and a device; the tests of a library that is not installed are skipped with its name.
"""

from __future__ import annotations

import gc
import importlib.util
import logging
import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import annudf
from annudf import ArgumentError, DeviceError, DtypeError, Resources, brute_force, ivf_flat
from annudf._devices import backends
from annudf._metric.recorded import TextDefinition
from gpu_libraries import Cupy, Torch
from reference import DTYPES, check, distances_of, vectors

pytestmark = pytest.mark.gpu

DIMS = 24
W = np.linspace(0.5, 2, DIMS, dtype=np.float32)


TEXT = """
annudf.metric @{name} order(min) coarse(l2) elements({elements}) {{
  {capture}
  annudf.init {{
    %zero = arith.constant {zero} : {type}
    annudf.yield %zero : {type}
  }}
  annudf.update (%acc: {type}, %x: {type}, %y: {type}) {{
    {body}
    annudf.yield %next : {type}
  }}
}}
"""


def make_metrics():
    """Weighted squares and an integer metric; as text where there is no numba-cuda-mlir, e.g. on a bare GPU host."""
    if importlib.util.find_spec("numba_cuda_mlir") is not None:

        @ivf_flat.metric(order="min", initial=0.0, coarse_metric="sqeuclidean", captures={"weights": W})
        def weighted_l2(x, y, acc, ctx):
            d = x - y
            return acc + ctx.weights[ctx.dim] * d * d

        @ivf_flat.metric(dtype="int32")
        def manhattan(x, y, acc, ctx):
            return acc + abs(x - y)

        return weighted_l2, manhattan
    weighted = TEXT.format(
        name="weighted_l2",
        elements="f32, f16, i8, u8",
        capture='%w = annudf.capture "weights" : !annudf.capture<dim x f32>',
        zero="0.0",
        type="f32",
        body="%dim = annudf.index dim\n%v = annudf.load %w[%dim] : !annudf.capture<dim x f32>\n"
        "%d = arith.subf %x, %y : f32\n%s = arith.mulf %d, %d : f32\n%next = math.fma %v, %s, %acc : f32",
    )
    absolute = TEXT.format(
        name="manhattan",
        elements="i8, u8",
        capture="",
        zero="0",
        type="i32",
        body="%d = arith.subi %x, %y : i32\n%a = math.absi %d : i32\n%next = arith.addi %acc, %a : i32",
    )
    made = [ivf_flat.Metric(TextDefinition(text, "test_gpu.py"), {}) for text in (weighted, absolute)]
    return made[0].bind(weights=W), made[1]


weighted_l2, manhattan = make_metrics()
PARAMS = ivf_flat.SearchParams(n_probes=16, metric=weighted_l2)


@pytest.fixture(scope="module")
def index():
    return ivf_flat.build(ivf_flat.IndexParams(n_lists=16), vectors(2000, DIMS, "float32", 1))


@pytest.fixture(scope="module")
def queries():
    return vectors(50, DIMS, "float32", 2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_against_brute_force(library, dtype):
    base, queries = vectors(1500, DIMS, dtype, 1), vectors(40, DIMS, dtype, 2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=16), library.put(base))
    result = ivf_flat.search(PARAMS, index, library.put(queries), 10)
    exact = distances_of(lambda x, y: W * (x - y) ** 2, queries, base)
    check(*map(library.get, result), exact)
    if np.dtype(dtype).kind != "f":
        params = ivf_flat.SearchParams(n_probes=16, metric=manhattan)
        distances = library.get(ivf_flat.search(params, index, library.put(queries), 10)[0])
        exact = distances_of(lambda x, y: abs(x - y), queries, base)
        np.testing.assert_array_equal(distances, np.sort(exact, axis=1)[:, :10])
    more = vectors(5, DIMS, dtype, 3)
    ivf_flat.extend(index, library.put(more), library.put(np.arange(9000, 9005)))
    found = ivf_flat.search(ivf_flat.SearchParams(n_probes=16), index, library.put(more), 1)[1]
    assert library.get(found)[:, 0].tolist() == [9000, 9001, 9002, 9003, 9004]
    # What is on the device follows.
    assert ivf_flat.remove(index, library.put(np.array([9000, 9003, 9000, 8999]))) == 2
    found = ivf_flat.search(ivf_flat.SearchParams(n_probes=16), index, library.put(more), 1)[1]
    gone = library.get(found)[:, 0]
    assert gone[[1, 2, 4]].tolist() == [9001, 9002, 9004]
    assert not np.isin(gone, [9000, 9003]).any()


@pytest.mark.parametrize("metric", ["sqeuclidean", "inner_product", "cosine"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint8"])
def test_built_on_the_device(library, dtype, metric, caplog):
    base, queries = vectors(3000, DIMS, dtype, 1), vectors(20, DIMS, dtype, 2)
    params = ivf_flat.IndexParams(n_lists=20, metric=metric)
    search = ivf_flat.SearchParams(n_probes=20)
    host = ivf_flat.search(search, ivf_flat.build(params, base), queries, 10)
    with caplog.at_level(logging.DEBUG, logger="annudf"):
        index = ivf_flat.build(params, library.put(base))
    assert re.search(r"index of 3000 vectors built on cuda:0: \S+ ms training", caplog.text)
    assert len(index) == 3000
    result = ivf_flat.search(search, index, library.put(queries), 10)
    np.testing.assert_allclose(library.get(result[0]), host[0], rtol=1e-3, atol=1e-3)
    # The same lists on the host; another build gives the same bytes, and so does an array that was copied there.
    np.testing.assert_allclose(ivf_flat.search(search, index, queries, 10)[0], host[0], rtol=1e-5, atol=1e-5)
    # With less memory it goes there in pieces.
    place = Resources(device="cuda")
    again = ivf_flat.build(params, base, place)
    assert pickle.dumps(again) == pickle.dumps(index)
    caplog.clear()
    with caplog.at_level(logging.DEBUG, logger="annudf"):
        limited = ivf_flat.build(params, base, place, device_memory_limit=700_000)
    pieces = re.search(r"copying, (\d+) pieces, lists on the (device|host)", caplog.text)
    # k-means has room for all rows of smaller elements.
    assert pieces and (dtype != "float32" or int(pieces[1]) > 1)
    assert pickle.dumps(limited) == pickle.dumps(index)
    with pytest.raises(ArgumentError, match="device_memory_limit is 1000 bytes; k-means of "):
        ivf_flat.build(params, base, place, device_memory_limit=1000)
    # Rows join the lists where these are, as they would on the host.
    more = vectors(500, DIMS, dtype, 3)
    assert again._core.device == 0
    ivf_flat.extend(again, library.put(more[:200]))
    ivf_flat.extend(again, more[200:], np.arange(9000, 9300))
    assert again._core.device == 0
    assert index._core.device == 0
    on_host = pickle.loads(pickle.dumps(index))
    assert on_host._core.device == -1
    ivf_flat.extend(on_host, more[:200])
    ivf_flat.extend(on_host, library.put(more[200:]), np.arange(9000, 9300))
    assert on_host._core.device == -1
    assert pickle.dumps(again) == pickle.dumps(on_host)
    # So do rows leave them.
    for gone in (np.arange(0, 3000, 3), [9299, 9299, 12345], np.arange(1500, 3400)):
        expected = ivf_flat.remove(on_host, np.asarray(gone))
        assert ivf_flat.remove(again, library.put(np.asarray(gone))) == expected > 0
        assert again._core.device == 0
        assert len(again) == len(on_host)
    assert again._core.device == 0
    assert pickle.dumps(again) == pickle.dumps(on_host)
    assert ivf_flat.remove(again, np.array([1]), Resources(device="cpu")) == 1
    assert again._core.device == -1
    assert ivf_flat.remove(index, np.arange(2999)) == 2999
    assert index._core.device == 0
    found = ivf_flat.search(search, index, library.put(queries), 1)[1]
    assert library.get(found)[:, 0].tolist() == [2999] * 20
    assert ivf_flat.remove(index, [2999]) == 1
    assert index._core.device == -1
    ivf_flat.extend(index, base[:50], np.arange(50))
    assert len(index) == 50


@pytest.mark.parametrize("metric", ["sqeuclidean", "inner_product"])
def test_searched_by_matrix_products_between_removes(library, metric):
    """Rows that were kept in half precision are not those of the lists that are left."""
    base, queries = vectors(6000, DIMS, "float32", 1), vectors(500, DIMS, "float32", 2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=20, metric=metric), base, Resources(device="cuda"))
    on_host = pickle.loads(pickle.dumps(index))
    search = ivf_flat.SearchParams(n_probes=20, metric=metric)
    for _ in range(3):
        for _ in range(3):  # They are kept from the second search on.
            expected = ivf_flat.search(search, on_host, queries, 10)
            found = ivf_flat.search(search, index, library.put(queries), 10)
            np.testing.assert_allclose(library.get(found[0]), expected[0], rtol=1e-5, atol=1e-5)
            assert (library.get(found[1]) == expected[1]).mean() > 0.99
        gone = np.unique(expected[1])[::3]
        assert ivf_flat.remove(index, library.put(gone)) == ivf_flat.remove(on_host, gone) == len(gone)
        assert index._core.device == 0
        assert on_host._core.device == -1


def test_missing_values_and_adaptive_centers_stay_on_the_device(library, caplog):
    base = vectors(800, DIMS, "float32", 1)
    base[::3, 1] = np.nan
    params = ivf_flat.IndexParams(n_lists=5, adaptive_centers=True, missing_values=True)
    with caplog.at_level(logging.DEBUG, logger="annudf"):
        index = ivf_flat.build(params, library.put(base[:500]))
    assert "lists on the device" in caplog.text
    on_host = pickle.loads(pickle.dumps(index))
    for some in (index, on_host):
        ivf_flat.extend(some, library.put(base[500:]) if some is index else base[500:])
        ivf_flat.remove(some, np.arange(0, 800, 7))
    assert (index._core.device, on_host._core.device) == (0, -1)
    assert pickle.dumps(index) == pickle.dumps(on_host)


def test_exact_search_of_device_rows(library, queries):
    """The store stays there, whoever numbers its rows, and finds what one of the host finds."""
    base = vectors(5000, DIMS, "float32", 1)
    for ids in (None, np.arange(5000)[::-1] * 3):
        expected = brute_force.knn(base, queries, 10, ids=ids)
        index = brute_force.build(library.put(base), ids=ids)
        assert index._index._core.device == 0
        for rows in (library.put(base), base):  # Those of the host go there piece by piece.
            asked = library.put(queries)
            for found in (brute_force.search(index, asked, 10), brute_force.knn(rows, asked, 10, ids=ids)):
                np.testing.assert_array_equal(library.get(found[1]), expected[1])
                np.testing.assert_allclose(library.get(found[0]), expected[0], rtol=1e-5)
        there = brute_force.build(base, ids=ids, resources=Resources(device="cuda:0"))
        assert there._index._core.device == 0
        assert pickle.dumps(there._index) == pickle.dumps(index._index)
        # On the CPU, which copies them, too.
        np.testing.assert_array_equal(brute_force.search(there, queries, 10)[1], expected[1])


@pytest.mark.parametrize("metric", ["sqeuclidean", "euclidean", "inner_product"])
def test_built_in_metrics_as_on_the_cpu(library, index, queries, metric):
    params = ivf_flat.SearchParams(n_probes=16, metric=metric)
    expected = ivf_flat.search(params, index, queries, 10)
    result = ivf_flat.search(params, index, library.put(queries), 10)
    np.testing.assert_allclose(library.get(result[0]), expected[0], rtol=1e-5, atol=1e-5)
    assert (library.get(result[1]) == expected[1]).mean() > 0.99


def test_host_arrays_on_the_gpu(index, queries):
    expected = ivf_flat.search(PARAMS, index, queries, 10)
    result = ivf_flat.search(PARAMS, index, queries, 10, resources=Resources(device="cuda"))
    assert isinstance(result[0], np.ndarray)
    np.testing.assert_allclose(result[0], expected[0], rtol=1e-5)


def test_last_bits_of_a_distance():
    """A sum of two products: neither the batch, so the kernel, nor the device decides what is fused."""
    body = """%xx = arith.mulf %x, %x : f32
    %yy = arith.mulf %y, %y : f32
    %sum = arith.addf %xx, %yy : f32
    %next = arith.addf %acc, %sum : f32"""
    text = TEXT.format(name="two", elements="f32", capture="", zero="0.0", type="f32", body=body)
    metric = ivf_flat.Metric(TextDefinition(text, "test_gpu.py"), {})
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=8), vectors(3000, DIMS, "float32", 3))
    queries = vectors(600, DIMS, "float32", 4)
    params = ivf_flat.SearchParams(n_probes=8, metric=metric)

    def search(batch, device="cuda"):
        parts = [
            ivf_flat.search(params, index, queries[at : at + batch], 10, resources=Resources(device=device))
            for at in range(0, 600, batch)
        ]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    expected = search(600, "cpu")
    for batch in (1, 20, 600):
        found = search(batch)
        np.testing.assert_array_equal(found[0], expected[0], err_msg=f"batches of {batch}")
        np.testing.assert_array_equal(found[1], expected[1], err_msg=f"batches of {batch}")


def test_filters_of_code(library, queries):
    """Against the same mask as bits: with ids that are all below the number of rows, and with gaps."""
    pytest.importorskip("numba_cuda_mlir")
    price = np.random.default_rng(8).uniform(0, 100, 10_001).astype(np.float32)

    @ivf_flat.filter(captures={"price": price, "most": 30.0})
    def affordable(ctx):
        return ctx.price[ctx.row] <= ctx.most and ctx.row % 7 != 0

    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=16), vectors(2000, DIMS, "float32", 1))
    params = ivf_flat.SearchParams(n_probes=16)
    mask = (price <= 30) & (np.arange(10_001) % 7 != 0)
    for added in (None, np.array([5000, 7001, 7007, 10_000])):
        if added is not None:
            ivf_flat.extend(index, queries[:4], added)
        for chosen, array in ((affordable, mask), (~affordable, ~mask), (affordable.bind(most=-1.0), mask & False)):
            expected = ivf_flat.search(params, index, queries, 10, filter=array)
            result = ivf_flat.search(params, index, library.put(queries), 10, filter=chosen)
            np.testing.assert_array_equal(library.get(result[1]), expected[1])
            np.testing.assert_allclose(library.get(result[0]), expected[0], rtol=1e-5, atol=1e-5)


def test_buffers(library, index, queries):
    distances, neighbors = library.empty((50, 10), "float32"), library.empty((50, 10), "int64")
    result = ivf_flat.search(PARAMS, index, library.put(queries), 10, neighbors, distances)
    assert result[0] is distances
    assert result[1] is neighbors
    check(library.get(distances), library.get(neighbors), exact_of(queries))


def exact_of(queries):
    return distances_of(lambda x, y: W * (x - y) ** 2, queries, vectors(2000, DIMS, "float32", 1))


def test_the_users_stream(with_streams, index, queries):
    """Work of the user before and after the search, on his stream, is in order without anyone waiting."""
    expected = ivf_flat.search(PARAMS, index, with_streams.put(queries), 10)
    stream = with_streams.stream()
    for _ in range(5):
        with stream:
            given = with_streams.put(np.zeros_like(queries))
            with_streams.delay(given)
            given += with_streams.put(queries)
            distances, neighbors = ivf_flat.search(PARAMS, index, given, 10)
            given *= 0  # After the search, which must not see it.
            copy = distances + 0
        stream.synchronize()
        np.testing.assert_array_equal(with_streams.get(neighbors), with_streams.get(expected[1]))
        np.testing.assert_array_equal(with_streams.get(copy), with_streams.get(expected[0]))


def test_a_stream_by_resources(with_streams, index, queries):
    expected = ivf_flat.search(PARAMS, index, with_streams.put(queries), 10)
    stream = with_streams.stream()
    for stream_argument in (stream.ptr, stream if isinstance(with_streams, Cupy) else stream.stream):
        resources = Resources(stream=stream_argument)
        given = with_streams.put(np.zeros_like(queries))
        # Written late on the current stream; the search on the other one has to come after.
        with_streams.delay(given)
        given += with_streams.put(queries)
        result = ivf_flat.search(PARAMS, index, given, 10, resources=resources)
        resources.sync()
        for one, two in zip(result, expected, strict=True):
            np.testing.assert_array_equal(with_streams.get(one), with_streams.get(two))


def test_arrays_are_held(with_streams, index, queries):
    """Arrays that are dropped at once are not reused before the search has read them."""
    expected = [with_streams.get(one) for one in ivf_flat.search(PARAMS, index, with_streams.put(queries), 10)]
    stream = with_streams.stream()
    results = []
    for _ in range(30):
        given = with_streams.put(queries)
        results.append(ivf_flat.search(PARAMS, index, given, 10, resources=Resources(stream=stream.ptr)))
        del given
        with_streams.put(np.full_like(queries, 1e6))
    stream.synchronize()
    gc.collect()
    assert backends.release_done() == 0
    for distances, neighbors in results:
        np.testing.assert_array_equal(with_streams.get(distances), expected[0])
        np.testing.assert_array_equal(with_streams.get(neighbors), expected[1])


def test_not_contiguous(with_streams, index, queries):
    given = with_streams.noncontiguous(queries)
    check(*map(with_streams.get, ivf_flat.search(PARAMS, index, given, 10)), exact_of(queries))


def test_captures_on_the_device(library, index, queries):
    metric = weighted_l2.bind(weights=library.put(W[::-1].copy()))
    params = ivf_flat.SearchParams(n_probes=16, metric=metric)
    exact = distances_of(lambda x, y: W[::-1] * (x - y) ** 2, queries, vectors(2000, DIMS, "float32", 1))
    check(*map(library.get, ivf_flat.search(params, index, library.put(queries), 10)), exact)


def test_refused(library, index, queries):
    given = library.put(queries)
    with pytest.raises(DeviceError, match=r"argument 'distances' is on the CPU, the queries are on cuda:0"):
        ivf_flat.search(PARAMS, index, given, 10, None, np.zeros((50, 10), np.float32))
    with pytest.raises(DtypeError, match=r"argument 'queries' has dtype float64, it must be float32, float16, int8, "):
        ivf_flat.search(PARAMS, index, library.put(queries.astype(np.float64)), 10)
    with pytest.raises(ArgumentError, match=r"argument 'queries' has vectors of 8 dimensions, the index has 24"):
        ivf_flat.search(PARAMS, index, library.put(queries[:, :8].copy()), 10)


def test_addresses_that_are_no_device_memory(index, queries):
    class Claims:
        def __init__(self, address):
            self.__cuda_array_interface__ = {
                "shape": queries.shape,
                "typestr": "<f4",
                "data": (address, False),
                "version": 3,
                "stream": None,
            }

    array = annudf.device_ndarray(queries)
    ivf_flat.search(PARAMS, index, Claims(array.__cuda_array_interface__["data"][0]), 10)
    for address in (queries.ctypes.data, 0x1000):
        with pytest.raises(DeviceError, match=r"argument 'queries' says it is on a GPU, but the driver knows no"):
            ivf_flat.search(PARAMS, index, Claims(address), 10)


def test_dlpack_of_device_ndarray(with_streams, queries):
    array = annudf.device_ndarray(queries)
    module = with_streams.module
    taken = module.from_dlpack(array)
    np.testing.assert_array_equal(with_streams.get(taken), queries)
    del array
    gc.collect()
    np.testing.assert_array_equal(with_streams.get(taken + 0), queries)


def test_results_of_plain_arrays_are_taken_by_others(with_streams, index, queries):
    distances, _ = ivf_flat.search(PARAMS, index, annudf.device_ndarray(queries), 10)
    module = with_streams.module
    taken = module.asarray(distances, device="cuda") if isinstance(with_streams, Torch) else module.asarray(distances)
    np.testing.assert_array_equal(with_streams.get(taken), distances.copy_to_host())


def test_threads(with_streams, index, queries):
    expected = [with_streams.get(one) for one in ivf_flat.search(PARAMS, index, with_streams.put(queries), 10)]
    barrier = threading.Barrier(8)

    def work(number):
        stream = with_streams.stream()
        barrier.wait()
        with stream:
            for step in range(10):
                metric = weighted_l2.bind(weights=W * (number + step + 1))
                params = ivf_flat.SearchParams(n_probes=16, metric=metric)
                distances, _ = ivf_flat.search(params, index, with_streams.put(queries), 10)
                stream.synchronize()
                np.testing.assert_allclose(
                    with_streams.get(distances), expected[0] * (number + step + 1), rtol=1e-4, atol=1e-5
                )

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))


def test_nearest_neighbors(with_streams, queries):
    from annudf.neighbors import NearestNeighbors

    base = vectors(2000, DIMS, "float32", 1)
    model = NearestNeighbors(4, metric=weighted_l2, n_probes=45).fit(with_streams.put(base))
    check(*map(with_streams.get, model.kneighbors(with_streams.put(queries))), exact_of(queries))
    neighbors = with_streams.get(model.kneighbors(n_neighbors=3, return_distance=False))
    assert not (neighbors == np.arange(2000)[:, None]).any()


SHARED = """
template <typename T, typename AccT, int Veclen>
__device__ void compute_dist_udf_impl(AccT& acc, AccT x, AccT y) {
  auto d = x - y;
  acc += d * d;
}
"""


def test_cuda_source(library, index, queries):
    from annudf import _core

    found = _core.describe_environment()
    if not found["nvrtc_found"]:
        pytest.skip(f"no NVRTC: {found['nvrtc']}")
    metric = ivf_flat.cuda_source_metric(SHARED, elements=["float32"])
    params = ivf_flat.SearchParams(n_probes=16, metric=metric)
    exact = distances_of(lambda x, y: (x - y) ** 2, queries, vectors(2000, DIMS, "float32", 1))
    check(*map(library.get, ivf_flat.search(params, index, library.put(queries), 10)), exact)


def test_two_devices(index, queries):
    from annudf import _core

    if len(_core.describe_environment()["devices"]) < 2:
        pytest.skip("there is only one GPU")
    on_one = annudf.device_ndarray(queries, device=1)
    distances, neighbors = ivf_flat.search(PARAMS, index, on_one, 10)
    assert distances.__dlpack_device__() == (2, 1)
    check(distances.copy_to_host(), neighbors.copy_to_host(), exact_of(queries))
    with pytest.raises(DeviceError, match=r"argument 'distances' is on cuda:0, the queries are on cuda:1"):
        ivf_flat.search(PARAMS, index, on_one, 10, None, annudf.device_ndarray.empty((50, 10)))
