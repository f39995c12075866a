//===- Source.cpp - Reading a module from bytes that may be damaged -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Frontend/Source.h"

#include "Limits.h"

#include "annudf/Dialect/IR/Annudf.h"
#include "annudf/Frontend/Diagnostics.h"
#include "annudf/Support/Fork.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace annudf::ir;

/// What stands before the child's text, so that the parent knows when it has all of it.
struct ReplyHeader {
  uint64_t kind, size;
};
// Nothing that damage writes by chance.
static constexpr uint64_t kModule = 0x4c444f4d46445541, kRefusal = 0x4653554652464455;

/// Writes all of `text`, as far as anyone listens.
static void writeAll(int file, StringRef text) {
  while (!text.empty()) {
    ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR)
      return;
    text = text.drop_front(std::max<ssize_t>(written, 0));
  }
}

static void writeReply(int file, uint64_t kind, StringRef text) {
  ReplyHeader header = {kind, text.size()};
  writeAll(file, StringRef(reinterpret_cast<const char *>(&header), sizeof(header)));
  writeAll(file, text);
}

/// Limits the child's memory. A limit counts what the parent had mapped, which may be
/// any amount (a CUDA context reserves hundreds of GiB), so it starts from there.
static void limitMemory() {
#if !LLVM_ADDRESS_SANITIZER_BUILD // whose shadow memory alone takes more
  // Address space the child may take on top of what it inherits.
  constexpr rlim_t kReaderMemory = rlim_t(2) << 30;
  unsigned long long pages = 0;
  FILE *sizes = fopen("/proc/self/statm", "re");
  bool known = sizes && fscanf(sizes, "%llu", &pages) == 1;
  if (sizes)
    fclose(sizes);
  if (!known) // no /proc: the second of CPU time is the limit
    return;
  rlim_t most = rlim_t(pages) * sysconf(_SC_PAGESIZE) + kReaderMemory;
  rlimit memory = {most, most};
  setrlimit(RLIMIT_AS, &memory); // fails if the limit is lower already
#endif
}

/// In the child: writes the module as text, or what is wrong. It knows the dialects of `parent`.
/// Exceptions end in std::terminate: the caller's handlers are for the parent only.
[[noreturn]] static void readBytecodeAndExit(StringRef bytes, MLIRContext &parent,
                                             int output) noexcept {
  // A crash is expected: it leaves no core and no words.
  for (int number : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTERM, SIGINT, SIGPIPE})
    signal(number, SIG_DFL);
  rlimit none = {0, 0}, seconds = {1, 1};
  setrlimit(RLIMIT_CORE, &none);
  setrlimit(RLIMIT_CPU, &seconds);
  limitMemory();
  if (output == STDERR_FILENO) // the caller had closed it
    output = fcntl(output, F_DUPFD, STDERR_FILENO + 1);
  close(STDERR_FILENO);
  MLIRContext context(parent.getDialectRegistry(), MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(parent.allowsUnregisteredDialects());
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
    // It may print a type of any length.
    writeReply(output, kRefusal, StringRef(message).take_front(kMaxMessage));
    _exit(1);
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().enableDebugInfo().printGenericOpForm());
  if (text.size() > kMaxSourceText) {
    writeReply(output, kRefusal, "as text it is longer than any that is read");
    _exit(1);
  }
  writeReply(output, kModule, text);
  _exit(0);
}

namespace {
enum class Answer { Module, Refusal, Broken, Late };
}

/// Reads the child's reply into `text` until it is complete, the child has gone or the time is
/// over.
static Answer awaitReply(int input, std::chrono::seconds time, std::string &text) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + time;
  ReplyHeader header = {};
  std::string reply;
  char buffer[1 << 16];
  while (true) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0)
      return Answer::Late;
    pollfd ready = {input, POLLIN, 0};
    int polled = poll(&ready, 1, static_cast<int>(left.count()));
    if (polled == 0 || (polled < 0 && errno == EINTR))
      continue;
    ssize_t count = polled < 0 ? -1 : read(input, buffer, sizeof(buffer));
    if (count < 0 && polled > 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return Answer::Broken;
    reply.append(buffer, count);
    if (reply.size() < sizeof(header))
      continue;
    memcpy(&header, reply.data(), sizeof(header));
    if ((header.kind != kModule && header.kind != kRefusal) || header.size == 0 ||
        header.size > kMaxSourceText || reply.size() - sizeof(header) > header.size)
      return Answer::Broken;
    if (reply.size() - sizeof(header) == header.size)
      break;
  }
  text = reply.substr(sizeof(header));
  return header.kind == kModule ? Answer::Module : Answer::Refusal;
}

