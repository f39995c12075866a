# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random filters as text of the dialect: bodies as of metrics, over captures of every extent that a filter reads.

A filter keeps a row by a comparison of what captures hold for the row and for the query, by a bit of everything that it
computes, or by both.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from interpreter.generate import FLOAT_PREDICATES, FLOATS, INTEGER_PREDICATES, Writer

Value = npt.NDArray[np.generic] | np.generic
#: Elements of captures, and what their arrays hold.
ELEMENTS: dict[str, type[np.generic]] = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "i1": np.bool_, "i8": np.int8, "ui8": np.uint8,
    "i16": np.int16, "i32": np.int32, "ui32": np.uint32, "i64": np.int64,
}  # fmt: skip
CONSTANTS = ("1", "2", "3", "7", "16", "100")


@dataclass(frozen=True)
class Capture:
    """A capture: its SSA name, extents and element."""

    name: str
    extents: tuple[str, ...]
    element: str

    @property
    def type(self) -> str:
        """As the dialect spells it."""
        return f"!annudf.capture<{' x '.join((*self.extents, self.element))}>"

    @property
    def read(self) -> str:
        """The type of what is loaded: integers without their sign."""
        return self.element.removeprefix("u")


@dataclass(frozen=True)
class RandomFilter:
    """A filter and the values of its captures."""

    text: str
    captures: dict[str, Value]
    #: Whether some are NaN or infinite.
    non_finite: bool


@dataclass
class FilterWriter(Writer):
    """Lines of `keep`."""

    captures: list[Capture] = field(default_factory=list)

    def _number(self, value: int) -> str:
        return self.constant("index", str(value))

    def _between(self, last: str) -> str:
        """Any index, brought to 0 to `last`."""
        if self.random.random() < 0.5:
            return self.emit(f"arith.minui {self.any('index')}, {last} : index", "index")
        above = self.emit(f"arith.maxsi {self.any('index')}, {self._number(0)} : index", "index")
        return self.emit(f"arith.minsi {above}, {last} : index", "index")

    def _index(self, extent: str) -> str:
        """An index that is proved to be inside the extent."""
        r = self.random
        if extent in ("row", "query"):
            return f"%{extent}" if r.random() < 0.7 else self.emit(f"annudf.index {extent}", "index")
        if extent == "dim":
            if r.random() < 0.5:
                return self.emit(f"arith.remui {self.any('index')}, %dims : index", "index")
            return self._between(self.emit(f"arith.subi %dims, {self._number(1)} : index", "index"))
        size = int(extent)
        way = r.randrange(4)
        if way == 0:
            return self._number(r.randrange(size))
        if way == 1:
            return self.emit(f"arith.remui {self.any('index')}, {self._number(size)} : index", "index")
        if way == 2:
            mask = self._number((1 << (size.bit_length() - 1)) - 1)
            return self.emit(f"arith.andi {self.any('index')}, {mask} : index", "index")
        return self._between(self._number(size - 1))

    def read(self, capture: Capture) -> str:
        """An entry of a capture."""
        at = ", ".join(self._index(extent) for extent in capture.extents)
        return self.emit(f"annudf.load {capture.name}[{at}] : {capture.type}", capture.read)

    def load(self) -> None:
        capture = self.random.choice(self.captures)
        is_table = len(capture.extents) == 1 and capture.extents[0].isdigit()
        way = self.random.randrange(3) if is_table else 0
        (self.read, self._guarded, self._folded)[way](capture)

    def _guarded(self, capture: Capture) -> None:
        """A load below the condition that proves its index."""
        at, size = self.any("index"), self._number(int(capture.extents[0]))
        self.guarded_load(capture.name, at, size, capture.read, capture.type)

    def _folded(self, capture: Capture) -> None:
        """A loop over a table."""
        kind, size = capture.read, int(capture.extents[0])
        bounds = [self._number(n) for n in (0, size, self.random.choice((1, 1, 2)))]
        start, result, i, carried, loaded, folded = self.any(kind, plain=True), *(self.new() for _ in range(5))
        name = self.random.choice(("addf", "maximumf") if kind in FLOATS else ("addi", "xori", "maxsi"))
        indent = "  " * self.depth
        self.lines += [
            f"{indent}{result} = scf.for {i} = {bounds[0]} to {bounds[1]} step {bounds[2]} "
            f"iter_args({carried} = {start}) -> ({kind}) {{",
            f"{indent}  {loaded} = annudf.load {capture.name}[{i}] : {capture.type}",
            f"{indent}  {folded} = arith.{name} {carried}, {loaded} : {kind}",
            f"{indent}  scf.yield {folded} : {kind}",
            f"{indent}}}",
        ]
        self.values.setdefault(kind, []).append(result)
        self.weight += 2 * size * self.repeat

    def compared(self, left: str, right: str, kind: str) -> str:
        """A condition that both decide."""
        # Not the constant ones, and equality of floats seldom.
        predicate = self.random.choice(FLOAT_PREDICATES[2:-2] if kind in FLOATS else INTEGER_PREDICATES)
        return self.emit(f"arith.cmp{'f' if kind in FLOATS else 'i'} {predicate}, {left}, {right} : {kind}", "i1")

    def bit(self) -> str:
        """A bit in which every bit of every value shows that nothing else was made of."""
        operands = {name for line in self.lines for name in re.findall(r"%\w+", line.partition(" = ")[2] or line)}
        unused = [(name, kind) for kind, names in self.values.items() for name in names if name not in operands]
        mixed, factor = self.constant("i32", "1"), self.constant("i32", "-1640531535")
        for name, kind in unused:
            times = self.emit(f"arith.muli {mixed}, {factor} : i32", "i32")
            mixed = self.emit(f"arith.xori {times}, {self.bits_of(name, kind)} : i32", "i32")
        times = self.emit(f"arith.muli {mixed}, {factor} : i32", "i32")
        return self.emit(f"arith.shrui {times}, {self.constant('i32', '31')} : i32", "i32")


