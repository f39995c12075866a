# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions and lambdas that are defined inside a metric's functions: the CPU engine against plain Python.

Coordinates and results are small integers, so every sum is exact, and equal to the bit.
"""

from __future__ import annotations

import linecache
import math
from textwrap import indent
from typing import Any

import numpy as np
import pytest

from annudf import ivf_flat
from annudf.errors import UnsupportedError

PAIRS = ((3.0, 5.0), (5.0, 3.0), (4.0, 4.0))

CALLS = {
    "a lambda with a keyword": "h = lambda a, b=2: a * b\nreturn acc + h(x, b=3)",
    "a lambda that is called where it stands": "return acc + (lambda a, b=2: a * b)(x, b=3)",
    "the last default": "def h(a, b=2, c=5):\n    return a * 100 + b * 10 + c\nreturn acc + h(x, c=1)",
    "all defaults": "def h(a, b=2, c=5):\n    return a * 100 + b * 10 + c\nreturn acc + h(x)",
    "one of two defaults": "def h(a, b=2, c=5):\n    return a * 100 + b * 10 + c\nreturn acc + h(x, y)",
    "in another order": "def h(a, b):\n    return a - 2 * b\nreturn acc + h(b=x, a=y)",
    "in the order of the call": "def h(a, b):\n    return a - 3 * b\nreturn acc + h(b=(t := x + 1), a=t * 2)",
    "in two ways": "def h(a, b):\n    return a - 2 * b\nreturn acc + (h(x, b=y) if x > y else h(b=x, a=y))",
    "by position only": "def h(a, /, b):\n    return a - 2 * b\nreturn acc + h(x, b=y)",
    "by keyword only": "def h(a, *, b, c):\n    return a - 2 * b + 3 * c\nreturn acc + h(x, c=y, b=acc)",
    "a default that is computed": "def h(a, b=x):\n    return a * b\nreturn acc + h(y)",
    "a default is of its time": "z = x + 1\ndef h(a, b=z):\n    return a * b\nz = 100\nreturn acc + h(y)",
    "a variable is of the call's time": "z = x + 1\ndef h(a):\n    return a * z\nr = h(y)\nz = 100\nreturn acc + h(y) + r",
    "a default of each time": "for i in range(3):\n    def h(a, b=i):\n        return a * b\n    acc += h(x)\nreturn acc",
    "one in another": "def h(a):\n    def k(b, c=2):\n        return a + b * c\n    return k(1, c=a)\nreturn acc + h(x) + h(a=y)",
    "one calls another": "g = lambda a, b=2: a * b\ndef h(a, c=3):\n    return g(a, b=c) + g(b=1, a=c)\nreturn acc + h(x, c=4)",
    "another name": "h = lambda a, b=2: a * b\ng = h\nreturn acc + g(x, b=3)",
    "one after another": "h = lambda a: a\nr = h(x)\nh = lambda a: 2 * a\nreturn acc + h(x) + 10 * r",
    "returns early": "def h(a, b=2):\n    if a > 4:\n        return b\n    return a * 10\nreturn acc + h(x, b=7)",
    "given to another": "def apply(f, v):\n    return f(v, b=3)\nreturn acc + apply(lambda a, b=2: a * b, x)",
    "never called": "h = lambda a: a\nreturn acc + x",
}  # fmt: skip

REFUSED = {
    "too many": ("return acc + h(x, y, 1000)", "h(", "h takes (a, b), and is called with other arguments: too many positional arguments"),
    "too few": ("return acc + h(x)", "h(", "h takes (a, b), and is called with other arguments: missing a required argument: 'b'"),
    "twice": ("return acc + h(x, a=3)", "h(", "h takes (a, b), and is called with other arguments: multiple values for argument 'a'"),
    "unknown": ("return acc + h(x, y, c=3)", "h(", "h takes (a, b), and is called with other arguments: got an unexpected keyword argument 'c'"),
    "too many for defaults": (
        "k = lambda a, b=2: a * b\nreturn acc + k(x, y, 3)", "k(",
        "this lambda takes (a, b=...), and is called with other arguments: too many positional arguments",
    ),
    "nothing taken": (
        "def k():\n    return x\nreturn acc + k(1)", "k(", "k takes (), and is called with other arguments: too many positional arguments"
    ),
    "*args": ("def k(*r):\n    return r[0]\nreturn acc + k(x)", "def", "k takes *args; name its arguments"),
    "**kwargs": ("def k(**r):\n    return 1\nreturn acc + k(a=x)", "def", "k takes **kwargs; name its arguments"),
    "a default after *": (
        "def k(a, *, b=7):\n    return a * b\nreturn acc + k(x)", "def",
        "k has a default after *, which a function inside a metric cannot have; leave out the *",
    ),
    "defined in both branches": (
        "if x > y:\n    def k(a):\n        return a\nelse:\n    def k(a):\n        return 2 * a\nreturn acc + k(x)", "k(x)",
        "'k' may be one of several functions here; give each its own name, and choose between their results",
    ),
    "assigned again in a branch": (
        "k = lambda a: a\nif x > y:\n    k = lambda a: 2 * a\nreturn acc + k(x)", "k(x)",
        "'k' may be one of several functions here; give each its own name, and choose between their results",
    ),
    "chosen": (
        "k = (lambda a: a) if x > y else (lambda a: 2 * a)\nreturn acc + k(x)", "k(x)",
        "'k' may be one of several functions here; give each its own name, and choose between their results",
    ),
    "assigned again in a loop": (
        "k = lambda a: a\nfor i in range(3):\n    acc += k(x)\n    k = lambda a: 2 * a\nreturn acc", "k(x)",
        "'k' may be one of several functions here; give each its own name, and choose between their results",
    ),
    "defined in one branch": (
        "if x > y:\n    def k(a):\n        return a\nreturn acc + k(x)", "k(x)",
        "'k' may be called before it is defined; define it before, on every path",
    ),
    "in a tuple": (
        "k = (lambda a: a, lambda a: 2 * a)\nreturn acc + k[0](x)", "lambda",
        "this lambda is a function that is kept in a variable, returned or given to another; call it by name",
    ),
    "returned": (
        "k = lambda a: a\nreturn k", "lambda",
        "this lambda is a function that is kept in a variable, returned or given to another; call it by name",
    ),
    "calls itself": (
        "def k(a):\n    return k(a - 1) if a > 0 else a\nreturn acc + k(x)", "def",
        "a function inside a metric reads 'k', which has no value before it; assign it before def, and write a loop "
        "instead of a function that calls itself",
    ),
    "returns nothing": (
        "def k(a):\n    pass\nreturn acc + k(x)", "acc", "+ needs numbers, got None, which a function without return gives"
    ),
    "bool of nothing": ("return acc + bool()", "bool", "bool takes 1 argument, got 0"),
    "bool of two": ("return acc + bool(x, y)", "bool", "bool takes 1 argument, got 2"),
    "a function as a number": ("return acc + math.sqrt", "acc", "+ needs numbers, got a function"),
}  # fmt: skip


def function(name: str, body: str, head: str = "def update(x, y, acc):") -> Any:
    text = f"{head}\n{indent(body, '    ')}\n"
    file = f"<inner {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {"math": math}
    exec(compile(text, file, "exec"), space)
    return space["update"]


def distance(metric: Any, x: float, y: float) -> float:
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), np.array([[y]], np.float32))
    params = ivf_flat.SearchParams(n_probes=1, metric=metric)
    return float(ivf_flat.search(params, index, np.array([[x]], np.float32), 1)[0][0, 0])


@pytest.mark.parametrize("name", CALLS)
def test_arguments_are_bound_as_python_binds_them(name: str) -> None:
    update = function(name, CALLS[name])
    metric = ivf_flat.metric(update)
    for x, y in PAIRS:
        assert distance(metric, x, y) == float(update(np.float32(x), np.float32(y), np.float32(0))), (x, y)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_called_is_refused_by_name_and_place(name: str) -> None:
    body, at, message = REFUSED[name]
    update = function(name, f"def h(a, b):\n    return a - 2 * b\n{body}")
    with pytest.raises(UnsupportedError) as caught:
        ivf_flat.metric(update).mlir()
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == message
    line = linecache.getline(f"<inner {name}>", diagnostic.line)
    assert line[diagnostic.column - 1 :].startswith(at), line


def test_in_every_function_of_a_metric() -> None:
    def tripled(acc, ctx):  # type: ignore[no-untyped-def]
        h = lambda a, b=2: a * b  # noqa: E731
        return h(acc, b=3)

    def joined(acc, other):  # type: ignore[no-untyped-def]
        def h(a, b=2):  # type: ignore[no-untyped-def]
            return a + b

        return h(acc, b=other)

    @ivf_flat.metric(finalize=tripled, combine=joined, numerics="reassociate")
    def plain(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + x * y

    assert distance(plain, 3, 5) == 45
    assert "arith.addf %arg0, %arg1" in plain.mlir().split("annudf.combine")[1]

    @ivf_flat.metric
    class OfFields:
        total: np.float32 = np.float32(0)

        def update(self, x, y, ctx):  # type: ignore[no-untyped-def]
            h = lambda a, b=2: a * b  # noqa: E731
            self.total += h(x, b=3)

        def finalize(self, ctx):  # type: ignore[no-untyped-def]
            def h(a, b=2):  # type: ignore[no-untyped-def]
                return a * b

            return h(self.total, b=7)

    assert distance(OfFields, 3, 5) == 63

    @ivf_flat.filter(captures={"least": 3})
    def keep(ctx):  # type: ignore[no-untyped-def]
        h = lambda a, b=2: a > b  # noqa: E731
        return h(ctx.row, b=ctx.least)

    assert 'annudf.capture "least"' in keep.mlir() and "2 : i64" not in keep.mlir()


def in_a_helper(v):  # type: ignore[no-untyped-def]
    def h(a, b=2):  # type: ignore[no-untyped-def]
        return a * b

    return h(v, b=5)


def test_in_a_helper() -> None:
    @ivf_flat.metric
    def calls(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + in_a_helper(v=x)

    assert distance(calls, 3, 5) == 15


def test_ctx_by_keyword() -> None:
    text = "def h(c, a, b=ctx.dims):\n    return (c.dims + c.p) * a + b\nreturn acc + h(a=x, c=ctx)"
    metric = ivf_flat.metric(captures={"p": 2.0})(function("ctx", text, "def update(x, y, acc, ctx):"))
    assert distance(metric, 3, 5) == (1 + 2) * 3 + 1


def test_self_is_no_variable_of_an_inner_function() -> None:
    with pytest.raises(UnsupportedError) as caught:

        @ivf_flat.metric
        class OfFields:
            total: np.float32 = np.float32(0)

            def update(self, x, y, ctx):  # type: ignore[no-untyped-def]
                self.total += x

            def finalize(self, ctx):  # type: ignore[no-untyped-def]
                def h(a):  # type: ignore[no-untyped-def]
                    return a * self.total

                return h(2)

    assert caught.value.diagnostics[0].message == (
        "h cannot use self; copy the field to a variable first, or give it as an argument"
    )
