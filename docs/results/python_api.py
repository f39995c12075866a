# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the Python package costs: against the same metric as text, on a GPU, and when compiling.

    python docs/results/python_api.py speed [--rows 1000000] [--library cupy|torch|numpy]
    python docs/results/python_api.py latency [--arch sm_90]
    python docs/results/python_api.py first [--runs 7]
    python docs/results/python_api.py equal
    python docs/results/python_api.py prepared [--rows 64] [--library cupy|torch|numpy]

``speed`` searches an index with weighted L2 written in Python and as text, in two orders of multiplication,
in turns, on a stream of its own (CuPy, Torch) or on the CPU (NumPy), and prints medians and their ratio.
``latency`` starts new processes: import, a metric's first compile, and the same from the cache.
``first`` starts new processes too, and times what their user waits for: import, decorator and first search on the CPU,
one after the other or with an index built between decorator and search, with and without the metric in the disk cache.
``equal`` compares both metrics on every element type and every engine that is there, bit for bit where
sums are exact. Random data: only costs are measured here, not recall.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

METRICS = Path(__file__).resolve().parent.parent / "examples" / "metrics"


def python_metrics(weights):
    """Weighted L2 as Python functions: as the README has it, and in the order of weighted_l2.mlir."""
    from annudf import ivf_flat

    decorate = ivf_flat.metric(order="min", initial=0.0, coarse_metric="sqeuclidean", captures={"w": weights})

    @decorate
    def left_to_right(x, y, acc, ctx):
        d = x - y
        return acc + ctx.w[ctx.dim] * d * d

    @decorate
    def square_first(x, y, acc, ctx):
        d = x - y
        return acc + ctx.w[ctx.dim] * (d * d)

    return {"w*d*d": left_to_right, "w*(d*d)": square_first}


LEFT_TO_RIGHT = """
annudf.metric @left_to_right order(min) coarse(l2) elements(f32, f16, i8, u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %dim = annudf.index dim
    %weight = annudf.load %w[%dim] : !annudf.capture<dim x f32>
    %diff = arith.subf %x, %y : f32
    %weighted = arith.mulf %weight, %diff : f32
    %square = arith.mulf %weighted, %diff : f32
    %next = arith.addf %acc, %square : f32
    annudf.yield %next : f32
  }
}
"""


def text_metrics(weights):
    """The same as MLIR text."""
    from annudf import ivf_flat

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "left_to_right.mlir")
        path.write_text(LEFT_TO_RIGHT)
        return {
            "w*d*d": ivf_flat.load_metric(path, w=weights),
            "w*(d*d)": ivf_flat.load_metric(METRICS / "weighted_l2.mlir", w=weights),
        }


def array_library(name):
    """Converts to the library, makes a stream's Resources, and waits."""
    from annudf import Resources

    if name == "cupy":
        import cupy

        stream = cupy.cuda.Stream(non_blocking=True)
        return cupy.asarray, Resources(stream=stream), stream.synchronize
    if name == "torch":
        import torch

        stream = torch.cuda.Stream()
        return (lambda a: torch.from_numpy(a).cuda()), Resources(stream=stream), stream.synchronize
    return np.asarray, None, lambda: None


