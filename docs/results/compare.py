#!/usr/bin/env python3
# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures annudf against usearch, pynndescent, FAISS, scikit-learn and numba on the same distances, on CPUs.

    pip install -r docs/results/compare-requirements.txt
    python docs/results/compare.py -o OUT                                # vectors made here, to see that it runs
    python docs/results/compare.py -o OUT --data base.u8bin --queries query.u8bin --weights weights.fbin
    python docs/results/compare.py -o OUT --from OUT/results.json        # only draw and tabulate again

--data takes .npy, .fvecs (SIFT1M of corpus-texmex.irisa.fr) or the files of big-ann-benchmarks (.fbin, .u8bin,
.i8bin); all become float32. Without --queries the last rows of the data are the queries, and leave it. Weights of the
weighted L2 are drawn from a seed where no file gives them, ages of the decayed one always.

OUT gets results.json, tables.txt and a plot for each distance (SVG). Every library has the same number of threads, the
same vectors as float32, the same batch of queries. Builds and compilation are timed apart from searches. Each search
runs once to warm up, which is also what its recall and its distances are checked by, against float64; then in rounds,
all libraries in turn, and the median counts. An exact search that is not exact ends the script.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

STARTED = time.perf_counter()


def say(text: str) -> None:
    """Progress, on stderr."""
    print(f"[{time.perf_counter() - STARTED:7.1f} s] {text}", file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for results.json, tables.txt, *.svg")
    parser.add_argument("--from", dest="source", type=Path, help="results.json to draw; nothing is measured")
    parser.add_argument("--data", type=Path, help="vectors to search")
    parser.add_argument("--queries", type=Path, help="vectors to search for")
    parser.add_argument("--weights", type=Path, help="weights of the weighted L2, one a dimension")
    parser.add_argument("--name", help="what the data are called in the tables (default: the file's name)")
    parser.add_argument("--note", default="", help="a sentence for the tables, of the machine say")
    parser.add_argument("--rows", type=int, default=100_000, help="rows of the data at most (100000)")
    parser.add_argument("--batch", type=int, default=1000, help="queries, all given at once (1000)")
    parser.add_argument("--dims", type=int, default=128, help="of vectors made here (128)")
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of every library (all)")
    parser.add_argument("--rounds", type=int, default=5, help="timed searches of each setting (5)")
    parser.add_argument("--patience", type=float, default=4, help="seconds that the rounds of a setting may take (4)")
    parser.add_argument("--tasks", nargs="+", help="only these: weighted_l2 canberra decayed_l2")
    parser.add_argument("--without", nargs="+", default=[], help="packages to leave out: pynndescent, faiss-cpu, ...")
    return parser.parse_args()


def read_vectors(path: Path, rows: int | None = None) -> Any:
    """As float32."""
    import numpy as np

    if path.suffix == ".npy":
        values = np.load(path, mmap_mode="r")[:rows]
    elif path.suffix == ".fvecs":
        dims = int(np.fromfile(path, "<i4", 1)[0])
        values = np.memmap(path, "<f4", "r").reshape(-1, dims + 1)[:rows, 1:]
    else:
        kinds = {".fbin": "<f4", ".u8bin": "u1", ".i8bin": "i1"}
        if path.suffix not in kinds:
            sys.exit(f"{path}: not one of .npy, .fvecs, {', '.join(kinds)}; convert it with numpy.save")
        count, dims = np.fromfile(path, "<u4", 2).tolist()
        values = np.memmap(path, kinds[path.suffix], "r", offset=8, shape=(count, dims))[:rows]
    return np.ascontiguousarray(values, np.float32)


def vectors(options: argparse.Namespace) -> tuple[Any, Any, str]:
    """Base, queries, and what they are."""
    import numpy as np

    if options.data is None:
        rng = np.random.default_rng(1)
        centers = rng.gamma(2.0, 20.0, (200, options.dims))
        total = options.rows + options.batch
        values = centers[rng.integers(0, 200, total)] + rng.normal(0, 12.0, (total, options.dims))
        values = np.maximum(values, 0).astype(np.float32)
        return values[: options.rows], values[options.rows :], "generated, 200 clusters"
    held = 0 if options.queries else options.batch
    base = read_vectors(options.data, options.rows + held)
    name = options.name or options.data.name
    if options.queries:
        queries = read_vectors(options.queries, options.batch)
    else:
        base, queries = base[:-held], base[-held:]
    return base, np.ascontiguousarray(queries), name


def make_tasks(options: argparse.Namespace, base: Any, queries: Any) -> tuple[list[Any], Any]:
    """The distances, and the weights."""
    import compare_tasks
    import numpy as np

    rng = np.random.default_rng(20230610)
    dims = base.shape[1]
    weights = (
        read_vectors(options.weights).reshape(-1) if options.weights else np.exp(rng.normal(0, 0.5, dims)).astype("f4")
    )
    ages = rng.uniform(0, 730, len(base))
    tasks = [
        compare_tasks.weighted_l2(base, queries, weights),
        compare_tasks.canberra(base, queries),
        compare_tasks.decayed_l2(base, queries, ages, half_life=365.0),
    ]
    return [task for task in tasks if not options.tasks or task.name in options.tasks], weights


def processor() -> str:
    """Its name, and what LLVM takes it for, as virtual machines hide the former."""
    import llvmlite.binding

    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()} ({llvmlite.binding.get_host_cpu_name()})"


