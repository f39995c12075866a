# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What a shard is asked, and what it answers: metrics and filters are sent once and known by their digests after."""

from __future__ import annotations

import hashlib
import io
import itertools
import pickle
import weakref
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

import annudf
from annudf import _arrays
from annudf._arrays import ELEMENT_OF_DTYPE
from annudf._devices import backends
from annudf._metric.captures import Value
from annudf._metric.definition import HOST
from annudf._metric.metric import Metric
from annudf._metric.metric import _from_pickle as metric_from_pickle
from annudf._metric.vectors.prepared import packed_parts
from annudf._shards.shard import Shard, check_version
from annudf._support import fork
from annudf._support.checks import with_fault
from annudf.errors import ArgumentError
from annudf.filters._bits import Filter
from annudf.filters._code import CodeFilter
from annudf.ivf_flat._merge import knn_merge_parts
from annudf.ivf_flat._radius import radius_search
from annudf.ivf_flat._refine import refine
from annudf.ivf_flat._search import search
from annudf.ivf_flat._search_params import SearchParams

MOST_KNOWN = 64
"""Metrics and filters that a process keeps for later searches."""


@dataclass(frozen=True)
class Packed:
    """A metric or filter as bytes: code for CPUs and the values of captures, so that a worker needs no source."""

    digest: str
    data: bytes = field(repr=False)


class _Packer(pickle.Pickler):
    """Pickles metrics by their code: a name may mean another function elsewhere."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, CodeFilter):
            return CodeFilter, (obj._metric,)
        if not isinstance(obj, Metric):
            return NotImplemented
        artifact = obj._definition.artifact((HOST,)).to_bytes()
        return metric_from_pickle, (
            artifact,
            obj.name,
            obj._values,
            obj._allow_non_finite,
            obj._noun,
            obj._definition.builtin_name,
            packed_parts(obj._definition, (HOST,)),
        )


_packed: weakref.WeakKeyDictionary[Metric | Filter, Packed] = weakref.WeakKeyDictionary()


def packed(one: Metric | Filter) -> Packed:
    """The bytes of a metric or filter, made once: neither changes."""
    found = _packed.get(one)
    if found is None:
        buffer = io.BytesIO()
        _Packer(buffer, protocol=5).dump(one)
        data = buffer.getvalue()
        found = _packed[one] = Packed(hashlib.sha256(data).hexdigest(), data)
    return found


def without_queries(metric: Metric) -> tuple[Metric, dict[str, Value]]:
    """The metric, and apart from it the captures that have an entry a query: those change with every search."""
    declared = metric._definition.captures
    apart = {name: one for name, one in metric._values.items() if declared[name].extents[:1] == ("query",)}
    return (_with(metric, {n: v for n, v in metric._values.items() if n not in apart}) if apart else metric), apart


def _with(metric: Metric, values: Mapping[str, Value]) -> Metric:
    return Metric(metric._definition, values, metric.__wrapped__, metric._allow_non_finite, metric._noun)


_known: OrderedDict[str, Any] = OrderedDict()
_lock = fork.lock()


@dataclass(frozen=True)
class Request:
    """A search as every shard gets it; metric and filter are digests."""

    version: str
    metric: str
    filter: str | None
    n_probes: int
    family: str | None
    on_nan: str
    k: int  # With a radius: most results of all queries.
    radius: float | None
    by_query: Mapping[str, Value]

    @property
    def digests(self) -> list[str]:
        """What the process must know."""
        return [self.metric] if self.filter is None else [self.metric, self.filter]

    def for_ranking(self) -> Request:
        """The same for :func:`rank_lists`, without what that does not read."""
        return replace(self, filter=None, by_query={})


Lists: TypeAlias = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]
"""Lists of each query, of shape (n_queries, n_probes)."""


class Code(NamedTuple):
    """The metric and filter of a request."""

    metric: Metric
    filter: Filter | None


def _made(one: Packed) -> Any:
    made = pickle.loads(one.data)
    if isinstance(made, Metric):
        made._told_of_nan = True  # The client tells, as it alone knows the shares of all shards.
    return made


def resolve(request: Request, sent: Sequence[Packed]) -> Code | None:
    """The metric and filter of a request, which are sent or known; None if one is neither.

    The caller holds the objects, so other requests may push their digests out.
    """
    with _lock:
        found = {one: _known[one] for one in request.digests if one in _known}
    found |= {one.digest: _made(one) for one in sent if one.digest not in found}
    if not all(one in found for one in request.digests):
        return None
    with _lock:
        for one in request.digests:
            found[one] = _known.setdefault(one, found[one])
            _known.move_to_end(one)
        while len(_known) > MOST_KNOWN:
            _known.popitem(last=False)
    return Code(found[request.metric], None if request.filter is None else found[request.filter])


class Part(NamedTuple):
    """The best rows of a shard, and how many of the computed distances are NaN."""

    distances: npt.NDArray[np.float32]
    ids: npt.NDArray[np.int64]
    nan_distances: int
    scored: int


class Within(NamedTuple):
    """The rows of a shard within a radius, as :func:`annudf.ivf_flat.radius_search` gives them, and the same counts."""

    lims: npt.NDArray[np.int64]
    distances: npt.NDArray[np.float32]
    ids: npt.NDArray[np.int64]
    nan_distances: int
    scored: int


def parts_of(queries: int, count: int) -> list[tuple[int, int]]:
    """First and last, exclusive, of about equal parts of so many queries."""
    edges = [queries * i // count for i in range(count + 1)]
    return list(itertools.pairwise(edges))


def rank_lists(request: Request, code: Code, queries: npt.NDArray[Any], shard: Shard) -> Lists:
    """The lists that a search of these queries probes, best first; equal in all shards, so one ranks for all."""
    check_version(request.version)
    core = shard.index._core
    rows = _arrays.view(queries, "queries")
    lists = np.empty((len(queries), request.n_probes), np.uint32)
    backends.backend(_arrays.CPU).rank_lists(
        core,
        code.metric._definition.artifact((HOST,)),
        rows.address,
        rows.shape[0],
        rows.shape[1],
        ELEMENT_OF_DTYPE[rows.dtype],
        request.n_probes,
        lists.ctypes.data,
    )
    # As few bytes as the numbers need: they are sent to all shards.
    return lists.astype(np.uint16) if shard.index.n_lists <= 1 << 16 else lists


def search_shard(
    request: Request, code: Code, queries: npt.NDArray[Any], shard: Shard, lists: Lists | None = None
) -> Part | Within:
    """Searches the shard, in those lists if they are ranked; the ids are those of the whole."""
    check_version(request.version)
    metric = _of_queries(request, code.metric)
    make: Any = SearchParams
    params = make(n_probes=request.n_probes, metric=metric, family=request.family, on_nan=request.on_nan)
    rows = len(queries)
    if lists is not None:
        ranked = np.ascontiguousarray(lists, np.uint32)
        params._lists = ranked.ctypes.data
    if request.radius is not None:
        if shard.index.size == 0:
            return Within(np.zeros(rows + 1, np.int64), np.empty(0, np.float32), np.empty(0, np.int64), 0, 0)
        lims, within, near, stats = radius_search(
            params, shard.index, queries, request.radius, request.k, filter=code.filter, return_stats=True
        )
        return Within(lims, within, near, stats.nan_distances or 0, stats.scored or 0)
    if shard.index.size == 0:
        return Part(np.empty((rows, 0), np.float32), np.empty((rows, 0), np.int64), 0, 0)
    distances, ids, stats = search(
        params, shard.index, queries, min(request.k, shard.index.size), filter=code.filter, return_stats=True
    )
    return Part(distances, ids, stats.nan_distances or 0, stats.scored or 0)


def _of_queries(request: Request, metric: Metric) -> Metric:
    """The metric with its captures that have an entry a query."""
    if not request.by_query:
        return metric
    whole = _with(metric, {**metric._values, **request.by_query})
    whole._told_of_nan = True
    return whole


def refine_shard(
    request: Request, code: Code, queries: npt.NDArray[Any], shard: Shard, candidates: npt.NDArray[np.int64]
) -> Part:
    """Ranks those of each query's candidates that the shard has, by id."""
    check_version(request.version)
    held, own = shard.sorted_ids, np.full_like(candidates, -1)
    if len(held):
        places = np.minimum(np.searchsorted(held, candidates), len(held) - 1)
        own = np.where(held[places] == candidates, candidates, -1)
    if not len(held) or not (own >= 0).any():
        return Part(np.empty((len(queries), 0), np.float32), np.empty((len(queries), 0), np.int64), 0, 0)
    on_nan: Any = request.on_nan
    k = min(request.k, own.shape[1])
    metric = _of_queries(request, code.metric)
    distances, ids, stats = refine(shard.index, queries, own, k, metric=metric, on_nan=on_nan, return_stats=True)
    return Part(distances, ids, stats.nan_distances or 0, stats.scored or 0)


