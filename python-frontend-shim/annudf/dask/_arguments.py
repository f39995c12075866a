# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Dask arrays of rows, ids and columns that a caller gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dask.array
import numpy as np
import numpy.typing as npt

from annudf import _arrays
from annudf._devices import transfer
from annudf._metric.captures import check_name
from annudf._support.checks import class_of
from annudf.common import Resources
from annudf.errors import ArgumentError, DtypeError
from annudf.ivf_flat._ids import check_distinct, given_ids


def check_array(array: object, name: str, axes: int) -> Any:
    """A dask array of so many axes and known chunks, or ArgumentError."""
    if not isinstance(array, dask.array.Array):
        raise ArgumentError(f"argument '{name}' is {class_of(array)}, it must be a dask array")
    if array.ndim != axes:
        raise ArgumentError(f"argument '{name}' has shape {array.shape}, it must have {axes} axes")
    if any(np.isnan(one) for axis in array.chunks for one in axis):
        raise ArgumentError(
            f"argument '{name}' has chunks of unknown size, and positions are ids; call {name}.compute_chunk_sizes()"
        )
    return array


def check_rows(dataset: object, name: str) -> None:
    """Chunks of whole rows, of a dtype that vectors may have; or ArgumentError or DtypeError."""
    array = check_array(dataset, name, 2)
    if array.dtype.name not in _arrays.VECTORS:
        raise DtypeError(f"argument '{name}' has dtype {array.dtype}, it must be {', '.join(_arrays.VECTORS)}")
    if len(array.chunks[1]) != 1:
        raise ArgumentError(
            f"argument '{name}' has {len(array.chunks[1])} chunks a row; give whole rows, {name}.rechunk({{1: -1}})"
        )


def beside(ids: Any, columns: Any, dataset: Any, names: tuple[str, str]) -> dict[str, Any]:
    """Ids and columns by the names of their pieces; `names` are those of the arguments of ids and rows."""
    named = {} if ids is None else {"ids": (names[0], ids)}
    if columns is not None and not isinstance(columns, Mapping):
        raise ArgumentError(f"columns is {class_of(columns)}, it must be a mapping of names to dask arrays")
    for name, array in (columns or {}).items():
        named[f"column {check_name(name)}"] = (f"columns['{name}']", array)
    for shown, array in named.values():
        if check_array(array, shown, 1).chunks[0] != dataset.chunks[0]:
            raise ArgumentError(
                f"argument '{shown}' has chunks {array.chunks[0]}, '{names[1]}' has {dataset.chunks[0]}; rechunk "
                "it to those, so that each chunk is for the rows of one"
            )
    return {name: array for name, (_, array) in named.items()}


def check_ids(pieces: list[npt.NDArray[Any]], name: str) -> None:
    """On a worker: ArgumentError unless the ids are different integers from 0."""
    own = Resources()
    every = [transfer.as_numpy(given_ids(piece, name, own, None, "of shape (n_rows,)")) for piece in pieces]
    check_distinct(np.concatenate(every), name)
