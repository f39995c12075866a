# Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each room of the tree includes its own headers and those of the rooms below it only."""

import re
import sys
from pathlib import Path

PUBLIC, PRIVATE = "runtime/include/annudf/runtime", "runtime/lib"
# Public headers are in the room of their sources unless ROOMS has a line for their folder; two lie above all folders.
SOURCES = {PUBLIC: PRIVATE, "include/annudf": "lib"}
LONE = {"include/annudf/InitAll.h": "lib/Init", "include/annudf/annudf.hpp": "include/annudf/cpp"}
# The order of the rooms, lowest first: a folder, and the rooms above which it stands; it may include what these may, too. A
# folder of the runtime has a line of its own, others belong to the longest that they are in. Cuda.h is a room, on which the rooms
# of the CUDA backend stand and which its top implements.
ROOMS = {
    "include/annudf/ABI": [],
    "include/annudf/Support": ["include/annudf/ABI"],
    "lib/Support": ["include/annudf/Support"],
    "include/annudf/Artifact": ["include/annudf/Support"],
    "lib/Artifact": ["include/annudf/Artifact", "lib/Support"],
    # The compiler.
    "lib/Dialect/IR": ["include/annudf/Artifact"],
    "lib/Analysis": ["lib/Dialect/IR"],
    "lib/Dialect/Transforms": ["lib/Analysis"],
    "lib/Frontend": ["lib/Dialect/Transforms"],
    "lib/Conversion": ["lib/Dialect/Transforms"],
    "lib/Target": ["lib/Frontend", "lib/Conversion"],
    "lib/Compiler": ["lib/Target"],
    "lib/Init": ["lib/Frontend", "lib/Conversion"],
    "lib/Metrics": [],
    # Kernels. Those of a search and of a build, the products and what is linked with a metric know nothing of each other.
    "runtime/kernels": ["include/annudf/Artifact"],
    "runtime/kernels/cpu": ["runtime/kernels"],
    "runtime/kernels/cuda/common": ["runtime/kernels"],
    "runtime/kernels/cuda/build": ["runtime/kernels/cuda/common"],
    "runtime/kernels/cuda/products": ["runtime/kernels/cuda/common"],
    "runtime/kernels/cuda/scan": ["runtime/kernels/cuda/common"],
    "runtime/kernels/cuda/search": ["runtime/kernels/cuda/common"],
    # What a search needs before a backend runs it.
    "runtime/lib/support": ["include/annudf/Support"],
    "runtime/lib/vectors": ["runtime/lib/support", "runtime/kernels"],
    "runtime/lib/rows": ["runtime/lib/vectors"],
    "runtime/lib/captures": ["runtime/lib/vectors"],
    "runtime/lib/coarse": ["runtime/lib/vectors"],
    "runtime/lib/engine": ["runtime/lib/captures", "runtime/lib/coarse", "runtime/lib/rows"],
    # The index kinds, of which searches know nothing.
    "runtime/lib/ivf_flat": ["runtime/lib/engine"],
    # The backends.
    "runtime/lib/cpu/search": ["runtime/lib/engine", "runtime/kernels/cpu"],
    "runtime/lib/cpu/jit": ["runtime/lib/cpu/search"],
    "runtime/lib/cpu/products": ["runtime/lib/cpu/jit"],
    "runtime/lib/cpu": ["runtime/lib/cpu/products"],
    f"{PUBLIC}/cuda": ["runtime/lib/ivf_flat"],
    "runtime/lib/cuda/plan": ["runtime/lib/engine", "runtime/kernels/cuda/common"],
    "runtime/lib/cuda/driver": ["runtime/lib/cuda/plan", f"{PUBLIC}/cuda"],
    "runtime/lib/cuda/link": ["runtime/lib/cuda/plan"],
    "runtime/lib/cuda/resident": ["runtime/lib/cuda/driver", "runtime/lib/cuda/link"],
    "runtime/lib/cuda/search": ["runtime/lib/cuda/resident"],
    "runtime/lib/cuda/build": ["runtime/lib/cuda/resident", "runtime/kernels/cuda/build"],
    "runtime/lib/cuda": ["runtime/lib/cuda/search", "runtime/lib/cuda/build"],
    # The C API, and what stands on it alone.
    "include/annudf-c": ["include/annudf/ABI"],
    "lib/CAPI": ["include/annudf-c", "lib/Compiler", "lib/Metrics", "runtime/lib/cpu", "runtime/lib/cuda"],
    "lib/CAPIDialect": ["include/annudf-c", "lib/Init"],
    "include/annudf/cpp": ["include/annudf-c"],
    "python-frontend-shim/src": ["include/annudf-c"],
    # Programs. The command stands beside the C API.
    "tools": ["lib/Init", "lib/Target"],
    "tools/annudf": ["lib/Compiler", "lib/Metrics", "runtime/lib/cpu", "runtime/lib/cuda"],
    "runtime/bench": ["include/annudf/cpp", "runtime/lib/cpu", "runtime/lib/cuda", "runtime/kernels/cuda/scan"],
}
# Rooms that include public headers of the runtime only.
OUTSIDE = ("lib/CAPI", "tools/annudf")
TOPS = ("include", "lib", "python-frontend-shim/src", "runtime/bench", "runtime/include", "runtime/kernels", "runtime/lib", "tools")
SUFFIXES = (".c", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".inc", ".td")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def below() -> dict[str, set[str]]:
    """What each room may include. A room that stands on one of a later line raises KeyError."""
    allowed: dict[str, set[str]] = {}
    for room, stands_on in ROOMS.items():
        allowed[room] = {room}.union(*(allowed[lower] for lower in stands_on))
    return allowed


