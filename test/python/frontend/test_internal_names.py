# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""No name of a user's meets one of the compiler's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

INTERNAL = {
    "bodies": ["annudf_body_init", "annudf_body_update", "annudf_body_finalize", "annudf_helper_helper_0"],
    "hooks": [
        "annudf1_scan_init_a32",
        "annudf1_scan_update_a32_x32",
        "annudf1_scan_finalize_a32",
        "annudf1_scan_contract",
        "annudf1_order",
        "annudf1_slots",
    ],
    "libraries": ["main", "sqrtf", "memcpy", "malloc", "abort", "__nv_sqrtf", "llvm_sqrt_f32", "fmaf"],
    "dialect": ["annudf", "update", "init", "accumulator", "slots", "func", "yield_", "module"],
}


@pytest.mark.parametrize("group", INTERNAL)
def test_names_of_the_compiler_are_free_for_users(group: str) -> None:
    program = Path(__file__).with_name("internal_names.py")
    run = subprocess.run(
        [sys.executable, str(program), *INTERNAL[group]], capture_output=True, text=True, timeout=300, check=False
    )
    assert run.stdout.endswith("all are right\n"), f"exit {run.returncode}\n{run.stdout}\n{run.stderr}"
