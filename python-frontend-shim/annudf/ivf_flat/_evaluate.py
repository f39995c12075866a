# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What a search finds and costs by the number of lists that it scans, and how many a recall needs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from annudf import _arrays
from annudf._core import DEFAULT_K, DEFAULT_RECALL, MAX_LISTS
from annudf._devices import transfer
from annudf._metric.metric import Metric, MetricSource
from annudf._metric.nan import OnNaN
from annudf._metric.rows import for_queries, queries_bound
from annudf._support.checks import check_int, check_number, refusal
from annudf._support.options import MetricName
from annudf._support.repr import of_whole
from annudf.common import Resources
from annudf.errors import ArgumentError, UnavailableError
from annudf.ivf_flat._host_search import HostSearch
from annudf.ivf_flat._index import Index, check_index
from annudf.ivf_flat._search import check_k
from annudf.ivf_flat._search_params import SearchParams

if TYPE_CHECKING:
    from annudf._core import SearchStats

_MOST_RUNS = 5
_ENOUGH_SECONDS = 0.2
"""What is timed is run again until it took that long together."""


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Result of :func:`evaluate`: each array has one entry per probe count. It prints as a table.

    Attributes
    ----------
    metric : str
        Name of the metric, as given.
    k : int
        Neighbours of a query.
    n_queries : int
    n_lists : int
        Lists of the index.
    probes : numpy.ndarray of int64
        Lists scanned for a query, ascending.
    recall : numpy.ndarray of float64
        Share of the true neighbours that was found. A search of all lists gives the true neighbours. A row as near as
        the last of them counts as found.
    queries_per_second : numpy.ndarray of float64
        The best of a few runs with all queries in one batch; on a GPU with the copies from and to the host.
    rows_per_query : numpy.ndarray of float64
        Mean number of rows in the lists that a query scanned.
    """

    metric: str
    k: int
    n_queries: int
    n_lists: int
    probes: npt.NDArray[np.int64]
    recall: npt.NDArray[np.float64]
    queries_per_second: npt.NDArray[np.float64]
    rows_per_query: npt.NDArray[np.float64]

    def __str__(self) -> str:
        lines = [
            f"{self.metric}: k = {self.k}, {self.n_queries} queries, {self.n_lists} lists",
            "probes  recall  queries/s  rows/query",
        ]
        for probes, recall, rate, rows in zip(
            self.probes, self.recall, self.queries_per_second, self.rows_per_query, strict=True
        ):
            lines.append(f"{probes:6d}  {recall:6.4f}  {rate:9.0f}  {rows:10.0f}")
        return "\n".join(lines)

    @of_whole("rows_per_query")
    def __repr__(self) -> str:
        return str(self)

    def plot(self, ax: Any = None) -> Any:
        """Draws queries per second over recall, with the probe count at each point. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw. Default: a new figure.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        UnavailableError
            There is no matplotlib.
        """
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError:
                raise UnavailableError("plot needs matplotlib: pip install annudf[plots]") from None
            _, ax = pyplot.subplots()
        ax.plot(self.recall, self.queries_per_second, marker="o", label=self.metric)
        for probes, *point in zip(self.probes, self.recall, self.queries_per_second, strict=True):
            ax.annotate(str(probes), point, textcoords="offset points", xytext=(4, 4))
        ax.set_yscale("log")
        ax.set_xlabel(f"recall@{self.k}")
        ax.set_ylabel("queries per second")
        return ax


_Found: TypeAlias = tuple[list[int], npt.NDArray[np.float32]]
"""Ids and distances of the neighbours of one query, the best first."""


class Recall:
    """How many of the true neighbours of some queries a search finds, by its probes.

    A row as near as the last true neighbour counts as one: which of such rows a search of all lists returns, their ids
    decide. `own` are ids of the queries where they are rows of the index: no row is its own neighbour then.
    """

    def __init__(self, call: HostSearch, index: Index, k: int, own: npt.NDArray[np.int64] | None = None) -> None:
        self._call, self._k, self._own = call, k + (own is not None), own
        self.lists, self.n_queries, self.metric_name = index.n_lists, call.rows.shape[0], call.metric_name
        found, stats = self.search(self.lists)
        call.tell(stats)
        self._truth = [(Counter(ids), distances[-1] if ids else np.nan) for ids, distances in found]
        self._total = sum(ids.total() for ids, _ in self._truth)

    def search(self, probes: int, told: bool = False) -> tuple[list[_Found], SearchStats]:
        """What a search finds for each query; if `told` it counts rows, which takes longer."""
        shape = (self._call.rows.shape[0], self._k)
        neighbors, distances = np.empty(shape, np.int64), np.empty(shape, np.float32)
        engine: Any = self._call.engine
        stats = self._call.run(
            lambda *arguments: engine.search(*arguments[:-1], None, arguments[-1], "", told),
            self._k,
            probes,
            neighbors.ctypes.data,
            distances.ctypes.data,
        )
        kept = neighbors >= 0
        if self._own is not None:
            kept &= neighbors != self._own[:, None]
        most = self._k - (self._own is not None)
        rows = zip(neighbors, distances, kept, strict=True)
        return [(ids[there][:most].tolist(), values[there][:most]) for ids, values, there in rows], stats

    def of(self, found: list[_Found]) -> float:
        """The recall of what a search has found; 1 where there is nothing to find."""
        hits = self._hits(found)
        return hits / self._total if self._total else 1.0

    def fewest(self, wanted: float) -> tuple[int, float]:
        """The fewest probes that find that part of the true neighbours, and the part that they find."""

        def recall(probes: int) -> tuple[bool, float]:
            found = self.search(probes)[0]
            return self._hits(found) >= wanted * self._total, self.of(found)

        low, high, reached = 0, 1, 1.0
        while high < self.lists:
            enough, part = recall(high)
            if enough:
                reached = part
                break
            low, high = high, min(2 * high, self.lists)
        while high - low > 1:
            middle = low + (high - low) // 2
            enough, part = recall(middle)
            if enough:
                high, reached = middle, part
            else:
                low = middle
        return high, reached

    def _hits(self, found: list[_Found]) -> int:
        hits = 0
        for (truth, last), (ids, distances) in zip(self._truth, found, strict=True):
            near = distances <= last if self._call.metric.order == "min" else distances >= last
            # Ids may be repeated; and kernels may differ in the last digit of a distance.
            hits += min(truth.total(), max((truth & Counter(ids)).total(), int(np.count_nonzero(near))))
        return hits


def _recall_of(
    index: Index,
    queries: Any,
    metric: Metric | MetricSource | MetricName | None,
    k: int,
    filter: Any,
    resources: Resources | None,
    on_nan: OnNaN,
) -> Recall:
    call = HostSearch(SearchParams(n_probes=1, metric=metric, on_nan=on_nan), index, queries, resources, filter)
    if call.empty:
        raise ArgumentError("argument 'queries' has no rows, so there is no recall; give at least one")
    return Recall(call, index, k)


def evaluate(
    index: Index,
    queries: Any,
    metric: Metric | MetricSource | MetricName | None = None,
    k: float = DEFAULT_K,
    *,
    probes: int | Iterable[int] | None = None,
    filter: Any = None,
    resources: Resources | None = None,
    on_nan: OnNaN = "warn",
) -> Evaluation:
    """Measures recall, queries per second and scanned rows for several numbers of probes.

    The coarse metric ranks the lists. If the metric disagrees with it, true neighbours are in far lists, and the recall
    rises slowly.

    Parameters
    ----------
    index : Index
    queries : array of shape (n_queries, dim)
        A few hundred queries like those of your application. All lists are scanned for them once.
    metric : Metric or str, optional
        As for :class:`SearchParams`.
    k : int, default 10
        Neighbours of a query.
    probes : int or iterable of int, optional
        Numbers of lists to scan, from 1. A number above that of the index means all lists. Default: 1, 2, 4, ... and
        all.
    filter, resources
        As for :func:`search`.
    on_nan : {"warn", "raise", "skip"}, default "warn"
        As for :class:`SearchParams`: a row whose distance is NaN is no true neighbour either.

    Returns
    -------
    Evaluation
        Arrays with one entry per probe count. It prints as a table, and ``plot()`` draws it.

    Raises
    ------
    DtypeError, DeviceError, CaptureError, ArgumentError
        An argument cannot be used, or there are no queries; the message names it.
    CompileError
        The metric or the filter breaks a rule; the message has file and line.
    UnavailableError
        A driver, library or memory is missing.
    KeyboardInterrupt
        Ctrl-C.

    Examples
    --------
    >>> import numpy as np
    >>> from annudf import ivf_flat
    >>> dataset = np.random.default_rng(0).random((2000, 8), dtype=np.float32)
    >>> index = ivf_flat.build(ivf_flat.IndexParams(n_lists=40), dataset)
    >>> curve = ivf_flat.evaluate(index, dataset[:100], "canberra", k=5, probes=[1, 10, 40])
    >>> curve.probes, bool(curve.recall[0] < curve.recall[1] <= curve.recall[2]), float(curve.recall[2])
    (array([ 1, 10, 40]), True, 1.0)
    """
    lists = check_index(index).n_lists
    k = check_k(k, index._core.size)
    if probes is None:
        counts = [*(1 << i for i in range(lists.bit_length()) if 1 << i < lists), lists]
    else:
        given = {f"probes[{i}]": one for i, one in enumerate(probes)} if np.iterable(probes) else {"probes": probes}
        counts = sorted({min(check_int(one, name, 1, MAX_LISTS), lists) for name, one in given.items()})
        if not counts:
            raise ArgumentError("probes is empty; give numbers of lists to scan, or None")
    recall = _recall_of(index, queries, metric, k, filter, resources, on_nan)
    rows = recall.n_queries
    found, rates, scanned = [], [], []
    for count in counts:
        ids, stats = recall.search(count, told=True)  # Which links what the timed ones run.
        found.append(recall.of(ids))
        scanned.append(stats.rows_per_query)
        rates.append(rows / _seconds(recall, count))
    return Evaluation(
        recall.metric_name,
        k,
        rows,
        lists,
        np.array(counts, np.int64),
        np.array(found),
        np.array(rates),
        np.array(scanned),
    )


def _seconds(recall: Recall, probes: int) -> float:
    """What one search takes, the best of some."""
    best, total = float("inf"), 0.0
    for _ in range(_MOST_RUNS):
        start = time.perf_counter()
        recall.search(probes)
        took = time.perf_counter() - start
        best, total = min(best, took), total + took
        if total > _ENOUGH_SECONDS:
            break
    return best


def tune_n_probes(
    index: Index,
    queries: Any,
    k: float = DEFAULT_K,
    *,
    recall: float = DEFAULT_RECALL,
    metric: Metric | MetricSource | MetricName | None = None,
    filter: Any = None,
    resources: Resources | None = None,
    on_nan: OnNaN = "warn",
) -> int:
    """Finds how many lists a search must scan for a wanted recall.

    Parameters
    ----------
    index : Index
    queries : array of shape (n_queries, dim)
        A few hundred queries like those of your application. All lists are scanned for them once, and some lists
        several times.
    k : int, default 10
        Neighbours of a query.
    recall : float, default 0.95
        Share of the true `k` nearest neighbours that must be found, above 0 and at most 1.
    metric : Metric or str, optional
        As for :class:`SearchParams`.
    filter, resources
        As for :func:`search`.
    on_nan : {"warn", "raise", "skip"}, default "warn"
        As for :class:`SearchParams`: a row whose distance is NaN is no true neighbour either.

    Returns
    -------
    int
        The fewest probes with which the queries have that recall, as :func:`evaluate` measures it.

    Raises
    ------
    DtypeError, DeviceError, CaptureError, ArgumentError, CompileError, UnavailableError, KeyboardInterrupt
        As :func:`evaluate`.

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
    check_index(index)
    k = check_k(k, index._core.size)
    wanted = check_number(recall, "recall")
    if not 0 < wanted <= 1:
        raise refusal("recall", recall, "above 0 and at most 1")
    return _recall_of(index, queries, metric, k, filter, resources, on_nan).fewest(wanted)[0]


