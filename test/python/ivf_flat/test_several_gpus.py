# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Several devices in one process: what is refused, and that an index remembers its devices.

test/runtime/cpu/TeamTest.cpp compares results with those of one device.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annudf import Resources, brute_force, ivf_flat, refine
from annudf._arrays import CPU, Device
from annudf._devices import backends
from annudf.errors import ArgumentError, DeviceError

RANDOM = np.random.default_rng(5)
BASE = RANDOM.random((600, 8), dtype=np.float32)
QUERIES = RANDOM.random((70, 8), dtype=np.float32)
PARAMS = ivf_flat.SearchParams(n_probes=4)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"devices": "some"}, "devices is 'some', it must be 'all' or a list of device numbers"),
        ({"devices": 5}, "devices is 5, it must be 'all' or a list of device numbers"),
        ({"devices": []}, "devices is empty; give at least one device"),
        ({"devices": [-1]}, "devices is -1, it must be an integer from 0 to 2147483647"),
        ({"devices": [0], "mode": "both"}, "mode is 'both', it must be 'sharded' or 'replicated'"),
        ({"mode": "sharded"}, "mode is 'sharded', but devices is not given; give devices='all' or a list"),
        ({"devices": [0], "device": "cpu"}, "device and devices are given; give one of them"),
    ],
)
def test_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        Resources(**given)
    assert str(error.value) == message


def test_resources() -> None:
    both = Resources(devices=[0, 1])
    assert repr(both) == "Resources(devices=[0, 1], mode='sharded')"
    assert both.device is not None
    assert both.place(CPU, "queries") == both.device
    assert both.place(Device("cuda", 0), "queries") == both.device
    with pytest.raises(DeviceError) as error:
        both.place(Device("cuda", 1), "argument 'queries'")
    assert str(error.value) == (
        "argument 'queries' is on cuda:1, but resources ask for cuda:0, cuda:1 (sharded), whose arrays are on the "
        "first; copy the array there"
    )


def everything(resources: Resources | None, path: Path) -> list[Any]:
    """What calls give of an index that is built with resources, which later calls do not name."""
    params = ivf_flat.IndexParams(n_lists=6)
    index = ivf_flat.build(params, BASE[:500], columns={"price": np.arange(500.0)}, resources=resources)
    ivf_flat.extend(index, BASE[500:], columns={"price": np.arange(500.0, 600.0)})
    ivf_flat.remove(index, np.arange(0, 600, 7))
    other = ivf_flat.SearchParams(n_probes=4, metric="l1")
    ivf_flat.save(path, index)
    found: list[Any] = []
    for one in (index, ivf_flat.load(path, resources)):
        found += ivf_flat.search(PARAMS, one, QUERIES, 9)
        found += ivf_flat.search(other, one, QUERIES, 300)
        found += ivf_flat.radius_search(PARAMS, one, QUERIES, 0.4)
        found += refine(one, QUERIES, found[1], 5)
    exact = brute_force.build(BASE, resources=resources)
    return [*found, *brute_force.search(exact, QUERIES, 4)]


def test_an_index_remembers_its_devices(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two devices that a CPU stands for, so that each call shows where it goes."""
    from annudf import _core

    both = Resources(devices=[0, 1], mode="replicated")
    assert both.device is not None
    asked: list[Device] = []
    host = _core.Backend.cpu(1)
    made, arch = backends.backend, backends.arch_of

    def backend(device: Device) -> _core.Backend:
        asked.append(device)
        return host if device.team else made(device)

    monkeypatch.setattr(backends, "backend", backend)
    monkeypatch.setattr(backends, "arch_of", lambda device: "host" if device.team else arch(device))
    want = everything(None, tmp_path / "one.ivf")
    asked.clear()
    got = everything(both, tmp_path / "both.ivf")
    assert asked and all(device == both.device for device in asked)
    for one, other in zip(want, got, strict=True):
        np.testing.assert_array_equal(one, other)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=6), BASE, resources=both)
    with pytest.raises(DeviceError, match="a prepared search runs on one device, not on cuda:0, cuda:1"):
        ivf_flat.prepare(PARAMS, index, QUERIES, 3)


@pytest.mark.gpu
@pytest.mark.parametrize("mode", ["sharded", "replicated"])
def test_results_equal_those_of_one_gpu(mode: str, tmp_path: Path) -> None:
    both = Resources(devices=[0, 0], mode=mode)
    one = Resources(device="cuda")
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=6), BASE, resources=one)
    want = ivf_flat.search(PARAMS, index, QUERIES, 9, resources=one)
    got = ivf_flat.search(PARAMS, index, QUERIES, 9, resources=both)
    for first, second in zip(want, got, strict=True):
        np.testing.assert_array_equal(first, second)
    assert len(everything(both, tmp_path / "both.ivf")) == 20
