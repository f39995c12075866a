# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What random bodies are run on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def vectors(element: str, rows: int, seed: int, dims: int = 1) -> npt.NDArray[np.generic]:
    """Rows of coordinates: eighths around 0, or all of an integer type with its limits."""
    generator = np.random.default_rng(seed)
    if element in ("float32", "float16"):
        return np.round(generator.normal(0, 4, (rows, dims)) * 8).astype(element) / np.array(8, element)
    limits = np.iinfo(element)
    values = generator.integers(limits.min, limits.max + 1, (rows, dims))
    values[0], values[-1] = limits.min, limits.max
    return values.astype(element)
