# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""annudf and what compare.py measures it against, each behind the same few methods."""

from __future__ import annotations

import importlib.metadata
import math
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
from compare_tasks import Array, Task, scan

import annudf
from annudf import brute_force, ivf_flat


class Peer:
    """Searches one task; `build` is timed, `search` returns ids and distances as annudf has them."""

    label = ""
    package = ""

    def __init__(self, task: Task, options: Any) -> None:
        self.task, self.options = task, options

    @classmethod
    def version(cls) -> str:
        """The version of the package."""
        return importlib.metadata.version(cls.package)

    @staticmethod
    def can(task: Task) -> bool:
        """Whether it can search by this distance."""
        return True

    def build(self) -> None:
        """Makes the index, or nothing."""

    def settings(self) -> Iterator[Any]:
        """What is turned for recall against speed; one None for exact searches."""
        yield None

    def search(self, queries: slice, setting: Any) -> tuple[Array, Array]:
        """Results for some of the task's queries."""
        raise NotImplementedError

    def told(self, setting: Any) -> str:
        """A setting in words."""
        return ""


def _lists(rows: int) -> int:
    return max(1, math.isqrt(rows))


def _doubling(last: int) -> Iterator[int]:
    value = 1
    while value < last:
        yield value
        value *= 2
    yield last


class AnnudfIvf(Peer):
    """annudf's IVF-Flat, clustered by L2 whatever the metric."""

    label, package = "annudf IVF-Flat", "annudf"

    @classmethod
    def version(cls) -> str:
        """The version of the package, installed or not."""
        return annudf.__version__

    def build(self) -> None:
        """Trains and fills the lists."""
        self._index = ivf_flat.build(
            ivf_flat.IndexParams(n_lists=_lists(len(self.task.base))), self.task.base, progress=False
        )

    def settings(self) -> Iterator[int]:
        """Lists scanned."""
        yield from _doubling(self._index.n_lists)

    def search(self, queries: slice, setting: int) -> tuple[Array, Array]:
        """Scans `setting` lists."""
        params = ivf_flat.SearchParams(n_probes=setting, metric=self.task.metric)
        distances, ids = ivf_flat.search(params, self._index, self.task.queries[queries], self.options.k)
        return ids, distances

    def told(self, setting: int) -> str:
        """The number of probes."""
        return f"{setting} of {self._index.n_lists} lists"


class AnnudfExact(AnnudfIvf):
    """annudf's exact search."""

    label = "annudf brute_force"

    def build(self) -> None:
        """Copies the rows."""
        self._exact = brute_force.build(self.task.base, metric=self.task.metric, progress=False)

    def settings(self) -> Iterator[None]:
        """Nothing to turn."""
        yield None

    def search(self, queries: slice, setting: None) -> tuple[Array, Array]:
        """Scans all rows."""
        distances, ids = brute_force.search(self._exact, self.task.queries[queries], self.options.k)
        return ids, distances

    def told(self, setting: None) -> str:
        """Nothing."""
        return ""


class NumbaExact(Peer):
    """A parallel loop of numba around the distance."""

    label, package = "numba loop", "numba"

    def build(self) -> None:
        """Compiles the loop, so that no search is timed with that."""
        self._scan = scan(self.task.pair, np.float32, fast=True)
        self._scan(self.task.peer_base[:100], self.task.peer_queries[:1], 1)

    def search(self, queries: slice, setting: None) -> tuple[Array, Array]:
        """Scans all rows."""
        ids, distances = self._scan(self.task.peer_base, self.task.peer_queries[queries], self.options.k)
        return ids, distances


class _Usearch(Peer):
    package = "usearch"

    def compiled(self) -> Any:
        """The distance as usearch takes it, a C function that numba compiled."""
        from usearch.index import CompiledMetric, MetricKind, MetricSignature

        pair, dims = self.task.pair, self.task.peer_base.shape[1]
        pointer = numba.types.CPointer(numba.types.float32)

        @numba.cfunc(numba.types.float32(pointer, pointer), fastmath=True, error_model="numpy")
        def distance(x, y):  # type: ignore[no-untyped-def]
            return pair(numba.carray(x, dims), numba.carray(y, dims))

        self._kept = distance  # Its code lives as long as it does.
        return CompiledMetric(distance.address, MetricKind.L2sq, MetricSignature.ArrayArray)


class UsearchHnsw(_Usearch):
    """usearch's graph under the compiled metric."""

    label = "usearch HNSW"

    def build(self) -> None:
        """Adds all rows to the graph."""
        from usearch.index import Index

        self._index = Index(ndim=self.task.peer_base.shape[1], metric=self.compiled(), dtype="f32")
        self._index.add(None, self.task.peer_base, threads=self.options.threads)

    def settings(self) -> Iterator[int]:
        """Candidates kept while searching."""
        for value in (16, 32, 64, 128, 256, 512):
            if value >= self.options.k:
                yield value

    def search(self, queries: slice, setting: int) -> tuple[Array, Array]:
        """Walks the graph."""
        self._index.expansion_search = setting
        found = self._index.search(self.task.peer_queries[queries], self.options.k, threads=self.options.threads)
        return found.keys.astype(np.int64), found.distances

    def told(self, setting: int) -> str:
        """The expansion."""
        return f"expansion {setting}"


class UsearchExact(_Usearch):
    """usearch's exact search under the compiled metric."""

    label = "usearch exact"

    def build(self) -> None:
        """Compiles the metric."""
        self._metric = self.compiled()

    def search(self, queries: slice, setting: None) -> tuple[Array, Array]:
        """Scans all rows."""
        from usearch.index import search

        found = search(
            self.task.peer_base,
            self.task.peer_queries[queries],
            self.options.k,
            self._metric,
            exact=True,
            threads=self.options.threads,
        )
        return found.keys.astype(np.int64), found.distances


