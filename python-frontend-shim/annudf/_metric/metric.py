# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
""":class:`Metric`: a user's distance, compiled when it is first needed."""

from __future__ import annotations

import functools
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from annudf._arrays import CPU, DTYPE_OF_ELEMENT, ELEMENT_OF_DTYPE, FLOATS, Device, View
from annudf._devices import backends
from annudf._metric.captures import Value, make_value
from annudf._metric.definition import ALL, HOST, Definition, parse_arch
from annudf._metric.explain import Explained
from annudf._metric.kernels import InKernels
from annudf._metric.names import name_in_module
from annudf._metric.on_vectors import OnVectors
from annudf._metric.properties import Properties
from annudf._metric.recorded import ArtifactDefinition
from annudf._metric.unbound import check_columns, refuse_queries, refuse_rows, refuse_unbound
from annudf._metric.vectors.prepared import Packed, Preparing, packed_parts, unpacked_parts
from annudf._support import fork
from annudf._support.checks import check_path, dtype_name
from annudf._support.options import METRIC_OF_COARSE, CaptureType
from annudf._support.repr import of_whole
from annudf.errors import ArgumentError, CaptureError, DtypeError

if TYPE_CHECKING:
    from annudf._core import Artifact, Captures, Index
    from annudf.common import Resources


_NONE = -1
"""No capture has that extent."""


class MetricSource(ABC):
    """What is taken wherever a metric is, as a metric can be made of it."""

    @abstractmethod
    def _as_metric(self) -> Metric:
        """The metric, compiled at most once."""


