# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The GPU that is made of host memory, in the place of a real one."""

from __future__ import annotations

import sys

import fake_gpu
import pytest

import annudf
from annudf._arrays import driver
from annudf._devices import backends


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
