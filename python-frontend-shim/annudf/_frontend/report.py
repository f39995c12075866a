# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Errors that point at the user's own line."""

from __future__ import annotations

import linecache
from typing import NoReturn

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


def unsupported(message: str, file: str, line: int, column: int = 0, cause: BaseException | None = None) -> NoReturn:
    """Raises UnsupportedError for a place in the user's source."""
    diagnostic = Diagnostic("error", "", message, file, line, column)
    raise UnsupportedError(message_of(diagnostic), [diagnostic]) from cause


def failed(message: str, file: str, line: int, column: int = 0, cause: BaseException | None = None) -> NoReturn:
    """Raises CompileError for a place in the user's source."""
    diagnostic = Diagnostic("error", "", message, file, line, column)
    raise CompileError(message_of(diagnostic), [diagnostic]) from cause
