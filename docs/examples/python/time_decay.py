# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Meaning, age and tags in one distance: attributes of a row are more coordinates of its vector.

A row is an embedding, then its age in years, then one coordinate a tag (1: the row has it). A query
is an embedding, then 0, then 1 for each tag that is asked for. The metric looks at ``ctx.dim`` and
treats each part in its own way; how much age and tags matter is bound without compiling again.
"""

import numpy as np

from annudf import ivf_flat

EMBEDDING, TAGS = 32, 4
AGE = EMBEDDING

rng = np.random.default_rng(0)
rows = 20_000
embeddings = rng.standard_normal((rows, EMBEDDING), dtype=np.float32)
ages = rng.uniform(0, 10, (rows, 1)).astype(np.float32)
tags = (rng.random((rows, TAGS)) < 0.3).astype(np.float32)
base = np.hstack([embeddings, ages, tags])

query = np.zeros((50, EMBEDDING + 1 + TAGS), np.float32)
query[:, :EMBEDDING] = rng.standard_normal((50, EMBEDDING), dtype=np.float32)
query[:, AGE + 1] = 1  # the first tag is asked for


@ivf_flat.metric(captures={"decay": 0.0, "penalty": 0.0})
def fresh_and_tagged(x, y, acc, ctx):
    if ctx.dim < EMBEDDING:
        d = x - y
        return acc + d * d
    if ctx.dim == AGE:
        return acc + ctx.decay * y
    return acc + ctx.penalty * max(x - y, 0)  # asked for and not there


index = ivf_flat.build(ivf_flat.IndexParams(n_lists=64), base)
meaning = ((query[:, None, :EMBEDDING].astype(np.float64) - embeddings) ** 2).sum(axis=2)
missing = np.maximum(query[:, None, AGE + 1 :] - tags, 0).sum(axis=2)

for decay, penalty in ((0.0, 0.0), (2.0, 0.0), (2.0, 1000.0)):
    metric = fresh_and_tagged.bind(decay=decay, penalty=penalty)
    distances, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=64, metric=metric), index, query, 10)

    exact = meaning + decay * ages[:, 0] + penalty * missing
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :10], rtol=1e-5)
    print(
        f"decay {decay}, penalty {penalty:6}: mean age {ages[neighbors].mean():.1f} years, "
        f"{100 * tags[neighbors, 0].mean():.0f} % have the tag"
    )
    if penalty:
        assert tags[neighbors, 0].all()
