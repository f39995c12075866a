# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the time of a link of a CUDA kernel goes: nvJitLink on the fragments of a build. Needs no GPU.

    CUDA_CACHE_DISABLE=1 python docs/results/links.py [--build build/release] [--arch sm_90] [--times 15] [-o FILE]

Links the test metrics of test/runtime/cuda as the runtime does (Linker.cpp), with every kernel of a fragment and with
one of them, and prints a table in milliseconds: the least of all, and what of it nvJitLink took to make PTX (the
optimiser) and to assemble it. What a search waits for on a machine with a GPU, loading included, is
timed by `annudf_cuda_bench --metric M.annudf --links`. -o puts the rows into a record, such as
docs/results/records/links-parts.json, of which docs/results/tables.py makes a section of reasons.md.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import json
import os
import re
import subprocess
import time
from pathlib import Path

FATBIN = 4  # NVJITLINK_INPUT_FATBIN


def library() -> ctypes.CDLL:
    """As ANNUDF_NVJITLINK names it, or that of the toolkit."""
    return ctypes.CDLL(os.environ.get("ANNUDF_NVJITLINK", "/usr/local/cuda/lib64/libnvJitLink.so.13"))


def text_of(nvjitlink: ctypes.CDLL, handle: ctypes.c_void_p, what: str) -> str:
    """The log "Error" or "Info"."""
    size = ctypes.c_size_t()
    getattr(nvjitlink, f"nvJitLinkGet{what}LogSize")(handle, ctypes.byref(size))
    text = ctypes.create_string_buffer(max(1, size.value))
    getattr(nvjitlink, f"nvJitLinkGet{what}Log")(handle, text)
    return text.value.decode(errors="replace")


def link(nvjitlink: ctypes.CDLL, options: list[str], files: list[Path]) -> tuple[float, str]:
    """Milliseconds, and nvJitLink's own words on them."""
    data = [file.read_bytes() for file in files]
    handle = ctypes.c_void_p()
    words = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    start = time.perf_counter()
    code = nvjitlink.nvJitLinkCreate(ctypes.byref(handle), ctypes.c_uint32(len(options)), words)
    for file, content in zip(files, data, strict=True):
        code = code or nvjitlink.nvJitLinkAddData(
            handle, FATBIN, content, ctypes.c_size_t(len(content)), file.name.encode()
        )
    code = code or nvjitlink.nvJitLinkComplete(handle)
    ms = (time.perf_counter() - start) * 1e3
    if code:
        raise SystemExit(f"nvJitLink error {code}: {text_of(nvjitlink, handle, 'Error')}")
    info = text_of(nvjitlink, handle, "Info")
    nvjitlink.nvJitLinkDestroy(ctypes.byref(handle))
    return ms, info


def put(path: Path, rows: list[list[str]]) -> None:
    """The rows into the first table of a record."""
    about = json.loads(path.read_text())
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    about["commit"] = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    about.pop("recorded", None)
    about["date"] = datetime.date.today().isoformat()
    about["tables"][0]["rows"] = rows
    path.write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--times", type=int, default=15)
    parser.add_argument("-o", "--output", type=Path, help="record to put the rows into")
    arguments = parser.parse_args()
    fragments = arguments.build / "runtime/lib/cuda"
    metrics = arguments.build / "test/runtime/cuda"
    nvjitlink = library()
    rows: list[list[str]] = []
    print("| metric | rows | what is in the link | ms | of it PTX | assembling |")
    print("|---|---|---|---|---|---|")
    for metric, element in (("l2", "F32"), ("l2", "U8"), ("weighted_l2", "F32"), ("minkowski", "F32")):
        compact = "_compact" if metric == "minkowski" else ""  # As kLargeBodyBytes in Linker.cpp has it.
        scan = fragments / f"scan_a32_x32{compact}.fatbin"
        rest = [metrics / f"{metric}.fatbin", fragments / "contract.fatbin", fragments / "overlap_90.fatbin"]
        rest += [fragments / f"{name}_{element}.fatbin" for name in ("row_element", "query_element")]
        rest.append(fragments / "compute_F32.fatbin")
        for kernels in ("every kernel", "annudf_scan_pair", "annudf_scan_tile"):
            options = [f"-arch={arguments.arch}", "-lto", "-O3", "-time"]
            if kernels != "every kernel":
                options += [f"-kernels-used={kernels}", "-kernels-used=annudf_read_contract"]
            least, info = min(link(nvjitlink, options, [scan, *rest]) for _ in range(arguments.times))
            parts = [float(found) for found in re.findall(r"nvJitLinkComplete time to [^:]*: ([\d.]+)", info)]
            rows.append([metric, element.lower(), kernels, *(f"{ms:.0f}" for ms in (least, *parts))])
            print(f"| {' | '.join(rows[-1])} |")
    if arguments.output:
        put(arguments.output, rows)


if __name__ == "__main__":
    main()
