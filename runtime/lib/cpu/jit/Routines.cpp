//===- Routines.cpp - What LLVM calls for what a processor lacks ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Routines.h"

#include "vectors/Elements.h"

#include <bit>

namespace {

float floatOfHalf(_Float16 value) {
  return annudf::runtime::halfToFloat(std::bit_cast<uint16_t>(value));
}
_Float16 halfOfDouble(double value) {
  return std::bit_cast<_Float16>(annudf::runtime::doubleToHalf(value));
}
_Float16 halfOfFloat(float value) { return halfOfDouble(value); } // Rounds once, too.

/// Products in the order of libgcc's and compiler-rt's.
template <class Float> Float power(Float base, int exponent) {
  auto left = exponent < 0 ? -unsigned(exponent) : unsigned(exponent);
  Float result = (left & 1) != 0 ? base : 1;
  while ((left >>= 1) != 0) {
    base *= base;
    if ((left & 1) != 0)
      result *= base;
  }
  return exponent < 0 ? 1 / result : result;
}

template <class Function> void (*addressOf(Function *function) noexcept)() {
  return reinterpret_cast<void (*)()>(function);
}

const annudf::runtime::cpu::Routine routines[] = {{"__extendhfsf2", addressOf(floatOfHalf)},
                                                  {"__truncsfhf2", addressOf(halfOfFloat)},
                                                  {"__truncdfhf2", addressOf(halfOfDouble)},
                                                  {"__powisf2", addressOf(power<float>)},
                                                  {"__powidf2", addressOf(power<double>)}};

} // namespace

std::span<const annudf::runtime::cpu::Routine> annudf::runtime::cpu::compilerRoutines() {
  return routines;
}
