# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""annudf.compile and annudf.device_function: what they compute, their prototypes, and what is refused."""

from __future__ import annotations

import ctypes
import inspect
import itertools
import math
import operator
import re
from typing import Any, NamedTuple

import numpy as np
import pytest
from host import Raw, library, needs_clang

import annudf
from annudf import ArgumentError, CaptureError, UnsupportedError

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NUMBERS = (*INTEGERS, "float32", "float64")


class Best(NamedTuple):
    value: np.float32
    index: np.uint32


def before(a, b):
    return a < b


def larger(a, b):
    return a if a.value >= b.value else b


def edges(name: str) -> np.ndarray[Any, Any]:
    dtype = np.dtype(name)
    if dtype.kind == "f":
        return np.array([0.0, -0.0, 1.5, -3.25, np.inf, -np.inf, np.nan, 1e-40], dtype)
    limits = np.iinfo(dtype)
    middle = [limits.max // 2, limits.max // 2 + 1]
    return np.array(sorted({0, 1, 3, limits.min, limits.min + 1, limits.max, limits.max - 1, *middle}), dtype)


@needs_clang
@pytest.mark.parametrize("name", NUMBERS)
def test_comparisons_are_of_the_type(name: str) -> None:
    """What a merge sort asks; unsigned values past half their range are where signed comparisons differ."""
    function = Raw(before, (name, name), np.dtype(bool))
    assert function.returned == np.bool_
    values = edges(name)
    for a, b in itertools.product(values, values):
        assert bool(function(np.array([a]), np.array([b]))[0]) == bool(a < b), (a, b)


@needs_clang
@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, max, min])
def test_arithmetic_is_numpys(name: str, op: Any) -> None:
    source = {operator.add: "a + b", operator.sub: "a - b", operator.mul: "a * b", max: "max(a, b)", min: "min(a, b)"}[
        op
    ]
    names: dict[str, Any] = {}
    exec(f"def f(a, b):\n    return {source}\n", names)
    dtype = np.dtype(name)
    function = Raw(names["f"], (dtype, dtype), dtype)
    assert function.returned == dtype
    values = [v for v in edges(name) if not (op in (max, min) and math.isnan(v))]  # Python's max of NaN goes by order.
    with np.errstate(all="ignore"):
        for a, b in itertools.product(values, values):
            found, expected = function(np.array([a]), np.array([b])), np.array([op(a, b)], dtype)
            assert found.tobytes() == expected.tobytes() or (found[0] != found[0] and expected[0] != expected[0]), (
                a,
                b,
            )


@needs_clang
def test_structs_lie_as_numpy_aligns_them() -> None:
    inner = np.dtype([("small", np.uint8), ("wide", np.float64), ("middle", np.int16)], align=True)
    outer = np.dtype([("flag", np.bool_), ("inner", inner), ("last", np.int8)], align=True)

    def chosen(a, b):
        return a if a.inner.wide <= b.inner.wide else b

    function = Raw(chosen, (outer, outer), outer)
    rng = np.random.default_rng(3)
    for _ in range(50):
        a, b = np.zeros(1, outer), np.zeros(1, outer)
        for one in (a, b):
            one["flag"], one["last"] = rng.integers(2), rng.integers(-128, 128)
            one["inner"]["small"], one["inner"]["middle"] = rng.integers(256), rng.integers(-(2**15), 2**15)
            one["inner"]["wide"] = rng.normal()
        expected = a if a["inner"]["wide"][0] <= b["inner"]["wide"][0] else b
        assert function(a, b)[0] == expected[0]


@needs_clang
def test_a_named_tuple_and_what_is_inferred() -> None:
    record = np.dtype([("value", np.float32), ("index", np.uint32)])
    function = Raw(larger, (Best, Best), record)
    assert function.returned == (np.dtype(np.float32), np.dtype(np.uint32))
    a, b = np.array([(1.5, 4_000_000_000)], record), np.array([(2.5, 7)], record)
    assert function(a, b)[0] == b[0] and function(b, a)[0] == b[0] and function(a, a)[0] == a[0]


