# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Device arrays: protocols, streams, lifetimes, refusals. On a GPU made of host memory; test_gpu.py has a real one."""

from __future__ import annotations

import gc
import importlib
import pickle
import types
import weakref

import numpy as np
import pytest
from fake_gpu import CupyArray, CupyStream, DeviceArray

import annudf
from annudf import ArgumentError, CaptureError, DeviceError, DtypeError, Resources, UnavailableError, ivf_flat
from annudf._arrays import driver as _driver
from annudf._devices import backends
from annudf.distance import pairwise_distance
from reference import vectors

_index_module = importlib.import_module("annudf.ivf_flat._index")

DIMS = 8
PARAMS = ivf_flat.SearchParams(n_probes=4)
W = np.linspace(1, 2, DIMS, dtype=np.float32)


@ivf_flat.metric(captures={"w": W})
def weighted(x, y, acc, ctx):
    return acc + ctx.w[ctx.dim] * (x - y) * (x - y)


def searches(gpu):
    return [entry[1] for entry in gpu.log if entry[0] == "search"]


def test_cuda_array_interface(gpu, index, queries):
    expected = ivf_flat.search(PARAMS, index, queries, 3)
    for changes in (
        {},
        {"version": 2, "stream": "absent"},
        {"strides": "absent", "mask": None},
        {"strides": queries.strides},
        {"data": (queries.ctypes.data, True)},
    ):
        distances, neighbors = ivf_flat.search(PARAMS, index, DeviceArray(queries, **changes), 3)
        assert isinstance(distances, annudf.device_ndarray)
        assert isinstance(neighbors, annudf.device_ndarray)
        np.testing.assert_array_equal(distances.copy_to_host(), expected[0])
        np.testing.assert_array_equal(np.asarray(neighbors), expected[1])
    assert searches(gpu) == [0] * 5


def test_stream_entry_is_where_the_work_goes(gpu, index, queries):
    ivf_flat.search(PARAMS, index, DeviceArray(queries, stream=0x700), 3)
    assert searches(gpu) == [0x700]
    assert ("synchronize", 0x700) not in gpu.log


def test_a_foreign_stream_is_waited_for(gpu, index, queries):
    ivf_flat.search(PARAMS, index, DeviceArray(queries, stream=0x700), 3, resources=Resources(stream=0x800))
    assert searches(gpu) == [0x800]
    assert gpu.log.index(("synchronize", 0x700)) < gpu.log.index(("search", 0x800))
    gpu.log.clear()
    # 1 is the legacy default stream, as is 0.
    ivf_flat.search(PARAMS, index, DeviceArray(queries, stream=1), 3, resources=Resources(stream=0))
    assert not any(entry[0] == "synchronize" for entry in gpu.log)


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"version": 1}, ArgumentError, "has a __cuda_array_interface__ of version 1; give version 2 or 3"),
        (
            {"mask": object()},
            ArgumentError,
            "has a __cuda_array_interface__ with a mask, which annudf does not apply; apply it first",
        ),
        (
            {"typestr": "<f8"},
            DtypeError,
            "has dtype float64, it must be float32, float16, int8, uint8 or bfloat16; convert by "
            ".astype(numpy.float32)",
        ),
        (
            {"typestr": ">f4"},
            DtypeError,
            "has a __cuda_array_interface__ of type >f4, which is not in this machine's byte order",
        ),
        ({"data": (0, False)}, ArgumentError, "has no memory: its buffer was freed"),
        (
            {"strides": (4,)},
            ArgumentError,
            "has a __cuda_array_interface__ with 1 strides for 2 extents; give one an extent",
        ),
        (
            {"strides": (4, 20)},
            ArgumentError,
            "has strides (4, 20) for shape (5, 8) on cuda:0; make it contiguous in C order first",
        ),
        ({"data": "absent"}, ArgumentError, "has a __cuda_array_interface__ that is malformed: KeyError('data')"),
        (
            {"shape": (-1, 8)},
            ArgumentError,
            "has a __cuda_array_interface__ of shape (-1, 8); extents must be 0 or above and the bytes below 2**63",
        ),
        (
            {"shape": (2**61, 8)},
            ArgumentError,
            f"has a __cuda_array_interface__ of shape ({2**61}, 8); extents must be 0 or above and the bytes below "
            "2**63",
        ),
        ({"shape": (8,)}, ArgumentError, "has shape (8,), it must have two dimensions; one vector is .reshape(1, -1)"),
    ],
)
def test_refused_interfaces(gpu, index, queries, changes, kind, message):
    with pytest.raises(kind) as caught:
        ivf_flat.search(PARAMS, index, DeviceArray(queries, **changes), 3)
    assert str(caught.value) == f"argument 'queries' {message}"
    assert type(caught.value) is kind
    assert gpu.log == []


