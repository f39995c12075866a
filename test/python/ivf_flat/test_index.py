# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Parameters, building, extending, removing."""

from __future__ import annotations

import copy
import inspect
import pickle
import re

import numpy as np
import pytest

from annudf import ArgumentError, DtypeError, InputError, ivf_flat
from reference import DTYPES, check, distances_of, vectors


def search(index, queries, k=5, **params):
    return ivf_flat.search(ivf_flat.SearchParams(n_probes=index.n_lists, **params), index, queries, k)


def test_defaults_are_those_of_cuvs():
    params = ivf_flat.IndexParams()
    assert (params.n_lists, params.metric, params.metric_arg) == (1024, "sqeuclidean", 2.0)
    assert (params.kmeans_n_iters, params.kmeans_trainset_fraction) == (20, 0.5)
    assert (params.adaptive_centers, params.add_data_on_build) == (False, True)
    assert params.conservative_memory_allocation is False
    assert repr(params) == (
        "IndexParams(n_lists=1024, metric='sqeuclidean', kmeans_n_iters=20, kmeans_trainset_fraction=0.5, seed=1)"
    )
    names = {
        ivf_flat.build: ["index_params", "dataset", "resources"],
        ivf_flat.extend: ["index", "new_vectors", "new_indices", "resources"],
        ivf_flat.search: ["search_params", "index", "queries", "k", "neighbors", "distances", "resources", "filter"],
        ivf_flat.save: ["filename", "index", "include_dataset", "resources"],
        ivf_flat.load: ["filename", "resources"],
    }
    for function, expected in names.items():
        parameters = inspect.signature(function).parameters.values()
        assert [one.name for one in parameters if one.kind is not one.KEYWORD_ONLY] == expected


REFUSED_PARAMS = [
    ({"n_lists": 0}, "n_lists is 0, it must be an integer from 1 to 16777216 or 'auto'"),
    ({"n_lists": 2.5}, "n_lists is 2.5, it must be an integer from 1 to 16777216 or 'auto'"),
    ({"n_lists": "all"}, "n_lists is 'all', it must be an integer from 1 to 16777216 or 'auto'"),
    (
        {"metric": "l1"},
        "metric is 'l1', it must be one of 'sqeuclidean', 'euclidean', 'inner_product', 'cosine', or in "
        "SearchParams another name or a function decorated with annudf.metric",
    ),
    (
        {"metric": max},
        "metric is <built-in function max>; an index is clustered by 'sqeuclidean', 'euclidean', "
        "'inner_product' or 'cosine', and a metric of your own goes into SearchParams(metric=...)",
    ),
    (
        {"metric_arg": 3.0},
        "metric_arg is 3.0, but vectors are clustered by a metric without an argument; search by "
        "SearchParams(metric='minkowski', metric_arg=3.0)",
    ),
    ({"kmeans_n_iters": 0}, "kmeans_n_iters is 0, it must be an integer from 1 to 10000"),
    ({"kmeans_trainset_fraction": 0}, "kmeans_trainset_fraction is 0, it must be above 0 and at most 1"),
    (
        {"kmeans_trainset_fraction": 10**400},
        "kmeans_trainset_fraction is an integer of 1329 bits, which does not fit a float",
    ),
    ({"n_lists": 10**5000}, "n_lists is an integer of 16610 bits, it must be an integer from 1 to 16777216 or 'auto'"),
    ({"kmeans_trainset_fraction": float("nan")}, "kmeans_trainset_fraction is nan, it must be above 0 and at most 1"),
    ({"missing_values": 1}, "missing_values is 1, it must be True or False"),
    ({"adaptive_centers": 1}, "adaptive_centers is 1, it must be True or False"),
    ({"add_data_on_build": None}, "add_data_on_build is None, it must be True or False"),
    ({"conservative_memory_allocation": "no"}, "conservative_memory_allocation is 'no', it must be True or False"),
    (
        {"seed": 0},
        "seed is 0, it must be an integer from 1 to 18446744073709551615; 0 says 'the default', 1, to the C interface",
    ),
]


