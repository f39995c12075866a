# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Rows stored for exact search: an index of one list, wherever they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from annudf import _arrays
from annudf._arrays import CPU, ELEMENT_OF_DTYPE
from annudf._devices import backends, transfer
from annudf._support.log import ProgressBar, logger
from annudf.common import Resources, check_resources
from annudf.errors import InputError
from annudf.ivf_flat._columns import column_values
from annudf.ivf_flat._index import Index, array_at_fault, rows_of
from annudf.ivf_flat._rows import Ids


def store_rows(
    dataset: Any,
    missing_values: bool,
    ids: npt.NDArray[np.int64] | None,
    resources: Resources | None = None,
    progress: bool | None = None,
    in_place: bool = False,
    columns: Mapping[str, Any] | None = None,
) -> Index:
    """All rows in one list, without k-means: of a device array there, without a copy on the host.

    With `in_place` those that stay on the host are not copied: a search there stores a piece of them at a time.

    `missing_values` of a type without NaN is passed over; `ids` are checked by the core.
    """
    from annudf import _core

    place = check_resources(resources)
    rows = rows_of(dataset, "dataset", place)
    on_host = rows.device == CPU
    device = place.place(rows.device, "argument 'dataset'")
    values = None if columns is None else column_values(columns, rows.shape[0])
    bar = ProgressBar(progress)
    arguments = (
        rows.address,
        rows.shape[0],
        rows.shape[1],
        ELEMENT_OF_DTYPE[rows.dtype],
        None if ids is None else ids.ctypes.data,
        missing_values and rows.dtype in _arrays.FLOATS,
        backends.get_num_threads(),
        bar,
    )
    try:
        if device == CPU:
            core = _core.Index.of_rows(*arguments, rows.owner if in_place else None)
        else:
            stream = None if on_host else transfer.ready_stream(rows, "dataset", place)
            core, cost = backends.backend(device).store_rows(stream, *arguments)
            logger.debug(
                "%d vectors stored on %s in %.1f ms, copied from the host in %.1f ms", rows.shape[0], device, *cost[1:3]
            )
        if values:
            _core.add_columns(core, None if ids is None else ids.ctypes.data, values)
    except InputError as error:
        raise array_at_fault(error, "dataset") from None
    finally:
        bar.close()
    index = Index(core, "sqeuclidean", Ids.EXACT if ids is None else Ids.GIVEN)
    index._team = device if device.team else None
    return index
