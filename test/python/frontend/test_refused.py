# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a metric cannot use: the exception, its message, and the place that it names."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import metrics
import numpy as np
import pytest

from annudf import ivf_flat
from annudf._frontend import translate
from annudf._options import CaptureType, MetricOptions, Word
from annudf.errors import ArgumentError, CompileError, UnsupportedError

CAPTURES = {"weights": CaptureType("f32", False), "p": CaptureType("f32", True)}
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


def test_integer_division_by_a_value() -> None:
    def divides(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + x // y

    with pytest.raises(UnsupportedError, match="an integer may be divided only by a constant other than 0"):
        translate(divides, options("divides", "i32", "i32"))


@pytest.mark.parametrize(("word", "value"), [("i32", 2**31), ("u32", -1), ("i32", 0.5), ("u32", float("inf"))])
def test_initial_that_does_not_fit(word: Word, value: float) -> None:
    def keeps(x, y, acc):  # type: ignore[no-untyped-def]
        return acc

    with pytest.raises(ArgumentError, match="does not fit accumulator"):
        translate(keeps, options("keeps", word, word, value))


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
    told = "[L2] a capture is read at an index that may be outside of it; read it at [ctx.dim]"
    assert place.endswith(f"error: {told}") and f"{Path(__file__).name}:" in place
    assert shown.strip() == "return acc + ctx.weights[ctx.dim + 1] * x"
    assert caret.index("^") == shown.index("ctx.weights")
    assert [d.rule for d in caught.value.diagnostics] == ["L2"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("    for i in range(int(x)):\n        acc += i\n    return acc\n", "[P14]"),
        ("    if x > y:\n        z = x\n    return acc + z\n", "[P18] uses 'z', which may be used before it is assigned"),
        ("    return acc, x\n", "update returns several values; return a number on every path"),
        ("    for i in range(10**9):\n        acc += x\n    return acc\n", "[P15] repeats more than 4096 times"),
    ],
)
def test_bodies_that_no_scan_could_run(body: str, message: str) -> None:
    space: dict[str, object] = {}
    exec("def update(x, y, acc):\n" + body, space)
    with pytest.raises(CompileError) as caught:
        ivf_flat.metric(space["update"]).mlir()  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_functions_without_source_are_refused_too() -> None:
    space: dict[str, object] = {}
    exec("def update(x, y, acc):\n    return acc + [x][0]\n", space)
    with pytest.raises(CompileError):
        translate(space["update"], options("update"))  # type: ignore[arg-type]


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
