# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Searching: every shard is asked at once, and their best rows are merged."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import dask
import dask.array
import distributed
import numpy as np
import numpy.typing as npt

from annudf import _arrays
from annudf._core import DEFAULT_NAN_SHARE
from annudf._devices import transfer
from annudf._shards import request as shards
from annudf._shards.request import Packed, Request, merge_parts, request_of
from annudf._support.checks import check_bool, check_int, class_of, warn_caller
from annudf.common import Resources
from annudf.dask._cluster import PROCESS, Deadline, LostTask, ask, chunks_of, done, failure, fit_threads, key, lost, run
from annudf.dask._index import Index
from annudf.errors import ArgumentError, DeviceError, NaNDistanceWarning, UnavailableError
from annudf.filters._bits import Filter, check_filter, from_mask
from annudf.ivf_flat._goal import refuse_goal
from annudf.ivf_flat._search import check_k
from annudf.ivf_flat._search_params import SearchParams, check_params

_FAN_IN = 8


def search(
    search_params: SearchParams,
    index: Index,
    queries: Any,
    k: int,
    *,
    filter: Any = None,
    allow_partial: bool = False,
    tries: int = 3,
    timeout: float = 300,
) -> tuple[Any, ...]:
    """Finds the `k` best rows of all shards for each query; equal to a search of one index, to the bit.

    Parameters
    ----------
    search_params : SearchParams
        Without ``max_probes``, ``min_rows`` and ``refine``, which one shard cannot know enough for.
    index : Index
    queries : array of shape (n_queries, dim)
        A host array, which is sent to every worker, or a dask array, which is gathered on one worker and then goes to
        the others.
    k : int
        Number of neighbours, from 1 to the number of rows of the index.
    filter : Filter or array of bool of shape (n_ids,), optional
        As for :func:`annudf.ivf_flat.search`, by ids of the whole index; sent to a worker once.
    allow_partial : bool, default False
        Whether shards that are lost may be left out.
    tries : int, default 3
        How often a shard is asked, as workers may be lost meanwhile.
    timeout : float, default 300
        Seconds after which the call gives up.

    Returns
    -------
    distances, neighbors : array of shape (n_queries, k)
        As of :func:`annudf.ivf_flat.search`; for a dask array dask arrays, whose results are on the cluster.
    share : float
        Only with ``allow_partial=True``: the share of rows that the shards that were searched have.

    Raises
    ------
    ArgumentError, DtypeError, CaptureError, CompileError, NaNDistanceError
        As :func:`annudf.ivf_flat.search`.
    UnavailableError
        Shards are missing after `tries` or `timeout`; the message names them and their rows.
    """
    deadline = Deadline(timeout, "search()")
    call = _Call(search_params, index, k, filter, check_int(tries, "tries", 1, 1000), deadline)
    partly = check_bool(allow_partial, "allow_partial")
    chunks = None
    if isinstance(queries, dask.array.Array):
        chunks = _sizes_of(queries, index)
        found, whys = run(index._client, lambda: call.as_tasks(queries), deadline)
    else:
        given = call.on_host(queries)
        if not len(given):
            none = (np.empty((0, call.k), np.float32), np.empty((0, call.k), np.int64))
            return (*none, 1.0) if partly else none
        found, whys = run(index._client, lambda: call.by_calls(given), deadline)
    missing = [number for number in range(index.n_shards) if number not in found]
    if missing and (not partly or not found):
        names = " and ".join(index._name(number) for number in missing)
        raise UnavailableError(
            f"search() has no answer of {names} after {call.tries} tries: {whys[missing[0]]}; build or load the index "
            "again, or pass allow_partial=True"
        )
    share = sum(index._parts[number].rows for number in found) / index.size
    best = call.merged(found, chunks)
    return (*best, share) if partly else best


