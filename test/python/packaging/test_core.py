# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The extension itself: interruption, exceptions, lifetimes, threads, and what it shows and loads."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from annudf import _core, errors

ROOT = Path(__file__).parents[3]
WEIGHTED_L2 = (ROOT / "docs/examples/metrics/weighted_l2.mlir").read_text()


def build(base, n_lists=16, progress=None, **options):
    names = {np.dtype("f4"): "f32", np.dtype("f2"): "f16", np.dtype("i1"): "i8", np.dtype("u1"): "u8"}
    settings = {
        "metric": "l2",
        "kmeans_n_iters": 10,
        "kmeans_trainset_fraction": 1.0,
        "seed": 7,
        "threads": 2,
    }
    return _core.Index.build(
        base.ctypes.data,
        *base.shape,
        names[base.dtype],
        _core.BuildOptions(n_lists=n_lists, **{**settings, **options}),
        progress,
    )


@pytest.fixture(scope="module")
def artifact():
    return _core.compile(WEIGHTED_L2, "weighted_l2.mlir", lto_ir=False)[0]


@pytest.fixture(scope="module")
def base():
    return np.random.default_rng(3).standard_normal((4000, 24)).astype(np.float32)


def bind(artifact, weights):
    value = ("f32", weights.shape, weights.tobytes(), "weights")
    return _core.Captures.bind(artifact, len(weights), {"w": value})


def search(backend, index, artifact, captures, queries, k=5, n_probes=16):
    ids = np.empty((len(queries), k), np.int64)
    distances = np.empty((len(queries), k), np.float32)
    stats = backend.search(
        index,
        artifact,
        captures,
        queries.ctypes.data,
        *queries.shape,
        index.element,
        k,
        n_probes,
        ids.ctypes.data,
        distances.ctypes.data,
    )
    return distances, ids, stats


def test_search_agrees_with_numpy(artifact, base):
    weights = np.linspace(0.5, 2, base.shape[1], dtype=np.float32)
    index = build(base)
    distances, ids, stats = search(_core.Backend.cpu(), index, artifact, bind(artifact, weights), base[:20].copy())
    exact = (weights * (base[:20, None, :] - base[None]) ** 2).sum(-1)
    assert (ids == np.argsort(exact, axis=1, kind="stable")[:, :5]).all()
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :5], rtol=1e-5, atol=1e-5)
    assert stats.links == 1 and stats.link_ms > 0
    assert (index.size, index.dims, index.n_lists, index.element, index.metric) == (4000, 24, 16, "f32", "l2")
    assert index.centers().shape == (16, 24) and index.centers().dtype == np.float32


def test_artifact_round_trip(artifact, tmp_path):
    path = tmp_path / "metric.annudf"
    artifact.save(str(path))
    assert path.read_bytes() == artifact.to_bytes()
    again = _core.Artifact.load(str(path))
    assert (again.digest, again.name, again.archs) == (artifact.digest, "weighted_l2", [])
    assert again.has_host_code and again.is_verified
    assert "metric weighted_l2 (here)" in again.describe("here")


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: _core.compile("annudf.metric @x {", "bad.mlir"), errors.CompileError, "bad.mlir:1:18"),
        (lambda: _core.lower(WEIGHTED_L2, "w.mlir", "wasm"), errors.ArgumentError, "wasm"),
        (lambda: _core.compile(WEIGHTED_L2, "w", archs=["sm_1"]), errors.ArgumentError, "sm_1"),
        (lambda: _core.Artifact.from_bytes(b"no artifact", "x"), errors.InputError, "x"),
        (lambda: _core.Index.load("/nowhere/index"), errors.InputError, "/nowhere/index"),
        (lambda: _core.from_dlpack([1, 2]), errors.DtypeError, "list"),
        (lambda: build(np.zeros((4, 2), np.float32), n_lists=-1), errors.ArgumentError, "-1"),
        (lambda: build(np.full((4, 2), np.nan, np.float32), n_lists=2), errors.InputError, "row 0"),
    ],
)
def test_errors_have_their_types(call, kind, words):
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)


