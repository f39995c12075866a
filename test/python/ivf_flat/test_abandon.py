# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mypy: allow-untyped-defs, allow-untyped-calls
"""Metrics whose distance only gets worse: rows that are left early change no bit of a search."""

import json
import logging
import math
import re
from collections.abc import Callable

import numpy as np
import pytest

from annudf import _arrays, _core, ivf_flat
from annudf._devices import backends

DIMS = 96


def euclidean() -> ivf_flat.Metric:
    @ivf_flat.metric(finalize=math.sqrt)
    def euclidean(x, y, acc, ctx):
        return acc + (x - y) * (x - y)

    return euclidean


def likeness() -> ivf_flat.Metric:
    @ivf_flat.metric(order="max", initial=1.0)
    def likeness(x, y, acc, ctx):
        return acc - abs(x - y)

    return likeness


def excess() -> ivf_flat.Metric:
    """No number until the sum is above 60: what is not known yet may still be the best."""

    @ivf_flat.metric(initial=-60.0, finalize=math.sqrt)
    def excess(x, y, acc, ctx):
        return acc + abs(x - y)

    return excess


def largest() -> ivf_flat.Metric:
    @ivf_flat.metric
    def largest(x, y, acc, ctx):
        return max(acc, abs(x - y))

    return largest


def canberra() -> ivf_flat.Metric:
    @ivf_flat.metric
    def canberra(x, y, acc, ctx):
        return acc + abs(x - y) / (abs(x) + abs(y) + 1e-6)

    return canberra


def split() -> ivf_flat.Metric:
    @ivf_flat.metric(numerics="reassociate")
    def split(x, y, acc, ctx):
        return acc + abs(x - y)

    return split


def nearest_largest() -> ivf_flat.Metric:
    @ivf_flat.metric
    def nearest_largest(x, y, acc, ctx):
        return np.maximum(acc, ctx.dim * 0.01 + abs(x - y))

    return nearest_largest


def known_largest() -> ivf_flat.Metric:
    """The largest difference of coordinates that are there."""

    @ivf_flat.metric(missing_values=True)
    def known_largest(x, y, acc, ctx):
        return max(acc, 0.0 if math.isnan(x) or math.isnan(y) else abs(x - y))

    return known_largest


def all_largest() -> ivf_flat.Metric:
    """NaN, which is never found, where one is missing after a larger difference than those before."""

    @ivf_flat.metric(missing_values=True)
    def all_largest(x, y, acc, ctx):
        return np.maximum(acc, abs(x - y))

    return all_largest


def known_sum() -> ivf_flat.Metric:
    @ivf_flat.metric(missing_values=True)
    def known_sum(x, y, acc, ctx):
        d = x - y
        return acc + (0.0 if math.isnan(d) else d * d)

    return known_sum


def weighted(weights: np.ndarray) -> ivf_flat.Metric:
    @ivf_flat.metric(captures={"w": weights})
    def weighted(x, y, acc, ctx):
        return acc + ctx.w[ctx.dim] * abs(x - y)

    return weighted


METRICS = {
    "euclidean": euclidean,
    "likeness": likeness,
    "excess": excess,
    "largest": largest,
    "by dim": nearest_largest,
    "canberra": canberra,
    "split": split,
    "weighted": lambda: weighted(np.linspace(0, 3, DIMS, dtype=np.float32)),
    "a negative weight": lambda: weighted(np.linspace(3, -1, DIMS, dtype=np.float32)),
}


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    base = rng.standard_normal((6000, DIMS)).astype(np.float32)
    base[np.arange(6000) // 64 % 4 > 0] *= 8  # Whole groups that are far from every query.
    return base, rng.standard_normal((30, DIMS)).astype(np.float32)


def found(
    index: ivf_flat.Index, metric: ivf_flat.Metric, queries: np.ndarray, probes: int, k: int
) -> tuple[bytes, bytes]:
    distances, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=probes, metric=metric), index, queries, k)
    return distances.tobytes(), neighbors.tobytes()


def check_bits(
    index: ivf_flat.Index, metric: ivf_flat.Metric, queries: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    for probes, k in ((3, 1), (8, 10), (8, 400)):
        monkeypatch.setenv("ANNUDF_ABANDON", "all")
        left = found(index, metric, queries, probes, k)
        monkeypatch.setenv("ANNUDF_ABANDON", "0")
        assert found(index, metric, queries, probes, k) == left
        monkeypatch.delenv("ANNUDF_ABANDON")
        assert found(index, metric, queries, probes, k) == left


def proved(metric: ivf_flat.Metric) -> object:
    return json.loads(metric.artifact([]).manifest).get("monotone")


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_same_bits(name: str, dtype: str, data: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    base, queries = ((part if dtype != "int8" else np.clip(part * 10, -127, 127)).astype(dtype) for part in data)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=8), base)
    metric = METRICS[name]()
    assert proved(metric) is not None
    check_bits(index, metric, queries, monkeypatch)


