# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""DLPack capsules for device memory that annudf owns.

ctypes suffices for handing out two integers and a shape; reading foreign capsules, which has to be
checked, is the compiled core's work.
"""

from __future__ import annotations

import ctypes
import threading

_KINDS = {"int": 0, "uint": 1, "float": 2, "bool": 6}


class _Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _ManagedTensor(ctypes.Structure):
    _fields_ = (
        ("tensor", _Tensor),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


_alive: dict[int, tuple[_ManagedTensor, object, object]] = {}
_lock = threading.Lock()


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _delete(address: int) -> None:
    with _lock:
        entry = _alive.pop(address, None)
    del entry


_NAME = b"dltensor"
_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_api.PyCapsule_IsValid.restype = ctypes.c_int
_api.PyCapsule_IsValid.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = (ctypes.c_void_p, ctypes.c_char_p)


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _destroy_capsule(capsule: int) -> None:
    # A consumer renames what it took, and then frees it itself.
    if _api.PyCapsule_IsValid(capsule, _NAME):
        _delete(_api.PyCapsule_GetPointer(capsule, _NAME))


def capsule(
    owner: object, address: int, shape: tuple[int, ...], dtype: str, device_type: int, device_id: int
) -> object:
    """A capsule ``dltensor`` of C-contiguous memory; keeps `owner` alive until it is freed."""
    kind = dtype.rstrip("0123456789")
    bits = 8 if kind == "bool" else int(dtype[len(kind) :])
    extents = (ctypes.c_int64 * len(shape))(*shape)
    managed = _ManagedTensor()
    managed.tensor.data = address
    managed.tensor.device = _Device(device_type, device_id)
    managed.tensor.ndim = len(shape)
    managed.tensor.dtype = _DataType(_KINDS[kind], bits, 1)
    managed.tensor.shape = ctypes.cast(extents, ctypes.POINTER(ctypes.c_int64))
    managed.deleter = ctypes.cast(_delete, ctypes.c_void_p).value
    key = ctypes.addressof(managed)
    with _lock:
        _alive[key] = (managed, extents, owner)
    result: object = _api.PyCapsule_New(key, _NAME, ctypes.cast(_destroy_capsule, ctypes.c_void_p))
    return result
