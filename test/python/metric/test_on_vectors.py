# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Metrics of whole vectors: one distance, and every distance of two sets of rows."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

import annudf
from annudf import ArgumentError, CaptureError, DtypeError, ivf_flat, metrics
from annudf.distance import pairwise_distance
from reference import vectors

WEIGHTS = np.linspace(0.5, 2, 6, dtype=np.float32)


@ivf_flat.metric(captures={"w": WEIGHTS, "p": 3.0})
def weighted(x, y, acc, ctx):
    return acc + ctx.w[ctx.dim] * abs(x - y) ** ctx.p


@ivf_flat.metric(elements=("int8", "uint8"), dtype="int32", accumulator="int32")
def of_integers(x, y, acc, ctx):
    return acc + abs(x - y)


def test_a_distance_is_that_of_every_distance():
    X, Y = np.random.default_rng(0).random((2, 5, 6))
    expected = pairwise_distance(X.astype(np.float32), Y.astype(np.float32), metric=weighted)
    for i, a in enumerate(X):
        for j, b in enumerate(Y):
            found = weighted.distance(a, b)
            assert type(found) is float
            assert found == weighted(a, b) == weighted.distance(list(a), tuple(b)) == expected[i, j]
    assert weighted.distance(X[0].astype(np.float32), Y[0]) == expected[0, 0]
    assert weighted.distance(X[:, :6][::2][1], np.asfortranarray(Y)[3]) == expected[2, 3]
    frozen = X[0].copy()
    frozen.flags.writeable = False
    assert weighted.distance(frozen, Y[0]) == expected[0, 0]


def test_arguments_are_in_order():
    @ivf_flat.metric
    def asymmetric(x, y, acc, ctx):
        return acc + (x - y if x > y else 2 * (y - x))

    assert asymmetric.distance([3.0], [1.0]) == 2.0
    assert asymmetric.distance([1.0], [3.0]) == 4.0


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint8"])
def test_dtypes_that_it_accepts_are_kept(dtype):
    X = vectors(4, 6, dtype, 1)
    expected = pairwise_distance(X, metric=weighted)
    assert [weighted.distance(X[0], one) for one in X] == expected[0].tolist()
    np.testing.assert_array_equal(weighted.pairwise(X), expected)


@pytest.mark.parametrize("dtype", ["int16", "int32", "int64", "uint32", "bool", "float64", ">f4"])
def test_other_numbers_become_float32(dtype):
    X = np.array([[0, 1, 1, 0, 1, 0], [1, 1, 0, 0, 0, 1]]).astype(dtype)
    if dtype == ">f4":
        with pytest.raises(DtypeError, match="argument 'a' has dtype >f4, which is not in this machine's byte order"):
            weighted.distance(X[0], X[1])
        return
    assert weighted.distance(X[0], X[1]) == pytest.approx(WEIGHTS[[0, 2, 4, 5]].sum())
    assert weighted.pairwise(X)[0, 1] == weighted.distance(X[0], X[1])


def test_a_metric_of_integers_takes_what_is_exact():
    assert of_integers.distance([1, 2], [4, 250]) == 251.0
    assert of_integers.distance(np.array([1.0, -2.0]), np.array([4.0, 2.0])) == 7.0
    np.testing.assert_array_equal(of_integers.pairwise([[1.0, 2.0], [4.0, 2.0]]), [[0, 3], [3, 0]])
    for value in (0.5, 300, -200, np.nan):
        with pytest.raises(
            DtypeError,
            match=r"argument 'a' has dtype (float64|int64) and values that metric 'of_integers' does not accept; it "
            "accepts int8, uint8, and none of them holds all of these values",
        ):
            of_integers.distance(np.array([1, value]), [1, 2])


def test_missing_values():
    @ivf_flat.metric(missing_values=True)
    def present(x, y, acc, ctx):
        return acc + (0 if math.isnan(x) or math.isnan(y) else abs(x - y))

    assert present.distance([1, np.nan, 3], [2, 5, np.nan]) == 1.0


@pytest.mark.parametrize(
    ("a", "b", "error", "message"),
    [
        ([1, 2], [1, 2, 3], ArgumentError, "a has 2 entries and b has 3; give vectors of the same length"),
        ([[1, 2]], [1, 2], ArgumentError, "argument 'a' has shape (1, 2), it must have one dimension; for rows call pair"),
        ([], [], ArgumentError, "a and b have no entries; give vectors"),
        (None, [1], ArgumentError, "argument 'a' is None; give an array"),
        (["x"], [1], DtypeError, "argument 'a' has dtype str32; give real numbers"),
        ([1j], [1], DtypeError, "argument 'a' has dtype complex128; give real numbers"),
        ([1, 2], [1e39, 0], ArgumentError, "argument 'b' has 1e+39, which no float32 holds; scale the vectors"),
        ([1, np.nan], [1, 0], ArgumentError, "argument 'a' has nan at 1; every coordinate must be finite unless the metric"),
        ([1, 2], [np.inf, 0], ArgumentError, "argument 'b' has inf at 0; every coordinate must be finite"),
    ],
)  # fmt: skip
def test_vectors_refused(a, b, error, message):
    with pytest.raises(error) as caught:
        metrics.get("l1").distance(a, b)
    assert str(caught.value).startswith(message)