@pytest.mark.parametrize("make", [likeness, largest, euclidean])
def test_ties(make: Callable[[], ivf_flat.Metric], monkeypatch: pytest.MonkeyPatch) -> None:
    """All differences are in the first dims, so what is looked at is the distance, of few values."""
    base, queries = (np.zeros((rows, DIMS), np.float32) for rows in (4000, 20))
    for part in (base, queries):
        part[:, :8] = np.random.default_rng(len(part)).integers(0, 3, (len(part), 8))
    check_bits(ivf_flat.build(ivf_flat.IndexParams(n_lists=8), base), make(), queries, monkeypatch)


@pytest.mark.parametrize("make", [known_largest, all_largest, known_sum])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_missing_values(
    make: Callable[[], ivf_flat.Metric],
    dtype: str,
    data: tuple[np.ndarray, np.ndarray],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    random = np.random.default_rng(1)
    base, queries = (part.astype(dtype) for part in data)
    for part in (base, queries):
        part[random.random(part.shape) < 0.05] = np.nan
    base[:50] = np.nan  # Rows of which nothing is known are as near as can be, or never found.
    base[50:90, :60] = np.nan
    queries[0] = np.nan
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=8, missing_values=True), base)
    metric = make()
    assert proved(metric) is not None
    check_bits(index, metric, queries, monkeypatch)


@pytest.mark.parametrize("argument", ["acc", "term"])
def test_which_choice_is_proved(argument: str) -> None:
    """A field that is NaN has to stay it: max(acc, v) keeps it, max(v, acc) does not."""
    if argument == "acc":
        assert proved(largest()) == {"extreme": True, "where": []}
        assert largest().properties.fields[0].monotone
        return

    @ivf_flat.metric
    def forgets(x, y, acc, ctx):
        return max(abs(x - y), acc)

    assert proved(forgets) is None
    assert forgets.properties.fields[0].monotone.why == (
        "the field may be NaN and become a number again; a choice that keeps it, as max(acc, v) in Python, is monotone"
    )


def computed(caplog: pytest.LogCaptureFixture) -> float:
    """The share of rows that the last search says it computed, in percent."""
    (line,) = (record.getMessage() for record in caplog.records if " searched by " in record.getMessage())
    caplog.clear()
    told = re.fullmatch(
        r"metric largest searched by groups in \d+\.\d{3} ms: of 6000\.0 rows a query (\d+\.\d) computed by the "
        r"metric \((\d+\.\d\d) %\)",
        line,
    )
    assert told, line
    assert float(told[1]) == pytest.approx(float(told[2]) * 60, abs=0.4)
    return float(told[2])


def test_statistics(
    data: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    base, queries = data
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=8), base)
    metric = largest()
    found(index, metric, queries, 8, 3)
    assert not caplog.records
    with caplog.at_level(logging.DEBUG, "annudf"):
        found(index, metric, queries, 8, 3)
        assert 100 * 16 / DIMS < computed(caplog) < 80
        monkeypatch.setenv("ANNUDF_ABANDON", "0")
        found(index, metric, queries, 8, 3)
        assert computed(caplog) == 100


def test_statistics_of_the_backend(data: tuple[np.ndarray, np.ndarray]) -> None:
    base, queries = data
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=8), base)
    metric = largest()
    engine = backends.backend(_arrays.CPU)
    artifact, captures = metric.prepare(_arrays.CPU, index._core, len(queries))
    distances, neighbors = np.empty((len(queries), 3), np.float32), np.empty((len(queries), 3), np.int64)
    assert captures is not None

    def searched(time_stages: bool) -> _core.SearchStats:
        return engine.search(
            index._core,
            artifact,
            captures,
            queries.ctypes.data,
            queries.shape[0],
            queries.shape[1],
            "f32",
            3,
            8,
            neighbors.ctypes.data,
            distances.ctypes.data,
            time_stages=time_stages,
        )

    plain = searched(False)
    assert (plain.rows_per_query, plain.evaluated_per_query, plain.stages) == (0, 0, [])
    stats = searched(True)
    assert stats.rows_per_query == len(base)
    assert 0 < stats.evaluated_per_query < 0.8 * len(base)
    assert [name for name, _ in stats.stages] == ["coarse", "sort", "scan", "finish"]
    assert all(took >= 0 for _, took in stats.stages)
