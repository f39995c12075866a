# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Values of captures: types, copies, refusals, binding."""

from __future__ import annotations

import math
import sys
import tracemalloc

import numpy as np
import pytest
from small import DIMS, W, exact_weighted, search

from annudf import ArgumentError, CaptureError, CompileError, ivf_flat
from annudf._frontend import ahead
from reference import check, distances_of


@ivf_flat.metric(captures={"w": W})
def weighted(x, y, acc, ctx):
    d = x - y
    return acc + ctx.w[ctx.dim] * d * d


def function(x, y, acc, ctx):
    return acc


def test_an_array_that_fits_is_copied_once():
    rows = np.ones(1 << 20, np.float32)  # 4 MiB
    bound(rows)  # What is loaded at the first use is not counted,
    ahead.wait()  # nor what the import beside it takes.
    tracemalloc.start()
    try:
        kept = bound(rows)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 1.5 * rows.nbytes
    rows[0] = 2
    assert kept[0] == 1  # It is a copy all the same.


def bound(value, **options):
    made = ivf_flat.metric(captures={"c": value}, **options)(function)
    return made.captures["c"]


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (True, "int32", 1),
        (7, "int32", 7),
        (0.1, "float32", np.float32(0.1)),
        (np.float64(0.1), "float64", 0.1),
        (np.float32(2), "float32", 2),
        (np.uint32(2**32 - 1), "uint32", 2**32 - 1),
        (np.int64(-5), "int64", -5),
        (np.True_, "bool", True),
        (np.array(3, np.int16), "int16", 3),
        ([1, 2], "int32", [1, 2]),
        ([True, False], "bool", [True, False]),
        ([0.5, 1.5], "float32", [0.5, 1.5]),
        (np.array([1, 0], bool), "bool", [1, 0]),
        (np.array([-128, 127], np.int8), "int8", [-128, 127]),
        (np.array([0, 255], np.uint8), "uint8", [0, 255]),
        (np.array([0, 65535], np.uint16), "uint16", [0, 65535]),
        (np.array([0.5, 65504], np.float16), "float16", [0.5, 65504]),
        (np.array([-(2**63), 2**63 - 1]), "int64", [-(2**63), 2**63 - 1]),
        (np.array([0, 2**64 - 1], np.uint64), "uint64", [0, 2**64 - 1]),
        (np.arange(6, dtype=np.float32)[::-2], "float32", [5, 3, 1]),
    ],
)
def test_types_of_captures(value, dtype, expected):
    got = bound(value)
    assert got.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(got, expected)
    with pytest.raises(ValueError, match=r"read-only"):
        got[...] = 0


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            2**31,
            "capture 'c' is 2147483648, which does not fit i32 (-2147483648 to 2147483647); declare it by "
            "numpy.int64(...)",
        ),
        (1e40, "capture 'c' is 1e+40, which does not fit f32"),
        (math.nan, "capture 'c' is nan; give finite numbers, or allow_non_finite=True to the metric"),
        (
            np.array([1, np.inf, np.nan]),
            "capture 'c[1]' is inf; give finite numbers, or allow_non_finite=True to the metric",
        ),
        (
            [0, 2**40],
            "capture 'c' has dtype int64 and holds 1099511627776, which does not fit i32 (-2147483648 to 2147483647)",
        ),
        (
            np.array([1, np.inf], np.float16),
            "capture 'c[1]' is inf; give finite numbers, or allow_non_finite=True to the metric",
        ),
        (
            np.zeros((1, 2, 3, 4), np.float32),
            "capture 'c' has shape (1, 2, 3, 4); a capture is a number or an array of at most 3 axes",
        ),
        (np.zeros((2, 0), np.float32), "capture 'c' has shape (2, 0), which has no entries; give some"),
        (
            np.array([[1, 2], [3, np.nan]]),
            "capture 'c[1, 1]' is nan; give finite numbers, or allow_non_finite=True to the metric",
        ),
        (
            np.array([1j]),
            "capture 'c' has dtype complex128; give numbers: bool, int8 to int64, uint8 to uint64, float16, bfloat16, "
            "float32 or float64",
        ),
        (
            "text",
            "capture 'c' has dtype str128; give numbers: bool, int8 to int64, uint8 to uint64, float16, bfloat16, "
            "float32 or float64",
        ),
        (None, "capture 'c' is None; give a number or an array"),
        (10**400, "capture 'c' is an integer of 1329 bits, which does not fit i32 (-2147483648 to 2147483647)"),
        (
            [10**400],
            "argument 'captures['c']' has dtype object, which holds Python objects; give a rectangular array of "
            "numbers",
        ),
        (
            np.ma.MaskedArray([1.0, 2.0], [True, False]),
            "argument 'captures['c']' is a masked array with masked entries, which cannot be searched; fill them with "
            ".filled(value)",
        ),
    ],
)
def test_refused_captures(value, message):
    with pytest.raises(CaptureError) as caught:
        bound(value)
    assert str(caught.value) == message


