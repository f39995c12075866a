#!/usr/bin/env python3
# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails if a linked scan kernel still calls a hook: every CALL must go to the assembler's own helpers; or if it does
not wait for the kernel before it, where it may begin before that has ended (sm_90 and newer: ACQBULK).

usage: check_sass.py CUBIN KERNEL [SHARE]      exit 0: inlined; 1: a call is left; 77: no nvdisasm here

With SHARE it also fails where the kernel uses local memory, or where of the instructions of its innermost loop with
most of them fewer than SHARE percent are FADD, FMUL or FFMA (0: no such loop is needed), and prints that share.

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

FLOATS = {"FADD", "FMUL", "FFMA"}
LOCAL = {"LDL", "STL"}
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


def instructions(sass, kernel):
    """Opcodes of a kernel without their modifiers, and its backward branches as (first, last) instruction."""
    ops, labels, loops, inside = [], {}, [], False
    for line in sass.splitlines():
        if header := re.match(r"\s*\.text\.(\S+):", line):
            inside = header.group(1) == kernel
        elif not inside:
            continue
        elif label := re.match(r"\s*(\.L_x_\d+):", line):
            labels[label.group(1)] = len(ops)
        elif op := re.search(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z]\w*)(.*)", line):
            target = re.search(r"`\((\.L_x_\d+)\)", op.group(2))
            if op.group(1) == "BRA" and target and target.group(1) in labels:
                loops.append((labels[target.group(1)], len(ops)))
            ops.append(op.group(1))
    return ops, loops


def hot_loop(ops, loops):
    """(float instructions, all instructions) of the innermost loop with most of the former."""
    innermost = [(a, b) for a, b in loops if not any(a <= c and d <= b and (c, d) != (a, b) for c, d in loops)]
    counts = [(sum(op in FLOATS for op in ops[a : b + 1]), b + 1 - a) for a, b in innermost]
    return max(counts, default=(0, 0))


def check_speed(sass, kernel, share):
    """What keeps a kernel from the speed of its arithmetic; prints the share that was found."""
    ops, loops = instructions(sass, kernel)
    wrong = []
    if local := sum(op in LOCAL for op in ops):
        wrong.append(f"{kernel} uses local memory: {local} of its {len(ops)} instructions are LDL or STL")
    if not share:
        return wrong
    floats, count = hot_loop(ops, loops)
    found = 100 * floats / count if count else 0
    print(f"{kernel}: {floats} of the {count} instructions of the hot loop are FADD, FMUL or FFMA ({found:.1f} %)")
    if found < share:
        wrong.append(f"{kernel}: {found:.1f} % of the hot loop is arithmetic, {share} % are wanted")
    return wrong


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
    for wrong in check_speed(sass.stdout, sys.argv[2], int(sys.argv[3])) if sys.argv[3:] else ():
        print(f"{cubin}: {wrong}", file=sys.stderr)
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
