# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Searching."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, overload

import numpy as np
import numpy.typing as npt

from annudf import _arrays, _core
from annudf._arrays import ELEMENT_OF_DTYPE, Device, View
from annudf._devices import backends, transfer
from annudf._metric import nan as _nan
from annudf._metric.metric import Metric
from annudf._support.checks import check_bool, check_whole, refusal, renamed
from annudf._support.log import logger
from annudf.common import Resources, check_resources
from annudf.errors import ArgumentError, DtypeError, InputError
from annudf.filters._bits import check_filter
from annudf.filters._generations import with_bits
from annudf.ivf_flat._goal import core_goal
from annudf.ivf_flat._index import Index, array_at_fault, check_index
from annudf.ivf_flat._rows import check_entries
from annudf.ivf_flat._search_params import SearchParams, check_params
from annudf.ivf_flat._stats import stats_of

if TYPE_CHECKING:
    from annudf._core import Filter as CoreFilter
    from annudf._core import SearchStats

_T = TypeVar("_T")


@overload
def search(
    search_params: SearchParams,
    index: Index,
    queries: npt.NDArray[Any],
    k: float,
    neighbors: npt.NDArray[np.int64] | None = None,
    distances: npt.NDArray[np.float32] | None = None,
    resources: Resources | None = None,
    filter: Any = None,
    *,
    group_by: Any = None,
    return_stats: Literal[False] = False,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]: ...


@overload
def search(
    search_params: SearchParams,
    index: Index,
    queries: Any,
    k: float,
    neighbors: Any = None,
    distances: Any = None,
    resources: Resources | None = None,
    filter: Any = None,
    *,
    group_by: Any = None,
    return_stats: Literal[False] = False,
) -> tuple[Any, Any]: ...


@overload
def search(
    search_params: SearchParams,
    index: Index,
    queries: Any,
    k: float,
    neighbors: Any = None,
    distances: Any = None,
    resources: Resources | None = None,
    filter: Any = None,
    *,
    group_by: Any = None,
    return_stats: bool,
) -> tuple[Any, ...]: ...


