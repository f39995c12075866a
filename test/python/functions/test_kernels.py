# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Hooks of a metric in kernels of numba-cuda-mlir, compiled for sm_90 without a GPU; the bodies are run by clang."""

from __future__ import annotations

import ctypes
import re
import runpy
import subprocess
from pathlib import Path

import numba_cuda_mlir.tools
import numpy as np
import pytest
from host import CLANG
from numba_cuda_mlir import compiler, cuda, types

import annudf
from annudf import ivf_flat, metrics
from annudf.errors import CompileError, UnavailableError, UnsupportedError

EXAMPLE = Path(__file__).resolve().parents[3] / "docs/examples/kernels/weighted_l2.py"
f32 = types.float32
VECTOR, MATRIX = f32[::1], f32[:, ::1]


@pytest.fixture(autouse=True)
def no_driver(monkeypatch):
    if numba_cuda_mlir.tools._cached_cc is None:
        monkeypatch.setattr(numba_cuda_mlir.tools, "_cached_cc", (9, 0))


def module_of(kernel, signature):
    return compiler.compile_mlir(kernel, signature, device=False, chip="sm_90", features="+ptx90")


def ptx_of(kernel, signature):
    return compiler.compile(kernel, signature, device=False, cc=(9, 0), abi="numba")[0]


def functions_in(text):
    """The functions of annudf in a module by name, without their indentation."""
    lines = [line.strip() for line in text.splitlines()]
    starts = [i for i, line in enumerate(lines) if line.startswith("func.func private @annudf_")]
    # The regions of a body end before it does, and so does each with its own "}".
    found = {}
    for start in starts:
        depth, end = 1, start + 1
        while depth:
            depth += lines[end].endswith("{") - lines[end].startswith("}")
            end += 1
        found[re.search(r"@(\w+)", lines[start])[1]] = lines[start:end]
    return found


# --- What a kernel calls ----------------------------------------------------------------------------


def test_the_example_calls_the_verified_bodies():
    example = runpy.run_path(str(EXAMPLE))
    kernel, hooks = example["all_distances"].py_func, example["hooks"]
    signature = types.void(MATRIX, MATRIX, VECTOR, MATRIX)
    linked = functions_in(module_of(kernel, signature))
    assert linked == functions_in(hooks.mlir)
    assert len(linked) == 3
    code = ptx_of(kernel, signature)
    assert ".target sm_90" in code and "sqrt" in code
    assert "call" not in code, "the hooks are inlined"


@pytest.mark.gpu
def test_the_example_runs():
    runpy.run_path(str(EXAMPLE), run_name="__main__")


def test_metrics_of_one_name_are_told_apart():
    def made(factor):
        return annudf.metric(symbol_name="same")(lambda x, y, acc, ctx: acc + factor * x * y)

    one, two = (made(np.float32(factor)).device_functions() for factor in (3, 5))
    assert not functions_in(one.mlir).keys() & functions_in(two.mlir).keys()
    assert str(one) != str(two)

    def kernel(x, out):
        out[0] = one.update(one.init(), x[0], x[1]) - two.update(two.init(), x[0], x[1])

    assert functions_in(module_of(kernel, types.void(VECTOR, VECTOR))).keys() >= {
        name for hooks in (one, two) for name in functions_in(hooks.mlir) if "finalize" not in name
    }
    code = ptx_of(kernel, types.void(VECTOR, VECTOR))
    assert "0f40400000" in code and "0f40A00000" in code  # 3 and 5


@annudf.metric(
    initial=(np.uint32(0), 0.0),
    finalize=lambda acc, ctx: acc[0] + acc[1],
    captures={"levels": np.ones(4, np.uint8), "mask": np.ones(4, bool), "power": np.uint32(2)},
)
def counted(x, y, acc, ctx):
    far = abs(x - y) * ctx.levels[ctx.dim] > ctx.power
    return (acc[0] + np.uint32(1) if ctx.mask[ctx.dim] and far else acc[0]), acc[1] + x * y


def test_types_keep_their_sign():
    hooks = counted.device_functions()
    assert list(hooks.functions) == ["init", "update", "finalize"]
    assert hooks.arguments["update"] == ("acc0", "acc1", "x", "y", "dim", "levels", "mask", "power")
    takes = hooks.functions["update"].args
    fields = types.Tuple((types.uint32, f32))
    assert takes[:5] == (types.uint32, f32, f32, f32, types.int64)
    assert [one.dtype for one in takes[5:7]] == [types.uint8, types.boolean] and takes[7] == types.uint32
    assert hooks.functions["init"].return_type == hooks.functions["update"].return_type == fields
    assert hooks.functions["finalize"].args == (types.uint32, f32)

    def kernel(x, y, levels, mask, power, out):
        count, total = hooks.init()
        for d in range(x.shape[0]):
            count, total = hooks.update(count, total, x[d], y[d], d, levels, mask, power)
        out[0] = hooks.finalize(count, total)

    signature = types.void(VECTOR, VECTOR, types.uint8[::1], types.boolean[::1], types.uint32, VECTOR)
    assert functions_in(module_of(kernel, signature)) == functions_in(hooks.mlir)
    assert "cvt.rn.f32.u32" in ptx_of(kernel, signature)


