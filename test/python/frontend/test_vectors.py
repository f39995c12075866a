# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of two whole vectors, against themselves in plain Python over float64."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import vectors

import annudf
from annudf import brute_force
from annudf._frontend import fingerprint, snapshot, translate
from annudf.distance import pairwise_distance
from annudf.errors import ArgumentError, CaptureError, CompileError, UnsupportedError

rng = np.random.default_rng(35)
FLOATS = rng.standard_normal((5, 9), dtype=np.float32)
FLOATS[1], FLOATS[2, ::2], FLOATS[3] = 0, 0, FLOATS[4]
TWO = np.ones(2, np.float32)
INTEGERS = rng.integers(-3, 4, (5, 9)).astype(np.int8)


def in_python(function: Any, rows: npt.NDArray[Any], **arguments: Any) -> npt.NDArray[np.float64]:
    wide = rows.astype(np.float64)
    plain = getattr(function, "py_func", function)
    with np.errstate(all="ignore"):
        return np.array([[float(plain(x.copy(), y.copy(), **arguments)) for y in wide] for x in wide])


def text(metric: annudf.Metric) -> str:
    definition: Any = metric._definition
    return translate(*definition._taken()).text


@pytest.mark.parametrize("function", vectors.DISTANCES, ids=lambda one: getattr(one, "py_func", one).__name__)
def test_distances(function: Any) -> None:
    metric = annudf.metric(function)
    for rows in (FLOATS, INTEGERS) if function is vectors.bray_curtis else (FLOATS,):
        got = np.asarray(pairwise_distance(rows, metric=metric))
        np.testing.assert_allclose(got, in_python(function, rows), rtol=2e-5, atol=2e-6)
    assert metric.properties.raised and "raised to one pass over coordinates" in str(metric.properties)


def test_emitted_module() -> None:
    emitted = text(annudf.metric(order="max", coarse_metric="cosine", numerics="reassociate")(vectors.canberra))
    assert emitted.count('"annudf.at"') == 4
    assert emitted.count("annudf.variable") == emitted.count('annudf.variable = "result"} : () -> memref<1xf32>')
    _, _, called = emitted.partition("annudf.pairwise ")
    assert re.sub(r" loc\([^)]*\)", "", called) == (
        "@canberra order(max) coarse(cosine) elements(f32, f16, i8, u8, bf16, bits) numerics(reassociate) {\n"
        "  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {\n"
        "    %value = func.call @canberra_distance(%x, %y) : (!annudf.vector<f32>, !annudf.vector<f32>) -> f32\n"
        "    annudf.yield %value : f32\n  }\n}\n}\n"
    )


def whole(a, b, ctx):  # type: ignore[no-untyped-def]
    """Most of what NumPy makes of whole vectors; six values are carried at most."""
    d = a - b
    return np.sqrt(np.sum(ctx.w * d**2)) + np.abs(d).max() + np.mean(a != b) - np.dot(a, b) / len(d)


def counted(a, b, ctx):  # type: ignore[no-untyped-def]
    both, either = (a > 0) & (b > 0), (a > 0) | (b > 0)
    d = np.where(a > b, a - b, 0.5 * (b - a))
    longest = 0.0
    for i in range(d.size):
        longest = max(longest, d[i])
    return both.sum() / np.sum(either) + np.linalg.norm(a) * np.any(both) + np.count_nonzero(d) + longest


def products(a, b, ctx):  # type: ignore[no-untyped-def]
    return np.minimum(a, b).min() + a.dot(b) + np.prod(1 + 0.1 * b) + np.all(np.isfinite(a)) - sum(abs(a - b) / 2)


