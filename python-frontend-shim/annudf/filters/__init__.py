# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Filters: which rows a search may find.

Names are those of ``cuvs.neighbors.filters``. A filter has a bit for every id of an index, or for every query and id. A
search with it finds only rows whose bit is set, as if the index held no others. :func:`annudf.filter` makes a filter of
a Python function.
"""

from annudf.filters._bitmap import Bitmap, from_bitmap
from annudf.filters._bits import Filter, Prefilter, from_bitset, from_mask, no_filter
from annudf.filters._roaring import from_roaring

__all__ = ["Bitmap", "Filter", "Prefilter", "from_bitmap", "from_bitset", "from_mask", "from_roaring", "no_filter"]
