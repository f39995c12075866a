# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ruff: noqa: RUF001 (tables have multiplication signs)
"""Searches of Dask shards: two processes beside one, and an estimate for up to 1,000 shards.

    python docs/results/shards.py measure  [--quiet] [-o docs/results/records/shards-two-processes.json]
    python docs/results/shards.py simulate [-o docs/results/records/shards-simulated.json]

`measure` builds one index and the same index in two processes, compares their results, and times searches in turns.
"before" has the scheduler pass on all messages and each worker rank all lists. CPU time is that of the client, with
the scheduler, and of the workers. Each number is the least of the turns.

`simulate` times shards of 100,000 rows, their ranking, messages and merges on this machine. It computes the latency of
a search of more shards of that size by a formula, and by a simulation that draws a measured time for each shard and
queues messages on links.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import heapq
import json
import math
import os
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import annudf
from annudf import ivf_flat
from annudf._shards import request as requests
from annudf._shards import shard as shards
from annudf.dask import _call, _cluster
from annudf.dask import ivf_flat as dask_ivf

DIM, LISTS, PROBES, K = 128, 1024, 32, 10
QUIET = {"distributed.worker.profile.enabled": False, "distributed.admin.tick.interval": "1s"}


def vectors(count: int, seed: int) -> np.ndarray:
    """Rows around 2,000 kinds, which all seeds share."""
    kinds = np.random.default_rng(0).standard_normal((2000, DIM), dtype=np.float32) * 2
    rng = np.random.default_rng(seed)
    return kinds[rng.integers(0, 2000, count)] + rng.standard_normal((count, DIM), dtype=np.float32)


def params(**more: Any) -> ivf_flat.IndexParams:
    """Quick to build."""
    return ivf_flat.IndexParams(**{"n_lists": LISTS, "kmeans_trainset_fraction": 0.1, "kmeans_n_iters": 4, **more})


def cpu_ms(pids: list[int]) -> float:
    """User and system time of processes."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return 1000 * ticks / os.sysconf("SC_CLK_TCK")


def local(**settings: Any) -> tuple[LocalCluster, Client]:
    """Two processes of a thread each."""
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0, **settings)
    return cluster, Client(cluster)


class Turns:
    """Times of several calls, made in turns."""

    def __init__(self, calls: dict[str, Callable[[], Any]], pids: list[int], repeats: int, loops: int) -> None:
        self.wall: dict[str, list[float]] = {name: [] for name in calls}
        self.cpu: dict[str, list[float]] = {name: [] for name in calls}
        for number in range(repeats + 1):
            for name, call in calls.items():
                used, start = cpu_ms(pids), time.perf_counter()
                for _ in range(loops):
                    call()
                if number:  # The first turn is a warm-up.
                    self.wall[name].append(1000 * (time.perf_counter() - start) / loops)
                    self.cpu[name].append((cpu_ms(pids) - used) / loops)


def with_client(client: Client, before: bool, call: Callable[[], Any]) -> Callable[[], Any]:
    """The call with messages and ranking as they were before, or as they are."""
    worth = _call.RANKED_TOGETHER

    def run() -> Any:
        client.direct_to_workers = False if before else None
        _call.RANKED_TOGETHER = 1 << 62 if before else worth
        try:
            return call()
        finally:
            client.direct_to_workers, _call.RANKED_TOGETHER = None, worth

    return run


