# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linked code from Python: what brings its code with it, what is refused and where, and what becomes of it."""

from __future__ import annotations

import inspect
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import types
from typing import Any

import numpy as np
import pytest
from numba_cuda_mlir import cuda
from numba_cuda_mlir import types as numba_types

import annudf
from annudf import _core, ivf_flat
from annudf._frontend import links
from annudf.errors import CompileError, UnavailableError, UnsupportedError
from gpu_libraries import Plain

SOURCE = 'extern "C" __device__ float scaled(float x, float y) { return 2 * (x - y); }\n'
NUMBA = 'extern "C" __device__ int scaled(float *r, float x, float y) { *r = 2 * (x - y); return 0; }\n'
PAIR = "float32(float32, float32)"
CHOICES = "LTO-IR (.ltoir), PTX (.ptx), cubins (.cubin) and CUDA C++ (.cu) can be linked"
GIVE = "give paths of .ltoir, .ptx, .cubin and .cu files, or code as cuda.LTOIR, PTXSource, Cubin and CUSource hold it"
NUMBERS = "linked code takes and returns float32, float64, int32, int64, uint32 and uint64"


def declared(*link: Any, sig: Any = PAIR, abi: str = "c", name: str = "scaled", **more: Any) -> Any:
    return cuda.declare_device(name, sig, link=list(link) or [cuda.CUSource(SOURCE)], abi=abi, **more)


class Scaled:
    """What a library would offer: an object that knows its code."""

    name: Any = "scaled"
    sig: Any = PAIR
    abi: Any = "c"

    def __init__(self, gives: Any = None, **said: Any) -> None:
        self.gives = [cuda.CUSource(SOURCE)] if gives is None else gives
        self.asked: list[tuple[str, ...]] = []
        vars(self).update(said)

    def __numba_cuda_link__(self, *arguments: Any) -> Any:
        self.asked.append(tuple(map(str, arguments)))
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives(*arguments) if callable(self.gives) else self.gives


