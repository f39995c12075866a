# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Every name that the compiler, its libraries or the scan use themselves, as that of a metric, a helper and a capture.

Run by test_internal_names.py in a process of its own, as a wrong name may end it; each is written before it is tried.
"""

from __future__ import annotations

import sys
import types

import numpy as np

from annudf import ivf_flat

BASE = np.random.default_rng(1).random((40, 3), dtype=np.float32)
INDEX = ivf_flat.build(ivf_flat.IndexParams(n_lists=1), BASE)
EXACT = np.sqrt(np.square(BASE[:4, None] - BASE[None]).sum(axis=2) * 2)

SOURCE = """
def {helper}(d):
    return d * d

def {metric}(x, y, acc, ctx):
    return acc + ctx.{capture} * {helper}(x - y)

def finalize(acc, ctx):
    return math.sqrt(acc)
"""


def search(metric: str, helper: str, capture: str) -> None:
    """Compiles and searches with these names, and compares with NumPy."""
    import linecache
    import math

    source = SOURCE.format(metric=metric, helper=helper, capture=capture)
    file = f"<{metric} {helper} {capture}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = types.ModuleType("named")
    module.__dict__["math"] = math
    exec(compile(source, file, "exec"), module.__dict__)
    made = ivf_flat.metric(captures={capture: 2.0}, finalize=module.finalize)(getattr(module, metric))
    assert made.name == metric.strip("_")
    found = ivf_flat.search(ivf_flat.SearchParams(n_probes=1, metric=made), INDEX, BASE[:4], 40)
    np.testing.assert_allclose(found[0], np.sort(EXACT, axis=1), rtol=1e-5, atol=1e-6)


for name in sys.argv[1:]:
    for names in ((name, "helper", "weight"), ("metric", name, "weight"), ("metric", "helper", name)):
        print(*names, flush=True)
        search(*names)
print("all are right")
