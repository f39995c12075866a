# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The decorator :func:`metric`, and :func:`cuda_source_metric`."""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast, overload

import numpy as np
import numpy.typing as npt

from annudf._options import ALL_ELEMENTS, Coarse, ElementName, MetricOptions, Order, Word
from annudf.errors import ArgumentError, DtypeError
from annudf.ivf_flat import _captures
from annudf.ivf_flat._cuda_source import CudaSourceDefinition
from annudf.ivf_flat._definition import FunctionDefinition
from annudf.ivf_flat._metric import Metric, is_number

_COARSE: dict[str, Coarse] = {
    "sqeuclidean": "l2",
    "euclidean": "l2",
    "l2": "l2",
    "inner_product": "inner_product",
}
_WORDS: dict[str, Word] = {"float32": "f32", "float64": "f64", "int32": "i32", "uint32": "u32"}
_VECTORS: dict[str, ElementName] = {"float32": "f32", "float16": "f16", "int8": "i8", "uint8": "u8"}


@overload
def metric(function: Callable[..., Any], /) -> Metric: ...


@overload
def metric(
    function: None = None,
    /,
    *,
    order: str = "min",
    initial: float = 0.0,
    coarse_metric: str = "sqeuclidean",
    captures: Mapping[str, Any] | None = None,
    symbol_name: str | None = None,
    forceinline: bool = True,
    finalize: Callable[..., Any] | None = None,
    dtype: npt.DTypeLike = "float32",
    accumulator: npt.DTypeLike | None = None,
    elements: Iterable[npt.DTypeLike] | None = None,
    coarse_order: str | None = None,
    allow_non_finite: bool = False,
) -> Callable[[Any], Metric]: ...


def metric(
    function: Any = None,
    /,
    *,
    order: str = "min",
    initial: float = 0.0,
    coarse_metric: str = "sqeuclidean",
    captures: Mapping[str, Any] | None = None,
    symbol_name: str | None = None,
    forceinline: bool = True,
    finalize: Callable[..., Any] | None = None,
    dtype: npt.DTypeLike = "float32",
    accumulator: npt.DTypeLike | None = None,
    elements: Iterable[npt.DTypeLike] | None = None,
    coarse_order: str | None = None,
    allow_non_finite: bool = False,
) -> Metric | Callable[[Any], Metric]:
    """Makes a metric of a function ``f(x, y, acc, ctx)`` that gives the next accumulator.

    The function is called once a dimension, in ascending order, for every query and stored vector:
    `x` is the coordinate of the query, `y` that of the stored vector, `acc` what the call before gave.
    ``ctx.dim`` is the number of the dimension, ``ctx.dims`` how many there are, ``ctx.weights[ctx.dim]``
    an entry of the capture `weights`, ``ctx.p`` the scalar capture `p`.

    Parameters
    ----------
    function : function or class, optional
        Given when the decorator stands without parentheses. A class has a function ``update(x, y, acc, ctx)``
        and may have ``finalize(acc, ctx)``; neither takes ``self``.
    order : {"min", "max"}, default "min"
        Whether the smallest or the largest distances are best.
    initial : float or int, default 0.0
        The accumulator before the first dimension; ``math.inf`` and ``-math.inf`` too.
    coarse_metric : {"sqeuclidean", "euclidean", "inner_product"}, default "sqeuclidean"
        What ranks the lists of the index before those that are probed are scanned. Choose what is
        closest to the metric: the nearest rows are found only in lists that are probed.
    captures : mapping of str to number or array, optional
        Values that the function reads. A number becomes a scalar, an array of one dimension has one entry a
        dimension of the vectors. float32, float64, int32 and uint32 stay as they are; bool, int8, int16, uint8, uint16
        become int32 and float16 float32; int64 and uint64 become int32 and uint32 if every value fits; a Python int
        becomes int32, a float float32. Arrays of CuPy and PyTorch are copied to the host. **The copy is
        taken now**: later changes to an array do not matter, see :meth:`Metric.bind`.
    symbol_name : str, optional
        Name of the metric in artifacts; default: the function's.
    forceinline : bool, default True
        Taken for code that was written for cuVS; hooks are always inlined, so False is refused.
    finalize : function, optional
        ``finalize(acc, ctx)`` gives the distance that is ranked and reported. Default: the accumulator.
    dtype : dtype, default float32
        Type of `x` and `y` in the function: float32, float64, int32 or uint32. Vectors are converted to it
        exactly.
    accumulator : dtype, optional
        Type of `acc`: float32, float64, int32 or uint32. Default: `dtype`.
    elements : iterable of dtype, optional
        Types of vectors that the metric accepts, of float32, float16, int8, uint8. Default: all,
        or int8 and uint8 if `dtype` is an integer.
    coarse_order : {"min", "max"}, optional
        Which end of the coarse metric is probed; default: its own ("min" for distances, "max" for
        "inner_product"). ``"max"`` with "sqeuclidean" probes the farthest lists.
    allow_non_finite : bool, default False
        Whether captures may be infinite or NaN.

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
    CompileError
        At the first use: the function breaks a rule; the message has its file and line.

    Notes
    -----
    The function, and the globals that it reads, are looked at when the metric is first compiled.

    Examples
    --------
    >>> import numpy as np
    >>> from annudf import ivf_flat
    >>> @ivf_flat.metric(captures={"weights": np.ones(8, np.float32)})
    ... def weighted_l2(x, y, acc, ctx):
    ...     d = x - y
    ...     return acc + ctx.weights[ctx.dim] * d * d
    >>> weighted_l2
    <annudf metric weighted_l2 (weights: dim x f32)>
    """
    if not forceinline:
        raise ArgumentError("forceinline is False, but hooks are always inlined; leave it out")
    check_order(order, "order")
    if coarse_order is not None:
        check_order(coarse_order, "coarse_order")
    compute = _word(dtype, "dtype")
    accumulated = compute if accumulator is None else _word(accumulator, "accumulator")
    start = check_initial(initial, accumulated)
    values = {
        _captures.check_name(name): _captures.make_value(name, value, None, allow_non_finite)
        for name, value in (captures or {}).items()
    }
    accepted = check_elements(elements, compute)

    def decorate(target: Any) -> Metric:
        update, final = _hooks(target, finalize)
        options = MetricOptions(
            name=_symbol(symbol_name, update if isinstance(target, types.FunctionType) else target),
            order=cast(Order, order),
            initial=start,
            coarse=check_coarse(coarse_metric),
            coarse_order=cast("Order | None", coarse_order),
            captures={name: value.type for name, value in values.items()},
            compute=compute,
            accumulator=accumulated,
            elements=accepted,
            finalize=final,
        )
        definition = FunctionDefinition(update, options)
        return Metric(definition, values, update, allow_non_finite)

    return decorate if function is None else decorate(function)