@pytest.mark.parametrize(("changed", "message"), REFUSED_PARAMS)
def test_refused_params(changed, message):
    with pytest.raises(ArgumentError) as caught:
        ivf_flat.IndexParams(**changed)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("params", "name", "message"),
    [
        (
            ivf_flat.SearchParams(),
            "n_probe",
            "SearchParams has no 'n_probe'; it has n_probes, max_probes, min_rows, refine, metric, metric_arg, family, on_nan",
        ),
        (
            ivf_flat.SearchParams(),
            "n_probes",
            "n_probes of SearchParams cannot be set; make others: SearchParams(n_probes=...)",
        ),
        (
            ivf_flat.IndexParams(),
            "nlists",
            "IndexParams has no 'nlists'; it has n_lists, metric, metric_arg, kmeans_n_iters, "
            "kmeans_trainset_fraction, "
            "adaptive_centers, add_data_on_build, missing_values, conservative_memory_allocation, seed",
        ),
    ],
)
def test_parameters_never_change(params, name, message):
    before = repr(params)
    with pytest.raises(AttributeError) as caught:
        setattr(params, name, 50)
    assert str(caught.value) == message
    assert repr(params) == repr(pickle.loads(pickle.dumps(params))) == repr(copy.deepcopy(params)) == before


@pytest.mark.parametrize("dtype", DTYPES)
def test_properties(dtype):
    base = vectors(300, 6, dtype, 1)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=7, conservative_memory_allocation=True), base)
    assert (index.n_lists, index.dim, index.size, len(index)) == (7, 6, 300, 300)
    assert index.dtype == np.dtype(dtype)
    assert index.trained
    assert index.metric == "sqeuclidean"
    assert index.centers.shape == (7, 6)
    assert index.centers.dtype == np.float32
    assert repr(index) == (f"Index(type=IvfFlat, size=300, dim=6, dtype={dtype}, n_lists=7, metric='sqeuclidean')")
    again = ivf_flat.build(ivf_flat.IndexParams(n_lists=7), base)
    np.testing.assert_array_equal(index.centers, again.centers)
    other = ivf_flat.build(ivf_flat.IndexParams(n_lists=7, seed=2), base)
    assert not np.array_equal(index.centers, other.centers)


def test_half_made_params_have_a_repr():
    made = ivf_flat.IndexParams.__new__(ivf_flat.IndexParams)
    with pytest.raises(ArgumentError):
        made.__init__(n_lists=3, kmeans_n_iters=0)
    assert repr(made) == "<IndexParams, half made>"
    assert repr(ivf_flat.SearchParams.__new__(ivf_flat.SearchParams)) == "<SearchParams, half made>"
    assert repr(ivf_flat.IndexParams(n_lists="auto", adaptive_centers=True, add_data_on_build=False)) == (
        "IndexParams(n_lists='auto', metric='sqeuclidean', kmeans_n_iters=20, kmeans_trainset_fraction=0.5, "
        "adaptive_centers=True, add_data_on_build=False, seed=1)"
    )


def test_whole_floats_are_integers():
    params = ivf_flat.IndexParams(n_lists=64.0, kmeans_n_iters=np.float64(3), seed=2.0)
    assert (params.n_lists, params.kmeans_n_iters, params.seed) == (64, 3, 2)
    assert type(params.n_lists) is int


@pytest.mark.parametrize(("rows", "lists"), [(5, 1), (999, 1), (1000, 32), (2500, 50)])
def test_automatic_lists(rows, lists):
    params = ivf_flat.IndexParams(n_lists="auto", kmeans_n_iters=1)
    assert ivf_flat.build(params, vectors(rows, 3, "float32", 3)).n_lists == lists


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("metric", ["sqeuclidean", "inner_product", "cosine"])
def test_centers_first_vectors_later(dtype, metric, tmp_path):
    base = vectors(300, 6, dtype, 1)
    whole = ivf_flat.build(ivf_flat.IndexParams(n_lists=7, metric=metric), base)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=7, metric=metric, add_data_on_build=False), base)
    assert (len(index), index.n_lists, index.dim, index.metric) == (0, 7, 6, metric)
    np.testing.assert_array_equal(index.centers, whole.centers)
    with pytest.raises(ArgumentError, match=r"^k is 1, but the index has 0 rows; add some first$"):
        ivf_flat.search(ivf_flat.SearchParams(metric="l1"), index, base[:1], 1)
    ivf_flat.save(tmp_path / "empty", index)
    index = ivf_flat.load(tmp_path / "empty")
    assert (len(index), index.metric) == (0, metric)
    ids = np.arange(1000, 1300)
    assert ivf_flat.extend(index, base[:150], ids[:150]) is index
    ivf_flat.extend(index, base[150:], ids[150:])
    for probes in (2, 7):
        params = ivf_flat.SearchParams(n_probes=probes, metric="sqeuclidean")
        distances, neighbors = ivf_flat.search(params, index, base[:20], 4)
        expected = ivf_flat.search(params, whole, base[:20], 4)
        np.testing.assert_array_equal(distances, expected[0])
        np.testing.assert_array_equal(neighbors, np.where(expected[1] >= 0, expected[1] + 1000, -1))


