# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A metric of many random bodies, of which the capture `which` picks one.

Half of the bodies are helpers, half stand in `update` itself: there they read captures of every
type, and the verifier knows the range of `x` and `y`. A distance is an f32, so `finalize` reports
sixteen bits of the accumulator, those that the capture `part` picks; without `finalize` the accumulator
itself is reported. Every module has other settings: accumulator, dimensions, whether those are fixed
and arrays baked in.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from interpreter.generate import Callee, Hook, Writer

#: Bodies of one metric weigh less than this together, which leaves room below rule S5's limit.
MAX_WEIGHT = 2600
ACCUMULATORS = ("i32", "u32", "f32", "f64")
CAPTURES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "ui32": np.uint32}


@dataclass(frozen=True)
class Module:
    """A metric and what it is to be run on."""

    text: str
    bodies: int
    dims: int
    order: str
    #: How many sixteen bits a distance is asked for; 0: the accumulator is reported.
    parts: int
    captures: dict[str, npt.NDArray[np.generic] | np.generic]


def _read(kind: str) -> str:
    return kind.removeprefix("u")


def _numbers(generator: np.random.Generator, kind: str, count: int) -> npt.NDArray[np.generic]:
    to = CAPTURES[kind]
    if kind in ("f32", "f64"):
        return np.round(generator.normal(0, 4, count) * 8).astype(to) / to(8)
    limits = np.iinfo(to)
    some = generator.integers(limits.min, limits.max, count, endpoint=True)
    return np.where(generator.random(count) < 0.5, some, generator.integers(0, 12, count)).astype(to)


class _Parts:
    """Declarations of captures and their numbers."""

    def __init__(self, r: random.Random, dims: int, fixed: bool) -> None:
        self.lines: list[str] = []
        self.bound: dict[str, npt.NDArray[np.generic] | np.generic] = {}
        arrays: list[tuple[str, str, str]] = []
        scalars: list[tuple[str, str, str]] = []
        generator = np.random.default_rng(r.randrange(1 << 30))
        for kind in CAPTURES:
            numbers = _numbers(generator, kind, dims)
            baked = fixed and r.random() < 0.5
            arrays.append(self._declare(f"w_{kind}", f"dim x {kind}", kind, numbers, baked, dims))
            scalars.append(self._declare(f"s_{kind}", kind, kind, numbers[0], r.random() < 0.3, 0))
        self.hook = Hook(tuple(arrays), tuple(scalars))

    def _declare(
        self, name: str, inner: str, kind: str, value: npt.NDArray[np.generic] | np.generic, baked: bool, dims: int
    ) -> tuple[str, str, str]:
        full, text = f"!annudf.capture<{inner}>", ""
        if baked:
            text = f" = dense<{value.tolist()}> : tensor<{dims}x{kind}>" if dims else f" = {value} : {kind}"
        else:
            self.bound[name] = value
        self.lines.append(f'  %{name} = annudf.capture "{name}"{text} : {full}')
        return f"%{name}", full, _read(kind)


def _helper(seed: int, number: int, known: list[Callee]) -> tuple[list[str], Callee]:
    """A function of two numbers that bodies call; it may call those before it."""
    r = random.Random(seed)
    writer = Writer(r, callees=list(known))
    kinds = ("i32", "i64", "f32", "f64")
    arguments, result = (r.choice(kinds), r.choice(kinds)), r.choice(kinds)
    for name, kind in zip(("%a", "%b"), arguments, strict=True):
        writer.values.setdefault(kind, []).append(name)
    for _ in range(r.randrange(2, 8)):
        writer.step()
    value = writer.any(result, plain=True)
    head = f"func.func private @shared_{number}(%a: {arguments[0]}, %b: {arguments[1]}) -> {result} {{"
    lines = [head, *writer.lines, f"  func.return {value} : {result}", "}"]
    return lines, Callee(f"shared_{number}", arguments, result, writer.weight + 2)


def _outside(seed: int, number: int, compute: str, acc: str, callees: list[Callee]) -> tuple[list[str], int]:
    """A helper ``@body_N(acc, x, y, w, n, d)`` that gives the accumulator, and about how many operations it runs."""
    writer = Writer(random.Random(seed), callees=callees)
    writer.values = {"i32": ["%n"], "f32": ["%w"], "index": ["%d"]}
    writer.values.setdefault(acc, []).append("%acc")
    writer.values.setdefault(compute, []).extend(("%x", "%y"))
    for _ in range(writer.random.randrange(4, 22)):
        writer.step()
    result = writer.outcome(acc)
    arguments = f"%acc: {acc}, %x: {compute}, %y: {compute}, %w: f32, %n: i32, %d: index"
    head = f"func.func private @body_{number}({arguments}) -> {acc} {{"
    return [head, *writer.lines, f"  func.return {result} : {acc}", "}"], writer.weight


def _inside(
    seed: int, number: int, compute: str, acc: str, callees: list[Callee], hook: Hook
) -> tuple[list[str], str, int]:
    """Operations in `update`, below the condition that picks them, and their result."""
    writer = Writer(random.Random(seed), callees=callees, hook=hook, depth=3, prefix=f"%b{number}_")
    writer.values = {"i32": ["%number"], "f32": ["%weight"], "index": ["%d"]}
    writer.values.setdefault(acc, []).append("%acc")
    writer.values.setdefault(compute, []).extend(("%x", "%y"))
    for _ in range(writer.random.randrange(4, 22)):
        writer.step()
    result = writer.outcome(acc)
    return writer.lines, result, writer.weight


