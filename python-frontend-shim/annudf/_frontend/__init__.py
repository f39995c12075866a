# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The Python frontend: a function becomes a module that the compiler can import.

Importing this package is cheap. numba-cuda-mlir is imported by the first call of `translate`.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from annudf._frontend import ahead
from annudf._frontend.source.fingerprint import fingerprint as fingerprint
from annudf._frontend.source.snapshot import snapshot as snapshot
from annudf._frontend.types.prototypes import Kind
from annudf._support import fork
from annudf._support.options import MetricOptions

if TYPE_CHECKING:
    from annudf._frontend.module import FrontendModule

__all__ = ["fingerprint", "snapshot", "translate", "translate_device_function"]


def translate(function: types.FunctionType, options: MetricOptions) -> FrontendModule:
    """MLIR text of a metric; see `annudf._frontend.module.translate`."""
    with _frontend_imported():
        from annudf._frontend import module

        return module.translate(function, options)


def translate_device_function(
    function: types.FunctionType,
    symbol: str,
    convention: str,
    arguments: tuple[Kind, ...],
    result: Kind | None,
    captures: Mapping[str, tuple[str, tuple[int, ...], str]],
) -> tuple[str, Kind]:
    """MLIR text of a device function, and its result; see `annudf._frontend.device.translate`."""
    with _frontend_imported():
        from annudf._frontend import device

        return device.translate(function, symbol, convention, arguments, result, captures)


def types_of_numba(names: Sequence[str]) -> tuple[Any, ...]:
    """numba-cuda-mlir's own types of these names."""
    with _frontend_imported():
        from annudf._frontend.numba import ncm

        return tuple(getattr(ncm.types, name) for name in names)


@contextlib.contextmanager
def _frontend_imported() -> Iterator[None]:
    """Imports what needs numba-cuda-mlir, and leaves the process as it was."""
    ahead.wait()  # Or it might change the process while that is looked at.
    with fork.compiling(), _process_as_it_was():
        with ahead.seldom_collected() if "numba_cuda_mlir" not in sys.modules else contextlib.nullcontext():
            importlib.import_module("annudf._frontend.module")
        yield


@contextlib.contextmanager
def _process_as_it_was() -> Iterator[None]:
    """Undoes what numba-cuda-mlir does to the program's logging and excepthook.

    It replaces the hook when it is imported, and its calls of ``logging.info`` give a root logger
    without handlers one of their own, after which the program's ``basicConfig`` would do nothing.
    """
    root = logging.getLogger()
    handlers, hook, imported = root.handlers[:], sys.excepthook, "numba_cuda_mlir" in sys.modules
    try:
        yield
    finally:
        for handler in root.handlers[:]:
            if handler not in handlers and type(handler) is logging.StreamHandler:
                root.removeHandler(handler)
        if not imported:
            sys.excepthook = hook
