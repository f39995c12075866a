//===- ParallelTest.cpp - Loops over the thread pool ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/support/Parallel.h"

#include "Support/TestFiles.h"

#include <atomic>
#include <chrono>
#include <numeric>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace annudf::runtime {
namespace {

TEST(Parallel, EveryTaskOnce) {
  for (int threads : {0, 1, 2, 3, 16})
    for (int64_t tasks : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(tasks));
      parallelFor(threads, tasks, [&](int64_t task, int) { ++runs[static_cast<size_t>(task)]; });
      for (const auto &count : runs)
        EXPECT_EQ(count, 1);
    }
}

TEST(Parallel, WorkersNeverShareANumber) {
  constexpr int kThreads = 5;
  std::vector<std::atomic<int>> inside(kThreads);
  std::atomic<bool> bad{false};
  parallelFor(kThreads, 2000, [&](int64_t, int worker) {
    if (worker < 0 || worker >= kThreads || ++inside[static_cast<size_t>(worker)] != 1)
      bad = true;
    std::this_thread::yield();
    --inside[static_cast<size_t>(worker)];
  });
  EXPECT_FALSE(bad);
}

TEST(Parallel, FirstExceptionStopsAndArrives) {
  std::atomic<int> runs{0};
  EXPECT_EQ(test::errorOf([&] {
              parallelFor(4, 1000000, [&](int64_t task, int) {
                ++runs;
                if (task == 10)
                  throw Error(ErrorKind::Input, "task 10");
              });
            }),
            "task 10");
  EXPECT_LT(runs, 1000000);
  std::atomic<int> after{0};
  parallelFor(4, 100, [&](int64_t, int) { ++after; });
  EXPECT_EQ(after, 100) << "the pool works on after an exception";
}

/// Timing must not choose the error that a user reads.
TEST(Parallel, TheLowestTaskThatFailsIsReported) {
  std::atomic<bool> isThrown{false};
  EXPECT_EQ(test::errorOf([&] {
              parallelFor(2, 2, [&](int64_t task, int) {
                if (task == 1) {
                  isThrown = true;
                  throw Error(ErrorKind::Input, "task 1");
                }
                while (!isThrown)
                  std::this_thread::yield();
                std::this_thread::sleep_for(std::chrono::milliseconds(100)); // Until it is kept.
                throw Error(ErrorKind::Input, "task 0");
              });
            }),
            "task 0");
}

#ifndef __SANITIZE_THREAD__ // Which does not follow a fork with threads.
/// The child has none of the threads that have the other tasks.
TEST(Parallel, ALoopThatIsForkedEndsInTheParentAlone) {
  std::atomic<int> runs{0};
  std::atomic<pid_t> child{-1};
  const auto caller = std::this_thread::get_id();
  const std::string said = test::errorOf(
      [&] {
        parallelFor(3, 3, [&](int64_t, int) {
          ++runs;
          while (runs < 3 && child != 0)
            std::this_thread::yield(); // One task each.
          if (std::this_thread::get_id() == caller)
            child = ::fork();
          while (child == -1)
            std::this_thread::yield();
        });
      },
      ErrorKind::Usage);
  if (child == 0) {
    ::alarm(20);
    std::atomic<int> after{0};
    parallelFor(3, 100, [&](int64_t, int) { ++after; }); // With threads of its own.
    const bool isRefused = said ==
                           "the process was forked by a callback of this call, which cannot "
                           "go on in the child; leave the child by os._exit() or exec(), or "
                           "fork when the call has returned";
    ::_exit(isRefused && after == 100 ? 0 : 1);
  }
  EXPECT_EQ(said, "NO ERROR");
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}
#endif

TEST(Parallel, Nested) {
  std::atomic<int64_t> sum{0};
  parallelFor(4, 20, [&](int64_t outer, int) {
    parallelFor(3, 20, [&](int64_t inner, int) { sum += outer * inner; });
  });
  EXPECT_EQ(sum, 190 * 190);
}

TEST(Parallel, FromSeveralThreads) {
  std::vector<std::thread> callers;
  std::atomic<int> runs{0};
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round)
        parallelFor(3, 10, [&](int64_t, int) { ++runs; });
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(runs, 4 * 200 * 10);
}

TEST(Parallel, RefusesOddCounts) {
  EXPECT_EQ(test::errorOf([] { resolveThreads(-1); }, ErrorKind::Usage),
            "threads is -1, it must be an integer from 0 to 1024, 0 for all cores");
  EXPECT_GE(resolveThreads(0), 1);
  EXPECT_EQ(resolveThreads(7), 7);
}

} // namespace
} // namespace annudf::runtime
