# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Hashes of values and of bytecode that no two different ones share."""

from __future__ import annotations

import hashlib
import os
import struct
import types
from collections.abc import Iterator


class Digest:
    """SHA-256 over fields that say their type and length, so that no two sequences of fields run together.

    A field is what bytecode has as a constant: a number, text, None, a tuple of fields.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, *fields: object) -> None:
        for field in fields:
            self._add(field)

    def _add(self, field: object) -> None:
        if isinstance(field, tuple):
            self._write("tuple", str(len(field)).encode())
            self.add(*field)
        elif isinstance(field, frozenset):  # Which has an order of the process's own.
            self._write("set", str(len(field)).encode())
            self.add(*sorted(field, key=lambda one: (type(one).__name__, repr(one))))
        elif isinstance(field, bytes):
            self._write("bytes", field)
        elif isinstance(field, str):
            self._write("str", str.encode(field, "utf-8", "surrogatepass"))
        elif isinstance(field, bool):
            self._write("bool", b"1" if field else b"0")
        elif isinstance(field, int):
            self._write("int", hex(int.__int__(field)).encode())  # Not decimal, whose digits are limited.
        elif isinstance(field, float):
            self._write("float", struct.pack("<d", field))  # The sign of zero too, and the bits of a NaN.
        elif isinstance(field, complex):
            self._write("complex", struct.pack("<dd", field.real, field.imag))
        elif field is None or field is Ellipsis:
            self._write(str(field), b"")
        else:
            raise TypeError(f"a {type(field).__name__} has no digest")

    def _write(self, kind: str, data: bytes) -> None:
        self._hash.update(f"{kind}:{len(data)}:".encode() + data)

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


def codes_of(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and those of the functions nested in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)


def add_code(into: Digest, code: types.CodeType, *, places: bool) -> None:
    """Adds what a code object and those nested in it do, and with `places` at which lines and columns."""
    into.add(
        code.co_name, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags, code.co_code,
        code.co_exceptiontable, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars,
    )  # fmt: skip
    if places:
        # Lines are in the artifact's diagnostics and manifest. Directories are not hashed, so that
        # a notebook's cells, which live in another temporary folder each time, are found again.
        into.add(os.path.basename(code.co_filename), code.co_firstlineno, code.co_linetable)
    into.add(len(code.co_consts))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            into.add("code")
            add_code(into, constant, places=places)
        else:
            into.add("constant", constant)


def digest_of(code: types.CodeType, *, places: bool = False) -> str:
    """Equal for code that does the same in the same way."""
    into = Digest()
    add_code(into, code, places=places)
    return into.hexdigest()
