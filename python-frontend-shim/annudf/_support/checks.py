# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Checks of plain arguments."""

from __future__ import annotations

import operator
import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from annudf.errors import ArgumentError, DtypeError, Error


def shown(value: object) -> str:
    """The value as a message shows it."""
    if isinstance(value, int) and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    try:
        return repr(value)
    except ValueError:  # Python does not write the digits of very large integers, which a list may hold.
        return f"a {type(value).__name__}"


def class_of(value: object) -> str:
    """The class of a value with its article; of those of annudf, which has several of a name, with the module."""
    kind = type(value)
    package, _, rest = kind.__module__.partition(".")
    name = f"{rest.split('.')[0]}.{kind.__name__}" if package == "annudf" and rest else kind.__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def refusal(name: str, value: object, allowed: str) -> ArgumentError:
    """The error of an argument that has not one of the allowed values."""
    return with_fault(ArgumentError(f"{name} is {shown(value)}, it must be {allowed}"), name, shown(value), allowed)


def with_fault(error: ArgumentError, argument: str | None, value: str | None, allowed: str | None) -> ArgumentError:
    """The error, which says what is wrong with an argument."""
    error.argument, error.value, error.allowed = argument, value, allowed
    return error


def renamed(error: Error, names: Mapping[str, str], kind: type[ArgumentError] = ArgumentError) -> ArgumentError:
    """An error of the core for a caller who knows its arguments by other names, the values of `names`."""
    text, argument = str(error), error.argument
    if argument is not None and argument in names:
        text, argument = names[argument] + text.removeprefix(argument), names[argument]
    return with_fault(kind(text), argument, error.value, error.allowed)


def check_whole(value: Any, name: str, allowed: str = "an integer") -> int:
    """The integer, or ArgumentError with what is allowed. The core says whether it is within its limits."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        value = int(value)  # As cuVS takes them: `rows / 10` is what people write.
    try:
        if not isinstance(value, (bool, np.bool_)):
            return operator.index(value)
    except TypeError:
        pass
    raise refusal(name, value, allowed)


def check_int(value: Any, name: str, low: int, high: int, extra: str = "") -> int:
    """The integer, or ArgumentError with the limits; `extra` says what one of them means."""
    allowed = f"an integer from {low} to {high}{extra}"
    number = check_whole(value, name, allowed)
    if not low <= number <= high:
        raise refusal(name, number, allowed)
    return number


def check_choice(value: Any, name: str, choices: Iterable[str]) -> str:
    """The one of these texts that it is, or ArgumentError with all of them."""
    *most, last = choices
    if isinstance(value, str) and value in (*most, last):
        return value
    raise refusal(name, value, f"{', '.join(map(repr, most))} or {last!r}")


def is_number(value: object) -> bool:
    """Whether it is a real number, and no bool."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def check_number(value: Any, name: str) -> float:
    """The number as a float, or ArgumentError."""
    if not is_number(value):
        raise refusal(name, value, "a number")
    try:
        return float(value)
    except OverflowError:
        raise ArgumentError(f"{name} is {shown(value)}, which does not fit a float") from None


def check_bool(value: Any, name: str) -> bool:
    """The bool, or ArgumentError."""
    if not isinstance(value, (bool, np.bool_)):
        raise refusal(name, value, "True or False")
    return bool(value)


def check_name(value: Any, name: str, what: str) -> str:
    """The name of such a thing as `what`, or ArgumentError."""
    if not isinstance(value, str):
        raise refusal(name, value, f"the name of {what}, or None")
    if not value or not value.isprintable() or not value.isascii():
        raise ArgumentError(f"{name} is {value!a}, which is not the name of {what}; give one, or None")
    return value


def check_path(path: Any, name: str) -> str:
    """The path as text, or ArgumentError; bytes are decoded as Python's own functions do."""
    try:
        text = os.fsdecode(path)
    except TypeError:
        raise refusal(name, path, "a path: str, bytes or os.PathLike") from None
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise ArgumentError(
            f"{name} is {text!a}, which has characters that file names cannot have here "
            f"({sys.getfilesystemencoding()}); give the path of a file"
        ) from None
    if "\0" in text:
        raise ArgumentError(f"{name} is {text!r}, which has a null character in it; give the path of a file")
    return text


def printable(path: str) -> str:
    """A path for messages and for the compiler: text that can be written as UTF-8."""
    return os.fsencode(path).decode(errors="backslashreplace")


def dtype_name(dtype: npt.DTypeLike | None, what: str) -> str:
    """NumPy's name of a dtype, or DtypeError."""
    if dtype is None:  # To NumPy, None is float64.
        raise DtypeError(f"{what} is None; name a dtype")
    # NumPy knows the first only once ml_dtypes is imported, the other never.
    if isinstance(dtype, str) and dtype in ("bfloat16", "bits"):
        return dtype
    try:
        return np.dtype(dtype).name
    except (TypeError, ValueError, SyntaxError):  # The last of the strings that describe records.
        raise DtypeError(f"{what} is {shown(dtype)}, which is no dtype of NumPy") from None


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warns at the line outside the package that called it."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
