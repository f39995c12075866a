//===- Threads.h - Threads where the system may have no more ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread may fail to start at any time: a limit on processes, a full address space.
// Who asks for one here is told, and no exception passes running threads; code
// that is built without exceptions may call it.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_SUPPORT_THREADS_H
#define ANNUDF_SUPPORT_THREADS_H

#include <cstddef>
#include <functional>

namespace annudf {

/// Starts a thread that nobody waits for. False if the system has no more.
bool startThread(std::function<void()> body) noexcept;

/// Calls `job` once for every number below `count`, on as many threads as the machine
/// has cores, the caller's among them, and returns when all calls have ended. Where
/// threads cannot be had, those there are do the work. Jobs must not throw.
void runJobs(size_t count, const std::function<void(size_t)> &job) noexcept;

} // namespace annudf

#endif // ANNUDF_SUPPORT_THREADS_H
