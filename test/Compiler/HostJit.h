//===- HostJit.h - Host bitcode, compiled for this machine -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_COMPILER_HOSTJIT_H
#define ANNUDF_TEST_COMPILER_HOSTJIT_H

#include <cstddef>
#include <memory>
#include <string>

// UBSan looks for a signature in front of a function called through a pointer; code from
// the JIT has none.
#if defined(__clang__)
#define ANNUDF_CALLS_JIT __attribute__((no_sanitize("function")))
#else
#define ANNUDF_CALLS_JIT
#endif

namespace annudf::test {

/// A module of bitcode, which may call functions of this process.
class HostJit {
public:
  /// \throws std::runtime_error, as find() does for a symbol that there is not.
  explicit HostJit(const std::string &bitcode);
  ~HostJit();

  void *find(const std::string &symbol) const;

  /// How many parameters a function that the module defines has.
  size_t parametersOf(const std::string &symbol) const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
};

} // namespace annudf::test

#endif // ANNUDF_TEST_COMPILER_HOSTJIT_H
