//===- KernelJit.h - Kernels of a gpu.module on the CPU ---------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_COMPILER_KERNELJIT_H
#define ANNUDF_TEST_COMPILER_KERNELJIT_H

#include <memory>
#include <string>
#include <vector>

namespace annudf::test {

/// Runs each thread of a block as a thread of the CPU, and one block after another.
class KernelJit {
public:
  /// \param text      a module that `pipeline` makes a gpu.module of, without ops of annudf.
  /// \param pipeline  "builtin.module(...)".
  KernelJit(const std::string &text, const std::string &pipeline);
  ~KernelJit();

  /// \param parameters  addresses of what cuLaunchKernel takes: a memref is expanded to addresses,
  /// offset, sizes and strides.
  void launch(const std::string &kernel, unsigned gridX, unsigned gridY,
              const std::vector<void *> &parameters) const;

  /// What went wrong, empty if nothing did.
  std::string fault;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
};

} // namespace annudf::test

#endif // ANNUDF_TEST_COMPILER_KERNELJIT_H
