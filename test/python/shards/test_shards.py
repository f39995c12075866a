# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Shards in one process, without Dask: training, requests, errors and manifests."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import annudf
from annudf import ivf_flat
from annudf._shards import files, goal, request, shard
from annudf.errors import ArgumentError, InputError
from reference import vectors

VERSION = annudf.__version__
RUNTIME = Path(__file__).resolve().parents[3] / "runtime"


@annudf.metric(captures={"factor": 1.0})
def scaled(x, y, acc, ctx):
    return acc + ctx.factor * abs(x - y)


def params(n_lists, **more):
    return ivf_flat.IndexParams(n_lists=n_lists, **more)


def trained(index_params, rows):
    return pickle.loads(shard.train(VERSION, index_params, [rows]))


def test_rows_that_shards_train_on():
    few = shard.training_rows(params(12, kmeans_trainset_fraction=0.01), 100)
    assert len(few) == 12, "a row a list at least"
    many = shard.training_rows(params(2), 10**9)
    assert len(many) == 512 and (np.diff(many) > 0).all() and many[-1] < 10**9
    assert (many == shard.training_rows(params(2), 10**9)).all()
    assert (many != shard.training_rows(params(2, seed=2), 10**9)).any()
    assert (shard.training_rows(params(2, kmeans_trainset_fraction=1), 9) == np.arange(9)).all()


def test_centers_are_of_as_many_rows_as_the_trainer_takes():
    """The center of one list is the mean of the rows, of which each has a dimension of its own."""
    base, one = np.eye(400, dtype=np.float32), params(1, kmeans_trainset_fraction=1.0)
    whole = ivf_flat.build(one, base)
    rows = shard.training_rows(one, len(base))
    assert np.count_nonzero(whole.centers) == len(rows) == shard._ROWS_PER_LIST
    assert (np.flatnonzero(trained(one, base[rows]).centers[0]) == rows).all()


def test_shards_train_by_all_parameters(monkeypatch):
    """Each has a value that is not the default, if there is one."""
    given = {
        "n_lists": 3,
        "metric": "cosine",
        "metric_arg": 2.0,
        "kmeans_n_iters": 7,
        "kmeans_trainset_fraction": 0.75,
        "adaptive_centers": True,
        "add_data_on_build": False,
        "missing_values": True,
        "conservative_memory_allocation": True,
        "seed": 5,
    }
    assert list(given) == list(inspect.signature(ivf_flat.IndexParams).parameters)
    seen = []
    monkeypatch.setattr(shard, "build", lambda index_params, rows, progress: seen.append(index_params))
    shard.train(VERSION, ivf_flat.IndexParams(**given), [np.eye(9, dtype=np.float32)])
    expected = {**given, "kmeans_trainset_fraction": 1.0, "add_data_on_build": False}
    assert {name: getattr(seen[0], name) for name in given} == expected


def test_errors_of_shards_keep_their_parts():
    base = vectors(20, 4, "float32", 1)
    start = shard.train(VERSION, params(2), [base])
    with pytest.raises(ArgumentError, match=r"ids\[1\] is -1; .* \(of the shard of rows 5 to 7\)") as caught:
        shard.make(VERSION, start, [(5, 8)], [base[5:8]], [np.array([1, -1, 3])], {})
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert (error.argument, error.value, error.allowed) == ("ids", "-1", "0 or above")


def test_a_search_keeps_its_metric_while_others_push_it_out():
    base, queries = vectors(60, 5, "float32", 2), vectors(4, 5, "float32", 3)
    index = ivf_flat.build(params(2), base)
    part = shard.Shard(index, [(0, 60)])

    def asked(factor):
        search = ivf_flat.SearchParams(n_probes=2, metric=scaled.bind(factor=factor))
        asks, sent = request.request_of(search, search.metric, annudf.filters.from_mask(np.arange(60) % 2 == 0), 5)
        return asks, list(sent.values())

    first, sent = asked(2.0)
    code = request.resolve(first, sent)
    assert code == request.resolve(first, [])
    for number in range(request.MOST_KNOWN - 2):  # The filter is of all of them.
        assert request.resolve(*asked(3.0 + number)) is not None
    assert request.resolve(first, sent) == code, "which makes it the last that is forgotten"
    assert request.resolve(*asked(1.5)) and request.resolve(first, []) == code
    for number in range(request.MOST_KNOWN):
        request.resolve(*asked(100.0 + number))
    assert len(request._known) == request.MOST_KNOWN
    assert request.resolve(first, []) is None and request.resolve(first, sent[1:]) is None
    found = request.search_shard(first, code, queries, part)
    keep = np.arange(60) % 2 == 0
    expected = ivf_flat.search(
        ivf_flat.SearchParams(n_probes=2, metric=scaled.bind(factor=2.0)), index, queries, 5, filter=keep
    )
    assert (found.distances == expected[0]).all() and (found.ids == expected[1]).all()