def speed(rows: int, library: str) -> None:
    """Searches in turns with both metrics."""
    from annudf import ivf_flat

    generator = np.random.default_rng(7)
    base = generator.standard_normal((rows, 128), dtype=np.float32)
    weights = generator.random(128, dtype=np.float32) + 0.25
    started = time.perf_counter()
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1024, kmeans_n_iters=5, kmeans_trainset_fraction=0.05), base)
    print(f"index of {rows} x 128 float32, 1024 lists: {time.perf_counter() - started:.1f} s")
    convert, resources, wait = array_library(library)
    from_python, from_text = python_metrics(weights), text_metrics(weights)
    print(f"{library}: k 10, 32 probes; ms a search, median of turns")
    for batch in (1, 10, 100, 1000, 10000):
        queries = convert(generator.standard_normal((batch, 128), dtype=np.float32))
        for formula in from_python:
            metrics = {"python": from_python[formula], "text": from_text[formula]}
            times: dict[str, list[float]] = {name: [] for name in metrics}
            repeats = max(1, 2000 // max(batch, 20)) if library != "numpy" else 1
            for turn in range(15):
                for name in sorted(metrics, reverse=turn % 2 == 1):
                    params = ivf_flat.SearchParams(n_probes=32, metric=metrics[name])
                    wait()
                    started = time.perf_counter()
                    for _ in range(repeats):
                        ivf_flat.search(params, index, queries, 10, resources=resources)
                    wait()
                    if turn >= 2:  # The first turns link and upload.
                        times[name].append((time.perf_counter() - started) * 1e3 / repeats)
            middle = {name: statistics.median(values) for name, values in times.items()}
            ratios = [a / b for a, b in zip(times["python"], times["text"], strict=True)]
            print(
                f"  batch {batch:6d} {formula:8s}: python {middle['python']:.4f}  text {middle['text']:.4f}  "
                f"ratio {statistics.median(ratios):.3f}"
            )


_PROBE = """
import json, sys, time
times = {}
started = time.perf_counter()
import annudf
from annudf import ivf_flat
times["import annudf"] = time.perf_counter() - started
import numpy as np
weights = np.ones(128, np.float32)
if sys.argv[2] == "cold":
    started = time.perf_counter()
    from annudf._frontend import module
    times["import of the frontend, at first use"] = time.perf_counter() - started
def weighted_l2(x, y, acc, ctx):
    d = x - y
    return acc + ctx.weights[ctx.dim] * d * d
for round in ("first", "second") if sys.argv[2] == "cold" else ("first",):
    body = weighted_l2
    if round == "second":
        def body(x, y, acc, ctx):
            d = x - y
            return acc + ctx.weights[ctx.dim] * abs(d)
    started = time.perf_counter()
    metric = ivf_flat.metric(captures={"weights": weights})(body)
    artifact = metric.artifact([a for a in sys.argv[1].split(",") if a])
    times[f"decorator to artifact, {round} metric"] = time.perf_counter() - started
if sys.argv[2] == "cached":
    assert "numba_cuda_mlir" not in sys.modules
print(json.dumps(times))
"""


def latency(arch: str) -> None:
    """Times imports and compiles in new processes."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "probe.py")
        script.write_text(_PROBE)
        for kind, runs in (("cold", 7), ("cached", 7)):
            collected: dict[str, list[float]] = {}
            for run in range(runs):
                cache = Path(folder, "kept" if kind == "cached" else f"cache{run}")
                environment = {**os.environ, "ANNUDF_CACHE_DIR": str(cache)}
                if kind == "cached" and run == 0:
                    subprocess.run(
                        [sys.executable, script, arch, "cold"], env=environment, check=True, capture_output=True
                    )
                done = subprocess.run(
                    [sys.executable, script, arch, kind], env=environment, check=True, capture_output=True, text=True
                )
                for name, seconds in json.loads(done.stdout).items():
                    collected.setdefault(name, []).append(seconds * 1e3)
            for name, values in collected.items():
                print(
                    f"{kind}: {name}: {statistics.median(values):.1f} ms"
                    f" (of {runs}: {min(values):.1f} to {max(values):.1f})"
                )


_FIRST = """
import json, sys, time
import numpy as np
times = {}
def timed(name, started):
    times[name] = time.perf_counter() - started
started = time.perf_counter()
from annudf import ivf_flat
timed("import annudf", started)
rows = np.random.default_rng(0).random((int(sys.argv[1]), 64), dtype=np.float32)
def build():
    started = time.perf_counter()
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=64, kmeans_n_iters=5), rows)
    timed("build", started)
    return index
index = build() if sys.argv[2] == "after" else None
started = time.perf_counter()
@ivf_flat.metric
def canberra(x, y, acc, ctx):
    total = abs(x) + abs(y)
    return acc + (abs(x - y) / total if total > 0 else 0)
timed("decorator", started)
index = index or build()
started = time.perf_counter()
params = ivf_flat.SearchParams(n_probes=8, metric=canberra)
ivf_flat.search(params, index, rows[:10], 5)
timed("first search", started)
times["CPU until then"] = time.process_time()
started = time.perf_counter()
ivf_flat.search(params, index, rows[:10], 5)
timed("second search", started)
times["seen by the user"] = times["import annudf"] + times["decorator"] + times["first search"]
print(json.dumps(times))
"""


def first(runs: int, rows: int) -> None:
    """Times the first use of a metric in new processes."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "first.py")
        script.write_text(_FIRST)
        for cached in (False, True):
            for build in ("after", "between"):
                collected: dict[str, list[float]] = {}
                for run in range(runs + 1):
                    cache = Path(folder, f"{build}{'' if cached else run}")
                    done = subprocess.run(
                        [sys.executable, script, str(rows), build],
                        env={**os.environ, "ANNUDF_CACHE_DIR": str(cache)}, check=True, capture_output=True, text=True,
                    )  # fmt: skip
                    for name, seconds in json.loads(done.stdout).items() if run else ():  # The first reads the disk.
                        collected.setdefault(name, []).append(seconds * 1e3)
                print(
                    f"metric {'in the disk cache' if cached else 'not cached'}, index built "
                    f"{'between decorator and search' if build == 'between' else 'before the decorator'}:"
                )
                for name, values in collected.items():
                    print(f"  {name:18s} {statistics.median(values):8.1f} ms  ({min(values):.1f} to {max(values):.1f})")


