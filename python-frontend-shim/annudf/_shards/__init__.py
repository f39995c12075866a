# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Parts of one index in several processes. Nothing here knows which framework started them."""