@pytest.mark.parametrize("function", [whole, counted, products])
def test_whole_vectors(function: Any) -> None:
    weights = rng.random(9, dtype=np.float32)
    metric = annudf.metric(captures={"w": weights} if function is whole else None)(function)
    got = pairwise_distance(FLOATS[[0, 2, 4]], metric=metric)
    wide, ctx = FLOATS[[0, 2, 4]].astype(np.float64), SimpleNamespace(w=weights)
    expected = [[function(x, y, ctx) for y in wide] for x in wide]
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("dtype", "seen"), [("float64", "f64"), ("int32", "i32"), ("uint32", "i32")])
def test_types_of_coordinates(dtype: str, seen: str) -> None:
    def overlap(x, y):  # type: ignore[no-untyped-def]
        result = 0
        for u, v in zip(x, y):  # noqa: B905
            result += min(u, v)
        return result

    metric = annudf.metric(dtype=dtype)(overlap)
    assert f"(%x: !annudf.vector<{seen}>, %y: !annudf.vector<{seen}>)" in text(metric)
    rows = np.abs(INTEGERS)
    np.testing.assert_array_equal(pairwise_distance(rows, metric=metric), in_python(overlap, rows))


def test_arguments() -> None:
    third = annudf.metric(vectors.minkowski, p=3)
    np.testing.assert_allclose(
        pairwise_distance(FLOATS, metric=third), in_python(vectors.minkowski, FLOATS, p=3), rtol=2e-5, atol=2e-6
    )
    assert "math.powf" not in text(annudf.metric(vectors.minkowski, p=2))
    assert third(FLOATS[0], FLOATS[1], 2) == vectors.minkowski(FLOATS[0], FLOATS[1], 2)

    def clipped(x, y, most, *, scale=2.0):  # type: ignore[no-untyped-def]
        most *= scale
        result = 0.0
        for u, v in zip(x, y):  # noqa: B905
            result += min(abs(u - v), most)
        return result

    got = pairwise_distance(FLOATS, metric=annudf.metric(clipped, most=0.25))
    np.testing.assert_allclose(got, in_python(clipped, FLOATS, most=0.25), rtol=1e-6)

    definitions: list[Any] = [annudf.metric(clipped, most=most)._definition for most in (0.25, 0.5, 0.25)]
    first, second, again = (fingerprint(*snapshot(one.function, one.options)) for one in definitions)
    assert first == again != second


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"q": 3}, ArgumentError, "argument 'q' is no option of annudf.metric, and minkowski(x, y, p=2) has no argument"),
        ({"x": 3}, ArgumentError, "argument 'x' is no option of annudf.metric, and minkowski(x, y, p=2) has no argument"),
        ({"p": [1, 2]}, UnsupportedError, "argument 'p' of minkowski is of type list; a metric can read numbers and"),
        ({"p": FLOATS, "captures": {"p": 1.0}}, ArgumentError, "'p' is an argument of minkowski and a capture; rename"),
        ({"initial": 1.0}, ArgumentError, "initial is given, but a function of two vectors has no accumulator"),
        ({"finalize": abs}, ArgumentError, "finalize is given, but a function of two vectors has no accumulator"),
        ({"combine": max}, ArgumentError, "combine is given, but a function of two vectors has no accumulator"),
        ({"accumulator": "float64"}, ArgumentError, "accumulator is given, but a function of two vectors has no"),
    ],
)  # fmt: skip
def test_refused_arguments(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        annudf.metric(vectors.minkowski, **arguments)


def test_what_is_no_option() -> None:
    with pytest.raises(TypeError, match=r"metric\(\) got an unexpected keyword argument 'ordr'"):
        annudf.metric(ordr="max")  # type: ignore[call-overload]

    def update(x, y, acc=0.0):  # type: ignore[no-untyped-def]
        return acc + x * y

    assert "annudf.metric @update" in text(annudf.metric(update))
    for target in (update, type("Update", (), {"update": update})):
        with pytest.raises(ArgumentError, match=r"argument 'p' is no option of annudf\.metric"):
            annudf.metric(target, p=3)


def test_captures() -> None:
    weights = rng.random(9, dtype=np.float32)
    apart = np.abs(FLOATS[:, None].astype(float) - FLOATS)

    def of_argument(x, y, w=TWO):  # type: ignore[no-untyped-def]
        result = 0.0
        for i in range(len(x)):
            result += w[i] * abs(x[i] - y[i])
        return result

    metric = annudf.metric(of_argument, w=weights)
    assert str(metric) == "<annudf metric of_argument (w: dim x f32)>"
    np.testing.assert_allclose(pairwise_distance(FLOATS, metric=metric), (weights * apart).sum(2), rtol=1e-6)

    def zipped(x, y, w=TWO):  # type: ignore[no-untyped-def]
        result = 0.0
        for c, u, v in zip(w, x, y):  # noqa: B905
            result += c * abs(u - v)
        return result

    got = pairwise_distance(FLOATS, metric=annudf.metric(zipped, w=weights))
    np.testing.assert_allclose(got, (weights * apart).sum(2), rtol=1e-6)
    with pytest.raises(CaptureError, match="capture 'w' of metric 'of_argument' has 2 entries"):
        annudf.metric(of_argument).distance(FLOATS[0], FLOATS[1])

    @annudf.metric(captures={"w": weights, "shift": 0.5, "table": np.float32([1, 2])})
    def weighted(x, y, ctx):  # type: ignore[no-untyped-def]
        dim = x.shape[0]
        result = ctx.shift
        for i in range(dim):
            result += ctx.w[i] * abs(x[i] - y[i]) * ctx.table[1]
        return result / ctx.dims

    assert str(weighted) == "<annudf metric weighted (w: dim x f32, shift: f32 = 0.5, table: 2 x f32)>"
    expected = (0.5 + 2 * (weights * apart).sum(2)) / 9
    np.testing.assert_allclose(pairwise_distance(FLOATS, metric=weighted), expected, rtol=1e-6)
    np.testing.assert_allclose(
        pairwise_distance(FLOATS, metric=weighted.bind(w=2 * weights)), 2 * expected - 0.5 / 9, rtol=1e-6
    )


NUMBERS = np.array([-1e35, -2.5, -1, -0.0, 0, 1e-30, 0.5, 1, 3, 1e35, np.nan], np.float32)
"""Coordinates are finite, so functions get infinities for the largest."""


@pytest.mark.parametrize(
    "name",
    ["logaddexp", "logaddexp2", "logical_and", "logical_or", "logical_xor", "isclose", "xlogy", "xlog1py", "rel_entr",
     "kl_div", "sinc", "signbit", "entr"],
)  # fmt: skip
def test_functions_of_vectors(name: str) -> None:
    function = getattr(np, name, None) or getattr(pytest.importorskip("scipy.special"), name)

    def of_two(x, y):  # type: ignore[no-untyped-def]
        a, b = np.where(np.abs(x) > 1e30, x * 1e30, x), np.where(np.abs(y) > 1e30, y * 1e30, y)
        return np.sum(function(a, b)) * 1.0

    def of_one(x, y):  # type: ignore[no-untyped-def]
        return np.sum(function(np.where(np.abs(x) > 1e30, x * 1e30, x))) * 1.0

    takes_two = name not in ("sinc", "signbit", "entr")
    metric = annudf.metric(missing_values=True)(of_two if takes_two else of_one)
    with np.errstate(all="ignore"):
        wide = np.where(np.abs(NUMBERS) > 1e30, NUMBERS * np.float32(1e30), NUMBERS)
        expected = [[function(x, y) if takes_two else function(x) for y in wide] for x in wide]
    got = metric.pairwise(NUMBERS[:, None])
    np.testing.assert_allclose(got, np.array(expected, float), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_intrinsic_that_counts_bits(dtype: Any) -> None:
    rows = rng.integers(0, 256, (5, 100)).astype(np.uint8)
    expected = np.unpackbits(rows[:, None] ^ rows, axis=2).sum(2)
    metric = annudf.metric(vectors.bit_hamming, dtype="int32")
    np.testing.assert_array_equal(pairwise_distance(rows.view(dtype), metric=metric), expected)


def test_deviations() -> None:
    def scaled(x, y):  # type: ignore[no-untyped-def]
        return np.sum(np.abs(x / (np.std(x) + 1) - y / (np.var(y, ddof=1) + 1)))

    got = pairwise_distance(FLOATS, metric=annudf.metric(scaled))
    np.testing.assert_allclose(got, in_python(scaled, FLOATS), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("loop", "message"),
    [
        ("for a, b in zip(x, y): r += a - b", "'zip' needs the source of the function, which cannot be read"),
        ("for i, a in enumerate(x): r += a", "'enumerate' needs the source of the function, which cannot be read"),
        ("for a in x: r += a", "a loop over a vector needs the source of the function, which cannot be read"),
    ],
)
def test_without_a_source(loop: str, message: str) -> None:
    space: dict[str, Any] = {}
    exec(f"def without(x, y):\n    r = 0.0\n    {loop}\n    return r", space)
    told = f"{message}; define it in a file or a notebook, or write for i in range(x.shape[0])"
    with pytest.raises(UnsupportedError, match=re.escape(told)):
        annudf.metric(space["without"]).mlir()


def test_number_of_dimensions() -> None:
    metric = annudf.metric(vectors.haversine)
    assert " dims(2) {" in metric.mlir() and " dims(2) {" in text(metric)
    rows = FLOATS[:, :2]
    np.testing.assert_allclose(
        pairwise_distance(rows, metric=metric), in_python(vectors.haversine, rows), rtol=1e-5, atol=1e-6
    )
    with pytest.raises(ArgumentError, match="was compiled for 2 dims, argument 'X' has 9"):
        pairwise_distance(FLOATS, metric=metric)
    zeros = np.array([[-0.0, 1], [0, 1]], np.float32)

    def sign(a, b):  # type: ignore[no-untyped-def]
        return np.copysign(1.0, a[0]) + b[0]

    assert annudf.metric(sign).pairwise(zeros)[:, 0].tolist() == [-1, 1]  # To the bit, so the sign of zero too.


def test_metric_is_an_ordinary_one() -> None:
    metric = annudf.metric(vectors.euclidean)
    base = rng.standard_normal((50, 9), dtype=np.float32)
    distances, neighbors = brute_force.knn(base, FLOATS, 3, metric=metric)
    expected = np.sqrt(((FLOATS[:, None].astype(float) - base) ** 2).sum(2))
    np.testing.assert_array_equal(neighbors, np.argsort(expected)[:, :3])
    np.testing.assert_allclose(distances, np.sort(expected)[:, :3], rtol=1e-6)
    assert metric.properties.quadratic
    assert metric.explain(FLOATS[0], base[0]).distance == metric(FLOATS[0], base[0])
    sent: annudf.Metric = pickle.loads(pickle.dumps(metric))
    assert metric(FLOATS[0], base[0]) == metric.distance(FLOATS[0], base[0])
    assert sent(FLOATS[0], base[0]) == metric(FLOATS[0], base[0]) and sent.properties.raised is None


def test_the_metric_of_one_coordinate_gives_the_same_bits() -> None:
    @annudf.metric(initial=(0.0, 0.0), finalize=lambda acc: float(acc[0]) / acc[1] if acc[1] > 0.0 else 0.0)
    def apart(x, y, acc):  # type: ignore[no-untyped-def]
        return acc[0] + np.abs(x - y), acc[1] + np.abs(x + y)

    rows = rng.standard_normal((40, 33), dtype=np.float32)
    np.testing.assert_array_equal(
        pairwise_distance(rows, metric=annudf.metric(vectors.bray_curtis)), pairwise_distance(rows, metric=apart)
    )


@pytest.mark.parametrize("name", vectors.MESSAGES)
def test_message_and_place(name: str) -> None:
    function = getattr(vectors, name)
    with pytest.raises(UnsupportedError) as caught:
        text(annudf.metric(function))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == vectors.MESSAGES[name]
    lines = Path(vectors.__file__).read_text().splitlines()
    first = function.__code__.co_firstlineno
    marked = next(number for number in range(first, len(lines)) if "HERE" in lines[number - 1])
    column = int(lines[marked - 1].split("HERE ")[1])
    assert (diagnostic.file, diagnostic.line, diagnostic.column) == (vectors.__file__, marked, column)


def test_what_the_compiler_refuses() -> None:
    def ends(x, y):  # type: ignore[no-untyped-def]
        result = 0.0
        for i in range(len(x)):
            result += x[i] - y[i]
            if result > 3:
                break
        return result

    with pytest.raises(CompileError, match="a loop over all coordinates cannot end early") as caught:
        annudf.metric(ends).distance(FLOATS[0], FLOATS[1])
    assert caught.value.diagnostics[0].line == ends.__code__.co_firstlineno + 2