@needs_clang
def test_captures_become_code() -> None:
    rng = np.random.default_rng(5)
    table, marks = rng.normal(size=256).astype(np.float32), rng.integers(2, size=(16, 3)).astype(bool)
    half, wide = rng.normal(size=4).astype(np.float16), rng.integers(0, 2**64, size=4, dtype=np.uint64)

    @annudf.device_function(captures={"t": table, "m": marks, "s": 2.5, "h": half, "w": wide, "on": True})
    def looked(i, ctx):
        mark = 1 if ctx.m[i & 15, 2] else 0
        return ctx.t[i] * ctx.s + ctx.h[i & 3] + mark, ctx.w[i & 3], ctx.on

    result = np.dtype([("f", np.float32), ("w", np.uint64), ("b", np.bool_)], align=True)
    function = Raw(looked, "(uint8,)", result)
    for i in range(256):
        found = function(np.array([i], np.uint8))[0]
        expected = np.float32(table[i] * np.float32(2.5)) + np.float32(half[i & 3]) + np.float32(marks[i & 15, 2])
        assert math.isclose(found["f"], expected, rel_tol=1e-6) and found["w"] == wide[i & 3] and found["b"]


@needs_clang
def test_by_value() -> None:
    def mixed(a, b, c, x):
        return np.int16(a) - np.int16(b) if c else np.int16(x)

    code, returned = annudf.compile(
        mixed, "int16(uint8, int8, bool, float32)", abi_info={"abi_name": "mixed"}, output="host"
    )
    assert returned == np.int16 and isinstance(code, bytes)
    function = library(code).mixed
    function.argtypes, function.restype = [ctypes.c_uint8, ctypes.c_int8, ctypes.c_bool, ctypes.c_float], ctypes.c_int16
    for a, b, c in itertools.product((0, 1, 127, 128, 255), (-128, -1, 0, 127), (False, True)):
        assert function(a, b, c, -7.75) == (a - b if c else -7)


def test_prototypes_of_ptx() -> None:
    def f(a, b):
        return a + b

    for cc, target in ((75, "sm_75"), ("sm_90", "sm_90"), ((12, 0), "sm_120")):
        ptx = annudf.compile(f, "int16(int16, int16)", abi_info={"abi_name": "added"}, output="ptx", cc=cc).code
        assert isinstance(ptx, str) and f".target {target}" in ptx
        assert re.search(r"\.func \s*\(\.param \.b32 \w+\) added\(", ptx)
    raw = annudf.compile(f, "(int16, int16)", abi="raw", abi_info={"abi_name": "added"}, output="ptx", cc=90).code
    assert isinstance(raw, str) and len(re.findall(r"\.param \.b64 added_param_\d", raw)) == 3


def test_outputs() -> None:
    def f(a):
        return a * 2

    assert "define i32 @two(i32 %a0)" in annudf.compile(f, ("int32",), abi_info={"abi_name": "two"}, output="llvm").code
    assert annudf.compile(f, ("int32",), output="bitcode").code[:2] == b"BC"
    assert annudf.compile(f, ("int32",), output="host").code[:2] == b"BC"
    assert annudf.compile(f, ("int32",), cc=80, output="ltoir").code[:4] == b"\xed\x43\x4e\x7f"


def test_it_takes_what_numba_takes() -> None:
    def scaled(x, n):
        return x * n

    parameters = inspect.signature(annudf.compile).parameters
    theirs = inspect.signature(_numba_compile).parameters
    assert list(parameters)[:-2] == list(theirs)
    assert {name: one.default for name, one in theirs.items()} == {name: parameters[name].default for name in theirs}
    code, returned = annudf.compile(pyfunc=scaled, sig="float32(float32, uint8)", cc=(9, 0))
    assert isinstance(code, str) and ".visible .func  (.param .b32 func_retval0) scaled(" in code
    assert ".target sm_90" in code and returned == np.float32
    assert annudf.compile(scaled, "float32(float32, uint8)", None, False, True, False, (9, 0), True) == (code, returned)
    inlined = annudf.compile(scaled, "float32(float32, uint8)", output="ltoir", forceinline=True, cc=90)
    assert inlined == annudf.compile(scaled, "float32(float32, uint8)", output="ltoir", cc=90)
    text = str(annudf.compile(scaled, "float32(float32, uint8)", output="llvm").code)
    assert re.search(r"define float @scaled\([^)]*\) alwaysinline", text)  # As LTO-IR has it.


