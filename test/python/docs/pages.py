# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Code blocks of documentation pages: what a page says about them, and running them.

A comment before a ```python block says what it needs, ``<!-- needs torch, gpu -->``: packages, a GPU, libNVVM or NVRTC. A comment between a
block and the ```text block after it says what that text is: ``<!-- prints -->`` what the block prints
(``...`` stands for anything), ``<!-- raises CaptureError -->`` the message of the exception that the block
raises, at the latest when its metric is compiled.

Blocks find the tree's data in ``docs/``. ``python test/python/docs/pages.py PAGE...`` writes the texts anew, after
messages have changed on purpose, and the plots that stand beside a page and that its blocks draw.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import linecache
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import annudf
from annudf import ivf_flat

ROOT = Path(__file__).resolve().parents[3]
FENCE = re.compile(r"^```(?P<language>\w*)[^\n]*\n(?P<body>.*?)^```$", re.M | re.S)
COMMENT = re.compile(r"<!-- (needs|prints|raises)\b ?([^>]*?) -->\s*$")


@dataclass
class Block:
    """A ```python block, and what the page says about it."""

    line: int
    code: str
    needs: tuple[str, ...] = ()
    expects: str = ""
    exception: str = ""
    text: str = ""
    span: tuple[int, int] = (0, 0)  # The text's, in the page.

    @property
    def included(self) -> bool:
        return self.code.lstrip().startswith("--8<--")


def blocks(path: Path) -> list[Block]:
    """The ```python blocks of a page."""
    page = path.read_text()
    found: list[Block] = []
    before = 0
    for fence in FENCE.finditer(page):
        comment = COMMENT.search(page[before : fence.start()])
        before = fence.end()
        kind, argument = comment.groups() if comment else ("", "")
        if fence["language"] == "python":
            assert kind in ("", "needs"), f"{path.name}: <!-- {kind} --> stands before a python block"
            needs = tuple(part.strip() for part in argument.split(",") if part.strip())
            found.append(Block(page.count("\n", 0, fence.start()) + 2, fence["body"], needs))
        elif kind in ("prints", "raises"):
            found[-1].expects, found[-1].exception, found[-1].text = kind, argument, fence["body"].rstrip()
            found[-1].span = fence.span("body")
    return found


def available(need: str) -> bool:
    if need == "gpu":
        return bool(annudf.show_config("dicts")["devices"])
    if need in ("libnvvm", "nvrtc"):
        return bool(annudf.show_config("dicts")[f"{need}_found"])
    return importlib.util.find_spec(need) is not None


def link_data(folder: Path) -> None:
    """Lets blocks that run in `folder` read ``docs/examples`` as if they ran in the root of the tree."""
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs/examples").symlink_to(ROOT / "docs/examples")


def metrics(names: dict[str, Any], known: set[int]) -> Iterator[ivf_flat.Metric]:
    return (v for v in list(names.values()) if isinstance(v, ivf_flat.Metric) and id(v) not in known)


def run(block: Block, names: dict[str, Any], file: Path) -> str:
    """Runs a block out of a file, so that messages and tracebacks can show its lines; gives what it printed."""
    file.write_text(block.code)
    linecache.clearcache()
    known = {id(v) for v in names.values()}
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(block.code, file.name, "exec"), names)
        if block.expects == "raises":
            for metric in metrics(names, known):
                metric.mlir()
    return output.getvalue().rstrip()


def update(path: Path) -> None:
    """Writes what the blocks of a page print and raise into their texts."""
    page = path.read_text()
    names: dict[str, Any] = {"__name__": "page"}
    changes: list[tuple[tuple[int, int], str]] = []
    for number, block in enumerate(blocks(path), 1):
        if block.included or not all(available(need) for need in block.needs):
            continue
        try:
            text = run(block, names, Path("metric.py" if block.expects == "raises" else f"block{number}.py"))
        except annudf.Error as error:
            if type(error).__name__ != block.exception:
                raise
            text = str(error)
        if block.expects and block.text != text and "..." not in block.text:
            changes.append((block.span, text + "\n"))
    for (start, end), text in reversed(changes):
        page = page[:start] + text + page[end:]
    path.write_text(page)
    plots = [plot for plot in Path.cwd().glob("*.svg") if (path.parent / plot.name).exists()]
    for plot in plots:
        shutil.copy(plot, path.parent)
    print(f"{path}: {len(changes)} texts changed, {len(plots)} plots drawn")


if __name__ == "__main__":
    pages = [Path(name).resolve() for name in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        link_data(Path(folder))
        for one in pages:
            update(one)
