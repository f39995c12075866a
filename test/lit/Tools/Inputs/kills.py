# Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ends annudf by signals at many moments: what it writes is whole, the old or the new. usage: kills.py ANNUDF TRIES"""

import os
import random
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

annudf, tries = sys.argv[1], int(sys.argv[2])
here = Path("kills")
here.mkdir()
for name, rows, seed in (("base", 30000, 1), ("more", 30000, 2), ("query", 3000, 3)):
    (here / f"{name}.u8bin").write_bytes(struct.pack("<II", rows, 16) + random.Random(seed).randbytes(rows * 16))


def command(text):
    return [annudf, *text.replace("@", f"{here}/").split(), "-q"]


BUILD = command("build --base @base.u8bin --lists 32 --kmeans-iterations 3 -o @index")
EXTEND = command("extend --index @index --base @more.u8bin")
SEARCH = command("search --index @built --queries @query.u8bin --metric @l2.annudf -k 5 --probes 8 -o @out")
subprocess.run(BUILD, check=True)
built = (here / "index").read_bytes()
(here / "built").write_bytes(built)
subprocess.run(command("compile --builtin l2 -o @l2.annudf --arch=sm_90"), check=True)
seen = set()
for name, line, files, before in (
    ("build", BUILD, ("index",), b"before"),
    ("extend", EXTEND, ("index",), built),
    ("search", SEARCH, ("out.ibin", "out.fbin"), b"before"),
):

    def prepare():
        for file in files:
            (here / file).write_bytes(before)

    took = []
    for _ in range(2):
        prepare()
        start = time.perf_counter()
        subprocess.run(line, check=True)
        took.append(time.perf_counter() - start)
    whole = [(here / file).read_bytes() for file in files]
    kept = {path.name for path in here.iterdir()}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        for turn in range(tries):
            prepare()
            process = subprocess.Popen(line, stderr=subprocess.PIPE)
            time.sleep(min(took) * 1.2 * turn / tries)
            process.send_signal(number)
            told = process.communicate(timeout=60)[1].decode()
            code = process.returncode
            found = [(here / file).read_bytes() for file in files]
            what = f"{name}, {number.name}, {turn}: exit {code}, {told}"
            states = {0: [True], 130: [False], -number: [False, True] if number == signal.SIGKILL else [False]}
            assert code in states, what
            for now, new in zip(found, whole):
                assert now in (before, new), f"{what}: a file is between two states"
                assert (now == new) in states[code], what
            left = {path.name for path in here.iterdir()} - kept
            if number == signal.SIGKILL:
                assert all(".tmp-" in one for one in left), f"{what}: {left}"
                for one in left:
                    os.unlink(here / one)
            else:
                assert not left, f"{what}: {left}"
            seen.add((name, code if code in (0, 130) else "killed", found == whole))
for name in ("build", "extend", "search"):
    print(name, *sorted(str(one[1:]) for one in seen if one[0] == name))
