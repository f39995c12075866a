# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
""":func:`filter`: rows that a search may find, chosen by a function of the user's own.

A filter is compiled, verified and bound as a metric is, to an ``annudf.filter``. If it sees the query, a search
computes it for the candidates of each query. Another filter is computed by a scan of the whole index; its bits are
kept for that state of the index, and a search takes them as it takes those of a Prefilter.
"""

from __future__ import annotations

import functools
import os
import re
import types
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy.typing as npt

from annudf._arrays import Device
from annudf._core import MAX_FILTER_IDS
from annudf._devices import backends
from annudf._frontend import ahead
from annudf._frontend.source.signature import check_early
from annudf._metric.arguments import check_arguments, check_device_backend, check_symbol
from annudf._metric.definition import FunctionDefinition
from annudf._metric.kernels import HookFunctions
from annudf._metric.metric import Metric
from annudf._metric.names import name_in_module
from annudf._metric.rows import entries_by_row
from annudf._support import fork
from annudf._support.log import logger
from annudf._support.options import DeviceBackend, MetricOptions
from annudf._support.repr import of_whole
from annudf.errors import ArgumentError
from annudf.filters._bits import Entries, Filter, steps_of

if TYPE_CHECKING:
    from annudf._core import Artifact
    from annudf._core import Filter as CoreFilter
    from annudf._core import Index as CoreIndex

_KEPT = 4
"""States of indices whose bits a filter remembers."""


class CodeFilter(Filter):
    """A filter that is a function, with values bound to its captures.

    :func:`filter` and :func:`load_filter` make it.

    It never changes: :meth:`bind` returns another filter that shares the compiled code. ``a & b``, ``a | b`` and ``~a``
    join filters. Many threads may use it at once, and it can be pickled like a metric.

    Calling it calls the function in plain Python, with any object as `ctx`.
    """

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._lock = fork.lock()
        self._found: OrderedDict[tuple[int, Device, int], CoreFilter] = OrderedDict()
        self.__wrapped__ = metric.__wrapped__
        if self.__wrapped__ is not None:
            functools.update_wrapper(self, self.__wrapped__, updated=())

    @property
    def name(self) -> str:
        """Symbol of the filter."""
        return self._metric.name

    @property
    def captures(self) -> dict[str, npt.NDArray[Any]]:
        """The bound values, as read-only arrays."""
        return self._metric.captures

    def __call__(self, ctx: Any) -> Any:
        """Calls the plain Python function that the filter was made from."""
        if self.__wrapped__ is None:
            raise TypeError(f"filter '{self.name}' was not made from a Python function here, so it cannot be called")
        return self.__wrapped__(ctx)

    def bind(self, /, **captures: Any) -> CodeFilter:
        """The same filter with other values. Nothing is compiled; its bits are computed again.

        Parameters
        ----------
        **captures : number or array
            As :meth:`Metric.bind` takes them.

        Returns
        -------
        CodeFilter

        Raises
        ------
        CaptureError
            There is no such capture, or the value does not fit it.
        """
        return CodeFilter(self._metric.bind(**captures))

    def mlir(self) -> str:
        """The filter in the ``annudf`` dialect, as the verifier accepted it: an ``annudf.filter``.

        Raises
        ------
        CompileError
            The filter breaks a rule.
        """
        return self._metric.mlir()

    def device_functions(self) -> HookFunctions:
        """``keep`` as a function that a kernel of numba-cuda-mlir calls, see :meth:`Metric.device_functions`."""
        return self._metric.device_functions()

    def artifact(self, archs: Iterable[str | int] | str | int | None = None) -> Artifact:
        """The compiled artifact, as :meth:`Metric.artifact` gives it; the command line and C++ load it, too."""
        return self._metric.artifact(archs)

    def save(self, path: str | os.PathLike[str], archs: Iterable[str | int] | str | int | None = None) -> None:
        """Writes the artifact to a file ``.annudf``, for :func:`load_filter`; values of captures are not part of it.

        Parameters
        ----------
        path : path
        archs : str, int or iterable of them, optional
            As in :meth:`Metric.artifact`.
        """
        self._metric.save(path, archs)

    @property
    def _own_bits(self) -> None:
        return None

    def _entries(self) -> Iterator[Entries]:
        for name, text, length in entries_by_row(self._metric):
            yield Entries(name, text, length, length)

    def _passing(self, index: CoreIndex, device: Device, bits: int, queries: int) -> CoreFilter:
        artifact_and_captures = self._metric.prepare(device, index, queries)
        # Nothing is reused from another state of the index: extend() may have moved rows to other lists.
        key = (index.generation, device, bits)
        with self._lock:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
                return found
        # Other searches with the filter need not wait for this one's scan, and what logs may search with it itself. So
        # two threads may compute the same bits; those that come first are kept.
        computed = self._compute(index, device, bits, *artifact_and_captures)
        with self._lock:
            found = self._found.setdefault(key, computed)
            self._found.move_to_end(key)
            while len(self._found) > _KEPT:
                self._found.popitem(last=False)
        if not artifact_and_captures[0].sees_query:
            logger.debug("filter %s keeps %d of %d rows", self.name, found.count, index.size)
        return found

    def _compute(self, index: CoreIndex, device: Device, bits: int, artifact: Any, captures: Any) -> CoreFilter:
        if bits > MAX_FILTER_IDS and not artifact.sees_query:
            raise ArgumentError(
                f"filter '{self.name}': the largest id of the index is {index.row_extent - 1}, and a filter with code "
                f"has a bit for every id up to it, at most {MAX_FILTER_IDS}; give the rows smaller ids"
            )
        return backends.backend(device).filter(index, artifact, captures, bits)

    @of_whole("__wrapped__")
    def __repr__(self) -> str:
        return repr(self._metric)

    def __copy__(self) -> CodeFilter:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> CodeFilter:
        return self

    def __reduce__(self) -> str | tuple[Any, ...]:
        return name_in_module(self, self.__wrapped__) or (CodeFilter, (self._metric,))


