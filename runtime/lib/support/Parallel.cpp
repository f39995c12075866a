//===- Parallel.cpp - Threads of the host runtime ---------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/support/Parallel.h"

#include "FloatModes.h"
#include "annudf/Support/ArgumentError.h"
#include "annudf/Support/Error.h"
#include "annudf/Support/Fork.h"
#include "annudf/Support/Threads.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

namespace annudf::runtime {
namespace {

struct Job {
  Job(const std::function<void(int64_t, int)> &body, int64_t tasks, int seats)
      : body(&body), tasks(tasks), seats(seats) {}

  const std::function<void(int64_t, int)> *body;
  int64_t tasks;
  int seats;                    ///< Workers that may take part, the caller included.
  std::atomic<int64_t> next{0}; ///< The next task to start.
  int joined = 1;               ///< Workers that took part so far; under the pool's lock.
  int active = 0;               ///< Those still at it, without the caller; likewise.
  std::exception_ptr failure;   ///< What the lowest task that failed threw; likewise.
  int64_t failed = 0;           ///< That task; likewise.
  const uint64_t generation = forkGeneration();

  bool isForked() const { return generation != forkGeneration(); }

  void run(int worker, std::mutex &lock) {
    const FloatModes modes;
    int64_t task = 0;
    try {
      while ((task = next.fetch_add(1, std::memory_order_relaxed)) < tasks)
        (*body)(task, worker);
    } catch (...) {
      next.store(tasks, std::memory_order_relaxed);
      if (isForked()) // The lock may be held by a thread of the parent.
        throw;
      const std::lock_guard<std::mutex> guard(lock);
      // Tasks start in order, so those below have started and will end: the error does not
      // depend on timing.
      if (!failure || task < failed) {
        failure = std::current_exception();
        failed = task;
      }
    }
  }
};

/// Threads that wait for jobs. A job never depends on a pool thread: its caller works
/// through all tasks that nobody else takes, so nesting and busy pools cannot deadlock.
class Pool {
public:
  void run(Job &job) {
    {
      const std::lock_guard<std::mutex> guard(lock_);
      grow(job.seats - 1);
      jobs_.push_back(&job);
    }
    if (job.seats == 2)
      wake_.notify_one();
    else
      wake_.notify_all();
    job.run(0, lock_);
    if (job.isForked()) // By a callback; the others who work are threads of the parent.
      throw Error(ErrorKind::Usage, "the process was forked by a callback of this call, which "
                                    "cannot go on in the child; leave the child by os._exit() or "
                                    "exec(), or fork when the call has returned");
    std::unique_lock<std::mutex> guard(lock_);
    if (const auto at = std::find(jobs_.begin(), jobs_.end(), &job); at != jobs_.end())
      jobs_.erase(at);
    done_.wait(guard, [&] { return job.active == 0; });
    if (job.failure)
      std::rethrow_exception(job.failure);
  }

private:
  void grow(int threads) {
    // Where the system has no more, those there are, and the caller, do the work.
    while (size_ < threads && startThread([this] { serve(); }))
      ++size_;
  }

  void serve() {
    std::unique_lock<std::mutex> guard(lock_);
    for (;;) {
      wake_.wait(guard, [&] { return !jobs_.empty(); });
      Job &job = *jobs_.front();
      const int worker = job.joined++;
      ++job.active;
      if (job.joined == job.seats)
        jobs_.erase(jobs_.begin());
      guard.unlock();
      job.run(worker, lock_);
      guard.lock();
      // Its tasks are all started: nobody else need join it.
      if (const auto at = std::find(jobs_.begin(), jobs_.end(), &job); at != jobs_.end())
        jobs_.erase(at);
      if (--job.active == 0)
        done_.notify_all();
    }
  }

  std::mutex lock_;
  std::condition_variable wake_, done_;
  std::vector<Job *> jobs_; ///< The oldest first; they are few.
  int size_ = 0;
};

Pool &pool() {
  static PerProcess<Pool> pools;
  return pools.get();
}

int coresOfProcess() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

} // namespace

int resolveThreads(int threads) {
  checkRange("threads", threads, 0, kMaxThreads, ", 0 for all cores");
  if (threads != 0)
    return threads;
  static std::atomic<int> cores = 0; // Without a lock: at first several threads may ask.
  if (cores == 0)
    cores = coresOfProcess();
  return std::min(cores.load(), kMaxThreads);
}

void parallelFor(int threads, int64_t tasks,
                 const std::function<void(int64_t task, int worker)> &body) {
  const int seats = static_cast<int>(std::min<int64_t>(resolveThreads(threads), tasks));
  if (seats <= 1) {
    const FloatModes modes;
    for (int64_t task = 0; task < tasks; ++task)
      body(task, 0);
    return;
  }
  Job job(body, tasks, seats);
  pool().run(job);
}

} // namespace annudf::runtime
