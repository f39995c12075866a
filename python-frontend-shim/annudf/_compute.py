# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Device functions as operators of cuda.compute, of the package cuda-cccl."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from annudf.errors import ArgumentError, UnavailableError

if TYPE_CHECKING:
    from annudf._functions import DeviceFunction

_POINTER_BYTES = 8


def _library() -> Any:
    try:
        op = importlib.import_module("cuda.compute.op")
    except ImportError as error:
        raise UnavailableError(f"cuda.compute cannot be imported ({error}): pip install cuda-cccl") from None
    return op


def _dtype_of(descriptor: Any) -> np.dtype[Any]:
    dtype = getattr(descriptor, "dtype", None)
    if not isinstance(dtype, np.dtype) or (dtype.kind == "V" and not dtype.names):
        raise ArgumentError(f"an operator cannot take {descriptor!r}, which is no number and no struct")
    return dtype


def _raw(function: DeviceFunction, signature: object, cc: object) -> Any:
    from annudf._functions import _arch

    code, _, name = function._lower(signature, "raw", "", "ltoir", _arch(cc))
    state = function._state()

    class Raw(_library().RawOp):  # type: ignore[misc]
        """Keeps the captures that it reads."""

        __slots__ = ("function",)

    raw = Raw(ltoir=code, name=name, state=state, state_alignment=_POINTER_BYTES if state else 1)
    raw.function = function
    return raw


def operator(function: DeviceFunction, signature: object, cc: object) -> Any:
    """See `DeviceFunction.as_raw_op`."""
    library = _library()
    if signature is not None:
        return _raw(function, signature, cc)

    class Operator(library.OpAdapter):  # type: ignore[misc, name-defined]
        """Compiled for the types that an algorithm asks for."""

        def compile(self, input_types: Any, output_type: Any = None) -> Any:
            arguments = tuple(_dtype_of(one) for one in input_types)
            given = _Signature(arguments, None if output_type is None else _dtype_of(output_type))
            return _raw(function, given, cc).compile(input_types, output_type)

        @property
        def is_stateful(self) -> bool:
            return bool(function._state())

        def get_state(self) -> bytes:
            return function._state()

        @property
        def state_alignment(self) -> int:
            return _POINTER_BYTES if function._state() else 1

        def get_return_type(self, input_types: Any) -> Any:
            made = importlib.import_module("cuda.compute.types").from_numpy_dtype
            return made(np.dtype(function.return_type(tuple(_dtype_of(one) for one in input_types))))

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self)) and other.function is function

        def __hash__(self) -> int:
            return hash(id(function))

    made = Operator()
    made.function = function
    return made


class _Signature:
    """As Numba's, which `parse_signature` reads."""

    def __init__(self, args: tuple[Any, ...], return_type: Any) -> None:
        self.args = args
        self.return_type = return_type
