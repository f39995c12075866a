# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Exact search and the distances of all pairs, against SciPy or NumPy in float64."""

from __future__ import annotations

import inspect
import logging
import subprocess
import sys
import weakref

import numpy as np
import pytest

from annudf import ArgumentError, CaptureError, DtypeError, Resources, filters, ivf_flat
from annudf._devices import backends
from annudf.distance import pairwise_distance
from annudf.ivf_flat._store import store_rows
from annudf.neighbors import brute_force
from reference import DTYPES, check, distances_of, vectors

TERMS = {
    "sqeuclidean": lambda x, y: (x - y) ** 2,
    "l1": lambda x, y: abs(x - y),
    "inner_product": lambda x, y: x * y,
}


@ivf_flat.metric
def cubes(x, y, acc):
    return acc + abs(x - y) * (x - y) * (x - y)


@ivf_flat.metric(order="max", captures={"w": np.linspace(0, 1, 9, dtype=np.float32)})
def lopsided(x, y, acc, ctx):
    return acc + ctx.w[ctx.dim] * (2 * x - y)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("metric", TERMS)
def test_builtin_metrics(dtype, metric):
    base, queries = vectors(700, 9, dtype, 1), vectors(20, 9, dtype, 2)
    exact = distances_of(TERMS[metric], queries, base)
    order = "max" if metric == "inner_product" else "min"
    for k in (1, 10, 700):
        check(*brute_force.knn(base, queries, k, metric=metric), exact, order=order, rtol=1e-4)
    index = brute_force.build(base, metric)
    assert (index.trained, index.dim, index.size, len(index), index.metric) == (True, 9, 700, 700, metric)
    assert repr(index) == f"Index(type=BruteForce, size=700, dim=9, dtype={dtype}, metric={metric!r})"
    check(*brute_force.search(index, queries, 10), exact, order=order, rtol=1e-4)
    found = pairwise_distance(queries, base, metric=metric)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-4)


def test_metrics_of_ones_own():
    base, queries = vectors(300, 9, "float32", 1), vectors(33, 9, "float32", 2)
    wide = queries.astype(np.float64)[:, None], base.astype(np.float64)
    w = np.linspace(0, 1, 9, dtype=np.float32).astype(np.float64)
    for metric, terms in (
        (cubes, (abs(wide[0] - wide[1]) * (wide[0] - wide[1]) ** 2)),
        (lopsided, w * (2 * wide[0] - wide[1])),
    ):
        sums = terms.sum(2)
        np.testing.assert_allclose(pairwise_distance(queries, base, metric=metric), sums, rtol=1e-4, atol=1e-4)
        check(*brute_force.knn(base, queries, 7, metric=metric), sums, order=metric.order, rtol=1e-4)


def test_against_scipy():
    distance = pytest.importorskip("scipy.spatial.distance")
    base, queries = vectors(100, 33, "float32", 1), vectors(50, 33, "float32", 2)
    for name, metric in (("euclidean", "euclidean"), ("chebyshev", "chebyshev"), ("cityblock", "l1")):
        np.testing.assert_allclose(
            pairwise_distance(queries, base, metric=metric), distance.cdist(queries, base, name), rtol=1e-5
        )


def test_each_default_is_that_of_cuvs_and_said():
    x = vectors(30, 5, "float32", 1)
    squares, neighbors, stats = brute_force.knn(x, x, 4, return_stats=True)
    assert (stats.metric, brute_force.build(x).metric) == ("sqeuclidean", "sqeuclidean")
    roots = np.take_along_axis(pairwise_distance(x), neighbors, axis=1)
    np.testing.assert_allclose(roots, np.sqrt(squares), rtol=1e-6)
    for function, name in (
        (brute_force.knn, "sqeuclidean"),
        (brute_force.build, "sqeuclidean"),
        (pairwise_distance, "euclidean"),
    ):
        assert inspect.signature(function).parameters["metric"].default == name
        assert f'"{name}" by default' in inspect.getdoc(function).partition("\n")[0]


def test_of_itself_and_into_an_array():
    x = vectors(40, 5, "float32", 1)
    found = pairwise_distance(x)
    assert (np.diag(found) == 0).all()
    np.testing.assert_array_equal(found, found.T)
    out = np.empty((40, 40), np.float32)
    assert pairwise_distance(x, out=out) is out
    np.testing.assert_array_equal(out, found)
    distances, indices = np.empty((40, 3), np.float32), np.empty((40, 3), np.int64)
    result = brute_force.knn(x, x, indices=indices, distances=distances)
    assert result[0] is distances
    assert result[1] is indices
    assert (indices[:, 0] == np.arange(40)).all()
    assert pairwise_distance(x[:0], x).shape == (0, 40)


