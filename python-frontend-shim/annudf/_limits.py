# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Limits of arguments.

The core refuses what is beyond them too; here they are checked first, as the message can then name the argument as
the caller wrote it. A test holds them against the core's.
"""

from __future__ import annotations

MAX_LISTS = 1 << 24
"""Most lists of an index, and so most probes."""

MAX_ITERATIONS = 10_000
"""Most iterations of k-means."""

MAX_SEED = 2**64 - 1

MAX_K = 1 << 30
"""Most rows that a search gives for a query."""

MAX_FILTER_IDS = 1 << 35
"""Ids that a filter with code has bits for: 4 GiB of them."""

MAX_NAME = 255
"""Bytes of the name of a metric (rule M16)."""

MAX_SOURCE = 16 << 20
"""Bytes of the text of a module."""

MAX_THREADS = 1024
"""Most threads of a build or search on the CPU."""

MAX_DEVICE = 2**31 - 1
"""CUDA numbers its devices by a C int."""

MAX_ADDRESS = 2**64 - 1
"""Of memory or of a stream."""
