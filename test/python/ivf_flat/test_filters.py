# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Filters: against NumPy in float64, their algebra, and what is refused."""

from __future__ import annotations

import copy
import operator
import pickle
import re

import numpy as np
import pytest

import annudf
from annudf import ArgumentError, DtypeError, InputError, filters, ivf_flat
from annudf.neighbors import filters as same_filters

ROWS, DIMS = 700, 6


@pytest.fixture(scope="module")
def world():
    random = np.random.default_rng(3)
    data = random.normal(size=(ROWS, DIMS)).astype(np.float32)
    queries = random.normal(size=(5, DIMS)).astype(np.float32)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=7, seed=2), data)
    exact = ((queries[:, None].astype(np.float64) - data[None]) ** 2).sum(axis=2)
    return index, queries, exact


def search(world, chosen, k=12):
    index, queries, _ = world
    return ivf_flat.search(ivf_flat.SearchParams(n_probes=7), index, queries, k, filter=chosen)


@pytest.mark.parametrize("share", [0.5, 0.01, 0.0, 1.0])
@pytest.mark.parametrize("form", ["mask", "bitset", "array"])
def test_finds_the_best_of_what_passes(world, share, form):
    _, queries, exact = world
    mask = np.random.default_rng(11).random(ROWS) < share
    if form == "bitset":
        packed = np.packbits(np.pad(mask, (0, -ROWS % 32)), bitorder="little").view(np.uint32)
        chosen = filters.from_bitset(packed)
    else:
        chosen = filters.from_mask(mask) if form == "mask" else mask
    k = 12
    distances, neighbors = search(world, chosen, k)
    passing = np.flatnonzero(mask)
    for q in range(len(queries)):
        order = passing[np.argsort(exact[q, passing], kind="stable")][:k]
        count = len(order)
        assert neighbors[q, :count].tolist() == order.tolist()
        np.testing.assert_allclose(distances[q, :count], exact[q, order], rtol=1e-5)
        assert (neighbors[q, count:] == -1).all()
        assert np.isposinf(distances[q, count:]).all()


def test_filters_join(world):
    even = filters.from_mask(np.arange(ROWS) % 2 == 0)
    third = filters.from_mask(np.arange(ROWS) % 3 == 0)
    for joined, wanted in (
        (even & third, lambda i: i % 6 == 0),
        (even | third, lambda i: i % 2 == 0 or i % 3 == 0),
        (~even, lambda i: i % 2 == 1),
        (~(even | third) & filters.from_mask(np.arange(ROWS) < 100), lambda i: i % 2 and i % 3 and i < 100),
    ):
        _, neighbors = search(world, joined)
        assert all(wanted(i) for i in neighbors.ravel())
    assert repr(even & third) == f"Prefilter({len(range(0, ROWS, 6))} of {ROWS} ids pass)"
    assert (even.n_bits, even.n_passing) == (ROWS, ROWS // 2)
    assert same_filters is filters


def every_third(ctx):
    return ctx.row % 3 == 0


def test_no_filter_is_a_filter(world):
    every = filters.no_filter()
    assert repr(every) == "no_filter()"
    even, code = filters.from_mask(np.arange(ROWS) % 2 == 0), ivf_flat.filter(every_third)
    for other in (even, code):
        assert every & other is other
        assert other & every is other
        assert repr(every | other) == repr(other | every) == "no_filter()"
    for chosen in (every, pickle.loads(pickle.dumps(every)), ~~every):
        for one, other in zip(search(world, chosen), search(world, None), strict=True):
            np.testing.assert_array_equal(one, other)
    assert (search(world, ~every)[1] == -1).all()
    assert repr(~every) == "~no_filter()"
    assert (search(world, ~every | code)[1] % 3 == 0).all()


@pytest.mark.parametrize("sign", [operator.and_, operator.or_])
def test_arrays_of_bool_join_as_filters_do(world, sign):
    mask = np.arange(ROWS) % 2 == 0
    wanted = sign(mask, np.arange(ROWS) % 3 == 0)
    for chosen in (ivf_flat.filter(every_third), filters.from_mask(np.arange(ROWS) % 3 == 0)):
        for joined in (sign(chosen, mask), sign(mask, chosen)):
            assert isinstance(joined, filters.Filter)
            _, neighbors = search(world, joined, 300)
            found = neighbors[neighbors >= 0]
            assert wanted[found].all()
            assert len(found) == 5 * min(300, wanted.sum())
    assert repr(mask & ~ivf_flat.filter(every_third)) == (
        f"(Prefilter({ROWS // 2} of {ROWS} ids pass) & ~<annudf filter every_third>)"
    )
    for chosen in (ivf_flat.filter(every_third), filters.no_filter()):
        with pytest.raises(DtypeError, match=r"^argument 'other' has dtype float64"):
            sign(chosen, np.ones(ROWS))
        with pytest.raises(DtypeError, match=r"^argument 'other' has dtype float64"):
            sign(np.ones(ROWS), chosen)


@pytest.mark.parametrize("bits", [1, 31, 32, 33, 70])
def test_filters_are_copied_and_pickled(bits):
    first, second = np.arange(bits) % 3 == 0, np.arange(bits) % 2 == 0
    packed = np.packbits(np.pad(first, (0, -bits % 32)), bitorder="little").view(np.uint32)
    a, b = filters.from_bitset(packed, bits), filters.from_mask(second)
    packed[:] = 0  # It is a copy.
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), np.eye(bits, dtype=np.float32))
    for made, mask in ((a, first), (b, second), (~a, ~first), (a & ~b, first & ~second), (~(~a | b), first & ~second)):
        assert copy.deepcopy(made) is made
        assert copy.copy(made) is made
        again = pickle.loads(pickle.dumps(made))
        assert repr(again) == f"Prefilter({mask.sum()} of {bits} ids pass)"
        _, neighbors = ivf_flat.search(
            ivf_flat.SearchParams(n_probes=1), index, np.zeros((1, bits), np.float32), bits, filter=again
        )
        assert neighbors[0, : mask.sum()].tolist() == np.flatnonzero(mask).tolist()


