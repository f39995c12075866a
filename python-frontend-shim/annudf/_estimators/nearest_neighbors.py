# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""`NearestNeighbors`: an estimator of scikit-learn where that is installed, else the same without it."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from annudf import _arrays, ivf_flat
from annudf._core import DEFAULT_N_PROBES, DEFAULT_RECALL, MAX_LISTS
from annudf._estimators.within_radius import MODES, WithinRadius, sparse_class
from annudf._metric.builtin import DEFAULT_ARGUMENT, builtin_names, check_metric, chosen_metric
from annudf._metric.metric import MetricSource
from annudf._metric.nan import OnNaN
from annudf._support.checks import check_choice, check_int, check_number, refusal, shown
from annudf._support.options import COARSE_OF_METRIC
from annudf._support.repr import of_whole
from annudf.errors import ArgumentError, CaptureError, DtypeError
from annudf.ivf_flat._evaluate import tune_on_rows
from annudf.ivf_flat._index import build_of
from annudf.ivf_flat._itself import without_self
from annudf.ivf_flat._search import check_k

if TYPE_CHECKING:

    class _Estimator:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...

    _sklearn: Any = None
else:
    try:
        import sklearn.utils.validation as _sklearn
        from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

        class _Estimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
            """What scikit-learn needs of a transformer."""

    except ImportError:
        _sklearn = None

        class _Estimator:
            """What an estimator needs where there is no scikit-learn."""

            def get_params(self, deep=True):
                """Parameters of the constructor by name."""
                return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

            def set_params(self, **params):
                """Sets parameters of the constructor."""
                known = self.get_params(deep=False)
                for name, value in params.items():
                    if name not in known:
                        raise ArgumentError(f"no parameter '{name}'; there are {', '.join(known)}")
                    setattr(self, name, value)
                return self

            def __repr__(self):
                values = ", ".join(f"{name}={value!r}" for name, value in self.get_params(deep=False).items())
                return f"{type(self).__name__}({values})"


_CAPTURE = "metric__"
"""Begins names of parameters that are captures of the metric."""


