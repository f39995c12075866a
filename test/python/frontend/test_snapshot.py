# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a compiled metric depends on: found again by it, and fixed when it is first looked at."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annudf import ivf_flat
from annudf._frontend import fingerprint
from annudf._frontend.source.fingerprint import _own_source
from annudf._support.options import MetricOptions

SCALE = 2.0
OPTIONS = MetricOptions("m", "min", 0.0, "l2")


def adder(amount: float) -> Any:
    def add(v):  # type: ignore[no-untyped-def]
        return v + amount

    return add


def test_helpers_of_one_name_are_told_apart() -> None:
    a, b = adder(1.0), adder(10.0)

    def using(third: Any) -> Any:
        def update(x, y, acc):  # type: ignore[no-untyped-def]
            return acc + a(x) + b(x) + third(y)

        return update

    assert fingerprint(using(a), OPTIONS) != fingerprint(using(b), OPTIONS)
    assert fingerprint(using(a), OPTIONS) == fingerprint(using(a), OPTIONS)


def test_what_a_fingerprint_depends_on() -> None:
    def variant(factor: object, text: str = "acc + x * factor") -> str:
        space: dict[str, Any] = {"factor": factor}
        exec(f"def update(x, y, acc):\n    return {text}\n", space)
        return fingerprint(space["update"], OPTIONS)

    prints = [
        variant(2.0), variant(2), variant(-2.0), variant(np.float32(2)), variant(np.float64(2)), variant(True),
        variant(2.0, "acc - x * factor"), variant(2.0, "acc + y * factor"), variant(float("nan")), variant(0.0), variant(-0.0),
    ]  # fmt: skip
    assert len(set(prints)) == len(prints)
    assert len(_own_source()) == 64


def search(metric: ivf_flat.Metric) -> float:
    base = np.ones((1, 1), np.float32)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), base)
    return float(ivf_flat.search(ivf_flat.SearchParams(metric=metric), index, base, 1)[0][0, 0])


def test_globals_are_those_of_the_first_look(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def update(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + SCALE * x

    module = sys.modules[__name__]
    first, second = ivf_flat.metric(update), ivf_flat.metric(update)
    assert "2.000000e+00" in first.mlir()
    monkeypatch.setattr(module, "SCALE", 5.0)
    assert search(first) == 2.0  # Not the text of one value under the key of another.
    assert search(second) == 5.0
    monkeypatch.setattr(module, "SCALE", 7.0)
    second.save(tmp_path / "second.annudf")
    assert search(ivf_flat.load_metric(tmp_path / "second.annudf")) == 5.0
    monkeypatch.setattr(module, "SCALE", 5.0)
    assert search(ivf_flat.metric(update)) == 5.0


def test_helpers_and_closures_too() -> None:
    amount = 1.0

    def helper(v):  # type: ignore[no-untyped-def]
        return v * amount

    def update(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + helper(x)

    metric = ivf_flat.metric(update)
    assert search(metric) == 1.0
    amount = 4.0
    assert "4.0" not in metric.mlir()
    assert search(ivf_flat.metric(update)) == 4.0


PROGRAM = """
import multiprocessing, os, sys
import numpy as np
from annudf import ivf_flat

def first(x, y, acc):
    return acc + abs(x - y)

def second(x, y, acc):
    return acc + 3 * abs(x - y)

base = np.arange(6, dtype=np.float32).reshape(3, 2)
index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), base)

def distances(function):
    return ivf_flat.search(ivf_flat.SearchParams(metric=ivf_flat.metric(function)), index, base[:1], 3)[0].tolist()

before = distances(first)
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(distances, [first, second]) == [before, [[3 * d for d in before[0]]]]
print("done")
"""


def test_a_forked_child_compiles(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(PROGRAM))
    environment = {**os.environ, "ANNUDF_CACHE_DISABLE": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