def search(
    search_params: SearchParams,
    index: Index,
    queries: Any,
    k: float,
    neighbors: Any = None,
    distances: Any = None,
    resources: Resources | None = None,
    filter: Any = None,
    *,
    group_by: Any = None,
    return_stats: bool = False,
) -> tuple[Any, ...]:
    """Finds the `k` best rows for each query among the rows of its `n_probes` best lists.

    Parameters
    ----------
    search_params : SearchParams
    index : Index
    queries : array of shape (n_queries, dim)
        Queries of the index's dtype or of another that the metric accepts, such as float32 for an index of uint8: both
        are converted to the metric's ``dtype``. Host arrays (NumPy, PyTorch) are searched on the CPU, unless
        `resources` names a device. Device arrays (CuPy, PyTorch, ``__cuda_array_interface__``, DLPack) are searched on
        their device. Host arrays must be finite. Arrays that are not C-contiguous are copied. An index of bits takes
        :class:`annudf.PackedBits`, uint8 of shape (n_queries, dim / 8), or numbers that the metric accepts, one for
        each bit.
    k : int
        Number of neighbours, from 1 to the number of rows of the index.
    neighbors : array of shape (n_queries, k), optional
        The ids are written here, and the array is returned. int64, C-contiguous, writable, on the device of the
        queries.
    distances : array of shape (n_queries, k), optional
        The same for the distances, of float32.
    resources : Resources, optional
        Stream, or device for host arrays.
    filter : Filter or array of bool of shape (n_ids,), optional
        The rows that may be found: a filter of :mod:`annudf.filters`, a function decorated with :func:`filter`, a
        combination of them by ``&``, ``|`` and ``~``, or an array with one entry for every id of the index. Scans skip
        groups of 32 or more rows that do not pass, so selective filters make a search faster; matrix products compute
        all rows. An array is copied and packed in every call. A Prefilter is copied to a device once. The bits of a
        function are computed once for an index.
    group_by : str or array of int of shape (n_ids,), optional
        The group of each row, such as the document of a passage: a column of integers of the index, or an array with
        one entry for every id, which each search reads. The results are then the best rows of the `k` best groups, one
        row each.
    return_stats : bool, default False
        Whether to return statistics as a third result: the kernels and the reason for them, the lists and rows scanned,
        the share of rows that pass the filter, and the missing results. Counting rows takes a little time.

    Returns
    -------
    distances : array of shape (n_queries, k)
        float32, the best first.
    neighbors : array of shape (n_queries, k)
        int64 ids. If fewer than `k` scanned rows pass the filter, the remaining results have the id -1 and the worst
        distance (inf for order "min", -inf for "max"). A row whose distance is NaN is never found; `on_nan` of the
        parameters says what happens then.

        Both arrays belong to the library of the queries (NumPy, CuPy, PyTorch), else :class:`annudf.device_ndarray`.
    stats : SearchStats
        Only with ``return_stats=True``.

    Raises
    ------
    DtypeError, DeviceError, CaptureError, ArgumentError
        An argument cannot be used; the message names it.
    CompileError
        The metric breaks a rule; the message has file and line.
    UnavailableError
        A driver, library or memory is missing.
    NaNDistanceError
        A distance is NaN, with ``on_nan="raise"``. `neighbors` and `distances` hold the other results.
    KeyboardInterrupt
        Ctrl-C. The content of `neighbors` and `distances` is unspecified.

    Notes
    -----
    With device arrays the call returns before the search is done, unless `max_probes`, `group_by` or `refine` is given.
    The search is enqueued on the stream of `resources`, else on the current stream of the library of the queries. Later
    work on that stream sees the results, and the arrays are kept alive until then. Only the first search with a metric,
    an element type and an index in a process compiles, links, and copies the index to the device.

    Examples
    --------
    >>> import numpy as np
    >>> from annudf import ivf_flat
    >>> dataset = np.eye(4, dtype=np.float32)
    >>> index = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), dataset)
    >>> distances, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=2), index, dataset[2:3], 1)
    >>> distances, neighbors
    (array([[0.]], dtype=float32), array([[2]]))
    """
    place, k, n_probes, metric, rows, device, stream = checked(search_params, index, queries, k, resources)
    core = index._core
    shape = (rows.shape[0], k)
    given = distances is not None or neighbors is not None
    distances, distances_view = result_array(distances, "distances", rows, shape, "float32", stream)
    neighbors, neighbors_view = result_array(neighbors, "neighbors", rows, shape, "int64", stream)
    views = (rows, distances_view, neighbors_view)
    if given:
        refuse_shared(rows, distances_view, neighbors_view)
    asked = check_filter(filter, place)  # Which copies it, so after all that costs nothing to check.
    check_entries(index, metric, asked)
    goal, groups = core_goal(search_params, group_by, place)
    for out, name in ((distances_view, "distances"), (neighbors_view, "neighbors")):
        if groups is not None and _arrays.overlaps(out, groups):
            raise ArgumentError(f"arguments '{name}' and 'group_by' share memory; give another array")
    artifact, captures = metric.prepare(device, core, rows)
    on_host = rows.device.kind == "cpu"
    there = neighbors_view if on_host else None
    return_stats, name = check_bool(return_stats, "return_stats"), search_params.name_for(index)
    if rows.shape[0] == 0 or captures is None:
        none = stats_of(None, name, index, n_probes, there)
        return (distances, neighbors, none) if return_stats else (distances, neighbors)
    phase = _second_phase(search_params, index, rows, device)
    engine = backends.backend(device)
    family = search_params.family or ""
    counts = return_stats or logger.isEnabledFor(logging.DEBUG)
    waits, count_pairs = search_params.on_nan == "raise", search_params.on_nan != "skip"
    arguments = (
        index._core,
        artifact,
        captures,
        rows.address,
        rows.shape[0],
        rows.shape[1],
        ELEMENT_OF_DTYPE[rows.dtype],
        k,
        n_probes,
        neighbors_view.address,
        distances_view.address,
    )

    def searched(chosen: CoreFilter | None) -> Any:
        return run(
            lambda there: (
                engine.search(*arguments, None, chosen, family, counts, True, counts, goal, phase, search_params._lists)
                if there is None
                else engine.search(*arguments, there, chosen, family, waits, count_pairs, counts, goal, phase)
            ),
            views,
            device,
            stream,
            place,
            "queries",
        )

    cost = with_bits(asked, core, device, rows.shape[0], searched)
    del groups  # Which the core has read.
    tell_cost(cost, metric, device)
    told_of = transfer.to_host(rows, "queries", place) if waits and cost.nan_distances else rows
    _nan.tell(cost, search_params.on_nan, metric, core, told_of, earlier=told_of.device.kind == "cuda")
    if phase is not None and search_params.refine is not None:
        second = search_params.refine.chosen()
        tell_cost(phase.stats, second, device)
        _nan.tell(phase.stats, search_params.on_nan, second, core, told_of, earlier=told_of.device.kind == "cuda")
    if not return_stats:
        return distances, neighbors
    return distances, neighbors, stats_of(cost, name, index, n_probes, there, on_host or waits)


