# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.

"""The results pages say what the JSON beside them says, and what cites them names a section that is there."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]
RESULTS = ROOT / "docs/results"
RECORDS = sorted((RESULTS / "records").glob("*.json"))
PAGES = sorted(RESULTS.glob("*.md"))
MOST_WORDS, MOST_OF_A_CELL = 800, 25
CITED = re.compile(r'docs/results/(\w+)\.md, "([^"]+)"')


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("results_tables", RESULTS / "tables.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def words(text: str) -> list[str]:
    """Without code, comments and the targets of links."""
    text = re.sub(r"```.*?```|<!--.*?-->", "", text, flags=re.DOTALL)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).split()


def decimals(text: str) -> set[str]:
    return set(re.findall(r"\d[\d,]*\.\d+", text))


def test_the_tables_are_those_of_the_json(tables: ModuleType) -> None:
    texts = tables.pages()
    assert {"gpu", "cpu", "links", "graphs", "peers", "reasons", "README"} <= {path.stem for path in texts}
    stale = [str(path.relative_to(ROOT)) for path, text in texts.items() if path.read_text() != text]
    assert not stale, f"run docs/results/tables.py: {stale}"


@pytest.mark.parametrize(
    ("page", "number", "other"),
    [
        ("docs/results/gpu.md", "| 0.800 |", "| 0.799 |"),
        ("README.md", "**0.821 ms**", "**0.721 ms**"),
        ("README.md", "49.9 ms at 0.952", "49.9 ms at 0.962"),
        ("README.md", "cuVS CAGRA: 3.28 ms", "cuVS CAGRA: 3.38 ms"),
        ("README.md", "built-in L2: 5.99 ms**", "built-in L2: 6.99 ms**"),
        ("README.md", "**27,840 queries/s**", "**28,840 queries/s**"),
        ("README.md", "| 3,982 queries/s | **pynndescent", "| **3,982 queries/s** | pynndescent"),
        ("README.md", "SIFT 100,000", "SIFT 200,000"),
    ],
)
def test_a_number_that_changes_is_noticed(tables: ModuleType, page: str, number: str, other: str) -> None:
    text = (ROOT / page).read_text()
    planted = text.replace(number, other, 1)
    assert planted != text
    assert tables._filled(planted) == text


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_records_say_where_and_when(path: Path) -> None:
    about = json.loads(path.read_text())
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", about["date"])
    assert about["machine"] and about["units"] and about["title"]
    assert sum(key in about for key in ("commit", "recorded", "source")) == 1
    assert about["caption"].endswith(".") and len(about["caption"].split()) <= 30
    for table in about["tables"]:
        assert table["rows"] and all(len(row) == len(table["columns"]) for row in table["rows"])


def test_every_record_is_shown() -> None:
    pages = {path.stem: path.read_text() for path in PAGES}
    for path in RECORDS:
        about = json.loads(path.read_text())
        shown = f"### {about['title']}\n" if about["page"] == "reasons" else f"<!-- generated: record {path.stem} -->"
        assert shown in pages[about["page"]], path.stem


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_pages_are_within_their_budget(path: Path) -> None:
    text = path.read_text()
    assert path.stem == "reasons" or len(words(text)) <= MOST_WORDS
    cells = [cell for line in text.splitlines() if line.startswith("|") for cell in line.strip("|").split("|")]
    assert max((len(cell.split()) for cell in cells), default=0) <= MOST_OF_A_CELL


@pytest.mark.parametrize("path", [path for path in PAGES if path.stem != "reasons"], ids=lambda path: path.stem)
def test_numbers_between_tables_are_in_the_json(path: Path, tables: ModuleType) -> None:
    """What is written by hand repeats what was measured, to the digits that a page shows."""
    by_hand = "\n".join(words(tables.MARK.sub("", path.read_text())))
    measured = [
        float(number) for number in re.findall(r"\d+\.\d+", " ".join(p.read_text() for p in RESULTS.rglob("*.json")))
    ]
    for number in decimals(by_hand):
        digits = len(number.partition(".")[2])
        assert any(f"{one:.{digits}f}" == number.replace(",", "") for one in measured), f"{path.stem}: {number}"


MEASURED = re.compile(
    r"\b\d[\d.,]*\s*(?:ms|µs|ns|queries/s|GB/s|GiB/s|times (?:as |faster|slower))\b|\d\s*%\s+(?:faster|slower)"
)
OTHER_PAGES = [
    ROOT / "README.md",
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if page.parent.name not in ("results", "generated", "decisions")
    ),
]


@pytest.mark.parametrize("path", OTHER_PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_measurements_live_in_the_results(path: Path, tables: ModuleType) -> None:
    """Other pages link to a measurement, or have it in a generated table."""
    assert not MEASURED.findall(" ".join(words(tables.MARK.sub("", path.read_text()))))


def test_citations_name_a_section() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    if not any(tracked):
        pytest.skip("not a git checkout: citations are NOT checked")
    headings = {path.stem: re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE) for path in PAGES}
    count = 0
    for name in tracked:
        path = ROOT / name
        if path.suffix not in (".h", ".cpp", ".cu", ".cuh", ".py", ".txt", ".md") or not path.is_file():
            continue
        text = re.sub(r"\n\s*(?:///?|#)\s*", " ", path.read_text(errors="replace"))
        for page in re.findall(r"docs/results/(\w+)\.md", text):
            assert page in headings, f"{name}: docs/results/{page}.md"
        for page, section in CITED.findall(text):
            assert section in headings[page], f"{name}: docs/results/{page}.md, {section}"
            count += 1
    assert count >= 4
