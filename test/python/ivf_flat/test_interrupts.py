# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Ctrl-C: a call that changes something raises and has done nothing, or returns and has done it."""

from __future__ import annotations

import _thread
import functools
import json
import operator
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from annudf import ivf_flat
from annudf._support.log import ProgressBar

#: Moments of each call; as many as that take a while in the long form.
TRIES = int(os.environ.get("ANNUDF_INTERRUPTED_TRIES", "15"))


@pytest.mark.parametrize(("scenario", "tries"), [("extend", TRIES), ("save", TRIES), ("metric", TRIES)])
def test_interrupted_at_any_moment(tmp_path: Path, scenario: str, tries: int) -> None:
    program = Path(__file__).with_name("interrupted.py")
    run = subprocess.run(
        [sys.executable, str(program), scenario, str(tries), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    outcomes = [tuple(one) for one in json.loads(run.stdout)["outcomes"]]
    assert set(outcomes) <= {(True, True), (False, False)}, run.stdout
    assert (True, True) in outcomes, "none was left to return"
    if scenario != "metric":  # A metric is written in less time than it takes to send a signal.
        assert (False, False) in outcomes, "none was stopped"


class LastMoment:
    """Work that ends with a signal: no line of Python runs between the two and who reads `result`."""

    fire = functools.partial(_thread.interrupt_main)
    result = property(operator.methodcaller("fire"))


@pytest.fixture
def interruptible():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_signal_after_the_work_waits_for_the_caller(
    interruptible: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    base = np.eye(4, dtype=np.float32)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), base)
    metric = ivf_flat.metric(lambda x, y, acc: acc + x * y)

    class Core:
        """Stands for the core, with work of its own."""

        element, dims, metric, digest, device = index._core.element, 4, "l2", "", index._core.device

        def extending(self, *arguments: object, **options: object) -> LastMoment:
            return LastMoment()

        saving = removing = extending

    monkeypatch.setattr(index, "_core", Core())
    monkeypatch.setattr(metric._definition, "artifact", lambda targets: Core())
    calls = (
        lambda: ivf_flat.extend(index, base),
        lambda: ivf_flat.remove(index, np.array([1])),
        lambda: ivf_flat.save(tmp_path / "index", index),
        lambda: metric.save(tmp_path / "metric"),
    )
    for number, call in enumerate(calls):
        result: object = "raised"
        with pytest.raises(KeyboardInterrupt):
            result = call()
            assert len("a call, where Python looks for signals") > 0
        assert result is None, number


def test_a_signal_in_the_last_report_changes_nothing(
    interruptible: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    base = np.eye(4, dtype=np.float32)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), base)
    path = tmp_path / "index"
    path.write_bytes(b"before")
    seen = []

    def report(self: ProgressBar, stage: str, done: float) -> None:
        seen.append((stage, done))
        if done >= 1:
            # In C, so that this very call returns first.
            interrupt()

    interrupt = functools.partial(_thread.interrupt_main)
    monkeypatch.setattr(ProgressBar, "__call__", report)
    for call, stage in (
        (lambda: ivf_flat.extend(index, base), "add"),
        (lambda: ivf_flat.remove(index, np.array([1])), "remove"),
        (lambda: ivf_flat.save(path, index), "save"),
    ):
        with pytest.raises(KeyboardInterrupt):
            call()
        assert seen[-1] == (stage, 1.0)
    assert len(index) == 4
    assert [one.name for one in tmp_path.iterdir()] == ["index"]
    assert path.read_bytes() == b"before"
