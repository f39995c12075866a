# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Columns of an index: checked, and as the core takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from annudf import _arrays
from annudf._metric.captures import check_name, make_value, name_of
from annudf._support.checks import class_of
from annudf._support.options import CaptureWord
from annudf.errors import ArgumentError, CaptureError

CoreColumns = dict[str, tuple[str, tuple[int, ...], bytes, str]]


def column_values(columns: Mapping[str, Any], rows: int) -> CoreColumns:
    """Copies the values of columns for so many vectors.

    Raises
    ------
    ArgumentError
        A name or an array cannot be used, or has not one value a vector.
    """
    if not isinstance(columns, Mapping):
        raise ArgumentError(f"columns is {class_of(columns)}, it must be a mapping of names to arrays")
    result: CoreColumns = {}
    for name, array in columns.items():
        try:
            value = make_value(check_name(name), array, allow_non_finite=True)
        except CaptureError as error:
            text = str(error).replace("captures['", "columns['").replace("capture '", "column '")
            raise ArgumentError(text.replace("capture name", "column name")) from None
        if value.shape != (rows,):
            raise ArgumentError(f"columns['{name}'] has shape {value.shape}, it must be ({rows},), one value a vector")
        result[name] = (value.dtype, value.shape, value.data, "columns")
    return result


def dtype_of_column(dtype: str) -> np.dtype[Any]:
    """NumPy's dtype of a column."""
    return _arrays.numpy_dtype(name_of(cast(CaptureWord, "i1" if dtype == "b1" else dtype)))
