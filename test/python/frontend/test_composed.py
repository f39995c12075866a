# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that the frontend writes out of others, against those whose names they have; and things that hold numbers."""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib.util
import itertools
import linecache
import math
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from annudf import ivf_flat
from annudf._frontend.source import composed
from annudf.errors import UnsupportedError

SPECIAL = np.array([-math.inf, -2.5, -1.0, -0.0, 0.0, 1e-30, 0.5, 1.0, 3.0, math.inf, math.nan], np.float32)
ROWS = np.array([-7.5, -2.5, -1.0, 0.0, 0.25, 0.5, 1.0, 3.0, 42.0], np.float32)
BITWISE = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "invert", "left_shift", "right_shift"}


def real(module: str, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return found


def functions() -> list[Any]:
    found = []
    for module, names in composed.COMPOSED.items():
        marks = [pytest.mark.skipif(importlib.util.find_spec(module.split(".")[0]) is None, reason=f"no {module}")]
        found += [
            pytest.param(module, name, id=name, marks=marks) for name in names if name not in BITWISE | {"divmod"}
        ]
    return found


@pytest.mark.parametrize(("module", "name"), functions())
def test_special_values(module: str, name: str) -> None:
    """In plain Python, with what no vector can hold."""
    mine, theirs = composed.COMPOSED[module][name], real(module, name)
    for given in itertools.product(SPECIAL, repeat=mine.__code__.co_argcount - len(mine.__defaults__ or ())):
        with np.errstate(all="ignore"):
            have, want = mine(*given), theirs(*given)
        assert have == pytest.approx(want, rel=1e-5, abs=1e-30, nan_ok=True), given


@pytest.mark.parametrize(("module", "name"), functions())
def test_compiled(module: str, name: str) -> None:
    mine, theirs = composed.COMPOSED[module][name], real(module, name)
    count = mine.__code__.co_argcount - len(mine.__defaults__ or ())
    text = f"import {module} as m\ndef update(x, y, acc):\n    return acc + m.{name}({', '.join('yx'[:count])})\n"
    file = f"<composed {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {}
    exec(compile(text, file, "exec"), space)
    base = np.unique(np.concatenate([ROWS, 1 / (1 + np.exp(-ROWS))])).astype(np.float32)[:, None]
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), base)
    queries = np.array([[-1.0], [0.0], [0.5], [2.0]], np.float32)
    params = ivf_flat.SearchParams(n_probes=1, metric=ivf_flat.metric(space["update"]))
    distances, neighbors = ivf_flat.search(params, index, queries, len(base))
    for q, row in itertools.product(range(len(queries)), range(len(base))):
        with np.errstate(all="ignore"):
            want = float(theirs(*(float(base[row, 0]), float(queries[q, 0]))[:count]))
        found = distances[q][neighbors[q] == row]
        if math.isnan(want):
            assert not len(found)
        else:
            assert found[0] == pytest.approx(want, rel=1e-5, abs=1e-6), (base[row, 0], queries[q, 0])


def test_integers() -> None:
    @ivf_flat.metric(dtype=np.int32)
    def bits(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        quotient, rest = divmod(x, np.maximum(y, 1))
        both = np.bitwise_xor(x, y) + 3 * np.bitwise_and(x, 15) + np.right_shift(np.bitwise_or(x, y), 2)
        return acc + both + np.left_shift(x, 1) + np.invert(y) + np.bitwise_not(x) + quotient + 5 * rest

    rows, queries = np.arange(0, 256, 5, np.uint8)[:, None], np.array([[0], [77], [255]], np.uint8)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows)
    distances, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=1, metric=bits), index, queries, len(rows))
    for q, query in enumerate(queries[:, 0]):
        want = [int(bits(int(query), int(rows[row, 0]), 0, None)) for row in neighbors[q]]
        assert distances[q].tolist() == want


def close(x, y, acc):  # type: ignore[no-untyped-def]
    return acc + (0 if np.isclose(x, y, rtol=0.5) else 1) + (0 if math.isclose(x, y, abs_tol=0.25) else 1)


def test_keywords() -> None:
    rows = ROWS[:, None]
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows)
    params = ivf_flat.SearchParams(n_probes=1, metric=ivf_flat.metric(close))
    distances, neighbors = ivf_flat.search(params, index, np.array([[0.3]], np.float32), len(rows))
    assert distances[0].tolist() == [close(0.3, float(rows[row, 0]), 0) for row in neighbors[0]]


