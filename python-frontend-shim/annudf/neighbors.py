# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Nearest neighbours: `ivf_flat`, `brute_force`, `refine`, and :class:`NearestNeighbors` in scikit-learn's style."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annudf import brute_force, filters, ivf_flat
from annudf.ivf_flat._merge import knn_merge_parts
from annudf.ivf_flat._refine import refine

if TYPE_CHECKING:
    from annudf._estimators.nearest_neighbors import NearestNeighbors

__all__ = ["NearestNeighbors", "brute_force", "filters", "ivf_flat", "knn_merge_parts", "refine"]


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import, and who only searches does not need it.
    if name == "NearestNeighbors":
        from annudf._estimators.nearest_neighbors import NearestNeighbors

        globals()[name] = NearestNeighbors
        return NearestNeighbors
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