def test_prefilter():
    x = vectors(200, 5, "float32", 1)
    mask = np.arange(200) % 3 == 0
    _, neighbors = brute_force.search(brute_force.build(x), x[:10], 20, prefilter=mask)
    assert (neighbors % 3 == 0).all()


def test_prefilter_of_one_call():
    base, queries = vectors(200, 4, "float32", 1), vectors(5, 4, "float32", 2)
    keep = np.arange(200) % 3 == 1
    index = brute_force.build(base, "l1")
    for prefilter in (keep, filters.from_mask(keep), ivf_flat.filter(every_third)):
        found = brute_force.knn(base, queries, 9, metric="l1", prefilter=prefilter)
        for one, other in zip(found, brute_force.search(index, queries, 9, prefilter=keep), strict=True):
            np.testing.assert_array_equal(one, other)
        assert keep[found[1]].all()


def every_third(ctx):
    return ctx.row % 3 == 1


def test_files(tmp_path):
    x = vectors(50, 5, "float32", 1)
    index = brute_force.build(x, "l1")
    brute_force.save(tmp_path / "exact", index)
    read = brute_force.load(tmp_path / "exact", metric="l1")
    for one, other in zip(brute_force.search(index, x, 4), brute_force.search(read, x, 4), strict=True):
        np.testing.assert_array_equal(one, other)
    ivf_flat.save(tmp_path / "lists", ivf_flat.build(ivf_flat.IndexParams(n_lists=3), x))
    with pytest.raises(
        ArgumentError, match=r"^the index has 3 lists, one of brute_force has 1; load it with ivf_flat$"
    ):
        brute_force.load(tmp_path / "lists", "sqeuclidean")


def test_a_file_is_not_loaded_without_its_metric(tmp_path):
    path, x = tmp_path / "exact", vectors(50, 5, "float32", 1)
    index = brute_force.build(x, metric="canberra")
    brute_force.save(path, index)
    for load in (
        lambda: brute_force.load(path),
        lambda: brute_force.load(path, Resources()),
        lambda: brute_force.load(path, resources=Resources()),
    ):
        with pytest.raises(ArgumentError) as caught:
            load()
        assert str(caught.value) == (
            "metric is missing: a file holds the vectors and not the metric; give the one that the index was built "
            "with, load(filename, metric)"
        )
    read = brute_force.load(path, index.metric, index.metric_arg, Resources())
    assert read.metric == "canberra"
    for one, other in zip(brute_force.search(index, x, 4), brute_force.search(read, x, 4), strict=True):
        np.testing.assert_array_equal(one, other)
    assert brute_force.load(path, "minkowski", 3).metric_arg == 3
    with pytest.raises(ArgumentError) as caught:
        brute_force.load(path, "lp")
    assert str(caught.value) == (
        "metric_arg is missing: a file does not hold the exponent of 'lp'; give the one that the index was built with"
    )


