# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Files and pickles of indexes."""

from __future__ import annotations

import copy
import os
import pickle

import numpy as np
import pytest

from annudf import ArgumentError, InputError, UnavailableError, ivf_flat
from reference import vectors


def search(index, queries, k=5, **params):
    return ivf_flat.search(ivf_flat.SearchParams(n_probes=index.n_lists, **params), index, queries, k)


GOOD = vectors(50, 4, "float32", 2)


def test_a_pickle_with_another_metric():
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=2, metric="euclidean"), np.eye(4, dtype=np.float32))
    make, (data, metric) = index.__reduce__()
    assert make(data, metric).metric == "euclidean"
    for wrong in ("zzz", "cosine", None, []):
        with pytest.raises(InputError) as caught:
            make(data, wrong)
        assert str(caught.value) == f"pickled index: its metric is {wrong!r}, but its lists are those of 'sqeuclidean'"


@pytest.mark.parametrize("metric", ["sqeuclidean", "euclidean", "inner_product"])
def test_save_and_load(tmp_path, metric, caplog):
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4, metric=metric), GOOD)
    path = tmp_path / "index"
    ivf_flat.save(path, index)
    told = "the file does not keep that the metric is 'euclidean'; load it with metric='euclidean'"
    assert (told in caplog.text) == (metric == "euclidean")
    loaded = ivf_flat.load(str(path), metric=metric)
    assert loaded.metric == metric
    for one, two in zip(search(index, GOOD), search(loaded, GOOD), strict=True):
        np.testing.assert_array_equal(one, two)
    assert ivf_flat.load(path).metric == ("sqeuclidean" if metric == "euclidean" else metric)
    if metric != "inner_product":
        with pytest.raises(ArgumentError, match=r"metric is 'inner_product', but the lists of .* clustered by 'l2'"):
            ivf_flat.load(path, metric="inner_product")
    with pytest.raises(ArgumentError, match=r"include_dataset=False is not available"):
        ivf_flat.save(path, index, include_dataset=False)


def test_paths(tmp_path):
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), GOOD)
    path = bytes(tmp_path / "index")
    ivf_flat.save(path, index)
    assert len(ivf_flat.load(path)) == len(GOOD)
    for call, name in (
        (lambda: ivf_flat.save(3, index), "filename"),
        (lambda: ivf_flat.load(3), "filename"),
        (lambda: ivf_flat.load_metric(3), "path"),
        (lambda: ivf_flat.metric(lambda x, y, acc: acc + x * y).save(3), "path"),
    ):
        with pytest.raises(ArgumentError, match=rf"^{name} is 3, it must be a path: str, bytes or os.PathLike$"):
            call()
    with pytest.raises(ArgumentError, match=r"null character"):
        ivf_flat.load("index\0")


def test_names_of_files_need_not_be_utf8(tmp_path):
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), GOOD)
    metric = ivf_flat.metric(lambda x, y, acc: acc + x * y)
    folder = os.fsencode(tmp_path)
    try:
        ivf_flat.save(folder + b"/\xff.ivf", index)
    except UnavailableError:
        pytest.skip("this file system has UTF-8 names only")
    metric.save(folder + b"/\xff.annudf")
    (tmp_path / "\udcff.mlir").write_text(metric.mlir())
    assert sorted(os.listdir(folder)) == [b"\xff.annudf", b"\xff.ivf", b"\xff.mlir"]
    for path in (folder + b"/\xff", str(tmp_path / "\udcff")):
        ends = [b".ivf", b".annudf", b".mlir"] if isinstance(path, bytes) else [".ivf", ".annudf", ".mlir"]
        assert len(ivf_flat.load(path + ends[0])) == len(GOOD)
        for end in ends[1:]:
            loaded = ivf_flat.load_metric(path + end)
            np.testing.assert_array_equal(search(index, GOOD, metric=loaded)[1], search(index, GOOD, metric=metric)[1])
    for call, error, text in (
        (lambda: ivf_flat.load(folder + b"/\xfe"), InputError, r"/\xfe: cannot open: No such file or directory"),
        (lambda: ivf_flat.load_metric(folder + b"/\xfe"), InputError, r"/\xfe: cannot open: No such file or directory"),
        (lambda: ivf_flat.load_metric(folder + b"/\xfe.mlir"), InputError, r"/\xfe.mlir: cannot be read: "),
        (lambda: ivf_flat.save(folder + b"/\xfe/x", index), UnavailableError, r"/\xfe/x: cannot write: "),
        (
            lambda: ivf_flat.load("/tmp/\ud800"),
            ArgumentError,
            r"filename is '/tmp/\ud800', which has characters that file names",
        ),
        (lambda: ivf_flat.save("~nosuchuser/x", index), UnavailableError, "~nosuchuser/x: cannot write: "),
        (lambda: ivf_flat.load("~nosuchuser/x"), InputError, "~nosuchuser/x: cannot open: "),
    ):
        with pytest.raises(error) as caught:
            call()
        assert text in str(caught.value)
        str(caught.value).encode()


def test_damaged_files(tmp_path):
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=4), GOOD)
    path = tmp_path / "index"
    ivf_flat.save(path, index)
    data = path.read_bytes()
    for damaged in (b"", data[:100], data[:-1], b"x" + data[1:], data[:300] + bytes([data[300] ^ 1]) + data[301:]):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"index"):
            ivf_flat.load(path)
    with pytest.raises(InputError, match=r"missing"):
        ivf_flat.load(tmp_path / "missing")
    with pytest.raises(UnavailableError):
        ivf_flat.save(tmp_path / "no" / "folder", index)


def test_pickle():
    index = ivf_flat.extend(ivf_flat.build(ivf_flat.IndexParams(n_lists=4, metric="euclidean"), GOOD), GOOD[:3])
    for other in (pickle.loads(pickle.dumps(index)), copy.deepcopy(index)):
        assert repr(other) == repr(index)
        for one, two in zip(search(index, GOOD), search(other, GOOD), strict=True):
            np.testing.assert_array_equal(one, two)
