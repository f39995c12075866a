//===- Reproducer.cpp - What is told where a pass of annudf fails ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reproducer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace mlir;
using namespace annudf;

void (*compiler::afterVerification)(ModuleOp module) = nullptr;

/// In the form of MLIR's own reproducers. Not by PassManager::enableCrashReproducerGeneration,
/// which takes over the signals of the process, and this is a library.
static std::error_code write(ModuleOp module, StringRef pipeline, StringRef errors,
                             StringRef path) {
  std::error_code why;
  llvm::raw_fd_ostream os(path, why);
  if (why)
    return why;
  os << "// annudf " ANNUDF_VERSION ", LLVM " LLVM_VERSION_STRING ": " << pipeline
     << " failed, though annudf-verify-abi accepts this:\n";
  for (StringRef line : llvm::split(errors, '\n'))
    os << "// " << line << '\n';
  module.print(os);
  os << "\n\n{-#\n  external_resources: {\n    mlir_reproducer: {\n      pipeline: "
        "\"builtin.module("
     << pipeline
     << ")\",\n      disable_threading: true,\n      verify_each: true\n    }\n  }\n#-}\n";
  os.close();
  why = os.error();
  os.clear_error(); // Or its destructor ends the process.
  return why;
}

compiler::Fault compiler::internalFault(ModuleOp module, StringRef pipeline,
                                        const std::string &errors, std::string path) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << pipeline << " fails on a module that keeps every rule, which is a bug in annudf";
  if (const char *named = std::getenv("ANNUDF_REPRODUCER"); path.empty() && named)
    path = named;
  if (path.empty())
    os << "; to report it, set ANNUDF_REPRODUCER to the name of a file and send what is written "
          "there";
  else if (std::error_code why = write(module, pipeline, errors, path))
    os << "; " << path << ", which would hold the report, cannot be written: " << why.message();
  else
    os << "; please report it with " << path << ", which annudf-opt --run-reproducer takes";
  if (!errors.empty())
    os << ":\n" << errors;
  return {ErrorKind::Input, text, /*isInternal=*/true};
}
