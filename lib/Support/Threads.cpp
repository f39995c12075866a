//===- Threads.cpp - Threads where the system may have no more ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Support/Threads.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace annudf {

bool startThread(std::function<void()> body) noexcept {
  try {
    std::thread(std::move(body)).detach();
    return true;
  } catch (const std::exception &) { // system_error, or bad_alloc of its state.
    return false;
  }
}

void runJobs(size_t count, const std::function<void(size_t)> &job) noexcept {
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++)
      job(i);
  };
  const size_t seats = std::min<size_t>(count, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  try {
    if (seats > 1)
      threads.reserve(seats - 1); // So that no growth can fail behind a started thread.
    while (threads.size() + 1 < seats)
      threads.emplace_back(work);
  } catch (const std::exception &) {
    // Those that run, and this one, do the work.
  }
  work();
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace annudf
