# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The decorator, looking at what was compiled, files and pickles of metrics."""

from __future__ import annotations

import copy
import inspect
import json
import logging
import math
import pickle
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from small import W, exact_weighted, search

from annudf import (
    ArgumentError,
    CaptureError,
    CompileError,
    DtypeError,
    InputError,
    UnavailableError,
    _cache,
    _core,
    common,
    ivf_flat,
)
from reference import check, distances_of

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "docs/examples/metrics"


@ivf_flat.metric(captures={"w": W})
def weighted(x, y, acc, ctx):
    """Squares with weights."""
    d = x - y
    return acc + ctx.w[ctx.dim] * d * d


@ivf_flat.metric
def manhattan(x, y, acc, ctx):
    return acc + abs(x - y)


def test_signature_is_that_of_the_proof_of_concept():
    parameters = inspect.signature(ivf_flat.metric).parameters
    expected = {
        "order": "min",
        "initial": 0.0,
        "coarse_metric": "sqeuclidean",
        "captures": None,
        "symbol_name": None,
        "forceinline": True,
    }
    assert {name: parameters[name].default for name in expected} == expected
    parameters = inspect.signature(ivf_flat.cuda_source_metric).parameters
    assert list(parameters)[:5] == ["source", "order", "initial", "coarse_metric", "symbol_name"]


def test_without_parentheses(data):
    exact = distances_of(lambda x, y: abs(x - y), data[2], data[1])
    check(*search(data, manhattan), exact)


def test_a_metric_is_still_the_function():
    assert weighted.__name__ == "weighted"
    assert weighted.__doc__ == "Squares with weights."
    assert weighted.__module__ == __name__
    ctx = types.SimpleNamespace(dim=1, dims=6, w=[2.0, 3.0])
    assert weighted(5.0, 3.0, 1.0, ctx) == 1.0 + 3.0 * 4.0
    assert repr(weighted) == "<annudf metric weighted (w: dim x f32)>"
    assert repr(manhattan) == "<annudf metric manhattan>"
    assert (weighted.name, weighted.order, weighted.coarse_metric) == ("weighted", "min", "sqeuclidean")
    assert weighted.elements == ("float32", "float16", "int8", "uint8", "bfloat16", "bits")


def function(x, y, acc, ctx):
    return acc


class WithSelf:
    def score(self):
        return 0


class NoUpdate:
    finalize = staticmethod(lambda acc, ctx: acc)


class TwoFinals:
    def update(x, y, acc, ctx):
        return acc

    def finalize(acc, ctx):
        return acc


class Helper(TwoFinals):
    def update(x, y, acc, ctx):
        return acc

    def other(acc):
        return acc


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        (
            {"initial": 5.0},
            "class M has an attribute 'initial', which the metric would not read; give it to the decorator: "
            "ivf_flat.metric(initial=...)",
        ),
        (
            {"order": "max"},
            "class M has an attribute 'order', which the metric would not read; give it to the decorator: "
            "ivf_flat.metric(order=...)",
        ),
        (
            {"p": 3.0},
            "class M has an attribute 'p', which the metric would not read; make it a capture, or a global outside the "
            "class",
        ),
        (
            {"finalize": math.sqrt},
            "class M has a finalize that is a builtin_function_or_method, it must be a Python function",
        ),
    ],
)
def test_attributes_of_a_class_are_not_ignored(attributes, message):
    with pytest.raises(ArgumentError) as caught:
        ivf_flat.metric(type("M", (), {"update": lambda x, y, acc: acc + x * y, **attributes}))
    assert str(caught.value) == message


