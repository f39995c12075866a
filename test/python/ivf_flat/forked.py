# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Forks while another thread is at work in annudf: ``forked.py SCENARIO FORKS``.

Each child builds an index, compiles and searches, with threads of its own. Prints "ended" and what the children say;
one that does not end says where it is.
"""

from __future__ import annotations

import faulthandler
import io
import os
import sys
import threading
import warnings
from collections.abc import Callable

import numpy as np

import annudf
from annudf import _core, ivf_flat
from annudf._metric.builtin import builtin_metric

SECONDS = 60
DIMS, K = 16, 3
METRICS = ("canberra", "l1", "chebyshev", "braycurtis", "hellinger", "jensenshannon", "kl_divergence", "chi2")

annudf.set_num_threads(4)
warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of forks with threads from 3.12 on.
random = np.random.default_rng(1)
base = random.random((2000, DIMS), dtype=np.float32)
params = ivf_flat.SearchParams(n_probes=8)
index = ivf_flat.build(ivf_flat.IndexParams(n_lists=8, adaptive_centers=True), base)
expected = ivf_flat.search(params, index, base[:50], K)[1]


def same_as_ever() -> None:
    """Whatever the parent's other threads are doing; with tqdm, whose locks all processes share."""
    fresh = ivf_flat.build(ivf_flat.IndexParams(n_lists=8, adaptive_centers=True), base, progress=True)
    ivf_flat.extend(fresh, base[:100] + 100)
    np.testing.assert_array_equal(ivf_flat.search(params, fresh, base[:50], K)[1], expected)


def children(forks: int, child: Callable[[], str]) -> None:
    said = set()
    for _ in range(forks):
        reader, writer = os.pipe()
        process = os.fork()
        if process == 0:
            text = "failed"
            faulthandler.dump_traceback_later(SECONDS, exit=True, file=writer)
            try:
                text = child()
            except BaseException as error:
                text = repr(error)
            os.write(writer, text.encode())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as words:
            said.add(words.read())
        os.waitpid(process, 0)
    print("ended:", *sorted(said), sep="\n", flush=True)


def extending(forks: int) -> None:
    """The thread holds the index and is in the middle of its work."""
    inside, forked = threading.Event(), threading.Event()

    def progress(stage: str, done: float) -> None:
        inside.set()
        forked.wait()

    core = index._core
    work = core.extending(base.ctypes.data, 10, DIMS, "f32", None, progress)
    thread = threading.Thread(target=lambda: work.result)
    thread.start()
    inside.wait()

    def child() -> str:
        same_as_ever()
        assert index.size == len(base)
        try:
            ivf_flat.search(params, index, base[:5], K)
        except annudf.errors.ArgumentError as error:
            return str(error)
        return "found something"

    children(forks, child)
    forked.set()
    thread.join()
    # The parent's is as ever.
    assert ivf_flat.search(params, index, base[:5], K)[1].shape == (5, K) and index.size == len(base) + 10


def compiling(forks: int) -> None:
    """The thread makes the kernel that the child needs."""
    backend = _core.Backend.cpu(2)
    artifacts = [builtin_metric(name).artifact([]) for name in METRICS]
    thread = threading.Thread(target=lambda: [backend.precompile(one, "f32") for one in artifacts])
    thread.start()

    def child() -> str:
        for one in artifacts:
            backend.precompile(one, "f32")
        same_as_ever()
        return "compiled"

    children(forks, child)
    thread.join()


def searching(forks: int) -> None:
    """Threads take and give locks all the time."""
    done = threading.Event()
    stderr, sys.stderr = sys.stderr, io.StringIO()  # A file's own lock, which bars take, is Python's to free.

    def search() -> None:
        while not done.is_set():
            ivf_flat.search(params, index, base[:50], K)
            ivf_flat.build(ivf_flat.IndexParams(n_lists=8), base, progress=True)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()

    def child() -> str:
        same_as_ever()
        np.testing.assert_array_equal(ivf_flat.search(params, index, base[:50], K)[1], expected)
        ivf_flat.extend(index, base[:10] + 100)  # The parent's searches are not here.
        return "searched"

    children(forks, child)
    done.set()
    for thread in threads:
        thread.join()
    sys.stderr = stderr


{"extending": extending, "compiling": compiling, "searching": searching}[sys.argv[1]](int(sys.argv[2]))
