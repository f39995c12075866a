//===- TextLimitsTest.cpp - Text that would end its reader is refused -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Dialect/IR/Annudf.h"
#include "annudf/Frontend/Source.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Compiler.h"
#include "gtest/gtest.h"

#include <cstdio>
#include <sys/resource.h>
#include <unistd.h>

using namespace mlir;

namespace {

/// What parseModule says about `source`, empty if it parses.
std::string faultOf(const std::string &source) {
  MLIRContext context;
  context.loadDialect<annudf::ir::AnnudfDialect, arith::ArithDialect, scf::SCFDialect>();
  std::string text;
  ScopedDiagnosticHandler keep(&context, [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream(text) << diagnostic.getLocation() << " " << diagnostic;
    return success();
  });
  OwningOpRef<ModuleOp> module = annudf::ir::parseModule(source, "m.mlir", &context);
  EXPECT_EQ(bool(module), text.empty());
  return text;
}

[[noreturn]] void readWithinLimits(const std::string &source, const std::string &expected) {
  rlimit memory = {rlim_t(2) << 30, rlim_t(2) << 30}, seconds = {2, 2};
  if (!LLVM_ADDRESS_SANITIZER_BUILD)
    setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CPU, &seconds);
  std::string fault = faultOf(source);
  fprintf(stderr, "%s", fault.c_str());
  _exit(fault.find(expected) != std::string::npos && fault.size() < 8192 ? 7 : 8);
}

/// In a process of its own with little memory and time: what is not refused early ends it.
void expectRefused(const std::string &source, const std::string &expected) {
  EXPECT_EXIT(readWithinLimits(source, expected), ::testing::ExitedWithCode(7), "") << expected;
}

std::string repeat(const std::string &text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i)
    result += text;
  return result;
}

// MLIR's parser recurses along the terms.
TEST(TextDeathTest, AffineMapsAndSetsAreNotRead) {
  expectRefused("module attributes {x.a = affine_map<(d0) -> (" + repeat("- ", 8000) + "d0)>} {}",
                "loc(\"m.mlir\":1:1) affine maps and sets ('affine_map') are not read; no metric "
                "needs them");
  expectRefused("\n#set = affine_set<(d0) : (" + repeat("d0 + ", 100000) + "1 >= 0)>",
                "loc(\"m.mlir\":2:1) affine maps and sets ('affine_set') are not read");
}

TEST(TextDeathTest, ResourcesAreNotRead) {
  expectRefused("{-# dialect_resources: { builtin: { a: \"0x0400000001\" } } #-}",
                "loc(\"m.mlir\":1:1) resources of dialects ({-# ... #-}) are not read; leave them "
                "out");
  expectRefused("module {}\n{-#\n#-}", "loc(\"m.mlir\":2:1) resources of dialects");
  expectRefused("module attributes {x.a = dense_resource<a> : tensor<4xf32>} {}",
                "resources of dialects ('dense_resource') are not read");
  expectRefused("module attributes {x.a = sparse<[0], [1]> : tensor<4xf32>} {}",
                "sparse elements ('sparse') are not read");
}

TEST(TextDeathTest, AliasesThatDoubleAreNotWrittenOut) {
  for (const char *form : {"tuple<!a%, !a%>", "tuple<\n !a% ,\n !a%>", "(!a%) -> !a%",
                           "() ->\n // all of it\n tuple<!a%, !a%>", "(!a%) -> (!a%)"}) {
    std::string text = "!a0 = tuple<i1, i1>\n";
    for (int i = 1; i < 40; ++i) {
      std::string line = "!a" + std::to_string(i) + " = " + form + "\n";
      for (size_t at; (at = line.find('%')) != std::string::npos;)
        line.replace(at, 1, std::to_string(i - 1));
      text += line;
    }
    expectRefused(text + "module attributes {x.a = !a39} { %0 = arith.constant 1 : !a39 }",
                  "aliases written out are more than 1048576 bytes of text");
  }
  std::string text = "#a0 = [1, 2, 3]\n";
  for (int i = 1; i < 40; ++i) {
    std::string before = "#a" + std::to_string(i - 1);
    text += "#a" + std::to_string(i) + " = [" + before + ", " + before + "] ";
  }
  expectRefused(text + "module attributes {x.a = #a39} {}", "aliases written out are more than");
}

TEST(TextDeathTest, AliasesInAChainAreNotFollowed) {
  std::string locations = "#loc0 = loc(\"a\":1:1)\n", types = "!t0 = i1\n", lists = "#l0 = 1\n",
              names = "#n0 = 1\n";
  for (int i = 1; i < 40000; ++i) {
    std::string n = std::to_string(i), before = std::to_string(i - 1);
    locations += "#loc" + n + " = loc(callsite(\"f\" at #loc" + before + "))\n";
    types += "!t" + n + " = tuple<!t" + before + ">\n";
    lists += "#l" + n + " = [#l" + before + "]\n";
    names += "#n" + n + " = #n" + before + "\n";
  }
  const char *why = "aliases of aliases are nested more than 256 deep";
  expectRefused(locations + "module {} loc(#loc39999)", why);
  expectRefused(types + "module attributes {x.a = !t39999} {}", why);
  expectRefused(lists + "module attributes {x.a = #l39999} {}", why);
  expectRefused(names + "module attributes {x.a = #n39999} {}", why);
}