def equal() -> None:
    """Compares results of both metrics."""
    from annudf import ivf_flat

    generator = np.random.default_rng(3)
    weights = np.round(generator.random(100, dtype=np.float32) * 8) / 8
    libraries = ["numpy"]
    for name in ("cupy", "torch"):
        try:
            array_library(name)
            libraries.append(name)
        except Exception as error:
            print(f"{name}: not compared ({type(error).__name__}: {str(error).splitlines()[0]})")
    failed = False
    for dtype in ("float32", "float16", "int8", "uint8"):
        low, high = (0, 100) if dtype == "uint8" else (-50, 50)  # Sums are exact in float32.
        base = generator.integers(low, high, (5000, 100)).astype(dtype)
        queries = generator.integers(low, high, (64, 100)).astype(dtype)
        index = ivf_flat.build(ivf_flat.IndexParams(n_lists=32), base)
        for library in libraries:
            convert, resources, wait = array_library(library)
            results = []
            for metric in (python_metrics(weights)["w*d*d"], text_metrics(weights)["w*d*d"]):
                params = ivf_flat.SearchParams(n_probes=32, metric=metric)
                found = ivf_flat.search(params, index, convert(queries), 20, resources=resources)
                wait()
                results.append(
                    [np.asarray(a.get() if hasattr(a, "get") else a.cpu() if hasattr(a, "cpu") else a) for a in found]
                )
            same = all(np.array_equal(a, b) for a, b in zip(*results, strict=True))
            exact = ((queries.astype(np.float64)[:, None] - base) ** 2 * weights).sum(-1)
            off = np.abs(results[0][0] - np.take_along_axis(exact, results[0][1], 1)).max()
            ranked = np.array_equal(np.sort(results[0][0], 1), results[0][0])
            failed |= not same or not ranked or off > 1e-6 * exact.max()
            print(
                f"{dtype:8s} {library:6s}: python and text {'equal' if same else 'DIFFER'},"
                f" off float64 by {off:.3g} at most"
            )
    sys.exit(int(failed))


class _Vectors(ctypes.Structure):
    """annudf_vectors."""

    _fields_ = (
        ("size", ctypes.c_size_t), ("data", ctypes.c_void_p), ("rows", ctypes.c_int64), ("dims", ctypes.c_int64),
        ("element", ctypes.c_int32),
    )  # fmt: skip


class PreparedInC:
    """annudf_ivf_flat_prepared of a file of an index, by L2, for one query of float32."""

    def __init__(self, folder, index, metric, arch, dims, k, probes, stream) -> None:
        import annudf
        from annudf import ivf_flat

        (library,) = Path(annudf.__file__).parent.glob("libannudf.so.*")
        self.library = ctypes.CDLL(str(library))
        self.library.annudf_last_error.restype = ctypes.c_char_p
        ivf_flat.save(str(Path(folder, "index")), index)
        metric.artifact([arch] if arch else []).save(str(Path(folder, "metric")))
        backend = self.made("annudf_backend_create_cuda" if arch else "annudf_backend_create_cpu", 0)
        loaded = self.made("annudf_ivf_flat_load", str(Path(folder, "index")).encode())
        artifact = self.made("annudf_artifact_load", str(Path(folder, "metric")).encode())
        element = ctypes.c_int32()
        self.check(self.library.annudf_element_parse(b"f32", ctypes.byref(element)))
        shape = _Vectors(ctypes.sizeof(_Vectors), None, 1, dims, element)
        self.prepared = ctypes.c_void_p()
        self.check(
            self.library.annudf_ivf_flat_prepare(
                backend,
                loaded,
                artifact,
                None,
                ctypes.byref(shape),
                ctypes.c_int64(k),
                ctypes.c_int64(probes),
                None,
                ctypes.c_uint64(stream),
                ctypes.byref(self.prepared),
                None,
            )
        )
        self.run = self.library.annudf_ivf_flat_prepared_run
        self.nothing = self.library.annudf_ivf_flat_prepared_destroy  # Takes NULL: as many arguments, and no work.

    def check(self, status: int) -> None:
        """Ends the program with the library's words."""
        if status:
            sys.exit(self.library.annudf_last_error().decode())

    def made(self, function: str, argument):
        """What a function hands out by its last argument."""
        result = ctypes.c_void_p()
        self.check(getattr(self.library, function)(argument, ctypes.byref(result)))
        return result


