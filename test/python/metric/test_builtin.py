# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Ready-made metrics against SciPy and scikit-learn in float64."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest

from annudf import ArgumentError, CaptureError, DtypeError, _core, ivf_flat, metrics
from annudf._metric import builtin, domains
from annudf.distance import pairwise_distance
from annudf.neighbors import NearestNeighbors, brute_force
from reference import check

spatial = pytest.importorskip("scipy.spatial.distance")
pairwise = pytest.importorskip("sklearn.metrics.pairwise")
special = pytest.importorskip("scipy.special")

ROWS, QUERIES = 400, 9


def numbers(dims: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    base, queries = random.normal(size=(ROWS, dims)), random.normal(size=(QUERIES, dims))
    base[:5, : dims // 2] = 0  # Terms of 0 / 0 among them.
    queries[0, : dims // 2 + 1] = 0
    return base.astype(np.float32), queries.astype(np.float32)


def distributions(dims: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    base, queries = (np.abs(one) + 0.01 for one in numbers(dims, seed))
    base[:7, :1] = 0
    return tuple((one / one.sum(axis=1, keepdims=True)).astype(np.float32) for one in (base, queries))


def places(_: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    both = [random.uniform((-np.pi / 2, -np.pi), (np.pi / 2, np.pi), size=(n, 2)) for n in (ROWS, QUERIES)]
    both[0][0] = -both[1][0][0], both[1][0][1] + np.pi  # Opposite points.
    both[0][1] = both[1][1]
    return both[0].astype(np.float32), both[1].astype(np.float32)


def booleans(dims: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    base, queries = random.random((ROWS, dims)) < 0.3, random.random((QUERIES, dims)) < 0.5
    base[0] = base[1] = False
    queries[0] = False  # 0 / 0.
    base[2] = True
    return base.astype(np.uint8) * 3, queries.astype(np.uint8)


def by_scipy(name, **options):
    return lambda q, b: spatial.cdist(q.astype(np.float64), b.astype(np.float64), name, **options)


def of_booleans(name):
    function = getattr(spatial, name)

    def one(q, b):  # For 0 / 0 some give NaN and one an exception.
        return np.nan_to_num(function(q, b)) if q.any() or b.any() or name != "sokalsneath" else 0.0

    def distances(queries, base):
        with np.errstate(all="ignore"):
            return np.array([[one(q != 0, b != 0) for b in base] for q in queries], np.float64)

    return distances


def hellinger(q, b):
    return np.sqrt(np.maximum(1 - np.sqrt(q[:, None].astype(np.float64) * b[None]).sum(axis=2), 0))


def kl_divergence(q, b):
    return special.rel_entr(q[:, None].astype(np.float64), b[None].astype(np.float64)).sum(axis=2)


def jensenshannon(q, b):
    q, b = q[:, None].astype(np.float64), b[None].astype(np.float64)
    middle = (q + b) / 2
    return np.sqrt((special.rel_entr(q, middle) + special.rel_entr(b, middle)).sum(axis=2) / 2)


def records(dims, seed):
    """Numbers, and codes of categories in every third dimension."""
    base, queries = numbers(dims, seed)
    for one in (base, queries):
        one[:, ::3] = np.floor(one[:, ::3])
    return base, queries


RANGES = np.ptp(records(17, 5)[0], axis=0).astype(np.float32)
RANGES[::3] = 0
RANGES[4] = 0.0


def gower(q, b):
    q, b = q[:, None].astype(np.float64), b[None].astype(np.float64)
    with np.errstate(all="ignore"):
        return np.where(RANGES == 0, q != b, np.abs(q - b) / RANGES.astype(np.float64)).mean(axis=2)


VARIANCES = np.random.default_rng(4).uniform(0.5, 2, size=17).astype(np.float32)
TRUTH = {
    "canberra": (numbers, by_scipy("canberra"), {}),
    "cityblock": (numbers, by_scipy("cityblock"), {}),
    "chebyshev": (numbers, by_scipy("chebyshev"), {}),
    "sqeuclidean": (numbers, by_scipy("sqeuclidean"), {}),
    "euclidean": (numbers, by_scipy("euclidean"), {}),
    "minkowski": (numbers, by_scipy("minkowski", p=3), {"p": 3}),
    "seuclidean": (numbers, by_scipy("seuclidean", V=VARIANCES.astype(np.float64)), {"V": VARIANCES}),
    "gower": (records, gower, {"ranges": RANGES}),
    "cosine": (numbers, pairwise.cosine_distances, {}),
    "nan_euclidean": (numbers, pairwise.nan_euclidean_distances, {}),  # With NaN: ivf_flat/test_missing_values.py.
    "correlation": (numbers, by_scipy("correlation"), {}),
    "braycurtis": (numbers, by_scipy("braycurtis"), {}),
    "chi2": (
        distributions,
        lambda q, b: -pairwise.additive_chi2_kernel(q.astype(np.float64), b.astype(np.float64)),
        {},
    ),
    "hellinger": (distributions, hellinger, {}),
    "kl_divergence": (distributions, kl_divergence, {}),
    "jensenshannon": (distributions, jensenshannon, {}),
    "haversine": (
        places,
        lambda q, b: pairwise.haversine_distances(q.astype(np.float64), b.astype(np.float64)),
        {},
    ),
    "hamming": (records, by_scipy("hamming"), {}),
    "jaccard": (booleans, of_booleans("jaccard"), {}),
    "dice": (booleans, of_booleans("dice"), {}),
    "rogerstanimoto": (booleans, of_booleans("rogerstanimoto"), {}),
    "russellrao": (booleans, of_booleans("russellrao"), {}),
    "sokalsneath": (booleans, of_booleans("sokalsneath"), {}),
    "yule": (booleans, of_booleans("yule"), {}),
}
OTHERS = {"inner_product", "bitwise_hamming", "l1", "lp", "manhattan"}
"""Tested in ivf_flat/test_search.py, and other names of the same."""


def test_every_metric_is_compared() -> None:
    assert set(metrics.names()) == set(TRUTH) | OTHERS


def test_names_stand_for_what_the_core_takes_them_for() -> None:
    names = metrics.names()
    assert {name: _core.builtin_metric(name) for name in names} == {name: builtin.builtin_text(name) for name in names}


@pytest.mark.parametrize("name", TRUTH)
def test_equals_scipy_or_scikit_learn(name):
    make, truth, captures = TRUTH[name]
    base, queries = make(17, 5)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=5), base)
    params = ivf_flat.SearchParams(n_probes=5, metric=metrics.get(name, **captures))
    distances, neighbors = ivf_flat.search(params, index, queries, ROWS)
    exact = truth(queries, base)
    assert (neighbors >= 0).all()
    # Every row's distance, whatever its rank; the square root of a difference of sums near 0 keeps half of the digits.
    loose = name in {"hellinger", "jensenshannon", "haversine"}
    np.testing.assert_allclose(
        distances, np.take_along_axis(exact, neighbors, axis=1), rtol=1e-4, atol=2e-3 if loose else 1e-5
    )
    check(*ivf_flat.search(params, index, queries, 10), exact, rtol=1e-4, atol=2e-3 if loose else 1e-5)


@pytest.mark.parametrize("p", [0.5, 1, 2, 2.5, 3])
def test_minkowski_takes_its_exponent_as_an_argument(p):
    base, queries = numbers(17, 6)
    exact = by_scipy("minkowski", p=p)(queries, base)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=5), base)
    for name in ("minkowski", "lp"):
        params = ivf_flat.SearchParams(n_probes=5, metric=name, metric_arg=p)
        check(*ivf_flat.search(params, index, queries, 10), exact, rtol=1e-4)
    rows = brute_force.build(base, "minkowski", p)
    check(*brute_force.search(rows, queries, 10), exact, rtol=1e-4)
    check(*brute_force.knn(base, queries, 10, metric="minkowski", metric_arg=p), exact, rtol=1e-4)
    np.testing.assert_allclose(pairwise_distance(queries, base, metric="minkowski", p=p), exact, rtol=1e-4)
    estimator = NearestNeighbors(n_neighbors=10, metric="minkowski", p=p).fit(base)
    check(*estimator.kneighbors(queries), exact, rtol=1e-4)


def test_the_exponent_is_shown_and_two_by_default():
    base, queries = numbers(6, 6)
    params = ivf_flat.SearchParams(metric="minkowski", metric_arg=3)
    assert repr(params) == "SearchParams(n_probes=20, metric='minkowski', metric_arg=3.0)"
    assert (params.metric, params.metric_arg) == ("minkowski", 3.0)
    index = brute_force.build(base, "minkowski", 3)
    assert repr(index) == "Index(type=BruteForce, size=400, dim=6, dtype=float32, metric='minkowski', metric_arg=3.0)"
    assert index.metric_arg == 3.0
    of_two = pairwise_distance(queries, base, metric="minkowski")
    np.testing.assert_array_equal(of_two, pairwise_distance(queries, base, metric="euclidean"))
    assert metrics.get("minkowski").captures["p"].item() == 2


def test_zero_vectors_are_at_distance_one_as_in_scikit_learn():
    base = np.array([[0, 0], [1, 0], [0, -2]], np.float32)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), base)
    params = ivf_flat.SearchParams(n_probes=1, metric="cosine")
    distances, neighbors = ivf_flat.search(params, index, np.array([[0, 0], [0, 3]], np.float32), 3)
    assert distances.tolist() == [[1, 1, 1], [1, 1, 2]]
    assert neighbors.tolist() == [[0, 1, 2], [0, 1, 2]]


