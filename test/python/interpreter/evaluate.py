# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the hooks of a parsed metric or filter, one coordinate at a time, as docs/spec/abi.md says what they mean.

The second half of the oracle: plain Python, with no table, no folding and no vectors in common with
the compiler.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from interpreter.numbers_of_bodies import FLOATS, bits, exact, fma, rounded, signed, to_integer, wrap
from interpreter.text import Block, Metric, Op

Value = Any


def _total_order(left: Value, right: Value, larger: bool) -> Value:
    """Maximum or minimum of two numbers, -0 below +0."""
    if left == right:
        return left if bool(np.signbit(left)) != larger else right
    return left if (left > right) == larger else right


def _extremum(larger: bool, keeps_nan: bool) -> Callable[[Value, Value], Value]:
    def run(a: Value, b: Value) -> Value:
        if np.isnan(a) or np.isnan(b):
            missing = a if np.isnan(a) else b
            other = b if np.isnan(a) else a
            return missing if keeps_nan else other
        return _total_order(a, b, larger)

    return run


def _fmod(a: Value, b: Value) -> Value:
    return type(a)(np.fmod(np.float64(a), np.float64(b)))


FLOAT_BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "arith.addf": operator.add,
    "arith.subf": operator.sub,
    "arith.mulf": operator.mul,
    "arith.divf": np.divide,
    "arith.remf": _fmod,
    "arith.maximumf": _extremum(True, True),
    "arith.minimumf": _extremum(False, True),
    "arith.maxnumf": _extremum(True, False),
    "arith.minnumf": _extremum(False, False),
    "math.copysign": np.copysign,
}


def _round_away(value: Value) -> Value:
    if not np.isfinite(value):
        return value
    whole = math.floor(abs(exact(value)) + exact(0.5))
    return np.copysign(type(value)(whole), value)


FLOAT_UNARY: dict[str, Callable[[Value], Value]] = {
    "arith.negf": operator.neg,
    "math.absf": abs,
    "math.ceil": np.ceil,
    "math.floor": np.floor,
    "math.round": _round_away,
    "math.roundeven": np.rint,
    "math.sqrt": np.sqrt,
    "math.trunc": np.trunc,
}


def _signed_division(a: int, b: int, kind: str, remainder: bool) -> int:
    x, y = signed(a, kind), signed(b, kind)
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return x - quotient * y if remainder else quotient


def _shift_right_signed(a: int, b: int, kind: str) -> int:
    return signed(a, kind) >> b


INTEGER_BINARY: dict[str, Callable[[int, int, str], int]] = {
    "arith.addi": lambda a, b, _: a + b,
    "arith.subi": lambda a, b, _: a - b,
    "arith.muli": lambda a, b, _: a * b,
    "arith.andi": lambda a, b, _: a & b,
    "arith.ori": lambda a, b, _: a | b,
    "arith.xori": lambda a, b, _: a ^ b,
    "arith.divui": lambda a, b, _: a // b,
    "arith.remui": lambda a, b, _: a % b,
    "arith.divsi": lambda a, b, kind: _signed_division(a, b, kind, False),
    "arith.remsi": lambda a, b, kind: _signed_division(a, b, kind, True),
    "arith.shli": lambda a, b, _: a << b,
    "arith.shrui": lambda a, b, _: a >> b,
    "arith.shrsi": _shift_right_signed,
    "arith.maxui": lambda a, b, _: max(a, b),
    "arith.minui": lambda a, b, _: min(a, b),
    "arith.maxsi": lambda a, b, kind: max(signed(a, kind), signed(b, kind)),
    "arith.minsi": lambda a, b, kind: min(signed(a, kind), signed(b, kind)),
}

INTEGER_UNARY: dict[str, Callable[[int, str], int]] = {
    "math.absi": lambda a, kind: abs(signed(a, kind)),
    "math.ctpop": lambda a, _: a.bit_count(),
    "math.ctlz": lambda a, kind: bits(kind) - a.bit_length(),
    "math.cttz": lambda a, kind: (a & -a).bit_length() - 1 if a else bits(kind),
}

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip


def _compare_integers(predicate: str, a: int, b: int, kind: str) -> bool:
    if predicate in ("eq", "ne"):
        return COMPARISONS[predicate](a, b)
    if predicate[0] == "s":
        a, b = signed(a, kind), signed(b, kind)
    return COMPARISONS[predicate[1:]](a, b)


