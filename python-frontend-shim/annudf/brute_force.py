# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Exact search of all rows, with a built-in metric or one of your own.

Names, arguments and defaults are those of ``cuvs.neighbors.brute_force``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from annudf import _arrays, ivf_flat
from annudf._devices import transfer
from annudf._metric.builtin import DEFAULT_ARGUMENT, check_metric, chosen_metric
from annudf._metric.metric import Metric, MetricSource
from annudf._metric.nan import OnNaN
from annudf._support.checks import check_bool, class_of
from annudf._support.options import MetricName
from annudf._support.repr import of_whole
from annudf.common import Resources, check_resources
from annudf.errors import ArgumentError
from annudf.ivf_flat._ids import given_ids
from annudf.ivf_flat._index import in_terms_of
from annudf.ivf_flat._itself import and_itself, without_self
from annudf.ivf_flat._rows import Ids
from annudf.ivf_flat._stats import with_missing
from annudf.ivf_flat._store import store_rows

__all__ = ["Index", "build", "knn", "load", "radius_search", "save", "search"]


class Index:
    """Rows to search exactly: on the device of a device array, else in host memory.

    A GPU gets its copy of rows in host memory at the first search there.

    Made by :func:`build` and :func:`load`.
    """

    def __init__(self, index: ivf_flat.Index, metric: Metric | str, metric_arg: float = DEFAULT_ARGUMENT) -> None:
        self._index = index
        self._metric = metric
        self._metric_arg = metric_arg

    @property
    def trained(self) -> bool:
        """Always True."""
        return True

    @property
    def dim(self) -> int:
        """Dimensions of the vectors."""
        return self._index.dim

    @property
    def size(self) -> int:
        """Number of vectors."""
        return self._index.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type of the vectors: float32, float16, int8, uint8, or bfloat16 of ml_dtypes; uint8 for bits."""
        return self._index.dtype

    @property
    def columns(self) -> dict[str, np.dtype[Any]]:
        """Dtypes of the columns by name, as of :class:`annudf.ivf_flat.Index`."""
        return self._index.columns

    @property
    def metric(self) -> Metric | str:
        """The metric of :func:`search`, as given."""
        return self._metric

    @property
    def metric_arg(self) -> float:
        """The exponent of "minkowski"."""
        return self._metric_arg

    def __len__(self) -> int:
        return self._index.size

    @of_whole("_metric_arg")
    def __repr__(self) -> str:
        argument = "" if self._metric_arg == DEFAULT_ARGUMENT else f", metric_arg={self._metric_arg!r}"
        return (
            f"Index(type=BruteForce, size={self.size}, dim={self.dim}, dtype={self._index.dtype_name}, "
            f"metric={self._metric!r}{argument})"
        )


def _check_index(index: object) -> None:
    if not isinstance(index, Index):
        raise ArgumentError(f"index is {class_of(index)}, it must be a brute_force.Index, made by build() or load()")


def ids_of(dataset: Any, ids: Any, place: Resources) -> npt.NDArray[np.int64] | None:
    """The given ids of the rows, one each; None for None. Whether they differ the core says, if it gets them."""
    if ids is None:
        return None
    array = dataset.array if isinstance(dataset, _arrays.PackedBits) else dataset
    shape = _arrays.view(array, "dataset", place.stream).shape
    if len(shape) != 2:
        return np.empty(0, np.int64)  # Building says what is wrong with the data set.
    return transfer.as_numpy(given_ids(ids, "ids", place, (shape[0],), f"({shape[0]},), one id a row"))


def one_list(
    dataset: Any,
    metric: Metric,
    resources: Resources | None,
    progress: bool | None,
    ids: npt.NDArray[np.int64] | None = None,
    in_place: bool = False,
    columns: Mapping[str, Any] | None = None,
) -> ivf_flat.Index:
    """The rows in an index that has nothing to choose from; they may have missing values if the metric says so.

    `ids` are those of :func:`ids_of`; `in_place` is for one search, as of :func:`store_rows`.
    """
    return store_rows(dataset, metric.missing_values, ids, resources, progress, in_place, columns)


def build(
    dataset: Any,
    metric: Metric | MetricSource | MetricName = "sqeuclidean",
    metric_arg: float = DEFAULT_ARGUMENT,
    resources: Resources | None = None,
    *,
    ids: Any = None,
    columns: Mapping[str, Any] | None = None,
    progress: bool | None = None,
) -> Index:
    """Stores rows for exact searches; "sqeuclidean" by default.

    Parameters
    ----------
    dataset : array of shape (n_rows, dim)
        As for :func:`annudf.ivf_flat.build`. It is copied, a device array on its device.
    metric : Metric or str, default "sqeuclidean"
        Ranks the rows: a function decorated with :func:`annudf.metric`, or the name of a built-in metric, as for
        :class:`annudf.ivf_flat.SearchParams`.
    metric_arg : float, default 2.0
        The exponent of "minkowski". With another metric any other value is refused.
    ids : array of shape (n_rows,), optional
        Different int64 ids from 0, one per row. ``ctx.row`` is the id, filters are indexed by it, and a search returns
        it. Default: the numbers of the rows; filters, and arrays that ``ctx.row`` indexes, must then have exactly one
        entry per row.
    columns
        As for :func:`annudf.ivf_flat.build`.
    resources, progress
        As for :func:`annudf.ivf_flat.build`.

    Returns
    -------
    Index

    Raises
    ------
    DtypeError, DeviceError, ArgumentError
        An argument cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> from annudf.neighbors import brute_force
    >>> dataset = np.eye(4, dtype=np.float32)
    >>> index = brute_force.build(dataset, metric="l1")
    >>> brute_force.search(index, dataset[2:3], 2)
    (array([[0., 2.]], dtype=float32), array([[2, 0]]))
    """
    chosen = check_metric(metric, metric_arg)
    numbers = ids_of(dataset, ids, check_resources(resources))
    return Index(one_list(dataset, chosen_metric(*chosen), resources, progress, numbers, columns=columns), *chosen)


def search(
    index: Index,
    queries: Any,
    k: float,
    neighbors: Any = None,
    distances: Any = None,
    resources: Resources | None = None,
    prefilter: Any = None,
    *,
    group_by: Any = None,
    on_nan: OnNaN = "warn",
    return_stats: bool = False,
) -> tuple[Any, ...]:
    """Finds the `k` best of all rows for each query.

    Parameters
    ----------
    index : Index
    queries, k, neighbors, distances, resources
        As for :func:`annudf.ivf_flat.search`.
    prefilter
        As `filter` there.
    group_by
        As there.
    on_nan : {"warn", "raise", "skip"}, default "warn"
        As for :class:`annudf.ivf_flat.SearchParams`.
    return_stats : bool, default False
        As there.

    Returns
    -------
    distances, neighbors : array of shape (n_queries, k)
        As of :func:`annudf.ivf_flat.search`.
    stats : annudf.ivf_flat.SearchStats
        Only with ``return_stats=True``.

    Raises
    ------
    DtypeError, DeviceError, CaptureError, ArgumentError
        An argument cannot be used; the message names it.
    CompileError, UnavailableError, KeyboardInterrupt
        As :func:`annudf.ivf_flat.search`.
    """
    _check_index(index)
    params = ivf_flat.SearchParams(n_probes=1, metric=index._metric, metric_arg=index._metric_arg, on_nan=on_nan)
    places = (neighbors, distances, resources, prefilter)
    return ivf_flat.search(params, index._index, queries, k, *places, group_by=group_by, return_stats=return_stats)


def knn(
    dataset: Any,
    queries: Any,
    k: float | None = None,
    indices: Any = None,
    distances: Any = None,
    metric: Metric | MetricSource | MetricName = "sqeuclidean",
    metric_arg: float = DEFAULT_ARGUMENT,
    resources: Resources | None = None,
    prefilter: Any = None,
    *,
    ids: Any = None,
    columns: Mapping[str, Any] | None = None,
    exclude_self: bool = False,
    group_by: Any = None,
    on_nan: OnNaN = "warn",
    return_stats: bool = False,
) -> tuple[Any, ...]:
    """Finds the exact `k` best rows of a data set for each query; "sqeuclidean" by default, without the root.

    The default of :func:`annudf.distance.pairwise_distance` is "euclidean", as in cuVS.

    Parameters
    ----------
    dataset : array of shape (n_rows, dim)
        The CPU copies a piece at a time, or all rows if there are `columns`; a device all rows. Use :func:`build` and
        :func:`search` to search the same rows again.
    queries : array of shape (n_queries, dim)
        An array of the same dtype, or of another that the metric accepts.
    k : int, optional
        Default: the columns of `indices` or `distances`.
    indices, distances : array of shape (n_queries, k), optional
        Where the ids (int64) and distances (float32) are written.
    metric, metric_arg, resources
        As for :func:`build`.
    prefilter
        As for :func:`search`.
    ids : array of shape (n_rows,), optional
        As for :func:`build`.
    columns
        As for :func:`build`.
    exclude_self : bool, default False
        Whether query i must not find row i, for `queries` that are the data set itself. Not with `indices` or
        `distances`, nor with `group_by`.
    group_by
        As for :func:`annudf.ivf_flat.search`.
    on_nan
        As for :func:`search`.
    return_stats : bool, default False
        As for :func:`search`.

    Returns
    -------
    distances, indices : array of shape (n_queries, k)
        As of :func:`annudf.ivf_flat.search`: the best first.
    stats : annudf.ivf_flat.SearchStats
        Only with ``return_stats=True``.

    Raises
    ------
    DtypeError, DeviceError, CaptureError, ArgumentError
        An argument cannot be used, or neither `k` nor an array gives the number of neighbours.
    CompileError, UnavailableError, KeyboardInterrupt
        As :func:`annudf.ivf_flat.search`.

    Examples
    --------
    >>> import numpy as np
    >>> from annudf.neighbors import brute_force
    >>> brute_force.knn(np.eye(4, dtype=np.float32), np.eye(4, dtype=np.float32)[:1], 2)
    (array([[0., 2.]], dtype=float32), array([[0, 1]]))
    """
    if k is None:
        given = indices if indices is not None else distances
        shape: tuple[int, ...] = getattr(given, "shape", ())
        if len(shape) != 2:
            raise ArgumentError("k is None; give it, or indices or distances of shape (n_queries, k)")
        k = shape[1]
    chosen = check_metric(metric, metric_arg)
    numbers = ids_of(dataset, ids, check_resources(resources))
    rows = one_list(dataset, chosen_metric(*chosen), resources, False, numbers, in_place=True, columns=columns)
    if check_bool(exclude_self, "exclude_self"):
        if indices is not None or distances is not None:
            raise ArgumentError("exclude_self is True and indices or distances are given; leave them out, and give k")
        if group_by is not None:
            raise ArgumentError("exclude_self is True and group_by is given; give one of them")
        k = and_itself(k, rows.size, queries)
    with in_terms_of("dataset"):
        places = (indices, distances, resources, prefilter)
        options = {"group_by": group_by, "on_nan": on_nan}
        found = search(Index(rows, *chosen), queries, k, *places, return_stats=return_stats, **options)
    if not exclude_self:
        return found
    kept = without_self(found[0], found[1], numbers)
    return (*kept, *(with_missing(stats, kept[1]) for stats in found[2:]))


def radius_search(
    dataset: Any,
    queries: Any,
    radius: float,
    metric: Metric | MetricSource | MetricName | None = None,
    metric_arg: float = DEFAULT_ARGUMENT,
    max_results: int | None = None,
    resources: Resources | None = None,
    prefilter: Any = None,
    *,
    ids: Any = None,
    columns: Mapping[str, Any] | None = None,
    on_nan: OnNaN = "warn",
    return_stats: bool = False,
) -> tuple[Any, ...]:
    """Finds all rows of a data set or an index within a radius of each query.

    Parameters
    ----------
    dataset : array of shape (n_rows, dim), or Index
        An array is stored for this search, as for :func:`knn`.
    queries : array of shape (n_queries, dim)
        As for :func:`knn`.
    radius, max_results
        As for :func:`annudf.ivf_flat.radius_search`.
    metric : Metric or str, optional
        As for :func:`build`. Default: "sqeuclidean", or that of the index, which takes no other.
    metric_arg, ids, columns
        As for :func:`knn`; not with an index.
    resources, prefilter, on_nan, return_stats
        As for :func:`search`.

    Returns
    -------
    lims : array of shape (n_queries + 1,)
        int64, as of :func:`annudf.ivf_flat.radius_search`.
    distances : array of shape (lims[-1],)
        float32, the best of each query first.
    ids : array of shape (lims[-1],)
        int64.
    stats : annudf.ivf_flat.SearchStats
        Only with ``return_stats=True``.

    Raises
    ------
    ArgumentError
        An argument cannot be used, or more than `max_results` rows are within the radius.
    DtypeError, DeviceError, CaptureError, CompileError, UnavailableError, KeyboardInterrupt
        As :func:`annudf.ivf_flat.search`.

    Examples
    --------
    >>> import numpy as np
    >>> from annudf.neighbors import brute_force
    >>> brute_force.radius_search(np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32)[:1], 2)
    (array([0, 3]), array([0., 2., 2.], dtype=float32), array([0, 1, 2]))
    """
    if isinstance(dataset, Index):
        if metric is not None or metric_arg != DEFAULT_ARGUMENT or ids is not None or columns is not None:
            raise ArgumentError(
                "metric, metric_arg, ids or columns is given, and the dataset is an Index, which has its own; leave "
                "them out, or give an array"
            )
        index = dataset
    else:
        chosen = check_metric("sqeuclidean" if metric is None else metric, metric_arg)
        numbers = ids_of(dataset, ids, check_resources(resources))
        rows = one_list(dataset, chosen_metric(*chosen), resources, False, numbers, in_place=True, columns=columns)
        index = Index(rows, *chosen)
    params = ivf_flat.SearchParams(n_probes=1, metric=index._metric, metric_arg=index._metric_arg, on_nan=on_nan)
    with in_terms_of("dataset"):
        return ivf_flat.radius_search(
            params, index._index, queries, radius, max_results, resources, prefilter, return_stats=return_stats
        )


def save(
    filename: str | os.PathLike[str],
    index: Index,
    include_dataset: bool = True,
    resources: Resources | None = None,
) -> None:
    """Writes an index to a file. The file holds the vectors but not the metric, which :func:`load` takes.

    Parameters
    ----------
    filename, include_dataset, resources
        As for :func:`annudf.ivf_flat.save`.
    index : Index

    Raises
    ------
    ArgumentError
        An argument cannot be used.
    UnavailableError, KeyboardInterrupt
        As :func:`annudf.ivf_flat.save`.
    """
    _check_index(index)
    ivf_flat.save(filename, index._index, include_dataset, resources)


def load(
    filename: str | os.PathLike[str],
    metric: Metric | MetricSource | MetricName | None = None,
    metric_arg: float | None = None,
    resources: Resources | None = None,
) -> Index:
    """Reads an index from a file and checks it.

    Parameters
    ----------
    filename : path
        As for :func:`annudf.ivf_flat.load`.
    metric : Metric or str
        As for :func:`build`; required, because the file does not hold it.
    metric_arg : float
        The exponent of "minkowski", which the file does not hold; only for that metric.
    resources : Resources, optional
        As for :func:`annudf.ivf_flat.load`.

    Returns
    -------
    Index

    Raises
    ------
    InputError
        The file is missing, damaged, or not an index.
    ArgumentError
        An argument cannot be used, `metric` is missing, or the index has several lists, as an ``ivf_flat`` index.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from annudf.neighbors import brute_force
    >>> path = os.path.join(tempfile.mkdtemp(), "index")
    >>> brute_force.save(path, brute_force.build(np.eye(4, dtype=np.float32), metric="canberra"))
    >>> brute_force.load(path, "canberra")
    Index(type=BruteForce, size=4, dim=4, dtype=float32, metric='canberra')
    """
    if metric is None or isinstance(metric, Resources):
        raise ArgumentError(
            "metric is missing: a file holds the vectors and not the metric; give the one that the index was built "
            "with, load(filename, metric)"
        )
    if metric_arg is None and isinstance(metric, str) and metric in ("minkowski", "lp"):
        raise ArgumentError(
            f"metric_arg is missing: a file does not hold the exponent of '{metric}'; give the one that the index was "
            "built with"
        )
    chosen = check_metric(metric, DEFAULT_ARGUMENT if metric_arg is None else metric_arg)
    index = ivf_flat.load(filename, resources)
    # A file does not say whether ids 0 to n - 1 were given; a longer array is told of then, and not refused.
    index._ids = Ids.POSITIONS if index._core.row_extent == index.size else Ids.GIVEN
    if index.n_lists != 1:
        raise ArgumentError(f"the index has {index.n_lists} lists, one of brute_force has 1; load it with ivf_flat")
    return Index(index, *chosen)
