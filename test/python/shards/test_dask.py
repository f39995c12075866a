# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A sharded search equals the search of one index, to the bit; what it cannot do is refused by name."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import weakref

import numpy as np
import pytest

import annudf
from annudf import filters, ivf_flat
from annudf.errors import ArgumentError, DtypeError, InputError, NaNDistanceError, NaNDistanceWarning, UnavailableError
from reference import vectors

pytest.importorskip("dask.array")
pytest.importorskip("distributed")

import dask.array as da
from clusters import LIMIT, assert_equal, one_index, params, spread, two_processes, workers_of
from distributed import Client, Event

from annudf._shards import goal
from annudf.dask import _call, _cluster, _places, _search
from annudf.dask import ivf_flat as dask_ivf

ROWS, DIM, QUERIES, CHUNK = 700, 9, 21, 96
PRICE = np.linspace(1, 5, ROWS).astype(np.float32)
COLUMNS = {"price": PRICE, "shop": np.arange(ROWS, dtype=np.int32) % 7}


@annudf.metric
def manhattan(x, y, acc, ctx):
    return acc + abs(x - y)


@annudf.metric(captures={"weight": ivf_flat.capture(np.linspace(0.5, 2, QUERIES, dtype=np.float32), extents="query")})
def weighted(x, y, acc, ctx):
    return acc + abs(x - y) * ctx.weight[ctx.query]


@annudf.metric
def numbered(x, y, acc, ctx):
    return acc + abs(x - y) * (ctx.query % 3 + y)


@annudf.metric(
    captures={"price": ivf_flat.column("float32"), "factor": 1.5}, finalize=lambda acc, ctx: acc + ctx.row % 3
)
def priced(x, y, acc, ctx):
    return acc + (x - y) ** 2 * ctx.price[ctx.row] * ctx.factor


@annudf.metric(captures={"tax": np.linspace(0, 1, ROWS).astype(np.float32)}, order="max", coarse_metric="inner_product")
def taxed(x, y, acc, ctx):
    return acc + x * y - ctx.tax[ctx.row]


@annudf.filter(captures={"shop": ivf_flat.column("int32"), "mine": 3})
def mine(ctx):
    return ctx.shop[ctx.row] == ctx.mine or ctx.row % 5 == 0


@annudf.metric
def fragile(x, y, acc, ctx):
    return acc + np.sqrt(x - y)


@pytest.fixture(scope="module")
def client():
    with two_processes() as client:
        yield client


@pytest.fixture(scope="module")
def indexes(request, client):
    """A sharded index, the one index, and queries."""
    base = vectors(ROWS, DIM, request.param, 1)
    columns = {name: spread(client, values, CHUNK) for name, values in COLUMNS.items()}
    sharded = dask_ivf.build(params(), spread(client, base, CHUNK), columns=columns, timeout=LIMIT)
    assert sharded.n_shards == 2 and len(sharded) == ROWS
    return sharded, one_index(base, columns=COLUMNS), vectors(QUERIES, DIM, request.param, 2)


once = pytest.mark.parametrize("indexes", ["float32"], indirect=True)
METRICS = {"sqeuclidean": None, "opaque": manhattan, "query": weighted, "column": priced, "row": taxed}


@pytest.mark.parametrize(
    "indexes, metric",
    [
        pytest.param(dtype, metric, id=f"{dtype}-{name}")
        for dtype, names in (("float32", METRICS), ("int8", ("sqeuclidean", "column")))
        for name, metric in ((name, METRICS[name]) for name in names)
    ],
    indirect=["indexes"],
    scope="module",
)
def test_a_search_equals_that_of_one_index(indexes, metric):
    sharded, one, queries = indexes
    for n_probes, k in ((1, 1), (3, 10), (12, 600)):
        search = ivf_flat.SearchParams(n_probes=n_probes, metric=metric)
        expected = ivf_flat.search(search, one, queries, k)
        assert_equal(dask_ivf.search(search, sharded, queries, k, timeout=LIMIT), expected)


