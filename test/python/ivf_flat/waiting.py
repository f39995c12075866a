# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Calls whatever may wait for an index that another thread extends, one call after another: ``waiting.py FOLDER``.

That thread is in a Python function for its progress meanwhile, which needs the GIL to go on: a call that waits with the
GIL waits for ever. Prints each call before it is made; if one does not end, the process ends with all stacks.
"""

from __future__ import annotations

import faulthandler
import pickle
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from annudf import _core, ivf_flat
from annudf._metric.builtin import builtin_metric
from annudf.errors import Error

SECONDS = 60
DIMS, K = 8, 3

random = np.random.default_rng(1)
base = random.random((500, DIMS), dtype=np.float32)
queries = base[:2].copy()
ids = np.empty((2, K), np.int64)
ranked = np.empty((2, 4), np.uint32)
distances = np.empty((2, len(base) * 100), np.float32)  # Each call finds more rows.
gone = np.zeros(1, np.int64)
# With adaptive centers everything but the shape changes.
index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4, adaptive_centers=True), base)
core = index._core
backend = _core.Backend.cpu()
metric = builtin_metric("sqeuclidean")
artifact = metric.artifact([])
captures = _core.Captures.bind(artifact, DIMS, {})
filters = _core.compile(
    "annudf.filter @all { annudf.keep { %0 = arith.constant true annudf.yield %0 : i1 } }", "filter", archs=[]
)[0]
prepared = backend.prepare(core, artifact, captures, 2, DIMS, "f32", K, 4)[0]


def extending(progress: Callable[[str, float], None] | None = None) -> Any:
    return core.extending(base.ctypes.data, 10, DIMS, "f32", None, progress).result


def members(folder: Path) -> dict[str, Callable[[], Any]]:
    """A call of each attribute of an index, and of each method of a backend that takes one."""
    at = (queries.ctypes.data, 2, DIMS, "f32")
    coded = (core, artifact, captures)
    found = (ids.ctypes.data, distances.ctypes.data)
    options = _core.BuildOptions(
        n_lists=2, metric="l2", kmeans_n_iters=2, kmeans_trainset_fraction=1.0, seed=1, threads=1
    )
    rows = (base.ctypes.data, len(base), DIMS, "f32")
    methods: dict[str, Callable[[], Any]] = {
        "Index.build": lambda: _core.Index.build(*rows, options),
        "Index.of_rows": lambda: _core.Index.of_rows(*rows),
        "Index.load": lambda: _core.Index.load(str(folder / "index")),
        "Index.centers": core.centers,
        "Index.ids": core.ids,
        "Index.extending": extending,
        "Index.removing": lambda: core.removing(gone.ctypes.data, 1).result,
        "Index.saving": lambda: core.saving(str(folder / "index")).result,
        "Backend.extending": lambda: backend.extending(core, None, *at).result,
        "Backend.removing": lambda: backend.removing(core, gone.ctypes.data, 1).result,
        "Backend.search": lambda: backend.search(*coded, *at, K, 4, *found),
        "Backend.radius_search": lambda: backend.radius_search(*coded, *at, 0.1, 4, 1000),
        "Backend.rank_lists": lambda: backend.rank_lists(core, artifact, *at, 4, ranked.ctypes.data),
        "Backend.filter": lambda: backend.filter(core, filters, _core.Captures.bind(filters, DIMS, {}), 10**5),
        "Backend.prepare": lambda: backend.prepare(*coded, 2, DIMS, "f32", K, 4),
        "Backend.distances": lambda: backend.distances(*coded, *at, distances.ctypes.data),
        "Prepared.run": lambda: prepared.run(queries.ctypes.data, *found),
    }
    for name in dir(_core.Index):
        if not name.startswith("__") and not callable(getattr(_core.Index, name)):
            methods[f"Index.{name}"] = lambda name=name: getattr(core, name)
    for owner in (_core.Index, _core.Backend):
        for name in dir(owner):
            method = getattr(owner, name)
            takes_index = owner is _core.Index or "index: " in str(getattr(method, "__nb_signature__", ""))
            if callable(method) and not name.startswith("__") and takes_index:
                assert f"{owner.__name__}.{name}" in methods, f"call {owner.__name__}.{name} here, too"
    methods.update(
        {
            "repr": lambda: repr(index),
            "len": lambda: len(index),
            "pickle": lambda: pickle.dumps(index),
            "search": lambda: ivf_flat.search(ivf_flat.SearchParams(), index, queries, K),
            "extend": lambda: ivf_flat.extend(index, queries),
            "remove": lambda: ivf_flat.remove(index, [0]),
            "save": lambda: ivf_flat.save(str(folder / "file"), index),
        }
    )
    for name, value in vars(ivf_flat.Index).items():
        if isinstance(value, property):
            methods[name] = lambda name=name: getattr(index, name)
    return methods


def call_during_extend(call: Callable[[], Any]) -> None:
    inside, calls = threading.Event(), threading.Event()

    def progress(stage: str, done: float) -> None:
        if not inside.is_set():
            inside.set()
            calls.wait()
            time.sleep(0.05)  # The call waits by now, and if it has the GIL this never ends.

    thread = threading.Thread(target=extending, args=(progress,))
    thread.start()
    inside.wait()
    calls.set()
    try:
        call()
    except Error as error:  # On a CPU there is no device, ...
        print(f"  {error}")
    thread.join()


def main(folder: Path) -> None:
    _ = core.saving(str(folder / "index")).result
    for name, call in members(folder).items():
        print(name, flush=True)
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        call_during_extend(call)
        faulthandler.cancel_dump_traceback_later()
    print("all ended")


main(Path(sys.argv[1]))
