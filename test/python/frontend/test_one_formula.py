# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""One formula from text, from Python and from C++: equal distances, to the bit, on every element type.

The text is test/cpp/formulas/*.mlir; the C++ is test/cpp/formulas/Formulas.cpp, a program that searches through
annudf.hpp by itself and writes the text that it traced, which is searched here once more. Coordinates are small whole
numbers, so that every product and sum is exact and nothing depends on what is fused; of `sizes`, in which nothing can
be fused, fractions too. What the GPU computes is what the CPU computes.
"""

from __future__ import annotations

import math
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from annudf import PackedBits, Resources, ivf_flat
from annudf._metric.metric import Metric
from annudf._metric.recorded import TextDefinition
from annudf.distance import pairwise_distance
from annudf.filters._code import CodeFilter

ml_dtypes = pytest.importorskip("ml_dtypes", reason="one formula is NOT compared from text, Python and C++")

TEXTS = Path(__file__).parents[2] / "cpp" / "formulas"
DIMS, QUERIES, ROWS = 24, 7, 40
WEIGHTS = (np.arange(DIMS) % 5 + 1).astype(np.float32) / 4
PRICES = (np.arange(ROWS) * 7 % 10).astype(np.float32) / 8
TYPES = {
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "i8": np.dtype(np.int8),
    "u8": np.dtype(np.uint8),
    "bits": np.dtype(np.uint8),
}


class Differences(NamedTuple):
    sizes: np.int32
    ones: np.uint32


@ivf_flat.metric
def sizes(x, y, acc, ctx):
    return acc + abs(x - y)


@ivf_flat.metric
def squares(x, y, acc, ctx):
    d = x - y
    return acc + d * d


@ivf_flat.metric(captures={"w": WEIGHTS})
def weighted(x, y, acc, ctx):
    d = x - y
    return acc + ctx.w[ctx.dim] * d * d


@ivf_flat.metric(
    initial=(0.0, 0.0, 0.0), coarse_metric="cosine", finalize=lambda acc: 1 - acc[0] / math.sqrt(acc[1] * acc[2])
)
def angle(x, y, acc, ctx):
    return acc[0] + x * y, acc[1] + x * x, acc[2] + y * y


@ivf_flat.metric(dtype=np.int32, initial=Differences(0, 0), finalize=lambda acc: acc.sizes * 64 + acc.ones)
def differences(x, y, acc, ctx):
    return Differences(acc.sizes + abs(x - y), acc.ones + np.bitwise_count((x ^ y) & 255))


@ivf_flat.filter(captures={"price": PRICES, "most": 0.5})
def affordable(ctx):
    return ctx.price[ctx.row] <= ctx.most and ctx.row != 7


METRICS = {one.name: one for one in (sizes, squares, weighted, angle, differences)}
CAPTURES = {"weighted": {"w": WEIGHTS}}
CASES = [(name, of) for name in METRICS for of in TYPES if name != "differences" or of in ("i8", "u8", "bits")]


def whole(rows: int, of: str, seed: int) -> np.ndarray:
    """Whole numbers of a type, of bits packed ones; no row is all 0."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0 if of in ("u8", "bits") else -8, 2 if of == "bits" else 9, (rows, DIMS))
    values[:, 0] = 1
    return np.packbits(values, axis=1, bitorder="little") if of == "bits" else values.astype(TYPES[of])


def fractions(rows: int, of: str, seed: int) -> np.ndarray:
    """Numbers whose sums are rounded."""
    if of in ("i8", "u8", "bits"):
        return whole(rows, of, seed)
    return np.random.default_rng(seed).standard_normal((rows, DIMS)).astype(TYPES[of])


def ran(folder: Path, make, *options: str) -> Path:
    """The folder after the C++ program has written what it computes."""
    program = Path(os.environ.get("ANNUDF_BUILD_DIR", "."), "test", "cpp", "formulas", "annudf_formulas")
    if not program.exists():
        pytest.skip(f"{program} is not built: C++ is NOT compared with Python and text")
    for of in TYPES:
        make(QUERIES, of, 1).tofile(folder / f"{of}.x")
        make(ROWS, of, 2).tofile(folder / f"{of}.y")
    WEIGHTS.tofile(folder / "weights")
    PRICES.tofile(folder / "prices")
    done = subprocess.run([program, folder, str(DIMS), *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def of_whole(tmp_path_factory):
    return ran(tmp_path_factory.mktemp("whole"), whole)


@pytest.fixture(scope="module")
def of_fractions(tmp_path_factory):
    return ran(tmp_path_factory.mktemp("fractions"), fractions)


@pytest.fixture(scope="module")
def of_whole_on_gpu(tmp_path_factory):
    return ran(tmp_path_factory.mktemp("whole-gpu"), whole, "cuda")


@pytest.fixture(scope="module")
def of_fractions_on_gpu(tmp_path_factory):
    return ran(tmp_path_factory.mktemp("fractions-gpu"), fractions, "cuda")


def distances(metric: Metric, of: str, make, place: Resources | None) -> np.ndarray:
    x, y = make(QUERIES, of, 1), make(ROWS, of, 2)
    if of == "bits":
        x, y = PackedBits(x), PackedBits(y)
    return pairwise_distance(x, y, metric=metric, resources=place)


def check_metric(name: str, of: str, folder: Path, make, place: Resources | None = None) -> None:
    """Compares bits: text, what C++ traced, what C++ computed, and Python; then with the CPU."""
    expected = distances(METRICS[name], of, make, place)
    assert np.isfinite(expected).all() and len(np.unique(expected)) > 5
    for source in (TEXTS, folder):
        metric = ivf_flat.load_metric(source / f"{name}.mlir", **CAPTURES.get(name, {}))
        assert_array_equal(distances(metric, of, make, place).view(np.uint32), expected.view(np.uint32), str(source))
    cpp = np.fromfile(folder / f"{name}.{of}", np.float32).reshape(QUERIES, ROWS)
    assert_array_equal(cpp.view(np.uint32), expected.view(np.uint32), "annudf.hpp")
    if place is not None:
        on_cpu = distances(METRICS[name], of, make, None)
        assert_array_equal(expected.view(np.uint32), on_cpu.view(np.uint32), "the CPU")


def found(keep: CodeFilter, of: str, place: Resources | None) -> np.ndarray:
    x, y = whole(QUERIES, of, 1), whole(ROWS, of, 2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), PackedBits(y) if of == "bits" else y)
    return ivf_flat.search(ivf_flat.SearchParams(n_probes=1), index, x, ROWS, filter=keep, resources=place)[1]


def check_filter(of: str, folder: Path, place: Resources | None = None) -> None:
    kept = np.flatnonzero((PRICES <= 0.5) & (np.arange(ROWS) != 7))
    expected = found(affordable, of, place)
    assert_array_equal(np.sort(expected[:, : len(kept)], axis=1), np.tile(kept, (QUERIES, 1)))
    assert (expected[:, len(kept) :] == -1).all()
    for source in (TEXTS, folder):
        text = (source / "affordable.mlir").read_text(encoding="utf-8")
        keep = CodeFilter(Metric(TextDefinition(text, str(source), ""), {})).bind(price=PRICES, most=0.5)
        assert_array_equal(found(keep, of, place), expected, str(source))
    cpp = np.fromfile(folder / f"affordable.{of}", np.int64).reshape(QUERIES, ROWS)
    assert_array_equal(cpp, expected, "annudf.hpp")


@pytest.mark.parametrize(("name", "of"), CASES)
def test_metric(name, of, of_whole):
    check_metric(name, of, of_whole, whole)


@pytest.mark.parametrize("of", TYPES)
def test_fractions(of, of_fractions):
    check_metric("sizes", of, of_fractions, fractions)


@pytest.mark.parametrize("of", TYPES)
def test_filter(of, of_whole):
    check_filter(of, of_whole)


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "of"), CASES)
def test_metric_on_gpu(name, of, of_whole_on_gpu):
    check_metric(name, of, of_whole_on_gpu, whole, Resources(device="cuda"))


@pytest.mark.gpu
@pytest.mark.parametrize("of", TYPES)
def test_fractions_on_gpu(of, of_fractions_on_gpu):
    check_metric("sizes", of, of_fractions_on_gpu, fractions, Resources(device="cuda"))


@pytest.mark.gpu
@pytest.mark.parametrize("of", TYPES)
def test_filter_on_gpu(of, of_whole_on_gpu):
    check_filter(of, of_whole_on_gpu, Resources(device="cuda"))
