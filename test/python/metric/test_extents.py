# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Captures with a value per row, per query or of a table: what their axes stand for, and what a search computes."""

from __future__ import annotations

import numpy as np
import pytest

from annudf import CaptureError, CompileError, ivf_flat
from annudf.common import Resources
from annudf.distance import pairwise_distance
from annudf.neighbors import brute_force
from reference import check, vectors

DIMS, ROWS, QUERIES = 6, 300, 9
BASE = vectors(ROWS, DIMS, "float32", 1)
ASKED = vectors(QUERIES, DIMS, "float32", 2)
SQUARES = ((ASKED[:, None].astype(np.float64) - BASE[None]) ** 2).sum(axis=2)
AGE = np.random.default_rng(3).uniform(0, 90, ROWS).astype(np.float32)
WEIGHTS = np.random.default_rng(4).uniform(0.1, 3, (QUERIES, DIMS)).astype(np.float32)


@pytest.fixture(scope="module")
def index():
    return ivf_flat.build(ivf_flat.IndexParams(n_lists=5), BASE)


def search(index, metric, queries=ASKED, k=7, **options):
    return ivf_flat.search(ivf_flat.SearchParams(n_probes=5, metric=metric), index, queries, k, **options)


@ivf_flat.metric(
    captures={"age": AGE, "half_life": 30.0},
    finalize=lambda acc, ctx: acc * 2.0 ** (ctx.age[ctx.row] / ctx.half_life),
)
def decayed(x, y, acc, ctx):
    d = x - y
    return acc + d * d


@ivf_flat.metric(captures={"w": WEIGHTS})
def personal(x, y, acc, ctx):
    d = x - y
    return acc + ctx.w[ctx.query, ctx.dim] * d * d


ONE, TWO = np.ones(4, np.float32), np.ones((4, 5), np.float32)


def test_a_value_per_row_decays_by_time(index):
    assert repr(decayed) == "<annudf metric decayed (age: row x f32, half_life: f32 = 30.0)>"
    check(*search(index, decayed), SQUARES * 2 ** (AGE.astype(np.float64) / 30))
    check(*search(index, decayed.bind(half_life=5.0)), SQUARES * 2 ** (AGE.astype(np.float64) / 5))


def test_weights_of_each_query(index):
    assert repr(personal) == "<annudf metric personal (w: query x dim x f32)>"
    terms = (ASKED[:, None].astype(np.float64) - BASE[None]) ** 2 * WEIGHTS[:, None]
    check(*search(index, personal), terms.sum(axis=2))
    # Other queries, other weights, nothing compiled.
    some = personal.bind(w=WEIGHTS[2:4])
    check(*search(index, some, ASKED[2:4]), terms[2:4].sum(axis=2))
    assert some.artifact([]) is personal.artifact([])


@pytest.mark.parametrize("queries", [1, 64, 1500])
def test_every_query_of_a_large_batch_has_its_own(index, queries):
    asked = vectors(queries, DIMS, "float32", 5)
    scale = np.linspace(1, 2, queries).astype(np.float32)

    @ivf_flat.metric(captures={"s": scale})
    def scaled(x, y, acc, ctx):
        return acc + abs(x - y) * ctx.s[ctx.query]

    exact = np.abs(asked[:, None].astype(np.float64) - BASE[None]).sum(axis=2) * scale[:, None]
    check(*search(index, scaled, asked), exact)


def test_a_table_that_is_looked_up():
    base, asked = vectors(200, 5, "uint8", 6), vectors(4, 5, "uint8", 7)
    table = np.random.default_rng(8).uniform(0, 1, (16, 16)).astype(np.float32)

    @ivf_flat.metric(captures={"lut": table}, dtype=np.int32, accumulator=np.float32, elements=[np.uint8])
    def looked_up(x, y, acc, ctx):
        return acc + ctx.lut[min(x, 15), y & 15]

    assert repr(looked_up) == "<annudf metric looked_up (lut: 16 x 16 x f32)>"
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), base)
    found = ivf_flat.search(ivf_flat.SearchParams(n_probes=2, metric=looked_up), index, asked, 5)
    entries = table[np.minimum(asked, 15)[:, None].astype(int), (base & 15)[None].astype(int)]
    check(*found, entries.astype(np.float64).sum(axis=2))


def test_three_axes_and_arithmetic_on_indices(index):
    table = np.random.default_rng(9).uniform(1, 2, (3, 4, DIMS)).astype(np.float32)

    @ivf_flat.metric(captures={"t": table, "v": WEIGHTS[0]})
    def several(x, y, acc, ctx):
        after = (ctx.dim + 1) % ctx.dims
        return acc + (x - y) ** 2 * ctx.t[ctx.row % 3, ctx.query % 4, ctx.dim] * ctx.v[after]

    assert repr(several) == "<annudf metric several (t: 3 x 4 x dim x f32, v: dim x f32)>"
    weights = table[np.arange(ROWS) % 3][:, np.arange(QUERIES) % 4].astype(np.float64)  # row, query, dim
    terms = (ASKED[:, None].astype(np.float64) - BASE[None]) ** 2 * weights.swapaxes(0, 1)
    check(*search(index, several), (terms * np.roll(WEIGHTS[0].astype(np.float64), -1)).sum(axis=2))


