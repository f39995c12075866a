# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a metric cannot use: the exception, its message, and the place that it names."""

from __future__ import annotations

import functools
import inspect
import linecache
import os
import re
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import metrics
import numpy as np
import pytest

from annudf import ivf_flat
from annudf._frontend import fingerprint, translate
from annudf._support.options import CaptureType, MetricOptions, Word
from annudf.errors import ArgumentError, CompileError, UnsupportedError

CAPTURES = {"weights": CaptureType("f32", ("dim",)), "p": CaptureType("f32")}
FILE = Path(metrics.__file__)


def options(
    name: str = "metric", compute: Word = "f32", accumulator: Word = "f32", initial: float = 0.0
) -> MetricOptions:
    return MetricOptions(
        name, "min", initial, "l2", captures=CAPTURES, compute=compute, accumulator=accumulator, elements=("i8", "u8")
    )


def marked(name: str) -> tuple[int, int]:
    """Line and column that a function's `# HERE` marks; column 0 if the line is all that is told."""
    inside = False
    for number, line in enumerate(FILE.read_text().splitlines(), 1):
        inside = (inside and not line.startswith("def ")) or line.startswith(f"def {name}(")
        if inside and (found := re.search(r"# HERE (\d+)", line)):
            return number, int(found[1])
    raise AssertionError(f"no mark in {name}")


@pytest.mark.parametrize("name", metrics.MESSAGES)
def test_message_and_place(name: str) -> None:
    line, column = marked(name)
    with pytest.raises(UnsupportedError) as caught:
        translate(getattr(metrics, name), options(name))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == metrics.MESSAGES[name]
    assert (diagnostic.file, diagnostic.line, diagnostic.column) == (str(FILE), line, column)
    place = f"{FILE}:{line}" + (f":{column}" if column else "")
    assert str(caught.value).startswith(f"{place}: error: {metrics.MESSAGES[name]}\n    ")


def test_every_function_has_its_message() -> None:
    functions = {n for n, v in vars(metrics).items() if callable(v) and getattr(v, "__module__", "") == "metrics"}
    assert functions == set(metrics.MESSAGES)


def test_the_source_line_is_shown_with_a_caret() -> None:
    with pytest.raises(UnsupportedError) as caught:
        translate(metrics.unknown, options("unknown"))
    _, shown, caret = str(caught.value).split("\n")
    assert shown.strip().startswith("return acc + unheard_of(x)")
    assert caret.index("^") == shown.index("unheard_of")


