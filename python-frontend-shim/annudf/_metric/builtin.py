# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The metrics that annudf has by itself: the text of ``lib/Metrics``, under the names of cuVS.

They take the same way as a user's: there is no second scan that could differ.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from annudf._metric.definition import TextDefinition
from annudf._metric.metric import Metric
from annudf._options import COARSE_OF_METRIC
from annudf.errors import ArgumentError, CaptureError

_OWN_NAMES = {"sqeuclidean": "l2", "cityblock": "l1", "manhattan": "l1"}
"""What the library calls a metric that has another name in cuVS, SciPy or scikit-learn."""

_OTHER_WAYS = {
    "correlation": "subtract its mean from every vector and query, and take 'cosine'",
    "mahalanobis": "multiply vectors and queries by the transposed Cholesky factor of the inverse covariance, and take"
    " 'euclidean'",
}
"""Distances that need two passes over a vector, which an accumulator does not make."""


@functools.cache
def builtin_names() -> tuple[str, ...]:
    """What :func:`builtin_metric` takes, those of an index first."""
    from annudf import _core

    known = (*COARSE_OF_METRIC, *_OWN_NAMES)
    rest = [name for name in _core.builtin_metrics() if name != "l2" and name not in known]
    return (*dict.fromkeys(known), *rest)


def builtin_text(name: str) -> str:
    """Text of the metric of that name."""
    return _text(_own_name(name))


def _text(own: str) -> str:
    from annudf import _core

    return _core.builtin_metric(own)


@functools.cache
def _parameters(own: str) -> tuple[str, ...]:
    return tuple(re.findall(r'annudf\.capture "(\w+)"', _text(own)))


@functools.cache
def _make(own: str) -> Metric:
    return Metric(TextDefinition(_text(own), f"<built-in metric {own}>", own), {})


def builtin_metric(name: str) -> Metric:
    """The metric of that name.

    Raises
    ------
    ArgumentError
        There is none, or it has parameters.
    """
    own = _own_name(name)
    if _parameters(own):
        needed = ", ".join(f"{one}=..." for one in _parameters(own))
        raise ArgumentError(f"metric '{name}' has parameters; write metrics.get('{name}', {needed})")
    return _make(own)


def metric_or_name(metric: object) -> Metric | str:
    """The metric or the name of one that :func:`builtin_metric` takes, or ArgumentError."""
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        builtin_metric(metric)
        return metric
    hint = "; decorate it with @ivf_flat.metric(...)" if callable(metric) else ""
    raise ArgumentError(f"metric is a {type(metric).__name__}, it must be a Metric or the name of one{hint}")


def make_builtin(name: str, captures: Mapping[str, Any]) -> Metric:
    """The metric of that name with values for all of its parameters."""
    own = _own_name(name)
    if missing := [one for one in _parameters(own) if one not in captures]:
        needed = ", ".join(f"{one}=..." for one in missing)
        raise CaptureError(f"metric '{name}' needs {needed}")
    return _make(own).bind(**captures) if captures else _make(own)


def check_index_metric(name: str) -> str:
    """The name, or ArgumentError unless vectors can be clustered by it."""
    return _check(name, tuple(COARSE_OF_METRIC), "another name or a function decorated with ivf_flat.metric")


def _own_name(name: str) -> str:
    _check(name, builtin_names(), "a function decorated with ivf_flat.metric")
    return _OWN_NAMES.get(name, name)


def _check(name: str, names: tuple[str, ...], others: str) -> str:
    if isinstance(name, str) and name in _OTHER_WAYS:
        raise ArgumentError(f"metric '{name}' needs two passes over a vector; {_OTHER_WAYS[name]}")
    if not isinstance(name, str) or name not in names:
        listed = ", ".join(f"'{one}'" for one in names)
        raise ArgumentError(f"metric is {name!r}, it must be one of {listed}, or in SearchParams {others}")
    return name