def holds_code(given: Filter | None) -> bool:
    """Whether the filter is code, or joined from some."""
    return given is not None and any(isinstance(step, CodeFilter) for step in steps_of(given))


@overload
def filter(function: Callable[[Any], Any], /) -> CodeFilter: ...


@overload
def filter(
    function: None = None,
    /,
    *,
    captures: Mapping[str, Any] | None = None,
    symbol_name: str | None = None,
    allow_non_finite: bool = False,
    device_backend: DeviceBackend = "libnvvm",
) -> Callable[[Callable[[Any], Any]], CodeFilter]: ...


def filter(
    function: Any = None,
    /,
    *,
    captures: Mapping[str, Any] | None = None,
    symbol_name: str | None = None,
    allow_non_finite: bool = False,
    device_backend: DeviceBackend = "libnvvm",
) -> CodeFilter | Callable[[Callable[[Any], Any]], CodeFilter]:
    """Makes a filter of a function ``f(ctx)`` that says whether a search may find a row.

    ``ctx.row`` is the id of the row, ``ctx.query`` the number of the query, ``ctx.list`` the number of the row's
    list, ``ctx.dims`` the number of dimensions, and captures are read as in a metric: ``ctx.price[ctx.row]`` reads an
    array with one entry per id, ``ctx.mine[ctx.query]`` one with an entry per query. The function is compiled and
    verified like a metric, for CPU and GPU. If it reads ``ctx.query``, each search computes it for each query and row
    of the probed lists. Otherwise its bits are computed once for an index and the values of its captures, and a search
    then costs as much as with a Prefilter.

    Parameters
    ----------
    function : function, optional
        Passed if the decorator has no parentheses. It returns True or False.
    captures : mapping of str to number or array, optional
        As in :func:`metric`, with the same extents, dtypes and copies.
    symbol_name : str, optional
        Name of the filter in messages; default: the function's.
    allow_non_finite : bool, default False
        Whether captures may be infinite or NaN.
    device_backend : {"libnvvm", "nvptx"}, default "libnvvm"
        As in :func:`metric`.

    Returns
    -------
    CodeFilter
        Or a decorator that gives one.

    Raises
    ------
    ArgumentError
        An argument has none of the values above.
    CaptureError
        A capture cannot be used.
    UnsupportedError
        The function uses syntax that a filter cannot; the message has its file, line and column.
    CompileError
        At the first use: the function breaks a rule.

    Examples
    --------
    >>> import numpy as np
    >>> import annudf
    >>> from annudf import ivf_flat
    >>> data = np.arange(12, dtype=np.float32).reshape(6, 2)
    >>> price = np.array([9.0, 25.0, 14.0, 30.0, 18.0, 50.0], np.float32)
    >>> @annudf.filter(captures={"price": price, "most": 20.0})
    ... def affordable(ctx):
    ...     return ctx.price[ctx.row] <= ctx.most
    >>> index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), data)
    >>> params = ivf_flat.SearchParams(n_probes=1)
    >>> ivf_flat.search(params, index, data[5:], 2, filter=affordable)[1]
    array([[4, 2]])
    >>> ivf_flat.search(params, index, data[5:], 2, filter=affordable.bind(most=10.0))[1]
    array([[ 0, -1]])
    >>> @annudf.filter(captures={"price": price, "budget": np.array([10.0, 20.0], np.float32)})
    ... def within(ctx):
    ...     return ctx.price[ctx.row] <= ctx.budget[ctx.query]
    >>> ivf_flat.search(params, index, data[4:], 2, filter=within)[1]
    array([[ 0, -1],
           [ 4,  2]])
    """
    backend = check_device_backend(device_backend)

    def decorate(target: Any) -> CodeFilter:
        if not isinstance(target, types.FunctionType):
            raise ArgumentError(f"annudf.filter decorates a Python function f(ctx), not a {type(target).__name__}")
        given = check_arguments(
            order="min",
            initial=0.0,
            coarse_metric="sqeuclidean",
            coarse_order=None,
            captures=captures,
            compute="f32",
            accumulator=None,
            elements=None,
            allow_non_finite=allow_non_finite,
        )
        symbol = check_symbol(symbol_name) if symbol_name is not None else _symbol(target.__name__)
        check_early(target)
        declared = given.captures(target, unread="row")
        options = MetricOptions(
            symbol, given.order, 0.0, given.coarse, captures=declared, elements=given.elements, is_filter=True
        )
        definition = FunctionDefinition(target, options, backend)
        ahead.begin(definition.is_compiled)
        return CodeFilter(Metric(definition, given.values, target, given.allow_non_finite, "filter"))

    return decorate if function is None else decorate(function)


def _symbol(name: str) -> str:
    text = re.sub(r"[^0-9A-Za-z_]+", "_", name).strip("_") or "filter"
    return f"f{text}" if text[0].isdigit() else text
