//===- BackgroundTest.cpp - Work that nobody waits for --------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/support/Background.h"

#include "gtest/gtest.h"

#include <atomic>
#include <barrier>
#include <csignal>
#include <future>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace annudf::runtime {
namespace {

/// A piece of work that waits until it is let go.
struct Held {
  std::promise<void> begun, letGo;
  std::function<void()> work() {
    return [this, go = letGo.get_future().share()] {
      begun.set_value();
      go.wait();
    };
  }
};

void waitFor(const Background &background, const std::string &key) {
  while (background.since(key))
    std::this_thread::yield();
}

TEST(BackgroundThread, DoesOnePieceAfterAnotherOnceAKey) {
  Background background;
  Held first;
  std::vector<int> done;
  int owner = 0;
  ASSERT_TRUE(background.add(&owner, "first", first.work()));
  first.begun.get_future().wait();
  for (int i = 0; i < 3; ++i) // The first two of a key are one.
    ASSERT_TRUE(background.add(&owner, i < 2 ? "a" : "b", [&, i] { done.push_back(i); }));
  EXPECT_TRUE(background.add(&owner, "first", [&] { done.push_back(9); }));
  EXPECT_TRUE(background.since("first"));
  EXPECT_TRUE(background.since("a"));
  EXPECT_FALSE(background.since("c"));
  EXPECT_LE(*background.since("first"), *background.since("b"));
  first.letGo.set_value();
  waitFor(background, "b");
  EXPECT_EQ(done, (std::vector<int>{0, 2}));
  // The thread has ended, or is about to: another begins.
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(background.add(&owner, "again", [&] { done.push_back(i); }));
    waitFor(background, "again");
  }
  EXPECT_EQ(done.size(), 102u);
}

TEST(BackgroundThread, AFailureIsKnownUntilTheKeyIsAskedForAgain) {
  Background background;
  int owner = 0;
  ASSERT_TRUE(background.add(&owner, "a", [] { throw std::runtime_error("no"); }));
  ASSERT_TRUE(background.add(&owner, "b", [] {}));
  waitFor(background, "b");
  EXPECT_TRUE(background.failed("a"));
  EXPECT_FALSE(background.failed("b"));
  ASSERT_TRUE(background.add(&owner, "a", [] {}));
  waitFor(background, "a");
  EXPECT_FALSE(background.failed("a"));
}

TEST(BackgroundThread, WhoLeavesWaitsForItsOwnPieceAndDropsTheOthers) {
  Background background;
  Held held;
  int mine = 0, yours = 0;
  std::atomic<bool> left{false};
  std::atomic<int> done{0};
  ASSERT_TRUE(background.add(&mine, "mine", held.work()));
  ASSERT_TRUE(background.add(&mine, "mine too", [&] { done += 1; }));
  ASSERT_TRUE(background.add(&yours, "yours", [&] { done += 10; }));
  held.begun.get_future().wait();
  background.leave(&done); // No matter who that is: it has asked for nothing.
  std::thread leaving([&] {
    background.leave(&mine);
    left = true;
  });
  while (background.since("mine too"))
    std::this_thread::yield();
  EXPECT_FALSE(left);
  held.letGo.set_value();
  leaving.join();
  waitFor(background, "yours");
  EXPECT_EQ(done, 10);
}

TEST(BackgroundThread, EndsWithThePieceThatIsUnderWay) {
  std::atomic<int> done{0};
  Held held;
  int owner = 0;
  std::thread letGo;
  {
    Background background;
    ASSERT_TRUE(background.add(&owner, "a", [&, work = held.work()] {
      work();
      done += 1;
    }));
    ASSERT_TRUE(background.add(&owner, "b", [&] { done += 10; }));
    held.begun.get_future().wait();
    letGo = std::thread([&] {
      while (background.since("b")) // Dropped by the end of the scope, which then waits.
        std::this_thread::yield();
      held.letGo.set_value();
    });
    background.finish();
    EXPECT_EQ(done, 1);
    EXPECT_FALSE(background.add(&owner, "c", [&] { done += 100; }));
  }
  letGo.join();
  EXPECT_EQ(done, 1);
}

