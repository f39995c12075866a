# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
r"""Searches on one GPU, annudf's and cuVS's in turns, and the tables and plots of them.

On the machine with the GPU, where only the standard library is needed::

    python docs/results/gpu.py run OUT --bench build/runtime/runtime/bench/annudf_cuda_bench \
        --artifacts DIR --cuvs FOLDER

with DIR from scripts/gpu artifacts and FOLDER from docs/results/cuvs/build.sh.

On any machine with matplotlib, from the OUT/results.json that it wrote, plots; then the tables of gpu.md::

    python docs/results/gpu.py plot OUT docs/results/gpu
    python docs/results/tables.py

Both programs make the same vectors, a Gaussian mixture, and train centers of their own. cuVS runs its
built-in L2, annudf a metric compiled from docs/examples/metrics. Every cell is asked of one, then of
the other, `--turns` times; times are medians of 15 searches (101 up to 100 queries) and then of the
turns, from and to device memory, each search waited for.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROWS, DIMS, LISTS = 1_000_000, 128, 1024
SMALL = ("--rows", str(ROWS), "--dims", str(DIMS), "--lists", str(LISTS))
"""What the plots are of."""
EMBEDDINGS = ("--rows", str(ROWS), "--dims", "768", "--lists", str(LISTS))
OPAQUE = ", opaque"
"""After the name of a metric: without matrix products."""


@dataclass(frozen=True)
class Cell:
    """One call of each program: a data set, an element type, metrics, and what is swept."""

    name: str
    dtype: str
    metrics: tuple[str, ...]
    data: tuple[str, ...] = SMALL
    batch: str = "1,10,100,1000,10000"
    probes: str = "32"
    k: str = "10"
    peer: bool = True
    opaque: bool = False
    """Whether it is asked once more without matrix products, as of a metric that is not proved."""


CELLS = (
    Cell("1M x 128", "f32", ("weighted_l2", "l2"), opaque=True),
    Cell("1M x 128", "f16", ("weighted_l2", "l2"), opaque=True),
    Cell("1M x 128", "u8", ("weighted_l2", "l2"), opaque=True),
    Cell("1M x 128", "i8", ("l2", "inner_product")),
    Cell("1M x 128, other metrics", "u8", ("l1", "inner_product", "bitwise_hamming"), peer=False),
    Cell("1M x 128, k", "f32", ("l2",), batch="10000", k="10,100,1000", opaque=True),
    Cell("1M x 128, probes", "f32", ("weighted_l2",), batch="10000", probes="4,8,16,32,64,128", opaque=True),
    Cell(
        "10M x 96",
        "f32",
        ("l2",),
        data=("--rows", "10000000", "--dims", "96", "--lists", "4096"),
        batch="1,100,10000",
        opaque=True,
    ),
    Cell(
        "500k x 1024",
        "f32",
        ("weighted_l2",),
        data=("--rows", "500000", "--dims", "1024", "--lists", "2048"),
        batch="100,1000,10000",
        opaque=True,
    ),
    Cell(
        "500k x 768",
        "f32",
        ("weighted_l2",),
        data=("--rows", "500000", "--dims", "768", "--lists", "2048"),
        batch="100,1000",
        opaque=True,
    ),
    Cell(
        "500k x 1536",
        "f32",
        ("weighted_l2",),
        data=("--rows", "500000", "--dims", "1536", "--lists", "2048"),
        batch="100,1000",
        opaque=True,
    ),
    Cell(
        "3M x 200",
        "f16",
        ("weighted_l2",),
        data=("--rows", "3000000", "--dims", "200", "--lists", "2048"),
        batch="1000,10000",
        opaque=True,
    ),
    Cell("1M x 768", "f32", ("l2", "inner_product"), data=EMBEDDINGS, batch="100,1000,10000"),
    Cell("1M x 768", "f16", ("l2", "inner_product"), data=EMBEDDINGS, batch="100,1000,10000"),
    Cell("1M x 768, cosine", "f32", ("cosine",), data=EMBEDDINGS, batch="1000,10000", opaque=True),
    Cell("1M x 768, cosine", "f16", ("cosine",), data=EMBEDDINGS, batch="1000,10000", opaque=True),
)


def _lines(command: list[str], environment: dict[str, str], failed: list[str]) -> list[dict[str, Any]]:
    """What a program measured; of one that fails, what it had by then: other cells are worth their time."""
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        sys.exit(f"gpu.py: {command[0]}: {error.strerror}")
    if done.returncode:
        failed.append(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()[-500:]}")
        print(f"gpu.py: {failed[-1]}", file=sys.stderr, flush=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{") and line.endswith("}")]


def _arguments(cell: Cell) -> list[str]:
    swept = ("--dtype", cell.dtype, "--batch", cell.batch, "--probes", cell.probes, "--k", cell.k)
    return [*cell.data, *swept]


def _about() -> dict[str, Any]:
    fields = "name,driver_version,clocks.max.sm"
    asked = subprocess.run(
        ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"], capture_output=True, text=True, check=True
    )
    return dict(zip(fields.split(","), asked.stdout.splitlines()[0].split(", "), strict=True))


def _commit() -> str:
    """The tree that is measured, as git names it; nothing where there is no git."""
    try:
        asked = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return ""
    return asked.stdout.strip()


class _Clock:
    """Samples the clock of the multiprocessors while something runs."""

    def __enter__(self) -> _Clock:
        query = ["nvidia-smi", "--query-gpu=clocks.sm", "--format=csv,noheader,nounits", "-lms", "100"]
        self._samples = subprocess.Popen(query, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *raised: object) -> None:
        self._samples.terminate()
        text = self._samples.communicate()[0]
        # The highest: between the searches there is nothing to do, and the clock falls.
        self.mhz = max((int(line) for line in text.split() if line.isdigit()), default=0)


def run(arguments: argparse.Namespace) -> None:
    """Measures, and writes OUT/results.json after every cell."""
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    ours = dict(os.environ)
    theirs = dict(os.environ)
    theirs["LD_LIBRARY_PATH"] = f"{arguments.cuvs}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    chosen = [cell for cell in CELLS if not arguments.cells or any(part in cell.name for part in arguments.cells)]
    if not chosen:
        sys.exit(f"gpu.py: no cell has {arguments.cells} in its name: {sorted({cell.name for cell in CELLS})}")
    results: dict[str, Any] = {"date": datetime.date.today().isoformat(), "commit": _commit()}
    results |= {"command": " ".join(sys.argv), "units": "median_ms, stages: ms", "gpu": _about()}
    results |= {"points": [], "builds": [], "failed": []}
    for cell in chosen:
        for turn in range(arguments.turns):
            calls = [("annudf", metric + how) for metric in cell.metrics for how in ("", OPAQUE)[: 1 + cell.opaque]]
            if cell.peer and arguments.cuvs:
                calls.append(("cuVS", "l2"))
            for who, metric in calls:
                if who == "annudf":
                    artifact = str(Path(arguments.artifacts) / f"{metric.removesuffix(OPAQUE)}.annudf")
                    program = [arguments.bench, "--metric", artifact, "--stages"]
                    with _Clock() as clock:
                        environment = ours | ({"ANNUDF_MATRIX": "0"} if metric.endswith(OPAQUE) else {})
                        lines = _lines(program + _arguments(cell), environment, results["failed"])
                    for line in lines:
                        line["sm_mhz"] = clock.mhz
                else:
                    program = [str(Path(arguments.cuvs) / "cuvs_bench"), *_arguments(cell)]
                    lines = _lines(program, theirs, results["failed"])
                for line in lines:
                    about = {"cell": cell.name, "who": who, "metric": metric, "turn": turn}
                    kind = "points" if "median_ms" in line else "builds"
                    results[kind].append(about | line)
                    if "median_ms" in line:
                        print(cell.name, who, metric, line["dtype"], line["batch"], line["median_ms"], flush=True)
        results["cells"] = [asdict(one) for one in chosen]
        (out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    print(*tables(results), sep="\n")
    if results["failed"]:
        sys.exit(f"gpu.py: {len(results['failed'])} calls failed")


Key = tuple[str, str, str, int, int, int]


def _key(point: dict[str, Any]) -> Key:
    return (point["cell"], point["metric"], point["dtype"], point["batch"], point["probes"], point["k"])


def _medians(results: dict[str, Any], who: str) -> dict[Key, dict[str, Any]]:
    """The turns of each point as one: the median of their times, the rest of the last."""
    turns: dict[Key, list[dict[str, Any]]] = {}
    for point in results["points"]:
        if point["who"] == who:
            turns.setdefault(_key(point), []).append(point)
    return {
        key: points[-1] | {"median_ms": statistics.median(point["median_ms"] for point in points)}
        for key, points in turns.items()
    }


def _stages(point: dict[str, Any]) -> str:
    return ", ".join(f"{name} {ms:.3g}" for name, ms in point.get("stages", {}).items())


def _dims(results: dict[str, Any], point: dict[str, Any]) -> int:
    (data,) = (
        cell["data"] for cell in results["cells"] if cell["name"] == point["cell"] and cell["dtype"] == point["dtype"]
    )
    return int(data[data.index("--dims") + 1])


def _updates(results: dict[str, Any], point: dict[str, Any]) -> float:
    """10^12 a second, of the scan; where a kernel does more than scan, of all that it does."""
    stages = point["stages"]
    ms = stages.get("scan", sum(stages.values()))
    return float(point["rows_per_query"] * point["batch"] * _dims(results, point) / ms / 1e9)


def tables(results: dict[str, Any]) -> list[str]:
    """Markdown: ours, the peer's L2 at the same data, batch, probes and k, and their ratio."""
    gpu = results["gpu"]
    ours, theirs = _medians(results, "annudf"), _medians(results, "cuVS")
    text = [
        f"{results['date']}, one {gpu['name']}, driver {gpu['driver_version']}. Milliseconds. "
        "T updates/s: the metric's update, of rows scanned x dims, over the time of the scan.",
        "",
        "| data | element | metric | batch | probes | k | annudf | kernels | stages | recall@10 "
        "| T updates/s | cuVS L2 | its recall@10 | cuVS / annudf |",
        "|" + "---|" * 14,
    ]
    for key, point in ours.items():
        cell, metric, dtype, batch, probes, k = key
        peer = theirs.get((cell, "l2", dtype, batch, probes, k))
        recall, their_recall = (f"{one['recall10']:.3f}" if one and "recall10" in one else "" for one in (point, peer))
        ms = point["median_ms"]
        other = f"{peer['median_ms']:.3f} | {their_recall} | {peer['median_ms'] / ms:.2f}" if peer else "| |"
        text.append(
            f"| {cell} | {dtype} | {metric} | {batch:,} | {probes} | {k} | {ms:.3f} | {point['family']} | "
            f"{_stages(point)} | {recall} | {_updates(results, point):.3g} | {other} |"
        )
    return text


