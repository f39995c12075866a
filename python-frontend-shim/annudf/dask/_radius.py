# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""All rows within a radius, of all shards."""

from __future__ import annotations

from typing import Any

import dask.array
import numpy as np

from annudf._core import DEFAULT_MAX_RESULTS, MAX_RESULTS
from annudf._shards.request import merge_within
from annudf._support.checks import check_bool, check_int
from annudf.dask._call import Call
from annudf.dask._cluster import Deadline, run
from annudf.dask._index import Index
from annudf.errors import ArgumentError
from annudf.ivf_flat._goal import refuse_goal
from annudf.ivf_flat._radius import check_radius
from annudf.ivf_flat._search_params import SearchParams, check_params


def radius_search(
    search_params: SearchParams,
    index: Index,
    queries: Any,
    radius: float,
    max_results: int | None = None,
    *,
    filter: Any = None,
    allow_partial: bool = False,
    tries: int = 3,
    timeout: float = 300,
) -> tuple[Any, ...]:
    """Finds all rows of all shards within a radius; equal to a radius search of one index, to the bit.

    Parameters
    ----------
    search_params, index, filter, allow_partial, tries, timeout
        As for :func:`search`.
    queries : array of shape (n_queries, dim)
        A host array.
    radius, max_results
        As for :func:`annudf.ivf_flat.radius_search`.

    Returns
    -------
    lims, distances, ids : array
        As of :func:`annudf.ivf_flat.radius_search`.
    share : float
        Only with ``allow_partial=True``, as of :func:`search`.

    Raises
    ------
    ArgumentError, DtypeError, CaptureError, CompileError, NaNDistanceError
        As :func:`annudf.ivf_flat.radius_search`.
    UnavailableError
        As :func:`search`.
    """
    check_params(search_params)
    refuse_goal(search_params, "radius_search")
    call = Call(search_params, index, filter, tries, Deadline(timeout, "radius_search()"))
    most = DEFAULT_MAX_RESULTS if max_results is None else check_int(max_results, "max_results", 1, MAX_RESULTS)
    call.ask_for(most, check_radius(radius))
    partly = check_bool(allow_partial, "allow_partial")
    if isinstance(queries, dask.array.Array):
        raise ArgumentError("argument 'queries' is a dask array, and nobody knows how long its results are; compute it")
    given = call.on_host(queries)
    if not len(given):
        none = (np.zeros(1, np.int64), np.empty(0, np.float32), np.empty(0, np.int64))
        return (*none, 1.0) if partly else none
    found, whys = run(index._client, lambda: call.by_calls(given), call.deadline)
    share = call.complete(found, whys, partly)
    within = merge_within(list(found.values()), most, call.metric.order)
    call.tell(within.nan_distances, within.scored)
    return (*within[:3], share) if partly else within[:3]
