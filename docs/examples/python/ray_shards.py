# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Shards without Dask: each is in an actor of Ray, or in a process of its own where Ray is not installed.

A shard and a request know nothing of what carries them (run with Ray 2.60). The driver trains the centers once, each holder makes a shard
of its rows, and a search asks all holders and merges what they find.
"""

import concurrent.futures
import itertools
import multiprocessing
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import annudf
from annudf import ivf_flat
from annudf._shards import request as requests
from annudf._shards import shard as shards

HOLDERS, ROWS, DIM, K = 2, 20_000, 16, 10


class Holder:
    """Holds a shard, in another process than the driver."""

    def __init__(self) -> None:
        annudf.set_num_threads(1)

    def build(self, trained: bytes, ranges: list[tuple[int, int]], rows: list[np.ndarray]) -> int:
        """Makes the shard of these rows, which have their positions as ids."""
        self.shard = shards.make(annudf.__version__, trained, ranges, rows, None, {})
        return shards.count(self.shard)

    def search(self, request: requests.Request, sent: list[requests.Packed], queries: np.ndarray) -> Any:
        """The best rows of the shard. None: it does not know the metric, which is to be sent."""
        code = requests.resolve(request, sent)
        return None if code is None else requests.search_shard(request, code, queries, self.shard)


def in_ray() -> tuple[list[Callable[..., Any]], Callable[[list[Any]], list[Any]], Callable[[], Any]]:
    """How to call a method of each holder, how to get results, and what ends it all."""
    import ray

    ray.init(num_cpus=HOLDERS, include_dashboard=False, log_to_driver=False)
    actor = ray.remote(Holder)
    holders = [actor.remote() for _ in range(HOLDERS)]
    return [lambda name, *given, to=one: getattr(to, name).remote(*given) for one in holders], ray.get, ray.shutdown


def _call(name: str, *given: Any, here: list[Holder] = []) -> Any:  # noqa: B006 (one holder a process)
    if not here:
        here.append(Holder())
    return getattr(here[0], name)(*given)


def in_processes() -> tuple[list[Callable[..., Any]], Callable[[list[Any]], list[Any]], Callable[[], Any]]:
    """The same by a process for each holder."""
    spawn = multiprocessing.get_context("spawn")
    pools = [concurrent.futures.ProcessPoolExecutor(1, spawn) for _ in range(HOLDERS)]
    calls = [lambda name, *given, to=pool: to.submit(_call, name, *given) for pool in pools]
    return (
        calls,
        lambda futures: [one.result() for one in futures],
        lambda: [pool.shutdown() for pool in pools],
    )


@annudf.metric
def canberra(x, y, acc, ctx):
    return acc + abs(x - y) / (abs(x) + abs(y))


def main() -> None:
    """Builds shards, searches them, and compares the result with that of one index."""
    rng = np.random.default_rng(0)
    base, queries = (rng.random((count, DIM), dtype=np.float32) + 0.1 for count in (ROWS, 50))
    params, search = ivf_flat.IndexParams(n_lists=64), ivf_flat.SearchParams(n_probes=8, metric=canberra)

    try:
        calls, get, end = in_ray()
    except ModuleNotFoundError:
        calls, get, end = in_processes()
    sample = base[shards.training_rows(params, ROWS)]
    trained = shards.train(annudf.__version__, params, [sample])
    edges = [ROWS * i // HOLDERS for i in range(HOLDERS + 1)]
    ranges = list(itertools.pairwise(edges))
    sizes = get([call("build", trained, [one], [base[slice(*one)]]) for call, one in zip(calls, ranges, strict=True)])
    assert sum(sizes) == ROWS

    request, packed = requests.request_of(search, search.metric, None, K)
    found = get([call("search", request, [], queries) for call in calls])
    assert found == [None] * HOLDERS, "no holder knows the metric"
    for sent in (list(packed.values()), []):  # From the second search on its digest is all that is sent.
        found = get([call("search", request, sent, queries) for call in calls])
        best = requests.merge_parts(found, K, search.metric.order)
    end()

    whole = ivf_flat.IndexParams(n_lists=64, kmeans_trainset_fraction=1, add_data_on_build=False)
    one = ivf_flat.extend(ivf_flat.build(whole, sample), base)
    distances, neighbors = ivf_flat.search(search, one, queries, K)
    assert (best.distances == distances).all()
    assert (best.ids == neighbors).all()
    print(f"{HOLDERS} shards in {'Ray' if 'ray' in sys.modules else 'processes'} find what one index finds")


if __name__ == "__main__":
    main()
