# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""bfloat16, and queries of another type than the rows."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

from annudf import DtypeError, UnavailableError, brute_force, ivf_flat
from annudf.distance import pairwise_distance
from reference import DTYPES, check, distances_of, vectors

ml_dtypes = pytest.importorskip("ml_dtypes")
ROWS, DIMS = 500, 21
ALL = (*DTYPES, "bfloat16")
PARAMS = ivf_flat.SearchParams(n_probes=4)


@ivf_flat.metric(captures={"scale": np.linspace(0.5, 2, DIMS, dtype=np.float32)})
def scaled_l1(x, y, acc, ctx):
    return acc + ctx.scale[ctx.dim] * abs(x - y)


def some(rows, dtype, seed, near=None):
    """Vectors of a type whose values lie where those of `near` do."""
    if near in ("int8", "uint8") and "float" in dtype:
        return (vectors(rows, DIMS, near, seed) + np.float32(0.25)).astype(
            ml_dtypes.bfloat16 if "b" in dtype else dtype
        )
    if dtype == "bfloat16":
        return vectors(rows, DIMS, "float32", seed).astype(ml_dtypes.bfloat16)
    return vectors(rows, DIMS, dtype, seed)


def squares(queries, rows):
    return distances_of(lambda x, y: (x - y) ** 2, queries, rows)


@pytest.mark.parametrize("of_queries", ALL)
@pytest.mark.parametrize("of_rows", ALL)
def test_every_pair(of_rows, of_queries):
    rows, queries = some(ROWS, of_rows, 1), some(7, of_queries, 2, of_rows)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), rows)
    check(*ivf_flat.search(PARAMS, index, queries, 9), squares(queries, rows))
    exact = distances_of(lambda x, y: np.linspace(0.5, 2, DIMS, dtype=np.float32) * abs(x - y), queries, rows)
    params = ivf_flat.SearchParams(n_probes=4, metric=scaled_l1)
    check(*ivf_flat.search(params, index, queries, 9), exact)
    np.testing.assert_allclose(pairwise_distance(queries, rows, metric=scaled_l1), exact, rtol=2e-5, atol=1e-4)


def test_an_index_of_bfloat16(tmp_path):
    rows, queries = some(ROWS, "bfloat16", 1), some(7, "bfloat16", 2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), rows[:300])
    assert index.dtype == ml_dtypes.bfloat16
    assert "dtype=bfloat16" in repr(index)
    index = ivf_flat.extend(index, rows[300:], np.arange(300, ROWS))
    ivf_flat.save(tmp_path / "index", index)
    expected = ivf_flat.search(PARAMS, index, queries, 5)
    check(*expected, squares(queries, rows))
    for same in (ivf_flat.load(tmp_path / "index"), pickle.loads(pickle.dumps(index))):
        assert same.dtype == ml_dtypes.bfloat16
        for one, other in zip(ivf_flat.search(PARAMS, same, queries, 5), expected, strict=True):
            np.testing.assert_array_equal(one, other)
    exact = brute_force.build(rows)
    assert "dtype=bfloat16" in repr(exact)
    check(*brute_force.search(exact, queries, 5), squares(queries, rows))
    with pytest.raises(DtypeError, match=r"^argument 'new_vectors' has dtype float32, it must be bfloat16; "):
        ivf_flat.extend(index, queries.astype(np.float32))


def test_views_that_are_not_contiguous():
    rows = some(2 * ROWS, "bfloat16", 1)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows[::2])
    queries = np.asfortranarray(rows[:5])
    check(*ivf_flat.search(PARAMS, index, queries, 3), squares(queries, rows[::2]))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite(value):
    rows = some(10, "bfloat16", 1)
    rows[7, 3] = value
    with pytest.raises(ValueError, match=rf"row 7, dim 3 is {value}; every coordinate must be finite"):
        ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows)


def test_elements_of_a_metric():
    assert scaled_l1.elements == ("float32", "float16", "int8", "uint8", "bfloat16", "bits")
    for name in ("bfloat16", ml_dtypes.bfloat16):

        @ivf_flat.metric(elements=name)
        def only(x, y, acc, ctx):
            return acc + abs(x - y)

        assert only.elements == ("bfloat16",)
    params = ivf_flat.SearchParams(metric=only)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), some(10, "float32", 1))
    with pytest.raises(DtypeError, match=r"^metric 'only' does not accept vectors of float32; it accepts bfloat16$"):
        ivf_flat.search(params, index, some(1, "bfloat16", 2), 1)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), some(10, "bfloat16", 1))
    with pytest.raises(DtypeError, match=r"^argument 'queries' has dtype float32, it must be bfloat16; "):
        ivf_flat.search(params, index, some(1, "float32", 2), 1)
    with pytest.raises(DtypeError, match=r"^elements has bfloat16, but dtype is an integer, "):

        @ivf_flat.metric(dtype=np.int32, elements="bfloat16")
        def whole(x, y, acc, ctx):
            return acc + abs(x - y)


def test_what_to_convert_to():
    """float32 holds whatever rows of integers are compared with."""
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), some(10, "uint8", 1))
    with pytest.raises(DtypeError, match=r"convert by \.astype\(numpy\.float32\)$"):
        ivf_flat.search(PARAMS, index, some(1, "float32", 2).astype(np.float64), 1)


def test_without_ml_dtypes(monkeypatch):
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), some(10, "bfloat16", 1))
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    assert "dtype=bfloat16" in repr(index)
    assert ivf_flat.search(PARAMS, index, some(1, "float32", 2), 1)[1].shape == (1, 1)
    with pytest.raises(UnavailableError, match=r"^NumPy has bfloat16 from ml_dtypes only: pip install ml_dtypes$"):
        _ = index.dtype