def test_float64_captures_are_told_once(caplog):
    def make(value, **options):
        @ivf_flat.metric(captures={"w": value}, **options)
        def wide(x, y, acc, ctx):
            return acc + ctx.w * abs(x - y)

        return wide

    make(1.0), make(np.float32(1)), make(np.ones(3, np.float32)), make([1.0])
    make(np.ones(3), dtype="float64"), make(np.ones(3), accumulator="float64")
    assert caplog.text == ""
    make(np.ones(3)), make(np.ones(3))
    assert [record.getMessage() for record in caplog.records] == [
        "metric wide: capture 'w' is float64, so what is computed with it is float64 too, several times slower; "
        "convert it by .astype(numpy.float32) if that is not meant"
    ]


REFUSED = [
    ({"order": "least"}, "order is 'least', it must be 'min' or 'max'"),
    ({"coarse_order": "up"}, "coarse_order is 'up', it must be 'min' or 'max'"),
    (
        {"coarse_metric": ["sqeuclidean"]},
        "coarse_metric is ['sqeuclidean'], it must be 'sqeuclidean', 'euclidean', 'inner_product' or 'cosine'",
    ),
    (
        {"coarse_metric": "l2"},
        "coarse_metric is 'l2', it must be 'sqeuclidean', 'euclidean', 'inner_product' or 'cosine'",
    ),
    ({"order": np.zeros(2)}, "order is array([0., 0.]), it must be 'min' or 'max'"),
    ({"captures": [1]}, "captures is a list, it must be a mapping of names to values"),
    ({"allow_non_finite": "no"}, "allow_non_finite is 'no', it must be True or False"),
    ({"forceinline": 0}, "forceinline is 0, it must be True or False"),
    ({"forceinline": False}, "forceinline is False, but hooks are always inlined; leave it out"),
    ({"initial": "0"}, "initial is '0', it must be a number"),
    ({"initial": np.nan}, "initial is nan, so every distance would be, and such rows are not found; give a number"),
    ({"initial": 1e39}, "initial is 1e+39, which does not fit a float32 accumulator"),
    ({"initial": 10**400}, "initial is an integer of 1329 bits, which does not fit a float32 accumulator"),
    (
        {"initial": 2**24 + 1},
        "initial is 16777217, which no float32 is; round it by float(numpy.float32(...)) if that is meant",
    ),
    (
        {"initial": np.int64(2**53 + 1), "accumulator": np.float64},
        f"initial is {np.int64(2**53 + 1)!r}, which no float64 is; round it by float(numpy.float64(...)) "
        "if that is meant",
    ),
    ({"symbol_name": "a" * 10**7}, "symbol_name has 10000000 characters, a name has at most 255; shorten it"),
    (
        {"initial": -(10**400), "dtype": "float64"},
        "initial is an integer of 1329 bits, which does not fit a float64 accumulator",
    ),
    (
        {"initial": 10**400, "dtype": "int32"},
        "initial is an integer of 1329 bits, which does not fit the accumulator, an integer from -2147483648 to "
        "2147483647",
    ),
    (
        {"initial": 0.5, "accumulator": "int32"},
        "initial is 0.5, which does not fit the accumulator, an integer from -2147483648 to 2147483647",
    ),
    (
        {"initial": -1, "dtype": "uint32"},
        "initial is -1, which does not fit the accumulator, an integer from 0 to 4294967295",
    ),
    ({"dtype": "float16"}, "dtype is float16, it must be float32, float64, int32 or uint32"),
    ({"accumulator": "int16"}, "accumulator is int16, it must be float32, float64, int32, uint32 or int64"),
    ({"dtype": None}, "dtype is None; name a dtype"),
    ({"elements": [None]}, "an entry of elements is None; name a dtype"),
    ({"dtype": "f4x"}, "dtype is 'f4x', which is no dtype of NumPy"),
    ({"elements": ["float64"]}, "elements has float64, it may have float32, float16, int8, uint8, bfloat16, bits"),
    ({"dtype": "f4,,f4"}, "dtype is 'f4,,f4', which is no dtype of NumPy"),
    ({"elements": 5}, "elements is 5, it must be one or several dtypes"),
    ({"elements": []}, "elements is empty; name a type of vectors that the metric accepts"),
    (
        {"elements": ["float32"], "dtype": "int32"},
        "elements has float32, but dtype is an integer, which would lose the fraction; take dtype='float32' or list "
        "only int8, uint8 and bits",
    ),
    (
        {"symbol_name": "1st"},
        "symbol_name is '1st'; use letters, digits and _, not beginning with a digit",
    ),
    ({"finalize": pow}, "finalize is a builtin_function_or_method, it must be a Python function of (acc, ctx)"),
    ({"captures": {"ctx": 1}}, "capture name 'ctx' is reserved; choose another"),
    ({"captures": {"lambda": 1}}, "capture name 'lambda' is reserved; choose another"),
    ({"captures": {"a b": 1}}, "capture name 'a b' is no identifier of letters, digits and _"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_refused_options(options, message):
    with pytest.raises(ArgumentError) as caught:
        ivf_flat.metric(**options)(function)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        (max, {}, "ivf_flat.metric decorates a Python function f(x, y, acc, ctx), not a builtin_function_or_method"),
        (WithSelf, {}, "class WithSelf has no function update(x, y, acc, ctx); write one"),
        (NoUpdate, {}, "class NoUpdate has no function update(x, y, acc, ctx); write one"),
        (TwoFinals, {"finalize": function}, "class TwoFinals has a finalize and finalize= is given; drop one"),
        (
            Helper,
            {},
            "class Helper has a function 'other'; a metric has update, finalize and combine only, so make it a helper "
            "outside the class",
        ),
    ],
)
def test_refused_targets(target, options, message):
    with pytest.raises(ArgumentError) as caught:
        ivf_flat.metric(**options)(target)
    assert str(caught.value) == message


