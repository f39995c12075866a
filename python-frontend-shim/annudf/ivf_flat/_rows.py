# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Whether captures and filters with an entry a row are for the rows of an index."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import TYPE_CHECKING

from annudf._metric.rows import entries_by_row
from annudf._support.checks import warn_caller
from annudf.errors import ArgumentError, CaptureError, CaptureWarning
from annudf.filters._bits import Entries

if TYPE_CHECKING:
    from annudf._metric.metric import Metric
    from annudf.filters._bits import Filter
    from annudf.ivf_flat._index import Index


class Ids(enum.Enum):
    """Where the ids of an index come from, and so what an array with more entries than rows may mean."""

    GIVEN = enum.auto()
    """The caller knows them: arrays are as long as the largest asks."""
    POSITIONS = enum.auto()
    """Numbers of the rows: a longer array is rather one of other rows, which is told once."""
    EXACT = enum.auto()
    """The same where rows are not added later: a longer array is refused."""


def check_entries(index: Index, metric: Metric, filter: Filter | None = None) -> None:
    """Compares arrays that ids index with the rows of an index whose ids nobody has chosen.

    Raises
    ------
    CaptureError, ArgumentError
        An array for an index that is searched exactly has another number of entries.
    """
    core = index._core
    rows = core.size
    if index._ids is Ids.GIVEN or core.row_extent != rows:
        return
    for one in _entries(metric, filter):
        if one.least <= rows <= one.most:
            continue
        if index._ids is Ids.EXACT:
            kind = CaptureError if one.text.startswith("capture") else ArgumentError
            raise kind(
                f"{one.text} has {one.most} entries, the index has {rows} rows; give one entry a row, "
                f"{one.name}{one.subset}, or say which entry each row has, ids=subset"
            )
        if one.least > rows and one.text not in index._told:
            index._told.add(one.text)
            warn_caller(
                f"{one.text} has {one.most} entries, the index has {rows} rows with the ids 0 to {rows - 1}, so the "
                f"rest is never read; if the rows are a subset, give {one.name}{one.subset}, or add them with their "
                "ids, ivf_flat.extend(index, rows, subset)",
                CaptureWarning,
            )


def _entries(metric: Metric, filter: Filter | None) -> Iterator[Entries]:
    for name, text, length in entries_by_row(metric):
        yield Entries(name, text, length, length)
    if filter is not None:
        yield from filter._entries()
