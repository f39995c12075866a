//===- BytecodeVersionTest.cpp - Newer bytecode is refused by name --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/ABI/annudf_abi.h"
#include "annudf/Dialect/IR/Annudf.h"
#include "annudf/Frontend/Source.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "gtest/gtest.h"

#include <fstream>
#include <iterator>

using namespace mlir;
using namespace annudf::ir;

namespace {

constexpr const char *kMetric = R"(
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
)";

struct BytecodeVersion : testing::Test {
  BytecodeVersion() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<AnnudfDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect,
                        scf::SCFDialect>();
  }

  std::string write(std::optional<uint64_t> minor) {
    OwningOpRef<ModuleOp> module = parseModule(kMetric, "m.mlir", &context);
    BytecodeWriterConfig config;
    if (minor)
      config.setDialectVersion<AnnudfDialect>(std::make_unique<AnnudfVersion>(*minor));
    std::string bytes;
    llvm::raw_string_ostream os(bytes);
    EXPECT_TRUE(succeeded(writeBytecodeToFile(*module, os, config)));
    return bytes;
  }

  /// What reading `bytes` says, empty if they are read.
  std::string read(const std::string &bytes) {
    std::string text;
    ScopedDiagnosticHandler keep(&context, [&](Diagnostic &diagnostic) {
      text += diagnostic.str();
      return success();
    });
    OwningOpRef<ModuleOp> module = parseModule(bytes, "m.mlirbc", &context);
    EXPECT_EQ(bool(module), text.empty());
    return text;
  }

  MLIRContext context;
};

TEST_F(BytecodeVersion, OwnAndOlderAreRead) {
  EXPECT_EQ(read(write(std::nullopt)), "");
  for (uint64_t minor = 0; minor <= ANNUDF_ABI_MINOR; ++minor)
    EXPECT_EQ(read(write(minor)), "");
}

TEST_F(BytecodeVersion, IsWritten) {
  EXPECT_NE(write(0), write(5));
  EXPECT_EQ(write(std::nullopt), write(ANNUDF_ABI_MINOR));
}

// A writer that says the version of what it writes changes nothing of what 1.0 wrote.
TEST_F(BytecodeVersion, GoldensAreWrittenAgain) {
  for (const char *name : {"every_op.mlirbc", "weighted_l2.mlirbc"}) {
    std::ifstream file(std::string(ANNUDF_GOLDEN_DIR) + name, std::ios::binary);
    const std::string golden(std::istreambuf_iterator<char>(file), {});
    OwningOpRef<ModuleOp> module = parseModule(golden, name, &context);
    ASSERT_TRUE(module) << name;
    BytecodeWriterConfig config;
    config.setDialectVersion<AnnudfDialect>(std::make_unique<AnnudfVersion>(0));
    std::string bytes;
    llvm::raw_string_ostream os(bytes);
    EXPECT_TRUE(succeeded(writeBytecodeToFile(*module, os, config)));
    EXPECT_EQ(bytes, golden) << name;
  }
}

// clang-format off
constexpr const char *kNewer = "is of annudf.accumulator.v1 1.1, newer than annudf.accumulator.v1 1.0, which this reader knows; use the version that wrote it";
// clang-format on

TEST_F(BytecodeVersion, NewerIsRefused) {
  std::string fault = read(write(ANNUDF_ABI_MINOR + 1));
  EXPECT_NE(fault.find(std::string("MLIR bytecode ") + kNewer), std::string::npos) << fault;
  EXPECT_EQ(fault.find("damaged"), std::string::npos) << fault;
}

} // namespace
