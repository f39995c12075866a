# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Types of a metric's values in numba's type inference.

Coordinates, accumulators and captures have types of our own (`Strong`), and so have Python numbers that
are computed (`Weak`), so that every operation on them is typed by ``dtypes`` and lowered by ``lowering``.
Only constants have numba's integers and floats. numba's rules for mixed types, literals and narrow integers, and
its lowering of them, thus never touch a metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba_cuda_mlir.extending import register_model, typeof_impl
from numba_cuda_mlir.models import PrimitiveModel
from numba_cuda_mlir.numba_cuda.typeconv import Conversion
from numba_cuda_mlir.numba_cuda.types.containers import NamedTuple, Tuple
from numba_cuda_mlir.numba_cuda.types.misc import unliteral

from annudf._frontend.numba.ncm import CONTEXT, ir, types
from annudf._frontend.source.rewrite import StrongFloat, StrongInt
from annudf._frontend.types import dtypes
from annudf._frontend.types.prototypes import spell_element

Extents = tuple[str | int, ...]


class Number(types.Type):
    """A value of a metric."""

    def unify(self, typingctx: Any, other: Any) -> Any:
        """The type of a variable that is assigned on several paths."""
        one, operand = operand_of(self), operand_of(other)
        if one is None or operand is None:
            return None
        try:
            return as_type(dtypes.joined(one, operand))
        except dtypes.Refused:
            return None

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        # Asked when `unify` found no type: what that refuses is refused here, too.
        joined = self.unify(typingctx, other)
        return Conversion.promote if joined == self else None


class Strong(Number):
    """A scalar with a NumPy dtype."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        super().__init__(f"annudf.{self.dtype}")


class Weak(Number):
    """A Python number that is computed: ``ctx.dim``, a loop's variable, ``int(x)``.

    Constants have numba's own types until they meet one of these.
    """

    def __init__(self, kind: dtypes.Weak) -> None:
        self.kind = kind
        super().__init__(f"annudf.python_{kind.value}")


class Context(types.Type):
    """``ctx``: its attributes are the indices of the scan and the metric's captures."""

    def __init__(self, captures: tuple[tuple[str, str, Extents], ...], hook: str) -> None:
        self.captures = {name: (element, extents) for name, element, extents in captures}
        self.hook = hook
        super().__init__(f"annudf.ctx{captures}{hook}")


class Capture(types.Type):
    """``ctx.weights``: an array."""

    def __init__(self, name: str, element: str, extents: Extents) -> None:
        self.capture = name
        self.element = element
        self.extents = extents
        super().__init__(f"annudf.capture<{name}, {element}, {extents}>")

    @property
    def example(self) -> str:
        """How an entry is read, for messages."""
        return f"ctx.{self.capture}[{', '.join(index_of(extent) for extent in self.extents)}]"


class Array(types.Type):
    """What has a number for each dimension, of type `element`."""

    element: dtypes.Operand


class Vector(Array):
    """A whole vector, whose coordinates have the type of `word`."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.element = NUMPY[word]
        super().__init__(f"annudf.vector<{word}>")


class Scratch(types.Type):
    """An array of one pair of vectors: one entry for each dimension where `per_dim`, and `entries` more."""

    def __init__(self, per_dim: bool, entries: int, word: str) -> None:
        self.per_dim, self.entries, self.word = per_dim, entries, word
        super().__init__(f"annudf.scratch<{per_dim}, {entries}, {word}>")

    @property
    def dtype(self) -> np.dtype[Any]:
        return NUMPY[self.word]

    @property
    def text(self) -> str:
        """The type in the dialect's syntax."""
        count = str(self.entries)
        if self.per_dim:
            count = f"dim + {self.entries}" if self.entries else "dim"
        return f"!annudf.scratch<{count} x {mlir_text(self.dtype)}>"


class Elementwise(Array):
    """An expression of whole vectors, such as ``a - b``. It is computed where one of its numbers is needed."""

    def __init__(self, element: dtypes.Operand) -> None:
        self.element = element
        super().__init__(f"annudf.elementwise<{dtypes.spell(element)}>")


NUMPY: dict[str, np.dtype[Any]] = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "i32": np.dtype(np.int32),
    "u32": np.dtype(np.uint32),
    "i64": np.dtype(np.int64),
}
"""Types of coordinates and accumulators."""
LOADED: dict[str, np.dtype[Any]] = {
    **NUMPY,
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(np.float32),
    "i8": np.dtype(np.int8),
    "u8": np.dtype(np.uint8),
    "i16": np.dtype(np.int16),
    "u16": np.dtype(np.uint16),
    "u64": np.dtype(np.uint64),
    "i1": np.dtype(np.bool_),
}
"""What ``annudf.load`` gives of a capture's element."""
_FLOATS = {2: ir.F16Type, 4: ir.F32Type, 8: ir.F64Type}


