# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Packed bits: what a search of them finds is what NumPy and SciPy compute of their truth values."""

import pickle
import re

import numpy as np
import pytest

import annudf
from annudf import PackedBits, ivf_flat, metrics
from annudf.distance import pairwise_distance
from annudf.errors import ArgumentError, DtypeError
from annudf.neighbors import NearestNeighbors, brute_force

DIMS = (8, 16, 24, 96, 128, 136, 1024)
BOOLEAN = ("jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule")


def truths(rows, dims, seed):
    """Some of them alike, some all False or all True."""
    rng = np.random.default_rng(seed)
    values = rng.random((rows, dims)) < rng.choice([0.1, 0.5, 0.9], (rows, 1))
    values[0], values[1] = False, True
    return values


def packed(values):
    """Bit i of a row in byte i // 8, the lowest first; written out, as the code under test uses packbits."""
    rows, dims = values.shape
    weights = 1 << np.arange(8)
    return (values.reshape(rows, dims // 8, 8) * weights).sum(axis=2).astype(np.uint8)


def search(index, queries, k=5, metric="bitwise_hamming"):
    params = ivf_flat.SearchParams(n_probes=index.n_lists, metric=metric)
    return ivf_flat.search(params, index, queries, k)


def hamming(queries, rows):
    return (queries[:, None] != rows[None]).sum(axis=2)


@pytest.mark.parametrize("dims", DIMS)
def test_search_extend_and_files(dims, tmp_path):
    rows, queries = truths(300, dims, 1), truths(7, dims, 2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), PackedBits(packed(rows[:200])))
    assert (index.dim, index.size, index.dtype_name, index.dtype) == (dims, 200, "bits", np.uint8)
    assert index.packed
    assert f"dim={dims}, dtype=bits" in repr(index)
    index = ivf_flat.extend(index, packed(rows[200:250]))
    index = ivf_flat.extend(index, PackedBits(rows[250:]))
    ivf_flat.save(tmp_path / "index", index)
    for one in (index, ivf_flat.load(tmp_path / "index"), pickle.loads(pickle.dumps(index))):
        expected = np.sort(hamming(queries, rows), axis=1)[:, :9]
        for given in (packed(queries), PackedBits(packed(queries)), PackedBits(queries), queries.astype(np.uint8)):
            distances, neighbors = search(one, given, 9)
            np.testing.assert_array_equal(distances, expected)
            np.testing.assert_array_equal(hamming(queries, rows)[np.arange(7)[:, None], neighbors], distances)
    # Squares of differences are as many, for queries of floats too.
    for given in (packed(queries), queries.astype(np.float32)):
        found = ivf_flat.search(ivf_flat.SearchParams(n_probes=4), index, given, 9)
        np.testing.assert_array_equal(found[0], expected)


@pytest.mark.parametrize("name", BOOLEAN)
@pytest.mark.parametrize("dims", [24, 136])
def test_what_scipy_computes_of_truth_values(name, dims):
    distance = pytest.importorskip("scipy.spatial.distance", reason="Boolean distances are NOT checked against SciPy")
    rows, queries = truths(150, dims, 3)[2:], truths(9, dims, 4)[2:]
    exact = distance.cdist(queries, rows, name)
    bits = PackedBits(packed(rows))
    for given in (packed(queries), PackedBits(queries)):
        np.testing.assert_allclose(pairwise_distance(given, bits, metric=name), exact, atol=1e-6)
    # As the same numbers in bytes.
    np.testing.assert_array_equal(
        pairwise_distance(queries.astype(np.uint8), rows.astype(np.uint8), metric=name),
        pairwise_distance(PackedBits(queries), bits, metric=name),
    )
    found = brute_force.knn(bits, packed(queries), 6, metric=name)
    np.testing.assert_allclose(found[0], np.sort(exact, axis=1)[:, :6], atol=1e-6)


def test_a_metric_of_ones_own_sees_a_coordinate_a_bit():
    rows, queries = truths(100, 40, 5), truths(4, 40, 6)
    weights = np.linspace(0.5, 2, 40, dtype=np.float32)

    @ivf_flat.metric(captures={"w": weights}, elements=["bits"])
    def weighted(x, y, acc, ctx):
        return acc + ctx.w[ctx.dim] * abs(x - y) + (ctx.dim == ctx.dims - 1)

    assert weighted.elements == ("bits",)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), PackedBits(rows))
    exact = 1 + (weights * (queries[:, None] != rows[None])).sum(axis=2)
    np.testing.assert_allclose(search(index, packed(queries), 100, weighted)[0], np.sort(exact, axis=1), rtol=1e-5)
    with pytest.raises(DtypeError, match=re.escape("does not accept vectors of uint8; it accepts bits")):
        search(ivf_flat.build(ivf_flat.IndexParams(n_lists=2), packed(rows)), packed(queries), 1, weighted)


