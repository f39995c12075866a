# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Captures of every element type, and more of them than 16, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from small import DIMS, W, exact_weighted, search

from annudf import CaptureError, CompileError, UnsupportedError, ivf_flat
from annudf._metric.captures import _rounded
from reference import check, distances_of

ROWS = 64
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def plain(x, y, acc, ctx):
    return acc


def by_row(metric, rows=ROWS):
    """The distance of every row, by its id."""
    vectors = np.zeros((rows, 2), np.float32)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), vectors)
    params = ivf_flat.SearchParams(n_probes=1, metric=metric)
    distances, ids = (np.asarray(one) for one in ivf_flat.search(params, index, vectors[:1], rows))
    result = np.full(rows, np.nan, np.float32)
    result[ids[0]] = distances[0]
    return result


def integers(dtype):
    """Random ones over the whole range, and its ends."""
    limits = np.iinfo(dtype)
    some = np.random.default_rng(5).integers(limits.min, limits.max, ROWS, dtype, endpoint=True)
    ends = [limits.min, limits.max, limits.max - 1, 0, 1]
    some[: len(ends)] = ends
    if np.dtype(dtype).itemsize == 8:
        some[5:8] = [2**53 + 1, 2**53 + 3, limits.max - 2**11]  # What a float64 would round.
    return some


def _shifted(shift):
    def part(acc, ctx):
        return np.float32((ctx.v[ctx.row] >> shift) & 65535)

    return part


SHIFTED = {shift: _shifted(shift) for shift in (0, 16, 32, 48)}


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_keep_every_bit(dtype):
    values = integers(dtype)
    for shift in range(0, 8 * values.itemsize, 16):
        metric = ivf_flat.metric(captures={"v": values}, finalize=SHIFTED[shift])(plain)
        assert str(metric) == f"<annudf metric plain (v: row x {dtype.replace('uint', 'u').replace('int', 'i')})>"
        np.testing.assert_array_equal(by_row(metric), [(int(value) >> shift) & 65535 for value in values])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_scalar_of_every_integer(dtype):
    values = integers(dtype)

    def same(acc, ctx):
        return 1.0 if ctx.v[ctx.row] == ctx.wanted else 0.0

    metric = ivf_flat.metric(captures={"v": values, "wanted": values[0]}, finalize=same)(plain)
    for wanted in values[:8]:
        np.testing.assert_array_equal(by_row(metric.bind(wanted=wanted)), (values == wanted).astype(np.float32))


# Denormals, the largest, negative 0, and ordinary ones.
HALVES = np.array([2.0**-24, -(2.0**-24), 2.0**-15, 65504, -65504, -0.0, 1.5, 0.1], np.float16)


def test_float16_is_read_as_float32():
    values = np.resize(HALVES, ROWS)
    metric = ivf_flat.metric(captures={"v": values}, finalize=lambda acc, ctx: ctx.v[ctx.row])(plain)
    assert str(metric) == "<annudf metric plain (v: row x f16)>"
    assert metric.captures["v"].dtype == np.float16
    np.testing.assert_array_equal(by_row(metric), values.astype(np.float32))
    # A product that float16 could not hold.
    square = ivf_flat.metric(captures={"v": values}, finalize=lambda acc, ctx: ctx.v[ctx.row] * ctx.v[ctx.row])(plain)
    np.testing.assert_array_equal(by_row(square), values.astype(np.float32) ** 2)


def test_bfloat16_is_read_as_float32():
    bfloat16 = pytest.importorskip("ml_dtypes", reason="bfloat16 arrays of NumPy are NOT checked").bfloat16
    values = np.resize(np.array([1e-40, -1e-39, 3.3e38, -3.3e38, -0.0, 1.5, 0.1, 2.0**-133]).astype(bfloat16), ROWS)
    metric = ivf_flat.metric(
        captures={"v": values, "one": bfloat16(1)}, finalize=lambda acc, ctx: ctx.v[ctx.row] * ctx.one
    )(plain)
    assert str(metric) == "<annudf metric plain (v: row x bf16, one: bf16 = 1.0)>"
    assert metric.captures["v"].dtype == bfloat16
    np.testing.assert_array_equal(by_row(metric), values.astype(np.float32))
    np.testing.assert_array_equal(by_row(metric.bind(one=0.1)), values.astype(np.float32) * np.float32(bfloat16(0.1)))
    # Float32 is no bfloat16, not even where its values are.
    with pytest.raises(CaptureError) as caught:
        metric.bind(v=values.astype(np.float32))
    assert str(caught.value) == (
        f"capture 'v' is declared as row x bf16, the value given is {ROWS} x f32; convert by ml_dtypes.bfloat16(...)"
    )
    with pytest.raises(CaptureError, match=r"capture 'one' is 3\.4e\+38, which does not fit bf16"):
        metric.bind(one=3.4e38)
    with pytest.raises(CaptureError, match=r"capture 'one' is inf; give finite numbers"):
        metric.bind(one=float("inf"))