def test_integers_are_not_silently_floats() -> None:
    def half(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + 0.5 * x

    with pytest.raises(UnsupportedError, match="the accumulator is int32, but the function returns float32"):
        translate(half, options("half", "i32", "i32"))


def test_integer_division_by_zero() -> None:
    def divides(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + x // 0

    with pytest.raises(UnsupportedError, match="an integer cannot be divided by 0"):
        translate(divides, options("divides", "i32", "i32"))


@pytest.mark.parametrize(
    ("dtype", "value"), [("int32", 2**31), ("uint32", -1), ("int32", 0.5), ("uint32", float("inf"))]
)
def test_initial_that_does_not_fit(dtype: str, value: float) -> None:
    with pytest.raises(ArgumentError, match="does not fit the accumulator"):
        ivf_flat.metric(dtype=dtype, initial=value)


def test_dim_in_finalize() -> None:
    def update(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + x

    def finalize(acc, ctx):  # type: ignore[no-untyped-def]
        return acc * ctx.dim

    metric = MetricOptions("m", "min", 0.0, "l2", finalize=finalize)
    with pytest.raises(UnsupportedError, match=r"ctx\.dim has no meaning in finalize"):
        translate(update, metric)


def test_rules_of_the_compiler_show_the_users_line() -> None:
    def beyond(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        return acc + ctx.weights[ctx.dim + 1] * x

    metric = ivf_flat.metric(captures={"weights": np.ones(4, np.float32)})(beyond)
    with pytest.raises(CompileError) as caught:
        metric.mlir()
    place, shown, caret = str(caught.value).split("\n")
    told = (
        "[L3] an index of this capture may be as large as ctx.dims, but the extent ends at ctx.dims - 1;"
        " bound it above, as min(i, ctx.dims - 1) does"
    )
    assert place.endswith(f"error: {told}") and f"{Path(__file__).name}:" in place
    assert shown.strip() == "return acc + ctx.weights[ctx.dim + 1] * x"
    assert caret.index("^") == shown.index("ctx.weights")
    assert [d.rule for d in caught.value.diagnostics] == ["L3"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("    for i in range(int(x)):\n        acc += i\n    return acc\n", "[P14]"),
        ("    while x > 0:\n        x = x - 1\n    return acc\n", "[P14]"),
        (
            "    if x > y:\n        z = x\n    return acc + z\n",
            "[P18] uses 'z', which may be used before it is assigned",
        ),
        (
            "    return acc, x\n",
            "update returns several values; return a number on every path, or give initial as a tuple if acc has "
            "several fields",
        ),
        ("    for i in range(10**9):\n        acc += x\n    return acc\n", "[P15] repeats more than 4096 times"),
    ],
)
def test_bodies_that_no_scan_could_run(body: str, message: str) -> None:
    space: dict[str, object] = {}
    exec("def update(x, y, acc):\n" + body, space)
    with pytest.raises(CompileError) as caught:
        ivf_flat.metric(space["update"]).mlir()  # type: ignore[arg-type]
    assert message in str(caught.value)


NEEDS_SOURCE = {"while_else", "compares_identity", "matches_true", "loops_over_a_value", "prints"}
"""What only the syntax tree shows; without it some of these compile, and mean what Python means."""


@pytest.mark.parametrize("name", [n for n in metrics.MESSAGES if n not in NEEDS_SOURCE])
def test_functions_without_source_are_refused_too(name: str) -> None:
    text = inspect.getsource(getattr(metrics, name))
    space: dict[str, object] = dict(vars(metrics))
    exec(compile(text, "<no file>", "exec"), space)
    with pytest.raises(CompileError) as caught:
        translate(space[name], options(name))  # type: ignore[arg-type]
    assert "please report" not in str(caught.value)


def test_a_function_that_wraps_another_is_itself() -> None:
    def inner(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + x

    @functools.wraps(inner)
    def outer(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + [x][0]

    with pytest.raises(UnsupportedError, match="a metric cannot use lists"):
        translate(outer, options("outer"))


def test_kinds_of_functions() -> None:
    async def waits(x, y, acc):  # type: ignore[no-untyped-def]
        return acc

    def takes_all(*args):  # type: ignore[no-untyped-def]
        return args[0]

    def uses_it(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + takes_all(x)

    def chooses(x, y, acc):  # type: ignore[no-untyped-def]
        root = np.sqrt if x > 1 else np.exp
        return acc + root(x)

    def with_default(x, y, acc, ctx=None):  # type: ignore[no-untyped-def]
        return acc

    long = np.longdouble(1)

    def reads_longdouble(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + long

    for function, message in (
        (waits, "a metric cannot be asynchronous; write def"),
        (uses_it, "takes_all takes *args; name its arguments"),
        (chooses, "a metric cannot choose between functions or keep them in variables; call them by name"),
        (with_default, "with_default has a default of type NoneType; use numbers"),
        (reads_longdouble, "'long' is of type longdouble, which a metric cannot compute with"),
    ):
        with pytest.raises(UnsupportedError) as caught:
            translate(function, options(function.__name__))
        assert message in str(caught.value)


def test_arguments_in_another_order() -> None:
    def reduces(acc, x, y):  # type: ignore[no-untyped-def]
        return acc + x - y

    def method(self, x, y, acc):  # type: ignore[no-untyped-def]
        return acc + x

    for function, message in (
        (reduces, "takes (acc, x, y): 'x' is in the wrong place; a metric's function is reduces(x, y, acc, ctx)"),
        (method, "takes (self, x, y, acc): 'x' is in the wrong place; a metric's function is method(x, y, acc, ctx)"),
    ):
        with pytest.raises(UnsupportedError) as caught:
            translate(function, options(function.__name__))
        assert caught.value.diagnostics[0].message == message


def takes_two(a, b):  # type: ignore[no-untyped-def]
    return a * b


def test_helpers_that_are_called_with_other_arguments() -> None:
    def one(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + takes_two(x)

    def three(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + np.logical_and(x > 0, y > 0, x > y)

    for function in (one, three):
        with pytest.raises(
            UnsupportedError, match=r"a helper that takes \(a, b\) is called with other arguments; pass exactly"
        ):
            translate(function, options(function.__name__))


def test_uint64_is_compared_with_uint64_only() -> None:
    def signed(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + (np.uint64(x) > np.int32(y))

    def narrow(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + (np.uint32(x) == np.uint64(y))

    for function, kinds in ((signed, "uint64 and int32"), (narrow, "uint32 and uint64")):
        with pytest.raises(UnsupportedError) as caught:
            translate(function, options(function.__name__))
        assert caught.value.diagnostics[0].message == (
            f"uint64 can be compared with uint64 only, got {kinds}; convert the other by np.uint64(...), "
            "or the uint64 by np.int64(...)"
        )


def test_a_scalar_capture_has_no_entries() -> None:
    def indexes(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        return acc + ctx.p[ctx.dim] * x

    with pytest.raises(UnsupportedError, match=r"a number has no entries; leave out .* a scalar capture is ctx.p"):
        translate(indexes, options("indexes"))


def test_modules_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "of_the_user"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "circle.py").write_text("import of_the_user.numbers\nRADIUS = 1.5\n")
    # A class with the name of a capture is not what ctx.weights means.
    (package / "numbers.py").write_text("SCALE = 2.5\nclass weights: pass\ndef twice(v):\n    return v * 2\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import of_the_user.numbers  # type: ignore[import-not-found]
    import of_the_user.numbers as short
    from of_the_user import circle  # type: ignore[import-not-found]

    def update(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        return acc + of_the_user.numbers.SCALE * short.twice(x) * ctx.weights[ctx.dim]

    def wrong(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        return acc + short.weights

    def around(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + of_the_user.circle.RADIUS * circle.of_the_user.circle.RADIUS

    assert "2.5" in translate(update, options("update")).text
    # Modules that import each other, by every path that reads their attributes.
    assert ivf_flat.metric(around).mlir().count("2.25") == 1
    assert len(fingerprint(around, options("around"))) == 64
    with pytest.raises(UnsupportedError, match=r"\+ needs numbers, got weights, which is none"):
        translate(wrong, options("wrong"))


def test_tracebacks_are_short() -> None:
    with pytest.raises(UnsupportedError) as caught:
        ivf_flat.metric(metrics.shifts_floats).mlir()
    text = "".join(traceback.format_exception(caught.value))
    assert "numba_cuda_mlir" not in text
    assert text.count("\n  File ") <= 8


def test_the_process_is_left_as_it_was() -> None:
    program = (
        "import logging, sys\n"
        "from annudf import ivf_flat\n"
        "before = sys.excepthook, logging.getLogger().handlers[:], logging.getLogger().level\n"
        "def update(x, y, acc):\n    return acc + x\n"
        "ivf_flat.metric(update).mlir()\n"
        "assert 'numba_cuda_mlir' in sys.modules\n"
        "assert before == (sys.excepthook, logging.getLogger().handlers[:], logging.getLogger().level)\n"
    )
    environment = {**os.environ, "ANNUDF_CACHE_DISABLE": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_trees_of_helpers_are_counted_before_they_are_inlined() -> None:
    lines = ["def h0(x):", "    return x + 1"]
    for level in range(1, 30):
        lines += [f"def h{level}(x):", f"    return h{level - 1}(x) * h{level - 1}(x)"]
    lines += ["def update(x, y, acc):", "    return acc + h29(x)"]
    space: dict[str, object] = {}
    exec("\n".join(lines), space)
    begun = time.process_time()
    with pytest.raises(UnsupportedError, match="h8 calls helpers 510 times once they are inlined, more than 256; call"):
        translate(space["update"], options("update"))  # type: ignore[arg-type]
    assert time.process_time() - begun < 30  # Inlined it would be minutes.


def test_large_helpers_are_counted_before_they_are_inlined() -> None:
    long = " + ".join(["x"] * 100)
    lines = ["def h(x):", f"    return {long}", "def update(x, y, acc):", *["    x = h(x)"] * 200, "    return acc + x"]
    space: dict[str, object] = {}
    exec("\n".join(lines), space)
    with pytest.raises(
        UnsupportedError, match=r"update has \d+ instructions with its helpers inlined, more than 20000"
    ):
        translate(space["update"], options("update"))  # type: ignore[arg-type]


@pytest.mark.parametrize("known", [True, False])
def test_very_long_expressions(known: bool) -> None:
    text = "def update(x, y, acc):\n    return acc" + " + x" * 900 + "\n"
    file = f"<long {known}>"
    if known:
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, object] = {}
    exec(compile(text, file, "exec"), space)
    try:
        translate(space["update"], options("update"))  # type: ignore[arg-type]
    except UnsupportedError as error:
        assert "an expression nests too deep; write it in several statements" in str(error)


def test_types_that_would_round_on_one_path() -> None:
    def joins(x, y, acc):  # type: ignore[no-untyped-def]
        v = np.int32(16777217) if x > y else y
        return acc + (v - np.int32(16777216))

    with pytest.raises(
        UnsupportedError, match="would have two types, float32 and int32, on different paths; convert one"
    ):
        translate(joins, options("joins"))


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    for name in metrics.MESSAGES:
        with pytest.raises(UnsupportedError):
            translate(getattr(metrics, name), options(name))
    out, err = capfd.readouterr()
    assert out == "" and err == ""


def test_decorators_and_annotations_may_use_all_of_numpy() -> None:
    def decorator(*arguments: object) -> Callable[[Any], Any]:
        return lambda function: function

    @decorator(np.ones(3), np.linalg)
    def update(x, y: np.ndarray, acc) -> np.ndarray:  # type: ignore
        return acc + np.sqrt(x * y)

    assert "math.sqrt" in translate(update, options("update")).text


def test_declared_float64_is_a_number() -> None:
    def update(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + (x - y) * np.float64(0.5)

    for word in ("f32", "f64"):
        assert "arith.mulf" in translate(update, options("update", word, word)).text  # type: ignore[arg-type]


class Sums(NamedTuple):
    total: np.float32
    count: np.float32


def test_attributes_that_arrays_and_tuples_do_not_have() -> None:
    def shape(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        return acc + ctx.w.shape[0]

    def transposed(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        return acc + ctx.w.T[0]

    def of_a_number(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        return acc + x.shape[0] + ctx.w[ctx.dim]

    def replaces(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        return acc._replace(total=acc.total + x * ctx.w[ctx.dim])

    def named(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        return acc[0] + acc.total * ctx.w[ctx.dim], acc[1]

    pair: dict[str, Any] = {"finalize": lambda acc, ctx: acc[0]}
    for function, more, message in (
        (shape, {}, "ctx.w has no .shape here: a metric does not know shapes; write the number, or ctx.dims for the dimensions"),
        (transposed, {}, "ctx.w has no attribute 'T' in a metric; read one entry, ctx.w[ctx.dim]"),
        (of_a_number, {}, "numbers of a metric have no attribute 'shape'; x, y and acc are plain numbers"),
        (replaces, {"initial": Sums(np.float32(0), np.float32(0)), **pair},
         "Sums has the fields total, count in a metric, and no attribute '_replace'; return what is next of each: "
         "return acc.total + x, acc.count"),
        (named, {"initial": (0.0, 0.0), **pair},
         "a tuple has no attribute 'total'; read its fields by their number, acc[0], or give initial as a NamedTuple"),
    ):  # fmt: skip
        with pytest.raises(UnsupportedError) as caught:
            ivf_flat.metric(captures={"w": np.ones(4, np.float32)}, **more)(function).mlir()
        assert caught.value.diagnostics[0].message == message
