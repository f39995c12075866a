# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A part of an index: it holds some of the rows of every list."""

from __future__ import annotations

import contextlib
import functools
import pickle
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import annudf
from annudf._support.checks import with_fault
from annudf._support.repr import of_whole
from annudf.errors import ArgumentError, UnavailableError
from annudf.ivf_flat._index import Index, build, extend, remove
from annudf.ivf_flat._params import IndexParams
from annudf.ivf_flat._rows import Ids

Array = npt.NDArray[Any]
_ROWS_PER_LIST = 256
"""Most rows a list that k-means trains on: the limit of trainingRows() in runtime/lib/coarse/KMeans.cpp."""


class Shard:
    """An index of some rows, which have the ids that they have in the whole, and the ranges of those rows."""

    def __init__(self, index: Index, ranges: Sequence[tuple[int, int]]) -> None:
        index._ids = Ids.GIVEN
        self.index = index
        self.ranges = tuple(ranges)

    @functools.cached_property
    def sorted_ids(self) -> npt.NDArray[np.int64]:
        """The ids of its rows: a shard does not change."""
        return np.sort(self.index.ids)

    def __sizeof__(self) -> int:
        # Dask asks it, so as not to move a shard to where its queries are.
        index, bits = self.index, 1 if self.index.packed else 8 * self.index.dtype.itemsize
        return index.size * (index.dim * bits // 8 + 8 + sum(one.itemsize for one in index.columns.values()))

    @of_whole("ranges")
    def __repr__(self) -> str:
        return f"Shard({spelled(self.ranges)}, {self.index!r})"


def spelled(ranges: Sequence[tuple[int, int]]) -> str:
    """Ranges of rows for messages."""
    return "rows " + ", ".join(f"{first} to {last - 1}" for first, last in ranges)


def joined(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same ranges, those that touch as one."""
    result: list[tuple[int, int]] = []
    for first, last in ranges:
        if result and result[-1][1] == first:
            result[-1] = (result[-1][0], last)
        else:
            result.append((first, last))
    return result


def check_version(expected: str) -> None:
    """Raises UnavailableError where another version of annudf runs than in the process that asks."""
    if annudf.__version__ != expected:
        raise UnavailableError(
            f"a worker has annudf {annudf.__version__}, the client {expected}; install one version on all of them"
        )


def training_rows(index_params: IndexParams, n_rows: int) -> npt.NDArray[np.int64]:
    """Which rows the centers of a sharded index are trained on; equal arguments give equal rows.

    Parameters
    ----------
    index_params : IndexParams
    n_rows : int

    Returns
    -------
    array of shape (n_train,)
        Sorted positions, one of each of as many equal stretches of the rows. ``n_train`` is
        ``kmeans_trainset_fraction`` of the rows, at most 256 a list and at least one.
    """
    n_lists = index_params.n_lists
    if n_lists == "auto":
        raise ArgumentError("n_lists is 'auto', which a sharded index cannot have; give a number")
    if n_lists > n_rows:
        raise ArgumentError(
            f"n_lists is {n_lists}, but argument 'dataset' has only {n_rows} rows; a list needs at least one"
        )
    wanted = int(np.ceil(index_params.kmeans_trainset_fraction * n_rows))
    count = min(n_rows, max(n_lists, min(wanted, _ROWS_PER_LIST * n_lists)))
    edges = np.arange(count + 1, dtype=np.int64) * n_rows // count
    return np.random.default_rng(index_params.seed).integers(edges[:-1], edges[1:], dtype=np.int64)


def train(version: str, index_params: IndexParams, samples: Sequence[Array]) -> bytes:
    """The index without rows that every shard begins with, pickled: a shard changes its own."""
    check_version(version)
    params = index_params._replaced(kmeans_trainset_fraction=1.0, add_data_on_build=False)
    with _told("the rows of training_rows()"):
        return pickle.dumps(build(params, np.concatenate(samples), progress=False))


@contextlib.contextmanager
def _told(rows: str, of_build: bool = True) -> Iterator[None]:
    """Errors name the caller's arguments, and the rows that they number from 0."""
    try:
        yield
    except ArgumentError as error:
        text, argument = str(error), error.argument
        if of_build:
            text, argument = _of_build(text), None if argument is None else _of_build(argument)
        raise with_fault(type(error)(f"{text} (of {rows})"), argument, error.value, error.allowed) from None


def _of_build(text: str) -> str:
    return text.replace("new_vectors", "dataset").replace("new_indices", "ids")


def make(
    version: str,
    trained: bytes,
    ranges: Sequence[tuple[int, int]],
    rows: Sequence[Array],
    ids: Sequence[Array] | None,
    columns: Mapping[str, Sequence[Array]],
) -> Shard:
    """The shard of these pieces of rows."""
    check_version(version)
    index: Index = pickle.loads(trained)
    numbers = _whole(ids if ids is not None else [np.arange(*one, dtype=np.int64) for one in ranges])
    with _told(f"the shard of {spelled(joined(ranges))}"):
        _add(index, rows, numbers, columns)
    return Shard(index, joined(ranges))


def extended(
    version: str,
    shard: Shard,
    ranges: Sequence[tuple[int, int]],
    rows: Sequence[Array],
    ids: Sequence[Array],
    columns: Mapping[str, Sequence[Array]],
) -> Shard:
    """A shard with more rows; the one given stays as it is, as Dask may make the other of it again."""
    check_version(version)
    index = _copy(shard.index)
    with _told(f"new {spelled(joined(ranges))}", of_build=False):
        _add(index, rows, _whole(ids), columns)
    return Shard(index, joined([*shard.ranges, *ranges]))


def without(version: str, shard: Shard, ids: Array) -> Shard:
    """A shard without the rows of those ids; the one given stays as it is."""
    check_version(version)
    if not np.isin(shard.index.ids, ids).any():
        return shard
    index = _copy(shard.index)
    remove(index, ids, progress=False)
    return Shard(index, shard.ranges)


def _copy(index: Index) -> Index:
    copied: Index = pickle.loads(pickle.dumps(index))
    return copied


def _add(index: Index, rows: Sequence[Array], ids: Array, columns: Mapping[str, Sequence[Array]]) -> None:
    values = {name: _whole(pieces) for name, pieces in columns.items()} or None
    extend(index, _whole(rows), ids, columns=values, progress=False)


def count(shard: Shard) -> int:
    """Its rows."""
    return shard.index.size


def extent(shard: Shard) -> int:
    """One more than its largest id."""
    return int(shard.index._core.row_extent)


def first_held(shard: Shard, ids: Sequence[Array]) -> int | None:
    """The first of some ids that one of its rows has."""
    every = _whole(ids)
    held = np.flatnonzero(np.isin(every, shard.index.ids))
    return int(every[held[0]]) if len(held) else None


def _whole(pieces: Sequence[Array]) -> Array:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
