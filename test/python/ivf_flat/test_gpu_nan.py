# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A real GPU counts the distances that are NaN as a CPU does, whichever kernels run."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from annudf import InputError, NaNDistanceError, NaNDistanceWarning, Resources, ivf_flat
from annudf._arrays import CPU, ELEMENT_OF_DTYPE, input_matrix
from annudf._devices import backends
from annudf.common import device_ndarray

pytestmark = pytest.mark.gpu

GPU = Resources(device="cuda")


@ivf_flat.metric(numerics="reassociate")
def chi2(x, y, acc, ctx):
    return acc + (x - y) ** 2 / (x + y)


@ivf_flat.metric(initial=(0.0, 0.0, 0.0), finalize=lambda acc, ctx: 1 - acc[0] / math.sqrt(acc[1] * acc[2]))
def cosine(x, y, acc, ctx):
    return acc[0] + x * y, acc[1] + x * x, acc[2] + y * y


@ivf_flat.metric(finalize=lambda acc, ctx: math.sqrt(np.float32(900) - acc))
def below(x, y, acc, ctx):
    return acc + (x - y) * (x - y)


@ivf_flat.metric(finalize=lambda acc, ctx: math.sqrt(np.float32(90) - acc))
def below_l1(x, y, acc, ctx):
    return acc + abs(x - y)


def made(rows, dims, dtype, seed):
    random = np.random.default_rng(seed)
    values = random.integers(1, 20, (rows, dims))
    values[random.random((rows, dims)) < 0.1] = 0
    values[::40] = 0
    return values.astype(dtype)


def stats_of(device, index, queries, metric, n_probes, k=10, family=""):
    view = input_matrix(queries, "queries")
    artifact, captures = metric.prepare(device, index._core, len(queries))
    ids, distances = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.float32)
    return backends.backend(device).search(
        index._core, artifact, captures, view.address, len(queries), index.dim, ELEMENT_OF_DTYPE[view.dtype], k,
        n_probes, ids.ctypes.data, distances.ctypes.data, None, None, family,
    )  # fmt: skip


# Families that a machine may lack, or that need more rows, are passed over where the search says so.
CASES = [
    ("pairs", chi2, np.float32, True),
    ("parts", chi2, np.float32, True),
    ("tiles", chi2, np.float32, True),
    ("staged", chi2, np.float32, True),
    ("staged", chi2, np.uint8, True),
    ("staged_granules", chi2, np.float32, False),
    ("packed", below, np.uint8, True),
    ("packed", below_l1, np.uint8, True),
    ("packed_granules", below, np.uint8, False),
    ("matrix", cosine, np.float32, False),
    ("matrix_mma", cosine, np.float32, False),
]


@pytest.mark.parametrize(("family", "metric", "dtype", "needed"), CASES)
@pytest.mark.parametrize("dims", [64, 77])  # Fewer have no rows for "parts" to share.
@pytest.mark.parametrize("count", [1, 5, 300])
def test_each_family_counts_as_a_cpu_does(family, metric, dtype, needed, dims, count):
    rows, queries = made(20000, dims, dtype, 1), made(count, dims, dtype, 2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=30), rows)
    device = GPU.device
    for n_probes in (30, 7):
        expected = stats_of(CPU, index, queries, metric, n_probes, family="groups")
        try:
            found = stats_of(device, index, queries, metric, n_probes, family=family)
        except InputError as error:
            if needed:
                raise
            pytest.skip(str(error))
        assert found.family == family
        if n_probes == 30:  # Else lists may be ranked otherwise at the last digit.
            assert found.nan_distances == expected.nan_distances > 0
            assert found.scored == expected.scored
            x, y = queries[found.nan_query], rows[found.nan_row]
            assert math.isnan(metric.explain(x, y).distance)
        else:
            assert abs(found.nan_distances - expected.nan_distances) <= 0.01 * expected.nan_distances
    # The next search of the workspace begins anew.
    clean = np.full((count, dims), 3, dtype)
    assert stats_of(device, index, clean, chi2, 30).nan_distances == 0


def test_device_arrays_tell_later_or_are_waited_for():
    rows, queries = made(5000, 16, np.float32, 1), made(100, 16, np.float32, 2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows)
    on_device = device_ndarray(queries)
    metric = chi2.bind()
    with pytest.raises(NaNDistanceError, match=r"metric 'chi2'.* turns the accumulator NaN"):
        ivf_flat.search(ivf_flat.SearchParams(n_probes=1, metric=metric, on_nan="raise"), index, on_device, 5)
    resources = Resources()
    params = ivf_flat.SearchParams(n_probes=1, metric=metric)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ivf_flat.search(params, index, on_device, 5, resources=resources)
        resources.sync()
    with pytest.warns(NaNDistanceWarning, match="of earlier searches are NaN"):
        ivf_flat.search(params, index, on_device, 5, resources=resources)
    resources.sync()


def test_what_is_skipped_is_not_counted():
    """Nor told by a later search that warns."""
    rows, queries = made(5000, 16, np.float32, 1), made(100, 16, np.float32, 2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows)
    on_device, resources = device_ndarray(queries), Resources()

    @ivf_flat.metric
    def metric(x, y, acc, ctx):  # Whose searches no other test leaves untold.
        return acc + np.float32(3) * (x - y) ** 2 / (x + y)

    skipping = ivf_flat.SearchParams(n_probes=1, metric=metric, on_nan="skip")
    warning = ivf_flat.SearchParams(n_probes=1, metric=metric)
    none = device_ndarray(np.ones_like(queries))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ivf_flat.search(skipping, index, on_device, 5, resources=resources)
        with ivf_flat.prepare(skipping, index, on_device, 5, resources) as prepared:
            prepared(on_device)
            resources.sync()
            assert prepared._running.core.stats().scored == 0
        ivf_flat.search(warning, index, none, 5, resources=resources)
        resources.sync()
    # A search that skips takes no other's count away.
    ivf_flat.search(warning, index, on_device, 5, resources=resources)
    resources.sync()
    ivf_flat.search(skipping, index, on_device, 5, resources=resources)
    with pytest.warns(NaNDistanceWarning, match="of earlier searches are NaN"):
        ivf_flat.search(warning, index, none, 5, resources=resources)
    resources.sync()


@pytest.mark.parametrize("on_nan", ["warn", "raise"])
def test_prepared_searches_tell(on_nan):
    rows, queries = made(5000, 16, np.float32, 1), made(10, 16, np.float32, 2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows)
    on_device, resources = device_ndarray(queries), Resources()
    params = ivf_flat.SearchParams(n_probes=1, metric=chi2.bind(), on_nan=on_nan)
    with ivf_flat.prepare(params, index, on_device, 5, resources) as prepared:
        if on_nan == "raise":
            for _ in range(2):
                with pytest.raises(NaNDistanceError):
                    prepared(on_device)
            others = np.ones_like(queries)
            prepared(device_ndarray(others))
            others[6] = 0
            with pytest.raises(NaNDistanceError, match="query 6, row "):  # Not one of the runs before.
                prepared(device_ndarray(others))
            return
        prepared(on_device)
        resources.sync()
        with pytest.warns(NaNDistanceWarning, match="of earlier searches"):
            prepared(on_device)
        resources.sync()
