# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Waiting for a cluster, never without a limit."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
import weakref
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeVar

import distributed
from dask.core import flatten
from distributed.comm.addressing import get_address_host
from distributed.core import clean_exception
from distributed.protocol.pickle import dumps

import annudf
from annudf._devices import backends
from annudf._support.checks import check_number, class_of, refusal
from annudf.errors import ArgumentError, Error, UnavailableError

_T = TypeVar("_T")
_POLL_SECONDS = 0.02
_LOOK_SECONDS = 0.2
GRACE = 5.0
"""Seconds that one answer of the scheduler may take, and a call beyond its own limit where Dask's loop hangs."""
_MOST_LOOK_SECONDS = 1.0  # A look asks the scheduler, which may share its processor with a worker.
PROCESS = (socket.gethostname(), os.getpid())


class LostTask(UnavailableError):
    """A task that Dask gave up, or whose inputs are lost."""


class Deadline:
    """When a call gives up."""

    def __init__(self, seconds: object, what: str) -> None:
        self.seconds = check_number(seconds, "timeout")
        if not 0 < self.seconds < 1e9:
            raise refusal("timeout", seconds, "a number of seconds above 0, less than 1e9")
        self.what = what
        self._end = time.monotonic() + self.seconds

    @property
    def left(self) -> float:
        """Seconds; 0 if it has passed."""
        return max(0.0, self._end - time.monotonic())

    def half(self) -> Deadline:
        """Half of what is left, so that a worker that hangs leaves time to search the shards of others."""
        return Deadline(max(self.left / 2, 1e-3), self.what)

    def passed(self, state: str) -> UnavailableError:
        """The error of a call that gives up."""
        return UnavailableError(f"{self.what} took more than timeout={self.seconds:g} s: {state}")


def key(what: str) -> str:
    """The key of a task, which Dask shows."""
    return f"annudf-{what}-{os.urandom(8).hex()}"


def check_client(client: object) -> distributed.Client:
    """The client, by default the current one."""
    if client is None:
        try:
            client = distributed.default_client()
        except ValueError:
            raise ArgumentError(
                "client is None and there is no current one; make it by client = dask.distributed.Client()"
            ) from None
    if not isinstance(client, distributed.Client):
        raise ArgumentError(f"client is {class_of(client)}, it must be a dask.distributed.Client")
    if client.asynchronous:
        raise ArgumentError("client is asynchronous; make one without asynchronous=True")
    return client


def run(client: distributed.Client, work: Callable[[], Awaitable[_T]], deadline: Deadline) -> _T:
    """Runs a coroutine of the client's loop; it keeps the deadline itself, and is given up a little later if not."""
    if client.status != "running":
        raise UnavailableError(f"the Dask client is {client.status}; connect another and load the index with it")
    try:
        result: _T = client.sync(work, callback_timeout=deadline.left + GRACE)
        return result
    except TimeoutError:
        raise deadline.passed("the scheduler does not answer") from None


def chunks_of(array: Any) -> list[Any]:
    """The futures of the chunks of a persisted array, in their order."""
    futures = {one.key: one for one in distributed.futures_of(array)}
    return [futures[one] for one in flatten(array.__dask_keys__())]


async def done(futures: Iterable[Any], deadline: Deadline, state: Callable[[int], str]) -> None:
    """Waits until the futures are finished or have failed, all at one time: a lost worker takes results with it."""
    everything = list(futures)
    while waiting := [one for one in everything if one.status in ("pending", "lost")]:
        if not deadline.left:
            raise deadline.passed(state(len(waiting)))
        await asyncio.sleep(_POLL_SECONDS)


async def exist(futures: list[Any], deadline: Deadline, what: str) -> None:
    """Waits for tasks whose results stay where they are; raises what one raised."""
    await done(futures, deadline, lambda count: f"{count} of {len(futures)} {what} are not done")
    for one in futures:
        if (why := await failure(one)) is not None:
            raise why


async def results(client: distributed.Client, futures: list[Any], deadline: Deadline, what: str) -> list[Any]:
    """The results of tasks. What a task raised is raised."""
    await exist(futures, deadline, f"tasks that {what}")
    try:
        found: list[Any] = await asyncio.wait_for(client.gather(futures, asynchronous=True), deadline.left)
    except TimeoutError:
        raise deadline.passed(f"tasks that {what} are done, but their results do not arrive") from None
    return found


async def failure(future: Any) -> BaseException | None:
    """Why a future that is done has no result."""
    if future.status == "finished":
        return None
    if future.status == "error":
        why: BaseException = await future.exception()
        if isinstance(why, (Error, KeyboardInterrupt)) or not lost(why):
            return why
        return LostTask(f"Dask gave up a task: {type(why).__name__}: {why}")
    return LostTask(f"Dask lost a task ({future.status}): what it was made of is gone with its worker")


