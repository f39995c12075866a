# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""All distances of a metric on the CPU, or on a real GPU."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from annudf import NaNDistanceWarning, Resources, ivf_flat
from annudf.distance import pairwise_distance

on_each_device = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])


def distances(queries: Any, base: Any, metric: ivf_flat.Metric, device: str) -> Any:
    """The distance from each query to each row, (queries, rows) in float32."""
    if device == "cpu":
        return pairwise_distance(queries, base, metric=metric)
    resources = Resources(device=device)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), base, resources=resources)
    params = ivf_flat.SearchParams(n_probes=1, metric=metric)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NaNDistanceWarning)
        found, ids = ivf_flat.search(params, index, queries, len(base), resources=resources)
    made = np.full((len(queries), len(base) + 1), np.nan, np.float32)
    np.put_along_axis(made, np.asarray(ids), np.asarray(found), axis=1)  # The place -1 is the last.
    return made[:, :-1]
