# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linked code from Python: what brings its code with it, and what becomes of it."""

from __future__ import annotations

import io
import os
import pathlib
import re
import subprocess
import sys
import types
from typing import Any

import numpy as np
import pytest
from linked import NUMBA, SOURCE, Scaled, code_of, declared, metric_of, need_linker
from numba_cuda_mlir import cuda
from numba_cuda_mlir import types as numba_types

import annudf
from annudf import _core, ivf_flat
from annudf.errors import CompileError, UnavailableError
from gpu_libraries import Plain

# --- What is linked -------------------------------------------------------------------------------


@pytest.mark.parametrize("made", [declared, Scaled], ids=["declare_device", "__numba_cuda_link__"])
def test_the_code_is_collected_and_called(made: Any) -> None:
    text = metric_of(made()).mlir()
    assert "annudf.extern @scaled convention(c) (f32, f32) -> f32 link(cuda_source " in text
    assert "annudf.call @scaled(%arg1, %arg2) : (f32, f32) -> f32" in text


def test_the_method_is_given_the_types_of_the_arguments() -> None:
    by_text, by_types = Scaled(), Scaled(sig=numba_types.float32(numba_types.float32, numba_types.float32))
    for one in (by_text, by_types):
        one.gives = lambda x, y: [cuda.CUSource(SOURCE)] if x is y is numba_types.float32 else []
        metric_of(one).mlir()
        assert one.asked == [("float32", "float32")]


