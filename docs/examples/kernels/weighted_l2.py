# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A kernel of numba-cuda-mlir that calls a verified metric, checked against NumPy and annudf. It needs a GPU."""

import numpy as np
from numba_cuda_mlir import cuda

import annudf


@annudf.metric(captures={"weights": np.ones(32, np.float32)}, finalize=np.sqrt)
def weighted_l2(x, y, acc, ctx):
    d = x - y
    return acc + ctx.weights[ctx.dim] * d * d


hooks = weighted_l2.device_functions()
assert hooks.arguments["update"] == ("acc", "x", "y", "dim", "weights")


@cuda.jit
def all_distances(queries, rows, weights, out):
    r, q = cuda.grid(2)
    if q < queries.shape[0] and r < rows.shape[0]:
        acc = hooks.init()
        for d in range(rows.shape[1]):
            acc = hooks.update(acc, queries[q, d], rows[r, d], d, weights)
        out[q, r] = hooks.finalize(acc)


def main():
    rng = np.random.default_rng(0)
    queries = rng.standard_normal((10, 32), dtype=np.float32)
    rows = rng.standard_normal((1000, 32), dtype=np.float32)
    weights = rng.random(32, dtype=np.float32)
    out = cuda.to_device(np.zeros((10, 1000), np.float32))
    blocks, threads = (8, 5), (128, 2)  # 1,024 rows, 10 queries
    all_distances[blocks, threads](*map(cuda.to_device, (queries, rows, weights)), out)
    found = out.copy_to_host()
    expected = np.sqrt((weights * (queries[:, None] - rows) ** 2).sum(2))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(found, weighted_l2.bind(weights=weights).pairwise(queries, rows), rtol=1e-6)
    print(f"{found.size} distances, the nearest row of query 0 is {found[0].argmin()}")


if __name__ == "__main__":
    main()
