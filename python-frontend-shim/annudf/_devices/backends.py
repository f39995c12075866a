# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Backends of this process: one for the CPU and one a CUDA device, made at first use."""

from __future__ import annotations

import atexit
import contextlib
import operator
import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from annudf._arrays import CPU, Device, View
from annudf._core import MAX_THREADS
from annudf._support import fork
from annudf._support.checks import check_int, shown
from annudf._support.limits import MAX_ADDRESS
from annudf._support.log import logger
from annudf.errors import ArgumentError, UnavailableError

if TYPE_CHECKING:
    from annudf._core import Backend, Event, SearchStats

_lock = fork.lock()
_backends: dict[Device, Backend] = {}
_archs: dict[Device, str] = {}
_settings = {"threads": 0}


_told_slow: set[tuple[str, str]] = set()
_told_faults: set[str] = set()


def tell_link(metric: str, device: Device | str, stats: SearchStats) -> None:
    """Logs that a kernel was made, and warns once of what the CPU does not compute as vectors of rows.

    And once of a cache on disk that is no use.
    """
    how = "found linked on disk" if stats.disk_hits and not stats.links else "linked"
    logger.debug("metric %s %s for %s in %.1f ms", metric, how, device, stats.link_ms)
    if stats.cache_fault and stats.cache_fault not in _told_faults:
        _told_faults.add(stats.cache_fault)
        logger.warning("%s", stats.cache_fault)
    remark = stats.slow
    if remark and (metric, remark) not in _told_slow:
        _told_slow.add((metric, remark))
        logger.warning(
            "metric %s: %s, which is several times slower on the CPU; see Make it fast in the documentation",
            metric,
            remark,
        )


def set_num_threads(count: int) -> None:
    """Sets how many threads later builds and searches on the CPU use.

    Parameters
    ----------
    count : int
        At most 1024; 0: all cores, the default.

    Notes
    -----
    Running calls keep their threads. Results do not depend on the number of threads.
    """
    number = check_int(count, "count", 0, MAX_THREADS, ", 0 for all cores")
    with _lock:
        if number != _settings["threads"]:
            _settings["threads"] = number
            _backends.pop(CPU, None)


def get_num_threads() -> int:
    """The number of threads of builds and searches on the CPU; 0: all cores."""
    return _settings["threads"]


def backend(device: Device) -> Backend:
    """The backend of a device. UnavailableError naming what is missing."""
    from annudf import _core

    with _lock:
        found = _backends.get(device)
        if found is None:
            start = time.perf_counter()
            threads = _settings["threads"]
            if device.kind == "cpu":
                found = _core.Backend.cpu(threads)
            elif device.team:
                found = _core.Backend.multi_device(list(device.team), device.mode == "sharded")
            else:
                found = _core.Backend.cuda(device.index)
            _backends[device] = found
            logger.debug(
                "backend made in %.1f ms: %s",
                (time.perf_counter() - start) * 1e3,
                found.describe(),
            )
        return found


def arch_of(device: Device) -> str:
    """The architecture to compile for, ``"sm_90"``: the newest known one that the device runs."""
    from annudf import _core

    arch = _archs.get(device)
    if arch is None:
        have = backend(device).arch
        known = [number for number in _core.supported_archs() if number <= have]
        if not known:
            raise UnavailableError(
                f"{device} is sm_{have}; the oldest supported architecture is sm_{min(_core.supported_archs())}"
            )
        arch = _archs[device] = f"sm_{max(known)}"
    return arch


# --- Lifetimes ------------------------------------------------------------------------------------
# A search on a GPU returns before it has run. What it reads and writes must live until the stream
# has got there, whatever the caller does with his references.

_held_lock = fork.lock()
_held: dict[tuple[Device, int], deque[tuple[Event, tuple[object, ...]]]] = {}


def hold(device: Device, stream: int, *objects: object) -> None:
    """Keeps `objects` alive until the work that is on `stream` now is done."""
    event = backend(device).record(stream)
    with _held_lock:
        _held.setdefault((device, stream), deque()).append((event, objects))
    release_done()


