//===- Emitter.cpp - A module in the text of LLVM 7 -----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Printer.h"

#include "annudf/Target/NVVMIR.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace annudf;
using namespace annudf::nvvmir;

Expected<std::string> annudf::emitNvvmIr(Module &module) {
  expandIntrinsics(module);
  std::string text;
  raw_string_ostream os(text);
  // libNVVM aborts the process where the layout is empty.
  if (module.getDataLayoutStr().empty() || !module.getTargetTriple().isNVPTX())
    return createStringError(inconvertibleErrorCode(),
                             "NVVM IR: the module has no data layout or triple of NVPTX");
  if (!module.getModuleInlineAsm().empty() || !module.alias_empty() || !module.ifunc_empty())
    return createStringError(inconvertibleErrorCode(),
                             "NVVM IR: module assembly and aliases have no counterpart");
  os << "target datalayout = \"" << module.getDataLayoutStr() << "\"\n"
     << "target triple = \"" << module.getTargetTriple().str() << "\"\n\n";
  Printer printer(os);
  for (const GlobalVariable &global : module.globals())
    printer.printGlobal(global);
  // Two intrinsics may be one function of libNVVM.
  StringSet<> declared;
  for (const Function &function : module)
    if (function.isDeclaration() &&
        (externalName(function).empty() || declared.insert(externalName(function)).second))
      printer.printFunction(function);
  for (const Function &function : module)
    if (!function.isDeclaration() && !printer.hasFailed())
      printer.printFunction(function);
  if (Error error = printer.takeError())
    return error;
  os << "\n!nvvmir.version = !{!0}\n!0 = !{i32 2, i32 0}\n!1 = !{}\n";
  return text;
}
