//===- Plugin.cpp - annudf for mlir-opt and programs like it --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   mlir-opt-22 --load-dialect-plugin=annudf-mlir-plugin.so \
//     --load-pass-plugin=annudf-mlir-plugin.so --pass-pipeline='builtin.module(annudf-verify-abi)'
//
//===----------------------------------------------------------------------===//

#include "annudf/InitAll.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

static constexpr const char *kName = "annudf";
static constexpr const char *kVersion = ANNUDF_VERSION " (LLVM " LLVM_VERSION_STRING ")";

/// MLIR tells classes apart by addresses. In a program whose MLIR is not the shared library that
/// this plugin is linked with, or is of another version, they are two of everything, which the
/// registry is the first to meet.
[[noreturn]] static void explain(void *, const char *reason, bool) {
  llvm::errs() << "annudf-mlir-plugin.so " << kVersion
               << " cannot be used by this program: " << reason
               << ". Either the program has the dialect already, or its MLIR is not the shared "
                  "libMLIR.so." ANNUDF_LLVM_SONAME
                  " that the plugin uses; run mlir-opt-22, or build annudf with the MLIR that the "
                  "program is built with\n";
  std::_Exit(1);
}

static void registerPasses() {
  const llvm::ScopedFatalErrorHandler handler(explain);
  annudf::registerAllPasses();
}

static void registerDialects(mlir::DialectRegistry *registry) {
  const llvm::ScopedFatalErrorHandler handler(explain);
  annudf::registerAllDialects(*registry);
  annudf::registerAllPasses();
}

extern "C" mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, kName, kVersion, registerDialects};
}

extern "C" mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, kName, kVersion, registerPasses};
}
