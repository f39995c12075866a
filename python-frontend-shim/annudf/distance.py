# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Distances of all pairs of rows, with a built-in metric or one of your own.

The name and its arguments are those of ``cuvs.distance``; the shape is that of ``scipy.spatial.distance.cdist``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from annudf._metric.builtin import DEFAULT_ARGUMENT, check_metric, chosen_metric
from annudf._metric.metric import Metric, MetricSource
from annudf._metric.rows import for_rows
from annudf._support.checks import dtype_name, refusal, renamed
from annudf._support.options import MetricName
from annudf.brute_force import ids_of, one_list
from annudf.common import Resources, check_resources
from annudf.errors import ArgumentError
from annudf.ivf_flat._exact import every_distance
from annudf.ivf_flat._ids import check_distinct
from annudf.ivf_flat._index import in_terms_of

__all__ = ["pairwise_distance"]


def pairwise_distance(
    X: Any,
    Y: Any = None,
    out: Any = None,
    metric: Metric | MetricSource | MetricName = "euclidean",
    p: float = DEFAULT_ARGUMENT,
    resources: Resources | None = None,
    dtype: npt.DTypeLike | None = None,
    *,
    ids: Any = None,
) -> Any:
    """The distance of every row of `X` to every row of `Y`; "euclidean" by default, with the root.

    The default of :func:`annudf.brute_force.knn` is "sqeuclidean", as in cuVS.

    Parameters
    ----------
    X : array of shape (m, dim)
        float32, float16, bfloat16, int8, uint8 or :class:`annudf.PackedBits`. Its rows are the first argument of the
        metric. Device arrays stay on their device, as the queries of :func:`annudf.ivf_flat.search`.
    Y : array of shape (n, dim), optional
        An array of the same dtype, or of another that the metric accepts. It is copied, and its rows are the second
        argument. Default: `X`.
    out : array of shape (m, n), optional
        The distances are written here, and the array is returned. float32, C-contiguous, writable, on the device of
        `X`.
    metric : Metric or str, default "euclidean"
        A function decorated with :func:`annudf.metric`, or the name of a built-in metric.
    p : float, default 2.0
        The exponent of "minkowski". With another metric any other value is refused.
    resources : Resources, optional
        Stream, or device for host arrays.
    dtype : {None, float32, float64}, default None
        Type of the result; not with `out`. Distances are rounded to float32, and float64 holds the same values.
    ids : array of shape (n,), optional
        Different int64 ids from 0: the value of ``ctx.row`` for each row of `Y`. Default: the row's number; an array
        that ``ctx.row`` indexes must then have exactly n entries.

    Returns
    -------
    array of shape (m, n)
        An array of the library of `X`, float32 unless `dtype` says otherwise; NaN where the metric yields NaN.

    Raises
    ------
    DtypeError, DeviceError, CaptureError, ArgumentError
        An argument cannot be used; the message names it.

    Notes
    -----
    With `ids`, a metric that computes with ``ctx.row`` runs as a search for all rows, which takes longer. So does a
    loaded or unpickled metric without a capture that ``ctx.row`` indexes. Other metrics take no longer than without
    `ids`.

    Examples
    --------
    >>> import numpy as np
    >>> from annudf.distance import pairwise_distance
    >>> pairwise_distance(np.array([[0, 0], [3, 4]], np.float32), np.array([[0, 0]], np.float32))
    array([[0.],
           [5.]], dtype=float32)
    """
    chosen = check_metric(metric, p, "p")
    wide = _is_wide(dtype, out)
    place = check_resources(resources)
    ranking = chosen_metric(*chosen)
    name = "X" if Y is None else "Y"
    rows = X if Y is None else Y
    with _named(name):
        columns = ids_of(rows, ids, place)
        if columns is not None:
            check_distinct(columns, "ids")
        if columns is not None and (as_numbered := for_rows(ranking, columns)) is not None:
            ranking, columns = as_numbered, None
        index = one_list(rows, ranking, resources, False, columns)
    with in_terms_of(name):
        distances = every_distance(index, ranking, X, "X", out, place, columns)
    return _widened(distances, place) if wide else distances


@contextlib.contextmanager
def _named(name: str) -> Iterator[None]:
    """Errors of an array that is called `name` here, and "dataset" where it is read."""
    try:
        yield
    except ArgumentError as error:
        if error.argument is not None:
            raise renamed(error, {"dataset": name}, type(error)) from None
        raise type(error)(str(error).replace("argument 'dataset'", f"argument '{name}'", 1)) from None


def _is_wide(dtype: npt.DTypeLike | None, out: object) -> bool:
    """Whether the result is to be float64."""
    name = "float32" if dtype is None else dtype_name(dtype, "dtype")
    if name not in ("float32", "float64"):
        raise refusal("dtype", dtype, "None, float32 or float64")
    if name == "float64" and out is not None:
        raise ArgumentError("dtype is float64 and out is given, which is float32; leave one of them out")
    return name == "float64"


def _widened(distances: Any, place: Resources) -> Any:
    if place.stream is not None:
        place.sync()  # The library converts on a stream of its own.
    if hasattr(distances, "astype"):
        return distances.astype(np.float64)
    if hasattr(distances, "double"):  # A tensor of PyTorch.
        return distances.double()
    raise ArgumentError(
        "dtype is float64, which the library of X does not convert to; leave it out, or give X as an array of NumPy, "
        "CuPy or PyTorch"
    )
