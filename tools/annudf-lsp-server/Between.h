//===- Between.h - Between an editor and MLIR's server --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's server offers no way to add a diagnostic, a code or a link, and reads and writes the
// standard streams. So what comes and goes there passes through here: texts are kept, and
// diagnostics get what annudf knows of them.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TOOLS_ANNUDFLSPSERVER_BETWEEN_H
#define ANNUDF_TOOLS_ANNUDFLSPSERVER_BETWEEN_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/LSP/Transport.h"

#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace annudf::lsp {

class Between {
public:
  /// \param isTest  what MLIR's `-lit-test` means: messages come between lines, and go out
  /// indented.
  /// \param page    of the rules, asked for when it is needed.
  Between(const mlir::DialectRegistry &registry, bool isTest, std::function<std::string()> page);
  Between(const Between &) = delete;
  Between &operator=(const Between &) = delete;

  /// Runs `server` with its standard streams led through here. Ends the process when it returns, as
  /// a thread may still wait for the editor.
  [[noreturn]] void run(const std::function<int()> &server);

private:
  void fromEditor(int to);
  void toEditor(int from);
  void keep(llvm::StringRef method, const llvm::json::Value &params);
  void complete(llvm::json::Object &published);

  const mlir::DialectRegistry &registry;
  const bool isTest;
  const std::function<std::string()> page;
  FILE *editorIn = nullptr;
  int editorOut = -1;
  std::mutex mutex; ///< The texts'.
  /// By URI, with the version.
  std::map<std::string, std::pair<int64_t, std::string>, std::less<>> texts;
};

} // namespace annudf::lsp

#endif // ANNUDF_TOOLS_ANNUDFLSPSERVER_BETWEEN_H
