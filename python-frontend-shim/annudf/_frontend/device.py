# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A Python function as an ``annudf.function``: a device function outside a search."""

from __future__ import annotations

import collections
import functools
import keyword
import types
from collections.abc import Iterator, Mapping
from typing import Any

from numba_cuda_mlir.numba_cuda.types.containers import NamedTuple, Tuple

from annudf._frontend.compile import Returned, lower_device_function
from annudf._frontend.emit.arithmetic import dtype_of
from annudf._frontend.module import conversion
from annudf._frontend.source.report import unsupported
from annudf._frontend.source.syntax import own_signature
from annudf._frontend.types.dtypes import Operand, Refused, returned, spell
from annudf._frontend.types.numba_types import Context, Extents, Strong, capture_type_text, mlir_text
from annudf._frontend.types.prototypes import Kind, Struct, numbers, quoted, spell_dialect
from annudf._frontend.types.prototypes import spell as spell_kind


@functools.cache
def _fields_of(names: tuple[str, ...]) -> Any:
    """One class of these names, as Numba tells types by their classes; None if they are no names of Python."""
    if any(not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_") for name in names):
        return None
    return collections.namedtuple("Fields", names)


def _numba_type(kind: Kind) -> Any:
    if not isinstance(kind, Struct):
        return Strong(kind)
    inner = [_numba_type(one) for one in kind.fields]
    named = kind.named or (_fields_of(kind.names) if kind.names else None)
    return Tuple(tuple(inner)) if named is None else NamedTuple(inner, named)


def _takes_context(function: types.FunctionType, arguments: int, captures: bool) -> bool:
    signature = own_signature(function)
    parameters = list(signature.parameters.values())
    plain = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
    context = len(parameters) == arguments + 1 and (captures or parameters[-1].name == "ctx")
    if not plain or not (context or len(parameters) == arguments):
        unsupported(
            f"takes {signature}, but its types are for {arguments} argument{'s' * (arguments != 1)}; only ctx may "
            "follow them",
            function.__code__.co_filename, function.__code__.co_firstlineno,
        )  # fmt: skip
    return context


def _flat(shape: Returned) -> Iterator[Operand]:
    if isinstance(shape, tuple):
        for one in shape:
            yield from _flat(one)
    else:
        yield shape


def _inferred(shape: Returned) -> Kind:
    if isinstance(shape, tuple):
        return Struct(tuple(_inferred(one) for one in shape))
    return dtype_of(shape)


def _spell_shape(shape: Returned) -> str:
    if isinstance(shape, tuple):
        return f"({', '.join(map(_spell_shape, shape))})"
    return spell(shape)


def _fits(shape: Returned, kind: Kind) -> bool:
    if isinstance(shape, tuple) != isinstance(kind, Struct):
        return False
    if isinstance(shape, tuple) and isinstance(kind, Struct):
        return len(shape) == len(kind.fields) and all(map(_fits, shape, kind.fields))
    return True


def translate(
    function: types.FunctionType,
    symbol: str,
    convention: str,
    arguments: tuple[Kind, ...],
    result: Kind | None,
    captures: Mapping[str, tuple[str, Extents, str]],
) -> tuple[str, Kind]:
    """Types and lowers a device function with numba-cuda-mlir.

    Parameters
    ----------
    symbol : str
        What callers link.
    convention : {"c", "raw"}
    result : Kind or None
        None: what the function returns.
    captures : mapping
        The element type, the extents and the value of each. The value is in the dialect's syntax, or "" if a caller
        binds it.

    Returns
    -------
    text : str
        A module for ``annudf-import-frontend``.
    result : Kind

    Raises
    ------
    UnsupportedError
        The function uses what a body cannot; the message has file, line and a fix.
    """
    code = function.__code__
    has_context = _takes_context(function, len(arguments), bool(captures))
    context = Context(tuple((n, e, x) for n, (e, x, _) in captures.items()), "function") if has_context else None
    body = f"{symbol}_body"
    texts, shape, given = lower_device_function(function, body, [_numba_type(one) for one in arguments], context)
    kind = _inferred(shape) if result is None else result
    if not _fits(shape, kind):
        unsupported(
            f"{function.__name__} returns {_spell_shape(shape)}, its signature says {spell_kind(kind)}",
            code.co_filename, code.co_firstlineno,
        )  # fmt: skip
    place = f"loc({quoted(code.co_filename)}:{code.co_firstlineno}:1)"
    taken = [mlir_text(one) for argument in arguments for one in numbers(argument)]
    to = list(numbers(kind))
    values = [f"%a{number}" for number in range(len(taken))] + (["%ctx"] if has_context else [])
    kinds = taken + (["none"] if has_context else [])
    gives = given[0] if len(given) == 1 else f"({', '.join(given)})"
    lines = ["module {", *texts]
    lines.append(
        f"annudf.function @{symbol} convention({convention}) ({', '.join(map(spell_dialect, arguments))}) -> "
        f"{spell_dialect(kind)} {{"
    )
    for name, (element, extents, value) in captures.items():
        baked = f" = {value}" if value else ""
        lines.append(
            f"  %capture_{name} = annudf.capture {quoted(name)}{baked} : {capture_type_text(element, extents)} {place}"
        )
    block = ", ".join(f"%a{number}: {one}" for number, one in enumerate(taken))
    lines.append(f"  annudf.body ({block}) {{" if taken else "  annudf.body {")
    if has_context:
        lines.append(f"    %ctx = builtin.unrealized_conversion_cast to none {place}")
    many = f"%value:{len(given)}" if len(given) > 1 else "%value"
    lines.append(f"    {many} = func.call @{body}({', '.join(values)}) : ({', '.join(kinds)}) -> {gives} {place}")
    results = []
    for number, (operand, mlir, target) in enumerate(zip(_flat(shape), given, to, strict=True)):
        try:
            returned(operand, target, "the result" if len(given) == 1 else f"number {number} of the result")
        except Refused as refused:
            unsupported(str(refused), code.co_filename, code.co_firstlineno)
        name = f"%value#{number}" if len(given) > 1 else "%value"
        ops = conversion(operand, mlir, target, name, number)
        lines += [f"    {op} {place}" for op in ops]
        results.append(f"%result_{number}" if ops else name)
    lines.append(f"    annudf.yield {', '.join(results)} : {', '.join(map(mlir_text, to))} {place}")
    lines += [f"  }} {place}", f"}} {place}", "}"]
    return "\n".join(lines) + "\n", kind
