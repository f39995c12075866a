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
from annudf._core import DEFAULT_N_PROBES, MAX_K, MAX_LISTS
from annudf._devices import backends, transfer
from annudf._metric import nan as _nan
from annudf._metric.builtin import DEFAULT_ARGUMENT, check_metric, chosen_metric
from annudf._metric.metric import Metric, MetricSource
from annudf._support.checks import check_bool, check_int, check_name, check_number, check_whole, refusal, renamed, shown
from annudf._support.log import logger
from annudf._support.options import MetricName
from annudf._support.repr import of_whole
from annudf.common import Resources, check_resources
from annudf.errors import ArgumentError, InputError
from annudf.filters._bits import check_filter
from annudf.filters._generations import with_bits
from annudf.ivf_flat._goal import core_goal
from annudf.ivf_flat._index import Index, array_at_fault, check_index
from annudf.ivf_flat._params import Parameters
from annudf.ivf_flat._rows import check_entries
from annudf.ivf_flat._stats import stats_of

if TYPE_CHECKING:
    from annudf._core import Filter as CoreFilter
    from annudf._core import SearchStats

_T = TypeVar("_T")


class SearchParams(Parameters):
    """How to search; names and defaults are those of cuVS and of its proof of concept.

    Parameters
    ----------
    n_probes : int, default 20
        Number of lists that a query scans. A number above that of the index scans all of them, as in cuVS.
    metric : Metric or str, optional
        Ranks the rows: a function decorated with :func:`metric`, a name of :mod:`annudf.metrics` such as "canberra",
        or an :class:`annudf.DeviceUDF`, which is compiled now. Default: the metric of the index.
    metric_arg : float, default 2.0
        The exponent of "minkowski". With another metric any other value is refused.
    max_probes : int, optional
        A query that found fewer than `k` rows, or than `min_rows`, searches twice its lists, again and again, up to so
        many; ``index.n_lists`` is all of them. At least `n_probes`. For filters that few rows pass: a query finds what
        it would have found with the number of lists that it ended with. Default: queries do not go on.
    min_rows : int, optional
        Number of rows that a query must find before it stops, though it returns the `k` best alone: more rows give a
        better recall. Only with `max_probes`. Default: `k`.
    family : str, optional
        The kernels to run, by the name that :class:`SearchStats` and ``annudf search --stats`` show: "groups" or
        "matrix" on a CPU, "pairs", "tiles" and others on a GPU. A search that they cannot run is refused, and the
        message says why. Default: the planner chooses the fastest. Results do not depend on the kernels, except for the
        last digits of "parts".
    on_nan : {"warn", "raise", "skip"}, default "warn"
        What to do if distances are NaN. Their rows are never found. "warn" gives a :class:`NaNDistanceWarning`, once
        for each metric, if more than 0.1 % are NaN; with device arrays a later search gives it. "raise" raises
        :class:`NaNDistanceError` for a single one; a search of device arrays then waits. "skip" does nothing, and
        searches of device arrays do not count NaN.

    Raises
    ------
    ArgumentError
        A value cannot be used.
    """

    def __init__(
        self,
        *,
        n_probes: float = DEFAULT_N_PROBES,
        metric: Metric | MetricSource | MetricName | None = None,
        metric_arg: float = DEFAULT_ARGUMENT,
        max_probes: float | None = None,
        min_rows: float | None = None,
        family: str | None = None,
        on_nan: _nan.OnNaN = "warn",
    ) -> None:
        self._on_nan = _nan.check_on_nan(on_nan)
        # What names there are the backend knows, which the search chooses.
        self._family = None if family is None else check_name(family, "family", "a family of kernels")
        self._n_probes = check_int(n_probes, "n_probes", 1, MAX_LISTS)
        self._max_probes = None if max_probes is None else check_int(max_probes, "max_probes", 1, MAX_LISTS)
        if self._max_probes is not None and self._max_probes < self._n_probes:
            raise ArgumentError(f"max_probes is {self._max_probes}, n_probes is {self._n_probes}; give no fewer")
        self._min_rows = None if min_rows is None else check_int(min_rows, "min_rows", 1, MAX_K)
        if self._min_rows is not None and self._max_probes is None:
            raise ArgumentError(f"min_rows is {self._min_rows}, but max_probes is None; give max_probes, too")
        self._metric: Metric | str | None = None
        self._metric_arg = DEFAULT_ARGUMENT
        if metric is not None:
            self._metric, self._metric_arg = check_metric(metric, metric_arg)
        elif check_number(metric_arg, "metric_arg") != DEFAULT_ARGUMENT:
            raise ArgumentError(f"metric_arg is {shown(metric_arg)}, which is for metric='minkowski'; give both")

    @property
    def n_probes(self) -> int:
        """Number of lists that are scanned for a query."""
        return self._n_probes

    @property
    def max_probes(self) -> int | None:
        """The most lists that are scanned for a query; None: `n_probes`."""
        return self._max_probes

    @property
    def min_rows(self) -> int | None:
        """Number of rows that a query must find before it stops; None: `k`."""
        return self._min_rows

    @property
    def metric(self) -> Metric | str | None:
        """As given."""
        return self._metric

    @property
    def metric_arg(self) -> float:
        """The exponent of "minkowski"."""
        return self._metric_arg

    @property
    def family(self) -> str | None:
        """The kernels to run, as given."""
        return self._family

    @property
    def on_nan(self) -> _nan.OnNaN:
        """What to do where distances are NaN."""
        return self._on_nan

    def metric_for(self, index: Index) -> Metric:
        """What rows of the index are ranked by."""
        return chosen_metric(self._metric or index.metric, self._metric_arg)

    def name_for(self, index: Index) -> str:
        """What that is called, by the name that was given."""
        metric = self._metric or index.metric
        return metric if isinstance(metric, str) else metric.name

    @of_whole("_metric_arg")
    def __repr__(self) -> str:
        metric = "" if self._metric is None else f", metric={self._metric!r}"
        argument = "" if self._metric_arg == DEFAULT_ARGUMENT else f", metric_arg={self._metric_arg!r}"
        wide = "" if self._max_probes is None else f", max_probes={self._max_probes}"
        wide += "" if self._min_rows is None else f", min_rows={self._min_rows}"
        family = "" if self._family is None else f", family={self._family!r}"
        on_nan = "" if self._on_nan == "warn" else f", on_nan={self._on_nan!r}"
        return f"SearchParams(n_probes={self._n_probes}{metric}{argument}{wide}{family}{on_nan})"


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
        one entry for every id. The results are then the best rows of the `k` best groups, one row each.
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
    With device arrays the call returns before the search is done, unless `max_probes` or `group_by` is given. It is
    enqueued on the stream of `resources`, else on the current stream of the library of the queries. Later work on that
    stream sees the results, and the arrays are kept alive until then. Only the first search with a metric, an element
    type and an index in a process compiles, links, and copies the index to the device.

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
    artifact, captures = metric.prepare(device, core, rows.shape[0])
    on_host = rows.device.kind == "cpu"
    there = neighbors_view if on_host else None
    return_stats, name = check_bool(return_stats, "return_stats"), search_params.name_for(index)
    if rows.shape[0] == 0 or captures is None:
        none = stats_of(None, name, index, n_probes, there)
        return (distances, neighbors, none) if return_stats else (distances, neighbors)
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
                engine.search(*arguments, None, chosen, family, counts, True, counts, goal)
                if there is None
                else engine.search(*arguments, there, chosen, family, waits, count_pairs, counts, goal)
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
    if not return_stats:
        return distances, neighbors
    return distances, neighbors, stats_of(cost, name, index, n_probes, there, on_host or waits)


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
    place = check_resources(resources)
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


def check_params(search_params: object) -> None:
    """Refuses what is no SearchParams."""
    if not isinstance(search_params, SearchParams):
        raise ArgumentError(f"search_params is a {type(search_params).__name__}, it must be an ivf_flat.SearchParams")


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
