# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What a fork in another thread must not tear apart.

A child has the one thread that forked. A lock that another thread held stays locked there, and what that thread was
changing stays half done. So a fork waits until nobody compiles: compilers, and the import system, have locks of their
own. Locks of this package guard what is assigned at once, so in a child they are free.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
import weakref
from collections.abc import Generator, Iterator
from typing import Any

# What is registered last comes first before a fork: logging's locks are taken by who compiles, so they come after.
assert logging

_LONGEST = 60.0
"""Seconds that a fork waits; other hooks of the program may hold what a compilation waits for."""

_locks: weakref.WeakSet[Any] = weakref.WeakSet()


def lock() -> threading.Lock:
    """A lock that is free in a child."""
    made = threading.Lock()
    _locks.add(made)
    return made


def rlock() -> Any:
    """The same of a threading.RLock."""
    made = threading.RLock()
    _locks.add(made)
    return made


class _Compilations:
    """Who compiles now.

    A signal may raise at any call. So a `with` of the lock itself guards what is counted: the interpreter lets nothing
    come between taking a lock in C and guarding it, as it does inside of a Condition.
    """

    def __init__(self) -> None:
        self._begin()
        self._inside: dict[int, int] = {}

    def _begin(self) -> None:
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._forks: dict[int, Generator[None, None, None]] = {}
        self._waiting = 0
        """Threads that want to fork."""

    @contextlib.contextmanager
    def one(self, *, at_once: bool = False) -> Iterator[None]:
        me = threading.get_ident()
        entered = False
        try:
            with self._lock:
                # Or threads that compile all the time would keep others from ever forking.
                while self._waiting and me not in self._inside and not at_once:
                    self._changed.wait(1)
                before = self._inside.get(me, 0)
                self._inside[me], entered = before + 1, True
            yield
        finally:
            if entered:
                with self._lock:
                    self._inside[me] -= 1
                    if not self._inside[me]:
                        del self._inside[me]
                        self._changed.notify_all()

    def _fork(self) -> Generator[None, None, None]:
        """Keeps others from beginning while it is suspended, which is over a fork."""
        with self._lock:
            self._waiting += 1
            try:
                # A compilation of this thread, which a signal or a log handler interrupted, cannot be waited for, nor
                # those that may wait for it.
                until = time.monotonic() + _LONGEST
                while self._inside and threading.get_ident() not in self._inside and time.monotonic() < until:
                    self._changed.wait(_LONGEST)
                yield
            finally:
                self._waiting -= 1
                self._changed.notify_all()

    def before(self) -> None:
        """Waits for those that compile. An exception ends that: Python reports it, and forks."""
        fork = self._forks[threading.get_ident()] = self._fork()
        next(fork)

    def after_in_parent(self) -> None:
        fork = self._forks.pop(threading.get_ident(), None)
        if fork is not None:
            fork.close()

    def after_in_child(self) -> None:
        self.after_in_parent()
        self._begin()
        me = threading.get_ident()
        self._inside = {me: self._inside[me]} if me in self._inside else {}
        for one in list(_locks):
            if not getattr(one, "_is_owned", bool)():
                one._at_fork_reinit()


_compilations = _Compilations()
compiling = _compilations.one
"""``with compiling():`` around what uses a compiler or imports it; a fork in another thread waits for its end.

A thread that a compiling thread waits for begins `at_once`: it must not wait for a fork, which waits for the compiling
thread.
"""
os.register_at_fork(
    before=_compilations.before,
    after_in_parent=_compilations.after_in_parent,
    after_in_child=_compilations.after_in_child,
)
