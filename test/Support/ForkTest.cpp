//===- ForkTest.cpp - Locks in a process that was forked ------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Support/Fork.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace annudf;

namespace {

/// What a child of fork() ends with; -1 where it does not end by itself.
template <class Child> int forked(Child &&child) {
  const pid_t id = ::fork();
  if (id == 0) {
    ::alarm(20);
    ::_exit(child());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(id, &status, 0), id);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#ifndef __SANITIZE_THREAD__ // Which does not follow a fork with threads.

/// Threads hold it most of the time, and what it guards is whole in every child.
TEST(Fork, ABriefMutexIsFreeAndWhatItGuardsWhole) {
  BriefMutex mutex;
  int one = 0, two = 0;
  std::atomic<bool> done = false;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (!done) {
        const std::lock_guard lock(mutex);
        ++one;
        for (int turn = 0; turn < 100; ++turn)
          std::atomic_signal_fence(std::memory_order_seq_cst);
        ++two;
      }
    });
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(forked([&] {
                const std::lock_guard lock(mutex);
                return one == two ? 0 : 1;
              }),
              0);
  done = true;
}

/// A function's own static, made while forks wait, is whole in every child or not begun.
TEST(Fork, WaitsForWhatIsMadeOnce) {
  static std::atomic<bool> begun = false;
  static const auto made = [] {
    const NoFork untilMade;
    static const int value = [] {
      begun = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      return 7;
    }();
    return value;
  };
  std::jthread maker(made);
  while (!begun)
    std::this_thread::yield();
  EXPECT_EQ(forked(made), 7);
}

/// A thread uses a compiler until it has been seen to; a fork waits for the end, and the child may
/// use it too.
TEST(Fork, WaitsForWhoUsesACompiler) {
  std::atomic<bool> begun = false, ended = false;
  std::jthread user([&] {
    const CompilerUse use, again;
    begun = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ended = true;
  });
  while (!begun)
    std::this_thread::yield();
  EXPECT_EQ(forked([&] {
              const CompilerUse use;
              return ended ? 7 : 1;
            }),
            7);
}

/// Each is in the middle of a use when it forks, with a lock that the other waits for.
TEST(Fork, UsersOfACompilerMayFork) {
  const auto start = std::chrono::steady_clock::now();
  std::mutex lock;
  const auto work = [&] {
    for (int i = 0; i < 50; ++i) {
      const CompilerUse use;
      const CompilerPause pause;
      const std::lock_guard held(lock);
      EXPECT_EQ(forked([] { return 7; }), 7);
    }
  };
  {
    std::jthread first(work), second(work);
  }
  { // Without a pause.
    const CompilerUse use;
    EXPECT_EQ(forked([] {
                const CompilerUse again;
                return forked([] { return 7; });
              }),
              7);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50))
      << "A fork gave up.";
}

TEST(Fork, AChildMakesItsOwn) {
  static PerProcess<std::mutex> mutex;
  const std::lock_guard held(mutex.get()); // For ever, as a child sees it.
  EXPECT_EQ(&mutex.get(), &mutex.get());
  EXPECT_EQ(forked([] {
              const std::lock_guard lock(mutex.get());
              return forked([] { // And a child of it again.
                const std::lock_guard again(mutex.get());
                return 7;
              });
            }),
            7);
}

#endif

TEST(Fork, GenerationsAreCounted) {
  const uint64_t here = forkGeneration();
  EXPECT_EQ(forked([&] { return int(forkGeneration() - here); }), 1);
  EXPECT_EQ(forkGeneration(), here);
}

} // namespace
