#!/usr/bin/env python3
# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds rows to a copy of the ABI's tables and sees that whoever forgets one is told.

usage: forgotten.py BUILD_DIR [--only ROW]

For each row: sources that compute with it must not compile against the copy, and must name the new enumerator or say
what to do; sources that follow the tables by themselves must. Last, an artifact of a metric that uses a row of minor 1, made by a
library of that minor, is refused by the one that was built, with both minors in its message.
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

# What follows the tables by itself.
FOLLOWS = ["lib/Artifact/Tables.cpp", "lib/Artifact/Inspect.cpp", "lib/CAPI/Compiler.cpp"]
# Row: table, new row, sources that must fail and a part of what they say, sources that must not.
ROWS = {
    "element": (
        "ELEMENTS",
        'X(FAKE, 77, "fake", 8, FLOAT, 1)',
        {
            "lib/Dialect/IR/AnnudfAttributes.cpp": "run scripts/check-tables --update",
            "runtime/lib/vectors/Elements.cpp": "ANNUDF_ELEMENT_FAKE",
            "runtime/bench/CudaBench.cpp": "ANNUDF_ELEMENT_FAKE",
        },
        FOLLOWS + ["lib/Artifact/Descriptor.cpp", "runtime/lib/vectors/Matrix.cpp"],
    ),
    "coarse": (
        "COARSES",
        'X(FAKE, 77, "fake", MIN, 1)',
        {
            "lib/Dialect/IR/AnnudfAttributes.cpp": "run scripts/check-tables --update",
            "runtime/lib/coarse/KMeans.cpp": "ANNUDF_COARSE_FAKE",
            "runtime/lib/coarse/Coarse.cpp": "ANNUDF_COARSE_FAKE",
        },
        ["lib/Artifact/Tables.cpp"],
    ),
    "feature": (
        "FEATURES",
        'X(FAKE, 20, "fake", 1)',
        {"lib/Artifact/Descriptor.cpp": "ANNUDF_FEATURE_FAKE"},
        FOLLOWS,
    ),
    "extent": (
        "EXTENTS",
        'X(FAKE, 77, "fake", 1)',
        {"runtime/lib/captures/Captures.cpp": "ANNUDF_EXTENT_FAKE"},
        ["lib/Artifact/Tables.cpp", "lib/Artifact/Descriptor.cpp", "lib/Dialect/IR/AnnudfTypes.cpp"],
    ),
    "accumulator": (
        "ACCUMULATORS",
        'X(FAKE, 77, "fake", 64, SIGNED, 1)',
        {"lib/Dialect/IR/AnnudfAttributes.cpp": "run scripts/check-tables --update"},
        ["lib/Artifact/Tables.cpp", "lib/Artifact/Descriptor.cpp"],
    ),
}
TAKEN = ("ORDERS", 'X(FAKE, 1, "fake", 0)', "takes the number or the spelling of another")


def copy_tables(folder, table, row, minor=None):
    """The ABI's headers with one row more."""
    target = Path(folder) / "annudf" / "ABI"
    shutil.copytree(ROOT / "include/annudf/ABI", target)
    tables = target / "annudf_tables.h"
    text, count = re.subn(rf"(#define ANNUDF_{table}\(X\)[ \\\n]*)", rf"\1{row} \\\n  ", tables.read_text(), count=1)
    assert count == 1, f"annudf_tables.h has no table {table}"
    tables.write_text(text)
    if minor is not None:
        header = target / "annudf_abi.h"
        text, count = re.subn(r"(#define ANNUDF_ABI_MINOR) \d+", rf"\1 {minor}", header.read_text())
        assert count == 1, "annudf_abi.h has no ANNUDF_ABI_MINOR"
        header.write_text(text)
    return folder


class Sources:
    def __init__(self, build):
        entries = json.loads((build / "compile_commands.json").read_text())
        self.entries = {os.path.relpath(os.path.join(e["directory"], e["file"]), ROOT): e for e in entries}

    def has(self, source):
        return source in self.entries

    def check(self, source, folder):
        """None if it compiles against the headers in `folder`, else what the compiler says."""
        entry = self.entries[source]
        words = shlex.split(entry["command"])
        command, skip = [], False
        for word in words:
            if skip:
                skip = False
            elif word in ("-o", "-MF", "-MT", "-MQ"):
                skip = True
            elif word not in ("-c", "-MD", "-MMD") and not word.endswith("ccache"):
                command.append(word)
        command[1:1] = [f"-I{folder}", "-fsyntax-only", "-Werror=switch"]
        done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
        return None if done.returncode == 0 else done.stderr