@once
@pytest.mark.parametrize("metric", [weighted, taxed], ids=["query", "row"])
def test_queries_on_the_cluster(indexes, metric, client):
    sharded, one, queries = indexes
    search = ivf_flat.SearchParams(n_probes=12, metric=metric)
    expected = ivf_flat.search(search, one, queries, 600)
    for found in (
        dask_ivf.search(search, sharded, spread(client, queries, 8), 600, timeout=LIMIT),
        dask_ivf.search(search, sharded, da.from_array(queries), 600, allow_partial=True, timeout=LIMIT)[:2],
    ):
        assert all(isinstance(one, da.Array) for one in found)
        assert_equal([one.compute() for one in found], expected)


@once
@pytest.mark.parametrize("metric", [None, weighted, taxed], ids=["sqeuclidean", "query", "row"])
def test_workers_rank_lists_for_each_other(indexes, metric, client, monkeypatch):
    """Each ranks for some of the queries; results are those of workers that rank for all."""
    sharded, one, queries = indexes
    ranked = []

    async def asked(self, *given, ranks=_call.Call._ranked):
        ranked.append(await ranks(self, *given))
        return ranked[-1]

    monkeypatch.setattr(_call, "RANKED_TOGETHER", 1)
    monkeypatch.setattr(_call.Call, "_ranked", asked)
    search = ivf_flat.SearchParams(n_probes=3, metric=metric)
    expected = ivf_flat.search(search, one, queries, 20, filter=PRICE > 2)
    assert_equal(dask_ivf.search(search, sharded, queries, 20, filter=PRICE > 2, timeout=LIMIT), expected)
    found = dask_ivf.search(search, sharded, spread(client, queries, 8), 20, filter=PRICE > 2, timeout=LIMIT)
    assert_equal([one.compute() for one in found], expected)
    near = dask_ivf.radius_search(search, sharded, queries, 9, timeout=LIMIT)
    assert_equal(near, ivf_flat.radius_search(search, one, queries, 9))
    assert [lists.shape for lists in ranked] == [(QUERIES, 3)] * 2, "by calls; those on the cluster are tasks"
    nan = queries.copy()
    nan[12, 3] = np.nan
    with pytest.raises(ArgumentError, match=r"queries\[12, 3\] is nan|row 12, dim 3 is nan"):
        dask_ivf.search(search, sharded, nan, 20, timeout=LIMIT)


@once
def test_a_task_that_ranks_lists_is_lost(indexes, client, monkeypatch):
    """Then each shard ranks for all queries, in the same try."""
    sharded, one, queries = indexes

    def lost(*_):
        raise OSError("the worker is lost")

    monkeypatch.setattr(_call, "RANKED_TOGETHER", 1)
    monkeypatch.setattr(_search, "_rank_task", lost)
    search = ivf_flat.SearchParams(n_probes=3)
    *found, share = dask_ivf.search(
        search, sharded, spread(client, queries, 8), 20, tries=1, allow_partial=True, timeout=LIMIT
    )
    assert share == 1
    assert_equal([one.compute() for one in found], ivf_flat.search(search, one, queries, 20))


@pytest.fixture
def all_lost(indexes, monkeypatch):
    """Parts of the index, all of which are lost."""
    held = indexes[0]._shards

    async def places(deadline, failed):
        return {}, {number: UnavailableError("its worker is gone") for number in range(len(held.parts))}

    monkeypatch.setattr(held, "places", places)
    monkeypatch.setattr(held, "extent", None)
    return held


