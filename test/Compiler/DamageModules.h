//===- DamageModules.h - Makes lowerings fail -----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Apart from the tests: what uses MLIR's headers has no RTTI, and annudf::Error needs it.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_COMPILER_DAMAGEMODULES_H
#define ANNUDF_TEST_COMPILER_DAMAGEMODULES_H

/// While one lives, every module that the compiler has verified gets an op that no lowering knows.
class DamageModules {
public:
  DamageModules();
  ~DamageModules();
  DamageModules(const DamageModules &) = delete;
  DamageModules &operator=(const DamageModules &) = delete;
};

#endif // ANNUDF_TEST_COMPILER_DAMAGEMODULES_H
