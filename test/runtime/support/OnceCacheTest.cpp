//===- OnceCacheTest.cpp - Tests of the cache of values made once ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/support/OnceCache.h"

#include "annudf/Support/Error.h"
#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace annudf;
using namespace annudf::runtime;

namespace {

using Cache = OnceCache<std::string, int>;

TEST(OnceCache, OneMakesAndTheOthersWait) {
  Cache cache(4);
  std::atomic<int> makes{0}, made{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&] {
      bool mine = false;
      const auto value = cache.get(
          "key",
          [&] {
            ++makes;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            return std::make_shared<int>(5);
          },
          mine);
      made += mine;
      EXPECT_EQ(*value, 5);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(makes, 1);
  EXPECT_EQ(made, 1);
}

#ifndef __SANITIZE_THREAD__ // Which does not follow a fork with threads.
TEST(OnceCache, AForkedProcessMakesWhatAThreadOfItsParentWasMaking) {
  Cache cache(4);
  bool made = false;
  (void)cache.get("there", [] { return std::make_shared<int>(1); }, made);
  std::promise<void> making, forked;
  std::thread maker([&] {
    bool mine = false;
    (void)cache.get(
        "key",
        [&] {
          making.set_value();
          forked.get_future().wait();
          return std::make_shared<int>(5);
        },
        mine);
  });
  making.get_future().wait();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    const auto never = []() -> std::shared_ptr<int> { return nullptr; };
    const bool isKept = *cache.get("there", never, made) == 1 && !made;
    const int value = *cache.get("key", [] { return std::make_shared<int>(7); }, made);
    ::_exit(isKept && made && value == 7 ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  forked.set_value();
  maker.join();
  EXPECT_EQ(*cache.find("key"), 5);
}
#endif

TEST(OnceCache, AFailureIsNotKeptAndTheOldestGoes) {
  Cache cache(2);
  bool made = false;
  auto fail = []() -> std::shared_ptr<int> { throw Error(ErrorKind::Input, "no"); };
  EXPECT_THROW(cache.get("a", fail, made), Error);
  auto value = [](int v) { return [v] { return std::make_shared<int>(v); }; };
  EXPECT_EQ(*cache.get("a", value(1), made), 1);
  EXPECT_TRUE(made);
  cache.get("b", value(2), made);
  cache.get("a", value(9), made);
  EXPECT_FALSE(made);
  cache.get("c", value(3), made); // Drops b, the least recently used.
  EXPECT_EQ(*cache.get("a", value(9), made), 1);
  EXPECT_EQ(*cache.get("b", value(4), made), 4);
  EXPECT_TRUE(made);
}

/// One key's value is still being made while others come and go.
TEST(OnceCache, WhatIsInTheMakingIsNotDropped) {
  Cache cache(1);
  std::promise<void> started, go;
  std::thread slow([&] {
    bool made = false;
    EXPECT_EQ(*cache.get(
                  "slow",
                  [&] {
                    started.set_value();
                    go.get_future().wait();
                    return std::make_shared<int>(1);
                  },
                  made),
              1);
    EXPECT_TRUE(made);
  });
  started.get_future().wait();
  bool made = false;
  auto value = [](int v) { return [v] { return std::make_shared<int>(v); }; };
  cache.get("b", value(2), made);
  cache.get("c", value(3), made);
  EXPECT_EQ(cache.size(), 2u) << "slow and c";
  cache.clear();
  EXPECT_EQ(cache.size(), 1u) << "slow";
  go.set_value();
  slow.join();
  EXPECT_EQ(*cache.get("slow", value(9), made), 1);
  EXPECT_FALSE(made);
  cache.get("d", value(4), made);
  EXPECT_EQ(cache.size(), 1u) << "back to the bound once slow is made";
}

/// A waiter that tries again as soon as it hears of a failure must not hear of it twice.
TEST(OnceCache, AFailureIsGoneWhenItsWaitersHearOfIt) {
  int heard = 0;
  for (int round = 0; round < 200; ++round) {
    Cache cache(4);
    std::promise<void> making, waiting;
    std::thread maker([&] {
      bool made = false;
      auto fail = [&]() -> std::shared_ptr<int> {
        making.set_value();
        waiting.get_future().wait();
        std::this_thread::sleep_for(std::chrono::microseconds(500));
        throw Error(ErrorKind::Input, "no");
      };
      EXPECT_THROW(cache.get("key", fail, made), Error);
    });
    making.get_future().wait();
    waiting.set_value();
    bool made = false;
    auto seven = [] { return std::make_shared<int>(7); };
    try {
      EXPECT_EQ(*cache.get("key", seven, made), 7);
    } catch (const Error &) {
      ++heard;
      EXPECT_NO_THROW(EXPECT_EQ(*cache.get("key", seven, made), 7));
      EXPECT_TRUE(made);
    }
    maker.join();
  }
  EXPECT_GT(heard, 0) << "no waiter was there in time";
}

TEST(OnceCache, FindsWhatIsMadeAndWaitsForNothing) {
  Cache cache(2);
  bool made = false;
  EXPECT_EQ(cache.find("a"), nullptr);
  (void)cache.get("a", [] { return std::make_shared<int>(1); }, made);
  (void)cache.get("b", [] { return std::make_shared<int>(2); }, made);
  ASSERT_NE(cache.find("a"), nullptr);
  EXPECT_EQ(*cache.find("a"), 1);
  // It was used last: the other goes.
  (void)cache.get(
      "c",
      [&] {
        EXPECT_EQ(cache.find("c"), nullptr); // In the making.
        return std::make_shared<int>(3);
      },
      made);
  EXPECT_NE(cache.find("a"), nullptr);
  EXPECT_EQ(cache.find("b"), nullptr);
}

} // namespace