def test_overloads_by_the_types_of_the_arguments() -> None:
    def gives(x: Any) -> list[Any]:
        name = {"float32": "float", "int32": "int"}[str(x)]
        return [cuda.CUSource(f'extern "C" __device__ {name} twice_{x}({name} x) {{ return 2 * x; }}')]

    twice = Scaled(gives, sig=["float32(float32)", "int32(int32)"], name=lambda x: f"twice_{x}")

    def m(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        return acc + twice(x - y) + twice(ctx.shift)

    text = ivf_flat.metric(captures={"shift": 3})(m).mlir()
    assert "annudf.call @twice_float32" in text
    assert "annudf.call @twice_int32" in text


def test_everything_that_a_metric_is_made_of_may_call_it() -> None:
    f, module = declared(), types.SimpleNamespace(f=declared())

    def helper(x, y):  # type: ignore[no-untyped-def]
        return f(x, y)

    @ivf_flat.metric
    class Fields:
        total: np.float32 = 0

        def update(self, x, y, ctx):  # type: ignore[no-untyped-def]
            if x > y:
                self.total += helper(x, y)

        def finalize(self, ctx):  # type: ignore[no-untyped-def]
            return f(self.total, 0.5) + module.f(1, self.total)

    text = Fields.mlir()
    assert text.count("annudf.extern @scaled") == 1
    assert text.count("annudf.call @scaled") == 3

    @ivf_flat.filter(captures={"price": np.ones(4, np.float32)})
    def cheap(ctx):  # type: ignore[no-untyped-def]
        return f(ctx.price[ctx.row], ctx.dims) < 1

    assert cheap.mlir().count("annudf.call @scaled") == 1


def test_every_number_that_an_extern_has() -> None:
    names = ("float32", "float64", "int32", "int64", "uint32", "uint64")
    f = declared(cuda.CUSource("x"), sig=f"uint32({', '.join(names)})", name="f")
    captures = {name: np.dtype(name).type(1) for name in names}

    def m(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        return acc + f(ctx.float32, ctx.float64, ctx.int32, ctx.int64, ctx.uint32, ctx.uint64)

    text = ivf_flat.metric(captures=captures)(m).mlir()
    assert "annudf.extern @f convention(c) (f32, f64, i32, i64, ui32, ui64) -> ui32" in text
    assert re.search(r"annudf.call @f\(.*\) : \(f32, f64, i32, i64, i32, i64\) -> i32", text)
    assert "arith.uitofp" in text


@pytest.mark.parametrize("kind", ["cuda_source", "ltoir", "ptx", "cubin", "numba"])
def test_compiled_linked_and_said_not_to_be_verified(
    kind: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a GPU: nvJitLink takes it with the metric, and with the scan kernels of searches."""
    need_linker()
    monkeypatch.setenv("ANNUDF_CACHE_DIR", str(tmp_path / "cache"))
    sources = {"cuda_source": cuda.CUSource(SOURCE), "numba": cuda.CUSource(NUMBA)}
    code = sources.get(kind) or code_of(kind, "sm_90")
    metric = metric_of(declared(code, abi="numba" if kind == "numba" else "c"))
    told = metric.inspect() if kind != "cubin" else metric.artifact("sm_90").describe("m")
    assert "verified      no: prototypes were checked, what linked code does was not" in told
    payload = {"ptx": "linked-ptx", "cubin": "linked-cubin"}.get(kind, "linked-lto-ir")
    assert len(re.findall(rf"\n  {payload} +sm_", told)) == (2 if kind == "numba" else 1)
    assert "host-bitcode" not in told
    metric.precompile(arch="sm_90")
    linked = [data for path in (tmp_path / "cache").iterdir() if b"annudf_read_contract" in (data := path.read_bytes())]
    # With code that is not LTO-IR nvJitLink dropped all kernels, and said nothing.
    assert len(linked) >= 2
    assert all(b"annudf_scan_" in data for data in linked)
    file = tmp_path / "m.annudf"
    metric.save(file, archs="sm_90")
    ivf_flat.load_metric(file).precompile(arch="sm_90")


@pytest.mark.parametrize("suffix", ["cu", "ltoir", "ptx", "cubin"])
def test_files(suffix: str, tmp_path: pathlib.Path) -> None:
    need_linker()
    code = cuda.CUSource(SOURCE) if suffix == "cu" else code_of(suffix, "sm_90")
    file = tmp_path / f"scaled.{suffix}"
    file.write_bytes(code.data.encode() if isinstance(code.data, str) else code.data)
    for given in (str(file), file):
        assert metric_of(declared(given)).artifact("sm_90").archs == ["sm_90"]
    assert metric_of(Scaled(str(file))).artifact("sm_90").archs == ["sm_90"], "one path without a list"


def test_what_linkable_code_may_hold() -> None:
    text = metric_of(declared(cuda.CUSource(io.StringIO(SOURCE)))).mlir()
    assert text == metric_of(declared(cuda.CUSource(SOURCE.encode()))).mlir()
    other = types.SimpleNamespace(kind="cu", data=bytearray(SOURCE.encode()))  # From a library that is not numba.
    assert text == metric_of(Scaled([other])).mlir()


class Code:
    """One of a set."""

    kind = "cu"

    def __init__(self, data: str, number: int) -> None:
        self.data, self.number = data, number

    def __hash__(self) -> int:
        return self.number


def test_a_set_of_code_has_one_order() -> None:
    sets = [{Code(SOURCE, number), Code("x", 1 - number)} for number in (0, 1)]
    assert [[one.data for one in codes] for codes in sets] == [[SOURCE, "x"], ["x", SOURCE]]
    one, other = (metric_of(Scaled(given)).mlir() for given in (sets[0], frozenset(sets[1])))
    assert one == other
    assert one.count("cuda_source") == 2


# --- When it is read ------------------------------------------------------------------------------


def test_a_file_that_changes_is_another_metric(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_linker()
    monkeypatch.setenv("ANNUDF_CACHE_DIR", str(tmp_path / "cache"))
    file = tmp_path / "scaled.cu"
    file.write_text(SOURCE.replace("2 *", "5 *"))
    first = metric_of(declared(file))
    key, artifact = first._definition._key(), first.artifact("sm_90")
    same = metric_of(declared(file))
    assert same._definition._key() == key
    assert same.artifact("sm_90") is artifact
    file.write_text(SOURCE.replace("2 *", "7 *"))
    other = metric_of(declared(file))
    assert other._definition._key() != key
    assert other.artifact("sm_90").digest != artifact.digest
    # What is of one metric is of one moment.
    assert first._definition._key() == key
    assert "return 5 *" in first.mlir()
    assert len(list((tmp_path / "cache").glob("*.annudfc"))) == 2


@pytest.mark.parametrize(
    "other",
    [
        {"abi": "numba"}, {"sig": "float32(float32, float64)"}, {"sig": "int32(float32, float32)"}, {"name": "g"},
        {"gives": [cuda.PTXSource(SOURCE)]}, {"gives": [cuda.CUSource(SOURCE), cuda.CUSource("x")]},
    ],
)  # fmt: skip
def test_whatever_else_changes_is_another_metric(other: dict[str, Any]) -> None:
    assert metric_of(Scaled())._definition._key() == metric_of(Scaled())._definition._key()
    assert metric_of(Scaled(**other))._definition._key() != metric_of(Scaled())._definition._key()


def test_the_decorator_does_not_ask_what_is_linked() -> None:
    one = Scaled()
    metric = metric_of(one)
    assert not metric._definition.is_compiled()  # type: ignore[attr-defined]
    assert one.asked == []


def test_the_key_needs_no_numba_cuda_mlir(tmp_path: pathlib.Path) -> None:
    """Where types of Numba are given, or none: what is in the cache is found without its import."""
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, types\nfrom annudf import ivf_flat\nfrom annudf._frontend import ahead\n"
        "class F:\n    name, sig, abi = 'one', 'float32()', 'c'\n"
        "    def __numba_cuda_link__(self):\n        return types.SimpleNamespace(kind='cu', data='x')\n"
        "f = F()\n@ivf_flat.metric\ndef m(x, y, acc):\n    return acc + f()\n"
        "m._definition._key()\nassert 'numba_cuda_mlir' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, str(program)], env={**os.environ, "ANNUDF_IMPORT_AHEAD": "0"}, check=False,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


# --- Where it runs --------------------------------------------------------------------------------


def test_a_cpu_search_is_refused() -> None:
    rows = np.zeros((4, 4), np.float32)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows)
    message = "^metric 'm' calls 'scaled', linked device code, and runs on a GPU only; give device arrays$"
    with pytest.raises(UnavailableError, match=message):
        ivf_flat.search(ivf_flat.SearchParams(metric=metric_of(declared())), index, rows, 1)


def test_text_that_links_code_is_loaded(tmp_path: pathlib.Path) -> None:
    need_linker()
    file = tmp_path / "linked.mlir"
    file.write_text(metric_of(declared()).mlir())
    metric = ivf_flat.load_metric(file)
    assert (metric.elements, metric.name) == (("float32",), "m")
    metric.precompile(arch="sm_90")
    rows = np.zeros((4, 4), np.float32)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows)
    with pytest.raises(CompileError, match="calls linked device code, which runs on a GPU only; leave host code out"):
        ivf_flat.search(ivf_flat.SearchParams(metric=metric), index, rows, 1)


def test_a_device_function_is_handed_out_without_it() -> None:
    f = declared()

    @annudf.device_function
    def both(x):  # type: ignore[no-untyped-def]
        return f(x, x)

    with pytest.raises(CompileError) as caught:
        both.mlir("float32(float32)")
    message = "[D13] calls linked code, which a device function cannot contain; call 'scaled' outside it and pass the result as an argument"
    assert caught.value.diagnostics[0].message == message
    assert caught.value.diagnostics[0].file == __file__


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["cuda_source", "numba", "ltoir", "ptx", "cubin", "text"])
def test_a_search_finds_what_the_plain_formula_finds(kind: str, tmp_path: pathlib.Path) -> None:
    """All sums are exact, so that distances are the same bits however a compiler fuses."""
    library = Plain()
    sources = {"cuda_source": cuda.CUSource(SOURCE), "numba": cuda.CUSource(NUMBA), "text": cuda.CUSource(SOURCE)}
    arch = f"sm_{_core.Backend.cuda(0).arch}" if kind == "cubin" else "sm_80"
    f = declared(sources.get(kind) or code_of(kind, arch), abi="numba" if kind == "numba" else "c")

    @ivf_flat.metric(elements=["float32"])
    def linked(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + f(x, y) * f(x, y)

    @ivf_flat.metric(elements=["float32"])
    def plain(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + 2 * (x - y) * (2 * (x - y))

    metric: Any = linked
    if kind == "text":
        (tmp_path / "linked.mlir").write_text(linked.mlir())
        metric = ivf_flat.load_metric(tmp_path / "linked.mlir")
    rng = np.random.default_rng(1)
    rows, queries = (rng.integers(-200, 201, (n, 24)).astype(np.float32) for n in (3000, 300))
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=10), rows)
    for count in (1, 20, 300):
        given = library.put(queries[:count])
        expected = ivf_flat.search(ivf_flat.SearchParams(n_probes=4, metric=plain), index, given, 10)
        found = ivf_flat.search(ivf_flat.SearchParams(n_probes=4, metric=metric), index, given, 10)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(library.get(one), library.get(other))