def room_of(path: str) -> str | None:
    folder = LONE.get(path, path.rpartition("/")[0])
    for public, private in SOURCES.items():
        if not named(folder) and folder.startswith(public):
            folder = private + folder.removeprefix(public)
    return named(folder)


def named(folder: str) -> str | None:
    while folder not in ROOMS and not folder.startswith("runtime/") and folder:
        folder = folder.rpartition("/")[0]
    return folder if folder in ROOMS else None


def check(root: Path) -> tuple[list[str], int]:
    """Faults of the tree, and how many includes of its own files it has."""
    paths = [path for top in TOPS for path in sorted((root / top).rglob("*"))]
    files = [path.relative_to(root).as_posix() for path in paths if path.suffix in SUFFIXES]
    by_name: dict[str, list[str]] = {}
    for file in files:
        by_name.setdefault(file.rpartition("/")[2], []).append(file)
    allowed, faults, seen = below(), [], 0
    for file in files:
        room = room_of(file)
        if room is None:
            faults.append(f"{file}: its folder is not in ROOMS of check_layers.py; say there on which rooms it stands")
            continue
        for name in INCLUDE.findall((root / file).read_text(encoding="utf-8")):
            # Beside the file, as compilers look first, else in any folder: builds differ in where they look.
            beside = (root / file).parent.joinpath(name).resolve()
            if beside.is_file() and beside.is_relative_to(root):
                found = [beside.relative_to(root).as_posix()]
            else:
                found = [path for path in by_name.get(name.rpartition("/")[2], []) if path.endswith("/" + name)]
            if not found:
                continue  # From LLVM, a system or a build.
            seen += 1
            if not any(room_of(path) in allowed[room] for path in found):
                faults.append(f"{file}: {room} includes {room_of(found[0]) or found[0]} ({name})")
            elif room in OUTSIDE and all(path.startswith(("runtime/lib/", "runtime/kernels/")) for path in found):
                faults.append(f"{file}: {room} includes a header of the runtime that is not public ({name})")
    return faults, seen


def main(root: Path) -> None:
    faults, seen = check(root.resolve())
    if faults or seen < 1000:
        sys.exit("\n".join(faults) or f"only {seen} includes found")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
