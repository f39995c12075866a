# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What every shard is asked at once."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annudf import _arrays
from annudf._core import DEFAULT_NAN_SHARE
from annudf._devices import transfer
from annudf._metric.metric import Metric
from annudf._shards import request as shards
from annudf._shards.request import Lists, Packed, Request, parts_of, request_of
from annudf._support.checks import check_int, warn_caller
from annudf.common import Resources
from annudf.dask._cluster import PROCESS, Deadline, ask, fit_threads, lost
from annudf.dask._index import Index, check_index
from annudf.errors import ArgumentError, DeviceError, NaNDistanceWarning, UnavailableError
from annudf.filters._bits import Filter, check_filter, from_mask
from annudf.ivf_flat._search_params import SearchParams, check_params

RANKED_TOGETHER = 1 << 29
"""Queries times lists times dimensions from which on workers rank for each other: some 20 ms of a core."""


class Call:
    """A search of the shards that an index has now, with its arguments checked."""

    def __init__(self, search_params: SearchParams, index: Index, filter: Any, tries: Any, deadline: Deadline) -> None:
        check_params(search_params)
        check_index(index)
        self.index, self.shards, self.deadline = index, index._shards, deadline
        if self.shards.rows == 0:
            raise ArgumentError("the index has 0 rows; add some first")
        self.tries = check_int(tries, "tries", 1, 1000)
        self.params = search_params
        self.metric = search_params.metric_for(index)  # type: ignore[arg-type]  # Which is asked for its metric only.
        self.keep = _filter(filter)

    def ask_for(self, k: int, radius: float | None = None) -> None:
        """What each shard is to find: `k` rows a query, or at most `k` rows within a radius."""
        self.request, self.packed = request_of(self.params, self.metric, self.keep, k, radius)

    def ask_again(self, metric: Metric) -> Request:
        """What each shard is to rank by a second metric, but for the number of rows."""
        request, packed = request_of(self.params, metric, None, 1)
        self.packed |= packed
        return request

    def complete(self, found: Mapping[int, Any], whys: Mapping[int, BaseException], partly: bool) -> float:
        """The share of rows whose shards have answered; UnavailableError unless all have, or some may be missing."""
        parts = self.shards.parts
        missing = [number for number in range(len(parts)) if number not in found]
        if missing and (not partly or not found):
            names = " and ".join(self.shards.name(number) for number in missing)
            raise UnavailableError(
                f"{self.deadline.what} has no answer of {names} after {self.tries} tries: {whys[missing[0]]}; build "
                "or load the index again, or pass allow_partial=True"
            )
        return sum(parts[number].rows for number in found) / self.shards.rows

    def on_host(self, queries: Any) -> npt.NDArray[Any]:
        """The queries as a NumPy array of a dtype that the metric accepts."""
        index = self.index
        accepted = self.metric.query_dtypes(index.dtype.name)
        rows = _arrays.input_matrix(queries, "queries", accepted=accepted, dims=index.dim)
        if rows.device != _arrays.CPU:
            raise DeviceError(
                f"argument 'queries' is on {rows.device}; shards are searched on CPUs, so copy it to the host"
            )
        return transfer.as_numpy(rows).view(_arrays.numpy_dtype(rows.dtype))

    async def by_calls(
        self,
        queries: npt.NDArray[Any],
        request: Request | None = None,
        candidates: npt.NDArray[np.int64] | None = None,
    ) -> tuple[dict[int, Any], dict[int, BaseException]]:
        """Asks the workers themselves, which takes a few milliseconds less than tasks do.

        With `candidates` they rank those that they have.
        """
        request = request or self.request
        held, found, failed = self.shards, dict[int, Any](), set[str]()
        whys: dict[int, BaseException] = {}
        lists = await self._ranked(queries, request) if candidates is None else None
        work = _Work(request, queries, lists, candidates)
        for _ in range(self.tries):
            places, gone = await held.places(self.deadline, failed)
            whys |= gone
            failed = set()
            groups: dict[str, list[int]] = {}
            for number, address in places.items():
                if number not in found:
                    groups.setdefault(address, []).append(number)
            answers = await self._asked(groups, work)
            for address, numbers in groups.items():
                answer = answers[address]
                if isinstance(answer, BaseException):
                    if not lost(answer):
                        raise answer
                    whys |= dict.fromkeys(numbers, answer)
                else:
                    found |= {number: one for number, one in zip(numbers, answer, strict=True) if one is not None}
                if not all(number in found for number in numbers):
                    whys |= {n: KeyError(f"{address} has no such shard") for n in numbers if n not in {**found, **whys}}
                    held.distrust(address)
                    failed.add(address)
            if len(found) == len(held.parts) or not self.deadline.left:
                break
        return found, whys

    def shares_ranking(self, queries: int, n_probes: int) -> bool:
        """Whether workers rank the lists for each other, which takes a round of messages."""
        index = self.index
        return n_probes < index.n_lists and queries * index.n_lists * index.dim >= RANKED_TOGETHER

    def _unknown(self, address: str, request: Request) -> list[Packed]:
        """What a worker is sent with a request."""
        return [self.packed[one] for one in request.digests if one not in self.shards.sent.get(address, ())]

    async def _ranked(self, queries: npt.NDArray[Any], request: Request) -> Lists | None:
        """The lists of each query, of which each worker ranks those of some; None where each had better rank all."""
        if not self.shares_ranking(len(queries), request.n_probes):
            return None
        held = self.shards
        places, _ = await held.places(self.deadline, set())
        keys = {address: held.parts[n].future.key for n, address in places.items() if held.parts[n].rows}
        if len(keys) < 2:
            return None
        request = request.for_ranking()
        edges = parts_of(len(queries), len(keys))
        calls = {
            address: (_rank_here, request, queries[first:last], self._unknown(address, request), one, PROCESS)
            for (address, one), (first, last) in zip(keys.items(), edges, strict=True)
        }
        answers = await ask(self.index._client, calls, self.deadline.half(), held.gone)
        for address, one in answers.items():
            if isinstance(one, np.ndarray):
                held.note_sent(address, request.digests)
        ranked = [answers[address] for address in keys]
        # If a worker is lost, or a query cannot be searched, the search says it.
        return np.concatenate(ranked) if all(isinstance(one, np.ndarray) for one in ranked) else None

    async def _asked(self, groups: Mapping[str, list[int]], work: _Work) -> dict[str, Any]:
        """The answers of the workers, each of which is sent once what it does not know."""
        held, answers = self.shards, dict[str, Any]()
        digests = work.request.digests
        unknown = {address: self._unknown(address, work.request) for address in groups}
        while unknown:
            calls = {
                address: (_search_here, work, sent, [held.parts[n].future.key for n in groups[address]], PROCESS)
                for address, sent in unknown.items()
            }
            new = await ask(self.index._client, calls, self.deadline, held.gone)
            for address, one in new.items():
                if not isinstance(one, (BaseException, _Unknown)):
                    held.note_sent(address, digests)
            answers |= {address: one.error if isinstance(one, _Raised) else one for address, one in new.items()}
            # A worker that was started again under its address knows nothing, and every worker forgets the oldest.
            unknown = {a: [self.packed[d] for d in digests] for a, one in new.items() if isinstance(one, _Unknown)}
        return answers

    def tell(self, nan_distances: int, scored: int, metric: Metric | None = None) -> None:
        """Warns as a search of one index does; ``on_nan="raise"`` was raised by a shard."""
        metric = metric or self.metric
        share = nan_distances / max(scored, 1)
        if self.params.on_nan != "warn" or share <= DEFAULT_NAN_SHARE or metric._told_of_nan:
            return
        metric._told_of_nan = True
        warn_caller(
            f"metric '{metric.name}': {100 * share:.3g} % of the distances of this search are NaN "
            f"({nan_distances} of {scored}), and such rows are never found; guard the formula, or pass on_nan='skip' "
            "if it is meant",
            NaNDistanceWarning,
        )


