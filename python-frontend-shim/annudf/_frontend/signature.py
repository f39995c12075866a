# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What a decorator can say about a metric's functions without numba-cuda-mlir."""

from __future__ import annotations

import dis
import types
import warnings
import weakref

from annudf._frontend.methods import reads_fields
from annudf._frontend.syntax import Source, check

_ACCUMULATOR = 2
"""Which argument it is."""

_checked: weakref.WeakSet[types.CodeType] = weakref.WeakSet()


def check_early(function: types.FunctionType) -> None:
    """Refuses what the function's own syntax shows; its helpers and globals may come later.

    Raises
    ------
    UnsupportedError
    """
    if function.__code__ not in _checked:  # A factory decorates the same code each time.
        check(Source(function))
        _checked.add(function.__code__)


def reads_accumulator(update: types.FunctionType) -> bool:
    """Whether the third argument is read anywhere in the function."""
    code = update.__code__
    if not reads_fields(code):
        return False
    acc = code.co_varnames[_ACCUMULATOR] if code.co_argcount > _ACCUMULATOR else ""
    for instruction in dis.get_instructions(code):
        names = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        is_read = instruction.opname.startswith(("LOAD_", "STORE_FAST_LOAD")) or "CLOSURE" in instruction.opname
        if is_read and acc in names:
            return True
    return False


def warn_of_unread_accumulator(name: str, update: types.FunctionType) -> None:
    """Warns if the third argument is never read, unless it is named as one that is not: ``_``, ``_acc``."""
    code = update.__code__
    if code.co_argcount <= _ACCUMULATOR or code.co_varnames[_ACCUMULATOR].startswith("_"):
        return
    if reads_accumulator(update):
        return
    acc = code.co_varnames[_ACCUMULATOR]
    warnings.warn_explicit(
        f"metric {name}: the result does not depend on {acc}, so only the last dimension counts; return {acc} + ..., "
        f"or call the argument _{acc} if that is meant"
        if reads_fields(code)
        else f"metric {name}: update reads no field, so only the last dimension counts; write += instead of =",
        UserWarning,
        code.co_filename,
        code.co_firstlineno,
        module=update.__module__,
    )
