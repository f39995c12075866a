# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What a device function takes and returns, in the notations that people have for it."""

from __future__ import annotations

import ast
import typing
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from annudf._support.checks import shown
from annudf.errors import ArgumentError

_KINDS = {"f": (2, 4, 8), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "b": (1,)}
_NAMES = {
    "f16": "float16", "f32": "float32", "f64": "float64", "i16": "int16", "i32": "int32", "i64": "int64",
    "u16": "uint16", "u32": "uint32", "u64": "uint64", "boolean": "bool",
}  # fmt: skip
_NAMES |= {name: name for name in (*_NAMES.values(), "int8", "uint8")}
"""Not i8 and u8, which are 64 bits to NumPy, nor C's float and int, which Python means otherwise."""
_LONGEST = 200  # The longest piece of a user's text that a message shows.
_CHOICES = "float16, float32, float64, bool, int8 to int64, uint8 to uint64, or a tuple of them"


@dataclass(frozen=True, slots=True)
class Struct:
    """Several values, laid out in memory as C does."""

    fields: tuple[Kind, ...]
    names: tuple[str, ...] = ()
    named: type | None = field(default=None, compare=False)
    """The NamedTuple that the function sees."""


Kind: TypeAlias = "np.dtype[Any] | Struct"


def numbers(kind: Kind) -> Iterator[np.dtype[Any]]:
    """The numbers of a value, in order."""
    if isinstance(kind, Struct):
        for one in kind.fields:
            yield from numbers(one)
    else:
        yield kind


def spell_element(element: str) -> str:
    """An element of captures in the dialect's syntax: ``u8`` is ``ui8``."""
    return element.replace("u", "ui")


def spell_dialect(kind: Kind) -> str:
    """In the dialect's syntax: ``tuple<f32, ui8>``."""
    if isinstance(kind, Struct):
        return f"tuple<{', '.join(map(spell_dialect, kind.fields))}>"
    return {"f": "f", "i": "i", "u": "ui"}[kind.kind] + str(8 * kind.itemsize) if kind.kind != "b" else "i1"


_PLAIN = [chr(b) if 0x20 <= b < 0x7F and b not in b'"\\' else f"\\{b:02X}" for b in range(256)]


def quoted(text: str | bytes) -> str:
    """A string, or bytes, in MLIR's syntax."""
    data = text.encode() if isinstance(text, str) else text
    return '"' + "".join([_PLAIN[b] for b in data]) + '"'


def spell(kind: Kind) -> str:
    """For messages: ``(float32, uint8)``."""
    if isinstance(kind, Struct):
        inside = ", ".join(map(spell, kind.fields))
        return f"({inside},)" if len(kind.fields) == 1 else f"({inside})"
    return kind.name


