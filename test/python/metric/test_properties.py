# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What is proved of a metric's formula, and for the rest the user's line."""

from __future__ import annotations

import inspect
import json
import math
import pickle

import numpy as np
import pytest
from small import W

from annudf import CompileError, ivf_flat, metrics
from annudf._frontend.source.report import ops_in_python
from annudf.ivf_flat import Claim

FORM = "w[dim] x^2 - 2 w[dim] x y + w[dim] y^2, of x - y"
OF_ALL = ("symmetric", "difference", "sign", "monotone")


@ivf_flat.metric(captures={"w": W})
def weighted(x, y, acc, ctx):
    return acc + ctx.w[ctx.dim] * (x - y) ** 2


@ivf_flat.metric
def manhattan(x, y, acc, ctx):
    d = x - y
    return acc + abs(d)


@ivf_flat.metric
def cubic(x, y, acc, ctx):
    return acc + x * y * x


@ivf_flat.metric(initial=(0.0, 0.0))
class cosine:
    def update(x, y, acc, ctx):
        dot, norm = acc
        return dot + x * y, norm + y * y

    def finalize(acc, ctx):
        dot, norm = acc
        return -dot / norm**0.5


def line_of(metric, text):
    """The number of the only line of its source that has the text."""
    lines, first = inspect.getsourcelines(metric.__wrapped__)
    (found,) = (i for i, line in enumerate(lines) if text in line)
    return first + found


def test_a_form():
    proved = weighted.properties
    assert (proved.name, proved.quadratic.text, str(proved.form)) == ("weighted", FORM, FORM)
    assert proved.quadratic and not proved.quadratic.exact
    form = proved.form
    assert list(form.coefficients.items()) == [("x^2", "w[dim]"), ("x y", "-2 w[dim]"), ("y^2", "w[dim]")]
    assert (form.of_difference, form.initial, form.finalize) == (True, 0.0, "identity")
    assert form.data == {
        key: value
        for key, value in json.loads(weighted.artifact(archs=[]).manifest)["form"].items()
        if key not in ("text", "coefficients")
    }
    assert (proved.symmetric.text, proved.symmetric.exact) == ("symmetric", True)
    assert (proved.difference.text, proved.difference.exact) == ("a function of x - y", True)
    assert (proved.sign.value, proved.sign.where) == (">= 0", (("w", ">= 0"),))
    assert (proved.monotone.value, proved.monotone.where) == ("never falls", (("w", ">= 0"),))
    (field,) = proved.fields
    assert field.coefficients == form.coefficients
    assert field.polynomial.text == f"adds {FORM.removesuffix(', of x - y')} (roundings: 4 of f32)"
    assert (field.joined.text, bool(field.joined)) == ("the field joined with terms", True)
    assert repr(form) == f"<annudf form: {FORM}>"
    assert repr(proved.sign) == "<proved: terms >= 0 where w >= 0>"
    assert repr(proved) == (
        f"<annudf properties of weighted: {FORM}; symmetric; a function of x - y; terms >= 0 where w >= 0; never falls "
        "where w >= 0>"
    )
    assert repr(field) == (
        f"<annudf field: {field.polynomial.text}; symmetric; a function of x - y; terms >= 0 where w >= 0; never falls "
        "where w >= 0>"
    )
    assert weighted.bind(w=W * 2).properties is proved


def test_finalize_and_initial():
    @ivf_flat.metric(initial=2.0, order="max")
    def rooted(x, y, acc, ctx):
        return acc + x * y + 3 * y

    form = rooted.properties.form
    assert form.coefficients == {"x y": "1", "y": "3"}
    assert (form.of_difference, form.initial) == (False, 2.0)

    def finalize(acc, ctx):
        return -acc

    negated = ivf_flat.metric(finalize=finalize)(lambda x, y, acc, ctx: acc + x * y)
    assert negated.properties.form.finalize == "falls"


def test_what_is_not_proved_says_why_at_the_line():
    proved = manhattan.properties
    assert proved.form is None
    assert not proved.quadratic
    line = line_of(manhattan, "abs(d)")
    place = f"{__file__}:{line}:18"
    why = "'abs' of x and y is no polynomial"
    assert (proved.quadratic.why, proved.quadratic.file, proved.quadratic.line) == (why, __file__, line)
    caret = "    return acc + abs(d)\n" + " " * 21 + "^"
    assert str(proved.quadratic) == f"no form: {why} ({place})\n    {caret}"
    assert repr(proved.quadratic) == f"<unproved: no form: {why} ({place})>"
    assert str(proved) == "\n".join(
        [
            "metric manhattan",
            f"  form          no form: {why} ({place})",
            "          return acc + abs(d)",
            " " * 23 + "^",
            f"  polynomial    not proved to be a polynomial of x and y: {why} ({place})",
            "  symmetric     symmetric",
            "  difference    a function of x - y",
            "  sign          terms >= 0",
            "  monotone      never falls",
        ]
    )


