# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Is interrupted while it works, at many moments: ``interrupted.py SCENARIO TRIES FOLDER``.

Prints for each try whether the call returned, and whether its work is done, as JSON.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from annudf import ivf_flat
from annudf._metric.builtin import builtin_metric

# A process of its own, so that signals come as those of a keyboard do: whenever they like.
SENDER = """
import os, sys, time
for line in sys.stdin:
    due = time.perf_counter() + float(line)
    time.sleep(max(0, float(line) - 2e-3))
    while time.perf_counter() < due:
        pass
    os.kill(os.getppid(), 2)
"""


def tried(call: Callable[[], Any], delay: float, sender: subprocess.Popen[str]) -> bool:
    """Whether `call` returned, of which exactly one SIGINT is sent during or after it."""
    assert sender.stdin is not None
    result: list[Any] = []
    try:
        sender.stdin.write(f"{delay}\n")
        sender.stdin.flush()
        # No call may come between what `call` gives and its place.
        result[:] = (call(),)
        while True:
            time.sleep(1)
    except KeyboardInterrupt:
        return bool(result)


def timed(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main(scenario: str, tries: int, folder: Path) -> None:
    random = np.random.default_rng(1)
    rows = random.random((20000, 32), dtype=np.float32)
    path = folder / "file"
    done: Callable[[], bool]
    if scenario == "extend":
        index = ivf_flat.build(ivf_flat.IndexParams(n_lists=64), rows[:1000])
        # What is searched, too: a length that was not told would hide the rows. Each extend adds the first again.
        size, copies = len(index), 1

        def found() -> int:
            distances = ivf_flat.search(ivf_flat.SearchParams(n_probes=64), index, rows[:1], 200)[0]
            return int(np.count_nonzero(np.asarray(distances) == 0))

        def prepare() -> None:
            nonlocal size, copies
            size, copies = len(index), found()

        def work() -> Any:
            return ivf_flat.extend(index, rows)

        def done() -> bool:
            grown = found() - copies
            assert (len(index) - size, grown) in ((0, 0), (len(rows), 1)), "the index is between two states"
            return grown == 1
    elif scenario == "save":
        index = ivf_flat.build(ivf_flat.IndexParams(n_lists=64), rows)
        prepare, work, done = replacing(path, lambda: ivf_flat.save(path, index))
    elif scenario == "metric":
        metric = builtin_metric("l1")
        prepare, work, done = replacing(path, lambda: metric.save(path, []))
    else:
        raise AssertionError(scenario)
    prepare()
    timed(work)
    sender = subprocess.Popen([sys.executable, "-c", SENDER], stdin=subprocess.PIPE, text=True)
    outcomes: list[tuple[bool, bool]] = []

    def interrupt(delay: float) -> None:
        prepare()
        returned = tried(work, delay, sender)
        outcomes.append((returned, done()))
        left = [name.name for name in folder.iterdir() if name != path]
        assert not left, left

    for number in range(tries):
        prepare()
        # Compared with a call just before: others that use the machine come and go.
        time_ = timed(work)
        interrupt(time_ * 1.3 * number / tries)
    while not any(returned for returned, _ in outcomes) and time_ < 20:
        time_ *= 2
        interrupt(time_)
    sender.kill()
    json.dump({"time": time_, "outcomes": outcomes}, sys.stdout)


def replacing(path: Path, save: Callable[[], None]) -> tuple[Callable[[], None], Callable[[], Any], Callable[[], bool]]:
    """Work that replaces a file: how it begins, the work, and whether it is done."""
    save()
    whole = path.read_bytes()

    def done() -> bool:
        found = path.read_bytes()
        assert found in (b"before", whole), "the file is between two states"
        return found == whole

    return lambda: path.write_bytes(b"before") and None, save, done


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # Who started it may ignore it.
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
