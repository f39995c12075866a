# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Ids of vectors that a caller gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from annudf import _arrays
from annudf._arrays import View
from annudf._devices import transfer
from annudf.common import Resources
from annudf.errors import ArgumentError

LARGEST_INT64 = np.iinfo(np.int64).max
_INTEGERS = ("int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8")


def given_ids(array: Any, name: str, resources: Resources, shape: tuple[int, ...] | None, expected: str) -> View:
    """The ids as int64 in host memory, or ArgumentError; `shape` None is any of one axis. The core has their rules."""
    ids = _arrays.view(array, name, resources.stream)
    if ids.shape != shape if shape is not None else len(ids.shape) != 1:
        raise ArgumentError(f"argument '{name}' has shape {ids.shape}, it must be {expected}")
    _arrays.check_dtype(ids, name, _INTEGERS)
    ids = transfer.to_host(_arrays.as_contiguous(ids, name), name, resources)
    host = transfer.as_numpy(ids)
    if (at := first_above_int64(host)) is not None:
        raise ArgumentError(f"argument '{name}' has the id {int(host[at])} at {at[0]}; ids are at most {LARGEST_INT64}")
    return _arrays.view(np.ascontiguousarray(host, dtype=np.int64), name)


def first_above_int64(numbers: npt.NDArray[Any]) -> tuple[int, ...] | None:
    """Where the first of integers stands that int64 does not hold; None: all fit."""
    above = numbers.dtype == np.uint64 and numbers > LARGEST_INT64
    return tuple(int(i) for i in np.argwhere(above)[0]) if np.any(above) else None


def check_distinct(ids: npt.NDArray[np.int64], name: str) -> None:
    """For ids that the core does not see: ArgumentError, as of its own, unless they are 0 or above and different."""
    if len(below := np.flatnonzero(ids < 0)):
        raise ArgumentError(f"{name}[{below[0]}] is {ids[below[0]]}; ids are 0 or above")
    order = np.argsort(ids, kind="stable")
    twice = np.flatnonzero(ids[order[1:]] == ids[order[:-1]])
    if len(twice):
        first, second = order[twice[0]], order[twice[0] + 1]
        raise ArgumentError(
            f"{name}[{second}] is {ids[first]}, the id of row {first} too; give each row an id of its own"
        )