def _filter(given: Any) -> Filter | None:
    if given is None or isinstance(given, Filter):
        return check_filter(given, Resources())
    check_filter(given, Resources())  # Its refusals; what it makes for a search cannot be sent.
    return from_mask(given)


@dataclass(frozen=True)
class _Work:
    """What a worker is sent for each of its shards."""

    request: Request
    queries: npt.NDArray[Any]
    lists: Lists | None
    candidates: npt.NDArray[np.int64] | None

    def of(self, code: shards.Code, shard: Any) -> Any:
        """What the shard answers."""
        if self.candidates is not None:
            return shards.refine_shard(self.request, code, self.queries, shard, self.candidates)
        return shards.search_shard(self.request, code, self.queries, shard, self.lists)


# --- On workers --------------------------------------------------------------------------------------


class _Raised:
    """An exception of a search. Dask would log one that is raised, with the queries."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Unknown:
    """The answer of a worker that does not know the metric or the filter."""


async def _search_here(
    work: _Work, sent: list[Packed], keys: list[str], process: tuple[str, int], dask_worker: Any = None
) -> Any:
    """What a worker finds in each of its shards; None for a shard that it does not have."""
    here = [dask_worker.data.get(key) for key in keys]

    def searched() -> Any:
        fit_threads(dask_worker.state.nthreads, process)
        if (code := shards.resolve(work.request, sent)) is None:
            return _Unknown()
        return [None if one is None else work.of(code, one) for one in here]

    try:
        return await asyncio.get_running_loop().run_in_executor(dask_worker.executors["default"], searched)
    except Exception as error:
        return _Raised(error)


async def _rank_here(
    request: Request,
    queries: npt.NDArray[Any],
    sent: list[Packed],
    key: str,
    process: tuple[str, int],
    dask_worker: Any = None,
) -> Lists | None:
    """The lists of these queries; None if the worker cannot rank them."""
    here = dask_worker.data.get(key)

    def work() -> Lists | None:
        fit_threads(dask_worker.state.nthreads, process)
        if here is None or (code := shards.resolve(request, sent)) is None:
            return None
        return shards.rank_lists(request, code, queries, here)

    with contextlib.suppress(Exception):  # The search will say it, which has all queries.
        return await asyncio.get_running_loop().run_in_executor(dask_worker.executors["default"], work)
    return None