def _compare_floats(predicate: str, a: Value, b: Value) -> bool:
    unordered = bool(np.isnan(a) or np.isnan(b))
    if predicate in ("true", "false"):
        return predicate == "true"
    if predicate in ("ord", "uno"):
        return unordered == (predicate == "uno")
    return predicate[0] == "u" if unordered else bool(COMPARISONS[predicate[1:]](a, b))


def constant(text: str, kind: str) -> Value:
    """The value of a literal; hexadecimal floats are bits."""
    if kind in FLOATS:
        scalar = FLOATS[kind]
        if text.startswith("0x"):
            return np.array(int(text, 16), f"u{np.dtype(scalar).itemsize}").view(scalar)[()]
        return scalar(text)
    return wrap({"true": 1, "false": 0}.get(text) if text in ("true", "false") else int(text, 0), kind)  # type: ignore[arg-type]


def baked(text: str, kind: str) -> np.ndarray[Any, Any]:
    """A capture's value: ``3.5 : f32``, or ``dense<[1, 2]> : tensor<2xi32>``."""
    dense = re.match(r"dense<\[(.*)\]>", text)
    items = dense[1].split(", ") if dense else [text.split(" : ", maxsplit=1)[0]]
    values = np.array([constant(item, kind) for item in items])
    return values if dense else values[0]


@dataclass
class Scan:
    """What a hook may read: the place in the vectors, bound captures by name, and where the scan is."""

    dim: int
    dims: int
    captures: Mapping[str, Any]
    row: int = 0
    query: int = 0
    list: int = 0


def _element(kind: str) -> str:
    """``!annudf.capture<dim x ui32>`` holds i32 as far as a body sees."""
    found = re.search(r"(\w+)>$", kind)
    assert found, kind
    return found[1].replace("ui", "i").replace("si", "i")


