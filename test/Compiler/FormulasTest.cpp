//===- FormulasTest.cpp - Proved claims hold for what is compiled ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/Analysis/PropertiesTest.cpp with the code that a search runs in the place of an evaluator,
// and that evaluator against it.
//
//===----------------------------------------------------------------------===//

#include "Analysis/ClaimValues.h"
#include "Analysis/RandomFormula.h"
#include "HookJit.h"

#include "annudf/Analysis/Properties.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>

using namespace annudf;
using namespace annudf::test;

namespace {

/// The compiled update of a formula.
class Compiled {
public:
  explicit Compiled(const std::string &text) : hooks(compileText(text, /*device=*/false)) {}

  float update(float acc, const Inputs &in) {
    w = static_cast<float>(in.w), q = static_cast<float>(in.q);
    hooks.bind(0, &w);
    hooks.bind(1, &q);
    hooks.bind(2, static_cast<float>(in.s));
    hooks.bind(3, static_cast<int8_t>(in.n));
    hooks.bind(4, static_cast<uint8_t>(in.u));
    return std::bit_cast<float>(hooks.update(std::bit_cast<uint32_t>(acc),
                                             std::bit_cast<uint32_t>(in.x),
                                             std::bit_cast<uint32_t>(in.y)));
  }

private:
  HookJit hooks;
  float w = 0, q = 0;
};

bool isSame(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

TEST(Formulas, ClaimsHoldForCompiledCode) {
  const char *asked = std::getenv("ANNUDF_COMPILED_FORMULAS");
  const uint32_t count = asked ? std::strtoul(asked, nullptr, 10) : 100;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<ir::AnnudfDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                      mlir::math::MathDialect, mlir::scf::SCFDialect>();
  int polynomials = 0, symmetric = 0, monotone = 0, equal = 0, others = 0;
  for (uint32_t seed = 0; seed < count && !HasFailure(); ++seed) {
    RandomFormula formula(seed);
    const std::string text = RandomFormula::helpers() + formula.metric("m");
    SCOPED_TRACE(text);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    const MetricProperties properties = inferProperties(*module->getOps<ir::MetricOp>().begin());
    const FieldProperties &field = properties.fields.at(0);
    // By what is fused, and by exp.
    const bool mayDiffer =
        llvm::any_of(std::initializer_list<const char *>{"arith.mulf", "call @square", "math.exp"},
                     [&, body = formula.metric("m")](const char *op) {
                       return body.find(op) != std::string::npos;
                     });
    Compiled compiled(text);
    RandomValues values(seed);
    for (int i = 0; i < 48; ++i) {
      Inputs in = values.inputs();
      const float acc = i % 3 ? values.number() : 0.0f, next = compiled.update(acc, in);
      formula.compute(in, /*fused=*/false);
      const bool isEqual = isSame(next, formula.update(acc, false));
      ++(isEqual ? equal : others);
      EXPECT_TRUE(isEqual || mayDiffer) << next << ", " << formula.update(acc, false);
      if (field.monotone != Monotone::Unknown && holds(field.monotoneIf, in)) {
        ++monotone;
        EXPECT_TRUE(std::isnan(next) ||
                    (field.monotone == Monotone::Grows ? next >= acc : next <= acc))
            << acc << " becomes " << next;
      }
      if (field.polynomial && acc == 0 && std::isfinite(next)) {
        ++polynomials;
        // A sum from 0, rounded with each step.
        PolynomialForm form = *field.polynomial;
        form.roundings.f32 += formula.steps().size();
        form.eta = std::max(form.eta, 0x1p-150);
        EXPECT_TRUE(isWithinBound(next, form, evaluate(properties.coefficients, in), in,
                                  /*moreSmall=*/2))
            << in.x << ", " << in.y << ": " << next;
      }
      if (field.symmetric == Claim::Exact) {
        ++symmetric;
        std::swap(in.x, in.y);
        EXPECT_TRUE(isSame(next, compiled.update(acc, in))) << in.y << ", " << in.x;
      }
    }
  }
  std::printf("%d polynomials, %d symmetric, %d monotone; %d equal to the evaluator, %d not\n",
              polynomials, symmetric, monotone, equal, others);
  EXPECT_GT(polynomials, 100);
  EXPECT_GT(symmetric, 400);
  EXPECT_GT(monotone, 400);
  EXPECT_LT(others * 10, equal);
}

} // namespace
