# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Distances that are NaN: they are counted, told, and refused on request."""

import math
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from annudf import NaNDistanceError, NaNDistanceWarning, PackedBits, filters, ivf_flat
from annudf.errors import ArgumentError, InputError
from annudf.neighbors import NearestNeighbors, brute_force

DIMS = 12


@ivf_flat.metric
def chi2(x, y, acc, ctx):
    return acc + (x - y) ** 2 / (x + y)


@ivf_flat.metric
def guarded(x, y, acc, ctx):
    return acc + ((x - y) ** 2 / (x + y) if x + y != 0 else 0)


@ivf_flat.metric(
    initial=(0.0, 0.0, 0.0), finalize=lambda acc, ctx: 1 - acc[0] / (math.sqrt(acc[1]) * math.sqrt(acc[2]))
)
def cosine(x, y, acc, ctx):
    return acc[0] + x * y, acc[1] + x * x, acc[2] + y * y


def fresh(metric):
    """The same metric, which has warned of nothing."""
    return metric.bind()


def rows_with_zeros(seed, rows, dims=DIMS, share=0.25, dtype=np.float32):
    random = np.random.default_rng(seed)
    values = random.integers(1, 9, (rows, dims))
    values[random.random((rows, dims)) < share] = 0
    return values.astype(dtype)


def is_nan(queries, rows):
    """The pairs that chi2 makes NaN of: both are 0 in some dimension."""
    return ((queries[:, None, :] == 0) & (rows[None, :, :] == 0)).any(2)


@pytest.fixture(scope="module")
def data():
    rows, queries = rows_with_zeros(1, 3000), rows_with_zeros(2, 70)
    return rows, queries, ivf_flat.build(ivf_flat.IndexParams(n_lists=20), rows)


def stats_of(index, queries, metric, k=10, n_probes=20, chosen=None, family=""):
    """What the core says of a search."""
    from annudf import _arrays
    from annudf._arrays import CPU, ELEMENT_OF_DTYPE
    from annudf._devices import backends

    view = _arrays.input_matrix(queries, "queries", packed=index.packed, dims=index.dim)
    artifact, captures = metric.prepare(CPU, index._core, len(queries))
    ids, distances = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.float32)
    bits = None if chosen is None else chosen._for_search(index._core, CPU, len(queries))
    return backends.backend(CPU).search(
        index._core, artifact, captures, view.address, len(queries), index.dim, ELEMENT_OF_DTYPE[view.dtype], k,
        n_probes, ids.ctypes.data, distances.ctypes.data, None, bits, family,
    )  # fmt: skip


@pytest.mark.parametrize("count", [1, 3, 4, 70])
def test_all_pairs_that_are_nan_are_counted(data, count):
    rows, queries, index = data
    stats = stats_of(index, queries[:count], chi2)
    expected = is_nan(queries[:count], rows)
    assert 0.3 < expected.mean() < 0.9
    assert (stats.nan_distances, stats.scored) == (expected.sum(), expected.size)
    assert expected[stats.nan_query, stats.nan_row]


def test_as_many_where_few_lists_are_probed(data):
    _, queries, index = data
    whole = stats_of(index, queries, chi2)
    some = [stats_of(index, queries, chi2, k=1, n_probes=n) for n in (1, 5, 20)]
    assert [one.scored for one in some] == sorted(one.scored for one in some)
    assert some[-1].nan_distances == whole.nan_distances  # Whatever k is.
    assert 0 < some[0].nan_distances < some[0].scored < some[1].scored


def test_rows_that_a_filter_leaves_out_are_not_scored(data):
    rows, queries, index = data
    keep = np.random.default_rng(3).random(len(rows)) < 0.1
    stats = stats_of(index, queries, chi2, chosen=filters.from_mask(keep))
    expected = is_nan(queries, rows[keep])
    assert (stats.nan_distances, stats.scored) == (expected.sum(), expected.size)


@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.uint8])
def test_of_each_element_type(dtype):
    rows, queries = rows_with_zeros(4, 500, dtype=dtype), rows_with_zeros(5, 9, dtype=dtype)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=3), rows)
    stats = stats_of(index, queries, chi2, n_probes=3)
    assert (stats.nan_distances, stats.scored) == (is_nan(queries, rows).sum(), 4500)


