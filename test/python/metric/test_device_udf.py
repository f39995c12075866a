# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Descriptors of device UDFs, those of others among them; test/CAPI/DeviceUdfTest.cpp has the rest."""

import pickle
from types import SimpleNamespace

import pytest

import annudf
from annudf import brute_force, ivf_flat
from annudf.neighbors import NearestNeighbors
from gpu_libraries import Plain

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
        ({"payload": 3}, "payload of a device UDF is 3, it must be bytes or bytearray or"),
        ({"payload": ["f"]}, "payload of a device UDF is ['f'], it must be bytes"),
        ({"payload_kind": "ltoir", "payload": "text"}, "has a payload that is no LTO-IR"),
        ({"abi": None}, "abi of a device UDF is None, it must be str"),
        ({"payload_kind": 1}, "payload_kind of a device UDF is 1, it must be str"),
        ({"symbol_name": b"f"}, "symbol_name of a device UDF is b'f', it must be str"),
        ({"cache_key": 1}, "cache_key of a device UDF is 1, it must be str"),
        ({"target": 90}, "target of a device UDF is 90, it must be str"),
        ({"captures": {}}, "captures of a device UDF is {}, it must be tuple or list"),
        ({"captures": (3,)}, "captures[0] of a device UDF is 3; give an annudf.UDFCapture"),
        ({"captures": (weights(name=3),)}, "name of capture 3 is 3, it must be a str"),
        (
            {"captures": (weights(dtype=float),)},
            "dtype of capture 'w' is <class 'float'>, it must be a str",
        ),
        ({"captures": (weights(readonly="no"),)}, "readonly of capture 'w' is 'no', it must be True or False"),
        ({"captures": (weights(shape=4),)}, "shape of capture 'w' is 4; give a tuple of integers"),
        ({"payload_kind": "ltoir", "payload": b"fake-ltoir"}, "has a payload that is no LTO-IR"),
        ({"symbol_name": ""}, "has symbol '', which is no name"),
        ({"symbol_name": 'f"\n'}, "which is no name of a function"),
        ({"symbol_name": "f\0g"}, "has a NUL in it"),
        ({"captures": (weights(name="w\0v"),)}, "a name or dtype of a capture has a NUL in it; leave it out"),
        ({"captures": (weights(dtype="float32\0<i8"),)}, "a name or dtype of a capture has a NUL in it; leave it out"),
        ({"captures": (weights(pointer=-1),)}, "pointer of capture 'w' is -1, it must be an integer from 0 to 1844"),
        ({"captures": (weights(pointer=2**64),)}, "pointer of capture 'w' is 18446744073709551616, it must be"),
        ({"captures": (weights(shape=(2**63,)),)}, "shape of capture 'w', [0], is 9223372036854775808, it must be"),
        ({"captures": (weights(strides=(2**63,)),)}, "strides of capture 'w', [0], is 9223372036854775808, it must"),
        ({"captures": (weights(device_id=2**31),)}, "device_id of capture 'w' is 2147483648, it must be an integer"),
        ({"target": "sm_090"}, "has target 'sm_090'; write it as sm_90"),
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


def test_text_may_be_text():
    assert source(payload=SOURCE) == source() and source(payload=SOURCE).payload == SOURCE.encode()
    assert source(payload=bytearray(SOURCE.encode()), captures=[weights()]) == source(captures=(weights(),))


def test_what_is_no_descriptor():
    with pytest.raises(annudf.ArgumentError, match="payload of a device UDF is None"):
        annudf.DeviceUDF.of(object())


