# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Workers that are killed or stopped before and during searches: the right result, or an error that names the shards.

``ANNUDF_KILLED_WORKERS`` sets how many are killed at random moments; 2 by default, 50 in `scripts/test --long`.
"""

from __future__ import annotations

import os
import re
import signal
import threading
import time

import numpy as np
import pytest

import annudf
from annudf import ivf_flat
from annudf.errors import UnavailableError
from reference import vectors

pytest.importorskip("dask.array")
pytest.importorskip("distributed")

from clusters import LIMIT, assert_equal, one_index, params, pids, spread, two_processes, workers_of

from annudf.dask import _call
from annudf.dask import ivf_flat as dask_ivf

ROWS, DIM, CHUNK = 8_000, 12, 1_200
KILLS = int(os.environ.get("ANNUDF_KILLED_WORKERS", "2"))


@annudf.metric
def slow(x, y, acc, ctx):
    return acc + math_of(x) * math_of(y)


def math_of(x):
    return np.sin(np.exp(np.cos(x)))


SEARCH = ivf_flat.SearchParams(n_probes=12, metric=slow)
QUICK = ivf_flat.SearchParams(n_probes=1)


@pytest.fixture(scope="module")
def client():
    with two_processes() as client:
        yield client


@pytest.fixture(scope="module")
def data():
    """Rows, queries, and what a search must find."""
    base, queries = vectors(ROWS, DIM, "float32", 1), vectors(60, DIM, "float32", 2)
    return base, queries, ivf_flat.search(SEARCH, one_index(base), queries, 10)


def whole_again(client):
    """Waits for the worker that is started in place of one that was killed.

    A nanny starts none for one that is killed before the nanny knows that it has started.
    """

    def started(dask_worker):
        return dask_worker.process.status.name

    until = time.monotonic() + LIMIT
    while list(client.run(started, nanny=True, on_error="return").values()) != ["running"] * 2:
        assert time.monotonic() < until, "no worker is started in place of one that was killed"
        time.sleep(0.05)


def pid_of(client, which):
    return pids(client)[workers_of(client)[which]]


def kill(client, which=0):
    os.kill(pid_of(client, which), signal.SIGKILL)


def assert_gone(pid):
    """Waits until there is no such process, which only a test ends."""
    until = time.monotonic() + LIMIT
    while os.path.exists(f"/proc/{pid}"):
        assert time.monotonic() < until, f"process {pid} was not killed"
        time.sleep(0.02)


def one_of_files(client, data, folder):
    """An index that was loaded, so that files are what its shards are made of."""
    built = dask_ivf.build(params(), spread(client, data[0], CHUNK), timeout=LIMIT)
    built.save(folder, timeout=LIMIT)
    return dask_ivf.load(folder, timeout=LIMIT)


@pytest.mark.parametrize("made", ["built", "scattered and saved"])
def test_a_shard_is_made_again(client, data, made, tmp_path):
    """Its shard is made again of its chunks or its file; the next test has shards that were loaded."""
    base, queries, expected = data
    whole_again(client)
    index = dask_ivf.build(params(), spread(client, base, CHUNK, scattered=made != "built"), timeout=LIMIT)
    if made != "built":
        index.save(tmp_path, timeout=LIMIT)
    assert index.n_shards == 2
    assert_equal(dask_ivf.search(SEARCH, index, queries, 10, timeout=LIMIT), expected)
    kill(client)
    assert_equal(dask_ivf.search(SEARCH, index, queries, 10, timeout=LIMIT), expected)
    whole_again(client)
    kill(client, 1)
    found = dask_ivf.search(SEARCH, index, spread(client, queries, 25), 10, timeout=LIMIT)
    assert_equal([one.compute() for one in found], expected)


def test_all_workers_are_lost_at_once(client, data, tmp_path):
    whole_again(client)
    index = one_of_files(client, data, tmp_path)
    for pid in pids(client).values():
        os.kill(pid, signal.SIGKILL)
    assert_equal(dask_ivf.search(SEARCH, index, data[1], 10, tries=6, timeout=LIMIT), data[2])


def search_all_the_time(client, data, index, folder, until):
    """Until then; every search finds what is right."""
    searches = 0
    while until():
        given = data[1] if searches % 4 else spread(client, data[1], 25)
        assert_equal(dask_ivf.search(SEARCH, index, given, 10, tries=6, timeout=LIMIT), data[2])
        searches += 1
    return index


def extend_half(client, data, index, folder, until):
    """An index of the first rows, by the others."""
    first = dask_ivf.remove(index, np.arange(ROWS // 2, ROWS), timeout=LIMIT)
    assert first == ROWS // 2
    return dask_ivf.extend(index, spread(client, data[0][ROWS // 2 :], CHUNK), timeout=LIMIT)


def save_and_load(client, data, index, folder, until):
    """A folder of an index that could not be saved has no manifest."""
    try:
        index.save(folder, timeout=LIMIT)
    except UnavailableError:
        assert not (folder / "manifest.json").exists()
        return index
    return dask_ivf.load(folder, timeout=LIMIT)


def build_again(client, data, index, folder, until):
    return dask_ivf.build(params(), spread(client, data[0], CHUNK), timeout=LIMIT)


PHASES = [search_all_the_time, extend_half, save_and_load, build_again]


def test_workers_are_killed_in_every_phase(client, data, tmp_path):
    """At random moments; a call does what is right or fails by name, in the end and in time."""
    whole_again(client)
    index = one_of_files(client, data, tmp_path / "first")
    rng = np.random.default_rng(5)
    failed = 0
    for number in range(KILLS):
        whole_again(client)
        pid = pid_of(client, int(rng.integers(2)))
        timer = threading.Timer(rng.random() * 0.4, os.kill, (pid, signal.SIGKILL))
        timer.start()
        end = time.monotonic() + 0.8
        try:
            index = PHASES[number % len(PHASES)](
                client,
                data,
                index,
                tmp_path / str(number),
                lambda timer=timer, end=end: time.monotonic() < end or timer.is_alive(),
            )
        except UnavailableError as error:
            assert number % len(PHASES), "a search is tried again"
            failed += 1
            print(f"phase {number % len(PHASES)}: {error}")
            index = one_of_files(client, data, tmp_path / f"again {number}")
        timer.join()
        assert_gone(pid)
        assert_equal(dask_ivf.search(SEARCH, index, data[1], 10, tries=6, timeout=LIMIT), data[2])
    assert failed < KILLS
    print(f"{KILLS} workers killed, {failed} calls failed")


def test_a_shard_that_nothing_makes_again_is_named(client, data):
    base, queries, expected = data
    whole_again(client)
    index = dask_ivf.build(params(), spread(client, base, CHUNK, scattered=True), timeout=LIMIT)
    assert_equal(dask_ivf.search(SEARCH, index, queries, 10, timeout=LIMIT), expected)
    kill(client)
    first = r"search\(\) has no answer of (shard (\d) of 2 \(rows [^)]*\)) after 3 tries: Dask lost a task"
    with pytest.raises(UnavailableError, match=first) as caught:
        dask_ivf.search(SEARCH, index, queries, 10, timeout=LIMIT)
    kept = 1 - int(re.search(first, str(caught.value))[2])
    ranges = index._shards.parts[kept].ranges
    rows = np.concatenate([np.arange(*one) for one in ranges])
    keep = np.zeros(ROWS, bool)
    keep[rows] = True
    part = ivf_flat.search(SEARCH, one_index(base), queries, 10, filter=keep)
    for given in (queries, spread(client, queries, 30)):
        *found, share = dask_ivf.search(SEARCH, index, given, 10, allow_partial=True, timeout=LIMIT)
        assert share == len(rows) / ROWS and 0 < share < 1
        assert_equal([np.asarray(one) for one in found], part)


def share_of_quick_search(index, queries):
    """The share that is searched while a worker hangs; a slow machine needs a longer wait, and every wait is whole."""
    for timeout in (0.5, 4, LIMIT / 4):
        try:
            return dask_ivf.search(QUICK, index, queries, 10, timeout=timeout, allow_partial=True)[2]
        except UnavailableError as error:
            late = error
    raise late


def test_a_worker_that_hangs(client, data, tmp_path, monkeypatch):
    _, queries, expected = data
    whole_again(client)
    index = one_of_files(client, data, tmp_path)
    assert_equal(dask_ivf.search(SEARCH, index, queries, 10, timeout=LIMIT), expected)
    *_, share = dask_ivf.search(QUICK, index, queries, 10, timeout=LIMIT, allow_partial=True)
    assert share == 1
    hung = pid_of(client, 0)
    os.kill(hung, signal.SIGSTOP)
    try:
        start = time.monotonic()
        with pytest.raises(UnavailableError, match=r"no answer of shard \d of 2 .*: worker tcp://\S+ does not answer"):
            dask_ivf.search(SEARCH, index, queries, 10, timeout=0.3)
        with pytest.raises(
            UnavailableError, match=r"no answer of shard \d of 2 .*: search\(\) took more than timeout=0.3 s"
        ):
            dask_ivf.search(SEARCH, index, spread(client, queries, 60), 10, timeout=0.3)
        assert 0 < share_of_quick_search(index, queries) < 1
        monkeypatch.setattr(_call, "RANKED_TOGETHER", 1)  # That the ranking waits leaves time to search.
        assert 0 < share_of_quick_search(index, queries) < 1
        assert time.monotonic() - start < LIMIT / 2
    finally:
        os.kill(hung, signal.SIGCONT)
    assert_equal(dask_ivf.search(SEARCH, index, queries, 10, timeout=LIMIT), expected)


def test_a_file_that_is_changed_before_it_is_needed_again(client, data, tmp_path):
    _, queries, _ = data
    whole_again(client)
    index = one_of_files(client, data, tmp_path)
    for path in tmp_path.glob("shard-*"):
        path.write_bytes(path.read_bytes() + b"more")
    kill(client)
    with pytest.raises(UnavailableError, match=r"no answer of shard \d of 2 .* has the SHA-256 \w+, the manifest says"):
        dask_ivf.search(SEARCH, index, queries, 10, timeout=LIMIT)
