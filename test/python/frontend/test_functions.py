# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions and powers of a metric on the CPU engine, each over its domain, against float64.

With one dimension and `acc` of 0 a search's distances are the function of each row.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from annudf import ivf_flat
from annudf._frontend.source.syntax import Source
from annudf.distance import pairwise_distance

ROWS = 4096
INF = math.inf


def made(expression: str, captures: dict[str, Any] | None = None) -> ivf_flat.Metric:
    """A metric whose distance is an expression of `y`, with source that inspect finds."""
    text = f"import math\nimport numpy as np\ndef update(x, y, acc, ctx):\n    return acc + ({expression})\n"
    file = f"<function {expression}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {}
    exec(compile(text, file, "exec"), space)
    return ivf_flat.metric(captures=captures)(space["update"])


def values_of(metric: ivf_flat.Metric, rows: Any) -> dict[int, float]:
    """The distance of each row that is returned, by its number."""
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows[:, None])
    params = ivf_flat.SearchParams(n_probes=1, metric=metric)
    distances, neighbors = ivf_flat.search(params, index, np.zeros((1, 1), np.float32), min(len(rows), 1024))
    return {int(i): float(d) for i, d in zip(neighbors[0], distances[0], strict=True) if i >= 0}


def rows_of(low: float, high: float) -> Any:
    """Numbers of a range, close to its ends and to 0 too."""
    generator = np.random.default_rng(1)
    even = generator.uniform(low, high, 700)
    near = np.concatenate(
        [low + (high - low) * 2.0 ** -np.arange(1, 25), high - (high - low) * 2.0 ** -np.arange(1, 25)]
    )
    zero = 2.0 ** -np.arange(1, 30)
    rows = np.concatenate([even, near, zero, -zero]).astype(np.float32)
    return rows[(rows > low) & (rows < high)]


def spread(expression: str, rows: Any, exact: Any, captures: dict[str, Any] | None = None) -> float:
    """The largest error in units of the last place."""
    found = values_of(made(expression, captures), rows)
    assert len(found) == len(rows)
    have = np.array([found[i] for i in range(len(rows))])
    unit = np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
    return float(np.max(np.abs(have - exact) / unit))


def _each(function: Callable[..., float]) -> Callable[[Any], Any]:
    return lambda rows: np.array([function(float(v)) for v in rows])


# Expression of y, range of y, the same in float64, units in the last place.
FUNCTIONS: list[tuple[str, float, float, Callable[[Any], Any], float]] = [
    ("math.sqrt(y)", 0, 1e6, np.sqrt, 0.5), ("math.cbrt(y)", -1e6, 1e6, np.cbrt, 4),
    ("math.exp(y)", -80, 80, np.exp, 4), ("np.exp2(y)", -100, 100, np.exp2, 4), ("math.expm1(y)", -10, 80, np.expm1, 4),
    ("math.log(y)", 0, 1e6, np.log, 4), ("math.log2(y)", 0, 1e6, np.log2, 4), ("math.log10(y)", 0, 1e6, np.log10, 4),
    ("math.log1p(y)", -1, 1e6, np.log1p, 4), ("math.log(y, 2)", 0, 1e6, np.log2, 4),
    ("math.log(y, 3)", 0, 1e6, lambda v: np.log(v) / math.log(3), 5),
    ("math.log(5, y)", 1.5, 1e6, lambda v: math.log(5) / np.log(v), 6),
    ("math.sin(y)", -10, 10, np.sin, 4), ("math.cos(y)", -10, 10, np.cos, 4), ("math.tan(y)", -1.5, 1.5, np.tan, 4),
    ("math.asin(y)", -1, 1, np.arcsin, 4), ("math.acos(y)", -1, 1, np.arccos, 4), ("math.atan(y)", -1e3, 1e3, np.arctan, 4),
    ("math.sinh(y)", -80, 80, np.sinh, 4), ("math.cosh(y)", -80, 80, np.cosh, 4), ("math.tanh(y)", -10, 10, np.tanh, 4),
    ("math.asinh(y)", -1e3, 1e3, np.arcsinh, 4), ("math.acosh(y)", 1, 1e3, np.arccosh, 4),
    ("math.atanh(y)", -1, 1, np.arctanh, 4), ("math.atan2(y, ctx.p)", -1e3, 1e3, lambda v: np.arctan2(v, 0.75), 4),
    ("math.erf(y)", -4, 4, _each(math.erf), 4), ("math.erfc(y)", -4, 9, _each(math.erfc), 4),
    ("y ** ctx.p", 0, 1e3, lambda v: v**0.75, 4), ("math.lgamma(y)", 0, 40, _each(math.lgamma), 1),
    ("math.lgamma(y)", -40, 0, _each(math.lgamma), 1), ("math.lgamma(y)", 40, 1e30, _each(math.lgamma), 1),
    ("math.gamma(y)", 0, 35, _each(math.gamma), 1), ("math.gamma(y)", -30, 0, _each(math.gamma), 1),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "low", "high", "exact", "units"), FUNCTIONS, ids=[f[0] for f in FUNCTIONS])
