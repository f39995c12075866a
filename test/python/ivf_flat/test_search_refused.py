# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Each argument that search() refuses, with its message."""

from __future__ import annotations

import numpy as np
import pytest

from annudf import ArgumentError, DtypeError, ivf_flat


def frozen(array):
    array.flags.writeable = False
    return array


GOOD = np.zeros((2, 8), np.float32)
REFUSED_QUERIES = [
    (
        GOOD.astype(np.float64),
        DtypeError,
        "argument 'queries' has dtype float64, it must be float32, float16, int8, uint8 or bfloat16; convert by "
        ".astype(numpy.float32)",
    ),
    (
        GOOD.astype(np.int16),
        DtypeError,
        "argument 'queries' has dtype int16, it must be float32, float16, int8, uint8 or bfloat16; convert by "
        ".astype(numpy.float32)",
    ),
    (
        GOOD.astype(">f4"),
        DtypeError,
        "argument 'queries' has dtype >f4, which is not in this machine's byte order; "
        "convert by .astype(numpy.float32)",
    ),
    (
        GOOD.astype(complex),
        DtypeError,
        "argument 'queries' has dtype complex128, it must be float32, float16, int8, uint8 or bfloat16; give real "
        "numbers",
    ),
    (
        np.array([["a", "b"]], dtype=object),
        DtypeError,
        "argument 'queries' has dtype object, which holds Python objects; give a rectangular array of numbers",
    ),
    (
        GOOD[0],
        ArgumentError,
        "argument 'queries' has shape (8,), it must have two dimensions; one vector is .reshape(1, -1)",
    ),
    (GOOD[None], ArgumentError, "argument 'queries' has shape (1, 2, 8), it must have two dimensions, rows by dims"),
    (GOOD[:, :7], ArgumentError, "argument 'queries' has vectors of 7 dimensions, the index has 8"),
    (GOOD[:, :0], ArgumentError, "argument 'queries' has shape (2, 0), vectors of 0 dimensions; give at least one"),
    (None, ArgumentError, "argument 'queries' is None; give an array"),
    (
        np.ma.masked_array(GOOD, GOOD == 0),
        ArgumentError,
        "argument 'queries' is a masked array with masked entries, "
        "which cannot be searched; fill them with .filled(value)",
    ),
]


@pytest.mark.parametrize(("queries", "kind", "message"), REFUSED_QUERIES)
def test_refused_queries(floats, queries, kind, message):
    with pytest.raises(kind) as caught:
        ivf_flat.search(ivf_flat.SearchParams(n_probes=4), floats[0], queries, 3)
    assert str(caught.value) == message
    assert type(caught.value) is kind


def test_ragged_queries(floats):
    with pytest.raises(ArgumentError, match=r"argument 'queries' is not an array: .*inhomogeneous"):
        ivf_flat.search(ivf_flat.SearchParams(n_probes=4), floats[0], [[1.0, 2.0], [3.0]], 3)


def test_queries_that_are_not_finite(floats):
    queries = GOOD.copy()
    queries[1, 2] = np.nan
    with pytest.raises(ArgumentError, match=r"row 1.*2"):
        ivf_flat.search(ivf_flat.SearchParams(n_probes=4), floats[0], queries, 3)


SHAPE = (2, 3)
REFUSED_BUFFERS = [
    (
        "distances",
        np.zeros(SHAPE),
        DtypeError,
        "argument 'distances' has dtype float64, it must be float32; convert by .astype(numpy.float32)",
    ),
    (
        "neighbors",
        np.zeros(SHAPE, np.int32),
        DtypeError,
        "argument 'neighbors' has dtype int32, it must be int64; convert by .astype(numpy.int64)",
    ),
    (
        "neighbors",
        np.zeros((3, 2), np.int64),
        ArgumentError,
        "argument 'neighbors' has shape (3, 2), it must be (2, 3)",
    ),
    (
        "neighbors",
        np.zeros((3, 2), np.int64).T,
        ArgumentError,
        "argument 'neighbors' has strides (8, 16) for shape (2, 3); give an array that is contiguous in C order",
    ),
    (
        "neighbors",
        frozen(np.zeros(SHAPE, np.int64)),
        ArgumentError,
        "argument 'neighbors' is read-only; give an array that can be written",
    ),
    (
        "distances",
        [[0.0] * 3] * 2,
        ArgumentError,
        "argument 'distances' is a list; results can only be written to an array",
    ),
]


@pytest.mark.parametrize(("name", "buffer", "kind", "message"), REFUSED_BUFFERS)
def test_refused_buffers(floats, name, buffer, kind, message):
    with pytest.raises(kind) as caught:
        ivf_flat.search(ivf_flat.SearchParams(n_probes=4), floats[0], GOOD, 3, **{name: buffer})
    assert str(caught.value) == message
    assert type(caught.value) is kind