@once
@pytest.mark.parametrize("partly", [False, True])
@pytest.mark.parametrize("kind", ["plain", "groups", "tasks"])
def test_all_shards_are_lost(indexes, all_lost, kind, partly, client, monkeypatch):
    sharded, _, queries = indexes
    monkeypatch.setattr(_call, "RANKED_TOGETHER", 1)
    given = spread(client, queries, 8) if kind == "tasks" else queries
    groups = GROUPS if kind == "groups" else None
    with pytest.raises(UnavailableError, match=r"no answer of shard 0 .* and shard 1 .*: its worker is gone"):
        dask_ivf.search(
            ivf_flat.SearchParams(n_probes=3),
            sharded,
            given,
            3,
            group_by=groups,
            allow_partial=partly,
            timeout=LIMIT,
        )
    assert all_lost.extent is None


@once
def test_groups_are_checked_again_once_all_shards_are_there(indexes, monkeypatch):
    """A search without a shard does not know the largest id."""
    sharded, _, queries = indexes
    held, everything = sharded._shards, sharded._shards.places
    last = max(range(2), key=lambda number: held.parts[number].ranges[-1])  # It has the largest id.

    async def places(deadline, failed):
        there, whys = await everything(deadline, failed)
        there = {number: address for number, address in there.items() if number != last}
        return there, {**whys, last: UnavailableError("its worker is gone")}

    search, few = ivf_flat.SearchParams(n_probes=12), GROUPS[:-1]
    monkeypatch.setattr(held, "extent", None)
    with monkeypatch.context() as patch:
        patch.setattr(held, "places", places)
        *_, share = dask_ivf.search(search, sharded, queries, 3, group_by=few, allow_partial=True, timeout=LIMIT)
        assert 0 < share < 1 and held.extent is None
    with pytest.raises(ArgumentError, match="group_by has 699 entries, the largest id is 699"):
        dask_ivf.search(search, sharded, queries, 3, group_by=few, timeout=LIMIT)
    assert held.extent == ROWS


@once
@pytest.mark.parametrize("directly", [True, False])
def test_the_client_reaches_workers_or_asks_the_scheduler(indexes, directly, client, monkeypatch):
    sharded, one, queries = indexes
    reached = []

    async def told(client, address, *rest, tell=_cluster._told):
        reached.append(address)
        if not directly:
            raise OSError("no way")
        return await tell(client, address, *rest)

    monkeypatch.setattr(_cluster, "_told", told)
    monkeypatch.setattr(_cluster, "_unreached", weakref.WeakKeyDictionary())
    search = ivf_flat.SearchParams(n_probes=3)
    expected = ivf_flat.search(search, one, queries, 7)
    for _ in range(2):
        assert_equal(dask_ivf.search(search, sharded, queries, 7, timeout=LIMIT), expected)
    assert sorted(reached) == sorted(workers_of(client) * (2 if directly else 1))


GROUPS = np.arange(ROWS, dtype=np.int32) % 37
FEW = np.arange(ROWS) % 43 == 1
GOALS = {
    "widened": ({"n_probes": 1, "max_probes": 12}, {"filter": FEW}, 9),
    "widened a little": ({"n_probes": 2, "max_probes": 5, "min_rows": 60}, {"filter": PRICE > 1.5}, 5),
    "all queries again": ({"n_probes": 1, "max_probes": 12, "metric": weighted}, {"filter": FEW}, 9),
    "groups": ({"n_probes": 3}, {"group_by": GROUPS}, 12),
    "more groups than there are": ({"n_probes": 1, "max_probes": 12}, {"group_by": GROUPS % 3}, 5),
    "groups by code": ({"n_probes": 2}, {"group_by": GROUPS, "filter": mine}, 8),
    "refined": ({"n_probes": 4, "refine": ivf_flat.Refine("l1", 3)}, {}, 10),
    "refined by a column": ({"n_probes": 2, "metric": manhattan, "refine": ivf_flat.Refine(priced, 1.5)}, {}, 7),
    "refined, the largest first": ({"n_probes": 12, "refine": ivf_flat.Refine(taxed, 900)}, {"filter": FEW}, 8),
    "all": (
        {"n_probes": 1, "max_probes": 9, "min_rows": 40, "refine": ivf_flat.Refine(weighted, 1.2)},
        {"group_by": GROUPS, "filter": PRICE > 3},
        6,
    ),
}


