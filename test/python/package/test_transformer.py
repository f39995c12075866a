# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""NearestNeighbors as scikit-learn's own estimators use one another: graphs, parameters of captures, clones, grids."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from annudf import ArgumentError, CaptureError, ivf_flat, metrics
from annudf.neighbors import NearestNeighbors, brute_force
from reference import vectors

pytest.importorskip("sklearn", reason="scikit-learn is not installed")
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsTransformer
from sklearn.pipeline import make_pipeline


@ivf_flat.metric(captures={"p": 2.0, "w": np.ones(5, np.float32)})
def powered(x, y, acc, ctx):
    return acc + ctx.w[ctx.dim] * abs(x - y) ** ctx.p


@ivf_flat.metric
def divided(x, y, acc, ctx):
    return acc + (x - y) ** 2 / abs(x - y)  # NaN of a row and itself.


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
def test_the_graph_is_scikit_learns(mode):
    samples, queries = vectors(300, 5, "float32", 1), vectors(20, 5, "float32", 2)
    ours = NearestNeighbors(n_neighbors=4, mode=mode).fit(samples)
    theirs = KNeighborsTransformer(n_neighbors=4, mode=mode, algorithm="brute").fit(samples)
    for found, expected in (
        (ours.transform(queries), theirs.transform(queries)),
        (ours.fit_transform(samples), theirs.fit_transform(samples)),
    ):
        assert found.format == "csr" and found.shape == expected.shape and found.nnz == expected.nnz
        np.testing.assert_array_equal(np.sort(found.indices), np.sort(expected.indices))
        # A distance to itself is 0 here, and of scikit-learn's matrix product not quite.
        np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-4, atol=2e-3)
    assert list(ours.get_feature_names_out())[:2] == ["nearestneighbors0", "nearestneighbors1"]


def test_mode_is_checked():
    model = NearestNeighbors(2, mode="other").fit(np.eye(4))
    with pytest.raises(ArgumentError, match="mode is 'other', it must be 'connectivity' or 'distance'"):
        model.transform(np.eye(4))
    with pytest.raises(ValueError, match="not fitted"):
        NearestNeighbors().transform(np.eye(4))


def test_parameters_reach_captures():
    model = NearestNeighbors(metric=powered)
    found = model.get_params()
    assert found["metric"] is powered and found["metric__p"] == 2.0 and type(found["metric__p"]) is float
    np.testing.assert_array_equal(found["metric__w"], np.ones(5))
    assert not any(name.startswith("metric__") for name in model.get_params(deep=False))
    assert model.set_params(metric__p=3, n_neighbors=2) is model
    assert model.metric.captures["p"] == 3.0 and powered.captures["p"] == 2.0 and model.n_neighbors == 2
    assert model.set_params(**model.get_params()).metric.captures["p"] == 3.0
    model.set_params(metric=metrics.get("minkowski", p=4), metric__p=1.5)
    assert model.metric.name == "minkowski" and model.metric.captures["p"] == 1.5
    assert "metric=<annudf metric minkowski (p: f32 = 1.5)>" in repr(model)
    model.set_params(metric=powered)
    samples = vectors(50, 5, "float32", 1)
    for p in (1.0, 4.0):
        distances, _ = model.set_params(metric__p=p).fit(samples).kneighbors(samples[:3])
        np.testing.assert_array_equal(distances, brute_force.knn(samples, samples[:3], 2, metric=powered.bind(p=p))[0])


def test_parameters_refused():
    model = NearestNeighbors(metric=powered)
    with pytest.raises(CaptureError, match="metric 'powered' has no capture 'q'; it has 'p', 'w'"):
        model.set_params(metric__q=1, n_neighbors=9)
    assert model.n_neighbors == 5
    with pytest.raises(CaptureError, match="capture 'p' is declared as f32 scalar"):
        model.set_params(metric__p=[1.0, 2.0])
    with pytest.raises(
        CaptureError, match="metric is 'euclidean', which has no capture 'p'; give a function decorated"
    ):
        NearestNeighbors().set_params(metric__p=1)
    with pytest.raises(ValueError, match="Invalid parameter 'other'"):
        model.set_params(other=1)