def _numba_compile(
    pyfunc, sig, debug=None, lineinfo=False, device=True, fastmath=False, cc=None, opt=None, abi="c", abi_info=None,
    output="ptx", forceinline=False, launch_bounds=None,
):  # fmt: skip
    """The parameters of numba.cuda.compile, and of numba-cuda-mlir's, which cannot be asked without a driver."""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"debug": True}, "debug is True: there is no debug information; call the function in Python to step through"),
        ({"lineinfo": True}, "lineinfo is True: there are no line tables; leave it out"),
        ({"fastmath": True}, "fastmath is True: results are those of NumPy; leave it out"),
        ({"opt": False}, "opt is False: code is always optimized; leave it out"),
        ({"opt": 0}, "opt is 0: code is always optimized; leave it out"),
        ({"launch_bounds": (128, 2)}, "launch_bounds is (128, 2): they are for kernels, which are not compiled"),
        ({"forceinline": True}, "forceinline is True and output is 'ptx'; only 'ltoir' is inlined"),
        ({"abi": "numba"}, "abi is 'numba', it must be 'c' or 'raw'"),
    ],
)
def test_what_numba_has_and_this_has_not(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        annudf.compile(lambda a: a, ("float32",), **options)
    assert str(caught.value).startswith(message)


def test_symbols_are_names_where_they_can_be() -> None:
    def symbol(function: Any) -> str:
        found = re.search(r"define \w+ @(\w+)\(", str(annudf.compile(function, ("int32",), output="llvm").code))
        assert found
        return found[1]

    def f(a):
        return a * 2

    def __hidden(a):
        return a

    assert symbol(f) == symbol(annudf.device_function(f)) == "f"
    assert symbol(__hidden).startswith("hidden_")
    assert symbol(lambda a: a).startswith("lambda_")


def test_a_function_of_the_host_does_not_call_itself() -> None:
    def expf(x):
        return np.exp(x)

    code = annudf.compile(expf, "float32(float32)", output="host").code
    assert isinstance(code, bytes) and re.search(rb"expf_[0-9a-f]{16}", code)


def test_symbols_of_others_say_what_is_computed() -> None:
    def symbol(function: Any, signature: object) -> str:
        found = re.search(r"define \w+ @(\w+)\(", annudf.compile(function, signature, output="llvm").code)  # type: ignore[arg-type]
        assert found
        return found[1]

    def made(factor):
        return annudf.device_function(lambda a: a * factor)

    first = symbol(made(2), ("int32",))
    assert first.startswith("lambda_") and first != symbol(made(2), ("int64",))
    assert symbol(made(2), ("int32",)) == symbol(made(2), ("int32",)) != symbol(made(3), ("int32",))


def test_names_that_are_kept_for_others() -> None:
    def annudf_thing(a):
        return a

    assert "@f_annudf_thing_" in str(annudf.compile(annudf_thing, ("int32",), output="llvm").code)
    names: dict[str, Any] = {}
    exec("from annudf import *", names)
    assert "compile" not in names and "device_function" in names


def test_types_in_every_notation() -> None:
    from numba_cuda_mlir import types

    def f(a, b):
        return a + b

    expected = annudf.compile(f, "float32(float32, float32)", output="llvm").code
    for signature in (
        "(float32, float32)", "f32(f32, f32)", (np.float32, np.dtype("float32")), ["float32", types.float32],
        types.float32(types.float32, types.float32),
    ):  # fmt: skip
        assert annudf.compile(f, signature, output="llvm").code == expected, signature
    assert annudf.device_function(f).return_type((int, float)) == np.float64


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ("float33(float32)", "a device function cannot have 'float33'; use float16"),
        ("i8(i8)", "'i8' is 8 bytes to NumPy and 8 bits to others; write int8, uint8, int64 or float64"),
        ("float32(x=float32)", "'float32(x=float32)' names an argument; a signature has types only"),
        ("float32(float32", "is no type or signature"),
        ("float32[:]", "is no signature; write 'float32(float32, int32)'"),
        ((np.complex64,), "a device function cannot have <class 'numpy.complex64'>"),
        # Both ends of a long text are shown.
        ("(" * 150 + "float32[:]" + ",)" * 150, f"'{'(' * 99}...{')' + ',)' * 49}' is no signature"),
        ("f" * 300 + "(float32)", f"a device function cannot have '{'f' * 99}...{'f' * 99}'; use float16"),
        (((),), "a device function cannot have an empty tuple; give it a field"),
        ((np.dtype(">f4"),), "a device function cannot have"),
        (5, "the signature is 5; give 'float32(float32, int32)', a tuple of types, or Numba's"),
        (
            (np.dtype([("a", "u1"), ("b", "f8")]),),
            r"has its fields at bytes \(0, 1\) of 9, C has them at \(0, 8\) of 16",
        ),
    ],
)
def test_signatures_refused(signature: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message if "\\" in message else re.escape(message)):
        annudf.compile(lambda x: x, signature)


