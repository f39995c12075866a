# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Metrics that differ in one value have different fingerprints, and metrics that are built alike have one."""

from __future__ import annotations

import dataclasses
import enum
import math
import struct
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annudf import ivf_flat
from annudf._frontend.source.digest import Digest
from annudf._frontend.source.fingerprint import fingerprint
from annudf._frontend.source.snapshot import snapshot
from annudf._support.options import CaptureType, MetricOptions

OPTIONS = MetricOptions("m", "min", 0.0, "l2")


def identity(function: Any, options: MetricOptions = OPTIONS) -> str:
    return fingerprint(*snapshot(function, options))


# --- Random graphs of values ------------------------------------------------------------------------
# A graph is a list of nodes, each of which holds numbers or nodes before it.

NUMBERS: list[Any] = [
    *(0, 1, 2, -1, 2**62, True, False, 0.0, -0.0, 1.0, 2.0, math.inf, math.nan, 5e-324),
    *(kind(one) for kind in (np.float16, np.float32, np.float64, np.int8, np.uint8, np.int32, np.uint32, np.int64,
                             np.uint64, np.bool_) for one in (0, 1)),
    *(np.float32(-0.0), np.float64(-0.0), math.sqrt, np.cbrt, np.exp, np.logaddexp, np.logaddexp2, abs),
]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Pair:
    a: Any
    b: Any


class Named(NamedTuple):
    a: Any
    b: Any


def a_class(a: Any, b: Any) -> Any:
    return type("Holder", (), {"a": a, "b": b})


def a_module(a: Any, b: Any) -> Any:
    module = types.ModuleType("holder")
    module.a, module.b = a, b  # type: ignore[attr-defined]
    return module


def an_enum(a: Any, b: Any) -> Any:
    return Pair(enum.Enum("One", {"a": a}), enum.Enum("Other", {"a": b}))


def closure(a: Any, b: Any) -> Any:
    def helper(v):  # type: ignore[no-untyped-def]
        return v + a + b + a.a + b.b + a.value

    return helper


def by_globals(a: Any, b: Any) -> Any:
    space = {"g": a, "h": b}
    exec("def helper(v):\n    return v + g + h + g.a + h.b + g.value", space)
    return space["helper"]


def defaults(a: Any, b: Any) -> Any:
    def helper(v, w=0):  # type: ignore[no-untyped-def]
        return v + w

    helper.__defaults__ = (a,)
    return closure(helper, b)


def keywords(a: Any, b: Any) -> Any:
    def helper(v, *, w=0):  # type: ignore[no-untyped-def]
        return v + w

    helper.__kwdefaults__ = {"w": a}
    return closure(helper, b)


def named_defaults(a: Any, b: Any) -> Any:
    made: Any = NamedTuple("Made", [("a", float), ("b", float)])
    made.__new__.__defaults__, made._field_defaults = (a, b), {"a": a, "b": b}
    return made


OF_NUMBERS = {defaults, keywords, named_defaults}
HOLDERS: list[Callable[[Any, Any], Any]] = [
    *(Pair, Named, lambda a, b: types.SimpleNamespace(a=a, b=b), a_class, a_module, an_enum, closure, by_globals),
    *OF_NUMBERS,
]
Value = tuple[str, int]
"""A number, or a node before it."""
Node = tuple[int, tuple[Value, ...]]
"""Which of the holders, and its two values."""


@dataclasses.dataclass(frozen=True)
class Graph:
    nodes: tuple[Node, ...]
    ends: tuple[int, ...]
    """Three nodes that the function reaches first."""


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    nodes: list[Node] = []
    kinds = draw(st.lists(st.integers(0, len(HOLDERS) - 1), min_size=1, max_size=2))  # Few, so that some are alike.
    for _ in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(kinds))
        nodes.append((kind, tuple(draw(values(len(nodes), kind)) for _ in range(2))))
    ends = st.integers(0, len(nodes) - 1)
    return Graph(tuple(nodes), (draw(ends), draw(ends), draw(ends)))


