# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Filters of code in files: saved and loaded, from text, and told apart from metrics."""

from __future__ import annotations

import pytest
from code_filters import EXAMPLE, affordable, build, check, prices, search

from annudf import ArgumentError, CaptureError, InputError, UnavailableError, ivf_flat, metrics


@pytest.fixture(scope="module")
def index():
    return build()


def test_a_filter_is_no_metric(index, tmp_path):
    """As an artifact, and as text, which only a search compiles."""
    text = affordable.mlir()
    (tmp_path / "affordable.mlir").write_text(text)
    metric = ivf_flat.load_metric(tmp_path / "affordable.mlir", price=prices, most=20.0)
    with pytest.raises(ArgumentError, match=r"filter 'affordable' \(.*\) gives no distances; search with a metric"):
        search(index, None, metric=metric)
    metric.save(tmp_path / "affordable.annudf")
    message = r"holds filter 'affordable', which gives no distances; load it by ivf_flat\.load_filter$"
    with pytest.raises(ArgumentError, match=message):
        ivf_flat.load_metric(tmp_path / "affordable.annudf")


def test_save_and_load(index, tmp_path):
    path = tmp_path / "affordable.annudf"
    affordable.save(path)
    assert path.read_bytes() == affordable.artifact().to_bytes()
    loaded = ivf_flat.load_filter(path)
    assert repr(loaded) == "<annudf filter affordable (price: unbound, most: unbound)>"
    with pytest.raises(CaptureError, match=r"capture 'price' \(row x f32\) of filter 'affordable' has no value"):
        search(index, loaded)
    check(index, loaded.bind(price=prices, most=30.0), prices <= 30)
    check(index, ~ivf_flat.load_filter(str(path), price=prices, most=30.0), prices > 30)
    with pytest.raises(TypeError, match="filter 'affordable' was not made from a Python function here"):
        loaded(None)
    with pytest.raises(UnavailableError, match=r"^filter 'affordable' of .* its mlir needs its source"):
        loaded.mlir()
    with pytest.raises(ArgumentError, match=r"name is 'x', but an artifact holds one filter; leave it out"):
        ivf_flat.load_filter(path, name="x")
    with pytest.raises(ArgumentError, match=r"name is 7, it must be the name of a filter"):
        ivf_flat.load_filter(path, name=7)
    with pytest.raises(CaptureError, match=r"filter 'affordable' has no capture 'v'; it has 'price', 'most'"):
        ivf_flat.load_filter(path, v=1)
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(InputError, match=r"affordable\.annudf"):
        ivf_flat.load_filter(path)


def test_load_text_of_the_dialect(index, tmp_path):
    given = {"price": prices, "most": 30.0}
    check(index, ivf_flat.load_filter(EXAMPLE, **given), prices <= 30)
    several = tmp_path / "several.mlir"
    several.write_text(EXAMPLE.read_text() + EXAMPLE.read_text().replace("@affordable", "@other"))
    check(index, ivf_flat.load_filter(several, name="other", **given), prices <= 30)


def test_a_file_of_a_metric_is_no_filter(index, tmp_path):
    metrics.get("cityblock").save(tmp_path / "l1.annudf")
    message = r"holds metric 'l1', which is no filter; load it by ivf_flat\.load_metric$"
    with pytest.raises(ArgumentError, match=message):
        ivf_flat.load_filter(tmp_path / "l1.annudf")
    (tmp_path / "l1.mlir").write_text(metrics.get("cityblock").mlir())  # Known once it is compiled.
    with pytest.raises(InputError, match=r"metric 'l1' \(.*\) gives distances and cannot filter"):
        search(index, ivf_flat.load_filter(tmp_path / "l1.mlir"))
