# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Descriptors of device UDFs, those of others among them; test/CAPI/DeviceUdfTest.cpp has the rest."""

from types import SimpleNamespace

import pytest

import annudf
from annudf import ivf_flat

SOURCE = 'extern "C" __device__ float f(float x, float y, float acc) { return acc + (x - y) * (x - y); }'
ABI = "rapids.cuvs.ivf_flat.metric.v1"


def weights(**changes):
    values = {"name": "w", "dtype": "float32", "shape": (128,), "strides": None, "device_id": 0, "readonly": True}
    return annudf.UDFCapture(**{**values, "pointer": 0x1000, "owner": object(), **changes})


def source(**changes):
    values = {"abi": ABI, "payload_kind": "cuda_source", "payload": SOURCE.encode(), "symbol_name": "f"}
    return annudf.DeviceUDF(**{**values, **changes})


@ivf_flat.metric
def squares(x, y, acc, ctx):
    return acc + (x - y) ** 2


@pytest.fixture
def libnvvm():
    found = annudf.show_config(mode="dicts")
    if not (found["libnvvm_found"] and found["nvrtc_found"]):
        pytest.skip(f"no libNVVM or NVRTC: {found['libnvvm']}, {found['nvrtc']}")


def test_key_is_stable_and_leaves_out_where_captures_lie():
    base = source(captures=(weights(),)).cache_key
    assert base.startswith("annudf.device_udf.cache_key.v1:")
    assert base == source(captures=(weights(pointer=0x2000, owner=None),)).cache_key
    others = [
        source(captures=(weights(shape=(256,)),)),
        source(captures=(weights(device_id=1),)),
        source(captures=(weights(name="v"),)),
        source(captures=(weights(readonly=False),)),
        source(payload=SOURCE.encode() + b"\n", captures=(weights(),)),
        source(target="sm_90", captures=(weights(),)),
        source(),
    ]
    assert len({base, *(one.cache_key for one in others)}) == 8


def test_metadata_has_no_owner():
    metadata = source(captures=(weights(pointer=64),)).c_descriptor_metadata()
    assert metadata["payload_size"] == len(SOURCE)
    assert metadata["captures"][0]["pointer"] == 64
    assert "owner" not in metadata["captures"][0]
    assert metadata["flags"] == 0


def test_from_metric(libnvvm):
    udf = annudf.DeviceUDF.from_metric(squares, "sm_90", symbol_name="my_squares")
    assert udf.abi == ABI and udf.payload_kind == "ltoir" and udf.target == "sm_90"
    assert udf.symbol_name == "my_squares"
    assert udf.payload_bytes().startswith(b"\xedCN") and len(udf.payload_bytes()) > 1024
    assert udf == annudf.DeviceUDF.from_metric(squares, 90, symbol_name="my_squares")


def test_a_metric_that_needs_more_is_refused_by_rule(libnvvm):
    @ivf_flat.metric(order="max", coarse_metric="inner_product")
    def dot(x, y, acc, ctx):
        return acc + x * y

    with pytest.raises(annudf.CompileError, match=r"\[R5\] ranks by order\(max\)"):
        annudf.DeviceUDF.from_metric(dot, "sm_90")


def test_captures_lie_on_a_device(libnvvm):
    np = pytest.importorskip("numpy")
    with pytest.raises(annudf.DeviceError, match="capture 'w' is on the CPU; a descriptor says where it lies"):
        annudf.DeviceUDF.from_metric(squares, "sm_90", captures={"w": np.ones(4, np.float32)})


def test_there_and_back(libnvvm):
    made = annudf.DeviceUDF.from_metric(squares, "sm_90").artifact("mine")
    assert not made.is_verified and not made.has_host_code and made.name == "mine"
    assert source().metric("of_source", ["sm_90"]).order == "min"


def test_another_producers_object(libnvvm):
    theirs = SimpleNamespace(
        abi=ABI, payload_kind="cuda_source", payload=SOURCE, symbol_name="f", captures=(), cache_key="their:key"
    )
    udf = annudf.DeviceUDF.of(theirs)
    assert udf.payload == SOURCE.encode() and udf.cache_key == "their:key"
    theirs.target = SimpleNamespace(sm="90")
    assert annudf.DeviceUDF.of(theirs).target == "sm_90"
    theirs.captures = (SimpleNamespace(name="w", dtype="float32", shape=[4], strides=[4], device_id=0, pointer=16),)
    assert annudf.DeviceUDF.of(theirs).captures[0].shape == (4,)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"abi": "rapids.cuvs.ivf_pq.metric.v1"}, "has ABI 'rapids.cuvs.ivf_pq.metric.v1', annudf takes"),
        ({"payload_kind": "ptx"}, "payload_kind is 'ptx'; it is 'ltoir' or 'cuda_source'"),
        ({"payload": b""}, "has an empty payload"),
        ({"payload_kind": "ltoir", "payload": b"fake-ltoir"}, "has a payload that is no LTO-IR"),
        ({"symbol_name": ""}, "has symbol '', which is no name"),
        ({"symbol_name": 'f"\n'}, "which is no name of a function"),
        ({"symbol_name": "f\0g"}, "has a NUL in it"),
        ({"target": "sm_x"}, "has target 'sm_x'; write it as sm_90"),
        ({"captures": (weights(), weights(name="v"))}, "has 2 captures, and rapids.cuvs.ivf_flat.metric.v1 has one"),
        ({"captures": (weights(shape=(-1,)),)}, "has -1 entries"),
        ({"captures": (weights(shape=(2**62, 4)),)}, "has 2 extents"),
        ({"captures": (weights(strides=(8,)),)}, "has a stride of 8 bytes"),
        ({"captures": (weights(strides=(4, 4)),)}, "has 2 strides for 1 extents"),
        ({"captures": (weights(pointer=0),)}, "has no address"),
        ({"captures": (weights(dtype="int32"),)}, "has dtype 'int32'"),
    ],
)
def test_hostile_descriptors(changes, message):
    with pytest.raises((annudf.InputError, annudf.ArgumentError)) as raised:
        source(**changes)
    assert message in str(raised.value)


def test_what_is_no_descriptor():
    with pytest.raises(annudf.ArgumentError, match="a device UDF has no payload that can be read: it is None"):
        annudf.DeviceUDF.of(object())