def test_out_buffers_on_the_device(gpu, index, queries):
    expected = ivf_flat.search(PARAMS, index, queries, 3)
    distances = DeviceArray(np.zeros((5, 3), np.float32))
    neighbors = DeviceArray(np.zeros((5, 3), np.int64), stream=0x900)
    result = ivf_flat.search(PARAMS, index, DeviceArray(queries, stream=0x700), 3, neighbors, distances)
    assert result[0] is distances
    assert result[1] is neighbors
    np.testing.assert_array_equal(distances.array, expected[0])
    np.testing.assert_array_equal(neighbors.array, expected[1])
    # Who wrote the buffer before may still be at it.
    assert gpu.log.index(("synchronize", 0x900)) < gpu.log.index(("search", 0x700))
    with pytest.raises(ArgumentError, match=r"argument 'distances' is read-only"):
        frozen = DeviceArray(distances.array, data=(distances.array.ctypes.data, True))
        ivf_flat.search(PARAMS, index, DeviceArray(queries), 3, None, frozen)


def test_pairwise_distances_on_the_device(gpu, queries):
    other = vectors(30, 8, "float32", 9)
    expected = pairwise_distance(queries, other)
    found = pairwise_distance(DeviceArray(queries, stream=0x700), DeviceArray(other))
    np.testing.assert_array_equal(np.asarray(found), expected)
    out = DeviceArray(np.zeros((5, 30), np.float32), stream=0x900)
    assert pairwise_distance(DeviceArray(queries, stream=0x700), other, out=out) is out
    np.testing.assert_array_equal(out.array, expected)
    assert gpu.log.index(("synchronize", 0x900)) < len(gpu.log) - gpu.log[::-1].index(("distances", 0x700))
    assert gpu.log[-1] == ("record", 0x700)
    with pytest.raises(DeviceError, match=r"^argument 'out' is on the CPU, the queries are on cuda:0; give a buffer "):
        pairwise_distance(DeviceArray(queries), other, out=np.zeros((5, 30), np.float32))


def test_mixed_devices(gpu, index, queries):
    on_host, on_device = np.zeros((5, 3), np.float32), DeviceArray(np.zeros((5, 3), np.float32))
    with pytest.raises(DeviceError) as caught:
        ivf_flat.search(PARAMS, index, DeviceArray(queries), 3, None, on_host)
    assert str(caught.value) == (
        "argument 'distances' is on the CPU, the queries are on cuda:0; give a buffer on cuda:0"
    )
    with pytest.raises(DeviceError) as caught:
        ivf_flat.search(PARAMS, index, queries, 3, None, on_device)
    assert str(caught.value) == (
        "argument 'distances' is on cuda:0, the queries are on the CPU; give a buffer on the CPU"
    )
    for device in ("cpu", "cuda:1", 1):
        with pytest.raises(DeviceError, match=r"argument 'queries' is on cuda:0, but resources ask for"):
            ivf_flat.search(PARAMS, index, DeviceArray(queries), 3, resources=Resources(device=device))


def test_host_arrays_on_a_device(gpu, index, queries):
    expected = ivf_flat.search(PARAMS, index, queries, 3)
    result = ivf_flat.search(PARAMS, index, queries, 3, resources=Resources(device="cuda"))
    assert searches(gpu) == [None]
    assert isinstance(result[0], np.ndarray)
    np.testing.assert_array_equal(result[1], expected[1])


def test_arrays_live_until_the_stream_is_done(gpu, index):
    gpu.busy = True
    given = DeviceArray(vectors(5, DIMS, "float32", 2))
    alive = weakref.ref(given)
    results = ivf_flat.search(PARAMS, index, given, 3)
    buffers = [weakref.ref(one) for one in results]
    del given, results
    gc.collect()
    assert alive() is not None
    assert all(one() is not None for one in buffers)
    assert backends.release_done() == 1
    gpu.busy = False
    assert backends.release_done() == 0
    gc.collect()
    assert alive() is None
    assert all(one() is None for one in buffers)


