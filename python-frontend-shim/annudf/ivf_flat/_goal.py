# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What queries must find before they are done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from annudf.common import Resources
from annudf.errors import ArgumentError
from annudf.ivf_flat._ids import given_ids

if TYPE_CHECKING:
    from annudf._arrays import View
    from annudf.ivf_flat._search_params import SearchParams

CoreGoal: TypeAlias = tuple[int, int, int, int, str]
"""The most lists, the rows to find, address and length of the groups, and the column that has them."""


def core_goal(search_params: SearchParams, group_by: Any, place: Resources) -> tuple[CoreGoal | None, View | None]:
    """The goal for the core, or None if there is none, and the array that the goal points to."""
    most, rows = search_params.max_probes or 0, search_params.min_rows or 0
    if isinstance(group_by, str):
        if not group_by:
            raise ArgumentError("group_by is '', which is no column of the index; name one, or give an array")
        return (most, rows, 0, 0, group_by), None
    if group_by is not None:
        groups = given_ids(group_by, "group_by", place, None, "(n_ids,), an integer for each id")
        return (most, rows, groups.address, groups.shape[0], ""), groups
    return ((most, rows, 0, 0, "") if most else None), None


def refuse_goal(search_params: SearchParams, what: str) -> None:
    """Refuses a goal or a second metric in calls that search once."""
    if search_params.refine is not None:
        raise ArgumentError(f"search_params.refine is given; {what} has one phase, so leave it out")
    if search_params.max_probes is not None:
        raise ArgumentError(
            f"search_params.max_probes is {search_params.max_probes}; {what} does not widen, so give n_probes alone"
        )
