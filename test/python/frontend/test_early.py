# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the decorator itself refuses and warns of: all that needs no compiler."""

from __future__ import annotations

import functools
import inspect
import os
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

from annudf import ivf_flat
from annudf.errors import UnsupportedError

np_of_now = np


def one_argument(x):  # type: ignore[no-untyped-def]
    return x


def of_vectors(x, y, acc, ctx):  # type: ignore[no-untyped-def]
    return acc + np_of_now.linalg.norm(x - y)


def unknown_capture(x, y, acc, ctx):  # type: ignore[no-untyped-def]
    return acc + ctx.weight * x * y


def entry_of_x(x, y, acc, ctx):  # type: ignore[no-untyped-def]
    return acc + x[ctx.dim] * y[ctx.dim]


def entry_of_acc(x, y, acc, ctx):  # type: ignore[no-untyped-def]
    return acc[0] + x * y


def writes_acc(x, y, acc, ctx):  # type: ignore[no-untyped-def]
    acc[0] += x * y
    return acc


def returns_a_list(x, y, acc, ctx):  # type: ignore[no-untyped-def]
    return [acc[0] + x, acc[1] + y]


def plain(x, y, acc):  # type: ignore[no-untyped-def]
    return acc + x * y


def dim_in_finalize(acc, ctx):  # type: ignore[no-untyped-def]
    return acc * ctx.dim


def second(acc, ctx):  # type: ignore[no-untyped-def]
    return acc[1]


SEVERAL = {"initial": (0.0, 0.0), "finalize": lambda acc, ctx: acc[1]}


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (one_argument, {}, "takes (x); a metric's function is one_argument(x, y, acc, ctx)"),
        (of_vectors, {}, "a metric cannot use numpy.linalg; it sees one coordinate of two vectors at a time"),
        (unknown_capture, {"captures": {"weights": 1.0}}, "there is no ctx.weight; there are ctx.dim, ctx.dims, ctx."),
        (entry_of_x, {}, "a number has no entries; leave out [...]: x and y are the coordinates of dimension ctx.dim"),
        (entry_of_acc, {}, "the accumulator is one number, as initial is; give initial a number a field, such as "
                           "initial=(0.0, 0.0), or leave out [...]"),
        (writes_acc, SEVERAL, "acc[0] cannot be assigned, as a metric changes nothing in place; return the next value, or several fields as a tuple: return acc[0] + x, acc[1]"),
        (returns_a_list, SEVERAL, "a metric cannot use lists; return several fields as a tuple: return a, b"),
        (plain, {"finalize": dim_in_finalize}, "ctx.dim has no meaning in finalize, which is called once a row"),
        (plain, {"finalize": second}, "the accumulator is one number, as initial is"),
    ],
)  # fmt: skip
def test_refused_at_the_decorator(function: Any, options: Any, message: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        ivf_flat.metric(**options)(function)
    assert message in str(caught.value)
    (diagnostic,) = caught.value.diagnostics
    about = options.get("finalize", function) if function is plain else function
    first = inspect.getsourcelines(about)[1]
    assert diagnostic.file == __file__ and first <= diagnostic.line <= first + 2


def test_nothing_is_imported_for_that() -> None:
    program = (
        "import sys\nfrom annudf import ivf_flat\n"
        "def update(x):\n    return x\n"
        "try:\n    ivf_flat.metric(update)\nexcept ivf_flat.metric.__globals__['ArgumentError'].__mro__[1] as error:\n"
        "    assert 'takes (x)' in str(error), error\nelse:\n    raise SystemExit('accepted')\n"
        "assert 'numba_cuda_mlir' not in sys.modules\n"
    )
    environment = {**os.environ, "ANNUDF_IMPORT_AHEAD": "0"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_names_that_are_something_else_by_then_are_left_to_the_compiler() -> None:
    def rebinds(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        x = (x, y)
        return acc + x[0] * x[1]

    def inner(x, y, acc, ctx):  # type: ignore[no-untyped-def]
        first = lambda x: x[0]  # noqa: E731
        return acc + first((x, y))

    for function in (rebinds, inner):
        assert "arith.addf" in ivf_flat.metric(function).mlir()


def test_a_finalize_that_reads_no_accumulator() -> None:
    def constant(acc, ctx):  # type: ignore[no-untyped-def]
        return ctx.age[ctx.row]

    def meant(_acc, ctx):  # type: ignore[no-untyped-def]
        return ctx.age[ctx.row]

    captures = {"age": np.ones(3, np.float32)}
    with pytest.warns(UserWarning, match="metric plain: finalize never reads acc, so no coordinate counts; compute"):
        ivf_flat.metric(captures=captures, finalize=constant)(plain)

    with pytest.warns(UserWarning, match="metric Unread: finalize reads no field, so no coordinate counts; compute"):

        @ivf_flat.metric(captures=captures)
        class Unread:
            total: np.float32 = 0  # type: ignore[assignment]

            def update(self, x, y, ctx):  # type: ignore[no-untyped-def]
                self.total += x * y

            def finalize(self, ctx):  # type: ignore[no-untyped-def]
                return ctx.age[ctx.row]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ivf_flat.metric(captures=captures, finalize=meant)(plain)


def with_context(x, y, acc, ctx):  # type: ignore[no-untyped-def]
    return acc + x * ctx.dims


def of_ctx(ctx):  # type: ignore[no-untyped-def]
    return ctx.row > 1


def test_a_function_has_the_arguments_of_its_code() -> None:
    @functools.wraps(with_context)
    def without(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + x

    @functools.wraps(with_context)
    def all_of_them(*a):  # type: ignore[no-untyped-def]
        return with_context(*a)

    def lies(x, y, acc):  # type: ignore[no-untyped-def]
        return acc + x

    lies.__signature__ = inspect.signature(with_context)  # type: ignore[attr-defined]
    for function in (without, lies):
        assert "arith.addf" in ivf_flat.metric(function).mlir()
    with pytest.raises(UnsupportedError) as caught:
        ivf_flat.metric(all_of_them)
    told = caught.value.diagnostics[0].message
    assert told == "takes (*a); a metric's function is with_context(x, y, acc, ctx)"
    with pytest.raises(UnsupportedError) as caught:
        ivf_flat.metric(finalize=all_of_them)(plain)
    assert caught.value.diagnostics[0].message == "takes (*a); a metric's function is with_context(acc, ctx)"

    @functools.wraps(of_ctx)
    def keep(*a):  # type: ignore[no-untyped-def]
        return a[0].row > 1

    with pytest.raises(UnsupportedError) as caught:
        ivf_flat.filter(keep).mlir()
    assert caught.value.diagnostics[0].message.startswith("takes (*a); a filter's function is of_ctx(ctx)")


def test_a_method_has_the_arguments_of_its_code() -> None:
    def given(self, x, y, ctx):  # type: ignore[no-untyped-def]
        pass

    with pytest.raises(UnsupportedError) as caught:

        @ivf_flat.metric
        class OfFields:
            total: np.float32 = np.float32(0)

            @functools.wraps(given)
            def update(*a):  # type: ignore[no-untyped-def]
                a[0].total += a[1]

            def finalize(self, ctx):  # type: ignore[no-untyped-def]
                return self.total

    assert caught.value.diagnostics[0].message == (
        "update of class OfFields takes (*a); name its arguments, self first"
    )