class NearestNeighbors(WithinRadius, _Estimator):
    """Finds nearest neighbours with an IVF-Flat index, in the style of ``sklearn.neighbors.NearestNeighbors``.

    Neighbours are approximate: a query scans some of the `n_lists` lists. By default :meth:`fit` finds how many lists
    the `recall` needs. For fewer than 1000 samples there is one list by default, and neighbours are exact.

    Parameters
    ----------
    n_neighbors : int, default 5
        Neighbours to find, 1 or more.
    radius : float, default 1.0
        What :meth:`radius_neighbors` looks within, a distance of the metric.
    metric : str or Metric, default "euclidean"
        The name of a built-in metric (:mod:`annudf.metrics`), or a function decorated with
        :func:`annudf.metric` for a metric of your own.
        ``set_params(metric__w=...)`` binds its capture ``w``, also in a grid of parameters.
    p : float, default 2
        The exponent of "minkowski". With another metric any other value is refused.
    mode : {"distance", "connectivity"}, default "distance"
        The entries of the graph of :meth:`transform`.
    n_lists : int, optional
        Lists of the index. Default: the square root of the number of samples, or 1 for fewer than 1000.
    n_probes : int, optional
        Lists that a query scans. Default: :meth:`fit` finds them by `recall`.
    recall : float or None, default 0.95
        Share of the true `n_neighbors` to find, above 0 and at most 1. :meth:`fit` takes the fewest probes with which
        up to 256 samples, drawn by `random_state`, reach it; it searches exactly for these samples once. None: the
        default probes of a search, or all lists if there are fewer. Not used if `n_probes` is given.
    random_state : int, numpy.random.RandomState or None, default 0
        Seed of k-means, or a generator that draws the seed. None: NumPy's global state. Equal seeds give equal indexes.
    on_nan : {"warn", "raise", "skip"}, default "warn"
        What to do if distances are NaN, as for :class:`annudf.ivf_flat.SearchParams`.

    Attributes
    ----------
    index_ : annudf.ivf_flat.Index
    n_probes_ : int
        Lists that a query scans.
    recall_ : float or None
        The recall that :meth:`fit` measured with `n_probes_`; None if it measured none.
    n_features_in_ : int
        Dimensions of the samples.
    feature_names_in_ : ndarray of str
        Names of the columns, if the samples were a data frame.
    n_samples_fit_ : int
        Number of samples.
    effective_metric_ : str
        Name of the metric.

    Examples
    --------
    >>> import numpy as np
    >>> from annudf.neighbors import NearestNeighbors
    >>> samples = np.array([[0, 0], [1, 0], [5, 5]], dtype=np.float32)
    >>> NearestNeighbors(n_neighbors=2).fit(samples).kneighbors([[4, 4]])
    (array([[1.4142135, 5.       ]], dtype=float32), array([[2, 1]]))
    """

    __module__ = "annudf.neighbors"

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        radius: float = 1.0,
        metric: str | ivf_flat.Metric | MetricSource = "euclidean",
        p: float = DEFAULT_ARGUMENT,
        mode: Literal["distance", "connectivity"] = "distance",
        n_lists: int | None = None,
        n_probes: int | None = None,
        recall: float | None = DEFAULT_RECALL,
        random_state: int | np.random.RandomState | None = 0,
        on_nan: OnNaN = "warn",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.p = p
        self.mode = mode
        self.n_lists = n_lists
        self.n_probes = n_probes
        self.recall = recall
        self.random_state = random_state
        self.on_nan = on_nan

    @of_whole("random_state")
    def __repr__(self) -> str:
        return super().__repr__()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        with contextlib.suppress(ArgumentError):  # Parameters are checked by fit().
            tags.input_tags.allow_nan = chosen_metric(*check_metric(self.metric, self.p, "p")).missing_values
        tags.transformer_tags.preserves_dtype = []  # Distances are float32.
        return tags

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the constructor by name.

        Parameters
        ----------
        deep : bool, default True
            Whether to include the bound captures of the metric, as ``metric__`` and their names: numbers, and read-only
            views of arrays.

        Returns
        -------
        dict
        """
        found = super().get_params(deep=False)
        if deep and isinstance(self.metric, ivf_flat.Metric):
            for name, value in self.metric.captures.items():
                found[f"{_CAPTURE}{name}"] = value if value.ndim else value.item()
        return found

    def set_params(self, **params: Any) -> Self:
        """Sets parameters of the constructor, and captures of the metric by ``metric__`` and their names.

        Parameters
        ----------
        **params
            Captures are bound to the `metric` that this call leaves. Nothing is compiled.

        Returns
        -------
        NearestNeighbors
            Itself.

        Raises
        ------
        CaptureError
            The metric has no such capture, or the value does not fit it.
        """
        captures = {name.removeprefix(_CAPTURE): params.pop(name) for name in [*params] if name.startswith(_CAPTURE)}
        metric = params.get("metric", self.metric)
        if captures and not isinstance(metric, ivf_flat.Metric):
            raise CaptureError(
                f"metric is {shown(metric)}, which has no capture '{next(iter(captures))}'; give a function decorated "
                "with @annudf.metric(...), or metrics.get(...)"
            )
        bound = metric.bind(**captures) if captures else metric
        super().set_params(**params)
        self.metric = bound
        return self

    def fit(self, X: Any, y: Any = None, *, columns: Mapping[str, Any] | None = None) -> Self:
        """Builds the index, and finds the probes that `recall` needs.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            float32, float16, int8 and uint8 keep their type. Other host arrays and lists are converted to float32.
            Device arrays and :class:`annudf.PackedBits` as for :func:`annudf.ivf_flat.build`.
        y : ignored
        columns : mapping of str to array of shape (n_samples,), optional
            Values of the samples that the metric reads, as for :func:`annudf.ivf_flat.build`.

        Returns
        -------
        NearestNeighbors
            Itself.
        """
        metric, argument = _check_metric(self.metric, self.p)
        ranking = chosen_metric(metric, argument)
        samples = self._validate(X, fitting=True, missing=ranking.missing_values)
        name: Any = metric if metric in COARSE_OF_METRIC else ranking.coarse_metric
        rows = int(samples.shape[0])
        n_lists: int | Literal["auto"] = "auto" if self.n_lists is None else self.n_lists
        seed = _seed(self.random_state)
        params = ivf_flat.IndexParams(n_lists=n_lists, metric=name, seed=seed, missing_values=ranking.missing_values)
        if params.n_lists != "auto" and rows < params.n_lists:
            raise ArgumentError(
                f"n_samples = {rows}, which is fewer than n_lists = {params.n_lists}; a list needs a sample"
            )
        wanted = _check_recall(self.recall)
        self.index_ = build_of(params, samples, columns=columns)
        self.n_probes_, self.recall_ = self._find_probes(samples, ranking, wanted, seed)
        # The parameter may be set to another metric before the next fit.
        self._search_metric: dict[str, Any] = {"metric": metric, "metric_arg": argument}
        self.n_samples_fit_ = rows
        self.effective_metric_ = metric.name if isinstance(metric, ivf_flat.Metric) else metric
        self._fit_X = samples
        return self

    def _find_probes(
        self, samples: Any, ranking: ivf_flat.Metric, wanted: float | None, seed: int
    ) -> tuple[int, float | None]:
        lists = self.index_.n_lists
        if self.n_probes is not None:
            return min(check_int(self.n_probes, "n_probes", 1, MAX_LISTS), lists), None
        k = check_k(self.n_neighbors, name="n_neighbors")
        if wanted is not None and lists == 1:
            return 1, 1.0
        found = None
        if wanted is not None:
            most = min(k, self.index_.size - 1)
            found = tune_on_rows(self.index_, samples, ranking, most, wanted, seed, self.on_nan)
        return found or (min(DEFAULT_N_PROBES, lists), None)

    def kneighbors(
        self,
        X: Any = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
    ) -> Any:
        """Finds the neighbours of each row.

        Parameters
        ----------
        X : array of shape (n_queries, n_features), optional
            An array of the samples' dtype. Other host arrays and lists are converted; to int8 and uint8 only if no
            value changes. Default: the samples themselves, where no sample is its own neighbour.
        n_neighbors : int, optional
            Default: that of the constructor.
        return_distance : bool, default True

        Returns
        -------
        distances : array of shape (n_queries, n_neighbors)
            float32, the best first; only if `return_distance`.
        neighbors : array of shape (n_queries, n_neighbors)
            int64 numbers of samples; -1, at the worst distance, if the probed lists have too few.
        """
        self._check_fitted()
        itself = X is None
        k = check_k(self.n_neighbors if n_neighbors is None else n_neighbors, name="n_neighbors")
        most = self.n_samples_fit_ - itself
        if k > most:
            raise ArgumentError(
                f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, n_samples_fit = {self.n_samples_fit_}"
                + (", and no sample is its own neighbour" if itself else "")
            )
        queries = self._fit_X
        if not itself:
            queries = self._validate(X, fitting=False, missing=self.index_.missing_values)
        distances, neighbors = ivf_flat.search(self._search_params(), self.index_, queries, k + itself)
        if itself:
            distances, neighbors = without_self(distances, neighbors)
        return (distances, neighbors) if return_distance else neighbors

    def transform(self, X: Any) -> Any:
        """The graph of neighbours, as ``sklearn.neighbors.KNeighborsTransformer`` gives it. Needs SciPy.

        In a pipeline, estimators with ``metric="precomputed"`` can follow.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            As in :meth:`kneighbors`.

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_queries, n_samples_fit)
            A graph with `n_neighbors` entries a row, and one more in mode "distance": each sample is its own first
            neighbour there.
        """
        self._check_fitted()
        k = check_k(self.n_neighbors, name="n_neighbors")
        return self.kneighbors_graph(X, k + (self.mode == "distance"), self.mode)

    def fit_transform(self, X: Any, y: Any = None, *, columns: Mapping[str, Any] | None = None) -> Any:
        """Builds the index of `X` and gives the graph of its neighbours.

        Parameters
        ----------
        X, y, columns
            As in :meth:`fit`.

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_samples, n_samples)
        """
        return self.fit(X, columns=columns).transform(X)

    @property
    def _n_features_out(self) -> int:
        return self.n_samples_fit_

    def kneighbors_graph(
        self,
        X: Any = None,
        n_neighbors: int | None = None,
        mode: Literal["connectivity", "distance"] = "connectivity",
    ) -> Any:
        """The neighbours as a sparse matrix; host arrays only. Needs SciPy.

        Parameters
        ----------
        X, n_neighbors
            As in :meth:`kneighbors`.
        mode : {"connectivity", "distance"}, default "connectivity"
            Whether entries are 1 or the distance.

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_queries, n_samples_fit)
        """
        check_choice(mode, "mode", MODES)
        matrix = sparse_class("kneighbors_graph")
        distances, neighbors = (np.asarray(part) for part in self.kneighbors(X, n_neighbors))
        found = neighbors >= 0
        starts = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
        values = distances[found] if mode == "distance" else np.ones(int(found.sum()), np.float32)
        return matrix((values, neighbors[found], starts), shape=(neighbors.shape[0], self.n_samples_fit_))

    def _search_params(self) -> ivf_flat.SearchParams:
        probes = self.n_probes_ if self.n_probes is None else self.n_probes
        return ivf_flat.SearchParams(n_probes=probes, on_nan=self.on_nan, **self._search_metric)

    def _check_fitted(self) -> None:
        if _sklearn is not None:
            _sklearn.check_is_fitted(self, "index_")
        elif not hasattr(self, "index_"):
            raise ArgumentError("this NearestNeighbors is not fitted yet; call fit() first")

    def _validate(self, array: Any, fitting: bool, missing: bool) -> Any:
        if _on_device(array) or isinstance(array, _arrays.PackedBits):
            if fitting:
                self.n_features_in_ = int(array.shape[1]) if len(array.shape) == 2 else 0
            return array
        accepted: list[Any] = [np.dtype(name) for name in _arrays.VECTORS if name not in ("bfloat16", "bits")]
        if not fitting and self.index_.dtype.kind == "f":
            accepted = [self.index_.dtype]
        try:
            if _sklearn is not None:
                host = _sklearn.validate_data(
                    self,
                    array,
                    reset=fitting,
                    dtype=accepted,
                    order="C",
                    ensure_all_finite="allow-nan" if missing else True,
                )
            else:
                host = np.asarray(array)
                if host.ndim == 0 or host.dtype.kind in "cmM":
                    raise ValueError(f"it has shape {host.shape} and dtype {host.dtype}; give rows of real numbers")
                if host.dtype not in accepted:
                    host = host.astype(accepted[0])
        except ValueError as error:
            raise ArgumentError(f"X cannot be used: {error}") from None
        except TypeError as error:
            raise DtypeError(f"X cannot be used: {error}") from None
        if fitting:
            if _sklearn is None:
                self.n_features_in_ = host.shape[1] if host.ndim == 2 else 0
            return host
        return _exactly(host, self.index_.dtype)


def _check_metric(metric: object, argument: object) -> tuple[str | ivf_flat.Metric, float]:
    known = builtin_names()
    if isinstance(metric, (ivf_flat.Metric, MetricSource)) or (isinstance(metric, str) and metric in known):
        return check_metric(metric, argument, "p")
    if callable(metric):
        name = getattr(metric, "__name__", type(metric).__name__)
        raise ArgumentError(f"metric is the function '{name}'; decorate it with @annudf.metric(...)")
    names = ", ".join(f"'{one}'" for one in known)
    raise refusal("metric", metric, f"one of {names}, or a function decorated with @annudf.metric(...)")


def _check_recall(recall: object) -> float | None:
    if recall is None:
        return None
    wanted = check_number(recall, "recall")
    if not 0 < wanted <= 1:
        raise refusal("recall", recall, "above 0 and at most 1, or None")
    return wanted


def _exactly(host: Any, dtype: np.dtype[Any]) -> Any:
    """The array in `dtype`, if that changes no value; else as it is, for the search to refuse."""
    if host.dtype == dtype:
        return host
    with np.errstate(invalid="ignore"):
        converted = host.astype(dtype)
    return converted if np.array_equal(converted, host) else host


def _seed(random_state: Any) -> int:
    """A seed of k-means, from 1."""
    if random_state is None:
        return int(np.random.randint(1, 2**31 - 1))  # noqa: NPY002 - what None means in scikit-learn
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(1, 2**31 - 1))
    return check_int(random_state, "random_state", 0, 2**32 - 1) + 1


def _on_device(array: Any) -> bool:
    library = _arrays.library_of(array)
    if library == "torch":
        return bool(array.device.type == "cuda")
    return library == "cupy" or hasattr(array, "__cuda_array_interface__")
