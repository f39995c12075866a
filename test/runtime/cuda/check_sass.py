#!/usr/bin/env python3
# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails if a linked scan kernel still calls a hook: every CALL must go to the assembler's own helpers; or if it does
not wait for the kernel before it, where it may begin before that has ended (sm_90 and newer: ACQBULK).

usage: check_sass.py CUBIN KERNEL      exit 0: inlined; 1: a call is left; 77: no nvdisasm here

ptxas itself emits CALL for a reconvergence slow path (a local label, or $__internal_N_$__cuda_sm70_shflsync...)
and for the slow paths of IEEE division and square root ($__internal_N_$__cuda_sm3x_div...). Anything else is a
function that was not inlined: a hook, or something a hook calls.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

ALLOWED = re.compile(r"^(\.L_x?_?\d*|\$__internal_\d+_\$__cuda_sm\w+)$")


def find_nvdisasm():
    root = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
    places = [os.environ.get("ANNUDF_NVDISASM"), shutil.which("nvdisasm")]
    for base in sys.path + glob.glob(os.path.join(root, ".venv/lib/python3*/site-packages")) + glob.glob(
        os.path.join(os.environ.get("VIRTUAL_ENV", "/nonexistent"), "lib/python3*/site-packages")
    ):
        places += [os.path.join(base, "nvidia", "cu13", "bin", "nvdisasm")]
        places += [os.path.join(base, "nvidia", "cuda_nvdisasm", "bin", "nvdisasm")]
    places.append(os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "nvdisasm"))
    return next((p for p in places if p and os.access(p, os.X_OK)), None)


def calls(sass):
    """(kernel, target) of every CALL that is not the assembler's own."""
    kernel, found, kernels = "?", [], set()
    for line in sass.splitlines():
        if header := re.match(r"\s*\.text\.(\S+):", line):
            kernel = header.group(1)
            kernels.add(kernel)
        elif call := re.search(r"\bCALL\.\S*\s+(.*?);", line):
            operand = call.group(1).strip()
            target = re.search(r"`\(([^)]*)\)", operand)
            if not target or not ALLOWED.match(target.group(1)):
                found.append((kernel, target.group(1) if target else operand))
    return kernels, found


def main():
    nvdisasm = find_nvdisasm()
    if not nvdisasm:
        print("check_sass: SKIPPED: no nvdisasm (pip install nvidia-cuda-nvdisasm)", file=sys.stderr)
        return 77
    status = 0
    cubin, needed = sys.argv[1], {sys.argv[2], "annudf_read_contract"}
    sass = subprocess.run([nvdisasm, "-c", cubin], capture_output=True, text=True)
    if sass.returncode:
        print(f"{cubin}: nvdisasm: {sass.stderr.strip()}", file=sys.stderr)
        return 1
    kernels, left = calls(sass.stdout)
    if not needed <= kernels:
        print(f"{cubin}: it has {sorted(kernels)}, not {sorted(needed)}", file=sys.stderr)
        status = 1
    for name in sorted(kernels - needed):
        print(f"{cubin}: function {name} was not inlined, or is a kernel that no search asked for", file=sys.stderr)
        status = 1
    arch = re.search(r"\.target\s+sm_(\d+)", sass.stdout)
    if not arch:
        print(f"{cubin}: nvdisasm does not tell its architecture", file=sys.stderr)
        status = 1
    elif (int(arch.group(1)) >= 90) != bool(re.search(r"\bACQBULK\b", sass.stdout)):
        print(f"{cubin}: {sys.argv[2]} of sm_{arch.group(1)} must wait for the kernel before it from sm_90 on, and only there", file=sys.stderr)
        status = 1
    for kernel, target in left:
        print(f"{cubin}: {kernel} calls {target}", file=sys.stderr)
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
