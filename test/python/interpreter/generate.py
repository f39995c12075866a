# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random metrics as text of the dialect: every op of integers and exact floats, on every type.

A body may be computed in one way only, so that results can be compared to the bit:

- No product or quotient is added to anything, as the ABI lets a device round such a pair once.
- A NaN is replaced before its bits or its sign are looked at, as both are unspecified.
- Operands of maxnumf and minnumf have lost the sign of zero, which those may return either way.

Divisors and shift amounts are constants, or what the verifier's ranges prove (`proved.py`). `module.py`
makes a metric of such bodies.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from interpreter import proved

INTEGERS = ("i1", "i8", "i16", "i32", "i64", "index")
FLOATS = ("f16", "f32", "f64")
WIDTH = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64, "f16": 16, "f32": 32, "f64": 64}
SAME_WIDTH = {"f16": "i16", "f32": "i32", "f64": "i64"}
INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
)  # fmt: skip
ROUNDINGS = ("math.ceil", "math.floor", "math.round", "math.roundeven", "math.trunc", "math.sqrt")


@dataclass(frozen=True)
class Callee:
    """A helper that bodies call."""

    name: str
    arguments: tuple[str, ...]
    result: str
    weight: int


@dataclass(frozen=True)
class Hook:
    """Arrays and scalars that stand in the metric, as (SSA name, type, type of what is read)."""

    arrays: tuple[tuple[str, str, str], ...]
    scalars: tuple[tuple[str, str, str], ...]