@once
@pytest.mark.parametrize("name", GOALS)
def test_a_search_in_rounds_equals_that_of_one_index(indexes, name):
    sharded, one, queries = indexes
    search, more, k = GOALS[name]
    search = ivf_flat.SearchParams(**search)
    expected = ivf_flat.search(search, one, queries, k, **more)
    assert_equal(dask_ivf.search(search, sharded, queries, k, timeout=LIMIT, **more), expected)
    *found, share = dask_ivf.search(search, sharded, queries, k, timeout=LIMIT, allow_partial=True, **more)
    assert_equal(found, expected)
    assert share == 1
    once = ivf_flat.search(ivf_flat.SearchParams(n_probes=search.n_probes), one, queries, k)
    assert (once[1] != expected[1]).any(), "the rounds change what is found"


@once
@pytest.mark.parametrize(
    "search, more, cut",
    [
        ({}, {}, True),
        ({"metric": priced}, {}, True),
        ({"metric": priced}, {"filter": mine}, True),
        ({"refine": ivf_flat.Refine("l1", 3)}, {}, True),
        ({"metric": weighted}, {}, False),
        ({"metric": numbered}, {}, False),
    ],
    ids=["sqeuclidean", "column", "filter", "refined", "query capture", "query number"],
)
def test_a_round_is_in_parts_unless_queries_are_numbered(indexes, search, more, cut, monkeypatch):
    """A metric that reads the number of a query has all of them, once a round."""
    sharded, one, queries = indexes
    sizes = []

    async def asked(self, queries, request, candidates, by_calls=_call.Call.by_calls):
        sizes.append((request.k, len(queries)))
        return await by_calls(self, queries, request, candidates)

    monkeypatch.setattr(goal, "_MOST_RESULTS", 300)
    monkeypatch.setattr(_call.Call, "by_calls", asked)
    search, more = ivf_flat.SearchParams(n_probes=2, **search), {"group_by": np.minimum(GROUPS, 9), **more}
    found = dask_ivf.search(search, sharded, queries, 9, timeout=LIMIT, **more)
    assert_equal(found, ivf_flat.search(search, one, queries, 9, **more))
    if cut:
        assert all(count == 1 or k * count <= 300 for k, count in sizes)
    else:
        assert {count for _, count in sizes} == {QUERIES}
        assert 1 < len(sizes) == len(set(sizes))


@once
@pytest.mark.parametrize("kind", ["bools", "code", "joined", "queries"])
def test_filters_are_by_id(indexes, kind):
    sharded, one, queries = indexes
    rng = np.random.default_rng(3)
    keep = {
        "bools": rng.random(ROWS) < 0.2,
        "code": mine,
        "joined": mine.bind(mine=1) & ~filters.from_mask(rng.random(ROWS) < 0.5) | filters.from_mask(PRICE > 4),
        "queries": filters.from_bitmap(rng.random((QUERIES, ROWS)) < 0.1),
    }[kind]
    search = ivf_flat.SearchParams(n_probes=4, metric=manhattan)
    expected = ivf_flat.search(search, one, queries, 12, filter=keep)
    assert_equal(dask_ivf.search(search, sharded, queries, 12, filter=keep, timeout=LIMIT), expected)


