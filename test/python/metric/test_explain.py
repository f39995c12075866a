# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""How a metric comes to a distance."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from annudf import PackedBits, ivf_flat, metrics
from annudf.distance import pairwise_distance
from annudf.errors import ArgumentError, DtypeError, UnavailableError


@ivf_flat.metric
def chi2(x, y, acc, ctx):
    return acc + (x - y) ** 2 / (x + y)


def vectors(dims=10, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).integers(1, 9, (2, dims)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint8])
@pytest.mark.parametrize("dims", [1, 4, 7, 33])
def test_accumulators_are_those_of_a_scan(dtype, dims):
    query, row = vectors(dims, dims, dtype)
    told = chi2.explain(query, row)
    expected = np.zeros(1, np.float32)
    for d, (x, y) in enumerate(zip(query.astype(np.float32), row.astype(np.float32), strict=True)):
        expected = expected + np.float32((x - y) ** 2) / np.float32(x + y)
        assert told.accumulator["acc"][d + 1] == pytest.approx(expected[0], rel=1e-6)
    assert told.accumulator["acc"].shape == (dims + 1,)
    assert told.distance == pairwise_distance(query[None], row[None], metric=chi2)[0, 0]
    assert told.first_nan is None
    np.testing.assert_array_equal(told.row, row)


def test_the_first_dimension_that_turns_nan():
    query, row = vectors(6)
    query[[2, 4]] = row[[2, 4]] = 0
    told = chi2.explain(query, row)
    assert told.first_nan == 2
    assert np.isnan(told.accumulator["acc"]).tolist() == [False] * 3 + [True] * 4
    assert math.isnan(told.distance)
    text = repr(told)
    assert text.startswith("metric 'chi2'\n") and text.endswith("\ndistance nan")
    assert [line.split()[0] for line in text.splitlines() if line.endswith("<- NaN")] == ["2"]
    assert str(told) == text


def test_a_table_of_a_long_vector_has_what_matters():
    query, row = vectors(500)
    query[300] = row[300] = 0
    lines = repr(chi2.explain(query, row)).splitlines()
    dims = [line.split()[0] for line in lines]
    assert len(lines) < 45 and {"init", "0", "295", "300", "305", "499", "..."} <= set(dims)
    assert "250" not in dims


class Pair(NamedTuple):
    total: np.float32
    seen: np.int64


def test_fields_have_their_names():
    @ivf_flat.metric(initial=Pair(0, 2**60), finalize=lambda acc, ctx: acc.total)
    def of_tuple(x, y, acc, ctx):
        return Pair(acc.total + abs(x - y), acc.seen + 1)

    @ivf_flat.metric
    class OfClass:
        total: np.float32 = 0
        most: np.float64 = -1

        def update(self, x, y, ctx):
            self.total += abs(x - y)
            self.most = max(self.most, np.float64(abs(x - y)))

        def finalize(self, ctx):
            return self.total / np.float32(self.most)

    query, row = vectors(9)
    gaps = np.abs(query - row)
    told = of_tuple.explain(query, row)
    np.testing.assert_array_equal(told.accumulator["total"], np.concatenate([[0], np.cumsum(gaps)]))
    assert told.accumulator["seen"].tolist() == [2**60 + i for i in range(10)]  # Not as doubles have it.
    told = OfClass.explain(query, row)
    assert list(told.accumulator) == ["total", "most"]
    np.testing.assert_array_equal(told.accumulator["most"], [-1, *np.maximum.accumulate(gaps)])
    assert told.distance == pytest.approx(gaps.sum() / gaps.max())

    @ivf_flat.metric(initial=(0.0, 0.0), finalize=lambda acc, ctx: acc[0] / acc[1])
    def unnamed(x, y, acc, ctx):
        return acc[0] + x, acc[1] + y

    assert list(unnamed.explain(query, row).accumulator) == ["acc[0]", "acc[1]"]


def test_captures_are_read_at_the_numbers_given():
    @ivf_flat.metric(captures={"age": np.arange(5, dtype=np.float32), "w": np.ones(3, np.float32)})
    def decayed(x, y, acc, ctx):
        return acc + ctx.w[ctx.dim] * (x - y) ** 2 * ctx.age[ctx.row]

    query, row = vectors(3)
    assert decayed.explain(query, row, row_id=0).distance == 0
    assert decayed.explain(query, row, row_id=3).distance == pytest.approx(3 * ((query - row) ** 2).sum())
    with pytest.raises(
        ArgumentError,
        match="row_id is missing: metric 'decayed' has a capture with an entry for each row; give the number of the row",
    ):
        decayed.explain(query, row)
    with pytest.raises(ArgumentError, match="row_id is 5, the captures of metric 'decayed' have 5 entries"):
        decayed.explain(query, row, row_id=5)

    @ivf_flat.metric(captures={"scale": np.array([1, 10], np.float32)})
    def scaled(x, y, acc, ctx):
        return acc + ctx.scale[ctx.query] * abs(x - y) + np.float32(ctx.list)

    assert scaled.explain(query, row, query_number=1).distance == pytest.approx(10 * np.abs(query - row).sum())
    assert scaled.explain(row, row, query_number=0, list_number=7).distance == 21
    with pytest.raises(ArgumentError, match="query_number is missing: metric 'scaled'"):
        scaled.explain(query, row)
    with pytest.raises(ArgumentError, match="query_number is 2"):
        scaled.explain(query, row, query_number=2)


def test_a_built_in_a_loaded_and_a_metric_of_bits(tmp_path):
    query, row = vectors(5)
    canberra = metrics.get("canberra")
    assert canberra.explain(query, row).distance == pairwise_distance(query[None], row[None], metric="canberra")[0, 0]
    chi2.save(tmp_path / "chi2.annudf", archs=[])
    loaded = ivf_flat.load_metric(tmp_path / "chi2.annudf")
    assert loaded.explain(query, row).distance == chi2.explain(query, row).distance
    bits = [PackedBits(np.array([[one]], np.uint8)) for one in (0b1011, 0b0001)]
    told = metrics.get("hamming").explain(*bits)
    assert told.query.tolist() == [1, 1, 0, 1, 0, 0, 0, 0]
    assert told.distance == pairwise_distance(*bits, metric="hamming")[0, 0]


def test_what_cannot_be_explained_is_refused():
    query, row = vectors(4)
    with pytest.raises(ArgumentError, match="argument 'row' has shape"):
        chi2.explain(query, np.ones((2, 4), np.float32))
    with pytest.raises(ArgumentError, match="argument 'query' has"):
        chi2.explain(query[:3], row)
    with pytest.raises(DtypeError):
        chi2.explain(query, row.astype(np.complex64))
    with pytest.raises(ArgumentError, match="query_number is -1"):
        chi2.explain(query, row, query_number=-1)
    source = ivf_flat.cuda_source_metric("acc += x - y;")
    with pytest.raises(UnavailableError, match="CUDA source and runs on a GPU only"):
        source.explain(query, row)
