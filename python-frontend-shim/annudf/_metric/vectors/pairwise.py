# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What the decorator does with a function of two whole vectors."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from annudf._frontend.source.syntax import own_signature
from annudf._frontend.source.vectors import of_vectors, takes_vectors
from annudf._metric.arguments import Arguments
from annudf._metric.captures import check_name, make_value
from annudf.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Pairwise:
    """A function of two vectors."""

    given: types.FunctionType
    """As the user wrote it."""
    function: types.FunctionType
    """The same, with values for its further arguments."""
    arrays: dict[str, Any]
    """The arrays among those, which become captures."""
    dims: int | None
    """How many dimensions it takes; None: any number."""

    def with_arrays(self, given: Arguments) -> Arguments:
        """The arguments of the decorator with these captures."""
        for name in self.arrays:
            if name in given.values or name in given.columns:
                raise ArgumentError(f"'{name}' is an argument of {self.given.__name__} and a capture; rename one")
        values = {
            check_name(name): make_value(name, value, None, given.allow_non_finite)
            for name, value in self.arrays.items()
        }
        return replace(given, values={**given.values, **values})


def as_pairwise(target: Any, arguments: Mapping[str, Any]) -> Pairwise | None:
    """What the decorator is given, as a function of two vectors; None if it is another thing.

    Raises
    ------
    ArgumentError
        The function takes no such arguments.
    """
    function = getattr(target, "py_func", target)
    is_function = isinstance(function, types.FunctionType)
    if not is_function or not takes_vectors(function, arguments):
        if arguments:
            _refuse_unknown(next(iter(arguments)), function if is_function else None)
        return None
    further = list(own_signature(function).parameters)[2:]
    for name in arguments:
        if name not in further or name == "ctx":
            _refuse_unknown(name, function)
    return Pairwise(function, *of_vectors(function, arguments))


def _refuse_unknown(name: str, function: types.FunctionType | None) -> NoReturn:
    told = f"argument '{name}' is no option of annudf.metric, and "
    if function is None:
        raise ArgumentError(f"{told}only a function f(a, b) can have others")
    raise ArgumentError(
        f"{told}{function.__name__}{own_signature(function)} has no argument of that name after its two vectors"
    )


def refuse_arguments(function: object, arguments: Mapping[str, Any]) -> None:
    """Refuses values of arguments where no function is given that could have them."""
    if arguments and function is None:
        raise TypeError(f"metric() got an unexpected keyword argument '{next(iter(arguments))}'")


def refuse_hooks(
    *,
    initial: object,
    finalize: Callable[..., Any] | None,
    combine: Callable[..., Any] | None,
    accumulator: object,
) -> None:
    """Refuses what belongs to a function of one coordinate."""
    instead = {
        "initial": (initial != 0.0, "begin its variables before the loop"),
        "finalize": (finalize is not None, "compute the distance after the loop"),
        "combine": (combine is not None, "leave it out, as the compiler infers it"),
        "accumulator": (accumulator is not None, "begin its variables with that type, such as np.float64(0)"),
    }
    for name, (is_given, what) in instead.items():
        if is_given:
            raise ArgumentError(f"{name} is given, but a function of two vectors has no accumulator; {what}")
