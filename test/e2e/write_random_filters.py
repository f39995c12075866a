# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the random filters that RandomFilters.cpp searches with, and writes which rows they keep. No GPU is needed.

usage: python test/e2e/write_random_filters.py FOLDER COUNT [ARCH]      with the package

Filters of even seeds are for the index in FOLDER/f32, which has dense ids, others for that in FOLDER/u8, whose ids have
gaps. Beside SEED.annudf are its captures, SEED.NAME.npy, and SEED.kept.npy: a byte for each query and id, as a search on
the CPU keeps it. Some of them are interpreted, too. Without ARCH there is code for the CPU alone.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from annudf import ivf_flat
from annudf.errors import CompileError
from interpreter.evaluate import Interpreter, Scan
from interpreter.filters import RandomFilter, random_filter
from interpreter.text import parse
from interpreter.worlds import World

ROWS, QUERIES, DIMS, LISTS = 2000, 8, 16, 20
INTERPRETED = 30
METRIC = Path(__file__).resolve().parents[2] / "docs/examples/metrics/l2.mlir"


def write_world(folder: Path, world: World, archs: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    ivf_flat.save(str(folder / "index"), world.index)
    ivf_flat.load_metric(METRIC).save(folder / "l2.metric", archs)
    for name, array in (("rows", world.base), ("queries", world.queries), ("ids", world.ids), ("lists", world.list_of)):
        np.save(folder / f"{name}.npy", array)


def kept_by(world: World, chosen: ivf_flat.CodeFilter) -> np.ndarray:
    params = ivf_flat.SearchParams(n_probes=LISTS)
    found = ivf_flat.search(params, world.index, world.queries, ROWS, filter=chosen)[1]
    kept = np.zeros((QUERIES, world.sizes["row"] + 1), np.uint8)  # The place -1 is the last.
    np.put_along_axis(kept, found, 1, axis=1)
    return kept[:, :-1]


def check(world: World, made: RandomFilter, kept: np.ndarray, seed: int) -> None:
    """Some pairs, by the interpreter."""
    interpreter, r = Interpreter(parse(made.text)), random.Random(seed)
    for _ in range(INTERPRETED):
        at, query = r.randrange(ROWS), r.randrange(QUERIES)
        row = int(world.ids[at])
        with np.errstate(all="ignore"):
            keeps = interpreter.keeps(Scan(-1, DIMS, made.captures, row, query, int(world.list_of[at])))
        assert kept[query, row] == keeps, f"seed {seed}, row {row}, query {query}\n{made.text}"


def main() -> None:
    folder, count, archs = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:4]
    worlds = []
    for name, element, sparse in (("f32", "float32", False), ("u8", "uint8", True)):
        worlds.append((folder / name, World(element, ROWS, QUERIES, DIMS, LISTS, sparse=sparse)))
        write_world(*worlds[-1], archs)
    written = sees = seed = 0
    text = folder / "filter.mlir"
    while written < count:
        place, world = worlds[seed % 2]
        made = random_filter(seed, world.sizes)
        text.write_text(made.text)
        chosen = ivf_flat.load_filter(text, allow_non_finite=True, **made.captures)
        try:
            artifact = chosen.artifact(archs)
        except CompileError as error:
            assert "[S5]" in str(error), made.text  # Too many loops.
        else:
            kept = kept_by(world, chosen)
            check(world, made, kept, seed)
            artifact.save(str(place / f"{seed}.annudf"))
            for name, value in {**made.captures, "kept": kept}.items():
                np.save(place / f"{seed}.{name}.npy", value)
            written, sees = written + 1, sees + artifact.sees_query
        seed += 1
    text.unlink()
    print(f"{written} of {seed} random filters, {sees} of them see the query: {folder}")


if __name__ == "__main__":
    main()