def test_of_bits():
    random = np.random.default_rng(6)
    rows, queries = random.integers(0, 256, (300, 1), np.uint8), random.integers(0, 256, (5, 1), np.uint8)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), PackedBits(rows))
    unpacked = [np.unpackbits(one, axis=1, bitorder="little") for one in (queries, rows)]
    assert stats_of(index, PackedBits(queries).array, chi2, n_probes=1).nan_distances == is_nan(*unpacked).sum()


@pytest.mark.parametrize("searches", [1, 3])
def test_products_of_matrices_count_what_they_compute(searches):
    """Vectors of length 0, whose ratio no bound rules out; from the third search on rows are kept."""
    rows, queries = rows_with_zeros(7, 4000, 32, 0), rows_with_zeros(8, 400, 32, 0)
    rows[::50], queries[::80] = 0, 0
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows)
    expected = 400 * 80 + 5 * (4000 - 80)
    for family in ("groups", "matrix"):
        for _ in range(searches):
            stats = stats_of(index, queries, cosine, n_probes=1, family=family)
            assert (family, stats.nan_distances, stats.scored) == (family, expected, 400 * 4000)


def test_a_search_warns_once_a_metric(data):
    rows, queries, index = data
    params = ivf_flat.SearchParams(n_probes=20, metric=fresh(chi2))
    with pytest.warns(NaNDistanceWarning) as told:
        found = ivf_flat.search(params, index, queries, 10)
    text = str(told[0].message)
    expected = is_nan(queries, rows)
    assert len(told) == 1 and told[0].filename == __file__
    query, row = np.argwhere(expected)[0]
    assert text.startswith(
        f"metric 'chi2': {100 * expected.mean():.3g} % of the distances of this search are NaN ({expected.sum()} of "
        f"{expected.size}), and such rows are never found; query {query}, row "
    )
    row = int(text.split(", row ")[1].split(":", maxsplit=1)[0])
    first = np.flatnonzero((queries[query] == 0) & (rows[row] == 0))[0]
    assert f": dimension {first} turns the accumulator NaN. Guard the formula" in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = ivf_flat.search(params, index, queries, 10)
        ivf_flat.search(ivf_flat.SearchParams(n_probes=20, metric=fresh(chi2), on_nan="skip"), index, queries, 10)
        ivf_flat.search(ivf_flat.SearchParams(n_probes=20, metric=guarded, on_nan="raise"), index, queries, 10)
    for one, other in zip(found, again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_one_pair_of_a_thousand_is_no_reason_to_warn():
    rows, queries = rows_with_zeros(9, 5000, share=0), rows_with_zeros(10, 10, share=0)
    rows[:5, 3] = queries[:, 3] = 0
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows)
    metric = fresh(chi2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ivf_flat.search(ivf_flat.SearchParams(n_probes=1, metric=metric), index, queries, 10)
    with pytest.raises(NaNDistanceError, match=r"0.1 % of the distances of this search are NaN \(50 of 50000\)"):
        ivf_flat.search(ivf_flat.SearchParams(n_probes=1, metric=metric, on_nan="raise"), index, queries, 10)
    rows[5, 3] = 0
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows)
    with pytest.warns(NaNDistanceWarning, match="0.12 % "):
        ivf_flat.search(ivf_flat.SearchParams(n_probes=1, metric=metric), index, queries, 10)


def calls(data, metric, on_nan):
    """Whatever searches, by name."""
    rows, queries, index = data
    params = ivf_flat.SearchParams(n_probes=20, metric=metric, on_nan=on_nan)
    exact = brute_force.build(rows, metric=metric)
    estimator = NearestNeighbors(metric=metric, on_nan=on_nan).fit(rows)
    return {
        "search": lambda: ivf_flat.search(params, index, queries, 5),
        "radius": lambda: ivf_flat.radius_neighbors(params, index, queries, 10.0),
        "tune": lambda: ivf_flat.tune_n_probes(index, queries, 5, metric=metric, on_nan=on_nan),
        "prepared": lambda: ivf_flat.prepare(params, index, queries, 5)(queries),
        "any order": lambda: ivf_flat.prepare(params, index, queries, 5)(np.asfortranarray(queries)),
        "exact": lambda: brute_force.search(exact, queries, 5, on_nan=on_nan),
        "knn": lambda: brute_force.knn(rows, queries, 5, metric=metric, on_nan=on_nan),
        "estimator": lambda: estimator.kneighbors(queries),
    }


