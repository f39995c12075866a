# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Searches with a filter that is computed of the index, which another thread may extend."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from annudf.errors import ArgumentError
from annudf.filters._bits import Prefilter

if TYPE_CHECKING:
    from annudf import _core
    from annudf._arrays import Device
    from annudf.filters._bits import Filter

_T = TypeVar("_T")

_TRIES = 100


def with_bits(
    asked: Filter | None, index: _core.Index, device: Device, queries: int, call: Callable[[_core.Filter | None], _T]
) -> _T:
    """What `call`, a search of so many queries, gives for the filter's bits, of the index as the call finds it.

    Bits of code are those of one state. Ids that `extend` adds before the call have none, or where the filter is
    inverted all; so both are done again.
    """
    if asked is None or isinstance(asked, Prefilter):
        return call(None if asked is None else asked._for_search(index, device, queries))
    for _ in range(_TRIES):
        generation = index.generation
        try:
            result = call(asked._for_search(index, device, queries))
        except ArgumentError:
            if index.generation == generation:
                raise
            continue
        if index.generation == generation:
            return result
    raise ArgumentError(
        f"index was extended by other threads during each of {_TRIES} searches with {asked!r}, whose code has to be "
        "run over the whole index; search while no extend() runs"
    )
