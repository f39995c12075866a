# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A search that is checked once and called again and again."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from annudf import _arrays
from annudf._arrays import CPU, ELEMENT_OF_DTYPE, Device, PackedBits, View
from annudf._arrays.plain import Address, plain_library
from annudf._devices import backends
from annudf._metric import nan as _nan
from annudf._support.checks import check_bool
from annudf._support.repr import of_whole
from annudf.common import Resources
from annudf.errors import ArgumentError, CaptureError, DeviceError, InputError
from annudf.filters._bits import check_filter
from annudf.filters._generations import with_bits
from annudf.ivf_flat._goal import refuse_goal
from annudf.ivf_flat._index import Index, array_at_fault
from annudf.ivf_flat._rows import check_entries
from annudf.ivf_flat._search import Checked, checked, refuse_shared, result_array, tell_cost
from annudf.ivf_flat._search_params import SearchParams
from annudf.ivf_flat._stats import stats_of

if TYPE_CHECKING:
    from annudf import _core
    from annudf._metric.metric import Metric


def prepare(
    search_params: SearchParams,
    index: Index,
    queries: Any,
    k: float,
    resources: Resources | None = None,
    filter: Any = None,
) -> PreparedSearch:
    """Checks, compiles, links and copies once, for many calls with few queries each.

    Parameters
    ----------
    search_params, index, k, filter
        As for :func:`search`.
    queries : array of shape (n_queries, dim)
        An example: the queries of all calls must have its shape, dtype and device. Calls with arrays of its library are
        the fastest. Its values do not matter. It has at least one row.
    resources : Resources, optional
        Stream of all calls. Default: the stream of the library of `queries` that is current now.

    Returns
    -------
    PreparedSearch
        A function of the queries.

    Raises
    ------
    DtypeError, DeviceError, CaptureError, ArgumentError
        An argument cannot be used; the message names it.
    CompileError
        The metric or the filter breaks a rule; the message has file and line.
    UnavailableError
        A driver, library or memory is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from annudf import ivf_flat
    >>> dataset = np.eye(4, dtype=np.float32)
    >>> index = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), dataset)
    >>> nearest = ivf_flat.prepare(ivf_flat.SearchParams(n_probes=2), index, dataset[:1], 1)
    >>> nearest(dataset[2:3])
    (array([[0.]], dtype=float32), array([[2]]))
    """
    found = checked(search_params, index, queries, k, resources)
    refuse_goal(search_params, "prepare")
    rows, device = found.rows, found.device
    if rows.shape[0] == 0:
        raise ArgumentError(f"argument 'queries' has shape {rows.shape}: no rows; give at least one")
    if device.team:
        raise DeviceError(f"a prepared search runs on one device, not on {device}; call search()")
    if device != rows.device:
        raise DeviceError(
            f"argument 'queries' is on {rows.device} and resources ask for {device}; a prepared search reads queries "
            "where they are: give an array on the device, or call search()"
        )
    asked = check_filter(filter, found.place)
    check_entries(index, found.metric, asked)
    if found.metric.prepares_queries(found.metric._artifact_for(device)):
        raise CaptureError(
            f"metric '{found.metric.name}' needs a value of each query before the search, which a prepared search does "
            "not compute; call search()"
        )
    artifact, captures = found.metric.prepare(device, index._core, rows)
    assert captures is not None  # Bound for a query at least.
    engine, bound = backends.backend(device), captures
    try:
        made, stats = with_bits(
            asked,
            index._core,
            device,
            rows.shape[0],
            lambda chosen: engine.prepare(
                index._core,
                artifact,
                bound,
                rows.shape[0],
                rows.shape[1],
                ELEMENT_OF_DTYPE[rows.dtype],
                found.k,
                found.n_probes,
                None if device == CPU else found.stream,
                chosen,
                search_params.family or "",
                search_params.on_nan != "skip",
            ),
        )
    except InputError as error:  # A family that cannot run it.
        raise array_at_fault(error, "queries") from None
    tell_cost(stats, found.metric, device)
    return PreparedSearch(made, index, found, search_params, stats)


