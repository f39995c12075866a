# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Metrics: a distance with what is said about it, the values of its captures, and its artifacts.

Nothing here knows an index: whatever searches imports from here, and never the other way.
"""
