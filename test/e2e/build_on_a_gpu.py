#!/usr/bin/env python3
# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`annudf build --device cuda`, then searches of what it wrote.

usage: build_on_a_gpu.py ANNUDF METRIC      METRIC: an artifact of l2

Without a GPU it says so and exits with 0; with ANNUDF_REQUIRE_GPU=1 that is an error.
"""

import os
import random
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROWS, DIMS, LISTS = 3000, 24, 20


def write(path: Path, rows: int, seed: int) -> None:
    path.write_bytes(struct.pack("<ii", rows, DIMS) + random.Random(seed).randbytes(rows * DIMS))


def main(tool: str, metric: str, folder: Path) -> None:
    def run(*arguments: str, code: int = 0) -> str:
        command = [tool, *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != code:
            raise SystemExit(f"{command}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def build(output: str, *more: str, code: int = 0) -> str:
        return run("build", "--base", "base.u8bin", "--lists", str(LISTS), "-o", output, *more, code=code)

    def same(one: str, other: str) -> None:
        if (folder / one).read_bytes() != (folder / other).read_bytes():
            raise SystemExit(f"{one} and {other} differ")

    def expect(pattern: str, text: str) -> re.Match[str]:
        found = re.search(pattern, text)
        if not found:
            raise SystemExit(f"no {pattern!r} in: {text}")
        return found

    write(folder / "base.u8bin", ROWS, 1)
    write(folder / "query.u8bin", 50, 2)
    gpu = ("--device", "cuda")
    try:
        told = build("gpu.ivf", *gpu)
    except SystemExit as error:
        if os.environ.get("ANNUDF_REQUIRE_GPU") == "1" or "CUDA" not in str(error):
            raise
        print(f"SKIPPED, NOT RUN: {error}")
        return
    expect(rf"gpu\.ivf: {ROWS} rows x {DIMS} dims u8, {LISTS} lists, ", told)
    build("again.ivf", *gpu, "--gpu", "0", "-q")
    same("gpu.ivf", "again.ivf")
    # Within what k-means takes rows go there in pieces, or the lists are made on the host.
    least = expect(
        rf"annudf: device_memory_limit is 1 bytes; k-means of \d+ rows in {LISTS} lists takes (\d+);",
        build("none.ivf", *gpu, "--device-memory-limit", "1", code=2),
    )[1]
    build("pieces.ivf", *gpu, "--device-memory-limit", least)
    same("gpu.ivf", "pieces.ivf")
    # Adaptive centers are means of the lists, wherever these were made.
    build("adaptive.ivf", *gpu, "--adaptive-centers", "-q")
    build("pieces.ivf", *gpu, "--adaptive-centers", "--device-memory-limit", least)
    same("adaptive.ivf", "pieces.ivf")
    build("centers.ivf", *gpu, "--train-only", "-q")
    run("extend", "--index", "centers.ivf", "--base", "base.u8bin", "-q")
    # All lists hold all rows, wherever they were made.
    build("cpu.ivf", "-q")
    for index in ("gpu", "cpu", "centers"):
        search = ("search", "--index", f"{index}.ivf", "--queries", "query.u8bin", "--metric", metric)
        run(*search, "--probes", str(LISTS), "-k", "10", *gpu, "-q", "-o", index)
        same(f"{index}.fbin", "gpu.fbin")
    print("built on a GPU as on the CPU")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    with tempfile.TemporaryDirectory() as name:
        main(str(Path(sys.argv[1]).resolve()), str(Path(sys.argv[2]).resolve()), Path(name))
