# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of one vector that a metric needs before its pass, in each way to search, against float64."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import vectors

import annudf
from annudf import PackedBits, brute_force, ivf_flat
from annudf._metric.vectors import prepared
from annudf._shards.request import packed
from annudf.distance import pairwise_distance
from annudf.errors import CaptureError
from annudf.neighbors import NearestNeighbors

rng = np.random.default_rng(36)
ROWS = rng.random((60, 10), dtype=np.float32)
QUERIES = rng.random((4, 10), dtype=np.float32)
MORE = rng.random((20, 10), dtype=np.float32)
METRIC = annudf.metric(vectors.correlation)
NESTED = annudf.metric(vectors.standardised)


def exact(queries: npt.NDArray[Any], rows: npt.NDArray[Any], function: Any = vectors.correlation) -> Any:
    with np.errstate(all="ignore"):
        return np.array([[function(x, y) for y in rows.astype(float)] for x in queries.astype(float)])


def check(found: Any, expected: npt.NDArray[Any], ids: npt.NDArray[Any] | None = None) -> None:
    """Distances and ids of a search are the smallest of these."""
    distances, neighbors = found
    order = np.argsort(expected)[:, : distances.shape[1]]
    np.testing.assert_array_equal(neighbors, order if ids is None else ids[order])
    np.testing.assert_allclose(distances, np.take_along_axis(expected, order, 1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("metric", [METRIC, NESTED], ids=lambda one: one.name)
def test_searches(metric: annudf.Metric) -> None:
    expected = exact(QUERIES, ROWS, metric.__wrapped__)
    near = {"rtol": 1e-5, "atol": 1e-6}
    check(brute_force.knn(ROWS, QUERIES, 5, metric=metric), expected)
    check(brute_force.search(brute_force.build(ROWS, metric=metric), QUERIES, 5), expected)
    np.testing.assert_allclose(pairwise_distance(QUERIES, ROWS, metric=metric), expected, **near)
    ids = rng.permutation(200)[: len(ROWS)]
    np.testing.assert_allclose(pairwise_distance(QUERIES, ROWS, metric=metric, ids=ids), expected, **near)
    np.testing.assert_allclose(metric.pairwise(QUERIES, ROWS), expected, **near)
    assert metric(QUERIES[1], ROWS[2]) == pytest.approx(expected[1, 2], rel=1e-5)
    explained = metric.explain(QUERIES[1], ROWS[2], query_number=7, row_id=9)
    assert explained.distance == metric(QUERIES[1], ROWS[2])
    candidates = np.argsort(-expected)[:, :30]
    for dataset in (ROWS, brute_force.build(ROWS, metric="l1")):
        distances, found = annudf.refine(dataset, QUERIES, candidates, 5, metric=metric)
        check(
            (distances, np.argmax(candidates[:, None] == found[..., None], 2)),
            np.take_along_axis(expected, candidates, 1),
        )
    radius = float(np.median(expected))
    _, of_radius, _ = brute_force.radius_search(ROWS, QUERIES, radius=radius, metric=metric)
    assert len(of_radius) == (expected <= radius).sum()
    check(NearestNeighbors(n_neighbors=3, metric=metric).fit(ROWS).kneighbors(QUERIES), expected)


def test_values_of_one_side() -> None:
    def shares(a, b):  # type: ignore[no-untyped-def]
        total = np.sum(a)
        return np.sum(np.abs(a / total - b))

    metric = annudf.metric(shares)
    expected = exact(QUERIES, ROWS, shares)
    check(brute_force.knn(ROWS, QUERIES, 5, metric=metric), expected)
    every = np.tile(np.arange(60), (4, 1))
    check(annudf.refine(ROWS, QUERIES, every, 5, metric=metric), expected)


def test_changes_of_an_index(tmp_path: Path) -> None:
    params = ivf_flat.SearchParams(n_probes=4, metric=METRIC)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), ROWS)
    check(ivf_flat.search(params, index, QUERIES, 5), exact(QUERIES, ROWS))
    ivf_flat.extend(index, MORE, np.arange(500, 520))
    every, ids = np.concatenate([ROWS, MORE]), np.r_[np.arange(60), np.arange(500, 520)]
    check(ivf_flat.search(params, index, QUERIES, 40), exact(QUERIES, every), ids)
    ivf_flat.remove(index, ids[::3])
    kept = np.arange(80) % 3 > 0
    check(ivf_flat.search(params, index, QUERIES, 40), exact(QUERIES, every[kept]), ids[kept])
    ivf_flat.extend(index, every[::3][::-1], ids[::3])  # Ids that were removed mean other rows.
    every[::3] = every[::3][::-1].copy()
    found = ivf_flat.search(params, index, QUERIES, 40)
    check(found, exact(QUERIES, every), ids)
    ivf_flat.save(tmp_path / "index", index)
    again = ivf_flat.search(params, ivf_flat.load(tmp_path / "index"), QUERIES, 40)
    np.testing.assert_array_equal(again, found)
    refined = ivf_flat.SearchParams(n_probes=4, metric="l1", refine=ivf_flat.Refine(METRIC, 16.0))
    check(ivf_flat.search(refined, index, QUERIES, 5), exact(QUERIES, every), ids)