def check_rows(sources, only, faults):
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = []
        for name, (table, row, breaks, follows) in ROWS.items():
            if only and name != only:
                continue
            folder = copy_tables(os.path.join(scratch, name), table, row)
            for source in [*breaks, *follows]:
                if not sources.has(source):
                    # Not every build has every part; one that has none of a row's places proves nothing.
                    print(f"{name}: {source} is not in this build")
                    if not (ROOT / source).exists():
                        faults.append(f"{name}: {source} does not exist; say where that moved")
                    continue
                jobs.append((name, source, breaks.get(source), pool.submit(sources.check, source, folder)))
        for name, source, expected, job in jobs:
            said = job.result()
            if expected is None and said is not None:
                faults.append(f"{name}: {source} should follow the tables by itself, but:\n{said[:2000]}")
            elif expected is not None and said is None:
                faults.append(f"{name}: {source} compiles without it")
            elif expected is not None and expected not in said:
                faults.append(f"{name}: {source} does not say '{expected}':\n{said[:2000]}")
            else:
                print(f"{name}: {source} {'refuses' if expected else 'follows'}")
        table, row, expected = TAKEN
        folder = copy_tables(os.path.join(scratch, "taken"), table, row)
        said = sources.check("lib/Artifact/Tables.cpp", folder)
        if said is None or expected not in said:
            faults.append(f"a row that takes another's number compiles: {said}")


WRITER = r"""
#include "annudf/Artifact/Artifact.h"
int main(int, char **argv) {
  annudf::Artifact artifact;
  annudf::Manifest &m = artifact.manifest;
  m.name = "newer";
  m.elements = {ANNUDF_ELEMENT_F32};
  if (argv[2][0] == '1')
    m.elements.push_back(static_cast<annudf_element>(77));
  m.hooks = {ANNUDF_HOOK_INIT, ANNUDF_HOOK_UPDATE};
  m.requiredFeatures = annudf::featuresOf(m);
  m.abiMinor = annudf::minorOf(m);
  m.annudfVersion = "0.2.0";
  m.llvmVersion = "22.1.8";
  annudf::writeArtifact(artifact, argv[1]);
}
"""


def check_minor(sources, build, faults):
    """A library of minor 1 writes one artifact that uses a row of minor 1 and one that does not; annudf as built reads them."""
    tool = build / "tools/annudf/annudf"
    if not tool.exists():
        print("minor: annudf is not built")
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = copy_tables(os.path.join(scratch, "minor"), *ROWS["element"][:2], minor=1)
        writer = Path(scratch) / "writer.cpp"
        writer.write_text(WRITER)
        command = shlex.split(sources.entries["lib/Artifact/Tables.cpp"]["command"])
        compiler = next(word for word in command if not word.endswith("ccache"))
        kept = [word for word in command if word.startswith(("-I", "-D", "-std", "-isystem", "-O"))]
        code = [writer, *(ROOT / "lib/Artifact").glob("*.cpp"), *(ROOT / "lib/Support").glob("*.cpp")]
        program = os.path.join(scratch, "writer")
        subprocess.run([compiler, f"-I{folder}", *kept, *map(str, code), "-o", program, "-ldl", "-lpthread"],
                       check=True, cwd=build)  # fmt: skip
        for uses, expected in (("1", "needs annudf.accumulator.v1 1.1, this annudf accepts up to 1.0"), ("0", "annudf.accumulator.v1 1.0")):
            path = os.path.join(scratch, f"{uses}.annudf")
            subprocess.run([program, path, uses], check=True)
            done = subprocess.run([tool, "inspect", path], capture_output=True, text=True)
            said = done.stdout + done.stderr
            if expected not in said or (done.returncode == 0) != (uses == "0"):
                faults.append(f"an artifact that {'uses' if uses == '1' else 'does not use'} minor 1: {said}")
            else:
                print(f"minor: {'refused' if uses == '1' else 'read'}: {expected}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    sources, faults = Sources(build), []
    check_rows(sources, arguments.only, faults)
    if not arguments.only:
        check_minor(sources, build, faults)
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