def _finalize(acc: str) -> str:
    """Sixteen bits of the accumulator; a NaN counts as 1, as its bits are unspecified."""
    wide = "i64" if acc == "f64" else "i32"
    lines = ["%part = annudf.load %part_of[] : !annudf.capture<i32>"]
    value = "%acc"
    if acc in ("f32", "f64"):
        lines += [
            f"%nan = arith.cmpf uno, %acc, %acc : {acc}",
            f"%one = arith.constant 1.0 : {acc}",
            f"%number = arith.select %nan, %one, %acc : {acc}",
            f"%bits = arith.bitcast %number : {acc} to {wide}",
        ]
        value = "%bits"
    lines += ["%three = arith.constant 3 : i32", "%piece = arith.andi %part, %three : i32"]
    if wide == "i64":
        lines.append("%wide = arith.extui %piece : i32 to i64")
    else:
        lines += ["%unity = arith.constant 1 : i32", "%wide = arith.andi %piece, %unity : i32"]
    lines += [
        f"%sixteen = arith.constant 16 : {wide}",
        f"%low = arith.constant 65535 : {wide}",
        f"%far = arith.constant {_bits(wide) - 1} : {wide}",
        f"%times = arith.muli %wide, %sixteen : {wide}",
        f"%amount = arith.andi %times, %far : {wide}",
        f"%moved = arith.shrui {value}, %amount : {wide}",
        f"%kept = arith.andi %moved, %low : {wide}",
        f"%distance = arith.uitofp %kept : {wide} to f32",
        "annudf.yield %distance : f32",
    ]
    return f"  annudf.finalize (%acc: {acc}) {{\n" + "".join(f"    {line}\n" for line in lines) + "  }\n"


def _bits(kind: str) -> int:
    return int(kind[1:])


def module(seed: int, count: int, compute: str, elements: tuple[str, ...]) -> Module:
    """A metric with up to `count` bodies."""
    r = random.Random(seed)
    accumulator = ACCUMULATORS[seed % len(ACCUMULATORS)]
    acc = "i32" if accumulator == "u32" else accumulator
    dims, reported = r.choice((1, 1, 2, 3, 5)), r.random() < 0.25
    fixed, order = r.random() < 0.3, r.choice(("min", "max"))
    captures = _Parts(r, dims, fixed)

    helpers: list[str] = []
    callees: list[Callee] = []
    for number in range(3):
        lines, callee = _helper(seed * 1000 + 900 + number, number, callees)
        if callee.weight < 60:
            helpers += lines
            callees.append(callee)

    choice, total, made = "", 0, 0
    for number in range(count):
        result = f"%c{number}_of"
        own = seed * 1000 + number
        if number % 2:
            lines, result, weight = _inside(own, number, compute, acc, callees, captures.hook)
            inner = "".join(f"{line}\n" for line in lines)
        else:
            lines, weight = _outside(own, number, compute, acc, callees)
            inner = (
                f"      {result} = func.call @body_{number}(%acc, %x, %y, %weight, %number, %d) : "
                f"({acc}, {compute}, {compute}, f32, i32, index) -> {acc}\n"
            )
        if total + weight > MAX_WEIGHT:
            break
        total, made = total + weight + 8, number + 1
        helpers += [] if number % 2 else lines
        previous = "%acc" if number == 0 else f"%r{number - 1}"
        choice += (
            f"    %c{number} = arith.constant {number} : i32\n"
            f"    %is{number} = arith.cmpi eq, %chosen, %c{number} : i32\n"
            f"    %r{number} = scf.if %is{number} -> ({acc}) {{\n{inner}"
            f"      scf.yield {result} : {acc}\n    }} else {{\n      scf.yield {previous} : {acc}\n    }}\n"
        )
    start = (
        f"    %0 = annudf.load %s_{acc}[] : !annudf.capture<{acc}>\n"
        if r.random() < 0.5
        else f"    %0 = arith.constant {'3' if acc == 'i32' else '3.5'} : {acc}\n"
    )
    header = f"order({order}) coarse(l2) elements({', '.join(elements)})"
    header += " accumulator(u32)" if accumulator == "u32" else ""
    header += f" dims({dims})" if fixed else ""
    text = (
        "\n".join(helpers)
        + f"\nannudf.metric @random {header} {{\n"
        + "\n".join(captures.lines)
        + '\n  %which = annudf.capture "which" : !annudf.capture<i32>'
        + '\n  %part_of = annudf.capture "part" : !annudf.capture<i32>\n'
        + f"  annudf.init {{\n{start}    annudf.yield %0 : {acc}\n  }}\n"
        + f"  annudf.update (%acc: {acc}, %x: {compute}, %y: {compute}) {{\n"
        + "    %d = annudf.index dim\n"
        + "    %weight = annudf.load %w_f32[%d] : !annudf.capture<dim x f32>\n"
        + "    %number = annudf.load %s_i32[] : !annudf.capture<i32>\n"
        + "    %chosen = annudf.load %which[] : !annudf.capture<i32>\n"
        + f"{choice}    annudf.yield %r{made - 1} : {acc}\n  }}\n"
        + ("" if reported else _finalize(acc))
        + "}\n"
    )
    parts = 0 if reported else 4 if acc == "f64" else 2
    return Module(text, made, dims, order, parts, captures.bound)
