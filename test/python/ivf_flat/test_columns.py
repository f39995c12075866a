# Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Columns of an index against the same values as arrays that ids index, to the bit."""

import math
import pickle

import numpy as np
import pytest

import annudf
from annudf import brute_force, ivf_flat
from annudf.neighbors import NearestNeighbors
from on_devices import on_each_device

DIM = 8


def age_of(ids):
    return ((ids * 37) % 101 / 8).astype(np.float32)


def group_of(ids):
    return (ids % 7).astype(np.int16)


def columns_of(ids):
    return {"age": age_of(ids), "group": group_of(ids)}


@annudf.metric(captures={"age": ivf_flat.column(np.float32)})
def in_update(x, y, acc, ctx):
    return acc + (x - y) ** 2 * ctx.age[ctx.row]


def decayed(acc, ctx):
    return acc * (1.0 + ctx.rate * ctx.age[ctx.row])


@annudf.metric(captures={"age": ivf_flat.column(np.float32), "rate": 0.25}, finalize=decayed)
def in_finalize(x, y, acc, ctx):
    return acc + (x - y) ** 2


@annudf.metric(captures={"age": ivf_flat.column(np.float32)})
def beside_the_id(x, y, acc, ctx):
    return acc + abs(x - y) + ctx.age[ctx.row] + (ctx.row % 3)


@annudf.metric(captures={"age": ivf_flat.column(np.float32), "price": np.arange(100000, dtype=np.float32) % 13})
def beside_an_array(x, y, acc, ctx):
    return acc + (x - y) ** 2 + ctx.age[ctx.row] * ctx.price[ctx.row]


@annudf.metric(captures={"age": ivf_flat.column(np.float32), "group": ivf_flat.column(np.int16)}, dtype="float64")
def of_two(x, y, acc, ctx):
    return acc + ((x - y) ** 2 + ctx.age[ctx.row] if ctx.group[ctx.row] > 2 else abs(x - y))


def l2_of_two(acc, ctx):
    return math.sqrt(acc) + ctx.age[ctx.row]


@annudf.metric(captures={"age": ivf_flat.column(np.float32)}, finalize=l2_of_two)
def rooted(x, y, acc, ctx):
    return acc + (x - y) ** 2


METRICS = (in_update, in_finalize, beside_the_id, beside_an_array, of_two, rooted)


@annudf.filter(captures={"group": ivf_flat.column(np.int16), "most": np.int16(3)})
def few(ctx):
    return ctx.group[ctx.row] <= ctx.most


def vectors(count, seed):
    return np.random.default_rng(seed).integers(-30, 30, (count, DIM)).astype(np.float32)


def with_arrays(one, extent):
    """The same metric or filter with values that ids index."""
    ids = np.arange(extent)
    named = {"age": age_of(ids), "group": group_of(ids)}
    unbound = (one._metric if isinstance(one, ivf_flat.CodeFilter) else one)._columns
    return one.bind(**{name: named[name] for name in unbound})


def found(index, metric, n_queries, k=12, **arguments):
    family, device = arguments.pop("family", None), arguments.pop("device", "cpu")
    params = ivf_flat.SearchParams(n_probes=arguments.pop("n_probes", 4), metric=metric, family=family)
    queries = vectors(n_queries, 99)
    place = annudf.Resources(device=device)
    distances, ids = ivf_flat.search(params, index, queries, k, resources=place, **arguments)
    return distances.view(np.uint32).tolist(), ids.tolist()


def compare(index, device="cpu"):
    extent = index._core.row_extent
    for metric in METRICS:
        explicit = with_arrays(metric, extent)
        for n_queries in (1, 9):
            for kept in (None, few):
                bound = None if kept is None else with_arrays(kept, extent)
                for n_probes in (3, index.n_lists):
                    given = {"n_probes": n_probes, "device": device}
                    ours = found(index, metric, n_queries, filter=kept, **given)
                    assert ours == found(index, explicit, n_queries, filter=bound, **given), metric.name
    group = group_of(np.array(found(index, in_update, 9, filter=few, device=device)[1]))
    assert (group <= 3).all()


