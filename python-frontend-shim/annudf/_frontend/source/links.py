# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Functions of somebody else that a metric calls: their prototypes, and the code that is linked for them.

Two kinds of objects say so: those with ``__numba_cuda_link__(*argument types)``, and those that
``cuda.declare_device(name, signature, link=[...])`` gives. What they say is read once, files included, so that all that
is made of a metric is of one moment. Never imports numba-cuda-mlir but to hand its types to such a method.
"""

from __future__ import annotations

import inspect
import os
import re
import stat
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from annudf._core import MAX_SOURCE_BYTES

METHOD = "__numba_cuda_link__"
TYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(name) for name in ("float32", "float64", "int32", "int64", "uint32", "uint64")
}
"""Numbers that compilers agree to pass in one way (rule E3)."""
_TAKES = "linked code takes and returns float32, float64, int32, int64, uint32 and uint64"
_SUFFIXES = {".ltoir": "ltoir", ".ptx": "ptx", ".cubin": "cubin", ".cu": "cuda_source"}
_KINDS = {
    "CU_JIT_INPUT_NVVM": "ltoir", "CU_JIT_INPUT_PTX": "ptx", "CU_JIT_INPUT_CUBIN": "cubin", "cu": "cuda_source",
    "ltoir": "ltoir", "ptx": "ptx", "cubin": "cubin",
}  # fmt: skip
"""The kind of linkable code by the name that a library gives it; numba's are members of an enum of the CUDA driver."""
_OTHERS = {
    ".fatbin": "a fatbin", ".o": "an object file", ".obj": "an object file", ".a": "an archive", ".lib": "a library",
    ".so": "a library", ".bc": "LLVM bitcode", "CU_JIT_INPUT_FATBINARY": "a fatbin", "fatbin": "a fatbin",
    "CU_JIT_INPUT_OBJECT": "an object file", "object": "an object file", "CU_JIT_INPUT_LIBRARY": "an archive",
    "library": "an archive",
}  # fmt: skip
_LINKED = "LTO-IR (.ltoir), PTX (.ptx), cubins (.cubin) and CUDA C++ (.cu) can be linked"
_GIVE = "paths of .ltoir, .ptx, .cubin and .cu files, or code as cuda.LTOIR, PTXSource, Cubin and CUSource hold it"


@dataclass(frozen=True)
class Piece:
    """Code to link."""

    kind: str
    """``ltoir``, ``ptx``, ``cubin`` or ``cuda_source``, as the dialect calls them."""
    data: bytes


@dataclass(frozen=True)
class Extern:
    """One function with its code: an ``annudf.extern``."""

    symbol: str
    convention: Literal["c", "numba"]
    arguments: tuple[np.dtype[Any], ...]
    result: np.dtype[Any]
    pieces: tuple[Piece, ...]


@dataclass(eq=False)
class Linked:
    """What an object that a metric calls means: a function, or one for each of several signatures."""

    name: str
    overloads: tuple[Extern, ...]
    typed: Any = None
    """Its type in Numba, which is one however often it is asked for."""


@dataclass(frozen=True, eq=False)
class Unlinkable:
    """An object that was meant so, and why it cannot be called."""

    why: str


class _Refused(Exception):
    pass


Callee: TypeAlias = Linked | Unlinkable


def is_linked(value: object) -> bool:
    """Whether the object brings the code of a function with it."""
    if isinstance(value, type | types.ModuleType | np.generic):
        return False
    if isinstance(value, Callee) or inspect.getattr_static(value, METHOD, None) is not None:
        return True
    return _is_declared(value)


def _is_declared(value: object) -> bool:
    """Whether ``declare_device`` of numba-cuda-mlir or numba-cuda made it; told by what it holds, as either may be."""
    held = getattr(value, "__dict__", None)
    if not isinstance(held, dict) or not isinstance(held.get("name"), str):
        return False
    return hasattr(held.get("sig"), "return_type") and type(value).__name__ == "ExternFunction"


