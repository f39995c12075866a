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

_INTEGERS = ("int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8")


def given_ids(array: Any, name: str, resources: Resources, shape: tuple[int, ...] | None, expected: str) -> View:
    """The ids as int64 in host memory, or ArgumentError; `shape` None is any of one axis."""
    ids = _arrays.view(array, name, resources.stream)
    if ids.shape != shape if shape is not None else len(ids.shape) != 1:
        raise ArgumentError(f"argument '{name}' has shape {ids.shape}, it must be {expected}")
    _arrays.check_dtype(ids, name, _INTEGERS)
    ids = transfer.to_host(_arrays.as_contiguous(ids, name), name, resources)
    host = transfer.as_numpy(ids)
    largest = np.iinfo(np.int64).max
    if host.dtype == np.uint64 and bool((host > largest).any()):
        at = int(np.flatnonzero(host > largest)[0])
        raise ArgumentError(f"argument '{name}' has the id {int(host[at])} at {at}; ids are at most {largest}")
    if bool((host < 0).any()):
        at = int(np.flatnonzero(host < 0)[0])
        raise ArgumentError(f"argument '{name}' has the id {int(host[at])} at {at}; ids are 0 or above")
    return _arrays.view(np.ascontiguousarray(host, dtype=np.int64), name)


def distinct_ids(array: Any, name: str, resources: Resources, rows: int) -> npt.NDArray[np.int64]:
    """One id a row, each another, or ArgumentError."""
    ids = transfer.as_numpy(given_ids(array, name, resources, (rows,), f"({rows},), one id a row"))
    order = np.argsort(ids, kind="stable")
    twice = np.flatnonzero(ids[order[1:]] == ids[order[:-1]])
    if len(twice):
        first, second = order[twice[0]], order[twice[0] + 1]
        raise ArgumentError(
            f"argument '{name}' has the id {ids[first]} at {first} and at {second}; give each row its own id"
        )
    return ids
