# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The Python frontend: a function becomes a module that the compiler can import.

Importing this package is cheap. numba-cuda-mlir is imported by the first call of `translate`.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

from annudf._frontend.fingerprint import fingerprint as fingerprint
from annudf._options import MetricOptions

if TYPE_CHECKING:
    from annudf._frontend.module import FrontendModule

__all__ = ["fingerprint", "translate"]


def translate(function: types.FunctionType, options: MetricOptions) -> FrontendModule:
    """MLIR text of a metric; see `annudf._frontend.module.translate`."""
    from annudf._frontend import module

    return module.translate(function, options)
