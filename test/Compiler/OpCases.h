//===- OpCases.h - Every op of a body, with its meaning in C++ -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table serves two questions: does libNVVM take the op on every family of
// architectures, and does the op mean on this host what C++ says it means?
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_COMPILER_OPCASES_H
#define ANNUDF_TEST_COMPILER_OPCASES_H

#include <cstdint>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

namespace annudf::test {

using FloatMeaning = float (*)(float acc, float x, float y);
using DoubleMeaning = double (*)(double acc, double x, double y);
using IntegerMeaning = int32_t (*)(int32_t acc, int32_t x, int32_t y);

struct OpCase {
  const char *name;
  /// Ops that compute `%r` from `%acc`, `%x` and `%y`.
  const char *body;
  /// Its alternative is the type of all three, and of `%r`.
  std::variant<FloatMeaning, DoubleMeaning, IntegerMeaning> meaning;
  /// Largest relative difference; 0 is bit for bit, but for the payload of a NaN.
  double tolerance = 0;
  /// Functions beside the metric.
  const char *helpers = "";
};

const std::vector<OpCase> &opCases();

/// For GoogleTest.
inline void PrintTo(const OpCase &opCase, std::ostream *os) { *os << opCase.name; }

/// The whole module of a case.
std::string moduleText(const OpCase &opCase);

} // namespace annudf::test

#endif // ANNUDF_TEST_COMPILER_OPCASES_H