@pytest.mark.parametrize("offset", [0, 1, 1e3, 1e6])
@pytest.mark.parametrize("dims", [3, 17, 128, 4097])
def test_correlation_of_vectors_far_from_zero(dims, offset):
    random = np.random.default_rng(dims)
    base, queries = ((random.normal(size=(rows, dims)) + offset).astype(np.float32) for rows in (100, 7))
    # SciPy subtracts the mean in float64, as the first step.
    exact = by_scipy("correlation")(queries, base)
    np.testing.assert_allclose(pairwise_distance(queries, base, metric="correlation"), exact, rtol=1e-5, atol=1e-6)


def test_correlation_of_bytes():
    random = np.random.default_rng(4)
    for dtype in (np.uint8, np.int8):
        limits = np.iinfo(dtype)
        base = random.integers(limits.min, limits.max + 1, size=(50, 33)).astype(dtype)
        exact = by_scipy("correlation")(base[:5], base)
        np.testing.assert_allclose(pairwise_distance(base[:5], base, metric="correlation"), exact, rtol=1e-5, atol=1e-6)


def test_constant_vectors_correlate_with_nothing():
    """SciPy has NaN there. 0.1 has no finite binary fraction, so that a mean that is rounded would differ from it."""
    base = np.stack([np.full(1001, 0.1), np.zeros(1001), np.full(1001, -1e6), np.arange(1001)]).astype(np.float32)
    distances = pairwise_distance(base, base, metric="correlation")
    expected = np.ones((4, 4), np.float32)
    expected[3, 3] = 0
    np.testing.assert_allclose(distances, expected, atol=1e-6)


