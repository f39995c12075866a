# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Parameters of an index."""

from __future__ import annotations

from typing import Literal, Self

from annudf._core import (
    DEFAULT_KMEANS_N_ITERS,
    DEFAULT_KMEANS_TRAINSET_FRACTION,
    DEFAULT_N_LISTS,
    DEFAULT_SEED,
    MAX_KMEANS_N_ITERS,
    MAX_LISTS,
)
from annudf._metric.builtin import check_index_metric
from annudf._support.checks import check_bool, check_int, check_number, refusal, shown
from annudf._support.limits import MAX_SEED
from annudf._support.options import IndexMetric
from annudf._support.repr import of_whole
from annudf.errors import ArgumentError


class Parameters:
    """Base of parameters, which never change: a name that is set on them is a mistake, mistyped or not."""

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
            return
        kind = type(self).__name__
        known = self._names()
        if name not in known:
            raise AttributeError(f"{kind} has no '{name}'; it has {', '.join(known)}")
        raise AttributeError(f"{name} of {kind} cannot be set; make others: {kind}({name}=...)")

    @classmethod
    def _names(cls) -> list[str]:
        return [one for base in cls.__mro__ for one, member in vars(base).items() if isinstance(member, property)]

    def _replaced(self, **others: object) -> Self:
        """The same parameters, but for those given."""
        return type(self)(**{name: getattr(self, name) for name in self._names()} | others)


class IndexParams(Parameters):
    """How to build an index; names and defaults are those of cuVS.

    Parameters
    ----------
    n_lists : int or "auto", default 1024
        Number of lists that the vectors are clustered into. "auto": the square root of the number of vectors, or 1 for
        fewer than 1000.
    metric : {"sqeuclidean", "euclidean", "inner_product", "cosine"}, default "sqeuclidean"
        Clusters the vectors, and ranks the rows of :func:`search` unless its parameters name another metric.
        "sqeuclidean" is the sum of squared differences, "euclidean" its root, "inner_product" the sum of products, the
        largest first, "cosine" one minus that sum for vectors scaled to length 1.
    metric_arg : float, default 2.0
        Accepted for code that was written for cuVS. No metric here has an argument, so any other value is refused;
        :class:`SearchParams` has an argument for "minkowski".
    kmeans_n_iters : int, default 20
        Most iterations of k-means, at most 10000.
    kmeans_trainset_fraction : float, default 0.5
        Share of the vectors that k-means trains on, above 0 and at most 1.
    adaptive_centers : bool, default False
        Whether centers move, with :func:`build` and with every :func:`extend`, to the means of the vectors in their
        lists (scaled to length 1 for "inner_product" and "cosine"). Vectors stay in the list that they joined, so the
        centers depend on the order in which vectors were added.
    add_data_on_build : bool, default True
        Whether :func:`build` adds the vectors. False: the index has centers but no vectors until :func:`extend` adds
        some.
    missing_values : bool, default False
        Whether coordinates of vectors and queries may be NaN, which stands for a missing value. To cluster vectors and
        rank lists, the mean of the dimension replaces it; metrics see the NaN. Only metrics with ``missing_values``,
        such as "nan_euclidean", search such an index. The vectors are float32, float16 or bfloat16.
    conservative_memory_allocation : bool, default False
        Accepted for code that was written for cuVS. Lists always take only the memory that they need.
    seed : int, default 1
        Seed of k-means, from 1. Equal vectors, parameters and seeds give equal indexes.

    Raises
    ------
    ArgumentError
        A value is out of its range, or not available yet.
    """

    def __init__(
        self,
        *,
        n_lists: float | Literal["auto"] = DEFAULT_N_LISTS,
        metric: IndexMetric = "sqeuclidean",
        metric_arg: float = 2.0,
        kmeans_n_iters: int = DEFAULT_KMEANS_N_ITERS,
        kmeans_trainset_fraction: float = DEFAULT_KMEANS_TRAINSET_FRACTION,
        adaptive_centers: bool = False,
        add_data_on_build: bool = True,
        missing_values: bool = False,
        conservative_memory_allocation: bool = False,
        seed: int = DEFAULT_SEED,
    ) -> None:
        self._n_lists: int | Literal["auto"] = (
            "auto"
            if isinstance(n_lists, str) and n_lists == "auto"
            else check_int(n_lists, "n_lists", 1, MAX_LISTS, " or 'auto'")
        )
        if not isinstance(metric, str):
            raise ArgumentError(
                f"metric is {metric!r}; an index is clustered by 'sqeuclidean', 'euclidean', "
                "'inner_product' or 'cosine', and a metric of your own goes into SearchParams(metric=...)"
            )
        check_index_metric(metric)
        self._metric = metric
        self._metric_arg = check_number(metric_arg, "metric_arg")
        if self._metric_arg != 2.0:
            raise ArgumentError(
                f"metric_arg is {shown(metric_arg)}, but vectors are clustered by a metric without an argument; search "
                f"by SearchParams(metric='minkowski', metric_arg={shown(metric_arg)})"
            )
        self._iterations = check_int(kmeans_n_iters, "kmeans_n_iters", 1, MAX_KMEANS_N_ITERS)
        self._fraction = check_number(kmeans_trainset_fraction, "kmeans_trainset_fraction")
        if not 0 < self._fraction <= 1:
            raise refusal("kmeans_trainset_fraction", kmeans_trainset_fraction, "above 0 and at most 1")
        self._adaptive = check_bool(adaptive_centers, "adaptive_centers")
        self._add_data = check_bool(add_data_on_build, "add_data_on_build")
        self._missing = check_bool(missing_values, "missing_values")
        self._conservative = check_bool(conservative_memory_allocation, "conservative_memory_allocation")
        # The command line has a seed 0 too, but the C interface has no word for it.
        self._seed = check_int(seed, "seed", 1, MAX_SEED, "; 0 says 'the default', 1, to the C interface")

    @property
    def n_lists(self) -> int | Literal["auto"]:
        """Number of lists, or "auto"."""
        return self._n_lists

    @property
    def metric(self) -> IndexMetric:
        """The metric that clusters the vectors, and by default ranks them."""
        return self._metric

    @property
    def metric_arg(self) -> float:
        """Always 2.0."""
        return self._metric_arg

    @property
    def kmeans_n_iters(self) -> int:
        """Most iterations of k-means."""
        return self._iterations

    @property
    def kmeans_trainset_fraction(self) -> float:
        """Part of the vectors that k-means trains on."""
        return self._fraction

    @property
    def adaptive_centers(self) -> bool:
        """Whether centers move as vectors are added."""
        return self._adaptive

    @property
    def add_data_on_build(self) -> bool:
        """Whether :func:`build` adds the vectors that it trains on."""
        return self._add_data

    @property
    def missing_values(self) -> bool:
        """Whether a coordinate may be NaN."""
        return self._missing

    @property
    def conservative_memory_allocation(self) -> bool:
        """As given; it changes nothing."""
        return self._conservative

    @property
    def seed(self) -> int:
        """Seed of k-means."""
        return self._seed

    @of_whole("_seed")
    def __repr__(self) -> str:
        more = ", adaptive_centers=True" if self._adaptive else ""
        more += "" if self._add_data else ", add_data_on_build=False"
        more += ", missing_values=True" if self._missing else ""
        return (
            f"IndexParams(n_lists={self._n_lists!r}, metric={self._metric!r}, kmeans_n_iters={self._iterations}, "
            f"kmeans_trainset_fraction={self._fraction}{more}, seed={self._seed})"
        )
