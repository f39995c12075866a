# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What a decorator says about a metric, as the frontend and the cache read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Word = Literal["f32", "f64", "i32", "u32"]
"""Types of a coordinate inside a metric, by their names in the ABI."""

WORDS: tuple[Word, ...] = get_args(Word)

CaptureWord = Literal["f32", "f64", "i32", "u32", "f16", "bf16", "i8", "u8", "i16", "u16", "i64", "u64", "i1"]
"""Element types of captures, as they are stored."""

CAPTURE_WORDS: tuple[CaptureWord, ...] = get_args(CaptureWord)

AccumulatorWord = Literal["f32", "f64", "i32", "u32", "i64"]
"""Types of accumulators, and of the fields of one that has several."""

ACCUMULATOR_WORDS: tuple[AccumulatorWord, ...] = get_args(AccumulatorWord)

Order = Literal["min", "max"]
Coarse = Literal["l2", "inner_product", "cosine"]
Numerics = Literal["strict", "reassociate"]
DeviceBackend = Literal["libnvvm", "nvptx"]
"""What makes code for GPUs."""

ElementName = Literal["f32", "f16", "i8", "u8", "bf16", "bits"]

ALL_ELEMENTS: tuple[ElementName, ...] = get_args(ElementName)
"""Element types of vectors; a metric accepts all of them unless it says otherwise."""

IndexMetric = Literal["sqeuclidean", "euclidean", "inner_product", "cosine"]
"""What vectors are clustered by, as cuVS calls it."""

BuiltinName = Literal[
    "sqeuclidean",
    "euclidean",
    "inner_product",
    "cosine",
    "cityblock",
    "manhattan",
    "braycurtis",
    "canberra",
    "chebyshev",
    "chi2",
    "correlation",
    "dice",
    "gower",
    "bitwise_hamming",
    "hamming",
    "haversine",
    "hellinger",
    "jaccard",
    "jensenshannon",
    "kl_divergence",
    "l1",
    "lp",
    "minkowski",
    "nan_euclidean",
    "rogerstanimoto",
    "russellrao",
    "seuclidean",
    "sokalsneath",
    "yule",
]
"""Built-in metrics, for editors; a test holds them against the core's."""

MetricName = BuiltinName | str

COARSE_OF_METRIC: dict[str, Coarse] = {
    "sqeuclidean": "l2",
    "euclidean": "l2",
    "inner_product": "inner_product",
    "cosine": "cosine",
}
"""What the ABI calls the coarse metrics of cuVS."""

METRIC_OF_COARSE = {"l2": "sqeuclidean", "inner_product": "inner_product", "cosine": "cosine"}
"""What cuVS calls the coarse metrics of the ABI."""


Extent = Literal["dim", "row", "query"] | int
"""How many entries an axis of a capture has: one a dimension, an id or a query, or a number."""

SYMBOLS: tuple[str, ...] = ("dim", "row", "query")

MAX_RANK = 3
"""The most extents of a capture (rule C8)."""


@dataclass(frozen=True, slots=True)
class CaptureType:
    """Declared type of a capture: its element type, and its extents; a scalar has none."""

    element: CaptureWord
    extents: tuple[Extent, ...] = ()

    @property
    def scalar(self) -> bool:
        """Whether it is one number."""
        return not self.extents

    def fits(self, element: str, shape: tuple[int, ...]) -> bool:
        """Whether a value of this element type and shape can be bound; symbols fit any length."""
        return (
            element == self.element
            and len(shape) == len(self.extents)
            and all(
                extent == length for extent, length in zip(self.extents, shape, strict=True) if isinstance(extent, int)
            )
        )

    def __str__(self) -> str:
        return " x ".join([*map(str, self.extents), self.element]) if self.extents else f"{self.element} scalar"


@dataclass(frozen=True, slots=True)
class MetricOptions:
    """All of a metric but its function.

    Parameters
    ----------
    name : str
        Symbol of the metric: letters, digits and ``_``, not beginning with a digit.
    order : {"min", "max"}
        Which distances are best.
    initial : float or int, or a tuple of them
        The accumulator before the first dimension, or its fields; their Python types do not matter,
        the accumulator's do.
    coarse : {"l2", "inner_product", "cosine"}
        What ranks the lists before the scan.
    coarse_order : {"min", "max"} or None
        Which end of that is best; None: the coarse metric's own.
    captures : mapping of str to CaptureType
        Declared types by name, in the order of their declaration. Values are bound later.
    compute : {"f32", "f64", "i32", "u32"}
        Type of the coordinates ``x`` and ``y`` in the function.
    accumulator : {"f32", "f64", "i32", "u32", "i64"}, or a tuple of them
        Type of ``acc``, or of its fields.
    fields : type or None
        The NamedTuple that ``acc`` is; None: a plain tuple, or a number.
    names : tuple of str
        The names of the fields, for messages; empty if they have none.
    init : callable or None
        Function of ``ctx`` that gives the accumulator before the first dimension; None: it is `initial`.
    elements : tuple of str
        Element types of vectors that the metric accepts, of "f32", "f16", "i8", "u8", "bf16", "bits".
    finalize : callable or None
        Function of ``(acc, ctx)`` that gives the reported distance.
    numerics : {"strict", "reassociate"}
        Whether parts of the dimensions may be added up side by side.
    combine : callable or None
        Function of ``(acc, other, ctx)`` that joins the accumulators of two parts; None: the compiler infers it.
    missing_values : bool
        Whether the function knows what to do with a coordinate that is NaN.
    is_filter : bool
        Whether it is a filter's: the function is one of ``(ctx)`` that says whether a row is kept, the body of
        ``annudf.keep`` in an ``annudf.filter``. All but name and captures is at its default then.
    is_pairwise : bool
        Whether the function takes two whole vectors and returns their distance. It has no accumulator then, and no
        other hooks.
    dims : int or None
        How many dimensions the vectors have; None: any number.
    """

    name: str
    order: Order
    initial: float | int | tuple[float | int, ...]
    coarse: Coarse
    coarse_order: Order | None = None
    captures: Mapping[str, CaptureType] = field(default_factory=dict)
    compute: Word = "f32"
    accumulator: AccumulatorWord | tuple[AccumulatorWord, ...] = "f32"
    elements: tuple[ElementName, ...] = ALL_ELEMENTS
    finalize: Callable[..., object] | None = None
    numerics: Numerics = "strict"
    combine: Callable[..., object] | None = None
    fields: type | None = None
    names: tuple[str, ...] = ()
    init: Callable[..., object] | None = None
    missing_values: bool = False
    is_filter: bool = False
    is_pairwise: bool = False
    dims: int | None = None

    @property
    def other_hooks(self) -> dict[str, Any]:
        """Functions beside the metric's own, by the names of their options."""
        return {"finalize": self.finalize, "init": self.init, "combine": self.combine}

    @property
    def words(self) -> tuple[AccumulatorWord, ...]:
        """The accumulator's fields; one that is a number has one."""
        return self.accumulator if isinstance(self.accumulator, tuple) else (self.accumulator,)