def test_clones_share_the_arrays():
    weighted = powered.bind(w=np.arange(5, dtype=np.float32))
    model = NearestNeighbors(metric=weighted, n_neighbors=3)
    other = clone(model)
    assert other.metric is weighted
    assert np.shares_memory(model.get_params()["metric__w"], other.get_params()["metric__w"])
    assert repr(other) == repr(model)


def _rings() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    labels = np.arange(120) % 2
    samples = rng.normal(0, 1, (120, 5))
    samples[:, 0] = labels + rng.normal(0, 0.1, 120)  # One coordinate tells them apart.
    return samples, labels


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_grid_of_captures(n_jobs):
    samples, labels = _rings()
    pipeline = make_pipeline(
        NearestNeighbors(n_neighbors=5, metric=powered), KNeighborsClassifier(3, metric="precomputed")
    )
    only_first = np.array([1, 0, 0, 0, 0], np.float32)
    grid = {
        "nearestneighbors__metric__w": [np.ones(5, np.float32), only_first],
        "nearestneighbors__metric__p": [1.0, 2.0],
        "nearestneighbors__n_neighbors": [3, 5],
    }
    found = GridSearchCV(pipeline, grid, cv=3, n_jobs=n_jobs, error_score="raise").fit(samples, labels)
    assert found.best_params_["nearestneighbors__metric__w"] is only_first and found.best_score_ == 1.0
    assert found.cv_results_["mean_test_score"].min() < 1.0
    best = found.best_estimator_.named_steps["nearestneighbors"]
    np.testing.assert_array_equal(best.metric.captures["w"], only_first)
    assert pickle.loads(pickle.dumps(found)).score(samples, labels) == 1.0


def test_a_row_does_not_find_itself():
    samples = vectors(60, 5, "float32", 1)
    samples[7] = samples[3]
    for metric in ("sqeuclidean", powered):
        distances, ids = brute_force.knn(samples, samples, 4, metric=metric, exclude_self=True)
        assert ids.shape == distances.shape == (60, 4)
        assert not (ids == np.arange(60)[:, None]).any()
        assert ids[3, 0] == 7 and ids[7, 0] == 3
        every = powered.pairwise(samples) if metric is powered else ((samples[:, None] - samples) ** 2).sum(2)
        np.fill_diagonal(every, np.inf)
        np.testing.assert_allclose(distances, np.sort(every, axis=1)[:, :4], rtol=1e-5)
    every, ids = brute_force.knn(samples, samples, 59, exclude_self=True)
    numbers = np.arange(60)[::-1] * 3
    named, other = brute_force.knn(samples, samples, 59, exclude_self=True, ids=numbers)
    np.testing.assert_array_equal(named, every)
    assert (other != numbers[:, None]).all()
    # What is left out is no missing result.
    apart = vectors(60, 5, "float32", 2)
    extra = {"metric": divided, "exclude_self": True, "return_stats": True, "on_nan": "skip"}
    stats = brute_force.knn(apart, apart, 59, **extra)[2]
    assert (stats.n_missing, stats.nan_distances) == (0, 60)
    assert (np.sort(ids, axis=1) == [[j for j in range(60) if j != i] for i in range(60)]).all()


def test_what_has_no_self_is_refused():
    samples = vectors(6, 5, "float32", 1)
    for queries, k, extra, message in (
        (
            samples[:4],
            2,
            {},
            "exclude_self is True, the dataset has 6 rows and there are 4 queries; query i leaves out",
        ),
        (samples, 6, {}, "k is 6, it must be an integer from 1 to 5 where exclude_self is True"),
        (
            samples,
            2,
            {"indices": np.empty((6, 2), np.int64)},
            "exclude_self is True and indices or distances are given",
        ),
    ):
        with pytest.raises(ArgumentError, match=message):
            brute_force.knn(samples, queries, k, exclude_self=True, **extra)
    with pytest.raises(ArgumentError, match="exclude_self is True and the dataset has 1 rows; give at least two"):
        brute_force.knn(samples[:1], samples[:1], 1, exclude_self=True)
    with pytest.raises(ArgumentError, match="exclude_self is 1, it must be True or False"):
        brute_force.knn(samples, samples, 1, exclude_self=1)
