# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Runs a device function's host bitcode: clang makes a library of it, which is called through memory that NumPy lays out."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import annudf

CLANG = next(
    (path for path in ("/usr/lib/llvm-22/bin/clang", shutil.which("clang-22")) if path and Path(path).exists()), ""
)
needs_clang = pytest.mark.skipif(not CLANG, reason="no clang 22, which the host bitcode is run by")


def library(code: bytes) -> ctypes.CDLL:
    folder = Path(tempfile.mkdtemp(prefix="annudf-function-"))
    try:
        (folder / "f.bc").write_bytes(code)
        made = folder / "f.so"
        subprocess.run([CLANG, "-O1", "-shared", "-fPIC", "-x", "ir", folder / "f.bc", "-o", made, "-lm"], check=True)
        return ctypes.CDLL(str(made))
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # It stays mapped.


class Raw:
    """``void f(void *..., void *result)`` of arrays of one entry."""

    def __init__(self, function: Any, signature: object, result: np.dtype[Any], **options: Any) -> None:
        code, self.returned = annudf.compile(
            function, signature, abi="raw", abi_info={"abi_name": "f"}, output="host", **options
        )
        assert isinstance(code, bytes)
        self._function = library(code).f
        self._result = np.dtype(result)

    def __call__(self, *arguments: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        result = np.zeros(1, self._result)
        places = [*arguments, result]
        self._function(*(ctypes.c_void_p(place.ctypes.data) for place in places))
        return result
