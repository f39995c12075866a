# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What the tests of linked code share: functions with code, and metrics that call them."""

from __future__ import annotations

import inspect
import shutil
import subprocess
from typing import Any

import pytest
from numba_cuda_mlir import cuda

import annudf
from annudf import _core, ivf_flat
from annudf.errors import CompileError, UnsupportedError

SOURCE = 'extern "C" __device__ float scaled(float x, float y) { return 2 * (x - y); }\n'
NUMBA = 'extern "C" __device__ int scaled(float *r, float x, float y) { *r = 2 * (x - y); return 0; }\n'
PAIR = "float32(float32, float32)"


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


def refused(
    metric: ivf_flat.Metric, place: tuple[int, int] = (LINE, 22), kind: type = UnsupportedError, file: str = __file__
) -> str:
    with pytest.raises(CompileError) as caught:
        metric.artifact("sm_90")
    assert type(caught.value) is kind
    (diagnostic,) = [one for one in caught.value.diagnostics if one.severity == "error"]
    assert (diagnostic.file, diagnostic.line, diagnostic.column) == (file, *place)
    return diagnostic.message


def need_linker() -> None:
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
