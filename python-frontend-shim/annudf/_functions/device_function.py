# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Device functions: a Python function of numbers and structs, compiled for programs that are no vector search."""

from __future__ import annotations

import hashlib
import re
import struct
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from annudf import _arrays
from annudf._devices import backends
from annudf._frontend import translate_device_function
from annudf._frontend.source.report import in_users_words
from annudf._frontend.types.prototypes import Kind, Struct, parse_signature, spell, spell_element
from annudf._metric.arguments import check_device_backend
from annudf._metric.captures import Value, check_name, make_value
from annudf._metric.definition import parse_arch
from annudf._support import fork
from annudf._support.checks import check_choice, refusal, shown
from annudf._support.options import DeviceBackend
from annudf._support.repr import of_whole
from annudf.errors import ArgumentError, CaptureError

_MOST_BAKED = 64 * 1024
"""Bytes of an array that becomes part of the code; a GPU has 64 KiB of constant memory for a kernel."""
_UNNAMED = "annudf_unnamed_function"
"""Stands for the symbol in text of which it is made; names of functions do not begin so."""
_TARGETS = {"ptx": "ptx", "ltoir": "ltoir", "llvm": "nvvm-ir", "bitcode": "device-bitcode", "host": "host-bitcode"}
_OF_AN_ARCH = ("ltoir", "ptx")
Output = Literal["ptx", "ltoir", "llvm", "bitcode", "host"]


class CompiledFunction(NamedTuple):
    """The result of :func:`annudf.compile`, a tuple as that of ``numba.cuda.compile``.

    Attributes
    ----------
    code : bytes or str
        str for ``output="ptx"`` and ``"llvm"``.
    return_type : numpy.dtype or tuple
        A struct is the tuple of its fields' types.
    """

    code: bytes | str
    return_type: Any


@dataclass(frozen=True, slots=True)
class _Capture:
    """A value that a function captured: part of its code, or, in memory of a device, bound by its address."""

    element: str
    extents: tuple[int, ...]
    literal: str
    view: _arrays.View | None = None


def _number(value: Value, item: Any) -> str:
    """In the dialect's syntax, to the bit."""
    if value.element == "i1":
        return "true" if item else "false"
    if value.element in ("f16", "bf16", "f32", "f64"):
        size = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}[value.element]
        bits = int.from_bytes(value.data[:size], "little")
        return f"0x{bits:0{2 * size}X} : {value.element}"
    return f"{int(item)} : {spell_element(value.element)}"


def _literal(value: Value) -> str:
    if value.scalar:
        return _number(value, np.frombuffer(value.data, "u1")[0] if value.element == "i1" else value.array.item())
    tensor = f"tensor<{'x'.join(map(str, value.shape))}x{spell_element(value.element)}>"
    if value.element == "i1":
        return f"dense<{_nested([bool(one) for one in value.array.ravel()], value.shape)}> : {tensor}"
    return f'dense<"0x{value.data.hex().upper()}"> : {tensor}'


def _nested(flat: Sequence[bool], shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        return "[" + ", ".join("true" if one else "false" for one in flat) + "]"
    step = len(flat) // shape[0]
    return "[" + ", ".join(_nested(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])) + "]"


def _on_device(name: str, value: object) -> _Capture | None:
    """An array in memory of a device, which is read where it is."""
    if isinstance(value, (bool, int, float, np.generic, np.ndarray, list, tuple)):
        return None
    what = f"captures['{name}']"
    try:
        seen = _arrays.view(value, what)
    except ArgumentError as error:
        raise CaptureError(str(error)) from None
    if seen.device.kind != "cuda":
        return None
    element = "i1" if seen.dtype == "bool" else _arrays.ELEMENT_OF_DTYPE.get(seen.dtype)
    if element is None or element == "bits":
        raise CaptureError(f"capture '{name}' has dtype {seen.dtype}; give numbers")
    if not seen.contiguous:
        raise CaptureError(f"capture '{name}' has gaps between its entries; give a contiguous copy")
    if seen.address % seen.itemsize:
        raise CaptureError(f"capture '{name}' begins at an address that is no multiple of its {seen.itemsize} bytes")
    if not seen.size:
        raise CaptureError(f"capture '{name}' has no entries")
    return _Capture(element, seen.shape, "", seen)