def release_done() -> int:
    """Lets go of what finished work held; gives how many calls are still under way."""
    dropped: list[tuple[Event, tuple[object, ...]]] = []
    failures: list[tuple[Device, int, Exception]] = []
    with _held_lock:
        for key, entries in list(_held.items()):
            # A stream works in order: where one is not done, none behind it is.
            while entries:
                try:
                    if not entries[0][0].done():
                        break
                except Exception as error:
                    # It will never be done, and it is no fault of the call that looks now.
                    failures.append((*key, error))
                dropped.append(entries.popleft())
            if not entries:
                del _held[key]
        count = sum(map(len, _held.values()))
    # Outside the lock: an owner's destructor, and a handler of messages, may run any code, even a search.
    del dropped
    for device, stream, failure in failures:
        logger.warning("work on stream 0x%x of %s failed after its call had returned: %s", stream, device, failure)
    return count


@atexit.register
def _wait_for_all() -> None:
    with _held_lock:
        entries = [entry for queue in _held.values() for entry in queue]
        _held.clear()
    for event, _ in entries:
        # At exit a driver may be gone already, and with it the work.
        with contextlib.suppress(Exception):
            event.wait()


# --- Streams --------------------------------------------------------------------------------------


def stream_handle(stream: object) -> int | None:
    """The CUstream of a stream object of CuPy, PyTorch, numba or ``__cuda_stream__``, or an address."""
    if stream is None:
        return None
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        pair = protocol() if callable(protocol) else protocol
        return int(pair[1])
    for attribute in ("cuda_stream", "ptr", "handle"):
        value = getattr(stream, attribute, None)
        if value is not None:
            return int(getattr(value, "value", value) or 0)
    try:
        handle = operator.index(stream)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentError(
            f"stream is a {type(stream).__name__}; give the address of a CUstream, or a stream of CuPy or PyTorch"
        ) from None
    if not 0 <= handle <= MAX_ADDRESS:
        raise ArgumentError(f"stream is {shown(handle)}, which is no address of a CUstream")
    return handle


def same_stream(first: int, second: int) -> bool:
    """Whether two handles are one stream: 0 and 1 are both the legacy default stream."""
    return (0 if first == 1 else first) == (0 if second == 1 else second)


def order_after(array: View, stream: int) -> None:
    """Makes `stream` wait, on the device if its library can, for the work that writes `array`."""
    if array.device.kind != "cuda" or array.producer is None:
        return
    if same_stream(array.producer, stream):
        return
    if array.library == "torch":
        torch: Any = sys.modules["torch"]
        torch_stream(stream, array.device.index).wait_stream(torch.cuda.current_stream(array.device.index))
    elif array.library == "cupy":
        cupy: Any = sys.modules["cupy"]
        with cupy.cuda.Device(array.device.index):
            event = cupy.cuda.get_current_stream().record()
            cupy_stream(stream, array.device.index).wait_event(event)
    else:
        # Only the handle of a foreign stream is known, so the host waits for it.
        backend(array.device).synchronize(array.producer)


def torch_stream(stream: int, device: int) -> Any:
    """PyTorch's object for a stream; the default stream has its own."""
    cuda: Any = sys.modules["torch"].cuda
    return cuda.default_stream(device) if same_stream(stream, 0) else cuda.ExternalStream(stream, device=device)


def cupy_stream(stream: int, device: int) -> Any:
    """CuPy's object for a stream; the default streams have their own."""
    cuda: Any = sys.modules["cupy"].cuda
    if same_stream(stream, 0):
        return cuda.Stream.null
    if stream == 2:
        return cuda.Stream.ptds
    if hasattr(cuda.Stream, "from_external"):  # CuPy 14; ExternalStream is deprecated there.
        return cuda.Stream.from_external(_Handle(stream))
    return cuda.ExternalStream(stream, device)


class _Handle:
    """A stream by its address, as the protocol ``__cuda_stream__`` has it."""

    def __init__(self, stream: int) -> None:
        self._stream = stream

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._stream
