# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What repeats a search: all neighbours within a radius, and a probe count for a recall."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from annudf import _arrays
from annudf._checks import check_int, check_number, shown
from annudf._limits import MAX_K
from annudf._metric.metric import Metric
from annudf._options import MetricName
from annudf.common import Resources, check_resources, device_ndarray
from annudf.errors import ArgumentError
from annudf.ivf_flat._index import Index, check_index
from annudf.ivf_flat._search import SearchParams, search

_FIRST = 64
"""Neighbours that are asked for first."""


def radius_neighbors(
    search_params: SearchParams,
    index: Index,
    queries: Any,
    radius: float,
    resources: Resources | None = None,
    filter: Any = None,
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Finds all rows within a radius of each query, among the rows of its `n_probes` best lists.

    Parameters
    ----------
    search_params, index, queries, resources, filter
        As for :func:`search`.
    radius : float
        Rows whose distance is no worse are found: no larger, or for a metric of order "max" no smaller.

    Returns
    -------
    distances : array of shape (n_queries,) of arrays
        float32, the best first.
    neighbors : array of shape (n_queries,) of arrays
        int64 ids.

    Notes
    -----
    It searches with a larger k until no query has its last neighbour within the radius, so it needs room for as many
    results a query as the query with the most of them has, up to four times that. The arrays are NumPy's, whatever the
    queries are.

    Examples
    --------
    >>> import numpy as np
    >>> from annudf import ivf_flat
    >>> dataset = np.arange(10, dtype=np.float32).reshape(-1, 1)
    >>> index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), dataset)
    >>> params = ivf_flat.SearchParams(n_probes=1, metric="euclidean")
    >>> distances, neighbors = ivf_flat.radius_neighbors(params, index, dataset[4:5], 1.5)
    >>> distances[0], neighbors[0]
    (array([0., 1., 1.], dtype=float32), array([4, 3, 5]))
    """
    limit = check_number(radius, "radius")
    if math.isnan(limit):
        raise ArgumentError(f"radius is {shown(radius)}, it must be a number that distances can be compared with")
    rows = len(check_index(index))
    k = min(_FIRST, max(rows, 1))
    while True:
        distances, neighbors = (
            _host(one) for one in search(search_params, index, queries, k, None, None, resources, filter)
        )
        within = neighbors >= 0
        within &= distances <= limit if search_params.metric_for(index).order == "min" else distances >= limit
        if k == rows or not within[:, -1].any():
            break
        k = min(4 * k, rows)
    found: tuple[npt.NDArray[Any], npt.NDArray[Any]] = (
        np.empty(len(within), object),
        np.empty(len(within), object),
    )
    for i, count in enumerate(within.sum(1)):  # They come first: results are in order.
        found[0][i], found[1][i] = distances[i, :count].copy(), neighbors[i, :count].copy()
    return found


def tune_n_probes(
    index: Index,
    queries: Any,
    k: float = 10,
    *,
    recall: float = 0.95,
    metric: Metric | MetricName | None = None,
    filter: Any = None,
    resources: Resources | None = None,
) -> int:
    """Finds how many lists a search must scan for a wanted recall.

    Parameters
    ----------
    index : Index
    queries : array of shape (n_queries, dim)
        Some that are like those to come: a few hundred are enough. All lists are scanned for them once, and some
        several times.
    k : int, default 10
        Neighbours that will be asked for.
    recall : float, default 0.95
        Part of the true `k` nearest neighbours of these queries that must be found, above 0 and at most 1.
    metric : Metric or str, optional
        As for :class:`SearchParams`.
    filter, resources
        As for :func:`search`.

    Returns
    -------
    int
        The fewest probes of which these queries have that recall.

    Examples
    --------
    >>> import numpy as np
    >>> from annudf import ivf_flat
    >>> dataset = np.random.default_rng(0).random((2000, 8), dtype=np.float32)
    >>> index = ivf_flat.build(ivf_flat.IndexParams(n_lists="auto"), dataset)
    >>> n_probes = ivf_flat.tune_n_probes(index, dataset[:100], recall=0.9)
    >>> 1 <= n_probes <= index.n_lists
    True
    """
    lists = check_index(index).n_lists
    k = check_int(k, "k", 1, MAX_K)
    wanted = check_number(recall, "recall")
    if not 0 < wanted <= 1:
        raise ArgumentError(f"recall is {shown(recall)}, it must be above 0 and at most 1")
    check_resources(resources)

    def found(probes: int) -> npt.NDArray[np.int64]:
        params = SearchParams(n_probes=probes, metric=metric)
        ids: npt.NDArray[np.int64] = _host(search(params, index, queries, k, None, None, resources, filter)[1])
        return ids

    truth = found(lists)
    if truth.size == 0:
        raise ArgumentError("argument 'queries' has no rows, so there is no recall of them")
    total = int((truth >= 0).sum())

    def enough(probes: int) -> bool:
        hits = sum(
            len(np.intersect1d(one[one >= 0], other[other >= 0]))
            for one, other in zip(truth, found(probes), strict=True)
        )
        return hits >= wanted * total

    # What more lists find is never worse, so the recall never falls.
    low, high = 0, 1
    while high < lists and not enough(high):
        low, high = high, min(2 * high, lists)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _host(array: Any) -> npt.NDArray[Any]:
    """Results of a search as NumPy arrays."""
    if isinstance(array, device_ndarray):
        return array.copy_to_host()
    library = _arrays.library_of(array)
    if library == "torch":
        array = array.cpu().numpy()
    elif library == "cupy":
        array = sys.modules["cupy"].asnumpy(array)
    return np.asarray(array)
