# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The example scripts run as they are; each asserts its own result against brute force in NumPy."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = sorted((ROOT / "docs/examples/python").glob("*.py"))
TEXT = ROOT / "docs/examples/data/text"


def test_there_are_examples() -> None:
    expected = {"hamming", "inner_product", "l1", "minkowski", "time_decay", "weighted_l2"}
    assert {path.stem for path in SCRIPTS} >= expected


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script(script: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip(), "an example says what it found"
    assert "assert" in script.read_text(), "an example checks its own result"
    assert not list(tmp_path.iterdir()), "an example leaves no files"


def test_sentences_are_what_they_were() -> None:
    lines = (TEXT / "SHA256SUMS").read_text().splitlines()
    files = {name: digest for digest, name in (line.split("  ") for line in lines)}
    assert set(files) == {p.name for p in TEXT.iterdir() if p.suffix in (".npy", ".gz")}
    for name, digest in files.items():
        assert hashlib.sha256((TEXT / name).read_bytes()).hexdigest() == digest, name
    assert sum(path.stat().st_size for path in TEXT.iterdir()) <= 8 << 20