def test_the_list_is_known(index):
    @ivf_flat.metric(finalize=lambda acc, ctx: acc + 1000 * ctx.list)
    def by_list(x, y, acc, ctx):
        return acc

    distances, _ = search(index, by_list, k=ROWS)
    lists, counts = np.unique(distances[0], return_counts=True)
    assert lists.tolist() == [0, 1000, 2000, 3000, 4000]
    assert counts.sum() == ROWS


def test_ids_with_gaps_index_an_array_of_rows():
    ids = np.arange(ROWS, dtype=np.int64) * 10 + 3
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=5), BASE[:5])
    index = ivf_flat.extend(index, BASE, ids + 5)
    age = np.random.default_rng(1).uniform(0, 9, ROWS * 10 + 100).astype(np.float32)

    @ivf_flat.metric(captures={"age": age}, finalize=lambda acc, ctx: acc + ctx.age[ctx.row])
    def aged(x, y, acc, ctx):
        d = x - y
        return acc + d * d

    held = np.concatenate([np.arange(5), ids + 5])
    rows = np.concatenate([BASE[:5], BASE])
    exact = ((ASKED[:, None].astype(np.float64) - rows[None]) ** 2).sum(axis=2) + age[held].astype(np.float64)
    distances, neighbors = search(index, aged)
    place = {int(one): at for at, one in enumerate(held)}
    check(distances, np.vectorize(place.get)(neighbors).astype(np.int64), exact)


def refusal(call):
    with pytest.raises(CaptureError) as caught:
        call()
    return str(caught.value)


def test_an_array_of_rows_that_is_too_short(index):
    short = decayed.bind(age=AGE[:-1])
    message = (
        "capture 'age' (row x f32) of metric 'decayed' has shape (299,), the largest id of the index is 299; "
        "give at least 300 entries, one per id"
    )
    assert refusal(lambda: search(index, short)) == message
    check(*search(index, decayed.bind(age=np.append(AGE, AGE))), SQUARES * 2 ** (AGE.astype(np.float64) / 30))


def test_extend_past_an_array_of_rows_is_seen_by_the_next_search():
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=5), BASE)
    search(index, decayed)
    ivf_flat.extend(index, BASE[:2], np.array([300, 301]))
    assert refusal(lambda: search(index, decayed)) == (
        "capture 'age' (row x f32) of metric 'decayed' has shape (300,), the largest id of the index is 301; "
        "give at least 302 entries, one per id"
    )
    longer = np.append(AGE, [1, 2]).astype(np.float32)
    exact = np.concatenate([SQUARES, SQUARES[:, :2]], axis=1) * 2 ** (longer.astype(np.float64) / 30)
    check(*search(index, decayed.bind(age=longer)), exact)


@pytest.mark.parametrize("queries", [0, 1, QUERIES + 1])
def test_an_array_of_queries_has_one_entry_each(index, queries):
    asked = vectors(queries, DIMS, "float32", 5)
    assert refusal(lambda: search(index, personal, asked)) == (
        f"capture 'w' (query x dim x f32) of metric 'personal' has shape (9, 6), this search has {queries} "
        f"{'query' if queries == 1 else 'queries'}; give one entry a query, by .bind(w=...)"
    )


def test_every_call_names_both_numbers_of_queries(index):
    params = ivf_flat.SearchParams(n_probes=5, metric=personal)
    for call in (
        lambda: ivf_flat.prepare(params, index, BASE[:4], 3),
        lambda: ivf_flat.radius_neighbors(params, index, BASE[:4], 3.0),
        lambda: ivf_flat.evaluate(index, BASE[:4], personal),
        lambda: ivf_flat.tune_n_probes(index, BASE[:4], metric=personal),
        lambda: brute_force.knn(BASE, BASE[:4], 3, metric=personal),
        lambda: pairwise_distance(BASE[:4], BASE, metric=personal),
    ):
        assert refusal(call) == (
            "capture 'w' (query x dim x f32) of metric 'personal' has shape (9, 6), this search has 4 queries; give "
            "one "
            "entry a query, by .bind(w=...)"
        )


def test_no_queries_and_captures_of_none(index):
    none = personal.bind(w=WEIGHTS[:0])
    distances, neighbors = search(index, none, ASKED[:0])
    assert distances.shape == neighbors.shape == (0, 7)
    assert "this search has 9 queries" in refusal(lambda: search(index, none))


def test_two_arrays_of_queries_agree(index):
    @ivf_flat.metric(captures={"a": WEIGHTS[:, 0], "b": WEIGHTS[:4, 1]})
    def two(x, y, acc, ctx):
        return acc + ctx.a[ctx.query] * ctx.b[ctx.query]

    assert refusal(lambda: search(index, two)) == (
        "captures 'a' and 'b' of metric 'two' have 9 and 4 entries, one a query; give both as many"
    )


