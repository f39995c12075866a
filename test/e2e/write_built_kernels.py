# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PTX of the kernels that annudf-build-kernel writes, and artifacts of their metrics, for BuiltKernels.cpp.

usage: write_built_kernels.py FOLDER CHIP ANNUDF PLUGIN MLIR_OPT

The kernels are those of kernels.txt, by the pipeline of docs/develop/mlir-pipeline.md.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDERS = [HERE / "metrics", ROOT / "docs/examples/metrics", ROOT / "lib/Metrics"]
PIPELINE = """builtin.module(annudf-verify-abi,
annudf-build-kernel{{element={element} chip={chip}}},annudf-build-kernel{{kind=k-nearest k={k} element={element}}},
annudf-inline-hooks,gpu.module(convert-scf-to-cf,convert-gpu-to-nvvm),convert-to-llvm,gpu-module-to-binary{{format=isa}})"""


def source_of(metric):
    return next(path for folder in FOLDERS if (path := folder / f"{metric}.mlir").exists())


def ptx_of(source, chip, element, k, mlir_opt, plugin):
    command = [mlir_opt, source, f"--load-dialect-plugin={plugin}"]
    command.append("--pass-pipeline=" + PIPELINE.format(chip=chip, element=element, k=k).replace("\n", ""))
    binary = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    text = re.search(r'assembly = "(.*)">', binary)[1]
    ptx = re.sub(r"\\(..)", lambda code: chr(int(code[1], 16)), text)
    if ".extern .func" in ptx:
        sys.exit(f"{source}: calls what is not in the PTX; set CUDA_HOME to a CUDA toolkit, which has libdevice")
    return ptx


def main():
    folder, chip, annudf, plugin, mlir_opt = sys.argv[1:]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "kernels.txt", folder)
    lines = [line.split() for line in (HERE / "kernels.txt").read_text().splitlines() if line and line[0] != "#"]
    for metric, element, k in lines:
        ptx = ptx_of(source_of(metric), chip, element, k, mlir_opt, plugin)
        (folder / f"{metric}.{element}.ptx").write_text(ptx)
    for metric in sorted({line[0] for line in lines}):
        subprocess.run([annudf, "compile", source_of(metric), "-q", "-o", folder / f"{metric}.annudf"], check=True)
    print(f"{len(lines)} kernels of all distances and of the nearest rows, {chip}: {folder}")


if __name__ == "__main__":
    main()
