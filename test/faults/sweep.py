#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""sweep.py ANNUDF FAULTS_SO EXAMPLES [PART PARTS]: annudf's commands with one call of the system failing or signals coming.

All commands, or those of a part: 1 to PARTS.

Whichever call of pthread_create, write, fsync, rename, mmap, open, read, fork or pipe2 fails, or of malloc by
annudf itself (faults.h), a command either does what it does otherwise, or ends with exit code 1 and a line that
says why, with the name of the file where it is one; the file that it replaces is the old one or the new one,
and no temporary is left. Every call is tried until the command no longer comes to it, but of malloc only
ANNUDF_FAULT_RUNS places a command (4, in the long form 8; all with 0): FaultsTest.cpp tries them all.

Signals that end a session come when a file has been synced, when it has its name, when that has been synced, and
when main has returned: exit code 130 says that nothing was written, 0 that all was, and no temporary is left. At each
place one set of signals comes, another the next time; in the long form (ANNUDF_LONG_TESTS) all do.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ANNUDF, FAULTS, EXAMPLES = sys.argv[1:4]
PART, PARTS = map(int, sys.argv[4:6] or (1, 1))
FUNCTIONS = ("malloc", "pthread_create", "write", "fsync", "rename", "mmap", "open", "read", "fork", "pipe2")
LONG = "ANNUDF_LONG_TESTS" in os.environ
RUNS = int(os.environ.get("ANNUDF_FAULT_RUNS", "8" if LONG else "4"))
# What the line that a command ends with must hold, beside a file of the command where the function takes one.
WORDS = {
    "malloc": ("annudf: out of memory",),
    "write": ("No space left on device", "the reader crashed"),
    "fsync": ("Input/output error",),
    "rename": ("Input/output error",),
    "open": ("Too many open files",),
    "read": ("Input/output error", "the reader crashed"),
    "fork": ("cannot start a process to read MLIR bytecode: Resource temporarily unavailable",),
    "pipe2": ("cannot start a process to read MLIR bytecode: Too many open files",),
}
# Functions whose first call every command in which it is made needs: it may not go unnoticed.
NEEDED = ("write", "fsync", "rename", "read", "fork", "pipe2")


def vectors(path: Path, rows: int, dims: int, seed: int) -> None:
    numbers = random.Random(seed)
    data = bytes(numbers.randrange(256) for _ in range(rows * dims))
    path.write_bytes(struct.pack("<II", rows, dims) + data)


def prepare(folder: Path) -> None:
    vectors(folder / "base.u8bin", 300, 8, 1)
    vectors(folder / "more.u8bin", 40, 8, 2)
    run(folder, "build", "--base", "base.u8bin", "--lists", "4", "-q", "-o", "index.ivf")
    run(folder, "compile", f"{EXAMPLES}/weighted_l2.mlir", "-q", "-o", "weighted.annudf")
    run(folder, "compile", f"{EXAMPLES}/l2.mlir", "-q", "-o", "l2.annudf")
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (8,), }"
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    weights = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack("<8f", *range(1, 9))
    (folder / "weights.npy").write_bytes(weights)


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
# What comes at once: each alone, and what a closing terminal and timeout(1) send.
TOGETHER = (
    *((number,) for number in SIGNALS),
    (signal.SIGHUP, signal.SIGHUP),
    (signal.SIGTERM, signal.SIGTERM),
    (signal.SIGINT, signal.SIGTERM, signal.SIGHUP),
)

# What is run, and the files that it replaces.
COMMANDS = {
    "compile": (("compile", f"{EXAMPLES}/l1.mlir", "-q", "-o", "l2.annudf"), ["l2.annudf"]),
    "build": (("build", "--base", "more.u8bin", "--lists", "3", "-q", "-o", "index.ivf"), ["index.ivf"]),
    "remove": (("remove", "--index", "index.ivf", "--ids", "3", "-q"), ["index.ivf"]),
    "extend": (("extend", "--index", "index.ivf", "--base", "more.u8bin", "-q"), ["index.ivf"]),
    "search": (
        (
            "search",
            "--index",
            "index.ivf",
            "--queries",
            "more.u8bin",
            "--metric",
            "l2.annudf",
            "-k",
            "5",
            "--threads",
            "4",
            "-q",
            "-o",
            "out",
        ),
        ["out.ibin", "out.fbin"],
    ),
    "captures": (
        (
            "search",
            "--index",
            "index.ivf",
            "--queries",
            "more.u8bin",
            "--metric",
            "weighted.annudf",
            "--capture",
            "w=weights.npy",
            "-k",
            "5",
            "-q",
            "-o",
            "out",
        ),
        ["out.ibin", "out.fbin"],
    ),
    "inspect": (("inspect", "l2.annudf", "--json"), []),
    "verify": (("verify", "l2.annudf", "-q"), []),
}


