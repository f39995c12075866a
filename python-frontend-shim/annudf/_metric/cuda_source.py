# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A metric in CUDA C++ source: compiled by NVRTC, trusted."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from annudf._metric import cache
from annudf._metric.definition import ALL, HOST, Definition, report
from annudf._metric.properties import Properties, recorded_in
from annudf._support.options import AccumulatorWord, CaptureType, Word
from annudf.errors import UnavailableError

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

    def lower(self, target: str, arch: str) -> bytes:
        if target == "ltoir":
            artifact = self.artifact((arch,) if arch else (ALL,))
            return artifact.ltoir(arch or artifact.archs[0])
        raise UnavailableError(
            f"metric '{self._name}' is CUDA source, which has no {target}; its LTO-IR is .ltoir(arch)"
        )
