# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The Python frontend: a function becomes a module that the compiler can import.

Importing this package is cheap. numba-cuda-mlir is imported by the first call of `translate`.
"""

from __future__ import annotations

import logging
import sys
import types
from typing import TYPE_CHECKING

from annudf._frontend.fingerprint import fingerprint as fingerprint
from annudf._frontend.snapshot import snapshot as snapshot
from annudf._options import MetricOptions

if TYPE_CHECKING:
    from annudf._frontend.module import FrontendModule

__all__ = ["fingerprint", "snapshot", "translate"]


def translate(function: types.FunctionType, options: MetricOptions) -> FrontendModule:
    """MLIR text of a metric; see `annudf._frontend.module.translate`."""
    if f"{__name__}.module" not in sys.modules:
        # numba-cuda-mlir configures the root logger when it is imported; that is the program's.
        root = logging.getLogger()
        handlers, level = root.handlers[:], root.level
        try:
            from annudf._frontend import module as imported
        finally:
            root.handlers[:], root.level = handlers, level
        assert imported
    from annudf._frontend import module

    return module.translate(function, options)