class Metric(OnVectors, Explained, InKernels, Preparing):
    """A distance that you write, with values bound to its captures.

    :func:`metric`, :func:`cuda_source_metric` and :func:`load_metric` make it. It never changes: :meth:`bind` returns
    another metric that shares the compiled code. It is compiled at its first use, once for each target (the host, or an
    architecture of GPUs). A cache on disk keeps the code, also for other processes. Many threads may use it at once.

    A metric of a module is pickled by its name, as functions are. A metric of ``__main__``, a notebook or a function is
    pickled with its compiled code and the values of its captures, so that other processes need no source
    (multiprocessing, joblib, Dask, Ray). Load pickles only from people whose programs you would run.

    A metric called with two vectors returns their :meth:`distance`. Called with the arguments of its Python function,
    it runs that function in plain Python, so that a test can step through it: ``weighted_l2(x, y, acc, ctx)`` with
    numbers and any object as `ctx`.

    Attributes
    ----------
    name : str
        Its symbol.
    order : {"min", "max"}
        Which distances are best.
    captures : dict of str to numpy.ndarray
        The bound values; read-only. Captures without a value are missing.
    """

    def __init__(
        self,
        definition: Definition,
        values: Mapping[str, Value],
        function: Callable[..., Any] | None = None,
        allow_non_finite: bool = False,
        noun: str = "metric",
    ) -> None:
        self._definition = definition
        self._values = dict(values)
        self._allow_non_finite = allow_non_finite
        self._noun = noun
        self._lock = fork.lock()
        self._bound: dict[tuple[str, int, Device | None], Captures] = {}
        self._rows = self._queries = _NONE
        self._told_of_nan = False
        self._searched: dict[tuple[Device, str, int], tuple[Artifact, Captures | None]] = {}
        self.__name__ = self.__qualname__ = ""
        self.__wrapped__ = function
        if function is not None:
            functools.update_wrapper(self, function, updated=())

    @property
    def name(self) -> str:
        """Symbol of the metric."""
        return self._definition.name

    @property
    def order(self) -> str:
        """Which distances are best, ``"min"`` or ``"max"``."""
        return self._definition.order

    @property
    def coarse_metric(self) -> str:
        """Ranks the lists before the scan: ``"sqeuclidean"``, ``"inner_product"`` or ``"cosine"``."""
        return METRIC_OF_COARSE[self._definition.coarse]

    @property
    def elements(self) -> tuple[str, ...]:
        """Element types of vectors that it accepts, by NumPy's names."""
        return tuple(DTYPE_OF_ELEMENT[element] for element in self._definition.elements)

    @property
    def missing_values(self) -> bool:
        """Whether it handles a coordinate that is NaN, a missing value."""
        return self._definition.missing_values

    @property
    def captures(self) -> dict[str, npt.NDArray[Any]]:
        """The bound values, as read-only arrays."""
        return {name: value.array for name, value in self._values.items()}

    def bind(self, /, **captures: Any) -> Metric:
        """The same metric with other values; nothing is compiled.

        Parameters
        ----------
        **captures : number or array
            Values by name, with the declared element type and number of axes. Integers become floats, and whole floats
            become an integer scalar, if that changes no value. Values are copied now, so later changes to the arrays
            have no effect. An array on a device with the declared element type is neither copied nor checked: do not
            change it. Other captures keep their values.

        Returns
        -------
        Metric

        Raises
        ------
        CaptureError
            There is no such capture, or the value does not fit it.
        """
        declared = self._definition.captures
        values = dict(self._values)
        for name, value in captures.items():
            if name not in declared:
                known = ", ".join(f"'{one}'" for one in declared) or "none"
                raise CaptureError(f"{self._noun} '{self.name}' has no capture '{name}'; it has {known}")
            domain = self._definition.domain(name)
            # What a domain says is said of infinities and NaN too.
            allow = self._allow_non_finite or domain is not None
            values[name] = make_value(name, value, declared[name], allow, self._values.get(name))
            if domain is not None:
                domain(values[name], value)
        return Metric(self._definition, values, self.__wrapped__, self._allow_non_finite, self._noun)

    # --- To look at -------------------------------------------------------------------------------

    @property
    def properties(self) -> Properties:
        """What is proved about the formula, and which of your lines prevents other proofs.

        If ``quadratic`` is proved, searches run as matrix products, with the same results to the bit. No code is
        generated for this. A ``.annudf`` file records only the form: its other claims are None.

        Returns
        -------
        Properties

        Raises
        ------
        CompileError
            The metric breaks a rule.

        Examples
        --------
        >>> import numpy as np
        >>> import annudf
        >>> @annudf.metric(captures={"w": np.ones(8, np.float32)})
        ... def weighted(x, y, acc, ctx):
        ...     return acc + ctx.w[ctx.dim] * (x - y) ** 2
        >>> proved = weighted.properties
        >>> proved.form.coefficients["x y"]
        '-2 w[dim]'
        >>> bool(proved.symmetric), proved.monotone.where
        (True, (('w', '>= 0'),))
        """
        return self._definition.properties

    def mlir(self) -> str:
        """The metric in the ``annudf`` dialect, as the verifier accepted it.

        Raises
        ------
        CompileError
            The metric breaks a rule.
        """
        return self._definition.lower("mlir", "").decode()

    def nvvm_ir(self, arch: str | int | None = None) -> str:
        """The NVVM IR that libNVVM compiles for GPUs; the same for every architecture.

        Parameters
        ----------
        arch : str or int, optional
            ``"sm_90"`` or 90; default: the oldest supported.
        """
        return self._definition.lower("nvvm-ir", parse_arch(arch) if arch is not None else "").decode()

    def ptx(self, arch: str | int | None = None) -> str:
        """PTX of the hooks.

        Parameters
        ----------
        arch : str or int, optional
            ``"sm_90"`` or 90; default: the oldest supported.

        Raises
        ------
        UnavailableError
            There is no libNVVM.
        """
        return self._definition.lower("ptx", parse_arch(arch) if arch is not None else "").decode()

    def ltoir(self, arch: str | int | None = None) -> bytes:
        """LTO-IR of the hooks, the input of nvJitLink.

        Parameters
        ----------
        arch : str or int, optional
            ``"sm_90"`` or 90; default: the oldest supported.

        Raises
        ------
        UnavailableError
            There is no libNVVM.
        """
        return self._definition.lower("ltoir", parse_arch(arch) if arch is not None else "")

    def artifact(self, archs: Iterable[str | int] | str | int | None = None) -> Artifact:
        """The compiled artifact: code for CPUs and for GPUs in one file's bytes.

        Parameters
        ----------
        archs : str, int or iterable of them, optional
            Architectures of GPUs; default: all supported ones, or none if there is no libNVVM.

        Returns
        -------
        Artifact
            With ``to_bytes()``, ``save(path)``, ``digest`` (SHA-256), ``manifest`` (JSON) and ``archs``.
        """
        if archs is None:
            targets = [ALL]
        elif isinstance(archs, Iterable) and not isinstance(archs, str):
            targets = [parse_arch(arch) for arch in archs]
        else:
            targets = [parse_arch(archs)]
        return self._definition.artifact([*targets, *self._definition.hosts])

    def inspect(self) -> str:
        """The content of the artifact as text: hooks, types, captures, payloads, tools."""
        return self.artifact().describe(self.name)

    def save(self, path: str | os.PathLike[str], archs: Iterable[str | int] | str | int | None = None) -> None:
        """Writes the artifact to a file ``.annudf``; values of captures are not part of it.

        Parameters
        ----------
        path : path
        archs : str, int or iterable of them, optional
            As in :meth:`artifact`.
        """
        file = check_path(path, "path")
        work = self.artifact(archs).saving(file)
        _ = work.result  # No call may follow the work, see Work.

    def precompile(
        self,
        dtype: npt.DTypeLike = np.float32,
        resources: Resources | None = None,
        *,
        arch: str | int | None = None,
    ) -> None:
        """Compiles and links the metric, so that no search waits for it.

        Kernels for GPUs stay in the cache on disk (``ANNUDF_CACHE_DIR``), where other processes find them.

        Parameters
        ----------
        dtype : dtype, default float32
            Element type of the vectors that will be searched.
        resources : Resources, optional
            ``Resources(device="cuda")`` prepares searches on a GPU; default: on the CPU.
        arch : str or int, optional
            An architecture of GPUs, ``"sm_90"`` or 90, instead of a device. No GPU is needed, for example to build an
            image.

        Raises
        ------
        DtypeError
            The metric does not accept such vectors.
        CompileError
            The metric breaks a rule.
        UnavailableError
            There is no such device, or a library is missing. With `arch` also: the cache is off or cannot be used.
        """
        from annudf import _core
        from annudf.common import check_resources

        device = check_resources(resources).device or CPU
        element = self._check_element(dtype_name(dtype, "dtype"))
        if arch is not None:
            if resources is not None:
                raise ArgumentError("arch and resources are given: kernels are for an architecture or for a device")
            name = parse_arch(arch)
            made = _core.precompile_for(self._definition.artifact((name,)), element, int(name.removeprefix("sm_")))
            backends.tell_link(self.name, name, made)
            return
        stats = backends.backend(device).precompile(self._artifact_for(device), element)
        backends.tell_link(self.name, device, stats)

    # --- For searches -----------------------------------------------------------------------------

    def prepare(self, device: Device, index: Index, queries: View | int) -> tuple[Artifact, Captures | None]:
        """Artifact and captures for a search of an index with these queries on `device`; for a filter, with so many.

        The captures are None where they are bound to no queries, as is the search.
        """
        # Neither changes, so all but the first search with them asks no more than whether they are long enough.
        key = (device, index.element, index.dims)
        if self._columns:
            check_columns(self, index)
        found = self._searched.get(key)
        if found is None:
            found = self._searched[key] = self._prepare(*key, index)
        count = queries if isinstance(queries, int) else queries.shape[0]
        if self._queries not in (_NONE, count):
            refuse_queries(self, count)
        if self._rows != _NONE and self._rows < (rows := index.row_extent):
            refuse_rows(self, rows)
        if isinstance(queries, int) or count == 0 or (prepared := self._prepares(found[0])) is None:
            return found
        return found[0], prepared.bind(found[0], device, index, queries)

    @functools.cached_property
    def _columns(self) -> dict[str, CaptureType]:
        """The captures without a value that may be columns of an index."""
        declared = self._definition.captures
        return {name: one for name, one in declared.items() if name not in self._values and one.extents == ("row",)}

    def _prepare(
        self, device: Device, element: str, dims: int, index: Index | None = None
    ) -> tuple[Artifact, Captures | None]:
        """Without an index, whose columns captures may be, all captures need values."""
        from annudf import _core

        self._check_element(DTYPE_OF_ELEMENT[element])
        artifact = self._artifact_for(device)  # Which says it where an array is indexed by too few axes.
        self._check_values(dims, index is not None)
        there = any(not isinstance(value.source, bytes) for value in self._values.values())
        key = (artifact.digest, dims, device if there else None)
        with self._lock:
            bound = self._bound.get(key)
            if bound is None:
                values: dict[str, tuple[str, Sequence[int], bytes | tuple[int, int, int, object], str]] = {
                    name: (value.dtype, value.shape, value.where(device), f"{self._noun} '{self.name}'")
                    for name, value in self._values.items()
                }
                self._rows, self._queries = self._lengths()
                if self._queries == 0 or self._definition.prepared(artifact):
                    return artifact, None
                of_queries = max(self._queries, 0)
                if index is not None and self._columns:
                    bound = _core.bind_index(artifact, index, values, self._allow_non_finite, of_queries)
                else:
                    bound = _core.Captures.bind(
                        artifact, dims, values, self._allow_non_finite, max(self._rows, 0), of_queries
                    )
                self._bound[key] = bound
        return artifact, bound

    def _artifact_for(self, device: Device) -> Artifact:
        return self._definition.artifact((HOST if device == CPU else backends.arch_of(device),))

    def query_dtypes(self, rows: str) -> tuple[str, ...]:
        """Element types that queries may have for rows of type `rows`, the one to convert to first.

        Raises
        ------
        DtypeError
            Where the metric does not accept such rows.
        """
        self._check_element(rows)
        # Floats that are made integers lose their fractions.
        first = rows if rows in FLOATS or "float32" not in self.elements else "float32"
        return tuple(dict.fromkeys((first, rows, *self.elements)))

    def _check_element(self, dtype: str) -> str:
        element = ELEMENT_OF_DTYPE.get(dtype, "")
        if element not in self._definition.elements:
            names = ", ".join(self.elements)
            raise DtypeError(f"{self._noun} '{self.name}' does not accept vectors of {dtype}; it accepts {names}")
        return element

    def _check_values(self, dims: int, has_columns: bool) -> None:
        for name, declared in self._definition.captures.items():
            value = self._values.get(name)
            if value is None and has_columns and name in self._columns:
                continue
            if value is None:
                refuse_unbound(self, name)
            for axis, (extent, length) in enumerate(zip(declared.extents, value.shape, strict=True)):
                if extent == "dim" and length != dims:
                    where = f" in axis {axis}" if len(declared.extents) > 1 else ""
                    raise CaptureError(
                        f"capture '{name}' of {self._noun} '{self.name}' has {length} entries{where}, the index "
                        f"has {dims} dimensions; give one entry a dimension"
                    )

    def _lengths(self) -> tuple[int, int]:
        """For how many rows the captures suffice, and for how many queries they are; `_NONE` without such."""
        rows, queries, first = _NONE, _NONE, ""
        for name, declared in self._definition.captures.items():
            if name not in self._values:
                continue
            length = 0 if declared.scalar else self._values[name].shape[0]
            if declared.extents[:1] == ("row",):
                rows = length if rows == _NONE else min(rows, length)
            elif declared.extents[:1] == ("query",) and queries not in (_NONE, length):
                raise CaptureError(
                    f"captures '{first}' and '{name}' of {self._noun} '{self.name}' have {queries} and {length} "
                    "entries, one a query; give both as many"
                )
            elif declared.extents[:1] == ("query",):
                queries, first = length, name
        return rows, queries

    # --- Of Python --------------------------------------------------------------------------------

    @of_whole("__wrapped__")
    def __repr__(self) -> str:
        captures = ", ".join(
            f"{name}: {self._spelled(name)}" for name in {**self._values, **self._definition.known_captures}
        )
        return f"<annudf {self._noun} {self.name}{f' ({captures})' if captures else ''}>"

    def _spelled(self, name: str) -> str:
        if name not in self._values:
            return "unbound"
        value = self._values[name]
        if value.scalar:
            number = str(value.array[()])  # In as few digits as tell it from others of its type.
            return f"{value.element} = {float(number) if 'f' in value.element else number}"
        return str(self._definition.known_captures.get(name, value))

    def __copy__(self) -> Metric:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Metric:
        # It never changes; and scikit-learn's clone() copies the parameters of an estimator.
        return self

    def __reduce__(self) -> str | tuple[Any, ...]:
        # A decorated class has its own name, not that of its update.
        return name_in_module(self, self.__wrapped__) or self._pickled()

    def _pickled(self) -> tuple[Any, ...]:
        """With its code and the values of its captures."""
        return _from_pickle, (
            self.artifact().to_bytes(),
            self.name,
            self._values,
            self._allow_non_finite,
            self._noun,
            self._definition.builtin_name,
            packed_parts(self._definition, (ALL, *self._definition.hosts)),
        )


def _from_pickle(
    data: bytes,
    name: str,
    values: dict[str, Value],
    allow_non_finite: bool,
    noun: str = "metric",
    builtin_name: str = "",
    parts: Mapping[str, Packed] = MappingProxyType({}),
) -> Metric:
    from annudf import _core

    artifact = _core.Artifact.from_bytes(data, f"pickled {noun} {name}")
    definition = ArtifactDefinition(artifact, "a pickle", builtin_name, unpacked_parts(parts))
    return Metric(definition, values, None, allow_non_finite, noun)
