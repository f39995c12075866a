# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Captures of a metric without a value, or with one of another length: whether and how a search reads them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from annudf._metric.captures import name_of
from annudf.errors import CaptureError

if TYPE_CHECKING:
    from annudf._core import Index
    from annudf._metric.metric import Metric


def check_columns(metric: Metric, index: Index) -> None:
    """Whether the index has the columns that captures without a value read; two vectors have none."""
    from annudf import _core

    held = dict(_core.columns_of(index)) if isinstance(index, _core.Index) else None
    for name, declared in metric._columns.items():
        if held is None:
            refuse_unbound(metric, name)
        if name not in held:
            columns = ", ".join(f"'{one}'" for one in held) or "none"
            refuse_unbound(metric, name, f", or give columns={{'{name}': ...}} with the rows; they have {columns}")
        word = "i1" if held[name] == "b1" else held[name]
        if word != declared.element:
            raise CaptureError(
                f"capture '{name}' ({declared}) of {metric._noun} '{metric.name}' has no value, and column '{name}' of "
                f"the rows is {word}; give an array of {name_of(declared.element)}"
            )


def refuse_unbound(metric: Metric, name: str, remedy: str = "") -> NoReturn:
    """Raises CaptureError for a capture without a value."""
    declared = metric._definition.captures[name]
    if re.fullmatch(r"prepared_[xy]_\d+", name):
        whose = "query" if declared.extents == ("query",) else "row"
        raise CaptureError(
            f"{metric._noun} '{metric.name}' needs a value of each {whose} before the search, capture '{name}', which "
            f"a file does not compute; use the function that it was made of, or give the values by .bind({name}=...)"
        )
    raise CaptureError(
        f"capture '{name}' ({declared}) of {metric._noun} '{metric.name}' has no value; "
        f"give it one by .bind({name}=...){remedy}"
    )


def _first(metric: Metric, symbol: str, fits: Callable[[int], bool]) -> tuple[str, str]:
    """The first capture of that extent whose length does not fit, and what a message says of it."""
    for name, declared in metric._definition.captures.items():
        known = name in metric._values and declared.extents[:1] == (symbol,)
        if known and not fits(metric._values[name].shape[0]):
            shape = metric._values[name].shape
            return name, f"capture '{name}' ({declared}) of {metric._noun} '{metric.name}' has shape {shape}"
    raise AssertionError(f"the captures of extent {symbol} fit")


def refuse_rows(metric: Metric, rows: int) -> NoReturn:
    """Raises CaptureError for an array that is too short for so many ids."""
    _, who = _first(metric, "row", lambda length: length >= rows)
    raise CaptureError(f"{who}, the largest id of the index is {rows - 1}; give at least {rows} entries, one per id")


def refuse_queries(metric: Metric, queries: int) -> NoReturn:
    """Raises CaptureError for an array for another number of queries."""
    name, who = _first(metric, "query", lambda length: length == queries)
    raise CaptureError(
        f"{who}, this search has {queries} {'query' if queries == 1 else 'queries'}; give one entry a query, "
        f"by .bind({name}=...)"
    )