class Interpreter:
    """Runs blocks of one metric."""

    def __init__(self, metric: Metric) -> None:
        self.metric = metric

    def hook(self, name: str, arguments: list[Value], scan: Scan) -> Value:
        """What a hook yields."""
        return self.fields(name, arguments, scan)[0]

    def fields(self, name: str, arguments: list[Value], scan: Scan) -> list[Value]:
        """All that a hook yields, of an accumulator of several fields."""
        return self._block(self.metric.hooks[name], arguments, {}, scan)

    def accumulate(self, pairs: list[tuple[Value, Value]], captures: Mapping[str, Any]) -> Value:
        """The accumulator of a query and a row, whose coordinates are given as the hook sees them."""
        dims = len(pairs)
        acc = self.hook("init", [], Scan(-1, dims, captures))
        for dim, pair in enumerate(pairs):
            acc = self.hook("update", [acc, *pair], Scan(dim, dims, captures))
        return acc

    def distance(self, acc: Value, dims: int, captures: Mapping[str, Any]) -> np.float32:
        """What a search reports for it."""
        if "finalize" in self.metric.hooks:
            return self.hook("finalize", [acc], Scan(-1, dims, captures))
        kind = self.metric.hooks["update"].arguments[0][1]
        if kind in FLOATS:
            return rounded_float(acc, "f32")
        number = acc if "accumulator(u32)" in self.metric.header else signed(acc, kind)
        return rounded(Fraction(number), "f32")

    def keeps(self, scan: Scan) -> bool:
        """Whether a filter lets the query of `scan` find its row."""
        return bool(self.hook("keep", [], scan))

    def _block(self, block: Block, arguments: list[Value], outer: dict[str, Value], scan: Scan) -> list[Value]:
        values = dict(outer)
        values.update({name: v for (name, _), v in zip(block.arguments, arguments, strict=True)})
        for op in block.ops[:-1]:
            results = self._op(op, values, scan)
            values.update(zip(op.results, results, strict=True))
        last = block.ops[-1]
        assert last.name in ("annudf.yield", "scf.yield", "func.return"), last.name
        return [values[name] for name in last.operands]

    def _op(self, op: Op, values: dict[str, Value], scan: Scan) -> list[Value]:
        if op.name == "scf.if":
            taken = 0 if values[op.operands[0]] else 1
            if taken == len(op.regions):
                return []
            return self._block(op.regions[taken], [], values, scan) if op.regions[taken].ops else []
        if op.name == "scf.for":
            return self._for(op, values, scan)
        if op.name == "func.call":
            block = self.metric.helpers[op.attribute]
            return self._block(block, [values[name] for name in op.operands], {}, scan)
        if op.name == "annudf.index":
            return [getattr(scan, op.attribute)]
        if op.name == "annudf.load":
            return [self._load(op, values, scan)]
        return [self._scalar(op, [values[name] for name in op.operands])]

    def _for(self, op: Op, values: dict[str, Value], scan: Scan) -> list[Value]:
        counter_kind = op.regions[0].arguments[0][1]
        read = (lambda v: v) if op.attribute else (lambda v: signed(v, counter_kind))
        lower, upper, step = (read(values[name]) for name in op.operands[:3])
        carried = [values[name] for name in op.operands[3:]]
        for i in range(lower, upper, step):
            carried = self._block(op.regions[0], [wrap(i, counter_kind), *carried], values, scan)
        return carried

    def _load(self, op: Op, values: dict[str, Value], scan: Scan) -> Value:
        capture = self.metric.captures[op.operands[0]]
        kind = _element(capture.type)
        bound = np.asarray(scan.captures[capture.name]) if capture.value is None else baked(capture.value, kind)
        indices = tuple(signed(values[name], "index") for name in op.operands[1:])
        assert all(0 <= i < n for i, n in zip(indices, bound.shape, strict=True)), (op, indices)
        value = bound[indices][()]
        return FLOATS[kind](value) if kind in FLOATS else wrap(int(value), kind)

    def _scalar(self, op: Op, operands: list[Value]) -> Value:
        kind = op.types[0]
        if op.name == "arith.constant":
            return constant(op.attribute, kind)
        if op.name == "arith.select":
            return operands[1] if operands[0] else operands[2]
        if op.name == "arith.cmpi":
            return int(_compare_integers(op.attribute, operands[0], operands[1], kind))
        if op.name == "arith.cmpf":
            return int(_compare_floats(op.attribute, operands[0], operands[1]))
        if op.name in FLOAT_BINARY:
            return FLOATS[kind](FLOAT_BINARY[op.name](*operands))
        if op.name in FLOAT_UNARY:
            return FLOATS[kind](FLOAT_UNARY[op.name](*operands))
        if op.name in INTEGER_BINARY:
            return wrap(INTEGER_BINARY[op.name](operands[0], operands[1], kind), kind)
        if op.name in INTEGER_UNARY:
            return wrap(INTEGER_UNARY[op.name](operands[0], kind), kind)
        if op.name == "math.fma":
            return fma(*operands, kind)
        if op.name in ("math.isnan", "math.isinf", "math.isfinite"):
            return int(getattr(np, op.name.removeprefix("math."))(operands[0]))
        return self._cast(op, operands[0])

    def _cast(self, op: Op, value: Value) -> Value:
        source, target = op.types
        if op.name in ("arith.extf", "arith.truncf"):
            return rounded_float(value, target)
        if op.name in ("arith.sitofp", "arith.uitofp"):
            number = signed(value, source) if op.name == "arith.sitofp" else value
            return rounded(Fraction(number), target)
        if op.name in ("arith.fptosi", "arith.fptoui"):
            return to_integer(value, target, op.name == "arith.fptosi")
        if op.name in ("arith.extsi", "arith.index_cast"):
            return wrap(signed(value, source), target)
        if op.name in ("arith.extui", "arith.index_castui", "arith.trunci"):
            return wrap(value, target)
        if op.name == "arith.bitcast":
            return bitcast(value, source, target)
        raise AssertionError(f"the oracle does not know {op.name}")


def rounded_float(value: Value, target: str) -> Value:
    """Another float type; wider is exact."""
    if not np.isfinite(value) or value == 0:
        return FLOATS[target](value)
    return rounded(exact(value), target)


def bitcast(value: Value, source: str, target: str) -> Value:
    """The same bits as another type of the same width."""
    if source in FLOATS:
        pattern = int(np.array(value, FLOATS[source]).view(f"u{np.dtype(FLOATS[source]).itemsize}")[()])
    else:
        pattern = value
    if target in FLOATS:
        return np.array(pattern, f"u{bits('i' + target[1:]) // 8}").view(FLOATS[target])[()]
    return pattern
