# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
""":func:`load_filter`: filters of files."""

from __future__ import annotations

import os
from typing import Any

from annudf._metric.loading import load
from annudf._support.options import DeviceBackend
from annudf.filters._code import CodeFilter


def load_filter(
    path: str | os.PathLike[str],
    /,
    *,
    name: str = "",
    allow_non_finite: bool | None = None,
    device_backend: DeviceBackend | None = None,
    **captures: Any,
) -> CodeFilter:
    """Loads a compiled filter (``.annudf``), or text of the dialect (``.mlir``).

    Parameters
    ----------
    path : path
        As for :func:`load_metric`: load code only from people whose programs you would run.
    name : str, optional
        The filter to load from a text with several.
    allow_non_finite : bool, optional
        Whether captures may be infinite or NaN. Default: False.
    device_backend : {"libnvvm", "nvptx"}, optional
        As for :func:`load_metric`.
    **captures : number or array
        Values, as for :meth:`CodeFilter.bind`; otherwise as for :func:`load_metric`.

    Returns
    -------
    CodeFilter

    Raises
    ------
    ArgumentError, InputError, CompileError, CaptureError
        As :func:`load_metric` does.
    """
    return CodeFilter(load(path, "filter", name, allow_non_finite, device_backend, captures))
