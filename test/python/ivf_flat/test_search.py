# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Searches on the CPU against brute force."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

import annudf
from annudf import ArgumentError, CaptureError, DeviceError, DtypeError, Resources, ivf_flat, metrics
from annudf._metric.recorded import TextDefinition
from reference import DTYPES, check, distances_of, vectors

DIMS = 19
WEIGHTS = np.linspace(0.25, 2.0, DIMS, dtype=np.float32)
TERMS = {
    "sqeuclidean": lambda x, y: (x - y) ** 2,
    "euclidean": lambda x, y: (x - y) ** 2,
    "inner_product": lambda x, y: x * y,
}


@ivf_flat.metric(order="min", initial=0.0, coarse_metric="sqeuclidean", captures={"weights": WEIGHTS})
def weighted_l2(x, y, acc, ctx):
    d = x - y
    return acc + ctx.weights[ctx.dim] * d * d


@ivf_flat.metric(order="max", coarse_metric="inner_product")
def product(x, y, acc, ctx):
    return acc + x * y


def root(acc, ctx):
    return acc ** (1.0 / ctx.p)


@ivf_flat.metric(captures={"p": 3.0}, finalize=root)
def minkowski(x, y, acc, ctx):
    return acc + abs(x - y) ** ctx.p


@ivf_flat.metric(initial=-np.inf)
class Chebyshev:
    def update(x, y, acc, ctx):
        return max(acc, abs(x - y))

    def finalize(acc, ctx):
        return acc + 1.0


@pytest.fixture(scope="module", params=DTYPES)
def data(request):
    base = vectors(700, DIMS, request.param, 1)
    queries = vectors(23, DIMS, request.param, 2)
    return base, queries


@pytest.fixture(scope="module")
def indexes(data):
    base, _ = data
    return {name: ivf_flat.build(ivf_flat.IndexParams(n_lists=16, metric=name), base, progress=False) for name in TERMS}


EVERY_LIST = ivf_flat.SearchParams(n_probes=16)
GOOD = np.zeros((2, 8), np.float32)


@pytest.mark.parametrize("name", TERMS)
def test_built_in_metrics(data, indexes, name):
    base, queries = data
    exact = distances_of(TERMS[name], queries, base)
    exact = np.sqrt(exact) if name == "euclidean" else exact
    order = "max" if name == "inner_product" else "min"
    check(*ivf_flat.search(EVERY_LIST, indexes[name], queries, 10), exact, order=order)
    named = ivf_flat.SearchParams(n_probes=16, metric=name)
    check(*ivf_flat.search(named, indexes["sqeuclidean"], queries, 10), exact, order=order)


def test_built_in_metrics_that_no_index_is_clustered_by(data, indexes):
    base, queries = data
    wide_base, wide_queries = base.astype(np.float64), queries.astype(np.float64)
    exact = {
        "l1": distances_of(lambda x, y: abs(x - y), queries, base),
        "chebyshev": abs(wide_queries[:, None] - wide_base[None]).max(axis=2),
    }
    if base.dtype == np.uint8:
        exact["bitwise_hamming"] = np.bitwise_count(queries[:, None] ^ base[None]).sum(axis=2).astype(np.float64)
    for name, distances in exact.items():
        params = ivf_flat.SearchParams(n_probes=16, metric=name)
        check(*ivf_flat.search(params, indexes["sqeuclidean"], queries, 10), distances)
    if base.dtype != np.uint8:
        with pytest.raises(DtypeError, match=rf"metric 'bitwise_hamming' does not accept vectors of {base.dtype}"):
            ivf_flat.search(ivf_flat.SearchParams(metric="bitwise_hamming"), indexes["sqeuclidean"], queries, 10)


def test_weighted(data, indexes):
    base, queries = data
    exact = distances_of(lambda x, y: WEIGHTS * (x - y) ** 2, queries, base)
    params = ivf_flat.SearchParams(n_probes=16, metric=weighted_l2)
    check(*ivf_flat.search(params, indexes["sqeuclidean"], queries, 10), exact)
    other = WEIGHTS[::-1]
    exact = distances_of(lambda x, y: other * (x - y) ** 2, queries, base)
    params = ivf_flat.SearchParams(n_probes=16, metric=weighted_l2.bind(weights=other))
    check(*ivf_flat.search(params, indexes["sqeuclidean"], queries, 10), exact)