@pytest.fixture
def index():
    params = ivf_flat.IndexParams(n_lists=7, kmeans_n_iters=4)
    return ivf_flat.build(params, vectors(400, 1), columns=columns_of(np.arange(400)))


@annudf.metric
def beside_the_list(x, y, acc, ctx):
    return acc + abs(x - y) + ctx.list


@pytest.mark.filterwarnings("ignore::annudf.CaptureWarning")
@on_each_device
def test_rows_that_pass_are_gathered_unless_hooks_see_where_they_were(index, device, monkeypatch):
    ids = np.arange(1000, 1300)
    ivf_flat.extend(index, vectors(300, 2), ids, columns=columns_of(ids))
    ivf_flat.remove(index, np.arange(0, 1300, 9))
    place = annudf.Resources(device=device)
    for metric in (*METRICS, beside_the_list):
        passing = np.arange(1300) % 7 == 0
        params = ivf_flat.SearchParams(n_probes=index.n_lists, metric=metric)
        results = {}
        for gather in "01":
            monkeypatch.setenv("ANNUDF_GATHER", gather)
            distances, ids, stats = ivf_flat.search(
                params, index, vectors(9, 99), 12, filter=passing, resources=place, return_stats=True
            )
            results[gather] = distances.view(np.uint32).tolist(), ids.tolist(), stats.passing_share
            may = metric is not beside_the_list and (device == "cpu" or metric in (beside_the_id, beside_an_array))
            assert ("are gathered" in stats.why) == (gather == "1" and may), (metric.name, stats.why)
        assert results["0"] == results["1"], metric.name


@pytest.mark.filterwarnings("ignore::annudf.CaptureWarning")
@on_each_device
def test_searches_are_those_with_arrays(index, tmp_path, device):
    assert index.columns == {"age": np.dtype(np.float32), "group": np.dtype(np.int16)}
    compare(index, device)
    rng = np.random.default_rng(3)
    ids = rng.permutation(np.arange(1000, 1300))
    ivf_flat.extend(index, vectors(300, 2), ids, columns=columns_of(ids))
    compare(index, device)
    assert ivf_flat.remove(index, rng.permutation(np.concatenate([ids, np.arange(400)]))[:333]) == 333
    compare(index, device)
    ivf_flat.save(tmp_path / "index", index)
    loaded = ivf_flat.load(tmp_path / "index")
    assert loaded.columns == index.columns
    compare(loaded, device)
    compare(pickle.loads(pickle.dumps(index)), device)
    ids = np.arange(5000, 5040)
    ivf_flat.extend(loaded, vectors(40, 4), ids, columns=columns_of(ids))
    compare(loaded, device)


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore::annudf.CaptureWarning")
def test_lists_stay_on_their_device():
    gpu = annudf.Resources(device="cuda")
    params = ivf_flat.IndexParams(n_lists=7, kmeans_n_iters=4)
    there = ivf_flat.build(params, vectors(400, 1), gpu, columns=columns_of(np.arange(400)))
    ids = np.random.default_rng(3).permutation(np.arange(1000, 1300))
    ivf_flat.extend(there, vectors(300, 2), ids, gpu, columns=columns_of(ids))
    assert ivf_flat.remove(there, ids[:200], gpu) == 200
    assert there._core.device == 0
    compare(there, "cuda")
    assert there._core.device == 0
    one = ids[200:201]
    again = {"age": age_of(one), "group": np.where(group_of(one) <= 3, 6, 0).astype(np.int16)}
    ivf_flat.extend(there, vectors(1, 4), one, gpu, allow_repeated_ids=True, columns=again)
    with pytest.raises(annudf.ArgumentError, match=r"^filter 'few' keeps a row with id "):
        found(there, in_update, 9, filter=few, device="cuda")


FAMILIES = {
    "cpu": ("groups", "matrix"),
    "cuda": ("pairs", "tiles", "parts", "staged", "staged_granules", "matrix", "matrix_mma"),
}


