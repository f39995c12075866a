//===- RandomMetrics.h - Random updates to analyse ---------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_ANALYSIS_RANDOMMETRICS_H
#define ANNUDF_TEST_ANALYSIS_RANDOMMETRICS_H

#include "RandomFormula.h"

#include "annudf/Dialect/IR/Annudf.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <string>

namespace annudf::test {

class RandomMetrics : public ::testing::Test {
protected:
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};

  RandomMetrics() {
    context.loadDialect<ir::AnnudfDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                        mlir::math::MathDialect, mlir::scf::SCFDialect>();
  }

  /// How many ANNUDF_FORMULAS asks for.
  static int countOr(int usual) {
    const char *asked = std::getenv("ANNUDF_FORMULAS");
    return asked ? static_cast<int>(std::strtol(asked, nullptr, 10)) : usual;
  }

  /// Calls check(metric, formula, seed) for at least `count` of them, until one fails.
  template <class Check> void forEach(int count, Check check) {
    forEach(count, check, [](const std::string &text, uint32_t) { return text; });
  }

  /// The same of what change(text, seed) makes of them.
  template <class Check, class Change> void forEach(int count, Check check, Change change) {
    constexpr int kTogether = 50; // In a module, which is parsed at once.
    for (int first = 0; first < count; first += kTogether) {
      std::string text = RandomFormula::helpers();
      for (int i = first; i < first + kTogether; ++i) {
        const auto seed = static_cast<uint32_t>(i);
        text += change(RandomFormula(seed).metric("m" + std::to_string(i)), seed);
      }
      auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
      ASSERT_TRUE(module) << text;
      auto seed = static_cast<uint32_t>(first);
      for (auto metric : module->template getOps<ir::MetricOp>()) {
        RandomFormula formula(seed);
        check(metric, formula, seed);
        ASSERT_FALSE(HasFailure()) << "seed " << seed << ": " << formula.metric("m");
        ++seed;
      }
    }
  }
};

} // namespace annudf::test

#endif // ANNUDF_TEST_ANALYSIS_RANDOMMETRICS_H