def test_other_processes_prepare_the_same() -> None:
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), ROWS)
    found = ivf_flat.search(ivf_flat.SearchParams(n_probes=4, metric=NESTED), index, QUERIES, 5)
    for sent in (pickle.loads(pickle.dumps(annudf.metric(lambda_free()))), pickle.loads(packed(NESTED).data)):
        np.testing.assert_array_equal(
            ivf_flat.search(ivf_flat.SearchParams(n_probes=4, metric=sent), index, QUERIES, 5), found
        )


def lambda_free() -> Any:
    """The same function without a name in a module, which is pickled by its code."""
    function = vectors.standardised
    made = type(function)(function.__code__, function.__globals__, function.__name__)
    made.__module__ = "__main__"
    return made


def test_captures_and_types() -> None:
    def weighted(a, b, ctx):  # type: ignore[no-untyped-def]
        of_b = np.sum(ctx.w * b)
        return np.sum(np.abs(a - b / of_b)) + ctx.age[ctx.row]

    age, w = rng.random(60, dtype=np.float32), np.linspace(0, 1, 10)
    metric = annudf.metric(captures={"age": ivf_flat.column(np.float32), "w": w.astype(np.float32)})(weighted)
    bytes_ = rng.integers(1, 9, (60, 10)).astype(np.uint8)

    def expected(rows: npt.NDArray[Any]) -> Any:
        b = rows.astype(float)
        return np.abs(QUERIES[:, None] - b / (b @ w)[:, None]).sum(2) + age

    check(brute_force.knn(ROWS, QUERIES, 5, metric=metric.bind(age=age)), expected(ROWS))
    check(brute_force.knn(bytes_, QUERIES, 5, metric=metric.bind(age=age)), expected(bytes_))
    check(
        brute_force.search(brute_force.build(bytes_, metric=metric, columns={"age": age}), QUERIES, 5), expected(bytes_)
    )


def test_bits() -> None:
    rows = rng.integers(0, 2, (60, 16), dtype=np.uint8)
    packed_rows = PackedBits(np.packbits(rows, axis=1, bitorder="little"))
    np.testing.assert_allclose(pairwise_distance(packed_rows, metric=METRIC), exact(rows, rows), rtol=1e-5, atol=1e-6)


def test_what_has_no_number() -> None:
    def by_sum(a, b):  # type: ignore[no-untyped-def]
        root = np.sqrt(np.sum(b))
        return np.sum(np.abs(a - root))

    rows = ROWS - np.float32(0.5)
    with np.errstate(invalid="ignore"):
        expected = exact(QUERIES, rows, by_sum)
    got = pairwise_distance(QUERIES, rows, metric=annudf.metric(by_sum))
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    assert 0 < np.isnan(got).sum() < got.size


def test_refused(tmp_path: Path) -> None:
    METRIC.save(tmp_path / "metric.annudf")
    loaded = ivf_flat.load_metric(tmp_path / "metric.annudf")
    told = (
        "metric 'correlation' needs a value of each row before the search, capture 'prepared_y_0', which a file does "
        "not compute; use the function that it was made of, or give the values by .bind(prepared_y_0=...)"
    )
    with pytest.raises(CaptureError, match=re.escape(told)):
        brute_force.knn(ROWS, QUERIES, 1, metric=loaded)
    means = loaded.bind(prepared_x_0=QUERIES.mean(1), prepared_y_0=ROWS.mean(1))
    check(brute_force.knn(ROWS, QUERIES, 5, metric=means), exact(QUERIES, ROWS))
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), ROWS)
    told = (
        "metric 'correlation' needs a value of each query before the search, which a prepared search does not compute; "
        "call search()"
    )
    with pytest.raises(CaptureError, match=re.escape(told)):
        ivf_flat.prepare(ivf_flat.SearchParams(metric=METRIC), index, QUERIES, 1)
    far = ivf_flat.extend(ivf_flat.build(ivf_flat.IndexParams(n_lists=4), ROWS), MORE[:1], [2**24])
    told = (
        "metric '{}' needs a value of each row before the search, kept by id, and the largest id is 16777216; 16777215 is "
        "the most for 61 rows, so give them smaller ids"
    )
    for metric in (METRIC, pickle.loads(pickle.dumps(METRIC)), NESTED):
        with pytest.raises(CaptureError, match=re.escape(told.format(metric.name))):
            ivf_flat.search(ivf_flat.SearchParams(metric=metric), far, QUERIES, 1)
    ivf_flat.extend(index, MORE, np.r_[3, 100:119], allow_repeated_ids=True)
    told = (
        "metric 'correlation' needs a value of each row before the search, kept by id, and several rows of the index have "
        "the id 3; give each row an id of its own"
    )
    with pytest.raises(CaptureError, match=re.escape(told)):
        ivf_flat.search(ivf_flat.SearchParams(metric=METRIC), index, QUERIES, 1)


