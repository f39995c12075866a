# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""NearestNeighbors, with scikit-learn and without it."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

from annudf import ArgumentError, DtypeError, ivf_flat
from annudf.distance import pairwise_distance
from annudf.neighbors import NearestNeighbors
from reference import DTYPES, vectors

sklearn_checks = pytest.importorskip("sklearn.utils.estimator_checks", reason="scikit-learn is not installed")

# Checks that cannot pass, by name, with the reason. None is known.
EXPECTED_FAILURES: dict[str, str] = {}


@pytest.mark.filterwarnings("ignore")
@sklearn_checks.parametrize_with_checks(
    [NearestNeighbors(), NearestNeighbors(metric="inner_product", n_lists=3, n_probes=2)],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@ivf_flat.metric
def manhattan(x, y, acc, ctx):
    return acc + abs(x - y)


def test_as_scikit_learn_finds_them():
    from sklearn.neighbors import NearestNeighbors as Exact

    samples, queries = vectors(300, 5, "float32", 1), vectors(20, 5, "float32", 2)
    for metric, name in (("euclidean", "euclidean"), (manhattan, "manhattan")):
        ours = NearestNeighbors(n_neighbors=4, metric=metric).fit(samples)
        exact = Exact(n_neighbors=4, metric=name, algorithm="brute").fit(samples)
        assert ours.effective_metric_ == name
        for arguments in ((queries,), (), (queries, 2)):
            distances, neighbors = ours.kneighbors(*arguments)
            expected = exact.kneighbors(*arguments)
            np.testing.assert_allclose(distances, expected[0], rtol=1e-4)
            np.testing.assert_array_equal(neighbors, expected[1])
            np.testing.assert_array_equal(ours.kneighbors(*arguments, return_distance=False), neighbors)
            for mode in ("connectivity", "distance"):
                graph = ours.kneighbors_graph(*arguments, mode=mode)
                np.testing.assert_allclose(
                    graph.toarray(), exact.kneighbors_graph(*arguments, mode=mode).toarray(), rtol=1e-4
                )


@pytest.mark.parametrize("metric", ["euclidean", manhattan])
def test_within_a_radius_as_scikit_learn(metric):
    from sklearn.neighbors import NearestNeighbors as Exact

    samples, queries = vectors(300, 5, "float32", 1), vectors(20, 5, "float32", 2)
    name = "manhattan" if metric is manhattan else metric
    ours = NearestNeighbors(radius=1.7, metric=metric).fit(samples)
    exact = Exact(radius=1.7, metric=name, algorithm="brute").fit(samples)
    for arguments in ((queries,), (), (queries, 3.1), (queries, 0.0)):
        distances, neighbors = ours.radius_neighbors(*arguments)
        wanted = exact.radius_neighbors(*arguments, sort_results=True)
        for one, other, ids, others in zip(distances, wanted[0], neighbors, wanted[1], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4)
            assert sorted(ids) == sorted(others)
        alone = ours.radius_neighbors(*arguments, return_distance=False, sort_results=True)
        assert all((one == other).all() for one, other in zip(alone, neighbors, strict=True))
        for mode in ("connectivity", "distance"):
            graph = ours.radius_neighbors_graph(*arguments, mode=mode)
            expected = exact.radius_neighbors_graph(*arguments, mode=mode)
            np.testing.assert_allclose(graph.toarray(), expected.toarray(), rtol=1e-4)
            assert (graph.format, graph.nnz) == ("csr", expected.nnz)
    with pytest.raises(
        ArgumentError, match=r"^max_results is 3, and the search stopped with \d+ rows within the radius;"
    ):
        ours.radius_neighbors(queries, 9.0, max_results=3)
    with pytest.raises(ArgumentError, match=r"^mode is 'nearest', it must be 'connectivity' or 'distance'$"):
        ours.radius_neighbors_graph(queries, mode="nearest")
    with pytest.raises(ArgumentError, match=r"^sort_results is 1, it must be True or False$"):
        ours.radius_neighbors(queries, sort_results=1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_element_types_are_kept(dtype):
    samples = vectors(60, 4, dtype, 1)
    model = NearestNeighbors(2).fit(samples)
    assert model.index_.dtype == np.dtype(dtype)
    distances, neighbors = model.kneighbors(samples[:5])
    assert neighbors[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert (distances[:, 0] == 0).all()


def test_other_types_become_float32():
    model = NearestNeighbors(1).fit([[0, 0], [3, 4]])
    assert model.index_.dtype == np.float32
    assert model.kneighbors(np.array([[3.0, 4.0]]))[1].tolist() == [[1]]
    bits = NearestNeighbors(1, metric="bitwise_hamming").fit(vectors(10, 3, "uint8", 1))
    with pytest.raises(DtypeError, match=r"argument 'queries' has dtype float32, it must be uint8"):
        bits.kneighbors([[0.5, 1.0, 2.0]])


def test_lists_and_probes():
    samples = vectors(4000, 4, "float32", 1)
    model = NearestNeighbors().fit(samples)
    assert model.index_.n_lists == 63
    few = NearestNeighbors(n_probes=1).fit(samples).kneighbors(samples[:200], return_distance=False)
    many = NearestNeighbors(n_probes=63).fit(samples).kneighbors(samples[:200], return_distance=False)
    assert not np.array_equal(few, many)
    assert NearestNeighbors(n_lists=7).fit(samples).index_.n_lists == 7
    one, two = (NearestNeighbors(random_state=np.random.RandomState(seed)).fit(samples) for seed in (1, 1))
    np.testing.assert_array_equal(one.index_.centers, two.index_.centers)


def test_a_sample_that_has_twins_is_not_its_own_neighbour():
    model = NearestNeighbors(3).fit(np.zeros((6, 2), np.float32))
    neighbors = model.kneighbors(return_distance=False)
    assert neighbors.shape == (6, 3)
    for row, found in enumerate(neighbors.tolist()):
        assert row not in found
        assert len(set(found)) == 3


def test_pickle_keeps_the_index():
    samples = vectors(1500, 4, "float32", 1)
    model = NearestNeighbors(metric=manhattan, n_probes=2).fit(samples)
    other = pickle.loads(pickle.dumps(model))
    for one, two in zip(model.kneighbors(samples[:20]), other.kneighbors(samples[:20]), strict=True):
        np.testing.assert_array_equal(one, two)


def test_refused():
    model = NearestNeighbors(3)
    with pytest.raises(ValueError, match="not fitted"):
        model.kneighbors([[0.0, 0.0]])
    model.fit(np.zeros((3, 2), np.float32))
    with pytest.raises(ArgumentError, match=r"Expected n_neighbors <= n_samples_fit, but n_neighbors = 4, n_samples_f"):
        model.kneighbors([[0.0, 0.0]], 4)
    with pytest.raises(ArgumentError, match=r"n_samples_fit = 3, and no sample is its own neighbour"):
        model.kneighbors()
    with pytest.raises(ArgumentError, match=r"mode is 'other', it must be 'connectivity' or 'distance'"):
        model.kneighbors_graph(mode="other")
    with pytest.raises(ArgumentError, match=r"random_state is 'x', it must be an integer from 0"):
        NearestNeighbors(random_state="x").fit(np.zeros((3, 2), np.float32))
    for array in ([["a"]], [[0.0], [0.0, 1.0]]):
        with pytest.raises(ArgumentError, match=r"X cannot be used: "):
            NearestNeighbors().fit(array)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (lambda x, y, acc: acc, "metric is the function '<lambda>'; decorate it with @annudf.metric(...)"),
        ("seuclidean", "metric 'seuclidean' has parameters; write metrics.get('seuclidean', V=...)"),
        (
            "manhatten",
            "metric is 'manhatten', it must be one of 'sqeuclidean', 'euclidean', 'inner_product', 'cosine', ",
        ),
        (None, "metric is None, it must be one of 'sqeuclidean', 'euclidean', 'inner_product', 'cosine', "),
    ],
)
def test_refused_metrics(metric, message):
    with pytest.raises(ArgumentError) as caught:
        NearestNeighbors(metric=metric).fit(np.zeros((3, 2), np.float32))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "canberra"])
