# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What a user does first with an installed wheel; run by scripts/wheel-test where no LLVM is installed."""

import re
import sys
import time

start = time.perf_counter()
import annudf  # noqa: E402

loaded = (time.perf_counter() - start) * 1e3

import numpy as np  # noqa: E402

from annudf import ivf_flat  # noqa: E402

rng = np.random.default_rng(0)
base = rng.standard_normal((5000, 32)).astype(np.float32)
queries = base[:50] + 0.01
w = np.linspace(0.5, 2, 32, dtype=np.float32)


@ivf_flat.metric(order="min", initial=0.0, coarse_metric="sqeuclidean", captures={"weights": w})
def weighted_l2(x, y, acc, ctx):
    """Squared distance, each dimension with its weight."""
    d = x - y
    return acc + ctx.weights[ctx.dim] * d * d


index = ivf_flat.build(ivf_flat.IndexParams(n_lists=32, metric="sqeuclidean"), base)
start = time.perf_counter()
distances, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=32, metric=weighted_l2), index, queries, 10)
searched = (time.perf_counter() - start) * 1e3
exact = (w * (queries[:, None, :] - base[None]) ** 2).sum(-1)
assert (np.asarray(neighbors) == np.argsort(exact, axis=1, kind="stable")[:, :10]).all(), "wrong neighbours"
np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :10], rtol=1e-4)

with open("/proc/self/maps") as maps:
    files = sorted({line.split()[-1] for line in maps if "/" in line})
# The frontend's package brings an MLIR of its own, inside the environment.
foreign = [f for f in files if re.search(r"LLVM|MLIR|/llvm-", f) and not f.startswith(sys.prefix)]
assert not foreign, f"loaded beside the wheel: {foreign}"
assert any("libannudf" in file for file in files)
print(
    f"annudf {annudf.__version__} on Python {sys.version.split()[0]}: import {loaded:.0f} ms, "
    f"first search with its compile {searched:.0f} ms, no LLVM of the system loaded"
)