def test_values_are_copied_at_bind_time(data):
    weights = W.copy()
    metric = weighted.bind(w=weights)
    weights[:] = -1
    check(*search(data, metric), exact_weighted(data, W))


def test_bind_shares_the_compiled_code(data):
    other = weighted.bind(w=W[::-1])
    assert other is not weighted
    assert other.artifact([]) is weighted.artifact([])
    check(*search(data, other), exact_weighted(data, W[::-1]))
    check(*search(data, weighted), exact_weighted(data, W))


@pytest.mark.parametrize(
    ("captures", "message"),
    [
        ({"v": W}, "metric 'weighted' has no capture 'v'; it has 'w'"),
        (
            {"w": 1.0},
            "capture 'w' is declared as dim x f32, the value given is f32 scalar; give an array, one entry a dimension",
        ),
        (
            {"w": W[None]},
            "capture 'w' is declared as dim x f32, the value given is 1 x 6 x f32; give an array of one axis, "
            "w.reshape(-1), one entry a dimension",
        ),
        (
            {"w": np.ones((2, 3), np.float32)},
            "capture 'w' is declared as dim x f32, the value given is 2 x 3 x f32; give an array, one entry a "
            "dimension",
        ),
        (
            {"w": W.astype(np.float64)},
            "capture 'w' is declared as dim x f32, the value given is 6 x f64; convert by numpy.float32(...)",
        ),
        (
            {"w": [2**24 + 1] * DIMS},
            "capture 'w' holds 16777217, which float32 does not hold exactly; round it by numpy.float32(...) if that "
            "is meant",
        ),
    ],
)
def test_refused_binds(captures, message):
    with pytest.raises(CaptureError) as caught:
        weighted.bind(**captures)
    assert str(caught.value) == message


def test_an_array_of_two_axes_that_is_indexed_by_one(data):
    """The index is what is wrong, not the length of an axis that the index is not for."""

    @ivf_flat.metric(captures={"w": W[None]})
    def flat(x, y, acc, ctx):
        return acc + ctx.w[ctx.dim] * abs(x - y)

    with pytest.raises(CompileError, match=r"ctx\.w has 2 axes, it is indexed by 1; read one entry, "):
        search(data, flat)


DECLARED = {"h": np.float16(1), "f": 1.0, "d": np.float64(1), "w": np.ones(4, np.float32)}


@pytest.mark.parametrize(
    ("captures", "message"),
    [
        (
            {"f": 2**24 + 1},
            "'f' is 16777217, which float32 does not hold exactly; round it by numpy.float32(...) if that is meant",
        ),
        (
            {"f": 2**64 + 1},
            f"'f' is {2**64 + 1}, which float32 does not hold exactly; round it by numpy.float32(...) if that is meant",
        ),
        (
            {"f": 10**30 + 1},
            f"'f' is {10**30 + 1}, which float32 does not hold exactly; round it by numpy.float32(...) if that is "
            "meant",
        ),
        (
            {"d": 2**53 + 1},
            f"'d' is {2**53 + 1}, which float64 does not hold exactly; round it by numpy.float64(...) if that is meant",
        ),
        (
            {"h": 2049},
            "'h' is 2049, which float16 does not hold exactly; round it by numpy.float16(...) if that is meant",
        ),
        (
            {"w": [0.5, 2**24 + 1, 1, 1]},
            "'w' holds 16777217, which float32 does not hold exactly; round it by numpy.float32(...) if ",
        ),
        ({"w": [1e39] * 4}, "'w[0]' is 1e+39, which does not fit f32"),
        ({"w": [1, 2, -1e39, 4]}, "'w[2]' is -1e+39, which does not fit f32"),
        ({"f": 1e39}, "'f' is 1e+39, which does not fit f32"),
    ],
)
@pytest.mark.parametrize("non_finite", [False, True])
def test_what_would_be_rounded_or_infinite_is_refused(captures, message, non_finite):
    metric = ivf_flat.metric(captures=DECLARED, allow_non_finite=non_finite)(function)
    with pytest.raises(CaptureError) as caught:
        metric.bind(**captures)
    assert str(caught.value).startswith(f"capture {message}")


