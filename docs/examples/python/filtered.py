# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A weighted distance among what is affordable, by a function, and in stock, by an array."""

import numpy as np

import annudf
from annudf import filters, ivf_flat

random = np.random.default_rng(0)
dataset = random.normal(size=(5_000, 32)).astype(np.float32)
queries = random.normal(size=(10, 32)).astype(np.float32)
price = random.uniform(1, 100, size=len(dataset)).astype(np.float32)
in_stock = random.random(len(dataset)) < 0.8
weights = np.linspace(0.5, 2, 32, dtype=np.float32)


@annudf.metric(captures={"weights": weights})
def weighted_l2(x, y, acc, ctx):
    d = x - y
    return acc + ctx.weights[ctx.dim] * d * d


@annudf.filter(captures={"price": price, "most": 20.0})
def affordable(ctx):
    return ctx.price[ctx.row] <= ctx.most


# Packed once, for any number of searches; an array of bool would do as well.
available = affordable & filters.from_mask(in_stock)

index = ivf_flat.build(ivf_flat.IndexParams(n_lists=16), dataset)
params = ivf_flat.SearchParams(n_probes=16, metric=weighted_l2)
distances, neighbors = ivf_flat.search(params, index, queries, 5, filter=available)

exact = (weights * (queries[:, None] - dataset[None]).astype(np.float64) ** 2).sum(axis=2)
exact[:, ~((price <= 20) & in_stock)] = np.inf
assert (neighbors == np.argsort(exact, axis=1)[:, :5]).all()

# Another value is bound without compiling.
cheap = affordable.bind(most=5.0) & filters.from_mask(in_stock)
_, cheapest = ivf_flat.search(params, index, queries, 5, filter=cheap)
assert (price[cheapest] <= 5).all()
print(f"nearest to the first query {neighbors[0].tolist()}, for 5 at most {cheapest[0].tolist()}")
