# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Candidates of another index, ranked again by a metric."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from annudf import _arrays
from annudf._arrays import CPU, ELEMENT_OF_DTYPE, View
from annudf._devices import backends, transfer
from annudf._metric import nan as _nan
from annudf._metric.builtin import DEFAULT_ARGUMENT, check_metric, chosen_metric
from annudf._metric.metric import Metric, MetricSource
from annudf._metric.rows import entries_by_row
from annudf._support.checks import check_bool, renamed
from annudf._support.log import logger
from annudf._support.options import MetricName
from annudf.common import Resources, check_resources
from annudf.errors import ArgumentError, CaptureError, DeviceError
from annudf.filters._bits import Filter, check_filter
from annudf.filters._code import holds_code
from annudf.filters._generations import with_bits
from annudf.ivf_flat._ids import LARGEST_INT64, first_above_int64
from annudf.ivf_flat._index import Index, in_terms_of, rows_of
from annudf.ivf_flat._rows import check_entries
from annudf.ivf_flat._search import check_k, refuse_shared, result_array, run, tell_cost
from annudf.ivf_flat._stats import stats_of
from annudf.ivf_flat._store import store_rows


@dataclass(frozen=True, slots=True)
class _Rows:
    """A data set as a metric's captures see an index of it: one list, whose ids are the numbers of the rows."""

    element: str
    dims: int
    row_extent: int
    n_lists: int = 1
    generation: int = 0


@dataclass(frozen=True, slots=True)
class _Dataset:
    """The rows that candidates name: an array's by number, or an index's by id."""

    given: View | Index

    @property
    def array(self) -> View | None:
        return None if isinstance(self.given, Index) else self.given

    @property
    def dtype(self) -> str:
        return self.given.dtype_name if isinstance(self.given, Index) else self.given.dtype

    @property
    def seen(self) -> Any:
        """What a metric's captures see."""
        if isinstance(self.given, Index):
            return self.given._core
        return _Rows(ELEMENT_OF_DTYPE[self.given.dtype], self.given.shape[1], self.given.shape[0])

    def queries(self, array: Any, accepted: tuple[str, ...], place: Resources) -> View:
        with self.terms():
            return _arrays.input_matrix(
                array,
                "queries",
                accepted=accepted,
                dims=self.seen.dims,
                stream=place.stream,
                packed=self.dtype == "bits",
            )

    def check_entries(self, metric: Metric, filter: Filter | None) -> None:
        if isinstance(self.given, Index):
            check_entries(self.given, metric, filter)
        else:
            _check_entries(metric, filter, self.given.shape[0])

    def for_core(self, place: Resources) -> Any:
        if isinstance(self.given, Index):
            return self.given._core
        return _matrix(self.given, _ready(self.given, "dataset", place))

    @contextlib.contextmanager
    def terms(self) -> Iterator[None]:
        """Errors of the core as the caller of :func:`refine` knows its arguments."""
        if not isinstance(self.given, Index):
            with in_terms_of("dataset"):
                yield
            return
        try:
            yield
        except ArgumentError as error:
            raise renamed(error, {"index": "dataset"}, type(error)) from None


