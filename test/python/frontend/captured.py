# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random bodies that read captures below conditions, at indices computed from data.

Every float is a small multiple of a power of two: :class:`Number` keeps how many bits it needs, and what would need
more than a float32 holds is rounded to whole numbers. So nothing depends on what is fused, and NumPy's result is the
only one. Integers are Python's, made by ``int(...)``, and may have any value of 64 bits; most loads stand below the
condition, or behind the clamp, that keeps the index inside.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

FLOATS: dict[str, tuple[str, ...]] = {
    "w": ("dim",), "half": ("dim",), "qw": ("query", "dim"), "limit": ("query",), "age": ("row",), "rw": ("row", "dim"),
    "table": ("17",), "lut": ("5", "7"), "one": ("1",), "cube": ("query", "3", "dim"), "wide": ("16", "dim"),
}  # fmt: skip
"""Captures of multiples of an eighth, at most 4 in size, with what their axes stand for."""
INTS: dict[str, tuple[str, ...]] = {
    "steps": ("dim",), "kind": ("row",), "code": ("row",), "asked": ("query",), "hop": ("9",), "pair": ("2", "3"),
    "seen": ("query", "dim"), "on": ("dim",),
}  # fmt: skip
"""Captures of integers of several types: small ones, the ends of their types, truth values."""
SCALARS = ("a", "b")
BOUND = 24
"""Bits of a float32."""
WRONG = 0.01
"""How often a guard is wrong by one: such a body is refused, or never outside on any data."""

HELPERS = """
def clamped(k, n):
    if k < 0:
        return 0
    if k >= n:
        return n - 1
    return k

def entry(k, ctx):
    if k < 0:
        return ctx.table[0]
    if k < 17:
        return ctx.table[k]
    return ctx.table[16]

def stepped(t, ctx):
    for i in range(5):
        if t < ctx.lut[i, 3]:
            return ctx.lut[i, i + 2]
        if ctx.hop[i] == 3:
            break
    return ctx.w[ctx.dim] if ctx.on[ctx.dim] else ctx.limit[ctx.query]

def aged(t, ctx):
    return ctx.age[ctx.row] if t > 1 else entry(int(ctx.kind[ctx.row]), ctx)
"""


@dataclass(frozen=True)
class Number:
    """A float expression: a multiple of 2**-fraction, less than 2**size in size."""

    text: str
    fraction: int
    size: int


@dataclass(frozen=True)
class Body:
    """Lines of a function that return its result."""

    source: str
    suspect: bool
    """Whether a guard may be wrong."""


def whole(text: str) -> str:
    return f"np.rint(min(max({text}, -60.0), 60.0))"