def test_ids_and_other_indexes(client):
    """Ids of the caller, clusters by inner product, and missing values."""
    base, queries = vectors(300, DIM, "float32", 4), vectors(5, DIM, "float32", 5)
    base[::7, 2] = np.nan
    ids = np.random.default_rng(0).permutation(9000)[:300].astype(np.int32)
    more = {"metric": "inner_product", "missing_values": True, "kmeans_trainset_fraction": 0.3, "seed": 9}
    chunks = spread(client, base, 40)
    sharded = dask_ivf.build(params(**more), chunks, ids=spread(client, ids, 40), timeout=LIMIT)
    search = ivf_flat.SearchParams(n_probes=5, metric="nan_euclidean")
    expected = ivf_flat.search(search, one_index(base, ids, **more), queries, 9)
    assert_equal(dask_ivf.search(search, sharded, queries, 9, timeout=LIMIT), expected)
    assert sharded.metric == "inner_product" and sharded.columns == {} and "n_shards=2" in repr(sharded)
    for wrong, text in (
        (ids * 0 + 7, r"ids\[1\] is 7, the id of row 0 too"),
        (ids - 9000, r"ids\[0\] is -\d+; ids are 0"),
        (ids > 0, r"argument 'ids' has dtype bool, it must be int64"),
    ):
        with pytest.raises(ArgumentError, match=text):
            dask_ivf.build(params(**more), chunks, ids=spread(client, wrong, 40), timeout=LIMIT)
    few = params(kmeans_trainset_fraction=0.1)
    sample = dask_ivf.training_rows(few, 300)
    for at, where in (
        (sample[0], "the rows of training_rows"),
        (np.setdiff1d(range(40), sample)[0], "shard of rows 0 to 39, 80"),
    ):
        base = vectors(300, DIM, "float32", 4)
        base[at, 2] = np.nan
        with pytest.raises(ArgumentError, match=rf"dataset: row \d+, dim 2 is nan; .* \(of .*{where}"):
            dask_ivf.build(few, spread(client, base, 40), timeout=LIMIT)


def test_many_shards_are_merged_in_a_tree(monkeypatch):
    monkeypatch.setattr(_search, "_FAN_IN", 2)
    base, queries = vectors(400, DIM, "float32", 6), vectors(7, DIM, "float32", 7)
    threads = annudf.get_num_threads()
    with Client(
        n_workers=5, threads_per_worker=1, processes=False, dashboard_address=":0", set_as_default=False
    ) as near:
        sharded = dask_ivf.build(params(), spread(near, base, 20), client=near, timeout=LIMIT)
        assert sharded.n_shards == 5
        search = ivf_flat.SearchParams(n_probes=6)
        expected = ivf_flat.search(search, one_index(base), queries, 30)
        assert_equal(dask_ivf.search(search, sharded, queries, 30, timeout=LIMIT), expected)
        found = dask_ivf.search(search, sharded, spread(near, queries, 3), 30, timeout=LIMIT)
        assert_equal([one.compute(scheduler=near) for one in found], expected)
    assert annudf.get_num_threads() == threads, "those of the client's process are its own"
    with pytest.raises(UnavailableError, match="the Dask client is closed; connect another"):
        dask_ivf.search(search, sharded, queries, 3)


@once
def test_files(indexes, tmp_path, client):
    sharded, one, queries = indexes
    search = ivf_flat.SearchParams(n_probes=4, metric=priced)
    expected = ivf_flat.search(search, one, queries, 10)
    for folder in (tmp_path / "one", f"file://{tmp_path}/two"):
        sharded.save(folder, timeout=LIMIT)
        loaded = dask_ivf.load(folder, timeout=LIMIT)
        assert repr(loaded) == repr(sharded) and loaded.columns == sharded.columns
        assert_equal(dask_ivf.search(search, loaded, queries, 10, timeout=LIMIT), expected)
        with pytest.raises(ArgumentError, match=r"folder is .*, which holds an index; give another"):
            sharded.save(folder, timeout=LIMIT)
    files = {path.name for path in (tmp_path / "one").iterdir()}
    assert files == {path.name for path in (tmp_path / "two").iterdir()} and len(files) == 3
    damaged = next((tmp_path / "one").glob("shard-00001-*"))
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"!")
    with pytest.raises(
        InputError, match=rf"{damaged.name}' has the SHA-256 \w+, the manifest says \w+; it was changed"
    ):
        dask_ivf.load(tmp_path / "one", timeout=LIMIT)
    damaged.unlink()
    with pytest.raises(InputError, match=rf"{damaged.name}' cannot be read: .*No such file"):
        dask_ivf.load(tmp_path / "one", timeout=LIMIT)
    with pytest.raises(InputError, match=r"has no manifest.json that can be read"):
        dask_ivf.load(tmp_path / "none", timeout=LIMIT)


