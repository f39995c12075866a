#!/usr/bin/env python3
# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ruff: noqa: RUF001 (pages have multiplication signs)
"""Writes the tables of the results pages from the JSON beside them. Needs the standard library alone.

usage: tables.py [--check]      --check writes nothing and exits with 1 if a page would change

A table stands in a page between ``<!-- generated: NAME -->`` and ``<!-- end -->``. NAME is one of `TABLES`, or
``record FILE`` for a file of records/. README.md and docs/index.md may hold tables, too. reasons.md is written as a
whole.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent
ROOT = RESULTS.parents[1]
OPAQUE = ", opaque"
"""After the name of a metric in gpu/results.json: without matrix products."""
MARK = re.compile(r"(<!-- generated: ([\w. -]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def _read(name: str) -> Any:
    return json.loads((RESULTS / name).read_text())


def _three(value: float) -> str:
    """Three significant digits: 0.800, 4.45, 430."""
    digits = 2 if value == 0 else max(0, 2 - len(str(int(value))) + 1) if value >= 1 else 3
    return f"{value:,.{digits}f}"


def _ratio(value: float) -> str:
    """Two significant digits: 5.7, 24, 110."""
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Markdown."""
    columns = list(columns)
    lines = ["| " + " | ".join(line).replace("  ", " ") + " |\n" for line in (columns, *rows)]
    return "".join((lines[0], "|---" * len(columns) + "|\n", *lines[1:])).replace("|  |", "| |")


def _origin(about: dict[str, Any], machine: str) -> str:
    """Where and when, and the commit that was measured, or else the one that recorded the numbers."""
    if "commit" in about:
        commit = ", commit " + re.sub(r"\b[0-9a-f]{7,12}\b", r"`\g<0>`", about["commit"])
    elif "recorded" in about:
        commit = f"; results committed in `{about['recorded']}`"
    else:
        commit = f", {about['source']}"
    return f"{machine[0].upper()}{machine[1:]}; {about['date']}{commit}."


class Gpu:
    """What gpu.py measured on one card."""

    def __init__(self, folder: str) -> None:
        self.results = _read(f"{folder}/results.json")
        turns: dict[tuple[Any, ...], list[float]] = {}
        self.recalls: dict[tuple[Any, ...], float] = {}
        for point in self.results["points"]:
            key = tuple(point[name] for name in ("who", "cell", "dtype", "metric", "batch", "probes", "k"))
            turns.setdefault(key, []).append(point["median_ms"])
            if "recall10" in point:
                self.recalls[key] = point["recall10"]
        self.times = {key: statistics.median(times) for key, times in turns.items()}

    def origin(self) -> str:
        """The line over a table."""
        gpu = self.results["gpu"]
        return _origin(self.results, f"One {gpu['name']}, driver {gpu['driver_version']}, cuVS 26.10")

    def row(self, cell: str, dtype: str, metric: str, batch: int, probes: int = 32, k: int = 10) -> list[float | None]:
        """Milliseconds of the metric, of the same without products, and of cuVS's L2."""
        rest = (batch, probes, k)
        keys = [("annudf", cell, dtype, name, *rest) for name in (metric, metric + OPAQUE)]
        return [self.times.get(key) for key in (*keys, ("cuVS", cell, dtype, "l2", *rest))]

    def recall(self, who: str, cell: str, dtype: str, metric: str, probes: int) -> str:
        """Recall@10 of a batch of 10,000."""
        return f"{self.recalls[(who, cell, dtype, metric, 10000, probes, 10)]:.3f}"


SMALL = "1M x 128"
ON_GPUS = (
    ("L2, 1M × 128 f32", SMALL, "f32", "l2", (1, 10, 100, 1000, 10000), 10),
    ("weighted L2, f16", SMALL, "f16", "weighted_l2", (10000,), 10),
    ("L2, u8", SMALL, "u8", "l2", (10000,), 10),
    ("L2, f32, k 100", "1M x 128, k", "f32", "l2", (10000,), 100),
    ("L2, 10M × 96 f32", "10M x 96", "f32", "l2", (1, 100, 10000), 10),
    ("weighted L2, 500k × 1024 f32", "500k x 1024", "f32", "weighted_l2", (100, 10000), 10),
    ("cosine, 1M × 768 f32", "1M x 768, cosine", "f32", "cosine", (1000, 10000), 10),
    ("cosine, 1M × 768 f16", "1M x 768, cosine", "f16", "cosine", (10000,), 10),
)
"""Name, cell, element, metric, batches and k of each row; the card with less memory bandwidth has all of them."""