def test_filters_and_radius():
    rows, queries = truths(200, 64, 7), truths(3, 64, 8)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=3), PackedBits(rows))
    keep = np.arange(200) % 3 == 0
    params = ivf_flat.SearchParams(n_probes=3, metric="bitwise_hamming")
    distances, neighbors = ivf_flat.search(params, index, packed(queries), 5, filter=keep)
    assert keep[neighbors].all()
    np.testing.assert_array_equal(distances, np.sort(hamming(queries, rows[keep]), axis=1)[:, :5])
    found, _ = ivf_flat.radius_neighbors(params, index, PackedBits(queries), 20)
    assert [len(one) for one in found] == (hamming(queries, rows) <= 20).sum(axis=1).tolist()


def test_lists_are_of_the_bits_not_of_the_bytes():
    # Centers are the shares of rows that have a bit.
    rows = truths(64, 16, 9)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1, kmeans_trainset_fraction=1.0), PackedBits(rows))
    np.testing.assert_allclose(index.centers[0], rows.mean(axis=0), atol=1e-6)


def test_packed_bits():
    values = truths(5, 16, 10)
    bits = PackedBits(values)
    np.testing.assert_array_equal(bits.array, packed(values))
    np.testing.assert_array_equal(bits.array, np.packbits(values, axis=1, bitorder="little"))
    assert (bits.shape, bits.dim, len(bits), repr(bits)) == ((5, 16), 16, 5, "PackedBits(rows=5, dim=16)")
    given = packed(values)
    assert PackedBits(given).array is given
    strided = np.repeat(given, 2, axis=1)[:, ::2]
    np.testing.assert_array_equal(
        pairwise_distance(PackedBits(strided), bits, metric="bitwise_hamming"), hamming(values, values)
    )
    torch = pytest.importorskip("torch", reason="PackedBits of tensors are NOT checked")
    result = pairwise_distance(
        PackedBits(torch.from_numpy(given)), PackedBits(torch.from_numpy(values)), metric="bitwise_hamming"
    )
    assert isinstance(result, torch.Tensor)
    np.testing.assert_array_equal(result.numpy(), hamming(values, values))


def refused(call):
    with pytest.raises((ArgumentError, DtypeError)) as error:
        call()
    return str(error.value)


def test_refused():
    values = truths(20, 24, 11)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), PackedBits(values))
    widths = "the index has 24 bits a vector: give 3 bytes of uint8 a vector, or 24 numbers"
    assert refused(lambda: PackedBits(values[:, :12])) == (
        "argument 'array' has vectors of 12 truth values, which do not fill bytes; pad them with False to a multiple "
        "of 8"
    )
    assert refused(lambda: PackedBits(values.astype(np.float32))) == (
        "argument 'array' has dtype float32, it must be uint8, of bits packed eight to a byte, or bool, of truth values"
    )
    assert refused(lambda: PackedBits(packed(values)[0])).startswith("argument 'array' has shape (3,)")
    assert refused(lambda: search(index, packed(values)[:, :2])) == (
        f"argument 'queries' has vectors of 2 dimensions, {widths}"
    )
    assert refused(lambda: ivf_flat.extend(index, packed(values)[:, :1])) == (
        f"argument 'new_vectors' has vectors of 1 dimensions, {widths}"
    )
    assert refused(lambda: search(index, PackedBits(values[:, :16]))) == (
        "argument 'queries' has vectors of 16 dimensions, the index has 24"
    )
    assert refused(lambda: search(index, values)) == (
        "argument 'queries' has dtype bool, it must be annudf.PackedBits or uint8; pack truth values by "
        "annudf.PackedBits(queries), or convert by .astype(numpy.uint8)"
    )
    assert refused(lambda: ivf_flat.extend(index, values.astype(np.float32))) == (
        "argument 'new_vectors' has dtype float32, it must be annudf.PackedBits; pack truth values by "
        "annudf.PackedBits(new_vectors)"
    )
    plain = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), values.astype(np.float32))
    assert refused(lambda: ivf_flat.extend(plain, PackedBits(values))) == (
        "argument 'new_vectors' has dtype bits, it must be float32; unpack them by "
        "numpy.unpackbits(..., axis=1, bitorder='little')"
    )
    assert refused(lambda: search(index, packed(values), 1, metrics.get("haversine"))) == (
        "metric 'haversine' does not accept vectors of bits; it accepts float32, float16, bfloat16"
    )
    assert refused(lambda: annudf.filters.from_bitset(PackedBits(values), 20)).startswith("argument")


def test_nearest_neighbors():
    rows, queries = truths(60, 24, 3), truths(5, 24, 4)
    fitted = NearestNeighbors(n_neighbors=60, metric="bitwise_hamming").fit(PackedBits(packed(rows)))
    assert (fitted.n_features_in_, fitted.n_samples_fit_) == (24, 60)
    for given in (PackedBits(packed(queries)), PackedBits(queries)):
        distances, ids = fitted.kneighbors(given)
        expected = hamming(queries, rows)
        assert np.array_equal(distances, np.sort(expected, axis=1))
        assert np.array_equal(ids, np.argsort(expected, axis=1, kind="stable"))
    # The samples themselves, of which none is its own neighbour.
    distances, ids = fitted.kneighbors(n_neighbors=59)
    assert not (ids == np.arange(60)[:, None]).any()
    assert np.array_equal(distances, np.take_along_axis(hamming(rows, rows), ids, axis=1))
