# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of two vectors that are no single pass, compiled as they are, against plain Python over float64."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import as_written
import numpy as np
import numpy.typing as npt
import pytest

import annudf
from annudf import brute_force, ivf_flat
from annudf.distance import pairwise_distance
from annudf.errors import CompileError, Error, UnsupportedError

rng = np.random.default_rng(52)
FLOATS = rng.standard_normal((40, 7), dtype=np.float32)
FLOATS[1] = FLOATS[2]
SQUARE = ("warped", "edits", "pairs", "sorted_apart", "bubbles", "middle")


def in_python(function: Any, rows: npt.NDArray[Any], **arguments: Any) -> npt.NDArray[np.float64]:
    wide = rows.astype(np.float64)
    return np.array([[float(function(x.copy(), y.copy(), **arguments)) for y in wide] for x in wide])


@pytest.mark.parametrize("function", as_written.DISTANCES, ids=lambda one: one.__name__)
def test_distances(function: Any) -> None:
    metric = annudf.metric(function)
    got = np.asarray(pairwise_distance(FLOATS, metric=metric))
    np.testing.assert_allclose(got, in_python(function, FLOATS), rtol=2e-5, atol=2e-6)
    properties = metric.properties
    assert properties.cost == ("O(d^2)" if function.__name__ in SQUARE else "O(d)") and properties.raised is False
    assert f"computed as it is written, in {properties.cost} steps a pair" in str(properties)
    assert not properties.quadratic and properties.form is None


def test_matrix() -> None:
    root = rng.standard_normal((7, 7))
    vinv = (root @ root.T).astype(np.float32)
    metric = annudf.metric(as_written.mahalanobis, vinv=vinv)
    expected = in_python(as_written.mahalanobis, FLOATS, vinv=vinv.astype(float))
    np.testing.assert_allclose(pairwise_distance(FLOATS, metric=metric), expected, rtol=2e-5, atol=1e-5)
    other = np.eye(7, dtype=np.float32)
    expected = np.sqrt(((FLOATS[:, None].astype(float) - FLOATS) ** 2).sum(2))
    np.testing.assert_allclose(pairwise_distance(FLOATS, metric=metric.bind(vinv=other)), expected, rtol=2e-5)


@pytest.mark.parametrize("dims", [1, 2, 33])
def test_numbers_of_dimensions(dims: int) -> None:
    rows = rng.standard_normal((5, dims), dtype=np.float32)
    for function in (as_written.warped, as_written.edits, as_written.smoothed):
        got = pairwise_distance(rows, metric=annudf.metric(function))
        np.testing.assert_allclose(got, in_python(function, rows), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("dtype", ["float16", "int8", "uint8"])
def test_elements(dtype: str) -> None:
    rows = (rng.integers(0, 5, (33, 9)) / (2 if dtype == "float16" else 1)).astype(dtype)
    for function in (as_written.warped, as_written.pairs):
        got = pairwise_distance(rows, metric=annudf.metric(function))
        np.testing.assert_allclose(got, in_python(function, rows), rtol=2e-5, atol=2e-6)


def test_integers_and_bits() -> None:
    def shifted(x, y):  # type: ignore[no-untyped-def]
        apart = 0
        n = len(x)
        for i in range(n):
            apart += abs(x[i] - y[n - 1 - i])
        return apart

    rows = rng.integers(0, 256, (33, 8)).astype(np.uint8)
    metric = annudf.metric(dtype="int32")(shifted)
    np.testing.assert_array_equal(pairwise_distance(rows, metric=metric), in_python(shifted, rows))
    bits = np.unpackbits(rows, axis=1, bitorder="little")
    got = pairwise_distance(annudf.PackedBits(rows), metric=metric)
    np.testing.assert_array_equal(got, in_python(shifted, bits))


def test_float64() -> None:
    metric = annudf.metric(dtype="float64")(as_written.centred)
    got = pairwise_distance(FLOATS, metric=metric)
    np.testing.assert_allclose(got, in_python(as_written.centred, FLOATS), rtol=1e-7)


def test_searches() -> None:
    metric = annudf.metric(as_written.warped)
    base = rng.standard_normal((300, 7), dtype=np.float32)
    queries = FLOATS[:9]
    expected = np.array([[as_written.warped(q, r) for r in base.astype(float)] for q in queries.astype(float)])
    order = np.argsort(expected)
    distances, neighbors = brute_force.knn(base, queries, 5, metric=metric)
    np.testing.assert_array_equal(neighbors, order[:, :5])
    np.testing.assert_allclose(distances, np.sort(expected)[:, :5], rtol=1e-5)

    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=6), base)
    _, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=6, metric=metric), index, queries, 5)
    np.testing.assert_array_equal(neighbors, order[:, :5])

    keep = rng.random(300) < 0.4
    passing = np.where(keep, expected, np.inf)
    params = ivf_flat.SearchParams(n_probes=6, metric=metric)
    _, neighbors = ivf_flat.search(params, index, queries, 5, filter=annudf.filters.from_mask(keep))
    np.testing.assert_array_equal(neighbors, np.argsort(passing)[:, :5])
    radius = float(np.median(expected))
    found = ivf_flat.radius_search(params, index, queries, radius)
    assert len(found[1]) == np.count_nonzero(expected.astype(np.float32) <= np.float32(radius))
    sent: annudf.Metric = pickle.loads(pickle.dumps(metric))
    assert sent(queries[0], base[0]) == metric(queries[0], base[0])


