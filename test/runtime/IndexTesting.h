//===- IndexTesting.h - Comparing indexes -----------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_INDEXTESTING_H
#define ANNUDF_TEST_RUNTIME_INDEXTESTING_H

#include "annudf/runtime/ivf_flat/Index.h"

namespace annudf::test {

/// To the bit: centers, what stands for missing values, lists, their order, padding and columns.
inline bool sameContent(const runtime::Index &a, const runtime::Index &b) {
  if (a.centers() != b.centers() || a.nLists() != b.nLists() || a.size() != b.size() ||
      a.largestId() != b.largestId() || a.fill() != b.fill() ||
      a.adaptiveCenters() != b.adaptiveCenters() || a.columns() != b.columns())
    return false;
  for (uint32_t l = 0; l < a.nLists(); ++l)
    if (a.list(l).size != b.list(l).size || a.list(l).ids != b.list(l).ids ||
        a.list(l).words != b.list(l).words ||
        (!a.columns().empty() && a.columnsOf(l) != b.columnsOf(l)))
      return false;
  return true;
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_INDEXTESTING_H
