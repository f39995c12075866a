# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Distances to every row of an index, whatever list it is in."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from annudf import _arrays
from annudf._arrays import CPU, ELEMENT_OF_DTYPE, Device, View
from annudf._devices import backends, transfer
from annudf._metric.metric import Metric
from annudf.common import Resources
from annudf.errors import ArgumentError, InputError
from annudf.ivf_flat._index import Index, array_at_fault
from annudf.ivf_flat._rows import check_entries
from annudf.ivf_flat._search import result_array, run

if TYPE_CHECKING:
    from annudf._core import Backend


def every_distance(
    index: Index,
    metric: Metric,
    queries: Any,
    name: str,
    out: Any,
    place: Resources,
    ids: npt.NDArray[np.int64] | None = None,
) -> Any:
    """Distances of queries to the rows of an index, in columns that are in the order of these ids.

    Without ids the index is as `build` made it, and the row with id i is in column i. `name` is what the queries are
    called in messages; the result is `out`, or a new array of the library of the queries.
    """
    check_entries(index, metric)
    place = place.over(index._team)
    core = index._core
    accepted = metric.query_dtypes(index.dtype_name)
    rows = _arrays.input_matrix(
        queries, name, accepted=accepted, dims=core.dims, stream=place.stream, packed=index.packed
    )
    device = place.place(rows.device, f"argument '{name}'")
    stream = transfer.working_stream(rows, place) if rows.device.kind == "cuda" else 0
    result, seen = result_array(out, "out", rows, (rows.shape[0], core.size), "float32", stream)
    if out is not None and _arrays.overlaps(seen, rows):
        raise ArgumentError(f"arguments 'out' and '{name}' share memory; give another array")
    artifact, captures = metric.prepare(device, core, rows)
    if rows.shape[0] == 0 or captures is None:
        return result
    engine = backends.backend(device)
    element = ELEMENT_OF_DTYPE[rows.dtype]
    if ids is not None:
        host = transfer.to_host(rows, name, place)
        _write(_by_search(engine, (core, artifact, captures), host, ids, name), seen, device, stream)
        return result
    arguments = (core, artifact, captures, rows.address, rows.shape[0], rows.shape[1], element, seen.address)
    run(
        lambda there: engine.distances(*arguments, there),
        (rows, seen),
        device,
        stream,
        place,
        name,
    )
    return result


def _by_search(
    engine: Backend, searched: tuple[Any, Any, Any], rows: View, ids: npt.NDArray[np.int64], name: str
) -> npt.NDArray[np.float32]:
    """Distances to all rows by a search for as many neighbours, which knows rows by any ids."""
    shape = (rows.shape[0], len(ids))
    distances, neighbors = np.empty(shape, np.float32), np.empty(shape, np.int64)
    found = (neighbors.ctypes.data, distances.ctypes.data)
    element = ELEMENT_OF_DTYPE[rows.dtype]
    try:
        engine.search(*searched, rows.address, rows.shape[0], rows.shape[1], element, len(ids), 1, *found)
    except InputError as error:
        raise array_at_fault(error, name) from None
    order = np.argsort(ids)
    result = np.full(shape, np.nan, np.float32)  # A search leaves out what is NaN.
    for query in range(shape[0]):
        there = neighbors[query] >= 0
        columns = order[np.searchsorted(ids, neighbors[query, there], sorter=order)]
        result[query, columns] = distances[query, there]
    return result


def _write(found: npt.NDArray[np.float32], result: View, device: Device, stream: int) -> None:
    """Copies results in host memory to where they are wanted."""
    if result.device == CPU:
        ctypes.memmove(result.address, found.ctypes.data, found.nbytes)
        return
    engine = backends.backend(device)
    engine.copy(result.address, found.ctypes.data, found.nbytes, stream)
    engine.synchronize(stream)