def layout(kind: Kind) -> tuple[int, int, tuple[int, ...]]:
    """Size and alignment in bytes, and where each field of a struct begins."""
    if not isinstance(kind, Struct):
        return kind.itemsize, kind.itemsize, (0,)
    size, alignment, offsets = 0, 1, []
    for one in kind.fields:
        inner, needed, _ = layout(one)
        size = -(-size // needed) * needed
        offsets.append(size)
        size, alignment = size + inner, max(alignment, needed)
    return -(-size // alignment) * alignment, alignment, tuple(offsets)


def kind_of(value: object) -> Kind:
    """A type by a dtype, a NumPy scalar type, a name, a tuple, a NamedTuple class, or a type of Numba.

    Raises
    ------
    ArgumentError
        It is none that a device function can have.
    """
    if isinstance(value, str):
        return _of_node(_parsed(value), value)
    if isinstance(value, (tuple, list)):
        return _struct(tuple(kind_of(one) for one in value))
    if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        hints = typing.get_type_hints(value)
        missing = [name for name in value._fields if name not in hints]
        if missing:
            raise ArgumentError(f"{value.__name__}.{missing[0]} has no type; declare one by typing.NamedTuple")
        return _struct(tuple(kind_of(hints[name]) for name in value._fields), tuple(value._fields), value)
    inner = getattr(value, "types", None)
    if isinstance(inner, (tuple, list)):  # From Numba.
        return _struct(tuple(kind_of(one) for one in inner), tuple(getattr(value, "fields", ())))
    held = getattr(value, "dtype", None)
    if isinstance(held, np.dtype):  # From cuda.compute.
        return kind_of(held)
    if isinstance(value, np.dtype) and value.names:
        return _of_record(value)
    if not isinstance(value, (type, np.dtype)):
        return _named(str(value), _short(value))
    try:
        return _number(np.dtype(value), value)
    except TypeError:
        raise _refused(_short(value)) from None


def _short(value: object) -> str:
    """The value as a message shows it: of a long one both ends."""
    text = shown(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}...{text[-_LONGEST // 2 :]}"


def _refused(what: str) -> ArgumentError:
    return ArgumentError(f"a device function cannot have {what}; use {_CHOICES}")


def _named(name: str, what: str) -> np.dtype[Any]:
    if name in ("i8", "u8", "f8"):
        raise ArgumentError(f"{what} is 8 bytes to NumPy and 8 bits to others; write int8, uint8, int64 or float64")
    if name not in _NAMES:
        raise _refused(what)
    return np.dtype(_NAMES[name])


def _number(dtype: np.dtype[Any], given: object) -> np.dtype[Any]:
    if dtype.itemsize not in _KINDS.get(dtype.kind, ()) or not dtype.isnative:
        raise _refused(_short(given))
    return dtype


def _struct(fields: tuple[Kind, ...], names: tuple[str, ...] = (), named: type | None = None) -> Struct:
    if not fields:
        raise ArgumentError("a device function cannot have an empty tuple; give it a field")
    return Struct(fields, names, named)


def _of_record(dtype: np.dtype[Any]) -> Struct:
    assert dtype.names is not None and dtype.fields is not None
    made = _struct(tuple(kind_of(dtype.fields[name][0]) for name in dtype.names), tuple(dtype.names))
    size, _, offsets = layout(made)
    found = tuple(int(dtype.fields[name][1]) for name in dtype.names)
    if found != offsets or dtype.itemsize != size:
        raise ArgumentError(
            f"{dtype} has its fields at bytes {found} of {dtype.itemsize}, C has them at {offsets} of {size}; "
            "make it with align=True"
        )
    return made


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise ArgumentError(f"{_short(text)} is no type or signature: {error.msg}") from None


def _of_node(node: ast.expr, text: str) -> Kind:
    if isinstance(node, ast.Tuple):
        return _struct(tuple(_of_node(one, text) for one in node.elts))
    if isinstance(node, ast.Name):
        return _named(node.id, _short(node.id))
    raise ArgumentError(f"{_short(text)} is no signature; write 'float32(float32, int32)', or '(float32, int32)'")


def parse_signature(signature: object) -> tuple[tuple[Kind, ...], Kind | None]:
    """What the arguments are, and the result where it is said.

    Parameters
    ----------
    signature : str, tuple or a signature of Numba
        ``"float32(float32, int32)"``, ``"(float32, int32)"``, ``(np.float32, np.int32)``; a tuple among the arguments
        is a struct.

    Raises
    ------
    ArgumentError
    """
    try:
        return _parse_signature(signature)
    except (MemoryError, RecursionError):  # The former is Python's parser's.
        raise ArgumentError("the signature nests tuples too deep; they may be 8 deep, flatten some") from None


def _parse_signature(signature: object) -> tuple[tuple[Kind, ...], Kind | None]:
    if isinstance(signature, str):
        node = _parsed(signature)
        if isinstance(node, ast.Call):
            if node.keywords:
                raise ArgumentError(f"{_short(signature)} names an argument; a signature has types only")
            return tuple(_of_node(one, signature) for one in node.args), _of_node(node.func, signature)
        arguments = node.elts if isinstance(node, ast.Tuple) else [node]
        return tuple(_of_node(one, signature) for one in arguments), None
    if isinstance(signature, (tuple, list)):
        return tuple(kind_of(one) for one in signature), None
    if hasattr(signature, "args") and hasattr(signature, "return_type"):
        result = signature.return_type
        return tuple(kind_of(one) for one in signature.args), None if result is None else kind_of(result)
    raise ArgumentError(
        f"the signature is {_short(signature)}; give 'float32(float32, int32)', a tuple of types, or Numba's"
    )
