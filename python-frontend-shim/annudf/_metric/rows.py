# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Captures with an entry a row or a query: how many entries they have, and the same with others of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from annudf._metric.captures import Value
from annudf._metric.metric import Metric
from annudf._metric.unbound import refuse_rows


def entries_by_row(metric: Metric) -> Iterator[tuple[str, str, int]]:
    """Name, description and length of each bound capture that ``ctx.row`` indexes."""
    for name, declared in metric._definition.captures.items():
        value = metric._values.get(name)
        if value is not None and declared.extents[:1] == ("row",):
            yield name, f"capture '{name}' ({declared}) of {metric._noun} '{metric.name}'", value.shape[0]


def queries_bound(metric: Metric) -> int | None:
    """How many queries the captures that ``ctx.query`` indexes are bound for, the fewest; None without such."""
    lengths = [
        metric._values[name].shape[0]
        for name, declared in metric._definition.captures.items()
        if declared.extents[:1] == ("query",) and name in metric._values
    ]
    return min(lengths) if lengths else None


def for_queries(metric: Metric, count: int) -> Metric:
    """The metric with the first `count` entries of each capture that ``ctx.query`` indexes."""
    return _with_entries(metric, "query", np.arange(count))


def for_rows(metric: Metric, ids: npt.NDArray[np.int64]) -> Metric | None:
    """The metric for rows with the numbers 0, 1, ... that computes what it computes for these ids; None: there is none.

    There is one where ``ctx.row`` is known to be nothing but the index of captures.

    Raises
    ------
    CaptureError
        A capture has no entry for one of the ids.
    """
    extent = int(ids.max()) + 1 if len(ids) else 0
    if any(length < extent for _, _, length in entries_by_row(metric)):
        refuse_rows(metric, extent)
    return _with_entries(metric, "row", ids) if metric.properties.row_only_indexes else None


def _with_entries(metric: Metric, extent: str, entries: npt.NDArray[Any]) -> Metric:
    """The metric with these entries of each capture of that extent."""
    values = dict(metric._values)
    for name, declared in metric._definition.captures.items():
        if declared.extents[:1] == (extent,) and name in values:
            value = values[name]
            parts = np.frombuffer(value.data, np.uint8).reshape(value.shape[0], -1)[entries]
            values[name] = Value(value.element, (len(entries), *value.shape[1:]), parts.tobytes())
    return Metric(metric._definition, values, metric.__wrapped__, metric._allow_non_finite, metric._noun)
