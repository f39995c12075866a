# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Filters of code: against a mask of NumPy, joined with bits, kept for an index, and what is refused."""

from __future__ import annotations

import concurrent.futures
import copy
import logging
import pickle
import re
import subprocess
import sys
import threading

import numpy as np
import pytest
from code_filters import (
    DATA,
    LISTS,
    QUERIES,
    ROWS,
    affordable,
    all_tags,
    build,
    check,
    kinds,
    lookup,
    prices,
    search,
)

from annudf import ArgumentError, CaptureError, PackedBits, UnsupportedError, brute_force, filters, ivf_flat, metrics
from annudf._arrays import VECTORS, numpy_dtype
from annudf._devices import backends


@pytest.fixture(scope="module")
def index():
    return build()


@ivf_flat.filter
def even(ctx):
    return ctx.row % 2 == 0


@ivf_flat.filter(captures={"tags": all_tags, "wanted": 0b101})
def tagged(ctx):
    return (ctx.tags[ctx.row] & ctx.wanted) == ctx.wanted and ctx.row > 10


@ivf_flat.filter(captures={"kind": kinds, "table": lookup})
def looked_up(ctx):
    kind = min(max(ctx.kind[ctx.row], 0), 3)
    passes = False
    for column in range(3):
        if ctx.table[kind, column] != 0 and ctx.row % 3 == column:
            passes = True
    return passes


numbers = np.arange(ROWS)
are_tagged = ((all_tags & 0b101) == 0b101) & (numbers > 10)


@pytest.mark.parametrize(
    ("chosen", "mask"),
    [
        (affordable, prices <= 20),
        (affordable.bind(most=-1.0), np.zeros(ROWS, bool)),
        (affordable.bind(most=1000.0), np.ones(ROWS, bool)),
        (affordable.bind(most=0.5), prices <= np.float32(0.5)),
        (even, numbers % 2 == 0),
        (tagged, are_tagged),
        (looked_up, lookup[kinds, numbers % 3] != 0),
        (affordable & even, (prices <= 20) & (numbers % 2 == 0)),
        (affordable | even, (prices <= 20) | (numbers % 2 == 0)),
        (~affordable, prices > 20),
        (~(affordable | tagged) & even, ~((prices <= 20) | are_tagged) & (numbers % 2 == 0)),
        (affordable & filters.from_mask(numbers < 300), (prices <= 20) & (numbers < 300)),
        (filters.from_mask(np.arange(800) < 300) | ~affordable, (prices > 20) | (numbers < 300)),
    ],
    ids=lambda value: repr(value) if isinstance(value, filters.Filter) else "",
)
def test_finds_the_best_of_what_passes(index, chosen, mask):
    check(index, chosen, mask)


def test_random_predicates(index):
    """Thresholds, bits and lengths: the same code with other values."""

    @ivf_flat.filter(captures={"price": prices, "kind": kinds, "low": 0.0, "high": 0.0, "one": 0})
    def between(ctx):
        price = ctx.price[ctx.row]
        return not (price < ctx.low or price > ctx.high) and ctx.kind[ctx.row] != ctx.one

    random = np.random.default_rng(17)
    for _ in range(20):
        low, high = np.sort(random.uniform(0, 100, 2)).astype(np.float32)
        one = int(random.integers(0, 4))
        bound = between.bind(low=low, high=high, one=one)
        check(index, bound, (prices >= low) & (prices <= high) & (kinds != one), k=int(random.integers(1, 40)))


def test_the_list_is_what_the_index_says():
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=LISTS, seed=2), DATA)

    @ivf_flat.filter(captures={"only": 0})
    def of_list(ctx):
        return ctx.list == ctx.only and ctx.dims == 6

    found = []
    for one in range(LISTS):
        _, neighbors = search(index, of_list.bind(only=one), ROWS, QUERIES[:1])
        found.append(set(neighbors[neighbors >= 0].tolist()))
    assert sorted(row for rows in found for row in rows) == list(range(ROWS))
    nearest = ((DATA[:, None].astype(np.float64) - index.centers[None]) ** 2).sum(axis=2).argmin(axis=1)
    assert [len(rows) for rows in found] == np.bincount(nearest, minlength=LISTS).tolist()