X = vectors(10, 4, "float32", 3)
REFUSED = [
    (lambda: brute_force.build(X, "l3"), ArgumentError, "metric is 'l3', it must be one of 'sqeuclidean', "),
    (
        lambda: brute_force.build(X, max),
        ArgumentError,
        "metric is a builtin_function_or_method, it must be a Metric or ",
    ),
    (
        lambda: brute_force.build(X, metric_arg=3),
        ArgumentError,
        "metric_arg is 3, which is for metric='minkowski'; 'sqeuclidean' has no argument",
    ),
    (
        lambda: brute_force.build(X[:0]),
        ArgumentError,
        "argument 'dataset' has shape (0, 4): no rows; give at least one",
    ),
    (
        lambda: brute_force.search(X, X, 1),
        ArgumentError,
        "index is a ndarray, it must be a brute_force.Index, made by ",
    ),
    (
        lambda: brute_force.knn(X, X),
        ArgumentError,
        "k is None; give it, or indices or distances of shape (n_queries, k)",
    ),
    (lambda: brute_force.knn(X, X, 11), ArgumentError, "k is 11, but argument 'dataset' has 10 rows"),
    (
        lambda: brute_force.knn(X, X[:, :3], 1),
        ArgumentError,
        "argument 'queries' has vectors of 3 dimensions, argument 'dataset' has 4",
    ),
    (
        lambda: brute_force.search(ivf_flat.build(ivf_flat.IndexParams(n_lists=1), X), X, 1),
        ArgumentError,
        "index is an ivf_flat.Index, it must be a brute_force.Index, made by build() or load()",
    ),
    (
        lambda: ivf_flat.search(ivf_flat.SearchParams(), brute_force.build(X), X, 1),
        ArgumentError,
        "index is a brute_force.Index, it must be an ivf_flat.Index, made by build() or load()",
    ),
    (
        lambda: pairwise_distance(X, X[:3], metric=lopsided),
        CaptureError,
        "capture 'w' of metric 'lopsided' has 9 entries, argument 'Y' has 4 dimensions; give one entry a dimension",
    ),
    (
        lambda: pairwise_distance(X, metric=lopsided),
        CaptureError,
        "capture 'w' of metric 'lopsided' has 9 entries, argument 'X' has 4 dimensions; give one entry a dimension",
    ),
    (
        lambda: pairwise_distance(X, p=3),
        ArgumentError,
        "p is 3, which is for metric='minkowski'; 'euclidean' has no argument",
    ),
    (
        lambda: pairwise_distance(X, X.astype(np.float64)),
        DtypeError,
        "argument 'Y' has dtype float64, it must be float32, ",
    ),
    (
        lambda: pairwise_distance(X.astype(np.float64)),
        DtypeError,
        "argument 'X' has dtype float64, it must be float32, ",
    ),
    (
        lambda: pairwise_distance(X, X[:, :3].copy()),
        ArgumentError,
        "argument 'X' has vectors of 4 dimensions, argument 'Y' has ",
    ),
    (
        lambda: pairwise_distance(X, out=np.empty((10, 9), np.float32)),
        ArgumentError,
        "argument 'out' has shape (10, 9), it must be (10, 10)",
    ),
    (
        lambda: pairwise_distance(X, X[:4], out=X),
        ArgumentError,
        "arguments 'out' and 'X' share memory; give another array",
    ),
    (lambda: pairwise_distance(X * np.nan, X), ArgumentError, "X: row 0, dim 0 is nan"),
    (lambda: pairwise_distance(X, X * np.nan), ArgumentError, "Y: row 0, dim 0 is nan"),
    (lambda: pairwise_distance(X * np.nan), ArgumentError, "X: row 0, dim 0 is nan"),
]


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED)
def test_refused(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value).startswith(message)
    assert type(caught.value) is kind


KNN_OF_MANY_ROWS = """
import resource
import numpy as np
from annudf.neighbors import brute_force

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10  # MiB

rows = np.empty((600_000, 128), np.float32)  # 293 MiB
rows[:] = np.arange(128)
rows[123_456] += 1
brute_force.knn(rows[:1000].copy(), rows[:4], 3)
before = peak()
_, found = brute_force.knn(rows, rows[123_456:123_457], 2)
assert found[0].tolist() == [123_456, 0]
print(peak() - before)
"""


def test_knn_copies_no_more_than_a_piece_of_the_rows():
    grown = int(subprocess.run([sys.executable, "-c", KNN_OF_MANY_ROWS], check=True, capture_output=True).stdout)
    assert grown < 150


def test_an_index_over_rows_keeps_them():
    rows = vectors(500, 9, "float32", 1)
    copy = rows.copy()
    alive = weakref.ref(copy)
    index = store_rows(copy, False, None, in_place=True)
    del copy
    assert alive() is not None
    found = ivf_flat.search(ivf_flat.SearchParams(n_probes=1), index, rows[:20], 4)
    expected = brute_force.search(brute_force.build(rows), rows[:20], 4)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    del index
    assert alive() is None


def test_words_are_asked_for_where_statistics_are_wanted(monkeypatch, caplog):
    caplog.set_level(logging.INFO, logger="annudf")
    engine, words = backends.backend(backends.CPU), []

    class Asked:
        def __getattr__(self, name):
            return getattr(engine, name)

        def search(self, *arguments):
            stats = engine.search(*arguments)
            words.append(bool(stats.family or stats.why))
            return stats

    monkeypatch.setattr(backends, "backend", lambda device: Asked())
    rows = vectors(50, 9, "float32", 1)
    brute_force.knn(rows, rows[:3], 2)
    stats = brute_force.knn(rows, rows[:3], 2, return_stats=True)[2]
    assert words == [False, True]
    assert stats.family