# --- To look at -------------------------------------------------------------------------------------


def test_stages(data):
    assert "annudf.metric @weighted order(min) coarse(l2)" in weighted.mlir()
    ir = weighted.nvvm_ir()
    assert "annudf1_scan_update_a32_x32" in ir
    assert "nvptx64" in ir
    described = weighted.inspect()
    assert "weighted" in described
    assert "dim x f32" in described
    for arch in ("sm_12", "sm_9\uff10", "sm_090", True, 10**5000, 90.5):
        with pytest.raises(ArgumentError, match=r"arch is .*, it must be one of sm_75, sm_80"):
            weighted.ptx(arch)
    with pytest.raises(ArgumentError, match=r"arch is 'sm_12', it must be one of sm_75, sm_80"):
        weighted.artifact(["sm_12"])
    with pytest.raises(ArgumentError, match=r"arch is 1.5, it must be one of sm_75, sm_80"):
        weighted.artifact(1.5)


def needs_libnvvm():
    from annudf import _core

    found = _core.describe_environment()
    return pytest.mark.skipif(not found["libnvvm_found"], reason=f"no libNVVM: {found['libnvvm']}")


@needs_libnvvm()
def test_stages_of_libnvvm():
    for arch in ("sm_90", "compute_90", "90", 90, np.int64(90)):
        assert ".target sm_90" in weighted.ptx(arch)
    assert ".target sm_100" in weighted.ptx(100)
    assert len(weighted.ltoir("sm_90")) > 100
    artifact = weighted.artifact(["sm_80", 90])
    assert artifact.archs == ["sm_80", "sm_90"]
    assert artifact.ltoir("sm_90")
    assert repr(artifact) == ("<annudf artifact weighted (code for sm_80, sm_90, CPUs)>")
    assert weighted.artifact("sm_80").archs == ["sm_80"]
    assert len(weighted.artifact().archs) > 5


