# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A metric of ``__main__`` in the worker processes of what people run searches with."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile

import pytest

PROGRAM = """
import json, multiprocessing, os, sys
import numpy as np
from annudf import ivf_flat

BASE = np.random.default_rng(0).random((300, 6), dtype=np.float32)
SCALE = np.float32(2.0)

@ivf_flat.metric(captures={"w": np.arange(6, dtype=np.float32)})
def local(x, y, acc, ctx):
    return acc + ctx.w[ctx.dim] * SCALE * abs(x - y)

@ivf_flat.metric(captures={"p": 3.0})
class Fields:
    total: np.float32 = 0
    most: np.float32 = 0

    def update(self, x, y, ctx):
        self.total += abs(x - y) ** ctx.p
        self.most = max(self.most, abs(x - y))

    def finalize(self, ctx):
        return self.total + self.most

def nearest(work):
    metric, queries = work
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=3), BASE)
    distances, ids = ivf_flat.search(ivf_flat.SearchParams(n_probes=3, metric=metric), index, queries, 4)
    return os.getpid(), distances.tolist(), ids.tolist()

def loky(works):
    from joblib import Parallel, delayed
    return Parallel(n_jobs=2, backend="loky")(delayed(nearest)(work) for work in works)

def spawn(works):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        return pool.map(nearest, works)

def forkserver(works):
    with multiprocessing.get_context("forkserver").Pool(2) as pool:
        return pool.map(nearest, works)

def futures(works):
    from concurrent.futures import ProcessPoolExecutor
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        return list(pool.map(nearest, works))

def dask(works):
    from dask.distributed import Client, LocalCluster
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        return client.gather(client.map(nearest, works, pure=False))

def ray(works):
    import ray
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=80 * 2**20)
    try:
        return ray.get([ray.remote(nearest).remote(work) for work in works])
    finally:
        ray.shutdown()

if __name__ == "__main__":
    works = [(metric, BASE[i : i + 3] + np.float32(0.01)) for i in (0, 100) for metric in (local, local.bind(w=np.ones(6, np.float32)), Fields)]
    here = [nearest(work)[1:] for work in works]
    there = globals()[sys.argv[1]](works)
    print(json.dumps([os.getpid() in [one[0] for one in there], here == [tuple(one[1:]) for one in there]]))
"""


NEEDS = {"loky": "joblib", "spawn": "", "forkserver": "", "futures": "", "dask": "distributed", "ray": "ray"}
"""What has to be installed for it."""


@pytest.mark.parametrize("how", NEEDS)
def test_metrics_of_main_reach_workers(how, tmp_path):
    if NEEDS[how] and importlib.util.find_spec(NEEDS[how]) is None:
        pytest.skip(f"{NEEDS[how]} is not installed")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    # Workers find no code in a cache on disk: it is in the pickle.
    environment = {
        **os.environ,
        "ANNUDF_CACHE_DIR": str(tmp_path / "cache"),
        "HOME": str(tmp_path),  # Ray keeps a token there.
        "JOBLIB_TEMP_FOLDER": str(tmp_path),
    }
    with tempfile.TemporaryDirectory(prefix="ray") as short:  # Ray's sockets have long names.
        environment["RAY_TMPDIR"] = short
        done = subprocess.run(
            [sys.executable, str(program), how], capture_output=True, text=True, check=False, env=environment
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [False, True]