def gpu(folder: str, batches: tuple[int, ...] = ()) -> str:
    """Proved, opaque and the peer, in milliseconds."""
    card, rows = Gpu(folder), list[list[str]]()
    for name, cell, dtype, metric, all_batches, k in ON_GPUS:
        for batch in all_batches:
            ours, opaque, peer = card.row(cell, dtype, metric, batch, k=k)
            if (batches and batch not in batches) or ours is None or peer is None:
                continue
            times = [_three(time) if time else "" for time in (ours, opaque, peer)]
            ratios = [_ratio(peer / time) if time else "" for time in (ours, opaque)]
            is_first = not rows or all(name not in row for row in rows)
            rows.append([name if is_first else "", f"{batch:,}", *times, *ratios])
    columns = ("metric, data", "batch", "annudf", "opaque", "cuVS", "cuVS / annudf", "cuVS / opaque")
    return f"{card.origin()}\n\n{table(columns, rows)}"


def recall() -> str:
    """Recall and times of one batch over the number of probes."""
    card, rows = Gpu("gpu/h100"), list[list[str]]()
    cell, metric = f"{SMALL}, probes", "weighted_l2"
    for probes in (8, 32, 128):
        times = card.row(cell, "f32", metric, 10000, probes)
        ours = card.recall("annudf", cell, "f32", metric, probes)
        theirs = card.recall("cuVS", cell, "f32", "l2", probes)
        rows.append([str(probes), ours, *(_three(time) for time in times[:2] if time), theirs, _three(times[2] or 0)])
    return table(("probes", "annudf: recall@10", "ms", "opaque, ms", "cuVS: recall@10", "ms"), rows)


def cpu(name: str) -> str:
    """Milliseconds of CPU time on one machine, and the ratio to FAISS."""
    about = _read(f"cpu/{name}.json")
    searches: dict[tuple[int, str], dict[int, str]] = {}
    for point in about["points"]:
        ratio = f" ({point['ratio']})" if "ratio" in point else ""
        searches.setdefault((point["threads"], point["search"]), {})[point["batch"]] = f"{point['cpu_ms']}{ratio}"
    batches = sorted({batch for cells in searches.values() for batch in cells})
    rows = [[str(t), search, *(cells.get(b, "") for b in batches)] for (t, search), cells in searches.items()]
    columns = ("threads", "search", *(f"batch {b:,}" for b in batches))
    return f"{_origin(about, about['machine'] + ', ' + about['faiss'])}\n\n{table(columns, rows)}"


def record(name: str, level: str = "") -> str:
    """Caption, origin and tables of a file of records/."""
    about = _read(f"records/{name}.json")
    parts = [f"{level} {about['title']}\n"] if level else []
    parts.append(f"{about['caption']}\n\n{_origin(about, about['machine'])} Unit: {about['units']}.\n")
    if "command" in about and level:
        parts.append(f"```sh\n{about['command']}\n```\n")
    for one in about["tables"]:
        if "about" in one:
            parts.append(f"{one['about']}:\n")
        parts.append(table(one["columns"], one["rows"]))
    return "\n".join(parts)


TARGET = 0.95


class Comparison:
    """What compare.py measured: the fastest setting of each library that reaches the recall, and exact searches."""

    def __init__(self) -> None:
        self.results = _read("comparison/results.json")
        self.fastest: dict[tuple[bool, str], dict[str, str]] = {}
        """Queries a second by task, of exact searches or others of a peer."""
        for point in sorted(self.results["points"], key=lambda one: one["qps"]):
            if point["exact"] or point["recall"] >= TARGET:
                qps = point["qps"]
                shown = f"{qps:,.0f}" if qps >= 10 else f"{qps:.2g}"
                self.fastest.setdefault((point["exact"], point["peer"]), {})[point["task"]] = shown


