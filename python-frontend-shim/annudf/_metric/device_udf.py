# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
""":class:`DeviceUDF`: the descriptor that the proof of concept of Python metrics in cuVS passes around."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from annudf import _arrays
from annudf._metric.definition import HOST, parse_arch, report
from annudf._metric.metric import Metric, MetricSource
from annudf._metric.recorded import ArtifactDefinition
from annudf._support import fork
from annudf._support.checks import check_bool, check_int, refusal, shown
from annudf._support.repr import of_whole
from annudf.errors import ArgumentError, DeviceError, UnavailableError

if TYPE_CHECKING:
    from annudf._core import Artifact

ABI = "rapids.cuvs.ivf_flat.metric.v1"
"""The ABI of the code in a descriptor; docs/use/device-udf.md says what a metric may need of it."""


@dataclass(frozen=True)
class UDFCapture:
    """The array of a capture on a device.

    Attributes
    ----------
    name, dtype : str
        ``"float32"`` is the only dtype yet.
    shape : tuple of int
    strides : tuple of int or None
        In bytes; None: C order, no gaps.
    device_id : int
        Ordinal of the CUDA device.
    readonly : bool
    pointer : int
        Address of the first entry.
    owner : object
        An object that keeps the array alive. It is not part of the capture.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    device_id: int = 0
    readonly: bool = True
    pointer: int = 0
    owner: object = field(default=None, compare=False, repr=False)

    @of_whole("shape")
    def __repr__(self) -> str:
        return f"<annudf capture {self.name} of a device UDF: {self.shape} {self.dtype} on cuda:{self.device_id}>"

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        # No stream: who made the descriptor has seen to it that the array is written.
        return {
            "shape": self.shape,
            "typestr": "<f4",
            "data": (self.pointer, self.readonly),
            "strides": self.strides,
            "version": 3,
        }


_RawCapture = tuple[str, str, Sequence[int], Sequence[int] | None, int, int, bool]


def _raw(capture: UDFCapture) -> _RawCapture:
    of = f"of capture {shown(capture.name)}"
    shape = _steps(capture.shape, f"shape {of}")
    strides = None if capture.strides is None else _steps(capture.strides, f"strides {of}")
    device = check_int(capture.device_id, f"device_id {of}", 0, 2**31 - 1)
    pointer = check_int(capture.pointer, f"pointer {of}", 0, 2**64 - 1)
    for name in ("name", "dtype"):
        if not isinstance(getattr(capture, name), str):
            raise refusal(f"{name} {of}", getattr(capture, name), "a str")
    check_bool(capture.readonly, f"readonly {of}")
    return capture.name, capture.dtype, shape, strides, device, pointer, capture.readonly


def _steps(given: Sequence[int], name: str) -> list[int]:
    if not isinstance(given, Sequence):
        raise ArgumentError(f"{name} is {shown(given)}; give a tuple of integers")
    return [check_int(one, f"{name}, [{i}],", -(2**63), 2**63 - 1) for i, one in enumerate(given)]


class _UdfDefinition(ArtifactDefinition):
    """An artifact that has code for GPUs alone."""

    hosts: tuple[str, ...] = ()

    def artifact(self, targets: Iterable[str]) -> Artifact:
        if HOST in targets:
            raise UnavailableError(
                f"metric '{self.name}' is a device UDF and runs on a GPU only; give device arrays, or search by the "
                "metric that it was made from"
            )
        return super().artifact(targets)


