# Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each room of the tree includes its own headers and those of the rooms below it only."""

import re
import sys
from pathlib import Path

PUBLIC, PRIVATE = "runtime/include/annudf/runtime", "runtime/lib"
# The order of the rooms, lowest first: a folder, and the rooms above which it stands; it may include what these may, too. A
# folder of the runtime has a line of its own, others belong to the longest that they are in. Public headers of the runtime are in
# the room of their sources, but for Cuda.h, on which the rooms of the CUDA backend stand and which its top implements.
ROOMS = {
    "include/annudf/ABI": [],
    "include/annudf/Support": ["include/annudf/ABI"],
    "lib/Support": ["include/annudf/Support"],
    "include/annudf/Artifact": ["include/annudf/Support"],
    "lib/Artifact": ["include/annudf/Artifact", "lib/Support"],
    # The compiler.
    "include/annudf": ["include/annudf/Artifact"],
    "include/annudf-c": ["include/annudf/ABI"],
    "lib": ["include/annudf", "include/annudf-c", "lib/Artifact"],
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
    # The C API: of lib the only part that includes the runtime, and of the runtime public headers only.
    "lib/CAPI": ["lib", "runtime/lib/cpu", "runtime/lib/cuda"],
}
SUFFIXES = (".c", ".cpp", ".cu", ".cuh", ".h", ".inc", ".td")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def below() -> dict[str, set[str]]:
    """What each room may include. A room that stands on one of a later line raises KeyError."""
    allowed: dict[str, set[str]] = {}
    for room, stands_on in ROOMS.items():
        allowed[room] = {room}.union(*(allowed[lower] for lower in stands_on))
    return allowed


def room_of(path: str) -> str | None:
    folder = path.rpartition("/")[0]
    if folder not in ROOMS and folder.startswith(PUBLIC):
        folder = PRIVATE + folder.removeprefix(PUBLIC)
    while folder not in ROOMS and not folder.startswith("runtime/") and folder:
        folder = folder.rpartition("/")[0]
    return folder if folder in ROOMS else None


def check(root: Path) -> tuple[list[str], int]:
    """Faults of the tree, and how many includes of its own files it has."""
    paths = [p for top in ("include", "lib", "runtime/include", "runtime/kernels", "runtime/lib") for p in sorted((root / top).rglob("*"))]
    files = [path.relative_to(root).as_posix() for path in paths if path.suffix in SUFFIXES]
    named: dict[str, list[str]] = {}
    for file in files:
        named.setdefault(file.rpartition("/")[2], []).append(file)
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
                found = [path for path in named.get(name.rpartition("/")[2], []) if path.endswith("/" + name)]
            if not found:
                continue  # Of LLVM, a system or a build.
            seen += 1
            if not any(room_of(path) in allowed[room] for path in found):
                faults.append(f"{file}: {room} includes {room_of(found[0]) or found[0]} ({name})")
            elif room == "lib/CAPI" and all(path.startswith(("runtime/lib/", "runtime/kernels/")) for path in found):
                faults.append(f"{file}: {room} includes a header of the runtime that is not public ({name})")
    return faults, seen


def main(root: Path) -> None:
    faults, seen = check(root.resolve())
    if faults or seen < 1000:
        sys.exit("\n".join(faults) or f"only {seen} includes found")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
