# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How much a reader is asked to read: words of pages, cells and sentences, and how comments begin."""
import ast
import re
import subprocess
import sys

from . import ROOT
from .docs import unfenced

#: Most words of a page, by how its path begins. The first that fits counts; None: as long as it needs to be.
PAGES = [
    ("docs/generated/", None),
    ("docs/spec/", None),
    ("docs/use/", 1200),
    ("docs/develop/", 1500),
    ("docs/results/reasons.md", None),
    ("docs/results/", 800),
    ("docs/decisions/README.md", 600),
    ("docs/decisions/", 150),
    ("README.md", 700),
    ("", 1500),
]
CELL, SENTENCE, SUBJECT = 25, 35, 72
#: Most words of all pages of the shelves, without what is generated.
SHELVES, TOTAL = ("docs/use/", "docs/spec/", "docs/develop/", "docs/results/"), 45_000
GENERATED_BLOCK = re.compile(r"<!-- generated\b.*?<!-- end\b.*?-->", re.S)
#: Where a date may stand.
DATED = ("CHANGELOG.md", "docs/results/", "docs/decisions/")
GENERATED = ("docs/generated/", "docs/spec/rules.md", "docs/spec/tables.md", "docs/results/reasons.md")
SOURCES = {".c", ".cpp", ".h", ".hpp", ".cu", ".cuh", ".td", ".py", ".pyi"}
OPENING = "(?:Of|What of|Where of|Whoever) "
COMMENT = re.compile(rf"(?://[/!]*<?|#)\s+{OPENING}")
SENTENCE_START = re.compile(rf"(?:^|[.!?:;])\s*{OPENING}")


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=True).stdout.splitlines()


def plain(text):
    """Without blocks of code, comments of the page and addresses of links; code counts as a word."""
    text = re.sub(r"<!--.*?-->", "", unfenced(text), flags=re.S)
    return re.sub(r"`[^`]*`", "code", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text))


def budget(name):
    return next(most for start, most in PAGES if name.startswith(start))


def faults_of_page(name, text):
    text = plain(text)
    tables = [line for line in text.splitlines() if line.lstrip().startswith("|")]
    prose = "\n".join(line for line in text.splitlines() if not (line.startswith("    ") or line.lstrip().startswith(("|", "#"))))
    cells = [cell.strip() for line in tables for cell in line.strip().strip("|").split("|")]
    pieces = [piece for block in re.split(r"\n\s*\n|^\s*(?:[-*]|\d+\.)\s", prose, flags=re.M) for piece in re.split(r"(?<=[.!?:;])\s+", block)]
    words, most = len(text.split()), budget(name)
    if most is not None and words > most:
        yield f"{words} words; at most {most}: split the page, or say less"
    if not name.startswith(GENERATED):
        for cell in cells:
            if len(cell.split()) > CELL:
                yield f"a table cell of {len(cell.split())} words, at most {CELL}: {cell[:60]}..."
        for piece in pieces:
            if len(piece.split()) > SENTENCE:
                yield f"a sentence of {len(piece.split())} words, at most {SENTENCE}: {' '.join(piece.split())[:60]}..."
    for piece in pieces + [part for cell in cells for part in re.split(r"(?<=[.!?:;])\s+", cell)]:
        if re.match(OPENING, piece.strip()):
            yield f"a sentence without its subject first: {' '.join(piece.split())[:60]}..."
    if not name.startswith(DATED):
        for date in re.findall(r"\b20\d\d-\d\d-\d\d\b", text):
            yield f"a date, {date}: dates belong in CHANGELOG.md, docs/results and docs/decisions"


def words_written(name, text):
    """Words of a page of the shelves that a person wrote."""
    if not name.startswith(SHELVES) or name.startswith(GENERATED):
        return 0
    return len(plain(GENERATED_BLOCK.sub("", text)).split())


def docstrings_of(text):
    """Number and text of each line of the docstrings of Python, of attributes too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield from enumerate(node.value.value.splitlines(), node.lineno)


def faults_of_source(name, text):
    found = [(number, "comment", line) for number, line in enumerate(text.splitlines(), 1) if COMMENT.search(line)]
    if name.endswith((".py", ".pyi")):
        found += [(number, "docstring", line) for number, line in docstrings_of(text) if SENTENCE_START.search(line)]
    for number, kind, line in sorted(found):
        yield f"{number}: a {kind} without its subject first: {line.strip()[:60]}"


def faults_of_subjects(count):
    for line in git("log", f"-{count}", "--no-merges", "--format=%h %s"):
        commit, _, subject = line.partition(" ")
        if len(subject) > SUBJECT:
            yield f"commit {commit}: a subject of {len(subject)} characters, at most {SUBJECT}: {subject[:60]}..."


def check_prose(options):
    """Compares pages, comments, docstrings and commit subjects with the budgets of CONTRIBUTING.md.

    A page has at most as many words as its shelf allows, all shelves together 45,000, a table cell 25, a sentence 35;
    generated pages and tables are as long as what they are made of. No sentence of a page or a docstring and no comment begins with "Of". A commit's
    subject has 72 characters.
    """
    faults, written = [], 0
    tracked = git("ls-files")
    for name in tracked:
        path = ROOT / name
        if name.endswith(".md") and path.is_file():
            text = path.read_text()
            written += words_written(name, text)
            faults += [f"{name}: {fault}" for fault in faults_of_page(name, text)]
        elif path.suffix in SOURCES and path.is_file():
            faults += [f"{name}:{fault}" for fault in faults_of_source(name, path.read_text(errors="replace"))]
    if written > TOTAL:
        faults.append(f"{', '.join(SHELVES)}: {written:,} words, at most {TOTAL:,} beside what is generated; cut what two pages say")
    faults += faults_of_subjects(options.commits)
    print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
    print(f"{len(tracked)} files, {written:,} words of {TOTAL:,} in the shelves, {len(faults)} over budget")
    return 1 if faults else 0


SUBCOMMANDS = [("prose", check_prose, {"--commits": {"type": int, "default": 10, "help": "look at the subjects of so many (10)"}})]
