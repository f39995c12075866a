# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Searches of shards in several rounds: in more lists, for groups, or by a second metric."""

from __future__ import annotations

import asyncio
import functools
import math
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from annudf._devices import transfer
from annudf._metric.definition import HOST, Definition
from annudf._metric.metric import Metric
from annudf._shards.goal import Found, Goal, Way, reach
from annudf._shards.request import Part, Request, merge_parts
from annudf._support.checks import with_fault
from annudf.common import Resources
from annudf.dask._call import Call
from annudf.dask._cluster import ask, run
from annudf.errors import ArgumentError, DtypeError, Error
from annudf.filters._bits import Filter, Prefilter
from annudf.filters._code import CodeFilter
from annudf.ivf_flat._ids import given_ids


class GoalCall:
    """A search whose queries must find something, or whose rows a second metric ranks."""

    def __init__(self, call: Call, goal: Goal) -> None:
        self._call, self._goal = call, goal
        refine = call.params.refine
        self._second = None if refine is None else refine.chosen()
        self._again = None if self._second is None else call.ask_again(self._second)
        self._order = call.metric.order if self._second is None else self._second.order
        self._partly = False
        self._cut: bool | None = None
        self._share = 1.0
        self._pairs: dict[Metric, tuple[int, int]] = {}

    @classmethod
    def of(cls, call: Call, k: int, group_by: Any) -> GoalCall | None:
        """The search, if there is a goal or a second metric."""
        params = call.params
        if params.refine is None and params.max_probes is None and group_by is None:
            return None
        goal = Goal(
            k,
            params.n_probes,
            call.index.n_lists,
            call.shards.rows,
            params.max_probes or 0,
            params.min_rows or 0,
            None if group_by is None else _groups_of(group_by),
            1.0 if params.max_probes is None else _passing(call),
            1.0 if params.refine is None else params.refine.ratio,
        )
        goal.check()
        return cls(call, goal)

    def search(self, queries: npt.NDArray[Any], partly: bool) -> tuple[tuple[Any, Any], float]:
        """Distances and ids, and the share of rows that every round searched."""
        call, second = self._call, self._second
        if second is not None and queries.dtype.name not in (accepted := second.query_dtypes(call.index.dtype.name)):
            raise DtypeError(
                f"metric '{second.name}' of refine does not accept queries of {queries.dtype}; give "
                f"{' or '.join(accepted)}"
            )
        self._partly = partly
        worst = -math.inf if self._order == "max" else math.inf

        async def reached() -> tuple[Any, Any]:
            if self._goal.groups is not None:
                await self._check_groups(self._goal.groups)
            search = functools.partial(self._round, queries)
            return await reach(self._goal, len(queries), worst, search, self._cuts)

        best = run(call.index._client, reached, call.deadline)
        for metric, pairs in self._pairs.items():
            call.tell(*pairs, metric)
        return best, self._share

    async def _cuts(self) -> bool:
        """Whether some queries may be searched alone; a metric or filter that reads their numbers needs all."""
        if self._cut is None:
            # Not in Dask's loop, as the first call in a process imports the compiler's frontend.
            self._cut = await asyncio.to_thread(self._may_cut)
        return self._cut

    def _may_cut(self) -> bool:
        asked = [self._call.metric] if self._second is None else [self._call.metric, self._second]
        return _passes_alike(self._call.keep) and not any(map(_sees_query, asked))

    async def _round(self, queries: npt.NDArray[Any], numbers: npt.NDArray[np.int64], way: Way) -> Found:
        """The best rows of the queries of these numbers."""
        cut = len(numbers) < len(queries) and await self._cuts()
        some = queries[numbers] if cut else queries
        kept = self._goal.rows_of(way)
        request = replace(self._call.request, k=kept, n_probes=way.n_probes)
        best = await self._best(self._call.metric, some, request)
        if self._goal.groups is not None:  # A shard may have been missing when they were checked.
            _check_extent(self._goal.groups, int(best.ids.max()) + 1)
        full = best.ids[:, kept - 1] >= 0
        if self._again is not None and self._second is not None:
            best = await self._best(self._second, some, replace(self._again, k=way.kept), best.ids)
        found = Found(best.distances, best.ids, full)
        return found if cut else Found(found.distances[numbers], found.ids[numbers], full[numbers])

    async def _best(
        self,
        metric: Metric,
        queries: npt.NDArray[Any],
        request: Request,
        candidates: npt.NDArray[np.int64] | None = None,
    ) -> Part:
        """The best rows of all shards."""
        found, whys = await self._call.by_calls(queries, request, candidates)
        self._share = min(self._share, self._call.complete(found, whys, self._partly))
        best = merge_parts(list(found.values()), request.k, metric.order)
        nan, scored = self._pairs.get(metric, (0, 0))
        self._pairs[metric] = nan + best.nan_distances, scored + best.scored
        return best

    async def _check_groups(self, groups: npt.NDArray[np.int64]) -> None:
        """ArgumentError unless each row has a group."""
        held = self._call.shards
        if held.extent is None:
            places, _ = await held.places(self._call.deadline, set())
            keys: dict[str, list[str]] = {}
            for number, address in places.items():
                keys.setdefault(address, []).append(held.parts[number].future.key)
            calls = {address: (_extent_here, some) for address, some in keys.items()}
            answers = await ask(self._call.index._client, calls, self._call.deadline, held.gone)
            extents = [one for one in answers.values() if isinstance(one, int)]
            if len(places) < len(held.parts) or len(extents) < len(answers):
                # A shard that is missing may have the largest id, so the next search asks again.
                return _check_extent(groups, max(extents, default=0))
            held.extent = max(extents)
        _check_extent(groups, held.extent)


