# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""scripts/check prose finds what it is for."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"


@pytest.fixture
def prose(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    from checks import prose

    return prose


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("docs/use/a.md", "One. " * 1201, "1201 words; at most 1200: split the page, or say less"),
        ("docs/decisions/0001-a.md", "word. " * 151, "151 words; at most 150: split the page, or say less"),
        ("docs/spec/a.md", f"| a | {'b ' * 26}|\n", f"a table cell of 26 words, at most 25: {('b ' * 26).strip()}..."),
        ("docs/spec/a.md", "b " * 36 + ".", f"a sentence of 37 words, at most 35: {('b ' * 36)[:60]}..."),
        ("docs/use/a.md", "Rows. Of rows some.", "a sentence without its subject first: Of rows some...."),
        ("docs/use/a.md", "- What of it is read.", "a sentence without its subject first: What of it is read...."),
        (
            "docs/use/a.md",
            "Since 2026-01-02.",
            "a date, 2026-01-02: dates belong in CHANGELOG.md, docs/results and docs/decisions",
        ),
    ],
)
def test_a_fault_of_a_page(prose, name: str, text: str, fault: str) -> None:  # type: ignore[no-untyped-def]
    assert list(prose.faults_of_page(name, text)) == [fault]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("docs/spec/a.md", "Rows are read. " * 1000),
        ("docs/use/a.md", "```text\n" + "word " * 2000 + "\n```\n"),
        ("docs/use/a.md", "- one\n- two\n" * 50),
        ("docs/use/a.md", "[" + "a " * 10 + "](https://example.org/Of-2026-01-02)"),
        ("docs/results/cpu.md", "Measured on 2026-01-02."),
        ("docs/decisions/README.md", "word. " * 151),
        ("docs/generated/a.md", "b " * 36 + "."),
    ],
)
def test_no_fault_of_a_page(prose, name: str, text: str) -> None:  # type: ignore[no-untyped-def]
    assert list(prose.faults_of_page(name, text)) == []


def test_comments(prose) -> None:  # type: ignore[no-untyped-def]
    for before, comment in (("", "// "), ("  ", "/// "), ("int a; ", "///< "), ("x = 1  ", "# ")):
        for start in ("Of a row", "What of it", "Whoever reads"):
            assert prose.COMMENT.search(before + comment + start), start
    for line in ("// Rows of a list", 'print("Of a")', "# Offsets"):
        assert not prose.COMMENT.search(line), line


DOCSTRINGS = '''"""Rows. What of them is read."""
WIDTH = 3
"""Of a row."""

def rows(count: int) -> str:
    """Reads rows.

    Parameters
    ----------
    count : int
        Whoever reads gives it.
    """
    return "Of a row. Of it."
'''


@pytest.mark.parametrize("name", ["a.py", "a.pyi"])
def test_docstrings(prose, name: str) -> None:  # type: ignore[no-untyped-def]
    assert list(prose.faults_of_source(name, DOCSTRINGS)) == [
        "1: a docstring without its subject first: Rows. What of them is read.",
        "3: a docstring without its subject first: Of a row.",
        "11: a docstring without its subject first: Whoever reads gives it.",
    ]
    assert list(prose.faults_of_source("a.cpp", DOCSTRINGS)) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("docs/use/a.md", 5),
        ("docs/results/gpu.md", 5),
        ("docs/spec/rules.md", 0),
        ("docs/spec/tables.md", 0),
        ("docs/results/reasons.md", 0),
        ("docs/decisions/0001-a.md", 0),
        ("README.md", 0),
    ],
)
def test_words_of_the_shelves(prose, name: str, words: int) -> None:  # type: ignore[no-untyped-def]
    generated = "<!-- generated: cpu epyc -->\n| a |\n<!-- end -->\n"
    assert prose.words_written(name, f"# Two words\n{generated}```sh\nls\n```\n`code` counts.") == words


def test_the_shelves_have_a_budget(prose, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(prose, "TOTAL", 1000)
    assert prose.check_prose(argparse.Namespace(commits=0)) == 1
    assert "words, at most 1,000 beside what is generated; cut what two pages say" in capsys.readouterr().err
