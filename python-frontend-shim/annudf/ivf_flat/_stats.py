# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What a search tells of itself."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from annudf._arrays import View
from annudf._devices.transfer import as_numpy
from annudf._support.repr import of_whole

if TYPE_CHECKING:
    from annudf import _core


class Searched(Protocol):
    """What a search is made in."""

    @property
    def n_lists(self) -> int: ...


@dataclass(frozen=True, repr=False)
class SearchStats:
    """What a search did and cost: the third result of a call with ``return_stats=True``.

    Attributes
    ----------
    metric : str
        Name of the metric, as given: "sqeuclidean" is the square of "euclidean".
    family : str
        The kernels that ran; empty if there was nothing to search.
    why : str
        Why the planner chose them.
    search_ms : float
        Milliseconds of the search; 0 if it was only enqueued on a stream.
    link_ms : float
        Milliseconds of compiling and linking before the search; 0 if the kernels were cached.
    n_probes : int
        Lists that a query scanned first. A search with ``max_probes`` or ``group_by`` may scan more, or again, and the
        numbers below count each scan.
    n_probes_asked : int
        Lists that the parameters asked for, which may be more than the index has.
    n_lists : int
        Lists of the index.
    rows_per_query : float or None
        Mean number of rows in the lists that a query scanned; None if the search was only enqueued, or prepared.
    evaluated_per_query : float or None
        Mean number of these rows that the metric's code computed; bounds or the filter ruled out the others. None if
        `rows_per_query` is None.
    passing_share : float
        Share of the rows that pass the filter, by its bits; 1 without a filter.
    n_missing : int or None
        Number of results with the id -1, for which no row was left. None if the results are still being computed.
    scored : int or None
        Number of pairs of a query and a scanned row that passes the filter; on a GPU an estimate, unless all lists were
        scanned. None if the search was only enqueued.
    nan_distances : int or None
        Number of these pairs whose distance was NaN. Rows that bounds ruled out are not counted.
    n_widened : int
        Number of queries that scanned more lists than `n_probes`; see `max_probes` of :class:`SearchParams`.
    slow : str
        The operations of the metric that a CPU computes one row at a time; empty if there is none.
    """

    metric: str
    family: str
    why: str
    search_ms: float
    link_ms: float
    n_probes: int
    n_probes_asked: int
    n_lists: int
    rows_per_query: float | None
    evaluated_per_query: float | None
    passing_share: float
    n_missing: int | None
    scored: int | None
    nan_distances: int | None
    n_widened: int
    slow: str

    @of_whole("slow")
    def __repr__(self) -> str:
        return f"SearchStats({', '.join(f'{one.name}={getattr(self, one.name)!r}' for one in fields(self))})"


def with_missing(stats: SearchStats, neighbors: Any) -> SearchStats:
    """The same of a search of which only these results are given."""
    return stats if stats.n_missing is None else replace(stats, n_missing=int((np.asarray(neighbors) < 0).sum()))


def stats_of(
    cost: _core.SearchStats | None,
    metric: str,
    index: Searched,
    n_probes: int,
    neighbors: View | None = None,
    counted: bool = True,
) -> SearchStats:
    """What is told of a search by what the core says of it, which is None where there was nothing to search.

    `neighbors` are its results where they are in host memory; `counted` says whether the core counted rows.
    """
    lists = index.n_lists
    return SearchStats(
        metric=metric,
        family=cost.family if cost else "",
        why=cost.why if cost else "",
        search_ms=cost.search_ms if cost else 0.0,
        link_ms=cost.link_ms if cost else 0.0,
        n_probes=min(n_probes, lists),
        n_probes_asked=n_probes,
        n_lists=lists,
        rows_per_query=(cost.rows_per_query if cost else 0.0) if counted else None,
        evaluated_per_query=(cost.evaluated_per_query if cost else 0.0) if counted else None,
        passing_share=cost.passing_share if cost else 1.0,
        n_missing=None if neighbors is None else int((as_numpy(neighbors) < 0).sum()),
        scored=(cost.scored if cost else 0) if counted else None,
        nan_distances=(cost.nan_distances if cost else 0) if counted else None,
        n_widened=cost.widened if cost else 0,
        slow=cost.slow if cost else "",
    )
