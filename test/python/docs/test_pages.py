# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Every ```python block of the site and of README.md runs, page by page in one namespace.

`pages` has the form. What a block needs and is not there, it is only compiled. Blocks that only include a
script are tested with the scripts.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import pytest
from pages import Block, available, blocks, link_data, run, update

import annudf

ROOT = Path(__file__).resolve().parents[3]
PAGES = [
    ROOT / "README.md",
    ROOT / "docs/index.md",
    *sorted((ROOT / "docs/use").glob("*.md")),
    *sorted((ROOT / "docs/results").glob("*.md")),
]


def check(block: Block, names: dict[str, Any], number: int) -> None:
    if block.expects == "raises":
        with pytest.raises(annudf.Error) as caught:
            run(block, names, Path("metric.py"))
        assert type(caught.value).__name__ == block.exception
        assert str(caught.value) == block.text
        return
    printed = run(block, names, Path(f"block{number}.py"))
    if block.expects == "prints":
        same = doctest.OutputChecker().check_output(block.text + "\n", printed + "\n", doctest.ELLIPSIS)
        assert same, f"printed\n{printed}\ninstead of\n{block.text}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    link_data(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    for number, block in enumerate(blocks(path), 1):
        if block.included:
            continue
        place = f"{path.relative_to(ROOT)}:{block.line}"
        compile(block.code, place, "exec")
        if not all(available(need) for need in block.needs):
            continue
        try:
            check(block, names, number)
        except Exception as error:
            raise AssertionError(f"{place}: {type(error).__name__}: {error}") from error


LIBRARIES = sorted(
    {(path, need) for path in PAGES for block in blocks(path) for need in block.needs},
    key=lambda one: (one[0].stem, one[1]),
)


@pytest.mark.parametrize(("path", "need"), LIBRARIES, ids=lambda one: getattr(one, "stem", one))
def test_what_pages_need_is_there(path: Path, need: str) -> None:
    """A block that is not run is a skip that says why."""
    if not available(need):
        count = sum(need in block.needs for block in blocks(path))
        pytest.skip(f"{path.relative_to(ROOT)}: {count} blocks are not run without {need}")


def test_pages_have_blocks() -> None:
    counts = {path.stem: len(blocks(path)) for path in PAGES}
    assert counts["README"] and counts["start"] and counts["writing-a-metric"] and counts["refused"]
    refused = [block for block in blocks(ROOT / "docs/use/refused.md") if block.expects == "raises"]
    assert len(refused) >= 20


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")], ids=str
)
def test_links_in_the_tree(path: Path) -> None:
    """Who reads the files where they are, and not the site, needs links that work, too."""
    for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", re.sub(r"```.*?```", "", path.read_text(), flags=re.S)):
        assert (path.parent / target).exists(), f"{path.relative_to(ROOT)}: {target}"


def test_environment_variables_are_documented() -> None:
    sources = [
        path
        for folder in ("lib", "runtime/lib", "python-frontend-shim")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".cpp", ".py")
    ]
    read = {name for path in sources for name in re.findall(r'"(ANNUDF_[A-Z_]+)"', path.read_text())}
    assert "ANNUDF_CACHE_DIR" in read
    page = (ROOT / "docs/use/inspect.md").read_text()
    assert [name for name in sorted(read) if f"`{name}`" not in page] == []


def test_texts_can_be_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nimport annudf\nprint(1 + 1)\n```\n<!-- prints -->\n```text\n3\n```\n"
        '```python\nraise annudf.ArgumentError("no")\n```\n<!-- raises ArgumentError -->\n```text\nyes\n```\n'
    )
    with pytest.raises(AssertionError, match=r"instead of\s+3"):
        check(blocks(page)[0], {}, 1)
    update(page)
    assert page.read_text().count("\n2\n") == 1 and page.read_text().count("\nno\n") == 1
    for number, block in enumerate(blocks(page), 1):
        check(block, {"annudf": annudf}, number)
