# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
""":class:`Context`: the type of ``ctx``, for type checkers."""

from __future__ import annotations

from typing import Any, Protocol


class Context(Protocol):
    """The argument `ctx` of a metric's function, for annotations: ``def f(x, y, acc, ctx: ivf_flat.Context)``.

    Every other attribute is a capture: a number, or an array that is read by an index.

    Attributes
    ----------
    dim : int
        The number of the dimension, from 0; not in finalize.
    dims : int
        How many dimensions the vectors have.
    row : int
        The id of the stored vector.
    query : int
        The number of the query among those of the search, from 0.
    list : int
        The number of the list that is scanned.
    """

    @property
    def dim(self) -> int: ...

    @property
    def dims(self) -> int: ...

    @property
    def row(self) -> int: ...

    @property
    def query(self) -> int: ...

    @property
    def list(self) -> int: ...

    def __getattr__(self, name: str, /) -> Any: ...
