# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random bodies: an interpreter that shares no code with LLVM against the CPU engine, to the bit.

ANNUDF_INTERPRETED_BODIES says how many (600; 1,200 in the long form); ANNUDF_INTERPRETED_SEED where to
begin. A failure prints the seed and the metric's text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from annudf import ivf_flat
from interpreter.evaluate import Interpreter
from interpreter.inputs import vectors
from interpreter.module import module
from interpreter.text import parse

TOTAL = int(os.environ.get("ANNUDF_INTERPRETED_BODIES", "600"))
FIRST = int(os.environ.get("ANNUDF_INTERPRETED_SEED", "1"))
PER_METRIC = 25
ROWS, QUERIES = 8, 2
KINDS = {
    "f32": ("float32", "float16", "int8", "uint8"),
    "i32": ("int8", "uint8"),
    "f64": ("float32", "uint8"),
}
SPELLING = {"float32": "f32", "float16": "f16", "int8": "i8", "uint8": "u8"}


def coordinate(value: np.generic, compute: str) -> object:
    """An element as the hook sees it."""
    if compute == "i32":
        return int(value) & 0xFFFFFFFF
    return {"f32": np.float32, "f64": np.float64}[compute](value)


def searched(bound: object, index: object, queries: npt.NDArray[np.generic]) -> npt.NDArray[np.float32]:
    """The distance of each query and row; NaN where the row is not among the nearest."""
    distances, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=1, metric=bound), index, queries, ROWS)  # type: ignore[arg-type]
    result = np.full((QUERIES, ROWS), np.nan, np.float32)
    for q in range(QUERIES):
        found = neighbors[q] >= 0
        result[q, neighbors[q][found]] = distances[q][found]
    return result


def check(seed: int, count: int, compute: str, folder: Path) -> tuple[int, int]:
    """Bodies and results compared."""
    elements = KINDS[compute]
    element = elements[seed % len(elements)]
    made = module(seed, count, compute, tuple(SPELLING[e] for e in elements))
    file = folder / f"random_{compute}_{seed}.mlir"
    file.write_text(made.text)
    base, queries = vectors(element, ROWS, seed, made.dims), vectors(element, QUERIES, seed + 1, made.dims)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), base)
    loaded = ivf_flat.load_metric(file, **made.captures, which=0, part=0)
    interpreter = Interpreter(parse(made.text))
    compared = 0
    captures: dict[str, object] = dict(made.captures)
    pairs = {
        (q, r): [(coordinate(x, compute), coordinate(y, compute)) for x, y in zip(queries[q], base[r], strict=True)]
        for q in range(QUERIES)
        for r in range(ROWS)
    }
    for which in range(made.bodies):
        captures["which"] = which
        with np.errstate(all="ignore"):
            sums = {at: interpreter.accumulate(pair, captures) for at, pair in pairs.items()}
        for part in range(max(made.parts, 1)):
            captures["part"] = part
            have = searched(loaded.bind(which=which, part=part), index, queries)
            for at, acc in sums.items():
                with np.errstate(all="ignore"):
                    want = interpreter.distance(acc, made.dims, captures)
                assert have[at] == want or np.isnan([have[at], want]).all(), (
                    f"seed {seed}, body_{which} on {element} {pairs[at]}: {have[at]}, interpreted {want}\n"
                    + body_text(made.text, which)
                )
                compared += 1
    return made.bodies, compared


def body_text(text: str, which: int) -> str:
    inside = rf"^    %is{which} = .*?^    }} else"
    outside = rf"^func\.func private @body_{which}\(.*?^}}"
    found = re.search(inside if which % 2 else outside, text, re.M | re.S)
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
    assert compared >= bodies * QUERIES * ROWS


#: What modules hold, by a pattern of their text, and in how many of 60 at least.
COVERED = {
    r"accumulator\(u32\)": 10,
    r"annudf\.update \(%acc: f32": 10,
    r"annudf\.update \(%acc: f64": 10,
    r"^(?!.*annudf\.finalize)": 8,
    r"order\(max\)": 15,
    r" dims\(\d+\) ": 8,
    r"= func\.call @shared_\d": 40,
    r"scf\.for ": 40,
    r"= dense<": 8,
    r"annudf\.load %w_f32\[%b": 25,
    r"annudf\.load %w_f64\[%b": 25,
    r"annudf\.load %w_i32\[%b": 25,
    r"annudf\.load %w_ui32\[%b": 25,
    r"annudf\.load %s_f64\[\]": 15,
    r"annudf\.load %s_ui32\[\]": 15,
    # dims - 1 - dim; (dim + 1) % dims; a division and a shift whose right side is no constant.
    r"(%\w+) = arith\.subi %\w+, %\w+ : index\n +(%\w+) = annudf\.index dim\n +(%\w+) = arith\.subi \1, \2 : index\n +%\w+ = annudf\.load %\w+\[\3\]": 20,
    r"(%\w+) = annudf\.index dims\n +(%\w+) = arith\.rem[su]i %\w+, \1 : index\n +%\w+ = annudf\.load %\w+\[\2\]": 40,
    r"(%\w+) = arith\.maxsi [^\n]*\n +%\w+ = arith\.divsi %\w+, \1 ": 20,
    r"(%\w+) = arith\.andi [^\n]*\n +%\w+ = arith\.shrsi %\w+, \1 ": 20,
}


def test_modules_hold_what_they_are_to_test() -> None:
    texts = [module(seed, PER_METRIC, compute, ("u8",)).text for compute in sorted(KINDS) for seed in range(1, 21)]
    found = {p: sum(re.search(p, t, re.S if p.startswith("^(?!") else 0) is not None for t in texts) for p in COVERED}
    assert {p: n for p, n in found.items() if n < COVERED[p]} == {}
