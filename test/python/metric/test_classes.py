# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Metrics as classes with typed fields: against tuples, to the bit, and NumPy."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
import warnings

import numpy as np
import pytest

from annudf import CompileError, UnsupportedError, ivf_flat

RNG = np.random.default_rng(5)
BASE = RNG.standard_normal((600, 24), dtype=np.float32)
QUERIES = RNG.standard_normal((9, 24), dtype=np.float32)
INDEX = ivf_flat.build(ivf_flat.IndexParams(n_lists=8), BASE)
X, Y = QUERIES.astype(np.float64)[:, None], BASE.astype(np.float64)
W = np.linspace(0.5, 2, 24, dtype=np.float32)
SCALE = np.float32(0.5)


def found(metric, k=7):
    return ivf_flat.search(ivf_flat.SearchParams(n_probes=8, metric=metric), INDEX, QUERIES, k)


def same(one, other):
    for a, b in zip(found(one), found(other), strict=True):
        np.testing.assert_array_equal(a, b)


def holds(metric, exact, tolerance=1e-5):
    distances, ids = found(metric)
    np.testing.assert_allclose(distances, np.take_along_axis(exact, ids, axis=1), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :7], rtol=tolerance, atol=tolerance)


@ivf_flat.metric
class Cosine:
    """One minus the cosine of the angle."""

    dot: np.float32 = 0
    xx: np.float32 = 0
    yy: np.float32 = 0

    def update(self, x, y, ctx):
        self.dot += x * y
        self.xx += x * x
        self.yy += y * y

    def finalize(self, ctx):
        return 1 - self.dot / math.sqrt(self.xx * self.yy)


@ivf_flat.metric(initial=(0.0, 0.0, 0.0), finalize=lambda acc, ctx: 1 - acc[0] / math.sqrt(acc[1] * acc[2]))
def cosine(x, y, acc, ctx):
    return acc[0] + x * y, acc[1] + x * x, acc[2] + y * y


def test_equals_the_tuple():
    same(Cosine, cosine)
    assert json.loads(Cosine.artifact().manifest)["fields"] == ["f32", "f32", "f32"]
    assert Cosine.mlir().replace("Cosine", "cosine") == cosine.mlir()


def test_of_python():
    assert repr(Cosine) == "<annudf metric Cosine>"
    assert (Cosine.name, Cosine.__name__, Cosine.__qualname__) == ("Cosine", "Cosine", "Cosine")
    assert Cosine.__doc__ == "One minus the cosine of the angle."
    assert pickle.loads(pickle.dumps(Cosine)) is Cosine
    assert Cosine(2.0, 3.0, (1.0, 1.0, 1.0), None) == (7.0, 5.0, 10.0)


@ivf_flat.metric(captures={"w": W, "first": 0.25})
class Mixed:
    total: np.float64
    above: int = 0
    last: float = 3.0

    def init(self, ctx):
        self.total = ctx.first * ctx.dims

    def update(self, q, b, ctx):
        d = scaled(q - b)
        if q > b:
            self.above += 1
            if ctx.dim % 2:
                return
        for i in range(3):
            if i == 2:
                break
            self.total += ctx.w[ctx.dim] * d
        self.last, self.total = -d, self.total + self.last

    def finalize(self):
        return self.total + 100 * self.above + self.last


def scaled(d):
    return d * SCALE


def test_init_types_branches_and_helpers():
    total = np.full((len(QUERIES), len(BASE)), 0.25 * 24)
    last, above = np.full(total.shape, 3.0), np.zeros(total.shape)
    for dim in range(24):
        d = (X[..., dim] - Y[..., dim]) * 0.5
        above += d > 0
        goes_on = (d <= 0) | (dim % 2 == 0)
        total = np.where(goes_on, total + 2 * W[dim].astype(np.float64) * d + last, total)
        last = np.where(goes_on, -d, last)
    holds(Mixed, total + 100 * above + last, 1e-4)
    manifest = json.loads(Mixed.artifact().manifest)
    assert manifest["fields"] == ["f64", "i32", "f32"]
    holds(Mixed.bind(first=1.25), total + 24 + 100 * above + last, 1e-4)


@ivf_flat.metric(order="max", finalize=math.sqrt)
class One:
    total: np.float32 = 1

    def update(self, x, y):
        self.total += abs(x - y)


def test_one_field_is_a_number():
    assert json.loads(One.artifact().manifest)["accumulator"] == "f32"
    distances, ids = found(One)
    exact = np.sqrt(1 + np.abs(X - Y).sum(2))
    np.testing.assert_allclose(distances, np.take_along_axis(exact, ids, axis=1), rtol=1e-5)
    assert One(1.0, 3.0, 1.0) == 3.0


