# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What a branch costs: the bodies of test/python/metric/branch_*.py against their straight forms.

usage: python branch_costs.py [--device cpu|cuda] [--rows N] [--queries N] [--dims N] [BODY ...]

Prints nanoseconds for a coordinate of a pair (on a CPU of one thread's processor time), and exits with 1 if a branch
costs more than twice its straight form. Warnings of the metric stand behind it.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time

import branching
import numpy as np

import annudf
from annudf import ivf_flat

LIMIT = 2.0
TIMES = 5


class _Said(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def _seconds(index: ivf_flat.Index, metric: ivf_flat.Metric, queries: object, cuda: bool) -> float:
    params = ivf_flat.SearchParams(n_probes=1, metric=metric)

    def once() -> float:
        clock = time.perf_counter if cuda else time.process_time
        begin = clock()
        distances, _ = ivf_flat.search(params, index, queries, 10)
        if cuda:
            np.asarray(distances.get())  # Waits for the device.
        return clock() - begin

    once()
    return min(once() for _ in range(TIMES))


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--queries", type=int)
    parser.add_argument("--dims", type=int, default=32)
    parser.add_argument("names", nargs="*", metavar="BODY")
    options = parser.parse_args()
    cuda = options.device == "cuda"
    rows, queries = options.rows or (1 << 20 if cuda else 8192), options.queries or (256 if cuda else 16)
    said = _Said()
    logging.getLogger("annudf").addHandler(said)
    annudf.set_num_threads(1)
    captures = branching.captures_of(options.dims, rows, queries)
    indices: dict[str, ivf_flat.Index] = {}
    worst = 0.0
    print(f"{'body':18} {'branches':>9} {'straight':>9} {'ratio':>6}")
    for body in branching.BODIES:
        if options.names and body.name not in options.names:
            continue
        asked, base = branching.data_of(body, options.dims, rows, queries)
        if body.element not in indices:
            annudf.set_num_threads(0)
            indices[body.element] = ivf_flat.build(ivf_flat.IndexParams(n_lists=1, kmeans_n_iters=1), base)
            annudf.set_num_threads(1)
        if cuda:
            import cupy

            asked = cupy.asarray(asked)
        said.messages.clear()
        times = [_seconds(indices[body.element], metric, asked, cuda) for metric in body.metrics(captures)]
        branches, straight = (1e9 * one / (rows * queries * options.dims) for one in times)
        worst = max(worst, branches / straight)
        note = "; ".join(said.messages)
        print(f"{body.name:18} {branches:9.5f} {straight:9.5f} {branches / straight:6.2f}  {note}".rstrip(), flush=True)
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(_main())
