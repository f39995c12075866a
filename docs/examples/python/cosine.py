# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Cosine distance, 1 - sum x y / sqrt(sum x^2 sum y^2): three sums in one accumulator."""

import math

import numpy as np

import annudf
from annudf import ivf_flat

rng = np.random.default_rng(0)
base = rng.standard_normal((10_000, 32), dtype=np.float32)
queries = rng.standard_normal((50, 32), dtype=np.float32)


@annudf.metric(initial=(0.0, 0.0, 0.0), finalize=lambda acc, ctx: 1 - acc[0] / math.sqrt(acc[1] * acc[2]))
def cosine(x, y, acc, ctx):
    return acc[0] + x * y, acc[1] + x * x, acc[2] + y * y


index = ivf_flat.build(ivf_flat.IndexParams(n_lists=64), base)
distances, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=64, metric=cosine), index, queries, 10)

x, y = queries.astype(np.float64), base.astype(np.float64)
exact = 1 - x @ y.T / np.sqrt((x**2).sum(axis=1)[:, None] * (y**2).sum(axis=1))
np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :10], atol=1e-6)
np.testing.assert_allclose(distances, np.take_along_axis(exact, neighbors, axis=1), atol=1e-6)
print(f"cosine distance of the nearest row {distances[:, 0].mean():.3f} on average")
