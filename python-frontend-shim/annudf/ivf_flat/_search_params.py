# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Parameters of searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annudf._core import DEFAULT_N_PROBES, MAX_K, MAX_LISTS
from annudf._metric import nan as _nan
from annudf._metric.builtin import DEFAULT_ARGUMENT, check_metric, chosen_metric
from annudf._metric.metric import Metric, MetricSource
from annudf._support.checks import check_int, check_name, check_number, refusal, shown
from annudf._support.options import MetricName
from annudf._support.repr import of_whole
from annudf.errors import ArgumentError
from annudf.ivf_flat._params import Parameters

if TYPE_CHECKING:
    from annudf.ivf_flat._index import Index


class Refine:
    """A second metric for :class:`SearchParams`, which ranks the rows that the first metric finds.

    Parameters
    ----------
    metric : Metric or str
        A function decorated with :func:`annudf.metric`, or the name of a built-in metric.
    ratio : float, default 2
        The first metric finds `k` times `ratio` rows for each query, rounded up. At least 1. With `min_rows` above `k`
        it finds `min_rows` times `ratio`, and with `group_by` at least 4 `k` times `ratio`.
    metric_arg : float, default 2.0
        The exponent of "minkowski". With another metric any other value is refused.

    Raises
    ------
    ArgumentError
        A value cannot be used.

    Notes
    -----
    ``ctx.list`` of its metric is 0, as in :func:`annudf.refine`.
    """

    def __init__(
        self,
        metric: Metric | MetricSource | MetricName,
        ratio: float = 2,
        *,
        metric_arg: float = DEFAULT_ARGUMENT,
    ) -> None:
        self._metric, self._metric_arg = check_metric(metric, metric_arg)
        self._ratio = check_number(ratio, "ratio")
        if not 1 <= self._ratio <= MAX_K:
            raise refusal("ratio", ratio, f"from 1 to {MAX_K}")

    @property
    def metric(self) -> Metric | str:
        """As given."""
        return self._metric

    @property
    def ratio(self) -> float:
        """The first metric finds `k` times as many rows."""
        return self._ratio

    @property
    def metric_arg(self) -> float:
        """The exponent of "minkowski"."""
        return self._metric_arg

    def chosen(self) -> Metric:
        """The metric, also if a name was given."""
        return chosen_metric(self._metric, self._metric_arg)

    @of_whole("_ratio")
    def __repr__(self) -> str:
        argument = "" if self._metric_arg == DEFAULT_ARGUMENT else f", metric_arg={self._metric_arg!r}"
        return f"Refine({self._metric!r}, ratio={self._ratio!r}{argument})"


class SearchParams(Parameters):
    """How to search; names and defaults are those of cuVS and of its proof of concept.

    Parameters
    ----------
    n_probes : int, default 20
        Number of lists that a query scans. If it is above the index's number of lists, all are scanned, as in cuVS.
    metric : Metric or str, optional
        Ranks the rows: a function decorated with :func:`metric`, a name of :mod:`annudf.metrics` such as "canberra",
        or an :class:`annudf.DeviceUDF`, which is compiled now. Default: the metric of the index.
    metric_arg : float, default 2.0
        The exponent of "minkowski". With another metric any other value is refused.
    max_probes : int, optional
        The most lists for a query that finds too few rows, as with a filter that few rows pass. A query that finds
        fewer than `k` rows, or than `min_rows`, is searched again in twice as many lists, until it finds enough or has
        searched `max_probes` lists. With a filter of bits it begins with `n_probes` divided by the share of rows that
        pass. Its results are those of a search with the last number of lists. At least `n_probes`; ``index.n_lists``
        allows all lists. Default: no query is searched again.
    min_rows : int, optional
        Number of rows that a query must find before it stops. It still returns only the `k` best; more rows than `k`
        give a better recall. Only with `max_probes`. Default: `k`.
    refine : Refine, optional
        A second metric, which ranks the rows that `metric` finds, such as an exact metric after a cheap one. Results
        are its `k` best rows, with its distances. The index must not have two rows with one id. Default: no second
        metric.
    family : str, optional
        The kernels to run, by the name that :class:`SearchStats` and ``annudf search --stats`` show: "groups" or
        "matrix" on a CPU, "pairs", "tiles" and others on a GPU. A search that they cannot run is refused, and the
        message says why. Default: the planner chooses the fastest. Results do not depend on the kernels, except for the
        last digits with "parts".
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
        refine: Refine | None = None,
        family: str | None = None,
        on_nan: _nan.OnNaN = "warn",
    ) -> None:
        self._on_nan = _nan.check_on_nan(on_nan)
        # Only the backend knows the names, and the search chooses the backend.
        self._family = None if family is None else check_name(family, "family", "a family of kernels")
        self._n_probes = check_int(n_probes, "n_probes", 1, MAX_LISTS)
        self._max_probes = None if max_probes is None else check_int(max_probes, "max_probes", 1, MAX_LISTS)
        if refine is not None and not isinstance(refine, Refine):
            raise ArgumentError(f"refine is a {type(refine).__name__}, it must be an ivf_flat.Refine")
        self._refine = refine
        self._min_rows = None if min_rows is None else check_int(min_rows, "min_rows", 1, MAX_K)
        if self._min_rows is not None and self._max_probes is None:
            raise ArgumentError(f"min_rows is {self._min_rows}, but max_probes is None; give max_probes, too")
        self._lists = 0  # The address of the lists of each query, where they were ranked before.
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
    def refine(self) -> Refine | None:
        """The second metric; None if there is none."""
        return self._refine

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
        """What to do if distances are NaN."""
        return self._on_nan

    def metric_for(self, index: Index) -> Metric:
        """The metric that ranks rows of the index."""
        return chosen_metric(self._metric or index.metric, self._metric_arg)

    def name_for(self, index: Index) -> str:
        """The name of that metric, as given."""
        metric = self._metric or index.metric
        return metric if isinstance(metric, str) else metric.name

    @of_whole("_metric_arg")
    def __repr__(self) -> str:
        metric = "" if self._metric is None else f", metric={self._metric!r}"
        argument = "" if self._metric_arg == DEFAULT_ARGUMENT else f", metric_arg={self._metric_arg!r}"
        wide = "" if self._max_probes is None else f", max_probes={self._max_probes}"
        wide += "" if self._refine is None else f", refine={self._refine!r}"
        wide += "" if self._min_rows is None else f", min_rows={self._min_rows}"
        family = "" if self._family is None else f", family={self._family!r}"
        on_nan = "" if self._on_nan == "warn" else f", on_nan={self._on_nan!r}"
        return f"SearchParams(n_probes={self._n_probes}{metric}{argument}{wide}{family}{on_nan})"


def check_params(search_params: object) -> None:
    """Refuses anything but a SearchParams."""
    if not isinstance(search_params, SearchParams):
        raise ArgumentError(f"search_params is a {type(search_params).__name__}, it must be an ivf_flat.SearchParams")