class _Kept(NamedTuple):
    """What keeps given arrays of a run alive; their addresses where nothing else can be there meanwhile."""

    addresses: tuple[int, int, int] | None
    owners: tuple[object, ...]


class _Running:
    """The core's search, and what its runs use; a call holds it, so that it ends with the last of them."""

    __slots__ = ("core", "kept", "last")

    def __init__(self, core: _core.Prepared) -> None:
        self.core: _core.Prepared | None = core
        self.last = _Kept(None, ())
        self.kept: deque[_Kept] = deque()

    def __del__(self) -> None:
        self.core = None  # Waits for the last run; the stream may be gone.
        self.kept.clear()

    def run(self, queries: int, ids: int, distances: int, told: bool = False) -> _core.SearchStats | None:
        """Runs; an exception names the argument or what else is wrong."""
        try:
            return self.core.run(queries, ids, distances, told)  # type: ignore[union-attr]
        except InputError as error:
            raise array_at_fault(error, "queries") from None
        except ArgumentError as error:
            # The core names its function first where the fault is in no argument.
            raise ArgumentError(str(error).removeprefix("annudf_ivf_flat_prepared_run: ")) from None

    def run_on(self, device: Device, stream: int, addresses: tuple[int, int, int], kept: _Kept) -> None:
        """Runs on the stream; what is kept lives until the run is done, also where it failed halfway."""
        try:
            self.run(*addresses)
        finally:
            # Without a lock, which a signal's handler might wait for in vain: whoever finds two lets one go, and that
            # after the last run with it was enqueued, or it is put in anew behind that.
            if not self.kept or self.kept[-1] is not kept:
                self.kept.append(kept)
                self.last = kept
            while len(self.kept) > 1:
                try:
                    before = self.kept.popleft()
                except IndexError:  # Another thread did it.
                    break
                backends.hold(device, stream, *before.owners)


