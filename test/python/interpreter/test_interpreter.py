# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random bodies: an interpreter that shares no code with LLVM against the CPU engine, to the bit.

ANNUDF_INTERPRETED_BODIES says how many (2,000 by default); ANNUDF_INTERPRETED_SEED where to begin. A
failure prints the seed and the metric's text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from annudf import ivf_flat
from interpreter.evaluate import Interpreter, Scan
from interpreter.generate import metric
from interpreter.inputs import vectors
from interpreter.text import parse

TOTAL = int(os.environ.get("ANNUDF_INTERPRETED_BODIES", "2000"))
FIRST = int(os.environ.get("ANNUDF_INTERPRETED_SEED", "1"))
PER_METRIC = 25
ROWS, QUERIES = 8, 2
KINDS = {
    "f32": ("float32", "float16", "int8", "uint8"),
    "i32": ("int8", "uint8"),
    "f64": ("float32", "uint8"),
}
SPELLING = {"float32": "f32", "float16": "f16", "int8": "i8", "uint8": "u8"}
W, N = np.float32(0.75), 11


def coordinate(value: np.generic, compute: str) -> object:
    """An element as the hook sees it."""
    if compute == "i32":
        return int(value) & 0xFFFFFFFF
    return {"f32": np.float32, "f64": np.float64}[compute](value)


def searched(bound: object, index: object, queries: npt.NDArray[np.generic]) -> npt.NDArray[np.int64]:
    """The reported number of each query and row."""
    distances, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=1, metric=bound), index, queries, ROWS)  # type: ignore[arg-type]
    result = np.full((QUERIES, ROWS), -1, np.int64)
    np.put_along_axis(result, neighbors, distances.astype(np.int64), axis=1)
    return result


def check(seed: int, count: int, compute: str, folder: Path) -> tuple[int, int]:
    """Bodies and results compared."""
    elements = KINDS[compute]
    element = elements[seed % len(elements)]
    text, made = metric(seed, count, compute, tuple(SPELLING[e] for e in elements))
    file = folder / f"random_{compute}_{seed}.mlir"
    file.write_text(text)
    base, queries = vectors(element, ROWS, seed), vectors(element, QUERIES, seed + 1)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), base)
    loaded = ivf_flat.load_metric(file, w=np.array([W]), n=N, which=0, half=0)
    interpreter = Interpreter(parse(text))
    compared = 0
    for which in range(made):
        low, high = (searched(loaded.bind(which=which, half=half), index, queries) for half in (0, 1))
        scan = Scan(0, 1, {"w": np.array([W]), "n": N, "which": which, "half": 0})
        with np.errstate(all="ignore"):
            for q in range(QUERIES):
                for r in range(ROWS):
                    pair = coordinate(queries[q, 0], compute), coordinate(base[r, 0], compute)
                    want = interpreter.hook("update", [interpreter.hook("init", [], scan), *pair], scan)
                    have = int(low[q, r]) | int(high[q, r]) << 16
                    assert have == want, (
                        f"seed {seed}, body_{which} on {element} {pair}: {have:#x}, interpreted {want:#x}\n"
                        + body_text(text, which)
                    )
                    compared += 1
    return made, compared


def body_text(text: str, which: int) -> str:
    found = re.search(rf"^func\.func private @body_{which}\(.*?^}}", text, re.M | re.S)
    return found[0] if found else text


@pytest.mark.parametrize("compute", sorted(KINDS))
def test_bodies_equal_their_interpretation(compute: str, tmp_path: Path) -> None:
    bodies = compared = 0
    seed = FIRST
    while bodies < TOTAL // len(KINDS):
        made, results = check(seed, PER_METRIC, compute, tmp_path)
        bodies, compared, seed = bodies + made, compared + results, seed + 1
    print(f"{bodies} bodies on {compute}: {compared} results equal to the bit, seeds {FIRST} to {seed - 1}")
    assert bodies >= TOTAL // len(KINDS)
    assert compared == bodies * QUERIES * ROWS
