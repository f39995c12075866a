# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random functions of two vectors that are no single pass, as CPUs compute them, against NumPy to the bit.

They are those of test_random_vectors over integers, with the second vector backwards, and with an array that keeps what
each turn computes. ANNUDF_RANDOM_VECTORS says how many functions there are (12; 400 in the long form).
"""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
import test_random_vectors
from bodies import Body, bodies
from hypothesis import HealthCheck, Phase, given, settings
from test_random_bodies import Typed
from test_random_vectors import DIMS, SCALARS, WEIGHTS, functions, in_numpy, source_of

import annudf

TOTAL = int(os.environ.get("ANNUDF_RANDOM_VECTORS", "12"))
PER_MODULE = 4
LAST = """        kept[i + 1] = first
    for k in range(len(kept) - 1):
        first = np.int32(first + kept[k] - kept[k + 1])
"""


def backwards(some: list[Body]) -> str:
    text = source_of(some).replace("b[i]", "b[b.shape[0] - 1 - i]")
    text = re.sub(r"(def distance_\d+\(a, b, ctx\):\n)", r"\1    kept = np.zeros(len(a) + 1, np.int32)\n", text)
    return re.sub(r"(        first = np\.int32\(body_\d+\(.*\n)", lambda found: found[1] + LAST, text)


def check(some: list[Body], rng: np.random.Generator) -> int:
    text = backwards(some)
    space, oracle = functions(text), functions(text)
    oracle["np"] = Typed()
    compared = 0
    for number in range(len(some)):
        name = f"distance_{number}"
        metric = annudf.metric(captures={"w": WEIGHTS, **SCALARS}, dtype="int32", elements=["int8"])(space[name])
        for _ in range(3):
            a, b = rng.integers(-9, 10, (2, DIMS)).astype(np.int8)
            want = in_numpy(oracle[name], a.astype(np.int32), b.astype(np.int32))
            if want is not None:
                np.testing.assert_array_equal(np.float32(metric.distance(a, b)), want, text)
                compared += 1
        assert metric.properties.cost == "O(d)"
    return compared


def test_functions(monkeypatch: Any) -> None:
    for name in ("ROW", "QUERY", "LIST"):  # Those of one distance.
        monkeypatch.setattr(test_random_vectors, name, 0)
    examples = max(1, TOTAL // PER_MODULE)
    rng, compared = np.random.default_rng(53), 0

    @settings(
        max_examples=examples, derandomize=True, deadline=None, database=None,
        phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(bodies(True, PER_MODULE).filter(lambda some: not some[0].pair))
    def each(some: list[Body]) -> None:
        nonlocal compared
        compared += check(some, rng)

    each()
    assert compared >= examples * PER_MODULE