@on_each_device
def test_families(index, device):
    ran = set()
    for metric in (in_update, in_finalize, rooted):
        explicit = with_arrays(metric, 400)
        for n_queries in (1, 50):
            for family in FAMILIES[device]:
                given = {"family": family, "device": device}
                try:
                    expected = found(index, explicit, n_queries, **given)
                except annudf.ArgumentError:  # Not of this form, or this machine.
                    continue
                assert found(index, metric, n_queries, **given) == expected, family
                ran.add(family)
    assert "groups" in ran or {"pairs", "tiles", "staged"} <= ran


def test_prepared_searches(index):
    queries = vectors(3, 5)
    params = ivf_flat.SearchParams(n_probes=3, metric=in_update)
    ready = ivf_flat.prepare(params, index, queries, 4)
    np.testing.assert_array_equal(ready(queries)[1], ivf_flat.search(params, index, queries, 4)[1])


def test_exact_search(index):
    data, ids = vectors(200, 7), np.random.default_rng(8).permutation(np.arange(300, 500))
    for given in (None, ids):
        numbers = np.arange(200) if given is None else given
        held = brute_force.build(data, metric=in_update, ids=given, columns=columns_of(numbers))
        assert held.columns["group"] == np.int16
        extent = int(numbers.max()) + 1
        arrays = brute_force.build(data, metric=with_arrays(in_update, extent), ids=given)
        for kept in (None, few):
            ours = brute_force.search(held, data[:5], 6, prefilter=kept)
            bound = None if kept is None else with_arrays(kept, extent)
            theirs = brute_force.search(arrays, data[:5], 6, prefilter=bound)
            np.testing.assert_array_equal(ours[0].view(np.uint32), theirs[0].view(np.uint32))
            np.testing.assert_array_equal(ours[1], theirs[1])


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "float64"])
def test_every_dtype(dtype):
    values = (np.arange(60) % 2).astype(dtype)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), vectors(60, 1), columns={"odd": values})
    assert index.columns == {"odd": np.dtype(dtype)}

    @annudf.filter(captures={"odd": ivf_flat.column(dtype)})
    def odd(ctx):
        return float(ctx.odd[ctx.row]) > 0.5

    ids = ivf_flat.search(ivf_flat.SearchParams(n_probes=2), index, vectors(4, 2), 30, filter=odd)[1]
    assert (np.sort(ids, 1) == np.arange(1, 60, 2)).all()


def test_a_value_comes_before_a_column(index):
    zeros = in_update.bind(age=np.zeros(400, np.float32))
    assert set(np.array(found(index, zeros, 2)[0]).ravel()) == {0}


@pytest.fixture
def from_files(tmp_path):
    """The metric or filter, saved and loaded."""

    def reload(one):
        path = tmp_path / "one.annudf"
        is_filter = isinstance(one, ivf_flat.CodeFilter)
        one.save(path)
        return (ivf_flat.load_filter if is_filter else ivf_flat.load_metric)(path)

    return reload


@pytest.mark.filterwarnings("ignore::annudf.CaptureWarning")
@on_each_device
def test_metrics_and_filters_of_files(index, from_files, device):
    given = {"device": device}
    for metric in (in_update, in_finalize, beside_the_id, of_two):
        loaded = from_files(metric)
        if metric is in_finalize:
            loaded = loaded.bind(rate=0.25)
        assert found(index, loaded, 9, **given) == found(index, metric, 9, **given), metric.name
    loaded = from_files(few).bind(most=np.int16(3))
    assert found(index, in_update, 9, filter=loaded, **given) == found(index, in_update, 9, filter=few, **given)
    # By slot alone can rows with one id have several values: so it is read from the manifest.
    values = columns_of(np.arange(1000, 1040))
    ivf_flat.extend(index, vectors(40, 3), np.arange(40), allow_repeated_ids=True, columns=values)
    assert found(index, from_files(in_update), 9, **given) == found(index, in_update, 9, **given)
    with pytest.raises(annudf.ArgumentError, match="column 'age' of the index differs between rows with id"):
        found(index, from_files(beside_the_id), 1, **given)
    for kept in (few, loaded):
        with pytest.raises(annudf.ArgumentError, match=r"^filter 'few' keeps a row with id 0 and leaves out another; "):
            found(index, in_update, 9, filter=kept, **given)