def test_a_start_of_each_query():
    @ivf_flat.metric(captures={"bias": np.arange(9, dtype=np.float32)})
    class Biased:
        total: np.float32

        def init(self, ctx):
            self.total = ctx.bias[ctx.query]

        def update(self, x, y, ctx):
            self.total += (x - y) ** 2

    holds(Biased, ((X - Y) ** 2).sum(2) + np.arange(9)[:, None])


def test_closures_names_and_dataclasses():
    acc_of_user, factor = 1.0, 2.0

    @ivf_flat.metric
    @dataclasses.dataclass
    class Odd:
        total: np.float32 = 0.0
        self_total: np.float32 = 1.0

        def update(self, x, y, ctx):
            acc = factor * (x - y)
            self_total = acc * acc
            self.total += self_total + acc_of_user
            self.self_total += 1

        def finalize(self, ctx):
            return self.total / self.self_total

    holds(Odd, (4 * (X - Y) ** 2 + 1).sum(2) / 25)


def test_match_in_methods():
    """A guard compares with a field, and a name that a pattern assigns is no field's."""

    @ivf_flat.metric
    class Matching:
        total: np.float32 = 0.0
        last: np.int32 = -1

        def update(self, x, y, ctx):
            match ctx.dim:
                case 0 | 5 as self_total:  # noqa: F841 - the name that the field would have
                    self.total += 100.0
                case k if k == self.last + 1:
                    self.total += (x - y) * (x - y)
                case acc:
                    self.total += acc * 0.0
            self.last += 1

        def finalize(self, ctx):
            return self.total

    squares = (X - Y) ** 2
    holds(Matching, squares.sum(2) - squares[..., 0] - squares[..., 5] + 200, 1e-4)


def test_made_by_a_function_each_with_its_own():
    def make(power):
        @ivf_flat.metric
        class Power:
            total: np.float32 = 0

            def update(self, x, y, ctx):
                self.total += abs(x - y) ** power

        return Power

    holds(make(1), np.abs(X - Y).sum(2))
    holds(make(3), (np.abs(X - Y) ** 3).sum(2))


def test_a_pickle_of_what_has_no_name():
    @ivf_flat.metric(captures={"p": 2.0})
    class Local:
        total: np.float32 = 0

        def update(self, x, y, ctx):
            self.total += ctx.p * abs(x - y)

    copy = pickle.loads(pickle.dumps(Local))
    same(Local, copy)
    assert repr(copy) == repr(Local) == "<annudf metric Local (p: f32 = 2.0)>"


def test_an_update_that_reads_no_field():
    with pytest.warns(UserWarning) as told:

        @ivf_flat.metric
        class Last:
            total: np.float32 = 0

            def update(self, x, y, ctx):
                self.total = abs(x - y)

    assert str(told[0].message) == (
        "metric Last: update reads no field, so only the last dimension counts; write += instead of ="
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ivf_flat.metric(Max)


class Max:
    most: np.float32 = -math.inf

    def update(self, x, y, ctx):
        self.most = max(self.most, x - y)


def test_types_of_fields_are_kept():
    @ivf_flat.metric
    class Count:
        count: np.int32 = 0

        def update(self, x, y, ctx):
            self.count += x - y

    with pytest.raises(CompileError, match=r"the accumulator is int32, but the function returns float32"):
        Count.artifact()

    @ivf_flat.metric(finalize=lambda acc: acc[0])
    class Counts:
        count: np.int32 = 0
        total: np.float32 = 0

        def update(self, x, y, ctx):
            self.count += x - y

    with pytest.raises(CompileError, match=r"field 'count' is int32, but the function returns float32"):
        Counts.artifact()


def test_init_has_no_row():
    with pytest.raises(
        UnsupportedError, match=r"ctx\.row has no meaning in init, which may be called once for many rows; use it in "
    ):

        @ivf_flat.metric
        class Early:
            total: np.float32 = 0

            def init(self, ctx):
                self.total = ctx.row

            def update(self, x, y, ctx):
                self.total += x


def test_without_a_source():
    names = {"np": np, "__name__": __name__}
    exec("class Gone:\n    t: np.float32 = 0\n    def update(self, x, y, ctx):\n        self.t += x\n", names)
    with pytest.raises(
        UnsupportedError, match="the source of class Gone cannot be read, which a class with fields need"
    ):
        ivf_flat.metric(names["Gone"])


def test_the_cache_tells_them_apart():
    keys = set()
    for start in ("0", "1", "ctx.dims", "ctx.dims + 1"):
        names = {"np": np, "__name__": __name__}
        text = (
            "class Same:\n    t: np.float32 = 0\n    def init(self, ctx):\n        self.t = " + start
            + "\n    def update(self, x, y, ctx):\n        self.t += x\n"
        )  # fmt: skip
        import linecache

        file = f"<start {start}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        exec(compile(text, file, "exec", dont_inherit=True), names)
        keys.add(ivf_flat.metric(names["Same"])._definition._key())
    assert len(keys) == 4
