# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
""":func:`load_filter`: filters of files."""

from __future__ import annotations

import os
from typing import Any

from annudf._metric.loading import load
from annudf.filters._code import CodeFilter


def load_filter(
    path: str | os.PathLike[str], /, *, name: str = "", allow_non_finite: bool | None = None, **captures: Any
) -> CodeFilter:
    """Loads a compiled filter (``.annudf``), or text of the dialect (``.mlir``).

    Parameters
    ----------
    path : path
        As of :func:`load_metric`, also what is said there of whom to load code from.
    name : str, optional
        Which filter of a text that holds several.
    allow_non_finite : bool, optional
        Whether captures may be infinite or NaN. Default: False.
    **captures : number or array
        Values, as :meth:`CodeFilter.bind` takes them; else as of :func:`load_metric`.

    Returns
    -------
    CodeFilter

    Raises
    ------
    ArgumentError, InputError, CompileError, CaptureError
        As :func:`load_metric` does.
    """
    return CodeFilter(load(path, "filter", name, allow_non_finite, captures))
