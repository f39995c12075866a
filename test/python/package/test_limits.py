# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The limits that Python checks are those of the core: what is one beyond them the core refuses, naming the same."""

from __future__ import annotations

import inspect
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import annudf
from annudf import (
    ArgumentError,
    CompileError,
    _core,
    brute_force,
    common,
    distance,
    filters,
    ivf_flat,
    metrics,
    neighbors,
)
from annudf._metric.builtin import builtin_metric
from annudf._support import limits
from annudf._support import options as _options
from annudf.neighbors import NearestNeighbors

ROOT = Path(__file__).resolve().parents[3]
ROWS = np.eye(4, dtype=np.float32)


def build(**changes):
    options = {
        "n_lists": 1,
        "metric": "l2",
        "kmeans_n_iters": 1,
        "kmeans_trainset_fraction": 1.0,
        "seed": 1,
        "threads": 1,
    }
    return _core.Index.build(ROWS.ctypes.data, 4, 4, "f32", _core.BuildOptions(**(options | changes)))


def search(k, n_probes):
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), ROWS)
    metric = builtin_metric("sqeuclidean")
    artifact, captures = metric.prepare(annudf._arrays.CPU, index._core, 4)
    ids, distances = np.empty((4, 2000), np.int64), np.empty((4, 2000), np.float32)
    _core.Backend.cpu(1).search(
        index._core, artifact, captures, ROWS.ctypes.data, 4, 4, "f32", k, n_probes, ids.ctypes.data,
        distances.ctypes.data,
    )  # fmt: skip


def filtered(bits):
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), ROWS)
    artifact, captures = ivf_flat.filter(even)._metric.prepare(annudf._arrays.CPU, index._core, 1)
    return _core.Backend.cpu(1).filter(index._core, artifact, captures, bits)


def even(ctx):
    return ctx.row % 2 == 0


@pytest.mark.parametrize(
    ("limit", "call"),
    [
        (_core.MAX_LISTS, lambda beyond: build(n_lists=beyond)),
        (_core.MAX_KMEANS_N_ITERS, lambda beyond: build(kmeans_n_iters=beyond)),
        (_core.MAX_THREADS, lambda beyond: build(threads=beyond)),
        (_core.MAX_THREADS, _core.Backend.cpu),
        (_core.MAX_K, lambda beyond: search(beyond, 1)),
        (_core.MAX_LISTS, lambda beyond: search(1, beyond)),
        (_core.MAX_FILTER_IDS, filtered),
    ],
)
def test_the_core_has_the_same_limit(limit, call):
    with pytest.raises(ArgumentError) as caught:
        call(limit + 1)
    said = caught.value
    assert str(said) == f"{said.argument} is {limit + 1}, it must be {said.allowed}"
    assert said.value == str(limit + 1)
    assert re.search(rf" to {limit}\b", said.allowed)


def test_the_length_of_a_name_is_the_cores():
    def total(x, y, acc):
        return acc + abs(x - y)

    name = "a" * _core.MAX_NAME
    assert ivf_flat.metric(symbol_name=name)(total).name == name
    text = ivf_flat.metric(symbol_name=name)(total).mlir()
    with pytest.raises(CompileError, match=rf"\[M16\] has a name of 256 bytes, more than {_core.MAX_NAME}; shorten it"):
        _core.lower(text.replace(name, name + "a"), "text", "mlir")


def test_the_length_of_a_text_is_the_cores():
    text = "//" + "x" * (_core.MAX_SOURCE_BYTES - 2)
    with pytest.raises(CompileError, match=r"holds no annudf\.metric"):
        _core.lower(text, "text", "mlir")
    with pytest.raises(
        ArgumentError, match=rf"has {_core.MAX_SOURCE_BYTES + 1} bytes; at most {_core.MAX_SOURCE_BYTES} are taken$"
    ):
        _core.lower(text + "x", "text", "mlir")


