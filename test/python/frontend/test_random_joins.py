# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random bodies whose variables have a type on each path, against NumPy: to the bit, by the tests' own interpreter."""

from __future__ import annotations

import linecache
import math
import os
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from joins import INPUTS, Generator

from annudf import ivf_flat
from interpreter.evaluate import Interpreter, Scan
from interpreter.text import parse

TOTAL = int(os.environ.get("ANNUDF_RANDOM_BODIES", "400")) // 8
PER_METRIC = 25


def built(bodies: list[list[str]]) -> dict[str, Any]:
    """A function that picks one of the bodies."""
    lines = []
    for number, body in enumerate(bodies):
        lines += [f"def body_{number}(x, y, acc, ctx):", *(f"    {line}" for line in body)]
    lines.append("def update(x, y, acc, ctx):")
    for number in range(len(bodies)):
        lines += [f"    if ctx.which == {number}:", f"        return body_{number}(x, y, acc, ctx)"]
    text = "\n".join([*lines, "    return acc", ""])
    file = f"<random joins {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {"np": np, "math": math, "K": 7}
    exec(compile(text, file, "exec"), space)
    return space


@pytest.mark.parametrize("group", range(TOTAL // PER_METRIC))
def test_joins(group: int) -> None:
    made = [Generator(group * PER_METRIC + number).body() for number in range(PER_METRIC)]
    ours, numpys = built([user for user, _ in made]), built([numpy for _, numpy in made])
    metric = ivf_flat.metric(accumulator="float64", captures={"which": np.int32(0)})(ours["update"])
    interpreter = Interpreter(parse(metric.mlir()))
    compared = 0
    for number, (user, _) in enumerate(made):
        for x, y in INPUTS:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    want = numpys[f"body_{number}"](np.float32(x), np.float32(y), np.float64(1), SimpleNamespace(dim=2))
                except OverflowError:
                    continue  # A Python int that NumPy does not take, and a metric wraps around.
                scan = Scan(2, 4, {"which": number})
                have = interpreter.hook("update", [np.float64(1), np.float32(x), np.float32(y)], scan)
            assert have == want or np.isnan([have, want]).all(), (x, y, have, want, "\n".join(user))
            compared += 1
    assert compared > 2 * PER_METRIC
