# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""One Python function to one ``func.func`` of the frontend form, by numba-cuda-mlir."""

from __future__ import annotations

import re
import types as pytypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn, cast

import numpy as np
from numba_cuda_mlir.extending import refresh_registries
from numba_cuda_mlir.numba_cuda.core import errors as numba_errors

from annudf._frontend.emit import arrays, calls, scratch
from annudf._frontend.emit.arithmetic import dtype_of
from annudf._frontend.emit.lowering import LoweringRefused
from annudf._frontend.numba import inner, ncm, patches
from annudf._frontend.numba.ncm import CONTEXT, active, ir
from annudf._frontend.source.functions import NAMESPACES
from annudf._frontend.source.report import failed, unsupported
from annudf._frontend.source.rewrite import Rewriter
from annudf._frontend.source.syntax import Source
from annudf._frontend.source.vectors import UNREADABLE
from annudf._frontend.types import scratch as typed_scratch
from annudf._frontend.types import typing
from annudf._frontend.types.dtypes import Operand, Refused
from annudf._frontend.types.numba_types import (
    Array,
    Context,
    Elementwise,
    Strong,
    Vector,
    fields_type,
    mlir_type,
    operand_of,
)
from annudf.errors import UnsupportedError

assert (
    calls and inner and patches and typing and arrays and scratch and typed_scratch
)  # Imported for what they register.
refresh_registries()

Fields = tuple[Sequence[np.dtype[Any]], type | None]
"""The accumulator's, and the NamedTuple that the function sees them as."""

_DROPPED = ("numba_cuda_mlir.arg_attrs", "numba_cuda_mlir.orig_arg_types", "always_inline", "no_inline")


@dataclass(frozen=True, slots=True)
class Lowered:
    """A hook's function as MLIR text, with what it returns."""

    functions: tuple[str, ...]
    """Generic-form text of the function, its helpers after it; each is private."""
    results: tuple[Operand, ...]
    result_types: tuple[str, ...]
    externs: calls.Externs
    """The linked code that it calls."""


def _device_function(function: pytypes.FunctionType) -> Any:
    return ncm.cuda.jit(device=True, inline="always")(function)


def lower_function(
    function: pytypes.FunctionType,
    symbol: str,
    arguments: Sequence[np.dtype[Any] | Fields | Vector],
    context: Context | None,
    fields: int = 0,
    wanted: str = "",
) -> Lowered:
    """Types and lowers `function` for arguments of the given types, and ``ctx`` if it takes it.

    `fields` is how many it has to return, 0 for one number; `wanted` says what, where that is no number of a metric.

    Raises
    ------
    UnsupportedError
        Naming file, line and expression, what cannot be used there, and what to write instead.
    """
    types_of = [
        fields_type(*a) if isinstance(a, tuple) else a if isinstance(a, Vector) else Strong(a) for a in arguments
    ]
    with _typed(function, symbol, types_of, context) as (source, result):
        returns = result.signature.return_type
        operands = _operands(returns, fields)
        if operands is None:
            told = f"returns {_spell_result(returns)}; return {wanted or _wanted(returns, fields)}"
            unsupported(f"{function.__name__} {told}", source.file, source.line)
        with CONTEXT:
            text = _functions(result.metadata["mlir_module"])
            kinds = tuple(str(mlir_type(dtype_of(operand))) for operand in operands)
    leaves = returns.types if isinstance(returns, ncm.types.BaseTuple) else (returns,)
    kinds = tuple("i8" if leaf == ncm.types.boolean else kind for leaf, kind in zip(leaves, kinds, strict=True))
    return Lowered(text, operands, kinds, active.externs)


@contextmanager
def _typed(
    function: pytypes.FunctionType, symbol: str, arguments: Sequence[Any], context: Context | None
) -> Iterator[tuple[Source, Any]]:
    """What numba-cuda-mlir makes of the function, whose state stays ours while it is looked at."""
    source = Source(function)
    has_vectors = any(isinstance(one, Vector) for one in arguments)
    rewritten = Rewriter(_device_function, context.captures if context else (), has_vectors).rewrite(function)
    signature = (*arguments, *((context,) if context else ()))
    options = {"device": True, "chip": ncm.CHIP, "features": "+ptx90", "abi_info": {"abi_name": symbol}}
    active.refusals, active.externs, active.has_vectors = [], {}, has_vectors
    active.place = (source.file, source.line, 0)
    with ncm.compiling():
        ncm.compiler.mlir_target.ensure_initialized()
        try:
            result = ncm.compiler._compile_only(rewritten, signature, options)
        except Exception as error:
            _explain(error, source)
        yield source, result