SHARD = {"file": "shard-00000-0.ivf", "sha256": "0", "bytes": 9, "rows": 7, "ranges": [[0, 3], [6, 10]], "centers": "c"}
WHOLE = {
    "annudf": VERSION,
    "metric": "sqeuclidean",
    "n_lists": 3,
    "dim": 9,
    "dtype": "float32",
    "columns": {"price": "float32"},
    "shards": [SHARD],
}
SHARDS = {
    "no dict": (1, r"has no 'shards\[0\]' of the form"),
    "no file": ({"file": None}, r"has no 'shards\[0\].file' of the form"),
    "bool": ({"rows": True}, r"has no 'shards\[0\].rows' of the form"),
    "no ranges": ({"rows": 0, "ranges": []}, r"has no 'shards\[0\].ranges' of the form"),
    "number": ({"ranges": [3]}, r"has no 'shards\[0\].ranges\[0\]' of the form"),
    "three": ({"ranges": [[0, 3], [0, 1, 2]]}, r"has no 'shards\[0\].ranges\[1\]' of the form"),
    "text": ({"ranges": [["0", "7"]]}, r"has no 'shards\[0\].ranges\[0\]' of the form"),
    "fraction": ({"ranges": [[0, 7.0]]}, r"has no 'shards\[0\].ranges\[0\]' of the form"),
    "backwards": ({"ranges": [[7, 0]]}, r"has no 'shards\[0\].ranges\[0\]' of the form"),
    "empty": ({"ranges": [[0, 7], [9, 9]]}, r"has no 'shards\[0\].ranges\[1\]' of the form"),
    "negative": ({"ranges": [[-1, 6]]}, r"has no 'shards\[0\].ranges\[0\]' of the form"),
    "sum": ({"ranges": [[0, 3], [6, 9]]}, r"shards\[0\] has 7 rows, its ranges have 6"),
    "outside": ({"file": "../x"}, "names a file outside the folder"),
}
MANIFESTS = {
    "dim": ({"dim": "9"}, "has no 'dim' of the form"),
    "metric": ({"metric": "l7"}, "has no 'metric' of the form"),
    "dtype": ({"dtype": "int64"}, "has no 'dtype' of the form"),
    "column": ({"columns": {"price": [1]}}, "has no 'columns.price' of the form"),
    "no shards": ({"shards": []}, "has no 'shards' of the form"),
    "centers": ({"shards": [SHARD, {**SHARD, "centers": "d"}]}, "different centers"),
    **{
        f"shard {name}": ({"shards": [{**SHARD, **change} if isinstance(change, dict) else change]}, text)
        for name, (change, text) in SHARDS.items()
    },
}


@pytest.mark.parametrize("case", MANIFESTS.values(), ids=MANIFESTS)
def test_damaged_manifests(case, tmp_path):
    described = copy.deepcopy(WHOLE) | case[0]
    files.write_manifest(str(tmp_path), described, described["shards"])
    with pytest.raises(InputError, match=case[1]):
        files.read_manifest(str(tmp_path))


def test_manifests(tmp_path):
    files.write_manifest(str(tmp_path), WHOLE, [SHARD])
    path = tmp_path / files.MANIFEST
    assert files.read_manifest(str(tmp_path)) == json.loads(path.read_text())
    for content, text in (("{", "manifest.json is damaged"), ("[]", "manifest.json is not one of 'annudf shards 1'")):
        path.write_text(content)
        with pytest.raises(InputError, match=text):
            files.read_manifest(str(tmp_path))


def test_goals_have_the_numbers_of_the_core():
    """Which `_core` does not tell."""
    growth = re.search(r" kGrowth = (\d+);", (RUNTIME / "lib/engine/Goal.cpp").read_text())
    header = (RUNTIME / "include/annudf/runtime/engine/Goal.h").read_text()
    most = re.search(r" kMostResults = int64_t\((\d+)\) << (\d+);", header)
    assert int(growth[1]) == goal._GROWTH
    assert int(most[1]) << int(most[2]) == goal._MOST_RESULTS
