# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random metric bodies as Python source, for Hypothesis.

Expressions are typed while they are generated, so that NumPy itself is the oracle: a body is run
as plain Python on NumPy scalars. Only where annudf departs from NumPy on purpose (integers widened
to float64) does a body convert first. Constants are exact in float32, so that a value that is still
a Python float in the oracle, as ``max(x, 0.5)`` may be, cannot be rounded differently.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

FLOATS = ("0.5", "-1.5", "2.0", "0.25", "3", "1", "-2", "7.0")
INTS = ("1", "2", "3", "5", "-1", "-7", "12")


@dataclass(frozen=True)
class Body:
    """A function's source and name; `integer` says that coordinates and accumulator are int32, `pair` that that has two fields."""

    name: str
    source: str
    integer: bool
    pair: bool = False


class _Generator:
    def __init__(self, draw: st.DrawFn, integer: bool, pair: bool, composed: bool) -> None:
        self.draw = draw
        self.integer = integer
        self.pair = pair
        self.composed = composed
        self.loop = ""
        numbers = ["x", "y", *(["acc[0]", "acc[1]"] if pair else ["acc"])]
        self.floats = [] if integer else numbers
        self.ints = numbers if integer else []
        self.floats += ["ctx.w[ctx.dim]", "ctx.p"]
        self.ints += ["ctx.n"]

    def pick(self, options: list[str] | tuple[str, ...]) -> str:
        return self.draw(st.sampled_from(options))

    def f(self, depth: int) -> str:
        """A float32 expression with at least one strong operand."""
        if depth <= 0:
            return self.pick(self.floats)
        kind = self.draw(st.integers(0, 15 if self.composed else 14))
        if kind == 15:
            return f"np.heaviside({self.f(depth - 1)}, {self.f(depth - 1)})"
        if kind <= 3:
            return f"({self.f(depth - 1)} {self.pick(('+', '-', '*', '/'))} {self.f_or_constant(depth - 1)})"
        if kind == 4:
            return f"({self.pick(FLOATS)} {self.pick(('+', '-', '*', '/'))} {self.f(depth - 1)})"
        if kind == 5:
            return f"({self.f(depth - 1)} {self.pick(('//', '%'))} {self.f_or_constant(depth - 1)})"
        if kind == 6:
            arguments = [self.f(depth - 1)] + [
                self.f_or_constant(depth - 1) for _ in range(self.draw(st.integers(1, 2)))
            ]
            return f"{self.pick(('max', 'min'))}({', '.join(self.draw(st.permutations(arguments)))})"
        if kind == 7:
            function = self.pick(("np.maximum", "np.minimum", "np.fmax", "np.fmin", "np.copysign", "np.fmod"))
            return f"{function}({self.f(depth - 1)}, {self.f(depth - 1)})"
        if kind == 8:
            return f"{self.pick(('abs', 'np.floor', 'np.ceil', 'np.trunc', 'np.rint', 'np.sign', 'np.square', '-'))}({self.f(depth - 1)})"
        if kind == 9:
            return f"np.sqrt(abs({self.f(depth - 1)}))"
        if kind == 10:
            return f"({self.f(depth - 1)} if {self.b(depth - 1)} else {self.f_or_constant(depth - 1)})"
        if kind == 11:
            return f"np.where({self.b(depth - 1)}, {self.f(depth - 1)}, {self.f(depth - 1)})"
        if kind == 12:
            return f"np.float32({self.i(depth - 1)})"
        if kind == 13:
            return (
                f"({self.f(depth - 1)} + ({self.b(depth - 1)}))"
                if self.draw(st.booleans())
                else f"({self.f(depth - 1)} ** {self.pick(('2', '1', '0', '2.0'))})"
            )
        return f"helper({self.f(depth - 1)}, {self.f(depth - 1)})"

    def f_or_constant(self, depth: int) -> str:
        if self.draw(st.integers(0, 7)) == 0:
            return self.weak()
        return self.pick(FLOATS) if self.draw(st.integers(0, 2)) == 0 else self.f(depth)

    def weak(self) -> str:
        """A small Python int that is computed: of a constant, of where the scan is or of a loop's variable."""
        number = self.loop or self.pick(("(ctx.dim + 3)", "ctx.row", "ctx.query", "(ctx.row + ctx.list)", "K", "N"))
        return self.pick((
            number, f"({number} // 2)", f"({number} % 3 - 1)", f"-{number}", f"({number} ** 2)", f"({number} < 3)",
            f"(~({number} > 1))", f"max({number}, 2)", f"({number} & 1)", f"(1 if {number} == 1 else 4)", "ctx.dims",
        ))  # fmt: skip

    def i(self, depth: int) -> str:
        """An int32 expression with at least one strong operand."""
        if depth <= 0:
            return self.pick(self.ints)
        kind = self.draw(st.integers(0, 9))
        if kind <= 3:
            return f"({self.i(depth - 1)} {self.pick(('+', '-', '*', '&', '|', '^'))} {self.i_or_constant(depth - 1)})"
        if kind == 4:
            return f"({self.i(depth - 1)} {self.pick(('//', '%'))} {self.pick(('2', '3', '-5', '7', '-1', '16'))})"
        if kind == 5:
            return f"({self.i(depth - 1)} {self.pick(('<<', '>>'))} {self.pick(('0', '1', '3', '7'))})"
        if kind == 6:
            return f"{self.pick(('abs', '-', '~', 'np.sign', 'np.square'))}({self.i(depth - 1)})"
        if kind == 7:
            return f"{self.pick(('max', 'min', 'np.maximum', 'np.minimum'))}({self.i(depth - 1)}, {self.i(depth - 1)})"
        if kind == 8:
            return f"({self.i(depth - 1)} if {self.b(depth - 1)} else {self.i_or_constant(depth - 1)})"
        return f"(np.int32(np.bitwise_count({self.i(depth - 1)})) + ({self.i(depth - 1)} ** {self.pick(('0', '1', '2', '3', '5'))}))"

    def i_or_constant(self, depth: int) -> str:
        if self.draw(st.integers(0, 7)) == 0:
            return self.weak()
        return self.pick(INTS) if self.draw(st.integers(0, 2)) == 0 else self.i(depth)

    def b(self, depth: int) -> str:
        """A condition."""
        kind = self.draw(st.integers(0, 9 if self.composed else 6)) if depth > 0 else 0
        compare = self.pick(("<", "<=", ">", ">=", "==", "!="))
        if kind <= 1:
            return f"({self.f(depth - 1)} {compare} {self.f_or_constant(depth - 1)})"
        if kind == 2:
            return f"({self.i(depth - 1)} {compare} {self.i_or_constant(depth - 1)})"
        if kind == 3:
            return f"({self.f(depth - 1)} {compare} {self.i(depth - 1)})"
        if kind == 4:
            return f"({self.b(depth - 1)} {self.pick(('and', 'or'))} {self.b(depth - 1)})"
        if kind == 5:
            return f"(not {self.b(depth - 1)})"
        if kind == 7:
            return f"np.logical_{self.pick(('and', 'or', 'xor'))}({self.b(depth - 1)}, {self.b(depth - 1)})"
        if kind == 8:
            function = self.pick(("np.less", "np.greater_equal", "np.equal", "np.not_equal"))
            return f"{function}({self.f(depth - 1)}, {self.f(depth - 1)})"
        if kind == 9:
            return f"np.signbit({self.f(depth - 1)})"
        if self.draw(st.booleans()):
            return f"({self.f(depth - 1)} < {self.f(depth - 1)} <= {self.f(depth - 1)})"
        return f"np.isnan({self.f(depth - 1)})"

    def value(self, depth: int) -> str:
        return self.i(depth) if self.integer else self.f(depth)

    def statements(self, depth: int) -> list[str]:
        lines = [f"t = {self.value(depth)}"]
        (self.ints if self.integer else self.floats).append("t")
        for _ in range(self.draw(st.integers(0, 3))):
            kind = self.draw(st.integers(0, 5))
            if kind == 0:
                lines.append(f"t {self.pick(('+=', '-=', '*='))} {self.value(depth - 1)}")
            elif kind == 1:
                lines += [f"if {self.b(depth - 1)}:", f"    t = {self.value(depth - 1)}"]
                if self.draw(st.booleans()):
                    lines += ["else:", f"    t = t + {self.value(depth - 1)}"]
            elif kind == 2 and not self.loop:
                bounds = self.pick(("3", "1, 4", "5, 0, -2", "2, 2", "0, 7, 3"))
                lines.append(f"for i in range({bounds}):")
                self.loop = "i"
                if self.draw(st.booleans()):
                    lines += [f"    if {self.b(depth - 2)}:", "        continue"]
                lines.append(f"    t = {self.value(depth - 1)} {self.pick(('+', '-'))} t")
                self.loop = ""
            elif kind == 3:
                lines += [f"if {self.b(depth - 2)}:", f"    return {self.result(depth - 1)}"]
            elif kind == 5 and not self.loop:
                lines += self.loop_with_a_counter(depth)
            else:
                lines.append(f"t = {self.value(depth)}")
        lines.append(f"return {self.result(1, ' + t')}")
        return lines

    def result(self, depth: int, more: str = "") -> str:
        """What a body returns."""
        return f"{self.value(depth)}{more}" + (f", {self.value(depth)} - {self.value(0)}" if self.pair else "")

    def loop_with_a_counter(self, depth: int) -> list[str]:
        """A while loop, which may go on or end early."""
        also = f" and {self.b(depth - 2)}" if self.draw(st.booleans()) else ""
        lines = ["i = 0", f"while i < {self.pick(('1', '3', 'K // 2', 'K'))}{also}:", "    i += 1"]
        self.loop = "i"
        for _ in range(self.draw(st.integers(1, 2))):
            lines.append(f"    t = {self.value(depth - 1)} {self.pick(('+', '-'))} t")
            if self.draw(st.booleans()):
                lines += [f"    if {self.b(depth - 2)}:", f"        {self.pick(('break', 'continue'))}"]
                lines.append(f"    t = t + {self.value(depth - 2)}")
        self.loop = ""
        return lines


@st.composite
def bodies(draw: st.DrawFn, integer: bool, count: int, composed: bool = False) -> list[Body]:
    """`count` bodies of one kind, named body_0, body_1, ...; `composed`: with functions of composed.py that round nothing."""
    result = []
    pair = draw(st.booleans())
    for number in range(count):
        lines = _Generator(draw, integer, pair, composed).statements(draw(st.integers(1, 3)))
        source = f"def body_{number}(x, y, acc, ctx):\n" + "".join(f"    {line}\n" for line in lines)
        result.append(Body(f"body_{number}", source, integer, pair))
    return result