def metric_of(f: Any) -> annudf.ivf_flat.Metric:
    def m(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + f(x, y)

    return ivf_flat.metric(elements=["float32"])(m)


LINE = next(n for n, line in enumerate(inspect.getsourcelines(metric_of)[0], inspect.getsourcelines(metric_of)[1]) if "acc + f" in line)  # fmt: skip


def refused(metric: ivf_flat.Metric, place: tuple[int, int] = (LINE, 22), kind: type = UnsupportedError) -> str:
    with pytest.raises(CompileError) as caught:
        metric.artifact("sm_90")
    assert type(caught.value) is kind
    (diagnostic,) = [one for one in caught.value.diagnostics if one.severity == "error"]
    assert (diagnostic.file, diagnostic.line, diagnostic.column) == (__file__, *place)
    return diagnostic.message


def _linker() -> None:
    found = _core.describe_environment()
    if not (found["linker_found"] and found["nvrtc_found"] and found["libnvvm_found"]):
        pytest.skip("no nvJitLink, NVRTC or libNVVM on this machine: linked code is NOT compiled")


def code_of(kind: str, arch: str = "sm_80") -> Any:
    """The function as compiled code, by annudf itself."""

    def scaled(x, y):  # type: ignore[no-untyped-def]
        return 2 * (x - y)

    def compiled(output: Any) -> Any:
        return annudf.compile(scaled, PAIR, abi_info={"abi_name": "scaled"}, output=output, cc=arch).code

    if kind == "ltoir":
        return cuda.LTOIR(compiled("ltoir"))
    if kind == "ptx":
        return cuda.PTXSource(compiled("ptx"))
    assert kind == "cubin"
    assembler = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
    if assembler is None:
        pytest.skip("no ptxas on this machine: a cubin is NOT linked")
    made = subprocess.run(
        [assembler, "-c", f"-arch={arch}", "-o", "/dev/stdout", "-"],
        input=compiled("ptx").encode(), stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    return cuda.Cubin(made.stdout)


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
    _linker()
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
    _linker()
    code = cuda.CUSource(SOURCE) if suffix == "cu" else code_of(suffix, "sm_90")
    file = tmp_path / f"scaled.{suffix}"
    file.write_bytes(code.data.encode() if isinstance(code.data, str) else code.data)
    for given in (str(file), file):
        assert metric_of(declared(given)).artifact("sm_90").archs == ["sm_90"]
    assert metric_of(Scaled(str(file))).artifact("sm_90").archs == ["sm_90"], "one path without a list"


def test_what_linkable_code_may_hold() -> None:
    text = metric_of(declared(cuda.CUSource(io.StringIO(SOURCE)))).mlir()
    assert text == metric_of(declared(cuda.CUSource(SOURCE.encode()))).mlir()
    other = types.SimpleNamespace(kind="cu", data=bytearray(SOURCE.encode()))  # Of a library that is not numba.
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
    _linker()
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
    _linker()
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
    message = (
        "[D13] calls linked code, and a function is handed out without any; link 'scaled' where the function is "
        "linked, and take its result as an argument"
    )
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


# --- What is refused ------------------------------------------------------------------------------


def _coming(path: str, what: str) -> tuple[Any, str]:
    return declared(path), f"'f' links {path}, {what}"


class ExternFunction:
    """As numba-cuda 0.30's: it keeps what it links to itself."""

    def __init__(self) -> None:
        self.name, self.sig = "scaled", numba_types.float32(numba_types.float32, numba_types.float32)


class Asked(Scaled):
    @property
    def sig(self) -> str:
        raise RuntimeError("not configured")


HAS = "'f' has a __numba_cuda_link__(float32, float32) that gives"
REFUSED = {
    "no file": _coming("/nowhere/scaled.ptx", "which cannot be read: No such file or directory"),
    "folder": (Scaled("/tmp/.cu/"), f"'f' links /tmp/.cu/, whose kind its name does not say; {CHOICES}"),
    "fatbin": _coming("scaled.fatbin", f"a fatbin; {CHOICES}"),
    "object": _coming("scaled.o", f"an object file; {CHOICES}"),
    "archive": _coming("libscaled.a", f"an archive; {CHOICES}"),
    "library": _coming("scaled.lib", f"a library; {CHOICES}"),
    "bitcode": _coming("scaled.bc", f"LLVM bitcode; {CHOICES}"),
    "unknown file": _coming("scaled.txt", f"whose kind its name does not say; {CHOICES}"),
    "Fatbin": (declared(cuda.Fatbin(b"x")), f"'f' links a Fatbin, a fatbin; {CHOICES}"),
    "Object": (declared(cuda.Object(b"x")), f"'f' links an Object, an object file; {CHOICES}"),
    "Archive": (declared(cuda.Archive(b"x")), f"'f' links an Archive, an archive; {CHOICES}"),
    "unknown kind": (
        Scaled([types.SimpleNamespace(kind="spirv", data=b"x")]),
        f"'f' links a SimpleNamespace of kind 'spirv'; {CHOICES}",
    ),
    "callback": (
        declared(cuda.CUSource(SOURCE, setup_callback=print)),
        "'f' links a CUSource with setup_callback, which a search does not do; link code that needs none",
    ),
    "last callback": (
        declared(cuda.CUSource(SOURCE, teardown_callback=print)),
        "'f' links a CUSource with teardown_callback, which a search does not do; link code that needs none",
    ),
    "nrt": (
        declared(cuda.CUSource(SOURCE, nrt=True)),
        "'f' links a CUSource with nrt, which a search does not do; link code that needs none",
    ),
    "no data": (declared(cuda.CUSource(None)), "'f' links a CUSource whose data is None; give bytes, or text"),
    "cooperative": (
        declared(use_cooperative=True),
        "'f' is declared with use_cooperative=True, and searches launch no cooperative kernels",
    ),
    "no code": (
        cuda.declare_device("scaled", PAIR),
        "'f' is declared without code; give declare_device(..., link=[...])",
    ),
    "no path": (declared(3), f"'f' has a link that gives an int; {GIVE}"),
    "numba-cuda": (
        ExternFunction(),
        "'f' is a test_links.ExternFunction, which does not tell what it links; declare it by numba_cuda_mlir's "
        "cuda.declare_device",
    ),
    "array": (
        declared(sig="float32(float32[:], float32)"),
        f"'f' has array(float32, 1d, A) in its signature; {NUMBERS}",
    ),
    "struct": (
        declared(sig=numba_types.float32(numba_types.UniTuple(numba_types.float32, 2), numba_types.float32)),
        f"'f' has UniTuple(float32 x 2) in its signature; {NUMBERS}",
    ),
    "narrow": (declared(sig="float32(float32, int8)"), f"'f' has int8 in its signature; {NUMBERS}"),
    "narrow result": (declared(sig="float16(float32, float32)"), f"'f' has float16 in its signature; {NUMBERS}"),
    "nothing": (
        declared(sig="void(float32, float32)"),
        "'f' is declared to return nothing, and a metric has no effect but its value; return a number",
    ),
    "raises": (
        Scaled(ValueError("no such block size")),
        "'f' cannot be linked: its __numba_cuda_link__(float32, float32) raised ValueError: no such block size",
    ),
    "takes other arguments": (
        Scaled(lambda x: []),
        "'f' cannot be linked: its __numba_cuda_link__(float32, float32) raised TypeError: "
        "REFUSED.<lambda>() takes 1 positional argument but 2 were given",
    ),
    "returns None": (Scaled(lambda *_: None), f"{HAS} None; {GIVE}"),
    "returns an int": (Scaled(lambda *_: 7), f"{HAS} an int; {GIVE}"),
    "returns bytes": (Scaled(lambda *_: b"x"), f"{HAS} a bytes; {GIVE}"),
    "returns nothing": (Scaled(lambda *_: []), f"{HAS} nothing to link; {GIVE}"),
    "no method": (
        types.SimpleNamespace(__numba_cuda_link__=3),
        "'f' has a __numba_cuda_link__ that cannot be called; write a method of the argument types",
    ),
    "no sig": (
        Scaled(sig=None),
        "'f' has __numba_cuda_link__, and no sig that says what it takes and returns; give it one, such as "
        "sig = 'float32(float32, float32)'",
    ),
    "sig of another kind": (Scaled(sig=7), "'f' has a sig of type int; write it as 'float32(float32, int32)'"),
    "half a sig": (Scaled(sig="float32"), "'f' has the signature 'float32'; write it as 'float32(float32, int32)'"),
    "empty sig": (
        Scaled(sig=[]),
        "'f' has a sig without signatures; give one, such as sig = 'float32(float32, float32)'",
    ),
    "no name": (
        Scaled(name=None),
        "'f' has the name None, which is no symbol of a device function; give it name = '...'",
    ),
    "no symbol": (
        declared(name="a b"),
        "'f' has the name 'a b', which is no symbol of a device function; give it name = '...'",
    ),
    "one name for two": (
        Scaled(sig=[PAIR, "float64(float64, float64)"]),
        "'f' has several signatures and one name, 'scaled'; make name a method of the argument types",
    ),
    "path with NUL": (
        Scaled(["a\0b.cu"]),
        "'f' links 'a\\x00b.cu', which cannot be read: embedded null byte",
    ),
    "no text": (
        Scaled([types.SimpleNamespace(kind="cu", data="\ud800")]),
        "'f' cannot be linked: its data raised UnicodeEncodeError: 'utf-8' codec can't encode character '\\ud800' in "
        "position 0: surrogates not allowed",
    ),
    "kind of another kind": (
        Scaled([types.SimpleNamespace(kind=[], data=b"x")]),
        f"'f' links a SimpleNamespace of kind []; {CHOICES}",
    ),
    "abi of another kind": (
        Scaled(abi=np.array([1, 2])),
        "'f' has abi=array([1, 2]); linked code is called by 'c' or 'numba'",
    ),
    "property that raises": (
        Asked(),
        "'f' cannot be linked: asking what it links raised RuntimeError: not configured",
    ),
    "abi": (Scaled(abi="raw"), "'f' has abi='raw'; linked code is called by 'c' or 'numba'"),
    "of the metric": (
        declared(name="m"),
        "'m' is linked, and the metric has that name; give it another symbol_name",
    ),
    "of a hook": (
        declared(name="m_update"),
        "'m_update' is linked, and the metric has that name; give it another symbol_name",
    ),
    "too few": (declared(sig="float32(float32)"), "'scaled' takes (float32), and is called with 2 arguments"),
    "other types": (
        declared(sig="float32(int32, float32)"),
        "'scaled' takes (int32, float32), and is called with (float32, float32); convert, e.g. by np.int32(...)",
    ),
    "neither": (
        Scaled(sig=["float32(int32, float32)", "float32(float32)"], name=lambda *types: f"s{len(types)}"),
        "'s2' takes (int32, float32) or (float32), and is called with (float32, float32); convert, e.g. by "
        "np.int32(...)",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_at_the_call(case: str) -> None:
    f, message = REFUSED[case]
    assert refused(metric_of(f)) == message.replace("REFUSED.", "")


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (declared(cuda.PTXSource(b"abc")), "[E5] links 3 bytes as ptx, which they are not: PTX is text with .version and .target"),
        (
            declared(name="annudf_x"),
            "[E8] has a name that a linker cannot be asked for, or that annudf or a device compiler keeps for itself; "
            "use letters, digits and _, at most 510, not beginning with a digit, annudf or __",
        ),
    ],
)  # fmt: skip
def test_rules_of_the_dialect_are_told_at_the_call(f: Any, message: str) -> None:
    assert refused(metric_of(f), kind=CompileError) == message


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (
            declared(cuda.CUSource(SOURCE), abi="numba"),
            "code linked for 'scaled' does not compile: line 1: more than one instance of overloaded function "
            '"scaled" has "C" linkage; before it stands extern "C" __device__ int scaled(float *, float, float);',
        ),
        (
            declared(cuda.CUSource(SOURCE.replace("scaled", "other"))),
            "code linked for 'scaled' does not define it, as extern \"C\" has it",
        ),
        (
            declared(cuda.CUSource(f"\n # include </tmp/own.h>\n{SOURCE}")),
            "code linked for 'scaled' does not compile: line 2 includes /tmp/own.h; include headers that stand beside "
            "NVRTC, by name: a cache does not see others change",
        ),
    ],
)
def test_what_the_compiler_finds_in_the_code_is_told_at_the_call(f: Any, message: str) -> None:
    _linker()
    assert refused(metric_of(f), kind=CompileError) == message


