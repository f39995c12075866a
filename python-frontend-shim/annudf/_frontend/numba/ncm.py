# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""numba-cuda-mlir, imported once and on a machine with or without a GPU.

Everything that depends on numba-cuda-mlir's private names is here and in the modules that import
this one; pyproject.toml pins its minor version, as these names may change with any.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba_cuda_mlir.tools as _tools
from numba_cuda_mlir import compiler as compiler
from numba_cuda_mlir import cuda as cuda
from numba_cuda_mlir import types as types
from numba_cuda_mlir._mlir import ir as ir
from numba_cuda_mlir.lowering_utilities import context as _context
from numba_cuda_mlir.numba_cuda.core.compiler_lock import global_compiler_lock

from annudf._frontend.numba import ending

ending.register()

CONTEXT = _context.get_context()
"""The MLIR context that numba-cuda-mlir makes every module in."""

# A thread pool does not survive fork(): the first compile in a child would wait for it for ever.
CONTEXT.enable_multithreading(False)

CHIP = "sm_80"
"""Nothing is compiled for it: the module is taken before any target matters."""


class _Active(threading.local):
    has_vectors = False
    """Whether the function that this thread compiles takes whole vectors."""


active = _Active()
"""``active.on`` is set while this thread compiles a metric: patches are inert otherwise."""


@contextmanager
def compiling() -> Iterator[None]:
    """Alone with numba-cuda-mlir's process-wide state, which is put back afterwards."""
    with global_compiler_lock:
        unregistered = CONTEXT.allow_unregistered_dialects
        tools: Any = _tools
        capability = tools._cached_cc
        CONTEXT.allow_unregistered_dialects = True
        if capability is None:
            tools._cached_cc = (8, 0)  # Or it would ask the driver, which may not be there.
        active.on = True
        try:
            yield
        finally:
            active.on = False
            tools._cached_cc = capability
            CONTEXT.allow_unregistered_dialects = unregistered
