# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`break`, `return` inside loops and bounded `while`: the CPU engine against plain Python.

Coordinates and results are small integers, so every sum is exact, and equal to the bit.
"""

from __future__ import annotations

import linecache
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annudf import ivf_flat
from annudf.errors import CompileError, Diagnostic
from interpreter.evaluate import Interpreter, Scan
from interpreter.text import parse

LOOPS = {
    "break": """
        for i in range(8):
            if s > y:
                break
            s += i
        return acc + s
    """,
    "break at once": """
        for i in range(8):
            break
        return acc + s
    """,
    "what was assigned before break": """
        for i in range(5):
            d = s - y * i
            if d < 0:
                break
            s += 1
        return acc + d * 10 + i
    """,
    "continue and break": """
        for i in range(-3, 6, 2):
            if i == y:
                continue
            if s > 9:
                break
            s += i if i > 0 else 2
        return acc + s
    """,
    "two breaks": """
        for i in range(6):
            if s > y + 7:
                s += 100
                break
            s += 1
            if i == y:
                s += 200
                break
        return acc + s
    """,
    "return": """
        for i in range(6):
            if i == y:
                return acc + 50 + s
            s += i
        return acc - s
    """,
    "return in a nest": """
        for i in range(4):
            for j in range(4):
                if i * j == y:
                    return acc + 10 * i + j
                if j > s:
                    break
                s += 1
        return acc - s
    """,
    "break in a nest": """
        for i in range(4):
            t = 0
            for j in range(5):
                if j == s:
                    break
                t += j
            s += t
            if s > 6:
                break
        return acc + s * 10 + i
    """,
    "while": """
        i = 0
        while i < 6:
            s += i
            i += 2
        return acc + s + i
    """,
    "while with another condition": """
        i = 0
        while s > y and i < 9:
            s -= 1
            i += 1
        return acc + 10 * s + i
    """,
    "while with the counter first": """
        i = 7
        while i > 0 and s < y:
            s += 2
            i -= 1
        return acc + 10 * s + i
    """,
    "while with break": """
        i = 0
        while i < 7:
            i += 1
            if s % 3 == 0:
                break
            s += i
        return acc + 10 * s + i
    """,
    "while with continue": """
        i = 0
        while i < 8:
            i += 1
            if s > i:
                continue
            s += i
        return acc + 10 * s + i
    """,
    "while with continue at the end": """
        i = 0
        while i < 5:
            i += 1
            if i == y:
                s += 7
                continue
            else:
                s -= 1
                continue
        return acc + s
    """,
    "continue in a nest": """
        i = 0
        while i < 5:
            i += 1
            if x > i:
                if y > i:
                    s += 1
                    continue
                elif y == 1:
                    s += 3
                else:
                    s -= 1
                    if i == 2:
                        continue
                s += 2
            j = 0
            while j < 3:
                j += 1
                if j == 2:
                    continue
                for q in range(3):
                    if q == s:
                        continue
                    s += q
                if y > 2 and j > 2:
                    break
            match i:
                case 1:
                    s += 7
                case 3:
                    continue
                case _:
                    s += 2
            s += i
        return acc + s
    """,
    "while True": """
        i = 0
        while True:
            if i == 5:
                break
            if s > y:
                return acc + s
            s += i
            i += 1
        return acc - s
    """,
    "while with an assignment": """
        i = 0
        while (i := i + 1) < 6 and (d := s - y) < 4:
            s += d + 3
        return acc + 10 * s + i
    """,
    "newton": """
        r = 1.0
        for i in range(20):
            n = (r + s / r) / 2
            if abs(n - r) < 1:
                break
            r = n
        return acc + np.floor(r)
    """,
    "captures by the counter": """
        for i in range(4):
            if s < i:
                break
            s -= ctx.w[min(i, ctx.dims - 1)]
        return acc + s
    """,
    "a divisor": """
        t = np.int32(s)
        for i in range(1, 6):
            if t // i > 2:
                break
            t += i
        return acc + t
    """,
    "a counter begun anew": """
        i = 0
        while i < 2:
            s += ~(i > 0)
            i += 1
        i = 0
        while i < 3:
            s += ~(i > 1)
            i += 1
        return acc + s + ~(i > 2)
    """,
    "what is true on one path": """
        b = False
        if s > y:
            b = True
        return acc + s + 3 * ~b + ~(s > y)
    """,
    "no iteration": """
        for i in range(0):
            if s > y:
                break
            s += 1
        return acc + s
    """,
    "a last iteration": """
        for i in range(1):
            if s > y:
                break
            s += 1
        return acc + s + i
    """,
}


def function_of(name: str, body: str) -> Any:
    lines = [line[4:] for line in body.strip("\n").splitlines() if line.strip()]
    text = "import numpy as np\ndef update(x, y, acc, ctx):\n    s = x\n" + "\n".join(lines) + "\n"
    file = f"<loop {name} {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {}
    exec(compile(text, file, "exec"), space)
    return space["update"]


class Ctx:
    w = np.array([2.0], np.float32)
    dim, dims = 0, 1


QUERIES = np.array([[-2], [0], [1], [3], [6], [11]], np.float32)
ROWS = np.arange(-4, 13, dtype=np.float32)[:, None]


def check(name: str, body: str) -> None:
    function = function_of(name, body)
    metric = ivf_flat.metric(captures={"w": Ctx.w})(function)
    interpreter = Interpreter(parse(metric.mlir()))
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), ROWS)
    params = ivf_flat.SearchParams(n_probes=1, metric=metric)
    distances, neighbors = ivf_flat.search(params, index, QUERIES, len(ROWS))
    scan = Scan(0, 1, {"w": Ctx.w})
    for q, query in enumerate(QUERIES[:, 0]):
        have = dict(zip(neighbors[q].tolist(), distances[q].tolist(), strict=True))
        for r, row in enumerate(ROWS[:, 0]):
            want = float(function(query, row, np.float32(0), Ctx))
            assert have[r] == want, (query, row, metric.mlir())
            assert float(interpreter.hook("update", [np.float32(0), query, row], scan)) == want, (query, row)


@pytest.mark.parametrize("name", LOOPS)
def test_loops_that_are_left_early(name: str) -> None:
    check(name, LOOPS[name])


def _random_body(random_: random.Random) -> str:
    """Statements of two levels of loops, with breaks, continues and returns under conditions on small integers."""
    lines = ["    t = y"]

    def condition(names: list[str]) -> str:
        a, b = random_.choice(names), random_.choice([*names, "2", "5", "-1"])
        return f"{a} {random_.choice(['<', '>', '==', '!='])} {b}"

    def block(depth: int, indent: str, names: list[str], loop: str) -> None:
        for _ in range(random_.randint(1, 3)):
            kind = random_.randint(0, 6)
            if kind <= 1:
                target = random_.choice(["s", "t"])
                lines.append(f"{indent}{target} {random_.choice(['+=', '-='])} {random_.choice([*names, '1', '3'])}")
            elif kind == 2 and loop:
                lines.append(f"{indent}if {condition(names)}:")
                lines.append(f"{indent}    {random_.choice(['break', 'continue', 'return acc + s'])}")
            elif kind == 3 and depth > 0:
                name = f"i{depth}"
                lines.append(f"{indent}for {name} in range({random_.choice(['3', '1, 5', '6, 0, -2', '1'])}):")
                block(depth - 1, indent + "    ", [*names, name], "for")
            elif kind == 4 and depth > 0:
                name = f"w{depth}"
                also = f" and {condition(names)}" if random_.random() < 0.5 else ""
                lines.append(f"{indent}{name} = 0")
                lines.append(f"{indent}while {name} < {random_.randint(1, 5)}{also}:")
                lines.append(f"{indent}    {name} += 1")
                block(depth - 1, indent + "    ", [*names, name], "while")
            else:
                lines.append(f"{indent}if {condition(names)}:")
                lines.append(f"{indent}    s += {random_.choice(names)}")
                lines.append(f"{indent}else:")
                lines.append(f"{indent}    t -= 1")

    block(2, "    ", ["s", "t", "x", "y"], "")
    block(2, "    ", ["s", "t", "x", "y"], "")
    lines.append("    return acc + s * 4 + t")
    return "\n".join("    " + line for line in lines)


@pytest.mark.parametrize("seed", range(60))
def test_random_loops(seed: int) -> None:
    check(f"random {seed}", _random_body(random.Random(seed)))


@pytest.mark.parametrize(
    "body",
    [
        # The counter is not counted in every iteration, or no counter ends the loop.
        "i = 0\n    while i < 5:\n        if x > y:\n            i += 1\n        x += 1\n    return acc",
        "while x > y:\n        x -= 1\n        if y > 3:\n            break\n    return acc",
        "for i in range(int(y)):\n        if x > y:\n            break\n    return acc",
    ],
)
def test_loops_without_an_end(body: str) -> None:
    space: dict[str, Any] = {}
    exec(f"def update(x, y, acc):\n    {body}\n", space)
    with pytest.raises(CompileError, match=r"\[P14\] repeats a number of times that is unknown"):
        ivf_flat.metric(space["update"]).mlir()


UNKNOWN = {
    "while x > y:\n        if x > 3:\n            x -= 2\n            continue\n        if y > 3:\n            break\n        x -= 1\n    return acc": (2, 11),
    "while x > y:\n        if x > 3:\n            break\n        x -= 1\n    return acc": (2, 11),
    "while x > y:\n        if x > 3:\n            return acc\n        x -= 1\n    return acc": (2, 11),
    "while x > y and y > 1:\n        if x > 3:\n            break\n        x -= 1\n    return acc": (2, 11),
    "for i in range(3):\n        while x > y:\n            if x > 3:\n                break\n            x -= 1\n    return acc": (3, 15),
    "while x > y:\n        for i in range(3):\n            if y > x:\n                return acc\n        x -= 1\n    return acc": (2, 11),
    "while True:\n        if x < y:\n            break\n        x -= 1\n    return acc": (2, 11),
    "while True:\n        x -= 1\n        if x > 3:\n            continue\n        if x > 5:\n            return acc": (2, 11),
    "for i in range(int(y)):\n        if x > y:\n            break\n    return acc": (2, 5),
}  # fmt: skip
"""Loops whose number of iterations is not known, with the line and column where they begin."""


@pytest.mark.parametrize(("body", "place"), UNKNOWN.items())
def test_a_loop_that_is_left_early_is_named_by_its_own_line(body: str, place: tuple[int, int], tmp_path: Path) -> None:
    file = tmp_path / "update.py"
    file.write_text(f"def update(x, y, acc):\n    {body}\n")
    space: dict[str, Any] = {}
    exec(compile(file.read_text(), file, "exec"), space)
    with pytest.raises(CompileError) as caught:
        ivf_flat.metric(space["update"]).mlir()
    first = next(d for d in caught.value.diagnostics if d.severity == "error")
    assert (first.rule, first.line, first.column) == ("P14", *place)


ENDLESS = {
    "i = 0\n    while i < 10:\n        acc = acc + x\n    return acc": (3, 11),
    "for i in range(3):\n        j = 0\n        while j < 2:\n            acc += x\n    return acc": (4, 15),
    "while True:\n        acc = acc + x\n    return acc": (2, 11),
    "while True:\n        while True:\n            acc += x\n            if acc > 2:\n                break\n    return acc": (2, 11),
    "if x > y:\n        while 1:\n            acc += x\n    return acc": (3, 15),
}  # fmt: skip
"""Loops that nothing ends, with the line and column of their condition."""


def without_an_end(update: Any) -> Diagnostic:
    with pytest.raises(CompileError) as caught:
        ivf_flat.metric(update).mlir()
    (diagnostic,) = (d for d in caught.value.diagnostics if d.severity == "error")
    assert diagnostic.rule == "P13"
    assert diagnostic.message == (
        "[P13] repeats without an end; count what its condition reads, such as i += 1 for i < 10, or break out of it"
    )
    return diagnostic


@pytest.mark.parametrize("body", ENDLESS)
def test_the_loop_that_nothing_ends_is_named(body: str) -> None:
    text, name = f"def update(x, y, acc):\n    {body}\n", f"<endless {hash(body)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {}
    exec(compile(text, name, "exec"), space)
    told = without_an_end(space["update"])
    assert (told.file, (told.line, told.column)) == (name, ENDLESS[body])


def test_the_loop_of_a_helper_that_nothing_ends_is_named() -> None:
    def uncounted(d):  # type: ignore[no-untyped-def]
        i = 0
        while i < 10:
            d = d + 1
        return d

    def update(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + uncounted(x)

    told = without_an_end(update)
    assert (told.file, told.line) == (__file__, uncounted.__code__.co_firstlineno + 2)


FLAG = False


def test_what_a_constant_leaves_out_has_no_type() -> None:
    def update(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        chosen = ctx.w if FLAG else x
        for _ in range(3):
            if FLAG:
                continue
            acc += chosen
        return acc

    metric = ivf_flat.metric(captures={"w": np.ones(3, np.float32)})(update)
    assert "annudf.load" not in metric.mlir()


def test_a_variable_that_break_leaves_unassigned() -> None:
    def unassigned(x, y, acc):  # type: ignore[no-untyped-def]
        for i in range(4):
            if x > y:
                break
            d = x + i
        return acc + d

    with pytest.raises(CompileError, match=r"\[P18\] uses 'd', which may be used before it is assigned"):
        ivf_flat.metric(unassigned).mlir()
