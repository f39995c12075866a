# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Searches whose queries and results are in host memory, whatever the queries are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from annudf import _arrays
from annudf._arrays import ELEMENT_OF_DTYPE
from annudf._devices import backends, transfer
from annudf._metric import nan as _nan
from annudf.common import Resources, check_resources
from annudf.errors import InputError
from annudf.filters._bits import check_filter
from annudf.filters._generations import with_bits
from annudf.ivf_flat._index import Index, array_at_fault, check_index
from annudf.ivf_flat._rows import check_entries
from annudf.ivf_flat._search_params import SearchParams, check_params
from annudf.ivf_flat._stats import SearchStats, stats_of

if TYPE_CHECKING:
    from annudf._core import SearchStats as CoreStats

_T = TypeVar("_T")


class HostSearch:
    """The checked arguments of such a call, with its queries in host memory."""

    def __init__(
        self, params: SearchParams, index: Index, queries: Any, resources: Resources | None, filter: Any
    ) -> None:
        check_params(params)
        core = check_index(index)._core
        place = check_resources(resources).over(index._team)
        metric = params.metric_for(index)
        accepted = metric.query_dtypes(index.dtype_name)
        rows = _arrays.input_matrix(
            queries, "queries", accepted=accepted, dims=core.dims, stream=place.stream, packed=index.packed
        )
        device = place.place(rows.device, "argument 'queries'")
        self.filter = check_filter(filter, place)
        check_entries(index, metric, self.filter)
        artifact, captures = metric.prepare(device, core, rows)
        self.empty = rows.shape[0] == 0 or captures is None
        self.device = device
        self.index, self.metric_name = index, params.name_for(index)
        self.n_probes = params.n_probes
        self.family = params.family or ""
        self.metric, self.on_nan = metric, params.on_nan
        self.rows = transfer.to_host(rows, "queries", place)
        self.engine = backends.backend(device)
        self.arguments: tuple[Any, ...] = (
            core,
            artifact,
            captures,
            self.rows.address,
            self.rows.shape[0],
            self.rows.shape[1],
            ELEMENT_OF_DTYPE[self.rows.dtype],
        )

    def stats(self, cost: CoreStats | None) -> SearchStats:
        """What is told of a search that has no places for missing results."""
        return replace(stats_of(cost, self.metric_name, self.index, self.n_probes), n_missing=0)

    def tell(self, cost: CoreStats) -> None:
        """Says where distances were NaN."""
        _nan.tell(cost, self.on_nan, self.metric, self.arguments[0], self.rows)

    def run(self, call: Callable[..., _T], *more: float) -> _T:
        """What a method of the engine gives for these and `more`; errors name the array as the caller does."""
        # One of code scans the index, so only now that all else is checked.
        try:
            return with_bits(
                self.filter,
                self.arguments[0],
                self.device,
                self.rows.shape[0],
                lambda chosen: call(*self.arguments, *more, chosen),
            )
        except InputError as error:
            raise array_at_fault(error, "queries") from None