def test_links_begin_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    monkeypatch.setattr(prepared, "_link", lambda artifact, element: begun.append(f"{artifact.name} {element}"))
    metric = annudf.metric(vectors.correlation)
    one_by_one = brute_force.knn(ROWS, QUERIES, 5, metric=metric)
    wanted = [f"correlation{part} f32" for part in ("", "_prepared_x_0", "_prepared_y_0")]
    assert sorted(begun) == wanted
    brute_force.knn(ROWS, QUERIES, 5, metric=metric)
    brute_force.knn(ROWS, QUERIES.astype(np.float16), 5, metric=metric)
    annudf.set_num_threads(1)
    try:
        brute_force.knn(ROWS, QUERIES, 5, metric=annudf.metric(vectors.correlation))
    finally:
        annudf.set_num_threads(0)
    assert sorted(begun) == wanted
    monkeypatch.undo()
    again = annudf.metric(vectors.correlation)
    np.testing.assert_array_equal(brute_force.knn(ROWS, QUERIES, 5, metric=again), one_by_one)


def test_reasons_are_in_the_users_words() -> None:
    assert METRIC.properties.form is None and '"prepared_' not in str(METRIC.properties)
    assert METRIC.properties.quadratic.why == "it needs a value of each row before the pass"

    def own(a, b, ctx):  # type: ignore[no-untyped-def]
        return np.sum(np.abs(a - b * np.sum(b))) + ctx.prepared_y_0[ctx.row]

    age = rng.random(60, dtype=np.float32)
    metric = annudf.metric(captures={"prepared_y_0": age})(own)
    assert "it needs a value of each row before the pass" in str(metric.properties)
    b = ROWS.astype(float)
    check(
        brute_force.knn(ROWS, QUERIES, 5, metric=metric),
        np.abs(QUERIES[:, None] - b * b.sum(1)[:, None]).sum(2) + age,
    )


def test_each_artifact_prepares_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = annudf.metric(vectors.correlation)
    artifact = metric._definition.artifact(("host",))
    both = metric._prepares(artifact)
    assert both is not None and list(both._parts) == ["prepared_x_0", "prepared_y_0"]
    assert metric._prepares(artifact) is both
    monkeypatch.setattr(metric._definition, "prepared", lambda _: ("prepared_y_0",))
    other = metric._prepares(NESTED._definition.artifact(("host",)))
    assert other is not None and list(other._parts) == ["prepared_y_0"]


TEXT = """
annudf.pairwise @most order(min) coarse(l2) elements(f32) {
  %p = annudf.capture "p" : !annudf.capture<f32>
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = annudf.load %p[] : !annudf.capture<f32>
    %most = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %next = arith.maximumf %acc, %yi : f32
      scf.yield %next : f32
    }
    %dot = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %next = math.fma %xi, %most, %acc : f32
      scf.yield %next : f32
    }
    annudf.yield %dot : f32
  }
}
"""


def test_text(tmp_path: Path) -> None:
    (tmp_path / "most.mlir").write_text(TEXT)
    metric = ivf_flat.load_metric(tmp_path / "most.mlir", p=0.25)
    assert list(metric.captures) == ["p"] and metric.properties.raised
    expected = 0.25 + QUERIES.sum(1)[:, None] * np.maximum(ROWS.max(1), 0.25)
    check(brute_force.knn(ROWS, QUERIES, 5, metric=metric), expected)
    sent = pickle.loads(pickle.dumps(metric))
    np.testing.assert_allclose(pairwise_distance(QUERIES, ROWS, metric=sent), expected, rtol=1e-5)
