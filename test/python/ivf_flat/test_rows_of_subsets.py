# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Arrays with an entry a row, and rows that are only some of those that the array is for."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

from annudf import ArgumentError, CaptureError, CaptureWarning, PackedBits, device_ndarray, filters, ivf_flat
from annudf.distance import pairwise_distance
from annudf.neighbors import NearestNeighbors, brute_force
from reference import check, vectors

ALL, DIMS = 900, 6
BASE, ASKED = vectors(ALL, DIMS, "float32", 1), vectors(8, DIMS, "float32", 2)
AGE = np.random.default_rng(3).uniform(1, 9, ALL).astype(np.float32)
SUBSET = np.random.default_rng(4).permutation(ALL)[:200]
ROWS = BASE[SUBSET]
EXACT = ((ASKED[:, None].astype(np.float64) - ROWS[None]) ** 2).sum(axis=2) * AGE[SUBSET]
PARAMS = {"n_probes": 4}


@ivf_flat.metric(captures={"age": AGE}, finalize=lambda acc, ctx: acc * ctx.age[ctx.row])
def decayed(x, y, acc):
    return acc + (x - y) ** 2


@ivf_flat.metric(captures={"age": AGE}, finalize=lambda acc, ctx: acc * ctx.age[ctx.row] + ctx.row % 7)
def counted(x, y, acc):
    return acc + (x - y) ** 2


@ivf_flat.filter(captures={"age": AGE})
def old(ctx):
    return ctx.age[ctx.row] > 4


def refusal(call):
    with pytest.raises(ArgumentError) as caught:
        call()
    return type(caught.value), str(caught.value)


@pytest.mark.parametrize("length", [ALL, 199, 201])
def test_exact_calls_refuse_an_array_of_other_rows(length):
    metric = decayed.bind(age=np.resize(AGE, length))
    for name, call in (
        ("argument 'Y'", lambda: pairwise_distance(ASKED, ROWS, metric=metric)),
        ("argument 'X'", lambda: pairwise_distance(ROWS, metric=metric)),
        ("argument 'dataset'", lambda: brute_force.knn(ROWS, ASKED, 3, metric=metric)),
        ("the index", lambda: brute_force.search(brute_force.build(ROWS, metric), ASKED, 3)),
    ):
        assert refusal(call) == (
            CaptureError,
            f"capture 'age' (row x f32) of metric 'decayed' has {length} entries, {name} has 200 rows; give one entry "
            "a row, age[subset], or say which entry each row has, ids=subset",
        )


def test_exact_calls_refuse_a_filter_of_other_rows():
    mask = np.ones(ALL, bool)
    said = (
        "the filter has {} entries, the index has 200 rows; give one entry a row, mask[subset], or say which entry "
        "each "
        "row has, ids=subset"
    )
    index = brute_force.build(ROWS)
    for given, bits in (
        (mask, ALL),
        (mask[:201], 201),
        (filters.from_mask(mask), ALL),
        (filters.from_bitset(np.ones(8, np.uint32)), 256),
        (filters.from_bitset(np.ones(7, np.uint32), 201), 201),
        (~filters.from_bitset(np.ones(8, np.uint32)), 256),
    ):
        assert refusal(lambda given=given: brute_force.search(index, ASKED, 3, prefilter=given)) == (
            ArgumentError,
            said.format(bits),
        )
    for given in (old, ~old, old & mask[:200]):
        kind, message = refusal(lambda given=given: brute_force.search(index, ASKED, 3, prefilter=given))
        assert (kind, message.partition(",")[0]) == (
            CaptureError,
            "capture 'age' (row x f32) of filter 'old' has 900 entries",
        )
    padded = filters.from_bitset(np.full(7, 0xFFFFFFFF, np.uint32))  # 224 bits: of 200 rows all are words.
    found = brute_force.search(index, ASKED, 3)[1]
    for given in (padded, padded & padded, pickle.loads(pickle.dumps(padded)), old.bind(age=AGE[SUBSET]) | padded):
        np.testing.assert_array_equal(brute_force.search(index, ASKED, 3, prefilter=given)[1], found)