def test_an_axis_of_dimensions_has_as_many(index):
    metric = personal.bind(w=np.ones((QUERIES, DIMS + 1), np.float32))
    assert refusal(lambda: search(index, metric)) == (
        "capture 'w' of metric 'personal' has 7 entries in axis 1, the index has 6 dimensions; give one entry a "
        "dimension"
    )


def test_a_table_that_an_index_changed_in_place_reads(index):
    @ivf_flat.metric(captures={"w": np.arange(1, 5, dtype=np.float32)})
    def weighted(x, y, acc, ctx):
        i = ctx.dim
        i %= 4
        return acc + ctx.w[i] * (x - y) ** 2

    weights = np.arange(DIMS) % 4 + 1
    check(*search(index, weighted), ((ASKED[:, None].astype(np.float64) - BASE[None]) ** 2 * weights).sum(axis=2))


def test_extents_that_are_said(index):
    made = ivf_flat.capture(np.ones((QUERIES, DIMS), np.float32), extents=("query", "dim"))

    @ivf_flat.metric(captures={"w": made, "c": ivf_flat.capture(ONE, 4)})
    def said(x, y, acc, ctx):
        return acc + (x - y) ** 2 * ctx.c[3]

    assert repr(said) == "<annudf metric said (w: query x dim x f32, c: 4 x f32)>"
    check(*search(index, said), SQUARES)
    assert refusal(lambda: said.bind(c=np.ones(5, np.float32))) == (
        "capture 'c' is declared as 4 x f32, the value given is 5 x f32; the metric was made for that length, so "
        "declare it again with this array"
    )
    assert refusal(lambda: said.bind(c=ivf_flat.capture(ONE, 4))) == (
        "capture 'c' is an ivf_flat.capture(...), which only declares extents; give the array itself"
    )
    assert refusal(lambda: said.bind(w=ONE)) == (
        "capture 'w' is declared as query x dim x f32, the value given is 4 x f32; give an array of 2 axes"
    )


# --- What is not proved -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index_of", "message"),
    [
        (
            lambda x, y, acc, ctx: acc + ctx.w[ctx.row] + ctx.w[ctx.row - 1],
            "[L4] index of extent row cannot be proved to be inside it: only ctx.row itself is; index that extent by "
            "it, "
            "without arithmetic",
        ),
        (
            lambda x, y, acc, ctx: acc + ctx.w[ctx.query] + ctx.w[0],
            "[L4] index of extent query cannot be proved to be inside it: only ctx.query itself is; index that extent "
            "by "
            "it, without arithmetic",
        ),
        (
            lambda x, y, acc, ctx: acc + ctx.w[ctx.row % 5],
            "[L3] index of extent 4 may be as large as 4, but the extent ends at 3; bound it above, as min(i, 3) does",
        ),
    ],
)
def test_an_index_that_is_not_proved(index_of, message):
    metric = ivf_flat.metric(captures={"w": ONE}, symbol_name="m")(index_of)
    with pytest.raises(CompileError) as caught:
        metric.mlir()
    assert caught.value.diagnostics[0].message == message


@pytest.mark.parametrize(
    ("update", "message"),
    [
        (
            lambda x, y, acc, ctx: acc + ctx.w[ctx.row],
            "ctx.w has 2 axes, it is indexed by 1; read one entry, ctx.w[i, i]",
        ),
        (
            lambda x, y, acc, ctx: acc + ctx.w[0, 1, 2],
            "ctx.w has 2 axes, it is indexed by 3; read one entry, ctx.w[i, i]",
        ),
        (lambda x, y, acc, ctx: acc + ctx.w[0, x], "ctx.w is indexed by integers; read one entry, ctx.w[i, i]"),
    ],
)
def test_an_index_of_another_kind(update, message):
    metric = ivf_flat.metric(captures={"w": ivf_flat.capture(TWO, (4, 5))}, symbol_name="m")(update)
    with pytest.raises(CompileError) as caught:
        metric.mlir()
    assert message in str(caught.value)


def test_artifacts_and_text_keep_extents(tmp_path, index):
    personal.save(tmp_path / "m.annudf")
    (tmp_path / "m.mlir").write_text(personal.mlir())
    for file in ("m.annudf", "m.mlir"):
        loaded = ivf_flat.load_metric(tmp_path / file)
        with pytest.raises(CaptureError, match=r"capture 'w' \(query x dim x f32\) of metric 'personal' has no value"):
            search(index, loaded)
        for ours, theirs in zip(search(index, loaded.bind(w=WEIGHTS)), search(index, personal), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_threads_have_their_own_queries(index):
    from concurrent.futures import ThreadPoolExecutor

    terms = (ASKED[:, None].astype(np.float64) - BASE[None]) ** 2 * WEIGHTS[:, None]

    def one(query):
        metric = personal.bind(w=WEIGHTS[query : query + 1])
        return search(index, metric, ASKED[query : query + 1], resources=Resources())

    with ThreadPoolExecutor(4) as pool:
        for query, found in enumerate(pool.map(one, range(QUERIES))):
            check(*found, terms[query : query + 1].sum(axis=2))
