# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Inner product, the largest first: order="max", and lists ranked by inner product too."""

import numpy as np

import annudf
from annudf import ivf_flat

rng = np.random.default_rng(0)
base = rng.standard_normal((20_000, 64), dtype=np.float32)
queries = rng.standard_normal((100, 64), dtype=np.float32)


@annudf.metric(order="max", initial=0.0, coarse_metric="inner_product")
def inner_product(x, y, acc, ctx):
    return acc + x * y


index = ivf_flat.build(ivf_flat.IndexParams(n_lists=64, metric="inner_product"), base)
params = ivf_flat.SearchParams(n_probes=64, metric=inner_product)
products, neighbors = ivf_flat.search(params, index, queries, 10)

exact = queries.astype(np.float64) @ base.T
np.testing.assert_allclose(products, -np.sort(-exact, axis=1)[:, :10], rtol=1e-5)
np.testing.assert_allclose(products, np.take_along_axis(exact, neighbors, axis=1), rtol=1e-5)
assert (np.diff(products, axis=1) <= 0).all()
print(f"mean of the best products {products[:, 0].mean():.2f}")
