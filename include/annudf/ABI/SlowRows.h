//===- SlowRows.h - What host code tells of slow rows -------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ABI_SLOWROWS_H
#define ANNUDF_ABI_SLOWROWS_H

namespace annudf {

/// A constant of host code, text for a message: what may keep a CPU from computing rows as vectors.
/// Code without it is as good.
inline constexpr char kSlowRowsSymbol[] = "annudf_slow_rows";

} // namespace annudf

#endif // ANNUDF_ABI_SLOWROWS_H
