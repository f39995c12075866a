# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What the axes of a capture stand for, as the source or the code of a metric says it, or its author."""

from __future__ import annotations

import numpy as np
import pytest

from annudf import CaptureError, ivf_flat
from annudf.distance import pairwise_distance
from reference import vectors

DIMS, ROWS, QUERIES = 6, 30, 9
AGE = np.random.default_rng(3).uniform(0, 90, ROWS).astype(np.float32)
WEIGHTS = np.random.default_rng(4).uniform(0.1, 3, (QUERIES, DIMS)).astype(np.float32)


def helper(ctx, scale):
    return scale * ctx.w[ctx.row]


def extents(update, value, finalize=None):
    metric = ivf_flat.metric(captures={"w": value}, finalize=finalize)(update)
    return metric._definition.captures["w"].extents


ONE, TWO = np.ones(4, np.float32), np.ones((4, 5), np.float32)


def test_extents_follow_from_the_indices():
    def unread(x, y, acc, ctx):
        return acc

    def by_variable(x, y, acc, ctx):
        i = ctx.row
        return acc + ctx.w[i]

    def of_either(x, y, acc, ctx):
        i = ctx.dim
        if x > 0:
            i = ctx.dims - 1 - ctx.dim
        return acc + ctx.w[i]

    def bounded(x, y, acc, ctx):
        return acc + ctx.w[ctx.dim % 4]

    def in_a_loop(x, y, acc, ctx):
        for i in range(4):
            acc = acc + ctx.w[i]
        return acc

    def helped(x, y, acc, ctx):
        return acc + helper(ctx, x)

    def renamed(x, y, acc, where):
        return acc + where.w[where.query]

    def handle(x, y, acc, ctx):
        w = ctx.w
        return acc + w[ctx.row, 3]

    def both(x, y, acc, ctx):
        return acc + ctx.w[ctx.query, ctx.dim] + ctx.w[ctx.query, ctx.dims - 1]

    assert extents(unread, ONE) == ("dim",)
    assert extents(unread, TWO) == (4, 5)
    assert extents(by_variable, ONE) == ("row",)
    assert extents(of_either, ONE) == ("dim",)
    assert extents(bounded, ONE) == (4,)
    assert extents(in_a_loop, ONE) == (4,)
    assert extents(helped, ONE) == ("row",)
    assert extents(renamed, ONE) == ("query",)
    assert extents(handle, TWO) == ("row", 5)
    assert extents(both, TWO) == ("query", "dim")
    assert extents(unread, ONE, finalize=lambda acc, ctx: acc + ctx.w[ctx.row]) == ("row",)

    def matched(x, y, acc, ctx):
        match ctx.row:
            case 0 | 1 as i if x > 0:
                return acc + ctx.w[i]
            case i:
                return acc + ctx.w[i]

    assert extents(matched, ONE) == ("row",)
    two = [lambda acc, ctx: acc + ctx.w[ctx.row], lambda acc, ctx: acc + ctx.w[ctx.query]]  # On one line.
    assert [extents(unread, ONE, finalize=one) for one in two] == [("row",), ("query",)]


@pytest.mark.parametrize(
    ("operator", "amount", "extent"),
    [("%", 4, 4), ("//", 2, 4), ("&", 3, 4), (">>", 1, 4), ("+", 1, "dim"), ("*", 2, "dim"), ("-", 1, "dim")],
)
def test_an_index_that_is_changed_in_place_is_what_its_operator_makes(operator, amount, extent, tmp_path):
    """``i %= 4`` says as much as ``i = i % 4``."""
    made = {}
    for name, statement in (("short", f"i {operator}= {amount}"), ("long", f"i = i {operator} {amount}")):
        file = tmp_path / f"{name}.py"
        text = f"def {name}(x, y, acc, ctx):\n    i = ctx.dim\n    {statement}\n    return acc + ctx.w[i] * x * y\n"
        file.write_text(text)
        exec(compile(text, str(file), "exec"), made)
    assert extents(made["short"], ONE) == extents(made["long"], ONE) == (extent,)


@pytest.mark.parametrize(
    ("value", "said", "message"),
    [
        (ONE, ("rows",), "extents has 'rows'; an extent is 'dim', 'row', 'query' or a positive number"),
        (ONE, (0,), "extents has 0; an extent is 'dim', 'row', 'query' or a positive number"),
        (ONE, (True,), "extents has True; an extent is 'dim', 'row', 'query' or a positive number"),
        (ONE, (), "extents has 0 entries, a capture has one to 3 axes"),
        (ONE, (1, 1, 1, 1), "extents has 4 entries, a capture has one to 3 axes"),
        (TWO, ("dim", "row"), "extents has 'row' after another; put it first, and transpose the array"),
        (TWO, "dim", "capture 'w' has shape (4, 5), its extents are ('dim'); give one an axis"),
        (ONE, 5, "capture 'w' has shape (4,), its extents are (5); give one an axis"),
        (
            ONE.reshape(1, 4),
            "dim",
            "capture 'w' has shape (1, 4), its extents are ('dim'); give one an axis, or the array w.reshape(-1)",
        ),
    ],
)
def test_extents_that_cannot_be(value, said, message):
    with pytest.raises(CaptureError) as caught:
        ivf_flat.metric(captures={"w": ivf_flat.capture(value, said)})(helper)
    assert str(caught.value) == message


