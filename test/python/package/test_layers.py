# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Imports go one way: arrays and devices, frontend, metrics, filters, what searches with them, estimators."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3] / "python-frontend-shim/annudf"
LAYERS = (
    ("_support", "errors"),
    ("_arrays",),
    ("_devices", "common"),
    ("_frontend/source",),
    ("_frontend/numba",),
    ("_frontend/types",),
    ("_frontend/emit",),
    ("_frontend",),
    ("_metric",),
    ("filters",),
    ("ivf_flat",),
    ("_shards",),
    ("dask",),
    ("brute_force",),
    ("distance",),
    ("_config", "_estimators", "_functions", "metrics"),
    ("neighbors",),
    ("__init__", "__main__"),
)
"""From below to above; a file belongs to the longest name that its path begins with."""
RANKS = {name: rank for rank, names in enumerate(LAYERS) for name in names}
CALLED_LATE = {
    ("_metric/on_vectors.py", "distance"),  # `Metric.pairwise` is `pairwise_distance`, imported when it is called.
    ("_metric/builtin.py", "filters"),  # For the message where a filter is given as a metric.
    ("_frontend/source/links.py", "_frontend"),  # numba's types, of signatures in text.
}
MOST_FILES = 25


def room(name: str) -> str:
    """The room of a file's path or of a module's, both with slashes."""
    parts = name.removesuffix(".py").split("/")
    found = next((one for n in range(len(parts), 0, -1) if (one := "/".join(parts[:n])) in RANKS), "")
    assert found, f"annudf/{name} is in no layer; name its room in LAYERS"
    return found


def imported(text: str) -> set[str]:
    """The modules of the package that a file names anywhere, functions and type checking included."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative imports are not told apart here"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    inside = {name.removeprefix("annudf.") for name in names if name.startswith("annudf.")}
    return {name.replace(".", "/") for name in inside if name != "__version__" and name.split(".")[0] != "_core"}


def wrong(file: str, text: str) -> set[str]:
    """The rooms above its own that a file imports."""
    rooms = {room(name) for name in imported(text)}
    return {one for one in rooms if RANKS[one] > RANKS[room(file)] and (file, one) not in CALLED_LATE}


FILES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))


@pytest.mark.parametrize("file", FILES)
def test_imports_go_one_way(file: str) -> None:
    assert not wrong(file, (ROOT / file).read_text()), "is above it"


@pytest.mark.parametrize(
    ("file", "text", "rooms"),
    [
        ("_metric/one.py", "def f():\n    from annudf.ivf_flat import search\n    import annudf._metric.captures\n", {"ivf_flat"}),
        ("_frontend/source/one.py", "from annudf._frontend.emit import calls", {"_frontend/emit"}),
        ("_frontend/types/one.py", "from annudf._frontend import module\nfrom annudf import _core", {"_frontend"}),
        ("ivf_flat/one.py", "if TYPE_CHECKING:\n    from annudf import brute_force, filters", {"brute_force"}),
        ("_support/one.py", "from annudf import __version__\nfrom annudf.errors import Error", set()),
    ],
)  # fmt: skip
def test_a_wrong_import_is_seen(file: str, text: str, rooms: set[str]) -> None:
    assert wrong(file, text) == rooms


def test_rooms_can_be_looked_over() -> None:
    for folder in (ROOT, *(path for path in ROOT.rglob("*") if path.is_dir())):
        assert len(list(folder.glob("*.py"))) <= MOST_FILES, f"{folder} has many files; give it rooms"


def test_what_is_private_is_in_rooms() -> None:
    """At the top are public modules, the core and what describes the package."""
    private = {path.name for path in ROOT.glob("_*.py*")}
    assert private - {path.name for path in ROOT.glob("_core.*")} == {"__init__.py", "__main__.py", "_config.py"}
