"""Prints how many MiB `annudf knn` takes for many rows, beyond those of the rows and of a search of few."""

import pathlib
import resource
import subprocess
import sys

import numpy as np

command, metric, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)
rows = np.zeros((400_000, 128), np.float32)  # 195 MiB
rows[:, 0] = np.arange(len(rows)) % 1009
np.save(folder / "queries.npy", rows[:4])


def peak(count: int) -> int:
    """The peak of all searches until now."""
    np.save(folder / "base.npy", rows[:count])
    base, queries = folder / "base.npy", folder / "queries.npy"
    subprocess.run([command, "knn", "--base", base, "--queries", queries, "--metric", metric, "-k", "2", "-q"], check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10


few = peak(1000)
beyond = peak(len(rows)) - few - (rows.nbytes >> 20)
print(f"{beyond} MiB")
sys.exit(beyond > 110)