def values(before: int, kind: int) -> st.SearchStrategy[Value]:
    number = st.tuples(st.just("number"), st.integers(0, len(NUMBERS) - 1))
    if not before or HOLDERS[kind] in OF_NUMBERS:
        return number
    return number | st.tuples(st.just("node"), st.integers(0, before - 1))


@st.composite
def edits(draw: st.DrawFn, graph: Graph) -> Graph:
    """The graph with one value, or one end, that may be another."""
    at = draw(st.integers(0, len(graph.nodes) - 1))
    if draw(st.booleans()):
        place = draw(st.integers(0, 2))
        return Graph(graph.nodes, (*graph.ends[:place], at, *graph.ends[place + 1 :]))
    kind, held = graph.nodes[at]
    place = draw(st.integers(0, 1))
    changed = (kind, (*held[:place], draw(values(at, kind)), *held[place + 1 :]))
    return Graph((*graph.nodes[:at], changed, *graph.nodes[at + 1 :]), graph.ends)


def built(graph: Graph, how: Callable[[Any, Any], Any]) -> Any:
    """A function that reaches the ends, made anew."""
    made: list[Any] = []
    for kind, held in graph.nodes:
        made.append(HOLDERS[kind](*(NUMBERS[at] if what == "number" else made[at] for what, at in held)))
    first, second, third = (made[at] for at in graph.ends)
    return how(first, how(second, third))


def unfolded(graph: Graph) -> Any:
    """What the function reaches, as trees."""
    made: list[Any] = []
    for kind, held in graph.nodes:
        made.append((kind, *(meaning(NUMBERS[at]) if what == "number" else made[at] for what, at in held)))
    return [made[at] for at in graph.ends]


def meaning(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.dtype, value.tobytes()
    return (type(value), struct.pack("<d", value)) if isinstance(value, float) else (type(value), value)


@settings(max_examples=400, deadline=None)
@given(st.data(), st.sampled_from([closure, by_globals]))
def test_one_value_is_another(data: st.DataObject, how: Callable[[Any, Any], Any]) -> None:
    graph = data.draw(graphs())
    edited = data.draw(edits(graph))
    assert identity(built(graph, how)) == identity(built(graph, how))
    if unfolded(graph) != unfolded(edited):
        assert identity(built(graph, how)) != identity(built(edited, how))


def test_which_of_two_objects_the_third_is() -> None:
    one, other = Pair(2.0, 1.0), Pair(8.0, 1.0)

    def metric(third: Any) -> Any:
        def update(x, y, acc):  # type: ignore[no-untyped-def]
            return acc + one.a * x + other.a * y + third.a * 100

        return update

    rows = np.ones((1, 1), np.float32)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows)
    for third in (one, other, one):
        made = ivf_flat.metric(metric(third))
        found = ivf_flat.search(ivf_flat.SearchParams(metric=made), index, rows, 1)[0].item()
        assert found == made(1, 1, 0) == 10 + 100 * third.a


def test_modules_that_import_each_other() -> None:
    def cycle(value: float) -> Any:
        one, other = types.ModuleType("one"), types.ModuleType("other")
        one.a, other.a, other.b = other, one, value  # type: ignore[attr-defined]
        return closure(one, other)

    assert identity(cycle(1.0)) == identity(cycle(1.0)) != identity(cycle(2.0))


# --- Code, defaults, options ------------------------------------------------------------------------


def test_constants_and_signatures() -> None:
    def defined(text: str) -> str:
        space: dict[str, Any] = {}
        exec(text, space)
        return identity(space["update"])

    constants = ("0", "0.0", "-0.0", "False", "1", "1.0", "True", "1e999", "-1e999", "0j", "-0j", "'1'", "b'1'", "None",
                 "(1, 2)", "(1, 2.0)", "(1, (2,))", "(1, 2, ())")  # fmt: skip
    arguments = ("x, y, acc", "x, y, acc, b=1", "x, y, acc, *, b=1", "x, y, acc, b=1.0", "x, y, /, acc", "x, y, a")
    texts = [f"def update(x, y, acc):\n    return acc + {one}" for one in constants]
    texts += [f"def update({one}):\n    return x" for one in arguments]
    assert len({defined(text) for text in texts}) == len(texts)
    assert [defined(text) for text in texts] == [defined(text) for text in texts]


