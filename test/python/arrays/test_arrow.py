# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Columns of vectors, as pandas, Polars and Parquet files hand them on."""

from __future__ import annotations

import numpy as np
import pytest

from annudf import ArgumentError, DtypeError, ivf_flat
from reference import vectors

arrow = pytest.importorskip("pyarrow")


def column(rows):
    return arrow.FixedSizeListArray.from_arrays(arrow.array(rows.ravel()), rows.shape[1])


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8"])
def test_columns_of_vectors(dtype):
    rows = vectors(50, 4, dtype, 1)
    params = ivf_flat.SearchParams(n_probes=2)
    index = ivf_flat.build(ivf_flat.IndexParams(n_lists=2), rows)
    expected = ivf_flat.search(params, index, rows[3:7], 2)
    whole = column(rows)
    tensor = arrow.FixedShapeTensorArray.from_numpy_ndarray(rows)
    for given in (whole, arrow.chunked_array([whole.slice(0, 20), whole.slice(20)]), tensor):
        found = ivf_flat.search(params, ivf_flat.build(ivf_flat.IndexParams(n_lists=2), given), whole.slice(3, 4), 2)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    ivf_flat.extend(index, whole, arrow.array(range(100, 150)))
    assert len(index) == 100


REFUSED = [
    (
        [[1.0, 2.0], [3.0]],
        None,
        DtypeError,
        "argument 'dataset' is an array of Arrow of type list<item: double>; give ",
    ),
    (
        [[1.0, 2.0], None],
        "float",
        ArgumentError,
        "argument 'dataset' is an array of Arrow with nulls, which cannot be searched",
    ),
    (
        [[1.0, None]],
        "float",
        ArgumentError,
        "argument 'dataset' is an array of Arrow with nulls, which cannot be searched",
    ),
    ([[1.0, 2.0]], "double", DtypeError, "argument 'dataset' has dtype float64, it must be float32, "),
]


@pytest.mark.parametrize(("values", "element", "kind", "message"), REFUSED)
def test_refused(values, element, kind, message):
    types = {None: None, "float": arrow.list_(arrow.float32(), 2), "double": arrow.list_(arrow.float64(), 2)}
    with pytest.raises(kind) as caught:
        ivf_flat.build(ivf_flat.IndexParams(n_lists=1), arrow.array(values, types[element]))
    assert str(caught.value).startswith(message)