@on_each_device
def test_ids_of_several_rows(index, device):
    more, values = vectors(40, 3), columns_of(np.arange(1000, 1040))
    ivf_flat.extend(index, more, np.arange(40), allow_repeated_ids=True, columns=values)
    # By slot each row has its own value, whatever its id: small multiples of 1/8 are summed up exactly.
    queries, data = vectors(3, 99), np.concatenate([vectors(400, 1), more])
    age = np.concatenate([age_of(np.arange(400)), values["age"]])
    exact = ((queries[:, None] - data) ** 2 * age[:, None]).sum(2)
    place = annudf.Resources(device=device)
    params = ivf_flat.SearchParams(n_probes=7, metric=in_update)
    np.testing.assert_array_equal(ivf_flat.search(params, index, queries, 440, resources=place)[0], np.sort(exact, 1))
    with pytest.raises(annudf.ArgumentError, match="column 'age' of the index differs between rows with id"):
        found(index, beside_the_id, 1)


@on_each_device
def test_filters_have_a_bit_for_an_id(index, device):
    # Values of the other rows of an id may differ if the filter gives the same of them.
    ids = np.arange(9)
    columns = {"age": age_of(ids + 1), "group": group_of(ids)}
    ivf_flat.extend(index, vectors(9, 3), ids, allow_repeated_ids=True, columns=columns)
    every = np.array(found(index, in_update, 9, k=200, filter=few, device=device, n_probes=7)[1])
    assert (group_of(every) <= 3).all()
    other = {"age": age_of(ids[:1]), "group": np.array([1], np.int16)}
    ivf_flat.extend(index, vectors(1, 3), [11], allow_repeated_ids=True, columns=other)
    with pytest.raises(annudf.ArgumentError, match=r"^filter 'few' keeps a row with id 11 and leaves out another; "):
        found(index, in_update, 9, filter=few, device=device)


@pytest.mark.parametrize("ids", [np.arange(64)[::-1], np.arange(64) * 1000], ids=["turned", "sparse"])
def test_warnings_of_nan_explain_the_row(ids):
    @annudf.metric(captures={"age": ivf_flat.column(np.float32)})
    def rooted_age(x, y, acc, ctx):
        return acc + abs(x - y) * ctx.age[ctx.row] ** 0.5

    age = np.ones(64, np.float32)
    age[40] = -1
    params = ivf_flat.IndexParams(n_lists=4, kmeans_n_iters=2, add_data_on_build=False)
    index = ivf_flat.build(params, vectors(64, 1))
    ivf_flat.extend(index, vectors(64, 1), ids, columns={"age": age})
    with pytest.warns(annudf.NaNDistanceWarning, match=f"row {ids[40]}: dimension 0 turns the accumulator NaN"):
        found(index, rooted_age, 1)


def test_ids_that_no_array_reaches():
    params = ivf_flat.IndexParams(n_lists=1, add_data_on_build=False)
    index = ivf_flat.build(params, vectors(2, 1))
    ivf_flat.extend(index, vectors(2, 1), [2**63 - 1, 5], columns={"age": age_of(np.arange(2))})
    assert sorted(found(index, in_update, 1, k=2, n_probes=1)[1][0]) == [5, 2**63 - 1]
    with pytest.raises(annudf.ArgumentError) as told:
        found(index, beside_the_id.bind(), 1, k=2, n_probes=1)
    assert str(told.value) == (
        "column 'age' of the index is read by id, and the largest id is 9223372036854775807; give the rows smaller ids, "
        "or use their number only as the index of columns"
    )