def test_numbers_are_rounded_to_bfloat16_once():
    bfloat16 = pytest.importorskip("ml_dtypes", reason="rounding to bfloat16 is NOT checked").bfloat16
    random = np.random.default_rng(9)
    bits = random.integers(0, 2**32, 20000, np.uint32)
    bits[::3] &= 0xFFFF8000  # Ties.
    single = bits.view(np.float32)
    wide = single[np.isfinite(single)].astype(np.float64)
    np.testing.assert_array_equal(_rounded(wide, "bf16").view(bfloat16), wide.astype(np.float32).astype(bfloat16))
    # Just above and below a tie, which float32 cannot tell from it.
    ties = np.array([1 + 2.0**-8 + 2.0**-40, 1 + 3 * 2.0**-8 - 2.0**-40, -(1 + 2.0**-8 + 2.0**-40)])
    np.testing.assert_array_equal(
        _rounded(ties, "bf16").view(bfloat16).astype(float), [1 + 2.0**-7, 1 + 2.0**-7, -1 - 2.0**-7]
    )


def test_booleans():
    flags = np.arange(ROWS) % 3 == 0
    others = np.arange(ROWS) % 2 == 0

    def chosen(acc, ctx):
        one, other = ctx.a[ctx.row], ctx.b[ctx.row]
        result = 0.0
        if one and not other:
            result += 1
        if one & ~other:
            result += 2
        result += 4 * one + ctx.table[int(other)]
        return result + (8 if ctx.on else 16)

    captures = {"a": flags, "b": others, "table": np.array([32, 64], np.float32), "on": np.True_}
    metric = ivf_flat.metric(captures=captures, finalize=chosen)(plain)
    assert str(metric) == "<annudf metric plain (a: row x i1, b: row x i1, table: 2 x f32, on: i1 = True)>"
    exact = 3 * (flags & ~others) + 4 * flags + np.where(others, 64, 32) + 8
    np.testing.assert_array_equal(by_row(metric), exact)
    np.testing.assert_array_equal(by_row(metric.bind(on=False)), exact + 8)
    with pytest.raises(CaptureError) as caught:
        metric.bind(on=2)
    assert str(caught.value) == "capture 'on' is 2, which does not fit i1 (0 to 1)"
    # Bytes that are no 0 or 1, as an array of bool may have that was a view of something else.
    odd = np.where(flags, 77, 0).astype(np.uint8).view(bool)
    np.testing.assert_array_equal(by_row(metric.bind(a=odd)), exact)


def test_a_boolean_is_no_index():
    with pytest.raises(UnsupportedError, match=r"ctx\.table is indexed by integers, not by a boolean; write int\("):
        ivf_flat.metric(
            captures={"a": np.ones(ROWS, bool), "table": W[:2]}, finalize=lambda acc, ctx: ctx.table[ctx.a[ctx.row]]
        )(plain).mlir()


def test_narrow_integers_do_not_wrap(data):
    @ivf_flat.metric(captures={"w": np.arange(120, 120 + DIMS, dtype=np.int8)})
    def squared(x, y, acc, ctx):
        return acc + ctx.w[ctx.dim] * ctx.w[ctx.dim] * (x - y) ** 2

    assert str(squared) == "<annudf metric squared (w: dim x i8)>"
    check(*search(data, squared), exact_weighted(data, np.arange(120.0, 120 + DIMS) ** 2))


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_a_code_indexes_a_table(dtype):
    code = integers(dtype)
    table = np.random.default_rng(2).normal(size=256).astype(np.float32)
    offset = 128 if dtype == "int8" else 0

    def shifted(acc, ctx):
        return ctx.table[ctx.code[ctx.row] + 128]

    def straight(acc, ctx):
        return ctx.table[ctx.code[ctx.row]]

    finalize = shifted if offset else straight
    metric = ivf_flat.metric(captures={"code": code, "table": table}, finalize=finalize)(plain)
    np.testing.assert_array_equal(by_row(metric), table[code.astype(int) + offset])
    # One entry less, and no code of the row's own helps.
    with pytest.raises(CompileError, match=r"\[L3\] index of extent 255 may be as large as 255"):
        ivf_flat.metric(captures={"code": code, "table": table[:255]}, finalize=finalize)(plain).mlir()


def test_a_code_of_a_dimension_indexes_a_table(data):
    code = np.array([3, 0, 2, 1, 3, 0], np.uint8)
    table = np.linspace(1, 2, 256, dtype=np.float32)

    @ivf_flat.metric(captures={"code": code, "table": table})
    def coded(x, y, acc, ctx):
        return acc + ctx.table[ctx.code[ctx.dim]] * (x - y) ** 2

    assert str(coded) == "<annudf metric coded (code: dim x u8, table: 256 x f32)>"
    check(*search(data, coded), exact_weighted(data, table[code]))


