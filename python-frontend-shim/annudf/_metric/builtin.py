# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The metrics that annudf has by itself: the text of ``lib/Metrics``, under the names of cuVS.

They take the same way as a user's: there is no second scan that could differ.
"""

from __future__ import annotations

import functools

from annudf._metric.definition import TextDefinition
from annudf._metric.metric import Metric
from annudf._options import COARSE_OF_METRIC
from annudf.errors import ArgumentError

_OWN_NAMES = {"sqeuclidean": "l2"}
"""What the library calls a metric that has another name in cuVS."""


@functools.cache
def builtin_names() -> tuple[str, ...]:
    """What :func:`builtin_metric` takes, those of an index first."""
    from annudf import _core

    own = _core.builtin_metrics()
    first = [name for name in COARSE_OF_METRIC if _OWN_NAMES.get(name, name) in own]
    return (*first, *(name for name in own if name not in {*first, *_OWN_NAMES.values()}))


@functools.cache
def _make(name: str) -> Metric:
    from annudf import _core

    own = _OWN_NAMES.get(name, name)
    return Metric(TextDefinition(_core.builtin_metric(own), f"<built-in metric {own}>", own), {})


def builtin_metric(name: str) -> Metric:
    """The metric of that name.

    Raises
    ------
    ArgumentError
        There is none; "cosine" is told apart, as indexes are clustered by it.
    """
    return _make(_check(name, builtin_names(), "a function decorated with ivf_flat.metric"))


def check_index_metric(name: str) -> str:
    """The name, or ArgumentError unless vectors can be clustered by it."""
    return _check(name, tuple(COARSE_OF_METRIC), "another name or a function decorated with ivf_flat.metric")


def _check(name: str, names: tuple[str, ...], others: str) -> str:
    if name == "cosine" and name not in names:
        raise ArgumentError(
            "metric 'cosine' does not rank rows yet, as it needs three sums in one accumulator; normalise vectors "
            "and queries to length 1 and take 'inner_product'"
        )
    if not isinstance(name, str) or name not in names:
        listed = ", ".join(f"'{one}'" for one in names)
        raise ArgumentError(f"metric is {name!r}, it must be one of {listed}, or in SearchParams {others}")
    return name