def resolve(value: Any) -> Callee:
    """What a linked object says now; of one that was resolved, itself.

    Anything that it does wrong is kept as the reason, for the place where it is called.
    """
    if isinstance(value, Callee):
        return value
    try:
        return _declared(value) if _is_declared(value) else _of_method(value)
    except _Refused as refused:
        return Unlinkable(str(refused))
    except Exception as error:  # What it is asked for may be properties, and its lists classes of the user's.
        return Unlinkable(f"cannot be linked: asking what it links raised {type(error).__name__}: {error}")


def _declared(value: Any) -> Linked:
    if not hasattr(value, "link"):
        raise _Refused(
            f"is a {type(value).__module__}.ExternFunction, which does not tell what it links; declare it by "
            "numba_cuda_mlir's cuda.declare_device"
        )
    if not value.link:
        raise _Refused("is declared without code; give declare_device(..., link=[...])")
    if getattr(value, "use_cooperative", False):
        raise _Refused("is declared with use_cooperative=True, and searches launch no cooperative kernels")
    arguments, result, _ = _prototype(value.sig)
    pieces = _pieces(value.link, "link")
    return Linked(value.name, (Extern(_symbol(value.name), _convention(value), arguments, result, pieces),))


def _of_method(value: Any) -> Linked:
    """Reads an object with the method; ``sig`` has its signatures, ``name`` the symbol and ``abi`` the convention."""
    method = getattr(value, METHOD)
    if not callable(method):
        raise _Refused(f"has a {METHOD} that cannot be called; write a method of the argument types")
    signatures = getattr(value, "sig", None)
    if signatures is None:
        raise _Refused(
            f"has {METHOD}, and no sig that says what it takes and returns; give it one, such as "
            "sig = 'float32(float32, float32)'"
        )
    convention = _convention(value)
    several = signatures if isinstance(signatures, list | tuple) else [signatures]
    overloads: list[Extern] = []
    for signature in several:
        arguments, result, numba_types = _prototype(signature)
        name = getattr(value, "name", None) or getattr(value, "__name__", None)
        symbol = _symbol(_asked("its name", name, numba_types) if callable(name) else name)
        if any(one.symbol == symbol for one in overloads):
            raise _Refused(f"has several signatures and one name, '{symbol}'; make name a method of the argument types")
        found = _asked(f"its {METHOD}({_spelled(arguments)})", method, numba_types)
        pieces = _pieces(found, f"{METHOD}({_spelled(arguments)})")
        overloads.append(Extern(symbol, convention, arguments, result, pieces))
    if not overloads:
        raise _Refused("has a sig without signatures; give one, such as sig = 'float32(float32, float32)'")
    return Linked(overloads[0].symbol, tuple(overloads))


def _asked(what: str, method: Any, arguments: Sequence[Any]) -> Any:
    try:
        return method(*arguments)
    except Exception as error:  # It is code of the user's.
        raise _Refused(f"cannot be linked: {what} raised {type(error).__name__}: {error}") from None


def _symbol(name: object) -> str:
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise _Refused(f"has the name {name!r}, which is no symbol of a device function; give it name = '...'")
    return str.__str__(name)  # A class made of str may spell itself in another way.


def _convention(value: Any) -> Literal["c", "numba"]:
    """That of ``declare_device``: numba's, unless it says C's."""
    abi = getattr(value, "abi", "numba")
    if not isinstance(abi, str) or abi not in ("c", "numba"):
        raise _Refused(f"has abi={abi!r}; linked code is called by 'c' or 'numba'")
    return "c" if abi == "c" else "numba"


def _spelled(arguments: Sequence[np.dtype[Any]]) -> str:
    return ", ".join(one.name for one in arguments)