class Generator:
    """Draws one body; `finalize` has no coordinates and no dimension."""

    def __init__(self, seed: int, finalize: bool = False) -> None:
        self.random = random.Random(f"{seed} {finalize}")
        self.finalize = finalize
        self.floats = [Number("acc", 3, 12)]
        self.ints: list[str] = []
        self.loops: list[tuple[str, int]] = []
        """Variables of loops, with the largest value."""
        self.lines: list[str] = []
        self.depth = 0
        self.names = 0
        self.suspect = False

    def pick(self, options: tuple[str, ...] | list[str]) -> str:
        return self.random.choice(options)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def fresh(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    def block(self, header: str, inside: Callable[[], None]) -> None:
        """Lines below `header`; names that they define are theirs alone."""
        self.emit(header)
        known = len(self.floats), len(self.ints)
        self.depth += 1
        inside()
        self.depth -= 1
        del self.floats[known[0] :], self.ints[known[1] :]

    # --- Integers -----------------------------------------------------------------------------------

    def integer(self, depth: int) -> str:
        """Any Python int."""
        if depth <= 0 or self.chance(0.3):
            return self.leaf()
        kind = self.random.randrange(9)
        one = self.integer(depth - 1)
        if kind == 0:
            return f"({one} {self.pick(('+', '-'))} {self.integer(depth - 1)})"
        if kind == 1:
            return f"({one} * {self.pick(('2', '-1', '3', '65536'))})"
        if kind == 2:
            return f"({one} {self.pick(('//', '%'))} {self.pick(('2', '3', '-4', '7', '17'))})"
        if kind == 3:
            return f"({one} {self.pick(('&', '|', '^'))} {self.pick(('1', '7', '15', '-2', '31'))})"
        if kind == 4:
            return f"({one} >> {self.pick(('1', '3', '60'))})"
        if kind == 5:
            return f"{self.pick(('min', 'max'))}({one}, {self.integer(depth - 1)})"
        if kind == 6:
            return f"({one} if {self.condition(depth - 1)} else {self.integer(depth - 1)})"
        if kind == 7:
            divisor = self.named(depth - 1, " + int(ctx.n)")
            return f"({one} // {divisor} if {divisor} > 0 else {self.leaf()})"
        return f"(-{one})" if self.chance(0.5) else f"abs({one})"

    def leaf(self) -> str:
        kind = self.random.randrange(10)
        if kind < 3 and not self.finalize:
            return self.pick((
                "int(x)", "int(y)", "int(x - y)", "int(2 * y)", "int(far)", "int(-far)", "int(far - far)", "int(near)",
            ))  # fmt: skip
        if kind < 3:
            return self.pick(("int(acc)", "int(acc * 3e38)", "int(-acc * 1e9)"))
        if kind < 5:
            return f"int({self.load(self.pick(list(INTS)), 0)})"
        if kind == 5 and self.loops:
            return self.random.choice(self.loops)[0]
        if kind < 8 and self.ints:
            return self.pick(self.ints)
        return self.pick(("0", "1", "4", "-1", "int(ctx.n)", "ctx.dims", "ctx.row", "ctx.query", self.place()))

    def place(self) -> str:
        return "ctx.dims" if self.finalize else "ctx.dim"

    def named(self, depth: int, more: str = "") -> str:
        """An integer with a name, defined ahead of what is being written."""
        text = self.integer(depth) + more
        name = self.fresh("k")
        self.emit(f"{name} = {text}")
        self.ints.append(name)
        return name

    # --- Indices ------------------------------------------------------------------------------------

    def end(self, extent: str) -> str:
        """How many entries an axis has; wrong by one now and then."""
        if self.chance(WRONG):
            self.suspect = True
            return f"{extent} + 1"
        return extent

    def inside(self, axis: str, depth: int) -> str:
        """An index that is inside without a condition around the load."""
        if axis in ("row", "query"):
            return f"ctx.{axis}"
        extent = "ctx.dims" if axis == "dim" else axis
        ways = [f"min(max({self.integer(depth)}, 0), {self.end(extent)} - 1)"]
        if axis == "dim" and not self.finalize:
            ways += ["ctx.dim"] * 4
            ways += [
                "ctx.dims - 1 - ctx.dim",
                "max(ctx.dim - 1, 0)",
                "min(ctx.dim + 1, ctx.dims - 1)",
                "(ctx.dim + 1) % ctx.dims",
            ]
        if axis != "dim":
            ways += [
                f"{self.integer(depth)} % {axis}",
                f"clamped({self.integer(depth)}, {axis})",
                str(self.random.randrange(int(axis))),
            ]
            ways += [name for name, largest in self.loops if largest < int(axis)]
            ways += [f"({self.integer(depth)} & 15)"] if int(axis) >= 16 else []
            ways += [f"(3 if {self.condition(0)} else 1)"] if int(axis) > 3 else []
        return self.pick(ways)

    def load(self, name: str, depth: int) -> str:
        """An entry of a capture, inside whatever the data is."""
        axes = (FLOATS | INTS)[name]
        return f"ctx.{name}[{', '.join(self.inside(axis, depth) for axis in axes)}]"

    def guarded(self, depth: int, index: str = "") -> tuple[str, str, str]:
        """A load at an integer with a name, the name and the end of its axis."""
        name = self.pick([one for one, axes in FLOATS.items() if axes[-1] not in ("row", "query")])
        axes = FLOATS[name]
        free = self.random.choice([i for i, axis in enumerate(axes) if axis not in ("row", "query")])
        index = index or self.named(depth)
        indices = [index if i == free else self.inside(axis, 0) for i, axis in enumerate(axes)]
        return f"ctx.{name}[{', '.join(indices)}]", index, self.end("ctx.dims" if axes[free] == "dim" else axes[free])

    def first(self) -> str:
        """Where a guard begins."""
        if self.chance(WRONG / 2):
            self.suspect = True
            return "-1"
        return "0"

    # --- Floats -------------------------------------------------------------------------------------

    def read(self, depth: int) -> Number:
        """A load, below what keeps it inside."""
        if self.chance(0.45):
            return Number(self.load(self.pick(list(FLOATS)), depth - 1), 3, 3)
        if self.chance(0.15):
            value, k = self.integer(depth - 1), self.fresh("k")
            load, _, end = self.guarded(0, k)
            other = self.simple()
            return Number(
                f"({load} if {self.first()} <= ({k} := {value}) < {end} else {other.text})",
                max(3, other.fraction),
                max(3, other.size),
            )
        load, k, end = self.guarded(depth - 1)
        low, other = self.first(), self.simple()
        text = self.pick((
            f"({load} if {low} <= {k} < {end} else {other.text})",
            f"({load} if {k} >= {low} and {k} < {end} else {other.text})",
            f"({other.text} if {k} < {low} or {k} >= {end} else {load})",
            f"({load} if not ({k} < {low} or {end} <= {k}) else {other.text})",
            f"(({load} if {k} < {end} else {other.text}) if {k} > {low} - 1 else {other.text})",
            f"({other.text} if {k} >= {end} else {load} if {k} >= {low} else {other.text})",
            f"({load} if {k} == 0 else {other.text})",
        ))  # fmt: skip
        return Number(text, max(3, other.fraction), max(3, other.size))

    def simple(self) -> Number:
        kind = self.random.randrange(6)
        if kind == 0:
            return Number(f"ctx.{self.pick(SCALARS)}", 3, 2)
        if kind == 1:
            return Number(f"np.float32({self.pick(('0.5', '-2.0', '3.25', '0'))})", 2, 2)
        if kind == 2 and not self.finalize:
            return Number(self.load("qw" if self.chance(0.5) else "w", 0), 3, 3)
        if kind == 3:
            return Number("ctx.age[ctx.row]" if self.chance(0.5) else "ctx.limit[ctx.query]", 3, 3)
        return self.random.choice(self.floats)

    def fit(self, one: Number, fraction: int = 4, size: int = 7) -> Number:
        """The number, rounded where it needs more bits."""
        if one.fraction <= fraction and one.size <= size:
            return one
        return Number(whole(one.text), 0, 6)

    def number(self, depth: int) -> Number:
        if depth <= 0:
            return self.simple()
        kind = self.random.randrange(14)
        if kind < 5:
            return self.read(depth)
        if kind < 7:
            one, other = self.number(depth - 1), self.number(depth - 1)
            both = Number(
                f"({one.text} {self.pick(('+', '-'))} {other.text})",
                max(one.fraction, other.fraction),
                max(one.size, other.size) + 1,
            )
            return (
                both
                if both.fraction + both.size <= BOUND
                else Number(f"({self.fit(one).text} + {self.fit(other).text})", 4, 8)
            )
        if kind < 9:
            one, other = self.fit(self.number(depth - 1)), self.fit(self.number(depth - 1))
            return Number(f"({one.text} * {other.text})", one.fraction + other.fraction, one.size + other.size)
        if kind == 9:
            one, other = self.number(depth - 1), self.number(depth - 1)
            text = f"({one.text} if {self.condition(depth - 1)} else {other.text})"
            if self.chance(0.3):
                text = f"np.where({self.condition(depth - 1)}, {one.text}, {other.text})"
            return self.fit(Number(text, max(one.fraction, other.fraction), max(one.size, other.size)), 8, 12)
        if kind == 10:
            return self.function(depth)
        if kind == 11:
            return Number(f"np.float32(min(max({self.integer(depth - 1)}, -9), 9))", 0, 4)
        if kind == 12 and not self.finalize:
            helper = self.pick(("stepped", "aged"))
            return Number(f"{helper}({self.number(depth - 1).text}, ctx)", 3, 3)
        return Number(f"entry({self.integer(depth - 1)}, ctx)", 3, 3)

    def function(self, depth: int) -> Number:
        """A function whose result is rounded; not near a half, so that its last bits do not matter."""
        one = self.fit(self.number(depth - 1), 3, 6).text
        text = self.pick((
            f"np.rint(np.sqrt(abs({one})) * 4.0 + 0.3137)", f"np.rint(np.exp(min({one}, 3.0)) * 4.0 + 0.3137)", f"np.floor({one})",
            f"np.rint(abs({one}) ** 0.75 + 0.3137)", f"np.rint(np.log(max({one}, 0.3)) * 8.0 + 0.3137)", f"abs({one})", f"-{one}",
            f"np.rint(np.log({one} + 0.3) * 4.0 + 0.3137) if {one} > 0 else np.float32(2)", f"np.fmod({one}, 3.0)", f"({one} % 2.0)",
            f"np.rint({one} / 3.0 + 0.3137)", f"(np.rint(ctx.a / {one} * 2.0 + 0.3137) if abs({one}) > 0 else ctx.b)",
        ))  # fmt: skip
        return self.fit(Number(f"({text})", 3, 12), 3, 7)

    # --- Conditions ---------------------------------------------------------------------------------

    def condition(self, depth: int) -> str:
        kind = self.random.randrange(9)
        compare = self.pick(("<", "<=", ">", ">=", "==", "!="))
        if kind < 3:
            return f"({self.number(depth - 1).text} {compare} {self.simple().text})"
        if kind < 5:
            return f"({self.integer(depth - 1)} {compare} {self.leaf()})"
        if kind == 5 and depth > 0:
            return f"({self.condition(depth - 1)} {self.pick(('and', 'or'))} {self.condition(depth - 1)})"
        if kind == 6 and depth > 0:
            load, k, end = self.guarded(depth - 1)
            return f"({self.first()} <= {k} < {end} and {load} {compare} {self.simple().text})"
        if kind == 7 and depth > 0:
            return f"(not {self.condition(depth - 1)})"
        return "ctx.n > 2" if self.finalize else self.pick(("ctx.on[ctx.dim]", "ctx.seen[ctx.query, ctx.dim]"))

    # --- Statements ---------------------------------------------------------------------------------

    def set(self, depth: int, name: str = "t") -> None:
        self.emit(f"{name} = {self.fit(self.number(depth), 4, 8).text}")

    def statement(self, depth: int) -> None:
        ways = [
            self.branch,
            self.branch,
            self.choice,
            self.guard,
            self.clamp,
            self.early,
            self.loop,
            self.counted,
            self.define,
        ]
        if depth <= 0:
            self.set(1)
            return
        self.random.choice(ways)(depth)

    def statements(self, depth: int) -> None:
        for _ in range(self.random.randrange(1, 3)):
            self.statement(depth)

    def branch(self, depth: int) -> None:
        self.block(f"if {self.condition(depth - 1)}:", lambda: self.statements(depth - 1))
        if self.chance(0.4):
            self.elif_(depth)
        if self.chance(0.5):
            self.block("else:", lambda: self.statements(depth - 1))

    def elif_(self, depth: int) -> None:
        lines, ints = len(self.lines), len(self.ints)
        test = self.condition(0)
        if len(self.lines) == lines:
            self.block(f"elif {test}:", lambda: self.statements(depth - 1))
        else:  # What a condition needs ahead of it has no place here.
            del self.lines[lines:], self.ints[ints:]

    def choice(self, depth: int) -> None:
        k = self.named(depth - 1)
        self.emit(f"match {k}:")
        self.depth += 1
        for case in self.random.sample(range(-1, 9), 2):
            self.block(f"case {case}:", lambda: self.statements(depth - 1))
        self.block("case 16:", lambda: self.emit(f"t = ctx.table[{k}]"))
        self.block("case _:", lambda: self.emit(f"t = ctx.table[{k}] if 0 <= {k} < {self.end('17')} else t"))
        self.depth -= 1

    def guard(self, depth: int) -> None:
        """Nested conditions around a load."""
        load, k, end = self.guarded(depth)
        low = self.first()
        outer, inner = self.random.sample((f"{k} >= {low}", f"{k} < {end}"), 2)

        def within() -> None:
            if self.chance(0.3):
                self.statement(depth - 1)
            self.block(f"if {inner}:", lambda: self.emit(f"t = {load}"))

        self.block(f"if {outer}:", within)

    def clamp(self, depth: int) -> None:
        """An index that statements bring inside."""
        load, k, end = self.guarded(depth)
        form = self.random.randrange(3)
        if form == 0:
            self.emit(f"if {k} < {self.first()}:")
            self.emit(f"    {k} = 0")
            self.emit(f"if {k} > {end} - 1:")
            self.emit(f"    {k} = 0")
        elif form == 1:
            self.emit(f"{k} = min({k}, {end} - 1)")
            self.emit(f"if {k} < {self.first()}:")
            self.emit(f"    {k} = {self.pick(('0', f'max({k}, 0)'))}")
        else:
            self.block(f"if {k} < 0 or {k} >= {end}:", lambda: self.leave(depth, f"{k} = 0"))
        self.emit(f"t = {load}")

    def leave(self, depth: int, instead: str = "") -> None:
        """Ends the turn of a loop or the function, or does something instead."""
        way = self.pick(["return", *([instead] if instead else []), *(["break", "continue"] if self.loops else [])])
        if way == "return":
            self.result(depth - 1)
        else:
            self.emit(way)

    def early(self, depth: int) -> None:
        self.block(f"if {self.condition(depth)}:", lambda: self.leave(depth))

    def define(self, depth: int) -> None:
        name = self.fresh("r")
        one = self.fit(self.number(depth), 4, 8)
        self.emit(f"{name} = {one.text}")
        self.floats.append(Number(name, one.fraction, one.size))

    def loop(self, depth: int) -> None:
        if len(self.loops) > 1:
            self.set(depth)
            return
        turns, largest = self.random.choice(
            (("3", 2), ("5", 4), ("1, 4", 3), ("6, 0, -2", 6), ("17", 16), ("2, 17, 5", 12), ("40", 39))
        )
        if self.loops and largest > 6:
            turns, largest = "3", 2
        name = self.fresh("i")
        self.loops.append((name, largest))
        self.block(f"for {name} in range({turns}):", lambda: self.turn(min(depth - 1, 1 if largest > 6 else 2)))
        self.loops.pop()

    def turn(self, depth: int) -> None:
        if self.chance(0.5):
            self.early(0)
        self.statements(depth)
        if self.chance(0.5):
            self.emit("t = " + whole(f"t + {self.fit(self.number(1), 4, 8).text}"))

    def counted(self, depth: int) -> None:
        """A search in a table: a while loop that its entries end."""
        if self.loops:
            self.set(depth)
            return
        name, array = self.fresh("j"), self.pick(("table", "hop"))
        end = FLOATS.get(array, INTS.get(array, ()))[0]
        self.emit(f"{name} = 0")
        self.loops.append((name, int(end) - 1))
        self.emit(f"while {name} < {self.end(end)} and ctx.{array}[{name}] {self.pick(('<', '>', '!='))} t:")
        self.depth += 1
        known = len(self.ints)
        if self.chance(0.4):
            self.set(1)
        self.loops.pop()
        self.emit(f"{name} += {self.pick(('1', '1', '3'))}")
        if self.chance(0.3):
            self.block(f"if {self.condition(0)}:", lambda: self.emit("break"))
        del self.ints[known:]
        self.depth -= 1
        self.emit(f"t = ctx.{array}[{name}] * np.float32(1) if {name} < {self.end(end)} else t")

    def result(self, depth: int) -> None:
        self.emit(f"return acc + {whole(self.number(depth).text)}")

    def body(self) -> Body:
        if not self.finalize:
            self.emit("u = np.float32(min(max(x, -8), 8))")
            self.emit("v = np.float32(min(max(y, -8), 8))")
            self.emit("near = np.float32(x) * np.float32(1e9)")
            self.emit("far = np.float32(y) * np.float32(3e38)")
            self.floats += [Number("u", 3, 4), Number("v", 3, 4), Number("(u - v)", 3, 5)]
        self.set(2)
        self.floats.append(Number("t", 4, 12))
        self.statements(3)
        self.emit("return acc + " + whole(f"t + {self.fit(self.number(1)).text}"))
        return Body("\n".join(self.lines), self.suspect)