/// What a child says of `bytes` within the time, its words in `text`. None where no child could be
/// started, with errno.
static std::optional<Answer> askChild(StringRef bytes, MLIRContext &context,
                                      std::chrono::seconds time, std::string &text) {
  // The fork waits for other users of a compiler, who may be here too.
  const annudf::CompilerPause pause;
  int ends[2];
  pid_t child;
  int whyNot = 0;
  {
    // No child may inherit the writing end of another: its reader would wait for both.
    static annudf::PerProcess<std::mutex> starting;
    std::lock_guard<std::mutex> lock(starting.get());
    if (pipe2(ends, O_CLOEXEC) != 0)
      return std::nullopt;
    child = fork();
    if (child == 0) {
      close(ends[0]);
      readBytecodeAndExit(bytes, context, ends[1]);
    }
    whyNot = errno;
    close(ends[1]);
  }
  if (child < 0) {
    close(ends[0]);
    errno = whyNot;
    return std::nullopt;
  }
  Answer answer = awaitReply(ends[0], time, text);
  close(ends[0]);
  if (answer == Answer::Late)
    kill(child, SIGKILL);
  // Only to leave no zombie: the reply alone says how it went, because there is no
  // status to be had where SIGCHLD is ignored or its handler reaps every child.
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR)
    continue;
  return answer;
}

/// The text of the module that `bytes` hold; empty after a diagnostic at `location`.
static std::string bytecodeToText(StringRef bytes, Location location) {
  std::string text;
  Answer answer = Answer::Late;
  // A lock of MLIR's that another thread held at the fork, as where types are first registered,
  // stays locked in the child, which then waits for ever; the next one hardly meets it too.
  for (int seconds : {1, 2, kBytecodeSeconds - 3}) {
    std::optional<Answer> said =
        askChild(bytes, *location.getContext(), std::chrono::seconds(seconds), text);
    if (!said) {
      emitError(location) << "cannot start a process to read MLIR bytecode: " << strerror(errno);
      return "";
    }
    answer = *said;
    if (answer != Answer::Late)
      break;
  }
  switch (answer) {
  case Answer::Module:
    return text;
  case Answer::Refusal:
    emitError(location) << (StringRef(text).ends_with(kUseWriter) ? "MLIR bytecode "
                                                                  : "damaged MLIR bytecode: ")
                        << text;
    return "";
  case Answer::Broken:
    emitError(location) << "damaged MLIR bytecode: the reader crashed or did not end";
    return "";
  case Answer::Late:
    emitError(location) << "MLIR bytecode was not read within " << kBytecodeSeconds
                        << " s; try again, or pass the metric as text";
    return "";
  }
  llvm_unreachable("every answer is handled");
}

std::optional<std::string> annudf::ir::readText(StringRef source, StringRef origin,
                                                MLIRContext *context) {
  std::string text;
  if (isBytecode(llvm::MemoryBufferRef(source, origin))) {
    Location location = FileLineColLoc::get(context, origin, 0, 0);
    if (source.size() > kMaxSourceText) {
      emitError(location) << source.size() << " bytes of bytecode, more than the " << kMaxSourceText
                          << " that are read";
      return std::nullopt;
    }
    text = bytecodeToText(source, location);
    if (text.empty())
      return std::nullopt;
    source = text;
  }
  const auto hasProperty = [&](StringRef op, StringRef property) {
    auto [dialect, name] = op.split('.');
    // Rule M15 tells annudf's own; what no dialect here has is the parser's to refuse.
    if (name.empty() || dialect == AnnudfDialect::getDialectNamespace() ||
        !context->getOrLoadDialect(dialect))
      return true;
    std::optional<RegisteredOperationName> known = RegisteredOperationName::lookup(op, context);
    return !known || llvm::any_of(known->getAttributeNames(),
                                  [&](StringAttr have) { return have == property; });
  };
  if (std::optional<TextFault> fault = findTextFault(source, hasProperty)) {
    emitError(FileLineColLoc::get(context, origin, fault->line, fault->line != 0)) << fault->what;
    return std::nullopt;
  }
  return text.empty() ? source.str() : text;
}

OwningOpRef<ModuleOp> annudf::ir::parseModule(StringRef source, StringRef origin,
                                              MLIRContext *context) {
  std::optional<std::string> text = readText(source, origin, context);
  if (!text)
    return nullptr;
  return parseSourceString<ModuleOp>(*text, context, origin);
}
