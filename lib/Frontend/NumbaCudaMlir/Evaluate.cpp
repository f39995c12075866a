//===- Evaluate.cpp - Integer operations on constants -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frontend.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace annudf;

unsigned frontend::integerWidth(Type type) {
  if (type.isIndex())
    return 64;
  bool isNumber = type.isSignlessInteger() && type.getIntOrFloatBitWidth() <= 64;
  return isNumber ? type.getIntOrFloatBitWidth() : 0;
}

// Folding the op itself would do the same, but may change it on the way.
std::optional<APInt> frontend::evaluate(Operation *op, ArrayRef<APInt> v) {
  APInt constant;
  if (matchPattern(op, m_ConstantInt(&constant)))
    return constant;
  if (op->getNumResults() != 1)
    return std::nullopt;
  unsigned width = integerWidth(op->getResult(0).getType());
  if (!width)
    return std::nullopt;
  using Result = std::optional<APInt>;
  auto divide = [&](auto quotient) -> Result {
    if (v[1].isZero() || (v[0].isMinSignedValue() && v[1].isAllOnes()))
      return std::nullopt;
    return quotient();
  };
  auto shift = [&](auto shifted) -> Result { // By the width or more has no value.
    if (v[1].uge(width))
      return std::nullopt;
    return shifted(unsigned(v[1].getZExtValue()));
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp) { return v[0] + v[1]; })
      .Case([&](arith::SubIOp) { return v[0] - v[1]; })
      .Case([&](arith::MulIOp) { return v[0] * v[1]; })
      .Case([&](arith::AndIOp) { return v[0] & v[1]; })
      .Case([&](arith::OrIOp) { return v[0] | v[1]; })
      .Case([&](arith::XOrIOp) { return v[0] ^ v[1]; })
      .Case([&](arith::DivSIOp) { return divide([&] { return v[0].sdiv(v[1]); }); })
      .Case([&](arith::DivUIOp) { return divide([&] { return v[0].udiv(v[1]); }); })
      .Case([&](arith::RemSIOp) { return divide([&] { return v[0].srem(v[1]); }); })
      .Case([&](arith::RemUIOp) { return divide([&] { return v[0].urem(v[1]); }); })
      .Case([&](arith::ShLIOp) { return shift([&](unsigned by) { return v[0].shl(by); }); })
      .Case([&](arith::ShRSIOp) { return shift([&](unsigned by) { return v[0].ashr(by); }); })
      .Case([&](arith::ShRUIOp) { return shift([&](unsigned by) { return v[0].lshr(by); }); })
      .Case([&](arith::MaxSIOp) { return llvm::APIntOps::smax(v[0], v[1]); })
      .Case([&](arith::MinSIOp) { return llvm::APIntOps::smin(v[0], v[1]); })
      .Case([&](arith::MaxUIOp) { return llvm::APIntOps::umax(v[0], v[1]); })
      .Case([&](arith::MinUIOp) { return llvm::APIntOps::umin(v[0], v[1]); })
      .Case<arith::ExtSIOp, arith::IndexCastOp, arith::TruncIOp>(
          [&](auto) { return v[0].sextOrTrunc(width); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>([&](auto) { return v[0].zextOrTrunc(width); })
      .Case([&](arith::SelectOp) { return v[0].isZero() ? v[2] : v[1]; })
      .Case([&](arith::CmpIOp compare) {
        return APInt(1, arith::applyCmpPredicate(compare.getPredicate(), v[0], v[1]));
      })
      .Default([](Operation *) { return std::nullopt; });
}
