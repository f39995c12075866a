# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Metrics in CUDA C++, as far as a machine without a GPU can go; test_gpu.py runs one."""

from __future__ import annotations

import json

import numpy as np
import pytest
from small import W, search

from annudf import ArgumentError, CompileError, UnavailableError, ivf_flat
from annudf._arrays import DTYPE_OF_ELEMENT

SOURCE = "__device__ float f(float x) { return x; }"


def test_cuda_source_is_for_gpus_only(data):
    metric = ivf_flat.cuda_source_metric(SOURCE, symbol_name="foreign", elements=["float32"])
    with pytest.raises(UnavailableError) as caught:
        search(data, metric)
    assert str(caught.value) == (
        "metric 'foreign' is CUDA source and runs on a GPU only; give device arrays, or write it in Python with "
        "annudf.metric"
    )
    with pytest.raises(UnavailableError, match=r"is CUDA source, which has no ptx; its LTO-IR is \.ltoir\(arch\)"):
        metric.ptx()


def needs_nvrtc():
    from annudf import _core

    found = _core.describe_environment()
    return pytest.mark.skipif(not found["nvrtc_found"], reason=f"no NVRTC: {found['nvrtc']}")


OF_CUVS = """
template <typename T, typename AccT, int Veclen>
__device__ void compute_dist_udf_impl(AccT& acc, AccT x, AccT y) { acc += (x - y) * (x - y); }
"""
OF_ANNUDF = """
float update(float acc, float x, float y, const annudf_context &ctx) {
  return fmaf(ctx.w[ctx.dim], (x - y) * (x - y), acc) * ctx.scale;
}
"""


OF_TYPES = {"float32": "float", "float64": "double", "int32": "int32_t", "uint32": "uint32_t", "int64": "int64_t"}


@needs_nvrtc()
@pytest.mark.parametrize(
    ("accumulator", "coordinates"),
    [("float32", "float"), ("float64", "double"), ("int32", "int32_t"), ("uint32", "int32_t"), ("int64", "int32_t")],
)
def test_an_accumulator_alone_says_what_coordinates_are(accumulator, coordinates):
    """And so which vectors it takes, which Python says as the compiler does."""
    kind = OF_TYPES[accumulator]
    source = f"{kind} update({kind} acc, {coordinates} x, {coordinates} y) {{ return acc + x * y; }}"
    for given in (source, OF_CUVS):
        metric = ivf_flat.cuda_source_metric(given, accumulator=accumulator)
        manifest = json.loads(metric.artifact(["sm_90"]).manifest)
        assert manifest["compute_type"] == {"float": "f32", "double": "f64", "int32_t": "i32"}[coordinates]
        assert [DTYPE_OF_ELEMENT[one] for one in manifest["elements"]] == list(metric.elements)
        integers = ("int8", "uint8", "bits")
        assert metric.elements == (
            integers if "int" in coordinates else ("float32", "float16", "int8", "uint8", "bfloat16", "bits")
        )


@needs_nvrtc()
def test_elements_that_are_listed():
    source = "int update(int acc, int x, int y) { return acc + x * y; }"
    metric = ivf_flat.cuda_source_metric(source, accumulator=np.int32, elements=[np.uint8])
    assert json.loads(metric.artifact(["sm_90"]).manifest)["elements"] == ["u8"]
    assert metric.elements == ("uint8",)


@needs_nvrtc()
def test_cuda_source_is_compiled_for_gpus():
    metric = ivf_flat.cuda_source_metric(OF_CUVS)
    artifact = metric.artifact(["sm_90"])
    assert artifact.archs == ["sm_90"]
    assert not artifact.is_verified
    assert not artifact.has_host_code
    assert artifact.ltoir("sm_90") == metric.ltoir(90)
    assert metric.elements == ("float32", "float16", "int8", "uint8", "bfloat16", "bits")
    with_captures = ivf_flat.cuda_source_metric(OF_ANNUDF, captures={"w": W, "scale": 2.0}, symbol_name="scaled")
    manifest = json.loads(with_captures.artifact(["sm_90"]).manifest)
    assert [one["name"] for one in manifest["captures"]] == ["w", "scale"]
    assert manifest["name"] == "scaled"
    assert with_captures.bind(scale=3.0).artifact(["sm_90"]) is with_captures.artifact(["sm_90"])
    wrong = ivf_flat.cuda_source_metric("double update(double acc, float x, float y) { return acc; }")
    with pytest.raises(CompileError, match=r"<CUDA source of cuda_source>:1: .*update must be") as caught:
        wrong.artifact(["sm_90"])
    assert caught.value.diagnostics[0].line == 1


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (7, {}, "source is a int, it must be text of CUDA C++"),
        (b"\xff", {}, "source is not UTF-8: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
        (" ", {}, "source is empty; give CUDA C++ that updates the accumulator"),
        (SOURCE, {"order": "up"}, "order is 'up', it must be 'min' or 'max'"),
        (SOURCE, {"coarse_order": "up"}, "coarse_order is 'up', it must be 'min' or 'max'"),
        (SOURCE, {"initial": 10**400}, "initial is an integer of 1329 bits, which does not fit a float32 accumulator"),
        (SOURCE, {"elements": 5}, "elements is 5, it must be one or several dtypes"),
        (
            SOURCE,
            {"accumulator": np.int64, "initial": 2**53 + 1},
            "initial is 9007199254740993, which float64 rounds to 9007199254740992, and CUDA source starts from a float64; "
            "give an integer that float64 holds, such as any up to 2**53",
        ),
        (
            SOURCE,
            {"initial": (0, 0)},
            "CUDA source keeps one number as its accumulator; write a Python function for several",
        ),
        (SOURCE, {"captures": [1]}, "captures is a list, it must be a mapping of names to values"),
        (SOURCE, {"captures": {"w": None}}, "capture 'w' is None; give a number or an array"),
        (SOURCE, {"symbol_name": "a-b"}, "symbol_name is 'a-b'; use letters, digits and _, not beginning with a digit"),
    ],
)
def test_refused_cuda_source(source, options, message):
    with pytest.raises(ArgumentError) as caught:
        ivf_flat.cuda_source_metric(source, **options)
    assert str(caught.value) == message


@needs_nvrtc()
def test_headers_that_a_cache_does_not_see_are_not_included(tmp_path, monkeypatch):
    (tmp_path / "own.h").write_text("#define K 2\n")
    monkeypatch.chdir(tmp_path)
    update = "float update(float acc, float x, float y) { return acc + (x - y); }"
    why = "; include headers that stand beside NVRTC, by name: a cache does not see others change"
    for include, message in {
        '"own.h"': ':1:17: cannot open source file "own.h"',
        f'"{tmp_path}/own.h"': f": line 1 includes {tmp_path}/own.h{why}",
        '"../own.h"': f": line 1 includes ../own.h{why}",
    }.items():
        metric = ivf_flat.cuda_source_metric(f"#include {include}\n{update}", symbol_name="m")
        with pytest.raises(CompileError) as caught:
            metric.artifact(["sm_90"])
        assert str(caught.value) == f"<CUDA source of m>{message}"
