# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Metrics of whole vectors, as scikit-learn, SciPy and hdbscan call them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from annudf import _arrays
from annudf._arrays import CPU, ELEMENT_OF_DTYPE
from annudf._devices import backends, transfer
from annudf.errors import ArgumentError, CaptureError, DeviceError, DtypeError, InputError

if TYPE_CHECKING:
    from annudf._metric.metric import Metric


@dataclass(frozen=True, slots=True)
class _OneRow:
    """What a metric asks of an index before it is bound to it."""

    element: str
    dims: int
    size: int = 1
    row_extent: int = 1


class OnVectors:
    """The part of a metric that is called."""

    name: Any
    _noun: str
    __wrapped__: Callable[..., Any] | None

    @functools.cached_property
    def _pairs(self) -> _Pairs:
        return _Pairs(cast("Metric", self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The distance of two vectors; with other arguments the result of the plain Python function."""
        if len(args) == 2 and not kwargs and self._noun == "metric":
            return self.distance(*args)
        if self.__wrapped__ is None:
            raise TypeError(f"{self._noun} '{self.name}' was not made from a Python function, so it cannot be called")
        return self.__wrapped__(*args, **kwargs)

    def distance(self, a: Any, b: Any) -> float:
        """The distance of a vector to another, on the CPU.

        Libraries that accept a function of two vectors accept this method: ``DBSCAN(metric=weighted.distance)``,
        ``cdist(X, Y, weighted.distance)``. For many distances :meth:`pairwise` is far faster.

        Parameters
        ----------
        a, b : array of shape (dim,)
            `a` is the first argument of the metric, the query; `b` is row 0. A dtype that the metric accepts is used
            unchanged; other numbers are rounded to float32. If the metric does not accept float32, the vectors become
            one of its dtypes that holds them exactly.

        Returns
        -------
        float
            The float32 that a search reports.

        Raises
        ------
        DtypeError, ArgumentError, DeviceError
            A vector cannot be used; the message names it.
        CaptureError
            A capture has no value, or has entries for other rows or queries than one.
        CompileError
            The metric breaks a rule.

        Examples
        --------
        >>> from annudf import metrics
        >>> metrics.get("minkowski", p=1).distance([0, 0], [3.0, 4.0])
        7.0
        """
        return self._pairs.distance(a, b)

    def pairwise(self, X: Any, Y: Any = None, dtype: npt.DTypeLike | None = None) -> Any:
        """The distance of every row of `X` to every row of `Y`.

        Parameters
        ----------
        X : array of shape (m, dim)
            Lists and NumPy arrays are converted as by :meth:`distance`, other arrays as by
            :func:`annudf.distance.pairwise_distance`.
        Y : array of shape (n, dim), optional
            Default: `X`.
        dtype : {None, float32, float64}, default None
            Type of the result. Distances are those of a search, rounded to float32; float64 holds the same values.

        Returns
        -------
        array of shape (m, n)

        Raises
        ------
        DtypeError, DeviceError, CaptureError, ArgumentError
            An argument cannot be used; the message names it.

        Examples
        --------
        >>> from annudf import metrics
        >>> metrics.get("l1").pairwise([[0, 0], [3, 4]], dtype=float)
        array([[0., 7.],
               [7., 0.]])
        """
        from annudf.distance import pairwise_distance  # It imports this module.

        rows = self._pairs.rows(X, "X")
        others = None if Y is None else self._pairs.rows(Y, "Y")
        return pairwise_distance(rows, others, metric=cast("Metric", self), dtype=dtype)


class _Pairs:
    """A metric bound for pairs of vectors, once for each length and pair of types."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._names = tuple(name for name in metric.elements if name != "bits")
        # Types that NumPy has by itself are asked for by identity first.
        self._kept = frozenset(np.dtype(name) for name in self._names if name != "bfloat16")
        self._calls: dict[tuple[np.dtype[Any], np.dtype[Any], int], Callable[[int, int], float]] = {}

    def distance(self, a: Any, b: Any) -> float:
        first, second = self._vector(a, "a"), self._vector(b, "b")
        dims = len(first)
        if len(second) != dims:
            raise ArgumentError(f"a has {dims} entries and b has {len(second)}; give vectors of the same length")
        key = (first.dtype, second.dtype, dims)
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = self._bound(*key)
        try:
            return call(first.__array_interface__["data"][0], second.__array_interface__["data"][0])
        except InputError as error:
            raise ArgumentError(_of_vectors(str(error))) from None

    def _bound(self, first: np.dtype[Any], second: np.dtype[Any], dims: int) -> Callable[[int, int], float]:
        metric, of_first, of_second = self._metric, ELEMENT_OF_DTYPE[first.name], ELEMENT_OF_DTYPE[second.name]
        if dims == 0:
            raise ArgumentError("a and b have no entries; give vectors")
        self._check_entries()
        try:
            artifact, captures = metric.prepare(CPU, cast(Any, _OneRow(of_second, dims)), 1)
        except CaptureError as error:
            text = str(error).replace(f"the index has {dims} dimensions", f"a and b have {dims} entries")
            raise CaptureError(text) from None
        prepared = metric._prepares(artifact)
        metric.precompile(second)  # Which warns of what is slow.

        def call(x: int, y: int) -> float:
            pair = dims, x, of_first, y, of_second
            bound = captures if prepared is None else prepared.bind_pair(artifact, pair)
            assert bound is not None  # For one query.
            return backends.backend(CPU).distance(artifact, bound, *pair)

        return call

    def _check_entries(self) -> None:
        """Refuses captures that are for other rows or queries than one."""
        metric = self._metric
        for name, declared in metric._definition.captures.items():
            value, extent = metric._values.get(name), declared.extents[0] if declared.extents else ""
            if value is None or extent not in ("row", "query") or value.shape[0] == 1:
                continue
            whose, more = ("b", ", or call pairwise_distance() with ids=") if extent == "row" else ("a", "")
            raise CaptureError(
                f"capture '{name}' ({declared}) of metric '{metric.name}' has {value.shape[0]} entries, and distance() "
                f"does not know which of them is for '{whose}'; bind that one, .bind({name}={name}[i : i + 1]){more}"
            )

    def _vector(self, vector: Any, name: str) -> npt.NDArray[Any]:
        if type(vector) is np.ndarray and vector.ndim == 1:
            if vector.dtype in self._kept and vector.flags.c_contiguous and vector.flags.aligned:
                return vector
            if vector.dtype == np.float64 and "float32" in self._names:
                return _single(vector, name)
        return self._any_vector(vector, name)

    def _any_vector(self, vector: Any, name: str) -> npt.NDArray[Any]:
        if isinstance(vector, _arrays.PackedBits):
            raise ArgumentError(f"argument '{name}' is an annudf.PackedBits, which has rows; call pairwise()")
        seen = _seen(vector, name)
        if seen.device != CPU:
            raise DeviceError(f"argument '{name}' is on {seen.device}, and one distance is computed on the CPU; call "
                              "pairwise() with many rows, or copy it to the host")  # fmt: skip
        if len(seen.shape) != 1:
            raise ArgumentError(
                f"argument '{name}' has shape {seen.shape}, it must have one dimension; for rows call pairwise()"
            )
        return self._numbers(transfer.as_numpy(_arrays.as_contiguous(seen, name)), name)

    def rows(self, matrix: Any, name: str) -> Any:
        """A matrix with its numbers converted, where NumPy can do that."""
        if isinstance(matrix, _arrays.PackedBits):
            return matrix
        seen = _seen(matrix, name)
        return self._numbers(np.asarray(seen.owner), name) if seen.library == "numpy" else matrix

    def _numbers(self, array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
        """The array in a dtype that the metric accepts."""
        if array.dtype.name in self._names:
            return np.require(array, requirements=["C", "A"])
        names, who = ", ".join(self._names), f"metric '{self._metric.name}'"
        if not self._names:
            raise DtypeError(f"argument '{name}' has dtype {array.dtype}, {who} takes bits; call pairwise() with "
                             "annudf.PackedBits")  # fmt: skip
        if "float32" in self._names:
            return _single(array, name)
        for dtype in map(_arrays.numpy_dtype, self._names):
            with np.errstate(invalid="ignore", over="ignore"):
                made = array.astype(dtype)
            if np.array_equal(made.astype(array.dtype), array, equal_nan=array.dtype.kind == "f"):
                return made
        raise DtypeError(
            f"argument '{name}' has dtype {array.dtype} and values that {who} does not accept; it accepts {names}, and "
            "none of them holds all of these values"
        )


def _seen(array: Any, name: str) -> _arrays.View:
    seen = _arrays.view(array, name)
    if not seen.dtype.startswith(("bool", "int", "uint", "float", "bfloat")):
        raise DtypeError(f"argument '{name}' has dtype {seen.dtype}; give real numbers")
    return seen


def _single(array: npt.NDArray[Any], name: str) -> npt.NDArray[np.float32]:
    """Numbers rounded to float32, or ArgumentError where one is beyond it."""
    try:
        with np.errstate(over="raise"):
            return array.astype(np.float32, order="C")
    except FloatingPointError:
        beyond = array[np.abs(array) > np.finfo(np.float32).max].flat[0]
        raise ArgumentError(
            f"argument '{name}' has {beyond}, which no float32 holds; scale the vectors to below 3.4e38"
        ) from None


def _of_vectors(message: str) -> str:
    """A message of the core, which has matrices of one row, in words of the two vectors."""
    told = re.sub(r"^(queries|base|x|y): row 0, dim (\d+) is (\S+);", _entry, message)
    return told.replace("unless index and metric say missing_values", "unless the metric says missing_values")


def _entry(found: re.Match[str]) -> str:
    name = "a" if found[1] in ("queries", "x") else "b"
    return f"argument '{name}' has {found[3]} at {found[2]};"