def refine(
    dataset: Any,
    queries: Any,
    candidates: Any,
    k: float | None = None,
    indices: Any = None,
    distances: Any = None,
    metric: Metric | MetricSource | MetricName = "sqeuclidean",
    resources: Resources | None = None,
    *,
    metric_arg: float = DEFAULT_ARGUMENT,
    filter: Any = None,
    on_nan: _nan.OnNaN = "warn",
    return_stats: bool = False,
) -> tuple[Any, ...]:
    """Finds the `k` best of each query's candidates by any metric; "sqeuclidean" by default, as in cuVS.

    The candidates come from any index or database. The results are those of :func:`annudf.brute_force.knn` among them,
    to the bit.

    Parameters
    ----------
    dataset : array of shape (n_rows, dim), ivf_flat.Index or brute_force.Index
        The rows, of an element type that the metric accepts. On the CPU only candidates are read, so that it may be a
        ``numpy.memmap``; they must be finite, unless the metric takes missing values. A device array stays where it is,
        and its coordinates are not checked. If another array is on a device, or `resources` names one, a host array is
        copied there as a whole. An index gives its own rows and columns, on a device those of its copy there.
    queries : array of shape (n_queries, dim)
        An array of the same dtype, or of another that the metric accepts.
    candidates : array of shape (n_queries, n_candidates)
        Integers, on a device int64: numbers of rows of `dataset`, or ids of an index, or -1 for none. A number that is
        given twice counts once.
    k : int, optional
        At most `n_candidates`. Default: the columns of `indices` or `distances`.
    indices, distances : array of shape (n_queries, k), optional
        Where the row numbers (int64) and distances (float32) are written, on the device of the queries.
    metric : Metric or str, default "sqeuclidean"
        A function decorated with :func:`annudf.metric`, or the name of a built-in metric, whatever an index ranks by.
        ``ctx.row`` is the number of the row in `dataset`, or its id in an index, ``ctx.query`` the number of the query,
        and ``ctx.list`` is 0.
    resources : Resources, optional
        Stream, or device for host arrays. Streams of `dataset` and `candidates` on a device are waited for.
    metric_arg : float, default 2.0
        The exponent of "minkowski". With another metric any other value is refused.
    filter
        As for :func:`annudf.ivf_flat.search`, for the rows of an array by number.
    on_nan : {"warn", "raise", "skip"}, default "warn"
        As for :class:`annudf.ivf_flat.SearchParams`.
    return_stats : bool, default False
        As for :func:`annudf.ivf_flat.search`.

    Returns
    -------
    distances, indices : array of shape (n_queries, k)
        As of :func:`annudf.ivf_flat.search`: the best first, equal distances by row number. With fewer than `k`
        candidates the rest has the number -1 and the worst distance.
    stats : annudf.ivf_flat.SearchStats
        Only with ``return_stats=True``.

    Raises
    ------
    DtypeError, DeviceError, CaptureError, ArgumentError
        An argument cannot be used, or neither `k` nor an array gives the number of neighbours. A candidate that is no
        row is named with its query and column, and an id that several rows of an index have is refused.
    CompileError, UnavailableError, NaNDistanceError, KeyboardInterrupt
        As :func:`annudf.ivf_flat.search`.

    Examples
    --------
    >>> import numpy as np
    >>> import annudf
    >>> dataset = np.array([[0, 0], [3, 0], [0, 1], [2, 2]], np.float32)
    >>> candidates = np.array([[3, 1, 2, -1]])
    >>> annudf.refine(dataset, dataset[:1], candidates, k=2, metric="l1")
    (array([[1., 3.]], dtype=float32), array([[2, 1]]))
    """
    place = check_resources(resources)
    on_nan = _nan.check_on_nan(on_nan)
    chosen = chosen_metric(*(named := check_metric(metric, metric_arg)))
    index = _index_of(dataset)
    passing = check_filter(filter, place)
    if index is None and (chosen.prepares_rows() or holds_code(passing)):
        index = store_rows(dataset, chosen.missing_values, None, resources, in_place=True)
    if index is not None:
        place = place.over(index._team)
    rows = _Dataset(rows_of(dataset, "dataset", place) if index is None else index)
    asked = rows.queries(queries, chosen.query_dtypes(rows.dtype), place)
    given = _candidates(candidates, asked.shape[0], place)
    count = _count(k, indices, distances, given.shape[1])
    arrays = {"dataset": rows.array, "candidates": given, "queries": asked}
    device = _device(place, {name: array for name, array in arrays.items() if array is not None})
    on_host = asked.device == CPU
    stream = 0 if on_host else transfer.working_stream(asked, place)
    shape = (asked.shape[0], count)
    outs = indices is not None or distances is not None
    distances, distances_view = result_array(distances, "distances", asked, shape, "float32", stream)
    indices, indices_view = result_array(indices, "indices", asked, shape, "int64", stream)
    if outs:
        refuse_shared(asked, distances_view, indices_view, "indices")
    return_stats = check_bool(return_stats, "return_stats")
    rows.check_entries(chosen, passing)
    artifact, captures = chosen.prepare(device, rows.seen, asked)
    name = named[0] if isinstance(named[0], str) else chosen.name
    there = indices_view if on_host else None
    if asked.shape[0] == 0 or captures is None:
        none = stats_of(None, name, _ONE_LIST, 1, there)
        return (distances, indices, none) if return_stats else (distances, indices)
    counts = return_stats or logger.isEnabledFor(logging.DEBUG)
    waits = on_nan == "raise"
    engine = backends.backend(device)
    with rows.terms():
        cost = with_bits(
            passing,
            rows.seen,
            device,
            asked.shape[0],
            lambda bits: run(
                lambda on: engine.refine(
                    artifact,
                    captures,
                    rows.for_core(place),
                    _matrix(asked, on),
                    (given.address, given.shape[1], _ready(given, "candidates", place)),
                    count,
                    indices_view.address,
                    distances_view.address,
                    bits,
                    counts if on_host else waits,
                    on_host or on_nan != "skip",
                    counts,
                ),
                (
                    asked,
                    distances_view,
                    indices_view,
                    *(one for one in (rows.array, given) if one and one.device != CPU),
                ),
                device,
                stream,
                place,
                "queries",
            ),
        )
    tell_cost(cost, chosen, device)
    told_of = transfer.to_host(asked, "queries", place) if waits and cost.nan_distances else asked
    core = rows.seen if rows.array is None else None
    _nan.tell(cost, on_nan, chosen, core, told_of, earlier=told_of.device != CPU)
    if not return_stats:
        return distances, indices
    return distances, indices, stats_of(cost, name, _ONE_LIST, 1, there, on_host or waits)


