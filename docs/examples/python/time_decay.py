# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Meaning, age and tags in one distance: what a row has beside its vector is a capture that ``ctx.row`` indexes.

The vectors are embeddings and nothing else. Each row has an age in years and a bit for each tag, each query the
tags that it asks for; how much age and tags matter is bound without compiling again.
"""

import numpy as np

import annudf
from annudf import ivf_flat

EMBEDDING, TAGS = 32, 4

rng = np.random.default_rng(0)
rows, queries = 20_000, 50
embeddings = rng.standard_normal((rows, EMBEDDING), dtype=np.float32)
ages = rng.uniform(0, 10, rows).astype(np.float32)
tags = (rng.random((rows, TAGS)) < 0.3) @ (1 << np.arange(TAGS))  # a bit a tag

asked = rng.standard_normal((queries, EMBEDDING), dtype=np.float32)
wanted = np.ones(queries, int)  # the first tag


def with_age_and_tags(acc, ctx):
    missing = ctx.wanted[ctx.query] & ~ctx.tags[ctx.row]
    return acc + ctx.decay * ctx.ages[ctx.row] + ctx.penalty * np.bitwise_count(missing)


@annudf.metric(
    captures={"ages": ages, "tags": tags, "wanted": wanted, "decay": 0.0, "penalty": 0.0}, finalize=with_age_and_tags
)
def fresh_and_tagged(x, y, acc, ctx):
    d = x - y
    return acc + d * d


index = ivf_flat.build(ivf_flat.IndexParams(n_lists=64), embeddings)
meaning = ((asked[:, None].astype(np.float64) - embeddings) ** 2).sum(axis=2)
missing = (wanted[:, None] & ~tags) != 0  # of one tag that is asked for

for decay, penalty in ((0.0, 0.0), (2.0, 0.0), (2.0, 1000.0)):
    metric = fresh_and_tagged.bind(decay=decay, penalty=penalty)
    distances, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=64, metric=metric), index, asked, 10)

    exact = meaning + decay * ages + penalty * missing
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :10], rtol=1e-5)
    tagged = (tags[neighbors] & 1) != 0
    print(
        f"decay {decay}, penalty {penalty:6}: mean age {ages[neighbors].mean():.1f} years, "
        f"{100 * tagged.mean():.0f} % have the tag"
    )
    if penalty:
        assert tagged.all()