@pytest.mark.parametrize("name", ["hellinger", "kl_divergence", "jensenshannon", "chi2"])
def test_negative_coordinates_have_no_distance(name):
    base = np.array([[0.5, 0.5], [-0.5, 1.5], [-0.9, -0.1]], np.float32)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), base)
    params = ivf_flat.SearchParams(n_probes=1, metric=name)
    _, neighbors = ivf_flat.search(params, index, np.array([[0.5, 0.5], [-0.9, -0.1]], np.float32), 3)
    assert neighbors.tolist() == [[0, -1, -1], [-1, -1, -1]]


def test_jensenshannon_of_denormals():
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), np.array([[1e-45, 1]], np.float32))
    params = ivf_flat.SearchParams(n_probes=1, metric="jensenshannon")
    assert ivf_flat.search(params, index, np.array([[0, 1]], np.float32), 1)[0].item() < 1e-6


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: metrics.get("minkowsky"),
            ArgumentError,
            "metric is 'minkowsky' (did you mean 'minkowski'?), it must be one of 'sqeuclidean', ",
        ),
        (lambda: metrics.get("seuclidean"), CaptureError, "metric 'seuclidean' needs V=..."),
        (
            lambda: metrics.get("minkowski", p=0),
            ArgumentError,
            "p is 0, of 'minkowski' it must be positive and finite",
        ),
        (
            lambda: ivf_flat.SearchParams(metric="lp", metric_arg=np.inf),
            ArgumentError,
            "metric_arg is inf, of 'minkowski' it must be positive and finite; its limit for inf is 'chebyshev'",
        ),
        (
            lambda: ivf_flat.SearchParams(metric="l1", metric_arg=3),
            ArgumentError,
            "metric_arg is 3, which is for metric='minkowski'; 'l1' has no argument",
        ),
        (
            lambda: ivf_flat.SearchParams(metric_arg=3),
            ArgumentError,
            "metric_arg is 3, which is for metric='minkowski'; give both",
        ),
        (
            lambda: ivf_flat.SearchParams(metric="minkowski", metric_arg="3"),
            ArgumentError,
            "metric_arg is '3', it must be a number",
        ),
        (
            lambda: ivf_flat.SearchParams(metric="seuclidean"),
            ArgumentError,
            "metric 'seuclidean' has parameters; write metrics.get('seuclidean', V=...)",
        ),
        *(
            (
                lambda given=given: metrics.get("minkowski", p=3).bind(p=given),
                CaptureError,
                f"p is {given!r}, of 'minkowski' it must be positive and finite",
            )
            for given in (-2.0, 0.0, 0, np.nan, np.float32(-1))
        ),
        (
            lambda: metrics.get("minkowski", p=np.array(np.inf, np.float32)),
            CaptureError,
            "p is inf, of 'minkowski' it must be positive and finite; its limit for inf is 'chebyshev'",
        ),
        *(
            (
                lambda given=given: metrics.get("seuclidean", V=np.array([1, 2, given], np.float32)),
                CaptureError,
                f"V[2] is {given}, of 'seuclidean' it must be positive and finite",
            )
            for given in (-1.0, 0.0, np.inf, np.nan)
        ),
        (
            lambda: metrics.get("seuclidean", V=VARIANCES).bind(V=-VARIANCES),
            CaptureError,
            f"V[0] is {float(-VARIANCES[0])}, of 'seuclidean' it must be positive and finite",
        ),
        (
            lambda: metrics.get("gower", ranges=[0.0, -1.0]),
            CaptureError,
            "ranges[1] is -1.0, of 'gower' it must be 0 or above, and finite",
        ),
        (lambda: metrics.get("l1", p=1), CaptureError, "metric 'l1' has no capture 'p'; it has none"),
        (
            lambda: metrics.get("mahalanobis"),
            ArgumentError,
            "metric 'mahalanobis' needs two passes over a vector; multiply vectors and queries by the transposed Cholesky",
        ),
        (lambda: metrics.text(3), ArgumentError, "metric is 3, it must be one of"),
    ],
)
def test_refused(call, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        call()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        (
            "L2",
            "'sqeuclidean', as FAISS and annudf's command line call it, or 'euclidean', as cuVS and scikit-learn do",
        ),
        ("METRIC_INNER_PRODUCT", "'inner_product'"),
        ("ip", "'inner_product'"),
        ("Cosine", "'cosine'"),
        ("Linf", "'chebyshev'"),
        ("sq-euclidean", "'sqeuclidean'"),
        ("nothing like it", ""),
        ("", ""),
    ],
)
def test_a_name_of_another_library_is_answered_with_ours(name, meant):
    with pytest.raises(ArgumentError) as caught:
        metrics.get(name)
    hint = f" (did you mean {meant}?)" if meant else ""
    assert str(caught.value).startswith(f"metric is {name!r}{hint}, it must be one of 'sqeuclidean', ")


