//===- Background.h - Work that nobody waits for ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_SUPPORT_BACKGROUND_H
#define ANNUDF_RUNTIME_SUPPORT_BACKGROUND_H

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <sys/types.h>
#include <thread>

namespace annudf::runtime {

/// Pieces of work by key, done one after another by a thread that lives as long as there are some
/// and takes no signals. Thread-safe. In a process that was forked it has nothing and takes
/// nothing: its thread is the parent's.
class Background {
public:
  using Clock = std::chrono::steady_clock;

  Background() : Background(false) {}
  ~Background();
  Background(const Background &) = delete;
  Background &operator=(const Background &) = delete;

  /// That of the process, which is never destroyed: before exit() goes on to what was registered
  /// with it before the last add(), it waits for what has begun and drops the rest.
  static Background &get();

  /// \param owner  who asks, for leave(); \param work  its exception makes it failed().
  /// \returns whether the work will be done, or is under way: not where the process ends, was
  /// forked, or has no thread to give.
  bool add(const void *owner, const std::string &key, std::function<void()> work);
  /// When it was asked for what is to be done or under way; nothing where it is neither.
  std::optional<Clock::time_point> since(const std::string &key) const;
  /// Whether it was asked for and ended in an exception.
  bool failed(const std::string &key) const;
  /// Drops what `owner` asked for and waits for its piece that is under way.
  void leave(const void *owner);
  /// Drops everything, waits for the piece that is under way, and takes no more.
  void finish();

private:
  explicit Background(bool isOfProcess);
  struct Piece {
    const void *owner;
    std::string key;
    std::function<void()> work;
    Clock::time_point since;
  };
  /// Whether this is another process than the one that made it, where its lock may be held by a
  /// thread that is not there.
  bool isForked() const;
  bool start();
  void serve();

  const pid_t process_;
  const bool isOfProcess_;   ///< That of get().
  mutable std::mutex mutex_; ///< Guards all members below.
  std::condition_variable changed_;
  std::deque<Piece> pieces_; ///< The first is under way where a thread serves.
  std::set<std::string> failed_;
  bool serving_ = false, finished_ = false;
  /// Joined, so that what is its own is gone with it.
  std::unique_ptr<std::thread> thread_;
};

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_SUPPORT_BACKGROUND_H
