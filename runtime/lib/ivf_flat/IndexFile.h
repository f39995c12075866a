//===- IndexFile.h - Limits of an index, and its file -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_IVF_FLAT_INDEXFILE_H
#define ANNUDF_RUNTIME_LIB_IVF_FLAT_INDEXFILE_H

#include "annudf/ABI/annudf_abi.h"

#include <cstdint>

namespace annudf::runtime {

/// More dims or lists than anyone searches; the limits keep every size well inside int64.
inline constexpr int32_t kMaxDims = ANNUDF_MAX_DIMS;

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_LIB_IVF_FLAT_INDEXFILE_H