class _Call:
    """A search, with its arguments checked."""

    def __init__(
        self, search_params: SearchParams, index: Index, k: Any, filter: Any, tries: int, deadline: Deadline
    ) -> None:
        check_params(search_params)
        refuse_goal(search_params, "a search of shards")
        if not isinstance(index, Index):
            raise ArgumentError(f"index is {class_of(index)}, it must be a dask ivf_flat.Index, of build() or load()")
        self.index, self.tries, self.deadline = index, tries, deadline
        self.params, self.k = search_params, check_k(k, index.size)
        self.metric = search_params.metric_for(index)  # type: ignore[arg-type]  # Which is asked for its metric only.
        keep = _filter(filter)
        self.request, self.packed = request_of(search_params, self.metric, keep, self.k)

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

    async def by_calls(self, queries: npt.NDArray[Any]) -> tuple[dict[int, Any], dict[int, BaseException]]:
        """Asks the workers themselves, which takes a few milliseconds less than tasks do."""
        index, found, failed = self.index, dict[int, Any](), set[str]()
        whys: dict[int, BaseException] = {}
        for _ in range(self.tries):
            places, gone = await index._places(self.deadline, failed)
            whys |= gone
            failed = set()
            groups: dict[str, list[int]] = {}
            for number, address in places.items():
                if number not in found:
                    groups.setdefault(address, []).append(number)
            answers = await self._asked(groups, queries)
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
                    index._distrust(address)
                    failed.add(address)
            if len(found) == index.n_shards or not self.deadline.left:
                break
        return found, whys

    async def _asked(self, groups: Mapping[str, list[int]], queries: npt.NDArray[Any]) -> dict[str, Any]:
        """The answers of the workers, each of which is sent once what it does not know."""
        index, answers = self.index, dict[str, Any]()
        unknown = {address: [d for d in self.packed if d not in index._sent.get(address, ())] for address in groups}
        while unknown:
            calls = {
                address: (
                    _search_here,
                    self.request,
                    queries,
                    [self.packed[one] for one in digests],
                    [index._parts[number].future.key for number in groups[address]],
                    PROCESS,
                )
                for address, digests in unknown.items()
            }
            new = await ask(index._client, calls, self.deadline, index._gone)
            for address, one in new.items():
                if not isinstance(one, (BaseException, _Unknown)):
                    index._note_sent(address, self.request.digests)
            answers |= {address: one.error if isinstance(one, _Raised) else one for address, one in new.items()}
            # A worker that was started again under its address knows nothing, and every worker forgets the oldest.
            unknown = {address: list(self.packed) for address, one in new.items() if isinstance(one, _Unknown)}
        return answers

    async def as_tasks(self, queries: Any) -> tuple[dict[int, Any], dict[int, BaseException]]:
        """Tasks that search shards; what they find stays on the cluster."""
        client, index = self.index._client, self.index
        pieces = chunks_of(client.persist(queries))
        found: dict[int, Any] = {}
        whys: dict[int, BaseException] = {}
        for _ in range(self.tries):
            places, gone = await index._places(self.deadline, set())
            whys |= gone
            whole = client.submit(_whole, pieces, key=key("queries"))
            code = [client.submit(_same, one, key=f"annudf-code-{one.digest}") for one in self.packed.values()]
            tasks = {
                number: client.submit(
                    _search_task,
                    self.request,
                    whole,
                    code,
                    index._parts[number].future,
                    PROCESS,
                    key=key("search"),
                )
                for number in places
                if number not in found
            }
            try:
                await done(tasks.values(), self.deadline, lambda count: f"{count} shards do not answer")
            except UnavailableError as error:
                whys |= {n: error for n, task in tasks.items() if not task.done()}
            for number, task in tasks.items():
                late = whys.get(number, "its worker was lost with the result")
                why = await failure(task) if task.done() else LostTask(str(late))
                if why is None:
                    found[number] = task
                elif isinstance(why, LostTask):
                    whys[number] = why
                else:
                    raise why
            if len(found) == index.n_shards or not self.deadline.left:
                break
        return found, whys

    def merged(self, found: Mapping[int, Any], chunks: tuple[int, ...] | None) -> tuple[Any, Any]:
        """The best of all shards: in a tree of tasks for dask arrays, else here."""
        order = self.metric.order
        if chunks is None:
            best = merge_parts(list(found.values()), self.k, order)
            self._tell(best.nan_distances, best.scored)
            return best.distances, best.ids
        client = self.index._client
        level = list(found.values())
        while len(level) > 1 or level[0] in found.values():
            groups = [level[i : i + _FAN_IN] for i in range(0, len(level), _FAN_IN)]
            level = [client.submit(merge_parts, group, self.k, order, key=key("merge")) for group in groups]
        counts = client.submit(_counts, level[0], key=key("count"))

        async def told() -> tuple[int, int]:
            await done([counts], self.deadline, lambda count: "the results are not merged")
            if (why := await failure(counts)) is not None:
                raise why
            result: tuple[int, int] = await asyncio.wait_for(client.gather(counts, asynchronous=True), 30)
            return result

        self._tell(*run(client, told, self.deadline))
        return _arrays_of(client, level[0], 0, chunks, self.k), _arrays_of(client, level[0], 1, chunks, self.k)

    def _tell(self, nan_distances: int, scored: int) -> None:
        """Warns as a search of one index does; ``on_nan="raise"`` was raised by a shard."""
        share = nan_distances / max(scored, 1)
        if self.params.on_nan != "warn" or share <= DEFAULT_NAN_SHARE or self.metric._told_of_nan:
            return
        self.metric._told_of_nan = True
        warn_caller(
            f"metric '{self.metric.name}': {100 * share:.3g} % of the distances of this search are NaN "
            f"({nan_distances} of {scored}), and such rows are never found; guard the formula, or pass on_nan='skip' "
            "if it is meant",
            NaNDistanceWarning,
        )


