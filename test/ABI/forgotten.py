#!/usr/bin/env python3
# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds rows to a copy of the ABI's tables and sees that whoever forgets one is told.

usage: forgotten.py BUILD_DIR [--only SOURCE | --short] [--cuda]

One copy has a row more in every table. Each source that computes with rows must not compile against it, and must say which row
it lacks; sources that follow the tables by themselves must. Then single changes: a row without what it needs, and an artifact of a
metric that uses a row of the next minor, made by a library of that minor, which the one that was built refuses with both
minors named. --short leaves out the sources that include MLIR or LLVM and kernels of CUDA, which take seconds each. Without
--cuda all sources but CUDA's are checked, with it these alone. A build without CUDA skips them; any other source that the build lacks is a fault.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
KERNELS = ROOT / "runtime/kernels"

# A row more in each table.
ROWS = {
    "ELEMENTS": 'X(FAKE, 77, "fake", 8, FLOAT, 0)',
    "COMPUTE_TYPES": 'X(FAKE, 77, "fake", 16, FLOAT, 0)',
    "ACCUMULATORS": 'X(FAKE, 77, "fake", 64, UNSIGNED, 0)',
    "ORDERS": 'X(FAKE, 77, "fake", 0)',
    "COARSES": 'X(FAKE, 77, "fake", MIN, 0)',
    "NUMERICS": 'X(FAKE, 77, "fake", 0)',
    "EXTENTS": 'X(FAKE, 77, "fake", 0)',
    "CAPTURE_ELEMENTS": 'X(FAKE, 77, "fake", 16, SIGNED, 0)',
    "ROLES": 'X(FAKE, 77, "fake", 0)',
    "HOOKS": 'X(FAKE, 77, "fake", OPTIONAL, 0)',
    "PACKED_TERMS": 'X(FAKE, 77, "fake", 0)',
    "FEATURES": 'X(FAKE, 20, "fake", 0)',
    "LIMITS": 'X(MAX_FAKE, 77, "fakes")',
}
# What the hook's row in annudf_abi.h has to have, for accumulators of one word and of several.
PROTOTYPE = {
    "a": "ROW(FAKE, annudf1_scan_fake_a##A, float, (uint##A##_t acc, int32_t dims))",
    "s": "ROW(FAKE, annudf1_scan_fake_s##A, float, (const uint##A##_t *acc, int32_t dims))",
}
# What bounds the extent's row in Extents.h, which is new, too.
BOUND = [
    ("  Number,", r"  Fake,\n\g<0>"),
    ("  case ANNUDF_EXTENT_CONSTANT:", r"  case ANNUDF_EXTENT_FAKE:\n    return ExtentBound::Fake;\n\g<0>"),
    ("  case ExtentBound::Rows:", r"  case ExtentBound::Fake:\n\g<0>"),
]