def test_integers_that_a_float_holds_are_bound():
    metric = ivf_flat.metric(captures=DECLARED, allow_non_finite=True)(function)
    got = metric.bind(h=2048, f=2**64, d=2**53 + 2, w=[0.1, 2**24, 16777217.0, math.inf]).captures
    assert (got["h"], got["f"], got["d"]) == (2048, 2**64, 2**53 + 2)
    np.testing.assert_array_equal(got["w"], np.array([0.1, 2**24, 2**24, np.inf], np.float32))
    with pytest.raises(CaptureError, match=r"^capture 'c\[1, 0\]' is 1e\+300, which does not fit f32$"):
        bound([[1.0, 2.0], [1e300, 1.0]], allow_non_finite=True)


def test_python_numbers_take_the_declared_type():
    @ivf_flat.metric(captures={"a": np.float64(1), "b": np.uint32(1), "c": 1.0, "d": 1})
    def several(x, y, acc, ctx):
        return acc + ctx.c

    got = several.bind(a=2, b=2**32 - 1, c=3, d=4).captures
    assert {name: one.dtype.name for name, one in got.items()} == {
        "a": "float64",
        "b": "uint32",
        "c": "float32",
        "d": "int32",
    }
    assert got["b"] == 2**32 - 1
    for name, kind in (("a", "f64"), ("c", "f32")):
        with pytest.raises(CaptureError) as caught:
            several.bind(**{name: 10**400})
        assert str(caught.value) == f"capture '{name}' is an integer of 1329 bits, which does not fit {kind}"
    with pytest.raises(CaptureError, match=r"capture 'b' is -1, which does not fit u32 \(0 to 4294967295\)"):
        several.bind(b=-1)


@pytest.mark.parametrize("value", [1.5, np.float32(1.5), np.float64(1.5), np.array(1.5)])
def test_a_fraction_for_an_integer_is_not_dropped(value):
    metric = ivf_flat.metric(captures={"p": 3})(function)
    with pytest.raises(CaptureError) as caught:
        metric.bind(p=value)
    width = "f64" if getattr(value, "dtype", None) == np.float64 else "f32"
    assert str(caught.value) == (
        f"capture 'p' is declared as i32 scalar, the value given is {width} scalar; it was declared by the integer 3, "
        "so declare it by a float (captures={'p': 1.5}) or give an integer"
    )


@pytest.mark.parametrize("value", [2.0, np.float32(2.0), np.float64(2.0), np.array(2.0)])
def test_floats_without_a_fraction_are_integers(value):
    got = ivf_flat.metric(captures={"p": 3})(function).bind(p=value).captures["p"]
    assert got.dtype == np.int32
    assert got == 2


@pytest.mark.parametrize(
    "value", [[1] * DIMS, np.ones(DIMS, int), np.ones(DIMS, bool), np.ones(DIMS, np.uint8), [1.0] * DIMS]
)
def test_integers_are_floats_where_they_are_exact(value):
    got = weighted.bind(w=value).captures["w"]
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, np.ones(DIMS))


def test_arrays_of_floats_are_no_integers():
    metric = ivf_flat.metric(captures={"n": np.arange(3)})(function)
    with pytest.raises(CaptureError, match=r"declared by integers, so declare it by an array of float32 or give int"):
        metric.bind(n=[1.0, 2.0, 3.0])
    metric = ivf_flat.metric(captures={"n": np.array([True, False])})(function)
    with pytest.raises(CaptureError, match=r"; it was declared by bools, so give an array of bool$"):
        metric.bind(n=[1.0, 0.0])