def run(folder: Path, *command: str, fault: str = "", counts: str = "", signals: str = "") -> subprocess.CompletedProcess[bytes]:
    environment = dict(os.environ, LD_PRELOAD=FAULTS, ANNUDF_FAULT=fault, ANNUDF_FAULT_SIGNALS=signals)
    # libNVVM is not ours: it may end the process where memory does.
    environment["ANNUDF_LIBNVVM"] = "/nowhere"
    if counts:
        environment["ANNUDF_FAULT_COUNTS"] = counts
    return subprocess.run(
        (ANNUDF, *command), cwd=folder, env=environment, capture_output=True, timeout=120, check=False
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def places(calls: int) -> list[int]:
    """Which calls of malloc fail: the first, the last, and a sample of those between, the same in every run."""
    if RUNS == 0 or calls <= RUNS:
        return list(range(1, calls + 1))
    step = (calls - 1) / (RUNS - 1)
    return sorted({1 + round(step * number) for number in range(RUNS)})


class Sweep:
    """The runs of one command, and what is wrong with them."""

    def __init__(self, name: str, start: Path, scratch: Path) -> None:
        self.name, self.start, self.scratch = name, start, scratch
        self.command, self.outputs = COMMANDS[name]
        self.faults: list[str] = []
        self.tried = self.failed = self.signalled = 0
        counts, good = scratch / "counts", scratch / "good"
        shutil.copytree(start, good)
        done = run(good, *self.command, counts=str(counts))
        if done.returncode != 0:
            raise SystemExit(f"{name}: exit {done.returncode}: {done.stderr.decode()}")
        self.before, self.after = contents(start), contents(good)
        self.calls = {word: int(number) for word, number in map(str.split, counts.read_text().splitlines())}

    def run(self) -> None:
        for function in FUNCTIONS:
            count = self.calls[function]
            if function == "malloc":
                codes = [self.attempt(function, number) for number in places(count)]
            else:
                # Calls of a child count, too, but nobody tells how many there are.
                codes = []
                while len(codes) <= count or codes[-1] != 0:
                    codes.append(self.attempt(function, len(codes) + 1))
                    if len(codes) > count + 20:
                        self.faults.append(f"{self.name}, {function}: there is no end to its calls")
                        break
            if count and function in (*NEEDED, "malloc") and codes[0] != 1:
                self.faults.append(f"{self.name}, {function} 1 of {count}: exit {codes[0]}, as if nothing had failed")

    def attempt(self, function: str, number: int) -> int:
        folder = self.scratch / "try"
        shutil.copytree(self.start, folder)
        done = run(folder, *self.command, fault=f"{function}:{number}")
        self.tried += 1
        self.failed += done.returncode != 0
        what = f"{self.name}, {function} {number} of {self.calls[function]}: exit {done.returncode}"
        words = done.stderr.decode(errors="replace")
        if done.returncode not in (0, 1):
            self.faults.append(f"{what}: {words[-300:]}")
        elif done.returncode == 1:
            self.faults += [f"{what}: {wrong}: {words[-300:]}" for wrong in self.mistold(function, words)]
        found = contents(folder)
        for file in sorted(found.keys() - self.before.keys() - set(self.outputs)):
            self.faults.append(f"{what}: {file} is left")
        for file in sorted(self.before.keys() | set(self.outputs)):
            old, new = self.before.get(file), self.after.get(file)
            if found.get(file) not in ([new] if done.returncode == 0 else [old, new]):
                self.faults.append(f"{what}: {file} is neither the old nor the new one")
        shutil.rmtree(folder)
        return done.returncode

    def interrupt(self) -> None:
        """Signals where a command that writes has little or nothing left to do."""
        places = [(name, number + 1) for name in ("fsync", "rename") for number in range(self.calls[name])]
        for turn, (function, number) in enumerate((*places, ("main", 0)), sorted(COMMANDS).index(self.name)):
            for together in TOGETHER if LONG else (TOGETHER[turn % len(TOGETHER)],):
                folder = self.scratch / "try"
                shutil.copytree(self.start, folder)
                sent = ",".join(str(int(one)) for one in together)
                done = run(folder, *self.command, signals=f"{function}:{number}:{sent}")
                self.signalled += 1
                what = f"{self.name}, {' '.join(one.name for one in together)} after {function} {number}"
                if done.returncode not in (0, 130) or (function == "main" and done.returncode):
                    self.faults.append(f"{what}: exit {done.returncode}")
                elif contents(folder) != (self.before if done.returncode else self.after):
                    self.faults.append(f"{what}: exit {done.returncode}, but the files are not so")
                shutil.rmtree(folder)

    def mistold(self, function: str, words: str) -> list[str]:
        wrong = []
        if not words.splitlines()[-1:] or not any(line.startswith("annudf: ") for line in words.splitlines()):
            wrong.append("no line says why")
        if not any(word in words for word in WORDS.get(function, ("",))):
            wrong.append("the line does not say what failed")
        files = [word.rpartition("=")[2] for word in self.command] + self.outputs
        if function in ("write", "fsync", "rename", "open", "read") and not any(
            file in words for file in files if "." in file
        ):
            wrong.append("no file is named")
        return wrong


def sweep(name: str, start: Path) -> list[str]:
    with tempfile.TemporaryDirectory() as scratch:
        work = Sweep(name, start, Path(scratch))
        work.run()
        if work.outputs and name != "captures":  # Which is a search, too.
            work.interrupt()
    told = f"{work.tried} faults, {work.failed} errors, {work.signalled} times signals"
    print(f"{name}: {told}, {len(work.faults)} mistakes", flush=True)
    return work.faults


def main() -> int:
    begin = time.monotonic()
    # In the background some are ignored, and a command keeps it so.
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as scratch:
        start = Path(scratch)
        prepare(start)
        faults = [fault for name in list(COMMANDS)[PART - 1 :: PARTS] for fault in sweep(name, start)]
    for fault in faults:
        print(fault)
    print(f"{time.monotonic() - begin:.1f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
