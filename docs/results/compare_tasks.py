# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The distances that compare.py searches by, for annudf and for its peers, and the truth in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np

from annudf import ivf_flat

Array = np.ndarray[Any, np.dtype[Any]]

# What vectorises in numba: sums in any order, and a division by zero that gives infinity in place of an exception.
FAST = {"fastmath": True, "error_model": "numpy"}


@dataclass
class Task:
    """One distance: as annudf is told it, and as each peer can be."""

    name: str
    title: str
    metric: Any
    base: Array
    queries: Array
    pair: Callable[[Array, Array], float]
    """Compiled by numba, on rows of `peer_base` and `peer_queries`."""
    peer_base: Array
    peer_queries: Array
    faiss: tuple[str, Callable[[Array], Array]] | None = None
    """A built-in metric, and what makes vectors of which it gives the same order."""
    sklearn: dict[str, Any] | None = None
    notes: dict[str, str] = field(default_factory=dict)
    """What a peer does in another way, or cannot."""


def weighted_l2(base: Array, queries: Array, weights: Array) -> Task:
    """Squared differences, each with a weight of its own."""
    dims, w = base.shape[1], weights.astype(np.float32)

    @ivf_flat.metric(captures={"w": weights})
    def metric(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        d = x - y
        return acc + ctx.w[ctx.dim] * (d * d)

    @numba.njit(**FAST)
    def pair(x, y):  # type: ignore[no-untyped-def]
        total = np.float32(0)
        for i in range(dims):
            d = x[i] - y[i]
            total += w[i] * (d * d)
        return total

    return Task(
        "weighted_l2",
        "Weighted L2",
        metric,
        base,
        queries,
        pair,
        base,
        queries,
        faiss=("METRIC_L2", lambda rows: rows * np.sqrt(weights)),
        sklearn={"metric": "minkowski", "p": 2, "metric_params": {"w": weights.astype(np.float64)}},
        notes={"FAISS": "its built-in L2, of vectors that were multiplied by the weights' roots first"},
    )


def canberra(base: Array, queries: Array) -> Task:
    """Each difference over the sum of the sizes."""
    dims = base.shape[1]

    @ivf_flat.metric
    def metric(x, y, acc):  # type: ignore[no-untyped-def]
        s = abs(x) + abs(y)
        return acc + (abs(x - y) / s if s > 0 else 0.0)

    @numba.njit(**FAST)
    def pair(x, y):  # type: ignore[no-untyped-def]
        total = np.float32(0)
        for i in range(dims):
            s = abs(x[i]) + abs(y[i])
            total += abs(x[i] - y[i]) / s if s > 0 else np.float32(0)
        return total

    return Task(
        "canberra",
        "Canberra",
        metric,
        base,
        queries,
        pair,
        base,
        queries,
        faiss=("METRIC_Canberra", lambda rows: np.where(rows == 0, np.float32(1e-20), rows)),
        sklearn={"metric": "canberra"},
        notes={"FAISS": "its built-in METRIC_Canberra, which is NaN where both are 0; so zeros became 1e-20 first"},
    )


def decayed_l2(base: Array, queries: Array, ages: Array, half_life: float) -> Task:
    """L2 that doubles with every half-life of the row."""
    dims = base.shape[1]
    factor = np.exp2(ages / half_life).astype(np.float32)

    @ivf_flat.metric(captures={"factor": factor}, finalize=lambda acc, ctx: acc * ctx.factor[ctx.row])
    def metric(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        d = x - y
        return acc + d * d

    @numba.njit(**FAST)
    def pair(x, y):  # type: ignore[no-untyped-def]
        total = np.float32(0)
        for i in range(dims):
            d = x[i] - y[i]
            total += d * d
        return total * (x[dims] * y[dims])

    return Task(
        "decayed_l2",
        "L2 with decay, a value per row",
        metric,
        base,
        queries,
        pair,
        # A peer's metric sees two vectors and no row number: the row's factor is one more coordinate, 1 in queries.
        np.ascontiguousarray(np.column_stack([base, factor])),
        np.ascontiguousarray(np.column_stack([queries, np.ones(len(queries), np.float32)])),
        notes={
            "annudf": "the factor is an array with an entry a row, which the metric reads; the index is the one of L2",
            "usearch, pynndescent, scikit-learn": "their metrics see two vectors and no row number, so the factor is "
            "one more coordinate of each vector, and the graphs were built with it",
            "FAISS, scikit-learn's built-in metrics": "none of them has a value per row",
        },
    )


def distance64(task: Task, weights: Array) -> Callable[[Array, Array], float]:
    """The task's distance in float64, without fast arithmetic, on rows of `peer_base` and `peer_queries`."""
    dims, name, w = task.base.shape[1], task.name, weights.astype(np.float64)
    is_canberra, is_weighted = name == "canberra", name == "weighted_l2"

    @numba.njit
    def exact(x, y):  # type: ignore[no-untyped-def]
        total = 0.0
        for i in range(dims):
            a, b = np.float64(x[i]), np.float64(y[i])
            if is_canberra:
                s = abs(a) + abs(b)
                if s > 0:
                    total += abs(a - b) / s
            elif is_weighted:
                total += w[i] * (a - b) * (a - b)
            else:
                total += (a - b) * (a - b)
        if not is_canberra and not is_weighted:
            total *= np.float64(x[dims]) * np.float64(y[dims])
        return total

    return exact


def scan(distance: Callable[[Array, Array], float], dtype: Any, fast: bool) -> Callable[..., tuple[Array, Array]]:
    """Exact search as one writes it with numba: queries side by side, the k best kept sorted by insertion."""

    @numba.njit(parallel=True, **(FAST if fast else {}))
    def search(base, queries, k):  # type: ignore[no-untyped-def]
        ids = np.full((len(queries), k), -1, np.int64)
        best = np.full((len(queries), k), np.inf, dtype)
        for q in numba.prange(len(queries)):
            for row in range(len(base)):
                d = distance(queries[q], base[row])
                if d < best[q, k - 1]:
                    at = k - 1
                    while at > 0 and best[q, at - 1] > d:
                        best[q, at] = best[q, at - 1]
                        ids[q, at] = ids[q, at - 1]
                        at -= 1
                    best[q, at] = d
                    ids[q, at] = row
        return ids, best

    return search


class Truth:
    """Recall and errors against float64."""

    def __init__(self, task: Task, weights: Array, k: int) -> None:
        distance = distance64(task, weights)

        @numba.njit(parallel=True)
        def of_ids(base, queries, ids):  # type: ignore[no-untyped-def]
            result = np.full(ids.shape, np.inf)
            for q in numba.prange(len(queries)):
                for i in range(ids.shape[1]):
                    if ids[q, i] >= 0:
                        result[q, i] = distance(queries[q], base[ids[q, i]])
            return result

        self._task, self._of_ids, self._k = task, of_ids, k
        self.ids, self.distances = scan(distance, np.float64, fast=False)(task.peer_base, task.peer_queries, k)

    def recall(self, ids: Array) -> float:
        """Share of the neighbours that are no farther than the k-th true one, so that equal distances all count."""
        ids = np.ascontiguousarray(ids, np.int64)
        for row in ids:
            found = row[row >= 0]
            assert len(np.unique(found)) == len(found), "a neighbour was reported twice"
        values = self._of_ids(self._task.peer_base, self._task.peer_queries[: len(ids)], ids)
        limit = self.distances[: len(ids), -1:] * (1 + 1e-6)
        return float(np.mean(values <= limit))

    def error(self, ids: Array, distances: Array) -> float:
        """Largest error of the reported distances, relative to what float64 gives for the same ids."""
        ids = np.ascontiguousarray(ids, np.int64)
        values = self._of_ids(self._task.peer_base, self._task.peer_queries[: len(ids)], ids)
        known = ids >= 0
        return float(np.max(np.abs(distances[known] - values[known]) / np.maximum(values[known], 1e-6)))
