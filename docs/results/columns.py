# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What columns of an index save: a time decay and a filter by code over a value a row, as a column and as an array.

usage: columns.py [--rows 1000000] [--dims 128] [--lists 1024] [--device cuda]

Prints a line of JSON for each combination of metric, way and batch: the median milliseconds of a search that is waited
for. "array" is a value by id that is bound to the metric, so that each lane of a scan gathers its own; "column" is read in
the order of the rows; "none" is the same metric without the value. Rows are added in a random order of ids, as an index
that grew is. The filter's time is that of computing its bits, which a state of an index does once.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

import numpy as np

import annudf
from annudf import ivf_flat


@annudf.metric
def plain(x, y, acc, ctx):
    return acc + (x - y) ** 2


def growth(acc, ctx):
    return acc * 2.0 ** (ctx.age[ctx.row] / ctx.half_life)


@annudf.metric(captures={"age": ivf_flat.column("float32"), "half_life": 30.0}, finalize=growth)
def decay(x, y, acc, ctx):
    return acc + (x - y) ** 2


@annudf.filter(captures={"age": ivf_flat.column("float32"), "most": 60.0})
def young(ctx):
    return ctx.age[ctx.row] <= ctx.most


def median_ms(call, times=9):
    call()
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        taken.append((time.perf_counter() - begin) * 1e3)
    return round(statistics.median(taken), 4)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--dims", type=int, default=128)
    parser.add_argument("--lists", type=int, default=1024)
    parser.add_argument("--device", default="cuda")
    given = parser.parse_args()
    rng = np.random.default_rng(1)
    place = annudf.Resources(device=given.device)
    data = rng.random((given.rows, given.dims), dtype=np.float32)
    age = rng.uniform(0, 90, given.rows).astype(np.float32)
    ids = rng.permutation(given.rows)
    params = ivf_flat.IndexParams(n_lists=given.lists, kmeans_n_iters=4, add_data_on_build=False)
    index = ivf_flat.build(params, data[: 64 * given.lists], place)
    ivf_flat.extend(index, data, ids, columns={"age": age[ids]})
    queries = rng.random((1000, given.dims), dtype=np.float32)
    ways = {"none": plain, "array": decay.bind(age=age), "column": decay}
    for n_queries in (1, 100, 1000):
        for way, metric in ways.items():
            search = ivf_flat.SearchParams(n_probes=32, metric=metric)
            ms = median_ms(lambda s=search, n=n_queries: ivf_flat.search(s, index, queries[:n], 10, resources=place))
            print(
                json.dumps({"what": "time decay", "rows": given.rows, "queries": n_queries, "as": way, "ms": ms}),
                flush=True,
            )
    search = ivf_flat.SearchParams(n_probes=32, metric=plain)
    bound = {"array": young.bind(age=age), "column": young}
    for way, kept in bound.items():
        # Another value is another set of bits.
        limits = iter(np.linspace(40, 80, 100, dtype=np.float32))
        ms = median_ms(
            lambda k=kept, v=limits: ivf_flat.search(
                search, index, queries[:1], 10, resources=place, filter=k.bind(most=next(v))
            )
        )
        print(json.dumps({"what": "filter", "rows": given.rows, "queries": 1, "as": way, "ms": ms}), flush=True)


if __name__ == "__main__":
    main()
