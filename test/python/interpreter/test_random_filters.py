# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random filters: the rows that a search on the CPU finds are those that an interpreter keeps.

ANNUDF_RANDOM_FILTERS says how many (40; 100 in the long form); ANNUDF_RANDOM_FILTERS_SEED where to begin. A failure
prints the seed and the filter's text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

from annudf import filters, ivf_flat
from annudf.errors import CompileError
from interpreter.evaluate import Interpreter, Scan
from interpreter.filters import random_filter
from interpreter.text import parse
from interpreter.worlds import World

TOTAL = int(os.environ.get("ANNUDF_RANDOM_FILTERS", "40"))
FIRST = int(os.environ.get("ANNUDF_RANDOM_FILTERS_SEED", "1"))


@pytest.fixture(scope="module")
def worlds() -> list[World]:
    # Two lists of 50 rows: one has more than the 32 whose bits are a word.
    return [World("float32", 50, 2, 5, 2, sparse=False), World("uint8", 50, 2, 5, 2, sparse=True)]


def found(world: World, chosen: filters.Filter) -> np.ndarray:
    """Which rows each query finds, in the order of the rows."""
    params = ivf_flat.SearchParams(n_probes=world.index.n_lists)
    ids = ivf_flat.search(params, world.index, world.queries, len(world.ids), filter=chosen)[1]
    return np.array([np.isin(world.ids, row) for row in ids])


def test_searches_find_what_the_interpreter_keeps(worlds: list[World], tmp_path: Path) -> None:
    checked = sees = mixed = large = 0
    seed = FIRST
    file = tmp_path / "filter.mlir"
    while checked < TOTAL:
        world = worlds[seed % 2]
        made = random_filter(seed, world.sizes)
        file.write_text(made.text)
        chosen = ivf_flat.load_filter(file, allow_non_finite=made.non_finite, **made.captures)
        seed += 1
        try:
            have = found(world, chosen)
        except CompileError as error:
            assert "[S5]" in str(error), made.text  # Too many loops.
            large += 1
            continue
        interpreter = Interpreter(parse(made.text))
        with np.errstate(all="ignore"):
            want = np.array(
                [
                    [
                        interpreter.keeps(Scan(-1, world.sizes["dim"], made.captures, int(row), query, int(of)))
                        for row, of in zip(world.ids, world.list_of, strict=True)
                    ]
                    for query in range(len(world.queries))
                ]
            )
        assert (have == want).all(), f"seed {seed - 1}, pairs {np.argwhere(have != want).tolist()}\n{made.text}"
        if "annudf.index query" not in made.text:  # Its bits are not those of a predicate, of which it may be a part.
            all_bits = filters.from_bitmap(np.ones((len(world.queries), world.sizes["row"]), bool))
            assert (found(world, chosen & all_bits) == want).all(), made.text
        else:
            sees += 1
        checked += 1
        mixed += 0 < want.mean() < 1
    print(f"{checked} filters, {sees} of them see the query, {mixed} keep some pairs and not all, {large} too large")
    assert mixed > TOTAL * 0.7
    assert TOTAL * 0.5 < sees < TOTAL
    assert large < TOTAL / 10


#: What filters hold, by a pattern of their text, and in how many of 200 at least.
COVERED = {
    r"annudf\.capture<row x": 200,
    r"annudf\.capture<query x": 100,
    r"annudf\.capture<row x 3 x": 20,
    r"annudf\.capture<\d+ x \w+>": 40,
    r"annudf\.capture<(7 x )?dim x": 40,
    r"annudf\.load %c\d\[\] ": 60,
    r"scf\.for [^\n]*\n +%\w+ = annudf\.load": 8,
    r"scf\.if [^\n]*\n +%\w+ = annudf\.load": 8,
    r"= annudf\.index list": 200,
    r"scf\.for": 60,
}


def test_filters_hold_what_they_are_to_test() -> None:
    texts = [random_filter(seed, {"row": 9, "query": 2, "dim": 3}).text for seed in range(200)]
    held = {pattern: sum(re.search(pattern, text) is not None for text in texts) for pattern in COVERED}
    assert {p: n for p, n in held.items() if n < COVERED[p]} == {}
