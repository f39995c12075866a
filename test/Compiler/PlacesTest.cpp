//===- PlacesTest.cpp - Row, query and list in hooks, captures of them ----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HookJit.h"

#include <gtest/gtest.h>
#include <limits>

using namespace annudf;
using namespace annudf::test;

namespace {

// Each hook tells where the scan is by a digit of its own, and reads captures there.
constexpr const char *kPlaces = R"(
annudf.metric @places order(min) coarse(l2) elements(f32) {
  %age = annudf.capture "age" : !annudf.capture<row x f64>
  %w = annudf.capture "w" : !annudf.capture<query x dim x f64>
  %t = annudf.capture "t" : !annudf.capture<2 x 3 x dim x i32>
  annudf.init {
    %query = annudf.index query
    %list = annudf.index list
    %two = arith.constant 1000 : index
    %0 = arith.muli %list, %two : index
    %1 = arith.addi %0, %query : index
    %2 = arith.index_cast %1 : index to i64
    %3 = arith.sitofp %2 : i64 to f64
    annudf.yield %3 : f64
  }
  annudf.update (%acc: f64, %x: f32, %y: f32) {
    %query = annudf.index query
    %dim = annudf.index dim
    %row = annudf.index row
    %list = annudf.index list
    %0 = annudf.load %w[%query, %dim] : !annudf.capture<query x dim x f64>
    %one = arith.constant 1 : index
    %three = arith.constant 3 : index
    %rest = arith.remsi %row, %three : index
    %bit = arith.andi %list, %one : index
    %1 = annudf.load %t[%bit, %rest, %dim] : !annudf.capture<2 x 3 x dim x i32>
    %2 = arith.sitofp %1 : i32 to f64
    %3 = arith.addf %acc, %0 : f64
    %4 = arith.addf %3, %2 : f64
    annudf.yield %4 : f64
  }
  annudf.finalize (%acc: f64) {
    %row = annudf.index row
    %query = annudf.index query
    %list = annudf.index list
    %0 = annudf.load %age[%row] : !annudf.capture<row x f64>
    %1 = arith.addi %query, %list : index
    %2 = arith.index_cast %1 : index to i64
    %3 = arith.sitofp %2 : i64 to f64
    %4 = arith.addf %acc, %0 : f64
    %5 = arith.mulf %4, %3 : f64
    %6 = arith.truncf %5 : f64 to f32
    annudf.yield %6 : f32
  }
}
)";

TEST(Places, HooksKnowWhereTheScanIs) {
  HookJit hooks(compileText(kPlaces, haveLibNvvm()));
  constexpr int kRows = 7, kQueries = 5, kDims = 4;
  std::vector<double> age(kRows), w(kQueries * kDims);
  std::vector<int32_t> t(2 * 3 * kDims);
  for (int i = 0; i < kRows; ++i)
    age[i] = 0.5 + i;
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = 1 + 0.25 * double(i);
  for (size_t i = 0; i < t.size(); ++i)
    t[i] = 100 * int(i);
  hooks.bind(0, age.data());
  hooks.bind(1, w.data());
  hooks.bind(2, t.data());
  for (int row = 0; row < kRows; ++row)
    for (int query = 0; query < kQueries; ++query)
      for (int list : {0, 1, 6}) {
        hooks.row = row, hooks.query = query, hooks.list = list;
        EXPECT_EQ(std::bit_cast<double>(hooks.init<uint64_t>(kDims)), list * 1000.0 + query);
        for (int dim = 0; dim < kDims; ++dim)
          EXPECT_EQ(std::bit_cast<double>(hooks.update<uint64_t, uint32_t>(
                        std::bit_cast<uint64_t>(0.5), 0, 0, dim, kDims)),
                    0.5 + w[query * kDims + dim] + t[((list & 1) * 3 + row % 3) * kDims + dim]);
        EXPECT_EQ(hooks.finalize(std::bit_cast<uint64_t>(2.0), kDims),
                  float((2.0 + age[row]) * (query + list)));
      }
}

// Nothing is lost of numbers that need all their bits.
TEST(Places, LargeIdsQueriesAndLists) {
  std::string text = kPlaces;
  const auto replace = [&](const std::string &from, const std::string &to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("%0 = annudf.load %age[%row] : !annudf.capture<row x f64>",
          "%i = arith.index_cast %row : index to i64 %0 = arith.sitofp %i : i64 to f64");
  HookJit hooks(compileText(text, haveLibNvvm()));
  hooks.row = (int64_t(1) << 62) + (1 << 20);
  hooks.query = 1;
  EXPECT_EQ(hooks.finalize(std::bit_cast<uint64_t>(0.0), 1), float(double(hooks.row)));
  hooks.query = hooks.list = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(std::bit_cast<double>(hooks.init<uint64_t>(1)), 2147483647.0 * 1001);
}

// Behind the pointer that an accumulator of several fields is.
TEST(Places, OfAnAccumulatorOfSeveralFields) {
  HookJit hooks(compileText(R"(annudf.metric @m order(min) coarse(l2) elements(f32) {
    annudf.init {
      %query = annudf.index query
      %list = annudf.index list
      %q = arith.index_cast %query : index to i32
      %l = arith.index_cast %list : index to i32
      annudf.yield %q, %l : i32, i32
    }
    annudf.update (%a: i32, %b: i32, %x: f32, %y: f32) {
      %row = annudf.index row
      %query = annudf.index query
      %r = arith.index_cast %row : index to i32
      %q = arith.index_cast %query : index to i32
      %0 = arith.addi %a, %r : i32
      %1 = arith.addi %b, %q : i32
      annudf.yield %0, %1 : i32, i32
    }
    annudf.finalize (%a: i32, %b: i32) {
      %row = annudf.index row
      %list = annudf.index list
      %r = arith.index_cast %row : index to i32
      %l = arith.index_cast %list : index to i32
      %0 = arith.muli %a, %r : i32
      %1 = arith.muli %b, %l : i32
      %2 = arith.subi %0, %1 : i32
      %3 = arith.sitofp %2 : i32 to f32
      annudf.yield %3 : f32
    }
  })",
                            haveLibNvvm()));
  hooks.row = 7, hooks.query = 5, hooks.list = 3;
  HookJit::Words<uint32_t> acc = {};
  hooks.initWords(acc);
  EXPECT_EQ(acc.word[0], 5u);
  EXPECT_EQ(acc.word[1], 3u);
  hooks.updateWords(acc, 0u, 0u);
  EXPECT_EQ(acc.word[0], 12u);
  EXPECT_EQ(acc.word[1], 8u);
  EXPECT_EQ(hooks.finalizeWords(acc), 12 * 7 - 8 * 3);
}

} // namespace