def test_streams_are_held_apart(gpu, index, queries):
    gpu.busy = True
    for stream in (0x700, 0x800, 0x700):
        ivf_flat.search(PARAMS, index, DeviceArray(queries, stream=stream), 3)
    assert backends.release_done() == 3
    (slow,) = [entries for key, entries in backends._held.items() if key[1] == 0x700]
    slow[0][0].done = lambda: False
    gpu.busy = False
    # Behind what is not done nothing of its stream is let go of; the other stream is.
    assert backends.release_done() == 2
    del slow[0][0].done
    assert backends.release_done() == 0


def test_held_arrays_do_not_pile_up(gpu, index, queries):
    for _ in range(20):
        ivf_flat.search(PARAMS, index, DeviceArray(queries), 3)
        assert backends.release_done() == 0
    assert not backends._held


def test_arrays_are_held_if_a_search_fails_half_way(gpu, index, queries, monkeypatch):
    gpu.busy = True

    def fail(*arguments):
        raise UnavailableError("no memory on the device")

    monkeypatch.setattr(gpu, "search", fail)
    with pytest.raises(UnavailableError, match=r"no memory on the device"):
        ivf_flat.search(PARAMS, index, DeviceArray(queries), 3)
    assert backends.release_done() == 1


def test_a_failure_on_a_stream_is_told_once_and_is_no_fault_of_other_calls(gpu, index, queries, caplog):
    gpu.busy = True
    ivf_flat.search(PARAMS, index, DeviceArray(queries, stream=0x700), 3)
    (entries,) = backends._held.values()

    def fail():
        raise UnavailableError("an illegal address was read")

    entries[0][0].done = fail
    ivf_flat.search(PARAMS, index, DeviceArray(queries, stream=0x800), 3)
    ivf_flat.search(PARAMS, index, DeviceArray(queries, stream=0x700), 3)
    assert backends.release_done() == 2
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", "work on stream 0x700 of cuda:0 failed after its call had returned: an illegal address was read")
    ]


def test_sync_waits_for_every_stream_used(gpu, index, queries):
    resources = Resources(stream=0x800)
    ivf_flat.search(PARAMS, index, DeviceArray(queries), 3, resources=resources)
    assert ("synchronize", 0x800) not in gpu.log
    resources.sync()
    assert gpu.log[-1] == ("synchronize", 0x800)
    gpu.log.clear()
    resources.sync()
    assert gpu.log == []


def test_builds_there_and_extends_on_the_host(gpu, queries):
    base = vectors(60, DIMS, "float32", 3)
    expected = ivf_flat.build(ivf_flat.IndexParams(n_lists=3), base)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=3), DeviceArray(base, stream=0x700))
    assert gpu.log == [("build", 0x700)]
    np.testing.assert_array_equal(index.centers, expected.centers)
    gpu.log.clear()
    asked = ivf_flat.build(ivf_flat.IndexParams(n_lists=3), base, Resources(device="cuda"))
    assert gpu.log == [("build from host", None)]
    np.testing.assert_array_equal(asked.centers, expected.centers)
    ids = np.arange(100, 105)
    ivf_flat.extend(index, DeviceArray(queries), DeviceArray(ids))
    found = ivf_flat.search(ivf_flat.SearchParams(n_probes=3), index, queries, 1)[1]
    np.testing.assert_array_equal(found[:, 0], ids)


def test_extends_and_removes_where_the_lists_are(gpu, monkeypatch):
    base = vectors(60, DIMS, "float32", 3)
    params = ivf_flat.IndexParams(n_lists=3)
    index, expected = ivf_flat.build(params, base[:40]), ivf_flat.build(params, base[:40])
    asked = []

    choose = _index_module._lists_there

    def lists_there(device, rows, place):
        assert device == -1
        asked.append(choose(0, rows, place))
        return asked[-1]

    monkeypatch.setattr("annudf.ivf_flat._index._lists_there", lists_there)
    ivf_flat.extend(index, base[40:50])
    ivf_flat.extend(index, DeviceArray(base[50:55], stream=0x700), np.arange(100, 105))
    there = annudf._arrays.Device("cuda", 0)
    assert ivf_flat.remove(index, [3, 104, 3]) == 2
    assert asked == [there, there, there]
    assert gpu.log == [("extend", None), ("extend", 0x700), ("remove", None)]
    monkeypatch.undo()
    assert ivf_flat.remove(index, [7]) == 1
    ivf_flat.extend(expected, base[40:50])
    ivf_flat.extend(expected, base[50:55], np.arange(100, 105))
    assert ivf_flat.remove(expected, [3, 7, 104]) == 3
    assert pickle.dumps(index) == pickle.dumps(expected)