def test_non_finite_values_where_they_are_asked_for(data):
    with pytest.raises(CaptureError, match=r"capture 'w\[2\]' is inf"):
        weighted.bind(w=[1, 1, np.inf, 1, 1, 1])

    @ivf_flat.metric(captures={"limit": math.inf}, allow_non_finite=True)
    def limited(x, y, acc, ctx):
        return min(acc + abs(x - y), ctx.limit)

    exact = distances_of(lambda x, y: abs(x - y), data[2], data[1])
    check(*search(data, limited), exact)


KEYWORDS = ("self", "path", "name", "allow_non_finite", "captures")


@ivf_flat.metric(captures=dict.fromkeys(KEYWORDS, 1.0))
def named_like_arguments(x, y, acc, ctx):
    return acc + abs(x - y) * (ctx.self + ctx.path + ctx.name + ctx.allow_non_finite + ctx.captures)


def test_captures_that_are_called_like_arguments_can_be_bound(data):
    bound = named_like_arguments.bind(**{name: float(n) for n, name in enumerate(KEYWORDS)})
    assert {name: value.item() for name, value in bound.captures.items()} == dict(zip(KEYWORDS, range(5), strict=True))
    check(*search(data, bound), distances_of(lambda x, y: 10 * abs(x - y), data[2], data[1]))


@pytest.mark.parametrize("suffix", ["annudf", "mlir"])
def test_captures_that_are_called_like_arguments_of_load_metric(tmp_path, data, suffix):
    path = tmp_path / f"metric.{suffix}"
    if suffix == "mlir":
        path.write_text(named_like_arguments.mlir())
    else:
        named_like_arguments.save(path)
    for keyword, value in (("name", 2.0), ("allow_non_finite", 2.0), ("allow_non_finite", True)):
        with pytest.raises(CaptureError) as caught:
            ivf_flat.load_metric(path, **{keyword: value})
        assert str(caught.value) == (
            f"metric 'named_like_arguments' has a capture '{keyword}', which is also an argument of load_metric; load "
            f"it without and give the capture its value by .bind({keyword}=...)"
        )
    loaded = ivf_flat.load_metric(path, self=1.0, path=2.0, captures=3.0).bind(name=0.5, allow_non_finite=0.25)
    check(*search(data, loaded), distances_of(lambda x, y: 6.75 * abs(x - y), data[2], data[1]))


def test_arguments_of_load_metric_that_have_no_value(tmp_path):
    path = tmp_path / "metric.annudf"
    weighted.save(path)
    with pytest.raises(ArgumentError, match=r"^allow_non_finite is 3\.5, it must be True or False$"):
        ivf_flat.load_metric(path, allow_non_finite=3.5)
    with pytest.raises(ArgumentError, match=r"^name is 7, it must be the name of a metric$"):
        ivf_flat.load_metric(path, name=7)
    assert np.isinf(
        ivf_flat.load_metric(path, allow_non_finite=True, w=np.full(DIMS, np.inf, "f4")).captures["w"]
    ).all()


def test_a_search_on_the_cpu_copies_no_array():
    """The metric keeps a copy; what a search on the CPU reads is that copy itself, for as long as it is bound."""
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), np.eye(8, dtype=np.float32))

    @ivf_flat.metric(captures={"w": np.ones(8, np.float32), "wide": np.ones(8, np.float64), "scale": 2.0})
    def weighted(x, y, acc, ctx):
        return acc + ctx.w[ctx.dim] * ctx.scale * (x - y) ** 2 * ctx.wide[ctx.dim]

    def holders(metric):
        return [sys.getrefcount(metric._values[name].source) for name in ("w", "wide")]

    before = holders(weighted)
    ivf_flat.search(ivf_flat.SearchParams(n_probes=1, metric=weighted), index, np.eye(8, dtype=np.float32)[:2], 3)
    assert holders(weighted) == [count + 1 for count in before]
