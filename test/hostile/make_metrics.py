#!/usr/bin/env python3
# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes random metrics that try to read past their captures, and keeps those that the compiler accepts.

usage: make_metrics.py ANNUDF OUT COUNT [--seed N] [--arch sm_90]

Every load has an index made of whatever an index may be made of: positions, coordinates, values of other captures, arithmetic that
wraps, casts that cut off, clamps that are right and clamps that are wrong by one. What is accepted is then run over arrays of just
the declared size (HostileMetrics.cpp) under compute-sanitizer: an accepted metric must not read outside of them.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import random
import subprocess
import sys
from pathlib import Path

EXTENTS = ("dim", "row", "query", "1", "2", "7", "16", "256", "1000")
ELEMENTS = ("f32", "f64", "f16", "bf16", "i1", "i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64")
HOOKS_OF = {
    "dim": ("update",),
    "row": ("update", "finalize", "combine"),
    "query": ("init", "update", "finalize", "combine"),
}
ATOMS = {
    "init": ("dims", "query", "list"),
    "update": ("dim", "dims", "row", "query", "list"),
    "finalize": ("dims", "row", "query", "list"),
    "combine": ("dims", "row", "query", "list"),
}


class Body:
    """Text of one region, with what it has defined so far."""

    def __init__(
        self, seed: random.Random, captures: dict[str, tuple[tuple[str, ...], str]], hook: str, integers: bool
    ):
        self.random, self.captures, self.hook, self.integers = seed, captures, hook, integers
        self.lines: list[str] = []
        self.words: list[tuple[str, str]] = []  # Integers that loads gave, and their types.

    def emit(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"    {name} = {text}")
        return name

    def atom(self, kind: str) -> str:
        return self.emit(f"annudf.index {kind}")

    def constant(self, value: int, kind: str = "index") -> str:
        return self.emit(f"arith.constant {value} : {kind}")

    def cast(self, value: str, source: str, to: str) -> str:
        if source == to:
            return value
        if "index" in (source, to):
            return self.emit(f"arith.{self.random.choice(('index_cast', 'index_castui'))} {value} : {source} to {to}")
        if int(source[1:]) > int(to[1:]):
            return self.emit(f"arith.trunci {value} : {source} to {to}")
        return self.emit(f"arith.{self.random.choice(('extsi', 'extui'))} {value} : {source} to {to}")

    def whole(self, depth: int) -> str:
        """Some value of type index."""
        roll = self.random.random()
        if depth == 0 or roll < 0.3:
            choices = ["atom"] * 3 + ["constant"]
            choices += ["coordinate"] * 2 if self.integers and self.hook == "update" else []
            choices += ["word"] * 2 if self.words else []
            match self.random.choice(choices):
                case "atom":
                    return self.atom(self.random.choice(ATOMS[self.hook]))
                case "constant":
                    return self.constant(
                        self.random.choice((0, 1, 2, 3, 6, 7, 8, 15, 16, 17, 255, 256, 1000, 2**31, -1))
                    )
                case "coordinate":
                    return self.cast(self.random.choice(("%x", "%y")), "i32", "index")
                case _:
                    return self.cast(*self.random.choice(self.words), "index")
        if roll < 0.4:  # There and back through fewer bits.
            kind = self.random.choice(("i8", "i16", "i32", "i64"))
            return self.cast(self.cast(self.whole(depth - 1), "index", kind), kind, "index")
        left = self.whole(depth - 1)
        if roll < 0.55:
            amount = self.constant(self.random.choice((1, 4, 8, 31, 63)))
            return self.emit(f"arith.{self.random.choice(('shrui', 'shrsi', 'shli'))} {left}, {amount} : index")
        if roll < 0.7:
            by = self.constant(self.random.choice((1, 2, 7, 16, 17, 256, 1000)))
            return self.emit(
                f"arith.{self.random.choice(('remui', 'divui', 'andi', 'remsi', 'divsi'))} {left}, {by} : index"
            )
        right = self.whole(depth - 1)
        if roll < 0.75:
            order = self.random.choice(("ult", "slt", "uge", "sge", "eq"))
            condition = self.emit(f"arith.cmpi {order}, {left}, {right} : index")
            return self.emit(f"arith.select {condition}, {left}, {right} : index")
        operation = self.random.choice(("addi", "subi", "muli", "minui", "minsi", "maxui", "maxsi", "xori"))
        return self.emit(f"arith.{operation} {left}, {right} : index")

    def index(self, extent: str) -> str:
        """An index for an extent, clamped more often than not, and not always rightly."""
        if extent in ("row", "query"):
            return self.atom(extent)
        value = self.whole(self.random.randrange(4))
        off = self.random.choice((0, 0, 0, 0, 0, -1, 1))
        if extent != "dim":
            size = int(extent)
            match self.random.randrange(5):
                case 0:
                    return value
                case 1:
                    return self.emit(f"arith.minui {value}, {self.constant(max(0, size - 1 + off))} : index")
                case 2:
                    low = self.emit(f"arith.maxsi {value}, {self.constant(0)} : index")
                    return self.emit(f"arith.minsi {low}, {self.constant(max(0, size - 1 + off))} : index")
                case 3:
                    return self.emit(f"arith.remui {value}, {self.constant(max(1, size + off))} : index")
                case _:
                    mask = (1 << (size.bit_length() - 1)) - 1
                    return self.emit(f"arith.andi {value}, {self.constant(mask + max(0, off))} : index")
        dims = self.atom("dims")
        match self.random.randrange(5):
            case 0:
                return self.atom("dim") if self.hook == "update" else value
            case 1:
                return self.emit(f"arith.remui {value}, {dims} : index")
            case 2:
                last = self.emit(f"arith.subi {dims}, {self.constant(1 - off)} : index")
                if self.hook == "update" and self.random.random() < 0.5:
                    return self.emit(f"arith.subi {last}, {self.atom('dim')} : index")
                return self.emit(f"arith.minui {value}, {last} : index")
            case 3:
                half = self.emit(f"arith.divui {dims}, {self.constant(2)} : index")
                return self.emit(f"arith.minui {value}, {half} : index")
            case _:
                return value

    def load(self) -> str | None:
        """The value of some capture as an f32, where one can be read here."""
        usable = [
            name
            for name, (extents, _) in self.captures.items()
            if all(self.hook in HOOKS_OF.get(extent, (self.hook,)) for extent in extents)
        ]
        if not usable:
            return None
        name = self.random.choice(usable)
        extents, element = self.captures[name]
        indices = ", ".join(self.index(extent) for extent in extents)
        kind = " x ".join((*extents, element))
        value = self.emit(f"annudf.load %{name}[{indices}] : !annudf.capture<{kind}>")
        if element in ("f32", "bf16"):  # A body sees a bf16 as the f32 of its value.
            return value
        if element in ("f16", "f64"):
            return self.emit(f"arith.{'extf' if element == 'f16' else 'truncf'} {value} : {element} to f32")
        word = element.removeprefix("u")
        self.words.append((value, word))
        return self.emit(f"arith.{'uitofp' if element[0] == 'u' or word == 'i1' else 'sitofp'} {value} : {word} to f32")