@dataclass(frozen=True)
class DeviceUDF(MetricSource):
    """Code of a metric for a GPU, and where its capture lies.

    A descriptor is accepted in place of a metric: ``SearchParams(metric=udf)``. It has the attributes of the descriptor
    of cuVS's proof of concept, and :meth:`of` accepts any object with these attributes. Code in a descriptor is
    trusted, like CUDA source.

    Attributes
    ----------
    abi : str
        ``"rapids.cuvs.ivf_flat.metric.v1"``.
    payload_kind : {"ltoir", "cuda_source"}
    payload : bytes
        Text of CUDA C++ may be given as str.
    symbol_name : str
        The function, ``extern "C"``.
    captures : tuple of UDFCapture
        At most one.
    cache_key : str
        Names the code; the same in every process, wherever captures lie.
    target : str
        Architecture of LTO-IR, such as ``"sm_90"``; empty: that in its header.
    """

    abi: str
    payload_kind: str
    payload: bytes
    symbol_name: str
    captures: tuple[UDFCapture, ...] = ()
    cache_key: str = ""
    target: str = ""

    @of_whole("symbol_name")
    def __repr__(self) -> str:  # The payload is no text.
        of = f" for {self.target}" if self.target else ""
        return f"<annudf device UDF {self.symbol_name}: {self.payload_kind}{of}, {len(self.payload)} bytes>"

    def __post_init__(self) -> None:
        from annudf import _core

        object.__setattr__(self, "payload", _bytes_of(_attribute(self, "payload", _PAYLOADS)))
        for name in ("abi", "payload_kind", "symbol_name", "cache_key", "target"):
            _attribute(self, name, str)
        for number, one in enumerate(_attribute(self, "captures", (tuple, list))):
            if not isinstance(one, UDFCapture):
                raise ArgumentError(f"captures[{number}] of a device UDF is {shown(one)}; give an annudf.UDFCapture")
        object.__setattr__(self, "captures", tuple(self.captures))
        _core.device_udf_check(self._descriptor())
        if not self.cache_key:
            object.__setattr__(self, "cache_key", _core.device_udf_cache_key(self._descriptor(), []))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_made"}

    def payload_bytes(self) -> bytes:
        """The payload."""
        return self.payload

    def c_descriptor_metadata(self) -> dict[str, Any]:
        """The fields as the struct of C has them, without owners."""
        names = ("name", "dtype", "shape", "strides", "device_id", "readonly", "pointer")
        return {
            "abi": self.abi,
            "payload_kind": self.payload_kind,
            "payload_size": len(self.payload),
            "symbol_name": self.symbol_name,
            "captures": [{name: getattr(capture, name) for name in names} for capture in self.captures],
            "n_captures": len(self.captures),
            "cache_key": self.cache_key,
            "flags": 0,
        }

    @classmethod
    def of(cls, udf: Any) -> DeviceUDF:
        """Makes a descriptor of any object with the attributes of a descriptor.

        Raises
        ------
        ArgumentError
            An attribute is missing or has another type.
        InputError
            The object is not a descriptor of that ABI.
        """
        if isinstance(udf, cls):
            return udf
        payload = _attribute(udf, "payload", _PAYLOADS)
        target = getattr(udf, "target", "")
        sm = getattr(target, "sm", None)  # The proof of concept's is an object.
        if isinstance(sm, str) and sm != "runtime":
            target = f"sm_{sm}"
        return cls(
            abi=_attribute(udf, "abi", str),
            payload_kind=_attribute(udf, "payload_kind", str),
            payload=_bytes_of(payload),
            symbol_name=_attribute(udf, "symbol_name", str),
            captures=tuple(_capture_of(one) for one in _attribute(udf, "captures", (tuple, list))),
            cache_key=_attribute(udf, "cache_key", str),
            target=target if isinstance(target, str) else "",
        )

    @classmethod
    def from_metric(
        cls,
        metric: Metric,
        arch: str | int,
        *,
        symbol_name: str = "",
        captures: Mapping[str, object] | None = None,
        inline_captures: str = "",
    ) -> DeviceUDF:
        """A metric as a descriptor.

        Parameters
        ----------
        metric : Metric
            A metric that keeps rules R1 to R14, the limits of that ABI.
        arch : str or int
            ``"sm_90"`` or 90; the code serves newer ones too.
        symbol_name : str, optional
            Default: ``annudf_metric_`` and the metric's name.
        captures : dict of str to device array, optional
            The capture that is not baked in, with one entry per dimension of the index.
        inline_captures : str, optional
            Values to bake in, in the syntax of ``annudf compile --inline-captures``.

        Raises
        ------
        CompileError
            The metric breaks one of the rules.
        ArgumentError, DeviceError
            A capture is missing, too short, or not on a device.
        """
        from annudf import _core

        name = parse_arch(arch)
        given = tuple(_capture_from(key, value) for key, value in (captures or {}).items())
        dims = given[0].shape[0] if given and given[0].shape else 0
        artifact = metric.artifact(name)
        raw = [_raw(one) for one in given]
        with fork.compiling():
            payload, symbol, key, target = _core.device_udf_from_artifact(
                artifact, name, symbol_name, inline_captures, raw, dims
            )
        return cls(ABI, "ltoir", payload, symbol, given, key, target)

    def artifact(self, name: str = "device_udf", archs: Iterable[str | int] = ()) -> Artifact:
        """An artifact that searches by this code, for GPUs; not marked as verified."""
        from annudf import _core

        targets = [parse_arch(arch) for arch in archs]
        with fork.compiling():
            artifact, diagnostics = _core.device_udf_to_artifact(self._descriptor(), name, targets)
        report(name, diagnostics)
        return artifact

    def metric(self, name: str = "device_udf", archs: Iterable[str | int] = ()) -> Metric:
        """A metric that searches by this code; its capture is read where it is."""
        made = Metric(_UdfDefinition(self.artifact(name, archs), f"<device UDF {self.symbol_name}>"), {})
        return self._bound(made)

    def _as_metric(self) -> Metric:
        # Threads that come here at once may both compile it, to the same.
        made: Metric | None = self.__dict__.get("_made")
        if made is None:
            made = Metric(_UdfDefinition(self.artifact(), f"<device UDF {self.symbol_name}>"), {})
            object.__setattr__(self, "_made", made)
        return self._bound(made)

    def _bound(self, metric: Metric) -> Metric:
        return metric.bind(**{one.name: one for one in self.captures}) if self.captures else metric

    def _descriptor(self) -> tuple[str, str, bytes, str, list[_RawCapture], str, str]:
        raw = [_raw(one) for one in self.captures]
        return self.abi, self.payload_kind, self.payload, self.symbol_name, raw, self.cache_key, self.target


