# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The decorator, and looking at what was compiled."""

from __future__ import annotations

import inspect
import logging
import math
import pickle
import re
import types
from pathlib import Path

import numpy as np
import pytest
from small import W, search

from annudf import ArgumentError, CompileError, DtypeError, UnavailableError, _core, common, ivf_flat
from annudf._arrays import CPU
from annudf._devices import backends
from annudf._metric import cache
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
            "class M has an attribute 'initial', which the metric does not read; give it to the decorator: "
            "annudf.metric(initial=...)",
        ),
        (
            {"order": "max"},
            "class M has an attribute 'order', which the metric does not read; give it to the decorator: "
            "annudf.metric(order=...)",
        ),
        (
            {"p": 3.0},
            "class M has an attribute 'p', which the metric does not read; make it a capture, or a global outside the "
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
        "metric wide: capture 'w' is float64, so the metric computes in float64, which is several times slower; "
        "convert it by .astype(numpy.float32) unless that is meant"
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
    ({"initial": np.nan}, "initial is nan, so every distance would be nan and no row is found; give a number"),
    ({"initial": 1e39}, "initial is 1e+39, which does not fit a float32 accumulator"),
    ({"initial": 10**400}, "initial is an integer of 1329 bits, which does not fit a float32 accumulator"),
    (
        {"initial": 2**24 + 1},
        "initial is 16777217, which float32 does not hold exactly; round it by float(numpy.float32(...)) if that is "
        "meant",
    ),
    (
        {"initial": np.int64(2**53 + 1), "accumulator": np.float64},
        f"initial is {np.int64(2**53 + 1)!r}, which float64 does not hold exactly; round it by "
        "float(numpy.float64(...)) "
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
    ({"captures": {"a b": 1}}, "capture name 'a b' is invalid; use letters, digits and _, not beginning with a digit"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_refused_options(options, message):
    with pytest.raises(ArgumentError) as caught:
        ivf_flat.metric(**options)(function)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        (max, {}, "annudf.metric decorates a Python function f(x, y, acc, ctx), not a builtin_function_or_method"),
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
    for code in (weighted.ptx, weighted.ltoir, weighted.nvvm_ir):
        for arch in (0, False, "", []):
            with pytest.raises(ArgumentError, match=rf"arch is {re.escape(repr(arch))}, it must be one of sm_75"):
                code(arch)
    assert weighted.nvvm_ir(None) == ir
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
    with pytest.raises(UnavailableError, match=r"for sm_86 cannot be kept on disk: ANNUDF_CACHE_DISABLE is set"):
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
        payload = cache.load(path.name.removesuffix(".annudfc"))
        assert payload is not None and payload.startswith(b"\x7fELF")
        monkeypatch.setenv("ANNUDF_CACHE_DISABLE", "0")
        cache.store(path.name.removesuffix(".annudfc"), payload)  # And the other way round.
    monkeypatch.setenv("ANNUDF_CACHE_MAX_BYTES", "100")
    cache.store("f" * 64, b"one")
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
    line = rest.__code__.co_firstlineno + 1
    assert record.getMessage().startswith(
        f"metric rest: computed one row at a time: fmod in line {line}, which is several times slower on the CPU"
    )


def test_why_kernels_run_is_no_warning(caplog):
    """Whatever stands in it."""
    caplog.set_level(logging.WARNING, logger="annudf")
    stats = types.SimpleNamespace(disk_hits=0, links=1, cache_fault="", link_ms=1.0, why="not matrix: a; b", slow="")
    backends.tell_link("why", CPU, stats)
    assert not caplog.records
    stats.slow = "a loop"
    backends.tell_link("why", CPU, stats)
    assert [record.getMessage()[:42] for record in caplog.records] == ["metric why: a loop, which is several times"]