def prepared(rows: int, library: str) -> None:
    """Times prepared searches of one query, C's and Python's in turns."""
    from annudf import _arrays, ivf_flat
    from annudf._devices import backends

    dims, k = 128, min(10, rows)
    lists = 1024 if rows >= 100_000 else max(1, rows // 32)
    probes = min(32, lists)
    generator = np.random.default_rng(7)
    convert, resources, wait = array_library(library)
    base = convert(generator.standard_normal((rows, dims), dtype=np.float32))
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=lists, kmeans_n_iters=5), base, resources)
    params = ivf_flat.SearchParams(n_probes=probes)
    queries = convert(generator.standard_normal((1, dims), dtype=np.float32))
    neighbors, distances = convert(np.empty((1, k), np.int64)), convert(np.empty((1, k), np.float32))
    wait()
    arch = "" if library == "numpy" else backends.arch_of(_arrays.Device("cuda", 0))
    stream = 0 if resources is None else resources.stream
    with tempfile.TemporaryDirectory() as folder:
        in_c = PreparedInC(folder, index, params.metric_for(index), arch, dims, k, probes, stream)
    current = resources._owner if library == "cupy" else None
    if library == "torch":
        import torch

        current = torch.cuda.stream(resources._owner)
    if current is not None:
        current.__enter__()
    nearest = ivf_flat.prepare(params, index, queries, k)
    address = [_arrays.view(one, "array").address for one in (queries, neighbors, distances)]
    pointers = [*(ctypes.c_void_p(one) for one in address), None]
    calls = {
        "nothing, by ctypes": lambda: in_c.nothing(None, *pointers),
        "C, by ctypes": lambda: in_c.run(in_c.prepared, *pointers),
        "Python, results given": lambda: nearest(queries, neighbors, distances),
        "Python, new results": lambda: nearest(queries),
        "search(), results given": lambda: ivf_flat.search(params, index, queries, k, neighbors, distances),
        "search(), new results": lambda: ivf_flat.search(params, index, queries, k),
    }
    host: dict[str, list[float]] = {name: [] for name in calls}
    whole: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(120):
        for name in sorted(calls, reverse=turn % 2 == 1):
            call = calls[name]
            wait()
            started = time.perf_counter()
            for _ in range(16):  # Less than a stream takes without waiting.
                call()
            spent = time.perf_counter() - started
            wait()
            started = time.perf_counter()
            call()
            wait()
            if turn >= 20:
                whole[name].append((time.perf_counter() - started) * 1e6)
                host[name].append(spent * 1e6 / 16)
    middle = {name: statistics.median(values) for name, values in host.items()}
    in_c_only = middle["C, by ctypes"] - middle["nothing, by ctypes"]
    print(f"{library}: {rows} x {dims} float32, {lists} lists, {probes} probes, k {k}, one query; us, medians of 100")
    print(f"  {'':26s} {'host':>8s} {'over C':>8s} {'whole':>8s}")
    for name in list(calls)[1:]:
        over = "" if name.startswith("C") else f"{middle[name] - in_c_only:.1f}"
        own = in_c_only if name.startswith("C") else middle[name]
        print(f"  {name.replace(', by ctypes', ''):26s} {own:8.1f} {over:>8s} {statistics.median(whole[name]):8.1f}")


def main() -> None:
    """Reads the command line."""
    os.environ["ANNUDF_LINK_AHEAD"] = "0"  # Searches are timed from the first on.
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for_speed = commands.add_parser("speed")
    for_speed.add_argument("--rows", type=int, default=1_000_000)
    for_speed.add_argument("--library", choices=("cupy", "torch", "numpy"), default="numpy")
    for_latency = commands.add_parser("latency")
    for_latency.add_argument("--arch", default="sm_90", help="empty: the host only")
    for_first = commands.add_parser("first")
    for_first.add_argument("--runs", type=int, default=7)
    for_first.add_argument("--rows", type=int, default=100_000)
    commands.add_parser("equal")
    for_prepared = commands.add_parser("prepared")
    for_prepared.add_argument("--rows", type=int, default=64)
    for_prepared.add_argument("--library", choices=("cupy", "torch", "numpy"), default="numpy")
    options = parser.parse_args()
    if options.command == "speed":
        speed(options.rows, options.library)
    elif options.command == "latency":
        latency(options.arch)
    elif options.command == "first":
        first(options.runs, options.rows)
    elif options.command == "prepared":
        prepared(options.rows, options.library)
    else:
        equal()


if __name__ == "__main__":
    main()
