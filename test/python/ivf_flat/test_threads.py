# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Threads that build, bind, compile and search at once give what one thread gives."""

from __future__ import annotations

import subprocess
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import annudf
from annudf import ivf_flat
from reference import vectors

THREADS = 8
DIMS = 12


@ivf_flat.metric(captures={"w": np.ones(DIMS, np.float32)})
def weighted(x, y, acc, ctx):
    d = x - y
    return acc + ctx.w[ctx.dim] * d * d


def at_once(work, count=THREADS):
    """Runs work(0), work(1), ... in threads that start together."""
    barrier = threading.Barrier(count)

    def start(number):
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(start, range(count)))


def make(number):
    @ivf_flat.metric(captures={"w": np.ones(DIMS, np.float32)}, symbol_name=f"metric_{number % 3}")
    def made(x, y, acc, ctx):
        return acc + ctx.w[ctx.dim] * abs(x - y) * (number % 3 + 1)

    return made


def everything(number):
    """Builds an index, makes a metric and binds others, searches with all; returns the results."""
    base, queries = vectors(400, DIMS, "float32", number), vectors(20, DIMS, "float32", 100 + number)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=8), base)
    ivf_flat.extend(index, vectors(50, DIMS, "float32", 200 + number))
    results = []
    for step in range(3):
        weights = np.linspace(0.5, 1 + number + step, DIMS, dtype=np.float32)
        for metric in (weighted.bind(w=weights), make(number + step).bind(w=weights), "euclidean"):
            params = ivf_flat.SearchParams(n_probes=5, metric=metric)
            results.extend(ivf_flat.search(params, index, queries, 6))
    return results


def assert_same(one, two):
    assert len(one) == len(two)
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first, second)


def test_everything_at_once():
    together = at_once(everything)
    for number, results in enumerate(together):
        assert_same(results, everything(number))


def test_everything_at_once_with_the_threads_of_one():
    annudf.set_num_threads(1)
    try:
        alone = [everything(number) for number in range(THREADS)]
    finally:
        annudf.set_num_threads(0)
    for one, two in zip(at_once(everything), alone, strict=True):
        assert_same(one, two)


def test_one_compilation_however_many_ask(monkeypatch):
    from annudf._metric import definition

    compiled = []
    original = definition.FunctionDefinition._compile

    def count(self, host, archs):
        compiled.append(self.name)
        return original(self, host, archs)

    monkeypatch.setattr(definition.FunctionDefinition, "_compile", count)
    monkeypatch.setenv("ANNUDF_CACHE_DISABLE", "1")

    @ivf_flat.metric(symbol_name="asked_for_by_many")
    def fresh(x, y, acc, ctx):
        return acc + abs(x - y) * 1.625

    artifacts = at_once(lambda number: fresh.artifact([]))
    assert compiled == ["asked_for_by_many"]
    assert len({id(artifact) for artifact in artifacts}) == 1


def test_searches_of_one_index_while_it_is_extended():
    base = vectors(500, DIMS, "float32", 1)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), base)
    params = ivf_flat.SearchParams(n_probes=4)

    def work(number):
        if number == 0:
            for step in range(20):
                ivf_flat.extend(index, vectors(10, DIMS, "float32", 300 + step) + 50)
            return True
        for _ in range(40):
            # What is added is far away, so the nearest row never changes.
            _, neighbors = ivf_flat.search(params, index, base[:30], 1)
            if neighbors[:, 0].tolist() != list(range(30)):
                return False
        return True

    assert all(at_once(work))
    assert len(index) == 700


def test_no_call_waits_for_an_extend_with_the_gil(tmp_path):
    script = Path(__file__).with_name("waiting.py")
    done = subprocess.run([sys.executable, script, tmp_path], check=False, capture_output=True, text=True, timeout=600)
    assert done.stdout.endswith("all ended\n"), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("scenario", "forks", "said"),
    [
        (
            "extending",
            3,
            "another thread was changing the index when this process was forked, so here it is half changed; fork "
            "when no extend or remove runs, start the process by spawn or forkserver, or load the index from a file",
        ),
        ("compiling", 20, "compiled"),
        ("searching", 20, "searched"),
    ],
)
def test_a_fork_while_another_thread_is_at_work(scenario, forks, said):
    script = Path(__file__).with_name("forked.py")
    done = subprocess.run(
        [sys.executable, script, scenario, str(forks)], check=False, capture_output=True, text=True, timeout=600
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == 2 and lines[1].endswith(said), done.stdout + done.stderr


def test_threads_that_share_a_backend_which_changes():
    base = vectors(500, DIMS, "float32", 1)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), base)
    params = ivf_flat.SearchParams(n_probes=4, metric=weighted)
    expected = ivf_flat.search(params, index, base, 5)

    def work(number):
        for step in range(10):
            if number == 0:
                annudf.set_num_threads(step % 3)
            assert_same(ivf_flat.search(params, index, base, 5), expected)

    try:
        at_once(work)
    finally:
        annudf.set_num_threads(0)


@pytest.mark.parametrize("name", ["numpy.ma", "pyarrow", "torch", "cupy", "ml_dtypes"])
def test_a_library_that_another_thread_is_importing(monkeypatch, name):
    """It is among the modules before it has its names."""
    base = vectors(100, DIMS, "float32", 1)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), base)
    params = ivf_flat.SearchParams(n_probes=4, metric=weighted)
    expected = ivf_flat.search(params, index, base[:5], 3)
    monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    assert_same(ivf_flat.search(params, index, base[:5], 3), expected)
    assert_same(ivf_flat.prepare(params, index, base[:5], 3)(base[:5]), expected)
