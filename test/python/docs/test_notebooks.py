# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The notebooks run from top to bottom, and are committed with the outputs of such a run."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")

NOTEBOOKS = sorted((Path(__file__).resolve().parents[3] / "docs/examples/notebooks").glob("*.ipynb"))


def kinds(notebook: Any) -> list[list[str]]:
    """What each code cell shows: kind of output and MIME types, without the values."""
    shown = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            names = [output.get("name", "") or " ".join(sorted(output["data"])) for output in cell["outputs"]]
            # One text may come in several pieces, depending on when it is flushed.
            shown.append([name for name, _ in itertools.groupby(names)])
    return shown


# What may be another one on another machine: times, addresses, and folders before a file's name.
VARYING = [
    (re.compile(r"\d+(?:\.\d+)? ?(?:ns|us|µs|ms|s|min)\b"), "<time>"),
    (re.compile(r"\b0x[0-9a-f]+\b"), "<address>"),
    (re.compile(r"(?<![\w.])(?:/[\w.+-]+)+/"), "<folder>/"),
]


def texts(notebook: Any) -> list[str]:
    """The text that each code cell shows, without what varies; of values that are drawn, only what they are called."""
    shown = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            text = "".join(
                output["text"] if output["output_type"] == "stream" else output["data"].get("text/plain", "") + "\n"
                for output in cell["outputs"]
            )
            for pattern, name in VARYING:
                text = pattern.sub(name, text)
            shown.append(text)
    return shown


def difference(have: str, want: str) -> str:
    """The first line that differs by more than the rounding of its numbers, or nothing."""
    number = re.compile(r"(?<![\w.])[-+]?\d+\.\d+(?:e[-+]?\d+)?")
    for one, other in itertools.zip_longest(have.splitlines(), want.splitlines()):
        if one is None or other is None or number.sub("#", one) != number.sub("#", other):
            return f"{one!r} instead of {other!r}"
        for a, b in zip(number.findall(one), number.findall(other), strict=True):
            # One unit of the last digit that is written.
            unit = 10.0 ** -len(b.partition("e")[0].partition(".")[2]) * 10.0 ** int(b.partition("e")[2] or 0)
            if abs(float(a) - float(b)) > 1.5 * unit:
                return f"{one!r} instead of {other!r}"
    return ""


def test_difference_sees_words_and_numbers_but_not_rounding() -> None:
    assert not difference("recall 0.98 of 5\n", "recall 0.99 of 5\n")
    assert not difference("1.25e+02", "1.26e+02")
    for wrong in ("recall 0.91 of 5", "recall 0.99 of 6", "recall 0.99 of", "recall 0.99 of 5\nmore"):
        assert difference(wrong, "recall 0.99 of 5")
    cells = [{"output_type": "stream", "text": "took 12.5 ms in /home/me/data/base.npy at 0x7f00\n"}]
    notebook = {"cells": [{"cell_type": "markdown"}, {"cell_type": "code", "outputs": cells}]}
    assert texts(notebook) == ["took <time> in <folder>/base.npy at <address>\n"]


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["sentences"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    notebook = nbformat.read(path, 4)
    shown, written = kinds(notebook), texts(notebook)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = []
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    )
    client.execute()
    assert kinds(notebook) == shown, "outputs are stale: run the notebook and save it"
    for cell, (have, want) in enumerate(zip(texts(notebook), written, strict=True)):
        changed = difference(have, want)
        assert not changed, f"code cell {cell} shows {changed}: run the notebook and save it"
    assert sum(kind.count("image/png") for cell in shown for kind in cell) >= 3
    assert "stderr" not in {kind for cell in shown for kind in cell}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_small_and_names_no_machine(path: Path) -> None:
    text = path.read_text()
    assert len(text) < 1 << 20
    for word in ("/home/", "/root/", "/tmp/"):
        assert word not in text
