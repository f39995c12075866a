# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Files, texts and pickles of metrics."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small import W, exact_weighted, search

from annudf import (
    ArgumentError,
    CaptureError,
    CompileError,
    InputError,
    UnavailableError,
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
    with pytest.raises(UnavailableError, match=r"its mlir needs its source"):
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
