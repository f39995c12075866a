# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Your own distance in a vector search, at the speed of a built-in one.

>>> import numpy as np
>>> import annudf
>>> @annudf.metric(order="min", initial=0.0, coarse_metric="sqeuclidean")
... def manhattan(x, y, acc, ctx):
...     return acc + abs(x - y)
"""

try:
    from annudf._core import __version__
except ModuleNotFoundError as error:
    if error.name != "annudf._core":
        raise
    # Most often Python was started in the folder of the sources, which comes before what is installed.
    raise ImportError(
        f"{__file__} is annudf's source tree, which has no compiled part: start Python in another folder if annudf is "
        "installed (pip install .), or set PYTHONPATH to <build>/python"
    ) from None

from annudf import brute_force, distance, errors, filters, ivf_flat, metrics, neighbors
from annudf._arrays import PackedBits
from annudf._config import show_config
from annudf._devices.backends import get_num_threads, set_num_threads
from annudf._functions.device_function import CompiledFunction, DeviceFunction, device_function
from annudf._functions.device_function import compile as compile  # Not in __all__: `import *` leaves the builtin.
from annudf._metric.decorator import metric
from annudf._metric.device_udf import DeviceUDF, UDFCapture
from annudf._support.log import set_log_level
from annudf.common import Resources, device_ndarray
from annudf.errors import (
    ArgumentError,
    CaptureError,
    CaptureWarning,
    CompileError,
    DeviceError,
    Diagnostic,
    DtypeError,
    Error,
    InputError,
    NaNDistanceError,
    NaNDistanceWarning,
    UnavailableError,
    UnsupportedError,
)
from annudf.filters._code import filter as filter  # Nor this.
from annudf.ivf_flat._refine import refine

__all__ = [
    "ArgumentError",
    "CaptureError",
    "CaptureWarning",
    "CompileError",
    "CompiledFunction",
    "DeviceError",
    "DeviceFunction",
    "DeviceUDF",
    "Diagnostic",
    "DtypeError",
    "Error",
    "InputError",
    "NaNDistanceError",
    "NaNDistanceWarning",
    "PackedBits",
    "Resources",
    "UDFCapture",
    "UnavailableError",
    "UnsupportedError",
    "__version__",
    "brute_force",
    "device_function",
    "device_ndarray",
    "distance",
    "errors",
    "filters",
    "get_num_threads",
    "ivf_flat",
    "metric",
    "metrics",
    "neighbors",
    "refine",
    "set_log_level",
    "set_num_threads",
    "show_config",
]
