# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Weighted L2: sum over the dimensions of w (x - y)^2, with weights that can change at any time."""

import numpy as np

import annudf
from annudf import ivf_flat

rng = np.random.default_rng(0)
base = rng.standard_normal((10_000, 64), dtype=np.float32)
queries = rng.standard_normal((50, 64), dtype=np.float32)
weights = rng.uniform(0.5, 2.0, 64).astype(np.float32)


@annudf.metric(order="min", initial=0.0, coarse_metric="sqeuclidean", captures={"weights": weights})
def weighted_l2(x, y, acc, ctx):
    d = x - y
    return acc + ctx.weights[ctx.dim] * d * d


index = ivf_flat.build(ivf_flat.IndexParams(n_lists=64, metric="sqeuclidean"), base)


def check(metric, weights):
    """Searches all lists and compares with brute force in float64."""
    params = ivf_flat.SearchParams(n_probes=64, metric=metric)
    distances, neighbors = ivf_flat.search(params, index, queries, 10)
    difference = queries[:, None].astype(np.float64) - base
    exact = np.einsum("qrd,d->qr", difference * difference, weights)
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :10], rtol=1e-5)
    np.testing.assert_allclose(distances, np.take_along_axis(exact, neighbors, axis=1), rtol=1e-5)
    return neighbors


before = check(weighted_l2, weights)

# Other weights: the compiled code is shared, nothing is compiled again.
other = np.where(np.arange(64) < 8, 4.0, 0.25).astype(np.float32)
after = check(weighted_l2.bind(weights=other), other)
kept = np.mean([len(set(a) & set(b)) for a, b in zip(before, after, strict=True)])
print(f"on average {kept:.1f} of 10 neighbours are the same with the other weights")