MAKE = "is not what annudf_tables.h says; run scripts/check tables --update"
HOOK = "enumeration value 'FAKE' not handled in switch"
FAKE_BOUND = "enumeration value 'Fake' not handled in switch"
C_HOOK = "enumeration value 'ANNUDF_HOOK_FAKE' not handled in switch"
# Source -> what it must say, a part for each row that it lacks.
BREAKS = {
    "lib/Dialect/IR/AnnudfAttributes.cpp": [f"{enum} {MAKE}" for enum in ("Order", "Coarse", "Element", "Accumulator", "Numerics")],
    "lib/Dialect/IR/Descriptor.cpp": ["ANNUDF_ACCUMULATOR_FAKE", "ANNUDF_COMPUTE_FAKE", "ANNUDF_CAPTURE_FAKE"],
    "lib/Dialect/IR/AnnudfOps.cpp": [C_HOOK],
    "lib/Analysis/Ranges.cpp": [C_HOOK],
    "lib/Analysis/Extents.cpp": ["ANNUDF_EXTENT_FAKE"],
    "lib/Analysis/Lanes.cpp": ["ANNUDF_PACKED_FAKE"],
    "test/Compiler/LanesTest.cpp": ["annudf_tables.h has a packed term that addTerm does not add"],
    "lib/Conversion/AccumulatorV1/LowerAccesses.cpp": ["ANNUDF_EXTENT_FAKE"],
    "lib/Conversion/AccumulatorV1/StraightenBranches.cpp": ["ANNUDF_EXTENT_FAKE"],
    "lib/Artifact/Form.cpp": ["ANNUDF_EXTENT_FAKE"],
    "lib/Artifact/Descriptor.cpp": ["ANNUDF_FEATURE_FAKE", "annudf_tables.h has a role beside scan"],
    "lib/Conversion/AccumulatorV1/LowerHooks.cpp": [HOOK],
    "lib/Compiler/CompileCudaSource.cpp": [C_HOOK],
    "lib/Target/CudaSource/Program.cpp": [
        HOOK,
        "CUDA source has no type for compute type fake",
        "CUDA source has no type for accumulator fake",
        "CUDA source has no type for captures of fake",
    ],
    "runtime/lib/captures/Captures.cpp": ["ANNUDF_EXTENT_FAKE"],
    "runtime/lib/engine/Search.cpp": [FAKE_BOUND],
    "runtime/lib/captures/Values.cpp": ["nothing converts to captures of fake"],
    "runtime/lib/vectors/Elements.cpp": ["ANNUDF_ELEMENT_FAKE"],
    "runtime/lib/coarse/KMeans.cpp": ["ANNUDF_COARSE_FAKE"],
    "runtime/lib/coarse/Coarse.cpp": ["ANNUDF_COARSE_FAKE", "OrderOf<77>"],
    "runtime/lib/cpu/jit/Link.cpp": [HOOK],
    "runtime/lib/cpu/jit/Stubs.cpp": [HOOK],
    "runtime/lib/cpu/search/Queries.cpp": ["Element<77>", "Compute<77>"],
    "runtime/lib/cpu/search/TopK.cpp": ["OrderOf<77>"],
    "runtime/lib/cuda/link/Linker.cpp": [HOOK],
    "runtime/bench/CudaBench.cpp": ["ANNUDF_ELEMENT_FAKE"],
    "runtime/kernels/cpu/Scan.cpp": ["annudf_tables.h has a hook that this scan does not call", "Element<77>", "Compute<77>", "OrderOf<77>"],
    "runtime/kernels/cuda/scan/Scan.cu": ["annudf_tables.h has a hook that this scan does not call", "Element<77>", "Compute<77>", "OrderOf<77>"],
    "runtime/kernels/cuda/scan/Filter.cu": ["annudf_tables.h has a hook that is not defined for filters"],
    "runtime/kernels/cuda/search/Search.cu": ["OrderOf<77>"],
    "runtime/kernels/cuda/scan/Finalize.cu": ["Accumulator<Kind::UNSIGNED, 64>"],
}
# What follows the tables by itself.
FOLLOWS = [
    "lib/Artifact/Tables.cpp",
    "lib/Artifact/Manifest.cpp",
    "lib/Artifact/Inspect.cpp",
    "lib/CAPI/Compiler.cpp",
    "lib/Dialect/IR/AnnudfTypes.cpp",
    "lib/Target/LTOIR/Prototypes.cpp",
    "lib/Target/Translate.cpp",
    "runtime/lib/vectors/Matrix.cpp",
    "runtime/lib/engine/Plan.cpp",
]
# Changes by themselves: rows, a prototype or none, a source or a text to compile, and what is said; None: it compiles.
SINGLE = {
    "a number of another": ({"ORDERS": 'X(FAKE, 1, "fake", 0)'}, None, "lib/Artifact/Tables.cpp", "takes the number or the spelling of another"),
    "a spelling of another": ({"ROLES": 'X(FAKE, 9, "filter", 0)'}, None, "lib/Artifact/Tables.cpp", "takes the number or the spelling of another"),
    "a hook without a prototype": ({"HOOKS": ROWS["HOOKS"]}, None, "lib/Target/LTOIR/Prototypes.cpp", "no member named 'FAKE'"),
    "a hook for accumulators of one word alone": (
        {"HOOKS": ROWS["HOOKS"]},
        {"a": PROTOTYPE["a"]},
        "lib/Target/LTOIR/Prototypes.cpp",
        "has no prototype for accumulators of several fields",
    ),
    "a coarse metric on the device": ({"COARSES": ROWS["COARSES"]}, None, "runtime/kernels/cuda/search/Search.cu", "[with kind=77]"),
    "an extent without a bound": (
        {"EXTENTS": ROWS["EXTENTS"]},
        None,
        "runtime/lib/engine/Search.cpp",
        "enumeration value 'ANNUDF_EXTENT_FAKE' not handled in switch",
    ),
    "an optional hook": (
        {"HOOKS": ROWS["HOOKS"]},
        PROTOTYPE,
        """#include "annudf/ABI/Hooks.h"
        using namespace annudf;
        static_assert(!isRequired(ScanHook::FAKE) && !isDefinedBy(ScanHook::FAKE, {}));
        constexpr annudf_hook kAll[] = {ANNUDF_HOOK_FAKE};
        static_assert(isDefinedBy(ScanHook::FAKE, kAll) && !isDefinedBy(ScanHook::FINALIZE, kAll));""",
        None,
    ),
    "a required hook": (
        {"HOOKS": 'X(FAKE, 77, "fake", REQUIRED, 1)'},
        PROTOTYPE,
        '#include "annudf/ABI/Hooks.h"\nstatic_assert(annudf::isRequired(annudf::ScanHook::FAKE));',
        None,
    ),
    "a presence that there is not": (
        {"HOOKS": 'X(FAKE, 77, "fake", SOMETIMES, 1)'},
        PROTOTYPE,
        '#include "annudf/ABI/Hooks.h"',
        "undeclared identifier 'SOMETIMES'",
    ),
}  # fmt: skip


