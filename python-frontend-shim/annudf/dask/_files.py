# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Reading what :meth:`Index.save` wrote."""

from __future__ import annotations

import os
from typing import Any

import distributed

from annudf._shards import files
from annudf._support.checks import check_path
from annudf.dask._cluster import Deadline, check_client, exist, prepare, run
from annudf.dask._index import Index
from annudf.dask._places import Part, loaded


def load(folder: str | os.PathLike[str], *, client: distributed.Client | None = None, timeout: float = 3600) -> Index:
    """Reads an index that :meth:`Index.save` wrote; workers read the files of shards, and check them.

    Parameters
    ----------
    folder : path
        As for :meth:`Index.save`.
    client : dask.distributed.Client, optional
        Default: the current one.
    timeout : float, default 3600
        Seconds after which the call gives up.

    Returns
    -------
    Index
        It has as many shards as when it was saved, whatever the number of workers.

    Raises
    ------
    InputError
        The manifest or a file is missing or damaged, or has another SHA-256 than the manifest says.
    UnavailableError
        Workers have another version of annudf, or the time is over.
    """
    path = check_path(folder, "folder").rstrip("/")
    if not files.is_url(path):
        path = os.path.abspath(path)
    deadline = Deadline(timeout, "load()")
    at = check_client(client)
    found = files.read_manifest(path)

    async def read() -> list[Part]:
        addresses = await prepare(at, deadline)
        parts = [
            Part(
                loaded(at, path, record, found["metric"], addresses[number % len(addresses)]),
                [(first, last) for first, last in record["ranges"]],
                record["rows"],
                record,
                path,
            )
            for number, record in enumerate(found["shards"])
        ]
        await exist([one.future for one in parts], deadline, "shards")
        return parts

    described: dict[str, Any] = {
        name: found[name] for name in ("annudf", "metric", "n_lists", "dim", "dtype", "columns")
    }
    return Index(at, run(at, read, deadline), described)
