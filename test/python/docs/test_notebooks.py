# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The notebooks run from top to bottom, and are committed with the outputs of such a run."""

from __future__ import annotations

import itertools
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


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["sentences"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    notebook = nbformat.read(path, 4)
    shown = kinds(notebook)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = []
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    )
    client.execute()
    assert kinds(notebook) == shown, "outputs are stale: run the notebook and save it"
    assert sum(kind.count("image/png") for cell in shown for kind in cell) >= 3
    assert "stderr" not in {kind for cell in shown for kind in cell}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_small_and_names_no_machine(path: Path) -> None:
    text = path.read_text()
    assert len(text) < 1 << 20
    for word in ("/home/", "/root/", "/tmp/"):
        assert word not in text