def read_as(element: str) -> np.dtype[Any]:
    """The dtype of a capture's entries in a function: narrow ones are widened, so that nothing wraps at 8 bits."""
    dtype = LOADED[element]
    if dtype.kind == "b" or dtype.itemsize >= np.dtype(np.int32).itemsize:
        return dtype
    return np.dtype(np.float32 if dtype.kind == "f" else np.int32)


def mlir_type(dtype: np.dtype[Any]) -> Any:
    """MLIR's type of a NumPy dtype; integers have no sign there."""
    if dtype.kind == "f":
        return _FLOATS[dtype.itemsize].get(CONTEXT)
    return ir.IntegerType.get_signless(1 if dtype.kind == "b" else 8 * dtype.itemsize, CONTEXT)


def mlir_text(dtype: np.dtype[Any]) -> str:
    """The same as text."""
    return f"{'f' if dtype.kind == 'f' else 'i'}{1 if dtype.kind == 'b' else 8 * dtype.itemsize}"


def index_of(extent: str | int) -> str:
    """What indexes an axis, for messages."""
    return f"ctx.{extent}" if isinstance(extent, str) else "i"


def capture_type_text(element: str, extents: Extents) -> str:
    """A capture's type in the dialect's syntax."""
    return f"!annudf.capture<{' x '.join([*map(str, extents), spell_element(element)])}>"


def element_of(numba_type: Any) -> dtypes.Operand | None:
    """The type of a number of an array; None of what is no array of one number a dimension."""
    if isinstance(numba_type, Array):
        return numba_type.element
    if isinstance(numba_type, Capture) and numba_type.extents == ("dim",):
        return read_as(numba_type.element)
    return None


def vector_type_text(word: str) -> str:
    """A vector's type in the dialect's syntax."""
    return f"!annudf.vector<{mlir_text(NUMPY[word])}>"


def operand_of(numba_type: Any) -> dtypes.Operand | None:
    """What `dtypes` calls a type, or None if it is no number."""
    numba_type = unliteral(numba_type)
    if isinstance(numba_type, Strong):
        dtype: np.dtype[Any] = numba_type.dtype
        return dtype
    if isinstance(numba_type, Weak):
        kind: dtypes.Weak = numba_type.kind
        return kind
    if isinstance(numba_type, types.Boolean):
        return dtypes.Weak.BOOL
    if isinstance(numba_type, types.Integer):
        return dtypes.Weak.INT
    if isinstance(numba_type, types.Float):
        return dtypes.Weak.FLOAT
    return None


def as_type(operand: dtypes.Operand) -> Any:
    """The inverse of `operand_of`."""
    return Weak(operand) if isinstance(operand, dtypes.Weak) else Strong(operand)


def fields_type(dtypes_of_fields: Sequence[np.dtype[Any]], named: type | None) -> Any:
    """The type of an accumulator of several fields: a tuple, which becomes an argument a field."""
    fields = [Strong(dtype) for dtype in dtypes_of_fields]
    if named is not None:
        return NamedTuple(fields, named)
    return Tuple(tuple(fields))


@register_model(Strong)
class _StrongModel(PrimitiveModel):
    def __init__(self, manager: Any, frontend_type: Strong) -> None:
        super().__init__(manager, frontend_type, mlir_type(frontend_type.dtype))


@register_model(Weak)
class _WeakModel(PrimitiveModel):
    def __init__(self, manager: Any, frontend_type: Weak) -> None:
        super().__init__(manager, frontend_type, mlir_type(dtypes.dtype_of(frontend_type.kind)))


@register_model(Context)
class _ContextModel(PrimitiveModel):
    def __init__(self, manager: Any, frontend_type: Context) -> None:
        super().__init__(manager, frontend_type, ir.Type.parse("!annudf.context", CONTEXT))


@register_model(Capture)
class _CaptureModel(PrimitiveModel):
    def __init__(self, manager: Any, frontend_type: Capture) -> None:
        text = capture_type_text(frontend_type.element, frontend_type.extents)
        super().__init__(manager, frontend_type, ir.Type.parse(text, CONTEXT))


@register_model(Vector)
class _VectorModel(PrimitiveModel):
    def __init__(self, manager: Any, frontend_type: Vector) -> None:
        super().__init__(manager, frontend_type, ir.Type.parse(vector_type_text(frontend_type.word), CONTEXT))


@register_model(Scratch)
class _ScratchModel(PrimitiveModel):
    def __init__(self, manager: Any, frontend_type: Scratch) -> None:
        super().__init__(manager, frontend_type, ir.Type.parse(frontend_type.text, CONTEXT))


@typeof_impl.register(StrongFloat)
@typeof_impl.register(StrongInt)
def _typeof_strong(value: StrongFloat | StrongInt, context: Any) -> Strong:
    return Strong(value.dtype)
