//===- Routines.cpp - What LLVM calls for what a processor lacks ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each is what this library's own compiler makes of the operation, an instruction or a call of its
// support library, with the same arguments and result.
//
//===----------------------------------------------------------------------===//

#include "Routines.h"

namespace {

float floatOfHalf(_Float16 value) { return value; }
_Float16 halfOfFloat(float value) { return _Float16(value); }
_Float16 halfOfDouble(double value) { return _Float16(value); }
float power(float base, int exponent) { return __builtin_powif(base, exponent); }
double powerOfDouble(double base, int exponent) { return __builtin_powi(base, exponent); }

template <class Function> void (*addressOf(Function *function))() {
  return reinterpret_cast<void (*)()>(function);
}

} // namespace

std::span<const annudf::runtime::cpu::Routine> annudf::runtime::cpu::compilerRoutines() {
  static const Routine routines[] = {{"__extendhfsf2", addressOf(floatOfHalf)},
                                     {"__truncsfhf2", addressOf(halfOfFloat)},
                                     {"__truncdfhf2", addressOf(halfOfDouble)},
                                     {"__powisf2", addressOf(power)},
                                     {"__powidf2", addressOf(powerOfDouble)}};
  return routines;
}
