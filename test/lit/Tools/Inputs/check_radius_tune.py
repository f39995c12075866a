"""Holds the files of `annudf distances` and `annudf radius` to those of an exact search (one.ibin, one.fbin).

`annudf tune` must name probes that reach the recall, where one fewer does not.
"""

import struct
import subprocess
from pathlib import Path


def numbers(path: str, code: str, skip: int, count: int) -> tuple:
    return struct.unpack_from(f"<{count}{code}", Path(path).read_bytes(), skip)


queries, rows = 10, 500
assert numbers("all.fbin", "I", 0, 2) == (queries, rows)
every = numbers("all.fbin", "f", 8, queries * rows)
ids, best = numbers("one.ibin", "i", 8, queries * rows), numbers("one.fbin", "f", 8, queries * rows)
for q in range(queries):
    own = every[q * rows : (q + 1) * rows]
    assert [own[i] for i in ids[q * rows : (q + 1) * rows]] == list(best[q * rows : (q + 1) * rows])

count, total = numbers("within.range", "i", 0, 2)
assert count == queries and 0 < total < queries * rows
counts = numbers("within.range", "i", 8, queries)
found = numbers("within.range", "i", 8 + 4 * queries, total)
distances = numbers("within.range", "f", 8 + 4 * queries + 4 * total, total)
assert sum(counts) == total and len(Path("within.range").read_bytes()) == 8 + 4 * queries + 8 * total
at = 0
for q in range(queries):
    expected = sum(d <= 500 for d in every[q * rows : (q + 1) * rows])
    assert counts[q] == expected
    assert found[at : at + expected] == ids[q * rows : q * rows + expected]
    assert distances[at : at + expected] == best[q * rows : q * rows + expected]
    at += expected

COMMON = ("--index", "a.ivf", "--queries", "query.u8bin", "--metric", "l1", "-k", "20", "-q")


def run(*arguments: str) -> str:
    return subprocess.run(["annudf", *arguments], check=True, capture_output=True, text=True).stdout


run("search", *COMMON, "--exact", "-o", "truth")
probes = int(run("tune", *COMMON, "--recall", "0.9"))
recalls = [
    float(run("search", *COMMON, "--probes", str(n), "--truth", "truth.ibin").split()[1]) for n in (probes - 1, probes)
]
assert 1 < probes < 8 and recalls[0] < 0.9 <= recalls[1], (probes, recalls)
