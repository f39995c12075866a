# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The end of a program that compiled a metric: quick, and with all effects that it would have had."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import atexit, gc, sys
atexit.register(lambda: print("frozen" if gc.get_freeze_count() else "as ever", flush=True))
import numpy as np
from annudf import ivf_flat

@ivf_flat.metric
def shifted(x, y, acc):
    return acc + abs(x - y + 0.125)

class Held:
    pass

held = Held()
held.itself, held.metric = held, shifted
rows = np.eye(3, dtype=np.float32)
held.index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows)
ivf_flat.search(ivf_flat.SearchParams(metric=shifted), held.index, rows, 1)
"""

A_FILE = """
held.file = open("written", "w")
held.file.write("all of it")
"""
A_FINALIZER = """
class Ending:
    def __del__(self):
        print("ended", flush=True)
held.one = Ending()
held.one.itself = held.one
"""
A_GENERATOR = """
def steps():
    try:
        yield 1
    finally:
        print("ended", flush=True)
held.steps = steps()
next(held.steps)
"""


def run(tmp_path: Path, more: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM + more], cwd=tmp_path,
        env={**os.environ, "ANNUDF_CACHE_DISABLE": "1"}, capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_what_the_import_made_is_left_alone(tmp_path: Path) -> None:
    assert run(tmp_path, "") == "frozen\n"


@pytest.mark.parametrize(("more", "told"), [(A_FINALIZER, "ended\n"), (A_GENERATOR, "ended\n"), (A_FILE, "")])
def test_what_has_an_effect_ends_as_ever(tmp_path: Path, more: str, told: str) -> None:
    assert run(tmp_path, more) == f"as ever\n{told}"
    if more is A_FILE:
        assert (tmp_path / "written").read_text() == "all of it"