def test_compile_error_has_the_place():
    @ivf_flat.metric
    def endless(x, y, acc, ctx):
        while acc < 3:
            acc = acc + x
        return acc

    line = endless.__wrapped__.__code__.co_firstlineno + 2
    for call in (endless.mlir, endless.artifact, endless.inspect):
        with pytest.raises(CompileError) as caught:
            call()
        assert f"{__file__}:{line}" in str(caught.value)
        assert caught.value.diagnostics[0].line == line
        again = pickle.loads(pickle.dumps(caught.value))
        assert again.diagnostics == caught.value.diagnostics


# --- Files ------------------------------------------------------------------------------------------


def test_save_and_load(tmp_path, data):
    path = tmp_path / "weighted.annudf"
    weighted.save(path)
    manifest = json.loads(weighted.artifact().manifest)
    assert manifest["captures"] == [{"element": "f32", "extents": ["dim"], "name": "w"}]
    loaded = ivf_flat.load_metric(path)
    assert loaded.name == "weighted"
    assert repr(loaded) == "<annudf metric weighted (w: unbound)>"
    with pytest.raises(CaptureError) as caught:
        search(data, loaded)
    assert str(caught.value) == (
        "capture 'w' (dim x f32) of metric 'weighted' has no value; give it one by .bind(w=...)"
    )
    check(*search(data, loaded.bind(w=W)), exact_weighted(data, W))
    check(*search(data, ivf_flat.load_metric(str(path), w=W)), exact_weighted(data, W))
    with pytest.raises(TypeError, match=r"metric 'weighted' was not made from a Python function"):
        loaded(1, 2, 3, None)
    with pytest.raises(UnavailableError, match=r"its mlir can be had from its source only"):
        loaded.mlir()
    with pytest.raises(ArgumentError, match=r"name is 'x', but an artifact holds one metric; leave it out"):
        ivf_flat.load_metric(path, name="x")
    with pytest.raises(CaptureError, match=r"metric 'weighted' has no capture 'v'; it has 'w'"):
        ivf_flat.load_metric(path, v=1)
    data_of_file = path.read_bytes()
    path.write_bytes(data_of_file[:-7])
    with pytest.raises(InputError, match=r"weighted.annudf"):
        ivf_flat.load_metric(path)
    with pytest.raises(InputError):
        ivf_flat.load_metric(tmp_path / "missing.annudf")


@pytest.mark.parametrize("name", ["weighted_l2", "l1", "minkowski", "inner_product", "chebyshev"])
def test_text_of_the_dialect(data, name):
    captures = {"weighted_l2": {"w": W}, "minkowski": {"p": 3.0}}.get(name, {})
    metric = ivf_flat.load_metric(EXAMPLES / f"{name}.mlir", **captures)
    terms = {
        "weighted_l2": lambda x, y: W * (x - y) ** 2,
        "l1": lambda x, y: abs(x - y),
        "minkowski": lambda x, y: abs(x - y) ** 3,
        "inner_product": lambda x, y: x * y,
    }
    if name == "chebyshev":
        exact = np.stack([np.abs(query - data[1]).max(axis=1) for query in data[2]]).astype(float)
    else:
        exact = distances_of(terms[name], data[2], data[1])
    exact = exact ** (1 / 3) if name == "minkowski" else exact
    assert metric.order == ("max" if name == "inner_product" else "min")
    check(*search(data, metric), exact, order=metric.order, rtol=1e-4)
    assert metric.name == name
    assert f"@{name}" in metric.mlir()


def test_the_same_formula_from_text_and_from_python(data):
    text = ivf_flat.load_metric(EXAMPLES / "l1.mlir")
    for one, two in zip(search(data, text), search(data, manhattan), strict=True):
        np.testing.assert_array_equal(one, two)


def test_text_with_a_fault(tmp_path):
    path = tmp_path / "bad.mlir"
    path.write_text("annudf.metric @bad order(min) coarse(l2) elements(f32) {\n}\n")
    with pytest.raises(CompileError, match=r"bad\.mlir:1:.*annudf\.init") as caught:
        ivf_flat.load_metric(path).artifact()
    assert caught.value.diagnostics[0].rule == "M2"
    with pytest.raises(InputError, match=r"cannot be read"):
        ivf_flat.load_metric(tmp_path / "missing.mlir")


