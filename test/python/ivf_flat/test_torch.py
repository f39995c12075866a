# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""PyTorch tensors in host memory; test_gpu.py has those on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from annudf import ArgumentError, CaptureError, DeviceError, DtypeError, ivf_flat
from reference import DTYPES, check, distances_of, vectors

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

DIMS = 8
PARAMS = ivf_flat.SearchParams(n_probes=4)


@ivf_flat.metric(captures={"w": 1.0})
def scaled(x, y, acc, ctx):
    return acc + ctx.w * (x - y) * (x - y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors(dtype):
    base, queries = vectors(100, DIMS, dtype, 1), vectors(5, DIMS, dtype, 2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), torch.from_numpy(base))
    distances, neighbors = ivf_flat.search(PARAMS, index, torch.from_numpy(queries), 3)
    assert isinstance(distances, torch.Tensor)
    assert neighbors.dtype == torch.int64
    check(distances, neighbors, distances_of(lambda x, y: (x - y) ** 2, queries, base))
    ivf_flat.extend(index, torch.from_numpy(queries), torch.arange(500, 505))
    _, neighbors = ivf_flat.search(PARAMS, index, torch.from_numpy(queries), 1)
    assert neighbors[:, 0].tolist() == [500, 501, 502, 503, 504]


@pytest.fixture(scope="module")
def index():
    return ivf_flat.build(ivf_flat.IndexParams(n_lists=4), vectors(100, DIMS, "float32", 1))


def test_layouts_and_gradients(index):
    queries = torch.from_numpy(vectors(5, DIMS, "float32", 2))
    expected = ivf_flat.search(PARAMS, index, queries, 3)
    wide = torch.zeros(5, 2 * DIMS)
    wide[:, ::2] = queries
    for given in (
        queries.T.contiguous().T,
        wide[:, ::2],
        queries.clone().requires_grad_(),
        torch.flip(queries, [0]).flip(0),
    ):
        result = ivf_flat.search(PARAMS, index, given, 3)
        assert torch.equal(result[0], expected[0])
        assert torch.equal(result[1], expected[1])
        assert not result[0].requires_grad


def test_buffers(index):
    queries = torch.from_numpy(vectors(5, DIMS, "float32", 2))
    expected = ivf_flat.search(PARAMS, index, queries, 3)
    distances, neighbors = torch.zeros(5, 3), torch.zeros(5, 3, dtype=torch.int64)
    result = ivf_flat.search(PARAMS, index, queries, 3, neighbors, distances)
    assert result[0] is distances
    assert result[1] is neighbors
    assert torch.equal(distances, expected[0])
    assert torch.equal(neighbors, expected[1])
    # Libraries may be mixed on one device.
    mixed = np.zeros((5, 3), np.int64)
    ivf_flat.search(PARAMS, index, queries, 3, mixed)
    np.testing.assert_array_equal(mixed, expected[1])


REFUSED = [
    (
        lambda q: q.double(),
        DtypeError,
        "argument 'queries' has dtype float64, it must be float32, float16, int8, uint8 or bfloat16; convert by "
        ".to(torch.float32)",
    ),
    (
        lambda q: q[0],
        ArgumentError,
        "argument 'queries' has shape (8,), it must have two dimensions; one vector is .reshape(1, -1)",
    ),
    (
        lambda q: q.to_sparse(),
        ArgumentError,
        "argument 'queries' is a tensor of layout torch.sparse_coo; make it dense with .to_dense()",
    ),
    (lambda q: q.to("meta"), DeviceError, "argument 'queries' is on device meta; move it with .cpu() or .cuda()"),
]


@pytest.mark.parametrize(("change", "kind", "message"), REFUSED)
def test_refused_tensors(index, change, kind, message):
    with pytest.raises(kind) as caught:
        ivf_flat.search(PARAMS, index, change(torch.zeros(2, DIMS)), 3)
    assert str(caught.value) == message
    assert type(caught.value) is kind


def test_refused_buffers(index):
    queries = torch.zeros(2, DIMS)
    with pytest.raises(
        ArgumentError,
        match=r"argument 'distances' requires a gradient; give a tensor without one, such as \.detach\(\)",
    ):
        ivf_flat.search(PARAMS, index, queries, 3, None, torch.zeros(2, 3, requires_grad=True))
    with pytest.raises(ArgumentError, match=r"argument 'distances' has strides \(4, 8\) for shape \(2, 3\)"):
        ivf_flat.search(PARAMS, index, queries, 3, None, torch.zeros(3, 2).T)


def test_freed_memory(index):
    queries = torch.zeros(2, DIMS)
    queries.untyped_storage().resize_(0)
    with pytest.raises(ArgumentError, match=r"argument 'queries' has no memory: its buffer was freed"):
        ivf_flat.search(PARAMS, index, queries, 3)


def test_captures():
    for value, expected in (
        (torch.tensor(2.5), 2.5),
        (torch.tensor(2.5, dtype=torch.bfloat16), 2.5),
        (torch.tensor(2.5, dtype=torch.float16, requires_grad=True), 2.5),
        (torch.tensor(2), 2.0),
    ):
        got = scaled.bind(w=value).captures["w"]
        assert got.dtype == np.float32
        assert got == expected
    with pytest.raises(CaptureError, match=r"capture 'w' is declared as f32 scalar, the value given is f64 scalar"):
        scaled.bind(w=torch.tensor(2.0, dtype=torch.float64))
    with pytest.raises(CaptureError, match=r"capture 'w' has dtype complex64; give numbers: bool, int8 to int64, "):
        scaled.bind(w=torch.tensor(2j))
