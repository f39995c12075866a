# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Compile time grows with what helpers become once they are inlined, not with its square."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from annudf import ivf_flat


def doubling(levels: int) -> str:
    """Helpers that call the one before twice: 2 ** levels calls."""
    lines = ["def h0(x):", "    return x + 1"]
    for level in range(1, levels + 1):
        lines += [f"def h{level}(x):", f"    return h{level - 1}(h{level - 1}(x))"]
    return "\n".join([*lines, "def update(x, y, acc):", f"    return acc + h{levels}(x)"])


def flat(levels: int) -> str:
    """2 ** levels calls of one helper."""
    lines = ["def h(x):", "    return x + 1", "def update(x, y, acc):"]
    return "\n".join([*lines, *["    x = h(x)"] * 2**levels, "    return acc + x"])


def seconds(text: str) -> float:
    """CPU time of this process, so that others do not count."""
    space: dict[str, Any] = {}
    exec(text, space)
    begun = time.process_time()
    ivf_flat.metric(space["update"]).mlir()
    return time.process_time() - begun


@pytest.mark.parametrize("shape", [doubling, flat])
def test_time_is_below_the_square(shape: Callable[[int], str]) -> None:
    seconds(shape(1))  # What is imported and made once.
    small = large = float("inf")
    # Growth stays, noise goes away: what looks too slow is measured again. Four times the calls.
    for _ in range(5):
        small, large = min(small, seconds(shape(5))), min(large, seconds(shape(7)))
        if large <= 8 * small:
            break
    assert large <= 8 * small, (small, large)
