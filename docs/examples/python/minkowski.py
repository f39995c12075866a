# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Minkowski distance of order p, (sum |x - y|^p)^(1/p): a scalar capture and a finalize."""

import numpy as np

import annudf
from annudf import ivf_flat

rng = np.random.default_rng(0)
base = rng.standard_normal((10_000, 32), dtype=np.float32)
queries = rng.standard_normal((50, 32), dtype=np.float32)


@annudf.metric(captures={"p": 3.0})
class Minkowski:
    """A class holds the hooks of one metric; they take no self."""

    def update(x, y, acc, ctx):
        return acc + abs(x - y) ** ctx.p

    def finalize(acc, ctx):
        return acc ** (1 / ctx.p)


index = ivf_flat.build(ivf_flat.IndexParams(n_lists=32), base)
for p in (1.0, 1.5, 3.0):
    params = ivf_flat.SearchParams(n_probes=32, metric=Minkowski.bind(p=p))
    distances, neighbors = ivf_flat.search(params, index, queries, 10)

    exact = (np.abs(queries[:, None].astype(np.float64) - base) ** p).sum(axis=2) ** (1 / p)
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :10], rtol=1e-5)
    np.testing.assert_allclose(distances, np.take_along_axis(exact, neighbors, axis=1), rtol=1e-5)
    print(f"p = {p}: mean distance of the nearest row {distances[:, 0].mean():.3f}")
