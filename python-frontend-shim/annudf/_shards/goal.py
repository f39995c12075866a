# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Queries that are searched again until they have found enough, as runtime/lib/engine/Goal.cpp does for one index."""

from __future__ import annotations

import math
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from annudf._core import MAX_K
from annudf._support.checks import with_fault
from annudf.errors import ArgumentError

_GROWTH = 4
"""kGrowth of Goal.cpp: a search for groups asks for k times so many rows, and for so many times more each time."""
_MOST_RESULTS = 1 << 23
"""kMostResults of Goal.h: results that a search may have at once."""


class Way(NamedTuple):
    """How a query is searched."""

    n_probes: int
    kept: int  # Rows that are asked for.


class Found(NamedTuple):
    """The best `kept` rows of some queries, and whether each found as many as it looked for."""

    distances: npt.NDArray[np.float32]
    ids: npt.NDArray[np.int64]
    full: npt.NDArray[np.bool_]


Search = Callable[[npt.NDArray[np.int64], Way], Awaitable[Found]]
"""Searches for the queries of these numbers."""


@dataclass(frozen=True)
class Goal:
    """What each query must find, and what there is."""

    k: int
    n_probes: int
    n_lists: int
    n_rows: int
    max_probes: int = 0  # 0: no query is searched in more lists.
    min_rows: int = 0
    groups: npt.NDArray[np.int64] | None = None  # By id.
    passing: float = 1.0  # The share of rows that pass a filter of bits.
    ratio: float = 1.0  # For a second metric a search finds so many rows for each that is kept.

    @property
    def asked(self) -> int:
        """Lists that were asked for."""
        return min(self.n_probes, self.n_lists)

    @property
    def most_rows(self) -> int:
        """Rows that a search may ask for."""
        return min(self.n_rows, MAX_K)

    def rows_of(self, way: Way) -> int:
        """Rows that a search finds for each query."""
        return max(way.kept, min(math.ceil(way.kept * self.ratio), self.most_rows))

    def check(self) -> None:
        """ArgumentError for fewer probes at most than at first."""
        if self.max_probes and self.max_probes < self.asked:
            text = f"max_probes is {self.max_probes}, n_probes is {self.asked}; give no fewer"
            raise with_fault(ArgumentError(text), "max_probes", str(self.max_probes), "n_probes or more")

    def first(self) -> Way:
        """How each query is searched at first."""
        kept = max(self.k if self.groups is None else self.k * _GROWTH, min(self.min_rows, self.most_rows))
        most, probes = min(self.max_probes, self.n_lists), self.asked
        if probes < most:
            probes = int(min(float(most), math.ceil(probes / max(self.passing, sys.float_info.min))))
        return Way(probes, min(kept, self.most_rows))

    def chosen(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Which of the rows that a query found are results."""
        if self.groups is None:
            return np.arange(min(len(ids), self.k))
        return np.sort(np.unique(self.groups[ids], return_index=True)[1])[: self.k]

    def next(self, way: Way, full: bool, found: int, taken: int, count: Callable[[], int]) -> Way | None:
        """How to go on; None: the query is done. `count` says how many groups there are."""
        if self.groups is not None and taken < self.k and full and way.kept < self.most_rows and taken < count():
            return Way(way.n_probes, min(_GROWTH * way.kept, self.most_rows))
        most = min(self.max_probes, self.n_lists)
        if (taken < self.k or found < min(self.min_rows, self.most_rows)) and way.n_probes < most:
            return Way(min(2 * way.n_probes, most), way.kept)
        return None


async def reach(
    goal: Goal, queries: int, worst: float, search: Search, cuts: Callable[[], Awaitable[bool]]
) -> tuple[Any, Any]:
    """Searches until each query has reached the goal, or has searched `max_probes` lists; its last results.

    `cuts` says whether a search for some queries takes less than one for all; else there is one for each way.
    """
    distances, ids = np.full((queries, goal.k), worst, np.float32), np.full((queries, goal.k), -1, np.int64)
    groups: list[int] = []

    def count() -> int:
        if not groups:
            groups.append(len(np.unique(goal.groups)))  # type: ignore[arg-type]  # Asked of groups alone.
        return groups[0]

    waiting = {goal.first(): list(range(queries))}
    while waiting:
        way = min(waiting)
        numbers = np.sort(np.array(waiting.pop(way), np.int64))
        most = max(1, _MOST_RESULTS // goal.rows_of(way))
        if len(numbers) > most and not await cuts():
            most = len(numbers)
        for first in range(0, len(numbers), most):
            some = numbers[first : first + most]
            best = await search(some, way)
            for place, query in enumerate(some):
                found = int(np.count_nonzero(best.ids[place] >= 0))
                chosen = goal.chosen(best.ids[place, :found])
                more = goal.next(way, bool(best.full[place]), found, len(chosen), count)
                if more is not None:
                    waiting.setdefault(more, []).append(int(query))
                    continue
                ids[query, : len(chosen)] = best.ids[place, chosen]
                distances[query, : len(chosen)] = best.distances[place, chosen]
    return distances, ids
