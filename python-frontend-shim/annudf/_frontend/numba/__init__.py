# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What is wrapped in numba-cuda-mlir and read of its IR."""