COLORS = {"weighted_l2": "#3f51b5", "l2": "#00838f", "cuVS": "#e65100", "opaque": "#8e24aa"}


def _recall_plot(axes: Any, results: dict[str, Any]) -> None:
    for who, metric, color, name in (
        ("annudf", "weighted_l2", "weighted_l2", "annudf, weighted L2 of a user, proved"),
        ("annudf", "weighted_l2" + OPAQUE, "opaque", "annudf, the same, opaque"),
        ("cuVS", "l2", "cuVS", "cuVS, built-in L2"),
    ):
        medians = _medians(results, who).items()
        points = [p for key, p in medians if key[0].endswith("probes") and key[1] == metric and "recall10" in p]
        axes.plot([p["recall10"] for p in points], [p["qps"] for p in points], "o-", color=COLORS[color], label=name)
        for point in points:
            axes.annotate(
                str(point["probes"]),
                (point["recall10"], point["qps"]),
                fontsize=7,
                xytext=(3, 3),
                textcoords="offset points",
            )
    axes.set(
        xlabel="recall@10 (numbers: probes)",
        ylabel="queries/s, batch 10,000",
        yscale="log",
        title=f"1M x {DIMS} float32, {LISTS} lists",
    )


def _batch_plot(axes: Any, results: dict[str, Any]) -> None:
    for dtype, line in (("f32", "-"), ("u8", "--")):
        for who, metric, color, name in (
            ("annudf", "l2", "l2", "annudf, L2"),
            ("annudf", "l2" + OPAQUE, "opaque", "annudf, L2, opaque"),
            ("cuVS", "l2", "cuVS", "cuVS, L2"),
        ):
            points = [p for key, p in _medians(results, who).items() if key[:3] == ("1M x 128", metric, dtype)]
            axes.plot(
                [p["batch"] for p in points],
                [p["batch"] * 1e3 / p["median_ms"] for p in points],
                "o" + line,
                color=COLORS[color],
                label=f"{name}, {dtype}",
            )
    axes.set(
        xlabel="queries of a search",
        ylabel="queries/s",
        xscale="log",
        yscale="log",
        title=f"1M x {DIMS}, 32 of {LISTS} lists, k = 10",
    )