def copy_tables(folder, rows, prototype=None, minor=None, bound=()):
    """The ABI's headers with rows more."""
    target = Path(folder) / "annudf" / "ABI"
    shutil.copytree(ROOT / "include/annudf/ABI", target)

    def change(name, pattern, replacement):
        path = target / name
        text, count = re.subn(pattern, replacement, path.read_text(), count=1)
        assert count == 1, f"{name} has no {pattern}"
        path.write_text(text)

    for table, row in rows.items():
        change("annudf_tables.h", rf"(#define ANNUDF_{table}\(X\)[ \\\n]*)", rf"\1{row} \\\n  ")
    for form, row in (prototype or {}).items():
        change("annudf_abi.h", rf"(#define ANNUDF_SCAN_HOOKS_{form}\(ROW, A, X\)[ \\\n]*)", rf"\1{row} \\\n  ")
    for pattern, replacement in bound:
        change("Extents.h", pattern, replacement)
    if minor is not None:
        change("annudf_abi.h", r"(#define ANNUDF_ABI_MINOR) \d+", rf"\1 {minor}")
    return folder


class Sources:
    def __init__(self, build):
        entries = json.loads((build / "compile_commands.json").read_text())
        self.entries = {os.path.relpath(os.path.join(e["directory"], e["file"]), ROOT): e for e in entries}
        found = re.search(r"^CUDAToolkit_NVCC_EXECUTABLE:\w+=(.*nvcc)$", (build / "CMakeCache.txt").read_text(), re.M)
        self.nvcc = found[1] if found and "runtime/lib/cuda/link/Linker.cpp" in self.entries else None
        words = shlex.split(self.entries["lib/Artifact/Tables.cpp"]["command"])
        self.compiler = next(word for word in words if not word.endswith("ccache"))

    def has(self, source):
        if source.endswith(".cu"):
            return self.nvcc is not None
        return source in self.entries or source.startswith("runtime/kernels/")

    def command(self, source):
        """How the build compiles it, without the output."""
        if source.endswith(".cu"):
            # The front end names what is missing; one architecture and no machine code.
            defines = ["-DANNUDF_ACCUMULATOR_FORM=a", "-DANNUDF_ACCUMULATOR_WIDTH=32", "-DANNUDF_COORDINATE_WIDTH=32"]
            defines += ["-DANNUDF_ACCUMULATOR_ROW=F32", "-DANNUDF_BITS=32"]
            return [self.nvcc, "-std=c++17", f"-I{ROOT}/include", *defines, "-arch=sm_75", "-ptx", "-o", os.devnull, str(ROOT / source)]
        if source not in self.entries:
            return [self.compiler, "-std=c++20", f"-I{ROOT}/include", "-fsyntax-only", str(ROOT / source)]
        command, skip = [], False
        for word in shlex.split(self.entries[source]["command"]):
            if skip:
                skip = False
            elif word in ("-o", "-MF", "-MT", "-MQ"):
                skip = True
            elif word not in ("-c", "-MD", "-MMD") and not word.endswith("ccache"):
                command.append(word)
        return [*command, "-fsyntax-only", "-Werror=switch", *(["-ferror-limit=0"] if "clang" in command[0] else [])]

    def check(self, source, folder):
        """None if it compiles against the headers in `folder`, else what the compiler says."""
        if "\n" in source or "#" in source:
            path = Path(folder) / "text.cpp"
            path.write_text(source)
            command, cwd = [self.compiler, "-std=c++20", "-fsyntax-only", str(path)], folder
        else:
            command, cwd = self.command(source), self.entries[source]["directory"] if source in self.entries else folder
        command[1:1] = [f"-I{folder}"]
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
        return None if done.returncode == 0 else done.stdout + done.stderr


