#!/usr/bin/env python3
# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts what lists left out by the triangle inequality, and tiles left at half of the dims, would save.

usage: left_out.py BASE QUERIES [ROWS]      files .u8bin or .fbin; NumPy alone

A list is left out where d(q, center) - radius is above the k-th distance of the lists before it, nearest first; its
radius is the largest distance in it. A tile is left where the partial distance of all its pairs after half of the dims
is above the k-th distance of the whole search, which is the most that a scan could know.
"""

import sys
from pathlib import Path

import numpy as np

LISTS, K = 512, 10
RNG = np.random.default_rng(0)


def read(name: str) -> np.ndarray:
    """The vectors of a file, as float32."""
    dtype = {".u8bin": np.uint8, ".fbin": np.float32}[Path(name).suffix]
    return np.fromfile(name, dtype, offset=8).reshape(np.fromfile(name, "<u4", 2)).astype(np.float32)


def nearest(rows: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """The nearest center of each row, by L2."""
    half = (centers**2).sum(1) / 2
    return np.concatenate([np.argmax(part @ centers.T - half, 1) for part in np.array_split(rows, 20)])


def centers_of(rows: np.ndarray) -> np.ndarray:
    """Ten rounds of k-means on a sample."""
    sample = rows[RNG.choice(len(rows), min(len(rows), 40000), replace=False)]
    centers = sample[:LISTS].copy()
    for _ in range(10):
        label = nearest(sample, centers)
        for one in range(LISTS):
            if (label == one).any():
                centers[one] = sample[label == one].mean(0)
    return centers


def metrics(dims: int) -> dict:
    """Distances of arrays whose last axis are the dims, or the first half of them."""
    w = RNG.uniform(0.2, 2, dims).astype(np.float32)
    return {
        "L2": lambda x, y: np.sqrt(((x - y) ** 2).sum(-1)),
        "L1": lambda x, y: np.abs(x - y).sum(-1),
        "Chebyshev": lambda x, y: np.abs(x - y).max(-1),
        "weighted L2": lambda x, y: (w[: x.shape[-1]] * (x - y) ** 2).sum(-1),
    }


def main() -> None:
    """Prints the shares."""
    base, queries = read(sys.argv[1]), read(sys.argv[2])
    base = base[: int(sys.argv[3])] if len(sys.argv) > 3 else base
    centers = centers_of(base)
    label = nearest(base, centers)
    lists = [base[label == one] for one in range(LISTS)]
    rank = np.argsort((centers**2).sum(1) / 2 - queries[:1000] @ centers.T, 1)
    for name, distance in metrics(base.shape[1]).items():
        if name != "weighted L2":
            radius = [distance(rows, center).max(initial=0) for rows, center in zip(lists, centers, strict=True)]
            seen, left = np.zeros(65), np.zeros(65)
            for q in range(100):
                best = np.full(K, np.inf, np.float32)
                for place, one in enumerate(rank[q, :64], 1):
                    seen[place] += len(lists[one])
                    if distance(queries[q], centers[one]) - radius[one] > best[-1]:
                        left[place] += len(lists[one])
                    elif len(lists[one]):
                        best = np.sort(np.concatenate([best, distance(lists[one], queries[q])]))[:K]
            shares = ", ".join(f"{left[: p + 1].sum() / seen[: p + 1].sum():.4f} at {p}" for p in (16, 32, 64))
            print(f"{name}: rows of lists left out, of those probed: {shares}", flush=True)
        if name == "L2":
            continue
        tiles = {shape: [0, 0] for shape in ((1, 1), (8, 8), (8, 16), (16, 16), (32, 8), (32, 16))}
        half = base.shape[1] // 2
        for one in RNG.choice(LISTS, 12, replace=False):
            asked = np.flatnonzero((rank[:, :32] == one).any(1))[:16]
            if len(asked) < 16 or len(lists[one]) < 32:
                continue
            beyond = np.empty((len(lists[one]), 16), bool)
            for column, q in enumerate(asked):
                probed = np.concatenate([distance(lists[other], queries[q]) for other in rank[q, :32]])
                limit = np.partition(probed, K - 1)[K - 1]
                beyond[:, column] = distance(lists[one][:, :half], queries[q, :half]) > limit
            for (rows, columns), count in tiles.items():
                n = len(beyond) // rows
                whole = beyond[: n * rows].reshape(n, rows, 16 // columns, columns).all((1, 3))
                count[0] += whole.sum()
                count[1] += whole.size
        shares = ", ".join(f"{r} x {c} {left / seen / 2:.3f}" for (r, c), (left, seen) in tiles.items())
        print(f"{name}: work saved by tiles of rows x queries left at half of the dims: {shares}", flush=True)


if __name__ == "__main__":
    main()
