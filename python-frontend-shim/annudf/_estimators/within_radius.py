# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The methods of `NearestNeighbors` that find all samples within a radius."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from annudf import ivf_flat
from annudf._support.checks import check_bool, check_choice
from annudf.errors import UnavailableError
from annudf.ivf_flat._radius import by_query

MODES = ("connectivity", "distance")
"""What entries of a graph may be."""


class WithinRadius:
    """What an estimator with an index has beside the nearest neighbours."""

    if TYPE_CHECKING:
        radius: float
        index_: ivf_flat.Index
        n_samples_fit_: int
        _fit_X: Any

        def _check_fitted(self) -> None: ...
        def _validate(self, array: Any, fitting: bool, missing: bool) -> Any: ...
        def _search_params(self) -> ivf_flat.SearchParams: ...

    def radius_neighbors(
        self,
        X: Any = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
        *,
        max_results: int | None = None,
    ) -> Any:
        """Finds the neighbours of each row within a radius, among the rows of the lists that it scans.

        Parameters
        ----------
        X : array of shape (n_queries, n_features), optional
            As in :meth:`kneighbors`.
        radius : float, optional
            The largest distance to find, or with order "max" the smallest. Default: that of the constructor.
        return_distance : bool, default True
        sort_results : bool, default False
            Taken as scikit-learn takes it. The best neighbours always come first.
        max_results : int, optional
            As for :func:`annudf.ivf_flat.radius_search`. Without `X` each sample finds itself, which counts.

        Returns
        -------
        distances : array of shape (n_queries,) of arrays
            float32; only if `return_distance`.
        neighbors : array of shape (n_queries,) of arrays
            int64 numbers of samples.

        Raises
        ------
        ArgumentError
            An argument cannot be used, or more than `max_results` samples are within the radius.
        """
        check_bool(sort_results, "sort_results")
        lims, distances, neighbors = self._within(X, radius, max_results)
        found = by_query(lims, neighbors)
        return (by_query(lims, distances), found) if return_distance else found

    def radius_neighbors_graph(
        self,
        X: Any = None,
        radius: float | None = None,
        mode: Literal["connectivity", "distance"] = "connectivity",
        sort_results: bool = False,
        *,
        max_results: int | None = None,
    ) -> Any:
        """The neighbours within a radius as a sparse matrix. Needs SciPy.

        Parameters
        ----------
        X, radius, sort_results, max_results
            As in :meth:`radius_neighbors`.
        mode : {"connectivity", "distance"}, default "connectivity"
            Whether entries are 1 or the distance.

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_queries, n_samples_fit)
            The entries of a row are in the order of their distances.
        """
        check_choice(mode, "mode", MODES)
        check_bool(sort_results, "sort_results")
        matrix = sparse_class("radius_neighbors_graph")
        lims, distances, neighbors = self._within(X, radius, max_results)
        values = distances if mode == "distance" else np.ones(len(distances), np.float32)
        return matrix((values, neighbors, lims), shape=(len(lims) - 1, self.n_samples_fit_))

    def _within(self, X: Any, radius: float | None, max_results: int | None) -> tuple[Any, Any, Any]:
        """What a radius search finds; without X no sample is its own neighbour."""
        self._check_fitted()
        queries = self._fit_X if X is None else self._validate(X, fitting=False, missing=self.index_.missing_values)
        limit = self.radius if radius is None else radius
        lims, distances, neighbors = ivf_flat.radius_search(
            self._search_params(), self.index_, queries, limit, max_results
        )
        if X is not None:
            return lims, distances, neighbors
        others = neighbors != np.repeat(np.arange(len(lims) - 1), np.diff(lims))
        kept = np.concatenate([[0], np.cumsum(others)])
        return kept[lims], distances[others], neighbors[others]


def sparse_class(method: str) -> Any:
    """The class of SciPy's sparse matrices, which the method needs."""
    try:
        from scipy.sparse import csr_matrix
    except ImportError:
        raise UnavailableError(f"{method} needs SciPy: pip install scipy") from None
    return csr_matrix
