# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A child of a program whose other threads compile, or hold a lock, when it forks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HEAD = """
import logging, os, signal, sys, threading
import numpy as np
from annudf import ivf_flat
from annudf._devices import backends
from annudf._metric import definition

rows = np.ones((4, 2), np.float32)
index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows)

def made(k):
    def away(x, y, acc):
        return acc + k * abs(x - y + k)
    return ivf_flat.metric(away)

def distance(metric, **more):
    return ivf_flat.search(ivf_flat.SearchParams(metric=metric), index, rows, 1, **more)[0].flat[0].item()

def child(work):
    \"\"\"Forks, and gives what was wrong in the child.\"\"\"
    process = os.fork()
    if process:
        return os.waitpid(process, 0)[1]
    signal.alarm(60)
    try:
        os._exit(0 if work() else 1)
    finally:
        os._exit(2)
"""


def ok(tmp_path: Path, program: str) -> None:
    file = tmp_path / "program.py"
    file.write_text(HEAD + program)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(file)], env={**os.environ, "ANNUDF_CACHE_DISABLE": "1"},
        capture_output=True, text=True, check=False, timeout=400,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_another_thread_compiles(tmp_path: Path) -> None:
    ok(tmp_path, """
first = made(0.5)
distance(first)
ended, last = threading.Event(), [first]
def compile_on(k):
    while not ended.is_set():
        k += 0.125
        last[0] = made(k)
        last[0].mlir()
        last[0].artifact([])
threads = [threading.Thread(target=compile_on, args=(k,)) for k in (1, 100)]
[one.start() for one in threads]
for k in range(4):
    assert child(lambda: distance(made(k + 1.0)) == 2 * (k + 1) ** 2 and last[0].artifact([]) is not None) == 0
ended.set()
[one.join() for one in threads]
print("done")
""")  # fmt: skip


def test_another_thread_holds_a_lock(tmp_path: Path) -> None:
    ok(tmp_path, """
metric = made(0.5)
even = ivf_flat.filter(lambda ctx: ctx.row % 2 == 0)
locks = [definition._memory_lock, metric._definition._lock, metric._lock, even._lock, even._metric._lock,
         backends._lock, backends._held_lock]
for lock in locks:
    held, ended = threading.Event(), threading.Event()
    def hold():
        with lock:
            held.set()
            ended.wait()
    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    assert child(lambda: distance(metric, filter=even) == 0.5 and backends.release_done() == 0) == 0, lock
    ended.set()
    thread.join()
assert distance(metric, filter=even) == 0.5
print("done")
""")  # fmt: skip


def test_a_fork_amid_a_compilation_of_ones_own(tmp_path: Path) -> None:
    ok(tmp_path, """
found = []
class Forking(logging.Handler):
    def emit(self, record):
        if "translated" in record.getMessage():
            found.append(child(lambda: True))
logging.getLogger("annudf").setLevel("DEBUG")
logging.getLogger("annudf").addHandler(Forking())
assert distance(made(0.5)) == 0.5 and found == [0]
print("done")
""")  # fmt: skip


def test_a_signal_ends_the_wait_of_a_fork(tmp_path: Path) -> None:
    """Wherever it comes: compilations after it begin, and a later fork waits again."""
    ok(tmp_path, """
from annudf._support import fork
class Interrupted(BaseException): ...
def interrupt(*_):
    raise Interrupted
sys.unraisablehook = lambda told: seen.append(told.exc_type)
signal.signal(signal.SIGALRM, interrupt)
seen = []
for held in (lambda: fork._compilations._changed, lambda: fork.compiling(at_once=True)):
    ready, ended = threading.Event(), threading.Event()
    def hold():
        with held():
            ready.set()
            ended.wait(60)
    thread = threading.Thread(target=hold)
    thread.start()
    ready.wait()
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    process = os.fork()
    if not process:
        os._exit(0)
    os.waitpid(process, 0)
    ended.set()
    thread.join()
    assert fork._compilations._waiting == 0
    assert seen.pop() is Interrupted and not seen
    found = []
    other = threading.Thread(target=lambda: found.append(distance(made(0.5))), daemon=True)
    other.start()
    other.join(60)
    assert found == [0.5]
assert child(lambda: distance(made(2.0)) == 8) == 0
print("done")
""")  # fmt: skip
