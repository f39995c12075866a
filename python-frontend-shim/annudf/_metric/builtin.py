# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The metrics that annudf has by itself: the text of ``lib/Metrics``, under the names of cuVS.

They take the same way as a user's: there is no second scan that could differ.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from annudf._metric.domains import check_parameter
from annudf._metric.metric import Metric, MetricSource
from annudf._metric.recorded import TextDefinition
from annudf._support.checks import check_number, shown
from annudf._support.options import COARSE_OF_METRIC, DeviceBackend
from annudf.errors import ArgumentError, CaptureError

_OWN_NAMES = {"sqeuclidean": "l2", "cityblock": "l1", "manhattan": "l1", "lp": "minkowski"}
"""What the library calls a metric that has another name in cuVS, SciPy or scikit-learn."""

_OTHER_WAYS = {
    "mahalanobis": "needs two passes over a vector; multiply vectors and queries by the transposed Cholesky factor of"
    " the inverse covariance, and take 'euclidean'",
}
"""Distances that are no metric of vectors as they are, and what to do."""

_NAMED_ELSEWHERE = {
    # No alias: it would be the root to one and the square to another, which only their distances show.
    "l2": {"sqeuclidean": "as FAISS and annudf's command line call it", "euclidean": "as cuVS and scikit-learn do"},
    "squared_euclidean": {"sqeuclidean": ""},
    "squared_l2": {"sqeuclidean": ""},
    "ip": {"inner_product": ""},
    "dot": {"inner_product": ""},
    "dot_product": {"inner_product": ""},
    "linf": {"chebyshev": ""},
    "taxicab": {"cityblock": ""},
}
"""What other libraries call metrics, with what each may be here and who calls it so, where that differs."""

DEFAULT_ARGUMENT = 2.0
"""The default of ``metric_arg`` in cuVS and of ``p`` in SciPy: the exponent of Minkowski distances."""

_OF_EXPONENT = {1.0: "cityblock", 2.0: "euclidean"}
"""Minkowski distances that need no powers with an exponent that is not known when they are compiled."""


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


class _BuiltinDefinition(TextDefinition):
    """A ready-made metric."""

    def __init__(self, own: str, device_backend: DeviceBackend) -> None:
        others = "".join(f", also {name}" for name, other in _OWN_NAMES.items() if other == own)
        super().__init__(_text(own), f"<built-in metric {own}{others}>", own, device_backend)
        self.builtin_name = own


@functools.cache
def _make(own: str, device_backend: DeviceBackend = "libnvvm") -> Metric:
    return Metric(_BuiltinDefinition(own, device_backend), {})


def builtin_metric(name: str, argument: float = DEFAULT_ARGUMENT) -> Metric:
    """The metric of that name; `argument` is what :func:`check_metric` has checked.

    Raises
    ------
    ArgumentError
        There is none, or it has parameters.
    """
    own = _own_name(name)
    if own == "minkowski":
        faster = _OF_EXPONENT.get(argument)
        return make_builtin(own, {"p": argument}) if faster is None else builtin_metric(faster)
    if _parameters(own):
        needed = ", ".join(f"{one}=..." for one in _parameters(own))
        raise ArgumentError(f"metric '{name}' has parameters; write metrics.get('{name}', {needed})")
    return _make(own)


def _no_metric(metric: object) -> str:
    from annudf.filters import Filter  # Above this, and only named where one is refused.

    if isinstance(metric, Filter):
        return f"metric is {metric!r}, which is a filter; give it as search(filter=...)"
    hint = "; decorate it with @annudf.metric(...)" if callable(metric) else ""
    if hasattr(metric, "payload_kind"):
        hint = "; if it is a descriptor of a device UDF, give annudf.DeviceUDF.of(...)"
    return f"metric is a {type(metric).__name__}, it must be a Metric or the name of one{hint}"


def check_metric(
    metric: object, argument: object = DEFAULT_ARGUMENT, argument_name: str = "metric_arg"
) -> tuple[Metric | str, float]:
    """The metric, or the name of one, and its argument, for :func:`chosen_metric`; or ArgumentError."""
    number = check_number(argument, argument_name)
    if isinstance(metric, MetricSource):
        metric = metric._as_metric()
    if isinstance(metric, str) and _own_name(metric) == "minkowski":
        check_parameter("minkowski", "p", np.array(number), argument, argument_name)
    elif isinstance(metric, str):
        builtin_metric(metric)
    elif not isinstance(metric, Metric):
        raise ArgumentError(_no_metric(metric))
    if number != DEFAULT_ARGUMENT and not (isinstance(metric, str) and _own_name(metric) == "minkowski"):
        name = metric if isinstance(metric, str) else metric.name
        raise ArgumentError(
            f"{argument_name} is {shown(argument)}, which is for metric='minkowski'; '{name}' has no argument"
        )
    return metric, number


def chosen_metric(metric: Metric | str, argument: float = DEFAULT_ARGUMENT) -> Metric:
    """What :func:`check_metric` gave as a metric."""
    return metric if isinstance(metric, Metric) else builtin_metric(metric, argument)


def make_builtin(name: str, captures: Mapping[str, Any], device_backend: DeviceBackend = "libnvvm") -> Metric:
    """The metric of that name with values for all of its parameters."""
    own = _own_name(name)
    if own == "minkowski":
        captures = {"p": DEFAULT_ARGUMENT, **captures}
    if missing := [one for one in _parameters(own) if one not in captures]:
        needed = ", ".join(f"{one}=..." for one in missing)
        raise CaptureError(f"metric '{name}' needs {needed}")
    made = _make(own, device_backend)
    return made.bind(**captures) if captures else made


def check_index_metric(name: str) -> str:
    """The name, or ArgumentError unless vectors can be clustered by it."""
    return _check(name, tuple(COARSE_OF_METRIC), "another name or a function decorated with annudf.metric")


def _own_name(name: str) -> str:
    _check(name, builtin_names(), "a function decorated with annudf.metric")
    return _OWN_NAMES.get(name, name)


def _check(name: str, names: tuple[str, ...], others: str) -> str:
    if isinstance(name, str) and name in _OTHER_WAYS:
        raise ArgumentError(f"metric '{name}' {_OTHER_WAYS[name]}")
    if not isinstance(name, str) or name not in names:
        listed = ", ".join(f"'{one}'" for one in names)
        meant = _meant(name, names) if isinstance(name, str) else ""
        raise ArgumentError(f"metric is {name!r}{meant}, it must be one of {listed}, or in SearchParams {others}")
    return name


def _meant(name: str, names: tuple[str, ...]) -> str:
    """For a message: which of the names may be meant by another."""
    plain = re.sub(r"[\W_]+", "_", name.lower()).removeprefix("metric_")  # METRIC_L2 is FAISS's.
    near = _NAMED_ELSEWHERE.get(plain) or dict.fromkeys(difflib.get_close_matches(plain, names, 1, 0.7), "")
    said = ", or ".join(f"'{one}'{f', {who}' if who else ''}" for one, who in near.items() if one in names)
    return f" (did you mean {said}?)" if said else ""
