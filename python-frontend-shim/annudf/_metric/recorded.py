# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Metrics that only a manifest tells of: text of the dialect, and artifacts."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from annudf._metric import cache
from annudf._metric.definition import ALL, HOST, Definition, Manifest, report
from annudf._metric.properties import Properties, recorded_in
from annudf._support import fork
from annudf._support.options import CaptureType, DeviceBackend
from annudf.errors import UnavailableError

if TYPE_CHECKING:
    from annudf._core import Artifact


class ManifestDefinition(Definition):
    """What only a manifest tells of."""

    @property
    @abstractmethod
    def _manifest(self) -> Manifest: ...

    @property
    def captures(self) -> Mapping[str, CaptureType]:
        return {name: one for name, one in self._manifest.captures.items() if self._is_declared(name)}

    def _is_declared(self, capture: str) -> bool:
        """Whether it is the user's, and not one for prepared values."""
        return True

    def prepared(self, artifact: Artifact) -> tuple[str, ...]:
        return tuple(name for name in self._manifest.captures if not self._is_declared(name))

    @property
    def elements(self) -> tuple[str, ...]:
        return self._manifest.elements

    @property
    def order(self) -> str:
        return self._manifest.order

    @property
    def coarse(self) -> str:
        return self._manifest.coarse

    @property
    def missing_values(self) -> bool:
        return self._manifest.missing_values


class TextDefinition(ManifestDefinition):
    """Text of the dialect."""

    def __init__(self, text: str, origin: str, name: str = "", device_backend: DeviceBackend = "libnvvm") -> None:
        super().__init__(device_backend)
        self.text, self.origin, self._metric_name = text, origin, name
        self._read: Manifest | None = None

    @property
    def _manifest(self) -> Manifest:
        if self._read is None:
            # What links device code has none for a host, and compiling for all leaves the host out.
            targets = (ALL, HOST) if "annudf.extern" in self.text else (HOST,)
            self._read = Manifest(self.artifact(targets).manifest)
        return self._read

    @property
    def name(self) -> str:
        # Compiling asks for the name, so it cannot compile to know it.
        return self._read.name if self._read is not None else self._metric_name or self.origin

    @property
    def known_captures(self) -> Mapping[str, CaptureType]:
        # Not once it is read, either: a repr does not hang on what was compiled.
        return {}

    def _key(self) -> str:
        return cache.make_key("text", self.text, self.origin, self._metric_name)

    @functools.cached_property
    def properties(self) -> Properties:
        """What is proved of its formula."""
        proved = super().properties
        return replace(proved, raised=proved.cost is None and f"annudf.pairwise @{self._manifest.name} " in self.text)

    @property
    def may_prepare(self) -> bool:
        return "annudf.pairwise" in self.text

    def _is_declared(self, capture: str) -> bool:
        return f'"{capture}"' in self.text or not self.may_prepare

    def _compile(self, host: bool, archs: list[str] | None) -> Artifact:
        return self.compile_part(self._metric_name, host, archs)

    def compile_part(self, symbol: str, host: bool, archs: list[str] | None) -> Artifact:
        from annudf import _core

        artifact, diagnostics = _core.compile(
            self.text,
            self.origin,
            archs=archs,
            lto_ir=archs is None or bool(archs),
            host_bitcode=host,
            metric_name=symbol,
            device_backend=self.device_backend,
        )
        report(self.name, diagnostics)
        return artifact

    def lower(self, target: str, arch: str, part: str = "") -> bytes:
        from annudf import _core

        with fork.compiling():
            return _core.lower(
                self.text,
                self.origin,
                target,
                arch=arch,
                metric_name=part or self._metric_name,
                device_backend=self.device_backend,
            )


class ArtifactDefinition(ManifestDefinition):
    """A compiled artifact, e.g. of a file; it holds the code that it holds."""

    def __init__(
        self,
        artifact: Artifact,
        origin: str,
        builtin_name: str = "",
        parts: Mapping[str, ArtifactDefinition] | None = None,
    ) -> None:
        super().__init__()
        self.builtin_name = builtin_name
        self.parts = dict(parts or {})
        self._whole, self.origin = artifact, origin
        self._read = Manifest(artifact.manifest)

    @property
    def _manifest(self) -> Manifest:
        return self._read

    @property
    def name(self) -> str:
        return self._manifest.name

    @property
    def is_filter(self) -> bool:
        """Whether it holds a filter, as pickles of them do."""
        return bool(self._manifest.is_filter)

    def artifact(self, targets: Iterable[str]) -> Artifact:
        """The artifact as it is; the backend says what it lacks."""
        return self._whole

    @property
    def may_prepare(self) -> bool:
        return bool(self.parts)

    def _is_declared(self, capture: str) -> bool:
        return capture not in self.parts

    @functools.cached_property
    def properties(self) -> Properties:
        """What its manifest has of them."""
        return recorded_in(self.name, self._manifest.proved, self.origin, self._whole.is_verified)

    def _key(self) -> None:
        return None

    def _compile(self, host: bool, archs: list[str] | None) -> Artifact:
        raise AssertionError("an artifact is not compiled")

    def lower(self, target: str, arch: str, part: str = "") -> bytes:
        if target == "ltoir":
            return self._whole.ltoir(arch)
        noun = "filter" if self.is_filter else "metric"
        raise UnavailableError(
            f"{noun} '{self.name}' of {self.origin} is compiled already; its {target} needs its source"
        )