def lost(error: BaseException) -> bool:
    """Whether an exception is about workers and connections, and not about what was asked."""
    kinds = (OSError, TimeoutError, distributed.KilledWorker, asyncio.CancelledError)
    return isinstance(error, kinds)


async def ask(
    client: distributed.Client,
    calls: Mapping[str, tuple[Any, ...]],
    deadline: Deadline,
    gone: Callable[[list[str], Deadline], Awaitable[set[str]]] | None = None,
) -> dict[str, Any]:
    """Calls a function on each worker, all at once; the results by address, or exceptions in their place.

    `gone` says which workers are lost: a connection alone may take half a minute to find out.
    """

    async def one(address: str, function: Any, *arguments: Any) -> Any:
        if _reaches(client, address):
            with contextlib.suppress(OSError):  # Then the scheduler finds out whether the worker is lost.
                return await _told(client, address, function, arguments)
            _unreached.setdefault(client, set()).add(address)
        answers = await client.run(function, *arguments, workers=[address], on_error="return")
        return answers[address]

    look = _LOOK_SECONDS
    tasks = {address: asyncio.ensure_future(one(address, *call)) for address, call in calls.items()}
    answers: dict[str, Any] = {}
    try:
        while waiting := {address: task for address, task in tasks.items() if address not in answers}:
            await asyncio.wait(waiting.values(), timeout=min(look, deadline.left))
            look = min(1.5 * look, _MOST_LOOK_SECONDS)
            late = [address for address, task in waiting.items() if not task.done()]
            for address in set(waiting) - set(late):
                answers[address] = tasks[address].exception() or tasks[address].result()
            if not deadline.left:
                answers |= {address: OSError(f"worker {address} does not answer") for address in late}
            elif late and gone is not None:
                answers |= {address: OSError(f"worker {address} is lost") for address in await gone(late, deadline)}
    finally:
        for task in tasks.values():
            task.cancel()
    return answers


_unreached: weakref.WeakKeyDictionary[distributed.Client, set[str]] = weakref.WeakKeyDictionary()
"""Workers that a client did not reach itself."""


def _reaches(client: distributed.Client, address: str) -> bool:
    """Whether the client connects to a worker itself: where it is told to, and on its own machine."""
    if address in _unreached.get(client, ()):
        return False
    if client.direct_to_workers is not None:
        return bool(client.direct_to_workers)
    if address.startswith("inproc://"):
        return bool(client.scheduler.address.startswith("inproc://"))
    return get_address_host(address) in ("127.0.0.1", "::1", distributed.utils.get_ip())


async def _told(client: distributed.Client, address: str, function: Any, arguments: tuple[Any, ...]) -> Any:
    """What Client.run gives, by a connection that is kept, and without a copy on the scheduler."""
    answer = await client.rpc(address).run(function=dumps(function), args=dumps(arguments), kwargs=dumps({}), wait=True)
    if answer["status"] == "OK":
        return answer["result"]
    _, error, trace = clean_exception(**answer)
    raise error.with_traceback(trace)


def fit_threads(threads: int, process: tuple[str, int]) -> None:
    """A worker computes with its own threads only, unless somebody has set them, or it is in the client's process."""
    if process != (socket.gethostname(), os.getpid()) and backends.get_num_threads() == 0:
        backends.set_num_threads(threads)


def prepared(process: tuple[str, int], dask_worker: Any = None) -> str:
    """Prepares a worker; its version of annudf."""
    fit_threads(dask_worker.state.nthreads, process)
    return annudf.__version__


async def prepare(client: distributed.Client, deadline: Deadline) -> list[str]:
    """The addresses of all workers, which have this version of annudf."""
    while not (addresses := list(await asyncio.wait_for(client.nthreads(), max(deadline.left, 1)))):
        if not deadline.left:
            raise deadline.passed("the cluster has no workers")
        await asyncio.sleep(_POLL_SECONDS)
    answers = await ask(client, {one: (prepared, PROCESS) for one in addresses}, deadline)
    others = {}
    for address, answer in answers.items():
        if isinstance(answer, BaseException) and not lost(answer):
            raise UnavailableError(f"worker {address} cannot use annudf.dask: {type(answer).__name__}: {answer}")
        if isinstance(answer, str) and answer != annudf.__version__:
            others[address] = answer
    if others:
        listed = ", ".join(f"{address} has {version}" for address, version in sorted(others.items()))
        raise UnavailableError(
            f"workers have other versions of annudf than the client's {annudf.__version__}: {listed}; install one on "
            "all of them"
        )
    alive = [address for address, answer in answers.items() if isinstance(answer, str)]
    if not alive:
        raise UnavailableError(f"no worker answers: {next(iter(answers.values()))}")
    return alive
