# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Rows that come to an index and go: shards are made of those that there were, which stay until all are there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

import annudf
from annudf._devices import transfer
from annudf._shards import shard
from annudf._shards.shard import joined
from annudf.common import Resources
from annudf.dask._arguments import beside, check_ids, check_rows
from annudf.dask._cluster import Deadline, chunks_of, exist, key, prepare, results, run
from annudf.dask._index import Index, check_index
from annudf.dask._places import Part, Shards
from annudf.errors import ArgumentError, DtypeError, UnavailableError
from annudf.ivf_flat._ids import given_ids


def extend(
    index: Index,
    new_vectors: Any,
    new_indices: Any = None,
    *,
    columns: Mapping[str, Any] | None = None,
    timeout: float = 3600,
) -> Index:
    """Adds rows to an index, in place. A chunk goes to the shard of its worker, or to the smallest shard.

    Parameters
    ----------
    index : Index
    new_vectors : dask array of shape (n_rows, dim)
        Rows of the index's dtype, in chunks of whole rows.
    new_indices : dask array of shape (n_rows,), optional
        Integers from 0, different from each other and from the ids of the index, in the chunks of `new_vectors`.
        Default: ids from the largest of the index plus 1.
    columns : mapping of str to dask array of shape (n_rows,), optional
        Values of each column of the index, in the chunks of `new_vectors`.
    timeout : float, default 3600
        Seconds after which the call gives up.

    Returns
    -------
    Index
        `index` itself. If the call fails, the index is unchanged.

    Raises
    ------
    ArgumentError, DtypeError
        An argument cannot be used, or an id is repeated.
    UnavailableError
        As for :func:`build`, or a shard is missing.

    Notes
    -----
    A search that runs meanwhile finds none of the new rows. A worker copies the shard that it extends.
    """
    check_index(index)
    deadline = Deadline(timeout, "extend()")
    check_rows(new_vectors, "new_vectors")
    if new_vectors.dtype != index.dtype or new_vectors.shape[1] != index.dim:
        raise (DtypeError if new_vectors.dtype != index.dtype else ArgumentError)(
            f"argument 'new_vectors' has dtype {new_vectors.dtype} and {new_vectors.shape[1]} dimensions, the index "
            f"has {index.dtype} and {index.dim}"
        )
    others = beside(new_indices, columns, new_vectors, ("new_indices", "new_vectors"))
    if set(columns or {}) != set(index.columns):
        raise ArgumentError(
            f"columns has {', '.join(sorted(columns or {})) or 'none'}, the index has "
            f"{', '.join(sorted(index.columns)) or 'none'}; give a value of each column for each row"
        )
    rows = [int(one) for one in new_vectors.chunks[0]]
    client = index._client
    with _alone(index, deadline):
        held = index._shards
        arrays = client.persist([new_vectors, *others.values()])
        pieces = dict(zip(["rows", *others], map(chunks_of, arrays), strict=True))

        async def make() -> list[Part]:
            await prepare(client, deadline)
            await exist([one for some in pieces.values() for one in some], deadline, "chunks")
            where = await _everywhere(held, deadline)
            if new_indices is None:
                extents = [client.submit(shard.extent, one.future, key=key("extent")) for one in held.parts]
                first = max(await results(client, extents, deadline, "look for the largest id"))
                starts = np.cumsum([first, *rows]).tolist()
                ids = [client.submit(np.arange, *starts[i : i + 2], key=key("ids")) for i in range(len(rows))]
            else:
                ids = pieces["ids"]
                await _compare(client, ids, held, deadline)
            holders = await client.who_has(pieces["rows"])
            found = [next(iter(holders.get(one.key) or ("",))) for one in pieces["rows"]]
            parts = _extended(client, held, _members(held, where, rows, found), rows, pieces, ids)
            await exist([one.future for one in parts], deadline, "shards")
            return parts

        if sum(rows):
            index._shards = held.changed(run(client, make, deadline))
    return index