def test_taken_wherever_a_metric_is(libnvvm):
    np = pytest.importorskip("numpy")
    rows = np.arange(20, dtype=np.float32).reshape(5, 4)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows)
    udf = annudf.DeviceUDF.from_metric(squares, "sm_90")
    params = ivf_flat.SearchParams(metric=udf)
    assert isinstance(params.metric, ivf_flat.Metric) and params.metric.name == "device_udf"
    on_gpu_only = (
        "^metric 'device_udf' is a device UDF and runs on a GPU only; give device arrays, or search by the metric that "
        "it was made from$"
    )
    calls = [
        lambda: ivf_flat.search(params, index, rows, 2),
        lambda: brute_force.knn(rows, rows, 2, metric=udf),
        lambda: brute_force.search(brute_force.build(rows, udf), rows, 2),
        lambda: annudf.distance.pairwise_distance(rows, rows, metric=udf),
        lambda: NearestNeighbors(n_neighbors=2, metric=udf).fit(rows).kneighbors(rows),
    ]
    for call in calls:
        with pytest.raises(annudf.UnavailableError, match=on_gpu_only):
            call()
    # It is compiled once, and a copy has only what describes it.
    assert udf._as_metric()._definition is udf._as_metric()._definition
    assert pickle.loads(pickle.dumps(udf)).__dict__.keys() == source().__dict__.keys()
    with pytest.raises(annudf.ArgumentError, match="metric_arg is 3, which is for metric='minkowski'"):
        ivf_flat.SearchParams(metric=udf, metric_arg=3)


def test_another_producers_object_is_no_metric():
    theirs = SimpleNamespace(abi=ABI, payload_kind="cuda_source", payload=SOURCE)
    with pytest.raises(
        annudf.ArgumentError,
        match=r"^metric is a SimpleNamespace, it must be a Metric or the name of one; if it is a descriptor of a device"
        r" UDF, give annudf\.DeviceUDF\.of\(\.\.\.\)$",
    ):
        ivf_flat.SearchParams(metric=theirs)


@pytest.mark.gpu
def test_neighbours_are_those_of_the_metric_that_it_came_from(libnvvm):
    """LTO-IR without a capture and with one, and CUDA C++: linked into the scan, they rank as the metric does.

    All sums are exact, so that distances are the same bits however a compiler fuses.
    """
    np = pytest.importorskip("numpy")
    library = Plain()
    rng = np.random.default_rng(1)
    rows, queries = (rng.integers(-200, 201, (n, 24)).astype(np.float32) for n in (3000, 40))
    w = rng.integers(1, 65, 24).astype(np.float32) / 64

    @ivf_flat.metric(captures={"w": w})
    def weighted(x, y, acc, ctx):
        return acc + ctx.w[ctx.dim] * abs(x - y)

    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=10), rows)
    given = library.put(queries)
    arch = "sm_80"  # It serves newer ones.
    udfs = [
        (squares, annudf.DeviceUDF.from_metric(squares, arch)),
        (weighted, annudf.DeviceUDF.from_metric(weighted, arch, captures={"w": library.put(w)})),
        (squares, source()),
    ]
    for metric, udf in udfs:
        expected = ivf_flat.search(ivf_flat.SearchParams(n_probes=4, metric=metric), index, given, 10)
        found = ivf_flat.search(ivf_flat.SearchParams(n_probes=4, metric=udf), index, given, 10)
        np.testing.assert_array_equal(library.get(found[1]), library.get(expected[1]))
        np.testing.assert_array_equal(library.get(found[0]), library.get(expected[0]))
    # One that another program made, read through its attributes.
    theirs = SimpleNamespace(**{name: getattr(udfs[1][1], name) for name in ("abi", "payload_kind", "payload")})
    theirs.symbol_name, theirs.cache_key = udfs[1][1].symbol_name, "their:key"
    theirs.captures = [SimpleNamespace(**vars(one)) for one in udfs[1][1].captures]
    found = ivf_flat.search(ivf_flat.SearchParams(n_probes=4, metric=annudf.DeviceUDF.of(theirs)), index, given, 10)
    expected = ivf_flat.search(ivf_flat.SearchParams(n_probes=4, metric=weighted), index, given, 10)
    np.testing.assert_array_equal(library.get(found[1]), library.get(expected[1]))
