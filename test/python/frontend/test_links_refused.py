# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Linked code that is refused, each with its message and its place."""

from __future__ import annotations

import inspect
import os
import pathlib
import types
from typing import Any

import numpy as np
import pytest
from linked import NUMBA, PAIR, SOURCE, Scaled, declared, metric_of, need_linker, refused
from numba_cuda_mlir import cuda
from numba_cuda_mlir import types as numba_types

from annudf import ivf_flat
from annudf._frontend.source import links
from annudf.errors import CompileError, UnsupportedError

CHOICES = "LTO-IR (.ltoir), PTX (.ptx), cubins (.cubin) and CUDA C++ (.cu) can be linked"
GIVE = "give paths of .ltoir, .ptx, .cubin and .cu files, or code as cuda.LTOIR, PTXSource, Cubin and CUSource hold it"
NUMBERS = "linked code takes and returns float32, float64, int32, int64, uint32 and uint64"


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
        "'f' is a test_links_refused.ExternFunction, which does not tell what it links; declare it by "
        "numba_cuda_mlir's "
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
        (declared(cuda.PTXSource(b"abc")), "[E5] links 3 bytes that are not ptx: PTX is text with .version and .target"),
        (
            declared(name="annudf_x"),
            "[E8] has a name that is no C identifier or is reserved; "
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
    need_linker()
    assert refused(metric_of(f), kind=CompileError) == message


def test_headers_of_the_folder_are_not_included(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They were, and whoever changed one found what had been compiled before."""
    need_linker()
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
    need_linker()
    f = declared(cuda.CUSource(NUMBA.replace("scaled", name)), abi="numba", name=name)
    assert metric_of(f).artifact("sm_90").archs == ["sm_90"]


def test_code_that_is_too_long_for_a_module() -> None:
    message = (
        "'scaled' links 5600001 bytes; a metric with its code takes at most 16777216, and a byte that is not ASCII "
        "counts as three; link less"
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
        lambda x, y, acc, ctx: acc + f(x, y) + g(x, y): "two linked functions are called 'scaled'; rename one",
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
    assert refused(m, place, file=__file__) == message


def test_two_hooks_that_link_different_code_of_one_name() -> None:
    f, g = declared(), declared(cuda.CUSource("x"))

    def finalize(acc):  # type: ignore[no-untyped-def]
        return g(acc, acc)

    @ivf_flat.metric(finalize=finalize)
    def m(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + f(x, y)

    with pytest.raises(UnsupportedError, match="two linked functions are called 'scaled'; rename one"):
        m.mlir()


def test_what_is_no_linked_function() -> None:
    for value in (None, 3, np.float32(1), np, cuda, len, Scaled, test_what_is_no_linked_function, object()):
        assert not links.is_linked(value)
