# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of half precision in a metric, which some processors have no instructions for."""

from pathlib import Path

import numpy as np

from annudf import ivf_flat

TEXT = """
annudf.metric @halves order(min) coarse(l2) elements(f32) {
  annudf.init {
    %zero = arith.constant 0.0 : f64
    annudf.yield %zero : f64
  }
  annudf.update (%acc: f64, %x: f64, %y: f64) {
    %diff = arith.subf %x, %y : f64
    %half = arith.truncf %diff : f64 to f16
    %wide = arith.extf %half : f16 to f64
    %square = arith.mulf %wide, %wide : f64
    %next = arith.addf %acc, %square : f64
    annudf.yield %next : f64
  }
}
"""


def test_differences_rounded_to_half_precision(tmp_path: Path) -> None:
    file = tmp_path / "halves.mlir"
    file.write_text(TEXT)
    random = np.random.default_rng(1)
    base = random.normal(size=(200, 7)).astype(np.float32)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), base)
    params = ivf_flat.SearchParams(n_probes=1, metric=ivf_flat.load_metric(file))
    distances, neighbors = ivf_flat.search(params, index, base[:5], 200)
    halves = (base[:5, None].astype(float) - base.astype(float)).astype(np.float16).astype(float)
    want = (halves**2).sum(axis=2)
    order = np.argsort(want, axis=1, kind="stable")
    np.testing.assert_array_equal(neighbors, order)
    np.testing.assert_allclose(distances, np.take_along_axis(want, order, axis=1), rtol=1e-6)
