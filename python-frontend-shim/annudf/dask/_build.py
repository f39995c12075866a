# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Building: rows stay on the workers that have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import distributed
import numpy as np
import numpy.typing as npt

import annudf
from annudf._shards import shard
from annudf._shards.shard import joined, training_rows
from annudf._support.checks import class_of
from annudf.dask._arguments import beside, check_ids, check_rows
from annudf.dask._cluster import Deadline, check_client, chunks_of, exist, key, prepare, results, run
from annudf.dask._index import Index
from annudf.dask._places import Part
from annudf.errors import ArgumentError
from annudf.ivf_flat._params import IndexParams


def build(
    index_params: IndexParams,
    dataset: Any,
    *,
    ids: Any = None,
    columns: Mapping[str, Any] | None = None,
    client: distributed.Client | None = None,
    timeout: float = 3600,
) -> Index:
    """Builds one shard on each worker that has rows. Only the rows of :func:`training_rows` are gathered.

    Parameters
    ----------
    index_params : IndexParams
        ``n_lists`` is a number, and ``adaptive_centers`` and ``add_data_on_build`` have their defaults.
    dataset : dask array of shape (n_rows, dim)
        As for :func:`annudf.ivf_flat.build`, in chunks of whole rows. Chunks that are not in memory are computed
        first.
    ids : dask array of shape (n_rows,), optional
        Different integers from 0, in the chunks of `dataset`. One worker compares them. Default: positions in
        `dataset`.
    columns : mapping of str to dask array of shape (n_rows,), optional
        As for :func:`annudf.ivf_flat.build`, in the chunks of `dataset`.
    client : dask.distributed.Client, optional
        Default: the current one.
    timeout : float, default 3600
        Seconds after which the call gives up.

    Returns
    -------
    Index
        A search equals that of one index with the same centers, to the bit.

    Raises
    ------
    ArgumentError, DtypeError
        An argument cannot be used.
    UnavailableError
        Workers have another version of annudf, Dask gave up a task, or the time is over.
    """
    deadline = Deadline(timeout, "build()")
    _check_params(index_params)
    check_rows(dataset, "dataset")
    rows = [int(one) for one in dataset.chunks[0]]
    others = beside(ids, columns, dataset, ("ids", "dataset"))
    positions = training_rows(index_params, sum(rows))
    at = check_client(client)
    arrays = at.persist([dataset, *others.values()])
    pieces = dict(zip(["dataset", *others], map(chunks_of, arrays), strict=True))
    starts = np.cumsum([0, *rows]).tolist()

    async def make() -> list[Part]:
        await prepare(at, deadline)
        everything = [one for some in pieces.values() for one in some]
        await exist(everything, deadline, "chunks")
        trained = _trained(at, index_params, pieces["dataset"], starts, positions)
        if ids is not None:
            check = at.submit(check_ids, pieces["ids"], "ids", key=key("ids"))
            await results(at, [check], deadline, "compare ids")
        holders = await at.who_has(pieces["dataset"])
        parts = _shards_of(at, trained, rows, pieces, holders)
        await exist([one.future for one in parts], deadline, "shards")
        return parts

    described = {
        "annudf": annudf.__version__,
        "metric": index_params.metric,
        "n_lists": index_params.n_lists,
        "dim": int(dataset.shape[1]),
        "dtype": dataset.dtype.name,
        "columns": {name: array.dtype.name for name, array in (columns or {}).items()},
    }
    return Index(at, run(at, make, deadline), described)


def _shards_of(
    client: distributed.Client,
    trained: Any,
    rows: list[int],
    pieces: dict[str, list[Any]],
    holders: Mapping[str, Any],
) -> list[Part]:
    """A task for each worker that holds rows."""
    starts = np.cumsum([0, *rows]).tolist()
    columns = [name for name in pieces if name.startswith("column ")]
    groups: dict[str, list[int]] = {}
    for i, one in enumerate(pieces["dataset"]):
        if rows[i]:
            groups.setdefault(next(iter(holders.get(one.key) or ("",))), []).append(i)
    parts = []
    for address, members in groups.items():
        ranges = [(starts[i], starts[i + 1]) for i in members]
        future = client.submit(
            shard.make,
            annudf.__version__,
            trained,
            ranges,
            [pieces["dataset"][i] for i in members],
            [pieces["ids"][i] for i in members] if "ids" in pieces else None,
            {name.removeprefix("column "): [pieces[name][i] for i in members] for name in columns},
            key=key("shard"),
            workers=[address] if address else None,
            allow_other_workers=bool(address),  # A shard that is lost is made again where there is a worker.
        )
        parts.append(Part(future, joined(ranges), sum(rows[i] for i in members)))
    return parts


def _check_params(index_params: object) -> None:
    if not isinstance(index_params, IndexParams):
        raise ArgumentError(f"index_params is {class_of(index_params)}, it must be an ivf_flat.IndexParams")
    if index_params.adaptive_centers:
        raise ArgumentError(
            "index_params.adaptive_centers is True, which moves centers with the rows of one shard; leave it out"
        )
    if not index_params.add_data_on_build:
        raise ArgumentError("index_params.add_data_on_build is False; shards have the rows of 'dataset', leave it out")


def _trained(
    client: distributed.Client,
    index_params: IndexParams,
    pieces: list[Any],
    starts: list[int],
    positions: npt.NDArray[np.int64],
) -> Any:
    edges = np.searchsorted(positions, starts)
    samples = [
        client.submit(_taken, piece, positions[edges[i] : edges[i + 1]] - starts[i], key=key("sample"))
        for i, piece in enumerate(pieces)
        if edges[i] < edges[i + 1]
    ]
    return client.submit(shard.train, annudf.__version__, index_params, samples, key=key("train"))


def _taken(piece: npt.NDArray[Any], positions: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    return np.ascontiguousarray(piece[positions])
