# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""IVF-Flat over the workers of a Dask cluster: a search equals that of one index, to the bit."""

from annudf._shards.shard import training_rows
from annudf.dask._build import build
from annudf.dask._change import extend, remove
from annudf.dask._files import load
from annudf.dask._index import Index
from annudf.dask._radius import radius_search
from annudf.dask._search import search

__all__ = ["Index", "build", "extend", "load", "radius_search", "remove", "search", "training_rows"]