def test_lists_are_left_for_another_device_and_the_host():
    host = annudf._arrays.view(np.zeros((2, 3), np.float32), "rows")
    choose = _index_module._lists_there
    assert choose(-1, host, Resources()) is None
    assert str(choose(1, host, Resources())) == "cuda:1"
    assert choose(1, host, Resources(device="cpu")) is None
    assert choose(1, host, Resources(device="cuda:0")) is None
    assert str(choose(1, host, Resources(device="cuda:1"))) == "cuda:1"


def test_device_memory_is_limited_for_host_arrays_alone(gpu):
    base = vectors(60, DIMS, "float32", 3)
    params = ivf_flat.IndexParams(n_lists=3)
    told = (
        "device_memory_limit is for a dataset in host memory whose index is built on a device, "
        "resources=Resources(device='cuda'); the dataset is on "
    )
    for array, place, where in [
        (base, None, "the CPU"),
        (base, Resources(device="cpu"), "the CPU"),
        (DeviceArray(base), Resources(device="cuda"), "cuda:0"),
    ]:
        with pytest.raises(ArgumentError) as caught:
            ivf_flat.build(params, array, place, device_memory_limit=1000)
        assert str(caught.value) == told + where
    for wrong, says in [(0, "0"), (1 << 64, "18446744073709551616"), ("1GB", "'1GB'")]:
        with pytest.raises(ArgumentError) as caught:
            ivf_flat.build(params, base, Resources(device="cuda"), device_memory_limit=wrong)
        assert str(caught.value) == (
            f"device_memory_limit is {says}, it must be an integer from 1 to 18446744073709551615"
        )
    assert gpu.log == []


def test_captures_of_device_arrays(gpu, index, queries):
    metric = weighted.bind(w=DeviceArray(W[::-1].copy()))
    np.testing.assert_array_equal(metric.captures["w"], W[::-1])
    with pytest.raises(
        CaptureError, match=r"capture 'w' is declared as dim x f32, the value given is 8 x f64; convert"
    ):
        weighted.bind(w=DeviceArray(np.ones(8)))
    np.testing.assert_array_equal(weighted.bind(w=DeviceArray(np.arange(8))).captures["w"], np.arange(8))


def test_cupy(gpu, cupy, index, queries):
    expected = ivf_flat.search(PARAMS, index, queries, 3)
    stream = CupyStream(gpu, 0x600)
    with stream:
        distances, neighbors = ivf_flat.search(PARAMS, index, CupyArray(queries), 3)
    assert isinstance(distances, CupyArray)
    np.testing.assert_array_equal(distances.array, expected[0])
    np.testing.assert_array_equal(neighbors.array, expected[1])
    assert gpu.log == [("empty", 0x600), ("empty", 0x600), ("search", 0x600), ("record", 0x600)]


def test_cupy_on_another_stream(gpu, cupy, index, queries):
    with CupyStream(gpu, 0x600):
        given = CupyArray(np.asfortranarray(queries))
        ivf_flat.search(PARAMS, index, given, 3, resources=Resources(stream=CupyStream(gpu, 0x800)))
    assert gpu.log == [
        ("contiguous", 0x600),  # By CuPy, where CuPy works,
        ("empty", 0x800),
        ("empty", 0x800),
        ("wait", 0x800, 0x600),  # and the search comes after it, without the host waiting.
        ("search", 0x800),
        ("record", 0x800),
    ]


def test_cupy_captures(cupy, gpu):
    np.testing.assert_array_equal(weighted.bind(w=CupyArray(W * 2)).captures["w"], W * 2)
    strided = CupyArray(np.repeat(W, 2)[::2])
    np.testing.assert_array_equal(weighted.bind(w=strided).captures["w"], W)


def test_device_ndarray(gpu):
    host = np.arange(6, dtype=np.float32).reshape(2, 3)
    array = annudf.device_ndarray(host)
    assert (array.shape, array.dtype, array.strides) == ((2, 3), np.float32, (12, 4))
    assert array.c_contiguous
    assert not array.f_contiguous
    assert len(array) == 2
    assert repr(array) == "device_ndarray(shape=(2, 3), dtype=float32, device=cuda:0)"
    np.testing.assert_array_equal(array.copy_to_host(), host)
    np.testing.assert_array_equal(np.asarray(array, np.float64), host)
    interface = array.__cuda_array_interface__
    assert interface["shape"] == (2, 3)
    assert interface["typestr"] == "<f4"
    assert interface["version"] == 3
    assert interface["stream"] == 1
    assert array.__dlpack_device__() == (2, 0)
    assert annudf.device_ndarray.empty((0, 3)).copy_to_host().shape == (0, 3)
    with pytest.raises(ArgumentError, match=r"order is 'F'; only 'C' is supported"):
        annudf.device_ndarray.empty((2, 3), order="F")
    with pytest.raises(ArgumentError, match=r"dtype is object; give a native boolean"):
        annudf.device_ndarray(np.array([None]))