def metric(name: str, seed: random.Random) -> str:
    """Text of one module."""
    captures: dict[str, tuple[tuple[str, ...], str]] = {}
    for number in range(seed.randrange(1, 5)):
        rank = seed.choice((0, 1, 1, 1, 2, 2, 3))
        extents = tuple(seed.choice(EXTENTS if axis == 0 else (*EXTENTS[3:], "dim")) for axis in range(rank))
        captures[f"c{number}"] = (extents, seed.choice(ELEMENTS))
    integers = seed.random() < 0.5
    coordinates = "i32" if integers else "f32"
    in_parts = seed.random() < 0.4  # Few queries of long vectors are then scanned by a kernel of their own.
    lines = [
        f"annudf.metric @{name} order({seed.choice(('min', 'max'))}) coarse(l2) "
        f"elements({seed.choice(('u8, bits', 'i8, u8')) if integers else 'f32, f16, u8, bits'})"
        f"{' numerics(reassociate)' if in_parts else ''} {{"
    ]
    for capture, (extents, element) in captures.items():
        lines.append(f'  %{capture} = annudf.capture "{capture}" : !annudf.capture<{" x ".join((*extents, element))}>')
    start = Body(seed, captures, "init", integers)
    first = (start.load() if seed.random() < 0.3 else None) or start.emit("arith.constant 0.0 : f32")
    lines += ["  annudf.init {", *start.lines, f"    annudf.yield {first} : f32", "  }"]
    update = Body(seed, captures, "update", integers)
    total = "%acc"
    for _ in range(seed.randrange(1, 4)):
        if (value := update.load()) is not None:
            total = update.emit(f"arith.addf {total}, {value} : f32")
    lines += [f"  annudf.update (%acc: f32, %x: {coordinates}, %y: {coordinates}) {{", *update.lines]
    lines += [f"    annudf.yield {total} : f32", "  }"]
    if in_parts:
        join = Body(seed, captures, "combine", integers)
        total = join.emit("arith.addf %acc, %other : f32")
        if (value := join.load()) is not None:
            total = join.emit(f"arith.addf {total}, {value} : f32")
        lines += ["  annudf.combine (%acc: f32, %other: f32) {", *join.lines, f"    annudf.yield {total} : f32", "  }"]
    if seed.random() < 0.6:
        final = Body(seed, captures, "finalize", integers)
        value = final.load()
        total = "%acc" if value is None else final.emit(f"arith.addf %acc, {value} : f32")
        lines += ["  annudf.finalize (%acc: f32) {", *final.lines, f"    annudf.yield {total} : f32", "  }"]
    return "\n".join([*lines, "}", ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("annudf", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--arch", default="sm_90")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)

    def compiled(number: int) -> tuple[bool, str]:
        source = given.out / f"hostile{number:05}.mlir"
        source.write_text(metric(f"hostile{number}", random.Random(given.seed * 1_000_003 + number)))
        target = source.with_suffix(".annudf")
        command = [given.annudf, "compile", source, "-q", "-o", target, f"--arch={given.arch}"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        source.unlink()
        return run.returncode == 0, run.stderr

    accepted = refused = 0
    labels: dict[str, int] = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        numbers = iter(range(sys.maxsize))
        while accepted < given.count:
            for done, text in pool.map(compiled, (next(numbers) for _ in range(64))):
                accepted += done
                if not done:
                    refused += 1
                    label = text.partition("[")[2].partition("]")[0]
                    if not label[1:].isdigit():
                        print(f"not refused by a rule: {text}", file=sys.stderr)
                        return 1
                    labels[label] = labels.get(label, 0) + 1
    extra = sorted(given.out.glob("hostile*.annudf"))[given.count :]
    for path in extra:
        path.unlink()
    by_rule = ", ".join(f"{label} {count}" for label, count in sorted(labels.items(), key=lambda one: -one[1]))
    print(f"{accepted - len(extra)} accepted metrics in {given.out}; {refused} were refused: {by_rule}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
