# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What tests of filters of code search: rows with prices, and the filter of those that are affordable."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from annudf import ivf_flat

EXAMPLE = Path(__file__).resolve().parents[3] / "docs/examples/filters/affordable.mlir"
ROWS, DIMS, LISTS = 701, 6, 7
RANDOM = np.random.default_rng(3)
DATA = RANDOM.normal(size=(ROWS, DIMS)).astype(np.float32)
QUERIES = RANDOM.normal(size=(5, DIMS)).astype(np.float32)
prices = RANDOM.uniform(0, 100, ROWS).astype(np.float32)
all_tags = RANDOM.integers(0, 1 << 16, ROWS)
kinds = RANDOM.integers(0, 4, ROWS)
lookup = RANDOM.integers(0, 2, (4, 3))
EXACT = ((QUERIES[:, None].astype(np.float64) - DATA[None]) ** 2).sum(axis=2)


def build():
    return ivf_flat.build(ivf_flat.IndexParams(n_lists=LISTS, seed=2), DATA)


def search(index, chosen, k=12, queries=QUERIES, metric=None):
    params = ivf_flat.SearchParams(n_probes=LISTS, metric=metric)
    return ivf_flat.search(params, index, queries, k, filter=chosen)


def check(index, chosen, mask, k=12):
    """A search with the filter finds what NumPy finds among the rows of the mask."""
    distances, neighbors = search(index, chosen, k)
    passing = np.flatnonzero(mask)
    for q in range(len(QUERIES)):
        order = passing[np.argsort(EXACT[q, passing], kind="stable")][:k]
        count = len(order)
        assert neighbors[q, :count].tolist() == order.tolist()
        np.testing.assert_allclose(distances[q, :count], EXACT[q, order], rtol=1e-5)
        assert (neighbors[q, count:] == -1).all()
        assert np.isposinf(distances[q, count:]).all()


@ivf_flat.filter(captures={"price": prices, "most": 20.0})
def affordable(ctx):
    return ctx.price[ctx.row] <= ctx.most
