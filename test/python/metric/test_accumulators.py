# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Accumulators of several fields: against NumPy in float64 on the CPU, and what is refused."""

from __future__ import annotations

import json
import math
from typing import NamedTuple

import numpy as np
import pytest

from annudf import ArgumentError, CompileError, DtypeError, ivf_flat

RNG = np.random.default_rng(5)
BASE = RNG.standard_normal((600, 24), dtype=np.float32)
QUERIES = RNG.standard_normal((9, 24), dtype=np.float32)
K = 7


class Shared(NamedTuple):
    both: np.uint32
    either: np.uint32


class Mixed(NamedTuple):
    count: np.int64
    total: np.float64
    last: np.float32 = np.float32(3)


@ivf_flat.metric(initial=(0.0, 0.0, 0.0), finalize=lambda acc, ctx: 1 - acc[0] / math.sqrt(acc[1] * acc[2]))
def cosine(x, y, acc, ctx):
    return acc[0] + x * y, acc[1] + x * x, acc[2] + y * y


@ivf_flat.metric(initial=(0, 0))
class BrayCurtis:
    def update(x, y, acc):
        apart, together = acc
        apart += abs(x - y)
        if x + y < 0:
            return apart, together - (x + y)
        return apart, together + (x + y)

    def finalize(acc):
        return acc[0] / acc[1]


@ivf_flat.metric(initial=Shared(0, 0), dtype=np.int32, finalize=lambda acc: 1 - acc.both / acc.either)
def tanimoto(x, y, acc):
    return Shared(acc.both + np.bitwise_count(x & y), either=acc.either + np.bitwise_count(x | y))


def _as_one(acc, ctx):
    return acc.total + acc.count + acc.last / ctx.dims


@ivf_flat.metric(initial=Mixed(-(2**40), 0.5), finalize=_as_one)
def mixed(x, y, acc, ctx):
    if x > y:
        return Mixed(acc.count + 1, acc.total + (x - y))
    return Mixed(acc[0], acc.total, last=acc.last + 1)


@ivf_flat.metric(initial=(0.0, 1.0), finalize=lambda acc: 2 * math.asin(math.sqrt(acc[0])))
def haversine(x, y, acc, ctx):
    half = math.sin(0.5 * (x - y)) ** 2
    if ctx.dim == 0:
        return half, math.cos(x) * math.cos(y)
    return acc[0] + acc[1] * half, acc[1]


def found(metric, base, queries):
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=8), base)
    params = ivf_flat.SearchParams(n_probes=8, metric=metric)
    distances, ids = ivf_flat.search(params, index, queries, K)
    return np.asarray(distances), np.asarray(ids)


def holds(metric, base, queries, exact, tolerance):
    distances, ids = found(metric, base, queries)
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :K], rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(distances, np.take_along_axis(exact, ids, axis=1), rtol=tolerance, atol=tolerance)


def test_cosine_is_that_of_float64():
    x, y = QUERIES.astype(np.float64), BASE.astype(np.float64)
    exact = 1 - x @ y.T / np.sqrt((x**2).sum(1)[:, None] * (y**2).sum(1))
    holds(cosine, BASE, QUERIES, exact, 3e-6)


def test_bray_curtis_unpacks_and_branches():
    x, y = QUERIES.astype(np.float64)[:, None], BASE.astype(np.float64)
    holds(BrayCurtis, BASE, QUERIES, np.abs(x - y).sum(2) / np.abs(x + y).sum(2), 1e-5)


def test_tanimoto_of_a_named_tuple_is_exact():
    base, queries = (RNG.integers(0, 256, (n, 16), dtype=np.uint8) for n in (400, 6))
    x, y = np.unpackbits(queries, axis=1)[:, None], np.unpackbits(base, axis=1)
    exact = 1 - (x & y).sum(2) / (x | y).sum(2)
    holds(tanimoto, base, queries, exact, 1e-6)
    manifest = json.loads(tanimoto.artifact().manifest)
    assert (manifest["accumulator"], manifest["fields"]) == ("struct", ["u32", "u32"])


def test_fields_of_several_types_and_a_default():
    x, y = QUERIES.astype(np.float64)[:, None], BASE.astype(np.float64)
    above = x > y
    # What does not say `last` starts it again, so it counts the dimensions since.
    last = np.zeros(above.shape[:2])
    for d in range(above.shape[2]):
        last = np.where(above[:, :, d], 3, (3 if d == 0 else last) + 1)
    exact = -(2.0**40) + above.sum(2) + 0.5 + np.where(above, x - y, 0).sum(2) + last / above.shape[2]
    distances, ids = found(mixed, BASE, QUERIES)
    np.testing.assert_array_equal(distances, np.take_along_axis(exact, ids, axis=1).astype(np.float32))
    assert json.loads(mixed.artifact().manifest)["fields"] == ["i64", "f64", "f32"]


def test_haversine_of_latitude_and_longitude():
    base, queries = (
        (RNG.uniform(-1, 1, (n, 2)) * [math.pi / 2, math.pi]).astype(np.float32) for n in (500, 8)
    )  # fmt: skip
    x, y = queries.astype(np.float64)[:, None], base.astype(np.float64)
    s = np.sin((x - y) / 2) ** 2
    exact = 2 * np.arcsin(np.sqrt(s[..., 0] + np.cos(x[..., 0]) * np.cos(y[..., 0]) * s[..., 1]))
    holds(haversine, base, queries, exact, 2e-5)


