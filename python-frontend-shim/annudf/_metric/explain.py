# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""How a metric comes to the distance of one query and one row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from annudf import _arrays
from annudf._arrays import ELEMENT_OF_DTYPE, View
from annudf._devices import transfer
from annudf._metric.captures import name_of
from annudf._metric.unbound import refuse_unbound
from annudf._support.checks import check_int, check_number
from annudf._support.options import CaptureWord
from annudf.errors import ArgumentError, CaptureError

if TYPE_CHECKING:
    from annudf._metric.metric import Metric

_MOST_ID = 2**63 - 1
_MOST_NUMBER = 2**31 - 1

_MOST_ENTRIES = 2**24
"""Largest id of a row whose number a metric computes with, which needs an array of so many entries."""

_MOST_LINES = 40
"""Most dimensions in a table. A longer vector shows its ends, and the dimensions around the first NaN."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """The accumulator of a query and a row after each dimension, from :meth:`Metric.explain`. It prints as a table.

    Attributes
    ----------
    metric : str
        Symbol of the metric.
    query, row : numpy.ndarray of shape (dim,)
        Coordinates, as given.
    accumulator : mapping of str to numpy.ndarray of shape (dim + 1,)
        Its fields by name, ``"acc"`` where it has one; entry 0 is after ``init``, entry ``d + 1`` after dimension d.
    distance : float
        The result of finalize.
    first_nan : int or str or None
        The first dimension that turns a field NaN, or ``"init"`` or ``"finalize"``; None if nothing is NaN.
    """

    metric: str
    query: npt.NDArray[Any]
    row: npt.NDArray[Any]
    accumulator: Mapping[str, npt.NDArray[Any]]
    distance: float
    first_nan: int | Literal["init", "finalize"] | None

    def __repr__(self) -> str:
        dims = len(self.query)
        first = -1 if self.first_nan == "init" else self.first_nan
        marked = first + 1 if isinstance(first, int) else -1
        lines = [["dim", "x", "y", *self.accumulator]]
        last = -1
        for step in _shown(dims + 1, marked):
            if step != last + 1:
                lines.append(["..."])
            last = step
            values = [f"{field[step]:.7g}" for field in self.accumulator.values()]
            pair = [f"{float(one[step - 1]):.7g}" for one in (self.query, self.row)] if step else ["", ""]
            lines.append([str(step - 1) if step else "init", *pair, *values])
            if step == marked:
                lines[-1].append("<- NaN")
        widths = [max(len(line[i]) for line in lines if len(line) > i) for i in range(len(lines[0]))]
        table = "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, [*widths, 0], strict=False)) for line in lines
        )
        end = "  <- NaN" if self.first_nan == "finalize" else ""
        return f"metric '{self.metric}'\n{table}\ndistance {self.distance:.7g}{end}"


def _shown(steps: int, marked: int) -> list[int]:
    if steps <= _MOST_LINES:
        return list(range(steps))
    near = range(max(marked - 5, 0), min(marked + 6, steps)) if marked >= 0 else range(0)
    return sorted({*range(12), *near, *range(steps - 6, steps)})


class Explained:
    """The part of a metric that explains."""

    def explain(
        self,
        query: Any,
        row: Any,
        *,
        query_number: float | None = None,
        row_id: float | None = None,
        list_number: float = 0,
        columns: Mapping[str, Any] | None = None,
    ) -> Explanation:
        """Shows the accumulator after each dimension, and the distance.

        It runs the metric's own code, as a search on a CPU does, one dimension at a time.

        Parameters
        ----------
        query, row : array of shape (dim,)
            Their element types are types that the metric accepts; a list is taken as float32. Coordinates may be NaN.
        query_number, row_id : int, optional
            ``ctx.query`` and ``ctx.row``. A metric with captures per query or per row needs them; otherwise the default
            is 0.
        list_number : int, default 0
            ``ctx.list``.
        columns : mapping of str to number, optional
            The row's values of the columns that the metric reads.

        Returns
        -------
        Explanation
            Prints as a table; ``first_nan`` is the first dimension that turns the accumulator NaN.

        Raises
        ------
        DtypeError, CaptureError, ArgumentError
            An argument cannot be used; the message names it.
        CompileError
            The metric breaks a rule.
        UnavailableError, InputError
            The metric has no code for CPUs, such as a metric in CUDA source.

        Examples
        --------
        >>> import annudf
        >>> @annudf.metric
        ... def chi2(x, y, acc, ctx):
        ...     return acc + (x - y) ** 2 / (x + y)
        >>> chi2.explain([1, 0, 2], [3, 0, 2])
        metric 'chi2'
         dim  x  y  acc
        init          0
           0  1  3    1
           1  0  0  nan  <- NaN
           2  2  2  nan
        distance nan
        """
        number = None if row_id is None else check_int(row_id, "row_id", 0, _MOST_ID)
        metric: Metric = self  # type: ignore[assignment]
        if columns or metric._columns:
            metric, number = _with_columns(metric, columns or {}, number)
        return explain(
            metric,
            query,
            row,
            None if query_number is None else check_int(query_number, "query_number", 0, _MOST_NUMBER),
            number,
            check_int(list_number, "list_number", 0, _MOST_NUMBER),
        )


def _with_columns(metric: Metric, columns: Mapping[str, Any], row_id: int | None) -> tuple[Metric, int]:
    """The metric with arrays that have the row's values of its columns, and the number of the row in them."""
    from annudf._metric.rows import for_rows

    for name in columns:
        if name not in metric._columns:
            known = ", ".join(f"'{one}'" for one in metric._columns) or "none"
            raise CaptureError(f"metric '{metric.name}' reads no column '{name}'; its columns are {known}")
    for name in metric._columns:
        if name not in columns:
            refuse_unbound(metric, name, f", or the row's value by columns={{'{name}': ...}}")
    row = _number(row_id, "row_id", "row", metric._lengths()[0], metric)
    narrowed = for_rows(metric, np.array([row]))
    if narrowed is None and row > _MOST_ENTRIES:
        raise ArgumentError(
            f"row_id is {row}, it must be at most {_MOST_ENTRIES} for a metric that computes with ctx.row"
        )
    before = row if narrowed is None else 0
    arrays = {name: _entry(name, value, metric._columns[name].element, before) for name, value in columns.items()}
    return (narrowed or metric).bind(**arrays), before


