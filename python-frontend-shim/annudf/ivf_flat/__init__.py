# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""IVF-Flat: an inverted file of whole vectors, searched with a metric of one's own.

Names, arguments and defaults are those of ``cuvs.neighbors.ivf_flat`` and of the proof of concept of Python metrics
there, so code that was written for those runs with the import changed. What is not available yet is refused by name.
"""

from annudf._metric.captures import capture, column
from annudf._metric.context import Context
from annudf._metric.cuda_source import cuda_source_metric
from annudf._metric.decorator import metric
from annudf._metric.loading import load_metric
from annudf._metric.metric import Metric
from annudf._metric.properties import Claim, FieldProperties, Form, Properties
from annudf.filters._code import CodeFilter, filter
from annudf.filters._loading import load_filter
from annudf.ivf_flat._evaluate import Evaluation, evaluate, tune_n_probes
from annudf.ivf_flat._files import load, save
from annudf.ivf_flat._index import Index, build, extend, remove
from annudf.ivf_flat._params import IndexParams
from annudf.ivf_flat._prepared import PreparedSearch, prepare
from annudf.ivf_flat._radius import radius_neighbors, radius_search
from annudf.ivf_flat._search import search
from annudf.ivf_flat._search_params import Refine, SearchParams
from annudf.ivf_flat._stats import SearchStats

__all__ = [
    "Claim",
    "CodeFilter",
    "Context",
    "Evaluation",
    "FieldProperties",
    "Form",
    "Index",
    "IndexParams",
    "Metric",
    "PreparedSearch",
    "Properties",
    "Refine",
    "SearchParams",
    "SearchStats",
    "build",
    "capture",
    "column",
    "cuda_source_metric",
    "evaluate",
    "extend",
    "filter",
    "load",
    "load_filter",
    "load_metric",
    "metric",
    "prepare",
    "radius_neighbors",
    "radius_search",
    "remove",
    "save",
    "search",
    "tune_n_probes",
]
