//===- ThreadsTest.cpp - Threads where the system may have no more *- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Support/Threads.h"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <pthread.h>
#include <thread>
#include <vector>

using namespace annudf;

namespace {

TEST(Threads, EveryJobOnce) {
  for (size_t count : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> runs(count);
    runJobs(count, [&](size_t job) { ++runs[job]; });
    for (const auto &run : runs)
      EXPECT_EQ(run, 1);
  }
}

TEST(Threads, OneIsStarted) {
  std::atomic<bool> ran{false};
  ASSERT_TRUE(startThread([&] { ran = true; }));
  while (!ran)
    std::this_thread::yield();
}

/// No stack that is asked for fits any address space. In a process of its own, as it
/// holds for all threads from then on.
TEST(ThreadsDeathTest, NoneCanBeHad) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, size_t(1) << 47);
        pthread_setattr_default_np(&attributes);
        std::atomic<int> runs{0};
        runJobs(100, [&](size_t) { ++runs; });
        if (runs != 100 || startThread([] {}))
          std::exit(8);
        std::exit(7);
      },
      testing::ExitedWithCode(7), "");
}

} // namespace
