# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What a search tells of itself on request."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from annudf import ArgumentError, ivf_flat
from annudf.neighbors import brute_force
from reference import vectors

BASE, ASKED = vectors(800, 6, "float32", 1), vectors(15, 6, "float32", 2)


@pytest.fixture(scope="module")
def index():
    return ivf_flat.build(ivf_flat.IndexParams(n_lists=10), BASE)


def test_a_search(index):
    params = ivf_flat.SearchParams(n_probes=3, metric="canberra")
    *found, stats = ivf_flat.search(params, index, ASKED, 5, return_stats=True)
    for one, other in zip(found, ivf_flat.search(params, index, ASKED, 5), strict=True):
        np.testing.assert_array_equal(one, other)
    assert isinstance(stats, ivf_flat.SearchStats)
    assert (stats.metric, stats.family, stats.n_probes, stats.n_probes_asked, stats.n_lists) == (
        "canberra",
        "groups",
        3,
        3,
        10,
    )
    assert stats.why
    assert stats.search_ms > 0
    assert 0 < stats.evaluated_per_query <= stats.rows_per_query < 800
    assert (stats.passing_share, stats.n_missing, stats.slow) == (1, 0, "")
    assert ivf_flat.search(params, index, ASKED, 5, return_stats=True)[2].link_ms == 0
    assert repr(stats).startswith("SearchStats(metric='canberra', family='groups', why=")
    with pytest.raises(dataclasses.FrozenInstanceError):
        stats.n_probes = 4


def test_probes_beyond_the_lists_are_cut(index):
    stats = ivf_flat.search(ivf_flat.SearchParams(n_probes=500), index, ASKED, 5, return_stats=True)[2]
    assert (stats.n_probes, stats.n_probes_asked, stats.rows_per_query) == (10, 500, 800)


def test_the_effect_of_a_filter(index):
    keep = np.arange(800) < 40
    params = ivf_flat.SearchParams(n_probes=10)
    _, neighbors, stats = ivf_flat.search(params, index, ASKED, 50, filter=keep, return_stats=True)
    assert stats.passing_share == pytest.approx(0.05)
    assert stats.n_missing == (neighbors == -1).sum() == 15 * 10


def test_exact_searches():
    stats = brute_force.knn(BASE, ASKED, 3, return_stats=True)[2]
    assert (stats.rows_per_query, stats.n_probes, stats.n_lists, stats.metric) == (800, 1, 1, "sqeuclidean")
    found = brute_force.search(brute_force.build(BASE, "euclidean"), ASKED, 3, return_stats=True)
    assert found[2].metric == "euclidean"
    assert len(brute_force.knn(BASE, ASKED, 3)) == 2


def test_searches_within_a_radius(index):
    params = ivf_flat.SearchParams(n_probes=4)
    distances, neighbors, stats = ivf_flat.radius_neighbors(params, index, ASKED, 1.5, return_stats=True)
    plain = ivf_flat.radius_neighbors(params, index, ASKED, 1.5)
    assert len(plain) == 2
    for one, other in zip((*distances, *neighbors), (*plain[0], *plain[1]), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (stats.n_probes, stats.n_missing) == (4, 0)
    assert stats.rows_per_query > 0
    assert stats.family


def test_no_queries(index):
    params = ivf_flat.SearchParams(n_probes=4)
    for call in (
        lambda: ivf_flat.search(params, index, ASKED[:0], 5, return_stats=True),
        lambda: ivf_flat.radius_neighbors(params, index, ASKED[:0], 1.0, return_stats=True),
    ):
        stats = call()[2]
        assert (stats.family, stats.search_ms, stats.rows_per_query, stats.n_missing) == ("", 0, 0, 0)


def test_torch_on_the_host(index):
    torch = pytest.importorskip("torch")
    stats = ivf_flat.search(ivf_flat.SearchParams(), index, torch.tensor(ASKED), 5, return_stats=True)[2]
    assert stats.n_missing == 0


def test_the_argument_is_checked(index):
    with pytest.raises(ArgumentError, match=r"^return_stats is 1, it must be True or False$"):
        ivf_flat.search(ivf_flat.SearchParams(), index, ASKED, 5, return_stats=1)


@pytest.mark.gpu
def test_on_a_device_nothing_is_waited_for(index):
    from annudf import device_ndarray

    stats = ivf_flat.search(ivf_flat.SearchParams(), index, device_ndarray(ASKED), 5, return_stats=True)[2]
    assert (stats.n_missing, stats.rows_per_query, stats.evaluated_per_query) == (None, None, None)
    assert stats.family
