# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Limits that are Python's own. All others, and defaults, are those of the core (``include/annudf/ABI``).

The core refuses what is beyond a limit, too; Python checks first, as its message can name the argument as the caller
wrote it.
"""

from __future__ import annotations

MAX_SEED = 2**64 - 1

MAX_DEVICE = 2**31 - 1
"""CUDA numbers its devices by a C int."""

MAX_ADDRESS = 2**64 - 1
"""The highest address in memory, or of a stream."""
