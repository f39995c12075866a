//===- PlainJit.h - Upstream's plain lowering of a body -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The other side of DifferentialTest: MLIR's own patterns for arith, math, scf and func,
// without a fold, a canonicalizer or LLVM's optimiser.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_COMPILER_PLAINJIT_H
#define ANNUDF_TEST_COMPILER_PLAINJIT_H

#include <cstdint>
#include <memory>
#include <string>

namespace annudf::test {

class PlainJit {
public:
  /// `text` is a module with a function @plain(f32, f32, f32, index, index) -> f32.
  explicit PlainJit(const std::string &text);
  ~PlainJit();

  float operator()(float acc, float x, float y, int64_t dim, int64_t dims) const {
    return function(acc, x, y, dim, dims);
  }

  /// What went wrong, empty if nothing did.
  std::string fault;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
  float (*function)(float, float, float, int64_t, int64_t) = nullptr;
};

} // namespace annudf::test

#endif // ANNUDF_TEST_COMPILER_PLAINJIT_H