PICKLE = """
import pickle, sys
import numpy as np
from annudf import ivf_flat
metric = pickle.load(sys.stdin.buffer)
index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), np.eye(6, dtype=np.float32))
params = ivf_flat.SearchParams(n_probes=1, metric=metric)
print(ivf_flat.search(params, index, np.zeros((1, 6), np.float32), 6)[0].tolist())
assert "numba_cuda_mlir" not in sys.modules
"""


def test_pickle_to_a_process_without_the_source(data):
    assert pickle.loads(pickle.dumps(manhattan)) is manhattan
    local = weighted.bind(w=W)
    data_of_pickle = pickle.dumps(local)
    check(*search(data, pickle.loads(data_of_pickle)), exact_weighted(data, W))
    done = subprocess.run([sys.executable, "-c", PICKLE], input=data_of_pickle, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout) == [sorted(W.tolist())]
    assert copy.deepcopy(weighted) is weighted
    assert copy.copy(weighted) is weighted


IN_MAIN = """
import pickle, sys
import numpy as np
from annudf import ivf_flat
@ivf_flat.metric(captures={"w": np.arange(6, dtype=np.float32), "p": 2.0})
def local(x, y, acc, ctx):
    return acc + ctx.w[ctx.dim] * abs(x - y) ** ctx.p
how = __import__(sys.argv[1])
sys.stdout.buffer.write(how.dumps(local))
"""


@pytest.mark.parametrize("how", ["pickle", "cloudpickle"])
def test_pickle_of_main_to_other_processes(how):
    pytest.importorskip(how)
    made = subprocess.run([sys.executable, "-c", IN_MAIN, how], capture_output=True, check=False)
    assert made.returncode == 0, made.stderr.decode()
    done = subprocess.run([sys.executable, "-c", PICKLE], input=made.stdout, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout) == [[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]]
    again = pickle.loads(pickle.dumps(pickle.loads(made.stdout)))
    assert set(again.captures) == {"w", "p"} and again.name == "local"


def test_cloudpickle_by_value_of_a_module(monkeypatch):
    cloudpickle = pytest.importorskip("cloudpickle")
    module = sys.modules[manhattan.__module__]
    assert cloudpickle.loads(cloudpickle.dumps(manhattan)) is manhattan
    monkeypatch.setattr(cloudpickle.cloudpickle, "_PICKLE_BY_VALUE_MODULES", {module.__name__})
    assert cloudpickle.loads(cloudpickle.dumps(manhattan)) is not manhattan


def test_a_factory_compiles_once():
    def make(w):
        @ivf_flat.metric(captures={"w": w})
        def made(x, y, acc, ctx):
            return acc + ctx.w[ctx.dim] * abs(x - y)

        return made

    first, second = make(W), make(-W)
    assert first is not second
    assert first.artifact([]) is second.artifact([])


def test_dtype_errors_are_type_errors_too():
    with pytest.raises(TypeError):
        ivf_flat.metric(dtype="float16")(function)
    with pytest.raises(ValueError, match=r"float16"):
        ivf_flat.metric(dtype="float16")(function)
    assert issubclass(DtypeError, ArgumentError)


def test_precompile(data, caplog):
    @ivf_flat.metric(symbol_name="prepared", elements=["float32"])
    def prepared(x, y, acc, ctx):
        return acc + abs(x - y) * 0.75

    with caplog.at_level("DEBUG", "annudf"):
        prepared.precompile()
        assert caplog.text.count("metric prepared linked for the CPU") == 1
        search(data, prepared)
        assert caplog.text.count("linked") == 1
    with pytest.raises(DtypeError, match=r"metric 'prepared' does not accept vectors of uint8; it accepts float32"):
        prepared.precompile(np.uint8)
    with pytest.raises(DtypeError, match=r"metric 'prepared' does not accept vectors of float64; it accepts float32"):
        prepared.precompile("float64")
    for dtype in ("foo", None):
        with pytest.raises(DtypeError, match=r"^dtype is ('foo', which is no dtype of NumPy|None; name a dtype)$"):
            prepared.precompile(dtype)