def test_device_ndarray_by_dlpack(gpu):
    array = annudf.device_ndarray.empty((2, 3), stream=0x700)
    alive = weakref.ref(array)
    capsule = array.__dlpack__(stream=0x700, max_version=(1, 0))
    assert ("synchronize", 0x700) not in gpu.log
    array.__dlpack__(stream=1)
    assert ("synchronize", 0x700) in gpu.log
    del array
    gc.collect()
    assert alive() is not None
    del capsule
    gc.collect()
    assert alive() is None


class DlpackArray:
    """A DLPack exporter of host memory that says it is on another device."""

    def __init__(self, array, device):
        self.array, self.device, self.streams = array, device, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, **arguments):
        self.streams.append(stream)
        return self.array.__dlpack__(**arguments)


def test_dlpack_devices(gpu, index, queries):
    expected = ivf_flat.search(PARAMS, index, queries, 3)
    for device in ((1, 0), (3, 0)):
        result = ivf_flat.search(PARAMS, index, DlpackArray(queries, device), 3)
        np.testing.assert_array_equal(result[1], expected[1])
    for device in ((2, 0), (13, 0)):
        given = DlpackArray(queries, device)
        result = ivf_flat.search(PARAMS, index, given, 3)
        np.testing.assert_array_equal(np.asarray(result[1]), expected[1])
        # The producer is asked to order its work before ours.
        assert given.streams == [1]
        given = DlpackArray(queries, device)
        ivf_flat.search(PARAMS, index, given, 3, resources=Resources(stream=0x800))
        assert given.streams == [0x800]
    with pytest.raises(DeviceError) as caught:
        ivf_flat.search(PARAMS, index, DlpackArray(queries, (10, 0)), 3)
    assert str(caught.value) == (
        "argument 'queries' is on a device of DLPack type 10; the CPU (1) and CUDA (2) are supported, so copy it to "
        "one of them"
    )


def test_without_a_driver(index, queries, monkeypatch):
    monkeypatch.setattr(_driver, "_library", lambda: None)
    with pytest.raises(UnavailableError, match=r"argument 'queries' is on a GPU, but there is no NVIDIA driver"):
        ivf_flat.search(PARAMS, index, DeviceArray(queries), 3)


@pytest.mark.parametrize(("status", "ordinal", "memory"), [(1, 0, 2), (0, 0, 1), (0, -1, 2)])
def test_memory_that_the_driver_does_not_know(index, queries, monkeypatch, status, ordinal, memory):
    def attribute(target, which, pointer):
        target._obj.value = ordinal if which.value == 9 else memory
        return status

    driver = types.SimpleNamespace(cuPointerGetAttribute=attribute)
    monkeypatch.setattr(_driver, "_library", lambda: driver)
    with pytest.raises(DeviceError, match=r"argument 'queries' says it is on a GPU, but the driver knows no device"):
        ivf_flat.search(PARAMS, index, DeviceArray(queries), 3)


def test_stream_handles():
    stream_of = backends.stream_handle
    assert stream_of(None) is None
    assert stream_of(0x10) == 0x10
    assert stream_of(types.SimpleNamespace(ptr=0x20)) == 0x20
    assert stream_of(types.SimpleNamespace(cuda_stream=0x30)) == 0x30
    assert stream_of(types.SimpleNamespace(handle=types.SimpleNamespace(value=0x40))) == 0x40
    assert stream_of(types.SimpleNamespace(handle=types.SimpleNamespace(value=None))) == 0
    assert stream_of(types.SimpleNamespace(__cuda_stream__=lambda: (0, 0x50))) == 0x50
    with pytest.raises(ArgumentError, match=r"stream is -1, which is no address of a CUstream"):
        stream_of(-1)
    assert repr(Resources(stream=0x10, device="cuda")) == "Resources(stream=0x10, device='cuda:0')"