def of_fields(count):
    """Text of a metric whose accumulator has so many fields."""
    names = [f"%a{number}" for number in range(count)]
    types, arguments = ", ".join(["f32"] * count), ", ".join(f"{name}: f32" for name in names)
    return (
        "annudf.metric @m order(min) coarse(l2) elements(f32) {\n"
        f"  annudf.init {{\n    %c = arith.constant 0.0 : f32\n    annudf.yield {', '.join(['%c'] * count)} : {types}\n  }}\n"
        f"  annudf.update ({arguments}, %x: f32, %y: f32) {{\n    annudf.yield {', '.join(names)} : {types}\n  }}\n"
        f"  annudf.finalize ({arguments}) {{\n    annudf.yield %a0 : f32\n  }}\n"
        "}\n"
    )


def of_extents(count):
    """Text of a metric with a capture of so many extents."""
    return (
        "annudf.metric @m order(min) coarse(l2) elements(f32) {\n"
        f'  %w = annudf.capture "w" : !annudf.capture<{"2 x " * count}f32>\n'
        "  annudf.init {\n    %c = arith.constant 0.0 : f32\n    annudf.yield %c : f32\n  }\n"
        "  annudf.update (%a: f32, %x: f32, %y: f32) {\n"
        f"    %i = arith.constant 0 : index\n    %v = annudf.load %w[{', '.join(['%i'] * count)}] : "
        f"!annudf.capture<{'2 x ' * count}f32>\n"
        "    %n = arith.addf %a, %v : f32\n    annudf.yield %n : f32\n  }\n"
        "}\n"
    )


@pytest.mark.parametrize(
    ("limit", "text", "message"),
    [
        (_core.MAX_FIELDS, of_fields, r"\[H10\] takes an accumulator of 7 fields; the ABI has 6 at most"),
        (_options.MAX_RANK, of_extents, r"\[C8\] .*has 4 extents, more than 3"),
    ],
)
def test_the_verifier_has_the_same_limit(limit, text, message):
    artifact, _ = _core.compile(text(limit), "text", archs=[])
    assert artifact.name == "m"
    with pytest.raises(CompileError, match=message):
        _core.compile(text(limit + 1), "text", archs=[])


def test_the_core_takes_the_limits_themselves():
    assert build(kmeans_n_iters=_core.MAX_KMEANS_N_ITERS, threads=_core.MAX_THREADS, seed=limits.MAX_SEED).size == 4
    with pytest.raises(ArgumentError, match=r"but the index has 4 rows"):
        search(_core.MAX_K, 1)


@pytest.mark.parametrize(
    ("limit", "name", "call"),
    [
        (_core.MAX_LISTS, "n_lists", lambda beyond: ivf_flat.IndexParams(n_lists=beyond)),
        (_core.MAX_KMEANS_N_ITERS, "kmeans_n_iters", lambda beyond: ivf_flat.IndexParams(kmeans_n_iters=beyond)),
        (limits.MAX_SEED, "seed", lambda beyond: ivf_flat.IndexParams(seed=beyond)),
        (_core.MAX_LISTS, "n_probes", lambda beyond: ivf_flat.SearchParams(n_probes=beyond)),
        (_core.MAX_THREADS, "count", annudf.set_num_threads),
        (_core.MAX_K, "n_neighbors", lambda beyond: NearestNeighbors(beyond).fit(ROWS).kneighbors(ROWS)),
    ],
)
def test_python_names_argument_and_limit(limit, name, call):
    with pytest.raises(ArgumentError) as caught:
        call(limit + 1)
    said = caught.value
    assert (said.argument, said.value) == (name, str(limit + 1))
    assert re.match(rf"an integer from [01] to {limit}\b", said.allowed)
    assert str(said) == f"{name} is {limit + 1}, it must be {said.allowed}"
    again = pickle.loads(pickle.dumps(said))
    assert (again.argument, again.value, again.allowed) == (said.argument, said.value, said.allowed)


def documented_defaults():
    """Yields for each public thing its name, a parameter, the default in the docstring and the default in the signature."""
    for module in (annudf, ivf_flat, brute_force, common, distance, filters, metrics, neighbors):
        for name, thing in inspect.getmembers(module, lambda one: inspect.isclass(one) or inspect.isfunction(one)):
            methods = inspect.getmembers(thing, inspect.isfunction) if inspect.isclass(thing) else []
            for path, function in [(name, thing), *((f"{name}.{method}", one) for method, one in methods)]:
                if not any(part.startswith("_") for part in path.split(".")) and thing.__module__.startswith("annudf"):
                    printed = re.findall(r"^(\w+) : .*, default (.+)$", inspect.getdoc(function) or "", re.M)
                    for parameter, default in printed:
                        yield path, parameter, default, inspect.signature(function).parameters[parameter].default


