# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Which compiler this is, for the keys of the cache."""

from __future__ import annotations

import contextlib
import functools
import os

LIBRARY_VARIABLES = (
    "ANNUDF_CUDA_WHEELS",
    "ANNUDF_LIBDEVICE",
    "ANNUDF_LIBNVRTC",
    "ANNUDF_LIBNVVM",
    "ANNUDF_NVJITLINK",
    "CONDA_PREFIX",
    "CUDA_HOME",
    "CUDA_PATH",
    "HOME",
    "PYTHONPATH",
    "VIRTUAL_ENV",
)
"""What decides which libNVVM, libdevice, NVRTC and nvJitLink are found; asking them would mean loading them."""


def compiler_identity() -> str:
    """What else the output of the compiler depends on: which build of it this is, and which libraries it finds."""
    variables = [f"{name}={os.environ.get(name, '')}" for name in LIBRARY_VARIABLES]
    return "\n".join([_build_identity(), *variables])


@functools.cache
def _build_identity() -> str:
    import annudf
    from annudf import _core

    paths = {_core.__file__}
    # The compiler itself is in a library that the loader found, wherever that is.
    with contextlib.suppress(OSError), open("/proc/self/maps", encoding="utf-8") as maps:
        paths |= {line.split(maxsplit=5)[5].rstrip("\n") for line in maps if "/libannudf" in line}
    parts = [annudf.__version__]
    for path in sorted(paths):
        status = os.stat(path)
        parts.append(f"{os.path.basename(path)}:{status.st_size}:{status.st_mtime_ns}")
    return "\n".join(parts)
