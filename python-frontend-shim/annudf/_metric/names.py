# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The names by which other processes find what decorators made of functions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def name_in_module(made: Any, function: Callable[..., Any] | None) -> str:
    """The name by which another process finds what a decorator made of a function in its module; "" if it does not."""
    if function is None:
        return ""
    name: str = made.__qualname__
    found: Any = sys.modules.get(function.__module__)
    for part in name.split("."):
        found = getattr(found, part, None)
    return name if found is made and not _is_of_this_process(function.__module__) else ""


def _is_of_this_process(module: str) -> bool:
    """Whether other processes cannot import the module, or are not to: its metrics go with their code."""
    if module in ("__main__", "__mp_main__"):
        return True
    cloudpickle = sys.modules.get("cloudpickle")
    return cloudpickle is not None and module in cloudpickle.list_registry_pickle_by_value()