def test_functions_refused() -> None:
    def two(a, b):
        return a

    def nothing(a):
        if a > 0:
            return a

    def wide(a):
        return a * 1.5

    def past(i, ctx):
        return ctx.t[i]

    def of_a_scan(a, ctx):
        return a + ctx.row

    def pair(a):
        return a, a

    with pytest.raises(
        UnsupportedError, match=r"takes \(a, b\), but its types are for 1 argument; only ctx may follow"
    ):
        annudf.compile(two, ("float32",))
    with pytest.raises(UnsupportedError, match="nothing returns nothing on some path; return a number, or a tuple"):
        annudf.compile(nothing, ("float32",))
    with pytest.raises(UnsupportedError, match="the result is int32, but the function returns float32"):
        annudf.compile(wide, "int32(int32)")
    with pytest.raises(
        annudf.CompileError, match=r"test_compile.py:\d+.*\[L3\] index of extent 16 may be as large as 255"
    ):
        annudf.compile(past, ("uint8",), captures={"t": np.zeros(16)})
    with pytest.raises(UnsupportedError, match=r"ctx.row has no meaning in a device function, which no search calls"):
        annudf.compile(of_a_scan, ("float32",), captures={"t": 1.0})
    with pytest.raises(UnsupportedError, match=r"pair returns \(float32, float32\), its signature says float32"):
        annudf.compile(pair, "float32(float32)")
    with pytest.raises(ArgumentError, match=r"abi is 'c', and compilers differ in how they pass \(float32, float32\)"):
        annudf.compile(pair, ("float32",))


def test_raw_errors_have_words() -> None:
    def same(x: Any) -> Any:
        return x

    with pytest.raises(ArgumentError, match=r"abi_info is 'abi_name'; give a dict, as \{'abi_name': 'f'\}"):
        annudf.compile(same, "float32(float32)", abi_info="abi_name")  # type: ignore[arg-type]
    nested: Any = (np.float32,)
    for _ in range(2000):
        nested = (nested,)
    with pytest.raises(ArgumentError, match="the signature nests tuples too deep; they may be 8 deep, flatten some"):
        annudf.compile(same, nested, abi="raw", output="llvm")
    with pytest.raises(CaptureError, match=r"^capture 't\[1\]' is nan; give finite numbers$"):
        annudf.device_function(same, captures={"t": np.array([1, np.nan], np.float32)})


def test_options_refused() -> None:
    def f(a):
        return a

    with pytest.raises(ArgumentError, match="device is False: kernels are not compiled"):
        annudf.compile(f, ("float32",), device=False)
    with pytest.raises(ArgumentError, match="output is 'cubin', it must be one of 'ptx', 'ltoir', 'llvm'"):
        annudf.compile(f, ("float32",), output="cubin")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="abi is 'numba', it must be 'c' or 'raw'"):
        annudf.compile(f, ("float32",), abi="numba")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="arch is 20, it must be one of sm_75"):
        annudf.compile(f, ("float32",), cc=(2, 0))
    with pytest.raises(ArgumentError, match="abi_info has 'name', which has no meaning; it has 'abi_name' only"):
        annudf.compile(f, ("float32",), abi_info={"name": "f"})
    for name in ("a b", "1a", "ä", 'f"\n'):
        with pytest.raises(ArgumentError, match="use letters, digits and _, not beginning with a digit"):
            annudf.compile(f, ("float32",), abi_info={"abi_name": name})
    for name in ("annudf1_scan_init", "__nv_sqrtf"):
        with pytest.raises(ArgumentError, match="begin it with neither annudf nor __, which are reserved"):
            annudf.compile(f, ("float32",), abi_info={"abi_name": name})
    with pytest.raises(
        CaptureError, match="capture 't' has 80000 bytes, more than 65536 that can be part of a function"
    ):
        annudf.device_function(f, captures={"t": np.zeros(10000)})
    with pytest.raises(CaptureError, match="capture 't' has no entries"):
        annudf.device_function(f, captures={"t": np.zeros((3, 0))})
    with pytest.raises(ArgumentError, match="device_function takes a function of Python, not"):
        annudf.device_function(len)
    with pytest.raises(ArgumentError, match="captures are given, but this device_function has its own; leave them out"):
        annudf.compile(annudf.device_function(f), ("float32",), captures={"t": 1})
