//===- Tool.h - What LLVM's tools are told of themselves --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TOOLS_TOOL_H
#define ANNUDF_TOOLS_TOOL_H

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

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

/// Called first in main().
inline void describe(const char *tool) {
  hideForeignOptions();
  llvm::cl::SetVersionPrinter([tool](llvm::raw_ostream &os) {
    os << tool << " " ANNUDF_VERSION "\nLLVM " LLVM_VERSION_STRING "\n";
  });
}

} // namespace annudf::tool

#endif // ANNUDF_TOOLS_TOOL_H
