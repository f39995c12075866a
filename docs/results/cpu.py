#!/usr/bin/env python3
# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times annudf's metrics on the CPU against FAISS's built-in L2 and L1, in turns, and prints a table.

usage: cpu.py DATA --build BUILD [--rows 200000] [--lists 512] [--probes 16] [--threads 2] [-k 10] [--rounds 5]
              [-o FILE]

-o writes a JSON file as docs/results/cpu has one a machine, of which docs/results/tables.py makes the tables of cpu.md.

DATA holds base.u8bin, query.u8bin and weights_u.fbin (SIFT); FAISS and annudf both search them as float32.
BUILD is the build folder. Needs faiss-cpu and numpy:  python3 -m venv V && V/bin/pip install faiss-cpu numpy
Wall time is what a user sees; CPU time (all threads together) is what it costs, and does not
grow when another program takes the cores.
"""
import argparse
import datetime
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import faiss
import numpy as np

BATCHES = (1, 10, 100, 1000)
ROOT = Path(__file__).resolve().parents[2]
# Our metrics and their captures.
METRICS = {"weighted_l2": ["--capture", "w={data}/weights_u.fbin"], "l2": [], "l1": [], "canberra": []}
NAMES = {"weighted_l2": "weighted L2", "l2": "L2", "l1": "L1", "canberra": "Canberra"}
NAMES |= {"faiss l2": "FAISS L2", "faiss l1": "FAISS L1"}
PEERS = {"weighted_l2": "faiss l2", "l2": "faiss l2", "l1": "faiss l1", "canberra": "faiss l1"}


def vectors(path: Path) -> np.ndarray:
    rows, dims = np.fromfile(path, "<u4", 2)
    return np.fromfile(path, "u1", offset=8).reshape(rows, dims).astype(np.float32)


def faiss_round(index, query: np.ndarray, k: int, seconds: float) -> dict:
    """Medians in ms of wall and CPU time for each batch size."""
    result = {}
    for batch in BATCHES:
        wall, cpu, first = [], [], 0
        while sum(wall) < seconds or len(wall) < 7:
            w, c = time.perf_counter(), time.process_time()
            index.search(query[first : first + batch], k)
            wall.append(time.perf_counter() - w)
            cpu.append(time.process_time() - c)
            first = first + batch if first + 2 * batch <= len(query) else 0
        result[batch] = (statistics.median(wall) * 1e3, statistics.median(cpu) * 1e3)
    return result


def annudf_round(args, folder: Path, metric: str, seconds: float) -> tuple[dict, dict]:
    command = [args.build / "runtime/bench/annudf_cpu_bench", "--base", args.data / "base.u8bin", "--queries",
               args.data / "query.u8bin", "--metric", folder / f"{metric}.annudf", "--index", folder / "index.ivf",
               "--f32", "--rows", args.rows, "--lists", args.lists, "--probes", args.probes, "--threads", args.threads,
               "-k", args.k, "--batches", ",".join(map(str, BATCHES)), "--seconds", seconds]
    command += [part.format(data=args.data) for part in METRICS[metric]]
    output = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout
    lines = [json.loads(line) for line in output.splitlines()]
    times = {line["batch"]: (line["median_ms"], line["cpu_ms"]) for line in lines if line["what"] == "search"}
    return times, {key: line[key] for line in lines for key in ("link_ms", "recall", "host") if key in line}


def record(args, middle: dict, facts: dict, recall: float) -> dict:
    """What was measured, as tables.py reads it."""
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    points = []
    for name, row in middle.items():
        for batch, (wall, cpu) in row.items():
            point = {"search": NAMES[name], "threads": args.threads, "batch": batch}
            point |= {"cpu_ms": round(cpu, 3), "wall_ms": round(wall, 3)}
            if name in PEERS:
                point |= {"over": NAMES[PEERS[name]], "ratio": round(middle[PEERS[name]][batch][1] / cpu, 2)}
            points.append(point)
    recalls = {"FAISS L2": round(float(recall), 4)} | {NAMES[name]: fact["recall"] for name, fact in facts.items()}
    return {
        "date": datetime.date.today().isoformat(), "machine": facts["l2"]["host"],
        "faiss": f"faiss-cpu {faiss.__version__}", "commit": commit, "command": " ".join(sys.argv),
        "units": "CPU ms, all threads together", "recall10": recalls,
        "data": {"name": args.data.name, "rows": args.rows, "lists": args.lists, "probes": args.probes, "k": args.k},
        "points": points,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--build", type=Path, required=True)
    for name, value in (("rows", 200_000), ("lists", 512), ("probes", 16), ("threads", 2), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("-o", "--output", type=Path, help="JSON file of what was measured")
    parser.add_argument("--seconds", type=float, default=1, help="for each batch size of a round")
    args = parser.parse_args()

    faiss.omp_set_num_threads(args.threads)
    base = vectors(args.data / "base.u8bin")[: args.rows]
    query = vectors(args.data / "query.u8bin")
    theirs = {}
    for name, kind in (("faiss l2", faiss.METRIC_L2), ("faiss l1", faiss.METRIC_L1)):
        # One clustering for both, by L2: what is compared is the scan.
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(base.shape[1]), base.shape[1], args.lists, kind)
        index.cp.seed = 1
        index.train(base[:: max(1, len(base) // (args.lists * 100))])
        index.add(base)
        index.nprobe = args.probes
        theirs[name] = index
    exact = faiss.IndexFlatL2(base.shape[1])
    exact.add(base)
    _, truth = exact.search(query[:1000], args.k)
    _, found = theirs["faiss l2"].search(query[:1000], args.k)
    recall = np.mean([len(set(a) & set(b)) / args.k for a, b in zip(found, truth)])

    rounds: dict[str, list] = {}
    facts: dict[str, dict] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for metric in METRICS:
            source = ROOT / ("docs/results/cpu" if metric == "canberra" else "docs/examples/metrics") / f"{metric}.mlir"
            subprocess.run([args.build / "tools/annudf/annudf", "compile", "-q", source, "-o", folder / f"{metric}.annudf"], check=True)
        annudf_round(args, folder, "l2", 0)  # Builds the index.
        for _ in range(args.rounds):
            for name, index in theirs.items():
                rounds.setdefault(name, []).append(faiss_round(index, query, args.k, args.seconds))
            for metric in METRICS:
                times, facts[metric] = annudf_round(args, folder, metric, args.seconds)
                rounds.setdefault(metric, []).append(times)

    middle = {name: {b: [statistics.median(r[b][i] for r in runs) for i in (0, 1)] for b in BATCHES}
              for name, runs in rounds.items()}
    if args.output:
        args.output.write_text(json.dumps(record(args, middle, facts, recall), indent=1) + "\n")
    print(f"faiss {faiss.__version__} ({faiss.get_compile_options().strip()}), recall@{args.k} {recall:.4f}")
    for metric, fact in facts.items():
        print(f"annudf {metric}: link {fact['link_ms']} ms, recall@{args.k} {fact['recall']:.4f}, {fact['host']}")
    print(f"\n| median of {args.rounds} rounds | " + " | ".join(f"batch {b}: wall / CPU ms" for b in BATCHES) + " |")
    print("|---" * (len(BATCHES) + 1) + "|")
    for name, row in middle.items():
        print(f"| {name} | " + " | ".join(f"{row[b][0]:.3f} / {row[b][1]:.3f}" for b in BATCHES) + " |")
    for metric, other in PEERS.items():
        print(f"| {metric} over {other} | " + " | ".join(
            f"{middle[other][b][0] / middle[metric][b][0]:.2f}x / {middle[other][b][1] / middle[metric][b][1]:.2f}x"
            for b in BATCHES) + " |")
    print(f"\nbatch 1000, queries a second: " + ", ".join(f"{name} {1e6 / row[1000][0]:.0f}" for name, row in middle.items()))


if __name__ == "__main__":
    main()
