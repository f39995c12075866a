# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""One view of every kind of array that annudf takes.

NumPy arrays and whatever ``numpy.asarray`` takes, PyTorch tensors (CPU and CUDA), CuPy arrays,
objects with ``__cuda_array_interface__`` (versions 2 and 3) and objects with ``__dlpack__`` become a
:class:`View`: an address with shape, element type and device, and the owner that keeps it alive.
"""

from __future__ import annotations

from annudf._arrays.arguments import as_contiguous, input_matrix, output, overlaps
from annudf._arrays.checks import check_dtype, check_matrix
from annudf._arrays.libraries import library_of
from annudf._arrays.packed_bits import PackedBits, as_bits, view
from annudf._arrays.views import (
    CPU,
    DTYPE_OF_ELEMENT,
    ELEMENT_OF_DTYPE,
    FLOATS,
    VECTORS,
    Device,
    Library,
    View,
    c_strides,
    numpy_dtype,
)

__all__ = [
    "CPU",
    "DTYPE_OF_ELEMENT",
    "ELEMENT_OF_DTYPE",
    "FLOATS",
    "VECTORS",
    "Device",
    "Library",
    "PackedBits",
    "View",
    "as_bits",
    "as_contiguous",
    "c_strides",
    "check_dtype",
    "check_matrix",
    "input_matrix",
    "library_of",
    "numpy_dtype",
    "output",
    "overlaps",
    "view",
]
