# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Files of indexes."""

from __future__ import annotations

import os

from annudf._metric.builtin import check_index_metric
from annudf._support.checks import check_bool, check_path, printable
from annudf._support.log import ProgressBar, logger
from annudf._support.options import COARSE_OF_METRIC, METRIC_OF_COARSE
from annudf.common import Resources, check_resources
from annudf.errors import ArgumentError
from annudf.ivf_flat._index import Index, check_index


def save(
    filename: str | os.PathLike[str],
    index: Index,
    include_dataset: bool = True,
    resources: Resources | None = None,
    *,
    progress: bool | None = None,
) -> None:
    """Writes an index to a file, completely or not at all.

    Parameters
    ----------
    filename : path
    index : Index
    include_dataset : bool, default True
        Accepted for code that was written for cuVS. The vectors are always written, so False is refused.
    resources : Resources, optional
        Not used. Lists on a GPU are copied to the host.
    progress : bool, optional
        As in :func:`build`.

    Raises
    ------
    UnavailableError
        The file cannot be written.
    KeyboardInterrupt
        Ctrl-C. An earlier file is unchanged; or the new file is complete, and the exception is raised after the call.

    Notes
    -----
    The file records only the ranking of the lists, so "euclidean" is loaded as "sqeuclidean". Use
    ``load(filename, metric="euclidean")``.
    """
    check_index(index)
    path = check_path(filename, "filename")
    check_resources(resources)
    if not check_bool(include_dataset, "include_dataset"):
        raise ArgumentError("include_dataset=False is not available: a file always holds the vectors")
    if index.metric != METRIC_OF_COARSE[index._core.metric]:
        logger.warning(
            "%s: the file does not keep that the metric is %r; load it with metric=%r",
            printable(path),
            index.metric,
            index.metric,
        )
    bar = ProgressBar(progress)
    work = index._core.saving(path, progress=bar)
    try:
        _ = work.result  # No call may follow the work, see Work.
    except BaseException:
        bar.close()
        raise


def load(
    filename: str | os.PathLike[str],
    resources: Resources | None = None,
    *,
    metric: str | None = None,
    mmap: bool = False,
) -> Index:
    """Reads an index from a file and checks it.

    Parameters
    ----------
    filename : path
    resources : Resources, optional
        Several devices (`devices`) on which the index is searched by default. It is read into host memory, or mapped.
    metric : {"sqeuclidean", "euclidean", "inner_product", "cosine"}, optional
        The metric of :func:`search`, unless its parameters name another. Default: "sqeuclidean", "inner_product" or
        "cosine", by which the lists were clustered.
    mmap : bool, default False
        Leave the vectors in the file. A search on the CPU then reads only the lists that it probes, so the index may be
        larger than memory. Centers, ids and columns are read. The digest of the file is not checked, and the process
        ends if the file is cut short while it is in use.

    Returns
    -------
    Index

    Raises
    ------
    InputError
        The file is missing, damaged, or not an index.
    ArgumentError
        The metric does not fit the metric that clustered the lists.
    """
    from annudf import _core

    path = check_path(filename, "filename")
    device = check_resources(resources).device
    if metric is not None:
        check_index_metric(metric)
    core = _core.Index.load(path, check_bool(mmap, "mmap"))
    chosen = metric or METRIC_OF_COARSE[core.metric]
    if metric is not None and COARSE_OF_METRIC[metric] != core.metric:
        raise ArgumentError(
            f"metric is {metric!r}, but the lists of {printable(path)} were clustered by '{core.metric}'"
        )
    index = Index(core, chosen)
    index._team = device if device is not None and device.team else None
    return index
