# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""``device_backend``: code for GPUs by LLVM alone, with no file of a CUDA toolkit."""

from __future__ import annotations

import json
import pickle
import re
from typing import get_args

import numpy as np
import pytest

import annudf
from annudf import _core, ivf_flat, metrics
from annudf._metric import definition
from annudf._support.options import DeviceBackend
from annudf.errors import ArgumentError, CaptureError, UnavailableError

TEXT = metrics.text("l1")
REFUSED = r"^device_backend is 'gpu', it must be 'libnvvm' or 'nvptx'$"


@pytest.fixture(autouse=True)
def no_toolkit(tmp_path, monkeypatch):
    """Hides libNVVM and libdevice, and what was compiled with them."""
    for name in ("ANNUDF_LIBNVVM", "ANNUDF_LIBDEVICE"):
        monkeypatch.setenv(name, "/nowhere")
    monkeypatch.setenv("ANNUDF_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(definition, "_memory", type(definition._memory)())


def absolute(x, y, acc, ctx):
    return acc + abs(x - y)


def even(ctx):
    return ctx.row % 2 == 0


def payloads(artifact):
    return {(one["kind"], one.get("sm")) for one in json.loads(artifact.manifest)["payloads"]}


def made(tmp_path):
    """Everything that has code for GPUs, made by LLVM."""
    (tmp_path / "l1.mlir").write_text(TEXT)
    (tmp_path / "even.mlir").write_text(annudf.filter(even).mlir())
    return {
        "metric": annudf.metric(device_backend="nvptx")(absolute),
        "filter": annudf.filter(device_backend="nvptx")(even),
        "built-in": metrics.get("canberra", device_backend="nvptx"),
        "text": ivf_flat.load_metric(tmp_path / "l1.mlir", device_backend="nvptx"),
        "text of a filter": ivf_flat.load_filter(tmp_path / "even.mlir", device_backend="nvptx"),
    }


def test_code_without_libnvvm(tmp_path):
    for name, one in made(tmp_path).items():
        artifact = one.artifact("sm_90")
        assert ("ptx", 90) in payloads(artifact), name
        assert "lto-ir" not in {kind for kind, _ in payloads(artifact)}, name
        assert one.artifact().archs == ["sm_75"], name
    with pytest.raises(UnavailableError, match="libNVVM"):
        annudf.metric(absolute).artifact("sm_90")


def test_ptx():
    assert ".target sm_90" in annudf.metric(device_backend="nvptx")(absolute).ptx(90)
    code, _ = annudf.compile(
        lambda a, b: a + b, "float32(float32, float32)", cc=90, device_backend="nvptx", abi_info={"abi_name": "plus"}
    )
    assert ".target sm_90" in code
    assert re.search(r"\.visible \.func .*plus", code)


def test_no_ltoir():
    with pytest.raises(ArgumentError, match=r"the backend nvptx makes PTX and no LTO-IR$"):
        annudf.metric(device_backend="nvptx")(absolute).ltoir(90)
    with pytest.raises(ArgumentError, match=r"makes PTX and no LTO-IR, and output is 'ltoir'; give 'ptx'$"):
        annudf.compile(absolute, "float32(float32)", output="ltoir", device_backend="nvptx")


def test_unknown_backends_are_refused(tmp_path):
    (tmp_path / "l1.mlir").write_text(TEXT)
    calls = (
        lambda: annudf.metric(device_backend="gpu"),
        lambda: annudf.filter(device_backend="gpu"),
        lambda: metrics.get("canberra", device_backend="gpu"),
        lambda: ivf_flat.load_metric(tmp_path / "l1.mlir", device_backend="gpu"),
        lambda: annudf.compile(absolute, "float32(float32)", device_backend="gpu"),
    )
    for call in calls:
        with pytest.raises(ArgumentError, match=REFUSED):
            call()
    with pytest.raises(ArgumentError, match=r"^device_backend is None, it must be 'libnvvm' or 'nvptx'$"):
        annudf.metric(device_backend=None)


def test_the_names_are_those_of_the_compiler():
    with pytest.raises(ArgumentError) as caught:
        _core.compile(TEXT, "l1.mlir", device_backend="gpu")
    assert str(caught.value).endswith(f"the backends are {', '.join(get_args(DeviceBackend))}")


def test_artifacts_have_their_code(tmp_path):
    annudf.metric(absolute).save(tmp_path / "m.annudf", [])
    with pytest.raises(ArgumentError, match=r"^device_backend is 'nvptx', but an artifact is compiled; leave it out$"):
        ivf_flat.load_metric(tmp_path / "m.annudf", device_backend="nvptx")


def test_a_capture_of_that_name_is_bound_later(tmp_path):
    metric = annudf.metric(captures={"device_backend": 2.0})(lambda x, y, acc, ctx: acc + ctx.device_backend * x * y)
    metric.save(tmp_path / "m.annudf", [])
    with pytest.raises(CaptureError, match=r"capture 'device_backend', which is also an argument of load_metric"):
        ivf_flat.load_metric(tmp_path / "m.annudf", device_backend=3.0)
    loaded = ivf_flat.load_metric(tmp_path / "m.annudf").bind(device_backend=3.0)
    assert loaded.captures["device_backend"] == 3


def test_it_is_part_of_the_key_of_code_for_gpus(tmp_path):
    def entries():
        return len(list((tmp_path / "cache").glob("*.annudfc")))

    for backend in ("libnvvm", "nvptx"):
        annudf.metric(device_backend=backend)(absolute).artifact([])
    assert entries() == 1  # Code for hosts is the same.
    nvptx = annudf.metric(device_backend="nvptx")(absolute).artifact(90)
    assert entries() == 2
    assert annudf.metric(device_backend="nvptx")(absolute).artifact(90) is nvptx
    with pytest.raises(UnavailableError):
        annudf.metric(absolute).artifact(90)  # It finds no code of the other backend.


def test_searches_and_pickles_take_it(tmp_path):
    rows = np.arange(12, dtype=np.float32).reshape(6, 2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), rows)
    metric = made(tmp_path)["metric"]
    params = ivf_flat.SearchParams(n_probes=1, metric=metric)
    found = ivf_flat.search(params, index, rows[:1], 2)
    assert found[1].tolist() == [[0, 1]]
    assert payloads(metric.bind().artifact(80)) >= {("ptx", 80)}
    again = pickle.loads(pickle.dumps(metrics.get("canberra", device_backend="nvptx")))
    assert again.artifact().archs == ["sm_75"]


