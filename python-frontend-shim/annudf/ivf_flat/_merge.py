# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The k best of several partial results."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from annudf import _arrays
from annudf._arrays import View
from annudf._core import merge_parts
from annudf._devices import backends, transfer
from annudf._support.checks import check_choice
from annudf.common import Resources, check_resources
from annudf.errors import ArgumentError, DeviceError
from annudf.ivf_flat._search import check_k, result_array, run

_MAX_QUERIES = 2**31 - 1


def knn_merge_parts(
    in_distances: Any,
    in_neighbors: Any,
    distances: Any = None,
    neighbors: Any = None,
    translations: Any = None,
    resources: Resources | None = None,
    *,
    k: int | None = None,
    order: Literal["min", "max"] = "min",
) -> tuple[Any, Any]:
    """Joins the results of searches of several parts of the rows: the `k` best of all parts for each query.

    Parameters
    ----------
    in_distances : array of shape (n_parts, n_queries, n_found) or (n_parts * n_queries, n_found)
        float32, one part after the other, in any order within `n_found`. NaN means no result.
    in_neighbors : array of the same shape
        int64 ids; an id below 0 means no result.
    distances, neighbors : array of shape (n_queries, k), optional
        Arrays for the results.
    translations : sequence of n_parts int, optional
        Numbers from 0, added to the ids of each part, so that rows which each part numbers from 0 get different ids.
        Required with two dimensions, because its length is the number of parts.
    resources : Resources, optional
        The stream for device arrays.
    k : int, optional
        Default: the columns of `distances` or `neighbors`, else `n_found`.
    order : {"min", "max"}, default "min"
        Which distances are best, as :attr:`annudf.ivf_flat.Metric.order`.

    Returns
    -------
    distances, neighbors : array of shape (n_queries, k)
        The best first; equal distances by id, the lower first. If there are fewer than `k` results, the remaining ones
        have the id -1 and the worst distance (inf, or -inf for order "max"). An id of several parts appears several
        times. The arrays belong to the library of `in_distances` and are on its device, where the merge is only
        enqueued.

    Raises
    ------
    DtypeError, DeviceError, ArgumentError
        An argument cannot be used, or a translation moves an id beyond the largest int64 (not checked on a device).
    UnavailableError
        A driver or memory is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from annudf.neighbors import brute_force, knn_merge_parts
    >>> rows = np.arange(12, dtype=np.float32).reshape(6, 2)
    >>> parts = [brute_force.knn(part, rows[:1], 2) for part in (rows[:3], rows[3:])]
    >>> found = [np.stack(arrays) for arrays in zip(*parts)]
    >>> knn_merge_parts(*found, translations=[0, 3])
    (array([[0., 8.]], dtype=float32), array([[0, 1]]))
    """
    place = check_resources(resources)
    check_choice(order, "order", ("min", "max"))
    from_distances = _part(in_distances, "in_distances", "float32", place)
    from_neighbors = _part(in_neighbors, "in_neighbors", "int64", place)
    if from_neighbors.shape != from_distances.shape:
        raise ArgumentError(
            f"argument 'in_neighbors' has shape {from_neighbors.shape}, 'in_distances' {from_distances.shape}; "
            "give an id for each distance"
        )
    if from_neighbors.device != from_distances.device:
        raise DeviceError(
            f"argument 'in_neighbors' is on {from_neighbors.device}, 'in_distances' on {from_distances.device}; "
            "give both on one device"
        )
    added = _translations(translations, place)
    parts, queries, found = _shape(from_distances.shape, added)
    if k is None:
        given = distances if distances is not None else neighbors
        columns: tuple[int, ...] = getattr(given, "shape", ())
        k = columns[1] if len(columns) == 2 else found
    k = check_k(k)
    device = place.place(from_distances.device, "argument 'in_distances'")
    on_host = from_distances.device.kind == "cpu"
    stream = 0 if on_host else transfer.working_stream(from_distances, place)
    shape = (queries, k)
    distances, to_distances = result_array(distances, "distances", from_distances, shape, "float32", stream)
    neighbors, to_neighbors = result_array(neighbors, "neighbors", from_distances, shape, "int64", stream)
    views = (from_distances, from_neighbors, to_distances, to_neighbors)
    _refuse_shared(dict(zip(("in_distances", "in_neighbors", "distances", "neighbors"), views, strict=True)))
    if queries == 0:
        return distances, neighbors
    arguments = (
        from_distances.address,
        from_neighbors.address,
        to_distances.address,
        to_neighbors.address,
        parts,
        queries,
        found,
        added,
        order == "max",
        k,
    )
    run(
        lambda there: (
            merge_parts(*arguments, backends.get_num_threads())
            if there is None
            else backends.backend(device).merge_parts(*arguments, there)
        ),
        views,
        device,
        stream,
        place,
        "in_neighbors",
    )
    return distances, neighbors


def _part(array: Any, name: str, dtype: str, place: Resources) -> View:
    seen = _arrays.view(array, name, place.stream)
    _arrays.check_dtype(seen, name, (dtype,))
    if len(seen.shape) not in (2, 3) or seen.shape[-1] == 0:
        raise ArgumentError(
            f"argument '{name}' has shape {seen.shape}, it must be (n_parts, n_queries, n_found) or "
            "(n_parts * n_queries, n_found)"
        )
    return _arrays.as_contiguous(seen, name)


def _translations(given: Any, place: Resources) -> list[int]:
    if given is None:
        return []
    seen = _arrays.view(given, "translations", place.stream)
    if len(seen.shape) != 1 or seen.size == 0:
        raise ArgumentError(f"argument 'translations' has shape {seen.shape}, it must be (n_parts,)")
    _arrays.check_dtype(seen, "translations", ("int64", "int32", "uint32"))
    host: npt.NDArray[Any] = transfer.as_numpy(
        transfer.to_host(_arrays.as_contiguous(seen, "translations"), "translations", place)
    )
    if bool((host < 0).any()):
        at = int(np.flatnonzero(host < 0)[0])
        raise ArgumentError(f"argument 'translations' has {int(host[at])} at {at}; give numbers that are 0 or above")
    return [int(one) for one in host]


def _shape(shape: tuple[int, ...], added: list[int]) -> tuple[int, int, int]:
    """Parts, queries, and results of a part for a query."""
    if len(shape) == 2:
        if not added:
            raise ArgumentError(
                f"argument 'in_distances' has shape {shape} and translations is None, so the number of parts is not "
                "known; give translations, or arrays of shape (n_parts, n_queries, n_found)"
            )
        if shape[0] % len(added):
            raise ArgumentError(
                f"argument 'in_distances' has {shape[0]} rows, no multiple of the {len(added)} parts of translations"
            )
        shape = (len(added), shape[0] // len(added), shape[1])
    parts, queries, found = shape
    if parts == 0:
        raise ArgumentError(f"argument 'in_distances' has shape {shape}: no parts")
    if added and len(added) != parts:
        raise ArgumentError(
            f"argument 'translations' has {len(added)} numbers and 'in_distances' {parts} parts; give one a part"
        )
    if queries > _MAX_QUERIES or parts * found >= 2**32:
        raise ArgumentError(
            f"argument 'in_distances' has shape {shape}; at most {_MAX_QUERIES} queries and {2**32 - 1} results of "
            "a query are merged"
        )
    return parts, queries, found


def _refuse_shared(arrays: dict[str, View]) -> None:
    for name in ("distances", "neighbors"):
        for other, view in arrays.items():
            if other != name and _arrays.overlaps(arrays[name], view):
                raise ArgumentError(f"arguments '{name}' and '{other}' share memory; give another array")
