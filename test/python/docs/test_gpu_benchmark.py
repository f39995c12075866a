# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""docs/results/gpu.py with stand-ins for what it runs: what it asks, what it makes of the answers, what it does without one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "docs/results/gpu.py"
SOURCES = {"annudf": ROOT / "runtime/bench/CudaBench.cpp", "cuVS": ROOT / "docs/results/cuvs/cuvs_bench.cu"}

STAND_IN = f"""#!{sys.executable}
import json, os, sys
arguments = dict(zip(sys.argv[1::2], sys.argv[2::2])) if "--stages" not in sys.argv else None
if arguments is None:
    rest = [a for a in sys.argv[1:] if a != "--stages"]
    arguments = dict(zip(rest[::2], rest[1::2]))
ours = "--metric" in arguments
with open(os.environ["ASKED"], "a") as asked:
    matrix = os.environ.get("ANNUDF_MATRIX", "")
    print(("annudf" if ours else "cuVS") + matrix, json.dumps(arguments), file=asked)
what = os.path.basename(arguments.get("--metric", "L2"))
if os.environ.get("FAILS") == what:
    print('{{"what":"build on the device","ms":1.0}}')
    print("out of memory", file=sys.stderr)
    sys.exit(3)
print(json.dumps({{"what": "build on the device", "ms": 1.5}}))
if ours:
    print(json.dumps({{"what": "first search", "link_ms": 50.0, "processors": 132}}))
for probes in map(int, arguments["--probes"].split(",")):
    for k in map(int, arguments["--k"].split(",")):
        for batch in map(int, arguments["--batch"].split(",")):
            ms = (1 if ours else 4) * batch * probes / 1000
            line = {{"what": what, "dtype": arguments["--dtype"], "probes": probes, "k": k, "batch": batch}}
            line |= {{"first_ms": ms, "median_ms": ms, "min_ms": ms, "qps": batch * 1e3 / ms}}
            if batch >= 1000:
                line["recall10"] = 1 - 1 / probes
            if ours:
                line |= {{"links": 0, "family": "staged", "rows_per_query": 1000.0 * probes}}
                line["stages"] = {{"coarse": ms / 4, "scan": ms / 2}}
            print(json.dumps(line))
"""
SMI = """#!/bin/sh
case "$*" in
*clocks.sm*) echo 1980; exec sleep 60 ;;
*) echo "NVIDIA H200, 580.159.04, 1980 MHz" ;;
esac
"""


@pytest.fixture
def run(tmp_path: Path) -> object:
    for name, text in (("bench", STAND_IN), ("cuvs/cuvs_bench", STAND_IN), ("bin/nvidia-smi", SMI)):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def call(*more: str, **environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(SCRIPT), "run", str(tmp_path / "out"), "--bench", str(tmp_path / "bench")]
        command += ["--artifacts", "artifacts", "--cuvs", str(tmp_path / "cuvs"), *more]
        path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
        environment |= {"PATH": path, "ASKED": str(tmp_path / "asked")}
        return subprocess.run(
            command, env=os.environ | environment, capture_output=True, text=True, timeout=120, check=False
        )

    return call


def test_both_are_asked_in_turns(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = run("--turns", "2", "--cells", "3M")
    assert (done.returncode, done.stderr) == (0, "")
    asked = [line.split(" ", 1) for line in (tmp_path / "asked").read_text().splitlines()]
    assert [who for who, _ in asked] == ["annudf", "annudf0", "cuVS"] * 2, "the second without matrix products"
    swept = {"--rows": "3000000", "--dims": "200", "--lists": "2048", "--dtype": "f16"}
    swept |= {"--batch": "1000,10000", "--probes": "32", "--k": "10"}
    assert json.loads(asked[0][1]) == {"--metric": "artifacts/weighted_l2.annudf"} | swept
    assert asked[1][1] == asked[0][1]
    assert json.loads(asked[2][1]) == swept
    assert done.stdout.splitlines()[-1] == (
        "| 3M x 200 | f16 | weighted_l2, opaque | 10,000 | 32 | 10 | 320.000 | staged | coarse 80, scan 160 | 0.969 "
        "| 0.4 | 1280.000 | 0.969 | 4.00 |"
    )


def test_tables_and_plots(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert run("--turns", "1").returncode == 0
    command = [sys.executable, str(SCRIPT), "plot", str(tmp_path / "out"), str(tmp_path / "plots")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if "No module named 'matplotlib'" in done.stderr:
        pytest.skip("matplotlib is not installed: the plots are NOT checked")
    assert (done.returncode, done.stderr) == (0, "")
    made = {path.name for path in (tmp_path / "plots").iterdir()}
    assert made == {"tables.txt", "results.json", "recall.svg", "batch.svg", "roofline.svg"}
    results = json.loads((tmp_path / "out/results.json").read_text())
    table = (tmp_path / "plots/tables.txt").read_text().splitlines()
    assert len(table) == 4 + sum(point["who"] == "annudf" for point in results["points"])
    assert all(line.count("|") == 15 for line in table[2:])
    assert {point["sm_mhz"] for point in results["points"] if point["who"] == "annudf"} == {1980}


def test_a_call_that_fails_does_not_end_the_others(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = run("--turns", "1", "--cells", "3M", "500k x 1024", FAILS="L2")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "gpu.py: 2 calls failed"
    assert "cuvs_bench --rows 500000 --dims 1024 --lists 2048" in done.stderr
    assert ": exit 3: out of memory" in done.stderr
    results = json.loads((tmp_path / "out/results.json").read_text())
    assert [point["who"] for point in results["points"]] == ["annudf"] * (2 * 3 + 2 * 2)
    assert len(results["failed"]) == 2


def test_no_such_cell(run) -> None:  # type: ignore[no-untyped-def]
    done = run("--cells", "7M")
    assert done.returncode == 1
    assert done.stderr.startswith("gpu.py: no cell has ['7M'] in its name: ['10M x 96', '1M x 128',")


def test_no_such_program(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "bench").unlink()
    done = run("--cells", "3M")
    assert done.returncode == 1
    assert done.stderr == f"gpu.py: {tmp_path / 'bench'}: No such file or directory\n"


@pytest.mark.parametrize("who", sorted(SOURCES))
def test_the_programs_print_what_is_read(who: str) -> None:
    printed = set(re.findall(r'\\"(\w+)\\":', SOURCES[who].read_text()))
    read = {"dtype", "probes", "k", "batch", "median_ms", "qps", "recall10"}
    if who == "annudf":
        read |= {"family", "rows_per_query", "stages", "processors"}
    assert read <= printed, read - printed
    options = set(re.findall(r'"(?:--)?(\w+)"', SOURCES[who].read_text()))
    assert {"rows", "dims", "lists", "dtype", "batch", "probes", "k"} <= options
