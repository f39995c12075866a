# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Progress bars of builds, and Ctrl-C."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import time

import pytest

from annudf import ivf_flat
from reference import vectors

GOOD = vectors(50, 4, "float32", 2)


def test_progress(capfd):
    for show in (False, None):  # Standard error is no terminal here.
        ivf_flat.build(ivf_flat.IndexParams(n_lists=4), GOOD, progress=show)
    assert capfd.readouterr().err == ""
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), GOOD, progress=True)
    told = capfd.readouterr().err
    assert "k-means: 100%" in told
    assert "adding rows: 100%" in told
    ivf_flat.extend(index, GOOD, progress=True)
    assert "adding rows: 100%" in capfd.readouterr().err


ON_A_TERMINAL = """
import sys, time
from annudf._support.log import ProgressBar
report = ProgressBar(None)
for step in range(11):
    report("train", step / 10)
    time.sleep(float(sys.argv[1]))
"""


@pytest.mark.parametrize(("pause", "shown"), [(0.1, True), (0.0, False)])
def test_progress_on_a_terminal(pause, shown):
    try:
        reader, terminal = pty.openpty()
    except OSError as error:
        pytest.skip(f"no pseudo-terminal: {error}")
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    subprocess.run([sys.executable, "-c", ON_A_TERMINAL, str(pause)], stderr=terminal, check=True, timeout=60)
    os.write(terminal, b"end")
    told = os.read(reader, 1 << 16).decode()
    os.close(terminal)
    os.close(reader)
    assert ("k-means: " in told) == shown, told


INTERRUPTED = """
import _thread, threading, time
import numpy as np
from annudf import ivf_flat
base = np.random.default_rng(0).random((60000, 64), dtype=np.float32)
threading.Timer(0.3, _thread.interrupt_main).start()
start = time.perf_counter()
try:
    ivf_flat.build(ivf_flat.IndexParams(n_lists=1024, kmeans_n_iters=10000, kmeans_trainset_fraction=1.0), base)
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted", time.perf_counter() - start)
index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), base[:100])
print(ivf_flat.search(ivf_flat.SearchParams(n_probes=4), index, base[7:8], 1)[1])
"""


def test_control_c_leaves_the_process_usable():
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.startswith("interrupted"), done.stdout + done.stderr
    assert done.stdout.endswith("[[7]]\n")
    assert time.perf_counter() - start < 120