def test_a_combine_and_a_filter():
    long = annudf.metric(numerics="reassociate")(lambda x, y, acc, ctx: acc + x * y).device_functions()
    assert long.arguments["combine"] == ("acc", "other")

    @annudf.filter(captures={"price": np.ones(4, np.float32)})
    def cheap(ctx):
        return ctx.price[ctx.row] < 3.0

    chosen = cheap.device_functions()
    assert chosen.arguments == {"keep": ("row", "price")}
    assert chosen.functions["keep"].return_type == types.boolean

    def kernel(x, price, out):
        r = cuda.grid(1)
        if chosen.keep(r, price):
            out[r] = long.finalize(long.combine(x[0], x[1]))

    code = ptx_of(kernel, types.void(VECTOR, VECTOR, VECTOR))
    assert "setp.lt.f32" in code or "setp.geu.f32" in code


def test_values_do_not_matter():
    hooks = counted.device_functions()
    assert counted.bind(power=3).device_functions() is hooks


# --- What cannot be called --------------------------------------------------------------------------


TABLE = """
annudf.metric @table order(min) coarse(l2) elements(f32) dims(2) {
  %t = annudf.capture "t" = dense<[1.0, 2.0]> : tensor<2xf32> : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %w = annudf.load %t[%d] : !annudf.capture<dim x f32>
    %r = math.fma %w, %x, %acc : f32
    annudf.yield %r : f32
  }
}
"""


def test_refused(tmp_path):
    @annudf.metric
    def endless(x, y, acc, ctx):
        while acc < 3:
            acc = acc + x
        return acc

    with pytest.raises(CompileError, match=r"test_kernels\.py"):
        endless.device_functions()
    (tmp_path / "t.mlir").write_text(TABLE)
    with pytest.raises(
        UnsupportedError, match=r"^metric 'table' gives capture 't' its values in the text, .*; declare the"
    ):
        ivf_flat.load_metric(tmp_path / "t.mlir", name="table").device_functions()
    counted.save(tmp_path / "m.annudf", [])
    with pytest.raises(UnavailableError, match=r"metric 'counted' of .* is compiled already"):
        ivf_flat.load_metric(tmp_path / "m.annudf").device_functions()
    with pytest.raises(AttributeError, match=r"has no function 'combine'; it has init, update, finalize$"):
        _ = counted.device_functions().combine


# --- The bodies, run --------------------------------------------------------------------------------

LLVM = Path(CLANG).parent if CLANG else Path("/nowhere")
needs_llvm = pytest.mark.skipif(
    not (LLVM / "mlir-opt").exists() or not (LLVM / "mlir-translate").exists(),
    reason="no mlir-opt, mlir-translate and clang of LLVM 22, which run the bodies",
)
INDICES = {"dim": "%d", "dims": "%n", "row": "%zero", "query": "%zero", "list": "%zero"}


