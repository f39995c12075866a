# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Imports go one way: frontend, then metrics, then what searches with them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3] / "python-frontend-shim/annudf"
LAYERS = ("_frontend", "_metric", "ivf_flat")
ABOVE = (
    "_estimators",
    "brute_force",
    "distance",
    "metrics",
    "neighbors",
    "__init__",
    "__main__",
    "_config",
    "_functions",
)
"""Modules that offer what the layers do; no layer may know them, but for the version of the package."""
CALLED_LATE = {("_metric/on_vectors.py", "distance")}
"""`Metric.pairwise` is `pairwise_distance`, which it imports when it is called."""


def imported(path: Path) -> set[str]:
    """The modules of the package that a file names anywhere, functions and type checking included."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative imports are not told apart here"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    parts = [name.split(".") for name in names]
    return {part[1] for part in parts if part[0] == "annudf" and len(part) > 1}


def layer(path: Path) -> int:
    first = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if first in LAYERS:
        return LAYERS.index(first)
    return len(LAYERS) if first in ABOVE else -1


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    own = layer(path)
    for name in imported(path):
        if name in LAYERS:
            assert own >= LAYERS.index(name), f"{path.name} imports annudf.{name}, which is above it"
        if name in ABOVE and (str(path.relative_to(ROOT)), name) not in CALLED_LATE:
            assert own == len(LAYERS), f"{path.name} imports annudf.{name}, which is above it"


def test_a_wrong_import_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "one.py"
    file.write_text("def f():\n    from annudf.ivf_flat import search\n    import annudf._metric.captures\n")
    assert imported(file) == {"ivf_flat", "_metric"}
    assert (
        layer(ROOT / "_frontend/module.py"),
        layer(ROOT / "_metric/metric.py"),
        layer(ROOT / "_devices/transfer.py"),
    ) == (
        0,
        1,
        -1,
    )