def remove(index: Index, ids: Any, *, timeout: float = 3600) -> int:
    """Removes rows from an index, in place.

    Parameters
    ----------
    index : Index
    ids : array of shape (n_ids,)
        As for :func:`annudf.ivf_flat.remove`, in host memory.
    timeout : float, default 3600
        Seconds after which the call gives up.

    Returns
    -------
    int
        The number of removed rows. If the call fails, the index is unchanged.

    Raises
    ------
    DtypeError, ArgumentError
        The array cannot be used.
    UnavailableError
        As for :func:`build`, or a shard is missing.

    Notes
    -----
    A search that runs meanwhile still finds them. A worker copies the shard that it takes rows of.
    """
    check_index(index)
    deadline = Deadline(timeout, "remove()")
    if isinstance(ids, (list, tuple)) and not ids:
        ids = np.empty(0, np.int64)  # To NumPy an empty list has a dtype: float64.
    gone = np.unique(transfer.as_numpy(given_ids(ids, "ids", Resources(), None, "of one dimension, one id a vector")))
    client = index._client
    with _alone(index, deadline):
        held = index._shards

        async def make() -> list[Part]:
            await prepare(client, deadline)
            await _everywhere(held, deadline)
            futures = [
                client.submit(shard.without, annudf.__version__, one.future, gone, key=key("shard"))
                for one in held.parts
            ]
            counts = [client.submit(shard.count, one, key=key("count")) for one in futures]
            left = await results(client, counts, deadline, "remove rows")
            return [
                one if count == one.rows else Part(future, one.ranges, count)
                for one, future, count in zip(held.parts, futures, left, strict=True)
            ]

        before = held.rows
        if len(gone):
            index._shards = held.changed(run(client, make, deadline))
        return before - index._shards.rows


@contextlib.contextmanager
def _alone(index: Index, deadline: Deadline) -> Iterator[None]:
    """While no other call changes the index."""
    if not index._changing.acquire(timeout=deadline.left):
        raise deadline.passed("another call changes the index")
    try:
        yield
    finally:
        index._changing.release()


async def _everywhere(held: Shards, deadline: Deadline) -> dict[int, str]:
    """The workers of all shards; UnavailableError names one that is lost for good."""
    where, whys = await held.places(deadline, set())
    if whys:
        number, why = next(iter(sorted(whys.items())))
        raise UnavailableError(f"{deadline.what} needs {held.name(number)}: {why}; build or load the index again")
    return where


async def _compare(client: Any, ids: list[Any], held: Shards, deadline: Deadline) -> None:
    """Raises ArgumentError if new ids are no ids, or repeat each other or one of a shard."""
    check = client.submit(check_ids, ids, "new_indices", key=key("ids"))
    await results(client, [check], deadline, "compare ids")
    asked = [client.submit(shard.first_held, one.future, ids, key=key("ids")) for one in held.parts]
    for number, one in enumerate(await results(client, asked, deadline, "compare ids")):
        if one is not None:
            raise ArgumentError(
                f"new_indices has {one}, which a row of {held.name(number)} has; remove that row first, or give each "
                "row an id of its own"
            )


def _members(held: Shards, where: dict[int, str], rows: list[int], holders: list[str]) -> dict[int, list[int]]:
    """The chunks that each shard gets."""
    sizes = {number: one.rows for number, one in enumerate(held.parts)}
    members: dict[int, list[int]] = {}
    for i, count in enumerate(rows):
        if not count:
            continue
        near = [number for number, address in where.items() if address == holders[i]]
        to = min(near or sizes, key=sizes.__getitem__)
        members.setdefault(to, []).append(i)
        sizes[to] += count
    return members


def _extended(
    client: Any,
    held: Shards,
    members: dict[int, list[int]],
    rows: list[int],
    pieces: dict[str, list[Any]],
    ids: list[Any],
) -> list[Part]:
    """The shards with their new chunks, each made where it is."""
    starts = np.cumsum([max(last for one in held.parts for _, last in one.ranges), *rows]).tolist()
    columns = [name for name in pieces if name.startswith("column ")]
    parts = list(held.parts)
    for number, chunks in members.items():
        ranges = [(starts[i], starts[i + 1]) for i in chunks]
        future = client.submit(
            shard.extended,
            annudf.__version__,
            parts[number].future,
            ranges,
            [pieces["rows"][i] for i in chunks],
            [ids[i] for i in chunks],
            {name.removeprefix("column "): [pieces[name][i] for i in chunks] for name in columns},
            key=key("shard"),
        )
        added = sum(rows[i] for i in chunks)
        parts[number] = replace(
            parts[number],
            future=future,
            ranges=joined([*parts[number].ranges, *ranges]),
            rows=parts[number].rows + added,
            record=None,
        )
    return parts
