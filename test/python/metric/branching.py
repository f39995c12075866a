# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""All bodies with branches: what ``branch_costs.py`` times and ``test_branching.py`` compares."""

from __future__ import annotations

import branch_flow as branch_flow
import branch_loads as branch_loads
import branch_math as branch_math
from branch_body import BODIES, Body, captures_of, data_of, exact

__all__ = ["BODIES", "Body", "captures_of", "data_of", "exact"]