def refusal(call):
    with pytest.raises(annudf.Error) as caught:
        call()
    return str(caught.value)


def test_columns_are_refused_by_name(index):
    params, data = ivf_flat.IndexParams(n_lists=2), vectors(20, 1)

    def built(columns):
        return refusal(lambda: ivf_flat.build(params, data, columns=columns))

    assert built([1]) == "columns is a list, it must be a mapping of names to arrays"
    assert built({"age": np.zeros(19)}) == "columns['age'] has shape (19,), it must be (20,), one value a vector"
    assert built({"age": np.zeros((20, 1))}) == (
        "columns['age'] has shape (20, 1), it must be (20,), one value a vector"
    )
    assert (
        built({"a b": np.zeros(20)})
        == "column name 'a b' is invalid; use letters, digits and _, not beginning with a digit"
    )
    assert "column 'age' has dtype complex128" in built({"age": np.zeros(20, complex)})
    train = ivf_flat.IndexParams(n_lists=2, add_data_on_build=False)
    assert refusal(lambda: ivf_flat.build(train, data, columns={})) == (
        "columns are given and add_data_on_build is False; give them to extend(), with the vectors"
    )

    def extended(columns):
        return refusal(lambda: ivf_flat.extend(index, data[:2], columns=columns))

    assert extended(None) == (
        "column 'age' (f32) of the index has no values for the new rows; give one per row in the columns of extend, such "
        "as columns={'age': values}"
    )
    two = columns_of(np.arange(2))
    assert extended({"age": two["age"]}).startswith("column 'group' (i16) of the index has no values")
    assert extended(two | {"age": np.zeros(2)}) == "column 'age' is f64, in the index it is f32; convert it first"
    assert extended(two | {"size": np.zeros(2)}) == (
        "column 'size' is not in the index, which has age (f32), group (i16)"
    )
    assert len(index) == 400


def test_captures_without_a_column_are_refused(index):
    plain = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), vectors(20, 1))
    assert refusal(lambda: found(plain, in_update, 1, 3)) == (
        "capture 'age' (row x f32) of metric 'in_update' has no value; give it one by .bind(age=...), or give "
        "columns={'age': ...} with the rows; they have none"
    )
    found(index, in_update, 1)
    wide = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), vectors(20, 1), columns={"age": np.zeros(20)})
    assert refusal(lambda: found(wide, in_update, 1, 3)) == (
        "capture 'age' (row x f32) of metric 'in_update' has no value, and column 'age' of the rows is f64; give "
        "an array of float32"
    )
    assert refusal(lambda: in_update(np.zeros(DIM), np.zeros(DIM))) == (
        "capture 'age' (row x f32) of metric 'in_update' has no value; give it one by .bind(age=...)"
    )
    assert refusal(lambda: in_update.bind(age=ivf_flat.column("float32"))).startswith(
        "capture 'age' is an ivf_flat.column(...)"
    )
    assert refusal(lambda: ivf_flat.column("complex128")).startswith("dtype is complex128; columns can be bool")


def test_values_that_are_not_finite_are_refused_where_they_are_read():
    age = np.zeros(20, np.float32)
    age[7] = np.nan
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), vectors(20, 1), columns={"age": age})
    assert "column 'age' of the index, which metric 'in_update' takes, is not finite for the row with id 7" in refusal(
        lambda: found(index, in_update, 1, 3)
    )

    @annudf.filter(captures={"age": ivf_flat.column("float32")}, allow_non_finite=True)
    def known(ctx):
        return ctx.age[ctx.row] == ctx.age[ctx.row]

    ids = ivf_flat.search(ivf_flat.SearchParams(n_probes=2), index, vectors(1, 2), 20, filter=known)[1]
    assert sorted(ids[0].tolist()) == [-1, *(i for i in range(20) if i != 7)]


