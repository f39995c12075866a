# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What tests of metrics do with the fixture `data`: a small index, its base, and queries."""

from __future__ import annotations

import numpy as np

from annudf import ivf_flat
from reference import distances_of

DIMS = 6
W = np.linspace(0.5, 3, DIMS, dtype=np.float32)


def search(data, metric, k=4):
    return ivf_flat.search(ivf_flat.SearchParams(n_probes=3, metric=metric), data[0], data[2], k)


def exact_weighted(data, weights):
    return distances_of(lambda x, y: weights * (x - y) ** 2, data[2], data[1])