def test_index_of_rows() -> None:
    """What the scan says, and captures of rows and queries, reach the function."""

    def shifted(x, y, ctx):  # type: ignore[no-untyped-def]
        result = 0.0
        for i in range(len(x)):
            result += abs(x[i] - y[len(x) - 1 - i]) * ctx.w[ctx.row]
        return result + ctx.q[ctx.query]

    weights, more = rng.random(40, dtype=np.float32), rng.random(40, dtype=np.float32)
    metric = annudf.metric(captures={"w": weights, "q": more})(shifted)
    expected = in_python(as_written.reversed_order, FLOATS) * weights + more[:, None]
    np.testing.assert_allclose(pairwise_distance(FLOATS, metric=metric), expected, rtol=1e-5)


def test_what_has_no_accumulator() -> None:
    metric = annudf.metric(as_written.pairs)
    with pytest.raises(Error, match="distance of whole vectors, which has no accumulator to show"):
        metric.explain(FLOATS[0], FLOATS[1])
    with pytest.raises(CompileError, match="'pairs' has no code for a GPU: it is no single pass over the coordinates"):
        metric._definition.lower("ptx", "")


def test_files(tmp_path: Path) -> None:
    metric = annudf.metric(as_written.warped)
    metric.save(tmp_path / "warped.annudf")
    loaded = ivf_flat.load_metric(tmp_path / "warped.annudf")
    np.testing.assert_array_equal(pairwise_distance(FLOATS, metric=loaded), pairwise_distance(FLOATS, metric=metric))


@pytest.mark.parametrize("function", as_written.REFUSED, ids=lambda one: one.__name__)
def test_refused(function: Any) -> None:
    with pytest.raises(CompileError) as caught:
        annudf.metric(function).distance(FLOATS[0], FLOATS[1])
    lines = Path(as_written.__file__).read_text().splitlines()
    first = function.__code__.co_firstlineno
    marked = next(number for number in range(first, len(lines)) if "HERE" in lines[number - 1])
    diagnostic = next(one for one in caught.value.diagnostics if one.severity == "error")
    assert (diagnostic.rule, diagnostic.line) == (lines[marked - 1].split("HERE ")[1], marked)


@pytest.mark.parametrize("function", as_written.MESSAGES, ids=lambda one: one.__name__)
def test_messages(function: Any) -> None:
    with pytest.raises(UnsupportedError) as caught:
        captures = {"w": np.float32(1)} if function is as_written.of_a_capture else {}
        annudf.metric(captures=captures)(function).distance(FLOATS[0], FLOATS[1])
    (diagnostic,) = caught.value.diagnostics
    lines = Path(as_written.__file__).read_text().splitlines()
    first = function.__code__.co_firstlineno
    marked = next(number for number in range(first, len(lines)) if lines[number - 1].endswith("HERE"))
    assert (diagnostic.message, diagnostic.line) == (as_written.MESSAGES[function], marked)


def test_how_the_middle_in_a_loop_is_told() -> None:
    with pytest.raises(CompileError, match=r"np\.median is in a loop or a branch, or after a return"):
        annudf.metric(as_written.middle_in_a_loop).distance(FLOATS[0], FLOATS[1])


def test_arrays_that_one_pass_overwrites() -> None:
    def apart(x, y):  # type: ignore[no-untyped-def]
        n = len(x)
        e = np.ones(n, dtype="float32")
        f = np.full(n, -np.inf)
        for i in range(n):
            e[i] = x[i] - y[i]
            f[i] = abs(e[i])
        return np.sum(f)

    metric = annudf.metric(apart)
    np.testing.assert_allclose(pairwise_distance(FLOATS, metric=metric), in_python(apart, FLOATS), rtol=2e-5)
    assert "computed as it is written" not in str(metric.properties)


@pytest.mark.parametrize("values", [[3e38] * 3, [3e38, 3.2e38], [-3e38, 3e38], [1e-45], [3, 1, 2, 5], [7, 7, 7, 7, 9]])
def test_middle_of_extremes(values: list[float]) -> None:
    def middle(x, y):  # type: ignore[no-untyped-def]
        return np.median(x + y)

    rows = np.array([values], np.float32)
    got = pairwise_distance(rows, np.zeros_like(rows), metric=annudf.metric(middle))
    assert got.item() == np.float32(np.median(rows.astype(float)))


def test_middle_of_infinities() -> None:
    def middle(x, y):  # type: ignore[no-untyped-def]
        return np.median(x / y)

    infinite, opposite, none = [1, 1, 1, -1], [1, 1, -1, -1], [0, 1, 1, 1]
    rows = np.array([infinite, opposite, none], np.float32)
    got = pairwise_distance(rows, np.zeros((1, 4), np.float32), metric=annudf.metric(middle))
    np.testing.assert_array_equal(np.asarray(got)[:, 0], [np.inf, np.nan, np.nan])


def test_arguments_are_no_arrays() -> None:
    def given(x, y):  # type: ignore[no-untyped-def]
        total = x[0] * y[-1]
        x = np.zeros(len(y))
        for i in range(len(y)):
            x[min(i, 2)] = total
        return x[0]

    with pytest.raises(UnsupportedError, match=r"x\[min\(i, 2\)\] cannot be assigned"):
        annudf.metric(given).distance(FLOATS[0], FLOATS[1])


def test_refine() -> None:
    metric = annudf.metric(as_written.warped)
    base, queries = FLOATS, FLOATS[:5] + 1
    expected = np.array([[as_written.warped(q, r) for r in base.astype(float)] for q in queries.astype(float)])
    candidates = np.tile(np.arange(0, 40, 2), (5, 1))
    _, neighbors = annudf.refine(base, queries, candidates, 3, metric=metric)
    np.testing.assert_array_equal(neighbors, 2 * np.argsort(expected[:, ::2])[:, :3])