def test_docstrings_print_the_defaults():
    checked = set()
    for path, parameter, printed, default in documented_defaults():
        checked.add((path, parameter))
        shown = {str(default), f'"{default}"', getattr(default, "__name__", ""), str(default).removesuffix(".0")}
        assert printed in shown, f"{path}: {parameter} is {default!r} by default, the docstring says {printed}"
    assert {
        ("SearchParams", "n_probes"),
        ("IndexParams", "n_lists"),
        ("tune_n_probes", "recall"),
        ("evaluate", "k"),
    } <= checked
    assert len(checked) > 50


def test_pages_print_the_defaults():
    page = (ROOT / "docs/use/nearest-neighbors.md").read_text()
    assert f"by default {_core.DEFAULT_RECALL}. " in page


def test_threads_are_no_bool():
    with pytest.raises(ArgumentError, match=r"^count is True, it must be an integer from 0 to 1024, 0 for all cores$"):
        annudf.set_num_threads(True)


@pytest.mark.parametrize(
    "device", [2**31, -1, "cuda:2147483648", "cuda:\uff11", "cuda:99999999999999999999", 10**5000], ids=range(6)
)
def test_devices(device):
    with pytest.raises(ArgumentError, match=r"^device is .*, it must be 'cpu', 'cuda', 'cuda:N' or the number of a"):
        annudf.Resources(device=device)


def test_streams():
    assert annudf.Resources(stream=2**64 - 1).stream == 2**64 - 1
    for stream in (-1, 2**64, 10**5000):
        with pytest.raises(ArgumentError, match=r"^stream is .*, which is no address of a CUstream$"):
            annudf.Resources(stream=stream)


@annudf.device_function
def doubled(v):
    return v + v


MERGED = (np.zeros((1, 1, 1), np.float32), np.zeros((1, 1, 1), np.int64))
INDEX = ivf_flat.IndexParams(n_lists=1)

CHOICES = {
    "on_nan": lambda value: ivf_flat.SearchParams(on_nan=value),
    "order": lambda value: neighbors.knn_merge_parts(*MERGED, order=value),
    "numerics": lambda value: annudf.metric(numerics=value)(lambda x, y, acc: acc + x * y),
    "coarse_metric": lambda value: annudf.metric(coarse_metric=value)(lambda x, y, acc: acc + x * y),
    "mode": annudf.show_config,
    "abi": lambda value: doubled.mlir("float32(float32)", abi=value),
    "level": annudf.set_log_level,
    "device": lambda value: annudf.Resources(device=value),
    "metric_arg": lambda value: ivf_flat.SearchParams(metric_arg=value),
    "n_lists": lambda value: NearestNeighbors(n_lists=value).fit(ROWS),
    "shape": lambda value: common.device_ndarray.empty([value, 0]),
    "allow_non_finite": lambda value: annudf.metric(allow_non_finite=value)(lambda x, y, acc: acc + x * y),
    "arch": lambda value: metrics.get("l1").artifact([value]),
    "output": lambda value: annudf.compile(lambda v: v, "float32(float32)", output=value),
    "kmeans_trainset_fraction": lambda value: ivf_flat.IndexParams(kmeans_trainset_fraction=value),
    "recall": lambda value: NearestNeighbors(recall=value).fit(ROWS),
    "filename": lambda value: ivf_flat.save(value, ivf_flat.build(INDEX, ROWS)),
}


@pytest.mark.parametrize("value", [np.zeros(2), np.zeros(0), [1.5], {}], ids=str)
@pytest.mark.parametrize("name", CHOICES)
def test_what_is_no_choice(name, value):
    with pytest.raises(ArgumentError) as told:
        CHOICES[name](value)
    error = told.value
    assert error.argument == name
    assert str(error) == f"{name} is {error.value}, it must be {error.allowed}"


@pytest.mark.parametrize("extents", [1.5, None, len], ids=str)
def test_extents_are_several(extents):
    with pytest.raises(annudf.CaptureError, match=r"^extents has .*; an extent is 'dim', 'row', 'query' or a positive"):
        ivf_flat.capture(np.ones(2, np.float32), extents=extents)
