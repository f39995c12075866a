//===- CuvsJit.h - A metric as rapids.cuvs.ivf_flat.metric.v1, on the host -===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR is built without RTTI, GoogleTest's users with it: this is the side of MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_COMPILER_CUVSJIT_H
#define ANNUDF_TEST_COMPILER_CUVSJIT_H

#include "annudf/ABI/TargetAbi.h"

#include <memory>
#include <string>

namespace annudf::test {

class CuvsJit {
public:
  /// `text` is a module with one metric.
  explicit CuvsJit(const std::string &text);
  ~CuvsJit();

  /// Of a metric without captures `capture` is not looked at.
  float operator()(float x, float y, float acc, const float *capture, int64_t dim) const;

  /// What went wrong, empty if nothing did.
  std::string fault;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
  CuvsMetric *plain = nullptr;
  CuvsMetricOfCapture *full = nullptr;
};

} // namespace annudf::test

#endif // ANNUDF_TEST_COMPILER_CUVSJIT_H