def test_captures_of_rows_and_queries():
    @ivf_flat.metric(captures={"age": np.array([2.0], np.float32)}, initial=0.0)
    def aged(x, y, acc, ctx):
        return acc + abs(x - y) * ctx.age[ctx.row]

    @ivf_flat.metric(captures={"scale": np.array([3.0], np.float32)}, initial=0.0)
    def scaled(x, y, acc, ctx):
        return acc + abs(x - y) * ctx.scale[ctx.query]

    assert aged.distance([1.0], [4.0]) == 6.0
    assert scaled.distance([1.0], [4.0]) == 9.0
    for metric, name, extent, whose, more in (
        (aged, "age", "row", "b", ", or call pairwise_distance() with ids="),
        (scaled, "scale", "query", "a", ""),
    ):
        with pytest.raises(CaptureError) as caught:
            metric.bind(**{name: np.ones(2, np.float32)}).distance([1.0], [4.0])
        assert str(caught.value) == (
            f"capture '{name}' ({extent} x f32) of metric '{metric.name}' has 2 entries, and distance() does not know "
            f"which of them is for '{whose}'; bind that one, .bind({name}={name}[i : i + 1]){more}"
        )
    with pytest.raises(CaptureError) as caught:
        weighted.distance([1, 2], [3, 4])
    assert str(caught.value) == (
        "capture 'w' of metric 'weighted' has 6 entries, a and b have 2 entries; give one entry a dimension"
    )


def test_bits_have_rows():
    hamming = metrics.get("bitwise_hamming")
    rows = annudf.PackedBits(np.array([[True] * 8, [False] * 8]))
    assert hamming.pairwise(rows)[0, 1] == 8
    with pytest.raises(ArgumentError, match=r"argument 'a' is an annudf[.]PackedBits, which has rows"):
        hamming.distance(rows, rows)


def test_calls_of_the_function_itself_are_still_that():
    context = SimpleNamespace(w=[2.0], p=2.0, dim=0)
    assert weighted(1.0, 3.0, 1.0, context) == 9.0
    assert weighted(x=1.0, y=3.0, acc=0.0, ctx=context) == 8.0
    with pytest.raises(TypeError, match="metric 'l1' was not made from a Python function"):
        metrics.get("l1")(1, 2, 3)


def test_dtype_of_the_result():
    X = vectors(4, 6, "float32", 1)
    for dtype in (np.float64, "float64", float):
        for found in (weighted.pairwise(X, dtype=dtype), pairwise_distance(X, metric=weighted, dtype=dtype)):
            assert found.dtype == np.float64
            np.testing.assert_array_equal(found, pairwise_distance(X, metric=weighted))
    for dtype in (None, np.float32):
        assert weighted.pairwise(X, X[:2], dtype).dtype == np.float32
    with pytest.raises(ArgumentError, match="dtype is 'int32', it must be None, float32 or float64"):
        weighted.pairwise(X, dtype="int32")
    with pytest.raises(
        ArgumentError, match="dtype is float64 and out is given, which is float32; leave one of them out"
    ):
        pairwise_distance(X, out=np.empty((4, 4), np.float32), metric=weighted, dtype=float)


def test_pairwise_converts_what_numpy_holds():
    X = np.random.default_rng(0).random((4, 6))
    expected = pairwise_distance(X.astype(np.float32), metric=weighted)
    np.testing.assert_array_equal(weighted.pairwise(X), expected)
    np.testing.assert_array_equal(weighted.pairwise(X.tolist(), X[:3].tolist()), expected[:, :3])
    np.testing.assert_array_equal(weighted.pairwise(np.asfortranarray(X)), expected)
    with pytest.raises(ArgumentError, match="argument 'X' has shape \\(6,\\), it must have two dimensions"):
        weighted.pairwise(X[0])
    with pytest.raises(ArgumentError, match="argument 'Y' has 1e\\+39, which no float32 holds"):
        weighted.pairwise(X, [[1e39] * 6])


def test_scipy_takes_it():
    distance = pytest.importorskip("scipy.spatial.distance", reason="SciPy is not installed")
    X, Y = np.random.default_rng(0).random((2, 5, 6))
    np.testing.assert_array_equal(distance.cdist(X, Y, weighted.distance), weighted.pairwise(X, Y))
    np.testing.assert_array_equal(distance.squareform(distance.pdist(X, weighted)), weighted.pairwise(X))


def test_scikit_learn_takes_it():
    cluster = pytest.importorskip("sklearn.cluster", reason="scikit-learn is not installed")
    from sklearn.metrics import pairwise_distances
    from sklearn.neighbors import KNeighborsClassifier

    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 0.2, (20, 6)), rng.normal(3, 0.2, (20, 6))])
    labels = np.repeat([0, 1], 20)
    np.testing.assert_array_equal(pairwise_distances(X, metric=weighted.distance), weighted.pairwise(X))
    found = cluster.DBSCAN(eps=2.0, metric=weighted.distance).fit_predict(X)
    np.testing.assert_array_equal(found, labels)
    np.testing.assert_array_equal(
        found, cluster.DBSCAN(eps=2.0, metric="precomputed").fit_predict(weighted.pairwise(X, dtype=np.float64))
    )
    for metric in (weighted, weighted.distance):
        model = KNeighborsClassifier(3, algorithm="brute", metric=metric).fit(X, labels)
        assert model.score(X, labels) == 1.0


def test_a_repr_has_the_numbers():
    assert repr(weighted) == "<annudf metric weighted (w: dim x f32, p: f32 = 3.0)>"
    assert repr(weighted.bind(p=0.1)) == "<annudf metric weighted (w: dim x f32, p: f32 = 0.1)>"
