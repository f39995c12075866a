# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables and plots of what compare.py measured."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt

TARGETS = (0.8, 0.9, 0.95, 0.99)
LOOKS = {
    "annudf IVF-Flat": ("#3f51b5", "o", "-"),
    "usearch HNSW": ("#e65100", "s", "--"),
    "pynndescent": ("#2e7d32", "^", "--"),
    "FAISS IVF-Flat": ("#6d4c41", "D", ":"),
}


def _points(results: dict[str, Any], task: str, exact: bool) -> list[dict[str, Any]]:
    return [point for point in results["points"] if point["task"] == task and point["exact"] == exact]


def _names(points: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(point["peer"] for point in points))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _fastest(points: list[dict[str, Any]], peer: str, target: float) -> dict[str, Any] | None:
    enough = [point for point in points if point["peer"] == peer and point["recall"] >= target]
    return max(enough, key=lambda point: point["qps"], default=None)


def _setup(results: dict[str, Any]) -> Iterator[str]:
    host, data = results["host"], results["data"]
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    yield (
        f"Measured on {results['date']}: {host['cpu']}, {host['threads']} threads for every library, "
        f"Python {host['python']}. Data: {data['name']}, {data['rows']:,} x {data['dims']} as float32, a batch of "
        f"{data['queries']:,} queries, k = {data['k']}. {versions}. "
        f"Medians of up to {results['rounds']} rounds in turn. {results['note']}".rstrip()
    )
    yield ""


def _approximate(results: dict[str, Any], task: dict[str, Any]) -> Iterator[str]:
    points = _points(results, task["name"], exact=False)
    built = {b["peer"]: b["seconds"] for b in results["builds"] if b["task"] == task["name"]}
    k = results["data"]["k"]
    yield f"| recall@{k} of at least | " + " | ".join(f"{target:.2f}" for target in TARGETS) + " | build, s |"
    yield "|---" * (len(TARGETS) + 2) + "|"
    for peer in _names(points):
        cells = []
        for target in TARGETS:
            best = _fastest(points, peer, target)
            cells.append(f"{_number(best['qps'])} ({best['setting']})" if best else "not reached")
        yield f"| {peer} | " + " | ".join(cells) + f" | {_number(built[peer])} |"
    yield ""


def _exact(results: dict[str, Any], task: dict[str, Any]) -> Iterator[str]:
    points = _points(results, task["name"], exact=True)
    ours = next((point["qps"] for point in points if point["peer"] == "annudf brute_force"), None)
    yield "| exact search | queries a second | annudf's rate over it | queries |"
    yield "|---|---|---|---|"
    for point in points:
        ratio = f"{ours / point['qps']:,.1f}" if ours and point["qps"] != ours else ""
        yield f"| {point['peer']} | {_number(point['qps'])} | {ratio} | {point['queries']:,} |"
    yield ""


def table(results: dict[str, Any], folder: str) -> str:
    """Everything that was measured, in Markdown, for a page beside the folder of the plots."""
    lines = list(_setup(results))
    for task in results["tasks"]:
        plot = f"![{task['title']}: recall over queries a second]({folder}/{task['name']}.svg)"
        lines += [f"### {task['title']}", "", plot, ""]
        lines += [*_approximate(results, task), *_exact(results, task)]
        lines += [f"- {peer}: {note}" for peer, note in task["notes"].items()] + [""]
    return "\n".join(lines)


def _draw_task(results: dict[str, Any], task: dict[str, Any], path: Path) -> None:
    points, exact = (_points(results, task["name"], kind) for kind in (False, True))
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), width_ratios=(3, 2), layout="constrained")
    for peer in _names(points):
        color, marker, line = LOOKS[peer]
        own = sorted((p for p in points if p["peer"] == peer), key=lambda p: p["recall"])
        x, y = [p["recall"] for p in own], [p["qps"] for p in own]
        left.plot(x, y, line, color=color, marker=marker, label=peer, ms=4)
    left.set(yscale="log", xlabel=f"recall@{results['data']['k']}", ylabel="queries a second", title=task["title"])
    left.set_xlim(left=max(0.3, min((p["recall"] for p in points), default=0)), right=1.01)
    left.grid(alpha=0.3)
    left.legend(fontsize=8)
    order = sorted(exact, key=lambda p: p["qps"])
    ours = [p["peer"].startswith("annudf") for p in order]
    bars = right.barh([p["peer"] for p in order], [p["qps"] for p in order])
    for bar, mine in zip(bars, ours, strict=True):
        bar.set_color("#3f51b5" if mine else "#b0bec5")
    right.bar_label(bars, [_number(p["qps"]) for p in order], padding=3, fontsize=8)
    right.set(xscale="log", xlabel="queries a second", title="exact search")
    right.tick_params(axis="y", labelsize=8)
    right.margins(x=0.25)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def write(results: dict[str, Any], folder: Path) -> list[Path]:
    """tables.txt and a plot for each task."""
    mpl.rcParams["svg.hashsalt"] = "annudf"
    mpl.rcParams["svg.fonttype"] = "none"
    written = [folder / "tables.txt"]
    written[0].write_text(table(results, folder.name))
    for task in results["tasks"]:
        written.append(folder / f"{task['name']}.svg")
        _draw_task(results, task, written[-1])
    return written