_PAYLOADS = (bytes, bytearray, memoryview, str)


def _bytes_of(payload: bytes | bytearray | memoryview | str) -> bytes:
    return payload.encode() if isinstance(payload, str) else bytes(payload)


def _attribute(udf: Any, name: str, kinds: type | tuple[type, ...]) -> Any:
    value = getattr(udf, name, None)
    if not isinstance(value, kinds):
        names = " or ".join(one.__name__ for one in (kinds if isinstance(kinds, tuple) else (kinds,)))
        raise refusal(f"{name} of a device UDF", value, names)
    return value


def _capture_of(capture: Any) -> UDFCapture:
    strides = getattr(capture, "strides", None)
    shape = _attribute(capture, "shape", (tuple, list))
    return UDFCapture(
        name=_attribute(capture, "name", str),
        dtype=_attribute(capture, "dtype", str),
        shape=tuple(int(extent) for extent in shape),
        strides=None if strides is None else tuple(int(step) for step in strides),
        device_id=_attribute(capture, "device_id", int),
        readonly=bool(getattr(capture, "readonly", True)),
        pointer=_attribute(capture, "pointer", int),
        owner=capture,
    )


def _capture_from(name: str, value: object) -> UDFCapture:
    """Describes an array of any library: its device, stream, mask and whether it is read-only."""
    if isinstance(value, UDFCapture):
        return value
    seen = _arrays.view(value, f"captures['{name}']")
    if seen.device.kind != "cuda":
        raise DeviceError(f"capture '{name}' is on {seen.device}; a descriptor says where it lies on a CUDA device")
    return UDFCapture(
        name, seen.dtype, seen.shape, seen.strides, seen.device.index, seen.read_only, seen.address, seen.owner
    )