def test_vectors_stay_in_a_mapped_file(tmp_path):
    base, queries = vectors(2000, 12, "float32", 1), vectors(40, 12, "float32", 2)
    ivf_flat.save(tmp_path / "index", ivf_flat.build(ivf_flat.IndexParams(n_lists=20), base[:1500]))
    before = (tmp_path / "index").read_bytes()
    read, mapped = (ivf_flat.load(tmp_path / "index", mmap=mmap) for mmap in (False, True))
    for change in (lambda index: None, lambda index: ivf_flat.extend(index, base[1500:])):
        for index in (read, mapped):
            change(index)
        for one, other in zip(search(read, queries, 10), search(mapped, queries, 10), strict=True):
            np.testing.assert_array_equal(one, other)
    assert (tmp_path / "index").read_bytes() == before
    with pytest.raises(ArgumentError, match=r"^mmap is 'r', it must be True or False$"):
        ivf_flat.load(tmp_path / "index", mmap="r")


@pytest.mark.parametrize("dtype", DTYPES)
def test_cosine(dtype, tmp_path):
    base, queries = vectors(2000, 12, dtype, 1), vectors(40, 12, dtype, 2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=20, metric="cosine"), base)
    wide = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (queries.astype(float), base.astype(float))]
    exact = 1 - wide[0] @ wide[1].T
    np.testing.assert_allclose(np.linalg.norm(index.centers, axis=1), 1, rtol=1e-5)
    check(*search(index, queries, 10), exact, rtol=1e-4, atol=1e-6)
    ivf_flat.save(tmp_path / "cosine", index)
    read = ivf_flat.load(tmp_path / "cosine")
    assert read.metric == "cosine"
    # Lists are ranked by it as well: half of them have nearly all of the nearest.
    for one in (index, read):
        _, found = ivf_flat.search(ivf_flat.SearchParams(n_probes=10), one, queries, 10)
        nearest = np.argsort(exact, axis=1)[:, :10]
        assert np.mean([np.isin(row, other).mean() for row, other in zip(found, nearest, strict=True)]) > 0.9


@pytest.mark.parametrize("dtype", DTYPES)
def test_adaptive_centers_are_means(dtype):
    base, more = vectors(300, 6, dtype, 1), vectors(200, 6, dtype, 2)
    trained = ivf_flat.build(ivf_flat.IndexParams(n_lists=7, add_data_on_build=False), base).centers
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=7, adaptive_centers=True), base)
    assert index.adaptive_centers
    assert not ivf_flat.build(ivf_flat.IndexParams(n_lists=7), base).adaptive_centers

    def moved(centers, rows):
        lists = ((rows.astype(np.float64)[:, None] - centers) ** 2).sum(2).argmin(1)
        return lists, np.stack([rows[lists == one].astype(np.float64).mean(0) for one in range(7)])

    lists, expected = moved(trained, base)
    np.testing.assert_allclose(index.centers, expected, rtol=1e-5, atol=1e-5)
    sums = expected * np.bincount(lists, minlength=7)[:, None]
    more_lists, _ = moved(index.centers, more)
    ivf_flat.extend(index, more)
    for one in range(7):
        sums[one] += more[more_lists == one].astype(np.float64).sum(0)
    sizes = np.bincount(np.concatenate([lists, more_lists]), minlength=7)
    np.testing.assert_allclose(index.centers, sums / sizes[:, None], rtol=1e-5, atol=1e-5)
    exact = distances_of(lambda x, y: (x - y) ** 2, more[:20], np.concatenate([base, more]))
    check(*search(index, more[:20]), exact, rtol=1e-4)


def test_repeated_ids_are_refused_unless_allowed():
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), GOOD)
    unless = " unless allow_repeated_ids is set"
    for ids, message in (
        ([60, 49, 61], "new_indices[1] is 49, which the index has; ids must be new" + unless),
        ([60, 61, 60], "new_indices[2] is 60, the id of row 0 too; ids must differ" + unless),
    ):
        with pytest.raises(ArgumentError) as caught:
            ivf_flat.extend(index, GOOD[:3], np.array(ids))
        assert str(caught.value) == message
        assert len(index) == 50
    ivf_flat.extend(index, GOOD[:3], np.array([3, 3, 60]), allow_repeated_ids=True)
    assert sorted(search(index, GOOD[:1], 3)[1][0].tolist())[:2] == [0, 3]
    with pytest.raises(ArgumentError, match=r"^allow_repeated_ids is 1, it must be True or False$"):
        ivf_flat.extend(index, GOOD[:1], np.array([99]), allow_repeated_ids=1)


