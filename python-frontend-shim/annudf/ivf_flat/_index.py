# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The index: building, extending, removing."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from annudf import _arrays
from annudf._arrays import CPU, DTYPE_OF_ELEMENT, ELEMENT_OF_DTYPE, Device, View
from annudf._devices import backends, transfer
from annudf._support.checks import check_bool, check_int, class_of, renamed, shown
from annudf._support.log import ProgressBar, logger
from annudf._support.options import COARSE_OF_METRIC, METRIC_OF_COARSE
from annudf._support.repr import of_whole
from annudf.common import Resources, check_resources
from annudf.errors import ArgumentError, InputError
from annudf.ivf_flat._columns import column_values, dtype_of_column
from annudf.ivf_flat._ids import given_ids
from annudf.ivf_flat._params import IndexParams
from annudf.ivf_flat._rows import Ids

if TYPE_CHECKING:
    from annudf import _core


class Index:
    """An IVF-Flat index. A GPU gets a copy at the first search there; an index that it built has no other copy.

    :func:`build` and :func:`load` make it. Many threads may search it at once; :func:`extend` and :func:`remove` wait
    for running searches.
    """

    def __init__(self, core: _core.Index, metric: str, ids: Ids = Ids.POSITIONS) -> None:
        self._core = core
        self._metric = metric
        self._ids = ids
        self._team: Device | None = None  # Several devices that it is searched on by default.
        self._told: set[str] = set()  # Longer arrays that a warning was given of.

    @property
    def trained(self) -> bool:
        """Always True: there are no indexes without centers."""
        return True

    @property
    def n_lists(self) -> int:
        """Number of lists."""
        return self._core.n_lists

    @property
    def dim(self) -> int:
        """Dimensions of the vectors."""
        return self._core.dims

    @property
    def size(self) -> int:
        """Number of vectors."""
        return self._core.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type of the vectors: float32, float16, int8, uint8, or bfloat16 of ml_dtypes; uint8 for bits."""
        return _arrays.numpy_dtype(self.dtype_name)

    @property
    def dtype_name(self) -> str:
        """Name of the element type, which needs no ml_dtypes; "bits" for packed bits."""
        return DTYPE_OF_ELEMENT[self._core.element]

    @property
    def packed(self) -> bool:
        """Whether the vectors are bits, packed eight to a byte; `dim` counts bits."""
        return self._core.element == "bits"

    @property
    def metric(self) -> str:
        """The metric of :func:`search`, unless its parameters name another."""
        return self._metric

    @property
    def adaptive_centers(self) -> bool:
        """Whether :func:`extend` and :func:`remove` move the centers to the means of the vectors in their lists."""
        return self._core.adaptive_centers

    @property
    def missing_values(self) -> bool:
        """Whether coordinates may be NaN, which are missing values."""
        return self._core.missing_values

    @property
    def columns(self) -> dict[str, np.dtype[Any]]:
        """Dtypes of the columns by name: values that every vector has, which captures and filters read."""
        from annudf import _core

        return {name: dtype_of_column(dtype) for name, dtype in _core.columns_of(self._core)}

    @property
    def centers(self) -> npt.NDArray[np.float32]:
        """Centers of the lists, float32 of shape (n_lists, dim); a copy."""
        return self._core.centers()

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        """Ids of the vectors, int64 of shape (size,), list by list; a copy."""
        return self._core.ids()

    def __len__(self) -> int:
        return self._core.size

    def __reduce__(self) -> tuple[Any, ...]:
        # The bytes of its file, which a reader checks.
        with tempfile.TemporaryDirectory(prefix="annudf-") as folder:
            path = os.path.join(folder, "index")
            _ = self._core.saving(path).result
            with open(path, "rb") as file:
                own = () if self._ids is Ids.POSITIONS else (self._ids.name,)
                return _from_pickle, (file.read(), self._metric, *own)

    @of_whole("_metric")
    def __repr__(self) -> str:
        return (
            f"Index(type=IvfFlat, size={self.size}, dim={self.dim}, dtype={self.dtype_name}, "
            f"n_lists={self.n_lists}, metric={self._metric!r})"
        )


def _from_pickle(data: bytes, metric: str, ids: str = Ids.POSITIONS.name) -> Index:
    from annudf import _core

    with tempfile.TemporaryDirectory(prefix="annudf-") as folder:
        path = os.path.join(folder, "index")
        with open(path, "wb") as file:
            file.write(data)
        core = _core.Index.load(path)
    if not isinstance(metric, str) or COARSE_OF_METRIC.get(metric) != core.metric:
        raise InputError(
            f"pickled index: its metric is {shown(metric)}, but its lists are those of "
            f"{METRIC_OF_COARSE[core.metric]!r}"
        )
    if ids not in Ids.__members__:
        raise InputError(f"pickled index: its ids are {shown(ids)}; they are {' or '.join(Ids.__members__)}")
    return Index(core, metric, Ids[ids])


def array_at_fault(error: InputError, name: str, ids: str = "ids") -> ArgumentError:
    """The core calls what an array or a file holds input, and has its own names; here argument `name` is read."""
    return renamed(error, {"base": name, "rows to add": name, "queries": name, "ids": ids})


@contextlib.contextmanager
def in_terms_of(name: str) -> Iterator[None]:
    """Errors of a call that has made an index of its argument `name`, of which its caller knows nothing."""
    try:
        yield
    except ArgumentError as error:
        text = str(error)
        told = text.replace("the index has", f"argument '{name}' has")
        if told == text:
            raise
        raise type(error)(told) from None


def check_index(index: object) -> Index:
    """Raises ArgumentError unless it is an Index."""
    if not isinstance(index, Index):
        raise ArgumentError(f"index is {class_of(index)}, it must be an ivf_flat.Index, made by build() or load()")
    return index


def build(
    index_params: IndexParams,
    dataset: Any,
    resources: Resources | None = None,
    *,
    device_memory_limit: int | None = None,
    columns: Mapping[str, Any] | None = None,
    progress: bool | None = None,
) -> Index:
    """Clusters vectors into lists.

    Parameters
    ----------
    index_params : IndexParams
    dataset : array of shape (n_rows, dim)
        float32, float16, bfloat16, int8 or uint8; finite, or NaN with ``missing_values=True``. An array of NumPy,
        CuPy or PyTorch, one with ``__cuda_array_interface__`` or DLPack, or :class:`annudf.PackedBits`. It has at least
        `n_lists` rows. The index of a device array is built on its device. An array that is not C-contiguous is copied.
    resources : Resources, optional
        Stream for reading a device array, or the device on which to build the index of a host array.
    device_memory_limit : int, optional
        Bytes that the build of a host array on a device may use there. If vectors and lists do not fit, the vectors are
        copied a piece at a time. If the lists alone do not fit, they stay on the host. The index is the same. Default:
        nine tenths of the free memory.
    columns : mapping of str to array of shape (n_rows,), optional
        One value per vector, by name: bool, integers or floats. The index keeps them with the vectors, through
        :func:`extend`, :func:`remove`, :func:`save` and :func:`load`. A capture ``column(dtype)`` of a metric or filter
        reads the column of its name. Columns move lists that a device built to the host.
    progress : bool, optional
        True shows a progress bar, False none. Default: a bar if the call takes longer than half a second and standard
        error is a terminal.

    Returns
    -------
    Index
        The rows have the ids 0, 1, .... With ``add_data_on_build=False`` the index has no rows.

    Raises
    ------
    DtypeError, DeviceError, ArgumentError
        The array cannot be used, or has fewer rows than `n_lists`.
    UnavailableError
        There is not enough memory, or no driver for a device array.
    KeyboardInterrupt
        Ctrl-C; nothing is left behind.

    Examples
    --------
    >>> import numpy as np
    >>> from annudf import ivf_flat
    >>> dataset = np.random.default_rng(0).random((1000, 16), dtype=np.float32)
    >>> index = ivf_flat.build(ivf_flat.IndexParams(n_lists=16), dataset)
    >>> distances, neighbors = ivf_flat.search(ivf_flat.SearchParams(n_probes=16), index, dataset[:5], 3)
    >>> neighbors[:, 0]
    array([0, 1, 2, 3, 4])
    """
    if not isinstance(index_params, IndexParams):
        raise ArgumentError(f"index_params is {class_of(index_params)}, it must be an ivf_flat.IndexParams")
    return build_of(index_params, dataset, resources, progress, True, device_memory_limit, columns)


def build_of(
    index_params: IndexParams,
    dataset: Any,
    resources: Resources | None = None,
    progress: bool | None = None,
    strictly: bool = False,
    device_memory_limit: int | None = None,
    columns: Mapping[str, Any] | None = None,
) -> Index:
    """As :func:`build`; unless `strictly`, ``missing_values`` of a type without NaN is passed over."""
    from annudf import _core

    place = check_resources(resources)
    rows = rows_of(dataset, "dataset", place)
    n_lists = 0 if index_params.n_lists == "auto" else index_params.n_lists
    if n_lists > rows.shape[0]:
        raise ArgumentError(
            f"n_lists is {n_lists}, but argument 'dataset' has only {rows.shape[0]} rows; "
            "a list needs at least one, better some hundreds"
        )
    on_host = rows.device.kind == "cpu"
    device = place.place(rows.device, "argument 'dataset'")
    limit = 0
    if device_memory_limit is not None:
        limit = check_int(device_memory_limit, "device_memory_limit", 1, 2**64 - 1)
        if not on_host or device == CPU:
            raise ArgumentError(
                "device_memory_limit is for a dataset in host memory whose index is built on a device, "
                f"resources=Resources(device='cuda'); the dataset is on {rows.device}"
            )
    if columns is not None and not index_params.add_data_on_build:
        raise ArgumentError("columns are given and add_data_on_build is False; give them to extend(), with the vectors")
    values = None if columns is None else column_values(columns, rows.shape[0])
    bar = ProgressBar(progress)
    options = _core.BuildOptions(
        n_lists=n_lists,
        metric=COARSE_OF_METRIC[index_params.metric],
        kmeans_n_iters=index_params.kmeans_n_iters,
        kmeans_trainset_fraction=index_params.kmeans_trainset_fraction,
        seed=index_params.seed,
        threads=backends.get_num_threads(),
        adaptive_centers=index_params.adaptive_centers,
        train_only=not index_params.add_data_on_build,
        missing_values=index_params.missing_values and (strictly or rows.dtype in _arrays.FLOATS),
        device_memory_limit=limit,
    )
    arguments = (rows.address, rows.shape[0], rows.shape[1], ELEMENT_OF_DTYPE[rows.dtype], options, bar)
    try:
        if device == CPU:
            core = _core.Index.build(*arguments)
        else:
            stream = None if on_host else transfer.ready_stream(rows, "dataset", place)
            core, cost = backends.backend(device).build_index(stream, *arguments)
            logger.debug(
                "index of %d vectors built on %s: %.1f ms training, %.1f adding, %.1f copying, "
                "%d pieces, lists on the %s",
                rows.shape[0],
                device,
                *cost[:4],
                "device" if cost[4] else "host",
            )
        if values:
            _core.add_columns(core, None, values)
    except InputError as error:
        raise array_at_fault(error, "dataset") from None
    finally:
        bar.close()
    made = Index(core, index_params.metric)
    made._team = device if device.team else None
    return made


def extend(
    index: Index,
    new_vectors: Any,
    new_indices: Any = None,
    resources: Resources | None = None,
    *,
    allow_repeated_ids: bool = False,
    columns: Mapping[str, Any] | None = None,
    progress: bool | None = None,
) -> Index:
    """Adds vectors to an index, in place. Lists on a device are extended there.

    Parameters
    ----------
    index : Index
    new_vectors : array of shape (n_rows, dim)
        Vectors of the index's dtype and dimensions; else as `dataset` of :func:`build`. An index of bits also takes
        uint8 of shape (n_rows, dim / 8).
    new_indices : array of shape (n_rows,), optional
        int64 ids from 0, different from each other and from those of the index; other integer types are converted.
        Default: ids from the largest of the index plus 1, or from 0.
    resources : Resources, optional
        Stream for reading a device array.
    allow_repeated_ids : bool, default False
        Whether ids may repeat, or be in the index already. A search then returns an id once for each of its vectors.
    columns : mapping of str to array of shape (n_rows,), optional
        Values of the new vectors for each column of the index, in its dtype. An index that never had vectors takes any
        columns, as :func:`build` does.
    progress : bool, optional
        As in :func:`build`.

    Returns
    -------
    Index
        `index` itself. If the call fails, the index is unchanged.

    Raises
    ------
    DtypeError, DeviceError, ArgumentError
        An array cannot be used, or an id is repeated.
    UnavailableError
        There is not enough memory, or no driver for a device array.
    KeyboardInterrupt
        Ctrl-C. The index is unchanged; or the change is complete, and the exception is raised after the call.
    """
    core = check_index(index)._core
    place = check_resources(resources).over(index._team)
    repeated = check_bool(allow_repeated_ids, "allow_repeated_ids")
    rows = rows_of(new_vectors, "new_vectors", place, (index.dtype_name,), core.dims, index.packed)
    ids = None
    if new_indices is not None:
        ids = given_ids(new_indices, "new_indices", place, (rows.shape[0],), f"({rows.shape[0]},), one id a new vector")
    values = None if columns is None else column_values(columns, rows.shape[0])
    bar = ProgressBar(progress)
    there = _lists_there(core.device, rows, place)
    if there is None:
        rows = transfer.to_host(rows, "new_vectors", place)
    arguments = (
        rows.address,
        rows.shape[0],
        rows.shape[1],
        ELEMENT_OF_DTYPE[rows.dtype],
        None if ids is None else ids.address,
        bar,
        index,
        repeated,
        values,
    )
    if there is None:
        work = core.extending(*arguments)
    else:
        stream = None if rows.device == CPU else transfer.ready_stream(rows, "new_vectors", place)
        work = backends.backend(there).extending(core, stream, *arguments)
    try:
        result: Index = work.result
        if ids is not None:
            index._ids = Ids.GIVEN
        return result  # No call may follow the work, see Work.
    except InputError as error:
        bar.close()
        raise array_at_fault(error, "new_vectors", "new_indices") from None
    except BaseException:
        bar.close()
        raise


def _lists_there(device: int, rows: View, place: Resources) -> Device | None:
    """The device that has the lists of an index, where new rows are added to them without leaving it."""
    if device < 0:
        return None
    there = Device("cuda", device)
    asked = place.device if rows.device == CPU or (place.device and place.device.team) else rows.device
    if asked is not None and asked.team and asked.index == device:
        return asked
    return there if asked in (None, there) else None


def remove(
    index: Index,
    ids: Any,
    resources: Resources | None = None,
    *,
    progress: bool | None = None,
) -> int:
    """Removes vectors from an index, in place. Lists on a device stay there, if it has room for old and new lists.

    Parameters
    ----------
    index : Index
    ids : array of shape (n_ids,)
        int64 ids from 0, in any order; other integer types are converted. Unknown and repeated ids are ignored. An
        empty array removes nothing.
    resources : Resources, optional
        Stream for reading a device array.
    progress : bool, optional
        As in :func:`build`.

    Returns
    -------
    int
        The number of removed vectors: all that have one of the ids. If the call fails, the index is unchanged.

    Raises
    ------
    DtypeError, DeviceError, ArgumentError
        The array cannot be used.
    UnavailableError
        There is not enough memory, or no driver for a device array.
    KeyboardInterrupt
        Ctrl-C. The index is unchanged; or the change is complete, and the exception is raised after the call.

    Notes
    -----
    The other vectors keep their ids, so filters and captures per row stay valid. The lists are the same as if only the
    other vectors had been added. With ``adaptive_centers=True`` centers move to the means of the remaining vectors. An
    index without vectors can be extended and saved, but not searched.

    Examples
    --------
    >>> import numpy as np
    >>> from annudf import ivf_flat
    >>> dataset = np.random.default_rng(0).random((1000, 16), dtype=np.float32)
    >>> index = ivf_flat.build(ivf_flat.IndexParams(n_lists=16), dataset)
    >>> ivf_flat.remove(index, np.array([3, 5, 5, 1000]))
    2
    >>> len(index)
    998
    """
    core = check_index(index)._core
    place = check_resources(resources).over(index._team)
    if isinstance(ids, (list, tuple)) and not ids:
        ids = np.empty(0, np.int64)  # To NumPy an empty list has a dtype: float64.
    gone = given_ids(ids, "ids", place, None, "of one dimension, one id a vector")
    bar = ProgressBar(progress)
    there = _lists_there(core.device, gone, place)
    arguments = (gone.address, gone.shape[0], bar)
    work = core.removing(*arguments) if there is None else backends.backend(there).removing(core, *arguments)
    try:
        removed: int = work.result
        index._ids = Ids.GIVEN
        return removed  # No call may follow the work, see Work.
    except InputError as error:
        bar.close()
        raise array_at_fault(error, "ids") from None
    except BaseException:
        bar.close()
        raise


def rows_of(
    array: Any,
    name: str,
    resources: Resources,
    accepted: tuple[str, ...] = _arrays.VECTORS,
    dims: int | None = None,
    packed: bool = False,
) -> View:
    rows = _arrays.input_matrix(array, name, accepted=accepted, dims=dims, stream=resources.stream, packed=packed)
    if rows.shape[0] == 0:
        raise ArgumentError(f"argument '{name}' has shape {rows.shape}: no rows; give at least one")
    return rows