def test_headers_of_the_folder_are_not_included(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They were, and whoever changed one found what had been compiled before."""
    _linker()
    (tmp_path / "own.h").write_text("#define K 2\n")
    monkeypatch.chdir(tmp_path)
    message = (
        "code linked for 'scaled' does not compile: line 1: cannot open source file \"own.h\"; before it stands extern "
        '"C" __device__ float scaled(float, float);'
    )
    assert refused(metric_of(declared(cuda.CUSource('#include "own.h"\n' + SOURCE))), kind=CompileError) == message
    metric_of(declared(cuda.CUSource('#include "cuda_fp16.h"\n' + SOURCE))).artifact("sm_90")


@pytest.mark.parametrize("name", ["a0", "result"])
def test_no_name_of_an_adapter_hides_the_function(name: str) -> None:
    _linker()
    f = declared(cuda.CUSource(NUMBA.replace("scaled", name)), abi="numba", name=name)
    assert metric_of(f).artifact("sm_90").archs == ["sm_90"]


def test_code_that_is_too_long_for_a_module() -> None:
    message = (
        "'scaled' links 5600001 bytes, and the text of a metric with its code has at most 16777216, of which a byte "
        "that is no ASCII character takes three; link less"
    )
    assert refused(metric_of(declared(cuda.Cubin(b"\x7f" * 5_600_001)))) == message


def test_a_file_that_is_longer_than_a_module(tmp_path: pathlib.Path) -> None:
    """It is not read to its end."""
    file = tmp_path / "scaled.cu"
    with open(file, "wb") as made:
        made.truncate(1 << 40)
    message = f"'f' links {file}, which is longer than the 16777216 bytes of a metric with its code; link less"
    assert refused(metric_of(declared(str(file)))) == message


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: os.symlink("/dev/zero", path)], ids=["pipe", "device"])
def test_what_has_no_end_is_not_waited_for(make: Any, tmp_path: pathlib.Path) -> None:
    make(tmp_path / "scaled.cu")
    message = f"'f' links {tmp_path}/scaled.cu, which is no file; {CHOICES}"
    assert refused(metric_of(declared(str(tmp_path / "scaled.cu")))) == message


def test_a_name_that_spells_itself_in_another_way() -> None:
    class Name(str):
        def __format__(self, spec: str) -> str:
            return "other"

    assert "annudf.extern @scaled convention(c)" in metric_of(Scaled(name=Name("scaled"))).mlir()


@pytest.mark.filterwarnings("ignore:.*never reads:UserWarning")
def test_arguments_that_are_no_numbers() -> None:
    f, g, module = declared(), declared(cuda.CUSource("x")), types.SimpleNamespace(f=declared("/nowhere/x.cu"))
    first = inspect.currentframe().f_lineno + 2  # type: ignore[union-attr]
    functions = {
        lambda x, y, acc, ctx: acc + f(x, y=y): "'scaled' takes no keyword arguments",
        lambda x, y, acc, ctx: acc + f(x, (y, y)): "'scaled' takes numbers, and is called with a tuple; write its "
        "numbers one by one",
        lambda x, y, acc, ctx: acc + f(x, ctx): "'scaled' takes numbers, and is called with ctx",
        lambda x, y, acc, ctx: acc + f(x, ctx.w): "'scaled' takes numbers, and is called with the array ctx.w; read "
        "one entry, ctx.w[ctx.dim]",
        lambda x, y, acc, ctx: acc + f(x, x > y): "'scaled' takes (float32, float32), and is called with (float32, "
        "bool); convert, e.g. by np.float32(...)",
        lambda x, y, acc, ctx: acc + f(x, y) + g(x, y): "two functions called 'scaled' are linked, and a linker knows "
        "them by their names; rename one",
        lambda x, y, acc, ctx: acc + module.f(x, y): "this function links /nowhere/x.cu, which cannot be read: No such "
        "file or directory",
        lambda x, y, acc, ctx: acc + f: "+ needs numbers, got a function",
    }
    for function, message in functions.items():
        metric = ivf_flat.metric(captures={"w": np.ones(4, np.float32)}, symbol_name="m")(function)
        with pytest.raises(UnsupportedError) as caught:
            metric.mlir()
        assert caught.value.diagnostics[0].message == message
        assert caught.value.diagnostics[0].line >= first


def test_an_attribute_of_a_module_that_cannot_be_linked() -> None:
    module = types.SimpleNamespace(f=declared("/nowhere/x.cu"))

    @ivf_flat.metric
    def m(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + module.f(x, y)

    place = (inspect.currentframe().f_lineno - 2, 22)  # type: ignore[union-attr]
    message = "'SimpleNamespace.f' links /nowhere/x.cu, which cannot be read: No such file or directory"
    assert refused(m, place) == message


def test_two_hooks_that_link_different_code_of_one_name() -> None:
    f, g = declared(), declared(cuda.CUSource("x"))

    def finalize(acc):  # type: ignore[no-untyped-def]
        return g(acc, acc)

    @ivf_flat.metric(finalize=finalize)
    def m(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + f(x, y)

    with pytest.raises(UnsupportedError, match="two functions called 'scaled' are linked, and a linker knows them"):
        m.mlir()


def test_what_is_no_linked_function() -> None:
    for value in (None, 3, np.float32(1), np, cuda, len, Scaled, test_what_is_no_linked_function, object()):
        assert not links.is_linked(value)