@pytest.mark.parametrize("dtype", VECTORS)
@pytest.mark.parametrize("dims", [1, 17])
def test_every_element_type(dtype, dims):
    values = np.random.default_rng(5).integers(0, 100, (90, 8 * dims))
    rows = PackedBits(values > 50) if dtype == "bits" else values[:, :dims].astype(numpy_dtype(dtype))
    queries = PackedBits(values[:2] > 50) if dtype == "bits" else rows[:2]
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=3, seed=1), rows)
    assert index.dtype_name == dtype
    _, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=3), index, queries, 90, filter=even)
    for found in neighbors:
        assert sorted(found[found >= 0].tolist()) == list(range(0, 90, 2))


def test_ids_with_gaps():
    rows = np.eye(4, dtype=np.float32)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows)
    index = ivf_flat.extend(index, rows * 2, np.array([1000, 7, 9, 12]))
    _, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=1), index, rows[:1], 8, filter=even)
    assert sorted(neighbors[0].tolist()) == [-1, -1, -1, -1, 0, 2, 12, 1000]
    both = even & filters.from_mask(np.arange(1001) > 11)
    _, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=1), index, rows[:1], 3, filter=both)
    assert neighbors.tolist() == [[1000, 12, -1]]
    short = even & filters.from_mask(np.ones(1000, bool))
    with pytest.raises(ArgumentError, match="the filter has 1000 bits, the largest id of the index is 1000; give it"):
        ivf_flat.search(ivf_flat.SearchParams(n_probes=1), index, rows[:1], 3, filter=short)
    far = ivf_flat.extend(index, rows[:1], np.array([2**62]))
    message = f"filter 'even': the largest id of the index is {2**62}, and a filter with code has a bit for every id"
    with pytest.raises(ArgumentError, match=re.escape(message)):
        ivf_flat.search(ivf_flat.SearchParams(n_probes=1), far, rows[:1], 3, filter=even)


def test_with_other_metrics_and_exact_search(index):
    metric = metrics.get("cityblock")
    exact = np.abs(QUERIES[:, None].astype(np.float64) - DATA[None]).sum(axis=2)
    passing = np.flatnonzero(prices <= 20)
    _, neighbors = search(index, affordable, 5, metric=metric)
    wanted = [passing[np.argsort(row[passing], kind="stable")][:5].tolist() for row in exact]
    assert neighbors.tolist() == wanted
    _, neighbors = brute_force.search(brute_force.build(DATA, "cityblock"), QUERIES, 5, prefilter=affordable)
    assert neighbors.tolist() == wanted


def test_what_an_index_is_extended_by():
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), DATA[:50])
    chosen = affordable.bind(price=prices[:50])
    params = ivf_flat.SearchParams(n_probes=2)
    ivf_flat.search(params, index, QUERIES, 3, filter=chosen)
    index = ivf_flat.extend(index, DATA[50:60])
    message = (
        "capture 'price' (row x f32) of filter 'affordable' has shape (50,), the largest id of the index is 59; "
        "give at least 60 entries, one per id"
    )
    with pytest.raises(CaptureError, match=re.escape(message)):
        ivf_flat.search(params, index, QUERIES, 3, filter=chosen)
    _, neighbors = ivf_flat.search(params, index, QUERIES, 60, filter=affordable)
    for found in neighbors:
        assert sorted(found[found >= 0].tolist()) == np.flatnonzero(prices[:60] <= 20).tolist()


@pytest.mark.parametrize("again", [1, 1000])
def test_extended_between_filter_and_search(monkeypatch, again):
    """By another thread: the new ids have no bits yet, and what is inverted or joined would let them pass."""
    base = np.random.default_rng(0).random((200, 6), dtype=np.float32)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4, add_data_on_build=False), base)
    ivf_flat.extend(index, base, 2 * np.arange(200))
    ivf_flat.extend(index, base[:1], np.array([1_000_000]))

    @ivf_flat.filter
    def odd(ctx):
        return ctx.row % 2 == 1

    computed = type(odd)._compute
    ids = iter(range(1, 399, 2)) if again == 1 else iter(range(1, 10_000, 2))

    def extended_meanwhile(self, *arguments):
        bits = computed(self, *arguments)
        if again > 1 or index.size == 201:
            ivf_flat.extend(index, base[:1], np.array([next(ids)]))
        return bits

    monkeypatch.setattr(type(odd), "_compute", extended_meanwhile)
    params = ivf_flat.SearchParams(n_probes=4)
    calls = [
        lambda: ivf_flat.search(params, index, base[:5], 20, filter=~odd)[1],
        lambda: np.concatenate(ivf_flat.radius_neighbors(params, index, base[:5], 0.5, filter=~odd)[1]),
    ]
    for call in calls:
        if again == 1:
            assert (call() % 2 == 0).all()
            index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4, add_data_on_build=False), base)
            ivf_flat.extend(index, base, 2 * np.arange(200))
            ivf_flat.extend(index, base[:1], np.array([1_000_000]))
        else:
            with pytest.raises(
                ArgumentError, match=r"^index was extended by other threads during each of 100 searches "
            ):
                call()