def _second_phase(search_params: SearchParams, index: Index, rows: View, device: Device) -> _core.SecondPhase | None:
    """What ranks the rows that the search's metric finds for at least one query, if something does."""
    if search_params.refine is None:
        return None
    metric = search_params.refine.chosen()
    if rows.dtype not in (accepted := metric.query_dtypes(index.dtype_name)):
        raise DtypeError(
            f"metric '{metric.name}' of refine does not accept queries of {rows.dtype}; give {' or '.join(accepted)}"
        )
    check_entries(index, metric)
    artifact, captures = metric.prepare(device, index._core, rows)
    assert captures is not None  # Bound for a query at least.
    return _core.SecondPhase(artifact, captures, search_params.refine.ratio)


class Checked(NamedTuple):
    """What a search and a prepared one make of their arguments."""

    place: Resources
    k: int
    n_probes: int
    metric: Metric
    rows: View
    device: Device
    stream: int


def checked(search_params: SearchParams, index: Index, queries: Any, k: float, resources: Resources | None) -> Checked:
    """The arguments of a search, but for its results and its filter; an exception names what cannot be used."""
    check_params(search_params)
    core = check_index(index)._core
    place = check_resources(resources).over(index._team)
    whole = check_k(k, core.size)
    metric = search_params.metric_for(index)
    accepted = metric.query_dtypes(index.dtype_name)
    rows = _arrays.input_matrix(
        queries, "queries", accepted=accepted, dims=core.dims, stream=place.stream, packed=index.packed
    )
    device = place.place(rows.device, "argument 'queries'")
    stream = transfer.working_stream(rows, place) if rows.device.kind == "cuda" else 0
    return Checked(place, whole, search_params.n_probes, metric, rows, device, stream)


def tell_cost(stats: SearchStats, metric: Metric, device: Device) -> None:
    """Logs what a search had to make first, and of one on a CPU what it computed."""
    if stats.links or stats.disk_hits:
        backends.tell_link(metric.name, device, stats)
    if stats.upload_ms:
        logger.debug("index copied to %s in %.1f ms", device, stats.upload_ms)
    if stats.rows_per_query:
        logger.debug(
            "metric %s searched by %s in %.3f ms: of %.1f rows a query %.1f computed by the metric (%.2f %%)%s",
            metric.name,
            stats.family,
            stats.search_ms,
            stats.rows_per_query,
            stats.evaluated_per_query,
            stats.evaluated_per_query / stats.rows_per_query * 100,
            "" if stats.passing_share == 1 else f", {stats.passing_share * 100:.3g} % of rows pass the filter",
        )


_ANY = 2**63 - 1


def check_k(k: object, rows: int = _ANY, name: str = "k") -> int:
    """The number of neighbours of a search of so many rows, as the core allows it; `name` is what the caller gives."""
    number = k if type(k) is int else check_whole(k, name)
    if not -_ANY <= number <= _ANY:
        raise refusal(name, number, "an integer of 64 bits")
    try:
        _core.check_k(number, rows)
    except ArgumentError as error:
        raise renamed(error, {"k": name}) from None
    return number


def refuse_shared(queries: View, distances: View, neighbors: View, ids: str = "neighbors") -> None:
    """Refuses results that would be written over each other or over the queries; `ids` is what the caller gives."""
    if _arrays.overlaps(distances, neighbors):
        raise ArgumentError(f"arguments 'distances' and '{ids}' share memory; give two arrays")
    for one, name in ((distances, "distances"), (neighbors, ids)):
        if _arrays.overlaps(one, queries):
            raise ArgumentError(f"arguments '{name}' and 'queries' share memory; give another array")


def run(
    call: Callable[[int | None], _T],
    views: tuple[View, ...],
    device: Device,
    stream: int,
    place: Resources,
    name: str,
) -> _T:
    """Makes the call where the queries are, the first of `views`: it is given the stream, None in host memory.

    On a device that is in the stream's order, and arrays are kept alive. `name` is what the queries are called in
    messages.
    """
    try:
        if views[0].device.kind == "cpu":
            return call(None)
        for one in views:
            backends.order_after(one, stream)
        try:
            result = call(stream)
        except BaseException:
            # What was enqueued before it failed will still run.
            with contextlib.suppress(Exception):
                _keep(device, stream, views, place)
            raise
        _keep(device, stream, views, place)
        return result
    except InputError as error:
        raise array_at_fault(error, name) from None


def _keep(device: Device, stream: int, views: tuple[View, ...], place: Resources) -> None:
    """Keeps arrays alive until the work that is on the stream is done."""
    place.note(device, stream)
    backends.hold(device, stream, *(view.owner for view in views), *(view.source for view in views))


def result_array(
    given: Any, name: str, like: View, shape: tuple[int, ...], dtype: str, stream: int
) -> tuple[Any, View]:
    """The array that results are written to, `given` or a new one in the library of `like`, and its view."""
    if given is None:
        return transfer.empty_like_library(like, shape, dtype, stream)
    seen = _arrays.output(given, name, shape=shape, dtype=dtype, device=like.device, stream=stream or None)
    return given, seen