def _capture(name: str, value: object) -> _Capture:
    check_name(name)
    if found := _on_device(name, value):
        return found
    made = make_value(name, value, remedy="give finite numbers")
    if 0 in made.shape:
        raise CaptureError(f"capture '{name}' has no entries")
    if len(made.data) > _MOST_BAKED:
        raise CaptureError(
            f"capture '{name}' has {len(made.data)} bytes, more than {_MOST_BAKED} that can be part of a function's "
            "code; give an array in memory of the GPU, such as cupy.asarray(...)"
        )
    return _Capture(made.element, made.shape, _literal(made))


def _plain(kind: Kind) -> Any:
    """A type as callers see it."""
    return tuple(map(_plain, kind.fields)) if isinstance(kind, Struct) else kind


def _arch(cc: object) -> str:
    if cc is None:
        from annudf import _core

        found = _core.describe_environment()
        if found["cuda_built"] and found["driver_found"] and found["devices"]:
            return backends.arch_of(_arrays.Device("cuda", 0))
        return f"sm_{min(_core.supported_archs())}"
    if isinstance(cc, tuple) and len(cc) == 2 and all(isinstance(one, int) for one in cc):
        return parse_arch(10 * cc[0] + cc[1])
    return parse_arch(cc)  # type: ignore[arg-type]


class DeviceFunction:
    """A Python function of numbers and structs that runs on a device; made by :func:`annudf.device_function`."""

    def __init__(self, function: types.FunctionType, captures: Mapping[str, object]) -> None:
        self._captures = {name: _capture(name, value) for name, value in captures.items()}
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self._function = function

    @of_whole("_function")
    def __repr__(self) -> str:
        return f"<annudf device function {self.__name__}>"

    def __call__(self, *arguments: Any) -> Any:
        """Runs the Python function itself, without a context."""
        return self._function(*arguments)

    def _translated(self, arguments: tuple[Kind, ...], result: Kind | None, abi: str, symbol: str) -> tuple[str, Kind]:
        captures = {n: (c.element, c.extents, c.literal) for n, c in self._captures.items()}
        return translate_device_function(self._function, symbol, abi, arguments, result, captures)

    def return_type(self, arguments: object) -> Any:
        """The type of the result for arguments of these types.

        Parameters
        ----------
        arguments : tuple
            As in the signature of :func:`annudf.compile`.

        Returns
        -------
        numpy.dtype or tuple
            A struct is the tuple of its fields' types.

        Raises
        ------
        ArgumentError, UnsupportedError
        """
        return _plain(self._result_kind(arguments))

    def _result_kind(self, arguments: object) -> Kind:
        return self._translated(parse_signature(arguments)[0], None, "raw", "function")[1]

    def mlir(self, signature: object, *, abi: Literal["c", "raw"] = "c") -> str:
        """The function as text of the dialect; `signature` and `abi` as in :func:`annudf.compile`."""
        code = self._lower(signature, abi, "", "mlir", "")[0]
        return code.decode()

    def _symbol(self, text: str) -> str:
        """A name that no other function has: of its own name, its types and its code, which `text` holds."""
        plain = re.sub(r"[^A-Za-z0-9_]", "_", self.__name__).strip("_") or "function"
        if plain.startswith("annudf") or plain[0].isdigit():
            plain = f"f_{plain}"  # Names that begin so are kept for hooks, or are none.
        without_places = re.sub(r'loc\("[^"]*":\d+:\d+\)', "", text)
        return f"{plain}_{hashlib.sha256(without_places.encode()).hexdigest()[:16]}"

    def _lower(
        self, signature: object, abi: str, symbol: str, target: str, arch: str, device_backend: str = "libnvvm"
    ) -> tuple[bytes, Kind, str]:
        from annudf import _core

        check_choice(abi, "abi", ("c", "raw"))
        arguments, result = parse_signature(signature)
        bound = next((name for name, one in self._captures.items() if one.view is not None), "")
        if abi == "c" and bound:
            raise ArgumentError(f"abi is 'c', which cannot hold the device array '{bound}'; use abi='raw'")
        text, kind = self._translated(arguments, result, abi, symbol or _UNNAMED)
        name = symbol or self._symbol(text)
        text = text.replace(_UNNAMED, name)
        for one in (*arguments, kind):
            if abi == "c" and (isinstance(one, Struct) or one == np.float16):
                raise ArgumentError(
                    f"abi is 'c', and compilers differ in how they pass {spell(one)} by value; use abi='raw'"
                )
        with fork.compiling(), in_users_words():
            code = _core.lower(
                text,
                self._function.__code__.co_filename,
                target,
                arch=arch,
                import_frontend=True,
                device_backend=device_backend,
            )
        return code, kind, name

    def _state(self) -> bytes:
        """The slots of captures that are bound by their addresses."""
        bound = [one.view for one in self._captures.values() if one.view is not None]
        return b"".join(struct.pack("<Q", view.address) for view in bound)

    def as_raw_op(self, signature: object = None, *, cc: object = None) -> Any:
        """An operator for algorithms of cuda.compute (cuda-cccl 1.2).

        Parameters
        ----------
        signature : str or tuple, optional
            As in :func:`annudf.compile`. With a signature the result is a ``cuda.compute.op.RawOp``, compiled now.
            Without it, the operator is compiled for the types that an algorithm asks for.
        cc : int, str or tuple, optional
            As in :func:`annudf.compile`.

        Returns
        -------
        cuda.compute.op.OpAdapter
            For ``op=`` of ``cuda.compute.reduce_into`` and the others. It keeps captured device arrays alive.

        Raises
        ------
        UnavailableError
            There is no cuda.compute.
        ArgumentError, UnsupportedError
        """
        from annudf._functions import compute

        return compute.operator(self, signature, cc)