def test_one_integer_of_64_bits():
    @ivf_flat.metric(initial=2**40, dtype=np.int32, accumulator=np.int64)
    def far(x, y, acc):
        return acc + (x - y) * (x - y)

    base, queries = (RNG.integers(0, 256, (n, 5), dtype=np.uint8) for n in (300, 4))
    exact = 2**40 + ((queries.astype(np.int64)[:, None] - base) ** 2).sum(2)
    distances, _ = found(far, base, queries)
    np.testing.assert_array_equal(distances, np.sort(exact, axis=1)[:, :K].astype(np.float32))


def test_types_of_fields():
    make = ivf_flat.metric

    def fields(**options):
        metric = make(finalize=lambda acc: acc[0], **options)(lambda x, y, acc: (acc[0], acc[1]))
        return json.loads(metric.artifact().manifest)["fields"]

    assert fields(initial=(0, 0.0)) == ["f32", "f32"]
    assert fields(initial=(0, 0), dtype=np.float64) == ["f64", "f64"]
    assert fields(initial=(np.uint32(1), 0)) == ["u32", "f32"]
    assert fields(initial=(0, 0), accumulator="int64") == ["i64", "i64"]
    assert fields(accumulator=(np.float64, "uint32")) == ["f64", "u32"]
    assert fields(initial=[1, 2]) == ["f32", "f32"]


REFUSED = [
    ({"initial": (0.0,)}, "initial has 1 entry; write a number for one"),
    ({"initial": ()}, "initial has 0 entries; write a number for one"),
    ({"initial": (0,) * 7}, "initial has 7 entries, an accumulator has at most 6 fields"),
    ({"accumulator": ("float32",) * 8}, "accumulator has 8 entries, an accumulator has at most 6 fields"),
    (
        {"initial": (0, 0), "accumulator": ("float32",) * 3},
        "initial has 2 entries, accumulator 3; name one dtype a field, or one for all",
    ),
    ({"initial": (0, "0")}, "initial[1] is '0', it must be a number"),
    (
        {"initial": (0, math.nan)},
        "initial[1] is nan, so every distance would be nan and no row is found; give a number",
    ),
    (
        {"initial": (0, -1), "accumulator": ("float32", "uint32")},
        "initial[1] is -1, which does not fit the accumulator, an integer from 0 to 4294967295",
    ),
    (
        {"initial": 2**63, "accumulator": "int64"},
        "initial is 9223372036854775808, which does not fit the accumulator, an integer of 64 bits",
    ),
    (
        {"initial": (0.0, 0.0)},
        "the accumulator has 2 fields; give finalize, which returns the distance, such as finalize=lambda acc, ctx: "
        "acc[0] / acc[1]",
    ),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_refused_at_the_decorator(options, message):
    with pytest.raises(ArgumentError) as caught:
        ivf_flat.metric(**options)(lambda x, y, acc: acc)
    assert str(caught.value) == message


def test_a_field_of_another_dtype():
    with pytest.raises(
        DtypeError, match=r"^initial\[0\] is float16, it must be float32, float64, int32, uint32 or int64$"
    ):
        ivf_flat.metric(initial=(np.float16(0), 0), finalize=lambda acc: acc[0])(lambda x, y, acc: acc)


def test_annotations_that_cannot_be_read():
    class Local(NamedTuple):
        a: Unknown  # noqa: F821
        b: np.float32

    with pytest.raises(
        ArgumentError, match=r"^the annotations of Local cannot be read \(name 'Unknown' is not defined\); "
    ):
        ivf_flat.metric(initial=Local(0, 0), finalize=_sum)
    metric = ivf_flat.metric(initial=Local(0, 0), accumulator=np.float64, finalize=_sum)(lambda x, y, acc: acc)
    assert json.loads(metric.artifact().manifest)["fields"] == ["f64", "f64"]


def _sum(acc):
    return acc[0] + acc[1]


def one_number(x, y, acc):
    return acc[0] + x * y


def too_many(x, y, acc):
    return acc[0], acc[1], x


def nothing_on_a_path(x, y, acc):
    if x > 0:
        return acc[0], acc[1]


def past_the_end(x, y, acc):
    return acc[0], acc[2]


def of_another_type(x, y, acc):
    return acc[0], x * 0.5


COMPILED = [
    (one_number, {}, "one_number returns one number; return the 2 fields of acc as a tuple on every path"),
    (too_many, {}, "too_many returns several values; return the 2 fields of acc as a tuple on every path"),
    (
        of_another_type,
        {"accumulator": ("float32", "int32")},
        "field 1 of the accumulator is int32, but the function returns float32",
    ),
]


@pytest.mark.parametrize(("function", "options", "message"), COMPILED)
def test_refused_when_it_is_compiled(function, options, message):
    metric = ivf_flat.metric(initial=(0, 0), finalize=_sum, **options)(function)
    with pytest.raises(CompileError) as caught:
        metric.artifact()
    assert message in str(caught.value)


@pytest.mark.parametrize("function", [nothing_on_a_path, past_the_end])
def test_what_is_no_tuple_of_the_fields(function):
    with pytest.raises(CompileError):
        ivf_flat.metric(initial=(0, 0), finalize=_sum)(function).artifact()


def test_a_tuple_for_one_number():
    metric = ivf_flat.metric(lambda x, y, acc: (acc, x))
    with pytest.raises(
        CompileError, match=r"returns several values; return a number on every path, or give initial as a tuple"
    ):
        metric.artifact()


def test_fields_are_part_of_what_is_cached():
    def make(initial):
        return ivf_flat.metric(initial=initial, symbol_name="same", finalize=_sum)(too_few)._definition._key()

    def too_few(x, y, acc):
        return acc[0] + x, acc[1] + y

    keys = {make(initial) for initial in ((0, 0), (0, 1), (np.uint32(0), 0), Shared(0, 0))}
    assert len(keys) == 4