def test_only_what_is_taken_there_is_suggested():
    with pytest.raises(ArgumentError, match=r"^metric is 'linf', it must be one of 'sqeuclidean', "):
        ivf_flat.IndexParams(metric="linf")
    with pytest.raises(ArgumentError, match=r"^metric is 'ip' \(did you mean 'inner_product'\?\), it must"):
        ivf_flat.IndexParams(metric="ip")


def test_every_suggestion_is_a_name():
    assert {one for near in builtin._NAMED_ELSEWHERE.values() for one in near} <= set(metrics.names())
    assert not set(builtin._NAMED_ELSEWHERE) & set(metrics.names())


def test_every_parameter_has_a_domain():
    named = {(name, one) for name in _core.builtin_metrics() for one in builtin._parameters(name)}
    assert named == set(domains.CONDITIONS)


def test_a_pickle_keeps_the_domain():
    sent = pickle.loads(pickle.dumps(metrics.get("minkowski", p=3)))
    assert sent.bind(p=4).captures["p"] == 4
    with pytest.raises(CaptureError, match=r"^p is -2, of 'minkowski' it must be positive and finite$"):
        sent.bind(p=-2)


def test_booleans_are_bytes():
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), np.eye(3, dtype=np.float32))
    with pytest.raises(DtypeError, match="metric 'jaccard' does not accept vectors of float32"):
        ivf_flat.search(ivf_flat.SearchParams(metric="jaccard"), index, np.eye(3, dtype=np.float32), 1)


def test_what_the_messages_advise_is_right():
    base, queries = numbers(6, 9)
    index = ivf_flat.build(
        ivf_flat.IndexParams(n_lists=1), (base - base.mean(axis=1, keepdims=True)).astype(np.float32)
    )
    centred = (queries - queries.mean(axis=1, keepdims=True)).astype(np.float32)
    distances, _ = ivf_flat.search(ivf_flat.SearchParams(metric="cosine"), index, centred, 5)
    exact = np.sort(by_scipy("correlation")(queries, base), axis=1)[:, :5]  # The faster way, in docs/use/metrics.md.
    np.testing.assert_allclose(distances, exact, atol=1e-5)

    inverse = np.linalg.inv(np.cov(base.astype(np.float64).T))
    factor = np.linalg.cholesky(inverse).astype(np.float32)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), base @ factor)
    distances, _ = ivf_flat.search(ivf_flat.SearchParams(metric="euclidean"), index, queries @ factor, 5)
    exact = np.sort(by_scipy("mahalanobis", VI=inverse)(queries, base), axis=1)[:, :5]
    np.testing.assert_allclose(distances, exact, rtol=1e-4)
