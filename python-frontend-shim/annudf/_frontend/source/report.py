# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Errors that point at the user's own line."""

from __future__ import annotations

import ast
import contextlib
import linecache
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NoReturn

from annudf._core import MAX_CAPTURES
from annudf._support.log import logger
from annudf.errors import CompileError, Diagnostic, UnsupportedError


def excerpt(file: str, line: int, column: int) -> str:
    """The source line with a caret under `column` (from 1), or nothing if there is none to show."""
    text = linecache.getline(file, line).rstrip("\n")
    if not text.strip():
        return ""
    shown = text.expandtabs(1)
    caret = f"\n    {' ' * (column - 1)}^" if 0 < column <= len(shown) + 1 else ""
    return f"\n    {shown}{caret}"


def message_of(diagnostic: Diagnostic) -> str:
    """One diagnostic as the text of an exception."""
    return str(diagnostic) + excerpt(diagnostic.file, diagnostic.line, diagnostic.column)


_PREFIX = re.compile(r"^'[a-z_.]+' op ")

ENDLESS = "[P13] repeats without an end; count what its condition reads, such as i += 1 for i < 10, or break out of it"
_IN_PYTHON = {
    "P13": ENDLESS,
    "S1": "[S1] repeats as often as a value says; write for i in range(<constant>), and choose in it with if",
    "M14": f"[M14] a metric has at most {MAX_CAPTURES} captures; join some in one array",
    "W23": "[W23] np.median is in a loop or a branch, or after a return; compute it before them",
    **{
        rule: f"[{rule}] this cannot be used in a metric; use numbers, if, for over range, and the functions that the"
        " documentation lists"
        for rule in ("P1", "P2", "P8", "B1", "B2", "F3")
    },
}
"""Messages of rules that speak of the dialect, as a Python user would say them."""


def _in_python(diagnostic: Diagnostic) -> str:
    message = _PREFIX.sub("", diagnostic.message)
    if diagnostic.rule in ("L2", "L3"):
        message = message.replace("index of extent dim", "an index of this capture")
        message = re.sub(r"\bdims\b", "ctx.dims", message)
    if diagnostic.rule == "L4":
        message = message.replace("annudf.index ", "ctx.")
    return _IN_PYTHON.get(diagnostic.rule, message)


_OPS_IN_PYTHON = {
    **dict.fromkeys(("addf", "addi"), "+"),
    **dict.fromkeys(("subf", "subi", "negf"), "-"),
    **dict.fromkeys(("mulf", "muli"), "*"),
    "divf": "/",
    "remf": "%",
    **dict.fromkeys(("absf", "absi"), "abs"),
    "powf": "**",
    **dict.fromkeys(("maximumf", "maxnumf", "maxsi", "maxui"), "max"),
    **dict.fromkeys(("minimumf", "minnumf", "minsi", "minui"), "min"),
    "select": "if",
}
"""What makes an op of arith and math; others have no name of their own in Python, or the same."""

_OP = re.compile(r"'(arith|math)\.(\w+)'")


def ops_in_python(text: str) -> str:
    """A message of the compiler with the ops that it quotes as Python spells them."""

    def spelled(found: re.Match[str]) -> str:
        known = _OPS_IN_PYTHON.get(found[2], found[2] if found[1] == "math" else "")
        return f"'{known}'" if known else found[0]

    return _OP.sub(spelled, text)


def _at_the_loop(diagnostic: Diagnostic) -> Diagnostic:
    """At ``while True`` what is said of how often it repeats: the compiler knows only the break that ends it."""
    if diagnostic.rule not in ("P14", "P15"):
        return diagnostic
    try:
        tree = ast.parse("".join(linecache.getlines(diagnostic.file)))
    except (SyntaxError, ValueError):  # What is in the file now is not what was compiled.
        return diagnostic
    at = (diagnostic.line, diagnostic.column)
    inside = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.For | ast.While)
        and (node.lineno, node.col_offset + 1) <= at <= (node.end_lineno or 0, node.end_col_offset or 0)
    ]
    loop = max(inside, key=lambda node: (node.lineno, node.col_offset), default=None)
    if not isinstance(loop, ast.While) or not isinstance(loop.test, ast.Constant):
        return diagnostic
    return replace(diagnostic, line=loop.test.lineno, column=loop.test.col_offset + 1)


_OF_RANGES = ("L2", "L3", "B4", "B5", "B6")


_EARLY_END = (
    "[P14] a loop over all coordinates cannot end early, and other loops need constant bounds; without break and "
    "return, keep in a variable what would end it"
)


def explained(error: CompileError, hint: Callable[[], str], has_vectors: bool = False) -> CompileError:
    """The compiler's error with the user's source line, in the user's words."""
    told = [replace(_at_the_loop(d), message=_in_python(d)) if d.severity == "error" else d for d in error.diagnostics]
    if has_vectors:
        told = [replace(d, message=_EARLY_END) if d.rule == "P14" else d for d in told]
    first = next((d for d in told if d.severity == "error"), None)
    if first is not None and first.rule in _OF_RANGES and (more := hint()):
        hinted = replace(first, message=first.message + more)
        told = [hinted if d is first else d for d in told]
        first = hinted
    return type(error)(message_of(first) if first is not None else str(error), told)


def unsupported(
    message: str, file: str, line: int, column: int = 0, cause: BaseException | None = None, rule: str = ""
) -> NoReturn:
    """Raises UnsupportedError for a place in the user's source."""
    diagnostic = Diagnostic("error", rule, message, file, line, column)
    if cause is not None:
        logger.debug("refused after %s: %s", type(cause).__name__, cause)
    # Without the cause: its pages of numba-cuda-mlir's frames would hide the user's line.
    raise UnsupportedError(message_of(diagnostic), [diagnostic]) from None


def failed(message: str, file: str, line: int, column: int = 0, cause: BaseException | None = None) -> NoReturn:
    """Raises CompileError for a place in the user's source."""
    diagnostic = Diagnostic("error", "", message, file, line, column)
    raise CompileError(message_of(diagnostic), [diagnostic]) from cause


@contextlib.contextmanager
def in_users_words(hint: Callable[[], str] = str, has_vectors: bool = False) -> Iterator[None]:
    """Compile errors at the user's line, without the frames of what found them.

    `hint` gives what an error about the range of a number says at its end; `has_vectors` is whether the function takes
    whole vectors.
    """
    try:
        yield
    except CompileError as error:
        raise explained(error, hint, has_vectors) from None