def test_ids_say_which_entry_a_row_has(tmp_path):
    distances = pairwise_distance(ASKED, ROWS, metric=decayed, ids=SUBSET)
    np.testing.assert_allclose(distances, EXACT, rtol=1e-4)
    np.testing.assert_array_equal(distances, pairwise_distance(ASKED, ROWS, metric=decayed.bind(age=AGE[SUBSET])))
    place = np.full(ALL, -1)
    place[SUBSET] = np.arange(200)
    index = brute_force.build(ROWS, decayed, ids=SUBSET)
    brute_force.save(tmp_path / "index", index)
    for found, neighbors in (
        brute_force.knn(ROWS, ASKED, 9, metric=decayed, ids=SUBSET.astype(np.uint16)),
        brute_force.search(index, ASKED, 9),
        brute_force.search(brute_force.load(tmp_path / "index", decayed), ASKED, 9),
    ):
        check(found, place[neighbors], EXACT, rtol=1e-4)
    # The ids of all rows, which a file cannot tell from numbers that nobody chose.
    brute_force.save(tmp_path / "first", brute_force.build(ROWS, decayed, ids=np.arange(200)))
    with pytest.warns(CaptureWarning, match="has 900 entries, the index has 200 rows"):
        brute_force.search(brute_force.load(tmp_path / "first", decayed), ASKED, 9)
    kept = brute_force.knn(ROWS, ASKED, 200, metric=decayed, ids=SUBSET, prefilter=old)[1]
    assert set(kept[0].tolist()) - {-1} == set(SUBSET[AGE[SUBSET] > 4].tolist())


@pytest.mark.parametrize("metric", [counted, "loaded"])
def test_ids_are_what_the_row_is(metric, tmp_path):
    """Also where ctx.row is a number, or nothing but the compiled code is known."""
    exact = EXACT
    if metric is counted:
        exact = EXACT + SUBSET % 7
    else:
        decayed.save(tmp_path / "decayed.annudf", [])
        metric = ivf_flat.load_metric(tmp_path / "decayed.annudf").bind(age=AGE)
    out = np.empty((8, 200), np.float32)
    assert pairwise_distance(ASKED, ROWS, out, metric=metric, ids=SUBSET) is out
    np.testing.assert_allclose(out, exact, rtol=1e-4)
    assert pairwise_distance(ASKED[:0], ROWS, metric=metric, ids=SUBSET).shape == (0, 200)


def test_ids_of_rows_whose_distance_is_nan():
    @ivf_flat.metric(captures={"age": AGE}, finalize=lambda acc, ctx: (acc - acc) / (ctx.age[ctx.row] - ctx.row))
    def undefined(x, y, acc):
        return acc + x * y

    same = AGE.copy()
    same[SUBSET[5]] = SUBSET[5]
    distances = pairwise_distance(ASKED, ROWS, metric=undefined.bind(age=same), ids=SUBSET)
    assert np.isnan(distances[:, 5]).all()
    assert (np.delete(distances, 5, axis=1) == 0).all()


def test_ids_of_bits_and_of_itself():
    bits = PackedBits(np.random.default_rng(5).random((40, 16)) < 0.5)

    @ivf_flat.metric(captures={"age": AGE}, elements=["bits"], finalize=lambda acc, ctx: acc + ctx.age[ctx.row])
    def unequal(x, y, acc):
        return acc + abs(x - y)

    ids = SUBSET[:40]
    plain = pairwise_distance(bits, metric=unequal.bind(age=np.zeros(40, np.float32)))
    np.testing.assert_array_equal(pairwise_distance(bits, metric=unequal, ids=ids), plain + AGE[ids])
    assert (brute_force.knn(bits, bits, 40, metric=unequal, ids=ids)[1].max(axis=1) == ids.max()).all()


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (SUBSET[:-1], "argument 'ids' has shape (199,), it must be (200,), one id a row"),
        (SUBSET * 1.0, "argument 'ids' has dtype float64, it must be int64, "),
        (np.r_[SUBSET[:-1], -3], "ids[199] is -3; ids are 0 or above"),
        (
            np.r_[SUBSET[:-1], SUBSET[7]],
            f"ids[199] is {SUBSET[7]}, the id of row 7 too; give each row an id of its own",
        ),
        (
            np.r_[SUBSET[:-1], 5000],
            "capture 'age' (row x f32) of metric 'decayed' has shape (900,), the largest id of the index is 5000; give "
            "at",
        ),
    ],
)
def test_ids_are_checked(ids, message):
    for call in (
        lambda: pairwise_distance(ASKED, ROWS, metric=decayed, ids=ids),
        lambda: brute_force.knn(ROWS, ASKED, 3, metric=decayed, ids=ids),
        lambda: brute_force.search(brute_force.build(ROWS, decayed, ids=ids), ASKED, 3),
    ):
        assert refusal(call)[1].startswith(message)


def test_rows_are_taken_once_and_ids_checked_once(monkeypatch):
    seen = []
    for name in ("store_rows", "given_ids"):
        real = getattr(brute_force, name)
        monkeypatch.setattr(brute_force, name, lambda *args, _of=real, _name=name: (seen.append(_name), _of(*args))[1])
    for call in (
        lambda: pairwise_distance(ASKED, ROWS, metric=decayed, ids=SUBSET),
        lambda: pairwise_distance(ASKED, ROWS, metric=counted, ids=SUBSET),
        lambda: brute_force.knn(ROWS, ROWS, 3, metric=counted, ids=SUBSET, exclude_self=True),
    ):
        call()
        assert sorted(seen) == ["given_ids", "store_rows"]
        seen.clear()
    for wrong in (ROWS[0], np.float32(1), ROWS.astype(complex)):
        with pytest.raises(ArgumentError, match=r"argument '(Y|dataset)'"):
            pairwise_distance(ASKED, wrong, metric=decayed, ids=SUBSET)


