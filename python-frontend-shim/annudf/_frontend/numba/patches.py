# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What is wrapped in numba-cuda-mlir: the places of the user's expressions, `range`, and dumps.

numba-cuda-mlir 0.5 and 0.6 give ops the line of ``def``, or with ``lineinfo`` a line without column and
debug attributes that MLIR 22 need not understand. CPython knows both for every instruction
(PEP 657); private functions are wrapped so that they arrive. Others let a metric's `range` be
ours, leave unassigned variables unassigned and keep dumps from standard output. The wrappers do
nothing unless this thread is compiling a metric.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any

from numba_cuda_mlir import mlir_compiler
from numba_cuda_mlir.mlir_lowering import MLIRLower
from numba_cuda_mlir.numba_cuda import typing
from numba_cuda_mlir.numba_cuda.core import bytecode, byteflow, interpreter
from numba_cuda_mlir.numba_cuda.core import ir as numba_ir
from numba_cuda_mlir.numba_cuda.core.errors import TypingError
from numba_cuda_mlir.numba_cuda.core.typeinfer import TypeInferer

from annudf._frontend.numba.constants import fold
from annudf._frontend.numba.ncm import CONTEXT, active, ir
from annudf._frontend.source.functions import STUBS


class _Line(int):
    """A line number that remembers its column (from 1)."""

    column: int


def _on() -> bool:
    return getattr(active, "on", False)


def _patch_columns() -> None:
    original = bytecode.ByteCode._compute_lineno.__func__

    def compute(cls: Any, table: Any, code: Any) -> Any:
        result = original(cls, table, code)
        if _on():
            positions = list(code.co_positions())
            for offset, instruction in result.items():
                at = (offset - bytecode._FIXED_OFFSET) // 2
                if 0 <= at < len(positions) and positions[at][0]:
                    line = _Line(positions[at][0])
                    line.column = (positions[at][2] or 0) + 1
                    instruction.lineno = line
        return result

    bytecode.ByteCode._compute_lineno = classmethod(compute)
    with_lineno = numba_ir.Loc.with_lineno

    def with_column(self: Any, lineno: int, col: int | None = None) -> Any:
        return with_lineno(self, lineno, col or getattr(lineno, "column", None))

    numba_ir.Loc.with_lineno = with_column


def _patch_lowering() -> None:
    lower_inst = MLIRLower.lower_inst

    def located(self: Any, instruction: Any) -> Any:
        if not _on():
            return lower_inst(self, instruction)
        place = instruction.loc
        active.place = (place.filename, place.line, place.col or 0)
        with ir.Location.file(place.filename, place.line, place.col or 0, context=CONTEXT):
            return lower_inst(self, instruction)

    MLIRLower.lower_inst = located
    lower_null = MLIRLower.lower_null_expr_assign

    def unassigned(self: Any, target: Any) -> Any:
        # A variable without a value on this path: zero there, were it not for the import pass,
        # which sees that the slot may be read before it is written and says so.
        if not (_on() and self.var_lowered(target)):
            lower_null(self, target)

    MLIRLower.lower_null_expr_assign = unassigned
    allocate = MLIRLower.allocate_stack_space_for_vars_with_multiple_assigns

    def named(self: Any, counts: Any) -> None:
        allocate(self, counts)
        if not _on():
            return
        for variable, count in counts.items():
            slot = self.varmap.get(variable) if count > 1 else None
            operation = getattr(getattr(slot, "owner", None), "operation", None)
            if operation is not None and operation.name == "memref.alloca" and variable[0].isidentifier():
                name = ir.StringAttr.get(variable.split(".")[0], CONTEXT)
                operation.attributes["annudf.variable"] = name

    MLIRLower.allocate_stack_space_for_vars_with_multiple_assigns = named
    verify = MLIRLower.verify_mlir_module

    def verified(self: Any) -> None:
        if not _on():
            verify(self)
            return
        self.mlir_module.operation.verify()  # Without printing the module to standard output.

    MLIRLower.verify_mlir_module = verified


def _flat(value: Any) -> Any:
    return [leaf for one in value for leaf in _flat(one)] if isinstance(value, tuple) else [value]


