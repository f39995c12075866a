//===- FamiliesTest.cpp - How families of a CPU run a batch ---------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu/Families.h"

#include <gtest/gtest.h>

namespace annudf::runtime::cpu {
namespace {

/// Writes down what a family runs.
struct WrittenScan final : BatchScan {
  void scan(uint32_t from, uint32_t to) override { add("scan", from, to); }
  void multiply(uint32_t from, uint32_t to) override { add("multiply", from, to); }
  void computeRest() override { text += "rest; "; }
  void add(const char *what, uint32_t from, uint32_t to) {
    text += what + (" " + std::to_string(from)) + " to " + std::to_string(to) + "; ";
  }
  std::string text;
};

std::string runBy(const CpuFamily &family, const Workload &batch) {
  WrittenScan written;
  family.run(written, batch);
  return written.text;
}

TEST(CpuFamilies, GroupsScanEveryProbeAtOnce) {
  Workload batch;
  batch.lists = 100, batch.probes = 8, batch.queries = 1;
  EXPECT_EQ(runBy(groups(), batch), "scan 0 to 8; ");
  batch.rowsAreKept = true; // Which says nothing to them.
  EXPECT_EQ(runBy(groups(), batch), "scan 0 to 8; ");
}

TEST(CpuFamilies, ProductsFollowALimitFromTheNearestLists) {
  Workload batch;
  batch.lists = 100, batch.probes = 8, batch.queries = 1;
  EXPECT_EQ(runBy(matrixProducts(), batch), "scan 0 to 1; multiply 1 to 8; ");
  batch.probes = 100; // All lists are as near as any.
  EXPECT_EQ(runBy(matrixProducts(), batch), "multiply 0 to 100; ");
}

TEST(CpuFamilies, ProductsOfKeptRowsReadTheNearestListsTwiceForManyQueries) {
  Workload batch;
  batch.rowsAreKept = true;
  batch.lists = 100, batch.probes = 8, batch.queries = 1249; // 99.92 a list.
  EXPECT_EQ(runBy(matrixProducts(), batch), "multiply 0 to 8; rest; ");
  batch.queries = 1250;
  EXPECT_EQ(runBy(matrixProducts(), batch), "multiply 0 to 1; multiply 1 to 8; rest; ");
  batch.probes = 100;
  EXPECT_EQ(runBy(matrixProducts(), batch), "multiply 0 to 100; rest; ");
}

} // namespace
} // namespace annudf::runtime::cpu
