# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Divisors, shift amounts and indices that are no constants, and that the verifier's ranges prove.

Each is one way in which `docs/spec/abi.md` says that a body may be written; a metric that the verifier
refuses fails the test, so each is also checked to be accepted, on every type and on random operands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interpreter.generate import Hook, Writer


def _binary(writer: Writer, name: str, left: str, right: str, kind: str) -> str:
    return writer.emit(f"arith.{name} {left}, {right} : {kind}", kind)


def _width(kind: str) -> int:
    return 64 if kind == "index" else int(kind[1:])


def _shifted_coordinate(writer: Writer) -> str | None:
    """x + 129 where the hook takes integers: 1 to 384, as x is an i8 or a u8."""
    if writer.hook is None or "%x" not in writer.values.get("i32", []):
        return None
    return _binary(writer, "addi", "%x", writer.constant("i32", "129"), "i32")


def divisor(writer: Writer, kind: str, is_signed: bool) -> str:
    """What is not 0 and, for a signed division, not -1."""
    r = writer.random
    ways = ["max", "masked", "coordinate"] + (["below"] if is_signed else ["max_unsigned"])
    way = r.choice(ways)
    if way == "coordinate" and kind == "i32":
        moved = _shifted_coordinate(writer)
        if moved:
            return moved
    value = writer.any(kind)
    if way == "masked":
        low = _binary(writer, "andi", value, writer.constant(kind, "7"), kind)
        return _binary(writer, "addi", low, writer.constant(kind, "1"), kind)
    if way == "below":
        return _binary(writer, "minsi", value, writer.constant(kind, "-2"), kind)
    name = "maxui" if way == "max_unsigned" else "maxsi"
    return _binary(writer, name, value, writer.constant(kind, r.choice(("1", "2", "7"))), kind)


def amount(writer: Writer, kind: str) -> str:
    """What is from 0 to the width - 1."""
    r, width = writer.random, _width(kind)
    way = r.randrange(5)
    if way == 0 and kind == "i32":
        moved = _shifted_coordinate(writer)
        if moved:
            return _binary(writer, "shrui", moved, writer.constant(kind, "4"), kind)
    value = writer.any(kind)
    if way == 1:
        return _binary(writer, "remui", value, writer.constant(kind, str(width)), kind)
    if way == 2:
        return _binary(writer, "minui", value, writer.constant(kind, str(width - 1)), kind)
    if way == 3:
        bits = writer.constant(kind, str(width - width.bit_length() + 1))
        return _binary(writer, "shrui", value, bits, kind)
    mask = writer.constant(kind, str(r.choice((1, 3, 7, width - 1))))
    return _binary(writer, "andi", value, mask, kind)


def index(writer: Writer) -> str:
    """What is from 0 to dims - 1."""
    r = writer.random

    def scan(which: str) -> str:
        return writer.emit(f"annudf.index {which}", "index")

    def number(value: int) -> str:
        return writer.constant("index", str(value))

    way = r.randrange(9)
    if way == 0:
        return scan("dim")
    if way == 1:
        last = _binary(writer, "subi", scan("dims"), number(1), "index")
        return _binary(writer, "subi", last, scan("dim"), "index")
    if way == 2:
        moved = _binary(writer, "addi", scan("dim"), number(r.choice((1, 2, 5))), "index")
        return _binary(writer, r.choice(("remui", "remsi")), moved, scan("dims"), "index")
    if way == 3:
        around = _binary(writer, "addi", scan("dim"), scan("dims"), "index")
        before = _binary(writer, "subi", around, number(1), "index")
        return _binary(writer, r.choice(("remui", "remsi")), before, scan("dims"), "index")
    if way == 4:
        return _binary(writer, "remui", writer.any("index"), scan("dims"), "index")
    if way == 5:
        before = _binary(writer, "subi", scan("dim"), number(r.choice((1, 2))), "index")
        return _binary(writer, "maxsi", before, number(0), "index")
    value = _binary(writer, "addi", scan("dim"), number(1), "index") if way == 6 else writer.any("index")
    last = _binary(writer, "subi", scan("dims"), number(1), "index")
    if way == 7:
        return _binary(writer, "minui", value, last, "index")
    above = _binary(writer, "maxsi", value, number(0), "index")
    return _binary(writer, "minsi", above, last, "index")


def load(writer: Writer, hook: Hook) -> None:
    """A scalar, an array at an index that is proved, or below a condition that proves it."""
    r = writer.random
    if r.random() < 0.3:
        name, kind, read = r.choice(hook.scalars)
        writer.emit(f"annudf.load {name}[] : {kind}", read)
        return
    name, kind, read = r.choice(hook.arrays)
    if r.random() < 0.7:
        writer.emit(f"annudf.load {name}[{index(writer)}] : {kind}", read)
        return
    at, dims = writer.any("index"), writer.emit("annudf.index dims", "index")
    writer.guarded_load(name, at, dims, read, kind)
