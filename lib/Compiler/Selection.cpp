//===- Selection.cpp - Which metric of a module is compiled ---------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Selection.h"

#include "annudf/Dialect/IR/Annudf.h"
#include "annudf/Dialect/IR/Descriptor.h"
#include "annudf/Dialect/Transforms/Passes.h"
#include "annudf/Frontend/Diagnostics.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::compiler;

/// Whether a distance of whole vectors may prepare what is called `name`.
static bool mayPrepare(ir::UdfOpInterface udf, StringRef name) {
  return isa<ir::PairwiseOp>(udf.getOperation()) && name.consume_front(udf.getSymName()) &&
         name.starts_with(kPrepared);
}

std::optional<Fault> Selection::selectSource(ModuleOp module, StringRef name,
                                             ir::UdfOpInterface &found) const {
  const auto all = llvm::to_vector(module.getOps<ir::UdfOpInterface>());
  if (all.empty()) {
    const bool nested =
        module.walk([](ir::UdfOpInterface) { return WalkResult::interrupt(); }).wasInterrupted();
    return messages.refuse(
        nested ? "holds its annudf.metric in a module within the module; move it out"
               : "holds no annudf.metric, annudf.filter or annudf.function");
  }
  if (name.empty() && all.size() > 1)
    return Fault{ErrorKind::Usage, origin + ": holds " + std::to_string(all.size()) + " " +
                                       ir::nounOf(all) + ", name one of " + ir::listNames(all)};
  StringRef source = name.empty() ? ir::UdfOpInterface(all.front()).getSymName() : name;
  if (llvm::none_of(all, [&](ir::UdfOpInterface udf) { return udf.getSymName() == source; }))
    for (ir::UdfOpInterface udf : all)
      if (mayPrepare(udf, name))
        source = udf.getSymName();
  return keepOnly(module, source, found);
}

std::optional<Fault> Selection::keepOnly(ModuleOp module, StringRef name,
                                         ir::UdfOpInterface &kept) const {
  const auto all = llvm::to_vector(module.getOps<ir::UdfOpInterface>());
  kept = {};
  for (ir::UdfOpInterface udf : all)
    if (udf.getSymName() == name)
      kept = udf;
  if (!kept)
    return Fault{ErrorKind::Usage, origin + ": holds no metric '" + ir::boundedMessage(name.str()) +
                                       "'; there are " + ir::listNames(all)};
  for (ir::UdfOpInterface udf : all)
    if (udf != kept)
      udf.erase();
  return std::nullopt;
}