def _patch_returns() -> None:
    """numba-cuda-mlir 0.5 returns tuples, and no tuples within them; 0.6 does."""
    if hasattr(MLIRLower, "_flatten_abi_operands"):
        return
    original = MLIRLower.as_return

    def flat(self: Any, kind: Any, value: Any) -> Any:
        result = original(self, kind, value)
        return tuple(_flat(result)) if _on() and isinstance(result, tuple) else result

    MLIRLower.as_return = flat


def _patch_errors() -> None:
    original = mlir_compiler.handle_lowering_error

    def handle(*arguments: Any) -> None:
        if _on() and (error := sys.exc_info()[1]) is not None:
            raise error  # Instead of a log file in /tmp that asks the user to report a bug.
        original(*arguments)

    mlir_compiler.handle_lowering_error = handle


def _patch_builtins() -> None:
    sentry = TypeInferer.sentry_modified_builtin

    def allowing(self: Any, instruction: Any, variable: Any) -> Any:
        if not (_on() and variable.value in (STUBS["range"], STUBS["len"])):
            sentry(self, instruction, variable)

    TypeInferer.sentry_modified_builtin = allowing


def _patch_copies() -> None:
    """In `(d := x - y) * d` the difference has two uses, but numba gives what is stored next to `d` alone.

    So both the copy and what is copied become variables of their own.
    """
    original = byteflow.TraceRunner.op_COPY

    def copied(self: Any, state: Any, instruction: Any) -> None:
        if not _on():
            original(self, state, instruction)
            return
        names = [state.make_temp(), state.make_temp()]
        state.append(instruction, value=state.peek(instruction.arg), names=names)
        state._stack[-instruction.arg] = names[0]
        state.push(names[1])

    def assigned(self: Any, instruction: Any, value: Any, names: list[Any]) -> None:
        for name in names:
            source, target = self.get(value), self.current_scope.get_or_define(name, loc=self.loc)
            self.current_block.append(numba_ir.Assign(value=source, target=target, loc=self.loc))
            self.definitions[target.name].append(source)

    byteflow.TraceRunner.op_COPY = copied
    interpreter.Interpreter.op_COPY = assigned


def _patch_constants() -> None:
    original = interpreter.Interpreter.interpret

    def folded(self: Any, code: Any) -> Any:
        result = original(self, code)
        if _on():
            fold(result)
        return result

    interpreter.Interpreter.interpret = folded


def _patch_free_variables() -> None:
    """A NumPy number of an enclosing function becomes a constant of its type, as a global one does."""
    original = MLIRLower.lower_free_var_assign

    def lowered(self: Any, target: Any, variable: Any) -> Any:
        value = variable.value
        is_number = isinstance(value, (int, float)) and type(value) not in (bool, int, float)
        return self.lower_global_assign(target, variable) if _on() and is_number else original(self, target, variable)

    MLIRLower.lower_free_var_assign = lowered


def _patch_keywords() -> None:
    """numba-cuda-mlir 0.5 takes arguments after * by their positions where it inlines a helper."""
    original = typing.fold_arguments

    def folded(signature: inspect.Signature, args: Any, kws: Any, *handlers: Any) -> Any:
        kinds = {one.kind for one in signature.parameters.values()}
        if not _on() or inspect.Parameter.KEYWORD_ONLY not in kinds or inspect.Parameter.VAR_POSITIONAL in kinds:
            return original(signature, args, kws, *handlers)
        try:
            given = signature.bind(*args, **kws).arguments
        except TypeError as error:
            raise TypingError(f"Cannot bind 'args={args} kws={kws}' to signature '{signature}': {error}") from None
        plain = [one.replace(kind=one.POSITIONAL_OR_KEYWORD) for one in signature.parameters.values()]
        # One without a default may follow one with it, as all are named.
        every = inspect.Signature(plain, __validate_parameters__=False)
        return original(every, (), given, *handlers)

    typing.fold_arguments = folded


_patch_columns()
_patch_constants()
_patch_copies()
_patch_free_variables()
_patch_keywords()
_patch_builtins()
_patch_lowering()
_patch_returns()
_patch_errors()
