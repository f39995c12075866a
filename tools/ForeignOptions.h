//===- ForeignOptions.h - Options of what a tool only links -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TOOLS_FOREIGNOPTIONS_H
#define ANNUDF_TOOLS_FOREIGNOPTIONS_H

#include "llvm/Support/CommandLine.h"

namespace annudf::tool {

/// Leaves the options that there are already to --help-hidden. Called first in main() these are
/// LLVM's, hundreds that its libraries register as they are loaded; categories do not tell them
/// from MLIR's, which like annudf's are made later.
inline void hideForeignOptions() {
  for (auto &entry : llvm::cl::getRegisteredOptions()) {
    llvm::cl::Option &option = *entry.second;
    const bool isOfEveryTool = option.Categories.front()->getName() == "Generic Options"; // --help
    if (!isOfEveryTool && option.getOptionHiddenFlag() == llvm::cl::NotHidden)
      option.setHiddenFlag(llvm::cl::Hidden);
  }
}

} // namespace annudf::tool

#endif // ANNUDF_TOOLS_FOREIGNOPTIONS_H
