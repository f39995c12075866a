# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The logger ``annudf``, and progress bars."""

from __future__ import annotations

import functools
import importlib.util
import logging
import os
import sys
from typing import Any

from annudf._support import fork
from annudf._support.checks import refusal

logger = logging.getLogger("annudf")


class _Fallback(logging.Handler):
    """Shows warnings on standard error where the program has no handler of its own, as logging's last resort.

    That one would not say whose they are.
    """

    def emit(self, record: logging.LogRecord) -> None:
        others = any(handler is not self for handler in logger.handlers)
        if not others and not logging.getLogger().handlers and sys.stderr is not None:
            print(self.format(record), file=sys.stderr)


_FORMAT = logging.Formatter("%(name)s: %(levelname)s: %(message)s")
_fallback = _Fallback(logging.WARNING)
_fallback.setFormatter(_FORMAT)
logger.addHandler(_fallback)

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


def set_log_level(level: int | str) -> None:
    """Sets the level of the logger ``annudf``, and shows its messages on standard error.

    Parameters
    ----------
    level : int or str
        A level of :mod:`logging`, e.g. ``"DEBUG"`` or ``logging.INFO``. At DEBUG the logger reports the time of each
        compilation and link, hits of the artifact cache, and the number of rows that each search on a CPU computed.

    Notes
    -----
    Warnings are shown without this call, too. No second handler is installed if the program has configured
    :mod:`logging` (the root logger has handlers).
    """
    if isinstance(level, str):
        if level.upper() not in _LEVELS:
            raise refusal("level", level, f"one of {', '.join(_LEVELS)}")
        level = level.upper()
    elif not isinstance(level, int):
        raise refusal("level", level, f"an integer or one of {', '.join(_LEVELS)}")
    logger.setLevel(level)
    shown = any(not isinstance(handler, (_Fallback, logging.NullHandler)) for handler in logger.handlers)
    if not shown and not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(_FORMAT)
        logger.addHandler(handler)
        # If the root logger is configured later, no line is to show twice.
        logger.propagate = False


_TITLES = {
    "train": "k-means",
    "add": "adding rows",
    "remove": "removing rows",
    "save": "writing",
    "upload": "copying to the GPU",
    "search": "searching",
}


class ProgressBar:
    """What to hand to the core as `progress`: draws one tqdm bar a stage, and closes it at the stage's end.

    Parameters
    ----------
    show : bool or None
        True: at once; False: never; None: after half a second, if standard error is a terminal.
    """

    def __init__(self, show: bool | None) -> None:
        self._show = show
        self._stage = ""
        self._bar: Any = None

    def __call__(self, stage: str, done: float) -> None:
        """Shows that the part `done` of a stage is done."""
        # A bar that is never shown would take tqdm's locks, which all processes of a program share, as well.
        if self._show is False or (self._show is None and not (sys.stderr and sys.stderr.isatty())):
            return
        if stage != self._stage:
            self.close()
            self._bar = _tqdm()(
                total=1.0,
                desc=_TITLES.get(stage, stage),
                bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}",
                disable=None if self._show is None else False,
                delay=0.5 if self._show is None else 0,
                leave=bool(self._show),
            )
            self._stage = stage
        if self._bar is not None:
            self._bar.update(min(done, 1.0) - self._bar.n)
        if done >= 1:
            self.close()

    def close(self) -> None:
        """Ends the bar of a stage that was broken off."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _free_locks_of_tqdm() -> None:
    """In a child of a fork: what another thread of the parent had taken, nobody there gives back.

    One of the locks is shared by all processes: a child that counts the parent's use as its own would never let go of
    it, and one that waits for the other lock meanwhile would stop its parent, too.
    """
    from tqdm.std import TqdmDefaultWriteLock

    locks: Any = TqdmDefaultWriteLock
    locks.th_lock._at_fork_reinit()
    if getattr(locks, "mp_lock", None) is not None:
        locks.mp_lock._semlock._after_fork()


@functools.cache
def _tqdm() -> Any:
    with fork.compiling():  # A module that another thread imports at a fork stays locked in the child.
        # In a notebook tqdm.auto needs ipywidgets, and warns where it is not installed.
        if importlib.util.find_spec("ipywidgets"):
            from tqdm.auto import tqdm
        else:
            from tqdm import tqdm
        tqdm.get_lock()  # At its first use it imports multiprocessing.
        os.register_at_fork(after_in_child=_free_locks_of_tqdm)
        return tqdm