def test_order_max(data, indexes):
    base, queries = data
    exact = distances_of(lambda x, y: x * y, queries, base)
    params = ivf_flat.SearchParams(n_probes=16, metric=product)
    check(*ivf_flat.search(params, indexes["inner_product"], queries, 7), exact, order="max")


def test_finalize_and_scalar_capture(data, indexes):
    base, queries = data
    for p in (3.0, 1.5):
        exact = distances_of(lambda x, y, p=p: np.abs(x - y) ** p, queries, base) ** (1 / p)
        params = ivf_flat.SearchParams(n_probes=16, metric=minkowski.bind(p=p))
        check(*ivf_flat.search(params, indexes["sqeuclidean"], queries, 5), exact, rtol=1e-4)


def test_class_form_and_infinite_initial(data, indexes):
    base, queries = data
    exact = np.stack([np.abs(query.astype(float) - base.astype(float)).max(axis=1) for query in queries]) + 1
    params = ivf_flat.SearchParams(n_probes=16, metric=Chebyshev)
    distances, _ = ivf_flat.search(params, indexes["sqeuclidean"], queries, 5)
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :5], rtol=1e-5)


def test_integer_metric_is_exact():
    @ivf_flat.metric(dtype="int32", accumulator="uint32", symbol_name="hamming")
    def hamming(x, y, acc, ctx):
        bits = x ^ y
        bits = (bits & 0x55) + ((bits >> 1) & 0x55)
        bits = (bits & 0x33) + ((bits >> 2) & 0x33)
        return acc + ((bits & 0x0F) + ((bits >> 4) & 0x0F))

    assert hamming.elements == ("int8", "uint8", "bits")
    base, queries = vectors(300, 32, "uint8", 4), vectors(9, 32, "uint8", 5)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), base)
    distances, _ = ivf_flat.search(ivf_flat.SearchParams(n_probes=4, metric=hamming), index, queries, 8)
    exact = np.bitwise_count(queries[:, None] ^ base[None]).sum(axis=2)
    assert (distances == np.sort(exact, axis=1)[:, :8]).all()
    floats = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), vectors(9, 32, "float32", 6))
    with pytest.raises(
        DtypeError, match=r"metric 'hamming' does not accept vectors of float32; it accepts int8, uint8"
    ):
        ivf_flat.search(ivf_flat.SearchParams(n_probes=1, metric=hamming), floats, vectors(1, 32, "float32", 7), 1)


def test_fewer_rows_than_asked_for_in_the_probed_lists():
    base = vectors(400, 8, "float32", 10)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=100), base)
    for metric, worst in ((None, np.inf), (product, -np.inf)):
        params = ivf_flat.SearchParams(n_probes=1, metric=metric)
        distances, neighbors = ivf_flat.search(params, index, base[:3], 100)
        for row in range(3):
            found = int((neighbors[row] >= 0).sum())
            assert 0 < found < 100
            assert (neighbors[row, found:] == -1).all()
            assert (distances[row, found:] == worst).all()
            assert np.isfinite(distances[row, :found]).all()


def test_lists_are_ranked_by_the_coarse_metric():
    base, queries = vectors(3000, 16, "float32", 8), vectors(50, 16, "float32", 9)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=64, metric="inner_product"), base)
    _, exact = ivf_flat.search(ivf_flat.SearchParams(n_probes=64), index, queries, 10)

    def recall(metric):
        _, found = ivf_flat.search(ivf_flat.SearchParams(n_probes=16, metric=metric), index, queries, 10)
        return np.mean([len(set(one) & set(two)) / 10 for one, two in zip(found, exact, strict=True)])

    @ivf_flat.metric(order="max", coarse_metric="inner_product", coarse_order="min", symbol_name="farthest")
    def farthest(x, y, acc, ctx):
        return acc + x * y

    assert recall(product) > 0.8
    assert recall(product) == recall(None)
    assert recall(farthest) < 0.1