def test_functions(expression: str, low: float, high: float, exact: Callable[[Any], Any], units: float) -> None:
    rows = rows_of(low, high)
    if "gamma" in expression:  # Its poles, which Python raises at.
        rows = rows[(rows > 0) | (rows != np.floor(rows))]
    with np.errstate(all="ignore"):
        want = exact(rows.astype(np.float64))
    normal = np.isfinite(want) & (np.abs(want) < 3e38) & (np.abs(want) > 2e-38)
    assert spread(expression, rows[normal], want[normal], {"p": np.float32(0.75)}) <= units


POWERS = (0, 1, 2, 3, 4, 5, 7, 10, 33, 64, -1, -2, -3, -7, 0.5, 1.5, 2.5, 7.5, -0.5, -1.5, 3.0)


@pytest.mark.parametrize("exponent", POWERS)
def test_powers_are_products(exponent: float) -> None:
    low = 0.0 if exponent % 1 else -3.0
    rows = rows_of(low, 3.0)
    with np.errstate(all="ignore"):
        wide = rows.astype(np.float64) ** exponent
    normal = (np.abs(wide) < 3e38) & (np.abs(rows.astype(np.float64)) ** abs(exponent) > 2e-38)
    text = made(f"y ** {exponent}").mlir()
    assert "math.powf" not in text and "math.fpowi" not in text
    # A product rounds once, and so do a square root and a quotient: n roundings are at most n units.
    roundings = max(math.ceil(abs(exponent)), 0.5) + (exponent < 0)
    assert spread(f"y ** {exponent}", rows[normal], wide[normal]) <= roundings


EDGES = np.array([0.0, -0.0, INF, -INF, math.nan, 1.0, -1.0, -2.5, 4.0, 0.25], np.float32)


@pytest.mark.parametrize("exponent", [0, 2, 3, -1, -2, 0.5, 1.5, 2.5, -0.5, -1.5])
def test_powers_at_the_edges_are_numpys(exponent: float) -> None:
    # Infinite coordinates cannot be stored, so they are made of finite ones by a capture.
    codes = np.arange(len(EDGES), dtype=np.float32)
    metric = made(
        f"(ctx.w[0] if y == 0 else 0.0) + (1.0 if ctx.v ** {exponent} == ctx.want else 0.0)"
        f" + (2.0 if np.isnan(ctx.v ** {exponent}) else 0.0) + (4.0 if 1 / ctx.v ** {exponent} == ctx.inverse else 0.0)",
        {"v": np.float32(1), "want": np.float32(1), "inverse": np.float32(1), "w": np.zeros(1, np.float32)},
    )
    for value in EDGES:
        with np.errstate(all="ignore"):
            want = np.float32(value) ** np.float32(exponent)
            inverse = np.float32(1) / want
        loose = ivf_flat.metric(
            captures={
                "v": np.float32(value),
                "want": np.float32(want),
                "inverse": np.float32(inverse),
                "w": np.zeros(1, np.float32),
            },
            allow_non_finite=True,
        )(metric.__wrapped__)
        found = values_of(loose, codes[:1])[0]
        code = (2.0 if np.isnan(want) else 1.0) + (0.0 if np.isnan(want) else 4.0)
        assert found == code, (value, exponent, want, found)


