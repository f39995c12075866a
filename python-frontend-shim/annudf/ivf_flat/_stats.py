# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What a search tells of itself."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from annudf._arrays import View
from annudf._devices.transfer import as_numpy
from annudf._support.repr import of_whole

if TYPE_CHECKING:
    from annudf import _core
    from annudf.ivf_flat._index import Index


@dataclass(frozen=True, repr=False)
class SearchStats:
    """What a search did and cost: the third result of a call with ``return_stats=True``.

    Attributes
    ----------
    metric : str
        Name of the metric, as given: "sqeuclidean" is the square of "euclidean".
    family : str
        The kernels that ran; empty where there was nothing to search.
    why : str
        Why these.
    search_ms : float
        Milliseconds of the search; 0 where it was only enqueued on a stream.
    link_ms : float
        Milliseconds that compiling and linking took before it; 0 where the kernels were there.
    n_probes : int
        Lists that were scanned for a query.
    n_probes_asked : int
        Lists that were asked for, which may be more than there are.
    n_lists : int
        Lists of the index.
    rows_per_query : float or None
        Rows in the lists that a query scanned, the mean; None where it was only enqueued, and of a prepared search.
    evaluated_per_query : float or None
        Those of them that the metric's code computed, the mean: the rest was ruled out by bounds or by the filter.
        None where those are.
    passing_share : float
        Part of the rows that the filter lets pass, by its bits; 1 without a filter.
    n_missing : int or None
        Results with the id -1: fewer than k rows were scanned, passed the filter and had a distance. None where the
        results are still being computed.
    scored : int or None
        Pairs of a query and a row whose distance was asked for; on a GPU an estimate, unless all lists were scanned.
        None where the search was only enqueued.
    nan_distances : int or None
        Those of them whose distance was NaN, so that the row is never found. A row that bounds ruled out is not among
        them.
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
    index: Index,
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
        slow=cost.slow if cost else "",
    )
