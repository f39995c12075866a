# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Classes with typed fields that are refused, and where the messages point."""

from __future__ import annotations

import math

import numpy as np
import pytest

from annudf import ArgumentError, CompileError, DtypeError, UnsupportedError, ivf_flat

W = np.linspace(0.5, 2, 24, dtype=np.float32)


class Max:
    most: np.float32 = -math.inf

    def update(self, x, y, ctx):
        self.most = max(self.most, x - y)


class NoFields:
    def update(self, x, y, ctx):
        return None


class NoType:
    total: np.float32 = 0
    count = 0

    def update(self, x, y, ctx):
        self.count += 1


class Seven:
    a: float = 0
    b: float = 0
    c: float = 0
    d: float = 0
    e: float = 0
    f: float = 0
    g: float = 0

    def update(self, x, y, ctx):
        self.a += x


class Half:
    total: np.float16 = 0

    def update(self, x, y, ctx):
        self.total += x


class Text:
    total: str = 0

    def update(self, x, y, ctx):
        self.total += x


class NoStart:
    total: np.float32

    def update(self, x, y, ctx):
        self.total += x


class BadStart:
    total: np.uint32 = -1

    def update(self, x, y, ctx):
        self.total += x


class NoUpdate:
    total: np.float32 = 0


class WithInit:
    total: np.float32 = 0

    def __init__(self):
        self.total = 0

    def update(self, x, y, ctx):
        self.total += x


class Helper:
    total: np.float32 = 0

    def update(self, x, y, ctx):
        self.total += self.term(x, y)

    def term(self, x, y):
        return x - y


class Accumulates:
    total: np.float32 = 0

    def update(x, y, acc, ctx):
        return acc


class Inherits(Max):
    more: np.float32 = 0

    def update(self, x, y, ctx):
        self.more += x


class NoDistance:
    a: np.float32 = 0
    b: np.float32 = 0

    def update(self, x, y, ctx):
        self.a += x


class Constant:
    total: np.float32 = 0
    update = 3


REFUSED = [
    (NoFields, "class NoFields has no fields; write one above update, such as total: np.float32 = 0"),
    (
        NoType,
        "class NoType has an attribute 'count' without a type; write count: np.float32 = 0 for a field, or move a "
        "constant to a capture or a global outside the class",
    ),
    (Seven, "class Seven has 7 fields, an accumulator has at most 6"),
    (
        Text,
        "field 'total' of class Text is annotated str; write np.float32, np.float64, np.int32, np.uint32 or np.int64",
    ),
    (
        NoStart,
        "field 'total' of class NoStart has no value to start with; write total: ... = 0, or set it in init(self, ctx)",
    ),
    (
        BadStart,
        "field 'total' of class BadStart is -1, which does not fit the accumulator, an integer from 0 to 4294967295",
    ),
    (NoUpdate, "class NoUpdate has no update; write def update(self, x, y, ctx)"),
    (
        WithInit,
        "class WithInit has an __init__; fields start as the class says, or as init(self, ctx) sets them",
    ),
    (
        Helper,
        "class Helper has a method 'term'; a metric has init, update and finalize only, so make it a helper outside "
        "the class",
    ),
    (
        Accumulates,
        "update of class Accumulates takes (x, y, acc, ctx); of a class with fields it is update(self, x, y, ctx)",
    ),
    (Inherits, "class Inherits has base class Max, whose fields and methods are ignored; leave it out"),
    (NoDistance, "class NoDistance has 2 fields; write def finalize(self, ctx), which returns the distance"),
    (Constant, "update of class Constant is of type int; write def update(self, x, y, ctx)"),
]


@pytest.mark.parametrize(("target", "message"), REFUSED, ids=lambda value: getattr(value, "__name__", ""))
def test_refused(target, message):
    with pytest.raises(ArgumentError) as caught:
        ivf_flat.metric(target)
    assert str(caught.value) == message


def test_refused_with_what_the_decorator_says():
    with pytest.raises(DtypeError, match=r"^field 'total' of class Half is float16, it must be float32, float64, "):
        ivf_flat.metric(Half)
    for options in ({"initial": 1.0}, {"accumulator": np.float64}):
        with pytest.raises(ArgumentError) as caught:
            ivf_flat.metric(**options)(Max)
        name = next(iter(options))
        assert str(caught.value) == f"class Max has fields, which replace {name}=; leave that out"
    with pytest.raises(ArgumentError, match=r"^class Both has a finalize and finalize= is given; drop one$"):

        @ivf_flat.metric(finalize=math.sqrt)
        class Both:
            total: np.float32 = 0

            def update(self, x, y, ctx):
                self.total += x

            def finalize(self, ctx):
                return self.total


def _class(body):
    """A class whose update has that body."""
    file = f"<body {len(_class.files)}>"
    _class.files.append(file)
    text = "class Some:\n    total: np.float32 = 0\n\n    def update(self, x, y, ctx):\n        " + body + "\n"
    import linecache

    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {"np": np, "math": math, "__name__": __name__, "helper": lambda state: state.total}
    exec(compile(text, file, "exec", dont_inherit=True), names)
    return names["Some"]


_class.files = []

BODIES = [
    ("self.toatl += x", 9, "class Some has no field 'toatl'; it has self.total; declare it in the class, "),
    ("self.total += self.other", 23, "class Some has no field 'other'; it has self.total"),
    ("self.total += helper(self)", 30, "self cannot be passed on or kept; read and write its fields, "),
    ("return self", 9, "update of a class with fields returns nothing; assign the next value to self.total"),
    ("return self.total + x", 9, "update of a class with fields returns nothing; assign the next value to self.total"),
    ("f = lambda v: v + self.total", 13, "a lambda cannot use self; copy the field to a variable first"),
    (
        "match ctx.dim:\n            case self.total:\n                pass",
        (6, 18),
        "case self.total compares with a field, which match does not support; write case k if k == self.total",
    ),
    (
        "match ctx.dim:\n            case 0 | self.total:\n                pass",
        (6, 22),
        "case self.total compares with a field, which match does not support; write case k if k == self.total",
    ),
    (
        "match ctx.dim:\n            case 0 as self:\n                pass",
        (6, 18),
        "self cannot be passed on or kept; read and write its fields, self.total",
    ),
    ("self.total += [x]", 23, "a metric cannot use lists; use several variables, or a capture"),
    ("self.total[0] = x", 9, "self.total is a number, which has no entries; leave out [...]"),
    ("self.total += self.total[ctx.dim]", 23, "self.total is a number, which has no entries; leave out [...]"),
]


@pytest.mark.parametrize(("body", "place", "message"), BODIES)
def test_refused_at_the_users_line(body, place, message):
    target = _class(body)
    with pytest.raises(UnsupportedError) as caught:
        ivf_flat.metric(target)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message.startswith(message)
    assert (diagnostic.line, diagnostic.column) == (place if isinstance(place, tuple) else (5, place))


def test_refused_by_the_compiler_at_the_users_line():
    metric = ivf_flat.metric(captures={"w": W})(_class("self.total += x * ctx.w[ctx.dim + 1]"))
    with pytest.raises(CompileError, match=r"\[L3\] an index of this capture may be as large as ctx.dims") as caught:
        metric.artifact()
    assert (caught.value.diagnostics[0].line, caught.value.diagnostics[0].column) == (5, 27)