def test_half_precision_powers_round_once() -> None:
    rows = np.linspace(0.01, 5, 500, dtype=np.float16)
    found = values_of(made("np.float16(y) ** 3"), rows.astype(np.float32))
    want = (rows.astype(np.float64) ** 3).astype(np.float16)
    assert all(found[i] == want[i] for i in range(len(rows)))


def test_powers_of_two_and_ten() -> None:
    assert "math.exp2" in made("2 ** y").mlir()
    assert "math.powf" in made("10 ** y").mlir()
    assert "math.powf" in made("y ** 65").mlir()
    assert "math.powf" in made("y ** 0.3").mlir()


def test_a_function_of_the_library_is_a_finalize() -> None:
    def squares(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + (x - y) ** 2

    for finalize, op in ((math.sqrt, "math.sqrt"), (np.log1p, "math.log1p"), (abs, "math.absf")):
        text = ivf_flat.metric(finalize=finalize)(squares).mlir()
        assert op in text[text.index("annudf.finalize") :]


def test_assignments_inside_expressions() -> None:
    def twice(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + (d := x - y) * d

    def conditional(x, y, acc):  # type: ignore[no-untyped-def]
        if (d := x - y) > 0 and (e := d * 2) < 3:
            return acc + d * e
        a = b = d + 1
        return acc + a - b * d

    assert "%1 = arith.mulf %0, %0" in ivf_flat.metric(twice).mlir()
    rows = rows_of(-4, 4)
    found = values_of(ivf_flat.metric(conditional), rows)
    for i, row in enumerate(rows):
        assert found[i] == pytest.approx(conditional(np.float32(0), row, np.float32(0)), rel=1e-6)


def test_match_on_numbers() -> None:
    def cases(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        match int(y):
            case 0:
                return acc + 1
            case 1 | -2:
                return acc + 2
            case math.inf:
                return acc + 3
            case k if k > 2:
                return acc + k
            case _:
                return acc - 1

    rows = np.arange(-4, 6, dtype=np.float32)
    found = values_of(ivf_flat.metric(cases), rows)
    assert found == {i: float(cases(None, row, 0, None)) for i, row in enumerate(rows)}


def test_names_that_match_assigns() -> None:
    """They are variables as others are: not the ones that are made up for a loop, nor arguments any longer."""

    def skips(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        i = 0
        while i < 4:
            i += 1
            match i:
                case 1 | 2 as skipped:  # noqa: F841 - the name that stands for continue
                    acc += 10 * y
                case 3:
                    continue
            acc += 100
        return acc

    def other_x(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        match ctx.w:
            case x:
                return acc + x[ctx.dim] * y

    rows = np.arange(-3, 4, dtype=np.float32)
    assert values_of(ivf_flat.metric(skips), rows) == {i: 300 + 20 * float(row) for i, row in enumerate(rows)}
    found = values_of(ivf_flat.metric(captures={"w": np.array([2], np.float32)})(other_x), rows)
    assert found == {i: 2 * float(row) for i, row in enumerate(rows)}
    assert Source(other_x).assigned_names() == {"x"}
    assert Source(skips).assigned_names() == {"i", "acc", "skipped"}


def test_gamma_of_small_negative_numbers():
    """1 + x rounds to 1 for them, so the distance to the next integer must not be taken from there."""

    @ivf_flat.metric()
    def gamma(x, y, acc):
        return acc + math.gamma(y)

    @ivf_flat.metric()
    def lgamma(x, y, acc):
        return acc + math.lgamma(y)

    values = np.array([[-1e-20], [-5.76e-17], [-1.2e-10], [-0.25]], np.float32)
    zero = np.zeros((1, 1), np.float32)
    for metric, exact in ((gamma, math.gamma), (lgamma, math.lgamma)):
        wanted = [exact(float(value)) for value in values[:, 0]]
        np.testing.assert_allclose(pairwise_distance(zero, values, metric=metric)[0], wanted, rtol=2e-7)
