# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""L1 (Manhattan, city block): sum over the dimensions of |x - y|."""

import numpy as np

import annudf
from annudf import ivf_flat

rng = np.random.default_rng(0)
base = rng.standard_normal((10_000, 32), dtype=np.float32)
queries = rng.standard_normal((50, 32), dtype=np.float32)


@annudf.metric(order="min", initial=0.0, coarse_metric="sqeuclidean")
def l1(x, y, acc, ctx):
    return acc + abs(x - y)


index = ivf_flat.build(ivf_flat.IndexParams(n_lists=64), base)
distances, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=64, metric=l1), index, queries, 10)

exact = np.abs(queries[:, None].astype(np.float64) - base).sum(axis=2)
np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :10], rtol=1e-5)
np.testing.assert_allclose(distances, np.take_along_axis(exact, neighbors, axis=1), rtol=1e-5)

# Lists are ranked by L2, so with fewer probes the answer is approximate.
_, few = ivf_flat.search(ivf_flat.SearchParams(n_probes=8, metric=l1), index, queries, 10)
recall = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(few, neighbors, strict=True)])
print(f"recall@10 with 8 of 64 lists: {recall:.3f} (random vectors have no clusters; real ones do)")
assert 0.2 < recall < 1
