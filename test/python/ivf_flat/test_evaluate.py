# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Recall, rate and rows by probe count, and the probes that an estimator finds for itself."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest

from annudf import ArgumentError, PackedBits, UnavailableError, ivf_flat
from annudf.neighbors import NearestNeighbors, brute_force
from reference import vectors

ROWS, LISTS = 4000, 50
BASE, ASKED = vectors(ROWS, 8, "float32", 1), vectors(120, 8, "float32", 2)
AGE = np.random.default_rng(3).exponential(30, ROWS).astype(np.float32)


@ivf_flat.metric(captures={"age": AGE}, finalize=lambda acc, ctx: acc * 2.0 ** (ctx.age[ctx.row] / 10))
def decayed(x, y, acc):
    return acc + (x - y) ** 2


@pytest.fixture(scope="module")
def index():
    return ivf_flat.build(ivf_flat.IndexParams(n_lists=LISTS), BASE)


def recall_of(index, metric, probes, queries=ASKED, k=10, **more):
    def search(n):
        params = ivf_flat.SearchParams(n_probes=n, metric=metric)
        return ivf_flat.search(params, index, queries, k, **more)[1]

    return np.mean([len(set(one) & set(other)) / k for one, other in zip(search(probes), search(LISTS), strict=True)])


@pytest.mark.parametrize("metric", [decayed, "canberra", None])
def test_a_curve(index, metric):
    curve = ivf_flat.evaluate(index, ASKED, metric)
    assert curve.probes.tolist() == [1, 2, 4, 8, 16, 32, 50]
    assert curve.recall.tolist() == [pytest.approx(recall_of(index, metric, n)) for n in curve.probes]
    assert curve.recall[0] < curve.recall[2] < curve.recall[-1] == 1
    assert (np.diff(curve.rows_per_query) > 0).all()
    assert curve.rows_per_query[-1] == ROWS
    assert (curve.queries_per_second > 0).all()
    assert (curve.metric, curve.k, curve.n_queries, curve.n_lists) == (
        {decayed: "decayed", None: "sqeuclidean"}.get(metric, metric),
        10,
        120,
        LISTS,
    )


def test_the_rate_is_that_of_the_queries(index):
    start = time.perf_counter()
    curve = ivf_flat.evaluate(index, ASKED, probes=[LISTS])
    assert len(ASKED) / curve.queries_per_second[0] < time.perf_counter() - start


def test_a_curve_prints_as_a_table(index):
    curve = ivf_flat.evaluate(index, ASKED, decayed, 5, probes=[50, 3, 3, 999])
    first, names, *lines = str(curve).splitlines()
    assert (first, names.split()) == (
        "decayed: k = 5, 120 queries, 50 lists",
        ["probes", "recall", "queries/s", "rows/query"],
    )
    assert [line.split()[:2] for line in lines] == [["3", f"{curve.recall[0]:.4f}"], ["50", "1.0000"]]
    assert repr(curve) == str(curve)


def test_a_curve_with_a_filter(index):
    few = np.arange(ROWS) % 3 == 0
    curve = ivf_flat.evaluate(index, ASKED, decayed, probes=[4], filter=few)
    assert curve.recall[0] == pytest.approx(recall_of(index, decayed, 4, filter=few))
    nothing = ivf_flat.evaluate(index, ASKED, probes=[1], filter=np.zeros(ROWS, bool))
    assert nothing.recall.tolist() == [1]


def test_tuned_probes_are_the_fewest_of_the_curve(index):
    curve = ivf_flat.evaluate(index, ASKED, decayed, probes=range(1, LISTS + 1))
    for wanted in (0.2, 0.5, 0.9, 1.0):
        found = ivf_flat.tune_n_probes(index, ASKED, recall=wanted, metric=decayed)
        assert curve.recall[found - 1] >= wanted
        assert found == 1 or curve.recall[found - 2] < wanted


def test_repeated_ids_count_as_often_as_they_are_found():
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), BASE[:400])
    ivf_flat.extend(index, BASE[:400], np.arange(400), allow_repeated_ids=True)
    curve = ivf_flat.evaluate(index, ASKED, k=6, probes=[4])
    assert curve.recall.tolist() == [1]


def test_one_number_of_probes(index):
    for probes, scanned in ((3, 3), (np.int64(3), 3), (np.array(3), 3), (500, LISTS)):
        assert ivf_flat.evaluate(index, ASKED, probes=probes).probes.tolist() == [scanned]


@pytest.mark.parametrize("metric", ["cityblock", "inner_product"])
def test_rows_as_near_as_the_last_neighbour_are_found(metric):
    """All 40 are: a search of one list finds some of its 20, one of both the lowest ids."""
    rows = np.repeat(np.array([[4, 1], [1, 4]], np.float32), 20, axis=0)
    queries = np.ones((1, 2), np.float32)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), rows[np.random.default_rng(0).permutation(40)])
    assert recall_of(index, metric, 1, queries) < 1
    curve = ivf_flat.evaluate(index, queries, metric, probes=1)
    assert (curve.recall[0], curve.rows_per_query[0]) == (1, 20)
    assert ivf_flat.tune_n_probes(index, queries, metric=metric, recall=1) == 1