TEST(TextDeathTest, ALocationThatIsDefinedBehindItsUses) {
  std::string text = "module {\n" + repeat("module {} loc(#where)\n", 20000) +
                     "}\n#where = loc(\"" + std::string(1000, 'a') + "\")\n";
  expectRefused(text, "aliases written out are more than 1048576 bytes of text");
}

// The parser makes room for all of them before it looks at the operation.
TEST(TextDeathTest, NumbersThatAskForMemory) {
  const char *results = "result 4294967295 of an operation, at most 1024 are read";
  expectRefused("module {\n \"x.y\"(%a#4294967295) : (i1) -> ()\n}", results);
  expectRefused("module {\n \"x.y\"(%a #4294967295) : (i1) -> ()\n}", results);
  expectRefused("module {\n %a:4294967295 = \"x.y\"() : () -> ()\n}", results);
  expectRefused("module {\n %a : 4294967295 = \"x.y\"() : () -> ()\n}", results);
  expectRefused("module attributes {x.a = " + repeat("1", 1000000) + "} {}",
                "a number of 1000000 characters, at most 128 are read");
  expectRefused("module attributes {x.a = 0." + repeat("1", 1000000) + "} {}",
                "a number of 1000002 characters, at most 128 are read");
  expectRefused("module attributes {x.a = [" + repeat("1 : i16777215, ", 10000) + "1]} {}",
                "integers of more than 128 bits ('i16777215') are not read");
  expectRefused("module attributes {x.a = dense<1> : vector<4x4xi16777215>} {}",
                "integers of more than 128 bits ('i16777215') are not read");
  for (const char *shape :
       {"4294967296x4294967296xf32", "16777217xf32", "4096 x 4097 x f32", "4096x\n// and\n4097xf32",
        "[4096]x[4097]xf32", "?x4096x4097xf32", "99999999999999999999999999xf32"})
    for (const char *kind : {"vector", "tensor", "memref"})
      expectRefused("module attributes {x.a = dense<1.0> : " + std::string(kind) + "<" + shape +
                        ">} {}",
                    "a shape of more than 16777216 elements is not read");
}

TEST(TextDeathTest, TextWithoutEnd) {
  expectRefused(std::string((16 << 20) + 1, ' '),
                "16777217 bytes of text, more than the 16777216 that are read");
  expectRefused(repeat("module {}\n", 400000),
                "more than 1000000 words, numbers and signs, which no metric has");
  expectRefused("module { " + repeat("\"x.y\"() : () -> ()\n", 100000) + "}",
                "unregistered dialect");
}

// What is within the limits means what it meant.
TEST(Source, PlainTextIsWithinTheLimits) {
  for (const char *text :
       {"!t = tuple<i1, i128>\nmodule attributes {x.a = !t, x.b = tuple<!t, !t>} {}",
        "#a = \"text\"\n#b = [#a, 1 : i32, -1.5e-3 : f32]\nmodule attributes {x.a = #b} {}",
        "#a = dense<1.0> : tensor<4096x4096xf32>\nmodule attributes {x.a = #a} {}",
        "module attributes {x.a = () -> (), x.b = tensor<0x4294967296xi8>} {}",
        "module {} loc(#where)\n#where = loc(\"a\"(\"b\":1:2))",
        "module @vector attributes {affine.map = \"affine_map<\", x.a = \"{-# #-}\"} {} // sparse<",
        "!a = () -> i1 !b = (!a) -> !a module attributes {x.a = !b} {}"})
    EXPECT_EQ(faultOf(text), "") << text;
  std::string chain = "!t0 = i1\n";
  for (int i = 1; i < 100; ++i)
    chain += "!t" + std::to_string(i) + " = tuple<!t" + std::to_string(i - 1) + ">\n";
  EXPECT_EQ(faultOf(chain + "module attributes {x.a = !t99} {}"), "");
}

// MLIR drops a property that an operation does not have: a later version's meaning would be lost.
TEST(Text, PropertiesThatNoOperationHasAreRefused) {
  const auto add = [](const std::string &properties) {
    return faultOf("%0 = arith.constant 1.0 : f32\n%1 = \"arith.addf\"(%0, %0) <{" + properties +
                   "}> : (f32, f32) -> f32");
  };
  const std::string end = "', and MLIR would drop it without a word; leave it out";
  const std::string begin = "loc(\"m.mlir\":2:1) operation 'arith.addf' has no property '";
  const std::string fast = "fastmath = #arith.fastmath<none>";
  EXPECT_EQ(add(fast), "");
  EXPECT_EQ(add("\"fastmath\" = #arith.fastmath<none>"), "");
  EXPECT_EQ(add("wrap = 1 : i32"), begin + "wrap" + end);
  EXPECT_EQ(add("\"wrap\" = 1 : i32"), begin + "wrap" + end);
  EXPECT_EQ(add(fast + ", wrap"), begin + "wrap" + end);
  EXPECT_EQ(add("wrap = {fastmath = 1 : i32}, " + fast), begin + "wrap" + end);
  // Names within a value are the value's.
  EXPECT_EQ(faultOf("%0 = \"arith.constant\"() <{value = dense<[1, 2]> : tensor<2xi32>}> : () -> "
                    "tensor<2xi32>"),
            "");
  EXPECT_EQ(faultOf("%0 = arith.constant true\n\"scf.if\"(%0) <{chance = 1 : i32}> ({\n"
                    "\"scf.yield\"() : () -> ()\n}, {}) : (i1) -> ()"),
            "loc(\"m.mlir\":2:1) operation 'scf.if' has no property 'chance" + end);
}

} // namespace