def _prototype(signature: Any) -> tuple[tuple[np.dtype[Any], ...], np.dtype[Any], Sequence[Any]]:
    """Arguments, result, and the arguments as types of Numba."""
    given: Sequence[Any] = ()
    if isinstance(signature, str):
        found = re.fullmatch(r"\s*(\w+)\s*\(([^()]*)\)\s*", signature)
        if found is None:
            raise _Refused(f"has the signature {signature!r}; write it as 'float32(float32, int32)'")
        result, names = found[1], [one.strip() for one in found[2].split(",") if one.strip()]
    elif hasattr(signature, "args") and hasattr(signature, "return_type"):
        given = tuple(signature.args)
        result, names = str(signature.return_type), [str(one) for one in given]
    else:
        raise _Refused(f"has a sig of type {type(signature).__name__}; write it as 'float32(float32, int32)'")
    if result in ("none", "void"):
        raise _Refused("is declared to return nothing, and a metric has no effect but its value; return a number")
    for name in (*names, result):
        if name not in TYPES:
            raise _Refused(f"has {name} in its signature; {_TAKES}")
    arguments = tuple(TYPES[name] for name in names)
    return arguments, TYPES[result], given or _numba_types(names)


def _numba_types(names: Sequence[str]) -> Sequence[Any]:
    if not names:
        return ()
    from annudf import _frontend

    return _frontend.types_of_numba(names)


def _pieces(found: Any, who: str) -> tuple[Piece, ...]:
    if isinstance(found, str | os.PathLike) or hasattr(found, "kind"):
        found = [found]
    if not isinstance(found, list | tuple | set | frozenset):
        raise _Refused(f"has a {who} that gives {_a(found)}; give {_GIVE}")
    if not found:
        raise _Refused(f"has a {who} that gives nothing to link; give {_GIVE}")
    pieces = [_of_file(one) if isinstance(one, str | os.PathLike) else _of_object(one, who) for one in found]
    # A set has an order of the process's own.
    return tuple(pieces if isinstance(found, list | tuple) else sorted(pieces, key=lambda one: (one.kind, one.data)))


def _a(value: object) -> str:
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _of_file(path: str | os.PathLike[str]) -> Piece:
    name = os.fsdecode(path)
    suffix = os.path.splitext(name)[1]
    if suffix not in _SUFFIXES:
        what = f", {_OTHERS[suffix]}" if suffix in _OTHERS else ", whose kind its name does not say"
        raise _Refused(f"links {name}{what}; {_LINKED}")
    try:
        # A pipe without a writer would be waited for.
        with open(name, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise _Refused(f"links {name}, which is no file; {_LINKED}")
            data = file.read(MAX_SOURCE_BYTES + 1)
    except (OSError, ValueError) as error:  # The second of names that no file can have.
        why = error.strerror if isinstance(error, OSError) else error
        shown = name if name.isprintable() else repr(name)
        raise _Refused(f"links {shown}, which cannot be read: {why}") from None
    if len(data) > MAX_SOURCE_BYTES:
        raise _Refused(
            f"links {name}, which is longer than the {MAX_SOURCE_BYTES} bytes of a metric with its code; link less"
        )
    return Piece(_SUFFIXES[suffix], data)


def _of_object(code: Any, who: str) -> Piece:
    if not hasattr(code, "kind") or not hasattr(code, "data"):
        raise _Refused(f"has a {who} that gives {_a(code)}; give {_GIVE}")
    kind = getattr(code.kind, "name", code.kind)
    if not isinstance(kind, str) or kind not in _KINDS:
        what = f", {_OTHERS[kind]}" if isinstance(kind, str) and kind in _OTHERS else f" of kind {kind!r}"
        raise _Refused(f"links {_a(code)}{what}; {_LINKED}")
    for what in ("setup_callback", "teardown_callback", "nrt"):
        if getattr(code, what, None):
            raise _Refused(f"links {_a(code)} with {what}, which a search does not do; link code that needs none")
    data = _asked("its data", lambda: code.data, ())
    if isinstance(data, str):
        data = _asked("its data", data.encode, ())
    if not isinstance(data, bytes | bytearray | memoryview):
        raise _Refused(f"links {_a(code)} whose data is {_a(data)}; give bytes, or text")
    return Piece(_KINDS[kind], bytes(data))
