# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Device functions as operators of cuda.compute, of the package cuda-cccl."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from annudf._frontend.types.prototypes import Struct, kind_of
from annudf.errors import ArgumentError, UnavailableError

if TYPE_CHECKING:
    from annudf._frontend.types.prototypes import Kind
    from annudf._functions.device_function import DeviceFunction

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
    from annudf._functions.device_function import _arch

    code, _, name = function._lower(signature, "raw", "", "ltoir", _arch(cc))
    state = function._state()

    class Raw(_library().RawOp):  # type: ignore[misc]
        """Keeps the captures that it reads."""

        __slots__ = ("function",)

    raw = Raw(ltoir=code, name=name, state=state, state_alignment=_POINTER_BYTES if state else 1)
    raw.function = function
    return raw


def _result(kind: Kind, arguments: tuple[np.dtype[Any], ...]) -> np.dtype[Any]:
    """The dtype of a result; a struct that is laid out as one of the arguments has the names of its fields."""
    if not isinstance(kind, Struct):
        return kind
    for one in arguments:
        if _unnamed(kind_of(one)) == _unnamed(kind):
            return one
    names = kind.names or [f"f{number}" for number in range(len(kind.fields))]
    fields = [(name, _result(one, arguments)) for name, one in zip(names, kind.fields, strict=True)]
    return np.dtype(fields, align=True)


def _unnamed(kind: Kind) -> Any:
    return tuple(map(_unnamed, kind.fields)) if isinstance(kind, Struct) else kind


@functools.cache
def _operator_class(adapter: Any) -> Any:
    """One class for all operators, or none would equal another; `adapter` is cuda.compute's, imported by now."""

    class Operator(adapter):  # type: ignore[misc]
        """A device function that is compiled for the types that an algorithm asks for."""

        def __init__(self, function: DeviceFunction, cc: object) -> None:
            self.function = function
            self.cc = cc

        def compile(self, input_types: Any, output_type: Any = None) -> Any:
            arguments = tuple(_dtype_of(one) for one in input_types)
            given = _Signature(arguments, None if output_type is None else _dtype_of(output_type))
            return _raw(self.function, given, self.cc).compile(input_types, output_type)

        @property
        def is_stateful(self) -> bool:
            return bool(self.function._state())

        def get_state(self) -> bytes:
            return self.function._state()

        @property
        def state_alignment(self) -> int:
            return _POINTER_BYTES if self.function._state() else 1

        def get_return_type(self, input_types: Any) -> Any:
            made = importlib.import_module("cuda.compute.types").from_numpy_dtype
            arguments = tuple(_dtype_of(one) for one in input_types)
            return made(_result(self.function._result_kind(arguments), arguments))

        def __eq__(self, other: object) -> bool:
            # cuda.compute finds what it has compiled by its operator.
            return isinstance(other, type(self)) and other.function is self.function and other.cc == self.cc

        def __hash__(self) -> int:
            return hash((id(self.function), self.cc))

    return Operator


def operator(function: DeviceFunction, signature: object, cc: object) -> Any:
    """See `DeviceFunction.as_raw_op`."""
    library = _library()
    if signature is not None:
        return _raw(function, signature, cc)
    from annudf._functions.device_function import _arch

    return _operator_class(library.OpAdapter)(function, None if cc is None else _arch(cc))


class _Signature:
    """As Numba's, which `parse_signature` reads."""

    def __init__(self, args: tuple[Any, ...], return_type: Any) -> None:
        self.args = args
        self.return_type = return_type
