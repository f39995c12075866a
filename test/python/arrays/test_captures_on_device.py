# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Captures in device memory, bound where they are. On a GPU made of host memory; test_gpu.py has a real one."""

from __future__ import annotations

import ctypes
import gc
import pickle
import types
import weakref

import numpy as np
import pytest
from fake_gpu import CupyArray, DeviceArray

from annudf import CaptureError, _core, ivf_flat

DIMS = 8
W = np.linspace(1, 2, DIMS, dtype=np.float32)


@ivf_flat.metric(captures={"w": W})
def weighted(x, y, acc, ctx):
    return acc + ctx.w[ctx.dim] * (x - y) * (x - y)


@pytest.fixture(scope="module", autouse=True)
def frontend():
    """Imported before there is a fake CuPy, whose spec Numba would ask for."""
    weighted.mlir()


@pytest.fixture
def bound(gpu, monkeypatch):
    """What was bound as a capture, by the device that asked; a copy takes its place, as the fake GPU is a CPU."""
    seen = []
    bind = _core.Captures.bind

    def binding(artifact, dims, values, *rest):
        dtype, shape, source, origin = values["w"]
        seen.append(source)
        data = source if isinstance(source, bytes) else ctypes.string_at(*source[:2])
        return bind(artifact, dims, {"w": (dtype, shape, data, origin)}, *rest)

    monkeypatch.setattr(_core, "Captures", types.SimpleNamespace(bind=binding))
    return seen


@pytest.mark.parametrize("wrap", [DeviceArray, CupyArray])
def test_captures_on_a_device_are_bound_where_they_are(gpu, cupy, bound, index, queries, wrap):
    reversed_weights = W[::-1].copy()
    given = wrap(reversed_weights)
    metric = weighted.bind(w=given)
    assert not any(entry[0] == "copy" for entry in gpu.log)
    of_host = ivf_flat.SearchParams(n_probes=4, metric=weighted.bind(w=reversed_weights))
    expected = ivf_flat.search(of_host, index, queries, 3)
    params = ivf_flat.SearchParams(n_probes=4, metric=metric)
    bound.clear()
    found = ivf_flat.search(params, index, DeviceArray(queries), 3)
    np.testing.assert_array_equal(found[0].copy_to_host(), expected[0])
    # On the host there is a copy, and each is bound once.
    np.testing.assert_array_equal(ivf_flat.search(params, index, queries, 3)[0], expected[0])
    ivf_flat.search(params, index, DeviceArray(queries), 3)
    there, here = bound
    assert there[:3] == (reversed_weights.ctypes.data, reversed_weights.nbytes, 0)
    assert here == reversed_weights.tobytes()
    copied = pickle.loads(pickle.dumps(metric._values["w"]))
    assert copied.source == reversed_weights.tobytes()


def test_a_device_array_lives_as_long_as_captures_bound_to_it(gpu):
    class Owner:
        pass

    owner = Owner()
    alive = weakref.ref(owner)
    artifact = weighted.artifact([])
    value = ("f32", (DIMS,), (4096, 4 * DIMS, 0, owner), "a test")
    captures = _core.Captures.bind(artifact, DIMS, {"w": value})
    del owner, value
    assert alive() is not None
    del captures
    assert alive() is None
    owner = Owner()
    alive = weakref.ref(owner)
    with pytest.raises(CaptureError, match="capture 'w'"):  # One that cannot be bound is let go, too.
        _core.Captures.bind(artifact, DIMS, {"w": ("f64", (DIMS,), (4096, 8 * DIMS, 0, owner), "a test")})
    del owner
    gc.collect()
    assert alive() is None
