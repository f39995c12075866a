//===- Npy.h - NumPy's array files ------------------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_VECTORS_NPY_H
#define ANNUDF_RUNTIME_LIB_VECTORS_NPY_H

#include "annudf/runtime/vectors/Matrix.h"

namespace annudf::runtime {

/// Reads a `.npy` file of version 1, 2 or 3, C order, little-endian numbers.
/// \param rows  if above 0, at most so many of the first extent are read.
/// \throws Error(Input) naming file and fault, before the data is allocated.
NumericArray readNpy(const std::string &path, int64_t rows = 0);

/// Bytes of one value of a NumericArray's dtype; 0 for a dtype there is not.
int dtypeSize(const std::string &dtype);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_LIB_VECTORS_NPY_H
