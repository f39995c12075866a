//===- FreeMemoryTest.cpp - How much memory is left -----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/support/FreeMemory.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace annudf::runtime;

namespace {

class FreeMemory : public ::testing::Test {
protected:
  void SetUp() override { std::filesystem::remove_all(root); }
  void TearDown() override { std::filesystem::remove_all(root); }
  void write(const std::string &path, const std::string &text) const {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  uint64_t free() const { return freeMemory(root / "proc", root / "cgroup"); }

  const std::filesystem::path root =
      std::filesystem::path(::testing::TempDir()) /
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(FreeMemory, IsWhatTheSystemSays) {
  EXPECT_EQ(free(), 0u); // Nothing tells.
  write("proc/meminfo", "MemTotal:       100 kB\nMemFree:  1 kB\nMemAvailable:    40 kB\n");
  EXPECT_EQ(free(), 40u << 10);
}

TEST_F(FreeMemory, IsWhatEveryGroupAbovePermits) {
  write("proc/meminfo", "MemAvailable:    40 kB\n");
  write("proc/self/cgroup", "4:memory:/other\n0::/a/b\n");
  write("cgroup/a/b/memory.max", "max\n");
  write("cgroup/a/b/memory.current", "5000\n");
  EXPECT_EQ(free(), 40u << 10);
  write("cgroup/a/memory.max", "30000\n");
  write("cgroup/a/memory.current", "12000\n");
  EXPECT_EQ(free(), 18000u);
  write("cgroup/a/memory.stat", "file 9000\ninactive_file 2000\nactive_file 7000\n");
  EXPECT_EQ(free(), 20000u);
  write("cgroup/memory.max", "1000\n"); // A container's, whose root is its own.
  write("cgroup/memory.current", "3000\n");
  EXPECT_EQ(free(), 0u);
}

TEST_F(FreeMemory, IsSomeHere) {
#ifdef __linux__
  EXPECT_GT(freeMemory(), 1u << 20);
#endif
}

} // namespace
