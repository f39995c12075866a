# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The decorator :func:`metric`."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy.typing as npt

from annudf._frontend import ahead
from annudf._frontend.source.functions import unary_function
from annudf._frontend.source.signature import check_hooks, warn_of_unread_accumulator
from annudf._metric.arguments import (
    Arguments,
    check_arguments,
    check_device_backend,
    check_symbol,
    check_word,
)
from annudf._metric.classes import has_fields, read_class
from annudf._metric.definition import FunctionDefinition
from annudf._metric.metric import Metric
from annudf._metric.vectors.pairwise import as_pairwise, refuse_arguments, refuse_hooks
from annudf._support.checks import check_bool
from annudf._support.log import logger
from annudf._support.options import DeviceBackend, IndexMetric, MetricOptions, Numerics, Order, Word
from annudf.errors import ArgumentError


@overload
def metric(function: Callable[..., Any], /, **arguments: Any) -> Metric: ...


@overload
def metric(
    function: None = None,
    /,
    *,
    order: Order = "min",
    initial: float | tuple[float, ...] = 0.0,
    coarse_metric: IndexMetric = "sqeuclidean",
    captures: Mapping[str, Any] | None = None,
    symbol_name: str | None = None,
    forceinline: bool = True,
    finalize: Callable[..., Any] | None = None,
    numerics: Numerics = "strict",
    combine: Callable[..., Any] | None = None,
    dtype: npt.DTypeLike = "float32",
    accumulator: npt.DTypeLike | tuple[npt.DTypeLike, ...] | None = None,
    elements: Iterable[npt.DTypeLike] | None = None,
    coarse_order: Order | None = None,
    allow_non_finite: bool = False,
    missing_values: bool = False,
    device_backend: DeviceBackend = "libnvvm",
) -> Callable[[Any], Metric]: ...