def _check_extent(groups: npt.NDArray[np.int64], extent: int) -> None:
    """ArgumentError unless all ids below `extent` have a group."""
    if len(groups) < extent:
        text = f"group_by has {len(groups)} entries, the largest id is {extent - 1}; give one entry for every id"
        raise with_fault(ArgumentError(text), "group_by", str(len(groups)), None)


def _sees_query(metric: Metric) -> bool:
    """Whether distances may depend on the number of the query."""
    definition = metric._definition
    if definition.builtin_name:
        return False
    if definition not in _seeing:
        try:
            _seeing[definition] = "annudf.index query" in metric.mlir()
        except Error:  # An artifact has no source.
            _seeing[definition] = True
    return _seeing[definition]


_seeing: weakref.WeakKeyDictionary[Definition, bool] = weakref.WeakKeyDictionary()
"""What :func:`_sees_query` found, which takes milliseconds, and more than a second for the first metric."""


def _passes_alike(keep: Filter | None) -> bool:
    """Whether all queries are sure to have the same rows."""
    if isinstance(keep, CodeFilter):
        return not keep._metric._definition.artifact((HOST,)).sees_query
    return keep is None or isinstance(keep, Prefilter)


def _groups_of(group_by: Any) -> npt.NDArray[np.int64]:
    """The group of each id."""
    if isinstance(group_by, str):
        raise ArgumentError(
            f"group_by is '{group_by}', and columns are on the workers; give an array with one entry for every id"
        )
    return transfer.as_numpy(given_ids(group_by, "group_by", Resources(), None, "(n_ids,), an integer for each id"))


def _passing(call: Call) -> float:
    """The share of rows that pass, as RowFilter::passingShare() of one index has it."""
    keep = call.keep
    if keep is None:
        return 1.0
    if not isinstance(keep, Prefilter):
        raise ArgumentError(
            f"filter is {keep!r}, and search_params.max_probes is {call.params.max_probes}: how many lists a search "
            "begins with depends on the bits of its filter, which shards do not have; give an array of bool"
        )
    if keep.n_passing == keep.n_bits:
        return 1.0
    return min(keep.n_passing / max(call.shards.rows, 1), math.nextafter(1.0, 0.0))


# --- On workers --------------------------------------------------------------------------------------


def _extent_here(keys: list[str], dask_worker: Any = None) -> int | None:
    """One more than the largest id of these shards; None if one is not here."""
    here = [dask_worker.data.get(key) for key in keys]
    return None if any(one is None for one in here) else max(one.index._core.row_extent for one in here)
