//===- NoBackend.cpp - The CPU backend of a build without LLVM ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Explain.h"

namespace annudf::runtime {

[[noreturn]] static void refuse() {
  throw Error(ErrorKind::Environment,
              "the CPU backend is not in this build: annudf was built without LLVM "
              "(configure with -DANNUDF_BUILD_COMPILER=ON)");
}

std::unique_ptr<Backend> makeCpuBackend(int) { refuse(); }

Explanation explain(const MetricView &, const BoundCaptures &, const MatrixView &,
                    const MatrixView &, const PairNumbers &) {
  refuse();
}

} // namespace annudf::runtime
