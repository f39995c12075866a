# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What a function says and means, by its syntax tree and bytecode, without numba-cuda-mlir."""
