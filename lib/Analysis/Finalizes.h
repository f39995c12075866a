//===- Finalizes.h - How a distance goes with what was added up -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/spec/numerics.md, "Finalize" and "Normalised", says why each step holds.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_ANALYSIS_FINALIZES_H
#define ANNUDF_LIB_ANALYSIS_FINALIZES_H

#include "annudf/Artifact/Form.h"
#include "annudf/Dialect/IR/Annudf.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace annudf {

/// A product of powers of three fields, or of what three of five are less their means.
struct Monomial {
  std::array<int, 3> quarters = {}; ///< The power of each of the three, times 4.
  Roundings roundings;
  bool isNegated = false;
};

/// A field divided by the roots of two others, as finalize computes it.
struct Ratio {
  Roundings roundings;
  int least = 0; ///< Where both others are at least 2^least.
};

/// Which of five fields are the sums of x and y, and of x², x y and y²; and what finalize makes of
/// them. docs/spec/numerics.md, "Less their means".
class Means {
public:
  /// \param sums     fields of x and y.
  /// \param squares  fields of x², x y and y², in this order.
  Means(mlir::Block &block, std::array<unsigned, 2> sums, std::array<unsigned, 3> squares)
      : block(block), sums(sums), squares(squares) {}
  static constexpr unsigned kProduct = 1; ///< A product of squares.

  /// Which of the squares an op without flags leaves less its means, if it does.
  std::optional<unsigned> lessMeans(mlir::arith::SubFOp op);

  Roundings roundings; ///< The most that one takes.
  /// The capture that is n, and where in it, or a number; neither: annudf.index dims.
  std::optional<Coefficient> count;

private:
  /// x^a y^b n^c of sums.
  struct Product {
    std::array<int, 2> powers = {};
    int count = 0;
    Roundings roundings;
  };
  std::optional<Product> productOf(mlir::Value value, int depth = 0);
  std::optional<unsigned> fieldOf(mlir::Value value) const;
  bool isCount(mlir::Value value);

  mlir::Block &block;
  std::array<unsigned, 2> sums;
  std::array<unsigned, 3> squares;
  bool isCounted = false; ///< Whether count is known.
};

/// The chain of ops from what was added up to what is yielded.
class Finalizes {
public:
  using Course = QuadraticForm::Finalize;

  explicit Finalizes(ir::FinalizeOp op) : block(op.getBody().front()) {}

  /// For one field. Empty where an op, `at`, is not known to be monotone.
  std::optional<Course> ofField();
  /// For three fields, how it goes with their ratio. \param product  the one that is divided.
  std::optional<Course> ofRatio(unsigned product, Ratio &ratio);
  /// For five fields, the same of what they are less their means.
  std::optional<Course> ofRatio(Means &means, Ratio &ratio);

  mlir::Operation *at = nullptr;
  std::string why;

private:
  struct Step {
    mlir::Operation *op;
    unsigned through;                 ///< The operand that is of the accumulator.
    llvm::SmallVector<double> others; ///< The others, in their order.
  };
  struct State;

  std::nullopt_t no(mlir::Operation *op, const std::string &text);
  std::nullopt_t unknown(mlir::Operation *op);
  std::optional<Step> stepTo(mlir::Value value);
  bool advance(State &state, const Step &step);
  std::optional<Course> courseOf(llvm::ArrayRef<Step> steps, bool isNegated);

  mlir::Value taken(mlir::Value value);
  std::optional<bool> isTrue(mlir::Value condition);
  std::optional<bool> decide(mlir::Value condition);
  std::optional<bool> compared(mlir::Operation *op);
  bool isAbove(const Monomial &monomial, double bound);
  std::optional<Monomial> monomialOf(mlir::Value value);
  std::optional<Monomial> compute(mlir::Value value);
  std::optional<Monomial> multiplied(mlir::Operation *op);
  bool fits(const Monomial &monomial) const;

  mlir::Block &block;
  // For three fields.
  unsigned product = 0;
  Means *means = nullptr; ///< For five.
  int least = 0;
  int depth = 0;
  llvm::DenseMap<mlir::Value, std::optional<Monomial>> monomials;
  llvm::DenseMap<mlir::Value, std::optional<bool>> conditions;
};

} // namespace annudf

#endif // ANNUDF_LIB_ANALYSIS_FINALIZES_H