def _entry(name: str, value: Any, element: CaptureWord, before: int) -> npt.NDArray[Any]:
    """An array of a column's type that ends with the value."""
    dtype = _arrays.numpy_dtype(name_of(element))
    number = (
        value
        if dtype == np.bool_ and isinstance(value, (bool, np.bool_))
        else check_number(value, f"columns['{name}']")
    )
    if dtype.kind in "iu":
        number = check_int(value, f"columns['{name}']", np.iinfo(dtype).min, np.iinfo(dtype).max)
    array = np.zeros(before + 1, dtype)
    array[before] = number
    return array


def _number(value: int | None, name: str, axis: str, entries: int, metric: Metric) -> int:
    """The number of the query or the row; 0 where no capture has entries for each."""
    if value is None and entries >= 0:
        raise ArgumentError(
            f"{name} is missing: metric '{metric.name}' has a capture with an entry for each {axis}; give the number "
            f"of the {axis}, {name}=0"
        )
    if value is not None and 0 <= entries <= value:
        raise ArgumentError(f"{name} is {value}, the captures of metric '{metric.name}' have {entries} entries")
    return value or 0


def explain(
    metric: Metric, query: Any, row: Any, query_number: int | None, row_id: int | None, list_number: int
) -> Explanation:
    """As :meth:`Explained.explain`, of whole numbers."""
    from annudf import _core

    y = _vector(row, "row", metric.elements)
    dims = y.shape[1]
    x = _vector(query, "query", metric.query_dtypes(y.dtype), dims)
    element = ELEMENT_OF_DTYPE[y.dtype]
    pair = dims, x.address, ELEMENT_OF_DTYPE[x.dtype], y.address, element
    artifact, captures = metric.for_pair(pair, query_number or 0, row_id or 0)
    if captures is None:
        raise CaptureError(f"captures of metric '{metric.name}' are bound to no queries; bind one entry at least")
    of_query = _number(query_number, "query_number", "query", metric._queries, metric)
    of_row = _number(row_id, "row_id", "row", metric._rows, metric)
    told = _core.explain(
        artifact, captures, x.address, ELEMENT_OF_DTYPE[x.dtype], y.address, element, dims, of_query, of_row,
        list_number,
    )  # fmt: skip
    names = _names(metric, told.fields)
    first: int | Literal["init", "finalize"] | None = told.first_nan
    if told.first_nan < 0:
        first = "init"
    elif told.first_nan == dims:
        first = "finalize" if np.isnan(told.distance) else None
    return Explanation(
        metric.name,
        _coordinates(x),
        _coordinates(y),
        {name: np.array(told.field(i)) for i, name in enumerate(names)},
        told.distance,
        first,
    )


def _vector(array: Any, name: str, accepted: tuple[str, ...], dims: int | None = None) -> View:
    """A vector as a matrix of one row in host memory."""
    if isinstance(array, _arrays.PackedBits):
        seen = array
        if len(array.array.shape) == 1:
            seen = _arrays.PackedBits(array.array.reshape(1, -1))
        found = _arrays.input_matrix(seen, name, accepted=accepted, dims=dims)
    else:
        if isinstance(array, (list, tuple)):
            array = np.asarray(array, np.float32)
        shape = getattr(array, "shape", ())
        if len(shape) == 1:
            array = array.reshape(1, -1)
        found = _arrays.input_matrix(array, name, accepted=accepted, dims=dims)
    if found.shape[0] != 1:
        raise ArgumentError(f"argument '{name}' has shape {found.shape}, it must be one vector, of shape (dim,)")
    return transfer.to_host(found, name, _resources())


def _resources() -> Any:
    from annudf.common import Resources

    return Resources()


def _coordinates(array: View) -> npt.NDArray[Any]:
    if array.dtype == "bits":
        packed = np.frombuffer(transfer.as_numpy(array).tobytes(), np.uint8)
        return np.unpackbits(packed, bitorder="little")[: array.shape[1]]
    values = transfer.as_numpy(array)
    if array.dtype == "bfloat16" and values.dtype == np.uint16:
        return (values.astype(np.uint32) << 16).view(np.float32).reshape(-1)
    return values.reshape(-1).copy()


def _names(metric: Metric, count: int) -> tuple[str, ...]:
    """The names of the fields, as the user wrote them."""
    options = getattr(metric._definition, "options", None)
    names = tuple(getattr(options, "names", ())) or tuple(getattr(getattr(options, "fields", None), "_fields", ()))
    if len(names) == count:
        return names
    return ("acc",) if count == 1 else tuple(f"acc[{i}]" for i in range(count))
