# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
""":func:`load_metric`, and what :func:`load_filter` loads as well."""

from __future__ import annotations

import os
from typing import Any

from annudf._metric.arguments import check_device_backend
from annudf._metric.definition import Definition
from annudf._metric.metric import Metric
from annudf._metric.recorded import ArtifactDefinition, TextDefinition
from annudf._support.checks import check_bool, check_path, printable, refusal
from annudf._support.options import DeviceBackend
from annudf.errors import ArgumentError, CaptureError


def load_metric(
    path: str | os.PathLike[str],
    /,
    *,
    name: str = "",
    allow_non_finite: bool | None = None,
    device_backend: DeviceBackend | None = None,
    **captures: Any,
) -> Metric:
    """Loads a compiled metric (``.annudf``), or text of the dialect (``.mlir``).

    Parameters
    ----------
    path : path
        A ``.mlir`` file is compiled at first use; every other file is an artifact. An artifact is a program: load it
        only from people whose programs you would run.
    name : str, optional
        The metric to load from a text with several.
    allow_non_finite : bool, optional
        Whether captures may be infinite or NaN. Default: False.
    device_backend : {"libnvvm", "nvptx"}, optional
        What makes code for GPUs of a text, as in :func:`metric`. Default: "libnvvm".
    **captures : number or array
        Values, as for :meth:`Metric.bind`; they can also be bound later. Captures with the name of an argument must be
        bound later.

    Returns
    -------
    Metric

    Raises
    ------
    ArgumentError
        `name`, `allow_non_finite` or `device_backend` cannot be used.
    InputError
        The file is missing, damaged, or not an artifact.
    CompileError
        The text breaks a rule.
    CaptureError
        There is no such capture, or the value does not fit it.
    """
    return load(path, "metric", name, allow_non_finite, device_backend, captures)


def load(
    path: object, noun: str, name: object, allow_non_finite: object, device_backend: object, captures: dict[str, Any]
) -> Metric:
    """The metric of the file, or what a filter is made of; `noun` is "metric" or "filter"."""
    from annudf import _core

    file = check_path(path, "path")
    definition: Definition
    if file.endswith(".mlir"):
        try:
            with open(file, encoding="utf-8") as stream:
                text = stream.read()
        except (OSError, UnicodeDecodeError) as error:
            from annudf.errors import InputError

            raise InputError(f"{printable(file)}: cannot be read: {printable(str(error))}") from error
        definition = TextDefinition(text, printable(file), name if isinstance(name, str) else "")
    else:
        definition = ArtifactDefinition(_core.Artifact.load(file), printable(file))
    if not isinstance(name, str):
        _refuse_capture(definition, "name", noun)
        raise refusal("name", name, f"the name of a {noun}")
    if isinstance(definition, ArtifactDefinition) and definition.is_filter != (noun == "filter"):
        held, does, load = "metric", "is no filter", "load_metric"
        if definition.is_filter:
            held, does, load = "filter", "gives no distances", "load_filter"
        raise ArgumentError(
            f"{definition.origin}: holds {held} '{definition.name}', which {does}; load it by ivf_flat.{load}"
        )
    if name and isinstance(definition, ArtifactDefinition):
        _refuse_capture(definition, "name", noun)
        raise ArgumentError(f"name is {name!r}, but an artifact holds one {noun}; leave it out")
    if allow_non_finite is not None:
        _refuse_capture(definition, "allow_non_finite", noun)
        check_bool(allow_non_finite, "allow_non_finite")
    if device_backend is not None:
        _refuse_capture(definition, "device_backend", noun)
        definition.device_backend = check_device_backend(device_backend)
        if isinstance(definition, ArtifactDefinition):
            raise ArgumentError(f"device_backend is {device_backend!r}, but an artifact is compiled; leave it out")
    result = Metric(definition, {}, None, bool(allow_non_finite), noun)
    return result.bind(**captures) if captures else result


def _refuse_capture(definition: Definition, keyword: str, noun: str) -> None:
    if keyword in definition.captures:
        raise CaptureError(
            f"{noun} '{definition.name}' has a capture '{keyword}', which is also an argument of load_{noun}; load it "
            f"without and give the capture its value by .bind({keyword}=...)"
        )