@pytest.mark.gpu
@pytest.mark.parametrize("metric", [decayed, counted])
def test_ids_of_device_arrays(metric):
    x, y = device_ndarray(ASKED), device_ndarray(ROWS)
    exact = EXACT if metric is decayed else EXACT + SUBSET % 7
    found = pairwise_distance(x, y, metric=metric, ids=SUBSET)
    assert isinstance(found, device_ndarray)
    np.testing.assert_allclose(found.copy_to_host(), exact, rtol=1e-4)
    distances, neighbors = brute_force.knn(y, x, 9, metric=metric, ids=SUBSET)
    place = np.full(ALL, -1)
    place[SUBSET] = np.arange(200)
    check(distances.copy_to_host(), place[neighbors.copy_to_host()], exact, rtol=1e-4)
    assert NearestNeighbors(metric=metric.bind(age=AGE[SUBSET]), n_lists=10).fit(y).recall_ >= 0.95


def told(call):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call()
    return [(one.category, str(one.message), one.filename) for one in seen]


def build():
    return ivf_flat.build(ivf_flat.IndexParams(n_lists=4), ROWS)


def test_a_fresh_index_warns_once_of_an_array_of_other_rows():
    index = build()
    params = ivf_flat.SearchParams(metric=decayed, **PARAMS)
    expected = (
        CaptureWarning,
        "capture 'age' (row x f32) of metric 'decayed' has 900 entries, the index has 200 rows with the ids 0 to 199, "
        "so the rest is never read; if the rows are a subset, give age[subset], or add them with their ids, "
        "ivf_flat.extend(index, rows, subset)",
        __file__,
    )
    assert told(lambda: ivf_flat.search(params, index, ASKED, 3)) == [expected]
    assert told(lambda: ivf_flat.search(params, index, ASKED, 3)) == []
    again = ivf_flat.SearchParams(metric=decayed.bind(age=AGE + 1), **PARAMS)
    assert told(lambda: ivf_flat.search(again, index, ASKED, 3)) == []
    other = ivf_flat.SearchParams(metric=counted, **PARAMS)
    assert len(told(lambda: ivf_flat.search(other, index, ASKED, 3))) == 1
    for call in (
        lambda: ivf_flat.search(params, build(), ASKED, 3),
        lambda: ivf_flat.prepare(params, build(), ASKED, 3),
        lambda: ivf_flat.radius_neighbors(params, build(), ASKED, 3.0),
        lambda: ivf_flat.tune_n_probes(build(), ASKED, 3, metric=decayed),
        lambda: ivf_flat.search(params, pickle.loads(pickle.dumps(build())), ASKED, 3),
    ):
        assert told(call) == [expected]


def test_two_workers_that_share_an_array_are_told():
    """Each builds half of the rows with the ages of all: its second half reads those of the first."""
    halves = [ivf_flat.build(ivf_flat.IndexParams(n_lists=4), part) for part in np.split(BASE, 2)]
    params = ivf_flat.SearchParams(metric=decayed, **PARAMS)
    for half in halves:
        assert len(told(lambda half=half: ivf_flat.search(params, half, ASKED, 3))) == 1


def test_a_fresh_index_warns_of_a_filter_of_other_rows():
    params = ivf_flat.SearchParams(**PARAMS)
    mask = np.ones(ALL, bool)
    for given, name in ((mask, "the filter"), (old, "capture 'age' (row x f32) of filter 'old'"), (mask & ~old, "the")):
        ((kind, message, _), *_) = told(lambda given=given: ivf_flat.search(params, build(), ASKED, 3, filter=given))
        assert kind is CaptureWarning
        assert message.startswith(name)


def test_an_index_of_chosen_ids_takes_longer_arrays():
    params = ivf_flat.SearchParams(metric=decayed, **PARAMS)
    extended = ivf_flat.build(ivf_flat.IndexParams(n_lists=4, add_data_on_build=False), ROWS)
    ivf_flat.extend(extended, ROWS, np.arange(200))
    removed = build()
    ivf_flat.remove(removed, [199])
    grown = build()
    ivf_flat.extend(grown, BASE[:700])
    for index in (extended, removed, grown, pickle.loads(pickle.dumps(extended))):
        assert told(lambda index=index: ivf_flat.search(params, index, ASKED, 3, filter=np.ones(ALL, bool))) == []
