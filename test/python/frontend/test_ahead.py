# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The import of numba-cuda-mlir in a thread: programs that end, fork, are interrupted or never need it."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
import weakref
from pathlib import Path

import pytest

from annudf._frontend import ahead

METRIC = """
import sys, threading
from annudf import ivf_flat
hook = sys.excepthook
@ivf_flat.metric
def shifted(x, y, acc):
    return acc + abs(x - y + {number})
def importing():
    return any(thread.name == "annudf-import" for thread in threading.enumerate())
"""


def run(tmp_path: Path, program: str, number: float = 0.125, **environment: str) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "program.py"  # The same for each run, as the cache knows lines and names.
    file.write_text(METRIC.format(number=number) + program)
    return subprocess.run(
        [sys.executable, str(file)], env={**os.environ, "ANNUDF_CACHE_DIR": str(tmp_path), **environment},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def ok(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_the_import_begins_with_the_decorator(tmp_path: Path) -> None:
    program = "assert importing()\nassert 'math.absf' in shifted.mlir()\nassert not importing()\n"
    ok(run(tmp_path, program + "assert sys.excepthook is hook\n"))
    here = "assert not importing()\nassert 'math.absf' in shifted.mlir()\n"
    ok(run(tmp_path, here, ANNUDF_IMPORT_AHEAD="0"))
    # The import itself takes half a minute where memory is traced.
    here = "import tracemalloc\nassert not importing()\ntracemalloc.stop()\nassert 'math.absf' in shifted.mlir()\n"
    ok(run(tmp_path, here, PYTHONTRACEMALLOC="1"))


def test_a_metric_in_the_cache_imports_nothing(tmp_path: Path) -> None:
    program = """
import numpy as np
index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), np.eye(3, dtype=np.float32))
ivf_flat.search(ivf_flat.SearchParams(n_probes=1, metric=shifted), index, np.eye(3, dtype=np.float32), 1)
from annudf._frontend import ahead
ahead.wait()
print("numba_cuda_mlir" in sys.modules)
"""
    assert ok(run(tmp_path, program)) == "True\n"
    assert ok(run(tmp_path, program)) == "False\n"


def test_a_program_that_ends_at_once(tmp_path: Path) -> None:
    for _ in range(3):
        ok(run(tmp_path, "assert importing()\n"))
    done = run(tmp_path, "raise SystemExit(3)\n")
    assert (done.returncode, done.stderr) == (3, "")
    done = run(tmp_path, "raise KeyError('seen')\n")
    assert done.returncode == 1 and "KeyError: 'seen'" in done.stderr


def test_a_fork_waits_for_the_import(tmp_path: Path) -> None:
    program = """
import os
assert importing()
child = os.fork()
if not child:
    os._exit(0 if "math.absf" in shifted.mlir() else 9)
assert os.waitpid(child, 0)[1] == 0
assert 'math.absf' in shifted.mlir()
"""
    ok(run(tmp_path, program))


def test_packages_before_their_modules(tmp_path: Path) -> None:
    """A program may meet np.random, which is imported then, while the thread imports it: both lock in one order."""
    file = tmp_path / "program.py"
    file.write_text("""
import builtins, sys
import numpy
original, met = builtins.__import__, []
def watched(name, *rest, **named):
    if name.startswith("numpy.random") and "numpy.random" not in sys.modules:
        met.append(name)
    return original(name, *rest, **named)
builtins.__import__ = watched
from annudf import ivf_flat
@ivf_flat.metric
def shifted(x, y, acc):
    return acc + abs(x - y)
from annudf._frontend import ahead
ahead.wait()
assert "numba_cuda_mlir" in sys.modules
print(met[:1] in ([], ["numpy.random"]), met)
""")
    environment = {**os.environ, "ANNUDF_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True, check=False)
    assert ok(done).startswith("True")


def test_modules_that_import_each_other_are_there_before_the_thread(tmp_path: Path) -> None:
    """tqdm, of a build beside the thread, imports importlib.metadata, and with it what the thread imports from its end."""
    program = """
assert importing() and {"importlib.abc", "importlib.resources"} <= set(at_start), at_start
"""
    watched = """
import sys, threading
at_start = []
start = threading.Thread.start
def watch(thread):
    at_start.extend(sys.modules)
    start(thread)
threading.Thread.start = watch
"""
    file = tmp_path / "program.py"
    file.write_text(watched + METRIC.format(number=0.25) + program)
    environment = {**os.environ, "ANNUDF_CACHE_DISABLE": "1"}
    ok(subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True, check=False))


def test_an_interrupt_ends_the_program(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        METRIC.format(number=0.5) + "print('ready', flush=True)\nshifted.mlir()\nimport time\ntime.sleep(60)\n"
    )
    environment = {**os.environ, "ANNUDF_CACHE_DISABLE": "1"}
    process = subprocess.Popen(
        [sys.executable, str(file)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.05)
    process.send_signal(2)
    _, told = process.communicate(timeout=60)
    assert process.returncode == -2 and told.rstrip().endswith("KeyboardInterrupt")


def test_a_wait_goes_on_after_one_that_was_interrupted(tmp_path: Path) -> None:
    """Python before 3.13 holds a thread for ended when Ctrl-C interrupts its join, and the program would abort."""
    program = """
import os, signal
from annudf._frontend import ahead
threading.Timer(0.01, os.kill, [os.getpid(), signal.SIGINT]).start()
try:
    ahead.wait()
except KeyboardInterrupt:
    ahead.wait()
    assert sys.modules["annudf._frontend.module"].__spec__._initializing is False
    print("interrupted")
"""
    assert ok(run(tmp_path, program)) == "interrupted\n"


def test_many_threads_decorate(tmp_path: Path) -> None:
    program = """
def make(k):
    def m(x, y, acc):
        return acc + k * abs(x - y)
    assert "math.absf" in ivf_flat.metric(m).mlir()
threads = [threading.Thread(target=make, args=(k / 8,)) for k in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
"""
    ok(run(tmp_path, program))


def test_a_missing_frontend_is_told_where_it_is_needed(tmp_path: Path) -> None:
    (tmp_path / "numba_cuda_mlir").mkdir()
    (tmp_path / "numba_cuda_mlir" / "__init__.py").write_text("raise ImportError('no frontend here')\n")
    done = run(tmp_path, "print('decorated')\nshifted.mlir()\n")
    assert done.stdout == "decorated\n" and "no frontend here" in done.stderr


def test_syntax_is_refused_by_the_decorator() -> None:
    from annudf import ivf_flat
    from annudf.errors import UnsupportedError

    def prints(x, y, acc):  # type: ignore[no-untyped-def]
        print(x)
        return acc

    def final(acc):  # type: ignore[no-untyped-def]
        return [acc][0]

    def plain(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + x

    with pytest.raises(UnsupportedError, match="is not used, and a metric has no other effect"):
        ivf_flat.metric(prints)
    with pytest.raises(UnsupportedError, match="a metric cannot use lists"):
        ivf_flat.metric(finalize=final)(plain)


def test_an_accumulator_that_is_not_read(recwarn: pytest.WarningsRecorder) -> None:
    from annudf import ivf_flat

    def last(x, y, acc):  # type: ignore[no-untyped-def]
        return abs(x - y)

    def meant(x, y, _acc, ctx):  # type: ignore[no-untyped-def]
        return abs(x - y)

    def read(x, y, acc):  # type: ignore[no-untyped-def]
        return max(acc, abs(x - y))

    def read_inside(x, y, acc):  # type: ignore[no-untyped-def]
        def add(v):  # type: ignore[no-untyped-def]
            return acc + v

        return add(x)

    with pytest.warns(
        UserWarning,
        match=r"metric last: the result does not depend on acc, so only the last dimension counts; return acc \+",
    ) as told:
        ivf_flat.metric(last)
    assert told[0].filename == __file__
    recwarn.clear()
    for function in (meant, read, read_inside):
        ivf_flat.metric(function)
    assert not recwarn.list


def test_what_the_compiler_warns_of_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    from annudf import ivf_flat

    def meant(x, y, _acc):  # type: ignore[no-untyped-def]
        return abs(x - y)

    def overwritten(x, y, acc):  # type: ignore[no-untyped-def]
        acc = acc + x
        acc = abs(x - y)
        return acc

    ivf_flat.metric(meant).artifact([])
    assert not caplog.records
    ivf_flat.metric(overwritten).artifact([])
    (record,) = caplog.records
    assert "only the last dimension counts; combine it with the accumulator" in record.getMessage()


def test_collection_is_as_it_was() -> None:
    before = gc.get_threshold()
    with ahead.seldom_collected():
        assert gc.get_threshold() == (ahead._SELDOM, *before[1:])
    assert gc.get_threshold() == before
    try:
        with ahead.seldom_collected():
            gc.set_threshold(123)  # The program's own from here on.
        assert gc.get_threshold()[0] == 123
        gc.set_threshold(0)
        with ahead.seldom_collected():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)


class _Link:
    def __init__(self) -> None:
        self.other = self


def test_what_an_import_makes_is_not_young() -> None:
    """The first search would else visit it all to look for garbage. Garbage among it is found later."""
    assert not gc.get_freeze_count()
    gc.collect()
    with ahead.seldom_collected():
        kept = [[one] for one in range(100_000)]
        garbage = weakref.ref(_Link())
    assert gc.get_count()[0] < 1_000 and not gc.get_freeze_count() and len(kept) == 100_000
    assert garbage() is not None
    gc.collect()
    assert garbage() is None


def test_what_the_program_froze_stays_frozen() -> None:
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with ahead.seldom_collected():
            pass
        assert gc.get_freeze_count() == frozen
    finally:
        gc.unfreeze()
