# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Values that a metric needs of each vector alone, such as its mean, computed before a search.

The compiler makes a metric of each such value, which ignores the other vector, and a capture that gets it: one with an
entry a query, or one with an entry a row. Here those metrics are run and the captures bound.
"""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from annudf._arrays import CPU, DTYPE_OF_ELEMENT, ELEMENT_OF_DTYPE, Device, View
from annudf._devices import backends
from annudf._metric import cache
from annudf._metric.definition import HOST, Definition, Manifest
from annudf._metric.recorded import ArtifactDefinition, ManifestDefinition
from annudf._support.log import logger
from annudf.errors import CaptureError, DeviceError, Error

if TYPE_CHECKING:
    from annudf._core import Artifact, Captures, Index
    from annudf._metric.metric import Metric

_KEPT = 2
"""Indexes whose rows' values a metric keeps."""

_MOST_IDS, _MOST_IDS_OF_A_ROW = 1 << 24, 64
"""Ids may be so large, or so many times the number of rows: there is a value for each up to the largest."""

Floats = npt.NDArray[np.float32]
Given = tuple[str, tuple[int, ...], bytes, str]
"""Type, shape, data and origin of a capture's value."""
Pair = tuple[int, int, str, int, str]
"""Dimensions, and address and element type of the query and of the row."""


class Prepared:
    """The values that one metric prepares."""

    def __init__(self, metric: Metric, captures: Sequence[str]) -> None:
        self._metric = metric
        self._parts = {name: self._part(_part(metric._definition, name)) for name in captures}
        self._of_rows: OrderedDict[tuple[Device, int], dict[str, Given]] = OrderedDict()
        self._linked: set[str] = set()
        """Elements of vectors for which the links have begun."""

    def _part(self, definition: Definition) -> Metric:
        metric = self._metric
        values = {name: metric._values[name] for name in definition.captures if name in metric._values}
        made = type(metric)(definition, values, None, metric._allow_non_finite)
        made.__dict__["_users_name"] = metric._users_name
        return made

    def bind(self, artifact: Artifact, device: Device, index: Index, queries: View) -> Captures:
        """The captures for a search of an index with these queries."""
        from annudf import _core

        metric = self._metric
        count = queries.shape[0]
        if device == CPU and ELEMENT_OF_DTYPE[queries.dtype] == index.element:
            self._link(artifact, index.element)
        values = _given(metric, device)
        values |= {name: _value(floats, metric) for name, floats in self._queries(index, queries).items()}
        values |= self._rows(device, index)
        if metric._columns:
            return _core.bind_index(artifact, index, values, True, count)
        return _core.Captures.bind(artifact, index.dims, values, True, index.row_extent, count)

    def _link(self, artifact: Artifact, element: str) -> None:
        """Begins all links side by side, each of which takes as long as the compilation; searches wait for theirs."""
        if element in self._linked or backends.get_num_threads() == 1:
            return
        self._linked.add(element)
        for one in (artifact, *(part._artifact_for(CPU) for part in self._parts.values())):
            thread = threading.Thread(target=_link, args=(one, element), name="annudf-link")
            try:
                thread.start()
            except RuntimeError:  # No thread can be had: the search links.
                return

    def bind_pair(self, artifact: Artifact, pair: Pair, query: int = 0, row: int = 0) -> Captures:
        """The captures for one pair of vectors, which are query and row of those numbers."""
        from annudf import _core

        metric, dims = self._metric, pair[0]
        values = _given(metric, CPU)
        rows, queries = (
            max(length, number + 1) for length, number in zip(metric._lengths(), (row, query), strict=True)
        )
        for name, part in self._parts.items():
            found, captures = part.for_pair(pair)
            distance = backends.backend(CPU).distance(found, cast("Captures", captures), *pair)
            values[name] = _value(np.full(queries if _is_of_query(name) else rows, distance, np.float32), metric)
        return _core.Captures.bind(artifact, dims, values, True, rows, queries)

    def _queries(self, index: Index, queries: View) -> dict[str, Floats]:
        """The values of each query, as distances to one row that nothing reads."""
        from annudf import _core

        parts = {name: part for name, part in self._parts.items() if _is_of_query(name)}
        count = queries.shape[0]
        if not parts or count == 0:
            return {name: np.zeros(0, np.float32) for name in parts}
        if queries.device != CPU:
            raise DeviceError(
                f"metric '{self._metric._users_name}' needs a value of each query before the search, which the host "
                f"computes, and the queries are on {queries.device}; give them as an array of the host"
            )
        unread = _zeros(index.element, index.dims)
        one = _core.Index.of_rows(unread.address, 1, index.dims, index.element)
        result: dict[str, Floats] = {}
        for name, part in parts.items():
            artifact, captures = part.prepare(CPU, one, queries)
            result[name] = np.empty(count, np.float32)
            backends.backend(CPU).distances(
                one, artifact, cast("Captures", captures), queries.address, count, queries.shape[1],
                ELEMENT_OF_DTYPE[queries.dtype], result[name].ctypes.data,
            )  # fmt: skip
        return result

    def _rows(self, device: Device, index: Index) -> dict[str, Given]:
        """The values of each row by its id, kept until the rows change."""
        parts = {name: part for name, part in self._parts.items() if not _is_of_query(name)}
        if not parts:  # The index may then be rows that nothing was built of.
            return {}
        place = CPU if index.device < 0 else device
        key = place, index.generation
        found = self._of_rows.get(key)
        if found is None:
            metric = self._metric
            found = {name: _value(_of_each_row(part, place, index), metric) for name, part in parts.items()}
            self._of_rows[key] = found
            while len(self._of_rows) > _KEPT:
                self._of_rows.popitem(last=False)
        return found


