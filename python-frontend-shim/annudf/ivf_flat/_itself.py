# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Searches for the neighbours of an index's own rows, of which none is its own."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from annudf import _arrays
from annudf._core import MAX_K
from annudf._support.checks import check_int
from annudf.errors import ArgumentError


def and_itself(k: float, rows: int, queries: Any) -> int:
    """How many neighbours to look for where each query is a row, which is among them."""
    shape: tuple[int, ...] = getattr(queries, "shape", None) or (len(queries) if hasattr(queries, "__len__") else rows,)
    if shape[0] != rows:
        raise ArgumentError(
            f"exclude_self is True, the dataset has {rows} rows and there are {shape[0]} queries; query i leaves out "
            "row i, so give the dataset as queries"
        )
    most = min(rows, MAX_K) - 1
    if most < 1:
        raise ArgumentError(f"exclude_self is True and the dataset has {rows} rows; give at least two")
    return check_int(k, "k", 1, most, " where exclude_self is True") + 1


def without_self(distances: Any, neighbors: Any, ids: Any = None) -> tuple[Any, Any]:
    """Drops from row i the neighbour i, or `ids[i]`, or the last where that is not among them."""
    library = _arrays.library_of(neighbors)
    if library == "other":
        # A device_ndarray cannot be indexed.
        distances, neighbors = np.asarray(distances), np.asarray(neighbors)
    rows, count = neighbors.shape
    own: Any = np.arange(rows) if ids is None else ids
    if library == "torch":
        own = sys.modules["torch"].as_tensor(own, device=neighbors.device)
    elif library == "cupy":
        own = sys.modules["cupy"].asarray(own)
    keep = neighbors != own.reshape(-1, 1)
    keep[:, -1] &= ~keep.all(1)
    return distances[keep].reshape(rows, count - 1), neighbors[keep].reshape(rows, count - 1)
