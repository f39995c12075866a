//===- FunctionJit.h - Compiles a device function for this machine -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_COMPILER_FUNCTIONJIT_H
#define ANNUDF_TEST_COMPILER_FUNCTIONJIT_H

#include "HostJit.h"

#include "annudf/Compiler/Compiler.h"

#include <string>

namespace annudf::test {

/// The symbol of one function of a module, from its host bitcode.
class FunctionJit {
public:
  /// \param text  of the dialect, with an annudf.function called `name`.
  FunctionJit(const std::string &text, const std::string &name)
      : jit(lowered(text, name)), address(jit.find(name)) {}

  /// \tparam F  its prototype in C.
  template <typename F> F *as() const { return reinterpret_cast<F *>(address); }

private:
  static std::string lowered(const std::string &text, const std::string &name) {
    CompileOptions options;
    options.metricName = name;
    return lowerMetric(text, "function.mlir", Stage::HostBitcode, options);
  }

  HostJit jit;
  void *address;
};

} // namespace annudf::test

#endif // ANNUDF_TEST_COMPILER_FUNCTIONJIT_H
