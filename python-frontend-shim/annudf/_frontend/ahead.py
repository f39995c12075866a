# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""numba-cuda-mlir, imported in a thread from the first decorator on.

Its import is most of what the first use of a metric waits for, and a program has other things to do between its
decorator and its first search: reading data, building an index. The thread never outlives the program and is never
seen by a child: a fork waits for it, since a lock of the import system that it holds would stay locked there, and
at the end of the program it stops at the next module that it would import.

A program whose memory is traced imports by itself: the trace would count what the thread does, and before Python
3.12.9 and 3.13.2 tracemalloc.stop() beside another thread crashes (https://github.com/python/cpython/issues/128679).

ANNUDF_IMPORT_AHEAD=0 switches it off.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import os
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

from annudf._support import fork


class _Import:
    def __init__(self) -> None:
        self._lock = fork.lock()
        self._thread: threading.Thread | None = None
        # A join that Ctrl-C interrupts makes Python before 3.13 hold the thread for ended.
        self._ended = threading.Event()
        self._is_registered = False

    def begin(self, is_needless: Callable[[], bool]) -> None:
        with self._lock:
            if self._is_under_way():
                return
            if not self._is_registered:
                self._is_registered = True
                atexit.register(self._stop)
            # These import each other: the program, which meets one of them first, and the thread would each hold the
            # lock of what the other waits for, and Python raises an error in the program.
            importlib.import_module("importlib.abc")
            importlib.import_module("importlib.resources")
            self._ended = threading.Event()
            task = (is_needless, self._ended)
            self._thread = threading.Thread(target=_run, args=task, name="annudf-import", daemon=True)
            try:
                self._thread.start()
            except RuntimeError:  # No thread can be had, or the program ends: whoever needs the import does it.
                self._thread = None

    def wait(self) -> None:
        thread = self._thread
        if thread is not None and thread is not threading.current_thread() and self._is_under_way():
            self._ended.wait()
            thread.join()

    def _is_under_way(self) -> bool:
        # A child of a fork has no such thread.
        return self._thread is not None and self._thread.is_alive() and not self._ended.is_set()

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Ends the thread's import at its next module; the import system calls it on each entry of sys.meta_path."""
        if threading.current_thread() is self._thread:
            raise SystemExit

    def _stop(self) -> None:
        if self._is_under_way():
            sys.meta_path.insert(0, self)
            self.wait()
        _end_as_interrupted()


_import = _Import()


def begin(is_needless: Callable[[], bool]) -> None:
    """Starts the import unless it is done or under way; `is_needless` is asked in the thread."""
    if "numba_cuda_mlir" in sys.modules or os.environ.get("ANNUDF_IMPORT_AHEAD", "") == "0":
        return
    if not tracemalloc.is_tracing():
        _import.begin(is_needless)


def wait() -> None:
    """Returns when no import is under way."""
    _import.wait()


def _run(is_needless: Callable[[], bool], ended: threading.Event) -> None:
    try:
        # Code that needs what fails here imports it again, and is told.
        with contextlib.suppress(BaseException), fork.compiling(at_once=True):
            if not is_needless():
                _import_frontend()
    finally:
        ended.set()


def _import_frontend() -> None:
    with seldom_collected():
        # numba-cuda-mlir begins with a module of it, whose lock Python then holds while it waits for the package's. A
        # program that meets the package first, by `np.random`, holds them the other way round, and is told of a
        # deadlock.
        importlib.import_module("numpy.random")
        from annudf._frontend import module as module

    _forget_excepthook()


_SELDOM = 500_000
"""New objects before Python looks for garbage; the import makes 330,000."""


@contextlib.contextmanager
def seldom_collected() -> Iterator[None]:
    """Spares the import, and what follows it, the visits of its objects by the collector: a third of its time.

    A program that switches collection off or on, or sets thresholds of its own, meanwhile keeps them.
    """
    before = gc.get_threshold()
    ours = (max(_SELDOM, before[0]), *before[1:]) if before[0] else before
    gc.set_threshold(*ours)
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            # The pair moves all objects to the oldest generation. A collection would visit them to do so.
            gc.freeze()
            gc.unfreeze()
        if gc.get_threshold() == ours:
            gc.set_threshold(*before)


def _end_as_interrupted() -> None:
    """Lets a program that Ctrl-C ended exit as one, by SIGINT.

    Python notes that code ended so, and forgets it when any thread runs other code from text, which the import does.
    """
    interrupted = getattr(sys, "last_type", None) is KeyboardInterrupt and not hasattr(sys, "ps1")
    if interrupted:
        with contextlib.suppress(KeyboardInterrupt):
            exec("raise KeyboardInterrupt")


def _forget_excepthook() -> None:
    """Takes numba-cuda-mlir's hook out again, unless the program has set another since."""
    errors: Any = sys.modules.get("numba_cuda_mlir.errors")
    if sys.excepthook is getattr(errors, "_excepthook", None):
        sys.excepthook = errors._original_excepthook
