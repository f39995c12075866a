//===- ListsOnGpu.h - Tests of indexes that a GPU has -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CUDA_LISTSONGPU_H
#define ANNUDF_TEST_RUNTIME_CUDA_LISTSONGPU_H

#include "SharedBackend.h"

namespace annudf::test {

class ListsOnGpu : public testing::Test {
protected:
  /// Rows [first, first + count) of a matrix.
  static runtime::MatrixView part(const runtime::Matrix &matrix, int64_t first, int64_t count) {
    return {matrix.storage.data() + first * bytesOfRow(matrix.element, matrix.dims), count,
            matrix.dims, matrix.element};
  }
  runtime::Index build(const runtime::MatrixView &base, uint32_t lists,
                       annudf_coarse metric = ANNUDF_COARSE_L2) {
    runtime::IndexParams p;
    p.nLists = lists, p.metric = metric, p.kmeansIterations = 5;
    return backend->buildFromHost(p, base);
  }

  runtime::CudaBackend *const backend = sharedBackend();
};

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_CUDA_LISTSONGPU_H