def _link(artifact: Artifact, element: str) -> None:
    try:
        backends.backend(CPU).precompile(artifact, element)
    except Error as error:  # As the search that needs it will say.
        logger.debug("link ahead: %s", error)


def _is_of_query(name: str) -> bool:
    return name.startswith("prepared_x_")


def _value(floats: Floats, metric: Metric) -> Given:
    return "f32", floats.shape, floats.tobytes(), f"metric '{metric.name}'"


def _given(metric: Metric, device: Device) -> dict[str, Any]:
    return {
        name: (value.dtype, value.shape, value.where(device), f"metric '{metric.name}'")
        for name, value in metric._values.items()
    }


def _zeros(element: str, dims: int) -> View:
    """A query that nothing reads."""
    memory = np.zeros(dims, np.uint64)  # As wide as any element.
    return View(
        memory.ctypes.data, (1, dims), (8 * dims, 8), DTYPE_OF_ELEMENT[element], CPU, "numpy", memory, memory
    )  # fmt: skip


def _of_each_row(part: Metric, device: Device, index: Index) -> Floats:
    """The distances of all rows, by a search for as many neighbours, which knows rows by any ids."""
    rows, extent = index.size, index.row_extent
    told = f"metric '{part._users_name}' needs a value of each row before the search"
    if extent > (most := max(_MOST_IDS, _MOST_IDS_OF_A_ROW * rows)):
        raise CaptureError(
            f"{told}, kept by id, and the largest id is {extent - 1}; {most - 1} is the most for {rows} rows, so give "
            "them smaller ids"
        )
    result = np.full(extent, np.nan, np.float32)  # A search leaves out what is NaN.
    if rows == 0:
        return result
    query = _zeros(index.element, index.dims)
    artifact, captures = part.prepare(device, index, query)
    ids, distances = np.empty(rows, np.int64), np.empty(rows, np.float32)
    backends.backend(device).search(
        index, artifact, cast("Captures", captures), query.address, 1, index.dims, index.element, rows, index.n_lists,
        ids.ctypes.data, distances.ctypes.data, None, None, "", False, False, False,
    )  # fmt: skip
    found = ids[ids >= 0]
    ordered = np.sort(found)
    if len(repeated := ordered[1:][ordered[1:] == ordered[:-1]]):
        raise CaptureError(
            f"{told}, kept by id, and several rows of the index have the id {repeated[0]}; give each row an id of its "
            "own"
        )
    result[found] = distances[ids >= 0]
    return result