@once
def test_a_metric_is_sent_once(indexes, client):
    sharded, _, queries = indexes
    search = ivf_flat.SearchParams(n_probes=1, metric=weighted)

    def known():
        from annudf._shards import request

        return list(request._known)

    dask_ivf.search(search, sharded, queries, 1)
    call = _call.Call(search, sharded, None, 1, _cluster.Deadline(1, ""))
    call.ask_for(1)
    digest = call.request.metric
    before = client.run(known)
    assert all(digest in one for one in before.values())
    other = weighted.bind(weight=np.ones(QUERIES, np.float32))
    dask_ivf.search(ivf_flat.SearchParams(n_probes=1, metric=other), sharded, queries, 1)
    assert client.run(known) == before, "captures by query are not part of what is kept"

    def forget():
        from annudf._shards import request

        request._known.clear()

    client.run(forget)
    dask_ivf.search(search, sharded, queries, 1)
    assert client.run(known) == {worker: [digest] for worker in before}


@once
def test_workers_use_their_own_threads(indexes, client):
    from annudf._devices import backends

    assert set(client.run(backends.get_num_threads).values()) == {1}


@once
def test_nan_distances(indexes):
    sharded, _, queries = indexes
    with pytest.raises(NaNDistanceError, match="metric 'fragile'"):
        dask_ivf.search(ivf_flat.SearchParams(metric=fragile, on_nan="raise"), sharded, queries, 1, timeout=LIMIT)
    with pytest.warns(NaNDistanceWarning, match=r"'fragile': [\d.]+ % of the distances of this search are NaN") as told:
        for _ in range(2):
            dask_ivf.search(ivf_flat.SearchParams(metric=fragile), sharded, queries, 1, timeout=LIMIT)
    assert len(told) == 1 and told[0].filename == __file__


@once
def test_versions_that_differ(indexes, client, tmp_path):
    sharded, _, queries = indexes
    odd = sorted(client.nthreads())[0]

    def pretend(version):
        import annudf

        annudf.__version__ = version

    client.run(pretend, "0.0.1", workers=[odd])
    try:
        for call in (lambda: sharded.save(tmp_path), lambda: dask_ivf.build(params(), da.ones((20, 2), dtype="f4"))):
            with pytest.raises(
                UnavailableError, match=rf"other versions of annudf than .*: {odd} has 0.0.1; install one"
            ):
                call()
        with pytest.raises(UnavailableError, match=rf"a worker has annudf 0.0.1, the client {annudf.__version__}"):
            dask_ivf.search(ivf_flat.SearchParams(), sharded, queries, 1, timeout=LIMIT)
    finally:
        client.run(pretend, annudf.__version__, workers=[odd])