@pytest.mark.parametrize("given", [None, np.arange(300)[::-1] * 3], ids=["positions", "ids"])
@on_each_device
def test_one_exact_search(given, device):
    rows, queries = vectors(300, 1), vectors(9, 2)
    numbers = np.arange(300) if given is None else given
    place = annudf.Resources(device=device)
    for one in METRICS:
        metric = one
        if one is beside_an_array:
            metric = metric.bind(price=np.arange(int(numbers.max()) + 1, dtype=np.float32) % 13)
        explicit = with_arrays(metric, int(numbers.max()) + 1)
        for kept in (None, few):
            bound = None if kept is None else with_arrays(kept, int(numbers.max()) + 1)
            arguments = {"ids": given, "resources": place}
            ours = brute_force.knn(
                rows, queries, 8, metric=metric, prefilter=kept, columns=columns_of(numbers), **arguments
            )
            theirs = brute_force.knn(rows, queries, 8, metric=explicit, prefilter=bound, **arguments)
            for result, expected in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(result, expected)
    assert refusal(lambda: brute_force.knn(rows, queries, 8, metric=in_update, columns={"age": np.zeros(2)})) == (
        "columns['age'] has shape (2,), it must be (300,), one value a vector"
    )


def test_estimators():
    samples, columns = vectors(1500, 1), {"age": age_of(np.arange(1500))}
    ours = NearestNeighbors(metric=in_finalize).fit(samples, columns=columns)
    theirs = NearestNeighbors(metric=in_finalize.bind(**columns)).fit(samples)
    assert ours.n_probes_ == theirs.n_probes_ and ours.recall_ == theirs.recall_
    for queries in (None, vectors(5, 2)):
        for one, other in zip(ours.kneighbors(queries), theirs.kneighbors(queries), strict=True):
            np.testing.assert_array_equal(one, other)
    assert pickle.loads(pickle.dumps(ours)).index_.columns == {"age": np.dtype(np.float32)}
    pytest.importorskip("scipy")
    graph = NearestNeighbors(metric=in_finalize).fit_transform(samples, columns=columns)
    assert (graph != theirs.transform(samples)).nnz == 0


@pytest.mark.parametrize("metric", METRICS, ids=lambda one: one.name)
@pytest.mark.parametrize("row_id", [0, 5, 97])
def test_explanations(metric, row_id):
    query, row = vectors(2, 3)
    values = {name: columns_of(np.array([row_id]))[name][0] for name in metric._columns}
    told = metric.explain(query, row, row_id=row_id, columns=values)
    expected = with_arrays(metric, 98).explain(query, row, row_id=row_id)
    np.testing.assert_array_equal(told.accumulator["acc"], expected.accumulator["acc"])
    assert told.distance == expected.distance


def test_explanations_of_large_ids():
    query, row = vectors(2, 3)
    assert in_update.explain(query, row, row_id=10**12, columns={"age": 2}).distance == 2 * ((query - row) ** 2).sum()
    assert in_update.explain(query, row, columns={"age": 1}).distance == ((query - row) ** 2).sum()
    for call, text in (
        (lambda: in_update.explain(query, row),
         "capture 'age' (row x f32) of metric 'in_update' has no value; give it one by .bind(age=...), or the row's "
         "value by columns={'age': ...}"),
        (lambda: in_update.explain(query, row, columns={"size": 1}),
         "metric 'in_update' reads no column 'size'; its columns are 'age'"),
        (lambda: in_update.explain(query, row, columns={"age": "x"}), "columns['age'] is 'x', it must be a number"),
        (lambda: of_two.explain(query, row, columns={"age": 1, "group": 2.5}),
         "columns['group'] is 2.5, it must be an integer"),
        (lambda: beside_an_array.explain(query, row, columns={"age": 1}),
         "row_id is missing: metric 'beside_an_array' has a capture with an entry for each row; give the number of the "
         "row, row_id=0"),
        (lambda: beside_the_id.explain(query, row, row_id=10**12, columns={"age": 1}),
         "row_id is 1000000000000, it must be at most 16777216 for a metric that computes with ctx.row"),
    ):  # fmt: skip
        assert refusal(call).startswith(text)
