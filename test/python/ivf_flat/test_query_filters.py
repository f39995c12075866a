# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Filters that see the query: against float64 distances of NumPy, joined, and what is refused."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pytest

import annudf
from annudf import ArgumentError, CaptureError, CaptureWarning, DtypeError, brute_force, filters, ivf_flat

ROWS, QUERIES, DIMS, LISTS = 900, 7, 12, 6
random = np.random.default_rng(17)
data = random.normal(size=(ROWS, DIMS)).astype(np.float32)
asked = random.normal(size=(QUERIES, DIMS)).astype(np.float32)
tenant = random.integers(0, 4, ROWS).astype(np.int32)
mine = random.integers(0, 4, QUERIES).astype(np.int32)
public = random.random(ROWS) < 0.1
bits = random.random((QUERIES, ROWS)) < 0.3
some = random.random(ROWS) < 0.5
params = ivf_flat.SearchParams(n_probes=LISTS, metric="l1")

same = tenant == mine[:, None]


@annudf.filter(captures={"tenant": tenant, "mine": mine, "public": public})
def visible(ctx):
    return ctx.public[ctx.row] or ctx.tenant[ctx.row] == ctx.mine[ctx.query]


seen = same | public


@annudf.filter
def every_third(ctx):
    return (ctx.row + ctx.query) % 3 == 0


third = (np.arange(ROWS) + np.arange(QUERIES)[:, None]) % 3 == 0


@pytest.fixture(scope="module")
def index():
    return ivf_flat.build(ivf_flat.IndexParams(n_lists=LISTS), data)


def expected(passes, k, queries=asked):
    """Ids of the k best rows that pass, by distances in float64."""
    distances = np.abs(queries[:, None, :].astype(np.float64) - data.astype(np.float64)).sum(2)
    distances[~passes] = np.inf
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.where(np.isinf(np.take_along_axis(distances, order, 1)), -1, order)


bitmap = filters.from_bitmap(bits)


@pytest.mark.parametrize(
    ("chosen", "passes"),
    [
        (visible, seen),
        (every_third, third),
        (bitmap, bits),
        (~visible, ~seen),
        (visible & some, seen & some),
        (some | every_third, some | third),
        (visible & bitmap | ~every_third, seen & bits | ~third),
        (filters.from_mask(some) & ~(bitmap & visible), some & ~(bits & seen)),
        (filters.no_filter() & visible, seen),
        (visible.bind(mine=np.full(QUERIES, 9, np.int32), public=np.zeros(ROWS, bool)), np.zeros_like(seen)),
        (visible.bind(public=np.ones(ROWS, bool)), np.ones_like(seen)),
    ],
)
def test_searches_equal_numpy(index, chosen, passes):
    for k in (1, 10, 300):
        distances, found = ivf_flat.search(params, index, asked, k, filter=chosen)
        assert (found == expected(passes, k)).all()
        assert np.isinf(distances[found < 0]).all()
    assert (brute_force.knn(data, asked, 10, metric="l1", prefilter=chosen)[1] == expected(passes, 10)).all()


def test_statistics_count_what_passes(index):
    stats = ivf_flat.search(params, index, asked, 3, filter=visible, return_stats=True)[2]
    assert stats.scored == seen.sum()
    assert stats.passing_share == pytest.approx(seen.mean())


def test_prepared_and_repeated_searches(index):
    prepared = ivf_flat.prepare(params, index, asked, 5, filter=visible)
    assert (prepared(asked)[1] == expected(seen, 5)).all()
    assert (prepared(asked[::-1].copy())[1] == expected(seen, 5, asked[::-1])).all()
    found = ivf_flat.radius_neighbors(params, index, asked, 8.0, filter=bitmap)[1]
    near = np.abs(asked[:, None, :].astype(np.float64) - data.astype(np.float64)).sum(2) <= 8.0
    assert [sorted(ids) for ids in found] == [list(np.flatnonzero(row)) for row in near & bits]


def test_extended_indexes_and_columns():
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=LISTS), data[:500], columns={"tenant": tenant[:500]})

    @annudf.filter(captures={"tenant": ivf_flat.column("int32"), "mine": mine})
    def of_column(ctx):
        return ctx.tenant[ctx.row] == ctx.mine[ctx.query]

    for _ in range(2):
        rows = index.size
        found = ivf_flat.search(params, index, asked, 10, filter=of_column)[1]
        assert (found == expected(same & (np.arange(ROWS) < rows), 10)).all()
        if rows < ROWS:
            ivf_flat.extend(index, data[rows:], columns={"tenant": tenant[rows:]})


