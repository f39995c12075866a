# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Hamming distance of packed bits: how many bits of the bytes differ, counted in integers."""

import numpy as np

import annudf
from annudf import ivf_flat

rng = np.random.default_rng(0)
base = rng.integers(0, 256, (20_000, 32), dtype=np.uint8)  # 256 bits a row
queries = base[:100] ^ (rng.random((100, 32)) < 0.2).astype(np.uint8)  # about 6 bits flipped


@annudf.metric(dtype=np.int32, elements=[np.uint8], initial=0)
def hamming(x, y, acc, ctx):
    return acc + np.bitwise_count(x ^ y)


index = ivf_flat.build(ivf_flat.IndexParams(n_lists=32), base)
# Lists are ranked by L2 of the bytes, which says little about bits: all lists are probed.
params = ivf_flat.SearchParams(n_probes=32, metric=hamming)
distances, neighbors = ivf_flat.search(params, index, queries, 10)

exact = np.bitwise_count(queries[:, None] ^ base).sum(axis=2, dtype=np.int64)
np.testing.assert_array_equal(distances, np.sort(exact, axis=1)[:, :10])
np.testing.assert_array_equal(distances, np.take_along_axis(exact, neighbors, axis=1))
np.testing.assert_array_equal(neighbors[:, 0], np.arange(100))
print(f"mean Hamming distance of the nearest row {distances[:, 0].mean():.2f} of 256 bits")
