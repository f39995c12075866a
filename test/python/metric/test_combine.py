# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""numerics="reassociate" and combine: what joins two parts of the dimensions."""

import json
import math

import numpy as np
import pytest

from annudf import ivf_flat
from annudf.errors import ArgumentError, UnsupportedError

RANDOM = np.random.default_rng(23)
ROWS = RANDOM.standard_normal((300, 257), dtype=np.float32)
QUERIES = RANDOM.standard_normal((6, 257), dtype=np.float32)


def hooks_of(metric):
    return json.loads(metric.artifact([]).manifest)["hooks"]


def squares(x, y, acc):
    d = x - y
    return acc + d * d


def products(x, y, acc):
    return acc[0] + x * y, acc[1] + x * x, acc[2] + y * y


def angle(acc):
    return 1 - acc[0] / math.sqrt(acc[1] * acc[2])


def joined(acc, other):
    return acc[0] + other[0], acc[1] + other[1], acc[2] + other[2]


def test_sums_are_joined_without_being_told():
    assert hooks_of(ivf_flat.metric(squares)) == ["init", "update"]
    assert hooks_of(ivf_flat.metric(numerics="reassociate")(squares)) == ["init", "update", "combine"]
    manifest = json.loads(ivf_flat.metric(numerics="reassociate")(squares).artifact([]).manifest)
    assert manifest["numerics"] == "reassociate"


@pytest.mark.parametrize("combine", [None, joined, lambda acc, other, ctx: joined(acc, other)])
def test_results_are_those_of_one_row_of_dimensions(combine):
    start = {"initial": (0.0, 0.0, 0.0), "finalize": angle}
    strict = ivf_flat.metric(**start)(products)
    parts = ivf_flat.metric(numerics="reassociate", combine=combine, **start)(products)
    assert hooks_of(parts) == ["init", "update", "finalize", "combine"]
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=3), ROWS)
    found = [
        [np.asarray(a) for a in ivf_flat.search(ivf_flat.SearchParams(n_probes=3, metric=m), index, QUERIES, 5)]
        for m in (strict, parts)
    ]
    np.testing.assert_array_equal(found[0][1], found[1][1])
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-5)


@pytest.mark.gpu
def test_few_queries_of_long_vectors_on_a_gpu():
    cupy = pytest.importorskip("cupy")
    start = {"initial": (0.0, 0.0, 0.0), "finalize": angle}
    parts = ivf_flat.metric(numerics="reassociate", combine=joined, **start)(products)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=3), ROWS)
    params = ivf_flat.SearchParams(n_probes=3, metric=parts)
    own = ROWS.astype(np.float64)
    for query in QUERIES:
        d, i = (cupy.asnumpy(a) for a in ivf_flat.search(params, index, cupy.asarray(query[None]), 5))
        exact = 1 - own @ query / np.sqrt((own**2).sum(1) * (query.astype(np.float64) ** 2).sum())
        np.testing.assert_allclose(d[0], np.sort(exact)[:5], rtol=1e-5)
        np.testing.assert_allclose(d[0], exact[i[0]], rtol=1e-5)


def test_a_class_may_hold_it():
    @ivf_flat.metric(numerics="reassociate", initial=0, dtype=np.int32, accumulator=np.int32)
    class Farthest:
        def update(x, y, acc):
            return max(acc, abs(x - y))

        def combine(acc, other):
            return max(acc, other)

    assert hooks_of(Farthest) == ["init", "update", "combine"]


def test_what_cannot_be_joined_is_told(caplog):
    odd = ivf_flat.metric(numerics="reassociate", initial=1.0)(squares)
    assert hooks_of(odd) == ["init", "update"]
    assert "[N1] numerics(reassociate) has no effect: field 0 of the accumulator does not begin" in caplog.text
    assert "changes nothing; say how by combine=\n" in caplog.text


def test_a_part_that_is_forgotten_is_told(caplog):
    ivf_flat.metric(numerics="reassociate", combine=lambda acc, other: acc)(squares).artifact([])
    assert "[H14] yields a value that does not depend on both accumulators" in caplog.text


def wants_the_dimension(acc, other, ctx):
    return acc + other * ctx.dim


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"combine": joined}, ArgumentError, "combine is given, but numerics is 'strict', which adds the dimensions"),
        ({"numerics": "fast"}, ArgumentError, "numerics is 'fast', it must be 'strict' or 'reassociate'"),
        ({"numerics": "reassociate", "combine": 3}, ArgumentError, "combine is a int, it must be a Python function"),
        (
            {"numerics": "reassociate", "combine": angle},
            UnsupportedError,
            "a metric's function is angle(acc, other, ctx)",
        ),
        ({"numerics": "reassociate", "combine": joined}, UnsupportedError, "the accumulator is one number"),
        (
            {"numerics": "reassociate", "combine": wants_the_dimension},
            UnsupportedError,
            "ctx.dim has no meaning in combine, which joins what many dimensions gave",
        ),
    ],
)
def test_refused(arguments, error, message):
    with pytest.raises(error) as caught:
        ivf_flat.metric(**arguments)(squares)
    assert message in str(caught.value)


def test_a_class_with_fields_is_told_where_to_put_it():
    with pytest.raises(ArgumentError) as caught:

        @ivf_flat.metric(numerics="reassociate")
        class Sum:
            total: np.float32 = 0

            def update(self, x, y):
                self.total += x * y

            def combine(self, other):
                self.total += other.total

            def finalize(self):
                return self.total

    assert "give the decorator a function of two tuples: combine=lambda acc, other: ..." in str(caught.value)
