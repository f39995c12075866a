# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What a metric is, without values: its source, and the artifacts compiled from it.

A definition is shared by all metrics that differ only in the values of their captures.
"""

from __future__ import annotations

import functools
import json
import re
import time
import types
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from annudf._arrays import DTYPE_OF_ELEMENT
from annudf._frontend.source.fingerprint import fingerprint
from annudf._frontend.source.report import in_users_words, ops_in_python
from annudf._frontend.source.signature import reads_accumulator
from annudf._frontend.source.snapshot import snapshot
from annudf._metric import cache
from annudf._metric.domains import CONDITIONS, check_parameter
from annudf._metric.identity import compiler_identity
from annudf._metric.properties import Properties, proved_of
from annudf._support import fork
from annudf._support.checks import refusal, shown
from annudf._support.log import logger
from annudf._support.options import CaptureType, DeviceBackend, MetricOptions
from annudf.errors import CompileError, InputError, UnavailableError, UnsupportedError

if TYPE_CHECKING:
    from annudf._core import Artifact
    from annudf._core import Diagnostic as CoreDiagnostic
    from annudf._metric.captures import Value

HOST = "host"
ALL = "all"

# Artifacts of this process by cache key: a decorator that runs again (a factory, a reloaded module)
# finds what it compiled before.
_memory_lock = fork.lock()
_memory: OrderedDict[str, Artifact] = OrderedDict()
_MEMORY_ENTRIES = 256


def parse_arch(arch: str | int) -> str:
    """``"sm_90"`` of "sm_90", "compute_90", "90" or 90."""
    from annudf import _core

    known = [f"sm_{number}" for number in _core.supported_archs()]
    number = str(arch) if isinstance(arch, (str, np.integer)) else shown(arch)
    name = "sm_" + number.removeprefix("sm_").removeprefix("compute_")
    if name not in known:
        raise refusal("arch", arch, f"one of {', '.join(known)}")
    return name


class Definition(ABC):
    """A metric without values."""

    hosts: tuple[str, ...] = (HOST,)
    """The targets beside GPUs that a whole artifact has code for."""

    builtin_name: str = ""
    """The name of a ready-made metric; it selects the domains of the parameters."""

    def domain(self, capture: str) -> Callable[[Value, object], None] | None:
        """What raises CaptureError unless a value (of what was given) has a meaning; None: all finite ones have."""
        if (self.builtin_name, capture) not in CONDITIONS:
            return None
        # An array on a device is copied to be looked at; it has few entries.
        return lambda value, given: check_parameter(self.builtin_name, capture, value.array, given, capture)

    def __init__(self, device_backend: DeviceBackend = "libnvvm") -> None:
        self.device_backend = device_backend
        self._lock = fork.rlock()
        self._artifacts: dict[tuple[str, ...], Artifact] = {}

    @property
    @abstractmethod
    def name(self) -> str:
        """Symbol of the metric."""

    @property
    @abstractmethod
    def captures(self) -> Mapping[str, CaptureType]:
        """Declared types by name."""

    @property
    def known_captures(self) -> Mapping[str, CaptureType]:
        """The same for a repr, which should not cause a compile: none of text that has not been read."""
        return self.captures

    @property
    @abstractmethod
    def elements(self) -> tuple[str, ...]:
        """Element types of vectors that it accepts, "f32" ...."""

    @property
    @abstractmethod
    def order(self) -> str:
        """Which distances are best, "min" or "max"."""

    @property
    @abstractmethod
    def coarse(self) -> str:
        """What ranks the lists: "l2", "inner_product" or "cosine"."""

    @property
    @abstractmethod
    def missing_values(self) -> bool:
        """Whether it knows what to do with a coordinate that is NaN."""

    @abstractmethod
    def _compile(self, host: bool, archs: list[str] | None) -> Artifact:
        """Compiles; `archs` None: all, empty: no LTO-IR."""

    @abstractmethod
    def _key(self) -> str | None:
        """What the artifacts depend on, or None if they are not to be cached."""

    @abstractmethod
    def lower(self, target: str, arch: str, part: str = "") -> bytes:
        """One stage on the way to a GPU; of the metric of that symbol, which gives a prepared value."""

    @property
    def may_prepare(self) -> bool:
        """Whether an artifact may have captures for values of each vector alone."""
        return False

    def prepared(self, artifact: Artifact) -> tuple[str, ...]:
        """The captures of the artifact that the compiler made for values of each vector alone."""
        return ()

    def compile_part(self, symbol: str, host: bool, archs: list[str] | None) -> Artifact:
        """Compiles the metric of that symbol, which gives one of those values."""
        raise AssertionError(f"{self.name} prepares nothing")

    @functools.cached_property
    def properties(self) -> Properties:
        """What is proved of its formula."""
        return proved_of(json.loads(self.lower("properties", "")))

    def artifact(self, targets: Iterable[str]) -> Artifact:
        """The artifact with code for `targets`: "host", "all" (all archs), "sm_90" ....

        One compilation a set of targets, however many threads ask.
        """
        wanted = tuple(sorted(set(targets)))
        found = self._artifacts.get(wanted)
        if found is not None:
            return found
        with self._lock:
            found = self._artifacts.get(wanted)
            if found is None:
                with fork.compiling():
                    found = self._artifacts[wanted] = self._find_or_compile(wanted)
            return found

    def _find_or_compile(self, targets: tuple[str, ...]) -> Artifact:
        from annudf import _core

        start = time.perf_counter()
        basis = self._key()
        key = ""
        if basis is not None:
            # Code for hosts is the same by either backend, and keys with libNVVM stay what they were.
            other = () if self.device_backend == "libnvvm" or targets == (HOST,) else (self.device_backend,)
            key = cache.make_key("annudf artifact 1", basis, compiler_identity(), *other, *targets)
            with _memory_lock:
                found = _memory.get(key)
                if found is not None:
                    _memory.move_to_end(key)
                    return found
            data = cache.load(key)
            if data is not None:
                try:
                    found = _core.Artifact.from_bytes(data, f"cached metric {self.name}")
                except InputError as error:
                    logger.debug("cache: entry of metric %s cannot be used: %s", self.name, error)
                    cache.drop(key)
        origin = "cache"
        if found is None:
            origin = "compiler"
            archs = None if ALL in targets else [one for one in targets if one != HOST]
            found = self._compile(HOST in targets, archs)
            # Without libNVVM "all" may mean none; that must not be remembered for when there is one.
            if basis is not None and (ALL not in targets or found.archs):
                cache.store(key, found.to_bytes())
        if basis is not None and (ALL not in targets or found.archs):
            with _memory_lock:
                _memory[key] = found
                while len(_memory) > _MEMORY_ENTRIES:
                    _memory.popitem(last=False)
        elapsed = (time.perf_counter() - start) * 1e3
        logger.debug("metric %s for %s from the %s in %.1f ms", self.name, "+".join(targets), origin, elapsed)
        return found


_reported: set[tuple[str, str]] = set()


def report(name: str, diagnostics: Iterable[CoreDiagnostic]) -> None:
    """Logs what a successful compilation said: warnings once, remarks at DEBUG."""
    for diagnostic in diagnostics:
        place = f"{diagnostic.file}:{diagnostic.line}:{diagnostic.column}: " if diagnostic.line else ""
        text = f"{place}{diagnostic.message}"
        if diagnostic.severity != "warning":
            logger.debug("metric %s: %s: %s", name, diagnostic.severity, text)
        elif (name, text) not in _reported:
            _reported.add((name, text))
            logger.warning("metric %s: %s", name, text)


def _in_python(diagnostic: CoreDiagnostic) -> CoreDiagnostic:
    """A warning that speaks of the dialect, as who wrote Python would say it."""
    if diagnostic.rule != "N1":
        return diagnostic
    return replace(diagnostic, message=diagnostic.message.replace("write annudf.combine", "say how by combine="))


def _refuse_linked(value: object) -> NoReturn:
    """Nothing that is linked is asked what it links by who only wants to know whether a host has code."""
    raise UnsupportedError("linked device code has none for a host", [])


_LOADS_PREPARED = re.compile(r'it loads "(prepared_[xy]_\d+)" at an index that is not [^(]*')


class FunctionDefinition(Definition):
    """A Python function."""

    def __init__(
        self, function: types.FunctionType, options: MetricOptions, device_backend: DeviceBackend = "libnvvm"
    ) -> None:
        super().__init__(device_backend)
        self.function = function
        self.options = options
        self._module: Any = None
        self._fingerprint: str | None = None
        self._snapshot: tuple[types.FunctionType, MetricOptions] | None = None

    @property
    def name(self) -> str:
        return self.options.name

    @property
    def captures(self) -> Mapping[str, CaptureType]:
        return self.options.captures

    @property
    def elements(self) -> tuple[str, ...]:
        return self.options.elements

    @property
    def order(self) -> str:
        return self.options.order

    @property
    def coarse(self) -> str:
        return self.options.coarse

    @property
    def missing_values(self) -> bool:
        return self.options.missing_values

    def _taken(self) -> tuple[types.FunctionType, MetricOptions]:
        """The functions as they were when they were first looked at, with what they read then."""
        if self._snapshot is None:
            self._snapshot = snapshot(self.function, self.options)
        return self._snapshot

    def _key(self) -> str:
        with self._lock:
            if self._fingerprint is None:
                with in_users_words():
                    self._fingerprint = fingerprint(*self._taken())
            return self._fingerprint

    def is_compiled(self) -> bool:
        """Whether a search on the host finds code in the cache, as the function is now; nothing is kept of it."""
        try:
            basis = fingerprint(*snapshot(self.function, self.options, _refuse_linked))
        except CompileError:
            return False
        key = cache.make_key("annudf artifact 1", basis, compiler_identity(), HOST)
        return key in _memory or cache.load(key) is not None

    def _translated(self) -> Any:
        with self._lock:
            if self._module is None:
                from annudf._frontend import translate

                start = time.perf_counter()
                with in_users_words():
                    self._module = translate(*self._taken())
                elapsed = (time.perf_counter() - start) * 1e3
                logger.debug("metric %s translated from Python in %.1f ms", self.name, elapsed)
            return self._module

    def _compile(self, host: bool, archs: list[str] | None) -> Artifact:
        return self.compile_part("", host, archs)

    @property
    def may_prepare(self) -> bool:
        return self.options.is_pairwise

    def prepared(self, artifact: Artifact) -> tuple[str, ...]:
        if not self.may_prepare:
            return ()
        return tuple(name for name in Manifest(artifact.manifest).captures if name not in self.options.captures)

    def compile_part(self, symbol: str, host: bool, archs: list[str] | None) -> Artifact:
        from annudf import _core

        module = self._translated()
        if module.links and host and archs == []:
            raise UnavailableError(
                f"{'filter' if self.options.is_filter else 'metric'} '{self.name}' calls '{module.links[0]}', linked "
                "device code, and runs on a GPU only; give device arrays"
            )
        with in_users_words(module.hint, self.options.is_pairwise):
            artifact, diagnostics = _core.compile(
                module.text,
                module.origin,
                archs=archs,
                lto_ir=archs is None or bool(archs),
                host_bitcode=host,
                import_frontend=True,
                metric_name=symbol,
                device_backend=self.device_backend,
            )
        # The decorator has said so, or was told that it is meant.
        if self.options.is_pairwise or not reads_accumulator(self.function):
            diagnostics = [one for one in diagnostics if one.rule != "H11"]
        report(self.name, map(_in_python, diagnostics))
        return artifact

    @functools.cached_property
    def properties(self) -> Properties:
        proved = proved_of(json.loads(self.lower("properties", "")), self._reason)
        return replace(proved, raised=proved.cost is None) if self.options.is_pairwise else proved

    def _reason(self, text: str) -> str:
        """A reason of the compiler in the words of Python; the captures of prepared values are none of the user's."""

        def told(found: re.Match[str]) -> str:
            whose = "query" if found[1].startswith("prepared_x") else "row"
            return (
                found[0] if found[1] in self.options.captures else f"it needs a value of each {whose} before the pass"
            )

        return _LOADS_PREPARED.sub(told, ops_in_python(text))

    def lower(self, target: str, arch: str, part: str = "") -> bytes:
        from annudf import _core

        module = self._translated()
        with fork.compiling(), in_users_words(module.hint, self.options.is_pairwise):
            return _core.lower(
                module.text,
                module.origin,
                target,
                arch=arch,
                metric_name=part,
                import_frontend=True,
                device_backend=self.device_backend,
            )


class Manifest:
    """The parts of a manifest that a search asks for."""

    def __init__(self, text: str) -> None:
        fields = json.loads(text)
        self.name = str(fields["name"])
        # A filter neither ranks nor reads coordinates; a search refuses one that is given as a metric.
        self.is_filter = fields.get("role") == "filter"
        self.order = str(fields.get("order", "min"))
        self.coarse = str(fields.get("coarse", "l2"))
        self.missing_values = bool(fields.get("missing_values", False))
        self.elements = tuple(map(str, fields.get("elements", DTYPE_OF_ELEMENT)))
        self.proved: Mapping[str, Any] = {key: fields[key] for key in ("form", "row_only_indexes") if key in fields}
        self.captures: dict[str, CaptureType] = {}
        for capture in fields["captures"]:
            self.captures[capture["name"]] = CaptureType(cast(Any, capture["element"]), tuple(capture["extents"]))