def merge_parts(parts: Sequence[Part], k: int, order: Any) -> Part:
    """The `k` best rows of all parts, by distance, then by id."""
    columns = max(-(-k // len(parts)), *(one.ids.shape[1] for one in parts))
    shape = (len(parts), parts[0].ids.shape[0], columns)
    distances, ids = np.empty(shape, np.float32), np.full(shape, -1, np.int64)
    for i, one in enumerate(parts):
        distances[i, :, : one.ids.shape[1]] = one.distances
        ids[i, :, : one.ids.shape[1]] = one.ids
    best = knn_merge_parts(distances, ids, k=k, order=order) if shape[1] else (distances[0], ids[0])
    return Part(*best, sum(one.nan_distances for one in parts), sum(one.scored for one in parts))


def merge_within(parts: Sequence[Within], most: int, order: Any) -> Within:
    """The rows of all parts, by query, distance, then id. Raises ArgumentError if they are more than `most`."""
    lims: npt.NDArray[np.int64] = np.stack([one.lims for one in parts]).sum(axis=0)
    if lims[-1] > most:
        text = (
            f"max_results is {most}, and the search stopped with {lims[-1]} rows within the radius; give a smaller "
            "radius or a larger max_results"
        )
        raise with_fault(ArgumentError(text), "max_results", str(most), "at least the rows within the radius")
    queries = np.concatenate([np.repeat(np.arange(len(lims) - 1), np.diff(one.lims)) for one in parts])
    distances, ids = (np.concatenate([getattr(one, name) for one in parts]) for name in ("distances", "ids"))
    best = np.lexsort((ids, -distances if order == "max" else distances, queries))
    return Within(
        lims, distances[best], ids[best], sum(one.nan_distances for one in parts), sum(one.scored for one in parts)
    )


def request_of(
    params: SearchParams, metric: Metric, keep: Filter | None, k: int, radius: float | None = None
) -> tuple[Request, dict[str, Packed]]:
    """The request, and by digest what it names."""
    plain, by_query = without_queries(metric)
    sent = [packed(plain)] + ([] if keep is None else [packed(keep)])
    names = [one.digest for one in sent]
    request = Request(
        annudf.__version__,
        names[0],
        names[1] if keep is not None else None,
        params.n_probes,
        params.family,
        params.on_nan,
        k,
        radius,
        by_query,
    )
    return request, {one.digest: one for one in sent}
