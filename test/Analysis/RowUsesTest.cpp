//===- RowUsesTest.cpp - What a metric does with the number of a row ------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/RowUses.h"

#include "annudf/Analysis/ProvedFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <string>

using namespace annudf;

namespace {

struct Case {
  /// The body of `keep`, which yields %kept; %age has an entry a row, %w one a dim.
  const char *ops;
  bool isOnly;
};

const char *const kLoad = "%row = annudf.index row\n"
                          "%a = annudf.load %age[%row] : !annudf.capture<row x f32>\n";
#define ANNUDF_KEPT "%kept = arith.cmpf ole, %a, %a : f32\n"
const Case kCases[] = {
    {ANNUDF_KEPT, true},
    {"%n = arith.index_cast %row : index to i64\n" ANNUDF_KEPT, false},
    {"%zero = arith.constant 0 : index\n%kept = arith.cmpi eq, %row, %zero : index\n", false},
    {"%other = annudf.index row\n%b = annudf.load %age[%other] : !annudf.capture<row x f32>\n"
     "%kept = arith.cmpf ole, %a, %b : f32\n",
     true},
    {"%other = annudf.index row\n%zero = arith.constant 0 : index\n"
     "%kept = arith.cmpi eq, %other, %zero : index\n",
     false},
    // The verifier refuses it, but that is no reason to say more than is true.
    {"%b = annudf.load %w[%row] : !annudf.capture<dim x f32>\n"
     "%kept = arith.cmpf ole, %a, %b : f32\n",
     false},
    {"%list = annudf.index list\n%zero = arith.constant 0 : index\n"
     "%kept = arith.cmpi eq, %list, %zero : index\n",
     true},
    {"%kept = func.call @second() : () -> i1\n", false},
};

class RowUses : public ::testing::Test {
protected:
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  RowUses() {
    context.loadDialect<ir::AnnudfDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect>();
  }
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &ops, const char *captures) {
    return mlir::parseSourceString<mlir::ModuleOp>(
        "func.func private @first() -> i1 {\n%row = annudf.index row\n"
        "%zero = arith.constant 0 : index\n%is = arith.cmpi eq, %row, %zero : index\n"
        "func.return %is : i1\n}\n"
        "func.func private @second() -> i1 {\n%is = func.call @first() : () -> i1\n"
        "func.return %is : i1\n}\n"
        "annudf.filter @f {\n" +
            std::string(captures) + "annudf.keep {\n" + ops + "annudf.yield %kept : i1\n}\n}\n",
        &context);
  }
};

constexpr const char *kCaptures = "%age = annudf.capture \"age\" : !annudf.capture<row x f32>\n"
                                  "%w = annudf.capture \"w\" : !annudf.capture<dim x f32>\n";

// @first uses it otherwise, and counts only where it is called.
TEST_F(RowUses, OnlyIndex) {
  for (const Case &one : kCases) {
    auto module = parse(std::string(kLoad) + one.ops, kCaptures);
    ASSERT_TRUE(module) << one.ops;
    const ir::UdfOpInterface udf = *module->getOps<ir::UdfOpInterface>().begin();
    EXPECT_EQ(rowOnlyIndexes(udf), one.isOnly) << one.ops;
    EXPECT_EQ(ProvedFacts::of(udf, {}).rowOnlyIndexes, one.isOnly) << one.ops;
  }
}

// Directly, in a function that is called, and in one that is not.
TEST_F(RowUses, ReadsList) {
  const char *const function = "func.func private @where() -> index {\n"
                               "%list = annudf.index list\nfunc.return %list : index\n}\n";
  const auto metric = [](const std::string &term) {
    return "annudf.metric @m order(min) coarse(l2) elements(f32) {\n"
           "annudf.init {\n%zero = arith.constant 0.0 : f32\nannudf.yield %zero : f32\n}\n"
           "annudf.update (%acc: f32, %x: f32, %y: f32) {\n" +
           term + "annudf.yield %acc : f32\n}\n}\n";
  };
  const std::pair<std::string, bool> cases[] = {
      {metric(""), false},
      {metric("%row = annudf.index row\n"), false},
      {metric("%list = annudf.index list\n"), true},
      {function + metric("%list = func.call @where() : () -> index\n"), true},
      {function + metric(""), false}};
  for (const auto &[text, reads] : cases) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    const ir::UdfOpInterface udf = *module->getOps<ir::UdfOpInterface>().begin();
    EXPECT_EQ(readsList(udf), reads) << text;
    EXPECT_EQ(ProvedFacts::of(udf, {}).readsList, reads) << text;
  }
}

TEST_F(RowUses, AreToldWhereThereIsSomethingToIndex) {
  for (const char *captures :
       {"", "%age = annudf.capture \"age\" : !annudf.capture<dim x f32>\n"}) {
    auto module = parse("%kept = arith.constant true\n", captures);
    ASSERT_TRUE(module);
    const ir::UdfOpInterface udf = *module->getOps<ir::UdfOpInterface>().begin();
    EXPECT_TRUE(rowOnlyIndexes(udf));
    EXPECT_FALSE(ProvedFacts::of(udf, {}).rowOnlyIndexes);
  }
}

} // namespace
