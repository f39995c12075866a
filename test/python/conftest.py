# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What all Python tests share."""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest

# Never the cache of the user who runs the tests, nor that of a run before: what is tested is compiled.
CACHE = tempfile.mkdtemp(prefix="annudf-test-cache-")
os.environ["ANNUDF_CACHE_DIR"] = CACHE
# And a search runs what is chosen for it, not what is linked sooner.
os.environ["ANNUDF_LINK_AHEAD"] = "0"


def pytest_unconfigure() -> None:
    shutil.rmtree(CACHE, ignore_errors=True)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "gpu: needs a CUDA device and a driver; skipped with the reason where there is none"
    )


def _why_no_gpu() -> str:
    from annudf import _core

    found = _core.describe_environment()
    if not found["cuda_built"]:
        return "this build has no CUDA backend"
    if not found["driver_found"]:
        return str(found["driver"])
    return "" if found["devices"] else "there is no CUDA device"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("gpu")]
    reason = _why_no_gpu() if marked else ""
    if reason:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=f"no GPU: {reason}"))