def measured(rows: int, settings: dict[str, Any], repeats: int) -> dict[tuple[str, int], Turns]:
    """Searches of one index and of two shards."""
    host, queries = vectors(rows, 1), vectors(10_000, 2)
    found = {}
    with dask.config.set(settings):
        cluster, client = local()
        with cluster, client:
            pids = [os.getpid(), *client.run(os.getpid).values()]
            workers, chunk = sorted(client.nthreads()), -(-rows // 4)
            pieces = [
                client.scatter(host[i : i + chunk], workers=[workers[i // chunk % 2]]) for i in range(0, rows, chunk)
            ]
            sizes = [min(chunk, rows - i) for i in range(0, rows, chunk)]
            spread = [da.from_delayed(p, (n, DIM), np.float32) for p, n in zip(pieces, sizes, strict=True)]
            sharded = dask_ivf.build(params(), da.concatenate(spread))
            sample = host[dask_ivf.training_rows(params(), rows)]
            whole = params(kmeans_trainset_fraction=1, add_data_on_build=False)
            one = ivf_flat.extend(ivf_flat.build(whole, sample, progress=False), host, progress=False)
            annudf.set_num_threads(2)
            for metric in ("l1", "sqeuclidean"):
                for batch in (1, 1000, 10_000):
                    search, some = ivf_flat.SearchParams(n_probes=PROBES, metric=metric), queries[:batch]
                    ours = lambda search=search, some=some: dask_ivf.search(search, sharded, some, K)  # noqa: E731
                    calls = {
                        "one": lambda search=search, some=some: ivf_flat.search(search, one, some, K),
                        "before": with_client(client, True, ours),
                        "after": with_client(client, False, ours),
                    }
                    results = [call() for call in calls.values()]
                    assert all((a == b).all() for other in results[1:] for a, b in zip(results[0], other, strict=True))
                    found[metric, batch] = Turns(calls, pids, repeats, 20 if batch == 1 else 3 if batch == 1000 else 1)
                    print(metric, batch, {n: round(min(t), 1) for n, t in found[metric, batch].cpu.items()})
    return found


def idle(settings: dict[str, Any]) -> list[str]:
    """Percent of a core that a client with a scheduler takes, and a worker, while they do nothing."""
    with dask.config.set(settings):
        cluster, client = local()
        with cluster, client:
            pids = [os.getpid(), *client.run(os.getpid).values()]
            time.sleep(2)
            before = [cpu_ms([pid]) for pid in pids]
            time.sleep(10)
            shares = [(cpu_ms([pid]) - one) / 100 for pid, one in zip(pids, before, strict=True)]
    return [f"{shares[0]:.1f}", f"{max(shares[1:]):.1f}"]


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Tables of two processes beside one, and of what Dask takes when idle."""
    rows = []
    for (metric, batch), turns in measured(arguments.rows, QUIET if arguments.quiet else {}, arguments.repeats).items():
        one, before, after = (min(turns.cpu[name]) for name in ("one", "before", "after"))
        shares = [f"{one / before:.2f}", f"{one / after:.2f}"] if batch > 1 else ["", ""]
        rows.append(
            [
                metric,
                f"{batch:,}",
                *(f"{ms:.0f}" if ms >= 1000 else f"{ms:.3g}" for ms in (one, before, after)),
                *shares,
            ]
        )
    columns = ["metric", "batch", "one process", "before", "after", "share before", "share after"]
    about = f"{arguments.rows:,} × {DIM} f32, {LISTS:,} lists, {PROBES} probes, k {K}: CPU time of all processes"
    settings = [["defaults", *idle({})], ["without sampling", *idle(QUIET)]]
    return {
        "tables": [
            {"about": about, "columns": columns, "rows": rows},
            {
                "about": "Idle, percent of a core",
                "columns": ["Dask's settings", "client and scheduler", "worker"],
                "rows": settings,
            },
        ]
    }


@dataclasses.dataclass
class Costs:
    """What one machine needs, in ms."""

    searches: dict[int, list[float]]  # By batch, of each shard.
    ranking: dict[int, float]  # All lists of a batch.
    message: float  # The client's cost of one more worker, beside its bytes.
    bytes_per_ms: float  # That a process sends or receives.
    task: float  # The cost of one more task to the client with the scheduler.
    merging: dict[int, float]  # A part of a batch.


def best_of(call: Callable[[], Any], count: int) -> float:
    """The least CPU time in ms: another program on the machine does not count."""
    times = []
    for _ in range(count):
        start = time.process_time()
        call()
        times.append(1000 * (time.process_time() - start))
    return min(times)


async def _nothing(*_: Any) -> None:
    return None


def nothing(_: Any) -> None:
    """A task."""


def messages() -> tuple[float, float, float]:
    """The cost of a message in ms of the client, bytes a ms, and the cost of a task with the scheduler's."""
    with dask.config.set(QUIET):
        cluster, client = local()
    with cluster, client:
        workers, found = list(client.nthreads()), []
        for size in (1, 5_000_000):
            data = np.zeros(size, np.uint8)

            def call(data: np.ndarray = data) -> None:
                calls = {one: (_nothing, data) for one in workers}
                client.sync(_cluster.ask, client, calls, _cluster.Deadline(60, "a message"))

            call()
            found.append(best_of(lambda call=call: [call() for _ in range(20)], 5) / 20 / len(workers))
        task = best_of(lambda: client.gather(client.map(nothing, range(1000), pure=False)), 3) / 1000
    return found[0], 5_000_000 / (found[1] - found[0]), task


def costs() -> Costs:
    """Measures ten shards of 100,000 rows in this process."""
    annudf.set_num_threads(1)
    host, queries = vectors(1_000_000, 1), vectors(10_000, 2)
    trained = shards.train(annudf.__version__, params(), [host[shards.training_rows(params(), len(host))]])
    edges = range(0, len(host), 100_000)
    ten = [
        shards.make(annudf.__version__, trained, [(i, i + 100_000)], [host[i : i + 100_000]], None, {}) for i in edges
    ]
    search = ivf_flat.SearchParams(n_probes=PROBES)
    request, packed = requests.request_of(search, search.metric_for(ten[0].index), None, K)
    code = requests.resolve(request, list(packed.values()))
    assert code is not None
    found = Costs({}, {}, *messages(), {})
    for batch in (1, 10_000):
        some = queries[:batch]
        lists = requests.rank_lists(request, code, some, ten[0])
        searched = lambda one, some=some, lists=lists: requests.search_shard(request, code, some, one, lists)  # noqa: E731
        found.searches[batch] = [best_of(lambda one=one, searched=searched: searched(one), 3) for one in ten]
        found.ranking[batch] = best_of(lambda some=some: requests.rank_lists(request, code, some, ten[0]), 3)
        parts: list[Any] = [searched(one) for one in ten]
        found.merging[batch] = best_of(lambda parts=parts: requests.merge_parts(parts, K, "min"), 3) / len(ten)
    return found


class Search:
    """A search of so many shards, one a worker."""

    FAN_IN = 8

    def __init__(self, have: Costs, count: int, batch: int) -> None:
        self.have, self.count, self.batch = have, count, batch
        self.is_shared = batch * LISTS * DIM >= _call.RANKED_TOGETHER and count > 1
        self.queries, self.lists = batch * DIM * 4, batch * PROBES * 2 if self.is_shared else 0
        self.result = batch * K * 12
        self.depth = math.ceil(math.log(count, self.FAN_IN) - 1e-9) if count > 1 else 1

    def link(self, size: float) -> float:
        """The time of so many bytes."""
        return size / self.have.bytes_per_ms

    @property
    def sent(self) -> float:
        """Bytes that the client sends: the queries are ranked in parts."""
        return self.count * (self.queries + self.lists) + (self.queries if self.is_shared else 0)

    def rank(self) -> float:
        """The time until the client has all lists."""
        if not self.is_shared:
            return 0
        messages = self.count * self.have.message + (self.queries + self.lists) / self.have.bytes_per_ms
        return messages + self.have.ranking[self.batch] / self.count

    def own_ranking(self) -> float:
        """What each shard ranks itself."""
        return 0 if self.is_shared else self.have.ranking[self.batch]

    def formula(self) -> float:
        """Messages out, the mean search, messages back, and the merge, one after another."""
        mean = statistics.fmean(self.have.searches[self.batch]) + self.own_ranking()
        return (
            self.rank()
            + self.count * (self.have.message + self.link(self.queries + self.lists + self.result))
            + mean
            + self.count * self.have.merging[self.batch]
        )

    def simulated(self, rng: np.random.Generator) -> float:
        """The same with one queue at the client, and a measured time for each shard."""
        free = self.rank()
        done: list[float] = []
        for _ in range(self.count):
            free += self.have.message + self.link(self.queries + self.lists)
            heapq.heappush(done, free + self.drawn(rng))
        while done:
            free = max(free, heapq.heappop(done)) + self.link(self.result)
        return free + self.count * self.have.merging[self.batch]

    def drawn(self, rng: np.random.Generator) -> float:
        """The time of one shard."""
        return float(rng.choice(self.have.searches[self.batch])) + self.own_ranking()

    def tree_formula(self) -> float:
        """Queries on the cluster: workers pass them on, and merge in a tree."""
        spreading = math.ceil(math.log2(self.count)) * self.link(self.queries + self.lists) if self.count > 1 else 0
        merging = self.depth * self.FAN_IN * (self.link(self.result) + self.have.merging[self.batch])
        mean = statistics.fmean(self.have.searches[self.batch]) + self.own_ranking()
        return self.rank_there() + self.tasks * self.have.task + spreading + mean + merging

    @property
    def tasks(self) -> int:
        """Searches and merges."""
        merges, level = 0, self.count
        while level > 1 or not merges:
            level = -(-level // self.FAN_IN)
            merges += level
        return self.count * (2 if self.is_shared else 1) + merges

    def rank_there(self) -> float:
        """The time until a worker has all lists: each sends it a part of them."""
        return self.have.ranking[self.batch] / self.count + self.link(self.lists) if self.is_shared else 0

    def tree_simulated(self, rng: np.random.Generator) -> float:
        """The same with a queue at each worker; one that has the queries sends them to another that has not."""
        holders, ready = [self.rank_there()], [self.rank_there()]
        heapq.heapify(holders)
        while len(ready) < self.count:
            sent = heapq.heappop(holders) + self.link(self.queries + self.lists)
            heapq.heappush(holders, sent)
            heapq.heappush(holders, sent)
            ready.append(sent)
        # The scheduler begins one task after another.
        level = [max(at, i * self.have.task) + self.drawn(rng) for i, at in enumerate(ready, self.tasks - self.count)]
        while True:
            merged = []
            for first in range(0, len(level), self.FAN_IN):
                group = sorted(level[first : first + self.FAN_IN])
                free = 0.0
                for at in group:
                    free = max(free, at) + self.link(self.result)
                merged.append(free + self.have.task + len(group) * self.have.merging[self.batch])
            level = merged
            if len(level) == 1:
                return level[0]


def digits(value: float) -> str:
    """Three of them."""
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 100 else f"{value:.3g}"


def simulate(_: argparse.Namespace) -> dict[str, Any]:
    """Tables of a formula and of a simulation."""
    have, rng = costs(), np.random.default_rng(0)
    rows = []
    for batch in (1, 10_000):
        for count in (1, 10, 100, 1000):
            search = Search(have, count, batch)
            by_calls = [search.simulated(rng) for _ in range(20)]
            by_tasks = [search.tree_simulated(rng) for _ in range(20)]
            rows.append(
                [
                    f"{batch:,}",
                    f"{count:,}",
                    digits(search.sent / 1e6),
                    digits(count * search.result / 1e6),
                    digits(search.formula()),
                    digits(statistics.median(by_calls)),
                    str(search.depth),
                    digits(search.tree_formula()),
                    digits(statistics.median(by_tasks)),
                ]
            )
    columns = ["batch", "shards", "MB sent", "MB back", "NumPy queries: formula", "simulated"]
    columns += ["merge depth", "dask queries: formula", "simulated"]
    about = f"Shards of 100,000 × {DIM} f32, {LISTS:,} lists, {PROBES} probes, k {K}; {have.message:.2g} ms a message, "
    about += f"{have.task:.2g} ms a task, {have.bytes_per_ms / 1000:,.0f} MB/s"
    return {"tables": [{"about": about, "columns": columns, "rows": rows}]}


def put(path: Path, found: dict[str, Any]) -> None:
    """The tables into a record, whose words stay."""
    about = json.loads(path.read_text())
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    about["commit"] = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    about["date"] = datetime.date.today().isoformat()
    path.write_text(json.dumps(about | found, indent=1, ensure_ascii=False) + "\n")


def main() -> None:
    """Prints the tables, or puts them into a record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("measure", "simulate"))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quiet", action="store_true", help="without Dask's sampling")
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    found = {"measure": measure, "simulate": simulate}[arguments.what](arguments)
    for one in found["tables"]:
        print(one["about"], one["columns"], *one["rows"], sep="\n")
    if arguments.output:
        put(arguments.output, found)


if __name__ == "__main__":
    main()