def _filter(given: Any) -> Filter | None:
    if given is None or isinstance(given, Filter):
        return check_filter(given, Resources())
    check_filter(given, Resources())  # Its refusals; what it makes for a search cannot be sent.
    return from_mask(given)


def _sizes_of(queries: Any, index: Index) -> tuple[int, ...]:
    if queries.ndim != 2 or queries.shape[1] != index.dim or len(queries.chunks[1]) != 1:
        raise ArgumentError(
            f"argument 'queries' has shape {queries.shape} and {len(queries.chunks[-1])} chunks a row, it must be "
            f"(n_queries, {index.dim}) in one"
        )
    if any(np.isnan(one) for one in queries.chunks[0]):
        raise ArgumentError("argument 'queries' has chunks of unknown size; call queries.compute_chunk_sizes()")
    return tuple(int(one) for one in queries.chunks[0])


def _arrays_of(client: distributed.Client, best: Any, which: int, chunks: Sequence[int], k: int) -> Any:
    """A dask array of one of the results, in the chunks of the queries."""
    dtype = (np.float32, np.int64)[which]
    edges = np.cumsum([0, *chunks]).tolist()
    pieces = [
        dask.array.from_delayed(
            dask.delayed(client.submit(_cut, best, which, edges[i], edges[i + 1], key=key("result"))),
            (rows, k),
            dtype=dtype,
        )
        for i, rows in enumerate(chunks)
    ]
    return dask.array.concatenate(pieces, axis=0)


# --- On workers --------------------------------------------------------------------------------------


class _Raised:
    """An exception of a search. Dask would log one that is raised, with the queries."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Unknown:
    """The answer of a worker that does not know the metric or the filter."""


async def _search_here(
    request: Request,
    queries: npt.NDArray[Any],
    sent: list[Packed],
    keys: list[str],
    process: tuple[str, int],
    dask_worker: Any = None,
) -> Any:
    """What a worker finds in each of its shards; None for a shard that it does not have."""
    here = [dask_worker.data.get(key) for key in keys]

    def work() -> Any:
        fit_threads(dask_worker.state.nthreads, process)
        if (code := shards.resolve(request, sent)) is None:
            return _Unknown()
        return [None if one is None else shards.search_shard(request, code, queries, one) for one in here]

    try:
        return await asyncio.get_running_loop().run_in_executor(dask_worker.executors["default"], work)
    except Exception as error:
        return _Raised(error)


def _search_task(
    request: Request, queries: npt.NDArray[Any], sent: list[Packed], shard: Any, process: tuple[str, int]
) -> shards.Part:
    fit_threads(distributed.get_worker().state.nthreads, process)
    code = shards.resolve(request, sent)
    assert code is not None, "a task is sent all that its request names"
    return shards.search_shard(request, code, queries, shard)


def _whole(pieces: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return np.concatenate(pieces)


def _same(one: Packed) -> Packed:
    return one


def _counts(best: shards.Part) -> tuple[int, int]:
    return best.nan_distances, best.scored


def _cut(best: shards.Part, which: int, first: int, last: int) -> npt.NDArray[Any]:
    return (best.distances, best.ids)[which][first:last]
