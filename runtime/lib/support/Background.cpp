//===- Background.cpp - Work that nobody waits for ------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/support/Background.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <unistd.h>

namespace annudf::runtime {

namespace {

/// Signals are for the threads that were there: a handler that interrupts a wait of theirs would
/// not interrupt it from here.
class WithoutSignals {
public:
  WithoutSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~WithoutSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals &) = delete;
  WithoutSignals &operator=(const WithoutSignals &) = delete;

private:
  sigset_t before_;
};

} // namespace

Background::Background(bool isOfProcess) : process_(::getpid()), isOfProcess_(isOfProcess) {}

Background::~Background() {
  finish();
  if (isForked()) { // What is not here is neither joined nor let go.
    const std::thread *const there = thread_.release();
    (void)there;
  }
}

Background &Background::get() {
  static Background *const instance = new Background(true);
  return *instance;
}

bool Background::isForked() const { return ::getpid() != process_; }

bool Background::add(const void *owner, const std::string &key, std::function<void()> work) {
  if (isForked())
    return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (finished_)
    return false;
  if (std::any_of(pieces_.begin(), pieces_.end(),
                  [&](const Piece &piece) { return piece.key == key; }))
    return true;
  // Anew each time: what the work itself needs at the end of the process may have been registered
  // since the last time, and must go after it. \see get()
  if (isOfProcess_ && std::atexit([] { get().finish(); }) != 0)
    return false;
  failed_.erase(key);
  pieces_.push_back({owner, key, std::move(work), Clock::now()});
  if (!serving_ && !start())
    pieces_.pop_back();
  return serving_;
}

bool Background::start() {
  if (thread_) // It has nothing left to do, and does not take the lock again.
    thread_->join();
  thread_ = nullptr;
  serving_ = true;
  const WithoutSignals masked; // Which the thread inherits.
  try {
    thread_ = std::make_unique<std::thread>([this] { serve(); });
  } catch (const std::exception &) { // system_error, or bad_alloc.
    serving_ = false;
  }
  return serving_;
}

void Background::serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!pieces_.empty()) {
    // Its place stays taken, so that it is known to be under way; nobody else takes the first.
    const std::function<void()> work = std::move(pieces_.front().work);
    lock.unlock();
    bool fails = false;
    try {
      work();
    } catch (...) { // Told by whoever needs it, as it fails again then.
      fails = true;
    }
    lock.lock();
    constexpr size_t kMostFailed = 1024;
    if (fails && failed_.size() < kMostFailed)
      failed_.insert(pieces_.front().key);
    pieces_.pop_front();
    changed_.notify_all();
  }
  serving_ = false;
}

std::optional<Background::Clock::time_point> Background::since(const std::string &key) const {
  if (isForked())
    return std::nullopt;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(pieces_.begin(), pieces_.end(),
                                  [&](const Piece &piece) { return piece.key == key; });
  return found == pieces_.end() ? std::nullopt : std::optional(found->since);
}

bool Background::failed(const std::string &key) const {
  if (isForked())
    return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  return failed_.count(key) != 0;
}

void Background::leave(const void *owner) {
  if (isForked())
    return;
  std::unique_lock<std::mutex> lock(mutex_);
  if (pieces_.empty())
    return;
  pieces_.erase(std::remove_if(pieces_.begin() + 1, pieces_.end(),
                               [&](const Piece &piece) { return piece.owner == owner; }),
                pieces_.end());
  const std::string key = pieces_.front().owner == owner ? pieces_.front().key : "";
  changed_.wait(lock, [&] {
    return key.empty() || pieces_.empty() || pieces_.front().owner != owner ||
           pieces_.front().key != key;
  });
}

void Background::finish() {
  if (isForked())
    return;
  std::unique_ptr<std::thread> last;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    finished_ = true;
    if (pieces_.size() > 1)
      pieces_.erase(pieces_.begin() + 1, pieces_.end());
    last = std::move(thread_);
  }
  if (last)
    last->join();
}

} // namespace annudf::runtime
