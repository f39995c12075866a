# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Metrics ready made: names of SciPy, scikit-learn, FAISS and cuVS.

Each is text of the dialect (:func:`text` shows it) and is compiled as your own metric would be. Metrics without a
parameter are selected by name, ``SearchParams(metric="canberra")``; "minkowski" takes its exponent as
``SearchParams(metric="minkowski", metric_arg=3)``.
"""

from __future__ import annotations

from typing import Any

from annudf._metric.arguments import check_device_backend
from annudf._metric.builtin import builtin_names, builtin_text, make_builtin
from annudf._metric.metric import Metric
from annudf._support.options import DeviceBackend

__all__ = ["get", "names", "text"]


def names() -> tuple[str, ...]:
    """The names of all metrics.

    Examples
    --------
    >>> from annudf import metrics
    >>> "canberra" in metrics.names()
    True
    """
    return builtin_names()


def get(name: str, /, *, device_backend: DeviceBackend = "libnvvm", **captures: Any) -> Metric:
    """A ready-made metric, with values for its parameters.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    device_backend : {"libnvvm", "nvptx"}, default "libnvvm"
        As in :func:`annudf.metric`.
    **captures : number or array
        Its parameters: ``p`` of "minkowski" (default 2), ``V`` of "seuclidean" (the variance of each dimension,
        shape (dims,)), ``ranges`` of "gower" (the largest minus the smallest value of each, 0 for categories).

    Returns
    -------
    Metric

    Raises
    ------
    ArgumentError
        There is no such metric. The message names an alternative if there is one.
    CaptureError
        A parameter is missing, unknown, or does not fit.

    Examples
    --------
    >>> from annudf import metrics
    >>> cubic = metrics.get("minkowski", p=3)
    >>> cubic.name, cubic.captures["p"].item()
    ('minkowski', 3.0)
    """
    return make_builtin(name, captures, check_device_backend(device_backend))


def text(name: str) -> str:
    """The metric as text of the dialect.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Examples
    --------
    >>> from annudf import metrics
    >>> print(metrics.text("l1").splitlines()[0])
    // Manhattan distance: sum |q - b|. Lists are ranked by L2, the nearest the coarse stage has.
    """
    return builtin_text(name)