def _hooks(target: Any, finalize: Callable[..., Any] | None) -> tuple[types.FunctionType, Callable[..., Any] | None]:
    if isinstance(target, type):
        members = {
            name: member.__func__ if isinstance(member, staticmethod) else member
            for name, member in vars(target).items()
        }
        functions = {name: member for name, member in members.items() if isinstance(member, types.FunctionType)}
        if "update" not in functions:
            raise ArgumentError(f"class {target.__name__} has no function update(x, y, acc, ctx); write one")
        unknown = sorted(set(functions) - {"update", "finalize"})
        if unknown:
            raise ArgumentError(
                f"class {target.__name__} has a function '{unknown[0]}'; a metric has update and finalize only, "
                "so make it a helper outside the class"
            )
        if finalize is not None and "finalize" in functions:
            raise ArgumentError(f"class {target.__name__} has a finalize and finalize= is given; drop one")
        update = functions["update"]
        finalize = functions.get("finalize", finalize)
    else:
        update = target
    if not isinstance(update, types.FunctionType):
        raise ArgumentError(
            f"ivf_flat.metric decorates a Python function f(x, y, acc, ctx), not a {type(update).__name__}"
        )
    if finalize is not None and not isinstance(finalize, types.FunctionType):
        raise ArgumentError(f"finalize is a {type(finalize).__name__}, it must be a Python function of (acc, ctx)")
    return update, finalize


def _symbol(symbol_name: str | None, named: Any) -> str:
    if symbol_name is not None:
        return check_symbol(symbol_name)
    text = re.sub(r"[^0-9A-Za-z_]+", "_", named.__name__).strip("_") or "metric"
    return f"m{text}" if text[0].isdigit() else text


def check_symbol(name: object) -> str:
    """Raises ArgumentError unless device compilers take the name."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ArgumentError(f"symbol_name is {name!r}; use letters, digits and _, not beginning with a digit")
    return name


def check_order(order: object, what: str) -> None:
    """Raises ArgumentError unless it is "min" or "max"."""
    if order not in ("min", "max"):
        raise ArgumentError(f"{what} is {order!r}, it must be 'min' or 'max'")


def check_coarse(coarse_metric: str) -> Coarse:
    """The ABI's name of a coarse metric of cuVS."""
    if coarse_metric not in _COARSE:
        raise ArgumentError(
            f"coarse_metric is {coarse_metric!r}, it must be 'sqeuclidean', 'euclidean' or 'inner_product'"
        )
    return _COARSE[coarse_metric]


def _name_of_dtype(dtype: npt.DTypeLike, what: str) -> str:
    if dtype is None:  # To NumPy, None is float64.
        raise DtypeError(f"{what} is None; name a dtype")
    try:
        return np.dtype(dtype).name
    except TypeError:
        raise DtypeError(f"{what} is {dtype!r}, which is no dtype of NumPy") from None


def _word(dtype: npt.DTypeLike, what: str) -> Word:
    name = _name_of_dtype(dtype, what)
    if name not in _WORDS:
        raise DtypeError(f"{what} is {name}, it must be float32, float64, int32 or uint32")
    return _WORDS[name]


