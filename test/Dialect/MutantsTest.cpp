//===- MutantsTest.cpp - Damaged metrics are refused, never crash ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads every truncation and every single-bit flip of the bytecode of a metric, and
// every truncation and deletion of its text. Each must end in a diagnostic or in a
// module that verifies; the ABI verifier must take what the reader lets through.
//
//===----------------------------------------------------------------------===//

#include "annudf/Dialect/IR/Annudf.h"
#include "annudf/Frontend/Source.h"
#include "annudf/Dialect/Transforms/AbiRules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <fstream>
#include <iterator>
#include <memory>
#include <sys/resource.h>

using namespace mlir;

namespace {

std::string readGolden(const char *name) {
  std::ifstream file(std::string(ANNUDF_GOLDEN_DIR) + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What became of a number of inputs.
struct Outcome {
  int refused = 0, parsed = 0, accepted = 0, silent = 0;
};

class Mutants : public ::testing::Test {
protected:
  void read(const std::string &bytes) {
    // Whatever a reader keeps in a context must not help the next input.
    if (++inputs % 2000 == 1) {
      context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
      context->loadDialect<annudf::ir::AnnudfDialect, arith::ArithDialect, func::FuncDialect,
                           math::MathDialect, scf::SCFDialect>();
    }
    int diagnostics = 0;
    ScopedDiagnosticHandler count(context.get(), [&](Diagnostic &) {
      ++diagnostics;
      return success();
    });
    OwningOpRef<ModuleOp> module = annudf::ir::parseModule(bytes, "mutant", context.get());
    if (!module) {
      ++outcome.refused;
      outcome.silent += diagnostics == 0;
      return;
    }
    ++outcome.parsed;
    EXPECT_TRUE(succeeded(verify(*module)));
    bool accepted = succeeded(annudf::verifyAbi(*module));
    outcome.accepted += accepted;
    outcome.silent += !accepted && diagnostics == 0;
  }

  Outcome outcome;

private:
  std::unique_ptr<MLIRContext> context;
  int inputs = 0;
};

TEST_F(Mutants, TruncatedBytecodeIsRefused) {
  std::string golden = readGolden("weighted_l2.mlirbc");
  ASSERT_GT(golden.size(), 100u);
  for (size_t size = 0; size < golden.size(); ++size)
    read(golden.substr(0, size));
  // No bytes at all are an empty module.
  EXPECT_EQ(outcome.refused, static_cast<int>(golden.size()) - 1);
  EXPECT_EQ(outcome.accepted, 0);
  EXPECT_EQ(outcome.silent, 0);
}

// One test a bit, so that none is long under sanitizers.
class FlippedBit : public Mutants, public ::testing::WithParamInterface<int> {};

TEST_P(FlippedBit, OfEveryByteOfBytecode) {
  std::string golden = readGolden("weighted_l2.mlirbc");
  for (size_t byte = 0; byte < golden.size(); ++byte) {
    std::string mutant = golden;
    mutant[byte] ^= 1 << GetParam();
    read(mutant);
  }
  EXPECT_GT(outcome.refused, 0);
  EXPECT_GT(outcome.accepted, 0) << "a flipped bit of a name or a location changes no meaning";
  EXPECT_EQ(outcome.silent, 0);
}

INSTANTIATE_TEST_SUITE_P(Bits, FlippedBit, ::testing::Range(0, 8));

TEST_F(Mutants, TruncatedText) {
  std::string golden = readGolden("weighted_l2.mlir");
  ASSERT_GT(golden.size(), 100u);
  size_t metric = golden.find("annudf.metric"), end = golden.find_last_of('}');
  for (size_t size = 0; size < golden.size(); ++size) {
    int before = outcome.accepted;
    read(golden.substr(0, size));
    if (size > metric && size <= end)
      EXPECT_EQ(outcome.accepted, before) << "after " << size << " bytes";
  }
  EXPECT_EQ(outcome.silent, 0);
}

TEST_F(Mutants, TextWithoutOneCharacter) {
  std::string golden = readGolden("weighted_l2.mlir");
  for (size_t at = 0; at < golden.size(); ++at)
    read(golden.substr(0, at) + golden.substr(at + 1));
  EXPECT_GT(outcome.refused, 0);
  EXPECT_EQ(outcome.silent, 0);
}

/// What parseModule says about `source`, empty if it parses.
std::string faultOf(const std::string &source) {
  MLIRContext context;
  context.loadDialect<annudf::ir::AnnudfDialect>();
  std::string text;
  ScopedDiagnosticHandler keep(&context, [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream(text) << diagnostic.getLocation() << " " << diagnostic;
    return success();
  });
  OwningOpRef<ModuleOp> module = annudf::ir::parseModule(source, "m.mlir", &context);
  EXPECT_EQ(bool(module), text.empty());
  return text;
}

TEST(Source, DeepNestingIsRefusedBeforeItEndsTheStack) {
  int limit = annudf::ir::kMaxSourceNesting;
  auto nest = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i)
      text += "module {\n";
    return text + std::string(depth, '}');
  };
  EXPECT_EQ(faultOf(nest(limit)), "");
  EXPECT_EQ(faultOf(nest(limit + 1)),
            "loc(\"m.mlir\":257:1) brackets are nested more than 256 deep");
  EXPECT_EQ(faultOf(std::string(1'000'000, '<')),
            "loc(\"m.mlir\":1:1) brackets are nested more than 256 deep");
  // Brackets in comments and strings, and arrows, nest nothing.
  std::string flat = "module attributes {x.a = \"";
  for (int i = 0; i < 1000; ++i)
    flat += "{ \\\" <";
  flat += "\"} {\n";
  for (int i = 0; i < 1000; ++i)
    flat += "// {{ <\nmodule attributes {x.t = () -> ()} {}\n";
  EXPECT_EQ(faultOf(flat + "}"), "");
  EXPECT_EQ(faultOf(""), "");
}

TEST(Source, BytecodeIsRefusedWithTheReadersWords) {
  std::string golden = readGolden("weighted_l2.mlirbc");
  EXPECT_NE(faultOf(golden.substr(0, 40)).find("damaged MLIR bytecode: "), std::string::npos);
  // A flip that makes LLVM 22's reader write out of bounds.
  std::string mutant = golden;
  mutant[46] ^= 1 << 3;
  EXPECT_NE(faultOf(mutant).find("damaged MLIR bytecode: "), std::string::npos);
  // No process is started for what is too large.
  golden.resize((16 << 20) + 1);
  EXPECT_NE(
      faultOf(golden).find("16777217 bytes of bytecode, more than the 16777216 that are read"),
      std::string::npos);
}

TEST(Source, BytecodeWithoutAProcessToReadIt) {
  std::string golden = readGolden("weighted_l2.mlirbc");
  rlimit before, few;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  few = {3, before.rlim_max}; // standard input, output and error are open
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  std::string fault = faultOf(golden);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(fault, "loc(\"m.mlir\":0:0) cannot start a process to read MLIR bytecode: "
                   "Too many open files");
}

// Only C++ can ask for such an extent: the parser has no spelling for it.
TEST(CaptureType, RefusesExtentsThatAreNoSymbol) {
  MLIRContext context;
  context.loadDialect<annudf::ir::AnnudfDialect>();
  std::string message;
  ScopedDiagnosticHandler keep(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  auto fail = [&] { return emitError(UnknownLoc::get(&context)); };
  auto get = [&](int64_t extent) {
    return annudf::ir::CaptureType::getChecked(fail, &context, ArrayRef<int64_t>(extent),
                                               Type(Float32Type::get(&context)));
  };
  EXPECT_FALSE(get(-7));
  EXPECT_EQ(message, "extent -7 is neither positive nor a symbol");
  EXPECT_FALSE(get(std::numeric_limits<int64_t>::min()));
  EXPECT_EQ(message, "extent -9223372036854775808 is neither positive nor a symbol");
  EXPECT_FALSE(get(0));
  EXPECT_EQ(message, "extent 0 is neither positive nor a symbol");
  EXPECT_TRUE(get(annudf::ir::CaptureType::kQuery));
}

} // namespace
