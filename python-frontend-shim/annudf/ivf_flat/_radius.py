# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""All rows within a radius."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from annudf._core import DEFAULT_MAX_RESULTS, MAX_RESULTS
from annudf._support.checks import check_bool, check_int, check_number, refusal
from annudf.common import Resources
from annudf.errors import ArgumentError
from annudf.ivf_flat._goal import refuse_goal
from annudf.ivf_flat._host_search import HostSearch
from annudf.ivf_flat._index import Index, check_index
from annudf.ivf_flat._search_params import SearchParams, check_params


def radius_search(
    search_params: SearchParams,
    index: Index,
    queries: Any,
    radius: float,
    max_results: int | None = None,
    resources: Resources | None = None,
    filter: Any = None,
    *,
    return_stats: bool = False,
) -> tuple[Any, ...]:
    """Finds all rows within a radius of each query, among the rows of its `n_probes` best lists.

    Parameters
    ----------
    search_params, index, queries, resources, filter
        As for :func:`search`.
    radius : float
        The largest distance to find, or with order "max" the smallest. It is a distance as a search reports it: for
        "sqeuclidean", the default, the **square** of a length. It is rounded to float32. It may be negative, as inner
        products may be. With a metric that is never negative, a negative radius finds nothing.
    max_results : int, optional
        Most results of all queries together, from 1; more are an error. Default: 100,000,000. A result takes 12 bytes,
        and up to four times that during the call.
    return_stats : bool, default False
        As for :func:`search`.

    Returns
    -------
    lims : array of shape (n_queries + 1,)
        int64. The results of query i are at ``lims[i]`` to ``lims[i + 1]`` of the other arrays, as in FAISS's
        ``range_search``.
    distances : array of shape (lims[-1],)
        float32, the best of each query first. -0 is 0.
    ids : array of shape (lims[-1],)
        int64. The lower id comes first if distances are equal. A row whose distance is NaN is never found.
    stats : SearchStats
        Only with ``return_stats=True``.

    Raises
    ------
    ArgumentError
        An argument cannot be used, or more than `max_results` rows are within the radius; the message names the number
        found before the search stopped.
    DtypeError, DeviceError, CaptureError, CompileError, UnavailableError, NaNDistanceError, KeyboardInterrupt
        As :func:`search`.

    Notes
    -----
    Queries on a device are copied to the host, and searched on that device. The results are NumPy arrays, whatever the
    queries are.

    Examples
    --------
    >>> import numpy as np
    >>> from annudf import ivf_flat
    >>> dataset = np.arange(10, dtype=np.float32).reshape(-1, 1)
    >>> index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), dataset)
    >>> params = ivf_flat.SearchParams(n_probes=1, metric="euclidean")
    >>> ivf_flat.radius_search(params, index, dataset[4:6], 1.5)
    (array([0, 3, 6]), array([0., 1., 1., 0., 1., 1.], dtype=float32), array([4, 3, 5, 5, 4, 6]))
    """
    check_params(search_params)
    refuse_goal(search_params, "radius_search")
    limit = check_radius(radius)
    most = DEFAULT_MAX_RESULTS if max_results is None else check_int(max_results, "max_results", 1, MAX_RESULTS)
    if check_index(index)._core.size == 0:
        raise ArgumentError("the index has 0 rows; add some first")
    call = HostSearch(search_params, index, queries, resources, filter)
    return_stats = check_bool(return_stats, "return_stats")
    if call.empty:
        none = (np.zeros(call.rows.shape[0] + 1, np.int64), np.empty(0, np.float32), np.empty(0, np.int64))
        return (*none, call.stats(None)) if return_stats else none
    engine: Any = call.engine
    *parts, cost = call.run(
        lambda *arguments: engine.radius_search(*arguments, call.family, return_stats, search_params._lists),
        limit,
        call.n_probes,
        most,
    )
    call.tell(cost)
    lims, ids, distances = (
        np.frombuffer(part, dtype) for part, dtype in zip(parts, (np.int64, np.int64, np.float32), strict=True)
    )
    return (lims, distances, ids, call.stats(cost)) if return_stats else (lims, distances, ids)


def check_radius(radius: object) -> float:
    """The radius as float32 has it, or ArgumentError."""
    limit = check_number(radius, "radius")
    if math.isnan(limit):  # The core, which refuses it too, is not called without queries.
        raise refusal("radius", limit, "a number that distances can be compared with")
    with np.errstate(over="ignore"):  # What float32 does not hold is further than any distance.
        return float(np.float32(limit))


def radius_neighbors(
    search_params: SearchParams,
    index: Index,
    queries: Any,
    radius: float,
    resources: Resources | None = None,
    filter: Any = None,
    *,
    max_results: int | None = None,
    return_stats: bool = False,
) -> tuple[Any, ...]:
    """:func:`radius_search` with an array for each query, as scikit-learn's ``radius_neighbors`` gives them.

    Parameters
    ----------
    search_params, index, queries, radius, resources, filter, max_results, return_stats
        As for :func:`radius_search`.

    Returns
    -------
    distances : array of shape (n_queries,) of arrays
        float32, the best first.
    neighbors : array of shape (n_queries,) of arrays
        int64 ids.
    stats : SearchStats
        Only with ``return_stats=True``.

    Raises
    ------
    ArgumentError, DtypeError, DeviceError, CaptureError, CompileError, UnavailableError, KeyboardInterrupt
        As :func:`radius_search`.

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
    lims, distances, ids, *stats = radius_search(
        search_params, index, queries, radius, max_results, resources, filter, return_stats=return_stats
    )
    return (by_query(lims, distances), by_query(lims, ids), *stats)


def by_query(lims: npt.NDArray[np.int64], values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array of an array for each query, each with memory of its own."""
    found: npt.NDArray[Any] = np.empty(len(lims) - 1, object)
    for i in range(len(found)):
        found[i] = values[lims[i] : lims[i + 1]].copy()
    return found
