//===- CuvsJit.h - A metric as rapids.cuvs.ivf_flat.metric.v1, on the host -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_COMPILER_CUVSJIT_H
#define ANNUDF_TEST_COMPILER_CUVSJIT_H

#include "HostJit.h"

#include "annudf/ABI/TargetAbi.h"
#include "annudf/Compiler/Compiler.h"

#include <string>

namespace annudf::test {

class CuvsJit {
public:
  /// `text` is a module with one metric.
  explicit CuvsJit(const std::string &text)
      : jit(lowered(text)), hasCapture(jit.parametersOf("sym") != 3), address(jit.find("sym")) {}

  /// A metric without captures does not look at `capture`.
  ANNUDF_CALLS_JIT float operator()(float x, float y, float acc, const float *capture,
                                    int64_t dim) const {
    return hasCapture ? reinterpret_cast<CuvsMetricOfCapture *>(address)(x, y, acc, capture, dim)
                      : reinterpret_cast<CuvsMetric *>(address)(x, y, acc);
  }

private:
  static std::string lowered(const std::string &text) {
    CompileOptions options;
    options.target = {ANNUDF_CUVS_METRIC_ABI_ID, "sym"};
    return lowerMetric(text, "test.mlir", Stage::HostBitcode, options);
  }

  HostJit jit;
  bool hasCapture;
  void *address;
};

} // namespace annudf::test

#endif // ANNUDF_TEST_COMPILER_CUVSJIT_H