@pytest.mark.parametrize("name", ["search", "radius", "tune", "prepared", "any order", "exact", "knn", "estimator"])
def test_whatever_searches_tells(data, name):
    with pytest.warns(NaNDistanceWarning, match=r"metric 'chi2'.* turns the accumulator NaN"):
        calls(data, fresh(chi2), "warn")[name]()
    with pytest.raises(NaNDistanceError, match="metric 'chi2'"):
        calls(data, fresh(chi2), "raise")[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        calls(data, fresh(chi2), "skip")[name]()
        calls(data, guarded, "raise")[name]()


def test_what_else_on_nan_may_be_is_refused(data):
    rows, queries, _ = data
    for call in (
        lambda: ivf_flat.SearchParams(on_nan="ignore"),
        lambda: brute_force.knn(rows, queries, 5, on_nan=None),
        lambda: NearestNeighbors(on_nan="ignore").fit(rows).kneighbors(queries),
    ):
        with pytest.raises(ArgumentError, match=r"on_nan is .*, it must be 'raise', 'warn' or 'skip'"):
            call()
    assert repr(ivf_flat.SearchParams(on_nan="skip")) == "SearchParams(n_probes=20, on_nan='skip')"
    assert ivf_flat.SearchParams(on_nan="raise").on_nan == "raise"
    assert issubclass(NaNDistanceError, InputError)


def test_a_filter_of_code_counts_nothing(data):
    """Rows that it leaves out are NaN inside the scan that computes it."""
    _, queries, index = data

    @ivf_flat.filter
    def even(ctx):
        return ctx.row % 2 == 0

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ivf_flat.search(
            ivf_flat.SearchParams(n_probes=20, metric=guarded, on_nan="raise"), index, queries, 5, filter=even
        )


def test_an_example_of_finalize(data):
    _, queries, index = data

    @ivf_flat.metric(finalize=lambda acc, ctx: math.sqrt(acc))
    def negative(x, y, acc, ctx):
        return acc - (x - y) ** 2

    with pytest.warns(NaNDistanceWarning, match="finalize makes NaN of the accumulator"):
        ivf_flat.search(ivf_flat.SearchParams(n_probes=20, metric=negative), index, queries, 5)


def test_threads_that_share_a_prepared_search_hear_of_their_own_pairs():
    """A CPU's: who searches without NaN is told nothing, who searches with NaN always is."""
    rows, queries = rows_with_zeros(3, 200, share=0), rows_with_zeros(4, 2, share=0)
    rows[7, 3] = queries[1, 3] = 0
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows)
    params = ivf_flat.SearchParams(n_probes=1, metric=fresh(chi2), on_nan="raise")
    prepared = ivf_flat.prepare(params, index, queries[:1], 5)
    stop = threading.Event()

    def search_good():
        runs = 0
        while not stop.is_set():
            prepared(queries[:1])
            runs += 1
        return runs

    def search_bad():
        raised = 0
        for _ in range(50):
            try:
                prepared(queries[1:])
            except NaNDistanceError:
                raised += 1
        return raised

    with ThreadPoolExecutor(2) as pool:
        good = pool.submit(search_good)
        try:
            raised = pool.submit(search_bad).result()
        finally:
            stop.set()
        assert (raised, good.result() > 0) == (50, True)


def test_a_warning_that_is_an_error_is_raised_again(data):
    _, queries, index = data
    params = ivf_flat.SearchParams(n_probes=20, metric=fresh(chi2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(NaNDistanceWarning):
                ivf_flat.search(params, index, queries, 10)
