//===- Properties.h - What is proved of a metric, for programs -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_COMPILER_PROPERTIES_H
#define ANNUDF_LIB_COMPILER_PROPERTIES_H

#include "Messages.h"
#include "annudf/Dialect/IR/Annudf.h"

#include <string>

namespace annudf::compiler {

/// JSON of what annudf-infer-properties says of a metric, and of what is not proved why and where:
/// docs/spec/numerics.md, "As data", has its fields, and those of a filter. The module must have
/// been verified.
std::string propertiesToJson(ir::UdfOpInterface udf, const Messages &messages);

} // namespace annudf::compiler

#endif // ANNUDF_LIB_COMPILER_PROPERTIES_H