def _roofline_plot(axes: Any, results: dict[str, Any]) -> None:
    """Updates of opaque metrics a second over updates for each byte of lists, were each list read once a batch."""
    bytes_of = {"f32": 4, "f16": 2, "u8": 1}
    instructions = {"l2": 2, "weighted_l2": 3}
    built = next(line for line in results["builds"] if "processors" in line)
    lanes = built["processors"] * 128
    mhz = max(point.get("sm_mhz", 0) for point in results["points"])
    for metric, count in instructions.items():
        roof = lanes * mhz * 1e6 / count / 1e12
        axes.axhline(roof, color=COLORS[metric], lw=1, ls=":")
        label = f"{count} FP32 instructions an update, {built['processors']} x 128 lanes at {mhz} MHz"
        axes.annotate(
            label,
            (0.02, roof),
            xycoords=("axes fraction", "data"),
            fontsize=7,
            xytext=(0, 2),
            textcoords="offset points",
        )
    marks = {"f32": "o", "f16": "^", "u8": "s"}
    for metric in instructions:
        for dtype, mark in marks.items():
            wanted = ("1M x 128", metric + OPAQUE, dtype)
            points = [p for key, p in _medians(results, "annudf").items() if key[:3] == wanted]
            if not points:
                continue
            read = [ROWS * DIMS * bytes_of[dtype] * (1 - (1 - p["probes"] / LISTS) ** p["batch"]) for p in points]
            done = [p["rows_per_query"] * p["batch"] * DIMS for p in points]
            axes.plot(
                [updates / bytes_ for updates, bytes_ in zip(done, read, strict=True)],
                [_updates(results, p) for p in points],
                mark + "-",
                color=COLORS[metric],
                ms=4,
                label=f"{metric}, {dtype}",
            )
    memory = 4.8  # TB/s of an H200's data sheet.
    low = axes.get_xlim()[0]
    axes.plot([low, 10], [memory * low, memory * 10], color="#777777", lw=1, ls=":", label=f"memory, {memory} TB/s")
    axes.set(
        xlabel="updates for each byte of the lists probed",
        ylabel="10^12 updates/s of the scan",
        xscale="log",
        yscale="log",
    )