GOOD = vectors(50, 4, "float32", 2)
REFUSED_DATASETS = [
    (
        GOOD.astype(np.float64),
        DtypeError,
        "argument 'dataset' has dtype float64, it must be float32, float16, int8, "
        "uint8 or bfloat16; convert by .astype(numpy.float32)",
    ),
    (
        GOOD > 0,
        DtypeError,
        "argument 'dataset' has dtype bool, it must be float32, float16, int8, uint8, bfloat16 or "
        "annudf.PackedBits; pack truth values by annudf.PackedBits(dataset), or convert by "
        ".astype(numpy.float32)",
    ),
    (GOOD[:0], ArgumentError, "argument 'dataset' has shape (0, 4): no rows; give at least one"),
    (
        GOOD[:3],
        ArgumentError,
        "n_lists is 4, but argument 'dataset' has only 3 rows; a list needs at least one, better some hundreds",
    ),
    (
        GOOD[0],
        ArgumentError,
        "argument 'dataset' has shape (4,), it must have two dimensions; one vector is .reshape(1, -1)",
    ),
]


@pytest.mark.parametrize(("dataset", "kind", "message"), REFUSED_DATASETS)
def test_refused_datasets(dataset, kind, message):
    with pytest.raises(kind) as caught:
        ivf_flat.build(ivf_flat.IndexParams(n_lists=4), dataset)
    assert str(caught.value) == message
    assert type(caught.value) is kind


def test_dataset_that_is_not_finite():
    base = GOOD.copy()
    base[7, 3] = np.inf
    with pytest.raises(ArgumentError, match=r"row 7.*3") as caught:
        ivf_flat.build(ivf_flat.IndexParams(n_lists=4), base)
    assert not isinstance(caught.value, InputError)
    with pytest.raises(ArgumentError, match=r"index_params is a dict, it must be an ivf_flat\.IndexParams"):
        ivf_flat.build({}, GOOD)


@pytest.mark.parametrize("dtype", DTYPES)
def test_remove(dtype):
    """Extends and removes in turn, against all distances of what should be there."""
    random = np.random.default_rng(5)
    base = vectors(120, 8, dtype, 1)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=6), base)
    rows, ids = base, np.arange(120)
    queries = vectors(20, 8, dtype, 2)
    for step in range(12):
        gone = random.integers(0, index._core.row_extent + 5, random.integers(0, 30))
        kept = ~np.isin(ids, gone)
        assert ivf_flat.remove(index, gone) == (~kept).sum()
        rows, ids = rows[kept], ids[kept]
        assert len(index) == len(ids)
        more = vectors(10, 8, dtype, 10 + step)
        next_ids = np.arange(10) + (ids.max() + 1 if step % 2 else 1000 * (step + 1))
        ivf_flat.extend(index, more, None if step % 2 else next_ids)
        rows, ids = np.concatenate([rows, more]), np.concatenate([ids, next_ids])
        distances, neighbors = search(index, queries)
        exact = distances_of(lambda x, y: (x - y) ** 2, queries, rows)
        np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :5], rtol=1e-5)
        place = {int(one): at for at, one in enumerate(ids)}
        found = np.array([[place[int(one)] for one in line] for line in neighbors])
        np.testing.assert_allclose(np.take_along_axis(exact, found, 1), distances, rtol=1e-5)


def test_remove_all():
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), GOOD)
    assert ivf_flat.remove(index, np.arange(len(GOOD), dtype=np.uint8)) == len(GOOD)
    assert len(index) == 0
    assert ivf_flat.remove(index, np.array([3])) == 0
    with pytest.raises(ArgumentError, match=r"^k is 5, but the index has 0 rows; add some first$"):
        search(index, GOOD[:1])
    again = pickle.loads(pickle.dumps(index))
    ivf_flat.extend(again, GOOD)
    assert search(again, GOOD[:3], 1)[1][:, 0].tolist() == [0, 1, 2]


def test_refused_removals():
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), GOOD)
    for ids, message in (
        (np.array([[1]]), "argument 'ids' has shape (1, 1), it must be of one dimension, one id a vector"),
        (np.array([4, -2]), "ids[1] is -2; ids are 0 or above"),
        (
            np.array([2**63 - 1, 2**63], np.uint64),
            "argument 'ids' has the id 9223372036854775808 at 1; ids are at most 9223372036854775807",
        ),
    ):
        with pytest.raises(ArgumentError, match=f"^{re.escape(message)}$"):
            ivf_flat.remove(index, ids)
    with pytest.raises(DtypeError, match=r"^argument 'ids' has dtype float64, it must be int64"):
        ivf_flat.remove(index, np.array([1.0]))
    with pytest.raises(ArgumentError, match=r"^index is an int, it must be an ivf_flat\.Index"):
        ivf_flat.remove(3, np.array([1]))
    for nothing in (np.array([], np.int64), [], ()):
        assert ivf_flat.remove(index, nothing) == 0
    assert len(index) == len(GOOD)