def test_metrics_by_name(metric):
    samples = vectors(300, 4, "float32", 1)
    model = NearestNeighbors(3, metric=metric).fit(samples)
    assert model.effective_metric_ == metric
    expected = pairwise_distance(samples[:20], samples, metric=metric)
    distances, neighbors = model.kneighbors(samples[:20])
    np.testing.assert_array_equal(distances, np.sort(expected, axis=1)[:, :3])
    np.testing.assert_array_equal(np.take_along_axis(expected, neighbors, 1), distances)


def test_seeds_of_numpy():
    samples = vectors(3000, 4, "float32", 1)
    centers = []
    for seed in (1, 1, 2):
        np.random.seed(seed)  # noqa: NPY002 - the state that None stands for
        centers.append(NearestNeighbors(random_state=None).fit(samples).index_.centers)
    np.testing.assert_array_equal(centers[0], centers[1])
    assert not np.array_equal(centers[0], centers[2])


def test_queries_become_the_integers_of_the_samples():
    model = NearestNeighbors(1).fit(np.array([[0, 0], [255, 4]], np.uint8))
    for queries in ([[250, 4]], [[250.0, 4.0]], np.array([[250, 4]]), np.array([[250, 4]], np.int16)):
        assert model.kneighbors(queries)[1].tolist() == [[1]]
    for queries, nearest, distance in (([[256, 4]], 1, 1.0), ([[-1, 4]], 0, 17**0.5), ([[0.5, 4]], 0, 16.25**0.5)):
        distances, neighbors = model.kneighbors(queries)
        assert neighbors.tolist() == [[nearest]]
        np.testing.assert_allclose(distances, [[distance]], rtol=1e-6)


WITHOUT = """
import sys
sys.modules["sklearn"] = None
import numpy as np
from annudf.neighbors import NearestNeighbors
model = NearestNeighbors(2)
print(model)
try:
    model.kneighbors([[0, 0]])
except ValueError as error:
    print(error)
model.set_params(n_neighbors=1).fit([[0, 0], [3, 4]])
print(model.get_params()["n_neighbors"], model.n_features_in_, model.kneighbors([[3, 3]]))
for array in (None, [[1j]]):
    try:
        model.fit(array)
    except ValueError as error:
        print(error)
try:
    model.set_params(q=2)
except ValueError as error:
    print(error)
"""


def test_without_scikit_learn():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "NearestNeighbors(n_neighbors=2, radius=1.0, metric='euclidean', p=2.0, mode='distance', n_lists=None, "
        "n_probes=None, recall=0.95, random_state=0, on_nan='warn')",
        "this NearestNeighbors is not fitted yet; call fit() first",
        "1 2 (array([[1.]], dtype=float32), array([[1]]))",
        "X cannot be used: it has shape () and dtype object; give rows of real numbers",
        "X cannot be used: it has shape (1, 1) and dtype complex128; give rows of real numbers",
        "no parameter 'q'; there are n_neighbors, radius, metric, p, mode, n_lists, n_probes, recall, random_state, "
        "on_nan",
    ]