def test_nothing_is_proved():
    proved = cubic.properties
    told = {
        name: (getattr(proved, name).proved, getattr(proved, name).text, getattr(proved, name).why) for name in OF_ALL
    }
    assert told == {
        "symmetric": (
            False,
            "not proved to be symmetric",
            "'*' is not known to stay the same, or to change its sign only, when x and y are exchanged",
        ),
        "difference": (
            False,
            "not proved to be a function of x - y",
            "'*' uses x or y outside of x - y",
        ),
        "sign": (False, "not proved to have terms of one sign", "'*' may give either sign"),
        "monotone": (False, "not proved to be monotone", "'*' may give either sign"),
    }
    assert proved.quadratic.why == "'*' gives a power of x and y above 2"
    assert {getattr(proved, name).line for name in OF_ALL} == {line_of(cubic, "x * y * x")}


def test_a_field_that_is_not_joined_with_terms():
    @ivf_flat.metric
    def last(x, y, acc, ctx):
        return (acc + x) * y

    (field,) = last.properties.fields
    why = "'+' joins the field by another operation than the last one does"
    assert [one.why for one in (field.joined, field.polynomial, field.monotone)] == [why] * 3
    assert field.joined.text == "not proved to be the field joined with terms"
    assert repr(field) == "<annudf field: not proved to be the field joined with terms>"
    assert str(last.properties).count("not proved") == 1


def test_a_product_of_lengths():
    @ivf_flat.metric(
        initial=(0.0, 0.0, 0.0),
        finalize=lambda acc, ctx: 1 - acc[0] / math.sqrt(acc[1] * acc[2]),
        captures={"w": np.ones(4, np.float32)},
    )
    def angle(x, y, acc, ctx):
        w = ctx.w[ctx.dim]
        return acc[0] + w * x * y, acc[1] + w * x * x, acc[2] + w * y * y

    proved = angle.properties
    text = "normalised: w[dim] x y / sqrt(w[dim] x^2 * w[dim] y^2), finalize falls"
    assert proved.quadratic and proved.quadratic.text == text
    assert proved.form.text == text
    assert proved.form.coefficients == {"x y": "w[dim]", "x^2": "w[dim]", "y^2": "w[dim]"}


def test_a_correlation():
    def ends(acc, ctx):
        sx, sy, xx, yy, xy = acc
        n = ctx.dims
        return 1 - (xy - sx * sy / n) / math.sqrt((xx - sx * sx / n) * (yy - sy * sy / n))

    @ivf_flat.metric(initial=(0.0,) * 5, finalize=ends)
    def pearson(x, y, acc):
        sx, sy, xx, yy, xy = acc
        return sx + x, sy + y, xx + x * x, yy + y * y, xy + x * y

    text = "normalised: x y / sqrt(x^2 * y^2), less their means of dims, finalize falls"
    assert pearson.properties.form.text == text


def test_several_fields():
    proved = cosine.properties
    assert proved.quadratic.why == "its accumulator is not one, three or five f32"
    dot, norm = proved.fields
    assert (dot.coefficients, norm.coefficients) == ({"x y": "1"}, {"y^2": "1"})
    assert (bool(dot.symmetric), bool(norm.symmetric), bool(proved.symmetric)) == (True, False, False)
    assert proved.symmetric == norm.symmetric
    assert (dot.sign.why, proved.sign) == ("'*' may give either sign", dot.sign)
    text = str(proved)
    assert text.index("\nfield 0\n") < text.index("\nfield 1\n")
    # Once for three claims that one place is the reason of.
    assert text.count("return dot + x * y, norm + y * y") == 2

    @ivf_flat.metric(initial=(0.0, 0.0), finalize=lambda acc, ctx: acc[0] + acc[1])
    def both(x, y, acc, ctx):
        return acc[0] + (x - y) ** 2, np.fmax(acc[1], abs(x - y))

    assert both.properties.symmetric == Claim(True, "field 0: symmetric; field 1: symmetric", exact=True)
    assert both.properties.monotone == Claim(
        True, "field 0: never falls; field 1: never falls", exact=True, value="never falls"
    )


