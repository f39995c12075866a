# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A metric in CUDA C++ source: compiled by NVRTC, trusted."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from annudf._arrays import DTYPE_OF_ELEMENT
from annudf._metric import cache
from annudf._metric.arguments import check_accumulator_word, check_arguments, check_symbol, check_word
from annudf._metric.definition import ALL, HOST, Definition, report
from annudf._metric.metric import Metric
from annudf._metric.properties import Properties, recorded_in
from annudf._support.options import AccumulatorWord, CaptureType, IndexMetric, Order, Word
from annudf.errors import ArgumentError, UnavailableError

if TYPE_CHECKING:
    from annudf._core import Artifact


class CudaSourceDefinition(Definition):
    """CUDA C++ source with what a decorator would say about it."""

    hosts: tuple[str, ...] = ()

    def __init__(
        self,
        source: str,
        *,
        name: str,
        order: str,
        coarse: str,
        coarse_order: str | None,
        initial: float,
        compute: Word | None,
        accumulator: AccumulatorWord,
        elements: tuple[str, ...],
        lists_elements: bool,
        captures: Mapping[str, CaptureType],
        missing_values: bool,
    ) -> None:
        super().__init__()
        self.source = source
        self._name, self._order = name, order
        self._coarse, self._coarse_order = coarse, coarse_order
        self._initial, self._compute, self._accumulator = initial, compute, accumulator
        self._elements, self._captures = elements, dict(captures)
        self._missing = missing_values
        self._lists_elements = lists_elements

    @property
    def name(self) -> str:
        return self._name

    @property
    def captures(self) -> Mapping[str, CaptureType]:
        return self._captures

    @property
    def elements(self) -> tuple[str, ...]:
        return self._elements

    @property
    def order(self) -> str:
        return self._order

    @property
    def coarse(self) -> str:
        return self._coarse

    @property
    def missing_values(self) -> bool:
        return self._missing

    @functools.cached_property
    def properties(self) -> Properties:
        """Nothing: its source is not read by what proves."""
        return recorded_in(self._name, {}, f"CUDA source of '{self._name}'", verified=False)

    def artifact(self, targets: Iterable[str]) -> Artifact:
        wanted = tuple(targets)
        if HOST in wanted:
            raise UnavailableError(
                f"metric '{self._name}' is CUDA source and runs on a GPU only; give device arrays, or write it "
                "in Python with annudf.metric"
            )
        return super().artifact(wanted)

    def _key(self) -> str:
        options = [
            self._order,
            self._coarse,
            self._coarse_order,
            self._initial.hex(),
            self._compute,
            self._accumulator,
            self._elements,
            self._lists_elements,
            {name: str(declared) for name, declared in self._captures.items()},
            self._missing,
        ]
        return cache.make_key("cuda source", self.source, self._name, json.dumps(options))

    def _compile(self, host: bool, archs: list[str] | None) -> Artifact:
        from annudf import _core

        artifact, diagnostics = _core.compile_cuda_source(
            self.source,
            f"<CUDA source of {self._name}>",
            archs=archs,
            name=self._name,
            order=self._order,
            coarse=self._coarse,
            coarse_order=self._coarse_order,
            elements=list(self._elements) if self._lists_elements else [],  # None are all that it can hold.
            accumulator=self._accumulator,
            compute_type=self._compute,
            initial=self._initial,
            captures=[
                (name, declared.element, [str(extent) for extent in declared.extents])
                for name, declared in self._captures.items()
            ],
            missing_values=self._missing,
        )
        report(self._name, diagnostics)
        return artifact

    def lower(self, target: str, arch: str, part: str = "") -> bytes:
        if target == "ltoir":
            artifact = self.artifact((arch,) if arch else (ALL,))
            return artifact.ltoir(arch or artifact.archs[0])
        raise UnavailableError(
            f"metric '{self._name}' is CUDA source, which has no {target}; its LTO-IR is .ltoir(arch)"
        )


