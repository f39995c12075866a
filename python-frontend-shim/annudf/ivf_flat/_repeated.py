# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What repeats a search: all neighbours within a radius."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from annudf import _arrays
from annudf._arrays import ELEMENT_OF_DTYPE
from annudf._devices import backends, transfer
from annudf._metric import nan as _nan
from annudf._support.checks import check_bool, check_number
from annudf.common import Resources, check_resources
from annudf.errors import InputError
from annudf.filters._bits import check_filter
from annudf.filters._generations import with_bits
from annudf.ivf_flat._index import Index, array_at_fault, check_index
from annudf.ivf_flat._rows import check_entries
from annudf.ivf_flat._search import SearchParams, check_k, check_params
from annudf.ivf_flat._stats import SearchStats, stats_of

if TYPE_CHECKING:
    from annudf._core import SearchStats as CoreStats

_T = TypeVar("_T")


def radius_neighbors(
    search_params: SearchParams,
    index: Index,
    queries: Any,
    radius: float,
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
        "sqeuclidean", the default, the **square** of a length. It may be negative, as inner products may be. With a
        metric that is never negative, a negative radius finds nothing.
    return_stats : bool, default False
        As for :func:`search`. Times and rows are sums over all searches of the call.

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
    DtypeError, DeviceError, CaptureError, ArgumentError
        An argument cannot be used; the message names it.
    CompileError
        The metric or the filter breaks a rule; the message has file and line.
    UnavailableError
        A driver, library or memory is missing.
    KeyboardInterrupt
        Ctrl-C.

    Notes
    -----
    The call repeats the search with a larger k until no query has its last neighbour within the radius. For each query
    it may need four times the memory of the largest result. Queries on a device are copied to the host, and searched on
    that device. The results are NumPy arrays, whatever the queries are.

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
    check_k(1, check_index(index)._core.size)
    call = Repeated(search_params, index, queries, resources, filter)
    with np.errstate(over="ignore"):  # What float32 does not hold is further than any distance.
        limit = float(np.float32(limit))
    return_stats = check_bool(return_stats, "return_stats")
    found: tuple[npt.NDArray[Any], npt.NDArray[Any]] = (
        np.empty(call.rows.shape[0], object),
        np.empty(call.rows.shape[0], object),
    )
    if call.empty:
        return (*found, call.stats(None)) if return_stats else found
    engine: Any = call.engine
    *parts, cost = call.run(
        lambda *arguments: engine.radius_neighbors(*arguments, call.family, return_stats), limit, call.n_probes
    )
    call.tell(cost)
    offsets, ids, distances = (
        np.frombuffer(part, dtype) for part, dtype in zip(parts, (np.int64, np.int64, np.float32), strict=True)
    )
    for i in range(call.rows.shape[0]):
        one = slice(offsets[i], offsets[i + 1])
        found[0][i], found[1][i] = distances[one].copy(), ids[one].copy()
    return (*found, call.stats(cost)) if return_stats else found


class Repeated:
    """The checked arguments of a call that searches several times, with its queries in host memory."""

    def __init__(
        self, params: SearchParams, index: Index, queries: Any, resources: Resources | None, filter: Any
    ) -> None:
        check_params(params)
        core = check_index(index)._core
        place = check_resources(resources)
        metric = params.metric_for(index)
        accepted = metric.query_dtypes(index.dtype_name)
        rows = _arrays.input_matrix(
            queries, "queries", accepted=accepted, dims=core.dims, stream=place.stream, packed=index.packed
        )
        device = place.place(rows.device, "argument 'queries'")
        self.filter = check_filter(filter, place)
        check_entries(index, metric, self.filter)
        artifact, captures = metric.prepare(device, core, rows.shape[0])
        self.empty = rows.shape[0] == 0 or captures is None
        self.device = device
        self.index, self.metric_name = index, params.name_for(index)
        self.n_probes = params.n_probes
        self.family = params.family or ""
        self.metric, self.on_nan = metric, params.on_nan
        self.rows = transfer.to_host(rows, "queries", place)
        self.engine = backends.backend(device)
        self.arguments: tuple[Any, ...] = (
            core,
            artifact,
            captures,
            self.rows.address,
            self.rows.shape[0],
            self.rows.shape[1],
            ELEMENT_OF_DTYPE[self.rows.dtype],
        )

    def stats(self, cost: CoreStats | None) -> SearchStats:
        """What is told of a search that has no places for missing results."""
        return replace(stats_of(cost, self.metric_name, self.index, self.n_probes), n_missing=0)

    def tell(self, cost: CoreStats) -> None:
        """Says where distances were NaN."""
        _nan.tell(cost, self.on_nan, self.metric, self.arguments[0], self.rows)

    def run(self, call: Callable[..., _T], *more: float) -> _T:
        """What a method of the engine gives for these and `more`; errors name the array as the caller does."""
        # One of code scans the index, so only now that all else is checked.
        try:
            return with_bits(
                self.filter,
                self.arguments[0],
                self.device,
                lambda chosen: call(*self.arguments, *more, chosen),
            )
        except InputError as error:
            raise array_at_fault(error, "queries") from None