BASE = da.ones((40, 3), chunks=(10, 3), dtype="f4")
REFUSED = {
    "array": (lambda: dask_ivf.build(params(), np.ones((9, 3), "f4")), "argument 'dataset' is a ndarray, it must be a dask"),
    "axes": (lambda: dask_ivf.build(params(), BASE[:, 0]), r"'dataset' has shape \(40,\), it must have 2 axes"),
    "dtype": (lambda: dask_ivf.build(params(), BASE.astype("f8")), "'dataset' has dtype float64, it must be"),
    "chunks": (lambda: dask_ivf.build(params(), BASE.rechunk((10, 1))), r"3 chunks a row; give whole rows, dataset.rechunk"),
    "unknown": (lambda: dask_ivf.build(params(), BASE[BASE[:, 0] > 0]), r"unknown size, and positions .*compute_chunk_sizes"),
    "columns": (lambda: dask_ivf.build(params(), BASE, columns={"a": da.ones(40)}), r"'columns\['a'\]' has chunks \(40,\), 'dataset' has"),
    "ids": (lambda: dask_ivf.build(params(), BASE, ids=np.arange(40)), "argument 'ids' is a ndarray, it must be a dask array"),
    "adaptive": (lambda: dask_ivf.build(params(adaptive_centers=True), BASE), "adaptive_centers is True, which moves centers"),
    "no rows": (lambda: dask_ivf.build(params(add_data_on_build=False), BASE), "add_data_on_build is False"),
    "auto": (lambda: dask_ivf.build(ivf_flat.IndexParams(n_lists="auto"), BASE), "n_lists is 'auto', which a sharded index cannot"),
    "lists": (lambda: dask_ivf.build(ivf_flat.IndexParams(n_lists=41), BASE), "n_lists is 41, but argument 'dataset' has only 40 rows"),
    "timeout": (lambda: dask_ivf.build(params(), BASE, timeout=0), "timeout is 0, it must be a number of seconds above 0"),
    "client": (lambda: dask_ivf.build(params(), BASE, client=3), "client is an int, it must be a dask.distributed.Client"),
}  # fmt: skip


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_refused_builds(call, client):
    with pytest.raises(ArgumentError, match=call[1]):
        call[0]()


LATER = da.ones((3, DIM), chunks=(3, DIM), dtype="f4")
SEARCHES = {
    "k": ({"k": 701}, r"k is 701"),
    "refine": ({"search_params": ivf_flat.SearchParams(refine=ivf_flat.Refine("l1")), "queries": LATER}, "search_params.refine is given; a search for a dask array"),
    "max_probes": ({"search_params": ivf_flat.SearchParams(max_probes=50), "queries": LATER}, "search_params.max_probes is 50; a search for a dask array"),
    "few max_probes": ({"search_params": ivf_flat.SearchParams(max_probes=11)}, "max_probes is 11, n_probes is 12; give no fewer"),
    "code": ({"search_params": ivf_flat.SearchParams(max_probes=50), "filter": mine}, r"filter is .*mine.*, and search_params.max_probes is 50: .*give an array of bool"),
    "group_by": ({"group_by": GROUPS, "queries": LATER}, "group_by is given, and argument 'queries' is a dask array"),
    "groups of a column": ({"group_by": "shop"}, "group_by is 'shop', and columns are on the workers; give an array"),
    "few groups": ({"group_by": GROUPS[:-1]}, "group_by has 699 entries, the largest id is 699; give one entry for every id"),
    "groups of floats": ({"group_by": PRICE}, "argument 'group_by' has dtype float32"),
    "index": ({"index": 3}, "index is an int, it must be a dask ivf_flat.Index"),
    "queries": ({"queries": np.ones((3, 4), "f4")}, "argument 'queries' has"),
    "chunks": ({"queries": da.ones((3, DIM), chunks=(3, 2), dtype="f4")}, r"and 5 chunks a row, it must be \(n_queries, 9\) in one"),
    "filter": ({"filter": np.ones(4, np.int64)}, "argument 'filter' has dtype int64, it must be bool"),
    "bits": ({"filter": np.ones(4, bool)}, "the filter has 4 bits, the largest id of the index is"),
    "tries": ({"tries": 0}, "tries is 0, it must be an integer from 1"),
    "query capture": ({"search_params": ivf_flat.SearchParams(metric=weighted)}, r"this search has 2 queries; give one entry"),
    "column": ({"search_params": ivf_flat.SearchParams(metric=priced.bind(price=PRICE[:9]))}, "give at least 700 entries|largest id"),
}  # fmt: skip


@once
@pytest.mark.parametrize("case", SEARCHES.values(), ids=SEARCHES)
def test_refused_searches(case, indexes):
    sharded, _, queries = indexes
    arguments = {"search_params": ivf_flat.SearchParams(), "index": sharded, "queries": queries[:2], "k": 1, **case[0]}
    with pytest.raises(ArgumentError, match=case[1]):
        dask_ivf.search(**arguments, timeout=LIMIT)