def test_what_code_and_bits_make_is_pickled(world):
    wanted = ivf_flat.filter(every_third) & (np.arange(ROWS) % 2 == 0)
    again = pickle.loads(pickle.dumps(wanted))
    for one, other in zip(search(world, again), search(world, wanted), strict=True):
        np.testing.assert_array_equal(one, other)


@annudf.filter(captures={"first": np.array([3, 90, 8, 200, 650], np.int32)})
def late(ctx):
    return ctx.row >= ctx.first[ctx.query]


@pytest.mark.parametrize("seen", ["row", "query"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_combinations_have_any_depth(world, seen, side):
    one, other = ivf_flat.filter(every_third), late if seen == "query" else filters.from_mask(np.arange(ROWS) >= 20)
    deep = one | ~other
    for count in range(2000):
        with_one = ~other if count % 2 else one
        deep = deep & with_one if side == "left" else with_one & deep
    wanted = one & ~other
    for chosen in (deep, pickle.loads(pickle.dumps(deep)), copy.deepcopy(deep)):
        for found, expected in zip(search(world, chosen), search(world, wanted), strict=True):
            np.testing.assert_array_equal(found, expected)
    assert repr(deep).count(" & ") == 2000


def test_combinations_have_a_largest_size():
    chosen = ivf_flat.filter(every_third)
    for _ in range(12):
        chosen = chosen & chosen
    with pytest.raises(
        ArgumentError,
        match=r"^the combination has 16383 filters and signs, at most 10000 are allowed; write several conditions in",
    ):
        chosen & chosen
    assert repr(~chosen)[:2] == "~("


def test_a_pickle_that_is_damaged():
    make, (data, bits) = filters.from_mask(np.ones(40, bool)).__reduce__()
    with pytest.raises(InputError, match=r"^pickled filter: holds 8 bytes, 65 bits take 12$"):
        make(data, bits + 25)
    with pytest.raises(ArgumentError, match=r"^bits of a pickled filter is -1, it must be an integer from 1 to"):
        make(data, -1)


def test_ids_of_ones_own(world):
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), np.eye(4, dtype=np.float32))
    index = ivf_flat.extend(index, np.eye(4, dtype=np.float32) * 2, np.array([100, 7, 8, 9]))
    mask = np.zeros(101, bool)
    mask[[2, 100]] = True
    _, neighbors = ivf_flat.search(
        ivf_flat.SearchParams(n_probes=1), index, np.eye(4, dtype=np.float32)[:1], 3, filter=mask
    )
    assert neighbors.tolist() == [[100, 2, -1]]
    with pytest.raises(
        ArgumentError, match="the filter has 100 bits, the largest id of the index is 100; give it a bit"
    ):
        ivf_flat.search(ivf_flat.SearchParams(), index, np.eye(4, dtype=np.float32), 1, filter=mask[:100])