class PartDefinition(ManifestDefinition):
    """The metric that gives a prepared value, of the source of the whole."""

    def __init__(self, whole: Definition, symbol: str) -> None:
        super().__init__(whole.device_backend)
        self.whole, self.symbol = whole, symbol

    @functools.cached_property
    def _manifest(self) -> Manifest:
        return Manifest(self.artifact((HOST,)).manifest)

    @property
    def name(self) -> str:
        return self.symbol

    @property
    def may_prepare(self) -> bool:
        return True

    def _is_declared(self, capture: str) -> bool:
        return capture in self.whole.captures

    def _key(self) -> str | None:
        key = self.whole._key()
        return None if key is None else cache.make_key("part", key, self.symbol)

    def _compile(self, host: bool, archs: list[str] | None) -> Artifact:
        return self.whole.compile_part(self.symbol, host, archs)

    def lower(self, target: str, arch: str, part: str = "") -> bytes:
        return self.whole.lower(target, arch, self.symbol)


def _part(definition: Definition, capture: str) -> Definition:
    """What gives the values of that capture."""
    if isinstance(definition, ArtifactDefinition):
        return definition.parts[capture]
    whole = definition.whole if isinstance(definition, PartDefinition) else definition
    return PartDefinition(whole, f"{whole.name}_{capture}")


Packed = tuple[bytes, dict[str, Any]]
"""A part as bytes, with its own parts."""


def packed_parts(definition: Definition, targets: tuple[str, ...]) -> dict[str, Packed]:
    """What pickles hold of prepared values."""
    result: dict[str, Packed] = {}
    for name in definition.prepared(definition.artifact(targets)):
        part = _part(definition, name)
        result[name] = part.artifact(targets).to_bytes(), packed_parts(part, targets)
    return result


def unpacked_parts(parts: Mapping[str, Packed]) -> dict[str, ArtifactDefinition]:
    """The parts of a pickle."""
    from annudf import _core

    return {
        name: ArtifactDefinition(_core.Artifact.from_bytes(data, name), "a pickle", "", unpacked_parts(inner))
        for name, (data, inner) in parts.items()
    }


class Preparing:
    """The part of a metric that has values prepared."""

    _definition: Definition
    _values: Mapping[str, Any]

    @functools.cached_property
    def _users_name(self) -> str:
        """For messages: of what the user wrote, also if this is the metric of a prepared value."""
        return self._definition.name

    @functools.cached_property
    def _prepared_values(self) -> dict[tuple[str, ...], Prepared]:
        return {}

    @functools.cached_property
    def _prepared_names(self) -> dict[str, tuple[str, ...]]:
        """By the artifact's digest, as asking a manifest takes a while."""
        return {}

    def _prepares(self, artifact: Artifact) -> Prepared | None:
        """What is prepared for the code of that artifact; None if it needs nothing."""
        names = self._prepared_names.get(digest := artifact.digest)
        if names is None:
            names = self._prepared_names[digest] = self._definition.prepared(artifact)
        if not names:
            return None
        found = self._prepared_values.get(names)
        if found is None:
            found = self._prepared_values[names] = Prepared(cast("Metric", self), names)
        return found

    def prepares_rows(self) -> bool:
        """Whether each row has values that are computed before a search."""
        definition = self._definition
        return definition.may_prepare and any(
            not _is_of_query(name) for name in definition.prepared(definition.artifact((HOST,)))
        )

    def prepares_queries(self, artifact: Artifact) -> bool:
        """Whether each query has such values."""
        return any(_is_of_query(name) for name in self._definition.prepared(artifact))

    def for_pair(self, pair: Pair, query: int = 0, row: int = 0) -> tuple[Artifact, Captures | None]:
        """Artifact and captures for two vectors of the host, which are query and row of those numbers."""
        metric = cast("Metric", self)
        artifact, captures = metric._prepare(CPU, pair[4], pair[0])
        prepared = self._prepares(artifact)
        return artifact, captures if prepared is None else prepared.bind_pair(artifact, pair, query, row)
