"""hostile.py ANNUDF METRIC: the commands of annudf on input that was made to hurt."""

import os
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GIB = 1 << 30
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
mistakes = []
os.environ["PATH"] = f"{os.path.dirname(sys.argv[1])}:{os.environ['PATH']}"
scratch = tempfile.TemporaryDirectory()
os.chdir(scratch.name)
# In the background some are ignored, and a command keeps it so.
for number in SIGNALS:
    signal.signal(number, signal.SIG_DFL)


def run(*command, memory=4 * GIB, seconds=60):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    return subprocess.run(command, capture_output=True, timeout=seconds, preexec_fn=limit, check=False)


def expect(what, done, code, words):
    out = done.stdout + done.stderr
    if done.returncode != code or words.encode() not in out:
        mistakes.append(f"{what}: exit {done.returncode}: {out[-500:]!r}")
    if any(byte < 32 and byte not in b"\n\t" for byte in out):
        mistakes.append(f"{what}: control characters in {out!r}")


# Names of files and arguments, in every place that repeats them.
name = b"a\x1b[31m\xff\r"
expect("inspect", run("annudf", "inspect", name), 1, "a\\x1b[31m\\xff\\x0d: cannot open")
expect("compile", run("annudf", "compile", name), 1, "a\\x1b[31m\\xff\\x0d: cannot open")
expect("option", run("annudf", "build", "--base", "x", "-o", "y", "--metric", name), 2, "\\x1b[31m")
expect("command", run("annudf", name), 2, "")
with open(b"metric" + name, "wb") as file:
    file.write(b'"no.such\x1b[31m\xff"() : () -> ()\n')
expect("source", run("annudf", "compile", b"metric" + name, "-o", "x.annudf"), 1, "\\x1b[31m")
with open(sys.argv[2], "rb") as example, open(b"good" + name, "wb") as file:
    file.write(example.read())
expect("good", run("annudf", "compile", b"good" + name, "-o", b"out" + name), 0, "outa\\x1b[31m")
expect("inspected", run("annudf", "inspect", b"out" + name), 0, "gooda\\x1b[31m\\xff\\x0d")
expect("as JSON", run("annudf", "inspect", "--json", b"out" + name), 0, "gooda")

# What is no file to read: no command waits for it, or reads it without end.
os.mkfifo("pipe.fbin")
os.mkdir("folder.fbin")
os.symlink("/dev/zero", "zero.fbin")
os.symlink("loop.fbin", "loop.fbin")
open("empty.fbin", "wb").close()
for path, why in (
    ("pipe.fbin", "it is not a regular file"),
    ("folder.fbin", "it is a folder"),
    ("zero.fbin", "it is not a regular file"),
    ("loop.fbin", "Too many levels of symbolic links"),
    ("empty.fbin", "truncated: 0 bytes"),
):
    expect(path, run("annudf", "build", "--base", path, "-o", "x.ivf", seconds=20), 1, why)
for path in ("pipe.fbin", "zero.fbin", "folder.fbin"):
    for command in (
        ("inspect",),
        ("compile", "-o", "x"),
        ("search", "--queries", "q.fbin", "--metric", "m", "--index"),
    ):
        expect(
            path, run("annudf", *command, path, seconds=20), 1, "cannot read" if command[0] != "search" else "annudf: "
        )

# --rows reads what it asks for: most of this file is a hole of 64 GiB.
with open("large.fbin", "wb") as file:
    file.write(struct.pack("<II", 1 << 30, 16))
    file.truncate(8 + (1 << 36))
expect(
    "--rows",
    run("annudf", "build", "--base", "large.fbin", "--rows", "20", "--lists", "2", "-o", "rows.ivf"),
    0,
    "20 rows",
)
expect(
    "no memory",
    run("annudf", "build", "--base", "large.fbin", "--lists", "2", "-o", "x.ivf"),
    1,
    "annudf: out of memory",
)

# Every signal that ends a session removes what was begun.
Path("base.u8bin").write_bytes(struct.pack("<II", 60000, 32) + random.Random(1).randbytes(60000 * 32))
for number in SIGNALS:
    process = subprocess.Popen(
        ("annudf", "build", "--base", "base.u8bin", "--lists", "8000", "-q", "-o", "half.ivf"), stderr=subprocess.PIPE
    )
    caught = 0
    while process.poll() is None and not caught >> (number - 1) & 1:
        time.sleep(0.01)
        caught = int(re.search(r"SigCgt:\s*([0-9a-f]+)", Path(f"/proc/{process.pid}/status").read_text())[1], 16)
    time.sleep(0.3)
    process.send_signal(number)
    words = process.communicate(timeout=60)[1]
    if process.returncode != 130 or b"nterrupted" not in words:
        mistakes.append(f"signal {number}: exit {process.returncode}: {words!r}")
left = [path for path in os.listdir() if path.startswith(("half", "x"))]
if left:
    mistakes.append(f"left: {left}")
print("\n".join(mistakes))
os.chdir("/")
scratch.cleanup()
sys.exit(1 if mistakes else 0)