@pytest.mark.parametrize("dtype", DTYPES)
def test_extend(dtype):
    base, more, queries = (vectors(rows, 5, dtype, seed) for rows, seed in ((200, 3), (80, 4), (9, 5)))
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=8), base)
    assert ivf_flat.extend(index, more) is index
    assert len(index) == 280
    exact = distances_of(lambda x, y: (x - y) ** 2, queries, np.concatenate([base, more]))
    check(*search(index, queries), exact)
    ids = np.arange(1000, 1080)
    named = ivf_flat.extend(ivf_flat.build(ivf_flat.IndexParams(n_lists=8), base), more, ids.astype(np.uint16))
    distances, neighbors = search(named, queries)
    expected = search(index, queries)
    np.testing.assert_array_equal(distances, expected[0])
    np.testing.assert_array_equal(np.where(neighbors >= 1000, neighbors - 800, neighbors), expected[1])


def test_refused_extensions():
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), GOOD)
    cases = [
        ((GOOD.astype(np.float16), None), DtypeError, "argument 'new_vectors' has dtype float16, it must be float32"),
        ((GOOD[:, :3], None), ArgumentError, "argument 'new_vectors' has vectors of 3 dimensions, the index has 4"),
        ((GOOD[:2], [1]), ArgumentError, "argument 'new_indices' has shape (1,), it must be (2,), one id a new vector"),
        ((GOOD[:2], [1, -5]), ArgumentError, "new_indices[1] is -5; ids are 0 or above"),
        (
            (GOOD[:1], np.array([2**63], np.uint64)),
            ArgumentError,
            "argument 'new_indices' has the id 9223372036854775808 at 0; ids are at most 9223372036854775807",
        ),
        ((GOOD[:2], [0.5, 1.0]), DtypeError, "argument 'new_indices' has dtype float64, it must be int64, int32"),
        ((GOOD[:0], None), ArgumentError, "argument 'new_vectors' has shape (0, 4): no rows; give at least one"),
    ]
    for arguments, kind, message in cases:
        with pytest.raises(kind) as caught:
            ivf_flat.extend(index, *arguments)
        assert str(caught.value).startswith(message)
        assert type(caught.value) is kind
        assert len(index) == len(GOOD)


def test_arrays_are_called_as_the_arguments():
    bad = GOOD.copy()
    bad[1, 2] = np.nan
    text = "row 1, dim 2 is nan; every coordinate must be finite unless index and metric say missing_values"
    params = ivf_flat.IndexParams(n_lists=2)
    index = ivf_flat.build(params, GOOD)
    for name, call in (
        ("dataset", lambda: ivf_flat.build(params, bad)),
        ("new_vectors", lambda: ivf_flat.extend(index, bad)),
        ("new_vectors", lambda: ivf_flat.extend(index, bad, np.arange(len(bad)))),
        ("queries", lambda: search(index, bad)),
    ):
        with pytest.raises(ArgumentError) as caught:
            call()
        said = caught.value
        assert str(said) == f"{name}: {text}"
        told = (name, "nan", "finite unless index and metric say missing_values")
        assert (said.argument, said.value, said.allowed) == told


def test_what_is_no_array_has_another_hint():
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), GOOD)
    for queries, hint in (
        (GOOD[:1].tolist(), "uint8 or bfloat16; convert by numpy.asarray(queries, numpy.float32)"),
        (GOOD[:1].astype(np.float64), "uint8 or bfloat16; convert by .astype(numpy.float32)"),
        (GOOD[:1].astype(str), "it must be float32, float16, int8, uint8 or bfloat16; give real numbers"),
        ([["a"]], "it must be float32, float16, int8, uint8 or bfloat16; give real numbers"),
        (GOOD[:1].astype(complex), "it must be float32, float16, int8, uint8 or bfloat16; give real numbers"),
    ):
        with pytest.raises(ArgumentError) as caught:
            search(index, queries)
        assert str(caught.value).endswith(hint)


def test_the_dataset_is_copied():
    base = GOOD.copy()
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), base)
    before = search(index, GOOD)
    base[:] = 0
    del base
    for one, two in zip(before, search(index, GOOD), strict=True):
        np.testing.assert_array_equal(one, two)
