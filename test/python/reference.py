# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Brute force in NumPy, and data with few ties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

DTYPES = ("float32", "float16", "int8", "uint8")
Array = npt.NDArray[Any]


def vectors(rows: int, dims: int, dtype: str, seed: int) -> Array:
    """Random vectors; of integers over their whole range, as that is where narrow arithmetic would show."""
    generator = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return generator.standard_normal((rows, dims)).astype(dtype)
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max, (rows, dims), dtype=dtype, endpoint=True)


def distances_of(terms: Callable[[Array, Array], Array], queries: Array, base: Array) -> Array:
    """Sum over the dimensions of `terms(x, y)`, in float64."""
    wide = np.float64
    return np.stack([terms(query[None].astype(wide), base.astype(wide)).sum(axis=1) for query in queries])


def check(
    distances: Any, neighbors: Any, exact: Array, *, order: str = "min", rtol: float = 2e-5, atol: float = 1e-4
) -> None:
    """Asserts that results are the k best of all rows: the distances, and that each id has its distance."""
    distances, neighbors = np.asarray(distances), np.asarray(neighbors)
    assert distances.dtype == np.float32
    assert neighbors.dtype == np.int64
    best = np.sort(exact, axis=1)
    best = (best if order == "min" else best[:, ::-1])[:, : distances.shape[1]]
    np.testing.assert_allclose(distances, best, rtol=rtol, atol=atol)
    np.testing.assert_allclose(distances, np.take_along_axis(exact, neighbors, axis=1), rtol=rtol, atol=atol)
    for row in neighbors:
        assert len(set(row.tolist())) == len(row), "an id came twice"
