# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The hooks of a metric as functions that kernels of numba-cuda-mlir call: :meth:`Metric.device_functions`."""

from __future__ import annotations

import functools
import hashlib
import re
from typing import Any

from annudf.errors import UnsupportedError


class HookFunctions:
    """The hooks of a metric or a filter as functions for kernels of numba-cuda-mlir.

    :meth:`Metric.device_functions` makes it. A kernel calls its attributes, ``hooks.update(acc, x, y)``, by position.
    They are `init`, `update`, `finalize` and, where the metric has one, `combine`; of a filter `keep`.

    Attributes
    ----------
    arguments : dict of str to tuple of str
        The names of the arguments of each function.
    functions : dict
        The signature of each function, in Numba's types.
    mlir : str
        The module that a kernel links: the verified bodies as functions of arith, math, scf and memref.
    """

    def __init__(self, name: str, noun: str, text: str) -> None:
        self._digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        self._name = f"annudf {noun} {name}"
        # A kernel links one function of a name, whichever comes first: functions of other metrics have other names.
        self._symbols = {
            hook: f"annudf_{name}_{hook}_{self._digest}"
            for hook in re.findall(rf"func\.func private @{name}_(\w+)\(", text)
        }
        for hook, symbol in self._symbols.items():
            text = text.replace(f"@{name}_{hook}(", f"@{symbol}(", 1)
        self.mlir = text
        self.arguments, self.functions, self._library = _declare(self._symbols, text)

    def _get_or_create_template(self, hook: str) -> Any:
        return self._library._get_or_create_template(self._symbols[hook])

    def __getattr__(self, hook: str) -> Any:
        symbol = self.__dict__.get("_symbols", {}).get(hook)
        if symbol is None:
            has = ", ".join(self.__dict__.get("_symbols", {}))
            raise AttributeError(f"{self!r} has no function '{hook}'; it has {has}")
        return getattr(self._library, symbol)

    def __repr__(self) -> str:
        # Numba tells types apart by it.
        return f"<device functions of {self._name}, {self._digest}>"


def _declare(symbols: dict[str, str], text: str) -> tuple[dict[str, tuple[str, ...]], dict[str, Any], Any]:
    """Names of arguments, signatures, and the library that numba-cuda-mlir links."""
    from numba_cuda_mlir.lowering_utilities.type_conversions import to_numba_type
    from numba_cuda_mlir.numba_cuda import typing
    from numba_cuda_mlir.numba_cuda.core.compiler_lock import global_compiler_lock
    from numba_cuda_mlir.type_defs.builtin_types import Namespace
    from numba_cuda_mlir.typing.externals import ExternMLIRLibrary, typeof_impl

    from annudf._frontend.numba.ncm import CONTEXT, ir

    typeof_impl.register(HookFunctions)(lambda value, context: Namespace(value))
    spelled: dict[str, list[list[str]]] = {}
    plain: dict[str, Any] = {}
    with global_compiler_lock, CONTEXT:
        for operation in ir.Module.parse(text).body:
            hook = next(hook for hook, symbol in symbols.items() if symbol == operation.attributes["sym_name"].value)
            spelled[hook] = [one.value.split(": ") for one in operation.attributes["arguments"]]
            plain[hook] = to_numba_type(operation.attributes["function_type"].value)
    found: dict[str, Any] = {}
    for hook, signature in plain.items():
        takes = [_signed(one, said) for one, (_, said) in zip(signature.args, spelled[hook], strict=True)]
        found[hook] = typing.signature(signature.return_type, *takes)
    if "update" in found:
        names = [name for name, _ in spelled["update"]]
        fields = list(found["update"].args[: names.index("x")])
        for hook in ("init", "update", "combine"):
            if hook in found:
                found[hook] = typing.signature(_tuple(fields), *found[hook].args)
    arguments = {hook: tuple(name for name, _ in one) for hook, one in spelled.items()}
    return arguments, found, ExternMLIRLibrary({symbols[hook]: one for hook, one in found.items()}, text)


def _signed(plain: Any, said: str) -> Any:
    """Numba's type with what annudf's type says and MLIR's does not: the sign, and that a byte is a bool."""
    from numba_cuda_mlir import types

    if isinstance(plain, types.Array):
        element = types.boolean if said.endswith(" x i1>") else _signed(plain.dtype, said)
        return plain.copy(dtype=element)
    unsigned = re.search(r"\bui?(\d+)>?$", said)
    return getattr(types, f"uint{unsigned[1]}") if unsigned and isinstance(plain, types.Integer) else plain


def _tuple(fields: list[Any]) -> Any:
    from numba_cuda_mlir import types

    return fields[0] if len(fields) == 1 else types.Tuple.from_types(fields)


@functools.lru_cache(maxsize=256)
def _made(name: str, noun: str, text: str) -> HookFunctions:
    return HookFunctions(name, noun, text)


class InKernels:
    """The part of a metric that kernels of others call."""

    def device_functions(self: Any) -> HookFunctions:
        """The hooks as functions that a ``@cuda.jit`` kernel of numba-cuda-mlir calls and inlines.

        What is called is the verified body: captures without a value in the text are arguments, arrays or numbers. The
        values that :meth:`bind` gives do not matter.

        Returns
        -------
        HookFunctions

        Raises
        ------
        CompileError
            The metric breaks a rule, or calls linked code.
        UnsupportedError
            The text gives a capture unequal values, which numba-cuda-mlir does not link.
        """
        text = self._definition.lower("functions", "").decode()
        if found := re.search(rf"memref\.global .*@annudf_table_{self.name}_(\w+)", text):
            raise UnsupportedError(
                f"{self._noun} '{self.name}' gives capture '{found[1]}' its values in the text, and numba-cuda-mlir "
                "links functions only; declare the capture without values and pass an array",
                [],
            )
        return _made(self.name, self._noun, text)