class Pynndescent(Peer):
    """pynndescent's graph under the metric that numba compiled."""

    label, package = "pynndescent", "pynndescent"

    def build(self) -> None:
        """Finds the graph of neighbours and prepares it for queries; compiles first, which is in this time."""
        from pynndescent import NNDescent

        self._index = NNDescent(
            self.task.peer_base,
            metric=self.task.pair,
            n_neighbors=30,
            n_jobs=self.options.threads,
            random_state=1,
            parallel_batch_queries=True,
        )
        self._index.prepare()

    def settings(self) -> Iterator[float]:
        """How far beyond the best a candidate may be."""
        yield from (0.0, 0.05, 0.1, 0.2, 0.3)

    def search(self, queries: slice, setting: float) -> tuple[Array, Array]:
        """Walks the graph."""
        ids, distances = self._index.query(self.task.peer_queries[queries], self.options.k, epsilon=setting)
        return ids.astype(np.int64), distances

    def told(self, setting: float) -> str:
        """The epsilon."""
        return f"epsilon {setting}"


class FaissIvf(Peer):
    """FAISS's IVF-Flat under a built-in metric; it has none of one's own."""

    label, package = "FAISS IVF-Flat", "faiss-cpu"

    @staticmethod
    def can(task: Task) -> bool:
        """Where a built-in metric gives the same order."""
        return task.faiss is not None

    def _ready(self, rows: Array) -> Array:
        assert self.task.faiss is not None
        return np.ascontiguousarray(self.task.faiss[1](rows), np.float32)

    def _kind(self) -> int:
        import faiss

        assert self.task.faiss is not None
        return int(getattr(faiss, self.task.faiss[0]))

    def build(self) -> None:
        """Trains and fills the lists, as many as annudf's."""
        import faiss

        base, dims = self._ready(self.task.base), self.task.base.shape[1]
        self._coarse = faiss.IndexFlatL2(dims)
        self._index = faiss.IndexIVFFlat(self._coarse, dims, _lists(len(base)), self._kind())
        self._index.cp.seed = 1
        self._index.train(base)
        self._index.add(base)
        self._queries = self._ready(self.task.queries)

    def settings(self) -> Iterator[int]:
        """Lists scanned."""
        yield from _doubling(self._index.nlist)

    def search(self, queries: slice, setting: int) -> tuple[Array, Array]:
        """Scans `setting` lists."""
        self._index.nprobe = setting
        distances, ids = self._index.search(self._queries[queries], self.options.k)
        return ids, distances

    def told(self, setting: int) -> str:
        """The number of probes."""
        return f"{setting} of {self._index.nlist} lists"


class FaissExact(FaissIvf):
    """FAISS's flat index under a built-in metric."""

    label = "FAISS flat, built-in metric"

    def build(self) -> None:
        """Copies the rows."""
        import faiss

        self._index = faiss.IndexFlat(self.task.base.shape[1], self._kind())
        self._index.add(self._ready(self.task.base))
        self._queries = self._ready(self.task.queries)

    def settings(self) -> Iterator[None]:
        """Nothing to turn."""
        yield None

    def search(self, queries: slice, setting: None) -> tuple[Array, Array]:
        """Scans all rows."""
        distances, ids = self._index.search(self._queries[queries], self.options.k)
        return ids, distances

    def told(self, setting: None) -> str:
        """Nothing."""
        return ""


class SklearnBuiltin(Peer):
    """scikit-learn's brute force under a metric that it has."""

    label, package = "scikit-learn, built-in metric", "scikit-learn"

    @staticmethod
    def can(task: Task) -> bool:
        """Where it has the metric."""
        return task.sklearn is not None

    algorithm = "brute"

    def _arguments(self) -> dict[str, Any]:
        return dict(self.task.sklearn or {})

    def build(self) -> None:
        """Keeps the rows, or makes the tree."""
        from sklearn.neighbors import NearestNeighbors

        self._index = NearestNeighbors(
            n_neighbors=self.options.k, algorithm=self.algorithm, n_jobs=self.options.threads, **self._arguments()
        ).fit(self.task.peer_base)

    def search(self, queries: slice, setting: None) -> tuple[Array, Array]:
        """Scans all rows."""
        distances, ids = self._index.kneighbors(self.task.peer_queries[queries])
        if self.task.name == "weighted_l2" and "metric_params" in self._arguments():
            distances = distances**2  # Its Minkowski takes the root.
        return ids, distances


class SklearnTree(SklearnBuiltin):
    """scikit-learn's ball tree under a metric that it has."""

    label, algorithm = "scikit-learn ball tree, built-in metric", "ball_tree"


class SklearnCallable(SklearnBuiltin):
    """scikit-learn's brute force under a callable, which it calls from Python for each pair."""

    label = "scikit-learn, callable (compiled by numba)"

    @staticmethod
    def can(task: Task) -> bool:
        """Always."""
        return True

    def _arguments(self) -> dict[str, Any]:
        return {"metric": self.task.pair}


APPROXIMATE: tuple[type[Peer], ...] = (AnnudfIvf, UsearchHnsw, Pynndescent, FaissIvf)
EXACT: tuple[type[Peer], ...] = (
    AnnudfExact,
    UsearchExact,
    NumbaExact,
    FaissExact,
    SklearnBuiltin,
    SklearnTree,
    SklearnCallable,
)
MODULES = {"usearch": "usearch", "pynndescent": "pynndescent", "faiss-cpu": "faiss", "scikit-learn": "sklearn"}
