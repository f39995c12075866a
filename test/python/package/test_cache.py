# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The cache of compiled metrics on disk."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from annudf import ivf_flat
from annudf._metric import cache


@pytest.fixture
def folder(tmp_path, monkeypatch):
    path = tmp_path / "cache"
    monkeypatch.setenv("ANNUDF_CACHE_DIR", str(path))
    monkeypatch.delenv("ANNUDF_CACHE_DISABLE", raising=False)
    monkeypatch.setattr(cache, "_warned", set())
    return path


def entries(folder):
    return sorted(path.name for path in folder.iterdir())


def test_round_trip(folder):
    key = cache.make_key("a", "b")
    assert cache.load(key) is None
    assert not folder.exists()
    cache.store(key, b"payload")
    assert cache.load(key) == b"payload"
    assert entries(folder) == [key + ".annudfc"]
    assert folder.stat().st_mode & 0o777 == 0o700
    cache.store(key, b"other")
    assert cache.load(key) == b"other"
    cache.drop(key)
    assert cache.load(key) is None


def test_keys_do_not_run_together():
    keys = {cache.make_key(*parts) for parts in (("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ("", "abc"))}
    assert len(keys) == 5


def test_every_damage_is_seen(folder):
    key = cache.make_key("x")
    for damage in range(60):
        cache.store(key, b"payload of some bytes")
        path = folder / (key + ".annudfc")
        data = bytearray(path.read_bytes())
        data[damage] ^= 0x10
        path.write_bytes(data)
        assert cache.load(key) is None
        assert not path.exists()
    cache.store(key, b"payload")
    path.write_bytes(path.read_bytes()[:-1])
    assert cache.load(key) is None
    path.write_bytes(b"")
    assert cache.load(key) is None


def test_an_entry_under_another_key_is_no_hit(folder):
    one, two = cache.make_key("1"), cache.make_key("2")
    cache.store(one, b"payload")
    (folder / (one + ".annudfc")).rename(folder / (two + ".annudfc"))
    assert cache.load(two) is None


def test_least_recently_used_go_first(folder, monkeypatch):
    monkeypatch.setenv("ANNUDF_CACHE_MAX_BYTES", "500")
    keys = [cache.make_key(str(number)) for number in range(4)]
    for age, key in enumerate(keys[:3]):
        cache.store(key, bytes(100))
        os.utime(folder / (key + ".annudfc"), (1000 + age, 1000 + age))
    assert cache.load(keys[0]) is not None  # Now it is the newest.
    cache.store(keys[3], bytes(100))
    assert [cache.load(key) is not None for key in keys] == [True, False, True, True]
    cache.store(cache.make_key("large"), bytes(501))
    assert len(entries(folder)) == 3


def test_bound_that_is_no_number(folder, monkeypatch, caplog):
    monkeypatch.setenv("ANNUDF_CACHE_MAX_BYTES", "lots")
    assert cache.max_bytes() == 256 << 20
    assert "ANNUDF_CACHE_MAX_BYTES is 'lots', not a number of bytes; 268435456 is used" in caplog.text


def test_bound_that_is_no_number_is_told_at_the_first_use(folder, monkeypatch, caplog):
    monkeypatch.setenv("ANNUDF_CACHE_MAX_BYTES", "-1")
    assert cache.load(cache.make_key("x")) is None
    assert "ANNUDF_CACHE_MAX_BYTES is '-1'" in caplog.text


def test_home_in_the_name_of_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ANNUDF_CACHE_DIR", "~/metrics")
    assert cache.directory() == tmp_path / "metrics"


def test_temporary_files_of_killed_processes_go(folder):
    cache.store(cache.make_key("1"), b"x")
    old, new = folder / ".tmp-old", folder / ".tmp-new"
    old.write_bytes(b"")
    new.write_bytes(b"")
    os.utime(old, (1000, 1000))
    later = time.time() + 48 * 3600  # Another machine's clock, say: nothing that is being written is old for it.
    os.utime(next(folder.glob("*.annudfc")), (later, later))
    cache.store(cache.make_key("2"), b"x")
    assert not old.exists()
    assert new.exists()


def test_a_folder_that_others_can_write_to_is_not_used(folder, caplog):
    key = cache.make_key("x")
    cache.store(key, b"payload")
    folder.chmod(0o777)
    assert cache.load(key) is None
    cache.store(cache.make_key("y"), b"payload")
    assert len(entries(folder)) == 1
    assert f"the cache folder {folder} can be written by another user" in caplog.text


def test_what_was_looked_at_is_what_is_read(folder, tmp_path, monkeypatch):
    """A folder that takes the place of the one that was just found to be ours."""
    key = cache.make_key("x")
    cache.store(key, b"other")
    other = folder.rename(tmp_path / "other")
    cache.store(key, b"payload")
    ours, looked = cache._is_ours, []

    def swap(status):
        if not looked:
            folder.rename(tmp_path / "away")
            other.rename(folder)
        looked.append(status)
        return ours(status)

    monkeypatch.setattr(cache, "_is_ours", swap)
    assert cache.load(key) == b"payload"
    assert len(looked) == 2, "folder and entry are looked at"
    assert cache.load(key) == b"other"


def test_entries_of_others_are_none(folder, tmp_path):
    key = cache.make_key("x")
    cache.store(key, b"payload")
    entry = folder / (key + ".annudfc")
    entry.chmod(0o666)
    assert cache.load(key) is None
    assert not entry.exists()
    cache.store(key, b"payload")
    entry.rename(tmp_path / "elsewhere")
    entry.symlink_to(tmp_path / "elsewhere")
    assert cache.load(key) is None
    assert not entry.is_symlink()
    assert (tmp_path / "elsewhere").exists()
    entry.mkdir()
    assert cache.load(key) is None


def test_a_folder_that_comes_and_goes_gives_nothing_of_others(folder, tmp_path):
    key = cache.make_key("x")
    cache.store(key, b"theirs")
    theirs = folder.rename(tmp_path / "theirs")
    theirs.chmod(0o777)
    cache.store(key, b"ours")
    ours = folder.rename(tmp_path / "ours")
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            for one in (theirs, ours):
                one.rename(folder)
                folder.rename(one)

    thread = threading.Thread(target=swap)
    thread.start()
    found = set()
    due = time.perf_counter() + 0.5
    while time.perf_counter() < due:
        found.add(cache.load(key))
    stop.set()
    thread.join()
    assert found <= {None, b"ours"}


def test_no_such_user(monkeypatch, caplog):
    monkeypatch.setattr(cache, "_warned", set())
    monkeypatch.setenv("ANNUDF_CACHE_DIR", "~nosuchuser/metrics")
    for _ in range(2):
        assert cache.directory() is None
        cache.store(cache.make_key("x"), b"x")
        assert cache.load(cache.make_key("x")) is None
    told = (
        "ANNUDF_CACHE_DIR is '~nosuchuser/metrics', but that user or home folder does not exist, so there is no cache"
    )
    assert caplog.text.count(told) == 1


def test_a_folder_that_cannot_be_written_is_told_once(tmp_path, monkeypatch, caplog):
    file = tmp_path / "file"
    file.write_bytes(b"")
    monkeypatch.setenv("ANNUDF_CACHE_DIR", str(file / "cache"))
    monkeypatch.setattr(cache, "_warned", set())
    for number in range(3):
        cache.store(cache.make_key(str(number)), b"x")
    assert caplog.text.count("the cache of compiled metrics cannot be written") == 1


def test_switched_off(folder, monkeypatch):
    monkeypatch.setenv("ANNUDF_CACHE_DISABLE", "1")
    assert cache.directory() is None
    cache.store(cache.make_key("x"), b"x")
    assert cache.load(cache.make_key("x")) is None
    assert not folder.exists()
    monkeypatch.setenv("ANNUDF_CACHE_DISABLE", "0")
    assert cache.directory() == folder


def test_default_folder_is_the_users(monkeypatch):
    monkeypatch.delenv("ANNUDF_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    if sys.platform == "linux":
        assert cache.directory() == Path("/somewhere/annudf")


def hammer(arguments):
    folder, seed = arguments
    os.environ["ANNUDF_CACHE_DIR"] = folder
    os.environ["ANNUDF_CACHE_MAX_BYTES"] = "20000"
    wrong = 0
    for number in range(150):
        key = cache.make_key(str((number * seed) % 20))
        payload = key.encode() * 20
        found = cache.load(key)
        wrong += found is not None and found != payload
        cache.store(key, payload)
    return wrong


def test_many_processes(folder):
    with ProcessPoolExecutor(6) as pool:
        assert sum(pool.map(hammer, [(str(folder), seed) for seed in (1, 3, 7, 9, 11, 13)])) == 0
    assert not [name for name in entries(folder) if name.startswith(".tmp-")]
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 20000


PROGRAM = """
import sys, time
import numpy as np
import annudf
from annudf import ivf_flat
scale = {scale}
@ivf_flat.metric(captures={{"w": np.ones(4, np.float32)}})
def weighted(x, y, acc, ctx):
    return acc + scale * ctx.w[ctx.dim] * abs(x - y)
index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), np.eye(4, dtype=np.float32))
params = ivf_flat.SearchParams(n_probes=1, metric=weighted)
print(ivf_flat.search(params, index, np.zeros((1, 4), np.float32), 1)[0].item(), "numba_cuda_mlir" in sys.modules)
"""


def run(tmp_path, scale):
    # A file, and always the same: the lines of a function are part of what is compiled.
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.format(scale=scale))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_metric_is_compiled_once_for_all_processes(folder, tmp_path):
    assert run(tmp_path, 2.0) == ["2.0", "True"]
    first = entries(folder)
    # The second process finds it, and needs no frontend.
    assert run(tmp_path, 2.0) == ["2.0", "False"]
    assert entries(folder) == first
    # Another value of a global is another metric.
    assert run(tmp_path, 3.0) == ["3.0", "True"]
    assert len(entries(folder)) == len(first) + 1
    # What is damaged is compiled again and replaced.
    for name in entries(folder):
        path = folder / name
        path.write_bytes(path.read_bytes()[:-5] + b"xxxxx")
    assert run(tmp_path, 2.0) == ["2.0", "True"]
    assert run(tmp_path, 2.0) == ["2.0", "False"]


def test_an_entry_that_is_no_artifact_is_replaced(folder, monkeypatch):
    from annudf._metric import definition, recorded

    monkeypatch.setattr(definition, "_memory", type(definition._memory)())
    text = "annudf.metric @zero order(min) coarse(l2) elements(f32) {{\n{}}}\n".format(
        "annudf.init {\n%z = arith.constant 0.0 : f32\nannudf.yield %z : f32\n}\n"
        "annudf.update (%a: f32, %x: f32, %y: f32) {\nannudf.yield %a : f32\n}\n"
    )
    first = ivf_flat.Metric(recorded.TextDefinition(text, "zero.mlir"), {})
    digest = first.artifact([]).digest
    (name,) = entries(folder)
    cache.store(name.removesuffix(".annudfc"), b"no artifact at all")
    monkeypatch.setattr(definition, "_memory", type(definition._memory)())
    second = ivf_flat.Metric(recorded.TextDefinition(text, "zero.mlir"), {})
    assert second.artifact([]).digest == digest
    assert cache.load(name.removesuffix(".annudfc")) == first.artifact([]).to_bytes()
