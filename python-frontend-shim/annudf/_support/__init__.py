# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""What every other part uses: checks of plain arguments, locks, limits, the logger, options of decorators."""