Returned = Operand | tuple["Returned", ...]
"""A number, or a tuple of what is returned."""


def lower_device_function(
    function: pytypes.FunctionType, symbol: str, arguments: Sequence[Any], context: Context | None
) -> tuple[tuple[str, ...], Returned, tuple[str, ...]]:
    """The functions and the linked code that they call as text, what is returned, and how its numbers lie in MLIR.

    `arguments` are types of Numba's.

    Raises
    ------
    UnsupportedError
    """
    with _typed(function, symbol, arguments, context) as (source, result):
        returns = result.signature.return_type
        shape = _returned(returns)
        if shape is None:
            told = f"returns {_spell_result(returns)}; return a number, or a tuple of numbers, on every path"
            unsupported(f"{function.__name__} {told}", source.file, source.line)
        with CONTEXT:
            text = _functions(result.metadata["mlir_module"])
            return (*calls.texts(active.externs), *text), shape, tuple(_kinds(returns))


def _returned(returns: Any) -> Returned | None:
    if isinstance(returns, ncm.types.BaseTuple):
        inner = tuple(_returned(leaf) for leaf in returns.types)
        return None if not inner or any(one is None for one in inner) else cast("Returned", inner)
    return operand_of(returns)


def _kinds(returns: Any) -> Iterator[str]:
    if isinstance(returns, ncm.types.BaseTuple):
        for leaf in returns.types:
            yield from _kinds(leaf)
    elif returns == ncm.types.boolean:
        yield "i8"
    else:
        operand = operand_of(returns)
        assert operand is not None
        yield str(mlir_type(dtype_of(operand)))


def _operands(returns: Any, fields: int) -> tuple[Operand, ...] | None:
    """The numbers that are returned, or None if they are not those that are wanted."""
    if not fields:
        operand = operand_of(returns)
        return None if operand is None else (operand,)
    if not isinstance(returns, ncm.types.BaseTuple) or len(returns.types) != fields:
        return None
    operands = tuple(operand_of(leaf) for leaf in returns.types)
    if any(operand is None for operand in operands):  # Not `in`: a dtype equals None if it is float64.
        return None
    return cast("tuple[Operand, ...]", operands)


def _wanted(returns: Any, fields: int) -> str:
    if fields:
        return f"the {fields} fields of acc as a tuple on every path"
    several = isinstance(returns, ncm.types.BaseTuple)
    return "a number on every path" + (", or give initial as a tuple if acc has several fields" if several else "")


def _spell_result(returns: Any) -> str:
    if returns == ncm.types.none:
        return "nothing"
    if isinstance(returns, ncm.types.Optional):
        return "nothing on some path"
    if isinstance(returns, ncm.types.BaseTuple):
        return "several values" if all(operand_of(leaf) is not None for leaf in returns.types) else "a tuple of tuples"
    if isinstance(returns, Array):
        return "a whole vector"
    return "one number" if operand_of(returns) is not None else str(returns)


def _functions(module: Any) -> tuple[str, ...]:
    texts = []
    for outer in module.body.operations:
        for operation in outer.regions[0].blocks[0].operations:
            name = operation.operation.name
            if name != "func.func":
                continue
            attributes = operation.operation.attributes
            for attribute in _DROPPED:
                if attribute in attributes:
                    del attributes[attribute]
            attributes["sym_visibility"] = ir.StringAttr.get("private")
            text = operation.operation.get_asm(print_generic_op_form=True, enable_debug_info=True, use_local_scope=True)
            texts.append(text.replace("!annudf.context", "none"))
    return tuple(texts)


_NOISE = re.compile(r"\x1b\[[0-9;]*m")


def _explain(error: Exception, source: Source) -> NoReturn:
    """The user's place and a reason in the user's words; numba's own text only as the cause."""
    if isinstance(error, UnsupportedError):
        raise error from None
    file, line, column = active.place
    place = getattr(error, "loc", None)
    if place is not None and getattr(place, "line", None):
        file, line, column = place.filename, place.line, place.col or 0
    if active.refusals:
        unsupported(active.refusals[-1], file, line, column, error)
    text = _NOISE.sub("", str(error)).strip()
    known = numba_errors.NumbaError | NotImplementedError | ir.MLIRError | LoweringRefused | RecursionError
    # A KeyError of a type: numba-cuda-mlir has no value for functions and modules that are kept in variables.
    expected = isinstance(error, known) or (
        isinstance(error, KeyError) and error.args and isinstance(error.args[0], type)
    )
    if not expected and not re.match(r"module '[^']+' has no attribute", text):
        failed(
            f"an error within annudf or numba-cuda-mlir, not in your function"
            f" ({type(error).__name__}: {text}); please report it",
            file or source.file, line or source.line, column, error,
        )  # fmt: skip
    unsupported(_in_words(error, text), file or source.file, line or source.line, column, error)