def test_compile_error_holds_its_diagnostics():
    with pytest.raises(errors.CompileError) as caught:
        _core.compile(
            WEIGHTED_L2.replace("%w[%dim]", "%w[%c]").replace(
                "%dim = annudf.index dim", "%c = arith.constant 3 : index"
            ),
            "w.mlir",
        )
    first = caught.value.diagnostics[0]
    assert isinstance(first, errors.Diagnostic) and isinstance(first, _core.Diagnostic)
    assert (first.severity, first.rule, first.file) == ("error", "L3", "w.mlir")
    assert first.line > 1 and first.column > 0


def test_missing_capture_names_it(artifact):
    with pytest.raises(errors.CaptureError, match="'w'"):
        _core.Captures.bind(artifact, 4, {})


def test_progress_is_told_and_can_stop(base):
    seen = []
    build(base, progress=lambda stage, done: seen.append((stage, done)))
    assert seen and {stage for stage, _ in seen} == {"train", "add"} and seen[-1] == ("add", 1.0)

    def stop(stage, done):
        raise LookupError(stage)

    with pytest.raises(LookupError, match="train"):
        build(base, progress=stop)
    index = build(base)
    with pytest.raises(LookupError, match="add"):
        _ = index.extending(base.ctypes.data, *base.shape, "f32", progress=stop).result
    assert index.size == len(base)


def test_ctrl_c_stops_a_build_and_leaves_the_process_usable(base):
    large = np.random.default_rng(1).standard_normal((60000, 128)).astype(np.float32)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        build(large, n_lists=1024, kmeans_n_iters=1000)
    assert time.perf_counter() - start < 10
    timer.join()
    assert build(base).size == len(base)


def test_long_calls_release_the_gil():
    large = np.random.default_rng(1).standard_normal((20000, 64)).astype(np.float32)
    done = threading.Event()
    ticks = 0

    def work():
        build(large, n_lists=256, threads=1)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    thread.join()
    assert ticks > 20


def test_threads_get_what_one_thread_gets(artifact, base):
    index, backend = build(base), _core.Backend.cpu(1)
    queries = base[:50].copy()

    def one(seed):
        weights = np.random.default_rng(seed).uniform(0.1, 3, base.shape[1]).astype(np.float32)
        compiled = _core.compile(WEIGHTED_L2, "w.mlir", lto_ir=False)[0]
        distances, ids, _ = search(backend, index, compiled, bind(compiled, weights), queries)
        return distances.tobytes(), ids.tobytes(), build(base).centers().tobytes()

    expected = [one(seed) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(8))) == expected


def test_dlpack_views():
    array = np.arange(24, dtype=np.int8).reshape(4, 6)
    view = _core.from_dlpack(array[::2, ::3])
    assert (view.address, view.shape, view.strides) == (array.ctypes.data, (2, 2), (12, 3))
    assert (view.dtype, view.device_type, view.device_id, view.read_only) == ("i8", "cpu", 0, False)
    array.flags.writeable = False
    assert _core.from_dlpack(array).read_only
    names = {"?": "b1", "i2": "i16", "u8": "u64", "f2": "f16", "f8": "f64", "c8": "c64"}
    assert {code: _core.from_dlpack(np.zeros(1, code)).dtype for code in names} == names


def test_dlpack_keeps_the_producer_no_longer_than_the_view():
    class Owned(np.ndarray):
        pass

    array = np.zeros((3, 4), np.float32).view(Owned)
    alive = weakref.ref(array)
    view = _core.from_dlpack(array)
    address = array.ctypes.data
    del array
    gc.collect()
    assert alive() is not None and view.address == address
    del view
    gc.collect()
    assert alive() is None