def test_files_and_pickles(index, tmp_path):
    visible.save(tmp_path / "visible.annudf")
    loaded = ivf_flat.load_filter(tmp_path / "visible.annudf", tenant=tenant, mine=mine, public=public)
    wanted = expected(seen & bits, 10)
    for joined in (loaded & bitmap, pickle.loads(pickle.dumps(bitmap)) & visible, copy.deepcopy(bitmap) & visible):
        assert (ivf_flat.search(params, index, asked, 10, filter=joined)[1] == wanted).all()


def test_packed_bitmaps():
    words = np.packbits(bits.ravel(), bitorder="little")
    words = np.pad(words, (0, -len(words) % 4)).view(np.uint32)
    packed = filters.from_bitmap(words, shape=bits.shape)
    assert repr(packed) == "Bitmap(7 queries, 900 ids)" == repr(bitmap)
    assert (packed.n_queries, packed.n_bits) == (QUERIES, ROWS)
    found = brute_force.knn(data, asked, 10, metric="l1", prefilter=packed)[1]
    assert (found == expected(bits, 10)).all()


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda index: ivf_flat.search(params, index, asked[:3], 2, filter=visible),
            CaptureError,
            "capture 'mine' (query x i32) of filter 'visible' has shape (7,), this search has 3 queries; give one "
            "entry a query, by .bind(mine=...)",
        ),
        (
            lambda index: ivf_flat.search(params, index, asked[:1], 2, filter=~bitmap),
            ArgumentError,
            "the bitmap is for 7 queries, this search has 1; give a row of bits for each query",
        ),
        (
            lambda index: ivf_flat.search(params, index, asked, 2, filter=filters.from_bitmap(bits[:, :899])),
            ArgumentError,
            "the filter has 899 bits, the largest id of the index is 899; give it a bit for every id",
        ),
        (
            lambda index: ivf_flat.search(params, index, asked, 2, filter=bits),
            ArgumentError,
            "argument 'filter' has shape (7, 900); give a vector, one entry for each id or word; bits for each query "
            "are filters.from_bitmap(filter)",
        ),
        (
            lambda index: bitmap & filters.from_mask(some[:5]),
            ArgumentError,
            "filters of 900 and 5 bits cannot be joined by &; make them for the same index",
        ),
        (
            lambda index: filters.from_bitmap(np.zeros(9, np.uint32)),
            ArgumentError,
            "argument 'bitmap' holds packed words; give their shape=(n_queries, n_ids)",
        ),
        (
            lambda index: filters.from_bitmap(np.zeros(9, np.uint32), shape=(2, 100)),
            ArgumentError,
            "argument 'bitmap' has 9 words, shape (2, 100) takes 7; give bits without gaps",
        ),
        (
            lambda index: filters.from_bitmap(some),
            ArgumentError,
            "argument 'bitmap' has dtype bool and shape (900,); give bools of shape (n_queries, n_ids)",
        ),
        (
            lambda index: filters.from_bitmap(bits, shape=(9, 700)),
            ArgumentError,
            "argument 'bitmap' has shape (7, 900), shape is (9, 700); leave shape out",
        ),
        (
            lambda index: filters.from_bitmap(bits, shape=(7,)),
            ArgumentError,
            "shape is (7,); give two integers, (n_queries, n_ids)",
        ),
        (lambda index: filters.from_bitmap(bits.astype(np.float32)), DtypeError, "argument 'bitmap' has dtype float32"),
    ],
)
def test_refused(index, call, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        call(index)


def test_a_filter_of_more_rows_is_told_of(index):
    with pytest.warns(CaptureWarning, match=r"bitmap has 903 entries, the index has 900 rows .* bitmap\[:, subset\]"):
        ivf_flat.search(params, index, asked, 2, filter=filters.from_bitmap(np.pad(bits, ((0, 0), (0, 3)))))


def test_joins_in_a_loop(index):
    """Each join takes as long as the first: it asks none of those before again."""
    chosen = filters.from_bitmap(bits)
    for _ in range(100):
        chosen = chosen & some
    expected = ivf_flat.search(params, index, asked, 5, filter=filters.from_bitmap(bits & some))
    found = ivf_flat.search(params, index, asked, 5, filter=chosen)
    assert all((a == b).all() for a, b in zip(found, expected, strict=True))
