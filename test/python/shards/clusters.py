# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A cluster of two processes, arrays spread over it, and the one index that a sharded one must equal."""

from __future__ import annotations

import contextlib
import logging
import os
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from annudf import ivf_flat
from annudf.dask import ivf_flat as dask_ivf

LIMIT = 120.0
"""Seconds that no call of a test takes, on a slow machine either."""


@contextlib.contextmanager
def two_processes():
    """A client of two workers with a thread each."""
    settings = {
        "distributed.comm.timeouts.connect": "60s",
        # A local cluster closes a worker that is not back in this time; tests that kill again may never see it back.
        "distributed.deploy.lost-worker-timeout": "1h",
        # A worker is forked from a process that has imported distributed, so it starts sooner.
        "distributed.worker.multiprocessing-method": "forkserver",
    }
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, timeout=LIMIT) as client,
    ):
        yield client


def workers_of(client: Client) -> list[str]:
    """The addresses of the workers."""
    return sorted(client.nthreads())


def spread(client: Client, array: Any, chunk: int, scattered: bool = False) -> Any:
    """A dask array whose chunks are on the workers in turn; nothing makes a scattered chunk again."""
    workers = workers_of(client)
    pieces = []
    for i, first in enumerate(range(0, len(array), chunk)):
        piece, worker = array[first : first + chunk], workers[i % len(workers)]
        if scattered:
            future = client.scatter(piece, workers=[worker], hash=False)
        else:
            future = client.submit(np.array, piece, workers=[worker], allow_other_workers=True, pure=False)
        pieces.append(da.from_delayed(dask.delayed(future), piece.shape, array.dtype))
    return da.concatenate(pieces)


def params(**more: Any) -> ivf_flat.IndexParams:
    """Few lists."""
    return ivf_flat.IndexParams(n_lists=12, **more)


def one_index(base: Any, ids: Any = None, columns: Any = None, **more: Any) -> ivf_flat.Index:
    """The index of the centers that shards have."""
    rows = dask_ivf.training_rows(params(**more), len(base))
    more |= {"kmeans_trainset_fraction": 1.0, "add_data_on_build": False}
    index = ivf_flat.build(params(**more), base[rows])
    return ivf_flat.extend(index, base, ids, columns=columns)


def assert_equal(found: Any, expected: Any) -> None:
    """To the bit."""
    for one, other in zip(found, expected, strict=True):
        seen, meant = np.asarray(one), np.asarray(other)
        assert seen.dtype == meant.dtype and seen.shape == meant.shape
        assert seen.tobytes() == meant.tobytes()


def pids(client: Client) -> dict[str, int]:
    """The processes of the workers."""
    found: dict[str, int] = client.run(os.getpid)
    return found