def test_inputs_of_other_layouts(floats):
    index, base = floats
    queries = np.ascontiguousarray(base[:6])
    expected = ivf_flat.search(ivf_flat.SearchParams(n_probes=4), index, queries, 3)
    wide = np.zeros((12, 16), np.float32)
    wide[::2, ::2] = queries
    read_only = queries.copy()
    read_only.flags.writeable = False
    unaligned = np.frombuffer(b"\0" + queries.tobytes(), np.uint8)[1:].view(np.float32).reshape(queries.shape)

    class Exporter:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **arguments):
            return self.array.__dlpack__(**arguments)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    class Convertible:
        def __array__(self, dtype=None, copy=None):
            return queries

    for given in (
        np.asfortranarray(queries),
        wide[::2, ::2],
        queries[::-1][::-1],
        read_only,
        unaligned,
        Exporter(queries),
        Exporter(wide[::2, ::2]),
        Exporter(read_only),
        Convertible(),
        memoryview(queries),
    ):
        distances, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=4), index, given, 3)
        np.testing.assert_array_equal(distances, expected[0])
        np.testing.assert_array_equal(neighbors, expected[1])


def test_output_buffers(floats):
    index, base = floats
    queries = base[:6]
    expected = ivf_flat.search(ivf_flat.SearchParams(n_probes=4), index, queries, 3)
    distances, neighbors = np.full((6, 3), 9, np.float32), np.full((6, 3), 9, np.int64)
    result = ivf_flat.search(ivf_flat.SearchParams(n_probes=4), index, queries, 3, neighbors, distances)
    assert result[0] is distances
    assert result[1] is neighbors
    np.testing.assert_array_equal(distances, expected[0])
    np.testing.assert_array_equal(neighbors, expected[1])
    only = np.empty((6, 3), np.int64)
    result = ivf_flat.search(ivf_flat.SearchParams(n_probes=4), index, queries, 3, neighbors=only)
    assert result[1] is only
    np.testing.assert_array_equal(only, expected[1])


def test_no_queries(floats):
    index, _ = floats
    distances, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=4), index, np.empty((0, 8), np.float32), 3)
    assert distances.shape == neighbors.shape == (0, 3)


def test_whole_floats_are_integers(floats):
    index, _ = floats
    expected = ivf_flat.search(ivf_flat.SearchParams(n_probes=2), index, GOOD, 3)
    found = ivf_flat.search(ivf_flat.SearchParams(n_probes=np.float32(2.0)), index, GOOD, 3.0)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("metric", ["sqeuclidean", "inner_product"])
def test_large_k(dtype, metric):
    base, queries = vectors(6000, 5, dtype, 21), vectors(7, 5, dtype, 22)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=30, metric=metric), base)
    wide = base.astype(np.float64), queries.astype(np.float64)
    exact = ((wide[1][:, None] - wide[0]) ** 2).sum(2) if metric == "sqeuclidean" else -(wide[1] @ wide[0].T)
    for k in (1024, 1025, 5000, 6000):
        distances, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=30), index, queries, k)
        for q in range(len(queries)):
            assert len(set(neighbors[q].tolist())) == k
            best = np.sort(exact[q])[:k]
            np.testing.assert_allclose(exact[q][neighbors[q]], best, rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(distances[q], best if metric == "sqeuclidean" else -best, rtol=1e-5, atol=1e-5)
    # Fewer rows than k in the lists that are probed.
    distances, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=2), index, queries, 5000)
    worst = np.inf if metric == "sqeuclidean" else -np.inf
    assert ((neighbors == -1) == (distances == worst)).all()
    assert (neighbors[:, -1] == -1).all()
    assert (neighbors[:, 0] >= 0).all()


def test_more_probes_than_lists_are_all_lists(floats):
    index, _ = floats
    all_lists = ivf_flat.search(ivf_flat.SearchParams(n_probes=4), index, GOOD, 3)
    more = ivf_flat.search(ivf_flat.SearchParams(n_probes=20), index, GOOD, 3)
    for one, other in zip(all_lists, more, strict=True):
        np.testing.assert_array_equal(one, other)