def test_buffers_that_share_memory(floats):
    index, _ = floats
    memory = np.zeros(256, np.uint8)
    distances = memory[:24].view(np.float32).reshape(2, 3)
    neighbors = memory[16:64].view(np.int64).reshape(2, 3)
    with pytest.raises(ArgumentError, match=r"arguments 'distances' and 'neighbors' share memory; give two arrays"):
        ivf_flat.search(ivf_flat.SearchParams(n_probes=4), index, GOOD, 3, neighbors, distances)
    queries = memory[:64].view(np.float32).reshape(2, 8)
    with pytest.raises(ArgumentError, match=r"arguments 'distances' and 'queries' share memory; give another array"):
        ivf_flat.search(ivf_flat.SearchParams(n_probes=4), index, queries, 3, None, distances)


REFUSED_ARGUMENTS = [
    ({"k": 0}, "k is 0, it must be an integer from 1 to 1073741824"),
    ({"k": 2**30 + 1}, "k is 1073741825, it must be an integer from 1 to 1073741824"),
    ({"k": 101}, "k is 101, but the index has 100 rows"),
    ({"k": 2.5}, "k is 2.5, it must be an integer"),
    ({"k": float("inf")}, "k is inf, it must be an integer"),
    ({"k": True}, "k is True, it must be an integer"),
    ({"k": 2**64}, "k is 18446744073709551616, it must be an integer of 64 bits"),
    ({"search_params": None}, "search_params is a NoneType, it must be an ivf_flat.SearchParams"),
    ({"index": "file"}, "index is a str, it must be an ivf_flat.Index, made by build() or load()"),
    ({"resources": 17}, "resources is a int, it must be an annudf.Resources; for a stream write Resources(stream=...)"),
    (
        {"filter": "price < 20"},
        "filter is 'price < 20'; give an array of bool with an entry for every id, filters.from_bitset(...), a "
        "function decorated with @annudf.filter, or None",
    ),
]


@pytest.mark.parametrize(("changed", "message"), REFUSED_ARGUMENTS)
def test_refused_arguments(floats, changed, message):
    arguments = {"search_params": ivf_flat.SearchParams(n_probes=4), "index": floats[0], "queries": GOOD, "k": 3}
    with pytest.raises(ArgumentError) as caught:
        ivf_flat.search(**{**arguments, **changed})
    assert str(caught.value) == message


@ivf_flat.metric(dtype=np.int32)
def of_integers(x, y, acc):
    return acc + abs(x - y)


@pytest.mark.parametrize(("metric", "accepted"), [("bitwise_hamming", "uint8"), (of_integers, "uint8 or int8")])
def test_fractions_against_bytes(metric, accepted):
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), np.arange(40, dtype=np.uint8).reshape(10, 4))
    with pytest.raises(DtypeError) as caught:
        ivf_flat.search(ivf_flat.SearchParams(metric=metric), index, GOOD[:, :4].copy(), 1)
    assert str(caught.value) == (
        f"argument 'queries' has dtype float32, it must be {accepted}; scale and round queries as the rows were, since "
        "converting alone cuts off fractions (0.7 becomes 0), or build the index from float32"
    )


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (3, "family is 3, it must be the name of a family of kernels, or None"),
        ("", "family is '', which is not the name of a family of kernels; give one, or None"),
        ("groups\0", "family is 'groups\\x00', which is not the name of a family of kernels; give one, or None"),
        ("gr\u00fcn", "family is 'gr\\xfcn', which is not the name of a family of kernels; give one, or None"),
    ],
)
def test_what_is_no_name_of_a_family(family, message):
    with pytest.raises(ArgumentError) as caught:
        ivf_flat.SearchParams(family=family)
    assert str(caught.value) == message


def search_by(params, index):
    return ivf_flat.search(params, index, GOOD, 3)


def prepare_by(params, index):
    return ivf_flat.prepare(params, index, GOOD, 3)


def radius_by(params, index):
    return ivf_flat.radius_neighbors(params, index, GOOD, 3.0)


@pytest.mark.parametrize("call", [search_by, prepare_by, radius_by])
@pytest.mark.parametrize(
    ("family", "message"),
    [
        ("tiles", "no family of kernels is called 'tiles'; there are groups, matrix"),
        ("matrix", "family 'matrix' cannot run this search: the metric is not proved to be a quadratic form"),
    ],
)
def test_a_family_that_cannot_be(floats, call, family, message):
    with pytest.raises(ArgumentError) as caught:
        call(ivf_flat.SearchParams(n_probes=4, metric="l1", family=family), floats[0])
    assert str(caught.value) == message
    assert type(caught.value) is ArgumentError