def _linker():
    if not _core.describe_environment()["linker_found"]:
        pytest.skip("no nvJitLink, or no CUDA backend, on this machine: kernels of GPUs are NOT linked")


def _files(folder):
    return sorted(path for path in folder.glob("*.annudfc") if b"annudf_read_contract" in path.read_bytes())


def test_precompile_for_an_architecture_needs_no_gpu(tmp_path, monkeypatch, caplog):
    _linker()
    monkeypatch.setenv("ANNUDF_CACHE_DIR", str(tmp_path / "cache"))

    @ivf_flat.metric(symbol_name="ahead", elements=["float32"])
    def ahead(x, y, acc, ctx):
        return acc + abs(x - y) * 0.625

    with caplog.at_level("DEBUG", "annudf"):
        ahead.precompile(arch="sm_90")
        assert caplog.text.count("metric ahead linked for sm_90") == 1
        kernels = _files(tmp_path / "cache")
        assert len(kernels) >= 2
        assert all(path.stat().st_mode & 0o777 == 0o600 for path in kernels)
        ahead.precompile(arch=90)  # As another process would find them.
        assert caplog.text.count("metric ahead found linked on disk for sm_90") == 1
    ahead.precompile(arch="sm_80")
    assert len(_files(tmp_path / "cache")) == 2 * len(kernels)
    with pytest.raises(ArgumentError, match=r"^arch is 'sm_1', it must be one of sm_75, "):
        ahead.precompile(arch="sm_1")
    with pytest.raises(ArgumentError, match=r"^arch and resources are given"):
        ahead.precompile(arch="sm_90", resources=common.Resources())
    monkeypatch.setenv("ANNUDF_CACHE_DISABLE", "1")
    with pytest.raises(UnavailableError, match=r"for sm_86 are kept nowhere: ANNUDF_CACHE_DISABLE is set"):
        ahead.precompile(arch="sm_86")


def test_a_kernel_is_an_entry_of_the_packages_own_cache(tmp_path, monkeypatch):
    _linker()
    monkeypatch.setenv("ANNUDF_CACHE_DIR", str(tmp_path / "cache"))

    @ivf_flat.metric(symbol_name="kept", elements=["float32"])
    def kept(x, y, acc, ctx):
        return acc + abs(x - y) * 0.375

    kept.precompile(arch="sm_90")
    kernels = _files(tmp_path / "cache")
    for path in kernels:
        payload = _cache.load(path.name.removesuffix(".annudfc"))
        assert payload is not None and payload.startswith(b"\x7fELF")
        monkeypatch.setenv("ANNUDF_CACHE_DISABLE", "0")
        _cache.store(path.name.removesuffix(".annudfc"), payload)  # And the other way round.
    monkeypatch.setenv("ANNUDF_CACHE_MAX_BYTES", "100")
    _cache.store("f" * 64, b"one")
    assert _files(tmp_path / "cache") == []  # One bound for all.


def test_a_metric_that_is_computed_row_by_row_is_warned_about_once(caplog):
    def rest(x, y, acc):
        return acc + x % y

    def vectors(x, y, acc):
        return acc + abs(x - y)

    caplog.set_level(logging.WARNING, logger="annudf")
    ivf_flat.metric(vectors).precompile()
    assert not caplog.records
    slow = ivf_flat.metric(rest)
    slow.precompile()
    slow.precompile()
    (record,) = caplog.records
    assert record.getMessage().startswith(
        "metric rest: a loop over rows takes them one by one, not as vectors, which is several times slower on the CPU"
    )