def test_search_params():
    assert ivf_flat.SearchParams().n_probes == 20
    assert ivf_flat.SearchParams().metric is None
    with pytest.raises(ArgumentError, match=r"n_probes is 0, it must be an integer from 1 to 16777216"):
        ivf_flat.SearchParams(n_probes=0)
    with pytest.raises(ArgumentError, match=r"metric is a function, it must be .*; decorate it with @annudf.metric"):
        ivf_flat.SearchParams(metric=root)
    with pytest.raises(ArgumentError) as caught:
        ivf_flat.SearchParams(metric="l2")
    listed = ", ".join(f"'{name}'" for name in metrics.names())
    assert str(caught.value) == (
        "metric is 'l2' (did you mean 'sqeuclidean', as FAISS and annudf's command line call it, or 'euclidean', as cuVS "
        f"and scikit-learn do?), it must be one of {listed}, or in SearchParams a function decorated with annudf.metric"
    )
    with pytest.raises(TypeError):
        ivf_flat.SearchParams(5)  # keyword only, as in cuVS


def test_captures_against_the_index(floats):
    params = ivf_flat.SearchParams(n_probes=4, metric=weighted_l2)
    with pytest.raises(CaptureError) as caught:
        ivf_flat.search(params, floats[0], GOOD, 3)
    assert str(caught.value) == (
        "capture 'weights' of metric 'weighted_l2' has 19 entries, the index has 8 dimensions; give one entry a "
        "dimension"
    )


def test_resources_for_host_arrays(floats):
    index, base = floats
    params = ivf_flat.SearchParams(n_probes=4)
    expected = ivf_flat.search(params, index, base[:2], 3)
    on_cpu = ivf_flat.search(params, index, base[:2], 3, resources=Resources(device="cpu"))
    np.testing.assert_array_equal(on_cpu[1], expected[1])
    with pytest.raises(DeviceError, match=r"argument 'queries' is on the CPU and resources name a CUDA stream"):
        ivf_flat.search(params, index, base[:2], 3, resources=Resources(stream=1))
    for wrong in ("tpu", "cuda:x", -1, True, 1.0):
        with pytest.raises(ArgumentError, match=r"device is .*, it must be 'cpu', 'cuda', 'cuda:N'"):
            Resources(device=wrong)
    with pytest.raises(ArgumentError, match=r"stream is a str; give the address of a CUstream"):
        Resources(stream="default")


@pytest.mark.parametrize(("order", "kept", "worst"), [("min", [0, 2, -1], np.inf), ("max", [2, 0, -1], -np.inf)])
def test_rows_at_a_distance_that_is_no_number_are_left_out(order, kept, worst):
    @ivf_flat.metric(order=order)
    def odd(x, y, acc, ctx):
        return acc + (y if y != 2 else (x - x) / (y - 2))

    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), np.array([[1], [2], [3]], np.float32))
    params = ivf_flat.SearchParams(n_probes=1, metric=odd)
    distances, neighbors = ivf_flat.search(params, index, np.zeros((1, 1), np.float32), 3)
    assert neighbors.tolist() == [kept]
    assert distances.tolist() == [[*([1.0, 3.0] if order == "min" else [3.0, 1.0]), worst]]


def test_a_product_is_fused_with_the_sum_that_takes_it():
    @ivf_flat.metric(initial=0.0)
    def two(x, y, acc, ctx):
        return acc + (x * x + y * y)

    base, queries = vectors(300, DIMS, "float32", 5), vectors(70, DIMS, "float32", 6)
    x, y = (part.astype(np.float64) for part in (queries[:, None], base[None]))
    if np.abs(base).max() > 1e3 or np.abs(queries).max() > 1e3:
        pytest.fail("a float64 would not hold what is fused")
    expected = np.zeros((70, 300), np.float32)
    for dim in range(DIMS):  # Products in float64 are exact, and the sum of one with a float32 nearly always.
        product = (y[..., dim] * y[..., dim]).astype(np.float32)
        expected += (x[..., dim] * x[..., dim] + product).astype(np.float32)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=3), base)
    params = ivf_flat.SearchParams(n_probes=3, metric=two)
    fused = "fma" in Path("/proc/cpuinfo").read_text().split()
    for batch in (1, 7, 70):
        for at in range(0, 70, batch):
            distances, neighbors = ivf_flat.search(params, index, queries[at : at + batch], 300)
            wanted = np.take_along_axis(expected[at : at + batch], neighbors, axis=1)
            if fused:
                np.testing.assert_array_equal(distances, wanted, err_msg=f"batches of {batch}")
            else:
                np.testing.assert_allclose(distances, wanted, rtol=1e-6)


