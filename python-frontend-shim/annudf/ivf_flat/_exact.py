# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Distances to every row of an index, whatever list it is in."""

from __future__ import annotations

from typing import Any

from annudf import _arrays, _backends, _transfer
from annudf._arrays import ELEMENT_OF_DTYPE
from annudf._metric.metric import Metric
from annudf.common import Resources
from annudf.errors import ArgumentError
from annudf.ivf_flat._index import Index
from annudf.ivf_flat._search import result_array, run


def every_distance(index: Index, metric: Metric, queries: Any, name: str, out: Any, place: Resources) -> Any:
    """Distances of queries to the rows of an index as `build` made it, the row with id i in column i.

    `name` is what the queries are called in messages; the result is `out`, or a new array of the library of the
    queries.
    """
    core = index._core
    accepted = metric.query_dtypes(index.dtype_name)
    rows = _arrays.input_matrix(
        queries, name, accepted=accepted, dims=core.dims, stream=place.stream, packed=index.packed
    )
    device = place.place(rows.device, f"argument '{name}'")
    stream = _transfer.working_stream(rows, place) if rows.device.kind == "cuda" else 0
    result, seen = result_array(out, "out", rows, (rows.shape[0], core.size), "float32", stream)
    if out is not None and _arrays.overlaps(seen, rows):
        raise ArgumentError(f"arguments 'out' and '{name}' share memory; give another array")
    artifact, captures = metric.prepare(device, core, rows.shape[0])
    if rows.shape[0] == 0 or captures is None:
        return result
    engine = _backends.backend(device)
    element = ELEMENT_OF_DTYPE[rows.dtype]
    arguments = (core, artifact, captures, rows.address, rows.shape[0], rows.shape[1], element, seen.address)
    run(
        lambda: engine.distances(*arguments),
        lambda: engine.distances_device(*arguments, stream),
        (rows, seen),
        device,
        stream,
        place,
        name,
    )
    return result