@pytest.mark.parametrize(
    ("made_of", "given", "message"),
    [
        (
            np.zeros(4, np.uint8),
            np.array([1, 300, 2, 3]),
            "capture 'c' has dtype int64 and holds 300, which does not fit u8 (0 to 255)",
        ),
        (np.zeros(4, np.uint8), [1, -1, 2, 3], "capture 'c' has dtype int64 and holds -1, which does not fit u8 (0 to 255)"),
        (np.zeros(4, bool), np.array([0, 1, 2, 1]), "capture 'c' has dtype int64 and holds 2, which does not fit i1 (0 to 1)"),
        (
            np.zeros(4, np.int64),
            np.array([2**63], np.uint64).repeat(4),
            "capture 'c' has dtype uint64 and holds 9223372036854775808, which does not fit i64 "
            "(-9223372036854775808 to 9223372036854775807)",
        ),
        (
            np.zeros(4, np.int16),
            np.zeros(4, np.float32),
            "capture 'c' is declared as dim x i16, the value given is 4 x f32; it was declared by integers, so declare "
            "it "
            "by an array of float32 or give integers",
        ),
        (
            np.zeros(4, np.float16),
            np.zeros(4, np.float32),
            "capture 'c' is declared as dim x f16, the value given is 4 x f32; convert by numpy.float16(...)",
        ),
        (
            np.zeros(4, np.float16),
            np.array([0, 1, 2, 2049]),
            "capture 'c' holds 2049, which float16 does not hold exactly; round it by numpy.float16(...) if that is "
            "meant",
        ),
    ],
)  # fmt: skip
def test_what_an_element_does_not_hold(made_of, given, message):
    metric = ivf_flat.metric(captures={"c": made_of})(plain)
    with pytest.raises(CaptureError) as caught:
        metric.bind(c=given)
    assert str(caught.value) == message


@pytest.mark.parametrize("made_of", [np.zeros(4, one) for one in (*INTEGERS, "float16", "float32", "float64")])
@pytest.mark.parametrize(
    "given", [np.array([0, 1, 1, 0]), np.array([0, 1, 1, 0], bool), [0, 1, 1, 0], np.array([0, 1, 1, 0], np.uint8)]
)
def test_integers_are_bound_where_they_fit(made_of, given):
    got = ivf_flat.metric(captures={"c": made_of})(plain).bind(c=given).captures["c"]
    assert got.dtype == made_of.dtype
    np.testing.assert_array_equal(got, [0, 1, 1, 0])


@pytest.mark.parametrize("count", [16, 17, 64])
def test_many_captures(data, tmp_path, count):
    names = [f"c{number}" for number in range(count)]
    source = "def sums(x, y, acc, ctx):\n    w = 0.0\n"
    source += "".join(
        f"    w = w + ctx.{name}{'[ctx.dim]' if number % 2 else ''}\n" for number, name in enumerate(names)
    )
    source += "    return acc + w * (x - y) ** 2\n"
    path = tmp_path / "sums_of_captures.py"
    path.write_text(source)
    namespace: dict[str, object] = {}
    exec(compile(source, str(path), "exec"), namespace)
    values = {name: W * number if number % 2 else float(number) for number, name in enumerate(names)}
    metric = ivf_flat.metric(captures=values)(namespace["sums"])
    weights = sum((W * number if number % 2 else np.full(DIMS, number)) for number in range(count))
    check(*search(data, metric), exact_weighted(data, weights))


def test_too_many_captures():
    values = {f"c{number}": 1.0 for number in range(65)}
    with pytest.raises(CompileError, match=r"\[M14\] a metric has at most 64 captures; join some in one array"):
        ivf_flat.metric(captures=values)(plain).mlir()


def test_saved_and_loaded(tmp_path, data):
    @ivf_flat.metric(
        captures={"w": W.astype(np.float16), "on": np.ones(DIMS, bool), "code": np.arange(DIMS, dtype=np.uint8)}
    )
    def mixed(x, y, acc, ctx):
        return acc + (ctx.w[ctx.dim] + ctx.code[ctx.dim]) * (x - y) ** 2 if ctx.on[ctx.dim] else acc

    for suffix in ("annudf", "mlir"):
        path = tmp_path / f"mixed.{suffix}"
        if suffix == "mlir":
            path.write_text(mixed.mlir())
        else:
            mixed.save(path)
        loaded = ivf_flat.load_metric(path, w=W.astype(np.float16), on=[True] * DIMS, code=np.arange(DIMS))
        check(*search(data, loaded), exact_weighted(data, W.astype(np.float16).astype(float) + np.arange(DIMS)))
        with pytest.raises(CaptureError, match=r"capture 'code' has dtype int64 and holds 256, which does not fit u8"):
            loaded.bind(code=np.arange(DIMS) + 256)


def test_distances_of(data):
    """Coordinates of rows and captures of a narrow type together, all dimensions."""
    weights = np.array([0, 1, 127, -128, 5, -7], np.int8)

    @ivf_flat.metric(captures={"w": weights})
    def signed(x, y, acc, ctx):
        return acc + ctx.w[ctx.dim] * abs(x - y)

    check(*search(data, signed), distances_of(lambda x, y: weights * abs(x - y), data[2], data[1]))