@dataclass
class Writer:
    """Lines of one function; values by type, and those that are products."""

    random: random.Random
    lines: list[str] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)
    products: set[str] = field(default_factory=set)
    depth: int = 1
    nesting: int = 0
    count: int = 0
    weight: int = 0
    repeat: int = 1
    #: Functions that may be called: name, types of the arguments and of the result, weight.
    callees: list[Callee] = field(default_factory=list)
    #: What a hook may read and a helper may not; None in a helper.
    hook: Hook | None = None
    #: Begins the names of values, which of several bodies in one hook are not to be the same.
    prefix: str = "%v"

    def new(self) -> str:
        self.count += 1
        return f"{self.prefix}{self.count}"

    def emit(self, text: str, kind: str, product: bool = False) -> str:
        """A line ``%v = text``, whose value can be used from here on."""
        name = self.new()
        self.lines.append("  " * self.depth + f"{name} = {text}")
        self.values.setdefault(kind, []).append(name)
        self.weight += self.repeat
        if product:
            self.products.add(name)
        return name

    def constant(self, kind: str, text: str | None = None) -> str:
        if text is None:
            text = self.literal(kind)
        return self.emit(f"arith.constant {text}" + ("" if kind == "i1" else f" : {kind}"), kind)

    def literal(self, kind: str) -> str:
        r = self.random
        if kind == "i1":
            return r.choice(("true", "false"))
        if kind in FLOATS:
            return r.choice(("0.0", "-0.0", "1.0", "-1.5", "0.25", "3.0", "-7.0", "100.0", "6.0e-5", "1.0e4"))
        width = WIDTH[kind]
        edges = (0, 1, -1, 2, 7, -5, 100, (1 << (width - 1)) - 1, -(1 << (width - 1)))
        return str(r.choice(edges) if r.random() < 0.7 else r.randrange(-(1 << (width - 1)), 1 << (width - 1)))

    def guarded_load(self, name: str, at: str, size: str, read: str, kind: str) -> None:
        """A value of type `read`: that of capture `name` of type `kind` at an index that is below `size`, or another."""
        inside = self.emit(f"arith.cmpi ult, {at}, {size} : index", "i1")
        other, loaded, result = self.any(read, plain=True), self.new(), self.new()
        indent = "  " * self.depth
        self.lines += [
            f"{indent}{result} = scf.if {inside} -> ({read}) {{",
            f"{indent}  {loaded} = annudf.load {name}[{at}] : {kind}",
            f"{indent}  scf.yield {loaded} : {read}",
            f"{indent}}} else {{",
            f"{indent}  scf.yield {other} : {read}",
            f"{indent}}}",
        ]
        self.values.setdefault(read, []).append(result)
        self.weight += 2 * self.repeat

    def any(self, kind: str, plain: bool = False) -> str:
        """A value of a type; `plain`: no product."""
        names = [n for n in self.values.get(kind, []) if not (plain and n in self.products)]
        if not names or self.random.random() < 0.1:
            return self.constant(kind)
        return self.random.choice(names[-8:])

    def number(self, kind: str) -> str:
        """A float that is not NaN."""
        return self.not_nan(self.any(kind), kind)

    def not_nan(self, value: str, kind: str) -> str:
        nan = self.emit(f"arith.cmpf uno, {value}, {value} : {kind}", "i1")
        one = self.constant(kind, "1.0")
        return self.emit(f"arith.select {nan}, {one}, {value} : {kind}", kind, value in self.products)

    def unsigned_zero(self, kind: str) -> str:
        """A float without -0: the sum with 0, also where it is a product, as rounding it twice is exact."""
        value = self.any(kind)
        zero = self.constant(kind, "0.0")
        return self.emit(f"arith.addf {value}, {zero} : {kind}", kind)

    # One operation of each kind.

    def integer(self) -> None:
        r, kind = self.random, self.random.choice(INTEGERS)
        roll = r.randrange(6)
        if roll <= 2:
            name = r.choice(("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "maxui", "minsi", "minui"))
            self.emit(f"arith.{name} {self.any(kind)}, {self.any(kind)} : {kind}", kind)
        elif roll == 3:
            self.division(kind if kind != "i1" else "i8")
        elif roll == 4:
            self.shift(kind)
        elif kind not in ("i1", "index"):
            name = r.choice(("absi", "ctpop", "ctlz", "cttz"))
            self.emit(f"math.{name} {self.any(kind)} : {kind}", kind)

    def division(self, kind: str) -> None:
        r = self.random
        name = r.choice(("divsi", "divui", "remsi", "remui"))
        left = self.any(kind)
        if r.random() < 0.5:
            divisor = proved.divisor(self, kind, name.endswith("si"))
        else:
            divisor = self.constant(kind, str(r.choice((1, 2, 3, 5, 7, 16, 100, -2, -7))))
        self.emit(f"arith.{name} {left}, {divisor} : {kind}", kind)

    def shift(self, kind: str) -> None:
        r = self.random
        if kind != "i1" and r.random() < 0.5:
            amount = proved.amount(self, kind)
        else:
            amount = self.constant(kind, "false" if kind == "i1" else str(r.randrange(WIDTH[kind])))
        self.emit(f"arith.{r.choice(('shli', 'shrsi', 'shrui'))} {self.any(kind)}, {amount} : {kind}", kind)

    def floating(self) -> None:
        r, kind = self.random, self.random.choice(FLOATS)
        roll = r.randrange(9)
        if roll <= 1:
            left, right = self.any(kind, plain=True), self.any(kind, plain=True)
            self.emit(f"arith.{r.choice(('addf', 'subf'))} {left}, {right} : {kind}", kind)
        elif roll == 2:
            left, right = self.any(kind), self.any(kind)
            self.emit(f"arith.{r.choice(('mulf', 'divf'))} {left}, {right} : {kind}", kind, product=True)
        elif roll == 3:
            self.emit(f"arith.remf {self.any(kind)}, {self.any(kind)} : {kind}", kind)
        elif roll == 4:
            name = r.choice(("maximumf", "minimumf", "maxnumf", "minnumf"))
            pick = self.unsigned_zero if name.endswith("numf") else self.any
            left, right = pick(kind), pick(kind)
            self.emit(f"arith.{name} {left}, {right} : {kind}", kind, {left, right} & self.products != set())
        elif roll == 5:
            value = self.any(kind)
            name = r.choice(("arith.negf", "math.absf"))
            self.emit(f"{name} {value} : {kind}", kind, value in self.products)
        elif roll == 6:
            value, sign = self.any(kind), self.number(kind)
            self.emit(f"math.copysign {value}, {sign} : {kind}", kind, value in self.products)
        elif kind != "f16":
            if roll == 7:
                operands = ", ".join(self.any(kind) for _ in range(3))
                self.emit(f"math.fma {operands} : {kind}", kind)
            else:
                self.emit(f"{r.choice(ROUNDINGS)} {self.any(kind)} : {kind}", kind)

    def comparison(self) -> None:
        r = self.random
        if r.random() < 0.2:
            kind = r.choice(("f32", "f64"))
            self.emit(f"math.{r.choice(('isnan', 'isinf', 'isfinite'))} {self.any(kind)} : {kind}", "i1")
        elif r.random() < 0.5:
            kind = r.choice(INTEGERS)
            self.emit(f"arith.cmpi {r.choice(INTEGER_PREDICATES)}, {self.any(kind)}, {self.any(kind)} : {kind}", "i1")
        else:
            kind = r.choice(FLOATS)
            self.emit(f"arith.cmpf {r.choice(FLOAT_PREDICATES)}, {self.any(kind)}, {self.any(kind)} : {kind}", "i1")

    def cast(self) -> None:
        """One to three conversions, each of the one before: chains are what simplifiers fold."""
        kind = self.random.choice((*INTEGERS, *FLOATS))
        value = self.any(kind)
        for _ in range(self.random.randrange(1, 4)):
            value, kind = self.conversion(value, kind)

    def conversion(self, value: str, kind: str) -> tuple[str, str]:
        """A conversion of `value` to some type, and that type."""
        r = self.random
        if kind in FLOATS:
            target = r.choice((*FLOATS, "i8", "i16", "i32", "i64", SAME_WIDTH[kind]))
            if target in FLOATS:
                if target == kind:
                    return value, kind
                name = "extf" if WIDTH[target] > WIDTH[kind] else "truncf"
                product = value in self.products
                return self.emit(f"arith.{name} {value} : {kind} to {target}", target, product), target
            if target == SAME_WIDTH[kind] and r.random() < 0.5:
                value = self.not_nan(value, kind)
                return self.emit(f"arith.bitcast {value} : {kind} to {target}", target), target
            return self.emit(f"arith.{r.choice(('fptosi', 'fptoui'))} {value} : {kind} to {target}", target), target
        target = r.choice((*INTEGERS, *FLOATS))
        if target == kind:
            return value, kind
        if "index" in (kind, target):
            if target in FLOATS:
                target = "i32"
            name = r.choice(("index_cast", "index_castui"))
        elif target in FLOATS:
            same = SAME_WIDTH[target] == kind and r.random() < 0.3
            name = "bitcast" if same else r.choice(("sitofp", "uitofp"))
        else:
            name = "trunci" if WIDTH[target] < WIDTH[kind] else r.choice(("extsi", "extui"))
        return self.emit(f"arith.{name} {value} : {kind} to {target}", target), target

    def select(self) -> None:
        kind = self.random.choice((*INTEGERS, *FLOATS))
        left, right = self.any(kind), self.any(kind)
        product = {left, right} & self.products != set()
        self.emit(f"arith.select {self.any('i1')}, {left}, {right} : {kind}", kind, product)

    def inner(self, steps: int, kind: str, plain: bool) -> str:
        """Operations of a region, whose values end with it; what it yields."""
        kept = {k: list(v) for k, v in self.values.items()}
        self.depth += 1
        self.nesting += 1
        for _ in range(steps):
            self.step()
        result = self.any(kind, plain)
        self.lines.append("  " * self.depth + f"scf.yield {result} : {kind}")
        self.depth -= 1
        self.nesting -= 1
        self.values = kept
        return result

    def branch(self) -> None:
        kind = self.random.choice(("i1", "i8", "i32", "i64", "f16", "f32", "f64"))
        condition, name = self.any("i1"), self.new()
        self.lines.append("  " * self.depth + f"{name} = scf.if {condition} -> ({kind}) {{")
        results = [self.inner(self.random.randrange(1, 4), kind, False)]
        self.lines.append("  " * self.depth + "} else {")
        results.append(self.inner(self.random.randrange(3), kind, False))
        self.lines.append("  " * self.depth + "}")
        self.values.setdefault(kind, []).append(name)
        if set(results) & self.products:
            self.products.add(name)

    def loop(self) -> None:
        """A loop that carries one value, which is never a product: what it becomes is added to again."""
        r = self.random
        kind, counter = r.choice(("i8", "i32", "i64", "f32", "f64")), r.choice(("index", "i32"))
        low, trips, step = r.randrange(-2, 3), r.randrange(4), r.randrange(1, 4)
        bounds = [self.constant(counter, str(n)) for n in (low, low + trips * step - r.randrange(step), step)]
        start, name, i, carried = self.any(kind, plain=True), self.new(), self.new(), self.new()
        suffix = "" if counter == "index" else f" : {counter}"
        self.lines.append(
            "  " * self.depth + f"{name} = scf.for {i} = {bounds[0]} to {bounds[1]} step {bounds[2]} "
            f"iter_args({carried} = {start}) -> ({kind}){suffix} {{"
        )
        kept = {k: list(v) for k, v in self.values.items()}
        self.values.setdefault(counter, []).append(i)
        self.values.setdefault(kind, []).append(carried)
        self.repeat *= 4
        self.inner(r.randrange(1, 4), kind, True)
        self.repeat //= 4
        self.values = kept
        self.lines.append("  " * self.depth + "}")
        self.values.setdefault(kind, []).append(name)

    def call(self) -> None:
        """A helper, on no product: it may add to its arguments."""
        if not self.callees:
            return
        callee = self.random.choice(self.callees)
        operands = ", ".join(self.any(kind, plain=True) for kind in callee.arguments)
        kinds = ", ".join(callee.arguments)
        self.emit(f"func.call @{callee.name}({operands}) : ({kinds}) -> {callee.result}", callee.result)
        self.weight += self.repeat * callee.weight

    def load(self) -> None:
        """A value of a capture, where there are some."""
        if self.hook:
            proved.load(self, self.hook)

    def step(self) -> None:
        roll = self.random.randrange(22)
        if roll < 6:
            self.integer()
        elif roll < 11:
            self.floating()
        elif roll < 15:
            self.cast()
        elif roll < 17:
            self.comparison()
        elif roll < 18:
            self.select()
        elif roll < 19:
            self.call()
        elif roll < 20:
            self.load()
        elif self.nesting < 3:
            (self.branch if roll == 20 else self.loop)()

    def as_i32(self, kind: str) -> str:
        """The bits of some value, those above 32 folded in."""
        return self.bits_of(self.any(kind), kind)

    def bits_of(self, value: str, kind: str) -> str:
        """The same of a value; a NaN is replaced."""
        if kind in FLOATS:
            value = self.not_nan(value, kind)
            value, kind = (
                self.emit(f"arith.bitcast {value} : {kind} to {SAME_WIDTH[kind]}", SAME_WIDTH[kind]),
                SAME_WIDTH[kind],
            )
        if kind == "index":
            value, kind = self.emit(f"arith.index_cast {value} : index to i64", "i64"), "i64"
        if kind == "i64":
            shift = self.constant("i64", "32")
            high = self.emit(f"arith.shrui {value}, {shift} : i64", "i64")
            value = self.emit(f"arith.xori {value}, {high} : i64", "i64")
            return self.emit(f"arith.trunci {value} : i64 to i32", "i32")
        return value if kind == "i32" else self.emit(f"arith.extui {value} : {kind} to i32", "i32")

    def outcome(self, kind: str) -> str:
        """What the body gives: a few values of all types, as one that is no product."""
        kinds = [k for k in (*INTEGERS, *FLOATS) if self.values.get(k)]
        chosen = self.random.sample(kinds, min(3, len(kinds)))
        result = self.as_i32(self.random.choice(kinds)) if kind == "i32" else self.any(kind, plain=True)
        for other in chosen:
            part = self.as_i32(other)
            if kind == "i32":
                result = self.emit(f"arith.xori {result}, {part} : i32", "i32")
            else:
                number = self.emit(f"arith.sitofp {part} : i32 to {kind}", kind)
                result = self.emit(f"arith.addf {result}, {number} : {kind}", kind)
        return result