def test_computed_once_for_an_index(index, monkeypatch):
    engine = backends.backend(backends.CPU)
    calls = []

    class Counting:
        def __getattr__(self, name):
            if name == "filter":
                calls.append(name)
            return getattr(engine, name)

    monkeypatch.setattr(backends, "backend", lambda device: Counting())
    chosen, second = affordable.bind(most=31.0), even.bind()
    for _ in range(3):
        search(index, chosen)
        search(index, chosen & second)
        assert len(calls) == 2  # One scan of each.
    search(index, chosen.bind(most=32.0))
    assert len(calls) == 3
    other = ivf_flat.build(ivf_flat.IndexParams(n_lists=LISTS, seed=2), DATA)
    search(other, chosen)
    assert len(calls) == 4
    search(index, chosen)
    assert len(calls) == 4


def test_what_logs_may_search_with_the_filter(index):
    """A handler of the log that comes back to the filter neither waits for itself nor computes it again."""
    chosen, found = affordable.bind(most=33.0), []

    class Searching(logging.Handler):
        def emit(self, record):
            if record.getMessage().startswith("filter affordable keeps "):
                found.append(search(index, chosen)[1])

    logger, handler = logging.getLogger("annudf"), Searching()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        thread = threading.Thread(target=lambda: found.append(search(index, chosen)[1]), daemon=True)
        thread.start()
        thread.join(60)
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)
    assert not thread.is_alive()
    assert len(found) == 2
    assert found[0].tolist() == found[1].tolist()


def test_threads_do_not_wait_for_each_others_scan(index, monkeypatch):
    """Each is in its own scan at once, and all get the bits that came first."""
    engine, barrier = backends.backend(backends.CPU), threading.Barrier(3, timeout=60)

    class Meeting:
        def __getattr__(self, name):
            if name == "filter":
                barrier.wait()
            return getattr(engine, name)

    monkeypatch.setattr(backends, "backend", lambda device: Meeting())
    chosen = affordable.bind(most=34.0)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        made = list(pool.map(lambda _: chosen._for_search(index._core, backends.CPU, 1), range(3)))
    assert made[0] is made[1] is made[2]
    assert made[0].count == (prices <= 34).sum()


def test_of_python(index):
    assert repr(affordable) == "<annudf filter affordable (price: row x f32, most: f32 = 20.0)>"
    assert repr(~affordable & even) == f"(~{affordable!r} & {even!r})"
    assert affordable.name == "affordable"
    assert affordable.captures["most"] == np.float32(20)
    assert affordable.__doc__ is None
    assert affordable.__name__ == "affordable"
    assert copy.deepcopy(affordable) is affordable
    assert pickle.loads(pickle.dumps(affordable)) is affordable
    bound = pickle.loads(pickle.dumps(affordable.bind(most=40.0)))
    assert repr(bound) == repr(affordable).replace("20.0", "40.0")
    check(index, bound, prices <= 40)
    check(index, pickle.loads(pickle.dumps(bound & even)), (prices <= 40) & (numbers % 2 == 0))

    class At:
        row, price, most = 3, {3: 19.0}, 20.0

    assert affordable(At()) is True
    with pytest.raises(TypeError, match="filter 'affordable' was not made from a Python function here"):
        bound(At())
    assert "annudf.filter @affordable {" in affordable.mlir()
    assert "annudf.metric" not in affordable.mlir()


