# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Where the shards of an index are, and what is done when one is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import distributed

import annudf
from annudf._shards import files
from annudf._shards.request import MOST_KNOWN
from annudf._shards.shard import spelled
from annudf.dask._cluster import GRACE, Deadline, done, failure, key


@dataclass
class Part:
    """A shard as the client knows it."""

    future: Any
    ranges: list[tuple[int, int]]
    rows: int
    record: dict[str, Any] | None = None  # The manifest's, once it has a file.
    folder: str = ""

    def again(self, client: distributed.Client, metric: str) -> bool:
        """Asks for the shard of its file, if it has one."""
        if self.record is None:
            return False
        self.future = loaded(client, self.folder, self.record, metric)
        return True


def loaded(
    client: distributed.Client, folder: str, record: dict[str, Any], metric: str, worker: str | None = None
) -> Any:
    """The task that reads a shard, on a worker if that is there.

    It needs another task: once all workers are lost, Dask gives one that needs none to the lost worker only.
    """
    return client.submit(
        files.read_shard,
        annudf.__version__,
        folder,
        client.submit(dict, record, key=key("record")),
        metric,
        key=key("load"),
        workers=None if worker is None else [worker],
        allow_other_workers=worker is not None,
    )


class Shards:
    """The shards of an index as they are until it changes."""

    def __init__(
        self,
        client: distributed.Client,
        parts: Sequence[Part],
        metric: str,
        sent: dict[str, list[str]] | None = None,
    ) -> None:
        self.parts = tuple(parts)
        # Workers, and the digests that they know; the last used is last.
        self.sent: dict[str, list[str]] = {} if sent is None else sent
        self.extent: int | None = None  # One more than the largest id, once somebody asked.
        self._client = client
        self._metric = metric
        self._where: dict[int, str] = {}

    @property
    def rows(self) -> int:
        """How many all of them have."""
        return sum(one.rows for one in self.parts)

    def changed(self, parts: Sequence[Part]) -> Shards:
        """Others in their place, on workers that know the same metrics and filters."""
        return Shards(self._client, parts, self._metric, self.sent)

    def name(self, number: int) -> str:
        """A shard for messages."""
        return f"shard {number} of {len(self.parts)} ({spelled(self.parts[number].ranges)})"

    async def gone(self, addresses: list[str], deadline: Deadline) -> set[str]:
        """Those of the workers that do not have the shards any more that were there."""
        there = {number: one for number, one in self._where.items() if one in addresses}
        cancelled = {one for number, one in there.items() if self.parts[number].future.status == "cancelled"}
        asked = {number: one for number, one in there.items() if one not in cancelled}
        if not asked:
            return cancelled
        try:
            # `run` gives the whole call up GRACE after its deadline, so no answer may be awaited that long.
            asking = self._client.who_has([self.parts[n].future for n in asked])
            holders = await asyncio.wait_for(asking, min(GRACE, deadline.left))
        except (OSError, TimeoutError, distributed.client.CancelledError):
            return cancelled  # The next look may have an answer, or the time is over.
        return cancelled | {
            one for number, one in asked.items() if one not in holders.get(self.parts[number].future.key, ())
        }

    def note_sent(self, address: str, digests: list[str]) -> None:
        """Notes which metric and filter a worker has used. It forgets the oldest, and so does this."""
        older = [one for one in self.sent.get(address, ()) if one not in digests]
        self.sent[address] = [*older, *digests][-MOST_KNOWN:]

    def distrust(self, address: str) -> None:
        """Asks for the places of its shards again before the next call, and sends metric and filter again."""
        self.sent.pop(address, None)
        self._where = {number: one for number, one in self._where.items() if one != address}

    async def places(self, deadline: Deadline, failed: set[str]) -> tuple[dict[int, str], dict[int, BaseException]]:
        """The workers of the shards, once those are there that Dask makes again, and why others are not.

        The scheduler has up to two seconds to notice that workers failed a moment ago.
        """
        parts = self.parts
        whys: dict[int, BaseException] = {}
        read = set[int]()
        if len(self._where) == len(parts) and all(one.future.status == "finished" for one in parts):
            return self._where, whys
        patience = Deadline(2.0, "") if failed else None
        while True:
            for number, part in enumerate(parts):
                if part.future.status in ("error", "cancelled") and number not in whys:
                    why = await failure(part.future)
                    if why is not None and (number in read or not part.again(self._client, self._metric)):
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
                        whys[n] = deadline.passed(f"{self.name(n)} is nowhere")
                self._where = where
                return where, whys
            await asyncio.sleep(0.02)


async def _nothing() -> dict[str, Any]:
    return {}
