//===- TestForks.h - Forks amid the work of another thread ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_SUPPORT_TESTFORKS_H
#define ANNUDF_TEST_SUPPORT_TESTFORKS_H

#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace annudf::test {

/// What waitpid says of a process that ends with whether `work` succeeds. A hang ends by a signal.
/// `onFork` is called here, while the child works.
template <class Work>
int statusOfChild(const Work &work, const std::function<void()> &onFork = [] {}) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(work() ? 0 : 1);
  }
  onFork();
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

/// Forks while another thread works, and has the child work too. Each of the forks has a process
/// of its own, so that it meets the work which is done once: where this one has not worked yet.
template <class Work> void expectForksAmid(const Work &work) {
#ifndef __SANITIZE_THREAD__ // Which does not follow a fork with threads.
  for (int delay = 0; delay < 40; delay += 2)
    EXPECT_EQ(statusOfChild([&] {
                std::atomic<bool> begun = false, worked = false;
                std::thread thread([&] {
                  begun = true;
                  worked = work();
                });
                while (!begun)
                  std::this_thread::yield();
                std::this_thread::sleep_for(std::chrono::milliseconds(delay));
                const int status = statusOfChild(work);
                thread.join();
                return status == 0 && worked;
              }),
              0)
        << "forked " << delay << " ms after the thread began";
#endif
}

} // namespace annudf::test

#endif // ANNUDF_TEST_SUPPORT_TESTFORKS_H
