# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What the cache of compiled metrics tells apart, and what it does not: one entry on disk for each that differs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from annudf import ivf_flat
from annudf._metric import definition, identity, recorded

ROOT = Path(__file__).resolve().parents[3]
W = np.ones(4, np.float32)


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Gives the names of the entries; every compilation of the test is a new one to this process."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("ANNUDF_CACHE_DIR", str(folder))
    monkeypatch.delenv("ANNUDF_CACHE_DISABLE", raising=False)

    def names():
        monkeypatch.setattr(definition, "_memory", type(definition._memory)())
        return {path.name for path in folder.iterdir()} if folder.exists() else set()

    names()
    return names


def compiled(stored, metric, archs=()):
    """The entries that compiling `metric` adds."""
    before = stored()
    metric.artifact(archs)
    return stored() - before


def function(x, y, acc, ctx):
    return acc + abs(x - y)


def root(acc, ctx):
    return acc + 1


def half(acc, ctx):
    return acc - 1


OPTIONS = [
    {},
    {"symbol_name": "other"},
    {"order": "max"},
    {"initial": 1.0},
    {"initial": -0.0},
    {"coarse_metric": "inner_product"},
    {"coarse_order": "max"},
    {"finalize": root},
    {"finalize": half},
    {"dtype": "float64"},
    {"dtype": "int32"},
    {"accumulator": "float64"},
    {"elements": ["float32"]},
    {"elements": ["float32", "int8"]},
    {"captures": {"w": W}},
    {"captures": {"v": W}},
    {"captures": {"w": 1.0}},
    {"captures": {"w": 1}},
    {"captures": {"w": np.float64(1)}},
    {"captures": {"w": W.astype(np.float64)}},
    {"captures": {"w": W.astype(np.uint32)}},
    {"captures": {"w": W.astype(np.float16)}},
    {"captures": {"w": W.astype(bool)}},
    {"captures": {"w": W, "v": W}},
    {"captures": {"v": W, "w": W}},
]


def test_options_and_types_of_captures(stored):
    for options in OPTIONS:
        assert len(compiled(stored, ivf_flat.metric(**options)(function))) == 1, options
    assert len(stored()) == len(OPTIONS)
    for options in OPTIONS:
        assert not compiled(stored, ivf_flat.metric(**options)(function)), options


def test_what_makes_no_other_code(stored):
    assert len(compiled(stored, ivf_flat.metric(captures={"w": W})(function))) == 1
    for same in (
        {"captures": {"w": 2 * W}},
        {"captures": {"w": np.full(9, np.inf, np.float32)}, "allow_non_finite": True},
        {"captures": {"w": [1.0] * 4}},
        {"captures": {"w": W}, "coarse_metric": "euclidean"},
        {"captures": {"w": W}, "initial": 0},
        {"captures": {"w": W}, "elements": [np.float32, "float16", np.int8, "uint8", "int8", "bfloat16", "bits"]},
    ):
        assert not compiled(stored, ivf_flat.metric(**same)(function)), same


LIMIT = 1.0


def clipped(d):
    return min(abs(d), LIMIT)


def via_helper(x, y, acc, ctx):
    return acc + clipped(x - y)


def test_values_that_helpers_read(stored, monkeypatch):
    def result():
        metric = ivf_flat.metric(via_helper)
        added = compiled(stored, metric)
        index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), np.full((1, 1), 9, np.float32))
        params = ivf_flat.SearchParams(n_probes=1, metric=metric)
        return len(added), ivf_flat.search(params, index, np.zeros((1, 1), np.float32), 1)[0].item()

    assert result() == (1, 1.0)
    assert result() == (0, 1.0)
    monkeypatch.setitem(globals(), "LIMIT", 2.0)
    assert result() == (1, 2.0)
    # An int is another type than the float that equals it.
    monkeypatch.setitem(globals(), "LIMIT", 2)
    assert result() == (1, 2.0)
    monkeypatch.setitem(globals(), "LIMIT", np.float32(2))
    assert result() == (1, 2.0)
    monkeypatch.setitem(globals(), "LIMIT", 1.0)
    assert result() == (0, 1.0)
    monkeypatch.setitem(globals(), "clipped", lambda d: abs(d) + 1)
    assert result() == (1, 10.0)


def test_values_in_closures_and_defaults(stored):
    def make(scale, shift):
        def made(d, by=shift):
            return d * scale + by

        @ivf_flat.metric
        def update(x, y, acc, ctx):
            return acc + made(x - y)

        return update

    for arguments in ((1.0, 1.0), (2.0, 1.0), (1.0, 2.0)):
        assert len(compiled(stored, make(*arguments))) == 1, arguments
        assert not compiled(stored, make(*arguments)), arguments


def test_text_its_name_and_targets(stored):
    text = ivf_flat.metric(function).mlir()
    stored()
    metrics = [
        recorded.TextDefinition(text, "one.mlir"),
        recorded.TextDefinition(text, "two.mlir"),
        recorded.TextDefinition(text, "one.mlir", "function"),
        recorded.TextDefinition(text.replace("order(min)", "order(max)"), "one.mlir"),
    ]
    for one in metrics:
        assert len(compiled(stored, ivf_flat.Metric(one, {}))) == 1
    assert len(stored()) == len(metrics)


def test_cuda_source():
    def key(source="float update(float a, float x, float y) { return a; }", **options):
        return ivf_flat.cuda_source_metric(source, **options)._definition._key()

    options = [
        *({"symbol_name": "other"}, {"order": "max"}, {"initial": 1.0}, {"coarse_metric": "inner_product"}),
        *({"coarse_order": "max"}, {"dtype": "float32"}, {"dtype": "int32"}, {"accumulator": "float64"}),
        # All elements are more than those that the source can hold.
        {"elements": ["float32", "float16", "bfloat16", "int8", "uint8", "bits"]},
        *({"elements": ["int8"]}, {"captures": {"w": W}}, {"captures": {"v": W}}, {"captures": {"w": 1.0}}),
        {"source": "float update(float a, float x, float y) { return x; }"},
    ]
    assert len({key(), *(key(**one) for one in options)}) == len(options) + 1
    assert key(captures={"w": W}) == key(captures={"w": 2 * W})


# --- Libraries --------------------------------------------------------------------------------------


def variables_of_the_compiler():
    """Environment variables that the search for NVIDIA's libraries reads, out of its sources."""
    names = re.findall(r'"([A-Z_]{4,})"', (ROOT / "lib/Support/CudaFiles.cpp").read_text())
    for path in (ROOT / "lib/Target").rglob("*.cpp"):
        names += re.findall(r'cudaLibraryCandidates\(\s*"[^"]+",\s*"([A-Z_]+)"', path.read_text())
    return sorted(set(names))


def test_every_variable_that_chooses_a_library_is_in_the_key():
    assert "ANNUDF_LIBNVVM" in variables_of_the_compiler()
    assert variables_of_the_compiler() == list(identity.LIBRARY_VARIABLES)


@pytest.mark.parametrize("name", identity.LIBRARY_VARIABLES)
def test_other_libraries_are_other_entries(stored, monkeypatch, tmp_path, name):
    metric = ivf_flat.metric(function)
    assert len(compiled(stored, metric)) == 1
    monkeypatch.setenv(name, str(tmp_path))
    assert len(compiled(stored, ivf_flat.metric(function))) == 1
    assert not compiled(stored, ivf_flat.metric(function))