def cuda_source_metric(
    source: str | bytes,
    *,
    order: Order = "min",
    initial: float = 0.0,
    coarse_metric: IndexMetric = "sqeuclidean",
    symbol_name: str = "cuda_source",
    captures: Mapping[str, Any] | None = None,
    dtype: npt.DTypeLike | None = None,
    accumulator: npt.DTypeLike | None = None,
    elements: Iterable[npt.DTypeLike] | None = None,
    coarse_order: Order | None = None,
    allow_non_finite: bool = False,
    missing_values: bool = False,
) -> Metric:
    """Makes a metric of CUDA C++ source; for GPUs only.

    NVRTC compiles the source against a generated prototype, so a wrong signature is a compile error. The code is
    **trusted, not verified**. Sources that were written for cuVS, which define ``compute_dist_udf_impl``, work
    unchanged.

    Parameters
    ----------
    source : str or bytes
        Text of CUDA C++, in UTF-8.
    order, initial, coarse_metric, coarse_order, captures, allow_non_finite, missing_values
        As in :func:`metric`. Sources in the form of cuVS have no captures.
    symbol_name : str, default "cuda_source"
        Name of the metric in artifacts.
    dtype : dtype, optional
        Type of the coordinates in the source: float32, float64 or int32. Default: float32, float64 for an accumulator
        of float64, and int32 for an accumulator of integers. A source in the form of cuVS has the default; another type
        is refused.
    accumulator : dtype, optional
        float32 (the default), float64, int32, uint32 or int64.
    elements : iterable of dtype, optional
        Types of vectors that the metric accepts. Default: all types that the type of the coordinates can hold.

    Returns
    -------
    Metric

    Raises
    ------
    ArgumentError
        An argument has none of the values above.
    CompileError
        At the first use: NVRTC's diagnostics, with lines of the source.
    UnavailableError
        At the first use: there is no NVRTC, or the search is on the CPU.
    """
    if not isinstance(source, (str, bytes)):
        raise ArgumentError(f"source is a {type(source).__name__}, it must be text of CUDA C++")
    if isinstance(source, bytes):
        try:
            source = source.decode()
        except UnicodeDecodeError as error:
            raise ArgumentError(f"source is not UTF-8: {error}") from None
    if not source.strip():
        raise ArgumentError("source is empty; give CUDA C++ that updates the accumulator")
    if isinstance(initial, (tuple, list)) or isinstance(accumulator, (tuple, list)):
        raise ArgumentError("CUDA source keeps one number as its accumulator; write a Python function for several")
    compute = None if dtype is None else check_word(dtype, "dtype")
    word = check_accumulator_word("float32" if accumulator is None else accumulator, "accumulator")
    given = check_arguments(
        order=order,
        initial=initial,
        coarse_metric=coarse_metric,
        coarse_order=coarse_order,
        captures=captures,
        compute=compute or _COORDINATES_OF[word],
        accumulator=DTYPE_OF_ELEMENT[word],
        elements=elements,
        allow_non_finite=allow_non_finite,
        missing_values=missing_values,
    )
    definition = CudaSourceDefinition(
        source,
        name=check_symbol(symbol_name),
        order=given.order,
        coarse=given.coarse,
        coarse_order=given.coarse_order,
        initial=_as_double(given.initial),
        compute=compute,
        accumulator=word,
        elements=given.elements,
        lists_elements=elements is not None,
        captures=given.captures(),
        missing_values=given.missing_values,
    )
    return Metric(definition, given.values, None, given.allow_non_finite)


_COORDINATES_OF: dict[AccumulatorWord, Word] = {"f32": "f32", "f64": "f64", "i32": "i32", "u32": "i32", "i64": "i32"}
"""The type of coordinates that suits an accumulator, as the compiler of CUDA source has it."""


def _as_double(initial: object) -> float:
    """What CUDA source is handed as its start, or ArgumentError where that is another number."""
    assert isinstance(initial, (int, float))
    if float(initial) != initial:
        raise ArgumentError(
            f"initial is {initial}, which float64 rounds to {float(initial):.0f}, and CUDA source starts from a "
            "float64; give an integer that float64 holds, such as any up to 2**53"
        )
    return float(initial)