def is_cuda(source):
    return source.endswith(".cu") or source.startswith("runtime/lib/cuda/") or source == "runtime/bench/CudaBench.cpp"


def is_slow(source):
    return source.endswith(".cu") or source.startswith(("lib/Dialect/", "lib/Analysis/", "lib/Conversion/", "lib/Compiler/", "lib/Target/"))


def check_rows(sources, only, short, cuda, faults):
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        everywhere = copy_tables(os.path.join(scratch, "all"), ROWS, PROTOTYPE, bound=BOUND)
        jobs = [(source, source, parts, everywhere) for source, parts in BREAKS.items()]
        jobs += [(source, source, None, everywhere) for source in FOLLOWS]
        for name, (rows, prototype, source, said) in SINGLE.items():
            folder = copy_tables(os.path.join(scratch, name), rows, prototype)
            jobs.append((name, source, [said] if said else None, folder))
        running = []
        for name, source, expected, folder in jobs:
            if (only and only not in (name, source)) or (short and is_slow(source)) or (not only and is_cuda(source) != cuda):
                continue
            is_file = "#" not in source
            if is_file and not (ROOT / source).exists():
                faults.append(f"{source} does not exist; say where that moved")
            elif is_file and not sources.has(source):
                faults.append(f"{name}: this build does not compile {source}, so nothing was checked")
            else:
                running.append((name, expected, pool.submit(sources.check, source, folder)))
        if not running:
            faults.append("nothing was checked")
        for name, expected, job in running:
            said = job.result()
            if expected is None:
                if said is not None:
                    faults.append(f"{name}: should compile, but:\n{said[:2000]}")
                else:
                    print(f"{name}: follows")
            elif said is None:
                faults.append(f"{name}: compiles, and should say {expected}")
            elif missing := [part for part in expected if part not in said]:
                faults.append(f"{name}: does not say {missing}, but:\n{said[:4000]}")
            else:
                print(f"{name}: refuses, {len(expected)} reasons")