def metric(
    function: Any = None,
    /,
    *,
    order: Order = "min",
    initial: float | tuple[float, ...] = 0.0,
    coarse_metric: IndexMetric = "sqeuclidean",
    captures: Mapping[str, Any] | None = None,
    symbol_name: str | None = None,
    forceinline: bool = True,
    finalize: Callable[..., Any] | None = None,
    numerics: Numerics = "strict",
    combine: Callable[..., Any] | None = None,
    dtype: npt.DTypeLike = "float32",
    accumulator: npt.DTypeLike | tuple[npt.DTypeLike, ...] | None = None,
    elements: Iterable[npt.DTypeLike] | None = None,
    coarse_order: Order | None = None,
    allow_non_finite: bool = False,
    missing_values: bool = False,
    device_backend: DeviceBackend = "libnvvm",
    **arguments: Any,
) -> Metric | Callable[[Any], Metric]:
    """Makes a metric of a function ``f(x, y, acc, ctx)`` that gives the next accumulator, or ``f(a, b)`` of vectors.

    The function is called once a dimension, in ascending order, for every query and stored vector:
    `x` is the coordinate of the query, `y` that of the stored vector, `acc` what the call before gave.
    ``ctx.dim`` is the number of the dimension, ``ctx.dims`` how many there are, ``ctx.row`` the id of the
    stored vector, ``ctx.query`` the number of the query in its search, ``ctx.list`` that of the list;
    ``ctx.weights[ctx.dim]`` is an entry of the capture `weights`, ``ctx.p`` the scalar capture `p`.

    A function ``f(a, b)`` or ``f(a, b, ctx)`` takes two whole vectors and returns their distance, as in pynndescent and
    UMAP. The compiler turns its loop over the coordinates into such a function of one coordinate. It has no `initial`,
    `finalize`, `combine` and `accumulator`.

    Parameters
    ----------
    function : function or class, optional
        Passed if the decorator has no parentheses. A class may hold the functions ``update(x, y, acc, ctx)`` and
        ``finalize(acc, ctx)``, without ``self``. Or it has 1 to 6 typed fields (``total: np.float32 = 0``), which are
        the accumulator, and methods: ``update(self, x, y, ctx)`` changes the fields, ``finalize(self, ctx)`` returns
        the distance, and the optional ``init(self, ctx)`` computes the start values of fields. If Numba compiled
        the function, its Python function is taken.
    order : {"min", "max"}, default "min"
        Whether the smallest or the largest distances are best.
    initial : float or int, or a tuple of 2 to 6, default 0.0
        The accumulator before the first dimension. It may be ``math.inf`` or ``-math.inf``, but not NaN. A tuple or a
        NamedTuple makes an accumulator of several fields: `acc` is such a tuple, the function returns one, and
        `finalize` computes the distance from it.
    coarse_metric : {"sqeuclidean", "euclidean", "inner_product", "cosine"}, default "sqeuclidean"
        Ranks the lists of the index before the scan. Choose the one that is closest to the metric, because rows are
        found only in the probed lists.
    captures : mapping of str to number or array, optional
        Values that the function reads. A number becomes a scalar. An array has at most three axes, and the index of an
        axis decides its length: ``ctx.w[ctx.dim]`` has one entry per dimension of the vectors, ``ctx.age[ctx.row]`` one
        per id, ``ctx.w[ctx.query, ctx.dim]`` one per query and dimension. An axis with another index (``ctx.table[i]``)
        keeps the length of the array; :func:`capture` states other lengths. An array keeps its dtype. The function
        reads integers of 8 and 16 bits as int32, float16 and bfloat16 as float32, and other types unchanged. A Python
        int becomes int32, a float float32. Arrays on the host are copied **now**, so later changes have no effect, see
        :meth:`Metric.bind`. Arrays on a device are used there: do not change them. A formula with a float64 capture is
        computed in float64, several times slower; NumPy arrays are float64 by default.
    symbol_name : str, optional
        Name of the metric in artifacts; default: the function's.
    forceinline : bool, default True
        Accepted for code that was written for cuVS. Hooks are always inlined, so False is refused.
    finalize : function, optional
        ``finalize(acc, ctx)`` returns the distance that is ranked and reported. ``math.sqrt`` and other functions of
        one number work, too. Default: the accumulator.
    numerics : {"strict", "reassociate"}, default "strict"
        "reassociate" lets a search compute parts of the dimensions side by side and join them by `combine`. A GPU then
        answers few queries of long vectors faster. The last digits of distances may differ between small and large
        batches, and between GPU and CPU.
    combine : function, optional
        ``combine(acc, other)`` or ``combine(acc, other, ctx)`` joins the accumulators of two parts of the dimensions,
        each of which began with `initial`. It needs "reassociate". Default: the compiler infers it for sums, products,
        minima and maxima, and warns if it cannot.
    dtype : dtype, default float32
        Type of `x` and `y` in the function: float32, float64, int32 or uint32. Vectors are converted to it
        exactly.
    accumulator : dtype, or a tuple of them, optional
        Type of `acc`, or of its fields: float32, float64, int32, uint32 or int64. Default: the NumPy type of a field's
        initial value, or of its annotation in a NamedTuple; else `dtype`.
    elements : iterable of dtype, optional
        Types of vectors that the metric accepts: float32, float16, bfloat16, int8, uint8 and "bits"
        (:class:`annudf.PackedBits`, with coordinates 0 and 1). Default: all, or int8, uint8 and "bits" if `dtype` is an
        integer type.
    coarse_order : {"min", "max"}, optional
        Which end of the coarse metric is probed. Default: "min" for distances, "max" for "inner_product". ``"max"``
        with "sqeuclidean" probes the farthest lists.
    allow_non_finite : bool, default False
        Whether captures may be infinite or NaN.
    missing_values : bool, default False
        Whether the function handles missing coordinates, which are NaN (``math.isnan(x)``). Only such a metric may
        search an index that was built with ``missing_values=True``.
    device_backend : {"libnvvm", "nvptx"}, default "libnvvm"
        What makes code for GPUs. "nvptx" is LLVM, which needs no CUDA toolkit; a GPU calls its code, which is slower
        than the inlined code of libNVVM.
    **arguments : number or array
        Values of further arguments of ``f(a, b)``: ``metric(minkowski, p=3)``. Others have their defaults. Numbers are
        compiled in, arrays become captures.

    Returns
    -------
    Metric
        Or a decorator that gives one.

    Raises
    ------
    ArgumentError
        An argument has none of the values above.
    CaptureError
        A capture cannot be used.
    UnsupportedError
        The function takes other arguments, or uses syntax, functions of NumPy or attributes of ``ctx`` that a metric
        cannot use; the message has file, line and column.
    CompileError
        At the first use: the function breaks a rule.

    Warns
    -----
    UserWarning
        The function, or `finalize`, never reads `acc`, so only the last dimension, or none, counts. Name the argument
        ``_acc`` to silence the warning.

    Notes
    -----
    Globals and helpers are read when the metric is first compiled.

    Examples
    --------
    >>> import numpy as np
    >>> import annudf
    >>> @annudf.metric(captures={"weights": np.ones(8, np.float32)})
    ... def weighted_l2(x, y, acc, ctx):
    ...     d = x - y
    ...     return acc + ctx.weights[ctx.dim] * d * d
    >>> weighted_l2
    <annudf metric weighted_l2 (weights: dim x f32)>
    """
    refuse_arguments(function, arguments)
    if not check_bool(forceinline, "forceinline"):
        raise ArgumentError("forceinline is False, but hooks are always inlined; leave it out")
    compute, backend = check_word(dtype, "dtype"), check_device_backend(device_backend)
    given = check_arguments(
        order=order,
        initial=initial,
        coarse_metric=coarse_metric,
        coarse_order=coarse_order,
        captures=captures,
        compute=compute,
        accumulator=accumulator,
        elements=elements,
        allow_non_finite=allow_non_finite,
        numerics=numerics,
        missing_values=missing_values,
    )

    def decorate(target: Any) -> Metric:
        pairwise = as_pairwise(target, arguments)
        if pairwise is not None:
            refuse_hooks(initial=initial, finalize=finalize, combine=combine, accumulator=accumulator)
            target, hooks = pairwise.given, _Hooks(pairwise.function, None)
            said = pairwise.with_arrays(given)
        elif isinstance(target, type) and has_fields(target):
            hooks, said = _of_fields(target, finalize, given, compute)
        else:
            hooks, said = _hooks(target, finalize), given
        update, final = hooks.update, hooks.finalize
        joined = _combine(combine, hooks.combine, said.numerics)
        if isinstance(said.accumulator, tuple) and final is None:
            raise ArgumentError(
                f"class {target.__name__} has {len(hooks.names)} fields; write def finalize(self, ctx), which returns "
                "the distance"
                if hooks.names
                else f"the accumulator has {len(said.accumulator)} fields; give finalize, which returns the distance, "
                "such as finalize=lambda acc, ctx: acc[0] / acc[1]"
            )
        options = MetricOptions(
            name=_symbol(symbol_name, update if isinstance(target, types.FunctionType) else target),
            order=said.order,
            initial=said.initial,
            coarse=said.coarse,
            coarse_order=said.coarse_order,
            captures=said.captures(update, final, hooks.init, joined),
            compute=compute,
            accumulator=said.accumulator,
            elements=said.elements,
            finalize=final,
            numerics=said.numerics,
            combine=joined,
            fields=said.fields,
            names=hooks.names,
            init=hooks.init,
            missing_values=said.missing_values,
            is_pairwise=pairwise is not None,
            dims=None if pairwise is None else pairwise.dims,
        )
        check_hooks(update, options)
        if pairwise is None:
            warn_of_unread_accumulator(options.name, update, final)
        _tell_wide_captures(update, options)
        definition = FunctionDefinition(update, options, backend)
        ahead.begin(definition.is_compiled)
        result = Metric(definition, said.values, pairwise.given if pairwise else update, said.allow_non_finite)
        if isinstance(target, type):
            result.__name__, result.__qualname__, result.__doc__ = target.__name__, target.__qualname__, target.__doc__
        return result

    return decorate if function is None else decorate(function)


