# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random bodies in which values of different types meet on paths: Python's numbers and NumPy's, of every width.

A variable of a metric has one type on all paths, which Python's has not. So each body is written twice: as a user
would, and for NumPy with a conversion to the common type, which `np.result_type` gives, where paths meet.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
WEAK: dict[str, object] = {"pybool": False, "int": 0, "float": 0.0}
WORDS = {"pybool": "bool", "int": "int", "float": "float", "bool": "np.bool_"}
FORMS = (
    "if {test}:\n    {name} = {one}\nelse:\n    {name} = {other}",
    "{name} = {one}\nif {test}:\n    {name} = {other}",
    "{name} = {one}\nfor i in range(3):\n    if i == 1 and {test}:\n        {name} = {other}",
    "def {name}_of():\n    if {test}:\n        return {one}\n    return {other}\n{name} = {name}_of()",
)
"""How two values meet in a variable."""
INPUTS = ((3.0, 7.0), (-5.0, 2.0), (90.0, -100.0), (0.0, 0.0), (120.0, 119.0))


@dataclass(frozen=True)
class Typed:
    """An expression as a user writes it and as NumPy is given it; `type` is a dtype's name, or one of WEAK."""

    user: str
    numpy: str
    type: str
    computed: bool = True
    """Whether it is more than a constant: a Python int of which nobody knows how large it is."""
    is_chosen: bool = False
    """Whether it is a conditional, whose paths Numba joins with those around it, in an order of its own."""


def common(a: str, b: str) -> str:
    """The type of both, or nothing where a metric has another rule than NumPy, or none."""
    if a in WEAK and b in WEAK:
        return a if a == b else "float" if "float" in (a, b) else "int"
    left, right = (WEAK[one] if one in WEAK else np.dtype(one).type(0) for one in (a, b))
    result = np.result_type(left, right).name
    return "" if result == "float64" and "float64" not in (a, b) else result


def is_integer(kind: str) -> bool:
    return kind in INTS or kind == "int"


class Generator:
    """Draws expressions and statements of one body."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.variables: list[Typed] = []
        self.user: list[str] = []
        self.numpy: list[str] = []
        self.helpers: list[str] = []

    def leaf(self) -> Typed:
        kind = self.random.choice((*INTS, *INTS, *FLOATS, "bool", *WEAK, "int", "float", "variable", "variable"))
        if kind == "variable":
            return self.random.choice(self.variables) if self.variables else self.leaf()
        if kind == "pybool":
            text = self.random.choice(("True", "(ctx.dim == 1)", "(not (x > y))", "math.isnan(x)"))
            return Typed(text, text, kind, text != "True")
        if kind == "int":
            text = self.random.choice(("0", "1", "2", "3", "ctx.dim", "int(abs(x))", "(ctx.dim + K)"))
            return Typed(text, text, kind, not text.isdigit())
        if kind == "float":
            text = self.random.choice(("0.5", "-2.0", "0.1", "1e-3", "float(x)"))
            return Typed(text, text, kind, text == "float(x)")
        if kind == "bool":
            return Typed("(x > y)", "(x > y)", kind)
        of = self.random.choice(("x", "y", "x * 100", "y * 3"))
        wide = of if kind in (*FLOATS, "int32", "int64") else f"{of.split()[0]}"
        text = f"np.{kind}({f'abs({wide})' if kind[0] == 'u' else wide})"
        return Typed(text, text, kind)

    def expression(self, depth: int) -> Typed:
        if depth == 0:
            return self.leaf()
        kind = self.random.randrange(10)
        if kind < 6:
            return self.binary(depth)
        if kind < 8:
            return self.chosen(depth)
        one = self.expression(depth - 1)
        to = self.random.choice((*INTS, *FLOATS)) if kind == 8 else one.type
        if is_integer(one.type) and to != one.type and to not in FLOATS and one.type != "int":
            return Typed(f"np.{to}({one.user})", f"np.{one.type}({one.numpy}).astype('{to}')", to)
        return one

    def binary(self, depth: int) -> Typed:
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        kind = common(a.type, b.type)
        both = {a.type, b.type}
        if not kind:
            return a
        symbols = ["+", "*"] if kind in ("int", "pybool", "bool") else ["+", "*", "-"]
        if is_integer(kind) and not both & {"bool", "pybool"}:
            symbols += ["&", "|", "^"]
        symbol = self.random.choice(symbols)
        result = "int" if kind == "pybool" else kind
        return Typed(f"({a.user} {symbol} {b.user})", f"({a.numpy} {symbol} {b.numpy})", result)

    def condition(self) -> Typed:
        a, b = self.expression(1), self.expression(1)
        if "uint64" in (a.type, b.type) or self.random.randrange(3) == 0:
            return Typed("(x > 0)", "(x > 0)", "bool")
        symbol = self.random.choice(("<", "<=", "==", "!=", ">", ">="))
        return Typed(f"({a.user} {symbol} {b.user})", f"({a.numpy} {symbol} {b.numpy})", "bool")

    def partner(self, one: Typed, depth: int) -> tuple[Typed, str]:
        """What may stand on another path than `one`, and the type of both."""
        for _ in range(20):
            other = self.expression(depth)
            kind = common(one.type, other.type)
            narrow = kind in INTS and kind not in ("int32", "int64")
            lost = any(each.type in INTS[2:4] + INTS[6:] and kind == "float32" for each in (one, other))
            unknown = narrow and any(each.type == "int" and each.computed for each in (one, other))
            if kind and not lost and not unknown and not other.is_chosen:
                return other, kind
        return one, one.type

    def at(self, one: Typed, kind: str) -> str:
        """For NumPy, the value as the type that it has on all paths."""
        return one.numpy if one.type == kind else f"{WORDS.get(kind, f'np.{kind}')}({one.numpy})"

    def chosen(self, depth: int) -> Typed:
        one = self.leaf()
        other, kind = self.partner(one, depth - 1)
        when = self.condition()
        user = f"({one.user} if {when.user} else {other.user})"
        return Typed(user, f"({self.at(one, kind)} if {when.numpy} else {self.at(other, kind)})", kind, True, True)

    def join(self) -> None:
        """A variable with a value on each of two paths: a branch, a loop, or a helper that returns twice."""
        name = f"v{len(self.variables)}"
        first = self.binary(self.random.randrange(1, 3))
        second, kind = self.partner(first, self.random.randrange(3))
        when = self.condition()
        form = self.random.randrange(len(FORMS))
        if form == 2 and kind in FLOATS and first.type != kind:
            form = 0  # What is computed of it in the loop has the type that Numba saw first, too.
        for lines, one, other, test in (
            (self.user, first.user, second.user, when.user),
            (self.numpy, self.at(first, kind), self.at(second, kind), when.numpy),
        ):
            lines.extend(FORMS[form].format(name=name, one=one, other=other, test=test).splitlines())
        self.variables.append(Typed(name, name, kind))

    def body(self) -> tuple[list[str], list[str]]:
        for _ in range(self.random.randrange(1, 4)):
            self.join()
        # What a variable is computed with shows its type: int32 wraps where int64 does not.
        last = self.random.choice(self.variables)
        other = self.expression(1)
        times = common(last.type, other.type) and {last.type, other.type} != {"bool"}
        user = f"{last.user} * {other.user}" if times else last.user
        numpy = f"{last.numpy} * {other.numpy}" if times else last.numpy
        return [*self.user, f"return acc + np.float64({user})"], [*self.numpy, f"return acc + np.float64({numpy})"]
