# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Shards that are extended, that lose rows and that are searched by radius equal one index, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

import annudf
from annudf import ivf_flat
from annudf.errors import ArgumentError, DtypeError
from reference import vectors

pytest.importorskip("dask.array")
pytest.importorskip("distributed")

import dask.array as da
from clusters import LIMIT, assert_equal, one_index, params, spread, two_processes

from annudf.dask import ivf_flat as dask_ivf

ROWS, DIM, CHUNK = 600, 7, 90
QUERIES = vectors(25, DIM, "float32", 3)


@annudf.metric(captures={"price": ivf_flat.column("float32")})
def priced(x, y, acc, ctx):
    return acc + abs(x - y) * ctx.price[ctx.row]


@annudf.metric(order="max", coarse_metric="inner_product")
def product(x, y, acc, ctx):
    return acc + x * y


METRICS = {"priced": priced, "product": product, "sqeuclidean": None}


@pytest.fixture(scope="module")
def client():
    with two_processes() as client:
        yield client


def prices(count, seed):
    return np.random.default_rng(seed).random(count, dtype=np.float32) + 1


def built(client, base, **columns):
    given = {name: spread(client, values, CHUNK) for name, values in columns.items()}
    return dask_ivf.build(params(), spread(client, base, CHUNK), columns=given or None, timeout=LIMIT)


def assert_same(sharded, one, keep=None):
    """Compares searches and radius searches by every metric."""
    assert len(sharded) == len(one)
    for metric in METRICS.values():
        search = ivf_flat.SearchParams(n_probes=4, metric=metric)
        expected = ivf_flat.search(search, one, QUERIES, 30, filter=keep)
        assert_equal(dask_ivf.search(search, sharded, QUERIES, 30, filter=keep, timeout=LIMIT), expected)
        radius = float(np.median(expected[0]))
        expected = ivf_flat.radius_search(search, one, QUERIES, radius, filter=keep)
        assert expected[0][-1] > 25
        assert_equal(dask_ivf.radius_search(search, sharded, QUERIES, radius, filter=keep, timeout=LIMIT), expected)


def test_rows_come_and_go(client, tmp_path):
    base, more, price = vectors(ROWS, DIM, "float32", 1), vectors(250, DIM, "float32", 2), prices(ROWS, 4)
    sharded, one = built(client, base, price=price), one_index(base, columns={"price": price})
    assert_same(sharded, one)
    for ids in (None, np.arange(250)[::-1] * 3 + 2000):
        given = None if ids is None else spread(client, ids, 60)
        new = prices(250, 5)
        columns = {"price": spread(client, new, 60)}
        assert dask_ivf.extend(sharded, spread(client, more, 60), given, columns=columns, timeout=LIMIT) is sharded
        ivf_flat.extend(one, more, ids, columns={"price": new})
        assert_same(sharded, one)
    gone = np.r_[3:500:2, 2000:2100, 99999]
    assert dask_ivf.remove(sharded, gone, timeout=LIMIT) == ivf_flat.remove(one, gone)
    assert dask_ivf.remove(sharded, [], timeout=LIMIT) == 0
    assert_same(sharded, one, np.arange(3000) % 7 != 0)
    sharded.save(tmp_path, timeout=LIMIT)
    again = dask_ivf.load(tmp_path, timeout=LIMIT)
    assert_same(again, one)
    columns = {"price": spread(client, prices(250, 6), 60)}
    dask_ivf.extend(again, spread(client, more, 60), columns=columns, timeout=LIMIT)
    ivf_flat.extend(one, more, columns={"price": prices(250, 6)})
    assert_same(again, one)
    assert sharded.size == len(one) - 250


def test_all_rows_go(client):
    base = vectors(200, DIM, "float32", 1)
    sharded = built(client, base)
    assert dask_ivf.remove(sharded, np.r_[0:90, 180:200], timeout=LIMIT) == 110  # All of one shard, if there are two.
    one = one_index(base)
    ivf_flat.remove(one, np.r_[0:90, 180:200])
    search = ivf_flat.SearchParams(n_probes=12)
    assert_equal(
        dask_ivf.search(search, sharded, QUERIES, 90, timeout=LIMIT), ivf_flat.search(search, one, QUERIES, 90)
    )
    assert dask_ivf.remove(sharded, np.arange(200), timeout=LIMIT) == 90
    with pytest.raises(ArgumentError, match="the index has 0 rows; add some first"):
        dask_ivf.search(search, sharded, QUERIES, 1, timeout=LIMIT)
    dask_ivf.extend(sharded, spread(client, base, CHUNK), timeout=LIMIT)
    assert_equal(
        dask_ivf.search(search, sharded, QUERIES, 9, timeout=LIMIT),
        ivf_flat.search(search, one_index(base), QUERIES, 9),
    )


def test_what_is_refused(client):
    base = vectors(200, DIM, "float32", 1)
    sharded = built(client, base, price=prices(200, 2))
    before = dask_ivf.search(ivf_flat.SearchParams(), sharded, QUERIES, 5, timeout=LIMIT)
    rows, price = da.ones((4, DIM), dtype="f4"), {"price": da.ones(4, dtype="f4")}
    for kind, arguments, message in (
        (DtypeError, (rows.astype("u1"),), "'new_vectors' has dtype uint8 and 7 dimensions, the index has float32 and 7"),
        (ArgumentError, (rows[:, :3],), "'new_vectors' has dtype float32 and 3 dimensions"),
        (ArgumentError, (rows, da.from_array(np.array([7, 900, 901, 902]))), r"new_indices has 7, which a row of shard \d of 2"),
        (ArgumentError, (rows, da.from_array(np.array([900, 901, 900, 902]))), r"new_indices\[2\] is 900, the id of row 0 too"),
        (ArgumentError, (rows * np.nan,), r"new_vectors: row 0, dim 0 is nan.*\(of new rows 200 to 203\)"),
    ):  # fmt: skip
        with pytest.raises(kind, match=message):
            dask_ivf.extend(sharded, *arguments, columns=price, timeout=LIMIT)
    with pytest.raises(ArgumentError, match="columns has none, the index has price; give a value of each"):
        dask_ivf.extend(sharded, rows, timeout=LIMIT)
    with pytest.raises(ArgumentError, match=r"max_results is 30, and the search stopped with \d+ rows within"):
        dask_ivf.radius_search(ivf_flat.SearchParams(n_probes=12), sharded, QUERIES, np.inf, 30, timeout=LIMIT)
    with pytest.raises(ArgumentError, match="'queries' is a dask array, and nobody knows how long"):
        dask_ivf.radius_search(ivf_flat.SearchParams(), sharded, rows, 1.0)
    with pytest.raises(ArgumentError, match="index is an int, it must be a dask"):
        dask_ivf.remove(3, [1])
    assert len(sharded) == 200
    assert_equal(dask_ivf.search(ivf_flat.SearchParams(), sharded, QUERIES, 5, timeout=LIMIT), before)