def test_another_process_reads_a_pickle(index, tmp_path):
    (tmp_path / "filter").write_bytes(pickle.dumps((index, affordable.bind(most=50.0))))
    program = (
        "import pickle, sys; from annudf import ivf_flat\n"
        "index, chosen = pickle.load(open(sys.argv[1], 'rb'))\n"
        "found = ivf_flat.search(ivf_flat.SearchParams(n_probes=7), index, index.centers[:1], 701, filter=chosen)[1]\n"
        "print((found >= 0).sum(), 'numba_cuda_mlir' in sys.modules)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "filter")], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == [str((prices <= 50).sum()), "False"]


def no_bool(ctx):
    return ctx.price[ctx.row]


def number_or_nothing(ctx):
    if ctx.row > 3:
        return True


def of_a_dimension(ctx):
    return ctx.dim == 0


def not_there(ctx):
    return ctx.cost[ctx.row] > 1


def outside(ctx):
    return ctx.price[ctx.row + 1] > 1


def of_coordinates(x, y, acc, ctx):
    return x < y


def without_ctx():
    return True


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (no_bool, "no_bool returns float32; a filter returns True or False on every path, such as"),
        (number_or_nothing, "number_or_nothing returns nothing on some path; return True or False on every path"),
        (of_a_dimension, "ctx.dim has no meaning in a filter, which sees no coordinates; it has ctx.row, ctx.query,"),
        (
            not_there,
            "there is no ctx.cost; there are ctx.dims, ctx.row, ctx.query, ctx.list, ctx.price (declare arrays",
        ),
        (
            of_coordinates,
            "takes (x, y, acc, ctx); a filter's function is of_coordinates(ctx), which returns whether row",
        ),
        (without_ctx, "takes (); a filter's function is without_ctx(ctx), which returns whether row ctx.row may"),
    ],
)
def test_functions_that_are_refused(index, function, message):
    chosen = ivf_flat.filter(captures={"price": prices})(function)
    with pytest.raises(UnsupportedError, match=re.escape(message)) as caught:
        search(index, chosen)
    (diagnostic,) = caught.value.diagnostics
    first = function.__code__.co_firstlineno
    assert diagnostic.file == __file__
    assert first <= diagnostic.line <= first + 3
    assert f"test_code_filters.py:{diagnostic.line}" in str(caught.value)


def test_an_index_that_is_not_proved(index):
    chosen = ivf_flat.filter(captures={"price": ivf_flat.capture(prices, extents="row")})(outside)
    with pytest.raises(Exception, match=r"\[L4\] index of extent row cannot be proved to be inside it"):
        search(index, chosen)


def test_refused_when_made():
    def limited(ctx):
        return ctx.limit > 1

    for make, kind, message in (
        (lambda: ivf_flat.filter(3), ArgumentError, "annudf.filter decorates a Python function f(ctx), not a int"),
        (lambda: ivf_flat.filter(captures=[1]), None, ""),
        (lambda: ivf_flat.filter(captures=[1])(limited), ArgumentError, "captures is a list, it must be a mapping of"),
        (lambda: ivf_flat.filter(symbol_name="a b")(limited), ArgumentError, "symbol_name is 'a b'; use letters"),
        (lambda: affordable.bind(cost=1.0), CaptureError, "filter 'affordable' has no capture 'cost'; it has 'price'"),
        (lambda: bool(affordable), ArgumentError, "a filter is neither true nor false; join filters with &, | and ~"),
        (
            lambda: ivf_flat.SearchParams(metric=affordable),
            ArgumentError,
            "which is a filter; give it as search(filter=...)",
        ),
        (
            lambda: affordable & filters.from_mask([True]) & filters.from_mask([True, False]),
            ArgumentError,
            "filters of 1 and 2 bits cannot be joined by &; make them for the same index",
        ),
    ):
        if kind is None:
            make()
            continue
        with pytest.raises(kind, match=re.escape(message)):
            make()
    for join in (lambda: affordable & True, lambda: affordable | np.ones(3, bool).tolist()):
        with pytest.raises(TypeError):
            join()


def test_a_metric_is_no_filter(index):
    message = (
        "filter is a Metric; give an array of bool with an entry for every id, filters.from_bitset(...), a function"
    )
    with pytest.raises(ArgumentError, match=re.escape(message)):
        search(index, metrics.get("cityblock"))