def check_initial(initial: object, accumulator: Word) -> float | int:
    """The initial accumulator as a float or an int, whichever the accumulator is."""
    if not is_number(initial):
        raise ArgumentError(f"initial is {initial!r}, it must be a number")
    number = float(cast(float, initial))
    if accumulator in ("f32", "f64"):
        if math.isfinite(number) and accumulator == "f32" and abs(number) > float(np.finfo(np.float32).max):
            raise ArgumentError(f"initial is {initial!r}, which does not fit a float32 accumulator")
        return number
    low, high = (0, 2**32 - 1) if accumulator == "u32" else (-(2**31), 2**31 - 1)
    if not math.isfinite(number) or number != int(number) or not low <= number <= high:
        raise ArgumentError(
            f"initial is {initial!r}, which does not fit the accumulator, an integer from {low} to {high}"
        )
    return int(number)


def check_elements(elements: Iterable[npt.DTypeLike] | None, compute: Word) -> tuple[ElementName, ...]:
    """The ABI's names of the element types of vectors."""
    integer = compute in ("i32", "u32")
    if elements is None:
        return ("i8", "u8") if integer else ALL_ELEMENTS
    if isinstance(elements, (str, type, np.dtype)):
        elements = (elements,)
    result: list[ElementName] = []
    for one in elements:
        name = _name_of_dtype(one, "an entry of elements")
        if name not in _VECTORS:
            raise DtypeError(f"elements has {name}, it may have {', '.join(_VECTORS)}")
        if integer and _VECTORS[name] in ("f32", "f16"):
            raise DtypeError(
                f"elements has {name}, but dtype is an integer, which would lose the fraction; "
                "take dtype='float32' or list only int8 and uint8"
            )
        if _VECTORS[name] not in result:
            result.append(_VECTORS[name])
    if not result:
        raise ArgumentError("elements is empty; name a type of vectors that the metric accepts")
    return tuple(result)


def cuda_source_metric(
    source: str | bytes,
    *,
    order: str = "min",
    initial: float = 0.0,
    coarse_metric: str = "sqeuclidean",
    symbol_name: str = "cuda_source",
    captures: Mapping[str, Any] | None = None,
    dtype: npt.DTypeLike | None = None,
    accumulator: npt.DTypeLike | None = None,
    elements: Iterable[npt.DTypeLike] | None = None,
    coarse_order: str | None = None,
    allow_non_finite: bool = False,
) -> Metric:
    """Makes a metric of CUDA C++ source; for GPUs only.

    The source is compiled by NVRTC against a generated prototype, so a wrong signature is a compile error.
    What it does is **trusted, not verified**. Sources that were written for cuVS, which define
    ``compute_dist_udf_impl``, are taken as they are.

    Parameters
    ----------
    source : str or bytes
        UTF-8.
    order, initial, coarse_metric, coarse_order, captures, allow_non_finite
        As in :func:`metric`. Sources in the form of cuVS have no captures.
    symbol_name : str, default "cuda_source"
        Name of the metric in artifacts.
    dtype : dtype, optional
        Type of the coordinates in the source: float32, float64 or int32. Default: what suits.
    accumulator : dtype, default float32
    elements : iterable of dtype, optional
        Types of vectors that the metric accepts. Default: all that `dtype` can hold.

    Returns
    -------
    Metric

    Raises
    ------
    ArgumentError
        An argument has none of the values above.
    CompileError
        At the first use: NVRTC's diagnostics, at the lines of the source.
    UnavailableError
        At the first use: there is no NVRTC, or the metric is to search on the CPU.
    """
    if not isinstance(source, (str, bytes)):
        raise ArgumentError(f"source is a {type(source).__name__}, it must be text of CUDA C++")
    if isinstance(source, bytes):
        try:
            source = source.decode()
        except UnicodeDecodeError as error:
            raise ArgumentError(f"source is not UTF-8: {error}") from None
    if not source.strip():
        raise ArgumentError("source is empty; give CUDA C++ that updates the accumulator")
    check_order(order, "order")
    if coarse_order is not None:
        check_order(coarse_order, "coarse_order")
    accumulated = _word(accumulator, "accumulator") if accumulator is not None else "f32"
    compute = _word(dtype, "dtype") if dtype is not None else None
    values = {
        _captures.check_name(name): _captures.make_value(name, value, None, allow_non_finite)
        for name, value in (captures or {}).items()
    }
    definition = CudaSourceDefinition(
        source,
        name=check_symbol(symbol_name),
        order=order,
        coarse=check_coarse(coarse_metric),
        coarse_order=coarse_order,
        initial=float(check_initial(initial, accumulated)),
        compute=compute,
        accumulator=accumulated,
        elements=None if elements is None else check_elements(elements, compute or "f32"),
        captures={name: value.type for name, value in values.items()},
    )
    return Metric(definition, values, None, allow_non_finite)