def test_configuration(monkeypatch, capsys):
    found = annudf.show_config("dicts")
    assert found["nvptx_found"]
    assert found["nvptx"].startswith(f"LLVM {found['llvm']}, ")  # And where libdevice is, or that it is missing.
    annudf.show_config()
    assert re.search(r"^NVPTX +LLVM ", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.gpu
def test_searches_on_a_gpu():
    rng = np.random.default_rng(0)
    rows, queries = rng.random((2000, 24), dtype=np.float32), rng.random((50, 24), dtype=np.float32)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=8), rows)
    place = annudf.Resources(device="cuda")
    prices = rng.random(2000, dtype=np.float32)
    cheap = annudf.filter(captures={"price": prices}, device_backend="nvptx")(lambda ctx: ctx.price[ctx.row] < 0.5)
    for metric in (
        annudf.metric(device_backend="nvptx")(absolute),
        metrics.get("canberra", device_backend="nvptx"),
    ):
        params = ivf_flat.SearchParams(n_probes=8, metric=metric)
        for kept in (None, cheap):
            found = ivf_flat.search(params, index, queries, 10, filter=kept, resources=place)
            expected = ivf_flat.search(params, index, queries, 10, filter=kept)
            np.testing.assert_allclose(found[0], expected[0], rtol=1e-5)
            assert (found[1] == expected[1]).mean() > 0.99
