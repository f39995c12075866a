# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles what LinkedCode.cpp searches with: one formula, plain and by a call of linked code. No GPU is needed.

usage: python test/e2e/linked_artifacts.py DIR        with the package, and ptxas for the cubin
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numba_cuda_mlir import cuda

import annudf
from annudf import ivf_flat

ARCHS = ["sm_80", "sm_90"]
PAIR = "float32(float32, float32)"
SOURCE = 'extern "C" __device__ float scaled(float x, float y) { return 2 * (x - y); }\n'
NUMBA = 'extern "C" __device__ int scaled(float *r, float x, float y) { *r = 2 * (x - y); return 0; }\n'
ROWS = 20000


def scaled(x, y):  # type: ignore[no-untyped-def]
    return 2 * (x - y)


def compiled(output: Any, arch: str) -> Any:
    return annudf.compile(scaled, PAIR, abi_info={"abi_name": "scaled"}, output=output, cc=arch).code


def cubin() -> bytes:
    ptxas = shutil.which("ptxas", path="/usr/local/cuda/bin") or shutil.which("ptxas")
    assert ptxas, "no ptxas on this machine"
    command = [ptxas, "-c", "-arch=sm_90", "-o", "/dev/stdout", "-"]
    made = subprocess.run(command, input=compiled("ptx", "sm_90").encode(), stdout=subprocess.PIPE, check=True)
    return made.stdout


def metric_of(f: Any) -> ivf_flat.Metric:
    @ivf_flat.metric(symbol_name="formula", elements=["float32"])
    def formula(x, y, acc):  # type: ignore[no-untyped-def]
        d = f(x, y)
        return acc + d * d

    return formula


def filter_of(f: Any) -> Any:
    @ivf_flat.filter(captures={"price": np.zeros(ROWS, np.float32)})
    def formula(ctx):  # type: ignore[no-untyped-def]
        return f(ctx.price[ctx.row], 0.25) < 0.5

    return formula


class Given:
    """An object that knows its code."""

    name, sig = "scaled", PAIR

    def __init__(self, code: Any, abi: str) -> None:
        self.code, self.abi = code, abi

    def __numba_cuda_link__(self, *arguments: Any) -> list[Any]:
        assert [str(one) for one in arguments] == ["float32", "float32"]
        return [self.code]


def main(folder: Path) -> None:
    metric_of(scaled).save(folder / "linked_plain.annudf", archs=ARCHS)
    filter_of(scaled)._metric.save(folder / "linked_plain_filter.annudf", archs=ARCHS)
    codes = {
        "cuda_source": (cuda.CUSource(SOURCE), "c", ARCHS),
        "numba": (cuda.CUSource(NUMBA), "numba", ARCHS),
        "ltoir": (cuda.LTOIR(compiled("ltoir", "sm_80")), "c", ARCHS),
        "ptx": (cuda.PTXSource(compiled("ptx", "sm_80")), "c", ARCHS),
        "cubin": (cuda.Cubin(cubin()), "c", ["sm_90"]),
    }
    for number, (name, (code, abi, archs)) in enumerate(codes.items()):
        declared = cuda.declare_device("scaled", PAIR, link=[code], abi=abi)
        metric = metric_of(declared if number % 2 else Given(code, abi))
        metric.save(folder / f"linked_python_{name}.annudf", archs=archs)
        if name in ("cuda_source", "numba", "ptx"):
            text = folder / f"linked_{name}.mlir"
            text.write_text(metric.mlir())
            ivf_flat.load_metric(text).save(folder / f"linked_text_{name}.annudf", archs=archs)
            text.unlink()
    by_source = cuda.declare_device("scaled", PAIR, link=[cuda.CUSource(SOURCE)], abi="c")
    filter_of(by_source)._metric.save(folder / "linked_python_filter.annudf", archs=ARCHS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
