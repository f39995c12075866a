# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What is done where distances are NaN: rows whose distance is NaN are never found."""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from annudf._arrays import CPU, ELEMENT_OF_DTYPE, View
from annudf._core import DEFAULT_NAN_SHARE
from annudf._support.checks import check_choice
from annudf.errors import Error, NaNDistanceError, NaNDistanceWarning

if TYPE_CHECKING:
    from annudf import _core
    from annudf._metric.metric import Metric

OnNaN: TypeAlias = Literal["raise", "warn", "skip"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def check_on_nan(value: object) -> OnNaN:
    """The value itself; ArgumentError for any other."""
    return cast(OnNaN, check_choice(value, "on_nan", ("raise", "warn", "skip")))


def tell(
    stats: _core.SearchStats,
    on_nan: OnNaN,
    metric: Metric,
    index: _core.Index | None,
    rows: View,
    *,
    earlier: bool = False,
) -> None:
    """Raises or warns, as `on_nan` says, where the statistics count distances that are NaN.

    `rows` are the queries; without an index the example is only named. `earlier` says that the statistics are those of
    searches before, with others.
    """
    if on_nan == "skip" or stats.nan_distances == 0:
        return
    share = min(1.0, stats.nan_distances / max(stats.scored, 1))
    if on_nan == "warn" and (share <= DEFAULT_NAN_SHARE or metric._told_of_nan):
        return
    some = "earlier searches" if earlier else "this search"
    text = (
        f"metric '{metric.name}': {100 * share:.3g} % of the distances of {some} are NaN ({stats.nan_distances} of "
        f"{stats.scored}), and such rows are never found; {_example(stats, metric, index, rows, earlier)}. Guard the "
        f"formula there ({_call(stats, metric)} shows each dimension), or pass on_nan='skip' if it is meant"
    )
    if on_nan == "raise":
        raise NaNDistanceError(text)
    warnings.warn(text, NaNDistanceWarning, stacklevel=_level())
    metric._told_of_nan = True  # Not where the warning is an error: the next call raises it, too.


def _call(stats: _core.SearchStats, metric: Metric) -> str:
    """How to look at the pair."""
    numbers = f", query_number={stats.nan_query}" if metric._queries >= 0 else ""
    numbers += f", row_id={stats.nan_row}" if metric._rows >= 0 else ""
    return f"metric.explain(query, row{numbers})"


def _example(stats: _core.SearchStats, metric: Metric, index: _core.Index | None, rows: View, earlier: bool) -> str:
    """One of the pairs, and where it turns NaN if that can be found out."""
    from annudf import _core

    pair = f"query {stats.nan_query}, row {stats.nan_row}"
    if index is None or earlier or rows.device != CPU:
        return pair
    try:
        artifact, captures = metric.prepare(CPU, index, rows)
        if captures is None:
            return pair
        element = ELEMENT_OF_DTYPE[rows.dtype]
        return _core.nan_example(index, artifact, captures, rows.address, rows.shape[0], rows.shape[1], element, stats)
    except Error:  # The metric has no code for CPUs, say.
        return pair


def _level() -> int:
    """How many frames above the caller the code is that is not of this package."""
    level, frame = 2, sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level
