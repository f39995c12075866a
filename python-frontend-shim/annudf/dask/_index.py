# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The index: where its shards are, and what is done when one is lost."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import distributed
import numpy as np

import annudf
from annudf import _arrays
from annudf._shards import files
from annudf._shards.request import MOST_KNOWN
from annudf._shards.shard import spelled
from annudf._support.checks import check_path
from annudf._support.repr import of_whole
from annudf.dask._cluster import Deadline, done, failure, key, prepare, results, run


@dataclass
class Part:
    """A shard as the client knows it."""

    future: Any
    ranges: list[tuple[int, int]]
    record: dict[str, Any] | None = None  # The manifest's, once it has a file.
    folder: str = ""

    @property
    def rows(self) -> int:
        """How many it has."""
        return sum(last - first for first, last in self.ranges)

    def again(self, client: distributed.Client, metric: str) -> bool:
        """Asks for the shard of its file, if it has one."""
        if self.record is None:
            return False
        self.future = loaded(client, self.folder, self.record, metric)
        return True


def loaded(
    client: distributed.Client, folder: str, record: dict[str, Any], metric: str, worker: str | None = None
) -> Any:
    """The task that reads a shard, on a worker if that is there."""
    return client.submit(
        files.read_shard,
        annudf.__version__,
        folder,
        record,
        metric,
        key=key("load"),
        workers=None if worker is None else [worker],
        allow_other_workers=worker is not None,
    )


class Index:
    """An IVF-Flat index in shards, one a worker: each holds some rows of every list.

    :func:`build` and :func:`load` make it. Dask keeps the shards until the index is deleted, and makes one again
    that is lost with its worker.
    """

    def __init__(self, client: distributed.Client, parts: Sequence[Part], described: dict[str, Any]) -> None:
        self._client = client
        self._parts = list(parts)
        self._described = described
        self._where: dict[int, str] = {}
        self._sent: dict[str, list[str]] = {}  # Workers, and the digests that they know; the last used is last.

    @property
    def n_shards(self) -> int:
        """Number of shards."""
        return len(self._parts)

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
        return sum(one.rows for one in self._parts)

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

    @of_whole("_sent")
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
        client = self._client

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
                for number, part in enumerate(self._parts)
            ]
            return await results(client, tasks, deadline, "write shards")

        records = run(client, write, deadline)
        files.write_manifest(path, self._described, records)
        for part, record in zip(self._parts, records, strict=True):
            part.folder, part.record = path, record

    def _name(self, number: int) -> str:
        """A shard for messages."""
        return f"shard {number} of {self.n_shards} ({spelled(self._parts[number].ranges)})"

    async def _gone(self, addresses: list[str]) -> set[str]:
        """Those of the workers that do not have the shards any more that were there."""
        there = {number: one for number, one in self._where.items() if one in addresses}
        try:
            holders = await asyncio.wait_for(self._client.who_has([self._parts[n].future for n in there]), 5)
        except (OSError, TimeoutError):  # The next look may have an answer, or the time is over.
            return set()
        return {one for number, one in there.items() if one not in holders.get(self._parts[number].future.key, ())}

    def _note_sent(self, address: str, digests: list[str]) -> None:
        """Notes which metric and filter a worker has used. It forgets the oldest, and so does this."""
        older = [one for one in self._sent.get(address, ()) if one not in digests]
        self._sent[address] = [*older, *digests][-MOST_KNOWN:]

    def _distrust(self, address: str) -> None:
        """Asks for the places of its shards again before the next call, and sends metric and filter again."""
        self._sent.pop(address, None)
        self._where = {number: one for number, one in self._where.items() if one != address}

    async def _places(self, deadline: Deadline, failed: set[str]) -> tuple[dict[int, str], dict[int, BaseException]]:
        """The workers of the shards, once those are there that Dask makes again, and why others are not.

        The scheduler has up to two seconds to notice that workers failed a moment ago.
        """
        parts = self._parts
        whys: dict[int, BaseException] = {}
        read = set[int]()
        if len(self._where) == len(parts) and all(one.future.status == "finished" for one in parts):
            return self._where, whys
        patience = Deadline(2.0, "") if failed else None
        while True:
            for number, part in enumerate(parts):
                if part.future.status in ("error", "cancelled") and number not in whys:
                    why = await failure(part.future)
                    if why is not None and (number in read or not part.again(self._client, self.metric)):
                        whys[number] = why
                    read.add(number)
            waiting = [part.future for number, part in enumerate(parts) if number not in whys]
            try:
                await done(waiting, deadline, lambda count: f"{count} of {len(parts)} shards are being made again")
            except annudf.UnavailableError as error:
                ready = {number for number, part in enumerate(parts) if part.future.status == "finished"}
                whys |= {n: error for n in range(len(parts)) if n not in ready and n not in whys}
            known = {n: one.future for n, one in enumerate(parts) if n not in whys and one.future.status == "finished"}
            holders = await asyncio.wait_for(
                self._client.who_has(list(known.values())) if known else _nothing(),
                max(deadline.left, 1.0),
            )
            where = {n: next(iter(found)) for n, one in known.items() if (found := set(holders.get(one.key, ())))}
            trusted = not failed & set(where.values()) or patience is None or not patience.left
            if (trusted and len(where) + len(whys) == len(parts)) or not deadline.left:
                for n in range(len(parts)):
                    if n not in where and n not in whys:
                        whys[n] = deadline.passed(f"{self._name(n)} is nowhere")
                self._where = where
                return where, whys
            await asyncio.sleep(0.02)


async def _nothing() -> dict[str, Any]:
    return {}