def comparison() -> str:
    """On a CPU: the fastest settings, with their builds, and exact searches."""
    compared = Comparison()
    results, fastest = compared.results, compared.fastest
    data, tasks = results["data"], results["tasks"]
    builds = {(b["task"], b["peer"]): f" ({b['seconds']:.2g} s)" for b in results["builds"]}
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    origin = _origin(results, f"{results['host']['cpu']}, {results['host']['threads']} threads")
    text = f"{data['name']}, {data['rows']:,} × {data['dims']} float32, {data['queries']:,} queries, k {data['k']}"
    text += f"; {versions}. {origin}\n"
    order = list(dict.fromkeys(point["peer"] for point in results["points"]))
    for exact, caption in ((False, f"Queries/s at recall@10 {TARGET} (build)"), (True, "Queries/s, exact")):
        rows = []
        for peer in (peer for peer in order if (exact, peer) in fastest):
            speeds = [(task["name"], fastest[exact, peer].get(task["name"], "")) for task in tasks]
            rows.append([peer, *(qps + builds[task, peer] if qps and not exact else qps for task, qps in speeds)])
        text += "\n" + table((caption, *(task["title"] for task in tasks)), rows)
    return text


def _graph(data: str, search: str) -> tuple[str, str]:
    """Milliseconds and recall of a batch of 10,000 in records/peers-graph.json."""
    (measured,) = _read("records/peers-graph.json")["tables"]
    first = next(i for i, row in enumerate(measured["rows"]) if row[0] == data)
    row = next(row for row in measured["rows"][first:] if row[1] == search)
    return row[measured["columns"].index("10,000")], row[measured["columns"].index("recall@10")]


def speed() -> str:
    """README's table: searches of annudf beside those of peers, the faster one in bold."""

    def compared(speeds: list[tuple[str, str, str]], best: Callable[[list[float]], float]) -> tuple[str, str]:
        """Annudf's and the peers' cells; a speed has words before it, the number, and words after it."""
        numbers = [float(number.replace(",", "")) for _, number, _ in speeds]
        texts = []
        for (before, number, after), value in zip(speeds, numbers, strict=True):
            unit, _, rest = after.partition(" at ")
            bold = "**" if value == best(numbers) else ""
            texts.append(f"{bold}{before}{number}{unit}{bold}{' at ' if rest else ''}{rest}")
        return texts[0], ", ".join(texts[1:])

    card, cell = Gpu("gpu/h100"), f"{SMALL}, probes"
    proved, opaque, l2 = (_three(time or 0) for time in card.row(cell, "f32", "weighted_l2", 10000))
    ours = card.recall("annudf", cell, "f32", "weighted_l2", 32)
    theirs = card.recall("cuVS", cell, "f32", "l2", 32)
    cuvs = ("cuVS IVF-Flat, built-in L2: ", l2, f" ms at {theirs}")
    rows = [
        ["H100: weighted L2, 1M × 128, proved", *compared([("", proved, f" ms at recall {ours}"), cuvs], min)],
        ["H100: the same, opaque", compared([("", opaque, f" ms at {ours}"), cuvs], min)[0], "as above"],
    ]
    for name, data, *searches in (
        ("L2, SIFT 500k × 128", "SIFT 500k × 128 f32", "annudf, proved L2", "CAGRA, itopk 32", "CAGRA, itopk 64"),
        ("L1, 10M × 96, opaque", "10M × 96 mixture", "annudf, L1, opaque, 32 probes", "CAGRA, itopk 64"),
    ):
        found = [_graph(data, search) for search in searches]
        words = ("", "cuVS CAGRA, built-in L2: " if "L1" in name else "cuVS CAGRA: ", "")
        speeds = [(before, ms, f" ms at {recall}") for before, (ms, recall) in zip(words, found, strict=False)]
        rows.append([f"H100: {name}", *compared(speeds, min)])
    peers = Comparison()
    for task, name in (
        ("weighted_l2", "weighted L2"),
        ("decayed_l2", "L2 with a decay value per row"),
        ("canberra", "Canberra"),
    ):
        qps = {peer: all_qps[task] for (exact, peer), all_qps in peers.fastest.items() if not exact and task in all_qps}
        own = ("", qps.pop("annudf IVF-Flat"), " queries/s")
        others = sorted(qps.items(), key=lambda one: -float(one[1].replace(",", "")))
        ours, text = compared([own, *((peer.removesuffix(" HNSW") + " ", number, "") for peer, number in others)], max)
        rows.append([f"CPU: {name}", ours, text + ("" if "FAISS IVF-Flat" in qps else ", FAISS cannot")])
    data, threads = peers.results["data"], peers.results["host"]["threads"]
    return (
        f"{table(('search', 'annudf', 'peers'), rows)}\n"
        "H100: the time for one batch of 10,000 queries, k 10 ([IVF-Flat](docs/results/gpu.md), "
        "[graphs](docs/results/graphs.md)).\n"
        f"CPU: the throughput on SIFT {data['rows']:,} × {data['dims']} at a recall@{data['k']} of at least {TARGET}, "
        f"for one batch of {data['queries']:,} queries on {threads} threads ([peers](docs/results/peers.md)).\n"
    )