def _in_words(error: Exception, text: str) -> str:
    if found := re.search(r"(?:NameError: name|Untyped global name|Variable) '([^']+)'", text):
        return f"'{found[1]}' has no meaning in a metric, or no value yet where it is used"
    if found := re.search(r"module '([^']+)' has no attribute '([^']+)'", text):
        return (
            f"a metric cannot use {found[1]}.{found[2]};"
            " it can use the constants and scalar functions of math and numpy, and plain functions"
        )
    if found := re.search(r"Unknown attribute '([^']+)' of type (.*)", text):
        return _no_attribute(found[1])
    if found := re.search(r"Cannot bind '.*' to signature '(\([^']*\))'", text, re.DOTALL):
        return f"a helper that takes {found[1]} is called with other arguments; pass exactly those"
    if "Cannot unify Function(" in text:
        return "a metric cannot choose between functions or keep them in variables; call them by name"
    if found := re.search(r"Cannot unify (\S+) and (\S+) for '([^']+)'", text):
        name = found[3].split(".")[0]
        # Sorted, as their order is that of numba's paths, which differs between Pythons.
        kinds = " and ".join(sorted(kind.rstrip(",").removeprefix("annudf.") for kind in (found[1], found[2])))
        what = "an expression" if name.startswith("$") else f"'{name}'"
        return f"{what} would have two types, {kinds}, on different paths; convert one"
    if found := re.search(
        r"No implementation of function .*?annudf\.capture<([^,]+), [^,]+, \(([^)]*)\)>", text, re.DOTALL
    ):
        name, extents = found[1], re.findall(r"'(\w+)'|\d+", found[2])
        example = ", ".join(f"ctx.{extent}" if extent else "0" for extent in extents)
        return f"ctx.{name} is an array and no number; read one entry, ctx.{name}[{example}]"
    if found := re.search(r"Can't unify return type from the following types: ([^\n]+)", text):
        kinds = " and ".join(sorted(one.strip().removeprefix("annudf.") for one in found[1].split(",")))
        kinds = kinds.replace("python_", "Python's ")
        return f"the paths return {kinds}; return one type, such as float(n) for an integer n"
    if "Invalid use of getiter" in text and active.has_vectors:
        return f"a loop over a vector needs the source of the function, which cannot be read; {UNREADABLE}"
    if "Type of variable '" in text:
        return "this has no value that a metric can compute with; use numbers"
    if isinstance(error, Refused):
        return str(error)
    if isinstance(error, RecursionError):
        return "an expression nests too deep; write it in several statements"
    if active.has_vectors and "tuple index out of range" in text:
        return "a vector has one axis; write x.shape[0]"
    if isinstance(error, KeyError) and error.args[0] is Elementwise:
        return (
            "a whole vector cannot be returned or assigned on several paths; make a number of it, such as np.sum(x), or"
            " take acc as third argument to see one coordinate at a time"
        )
    if isinstance(error, KeyError):
        return "a metric cannot choose between functions or keep them in variables; call them by name"
    if isinstance(error, numba_errors.UnsupportedError | numba_errors.UnsupportedBytecodeError):
        return f"a metric cannot use this: {_first_line(text, error)}"
    if "memref element type" in text:
        whose = "vectors, ctx and its arrays" if active.has_vectors else "ctx and its arrays"
        return f"{whose} cannot be assigned on several paths; read an entry on each path instead"
    return (
        f"this cannot be compiled ({_first_line(text, error)});"
        " use numbers, if, for over range, and the functions that the documentation lists"
    )


def _no_attribute(name: str) -> str:
    """What to write instead of an attribute of a number."""
    known = NAMESPACES["numpy"]
    if name in typing.SUMS:
        return f".{name} is of arrays, and a metric sees one coordinate at a time; acc sums up: acc + x * y"
    if name == "astype":
        return "numbers of a metric have no .astype(); write np.float32(...)"
    if hasattr(known, name) and callable(getattr(known, name)):
        return f"numbers of a metric have no .{name}(); write np.{name}(...)"
    return f"numbers of a metric have no attribute '{name}'; x, y and acc are plain numbers"


def _first_line(text: str, error: Exception) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("Failed in ")]
    return lines[0] if lines else type(error).__name__
