//===- BytecodeProcessTest.cpp - Bytecode is read whatever the caller is --===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// parseModule reads bytecode in a child process, which inherits what the caller did to
// its own: mappings, signals, threads. None of it may refuse good bytecode, hang, or
// fail without a word.
//
//===----------------------------------------------------------------------===//

#include "annudf/Dialect/IR/Annudf.h"
#include "annudf/Frontend/Source.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "gtest/gtest.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace mlir;

namespace {

constexpr const char *kCrashed =
    "loc(\"m.mlirbc\":0:0) damaged MLIR bytecode: the reader crashed or did not end";

/// What the next children do before they read anything.
enum class Child { Reads, Hangs, HangsOnce, Leaves };
Child nextChild = Child::Reads;

void beginChild() {
  if (nextChild == Child::Leaves)
    _exit(0);
  while (nextChild == Child::Hangs || nextChild == Child::HangsOnce)
    pause();
}

void endFork() {
  if (nextChild == Child::HangsOnce)
    nextChild = Child::Reads;
}

class BytecodeProcess : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    ASSERT_EQ(pthread_atfork(nullptr, endFork, beginChild), 0);
    std::ifstream file(ANNUDF_GOLDEN_DIR "weighted_l2.mlirbc", std::ios::binary);
    golden.assign(std::istreambuf_iterator<char>(file), {});
    ASSERT_GT(golden.size(), 100u);
    // A flip that makes LLVM 22's reader write out of bounds.
    crashing = golden;
    crashing[46] ^= 1 << 3;
  }

  void TearDown() override {
    nextChild = Child::Reads;
    signal(SIGCHLD, SIG_DFL);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
    EXPECT_EQ(errno, ECHILD);
  }

  /// What parseModule says about `bytes`, empty if it parses.
  static std::string faultOf(const std::string &bytes) {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    context.loadDialect<annudf::ir::AnnudfDialect, arith::ArithDialect, func::FuncDialect,
                        math::MathDialect, scf::SCFDialect>();
    std::string text;
    ScopedDiagnosticHandler keep(&context, [&](Diagnostic &diagnostic) {
      llvm::raw_string_ostream(text) << diagnostic.getLocation() << " " << diagnostic;
      return success();
    });
    OwningOpRef<ModuleOp> module = annudf::ir::parseModule(bytes, "m.mlirbc", &context);
    EXPECT_EQ(bool(module), text.empty()) << text;
    return text;
  }

  static inline std::string golden, crashing;
};

TEST_F(BytecodeProcess, CallerWithALargeReservation) {
  size_t size = size_t(16) << 30;
  void *reserved =
      mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(reserved, MAP_FAILED);
  EXPECT_EQ(faultOf(golden), "");
  EXPECT_EQ(munmap(reserved, size), 0);
}

TEST_F(BytecodeProcess, CallerThatIgnoresSigchld) {
  ASSERT_NE(signal(SIGCHLD, SIG_IGN), SIG_ERR);
  EXPECT_EQ(faultOf(golden), "");
  EXPECT_NE(faultOf(golden.substr(0, 40)).find("damaged MLIR bytecode: "), std::string::npos);
  EXPECT_NE(faultOf(crashing).find("damaged MLIR bytecode: "), std::string::npos);
  nextChild = Child::Leaves;
  EXPECT_EQ(faultOf(golden), kCrashed);
}

TEST_F(BytecodeProcess, ChildThatSaysNothing) {
  nextChild = Child::Leaves;
  EXPECT_EQ(faultOf(golden), kCrashed);
}

TEST_F(BytecodeProcess, ChildThatHangsIsKilled) {
  nextChild = Child::Hangs;
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(faultOf(golden),
            "loc(\"m.mlirbc\":0:0) "
            "MLIR bytecode was not read within 10 s; try again, or pass the metric as text");
  EXPECT_GE(std::chrono::steady_clock::now() - start,
            std::chrono::seconds(annudf::ir::kBytecodeSeconds));
}

/// As one does that inherits a lock which another thread of the caller held.
TEST_F(BytecodeProcess, AfterAChildThatHangsAnotherReads) {
  nextChild = Child::HangsOnce;
  EXPECT_EQ(faultOf(golden), "");
}

TEST_F(BytecodeProcess, CallerInterruptedBySignals) {
  // Without SA_RESTART, so that system calls end in EINTR.
  static volatile sig_atomic_t alarms;
  struct sigaction count = {}, before;
  count.sa_handler = [](int) { alarms = alarms + 1; };
  ASSERT_EQ(sigaction(SIGALRM, &count, &before), 0);
  itimerval often = {{0, 500}, {0, 500}}, never = {};
  ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(faultOf(golden), "");
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_GT(alarms, 0);
}

TEST_F(BytecodeProcess, ThreadsReadAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([i] {
      for (int j = 0; j < 20; ++j) {
        if ((i + j) % 4 == 0)
          EXPECT_NE(faultOf(crashing).find("damaged MLIR bytecode: "), std::string::npos);
        else
          EXPECT_EQ(faultOf(golden), "");
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(BytecodeProcess, CallerWithoutStandardError) {
  int kept = dup(STDERR_FILENO), input = dup(STDIN_FILENO);
  ASSERT_GE(kept, 0);
  close(STDIN_FILENO); // the pipe becomes 0 and 2
  close(STDERR_FILENO);
  std::string good = faultOf(golden), bad = faultOf(golden.substr(0, 40));
  dup2(kept, STDERR_FILENO);
  dup2(input, STDIN_FILENO);
  close(kept);
  close(input);
  EXPECT_EQ(good, "");
  EXPECT_NE(bad.find("damaged MLIR bytecode: "), std::string::npos);
  EXPECT_NE(bad, kCrashed);
}

} // namespace
