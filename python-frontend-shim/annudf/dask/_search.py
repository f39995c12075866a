# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Searching: every shard is asked at once, and their best rows are merged."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Sequence
from typing import Any

import dask
import dask.array
import distributed
import numpy as np
import numpy.typing as npt

from annudf._shards import request as shards
from annudf._shards.request import Lists, Packed, Request, merge_parts, parts_of
from annudf._support.checks import check_bool
from annudf.dask._call import Call
from annudf.dask._cluster import PROCESS, Deadline, LostTask, chunks_of, done, failure, fit_threads, key, run
from annudf.dask._goal import GoalCall
from annudf.dask._index import Index
from annudf.errors import ArgumentError, UnavailableError
from annudf.ivf_flat._goal import refuse_goal
from annudf.ivf_flat._search import check_k
from annudf.ivf_flat._search_params import SearchParams

_FAN_IN = 8


def search(
    search_params: SearchParams,
    index: Index,
    queries: Any,
    k: int,
    *,
    filter: Any = None,
    group_by: Any = None,
    allow_partial: bool = False,
    tries: int = 3,
    timeout: float = 300,
) -> tuple[Any, ...]:
    """Finds the `k` best rows of all shards for each query; equal to a search of one index, to the bit.

    Parameters
    ----------
    search_params : SearchParams
        With ``max_probes`` the filter is an array, or a filter of :mod:`annudf.filters` that is made of one.
    index : Index
    queries : array of shape (n_queries, dim)
        A host array, which is sent to every worker, or a dask array, which is gathered on one worker and then goes to
        the others.
    k : int
        Number of neighbours, from 1 to the number of rows of the index.
    filter : Filter or array of bool of shape (n_ids,), optional
        As for :func:`annudf.ivf_flat.search`, by ids of the whole index; sent to a worker once.
    group_by : array of int of shape (n_ids,), optional
        As for :func:`annudf.ivf_flat.search`; it is not sent. Not the name of a column. Dask queries have neither this
        nor ``max_probes`` or ``refine``.
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
    call = Call(search_params, index, filter, tries, Deadline(timeout, "search()"))
    k = check_k(k, call.shards.rows)
    call.ask_for(k)
    partly = check_bool(allow_partial, "allow_partial")
    best: tuple[Any, ...]
    if isinstance(queries, dask.array.Array):
        refuse_goal(search_params, "a search for a dask array")
        if group_by is not None:
            raise ArgumentError("group_by is given, and argument 'queries' is a dask array; compute that first")
        chunks = _sizes_of(queries, index)
        found, whys = run(index._client, lambda: _as_tasks(call, queries), call.deadline)
        share = call.complete(found, whys, partly)
        best = _merged_there(call, list(found.values()), chunks, k)
    else:
        given = call.on_host(queries)
        if not len(given):
            best, share = (np.empty((0, k), np.float32), np.empty((0, k), np.int64)), 1.0
        elif (goal := GoalCall.of(call, k, group_by)) is not None:
            best, share = goal.search(given, partly)
        else:
            found, whys = run(index._client, lambda: call.by_calls(given), call.deadline)
            share = call.complete(found, whys, partly)
            merged = merge_parts(list(found.values()), k, call.metric.order)
            call.tell(merged.nan_distances, merged.scored)
            best = merged.distances, merged.ids
    return (*best, share) if partly else best


async def _as_tasks(call: Call, queries: Any) -> tuple[dict[int, Any], dict[int, BaseException]]:
    """Tasks that search shards; what they find stays on the cluster."""
    client, held = call.index._client, call.shards
    pieces = chunks_of(client.persist(queries))
    found: dict[int, Any] = {}
    whys: dict[int, BaseException] = {}
    for _ in range(call.tries):
        places, gone = await held.places(call.deadline, set())
        whys |= gone
        whole = client.submit(_whole, pieces, key=key("queries"))
        code = [client.submit(_same, one, key=f"annudf-code-{one.digest}") for one in call.packed.values()]
        lists = (
            await _ranked_there(call, whole, len(queries), code, places)
            if call.shares_ranking(len(queries), call.params.n_probes)
            else None
        )
        tasks = {
            number: client.submit(
                _search_task,
                call.request,
                whole,
                code,
                held.parts[number].future,
                lists,
                PROCESS,
                key=key("search"),
            )
            for number in places
            if number not in found
        }
        try:
            await done(tasks.values(), call.deadline, lambda count: f"{count} shards do not answer")
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
        if len(found) == len(held.parts) or not call.deadline.left:
            break
    return found, whys


async def _ranked_there(call: Call, queries: Any, count: int, code: list[Any], places: Iterable[int]) -> Any:
    """A task that has the lists of each query, of which each shard ranks those of some.

    None where each had better rank all.
    """
    client, parts = call.index._client, call.shards.parts
    some = [number for number in places if parts[number].rows]
    if len(some) < 2:
        return None
    request = call.request.for_ranking()
    ranked = [
        client.submit(_rank_task, request, queries, edges, code, parts[number].future, PROCESS, key=key("rank"))
        for number, edges in zip(some, parts_of(count, len(some)), strict=True)
    ]
    lists = client.submit(_whole, ranked, key=key("lists"))
    # All searches would fail or hang with one rank task, so they begin once none is needed any more.
    with contextlib.suppress(UnavailableError):
        await done([lists], call.deadline.half(), str)
    return lists if lists.status == "finished" else None


def _merged_there(call: Call, level: list[Any], chunks: tuple[int, ...], k: int) -> tuple[Any, Any]:
    """The best of all shards, in a tree of tasks."""
    client, order = call.index._client, call.metric.order
    while True:  # One shard's result, too, is made to have k columns.
        groups = [level[i : i + _FAN_IN] for i in range(0, len(level), _FAN_IN)]
        level = [client.submit(merge_parts, group, k, order, key=key("merge")) for group in groups]
        if len(level) == 1:
            break
    counts = client.submit(_counts, level[0], key=key("count"))

    async def told() -> tuple[int, int]:
        await done([counts], call.deadline, lambda count: "the results are not merged")
        if (why := await failure(counts)) is not None:
            raise why
        result: tuple[int, int] = await asyncio.wait_for(
            client.gather(counts, asynchronous=True), max(call.deadline.left, 1.0)
        )
        return result

    call.tell(*run(client, told, call.deadline))
    return _arrays_of(client, level[0], 0, chunks, k), _arrays_of(client, level[0], 1, chunks, k)


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


def _rank_task(
    request: Request,
    queries: npt.NDArray[Any],
    edges: tuple[int, int],
    sent: list[Packed],
    shard: Any,
    process: tuple[str, int],
) -> Lists:
    fit_threads(distributed.get_worker().state.nthreads, process)
    code = shards.resolve(request, sent)
    assert code is not None, "a task is sent all that its request names"
    return shards.rank_lists(request, code, queries[slice(*edges)], shard)


def _search_task(
    request: Request,
    queries: npt.NDArray[Any],
    sent: list[Packed],
    shard: Any,
    lists: Lists | None,
    process: tuple[str, int],
) -> shards.Part:
    fit_threads(distributed.get_worker().state.nthreads, process)
    code = shards.resolve(request, sent)
    assert code is not None, "a task is sent all that its request names"
    found = shards.search_shard(request, code, queries, shard, lists)
    assert isinstance(found, shards.Part), "a request of tasks has no radius"
    return found


def _whole(pieces: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return np.concatenate(pieces)


def _same(one: Packed) -> Packed:
    return one


def _counts(best: shards.Part) -> tuple[int, int]:
    return best.nan_distances, best.scored


def _cut(best: shards.Part, which: int, first: int, last: int) -> npt.NDArray[Any]:
    return (best.distances, best.ids)[which][first:last]