def device_function(function: Any = None, /, *, captures: Mapping[str, object] | None = None) -> Any:
    """Makes a device function of a Python function of numbers, tuples and NamedTuples.

    The function is verified like a metric: it cannot write, read outside its captures, or run for ever. Values have the
    types of the signature, and mixed types follow NumPy's rules.

    Parameters
    ----------
    function : function
        ``f(a, b)``, or ``f(a, b, ctx)`` if it reads captures by ``ctx.name`` and ``ctx.name[i]``.
    captures : dict, optional
        Numbers and arrays. Numbers and host arrays become part of the code, at most 64 KiB per array. Arrays on a GPU
        are read there in each call.

    Returns
    -------
    DeviceFunction

    Raises
    ------
    ArgumentError, CaptureError

    Examples
    --------
    >>> import annudf
    >>> @annudf.device_function
    ... def larger(a, b):
    ...     return a if a > b else b
    >>> larger.return_type(("uint32", "uint32"))
    dtype('uint32')
    """
    if function is None:
        return lambda made: device_function(made, captures=captures)
    if not isinstance(function, types.FunctionType):
        raise ArgumentError(f"device_function takes a function of Python, not {shown(function)}")
    return DeviceFunction(function, captures or {})


def compile(
    pyfunc: Any,
    sig: object,
    debug: bool | None = None,
    lineinfo: bool = False,
    device: bool = True,
    fastmath: bool = False,
    cc: object = None,
    opt: bool | int | None = None,
    abi: Literal["c", "raw"] = "c",
    abi_info: Mapping[str, str] | None = None,
    output: Output = "ptx",
    forceinline: bool = False,
    launch_bounds: object = None,
    *,
    captures: Mapping[str, object] | None = None,
    device_backend: DeviceBackend = "libnvvm",
) -> CompiledFunction:
    """Compiles a Python function as a device function; no GPU is needed.

    Arguments, defaults and results are those of ``numba.cuda.compile``, with `captures` and
    `device_backend` in addition. Options that
    annudf does not have are refused. The compiled prototype is checked before the code is returned.

    Parameters
    ----------
    pyfunc : function or DeviceFunction
    sig : str, tuple or a signature of Numba
        ``"float32(float32, int32)"``; without a result, ``"(float32, int32)"`` or ``(np.float32, np.int32)``, it is
        inferred. A type is float16 to float64, bool, int8 to int64, uint8 to uint64, a tuple of types, a NamedTuple
        class, or an aligned structured dtype.
    debug, lineinfo, fastmath : bool, optional
        Not supported: True is refused.
    device : bool, default True
        Kernels are not compiled: False is refused.
    cc : int, str or tuple, optional
        ``90``, ``"sm_90"`` or ``(9, 0)``. None: that of the first GPU, or without a GPU the oldest supported one, whose
        code newer GPUs can run. Only for ``"ltoir"`` and ``"ptx"``.
    opt : bool or int, optional
        Code is always optimized: False and 0 are refused.
    abi : {"c", "raw"}, default "c"
        "c" is ``float f(float, int)``. "raw" is ``void f(void *a, void *b, void *result)``, which structs, float16 and
        captured device arrays need. Numba's own convention is not supported.
    abi_info : dict, optional
        ``{"abi_name": "f"}`` names the symbol. Default: the function's name. If that is not a name in C, such as that
        of a lambda, and for ``"host"``, a name with a digest of the function.
    output : {"ptx", "ltoir", "llvm", "bitcode", "host"}, default "ptx"
        PTX; LTO-IR for nvJitLink; NVVM IR as text; LLVM 22 bitcode of NVPTX; the same for this machine's CPU.
    forceinline : bool, default False
        Accepted only for ``"ltoir"``, whose functions are always inlined.
    launch_bounds
        An option of kernels, refused here.
    captures : dict, optional
        As in :func:`device_function`.
    device_backend : {"libnvvm", "nvptx"}, default "libnvvm"
        What makes PTX. "nvptx" is LLVM, which needs no CUDA toolkit and makes no LTO-IR.

    Returns
    -------
    CompiledFunction
        ``(code, return_type)``.

    Raises
    ------
    ArgumentError
        The signature or an option has no meaning.
    UnsupportedError
        The function does something that a device function cannot; the message has the place.
    UnavailableError
        There is no libNVVM.

    Examples
    --------
    >>> import annudf
    >>> def scaled(x, n):
    ...     return x * n
    >>> name = {"abi_name": "scaled"}
    >>> code, returned = annudf.compile(scaled, "float32(float32, uint8)", abi_info=name, output="llvm")
    >>> "define float @scaled(float %a0, i8 zeroext %a1)" in code
    True
    """
    if not device:
        raise ArgumentError("device is False: kernels are not compiled; write yours elsewhere and link the function")
    _refuse("debug", debug, "there is no debug information; call the function in Python to step through it")
    _refuse("lineinfo", lineinfo, "there are no line tables; leave it out")
    _refuse("fastmath", fastmath, "results are those of NumPy; leave it out")
    if opt is not None and not opt:
        raise ArgumentError(f"opt is {shown(opt)}: code is always optimized; leave it out")
    _refuse("launch_bounds", launch_bounds, "they are for kernels, which are not compiled; leave them out")
    if not isinstance(output, str) or output not in _TARGETS:
        raise refusal("output", output, f"one of {', '.join(map(repr, _TARGETS))}")
    if forceinline and output != "ltoir":
        raise ArgumentError(f"forceinline is {shown(forceinline)} and output is '{output}'; only 'ltoir' is inlined")
    backend = check_device_backend(device_backend)
    if backend == "nvptx" and output == "ltoir":
        raise ArgumentError(
            "device_backend is 'nvptx', which makes PTX and no LTO-IR, and output is 'ltoir'; give 'ptx'"
        )
    made = pyfunc if isinstance(pyfunc, DeviceFunction) else device_function(pyfunc, captures=captures)
    if made is pyfunc and captures:
        raise ArgumentError("captures are given, but this device_function has its own; leave them out")
    arch = _arch(cc) if output in _OF_AN_ARCH else ""
    symbol = _abi_name(abi_info)
    if not symbol and output != "host" and _refused_name(made.__name__) is None:
        symbol = made.__name__
    code, kind, _ = made._lower(sig, abi, symbol, _TARGETS[output], arch, backend)
    return CompiledFunction(code.decode() if output in ("ptx", "llvm") else code, _plain(kind))


def _refuse(name: str, value: object, why: str) -> None:
    """Refuses an option of Numba that cannot be had."""
    if value:
        raise ArgumentError(f"{name} is {shown(value)}: {why}")


def _abi_name(abi_info: Mapping[str, str] | None) -> str:
    if abi_info is not None and not isinstance(abi_info, Mapping):
        raise ArgumentError(f"abi_info is {shown(abi_info)}; give a dict, as {{'abi_name': 'f'}}")
    given = dict(abi_info or {})
    name = given.pop("abi_name", "")
    if given:
        raise ArgumentError(f"abi_info has {shown(next(iter(given)))}, which has no meaning; it has 'abi_name' only")
    why = None if name == "" else _refused_name(name)
    if why is not None:
        raise ArgumentError(f"abi_name is {shown(name)}; {why}")
    return str(name)


def _refused_name(name: object) -> str | None:
    """Why something cannot be a symbol."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name, re.ASCII):
        return "use letters, digits and _, not beginning with a digit"
    if name.startswith(("annudf", "__")):
        return "begin it with neither annudf nor __, which are reserved"
    return None
