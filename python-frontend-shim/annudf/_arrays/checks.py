# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What a view must be like."""

from __future__ import annotations

from collections.abc import Sequence

from annudf._arrays.views import VECTORS, View
from annudf.errors import ArgumentError, DtypeError


def check_dtype(array: View, name: str, accepted: Sequence[str]) -> None:
    """Raises DtypeError unless the element type is one of `accepted`."""
    if array.dtype in accepted:
        return
    if accepted[0] != "bits" and array.dtype != "bool":  # Who has other numbers has no bits.
        accepted = [dtype for dtype in accepted if dtype != "bits"]
    listed = ["annudf.PackedBits" if dtype == "bits" else dtype for dtype in accepted]
    names = listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}"
    accepted = [dtype for dtype in accepted if dtype != "bits"]
    if not accepted or (array.dtype == "bool" and len(accepted) < len(listed)):
        also = f", or convert by .astype(numpy.{accepted[0]})" if accepted else ""
        hint = f"pack truth values by annudf.PackedBits({name}){also}"
        raise DtypeError(f"argument '{name}' has dtype {array.dtype}, it must be {names}; {hint}")
    hint = f"convert by .astype(numpy.{accepted[0]})"
    if array.dtype == "bits":
        hint = "unpack them by numpy.unpackbits(..., axis=1, bitorder='little')"
    elif not array.dtype.startswith(("bool", "int", "uint", "float", "bfloat")):
        hint = "give real numbers"
    elif array.library == "numpy" and not hasattr(array.source, "astype"):
        hint = f"convert by numpy.asarray({name}, numpy.{accepted[0]})"
    elif array.library == "torch":
        hint = f"convert by .to(torch.{accepted[0]})"
    if array.dtype.startswith(("float", "bfloat")) and set(accepted) <= {"int8", "uint8"}:
        hint = (
            f"scale and round {name} as the rows were, since converting alone cuts off fractions (0.7 becomes 0), "
            f"or build the index from {array.dtype if array.dtype in VECTORS else 'float32'}"
        )
    raise DtypeError(f"argument '{name}' has dtype {array.dtype}, it must be {names}; {hint}")


def check_matrix(array: View, name: str, dims: int | None = None) -> None:
    """Raises ArgumentError unless the array has two dimensions, of the given length if one is given."""
    if len(array.shape) == 1:
        raise ArgumentError(
            f"argument '{name}' has shape {array.shape}, it must have two dimensions; one vector is .reshape(1, -1)"
        )
    if len(array.shape) != 2:
        raise ArgumentError(f"argument '{name}' has shape {array.shape}, it must have two dimensions, rows by dims")
    if array.shape[1] == 0:
        raise ArgumentError(f"argument '{name}' has shape {array.shape}, vectors of 0 dimensions; give at least one")
    if dims is not None and array.shape[1] != dims:
        raise ArgumentError(f"argument '{name}' has vectors of {array.shape[1]} dimensions, the index has {dims}")