def distance_of(hooks, folder):
    """A library with the loop over the dimensions around the hooks, and the types of its captures."""
    word = dict(zip(hooks.arguments["update"], hooks.functions["update"].args, strict=True))["x"]
    vector = f"memref<?x{'i' if word == types.int32 else 'f'}32>"
    signatures = {
        name.split("_")[-2]: (name, re.findall(r"%arg\d+: (memref<.*?>>|\w+)", lines[0]), lines[0])
        for name, lines in functions_in(hooks.mlir).items()
    }
    captures = {}
    for hook, (_, kinds, _) in signatures.items():
        named = dict(zip(hooks.arguments[hook], kinds, strict=True))
        captures |= {
            name: kind
            for name, kind in named.items()
            if not re.fullmatch(r"acc\d*|x|y|other", name) and name not in INDICES
        }
    fields = [
        kind for name, kind in zip(hooks.arguments["update"], signatures["update"][1], strict=True) if name[:3] == "acc"
    ]
    joined = ", ".join(fields)

    def call(hook, values, result):
        name, kinds, _ = signatures[hook]
        rest = [INDICES.get(one, f"%{one}") for one in hooks.arguments[hook][len(values) :]]
        return f"func.call @{name}({', '.join([*values, *rest])}) : ({', '.join(kinds)}) -> {result}"

    several = len(fields) > 1
    results = f"({joined})" if several else joined
    state = [f"%s#{i}" for i in range(len(fields))] if several else ["%s"]
    start = [f"%i#{i}" for i in range(len(fields))] if several else ["%i"]
    carried = [f"%a{i}" for i in range(len(fields))]
    stepped = [f"%u#{i}" for i in range(len(fields))] if several else ["%u"]
    count = f":{len(fields)}" if several else ""
    arguments = ", ".join([f"%q: {vector}", f"%r: {vector}", *(f"%{name}: {kind}" for name, kind in captures.items())])
    driver = f"""
    func.func @distance({arguments}) -> f32 attributes {{llvm.emit_c_interface}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i64
      %size = memref.dim %q, %c0 : {vector}
      %n = arith.index_cast %size : index to i64
      %i{count} = {call("init", [], results)}
      %s{count} = scf.for %at = %c0 to %size step %c1 iter_args({", ".join(f"{a} = {b}" for a, b in zip(carried, start, strict=True))}) -> ({joined}) {{
        %d = arith.index_cast %at : index to i64
        %x = memref.load %q[%at] : {vector}
        %y = memref.load %r[%at] : {vector}
        %u{count} = {call("update", [*carried, "%x", "%y"], results)}
        scf.yield {", ".join(stepped)} : {joined}
      }}
      %f = {call("finalize", state, "f32")}
      return %f : f32
    }}
    """
    text = hooks.mlir.rstrip()
    assert text.endswith("}")
    (folder / "m.mlir").write_text(text[:-1] + driver + "}")
    passes = (
        "convert-scf-to-cf,convert-math-to-llvm,convert-math-to-libm,expand-strided-metadata,convert-to-llvm,"
        "reconcile-unrealized-casts"
    )
    lowered = [
        LLVM / "mlir-opt",
        folder / "m.mlir",
        f"--pass-pipeline=builtin.module({passes})",
        "-o",
        folder / "l.mlir",
    ]
    subprocess.run(lowered, check=True)
    subprocess.run([LLVM / "mlir-translate", "--mlir-to-llvmir", folder / "l.mlir", "-o", folder / "m.ll"], check=True)
    subprocess.run([CLANG, "-w", "-O1", "-shared", "-fPIC", folder / "m.ll", "-o", folder / "m.so", "-lm"], check=True)
    function = ctypes.CDLL(str(folder / "m.so"))._mlir_ciface_distance
    function.restype = ctypes.c_float
    return function, captures


def passed(value, kind):
    """An argument for the interface in C: a descriptor of an array, or a number."""
    if kind.startswith("memref"):
        rank = value.ndim
        strides = [step // value.itemsize for step in value.strides]
        return ctypes.byref(
            (ctypes.c_int64 * (3 + 2 * rank))(value.ctypes.data, value.ctypes.data, 0, *value.shape, *strides)
        )
    return {"f32": ctypes.c_float, "f64": ctypes.c_double, "i1": ctypes.c_bool}.get(kind, ctypes.c_int64)(value.item())


RNG = np.random.default_rng(5)
DIMS = 24
BUILT_IN = {
    "minkowski": {"p": 3.0},
    "seuclidean": {"V": RNG.random(DIMS, dtype=np.float32) + 0.5},
    "gower": {"ranges": np.ones(DIMS, np.float32)},
}


def by_row(x, y, acc, ctx):
    return acc + abs(x - y) * ctx.scale * ctx.seen[ctx.row] * ctx.wish[ctx.query, ctx.dim] / ctx.dims


PYTHON = {
    "counted": counted.bind(levels=np.arange(DIMS, dtype=np.uint8), mask=np.arange(DIMS) % 3 > 0, power=np.uint32(9)),
    "by_row": annudf.metric(
        captures={"scale": 2.0, "seen": np.full(1, 1.5, np.float16), "wish": RNG.random((1, DIMS), dtype=np.float32)}
    )(by_row),
}


@needs_llvm
@pytest.mark.parametrize("name", [*metrics.names(), *PYTHON])
def test_the_bodies_give_the_distances_of_a_search(name, tmp_path):
    metric = PYTHON[name] if name in PYTHON else metrics.get(name, **BUILT_IN.get(name, {}))
    function, kinds = distance_of(metric.device_functions(), tmp_path)
    dims = 2 if name == "haversine" else DIMS
    for _ in range(5):
        query, row = RNG.random((2, dims), dtype=np.float32)
        if "float32" not in metric.elements:
            query, row = (RNG.integers(0, 2, dims, dtype=np.int8) for _ in range(2))
        coordinates = (one.astype(np.int32 if one.dtype == np.int8 else one.dtype) for one in (query, row))
        captures = (passed(metric.captures[one], kind) for one, kind in kinds.items())
        found = function(*(passed(one, "memref") for one in coordinates), *captures)
        np.testing.assert_allclose(found, metric.distance(query, row), rtol=2e-5, atol=1e-6)