ARRAYS = {"age": AGE, "w": WEIGHTS, "v": np.ones(DIMS, np.float32)}


def without_source(body, *names):
    space = {}
    exec(f"def update(x, y, acc, ctx):\n    {body}\n", space)
    return ivf_flat.metric(captures={name: ARRAYS[name] for name in names})(space["update"])


@pytest.mark.parametrize(
    ("body", "names", "said"),
    [
        ("return acc + ctx.age[ctx.row]", ("age",), "age: row x f32"),
        ("return acc + ctx.v[ctx.dim] * ctx.age[ctx.row]", ("v", "age"), "v: dim x f32, age: row x f32"),
        ("return acc + ctx.w[ctx.query, ctx.dim] * x", ("w",), "w: query x dim x f32"),
        ("return acc + (ctx.v[ctx.dim] if x > y else ctx.v[ctx.dim] * 2)", ("v",), "v: dim x f32"),
        ("return acc + (lambda: ctx.age[ctx.row])()", ("age",), "age: row x f32"),
        ("return acc + ctx.v[2]", ("v",), "v: 6 x f32"),
        ("return acc + ctx.v[ctx.dims - 1 - ctx.dim]", ("v",), "v: dim x f32"),
        ("return acc + ctx.v[int(x) % 6]", ("v",), "v: 6 x f32"),
        ("return acc + ctx.v[ctx.dim] + ctx.v[ctx.dims - 1 - ctx.dim]", ("v",), "v: dim x f32"),
    ],
)
def test_without_source_the_code_says_the_extents(body, names, said):
    assert repr(without_source(body, *names)) == f"<annudf metric update ({said})>"


def test_without_source_values_are_those_with_it():
    rows, asked = vectors(ROWS, DIMS, "float32", 1), vectors(QUERIES, DIMS, "float32", 2)
    aged = without_source("return acc + (x - y) ** 2 * ctx.age[ctx.row]", "age")
    squares = ((asked[:, None].astype(np.float64) - rows[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(pairwise_distance(asked, rows, metric=aged), squares * AGE, rtol=1e-5)


@pytest.mark.parametrize(
    ("body", "name", "extents"),
    [
        ("return acc + ctx.age[ctx.row - 1 + ctx.dim]", "age", '("row",)'),
        ("a = ctx.age; return acc + a[ctx.row]", "age", '("row",)'),
        ("c = ctx; return acc + c.age[c.row]", "age", '("row",)'),
        ("return acc + ctx.w[ctx.query, ctx.dims - 1 - ctx.dim]", "w", '("row", "dim")'),
    ],
)
def test_without_source_what_the_code_does_not_say_is_refused(body, name, extents):
    with pytest.raises(CaptureError) as caught:
        without_source(body, name)
    assert str(caught.value) == (
        f"the extents of capture '{name}' are unknown, as the source of update cannot be read; declare them: '{name}': "
        f'ivf_flat.capture({name}, extents={extents}), where "dim" is one entry a dimension, "row" one an id, '
        '"query" one a query and a number that many entries'
    )


def test_said_extents_need_no_source():
    space = {}
    exec("def update(x, y, acc, ctx):\n    a = ctx.age\n    return acc + a[ctx.row]\n", space)
    metric = ivf_flat.metric(captures={"age": ivf_flat.capture(AGE, extents=("row",))})(space["update"])
    assert "annudf.load" in metric.mlir()


def through(ctx):
    return ctx.age[ctx.row]


def test_a_capture_that_nothing_reads_is_told_of(recwarn):
    @ivf_flat.metric(captures={"age": AGE, "v": np.ones(DIMS, np.float32), "p": 2.0})
    def reads_age(x, y, acc, ctx):
        return acc + x * through(ctx)

    assert [str(one.message) for one in recwarn] == ["reads_age never reads ctx.v; drop 'v' from captures, or read it"]
    assert (recwarn[0].filename, recwarn[0].category) == (__file__, UserWarning)
    recwarn.clear()

    @ivf_flat.metric(captures={"age": AGE}, finalize=lambda acc, ctx: acc * ctx.age[ctx.row])
    def in_finalize(x, y, acc, ctx):
        return acc + x

    assert not len(recwarn)
