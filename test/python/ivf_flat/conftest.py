# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What the tests of searches share."""

from __future__ import annotations

import pytest

from annudf import ivf_flat
from reference import vectors


@pytest.fixture(scope="module")
def floats():
    """A small index of float32 and its rows."""
    base = vectors(100, 8, "float32", 3)
    return ivf_flat.build(ivf_flat.IndexParams(n_lists=4), base), base