def _values(generator: np.random.Generator, capture: Capture, sizes: Mapping[str, int], non_finite: bool) -> Value:
    shape = tuple(sizes.get(extent) or int(extent) for extent in capture.extents)
    to = ELEMENTS[capture.element]
    if capture.element in FLOATS:
        numbers = np.round(generator.normal(0, 4, shape) * 8) / 8
        if non_finite:
            numbers = np.where(
                generator.random(shape) < 0.1, generator.choice([np.nan, np.inf, -np.inf], shape), numbers
            )
    elif capture.element == "i1":
        numbers = generator.random(shape) < 0.5
    else:
        limits = np.iinfo(to)  # type: ignore[type-var]
        some = generator.integers(limits.min, limits.max, shape, np.int64, endpoint=True)
        numbers = np.where(generator.random(shape) < 0.3, some, generator.integers(0, 12, shape))
    return np.asarray(numbers).astype(to)[()]


def _captures(r: random.Random, main: str, other: str) -> list[Capture]:
    """Two that are compared, of element `main`, and some more; `other` is "query", or "" where it is not seen."""
    found = [("row",), (other,) if other else ()]
    extents: list[tuple[str, ...]] = [(), ("row",), ("dim",), ("row", "3"), ("4", "7"), ("7", "dim")]
    extents += [(size,) for size in r.sample(CONSTANTS, 2)]
    extents += [("query",), ("query", "5")] if other else []
    more = r.sample(extents, r.randrange(1, 5))
    elements = [main, main, *(r.choice(list(ELEMENTS)) for _ in more)]
    return [Capture(f"%c{i}", one, of) for i, (one, of) in enumerate(zip(found + more, elements, strict=True))]


def random_filter(seed: int, sizes: Mapping[str, int]) -> RandomFilter:
    """A filter for an index of so many rows ("row": one more than the largest id), queries ("query") and "dim"."""
    r = random.Random(seed)
    sees = r.random() < 0.75
    captures = _captures(r, r.choice(list(ELEMENTS)), "query" if sees else "")
    places = ["row", "list", "dims", *(["query"] if sees else [])]
    writer = FilterWriter(r, captures=captures, depth=2)
    writer.values = {"index": [f"%{place}" for place in places]}
    left, right = (writer.read(capture) for capture in captures[:2])
    condition = writer.compared(left, right, captures[0].read)
    for capture in captures[2:]:
        writer.read(capture)
    for _ in range(r.randrange(3, 20)):
        (writer.load if r.random() < 0.2 else writer.step)()
    if r.random() < 0.8:
        one = writer.emit(f"arith.trunci {writer.bit()} : i32 to i1", "i1")
        condition = writer.emit(f"arith.{r.choice(('andi', 'ori', 'xori'))} {condition}, {one} : i1", "i1")
    non_finite = r.random() < 0.5
    generator = np.random.default_rng(seed)
    text = "\n".join(
        [
            f"annudf.filter @f{seed} {{",
            *(f'  {one.name} = annudf.capture "{one.name[1:]}" : {one.type}' for one in captures),
            "  annudf.keep {",
            *(f"    %{place} = annudf.index {place}" for place in places),
            *writer.lines,
            f"    annudf.yield {condition} : i1",
            "  }",
            "}",
            "",
        ]
    )
    return RandomFilter(
        text, {one.name[1:]: _values(generator, one, sizes, non_finite) for one in captures}, non_finite
    )