CONSTANTS = """
annudf.metric @constants order(min) coarse(l2) elements(f32) {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %tenth = arith.constant 0.1 : f32
    %product = arith.mulf %tenth, %tenth : f32
    %d = arith.subf %x, %y : f32
    %t = arith.addf %product, %d : f32
    %from = arith.constant 0 : index
    %to = arith.constant 7 : index
    %step = arith.constant 1 : index
    %next = scf.for %i = %from to %to step %step iter_args(%sum = %t) -> (f32) {
      %n = arith.index_cast %i : index to i32
      %f = arith.sitofp %n : i32 to f32
      %tenths = arith.mulf %f, %tenth : f32
      %s = arith.addf %sum, %tenths : f32
      scf.yield %s : f32
    }
    %r = arith.addf %acc, %next : f32
    annudf.yield %r : f32
  }
}
"""


@pytest.mark.skipif("fma" not in Path("/proc/cpuinfo").read_text().split(), reason="no fused multiply-add")
def test_a_product_of_constants_is_fused_too():
    """Constants as they are written, and those that a loop has once it is unrolled."""
    base, queries = vectors(300, 1, "float32", 5), vectors(7, 1, "float32", 6)
    tenth = float(np.float32(0.1))
    expected = (tenth * tenth + (queries - base[:, 0]).astype(np.float64)).astype(np.float32)
    for i in range(7):
        expected = (i * tenth + expected.astype(np.float64)).astype(np.float32)
    metric = ivf_flat.Metric(TextDefinition(CONSTANTS, "test_search.py"), {})
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=3), base)
    distances, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=3, metric=metric), index, queries, 300)
    np.testing.assert_array_equal(distances, np.take_along_axis(expected, neighbors, axis=1))


def test_number_of_threads(floats):
    index, base = floats
    params = ivf_flat.SearchParams(n_probes=4)
    expected = ivf_flat.search(params, index, base, 3)
    assert annudf.get_num_threads() == 0
    try:
        for count in (1, 3):
            annudf.set_num_threads(count)
            assert annudf.get_num_threads() == count
            distances, neighbors = ivf_flat.search(params, index, base, 3)
            np.testing.assert_array_equal(distances, expected[0])
            np.testing.assert_array_equal(neighbors, expected[1])
        with pytest.raises(ArgumentError, match=r"count is -1, it must be an integer from 0 to 1024, 0 for all cores"):
            annudf.set_num_threads(-1)
        with pytest.raises(ArgumentError, match=r"count is 1.5, it must be an integer"):
            annudf.set_num_threads(1.5)
    finally:
        annudf.set_num_threads(0)


def test_a_family_that_is_asked_for(floats, caplog):
    index, base = floats
    expected = ivf_flat.search(ivf_flat.SearchParams(n_probes=2), index, base, 5)
    for family in ("groups", "matrix"):
        params = ivf_flat.SearchParams(n_probes=2, family=family)
        assert params.family == family
        assert repr(params) == f"SearchParams(n_probes=2, family={family!r})"
        caplog.clear()
        with caplog.at_level(logging.DEBUG, "annudf"):
            found = ivf_flat.search(params, index, base, 5)
        assert any(f" searched by {family} in " in record.getMessage() for record in caplog.records)
        nearest = ivf_flat.prepare(params, index, base, 5)
        for one, prepared, other in zip(found, nearest(base), expected, strict=True):
            np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(prepared, other)
    assert ivf_flat.SearchParams().family is None


def test_what_a_filter_lets_pass_is_logged(floats, caplog):
    index, base = floats
    passing = np.arange(100) % 8 == 0
    with caplog.at_level(logging.DEBUG, "annudf"):
        ivf_flat.search(ivf_flat.SearchParams(n_probes=2), index, base, 5, filter=passing)
    assert any(record.getMessage().endswith(", 13 % of rows pass the filter") for record in caplog.records)