_ONE_LIST = _Rows("", 0, 0)
"""What statistics tell of: all rows are of one list."""


def _index_of(dataset: Any) -> Index | None:
    """The index that it is, or that a brute_force.Index keeps its rows in, which is above this module."""
    index = dataset if isinstance(dataset, Index) else getattr(dataset, "_index", None)
    return index if isinstance(index, Index) else None


def _matrix(array: View, stream: int | None) -> tuple[int, int, int, str, int | None]:
    return (array.address, array.shape[0], array.shape[1], ELEMENT_OF_DTYPE[array.dtype], stream)


def _ready(array: View, name: str, place: Resources) -> int | None:
    """The stream that has waited for the producer of a device array; None for one of the host."""
    return None if array.device == CPU else transfer.ready_stream(array, name, place)


def _device(place: Resources, arrays: dict[str, View]) -> _arrays.Device:
    """Where it runs: on the device of the arrays that are on one, else where host arrays do."""
    there = {name: array.device for name, array in arrays.items() if array.device != CPU}
    if not there:
        return place.place(CPU, "argument 'queries'")
    name, device = next(iter(there.items()))
    for other, one in there.items():
        if one != device:
            raise DeviceError(
                f"argument '{name}' is on {device}, argument '{other}' is on {one}; copy them to one device"
            )
    return place.place(device, f"argument '{name}'")


def _candidates(array: Any, queries: int, place: Resources) -> View:
    """The candidates as int64, one row a query."""
    view = _arrays.view(array, "candidates", place.stream)
    if len(view.shape) != 2 or view.shape[0] != queries:
        raise ArgumentError(
            f"argument 'candidates' has shape {view.shape}, it must be ({queries}, n_candidates), one row a query"
        )
    if view.shape[1] == 0:
        raise ArgumentError(
            f"argument 'candidates' has shape {view.shape}: no columns; give each query at least one number, or -1"
        )
    narrow = ("int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8") if view.device == CPU else ()
    _arrays.check_dtype(view, "candidates", ("int64", *narrow))
    view = _arrays.as_contiguous(view, "candidates")
    if view.dtype == "int64":
        return view
    numbers = transfer.as_numpy(view)
    if (at := first_above_int64(numbers)) is not None:
        raise ArgumentError(
            f"candidates[{at[0]}, {at[1]}] is {int(numbers[at])}; numbers of rows are at most {LARGEST_INT64}"
        )
    return _arrays.view(numbers.astype(np.int64), "candidates")


def _count(k: float | None, indices: Any, distances: Any, candidates: int) -> int:
    """The number of neighbours, of `k` or the arrays for results."""
    if k is None:
        given = indices if indices is not None else distances
        shape: tuple[int, ...] = getattr(given, "shape", ())
        if len(shape) != 2:
            raise ArgumentError("k is None; give it, or indices or distances of shape (n_queries, k)")
        k = shape[1]
    count = check_k(k)
    if count > candidates:
        error = ArgumentError(f"k is {count}, but a query has {candidates} candidates; ask for fewer, or give more")
        error.argument, error.value, error.allowed = "k", str(count), f"an integer from 1 to {candidates}"
        raise error
    return count


def _check_entries(metric: Metric, filter: Filter | None, rows: int) -> None:
    """A longer array is one of other rows, as for :func:`annudf.brute_force.knn`."""
    for name, text, length in entries_by_row(metric):
        if length > rows:
            raise CaptureError(
                f"{text} has {length} entries, argument 'dataset' has {rows} rows; give one entry a row, {name}[subset]"
            )
    for one in () if filter is None else filter._entries():
        if not one.least <= rows <= one.most:
            raise ArgumentError(
                f"{one.text} has {one.most} entries, argument 'dataset' has {rows} rows; give one entry a row, "
                f"{one.name}{one.subset}"
            )
