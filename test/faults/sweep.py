#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""sweep.py ANNUDF FAULTS_SO EXAMPLES: the commands of annudf with one call of the system failing.

Whichever call of malloc, pthread_create, write, fsync, rename or mmap fails, a command either does what it
does otherwise, or ends with exit code 1 and a line that says why; the file that it replaces is the old one or
the new one, and no temporary is left. ANNUDF_FAULT_RUNS is the number of places tried for each function and
command (16; all with 0).
"""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ANNUDF, FAULTS, EXAMPLES = sys.argv[1:4]
FUNCTIONS = ("malloc", "pthread_create", "write", "fsync", "rename", "mmap")
RUNS = int(os.environ.get("ANNUDF_FAULT_RUNS", "16"))


def vectors(path: Path, rows: int, dims: int, seed: int) -> None:
    numbers = random.Random(seed)
    data = bytes(numbers.randrange(256) for _ in range(rows * dims))
    path.write_bytes(struct.pack("<II", rows, dims) + data)


def prepare(folder: Path) -> None:
    vectors(folder / "base.u8bin", 300, 8, 1)
    vectors(folder / "more.u8bin", 40, 8, 2)
    run(folder, "build", "--base", "base.u8bin", "--lists", "4", "-q", "-o", "index.ivf")
    run(folder, "compile", f"{EXAMPLES}/l2.mlir", "-q", "-o", "l2.annudf")


# What is run, and the files that it replaces.
COMMANDS = {
    "compile": (("compile", f"{EXAMPLES}/l1.mlir", "-q", "-o", "l2.annudf"), ["l2.annudf"]),
    "build": (("build", "--base", "more.u8bin", "--lists", "3", "-q", "-o", "index.ivf"), ["index.ivf"]),
    "extend": (("extend", "--index", "index.ivf", "--base", "more.u8bin", "-q"), ["index.ivf"]),
    "search": (
        ("search", "--index", "index.ivf", "--queries", "more.u8bin", "--metric", "l2.annudf")
        + ("-k", "5", "--threads", "4", "-q", "-o", "out"),
        ["out.ibin", "out.fbin"],
    ),
    "inspect": (("inspect", "l2.annudf", "--json"), []),
}


def run(folder: Path, *command: str, fault: str = "", counts: str = "") -> subprocess.CompletedProcess[bytes]:
    environment = dict(os.environ, LD_PRELOAD=FAULTS, ANNUDF_FAULT=fault)
    # libNVVM is not ours: it may end the process where memory does.
    environment["ANNUDF_LIBNVVM"] = "/nowhere"
    if counts:
        environment["ANNUDF_FAULT_COUNTS"] = counts
    return subprocess.run((ANNUDF, *command), cwd=folder, env=environment, capture_output=True, timeout=120, check=False)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def places(calls: int) -> list[int]:
    """Which calls fail: the first, the last, and a sample of those between that is the same in every run."""
    if RUNS == 0 or calls <= RUNS:
        return list(range(1, calls + 1))
    step = (calls - 1) / (RUNS - 1)
    return sorted({1 + round(step * number) for number in range(RUNS)})


def sweep(name: str, start: Path) -> list[str]:
    command, outputs = COMMANDS[name]
    faults = []
    with tempfile.TemporaryDirectory() as scratch:
        counts = Path(scratch, "counts")
        good = Path(scratch, "good")
        shutil.copytree(start, good)
        done = run(good, *command, counts=str(counts))
        if done.returncode != 0:
            return [f"{name}: {done.stderr.decode()}"]
        before, after = contents(start), contents(good)
        calls = dict(line.split() for line in counts.read_text().splitlines())
        tried = failed = 0
        for function in FUNCTIONS:
            for number in places(int(calls[function])):
                folder = Path(scratch, "try")
                shutil.copytree(start, folder)
                done = run(folder, *command, fault=f"{function}:{number}")
                tried += 1
                failed += done.returncode != 0
                what = f"{name}, {function} {number} of {calls[function]}"
                words = done.stderr.decode(errors="replace")
                if done.returncode not in (0, 1):
                    faults.append(f"{what}: exit {done.returncode}: {words[-300:]}")
                elif done.returncode == 1 and not words.startswith("annudf: "):
                    faults.append(f"{what}: exit 1 without a word: {words[-300:]}")
                found = contents(folder)
                for file in sorted(found.keys() - before.keys() - set(outputs)):
                    faults.append(f"{what}: {file} is left")
                for file in sorted(before.keys() | set(outputs)):
                    allowed = [after.get(file)] if done.returncode == 0 else [before.get(file), after.get(file)]
                    if found.get(file) not in allowed:
                        faults.append(f"{what}: exit {done.returncode}, {file} is neither the old nor the new one")
                shutil.rmtree(folder)
        print(f"{name}: {tried} faults, {failed} errors, {len(faults)} mistakes", flush=True)
    return faults


def main() -> int:
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        start = Path(scratch)
        prepare(start)
        faults = [fault for name in COMMANDS for fault in sweep(name, start)]
    for fault in faults:
        print(fault)
    print(f"{time.monotonic() - begin:.1f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