class PreparedSearch:
    """A search that was checked once, made by :func:`prepare`. Calling it searches.

    It keeps index, metric, captures, filter and stream as they were when it was made. It refuses to search after the
    index was extended or lost rows. Several threads may call it at once; on a GPU their searches run one after the
    other.

    Notes
    -----
    A call checks only addresses, shapes, types and order of its arrays. This holds for arrays of the library that it
    was prepared with; for device arrays the library's current stream must also be the stream of the search. Other
    arrays that :func:`search` accepts work too, and cost as much as in a search.

    On a GPU a call returns before the search is done. The arrays of the last call are kept until a call with other
    arrays, or until :meth:`close`. On a CPU Ctrl-C takes effect after the call.
    """

    def __init__(
        self,
        core: _core.Prepared,
        index: Index,
        found: Checked,
        search_params: SearchParams,
        cost: _core.SearchStats,
    ) -> None:
        self._on_nan: _nan.OnNaN = search_params.on_nan
        self._name, self._asked, self._cost = search_params.name_for(index), found.n_probes, cost
        rows, k = found.rows, found.k
        self._shape = replace(rows, owner=None, source=None)  # Those of the calls come later.
        self._index, self._metric = index, found.metric
        self._place, self._device, self._stream = found.place, found.device, found.stream
        self._rows = rows.shape[0]
        self._dtype, self._n_probes = rows.dtype, min(found.n_probes, index.n_lists)  # As the core reads it.
        self._results = (rows.shape[0], k)
        self._bytes = (rows.nbytes, rows.shape[0] * k * 8, rows.shape[0] * k * 4)
        self._bare_bits = index.packed and rows.dtype == "bits"  # Its queries need no PackedBits.
        self._on_gpu = found.device.kind == "cuda"
        self._plain = plain_library(rows, found.stream)
        self._queries_at, self._neighbors_at, self._distances_at = self._askers(rows)
        self._running: _Running | None = _Running(core)

    def _askers(self, rows: View) -> tuple[Address, Address, Address]:
        plain = self._plain
        if plain is None:
            return (lambda _: 0,) * 3
        shape = (rows.shape[0], rows.shape[1] // 8) if rows.dtype == "bits" else rows.shape
        queries_at = plain.address_of(shape, rows.dtype, False)

        def bits_at(queries: Any) -> int:
            if type(queries) is PackedBits:
                return queries_at(queries.array)
            return queries_at(queries) if self._bare_bits else 0

        return (
            bits_at if rows.dtype == "bits" else queries_at,
            plain.address_of(self._results, "int64", True),
            plain.address_of(self._results, "float32", True),
        )

    @property
    def index(self) -> Index:
        """The index that is searched."""
        return self._index

    @property
    def metric(self) -> Metric:
        """The metric that ranks the rows."""
        return self._metric

    @property
    def shape(self) -> tuple[int, int]:
        """The number of queries and their dimensions."""
        return self._rows, self._index.dim

    @property
    def dtype_name(self) -> str:
        """Element type of the queries, by its name."""
        return self._dtype

    @property
    def k(self) -> int:
        """Neighbours of a query."""
        return self._results[1]

    @property
    def n_probes(self) -> int:
        """Number of lists that are scanned for a query."""
        return self._n_probes

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._running is None

    def __call__(
        self, queries: Any, neighbors: Any = None, distances: Any = None, *, return_stats: bool = False
    ) -> tuple[Any, ...]:
        """Finds the `k` best rows for each query.

        Parameters
        ----------
        queries : array of shape (n_queries, dim)
            An array of the shape, dtype and device that the search was prepared for; else as for :func:`search`.
        neighbors, distances : array of shape (n_queries, k), optional
            As for :func:`search`. Calls are faster with both, and on a GPU with the same arrays in each call.
        return_stats : bool, default False
            Whether to return statistics, as for :func:`search`, but without counts of rows.

        Returns
        -------
        distances, neighbors : array of shape (n_queries, k)
            As of :func:`search`.
        stats : SearchStats
            Only with ``return_stats=True``. On a GPU the choice of :func:`prepare`, because the search is not done yet.

        Raises
        ------
        DtypeError, DeviceError, ArgumentError
            An array cannot be used, the index was extended or lost rows since the search was prepared, or the search
            is closed.
        """
        running = self._running
        if running is None:
            raise ArgumentError("the prepared search is closed; prepare another")
        if return_stats is not False:
            check_bool(return_stats, "return_stats")
        plain = self._plain
        rows = self._queries_at(queries)
        if not rows or plain is None or not plain.in_order():
            return self._search_any(running, queries, neighbors, distances, return_stats)
        # What is made here comes from the library's pool for this stream, which hands it out there alone: it needs no
        # keeping, and its address is 0 among those of what is kept.
        given_ids = ids = self._neighbors_at(neighbors) if neighbors is not None else 0
        given_values = values = self._distances_at(distances) if distances is not None else 0
        if neighbors is None:
            neighbors = plain.empty(self._results, "int64")
            ids = self._neighbors_at(neighbors)
        elif not ids:
            return self._search_any(running, queries, neighbors, distances, return_stats)
        if distances is None:
            distances = plain.empty(self._results, "float32")
            values = self._distances_at(distances)
        elif not values:
            return self._search_any(running, queries, neighbors if given_ids else None, distances, return_stats)
        of_rows, of_ids, of_values = self._bytes
        if (
            (ids < values + of_values and values < ids + of_ids)
            or (ids < rows + of_rows and rows < ids + of_ids)
            or (values < rows + of_rows and rows < values + of_values)
        ):
            return self._search_any(running, queries, neighbors, distances, return_stats)
        if not self._on_gpu:
            stats = running.run(rows, ids, values, return_stats)
            self._tell_of_nan(stats, rows)
            return self._results_of(distances, neighbors, stats, return_stats)
        addresses = (rows, given_ids, given_values)
        kept = running.last
        if kept.addresses != addresses:
            bits = type(queries) is PackedBits
            arrays = [(queries.array if bits else queries, rows), (neighbors, given_ids), (distances, given_values)]
            kept = _Kept(addresses, tuple(plain.keeper(array) for array, given in arrays if given))
        self._place.note(self._device, self._stream)
        running.run_on(self._device, self._stream, (rows, ids, values), kept)
        self._tell_of_nan(self._stats_of_device(running), rows)
        return self._results_of(distances, neighbors, None, return_stats)

    def _results_of(
        self, distances: Any, neighbors: Any, cost: _core.SearchStats | None, return_stats: bool
    ) -> tuple[Any, ...]:
        """What a call returns; `cost` is None on a GPU."""
        if not return_stats:
            return distances, neighbors
        on_host = cost is not None
        there = _arrays.view(neighbors, "neighbors") if on_host else None
        stats = stats_of(cost or self._cost, self._name, self._index, self._asked, there, on_host)
        link_ms = cost.link_ms if cost else 0.0  # A GPU's runs find everything linked.
        return distances, neighbors, replace(stats, link_ms=link_ms, rows_per_query=None, evaluated_per_query=None)

    def _stats_of_device(self, running: _Running) -> _core.SearchStats | None:
        """Statistics of finished runs of any thread; of earlier runs only, unless NaN is to raise."""
        if self._on_nan == "skip":
            return None
        if self._on_nan == "raise":
            backends.backend(self._device).synchronize(self._stream)
        return running.core.stats()  # type: ignore[union-attr]

    def _tell_of_nan(self, stats: _core.SearchStats | None, queries: int) -> None:
        if stats is not None and stats.nan_distances:
            rows = replace(self._shape, address=queries)
            earlier = self._on_gpu and self._on_nan != "raise"
            _nan.tell(stats, self._on_nan, self._metric, self._index._core, rows, earlier=earlier)

    def _search_any(
        self, running: _Running, queries: Any, neighbors: Any, distances: Any, return_stats: bool
    ) -> tuple[Any, ...]:
        """As a search does it: looks at everything, copies what is not contiguous, and says what is wrong."""
        stream = self._stream if self._on_gpu else None
        rows = _arrays.input_matrix(
            queries,
            "queries",
            accepted=(self._dtype,),
            dims=self._index.dim,
            stream=stream,
            packed=self._bare_bits,
        )
        if rows.shape[0] != self._rows:
            raise ArgumentError(f"argument 'queries' has {rows.shape[0]} rows, the search is prepared for {self._rows}")
        if rows.device != self._device:
            raise DeviceError(f"argument 'queries' is on {rows.device}, the search is prepared for {self._device}")
        distances, values = result_array(distances, "distances", rows, self._results, "float32", self._stream)
        neighbors, ids = result_array(neighbors, "neighbors", rows, self._results, "int64", self._stream)
        refuse_shared(rows, values, ids)
        addresses = (rows.address, ids.address, values.address)
        if not self._on_gpu:
            stats = running.run(*addresses, return_stats)
            self._tell_of_nan(stats, rows.address)
            return self._results_of(distances, neighbors, stats, return_stats)
        views = (rows, values, ids)
        for one in views:
            backends.order_after(one, self._stream)
        owners = (*(one.owner for one in views), *(one.source for one in views))
        self._place.note(self._device, self._stream)
        running.run_on(self._device, self._stream, addresses, _Kept(None, owners))
        self._tell_of_nan(self._stats_of_device(running), rows.address)
        return self._results_of(distances, neighbors, None, return_stats)

    def close(self) -> None:
        """Releases everything, on a GPU after the last search; later calls are refused."""
        self._running = None

    def __enter__(self) -> PreparedSearch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a prepared search cannot be copied or pickled; prepare one where it is called")

    @of_whole("_running")
    def __repr__(self) -> str:
        state = ", closed" if self.closed else ""
        return (
            f"PreparedSearch(metric={self._metric.name!r}, shape={self.shape}, dtype={self._dtype}, "
            f"device={self._device}, k={self.k}, n_probes={self._n_probes}{state})"
        )
