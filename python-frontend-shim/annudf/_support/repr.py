# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What objects look like before their constructor is done: a debugger, or a traceback with values, shows those too."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def of_whole(last: str) -> Callable[[Callable[[Any], str]], Callable[[Any], str]]:
    """Decorates ``__repr__`` of a class whose constructor sets the attribute `last` after all that is shown."""

    def decorate(write: Callable[[Any], str]) -> Callable[[Any], str]:
        @functools.wraps(write)
        def __repr__(self: Any) -> str:
            return write(self) if hasattr(self, last) else f"<{type(self).__name__}, half made>"

        return __repr__

    return decorate
