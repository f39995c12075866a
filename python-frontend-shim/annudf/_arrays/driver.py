# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Which device an address belongs to.

``__cuda_array_interface__`` carries no device, so the driver is asked. ctypes is enough for one call,
and works in builds of the compiled core that have no CUDA.
"""

from __future__ import annotations

import ctypes
import functools

from annudf.errors import DeviceError, UnavailableError

_CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2
_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9
_CU_MEMORYTYPE_HOST = 1


@functools.cache
def _library() -> ctypes.CDLL | None:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    return driver if driver.cuInit(0) == 0 else None


def pointer_device(address: int, name: str) -> int:
    """Ordinal of the CUDA device that `address` is on.

    Raises
    ------
    UnavailableError
        There is no driver.
    DeviceError
        The driver does not know the address: it is host memory, or was freed.
    """
    driver = _library()
    if driver is None:
        raise UnavailableError(
            f"argument '{name}' is on a GPU, but there is no NVIDIA driver on this machine (libcuda.so.1)"
        )
    ordinal, memory = ctypes.c_int(-1), ctypes.c_uint(0)
    pointer = ctypes.c_uint64(address)
    status = driver.cuPointerGetAttribute(
        ctypes.byref(ordinal), ctypes.c_int(_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL), pointer
    ) or driver.cuPointerGetAttribute(ctypes.byref(memory), ctypes.c_int(_CU_POINTER_ATTRIBUTE_MEMORY_TYPE), pointer)
    if status != 0 or ordinal.value < 0 or memory.value == _CU_MEMORYTYPE_HOST:
        raise DeviceError(
            f"argument '{name}' says it is on a GPU, but the driver knows no device memory at "
            f"0x{address:x}: it was freed, or is host memory"
        )
    return ordinal.value