def plot(arguments: argparse.Namespace) -> None:
    """Writes tables.txt and the plots."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "annudf"
    results = json.loads((Path(arguments.results) / "results.json").read_text())
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "tables.txt").write_text("\n".join(tables(results)) + "\n")
    (out / "results.json").write_text(json.dumps(results, separators=(",", ":")) + "\n")
    for name, draw in (("recall", _recall_plot), ("batch", _batch_plot), ("roofline", _roofline_plot)):
        figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
        draw(axes, results)
        axes.grid(alpha=0.3, which="both")
        axes.legend(fontsize=8)
        gpu = results["gpu"]
        figure.text(0.99, 0.01, f"{gpu['name']}, {results['date']}", ha="right", fontsize=6, color="#777777")
        figure.savefig(out / f"{name}.svg", metadata={"Date": None})
        plt.close(figure)


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    measure = commands.add_parser("run", help="measure, on the machine with the GPU")
    measure.add_argument("out", help="folder for results.json")
    measure.add_argument("--bench", required=True, help="annudf_cuda_bench")
    measure.add_argument("--artifacts", required=True, help="what scripts/gpu artifacts made")
    measure.add_argument("--cuvs", default="", help="folder of cuvs_bench and its libraries; left out: no peer")
    measure.add_argument("--turns", type=int, default=2, help="times that each cell is asked of both, default 2")
    measure.add_argument("--cells", nargs="*", default=[], help="only cells whose name has one of these in it")
    measure.set_defaults(call=run)
    draw = commands.add_parser("plot", help="make tables and plots of what was measured")
    draw.add_argument("results", help="folder with results.json")
    draw.add_argument("out", help="folder for tables.txt and the plots")
    draw.set_defaults(call=plot)
    arguments = parser.parse_args()
    arguments.call(arguments)


if __name__ == "__main__":
    main()
