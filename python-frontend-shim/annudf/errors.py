# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The exceptions of annudf.

Every exception that annudf raises on purpose is an :class:`Error`; most are also the built-in
exception that fits (``ValueError``, ``TypeError``, ``RuntimeError``), so that code which catches
those keeps working. :class:`CaptureWarning` is what a search warns of by :mod:`warnings`.
Ctrl-C during a long call raises :class:`KeyboardInterrupt`. Memory that cannot be had raises
:class:`UnavailableError`; only where it is Python or NumPy that asks for it, as for a copy of an array that is
not contiguous or for the results, :class:`MemoryError`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

from annudf._support.repr import of_whole

__all__ = [
    "ArgumentError",
    "CaptureError",
    "CaptureWarning",
    "CompileError",
    "DeviceError",
    "Diagnostic",
    "DtypeError",
    "Error",
    "InputError",
    "NaNDistanceError",
    "NaNDistanceWarning",
    "UnavailableError",
    "UnsupportedError",
]


class Error(Exception):
    """Base of all exceptions of annudf.

    Attributes
    ----------
    argument : str or None
        The argument at fault as the caller knows it, ``"k"``; None where the message alone says what it is.
    value : str or None
        Its value as the message shows it, ``"0"``.
    allowed : str or None
        What is allowed, ``"an integer from 1 to 10"``.
    """

    argument: str | None = None
    value: str | None = None
    allowed: str | None = None


class ArgumentError(Error, ValueError):
    """An argument has a value that the function cannot take; the message names value and limit."""


class DtypeError(ArgumentError, TypeError):
    """An array has an element type that the function cannot take."""


class CaptureError(ArgumentError):
    """A capture is missing, unknown, or does not fit its declaration or the index."""


class CaptureWarning(UserWarning):
    """A capture or a filter has more entries than the index has rows, so it may be for other rows."""


class DeviceError(ArgumentError):
    """Arrays are on different devices, or on one that the function cannot use."""


class InputError(Error, ValueError):
    """A file is damaged, or is not what it claims to be."""


class NaNDistanceError(InputError):
    """Distances of a search with ``on_nan="raise"`` are NaN; the message has how many, and where one turns NaN."""


class NaNDistanceWarning(RuntimeWarning):
    """More than 0.1 % of the distances of a search are NaN: their rows are never found. Once a metric."""


class UnavailableError(Error, RuntimeError):
    """Something that the function needs is not there: a driver, a library, a device, memory, disk space."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message of the compiler.

    Attributes
    ----------
    severity : str
        ``"error"``, ``"warning"`` or ``"remark"``.
    rule : str
        Label of the rule of the ABI that was broken, e.g. ``"L2"``; empty if it is none of those.
    message : str
        What is wrong and what to do instead.
    file : str
        The source file, or empty.
    line, column : int
        Place in the file, counted from 1; 0 if unknown.
    """

    severity: str
    rule: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0

    @of_whole("column")
    def __repr__(self) -> str:
        return f"Diagnostic({', '.join(f'{one.name}={getattr(self, one.name)!r}' for one in fields(self))})"

    def __str__(self) -> str:
        place = self.file
        if self.line:
            place += f":{self.line}"
            if self.column:
                place += f":{self.column}"
        rule = f"[{self.rule}] " if self.rule and not self.message.startswith("[") else ""
        return f"{place + ': ' if place else ''}{self.severity}: {rule}{self.message}"


class CompileError(Error):
    """A metric cannot be compiled.

    Parameters
    ----------
    message : str
        The text of the exception: the first error with its place, ready to be shown.
    diagnostics : iterable of Diagnostic, optional
        All that the compiler said, in its order.

    Attributes
    ----------
    diagnostics : list of Diagnostic
    """

    diagnostics: list[Diagnostic]

    def __init__(self, message: str, diagnostics: Iterable[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.diagnostics = list(diagnostics)

    def __reduce__(self) -> tuple[type[CompileError], tuple[str, list[Diagnostic]]]:
        return type(self), (str(self), self.diagnostics)


class UnsupportedError(CompileError):
    """A metric uses syntax, a function or a type that a metric cannot use."""