def check_limit(faults):
    with tempfile.TemporaryDirectory() as scratch:
        folder = copy_tables(os.path.join(scratch, "limit"), {"LIMITS": ROWS["LIMITS"]})
        command = [sys.executable, ROOT / "scripts/check", "tables", "--header", f"{folder}/annudf/ABI/annudf_tables.h"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0 or "nothing enforces limit MAX_FAKE" not in done.stderr:
            faults.append(f"a limit that nothing enforces: {done.stdout}{done.stderr}")


WRITER = r"""
#include "annudf/Artifact/Artifact.h"
#include <iostream>
int main(int, char **argv) {
  annudf::Artifact artifact;
  annudf::Manifest &m = artifact.manifest;
  m.name = "newer";
  m.elements = {ANNUDF_ELEMENT_F32};
  if (argv[2][0] != '0')
    m.elements.push_back(static_cast<annudf_element>(77));
  m.hooks = {ANNUDF_HOOK_INIT, ANNUDF_HOOK_UPDATE};
  m.requiredFeatures = annudf::featuresOf(m);
  m.abiMinor = argv[2][0] == '2' ? 0 : annudf::minorOf(m);
  m.annudfVersion = "0.2.0";
  m.llvmVersion = "22.1.8";
  try {
    annudf::writeArtifact(artifact, argv[1]);
  } catch (const annudf::Error &error) {
    std::cout << error.what();
  }
}
"""


def check_minor(sources, build, faults):
    """A library of minor 1 writes one artifact that uses a row of minor 1 and one that does not; annudf as built reads them. It writes
    none whose manifest says another minor than that of what it uses."""
    tool = build / "tools/annudf/annudf"
    if not tool.exists():
        faults.append(f"{tool} is not built, so no artifact of another minor was read")
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = copy_tables(os.path.join(scratch, "minor"), {"ELEMENTS": ROWS["ELEMENTS"].replace(", 0)", ", 1)")}, minor=1)
        writer = Path(scratch) / "writer.cpp"
        writer.write_text(WRITER)
        words = shlex.split(sources.entries["lib/Artifact/Tables.cpp"]["command"])
        kept = [word for word in words if word.startswith(("-I", "-D", "-std", "-isystem"))]
        code = [writer, *(ROOT / "lib/Artifact").glob("*.cpp"), *(ROOT / "lib/Support").glob("*.cpp")]
        objects = [os.path.join(scratch, f"{path.parent.name}_{path.stem}.o") for path in code]

        def build_one(path, output):
            subprocess.run([sources.compiler, f"-I{folder}", *kept, "-O0", "-c", str(path), "-o", output], check=True, cwd=build)

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(build_one, code, objects))
        program = os.path.join(scratch, "writer")
        subprocess.run([sources.compiler, *objects, "-o", program, "-ldl", "-lpthread"], check=True)
        for uses, expected in (("1", "needs annudf.accumulator.v1 1.1, this annudf accepts up to 1.0"), ("0", "annudf.accumulator.v1 1.0")):
            path = os.path.join(scratch, f"{uses}.annudf")
            subprocess.run([program, path, uses], check=True)
            done = subprocess.run([tool, "inspect", path], capture_output=True, text=True)
            said = done.stdout + done.stderr
            if expected not in said or (done.returncode == 0) != (uses == "0"):
                faults.append(f"an artifact that {'uses' if uses == '1' else 'does not use'} minor 1: {said}")
            else:
                print(f"minor: {'refused' if uses == '1' else 'read'}: {expected}")
        said = subprocess.run([program, os.path.join(scratch, "2.annudf"), "2"], check=True, capture_output=True, text=True).stdout
        if "says minor 0 of its ABI, its metric needs 1" not in said:
            faults.append(f"an artifact that says another minor than that of what it uses: {said or 'written'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", help="one source, or one of the single changes")
    parser.add_argument("--short", action="store_true", help="without the sources that compile slowly")
    parser.add_argument("--cuda", action="store_true", help="the sources of CUDA, which are left out otherwise")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    sources, faults = Sources(build), []
    if arguments.cuda and not sources.nvcc:
        print("SKIPPED, NOT RUN: this build has no CUDA, so none of its kernels was checked")
        return
    check_rows(sources, arguments.only, arguments.short, arguments.cuda, faults)
    if not arguments.only and not arguments.cuda:
        check_limit(faults)
        check_minor(sources, build, faults)
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