REFUSED = [
    (
        np.ones(ROWS, np.uint8),
        DtypeError,
        "argument 'filter' has dtype uint8, it must be bool; convert by .astype(numpy.bool)",
    ),
    (
        np.ones(ROWS // 32, np.uint32),
        DtypeError,
        "argument 'filter' has dtype uint32, it must be bool; packed bits are filters.from_bitset(filter), from ids "
        "make it by keep = numpy.zeros(n_ids, bool); keep[filter] = True, from zeros and ones by numpy.asarray(filter, "
        "bool)",
    ),
    (
        np.array([1, 2, 3]),
        DtypeError,
        "argument 'filter' has dtype int64, it must be bool; from ids make it by keep = numpy.zeros(n_ids, bool); "
        "keep[filter] = True, from zeros and ones by numpy.asarray(filter, bool)",
    ),
    (np.ones((ROWS, 1), bool), ArgumentError, f"argument 'filter' has shape ({ROWS}, 1); give a vector, one entry for"),
    (np.ones(0, bool), ArgumentError, "argument 'filter' has no entries; give at least one"),
    (
        np.ones(ROWS - 1, bool),
        ArgumentError,
        f"the filter has {ROWS - 1} bits, the largest id of the index is {ROWS - 1};",
    ),
    (lambda ctx: True, ArgumentError, "filter is a function; give an array of bool with an entry for every id"),
    (3, ArgumentError, "filter is 3; give an array of bool with an entry for every id"),
]


def test_a_filter_is_packed_after_what_costs_nothing_to_check(world):
    index, queries, _ = world
    packed = []

    class Mask:
        def __array__(self, dtype=None, copy=None):
            packed.append(True)
            return np.ones(ROWS, bool)

    for wrong, k in ((queries, 0), (queries, ROWS + 1), (queries[:, 1:].copy(), 3), (queries.astype(np.float64), 3)):
        with pytest.raises((ArgumentError, DtypeError)):
            ivf_flat.search(ivf_flat.SearchParams(), index, wrong, k, filter=Mask())
    assert not packed
    ivf_flat.search(ivf_flat.SearchParams(), index, queries, 3, filter=Mask())
    assert packed


@pytest.mark.parametrize(("given", "kind", "message"), REFUSED)
def test_refused(world, given, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        search(world, given)


def test_refused_when_made():
    for make, message in (
        (lambda: filters.from_bitset(np.ones(2, np.int32)), "argument 'bitset' has dtype int32"),
        (lambda: filters.from_bitset(np.ones(2, np.uint32), 65), "n_bits is 65, it must be an integer from 1 to 64"),
        (lambda: filters.from_mask([1, 0, 1]), "argument 'mask' has dtype int64"),
        (lambda: filters.Prefilter("x"), "a filter is made by filters.from_bitset(...) or filters.from_mask(...)"),
        (
            lambda: filters.from_mask([True]) & filters.from_mask([True, False]),
            "filters of 1 and 2 bits cannot be joined by &; make them for the same index",
        ),
        (
            lambda: filters.from_mask(np.ones(1500, bool)) | filters.from_bitset(np.ones(47, np.uint32)),
            "filters of 1500 and 1504 bits cannot be joined by |; from_bitset takes every bit of its words, so "
            "give n_bits=1500",
        ),
        (lambda: bool(filters.from_mask([True])), "a filter is neither true nor false; join filters with &, | and ~"),
    ):
        with pytest.raises((ArgumentError, DtypeError), match=re.escape(message)):
            make()
    with pytest.raises(TypeError):
        filters.from_mask([True]) & True