class Constants:
    SCALE = 2.0

    @staticmethod
    def square(v: Any) -> Any:
        return v * v


class Level(enum.Enum):
    LOW = 3.0


class Bits(enum.IntEnum):
    MOST = 5


@dataclasses.dataclass
class Config:
    offset: float = 0.5


class Both(NamedTuple):
    first: float
    second: np.float32


SPACE = types.SimpleNamespace(weight=np.float32(7))
CONFIG = Config(11.0)
BOTH = Both(13.0, np.float32(17))


@functools.cache
def cached(v: float) -> float:
    return v * 19


@np.vectorize
def vectorized(v):  # type: ignore[no-untyped-def]
    return v * 23


def holders(x, y, acc):  # type: ignore[no-untyped-def]
    numbers = Constants.SCALE + Level.LOW.value + Bits.MOST + SPACE.weight + CONFIG.offset + BOTH.first + BOTH.second
    return acc + numbers * Constants.square(x - y) + cached(x) + vectorized(y)


def value(metric: ivf_flat.Metric, x: float, y: float) -> float:
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), np.array([[y]], np.float32))
    params = ivf_flat.SearchParams(n_probes=1, metric=metric)
    return float(ivf_flat.search(params, index, np.array([[x]], np.float32), 1)[0][0, 0])


def test_what_holds_numbers() -> None:
    assert value(ivf_flat.metric(holders), 2.0, 5.0) == (2 + 3 + 5 + 7 + 11 + 13 + 17) * 9 + 2 * 19 + 5 * 23


def test_what_holds_numbers_is_looked_at_when_it_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another value is another metric: neither is found in the other's place in a cache."""
    for number in (11.0, 12.0):
        monkeypatch.setattr(CONFIG, "offset", number)
        assert value(ivf_flat.metric(holders), 2.0, 2.0) == 38 + 46
        assert value(ivf_flat.metric(holders), 1.0, 2.0) == 47 + number + 19 + 46


def test_a_class_called_math_is_the_users() -> None:
    class math:
        pi = 3.0

    def update(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + x * math.pi

    assert value(ivf_flat.metric(update), 1.0, 0.0) == 3.0


TUPLE = (1.0, 2.0)
NAMES = {"one": 1.0}
PARTIAL = functools.partial(math.pow, 2.0)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("TUPLE[0]", "'TUPLE' is a tuple; give it as a capture, captures={'TUPLE': numpy.array(TUPLE)}, and read ctx."),
        ("NAMES[1]", "'NAMES' is of type dict; give each number of it a name, or declare captures"),
        ("PARTIAL(x)", "'PARTIAL' is a functools.partial; write a function that calls pow with those arguments"),
        ("complex(x, y)", "a metric cannot call 'complex'; it can call plain functions"),
        ("max((x, y))", "max needs numbers, got a tuple; write its numbers one by one"),
        ("round(x, 2)", "round takes 1 argument, got 2; write np.rint(v * 100) / 100 for two digits"),
        ("bin(x).count('1')", "a metric cannot use strings; bits are counted by np.bitwise_count(x ^ y)"),
        ("any(x)", "a metric cannot call 'any'; it sees one coordinate at a time: write a condition of x and y"),
        ("Constants.missing", "a metric cannot use Constants.missing;"),
        ("np.finfo(x)", "a metric cannot use numpy.finfo; assign the number to a name outside, such as EPS"),
        ("np.array(x)", "a metric cannot use numpy.array; it has no arrays; use several variables, or a capture"),
        ("np.nan_to_num(x)", "a metric cannot use numpy.nan_to_num; write np.where(np.isnan(v), 0, v)"),
        ("math.dist(x, y)", "a metric cannot use math.dist; it sees one coordinate of two vectors at a time"),
    ],
)
def test_what_is_told(expression: str, message: str) -> None:
    text = f"def update(x, y, acc, ctx):\n    return acc + {expression}\n"
    file = f"<told {expression}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = dict(globals())
    exec(compile(text, file, "exec"), space)
    with pytest.raises(UnsupportedError) as caught:
        ivf_flat.metric(space["update"]).mlir()
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{file}:2:")