TABLES = {
    "gpu h100": lambda: gpu("gpu/h100"),
    "gpu h200": lambda: gpu("gpu", (10000,)),
    "recall": recall,
    "cpu epyc": lambda: cpu("epyc"),
    "cpu xeon-amx": lambda: cpu("xeon-amx"),
    "cpu emerald-rapids": lambda: cpu("emerald-rapids"),
    "comparison": comparison,
    "speed": speed,
}


def reasons() -> str:
    """The whole page of records that other pages do not show."""
    records = {path.stem: json.loads(path.read_text()) for path in sorted((RESULTS / "records").glob("*.json"))}
    shown = [(name, about) for name, about in records.items() if about["page"] == "reasons"]
    shown.sort(key=lambda one: str(one[1]["title"]))
    parts = [
        "# Measured reasons\n",
        "Each section holds the measurement behind one decision. Code comments and pages cite it by its title.\n"
        "`docs/results/tables.py` writes the sections from `docs/results/records`, one JSON file a section.\n"
        "*Before* and *after* are the trees on either side of the change. A commit is the one measured, or the one\n"
        "that recorded the numbers. `annudf_cuda_bench` without `--rows` takes 1M × 128 in 1,024 lists, 32 probes\n"
        "and k 10. Lists were not balanced until 2026-11-23, and a search scanned more rows: compare numbers of one\n"
        "table only.\n",
    ]
    for group in ("GPU", "CPU", "Links", "Python and C++"):
        parts.append(f"## {group}\n")
        parts += [record(name, "###") for name, about in shown if about["group"] == group]
    return "\n".join(parts)


def _filled(text: str) -> str:
    def replace(match: re.Match[str]) -> str:
        name = match[2]
        body = record(name.removeprefix("record ")) if name.startswith("record ") else TABLES[name]()
        return f"{match[1]}{body}{match[4]}"

    return MARK.sub(replace, text)


def pages() -> dict[Path, str]:
    """Each page that has a generated table, and its text as it should be."""
    texts = {RESULTS / "reasons.md": reasons()}
    for path in (*sorted(RESULTS.glob("*.md")), ROOT / "README.md", ROOT / "docs/index.md"):
        text = path.read_text()
        if path not in texts and MARK.search(text):
            texts[path] = _filled(text)
    return texts


def main() -> int:
    """Writes or checks every page."""
    only_checks, status = "--check" in sys.argv, 0
    for path, text in pages().items():
        name = path.relative_to(ROOT)
        if path.exists() and path.read_text() == text:
            continue
        if only_checks:
            print(f"{name} is not what its JSON says")
            status = 1
        else:
            path.write_text(text)
            print(f"wrote {name}")
    return status


if __name__ == "__main__":
    sys.exit(main())
