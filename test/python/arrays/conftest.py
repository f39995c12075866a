# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The GPU that is made of host memory, in the place of a real one."""

from __future__ import annotations

import sys

import fake_gpu
import pytest

import annudf
from annudf import ivf_flat
from annudf._arrays import driver
from annudf._devices import backends
from reference import vectors

DIMS = 8


@pytest.fixture(scope="module")
def index():
    return ivf_flat.build(ivf_flat.IndexParams(n_lists=4), vectors(100, DIMS, "float32", 1))


@pytest.fixture
def queries():
    return vectors(5, DIMS, "float32", 2)


@pytest.fixture
def gpu(monkeypatch):
    cpu = backends.backend(annudf._arrays.CPU)
    made = fake_gpu.Gpu(cpu)
    monkeypatch.setattr(backends, "backend", lambda device: cpu if device.kind == "cpu" else made)
    monkeypatch.setattr(backends, "arch_of", lambda device: "host")
    monkeypatch.setattr(driver, "pointer_device", lambda address, name: 0)
    monkeypatch.setattr(backends, "_held", {})
    return made


@pytest.fixture
def cupy(gpu, monkeypatch):
    made = fake_gpu.make_cupy(gpu)
    monkeypatch.setitem(sys.modules, "cupy", made)
    return made
