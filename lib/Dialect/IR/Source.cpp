//===- Source.cpp - Reading a module from bytes that may be damaged -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Dialect/IR/Source.h"

#include "annudf/Dialect/IR/Annudf.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace annudf::ir;

/// Line of the bracket that is nested too deeply, 0 if none is. Strings and comments
/// do not count, nor does the arrow.
static int findTooDeep(StringRef source) {
  int depth = 0, line = 1;
  for (size_t i = 0; i < source.size(); ++i) {
    switch (source[i]) {
    case '\n':
      ++line;
      break;
    case '"':
      for (++i; i < source.size() && source[i] != '"' && source[i] != '\n'; ++i)
        i += source[i] == '\\';
      line += i < source.size() && source[i] == '\n';
      break;
    case '/':
      if (source.substr(i).starts_with("//"))
        i = std::min(source.find('\n', i), source.size()) - 1;
      break;
    case '{':
    case '(':
    case '[':
    case '<':
      if (++depth > kMaxSourceNesting)
        return line;
      break;
    case '>':
      if (i > 0 && source[i - 1] == '-')
        break;
      [[fallthrough]];
    case '}':
    case ')':
    case ']':
      depth = std::max(depth - 1, 0);
      break;
    }
  }
  return 0;
}

/// Writes all of `text`, as far as anyone listens.
static void writeAll(int file, StringRef text) {
  while (!text.empty()) {
    ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR)
      return;
    text = text.drop_front(std::max<ssize_t>(written, 0));
  }
}

/// In the child: writes the module as text and exits with 0, or what is wrong and 1.
/// Exceptions end in std::terminate: the caller's handlers are for the parent only.
[[noreturn]] static void readBytecodeAndExit(StringRef bytes, int output) noexcept {
  // A crash is expected: it leaves no core and no words.
  for (int number : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTERM, SIGINT, SIGPIPE})
    signal(number, SIG_DFL);
  rlimit none = {0, 0}, seconds = {1, 1};
  setrlimit(RLIMIT_CORE, &none);
  setrlimit(RLIMIT_CPU, &seconds);
#if !LLVM_ADDRESS_SANITIZER_BUILD // whose shadow memory alone takes more
  rlimit memory = {rlim_t(8) << 30, rlim_t(8) << 30};
  setrlimit(RLIMIT_AS, &memory);
#endif
  close(STDERR_FILENO);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<AnnudfDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect,
                      scf::SCFDialect>();
  std::string message;
  ScopedDiagnosticHandler keep(&context, [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(bytes, &context);
  if (!module) {
    writeAll(output, message);
    _exit(1);
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().enableDebugInfo().printGenericOpForm());
  writeAll(output, text);
  _exit(0);
}

static std::string failToStart(Location location) {
  emitError(location) << "cannot start a process to read MLIR bytecode: " << strerror(errno);
  return "";
}

/// The text of the module that `bytes` hold; empty after a diagnostic at `location`.
static std::string bytecodeToText(StringRef bytes, Location location) {
  int ends[2];
  if (pipe(ends) != 0)
    return failToStart(location);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    readBytecodeAndExit(bytes, ends[1]);
  }
  int whyNot = errno;
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    errno = whyNot;
    return failToStart(location);
  }
  std::string text;
  char buffer[1 << 16];
  while (true) {
    ssize_t count = read(ends[0], buffer, sizeof(buffer));
    if (count == 0 || (count < 0 && errno != EINTR))
      break;
    text.append(buffer, std::max<ssize_t>(count, 0));
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return text;
  bool refused = WIFEXITED(status) && WEXITSTATUS(status) == 1 && !text.empty();
  emitError(location) << "damaged MLIR bytecode: "
                      << (refused ? text : "the reader crashed or did not end");
  return "";
}

OwningOpRef<ModuleOp> annudf::ir::parseModule(StringRef source, StringRef origin,
                                              MLIRContext *context) {
  std::string text;
  if (isBytecode(llvm::MemoryBufferRef(source, origin))) {
    text = bytecodeToText(source, FileLineColLoc::get(context, origin, 0, 0));
    if (text.empty())
      return nullptr;
    source = text;
  }
  if (int line = findTooDeep(source)) {
    emitError(FileLineColLoc::get(context, origin, line, 1))
        << "brackets are nested more than " << kMaxSourceNesting << " deep";
    return nullptr;
  }
  return parseSourceString<ModuleOp>(source, context, origin);
}