TEST(BackgroundThread, ManyThreadsAskAndLeave) {
  constexpr int kThreads = 32, kRounds = 50;
  Background background;
  std::atomic<int> done{0}, at[4] = {};
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      for (int round = 0; round < kRounds; ++round) {
        const int key = (t + round) % 4;
        ASSERT_TRUE(background.add(&threads[size_t(t)], std::to_string(key), [&, key] {
          EXPECT_EQ(at[key]++, 0); // One of a key at a time.
          done += 1;
          at[key]--;
          if (key == 3)
            throw std::runtime_error("no");
        }));
        (void)background.failed("3");
        if (round % 10 == 9)
          background.leave(&threads[size_t(t)]);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  // Nobody drops these: whoever left may have dropped every piece but the first.
  for (int key = 0; key < 4; ++key)
    ASSERT_TRUE(background.add(&done, std::to_string(key), [&] { done += 1; }));
  waitFor(background, "3");
  background.finish();
  EXPECT_GE(done, 4);
  EXPECT_LE(done, kThreads * kRounds + 4);
}

TEST(BackgroundThread, TakesNoSignals) {
  Background background;
  sigset_t mask;
  ::sigemptyset(&mask);
  int owner = 0;
  ASSERT_TRUE(background.add(&owner, "a", [&] { ::pthread_sigmask(SIG_SETMASK, nullptr, &mask); }));
  waitFor(background, "a");
  EXPECT_EQ(::sigismember(&mask, SIGINT), 1);
  EXPECT_EQ(::sigismember(&mask, SIGTERM), 1);
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(::sigismember(&mask, SIGINT), 0);
}

/// What a child of fork() ends with; -1 where it does not end by itself.
template <class Child> int forked(Child &&child) {
  const pid_t id = ::fork();
  if (id == 0) {
    ::alarm(20);
    child();
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(id, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#ifndef __SANITIZE_THREAD__ // Which does not follow a fork with threads.
TEST(BackgroundThread, AForkedProcessHasNothingAndEndsAtOnce) {
  auto background = std::make_unique<Background>();
  Held held;
  int owner = 0;
  ASSERT_TRUE(background->add(&owner, "a", held.work()));
  held.begun.get_future().wait();
  EXPECT_EQ(forked([&] {
              const bool nothing = !background->since("a") && !background->failed("a") &&
                                   !background->add(&owner, "b", [] {});
              background->leave(&owner);
              background->finish();
              background = nullptr;
              ::_exit(nothing ? 0 : 1);
            }),
            0);
  held.letGo.set_value();
  background->finish();
}

/// A process that ends while its thread works.
TEST(BackgroundThread, ExitWaitsForThePieceBeforeWhatWasThereGoes) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // A process of its own.
  const auto ends = [] {
    static std::atomic<bool> gone{false}, late{false}, done{false}, dropped{true};
    // As a library's own static would be, made before the last add().
    (void)std::atexit([] {
      gone = true;
      ::_exit(late ? 1 : !done ? 2 : dropped ? 0 : 3);
    });
    std::promise<void> begun;
    int owner = 0;
    (void)Background::get().add(&owner, "a", [&] {
      begun.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      late = gone.load();
      done = true;
    });
    (void)Background::get().add(&owner, "b", [] { dropped = false; });
    begun.get_future().wait();
    ::exit(4);
  };
  EXPECT_EXIT(ends(), testing::ExitedWithCode(0), "");
}

/// A fork of a process with a thread at work, which goes on there.
TEST(BackgroundThread, AForkedProcessExitsWithoutWaiting) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto ends = [] {
    static Held held;
    int owner = 0;
    (void)Background::get().add(&owner, "a", held.work());
    held.begun.get_future().wait();
    const int child = forked([] { ::exit(7); }); // By way of the handlers that it inherits.
    held.letGo.set_value();
    ::exit(child == 7 ? 0 : 1);
  };
  EXPECT_EXIT(ends(), testing::ExitedWithCode(0), "");
}

TEST(BackgroundThread, WhereThereIsNoThreadNothingIsTaken) {
  EXPECT_EQ(forked([] {
              const rlimit none = {0, 0};
              ::setrlimit(RLIMIT_NPROC, &none);
              if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0))
                ::_exit(0); // Root has no such limit.
              Background background;
              int owner = 0;
              const bool taken = background.add(&owner, "a", [] {});
              ::_exit(taken || background.since("a") ? 1 : 0);
            }),
            0);
}
#endif

} // namespace
} // namespace annudf::runtime