@dataclass(frozen=True, slots=True)
class _Hooks:
    """The functions of a metric."""

    update: types.FunctionType
    finalize: types.FunctionType | None
    init: types.FunctionType | None = None
    names: tuple[str, ...] = ()
    """The names of the fields, if a class has them."""
    combine: Callable[..., Any] | None = None


def _of_fields(
    target: type, finalize: Callable[..., Any] | None, given: Arguments, compute: Word
) -> tuple[_Hooks, Arguments]:
    """The functions of a class with fields, and the arguments with what the fields say."""
    found = read_class(target, compute)
    for said, name in ((given.initial != 0.0, "initial"), (given.accumulator != compute, "accumulator")):
        if said:
            raise ArgumentError(f"class {target.__name__} has fields, which replace {name}=; leave that out")
    if finalize is not None and found.finalize is not None:
        raise ArgumentError(f"class {target.__name__} has a finalize and finalize= is given; drop one")
    hooks = _Hooks(found.update, found.finalize or _finalize(finalize), found.init, found.names)
    return hooks, replace(given, accumulator=found.accumulator, initial=found.initial, fields=None)


def _hooks(target: Any, finalize: Callable[..., Any] | None) -> _Hooks:
    if isinstance(target, type):
        members = {
            name: member.__func__ if isinstance(member, staticmethod) else member
            for name, member in vars(target).items()
        }
        functions = {name: member for name, member in members.items() if isinstance(member, types.FunctionType)}
        for name, member in members.items():
            if not (name.startswith("__") and name.endswith("__")) and name not in functions:
                _refuse_attribute(target.__name__, name, member)
        if "update" not in functions:
            raise ArgumentError(f"class {target.__name__} has no function update(x, y, acc, ctx); write one")
        unknown = sorted(set(functions) - {"update", "finalize", "combine"})
        if unknown:
            raise ArgumentError(
                f"class {target.__name__} has a function '{unknown[0]}'; a metric has update, finalize and combine "
                "only, so make it a helper outside the class"
            )
        if finalize is not None and "finalize" in functions:
            raise ArgumentError(f"class {target.__name__} has a finalize and finalize= is given; drop one")
        update = functions["update"]
        finalize = functions.get("finalize", finalize)
        combine = functions.get("combine")
    else:
        update, combine = target, None
    if not isinstance(update, types.FunctionType):
        raise ArgumentError(
            f"annudf.metric decorates a Python function f(x, y, acc, ctx), not a {type(update).__name__}"
        )
    return _Hooks(update, _finalize(finalize), combine=combine)