def test_of_text_and_ready_made():
    assert str(metrics.get("euclidean").properties.form) == "x^2 - 2 x y + y^2, of x - y, finalize rises"
    canberra = metrics.get("canberra").properties
    assert canberra.quadratic.why == "'math.absf' of x and y is no polynomial"
    assert (canberra.quadratic.file, canberra.quadratic.line > 0) == ("<built-in metric canberra>", True)


def test_of_compiled_code_the_form_alone(tmp_path):
    path = tmp_path / "w.annudf"
    weighted.save(path, archs=[])
    proved = ivf_flat.load_metric(path).properties
    assert proved.form == weighted.properties.form
    assert (proved.quadratic, proved.fields) == (Claim(True, FORM), ())
    why = f"{path} has the form alone; ask the metric that it was compiled from"
    for name in OF_ALL:
        claim = getattr(proved, name)
        assert (claim.proved, bool(claim), claim.text, claim.why) == (None, False, f"{name} not recorded", why)
    assert repr(proved.sign) == f"<unknown: sign not recorded: {why}>"
    assert str(proved).splitlines() == [
        "metric weighted",
        f"  form          {FORM}",
        f"  symmetric     symmetric not recorded: {why}",
        "  difference    difference not recorded",
        "  sign          sign not recorded",
        "  monotone      monotone not recorded",
    ]
    manhattan.save(path, archs=[])
    none = ivf_flat.load_metric(path).properties
    assert (none.form, none.quadratic.proved, none.quadratic.text) == (None, None, "form not recorded")
    assert none.quadratic.why == (
        f"{path} has no form: none was proved, or it was compiled without; ask the metric that it was compiled from"
    )


def test_of_cuda_source_nothing():
    proved = ivf_flat.cuda_source_metric("template <typename T> struct metric;").properties
    assert proved.quadratic.why == (
        "what CUDA source of 'cuda_source' computes was not verified, so nothing is proved of it"
    )
    assert (proved.quadratic.proved, proved.symmetric.proved) == (None, None)


def test_of_a_metric_that_breaks_a_rule():
    @ivf_flat.metric(captures={"w": W})
    def outside(x, y, acc, ctx):
        return acc + ctx.w[ctx.dim + 1] * x

    with pytest.raises(CompileError, match=r"\[L3\] an index of this capture may be as large as ctx\.dims,"):
        _ = outside.properties


def test_they_can_be_pickled_and_compared():
    proved = weighted.properties
    assert pickle.loads(pickle.dumps(proved)) == proved
    assert proved != manhattan.properties


def test_ops_are_spelled_as_in_python():
    assert ops_in_python("'arith.divf' and 'math.powf', 'math.sqrt', 'arith.select'") == "'/' and '**', 'sqrt', 'if'"
    assert ops_in_python("'arith.cmpf' of 'func.call'") == "'arith.cmpf' of 'func.call'"


def test_names_of_captures_are_kept():
    """A capture may be called as an op is."""

    @ivf_flat.metric(captures={"addf": np.ones(6, np.float32)})
    def odd(x, y, acc, ctx):
        return acc + ctx.addf[ctx.dim] * x * y

    assert odd.properties.form.coefficients == {"x y": "addf[dim]"}


TABLE = np.ones((10, 4), np.float32)


def entry(ctx):
    return ctx.table[ctx.row, 1]


@pytest.mark.parametrize(
    ("finalize", "only"),
    [
        (None, True),
        (lambda acc, ctx: acc * ctx.table[ctx.row, 2], True),
        (lambda acc, ctx: acc * entry(ctx) + ctx.table[ctx.row, 0], True),
        (lambda acc, ctx: acc * ctx.table[ctx.row, ctx.row % 4], False),
        (lambda acc, ctx: acc * ctx.table[ctx.row, 2] + ctx.row % 7, False),
        (lambda acc, ctx: acc * entry(ctx) if ctx.row > 3 else acc, False),
        (lambda acc, ctx: acc + ctx.row, False),
    ],
)
def test_whether_the_row_is_only_an_index(finalize, only, tmp_path):
    captures = {} if finalize is None else {"table": ivf_flat.capture(TABLE, extents=("row", 4))}

    @ivf_flat.metric(captures=captures, finalize=finalize)
    def away(x, y, acc):
        return acc + abs(x - y)

    assert away.properties.row_only_indexes is only
    away.save(tmp_path / "away.annudf", archs=[])
    # A manifest says so where there is an array that it could index.
    recorded = True if only and captures else None
    assert ivf_flat.load_metric(tmp_path / "away.annudf").properties.row_only_indexes is recorded