_SAMPLE = 256
"""Rows that probes for an index are found by."""


def tune_on_rows(
    index: Index, rows: Any, metric: Metric, k: int, wanted: float, seed: int, on_nan: OnNaN
) -> tuple[int, float] | None:
    """The fewest probes with which some of the rows find that part of their neighbours, and the part.

    `rows` are what the index was built of. None where a capture has entries for no query.
    """
    bound = queries_bound(metric)
    count = min(_SAMPLE, index.size) if bound is None else min(_SAMPLE, index.size, bound)
    if count == 0:
        return None
    own = np.sort(np.random.default_rng(seed).choice(index.size, count, replace=False))
    queries, device = _rows_at(rows, own)
    fitting = metric if bound is None else for_queries(metric, count)
    call = HostSearch(SearchParams(n_probes=1, metric=fitting, on_nan=on_nan), index, queries, device, None)
    return Recall(call, index, k, own).fewest(wanted)


def _rows_at(rows: Any, numbers: npt.NDArray[np.int64]) -> tuple[Any, Resources | None]:
    """Some rows of an array, and where they are searched for if they had to be copied to the host."""
    if isinstance(rows, _arrays.PackedBits):
        array, place = _rows_at(rows.array, numbers)
        return _arrays.PackedBits(array), place
    if _arrays.library_of(rows) != "other":
        return rows[numbers.tolist()], None
    seen = _arrays.view(rows, "rows")
    host = transfer.as_numpy(transfer.to_host(seen, "rows", Resources()))
    device = None if seen.device == _arrays.CPU else Resources(device=seen.device.index)
    return np.ascontiguousarray(host[numbers]), device