class OldProducer:
    """Knows DLPack as it was before versions, and notes the stream."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        self.stream = stream
        return self.array.__dlpack__()


def test_dlpack_of_producers_without_versions():
    producer = OldProducer(np.zeros((2, 3), np.float16))
    view = _core.from_dlpack(producer, 7)
    assert (view.shape, view.dtype, producer.stream) == ((2, 3), "f16", 7)


def test_dlpack_export_is_the_same_memory():
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    exported = _core.to_dlpack(array, array.ctypes.data, array.shape, "f32", "cpu", 0)
    assert np.shares_memory(np.from_dlpack(exported), array)
    with pytest.raises(errors.DtypeError, match="f99"):
        _core.to_dlpack(array, array.ctypes.data, array.shape, "f99", "cpu", 0)


def test_without_a_gpu_the_error_says_what_is_missing():
    environment = _core.describe_environment()
    assert environment["cpu_built"] and environment["version"] == _core.__version__
    if environment["devices"]:
        pytest.skip("this machine has a GPU")
    with pytest.raises(errors.UnavailableError, match="CUDA"):
        _core.Backend.cuda()


def test_nothing_leaks_at_exit():
    code = (
        "import annudf._core as c\n"
        f"a = c.compile({WEIGHTED_L2!r}, 'w', lto_ir=False)\n"
        "e = []\n"
        "try: c.compile('x', 'w')\n"
        "except Exception as error: e.append(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_library_shows_the_c_api_only():
    (library,) = Path(_core.__file__).parent.glob("libannudf.so.*.*")
    loaded = ctypes.CDLL(str(library))
    assert loaded.annudf_capi_version() >> 16 == 0
    listing = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip("no nm")
    names = [line.split()[-1] for line in listing.stdout.splitlines()]
    assert len(names) > 60 and all(name.startswith("annudf_") for name in names)


def test_the_stub_is_the_extension():
    pytest.importorskip("nanobind")
    done = subprocess.run(
        [str(ROOT / "scripts/stubs"), "--check"],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_python_types_what_the_tables_say():
    """The names that Python's types spell are those of annudf_tables.h, and no others."""
    from typing import get_args

    from annudf._frontend.source import methods
    from annudf._metric.builtin import builtin_names
    from annudf._support import options as _options

    tables = _core.tables()
    known = {table: [row[1] for row in rows if row[-1] >= 0] for table, rows in tables.items()}
    assert known["elements"] == list(get_args(_options.ElementName))
    assert known["orders"] == list(get_args(_options.Order))
    assert known["numerics"] == list(get_args(_options.Numerics))
    assert known["accumulators"] == [*get_args(_options.AccumulatorWord), "struct"]
    assert set(get_args(_options.BuiltinName)) == set(builtin_names())
    assert set(get_args(_options.IndexMetric)) == set(_options.COARSE_OF_METRIC)
    assert known["capture_elements"] == list(get_args(_options.CaptureWord))
    assert known["coarses"] == list(_options.METRIC_OF_COARSE)
    assert set(known["compute_types"]) <= set(get_args(_options.Word))
    assert set(_options.COARSE_OF_METRIC.values()) <= set(known["coarses"])
    assert known["coarses"] == list(get_args(_options.Coarse))
    assert set(_options.METRIC_OF_COARSE.values()) <= set(get_args(_options.IndexMetric))
    assert known["extents"] == ["constant", *_options.SYMBOLS]
    assert get_args(get_args(_options.Extent)[0]) == _options.SYMBOLS
    assert set(get_args(methods.Kind)) <= set(known["hooks"])
    assert ("BITS", "bits", 5, 1, "unsigned", "", 0) in tables["elements"]
    assert ("ROW", "row", 2, 0, "", "", 0) in tables["extents"]
    assert ("ACC64", "acc64", 4, 0, "", "", 0) in tables["features"]  # Its mask, as the enum of C has it.
    assert all(getattr(_core, name) == value for name, _, value, *_ in tables["limits"])


def test_dtypes_of_arrays_are_those_of_the_tables():
    """NumPy's names of elements have the widths and kinds of annudf_tables.h; floats are those that may be NaN."""
    from annudf import _arrays

    tables = _core.tables()
    for _, name, _, bits, kind, *_ in tables["elements"] + tables["capture_elements"]:
        if name in ("bits", "i1"):  # NumPy has no dtype of packed bits; a byte of its bool holds one.
            continue
        dtype = _arrays.DTYPE_OF_ELEMENT[name]
        assert 8 * _arrays.numpy_dtype(dtype).itemsize == bits, dtype
        kinds = {"float": "f", "signed": "i", "unsigned": "u"}
        assert dtype == "bfloat16" or _arrays.numpy_dtype(dtype).kind == kinds[kind]
    floats = [_arrays.DTYPE_OF_ELEMENT[row[1]] for row in tables["elements"] if row[4] == "float"]
    assert list(_arrays.FLOATS) == floats