def test_a_curve_is_drawn(index):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    curve = ivf_flat.evaluate(index, ASKED, decayed, probes=[1, 8])
    axes = curve.plot()
    (line,) = axes.lines
    assert line.get_xdata().tolist() == curve.recall.tolist()
    assert line.get_ydata().tolist() == curve.queries_per_second.tolist()
    assert [text.get_text() for text in axes.texts] == ["1", "8"]
    assert axes.get_xlabel() == "recall@10"
    assert curve.plot(axes) is axes
    assert len(axes.lines) == 2


def test_without_matplotlib(index, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    curve = ivf_flat.evaluate(index, ASKED, probes=[1])
    with pytest.raises(UnavailableError, match=r"^plot needs matplotlib: pip install annudf\[plots\]$"):
        curve.plot()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"probes": []}, "probes is empty; give numbers of lists to scan, or None"),
        ({"probes": [3, 0]}, "probes[1] is 0, it must be an integer from 1 to "),
        ({"probes": 0}, "probes is 0, it must be an integer from 1 to "),
        ({"probes": 1.5}, "probes is 1.5, it must be an integer from 1 to "),
        ({"k": 0}, "k is 0, it must be an integer from 1 to "),
        ({"k": ROWS + 1}, "k is 4001, but the index has 4000 rows"),
        ({"queries": ASKED[:0]}, "argument 'queries' has no rows, so there is no recall; give at least one"),
    ],
)
def test_arguments_of_a_curve(index, arguments, message):
    with pytest.raises(ArgumentError) as caught:
        ivf_flat.evaluate(index, **{"queries": ASKED, **arguments})
    assert str(caught.value).startswith(message)


# --- NearestNeighbors ---------------------------------------------------------------------------------


def own_recall(model, metric, k):
    """The recall of all samples, where no sample is its own neighbour."""
    exact = brute_force.knn(BASE, BASE, k + 1, metric=metric)[1]
    found = model.kneighbors(n_neighbors=k, return_distance=False)
    hits = 0
    for row, (one, other) in enumerate(zip(found, exact, strict=True)):
        hits += len(set(one) & {i for i in other.tolist() if i != row})
    return hits / found.size


@pytest.mark.parametrize("metric", [decayed, "canberra"])
@pytest.mark.parametrize("recall", [0.6, 0.95])
def test_the_estimator_finds_its_probes(metric, recall):
    model = NearestNeighbors(8, metric=metric, recall=recall).fit(BASE)
    assert 1 < model.n_probes_ < model.index_.n_lists
    assert model.recall_ >= recall
    assert own_recall(model, metric, 8) > recall - 0.04
    fewer = NearestNeighbors(8, metric=metric, n_probes=max(1, model.n_probes_ // 2)).fit(BASE)
    assert own_recall(fewer, metric, 8) < recall + 0.02


def test_the_default_has_a_recall():
    model = NearestNeighbors(metric=decayed).fit(BASE)
    assert model.get_params()["recall"] == 0.95
    assert own_recall(model, decayed, 5) > 0.92
    again = NearestNeighbors(metric=decayed).fit(BASE)
    assert (model.n_probes_, model.recall_) == (again.n_probes_, again.recall_)


def test_probes_that_are_given_stay():
    model = NearestNeighbors(n_probes=7).fit(BASE)
    assert (model.n_probes_, model.recall_) == (7, None)
    assert NearestNeighbors(n_probes=5000).fit(BASE).n_probes_ == 63
    few = NearestNeighbors(recall=None).fit(BASE)
    assert (few.n_probes_, few.recall_) == (20, None)
    exact = NearestNeighbors(n_probes=63).fit(BASE).kneighbors(ASKED)
    for one, other in zip(model.set_params(n_probes=63).kneighbors(ASKED), exact, strict=True):
        np.testing.assert_array_equal(one, other)
    one_list = NearestNeighbors().fit(BASE[:50])
    assert (one_list.n_probes_, one_list.recall_) == (1, 1.0)


@pytest.mark.parametrize("recall", [0, 1.5, float("nan"), "much"])
def test_the_recall_is_checked(recall):
    with pytest.raises(ArgumentError, match=r"^recall is .*, it must be "):
        NearestNeighbors(recall=recall).fit(BASE)


@pytest.mark.parametrize("count", [0, 3, 700])
def test_values_of_each_query(count):
    """A capture that ctx.query indexes is for as many queries as there will be, not for the samples."""
    w = np.random.default_rng(5).uniform(0.1, 1, (count, 8)).astype(np.float32)

    @ivf_flat.metric(captures={"w": w})
    def personal(x, y, acc, ctx):
        return acc + ctx.w[ctx.query, ctx.dim] * (x - y) ** 2

    model = NearestNeighbors(5, metric=personal).fit(BASE)
    if count == 0:
        assert (model.n_probes_, model.recall_) == (20, None)
        return
    assert model.recall_ >= 0.95
    asked = vectors(count, 8, "float32", 6)
    assert model.kneighbors(asked)[1].shape == (count, 5)


def test_bits_and_small_types():
    bits = PackedBits(np.random.default_rng(7).random((1500, 32)) < 0.5)
    assert NearestNeighbors(metric="l1").fit(bits).recall_ >= 0.95
    assert NearestNeighbors(metric="l1").fit(vectors(1500, 8, "uint8", 7)).recall_ >= 0.95