class Runner:
    """Measures the peers of one task."""

    def __init__(self, task: Any, truth: Any, options: argparse.Namespace, results: dict[str, Any]) -> None:
        self.task, self.truth, self.options, self.results = task, truth, options, results
        self.pending: list[tuple[Any, Any, slice, dict[str, Any]]] = []

    def add(self, kind: type[Any], exact: bool) -> None:
        """Builds, and searches with each setting once."""
        from compare_peers import MODULES

        module = MODULES.get(kind.package)
        if kind.package in self.options.without or (module and importlib.util.find_spec(module) is None):
            say(f"{self.task.title}: {kind.label} left out, {kind.package} is not there")
            return
        if not kind.can(self.task):
            return
        peer = kind(self.task, self.options)
        say(f"{self.task.title}: {kind.label}, building")
        begun = time.perf_counter()
        peer.build()
        seconds = time.perf_counter() - begun
        self.results["versions"][kind.package] = kind.version()
        self.results["builds"].append(
            {"task": self.task.name, "peer": kind.label, "exact": exact, "seconds": round(seconds, 3)}
        )
        for setting in peer.settings():
            self._warm(peer, setting, exact)

    def _warm(self, peer: Any, setting: Any, exact: bool) -> None:
        # One query tells how many a slow search can be given.
        peer.search(slice(0, 1), setting)
        begun = time.perf_counter()
        peer.search(slice(0, 2), setting)
        one = (time.perf_counter() - begun) / 2
        count = self.options.batch if one * self.options.batch < 10 else max(2, int(4 / one))
        queries = slice(0, min(count, self.options.batch))
        begun = time.perf_counter()
        ids, distances = peer.search(queries, setting)
        seconds = time.perf_counter() - begun
        point = {
            "task": self.task.name,
            "peer": peer.label,
            "exact": exact,
            "setting": peer.told(setting),
            "recall": round(self.truth.recall(ids), 5),
            "error": float(f"{self.truth.error(ids, distances):.2g}"),
            "queries": queries.stop,
            "seconds": [],
        }
        if point["error"] > 1e-3 or (exact and point["recall"] < 0.9995):
            sys.exit(f"{self.task.title}, {peer.label}: recall {point['recall']}, error {point['error']}: not exact")
        say(f"  {peer.label} {point['setting']}: recall {point['recall']:.4f}, {queries.stop / seconds:.0f} queries/s")
        point["first"] = seconds
        self.pending.append((peer, setting, queries, point))

    def rounds(self) -> None:
        """All in turn, so that what disturbs the machine disturbs all."""
        for number in range(self.options.rounds):
            say(f"{self.task.title}: round {number + 1} of {self.options.rounds}")
            for peer, setting, queries, point in self.pending:
                if point["seconds"] and sum(point["seconds"]) + point["first"] > self.options.patience:
                    continue
                begun = time.perf_counter()
                peer.search(queries, setting)
                point["seconds"].append(round(time.perf_counter() - begun, 6))
        for _, _, _, point in self.pending:
            del point["first"]
            point["qps"] = round(point["queries"] / statistics.median(point["seconds"]), 1)
            self.results["points"].append(point)


def measure(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """All tasks; what is known after each."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = str(options.threads)  # Read when the libraries are imported.
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import compare_peers
    import compare_tasks

    import annudf

    annudf.set_num_threads(options.threads)
    base, queries, name = vectors(options)
    options.batch = min(options.batch, len(queries))
    queries = queries[: options.batch]
    say(f"{name}: {base.shape[0]} x {base.shape[1]}, {len(queries)} queries, {options.threads} threads")
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    results: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "commit": subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip(),
        "command": " ".join(sys.argv),
        "units": "qps: queries a second, builds: s",
        "host": {"cpu": processor(), "threads": options.threads, "python": platform.python_version()},
        "data": {"name": name, "rows": len(base), "dims": base.shape[1], "queries": len(queries), "k": options.k},
        "rounds": options.rounds,
        "note": options.note,
        "versions": {},
        "tasks": [],
        "builds": [],
        "points": [],
    }
    tasks, weights = make_tasks(options, base, queries)
    for task in tasks:
        say(f"{task.title}: the truth in float64")
        results["tasks"].append({"name": task.name, "title": task.title, "notes": task.notes})
        runner = Runner(task, compare_tasks.Truth(task, weights, options.k), options, results)
        for kind in compare_peers.APPROXIMATE:
            runner.add(kind, exact=False)
        for kind in compare_peers.EXACT:
            runner.add(kind, exact=True)
        runner.rounds()
        results["seconds"] = round(time.perf_counter() - STARTED)
        yield results


def main() -> None:
    """Measures, writes, draws."""
    options = arguments()
    options.output.mkdir(parents=True, exist_ok=True)
    stages = iter([json.loads(options.source.read_text())]) if options.source else measure(options)
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import compare_report

    for results in stages:  # Written after each distance, so that a run that is cut short has told something.
        (options.output / "results.json").write_text(json.dumps(results) + "\n")
        for path in compare_report.write(results, options.output):
            say(f"wrote {path}")


if __name__ == "__main__":
    main()
