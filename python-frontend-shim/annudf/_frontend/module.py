# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The frontend module of a metric or a filter: its functions, and the op that calls them.

docs/spec/frontend-form.md describes the form; the compiler's pass ``annudf-import-frontend`` takes it.
"""

from __future__ import annotations

import math
import struct
import types
from dataclasses import dataclass
from typing import Any

import numpy as np

from annudf._frontend.compile import Fields, Lowered, lower_function
from annudf._frontend.emit import calls
from annudf._frontend.emit.arithmetic import dtype_of
from annudf._frontend.source.report import unsupported
from annudf._frontend.source.signature import takes_context
from annudf._frontend.source.syntax import own_signature
from annudf._frontend.source.vectors import VECTORS
from annudf._frontend.types.dtypes import Operand, Refused, returned, spell
from annudf._frontend.types.numba_types import NUMPY, Context, Vector, capture_type_text, mlir_text, vector_type_text
from annudf._frontend.types.prototypes import quoted
from annudf._support.options import AccumulatorWord, MetricOptions
from annudf.errors import CompileError

_MLIR = {word: mlir_text(dtype) for word, dtype in NUMPY.items()}
Words = tuple[AccumulatorWord, ...]


@dataclass(frozen=True, slots=True)
class FrontendModule:
    """What the compiler is given: MLIR text, and where it is from."""

    text: str
    origin: str
    links: tuple[str, ...] = ()
    """The functions of somebody else that it calls."""
    elements: tuple[str, ...] = ()

    def hint(self) -> str:
        """What an error about the range of a number adds if the metric passes for uint8 vectors alone."""
        from annudf import _core

        if not {"i8", "u8"} <= set(self.elements):
            return ""
        unsigned = self.text.replace(f"elements({', '.join(self.elements)})", "elements(u8)")
        try:
            _core.lower(unsigned, self.origin, "mlir", import_frontend=True)
        except CompileError:
            return ""
        return ", or declare elements=('uint8',)"


def _constant(word: AccumulatorWord, value: float | int) -> str:
    if word == "i64":
        return str(int(value))
    if word in ("i32", "u32"):
        number = int(value)
        return str(number - (1 << 32) if number >= 1 << 31 else number)
    number_f = float(value)
    if math.isfinite(number_f):
        # A decimal that reads back as the same number; f32 is rounded from it once.
        text = repr(number_f)
        return text if "." in text or "e" not in text else text.replace("e", ".0e")
    if word == "f32":
        return f"0x{struct.unpack('<I', struct.pack('<f', number_f))[0]:08X}"
    return f"0x{struct.unpack('<Q', struct.pack('<d', number_f))[0]:016X}"


_HOOKS = ("init", "update", "finalize", "combine", "keep", "distance")


class _Writer:
    noun = "metric"

    def __init__(self, function: types.FunctionType, options: MetricOptions) -> None:
        self.options = options
        self.function = function
        code = function.__code__
        self.place = f"loc({quoted(code.co_filename)}:{code.co_firstlineno}:1)"
        self.helpers: list[str] = []
        self.externs: calls.Externs = {}

    def _field(self, number: int) -> str:
        names = self.options.names
        return f"field '{names[number]}'" if names else f"field {number} of the accumulator"

    def _take(self, lowered: Lowered) -> None:
        """The functions of a hook, and what they link."""
        self.helpers.extend(lowered.functions)
        calls.merged(self.externs, lowered.externs)
        own = {self.options.name, *(f"{self.options.name}_{kind}" for kind in _HOOKS)}
        for symbol, (_, place) in lowered.externs.items():
            if symbol in own:
                unsupported(
                    f"'{symbol}' is linked, and the {self.noun} has that name; give it another symbol_name", *place
                )

    def _head(self, op: str, accumulator: str = "") -> str:
        options = self.options
        coarse = options.coarse + (f" {options.coarse_order}" if options.coarse_order else "")
        return (
            f"annudf.{op} @{options.name} order({options.order}) coarse({coarse}) "
            f"elements({', '.join(options.elements)}){accumulator}"
            + (f" numerics({options.numerics})" if options.numerics != "strict" else "")
            + (f" dims({options.dims})" if options.dims is not None else "")
            + (" missing_values" if options.missing_values else "")
        )

    def hook(self, function: types.FunctionType, kind: str, arguments: dict[str, Words], to: Words) -> str:
        """The hook of one function: calls it, and converts what it returns."""
        options = self.options
        several = isinstance(options.accumulator, tuple)
        has_context = takes_context(function, tuple(arguments))
        captures = tuple((n, c.element, c.extents) for n, c in options.captures.items())
        context = Context(captures, kind) if has_context else None
        symbol = f"{options.name}_{kind}"
        given: list[np.dtype[Any] | Fields] = [
            ([NUMPY[word] for word in words], options.fields)
            if name in ("acc", "other") and several
            else NUMPY[words[0]]
            for name, words in arguments.items()
        ]
        lowered = lower_function(function, symbol, given, context, len(to) if kind != "finalize" and several else 0)
        self._take(lowered)
        try:
            for number, (result, word) in enumerate(zip(lowered.results, to, strict=True)):
                what = self._field(number) if several else "the accumulator"
                returned(result, NUMPY[word], "the distance" if kind == "finalize" else what)
        except Refused as refused:
            unsupported(str(refused), function.__code__.co_filename, function.__code__.co_firstlineno)
        return self._call(kind, symbol, arguments, lowered, to, has_context)

    def _call(
        self,
        kind: str,
        symbol: str,
        arguments: dict[str, Words],
        lowered: Lowered,
        to: Words,
        has_context: bool,
    ) -> str:
        # A tuple is an argument a field.
        flat = [
            (name if len(words) == 1 else f"{name}_{number}", word)
            for name, words in arguments.items()
            for number, word in enumerate(words)
        ]
        # Hooks take the accumulator first, the user's function takes it last.
        order = sorted(flat, key=lambda a: not a[0].startswith("acc"))
        block = ", ".join(f"%{name}: {_MLIR[word]}" for name, word in order)
        values = [f"%{name}" for name, _ in flat] + (["%ctx"] if has_context else [])
        kinds = [_MLIR[word] for _, word in flat] + (["none"] if has_context else [])
        at = self.place
        lines = [f"  annudf.{kind} ({block}) {{" if flat else f"  annudf.{kind} {{"]
        if has_context:
            lines.append(f"    %ctx = builtin.unrealized_conversion_cast to none {at}")
        names = [f"%value_{number}" for number in range(len(to))]
        gives = ", ".join(lowered.result_types)
        gives = gives if len(to) == 1 else f"({gives})"
        call = f"func.call @{symbol}({', '.join(values)}) : ({', '.join(kinds)}) -> {gives}"
        lines.append(f"    {f'%value:{len(to)}' if len(to) > 1 else names[0]} = {call} {at}")
        if len(to) > 1:
            names = [f"%value#{number}" for number in range(len(to))]
        yielded = []
        for number, name in enumerate(names):
            ops = conversion(lowered.results[number], lowered.result_types[number], NUMPY[to[number]], name, number)
            lines += [f"    {line} {at}" for line in ops]
            yielded.append(f"%result_{number}" if ops else name)
        lines.append(f"    annudf.yield {', '.join(yielded)} : {', '.join(_MLIR[word] for word in to)} {at}")
        lines.append(f"  }} {at}")
        return "\n".join(lines)

    def _init(self, words: Words) -> list[str]:
        """The hook: what `init` gives, or the constants that fields start with."""
        options = self.options
        if options.init is not None:
            init: Any = options.init
            return [self.hook(init, "init", {}, words)]
        initial = options.initial if isinstance(options.initial, tuple) else (options.initial,)
        return [
            "  annudf.init {",
            *(
                f"    %initial_{number} = arith.constant {_constant(word, value)} : {_MLIR[word]}"
                for number, (word, value) in enumerate(zip(words, initial, strict=True))
            ),
            f"    annudf.yield {', '.join(f'%initial_{number}' for number in range(len(words)))} : "
            + ", ".join(_MLIR[word] for word in words),
            "  }",
        ]

    def captures(self) -> list[str]:
        """Their declarations."""
        kinds = {name: capture_type_text(one.element, one.extents) for name, one in self.options.captures.items()}
        return [
            f"  %capture_{name} = annudf.capture {quoted(name)} : {kind} {self.place}" for name, kind in kinds.items()
        ]

    def write(self) -> str:
        options = self.options
        words = options.words
        update = self.hook(
            self.function, "update", {"x": (options.compute,), "y": (options.compute,), "acc": words}, words
        )
        hooks = [update]
        if options.finalize is not None:
            finalize: Any = options.finalize
            hooks.append(self.hook(finalize, "finalize", {"acc": words}, ("f32",)))
        if options.combine is not None:
            combine: Any = options.combine
            hooks.append(self.hook(combine, "combine", {"acc": words, "other": words}, words))
        init = self._init(words)
        head = self._head("metric", f" accumulator({', '.join(words)})" if "u32" in words else "")
        lines = ["module {", *calls.texts(self.externs), *self.helpers, head + " {", *self.captures()]
        lines += [
            *init,
            *hooks,
            f"}} {self.place}",
            "}",
        ]
        return "\n".join(lines) + "\n"


class _PairwiseWriter(_Writer):
    """A metric of two whole vectors: its function, called by ``annudf.distance``."""

    def write(self) -> str:
        function, options, at = self.function, self.options, self.place
        captures = tuple((n, c.element, c.extents) for n, c in options.captures.items())
        has_context = function.__code__.co_argcount > VECTORS
        context = Context(captures, "distance") if has_context else None
        symbol, kind = f"{options.name}_distance", vector_type_text(options.compute)
        wanted = "the distance, a number, on every path"
        lowered = lower_function(function, symbol, [Vector(options.compute)] * VECTORS, context, wanted=wanted)
        self._take(lowered)
        result, of_result = lowered.results[0], lowered.result_types[0]
        values, kinds = ["%x", "%y", "%ctx"], [kind, kind, "none"]
        if not has_context:
            values, kinds = values[:VECTORS], kinds[:VECTORS]
        ops = conversion(result, of_result, NUMPY["f32"], "%value", 0)
        lines = [
            "module {",
            *calls.texts(self.externs),
            *self.helpers,
            f"{self._head('pairwise')} {{",
            *self.captures(),
            f"  annudf.distance (%x: {kind}, %y: {kind}) {{",
            *([f"    %ctx = builtin.unrealized_conversion_cast to none {at}"] if has_context else []),
            f"    %value = func.call @{symbol}({', '.join(values)}) : ({', '.join(kinds)}) -> {of_result} {at}",
            *(f"    {line} {at}" for line in ops),
            f"    annudf.yield {'%result_0' if ops else '%value'} : f32 {at}",
            f"  }} {at}",
            f"}} {at}",
            "}",
        ]
        return "\n".join(lines) + "\n"


class _FilterWriter(_Writer):
    """A filter: its function, called by ``annudf.keep``."""

    noun = "filter"

    def write(self) -> str:
        function, options, at = self.function, self.options, self.place
        _check_filter(function)
        captures = tuple((n, c.element, c.extents) for n, c in options.captures.items())
        symbol = f"{options.name}_keep"
        context = Context(captures, "filter")
        lowered = lower_function(function, symbol, (), context, wanted="True or False on every path")
        self._take(lowered)
        result, kind = lowered.results[0], lowered.result_types[0]
        if dtype_of(result).kind != "b":
            unsupported(
                f"{function.__name__} returns {spell(result)}; a filter returns True or False on every path, such as "
                "ctx.price[ctx.row] <= ctx.most, or ... != 0",
                function.__code__.co_filename, function.__code__.co_firstlineno,
            )  # fmt: skip
        bit = conversion(result, kind, np.dtype(np.bool_), "%value", 0)
        lines = [
            "module {",
            *calls.texts(self.externs),
            *self.helpers,
            f"annudf.filter @{options.name} {{",
            *self.captures(),
            "  annudf.keep {",
            f"    %ctx = builtin.unrealized_conversion_cast to none {at}",
            f"    %value = func.call @{symbol}(%ctx) : (none) -> {kind} {at}",
            *(f"    {line} {at}" for line in bit),
            f"    annudf.yield {'%result_0' if bit else '%value'} : i1 {at}",
            "  }",
            f"}} {at}",
            "}",
        ]
        return "\n".join(lines) + "\n"


def _check_filter(function: types.FunctionType) -> None:
    signature = own_signature(function)
    parameters = list(signature.parameters.values())
    if len(parameters) != 1 or parameters[0].kind is not parameters[0].POSITIONAL_OR_KEYWORD:
        unsupported(
            f"takes {signature}; a filter's function is {function.__name__}(ctx), which returns whether row ctx.row "
            "may be found",
            function.__code__.co_filename, function.__code__.co_firstlineno,
        )  # fmt: skip


def conversion(source: Operand, kind: str, target: np.dtype[Any], value: str, number: int) -> list[str]:
    """Ops that bring the number-th returned value to the declared type as %result_<number>.

    To a bool only a bool is brought, which MLIR's functions return as i8.
    """
    held = dtype_of(source)
    result = mlir_text(target)
    if kind == result or (held == target and held.kind != "b"):
        return []
    if held.kind == "b":
        zero, bit = f"%zero_{number}", value
        lines: list[str] = []
        if kind == "i8":
            bit = f"%{'result' if target.kind == 'b' else 'bit'}_{number}"
            lines = [f"{zero} = arith.constant 0 : i8", f"{bit} = arith.cmpi ne, {value}, {zero} : i8"]
        if target.kind == "b":
            return lines
        return [
            *lines,
            f"%result_{number} = arith.{'uitofp' if target.kind == 'f' else 'extui'} {bit} : i1 to {result}",
        ]
    if target.kind == "f":
        if held.kind == "f":
            op = "extf" if target.itemsize > held.itemsize else "truncf"
        else:
            op = "sitofp" if held.kind == "i" else "uitofp"
    elif held.itemsize > target.itemsize:
        op = "trunci"
    else:
        op = "extsi" if held.kind == "i" else "extui"
    return [f"%result_{number} = arith.{op} {value} : {kind} to {result}"]


def translate(function: types.FunctionType, options: MetricOptions) -> FrontendModule:
    """Types and lowers the functions of a metric, or of a filter, with numba-cuda-mlir.

    Parameters
    ----------
    function : function
        ``f(x, y, acc, ctx)`` or ``f(x, y, acc)``, the new accumulator; ``f(a, b, ctx)`` or ``f(a, b)`` of whole
        vectors, the distance; a filter's ``f(ctx)``.
    options : MetricOptions
        Everything else about the metric.

    Raises
    ------
    UnsupportedError
        The function uses what a metric cannot; the message has file, line and a fix.
    """
    writer = _FilterWriter if options.is_filter else _PairwiseWriter if options.is_pairwise else _Writer
    written = writer(function, options)
    text = written.write()
    return FrontendModule(text, function.__code__.co_filename, tuple(written.externs), options.elements)
