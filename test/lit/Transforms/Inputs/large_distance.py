# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Writes a distance whose last loop needs many values of both vectors, each computed of the one before."""

import sys

SUM = """    %{v} = scf.for %i = %begin to %dims step %step iter_args(%sum = %zero) -> (f32) {{
      %at = annudf.at %{v}s[%i] : !annudf.vector<f32>
      %next = arith.addf %sum, %at : f32
      scf.yield %next : f32
    }}"""
count = int(sys.argv[1])
lines = [
    "annudf.pairwise @large order(min) coarse(l2) elements(f32) {",
    "  annudf.distance (%xs: !annudf.vector<f32>, %ys: !annudf.vector<f32>) {",
    "    %begin = arith.constant 0 : index",
    "    %step = arith.constant 1 : index",
    "    %dims = annudf.index dims",
    "    %zero = arith.constant 0.0 : f32",
    SUM.format(v="x"),
    SUM.format(v="y"),
    "    %both0 = arith.mulf %x, %y : f32",
    *(f"    %both{i + 1} = arith.addf %both{i}, %{'xy'[i % 2]} : f32" for i in range(count)),
    "    %distance = scf.for %i = %begin to %dims step %step iter_args(%sum = %zero) -> (f32) {",
    "      %next0 = annudf.at %xs[%i] : !annudf.vector<f32>",
    *(f"      %next{i + 1} = arith.addf %next{i}, %both{i + 1} : f32" for i in range(count)),
    f"      %next = arith.addf %sum, %next{count} : f32",
    "      scf.yield %next : f32",
    "    }",
    "    annudf.yield %distance : f32",
    "  }",
    "}",
]
print("\n".join(lines))
