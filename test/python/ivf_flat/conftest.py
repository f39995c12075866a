# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What the tests of searches share."""

from __future__ import annotations

import pytest

from annudf import ivf_flat
from gpu_libraries import Cupy, Plain, Torch
from reference import vectors


@pytest.fixture(params=[Cupy, Torch, Plain], ids=["cupy", "torch", "device_ndarray"])
def library(request):
    """A library of device arrays, for tests on a real GPU."""
    return request.param()


@pytest.fixture(params=[Cupy, Torch], ids=["cupy", "torch"])
def with_streams(request):
    """One that has streams of its own."""
    return request.param()


@pytest.fixture(scope="module")
def floats():
    """A small index of float32 and its rows."""
    base = vectors(100, 8, "float32", 3)
    return ivf_flat.build(ivf_flat.IndexParams(n_lists=4), base), base