def _finalize(finalize: Callable[..., Any] | None) -> types.FunctionType | None:
    if finalize is not None and (name := unary_function(finalize)):
        finalize = _calling(finalize, name)
    if finalize is not None and not isinstance(finalize, types.FunctionType):
        raise ArgumentError(f"finalize is a {type(finalize).__name__}, it must be a Python function of (acc, ctx)")
    return finalize


def _combine(
    given: Callable[..., Any] | None, own: Callable[..., Any] | None, numerics: Numerics
) -> types.FunctionType | None:
    """What joins two parts: the argument of the decorator, or the class's own."""
    if given is not None and own is not None:
        raise ArgumentError("the class has a combine and combine= is given; drop one")
    combine = given if own is None else own
    if combine is None:
        return None
    if not isinstance(combine, types.FunctionType):
        raise ArgumentError(f"combine is a {type(combine).__name__}, it must be a Python function of (acc, other)")
    if numerics == "strict":
        raise ArgumentError(
            "combine is given, but numerics is 'strict', which adds the dimensions in order; write "
            "numerics='reassociate', or drop combine"
        )
    return combine


def _calling(known: Callable[..., Any], name: str) -> types.FunctionType:
    """``finalize=math.sqrt`` as a function of Python, which all that follows takes."""

    def finalize(acc: Any) -> Any:
        return known(acc)

    finalize.__name__ = finalize.__qualname__ = name
    assert isinstance(finalize, types.FunctionType)
    return finalize


def _refuse_attribute(class_name: str, name: str, value: object) -> None:
    what = f"class {class_name} has an attribute '{name}', which the metric does not read; "
    if name in ("update", "finalize"):
        raise ArgumentError(
            f"class {class_name} has a {name} that is a {type(value).__name__}, it must be a Python function"
        )
    if name in inspect.signature(metric).parameters:
        raise ArgumentError(f"{what}give it to the decorator: annudf.metric({name}=...)")
    raise ArgumentError(f"{what}make it a capture, or a global outside the class")


_told_wide: set[tuple[str, str, str]] = set()


def _tell_wide_captures(function: types.FunctionType, options: MetricOptions) -> None:
    # Arrays of NumPy are float64 unless one says otherwise, so this is seldom meant.
    if options.compute != "f32" or set(options.words) != {"f32"}:
        return
    for name, declared in options.captures.items():
        key = (function.__module__, function.__qualname__, name)
        if declared.element == "f64" and key not in _told_wide:
            _told_wide.add(key)
            logger.warning(
                "metric %s: capture '%s' is float64, so the metric computes in float64, which is several times slower; "
                "convert it by %s unless that is meant",
                options.name,
                name,
                "numpy.float32(...)" if declared.scalar else ".astype(numpy.float32)",
            )


def _symbol(symbol_name: str | None, named: Any) -> str:
    if symbol_name is not None:
        return check_symbol(symbol_name)
    text = re.sub(r"[^0-9A-Za-z_]+", "_", named.__name__).strip("_") or "metric"
    return f"m{text}" if text[0].isdigit() else text
