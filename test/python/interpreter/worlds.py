# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What random filters are searched with: an index of integers, so that distances have no rounding, and queries."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from annudf import ivf_flat

LIST_OF = Path(__file__).with_name("list_of.mlir")


class World:
    """Rows with dense or sparse ids, and the list of each."""

    def __init__(self, element: str, rows: int, queries: int, dims: int, lists: int, *, sparse: bool) -> None:
        generator = np.random.default_rng(rows)
        self.base = generator.integers(0, 20, (rows, dims)).astype(element)
        self.queries = generator.integers(0, 20, (queries, dims)).astype(element)
        self.ids = np.sort(generator.choice(3 * rows, rows, replace=False)) if sparse else np.arange(rows)
        self.index = ivf_flat.build(ivf_flat.IndexParams(n_lists=lists, add_data_on_build=False), self.base)
        ivf_flat.extend(self.index, self.base, self.ids)
        # Sizes of the extents that a filter's captures have.
        self.sizes = {"row": int(self.ids[-1]) + 1, "query": queries, "dim": dims}
        params = ivf_flat.SearchParams(n_probes=lists, metric=ivf_flat.load_metric(LIST_OF))
        of, found = ivf_flat.search(params, self.index, self.queries[:1], rows)
        self.list_of = of[0][np.argsort(found[0])].astype(np.int64)
