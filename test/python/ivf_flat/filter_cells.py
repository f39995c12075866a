# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Cells of searches with filters, and what they find, in float64 and NumPy alone.

Coordinates are small integers, so that distances have no rounding: ids and distances have to be equal. annudf gives the
centers of the lists and nothing else; no query or row is near the middle of two.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from annudf import PackedBits, ivf_flat

ROWS, LISTS, PROBES = 2000, 12, 3
KINDS = ("bits", "bitmap", "code of rows", "code of queries", "join")
PASSING = {"none": 0, "one row": 1, "a thousandth": ROWS // 1000, "half": ROWS // 2, "all": ROWS}
BATCHES = (1, 10, 1000)


@dataclass(frozen=True)
class Cell:
    """A search of one metric and element."""

    k: int
    kind: str
    passing: str
    probes: int
    batch: int


#: All of them; those that differ only in `k` follow each other.
CELLS = [
    Cell(k, kind, passing, probes, batch)
    for batch, probes, kind, passing, k in itertools.product(BATCHES, (PROBES, LISTS), KINDS, PASSING, (1, 10, 100))
]


def _squares(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Squared Euclidean distances; of integers and means of them, in float64."""
    return (x**2).sum(1)[:, None] - 2 * (x @ y.T) + (y**2).sum(1)


class Data:
    """Rows of an element, queries, and the lists of both."""

    def __init__(self, element: str, dims: int) -> None:
        self.element = element
        random = np.random.default_rng(dims)
        # Around as many places as there are lists, one of them far smaller than another.
        places = random.integers(0, 2 if element == "bits" else 12, (LISTS, dims))
        of = np.minimum(random.geometric(0.2, 4 * ROWS) - 1, LISTS - 1)
        some = self._around(places[of], random)
        self.rows = some[:ROWS].astype(np.float64)
        self.index = ivf_flat.build(ivf_flat.IndexParams(n_lists=LISTS, kmeans_n_iters=5), self.given(self.rows))
        self.centers = self.index.centers.astype(np.float64)
        apart = np.diff(np.sort(_squares(self.rows, self.centers), axis=1)[:, :2], axis=1)
        assert apart.min() > 1e-4, "a row is between two lists; take another seed"
        self.list_of = _squares(self.rows, self.centers).argmin(1)
        asked = self._around(places[random.integers(0, LISTS, 4 * ROWS)], random).astype(np.float64)
        ranked = np.sort(_squares(asked, self.centers), axis=1)
        # Not between the last list that is probed and the next.
        asked = asked[ranked[:, PROBES] - ranked[:, PROBES - 1] > 0.02 * ranked[:, PROBES]]
        self.queries = asked[: max(BATCHES)]
        assert len(self.queries) == max(BATCHES)

    def _around(self, places: np.ndarray, random: np.random.Generator) -> np.ndarray:
        if self.element == "bits":
            return places ^ (random.random(places.shape) < 0.2)
        return np.clip(places + random.integers(-3, 4, places.shape), 0, 15)

    def given(self, values: np.ndarray) -> np.ndarray | PackedBits:
        """The numbers as annudf takes them."""
        return PackedBits(values.astype(bool)) if self.element == "bits" else values.astype(self.element)

    def probed(self, batch: int, probes: int) -> np.ndarray:
        """Whether the list of a row is one of those that a query probes, (batch, ROWS)."""
        order = np.argsort(_squares(self.queries[:batch], self.centers), axis=1)[:, :probes]
        probed = np.zeros((batch, LISTS), bool)
        np.put_along_axis(probed, order, True, axis=1)
        return probed[:, self.list_of]


random = np.random.default_rng(5)
#: What code reads of rows and queries: a row passes if its level, or what is left of it modulo ROWS once the query's
#: shift is subtracted, is below the number of rows that pass.
level = random.permutation(ROWS).astype(np.int32)
shift = random.integers(0, ROWS, max(BATCHES)).astype(np.int32)
#: A mask that joins have beside code and a bitmap.
half = random.random(ROWS) < 0.5
of_bits, of_bitmap = random.permutation(ROWS), random.permutation(ROWS).astype(np.int32)


@cache
def passing(count: int, batch: int, kind: str) -> np.ndarray:
    """Which rows pass for which query, (batch, ROWS): `count` for each, and about so many by a join."""
    if kind == "bits":
        return np.broadcast_to(of_bits < count, (batch, ROWS))
    if kind == "bitmap":
        return (of_bitmap + np.arange(batch, dtype=np.int32)[:, None]) % ROWS < count
    if kind == "code of rows":
        return np.broadcast_to(level < count, (batch, ROWS))
    if kind == "code of queries":
        return (level - shift[:batch, None]) % ROWS < count
    code, bitmap = passing(count, batch, "code of queries"), passing(count, batch, "bitmap")
    return (code & half) | ~(~bitmap | half)


@dataclass
class Oracle:
    """What searches with a metric find."""

    data: Data
    exact: np.ndarray  # (queries, ROWS)
    largest: bool

    @cached_property
    def places(self) -> np.ndarray:
        """Where rows stand in `exact`, each query's best first, the lower id first of equal ones."""
        order = np.argsort(-self.exact if self.largest else self.exact, axis=1, kind="stable")
        return order + ROWS * np.arange(len(order))[:, None]

    def expected(self, cell: Cell) -> tuple[np.ndarray, np.ndarray]:
        """Distances and ids, of the largest k."""
        most = max(one.k for one in CELLS)
        there = passing(PASSING[cell.passing], cell.batch, cell.kind)
        if cell.probes < LISTS:
            there = there & self.data.probed(cell.batch, cell.probes)
        places = self.places[: cell.batch]
        passes = there.reshape(-1)[places]
        rank_of = np.cumsum(passes, axis=1, dtype=np.int32) - 1
        query, rank = np.nonzero(passes & (rank_of < most))
        ids = np.full((cell.batch, most), -1)
        distances = np.full((cell.batch, most), -np.inf if self.largest else np.inf, np.float32)
        at = query, rank_of[query, rank]
        ids[at] = places[query, rank] % ROWS
        distances[at] = self.exact.reshape(-1)[places[query, rank]]
        return distances, ids
