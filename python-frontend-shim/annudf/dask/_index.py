# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The index: where its shards are, and what is done when one is lost."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any

import distributed
import numpy as np

import annudf
from annudf import _arrays
from annudf._shards import files
from annudf._support.checks import check_path, class_of
from annudf._support.repr import of_whole
from annudf.dask._cluster import Deadline, key, prepare, results, run
from annudf.dask._places import Part, Shards
from annudf.errors import ArgumentError


def check_index(index: object) -> Index:
    """The index, or ArgumentError."""
    if not isinstance(index, Index):
        raise ArgumentError(f"index is {class_of(index)}, it must be a dask ivf_flat.Index, of build() or load()")
    return index


class Index:
    """An IVF-Flat index in shards, one a worker: each holds some rows of every list.

    :func:`build` and :func:`load` make it. Dask keeps the shards until the index is deleted, and makes one again
    that is lost with its worker.
    """

    def __init__(self, client: distributed.Client, parts: Sequence[Part], described: dict[str, Any]) -> None:
        self._client = client
        self._described = described
        self._shards = Shards(client, parts, described["metric"])
        self._changing = threading.Lock()

    @property
    def n_shards(self) -> int:
        """Number of shards."""
        return len(self._shards.parts)

    @property
    def n_lists(self) -> int:
        """Number of lists."""
        return int(self._described["n_lists"])

    @property
    def dim(self) -> int:
        """Dimensions of the vectors."""
        return int(self._described["dim"])

    @property
    def size(self) -> int:
        """Number of vectors of all shards."""
        return self._shards.rows

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type of the vectors."""
        return _arrays.numpy_dtype(self._described["dtype"])

    @property
    def metric(self) -> str:
        """The metric of :func:`search`, unless its parameters name another."""
        return str(self._described["metric"])

    @property
    def columns(self) -> dict[str, np.dtype[Any]]:
        """Dtypes of the columns by name."""
        return {name: _arrays.numpy_dtype(one) for name, one in self._described["columns"].items()}

    def __len__(self) -> int:
        return self.size

    @of_whole("_shards")
    def __repr__(self) -> str:
        return (
            f"Index(type=IvfFlat, size={self.size}, dim={self.dim}, dtype={self._described['dtype']}, "
            f"n_lists={self.n_lists}, metric={self.metric!r}, n_shards={self.n_shards})"
        )

    def save(self, folder: str | os.PathLike[str], *, timeout: float = 3600) -> None:
        """Writes one file a shard, and a manifest that names them with their SHA-256.

        Parameters
        ----------
        folder : path
            A folder that the client and all workers see, or a URL of fsspec, such as "s3://bucket/index". It must not
            hold an index. A shard that is lost later is read from it.
        timeout : float, default 3600
            Seconds after which the call gives up.

        Raises
        ------
        ArgumentError
            The folder holds an index.
        UnavailableError
            A file cannot be written, or the time is over. There is no manifest then.
        """
        path = check_path(folder, "folder").rstrip("/")
        if not files.is_url(path):
            path = os.path.abspath(path)
        deadline = Deadline(timeout, "save()")
        files.refuse_full(path)
        client, parts = self._client, self._shards.parts

        async def write() -> list[dict[str, Any]]:
            await prepare(client, deadline)
            tasks = [
                client.submit(
                    files.write_shard,
                    annudf.__version__,
                    part.future,
                    path,
                    number,
                    key=key("save"),
                )
                for number, part in enumerate(parts)
            ]
            return await results(client, tasks, deadline, "write shards")

        records = run(client, write, deadline)
        files.write_manifest(path, self._described, records)
        for part, record in zip(parts, records, strict=True):
            part.folder, part.record = path, record