@once
def test_no_queries(indexes):
    sharded, _, queries = indexes
    found = dask_ivf.search(ivf_flat.SearchParams(), sharded, queries[:0], 3, allow_partial=True)
    assert [one.shape for one in found[:2]] == [(0, 3), (0, 3)] and found[2] == 1.0


def test_a_loop_that_does_not_answer_is_given_up(client, monkeypatch):
    monkeypatch.setattr(_cluster, "GRACE", 0.1)
    with pytest.raises(UnavailableError, match=r"save\(\) took more than timeout=0.1 s: the scheduler does not answer"):
        _cluster.run(client, lambda: asyncio.sleep(LIMIT), _cluster.Deadline(0.1, "save()"))


@once
def test_a_wait_has_a_limit(indexes, client):
    """A worker that is busy with something else."""
    sharded, _, queries = indexes

    def busy(number):
        Event(f"busy {number}").set()
        Event("free").wait(LIMIT)

    tasks = [client.submit(busy, number, workers=[one]) for number, one in enumerate(client.nthreads())]
    assert all(Event(f"busy {number}").wait(LIMIT) for number in range(2))
    try:
        with pytest.raises(
            UnavailableError, match=r"no answer of shard 0 of 2 \(rows 0 to 95, .* and shard 1 .*does not answer"
        ):
            dask_ivf.search(ivf_flat.SearchParams(), sharded, queries, 1, timeout=0.2)
    finally:
        Event("free").set()
    client.gather(tasks)


def test_what_a_client_notes_of_workers_is_bounded():
    held = _places.Shards(None, [], "sqeuclidean")
    for number in range(100):
        held.note_sent("a", ["metric", f"filter {number}"])
        held.note_sent("b", [f"metric {number}"])
    assert held.sent["a"] == [f"filter {number}" for number in range(37, 99)] + ["metric", "filter 99"]
    assert held.sent["b"] == [f"metric {number}" for number in range(36, 100)]
    held.distrust("a")
    assert list(held.sent) == ["b"]


def test_a_look_for_workers_ends_with_its_call(monkeypatch):
    """Whether they are lost, the scheduler may never say."""

    class Silent:
        status = "finished"

        async def who_has(self, futures):
            await asyncio.sleep(LIMIT)

    async def looked():
        return await asyncio.wait_for(held.gone(["a"], _cluster.Deadline(0.01, "")), LIMIT / 4)

    monkeypatch.setattr(_places, "GRACE", LIMIT)
    held = _places.Shards(Silent(), [_places.Part(Silent(), [(0, 1)], 1)], "sqeuclidean")
    held._where = {0: "a"}
    assert asyncio.run(looked()) == set()


def test_a_wait_sees_results_that_are_lost_during_it():
    class Future:
        def __init__(self, *statuses):
            self.left = list(statuses)

        @property
        def status(self):
            return self.left.pop(0) if len(self.left) > 1 else self.left[0]

    first, second = Future("finished", "lost", "pending", "finished"), Future("pending", "finished")
    asyncio.run(_cluster.done([first, second], _cluster.Deadline(LIMIT, ""), str))
    assert first.left == second.left == ["finished"]


def test_without_dask():
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, annudf\n"
            "assert not {'dask', 'distributed'} & set(sys.modules)\n"
            "sys.modules['distributed'] = None\n"
            "try:\n    from annudf.dask import ivf_flat\n"
            "except annudf.UnavailableError as error:\n    print(error)",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT,
    )
    assert done.stdout == (
        "annudf.dask needs dask[array] and distributed, and 'distributed' is not installed: pip install annudf[dask]\n"
    )


def test_dtype_errors_are_of_both_kinds():
    with pytest.raises(DtypeError):
        dask_ivf.build(params(), BASE.astype("i4"))
