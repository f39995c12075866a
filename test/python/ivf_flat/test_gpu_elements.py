# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A real GPU: packed bits, missing values, lists ranked by cosine, radius, all distances, repeated ids.

Each against float64, or against the CPU where only the order of lists is at stake.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from annudf import PackedBits, Resources, brute_force, ivf_flat
from annudf.distance import pairwise_distance
from reference import check, vectors

pytestmark = pytest.mark.gpu

GPU = Resources(device="cuda")


def test_packed_bits(library):
    rng = np.random.default_rng(1)
    base, queries = rng.random((900, 40)) < 0.4, rng.random((11, 40)) < 0.4
    put = [library.put(np.packbits(truths, axis=1, bitorder="little")) for truths in (base, queries)]
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=6), PackedBits(put[0]))
    exact = (queries[:, None] != base[None]).sum(axis=2).astype(np.float64)
    params = ivf_flat.SearchParams(n_probes=6, metric="bitwise_hamming")
    for given in (PackedBits(put[1]), put[1]):
        distances, neighbors = map(library.get, ivf_flat.search(params, index, given, 20))
        check(distances, neighbors, exact)
        assert_array_equal(distances, np.sort(exact, axis=1)[:, :20])
    every = pairwise_distance(PackedBits(put[1]), PackedBits(put[0]), metric="hamming")
    assert_allclose(library.get(every), exact / 40, rtol=1e-6)


def test_missing_values(library):
    base, queries = vectors(700, 12, "float32", 1), vectors(9, 12, "float32", 2)
    rng = np.random.default_rng(3)
    base[rng.random(base.shape) < 0.2] = np.nan
    queries[rng.random(queries.shape) < 0.2] = np.nan
    squares = (queries[:, None].astype(np.float64) - base[None]) ** 2
    there = ~np.isnan(squares)
    exact = np.sqrt(np.nansum(squares, axis=2) * 12 / there.sum(axis=2))
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=5, missing_values=True), library.put(base))
    params = ivf_flat.SearchParams(n_probes=5, metric="nan_euclidean")
    check(*map(library.get, ivf_flat.search(params, index, library.put(queries), 10)), exact, rtol=1e-5)


@pytest.mark.parametrize("rows", [3, 200])  # Few queries have a kernel of their own to rank lists.
def test_lists_ranked_by_cosine_as_on_the_cpu(library, rows):
    pytest.importorskip("numba_cuda_mlir")

    @ivf_flat.metric(coarse_metric="cosine", finalize=lambda acc, ctx: acc * 0 + ctx.list)
    def list_of(x, y, acc, ctx):
        return acc

    base, queries = vectors(4000, 30, "float32", 1), vectors(rows, 30, "float32", 2)
    # Norms whose squares are no float32: they change no rank.
    scaled = queries.copy()
    scaled[0] *= np.float32(1e25) / np.abs(queries[0]).max()
    scaled[1] *= np.float32(1e-25) / np.abs(queries[1]).max()
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=40, metric="cosine"), base)
    params = ivf_flat.SearchParams(n_probes=4, metric=list_of)

    def probed(distances):
        return [set(row[np.isfinite(row)].tolist()) for row in distances]

    expected = probed(ivf_flat.search(params, index, queries, 1000)[0])
    found = probed(library.get(ivf_flat.search(params, index, library.put(scaled), 1000)[0]))
    assert found[:2] == expected[:2]
    assert sum(a == b for a, b in zip(found, expected, strict=True)) >= 0.99 * rows


def test_radius_and_all_distances(library):
    base, queries = vectors(600, 10, "float32", 1), vectors(7, 10, "float32", 2)
    exact = ((queries[:, None].astype(np.float64) - base[None]) ** 2).sum(axis=2)
    limit = float(np.median(exact))
    exact[np.abs(exact - limit) < 1e-4] = np.nan  # Too near for float32 to tell.
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), base)
    params = ivf_flat.SearchParams(n_probes=4)
    distances, neighbors = ivf_flat.radius_neighbors(params, index, queries, limit, resources=GPU)
    for row, (ids, found) in enumerate(zip(neighbors, distances, strict=True)):
        sure = ~np.isnan(exact[row])
        wanted = set(np.flatnonzero(sure & (exact[row] <= limit)).tolist())
        assert {int(one) for one in ids if sure[one]} == wanted
        assert (np.diff(found) >= 0).all()
    every = library.get(pairwise_distance(library.put(queries), library.put(base), metric="sqeuclidean"))
    assert_allclose(every[~np.isnan(exact)], exact[~np.isnan(exact)], rtol=1e-5, atol=1e-5)
    check(
        *map(library.get, brute_force.knn(library.put(base), library.put(queries), 5)), np.nan_to_num(exact, nan=limit)
    )


def test_filters_of_code_where_ids_are_repeated(library):
    """A row that is in two lists is kept if the filter keeps it in one, whichever a thread comes to first."""
    pytest.importorskip("numba_cuda_mlir")

    @ivf_flat.filter
    def in_the_first_list(ctx):
        return ctx.list == 0

    base = vectors(500, 6, "float32", 1)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=8), base)
    # Every row once more, far away, so in other lists under the same id.
    ivf_flat.extend(index, -base, np.arange(500), allow_repeated_ids=True)
    params = ivf_flat.SearchParams(n_probes=8)
    for queries in (base[:40], -base[:40]):
        expected = ivf_flat.search(params, index, queries, 6, filter=in_the_first_list)
        for _ in range(5):
            found = ivf_flat.search(params, index, library.put(queries), 6, filter=in_the_first_list)
            assert_array_equal(library.get(found[1]), expected[1])
