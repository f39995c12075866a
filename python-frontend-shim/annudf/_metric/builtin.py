# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""The metrics that an index has by itself, as text of the dialect.

They take the same way as a user's: there is no second scan that could differ.
"""

from __future__ import annotations

import functools

from annudf._metric.definition import TextDefinition
from annudf._metric.metric import Metric
from annudf.errors import ArgumentError

_INIT = """\
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
"""

_SQUARES = """\
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %diff = arith.subf %x, %y : f32
    %next = math.fma %diff, %diff, %acc : f32
    annudf.yield %next : f32
  }
"""

_TEXTS = {
    "sqeuclidean": f"""\
annudf.metric @sqeuclidean order(min) coarse(l2) elements(f32, f16, i8, u8) {{
{_INIT}{_SQUARES}}}
""",
    "euclidean": f"""\
annudf.metric @euclidean order(min) coarse(l2) elements(f32, f16, i8, u8) {{
{_INIT}{_SQUARES}  annudf.finalize (%acc: f32) {{
    %root = math.sqrt %acc : f32
    annudf.yield %root : f32
  }}
}}
""",
    "inner_product": f"""\
annudf.metric @inner_product order(max) coarse(inner_product) elements(f32, f16, i8, u8) {{
{_INIT}  annudf.update (%acc: f32, %x: f32, %y: f32) {{
    %next = math.fma %x, %y, %acc : f32
    annudf.yield %next : f32
  }}
}}
""",
}


@functools.cache
def _make(name: str) -> Metric:
    return Metric(TextDefinition(_TEXTS[name], f"<built-in metric {name}>", name), {})


def builtin_metric(name: str) -> Metric:
    """The metric of that name.

    Raises
    ------
    ArgumentError
        There is none; "cosine" is told apart, as cuVS has it.
    """
    if name == "cosine":
        raise ArgumentError(
            "metric 'cosine' is not available yet, as it needs three sums in one accumulator; normalise vectors "
            "and queries to length 1 and take 'inner_product'"
        )
    if not isinstance(name, str) or name not in _TEXTS:
        names = ", ".join(f"'{one}'" for one in _TEXTS)
        raise ArgumentError(
            f"metric is {name!r}, it must be one of {names}, or in SearchParams a function decorated "
            "with ivf_flat.metric"
        )
    return _make(name)