class Likeness(float):
    """Looks like every other."""

    def __repr__(self) -> str:
        return "likeness"


def test_defaults_are_not_known_by_their_looks() -> None:
    def helper(value: Any) -> str:
        return identity(defaults(value, 1.0))

    assert helper(Likeness(1)) != helper(Likeness(2))
    assert len({helper(one) for one in NUMBERS}) == len(NUMBERS)
    with np.printoptions(legacy="1.25"):
        assert helper(np.float32(2)) != helper(2.0) != helper(np.float64(2))


def other(acc):  # type: ignore[no-untyped-def]
    return acc


def root(acc):  # type: ignore[no-untyped-def]
    return acc**0.5


OPTIONS_OTHERWISE: dict[str, list[Any]] = {
    "name": ["n"],
    "order": ["max"],
    "initial": [-0.0, 1.0, (0.0,), (0.0, 0.0), 1 << 60],
    "coarse": ["inner_product"],
    "coarse_order": ["min", "max"],
    "captures": [
        *({"w": CaptureType("f32", extents)} for extents in ((), ("dim",), ("row",), (1,), (11,), (1, 1), ("dim", 1))),
        *({name: CaptureType("f64") for name in names} for names in (("w",), ("w", "v"), ("v", "w"))),
    ],
    "compute": ["f64"],
    "accumulator": ["f64", ("f32",), ("f32", "f64")],
    "elements": [("f32",), ("f32", "f16")],
    "finalize": [root, other],
    "numerics": ["reassociate"],
    "combine": [root, other],
    "fields": [Named, NamedTuple("Named", [("a", float)]), NamedTuple("Other", [("a", float)])],  # type: ignore[misc]
    "names": [("a",), ("a", "b")],
    "init": [root, other],
    "missing_values": [True],
    "is_filter": [True],
    "is_pairwise": [True],
    "dims": [2, 3],
}


def test_every_option_decides() -> None:
    assert set(OPTIONS_OTHERWISE) == {one.name for one in dataclasses.fields(MetricOptions)}
    changed = [
        dataclasses.replace(OPTIONS, **{name: value})
        for name, several in OPTIONS_OTHERWISE.items()
        for value in several
    ]
    assert len({identity(root, one) for one in (OPTIONS, *changed)}) == len(changed) + 1


def test_two_files_of_one_name_in_other_folders_are_one() -> None:
    """Cells of a notebook are in a folder of their own each time."""

    def defined(file: str, line: str = "") -> str:
        space: dict[str, Any] = {}
        exec(compile(f"{line}def update(x, y, acc):\n    return acc + x", file, "exec"), space)
        return identity(space["update"])

    assert defined("/tmp/a/cell.py") == defined("/tmp/b/cell.py")
    assert len({defined("cell.py"), defined("other.py"), defined("cell.py", "\n")}) == 3


SCALARS = st.one_of(
    st.integers(), st.booleans(), st.floats(), st.text(), st.binary(), st.none(), st.complex_numbers(), st.just(...)
)
FIELDS = st.lists(st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=2).map(tuple), max_leaves=4), max_size=3)


def spelled(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [spelled(one) for one in value]
    if isinstance(value, complex):
        return type(value), struct.pack("<dd", value.real, value.imag)
    return meaning(value)


@settings(max_examples=100, deadline=None)
@given(FIELDS, FIELDS)
def test_digests_of_sequences(one: list[Any], another: list[Any]) -> None:
    def digest(fields: list[Any]) -> str:
        into = Digest()
        into.add(*fields)
        return into.hexdigest()

    assert (digest(one) == digest(another)) == (spelled(one) == spelled(another))
    assert digest(one) != digest([*one, tuple(another)]) and digest([tuple(one), *another]) != digest([*one, *another])


def test_what_no_digest_knows_is_refused() -> None:
    with pytest.raises(TypeError, match="a list has no digest"):
        Digest().add([1])
