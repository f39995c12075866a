//===- Nvptx.h - PTX by LLVM's NVPTX backend --------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TARGET_NVPTX_H
#define ANNUDF_TARGET_NVPTX_H

#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace annudf {

/// Compiles a metric's LLVM IR to PTX without a CUDA toolkit. Math functions come from
/// libdevice; where it is missing, a module that calls one is refused by the function's name.
/// \param sm  as supportedSmVersions().
llvm::Expected<std::string> compileByNvptx(std::unique_ptr<llvm::Module> module, int sm);

/// Whether this LLVM has the backend: empty, or why not.
std::string whyNoNvptx();

} // namespace annudf

#endif // ANNUDF_TARGET_NVPTX_H
