# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Bodies with branches, each with a form that has none: what a branch costs, and that both mean the same.

``branch_costs.py`` times them. Plain Python says what a body means: :func:`exact` calls it for each pair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from annudf import ivf_flat

Array = Any


@dataclass(frozen=True)
class Body:
    """A metric in two forms: as it is written with branches, and straight."""

    branches: Any
    straight: Any
    uses: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)
    element: str = "float32"

    @property
    def name(self) -> str:
        name: str = self.branches.__name__
        return name

    def metrics(self, captures: dict[str, Any]) -> tuple[ivf_flat.Metric, ivf_flat.Metric]:
        bound = {name: captures[name] for name in self.uses}
        made = ivf_flat.metric(captures=bound, **self.options)
        return made(self.branches), made(self.straight)


def captures_of(dims: int, rows: int, queries: int) -> dict[str, Any]:
    """One of each kind that a body may use."""
    rng = np.random.default_rng(5)
    return {
        "w": rng.random(dims).astype(np.float32),
        "on": rng.random(dims) < 0.5,
        "qw": rng.random((queries, dims)).astype(np.float32),
        "known": (rng.random((queries, dims)) < 0.7).astype(np.int32),
        "limit": rng.random(queries).astype(np.float32),
        "age": rng.random(rows).astype(np.float32),
        "has": rng.integers(1, 2**31, rows, dtype=np.uint32),
        "kind": rng.integers(0, 5, rows, dtype=np.int32),
        "lut": rng.random((16, 16)).astype(np.float32),
        "table": rng.random(17).astype(np.float32),
        "steps": rng.integers(-3, 9, dims, dtype=np.int32),
        "a": 3.0,
        "b": 0.5,
        "p": 1.5,
        "n": 7,
    }


def data_of(body: Body, dims: int, rows: int, queries: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(6)
    if body.element == "uint8":
        base = rng.integers(0, 256, (rows, dims), dtype=np.uint8)
        return rng.integers(0, 256, (queries, dims), dtype=np.uint8), base
    return tuple(rng.standard_normal((n, dims), dtype=np.float32) for n in (queries, rows))  # type: ignore[return-value]


def exact(body: Body, queries: Array, base: Array, captures: dict[str, Any]) -> Array:
    """What plain Python computes, one coordinate after the other."""
    wide = {
        name: value.astype(np.float64) if isinstance(value, np.ndarray) and value.dtype == np.float32 else value
        for name, value in captures.items()
    }
    ctx = SimpleNamespace(**wide, dims=base.shape[1])
    out = np.empty((len(queries), len(base)))
    for ctx.query, query in enumerate(queries.tolist()):
        for ctx.row, row in enumerate(base.tolist()):
            if isinstance(body.branches, type):
                held = body.branches()
                for ctx.dim, (x, y) in enumerate(zip(query, row, strict=True)):
                    held.update(x, y, ctx)
                out[ctx.query, ctx.row] = held.finalize(ctx)
                continue
            acc = body.options.get("initial", 0.0)
            for ctx.dim, (x, y) in enumerate(zip(query, row, strict=True)):
                acc = body.branches(x, y, acc, ctx)
            out[ctx.query, ctx.row] = acc
    return out


BODIES: list[Body] = []


def body(straight: Any, uses: str = "", element: str = "float32", **options: Any) -> Callable[[Any], Any]:
    """Adds the decorated function, or class, with its straight form."""

    def add(branches: Any) -> Any:
        BODIES.append(Body(branches, straight, tuple(uses.split()), options, element))
        return branches

    return add
