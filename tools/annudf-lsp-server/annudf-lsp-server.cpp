//===- annudf-lsp-server.cpp - Language server for metrics in MLIR --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Set as `mlir.server_path` of an editor's MLIR extension.
//
//===----------------------------------------------------------------------===//

#include "../Tool.h"
#include "Between.h"

#include "annudf/InitAll.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

/// The page as installed beside this program, or as it is in the sources.
static std::string defaultPage(const char *program, void *address) {
  llvm::SmallString<128> path(llvm::sys::fs::getMainExecutable(program, address));
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "..", ANNUDF_DOCS_FROM_BIN, "rules.md");
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  return llvm::sys::fs::exists(path) ? path.str().str() : ANNUDF_SOURCE_PAGE;
}

/// Whether one of the words is an option of that name.
static bool has(llvm::ArrayRef<char *> words, llvm::StringRef name) {
  return llvm::any_of(words, [name](llvm::StringRef word) {
    return word.consume_front("-") && (word.consume_front("-"), word == name);
  });
}

int main(int argc, char **argv) {
  annudf::tool::describe("annudf-lsp-server");
  // Read by the server's own main, before it reads a message.
  llvm::cl::opt<std::string> rules(
      "annudf-rules", llvm::cl::desc("Page of the rules that diagnostics link to: a file or a URL"),
      llvm::cl::init(defaultPage(argv[0], reinterpret_cast<void *>(&main))));
  mlir::DialectRegistry registry;
  annudf::registerAllDialects(registry);
  const llvm::ArrayRef<char *> words(argv, argc);
  const auto server = [&] {
    return int(mlir::failed(mlir::MlirLspServerMain(argc, argv, registry)));
  };
  // These end in the server's main, with words for whoever asks.
  for (const char *told : {"help", "help-hidden", "help-list", "help-list-hidden", "version"})
    if (has(words, told))
      return server();
  annudf::lsp::Between between(registry, has(words, "lit-test"), [&] { return rules.getValue(); });
  between.run(server);
}
