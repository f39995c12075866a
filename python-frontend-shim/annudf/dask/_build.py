# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Building: rows stay on the workers that have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dask.array
import distributed
import numpy as np
import numpy.typing as npt

import annudf
from annudf import _arrays
from annudf._devices import transfer
from annudf._metric.captures import check_name
from annudf._shards import shard
from annudf._shards.shard import joined, training_rows
from annudf._support.checks import class_of
from annudf.common import Resources
from annudf.dask._cluster import Deadline, check_client, chunks_of, exist, key, prepare, results, run
from annudf.dask._index import Index, Part
from annudf.errors import ArgumentError, DtypeError
from annudf.ivf_flat._ids import check_distinct, given_ids
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
    _check_rows(dataset)
    rows = [int(one) for one in dataset.chunks[0]]
    beside = _beside(ids, columns, dataset)
    positions = training_rows(index_params, sum(rows))
    at = check_client(client)
    arrays = at.persist([dataset, *beside.values()])
    pieces = dict(zip(["dataset", *beside], map(chunks_of, arrays), strict=True))
    starts = np.cumsum([0, *rows]).tolist()

    async def make() -> list[Part]:
        await prepare(at, deadline)
        everything = [one for some in pieces.values() for one in some]
        await exist(everything, deadline, "chunks")
        trained = _trained(at, index_params, pieces["dataset"], starts, positions)
        if ids is not None:
            check = at.submit(_check_ids, pieces["ids"], key=key("ids"))
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
        parts.append(Part(future, joined(ranges)))
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


def _check_array(array: object, name: str, axes: int) -> Any:
    if not isinstance(array, dask.array.Array):
        raise ArgumentError(f"argument '{name}' is {class_of(array)}, it must be a dask array")
    if array.ndim != axes:
        raise ArgumentError(f"argument '{name}' has shape {array.shape}, it must have {axes} axes")
    if any(np.isnan(one) for axis in array.chunks for one in axis):
        raise ArgumentError(
            f"argument '{name}' has chunks of unknown size, and positions are ids; call {name}.compute_chunk_sizes()"
        )
    return array


def _check_rows(dataset: object) -> None:
    array = _check_array(dataset, "dataset", 2)
    if array.dtype.name not in _arrays.VECTORS:
        raise DtypeError(f"argument 'dataset' has dtype {array.dtype}, it must be {', '.join(_arrays.VECTORS)}")
    if len(array.chunks[1]) != 1:
        raise ArgumentError(
            f"argument 'dataset' has {len(array.chunks[1])} chunks a row; give whole rows, dataset.rechunk({{1: -1}})"
        )


def _beside(ids: Any, columns: Any, dataset: Any) -> dict[str, Any]:
    """Ids and columns by the names of their pieces."""
    named = {} if ids is None else {"ids": ("ids", ids)}
    if columns is not None and not isinstance(columns, Mapping):
        raise ArgumentError(f"columns is {class_of(columns)}, it must be a mapping of names to dask arrays")
    for name, array in (columns or {}).items():
        named[f"column {check_name(name)}"] = (f"columns['{name}']", array)
    for shown, array in named.values():
        if _check_array(array, shown, 1).chunks[0] != dataset.chunks[0]:
            raise ArgumentError(
                f"argument '{shown}' has chunks {array.chunks[0]}, 'dataset' has {dataset.chunks[0]}; rechunk "
                "it to those, so that each chunk is for the rows of one"
            )
    return {name: array for name, (_, array) in named.items()}


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


def _check_ids(pieces: list[npt.NDArray[Any]]) -> None:
    own = Resources()
    every = [transfer.as_numpy(given_ids(piece, "ids", own, None, "of shape (n_rows,)")) for piece in pieces]
    check_distinct(np.concatenate(every), "ids")
