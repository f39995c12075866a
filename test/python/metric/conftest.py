# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Fixtures of several test files."""

from __future__ import annotations

import pytest
from small import DIMS

from annudf import ivf_flat
from reference import vectors


@pytest.fixture(scope="module")
def data():
    base, queries = vectors(120, DIMS, "float32", 1), vectors(5, DIMS, "float32", 2)
    return ivf_flat.build(ivf_flat.IndexParams(n_lists=3), base), base, queries
