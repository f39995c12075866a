//===- Parallel.h - Threads of the host runtime --------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop over independent tasks on threads that are kept between calls: starting
// them anew would cost a single query more than its search.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_SUPPORT_PARALLEL_H
#define ANNUDF_RUNTIME_SUPPORT_PARALLEL_H

#include "annudf/ABI/annudf_limits.h"

#include <cstdint>
#include <functional>

namespace annudf::runtime {

/// Most threads that anything here starts.
inline constexpr int kMaxThreads = ANNUDF_MAX_THREADS;

/// Threads to use for a request: itself, or every core this process may run on for 0.
/// \throws Error(Usage) when negative or above kMaxThreads.
int resolveThreads(int threads);

/// Calls body(task, worker) once for every task in [0, tasks), on at most
/// resolveThreads(threads) threads, the caller's among them. `worker` is below that
/// number and no two calls at one time share it: it indexes per-thread scratch.
/// Bodies round to nearest and keep denormals, whatever the caller's thread does.
/// Tasks start in order. The first exception stops further tasks and is thrown
/// here. May be called from several threads at once, and from within a body.
void parallelFor(int threads, int64_t tasks,
                 const std::function<void(int64_t task, int worker)> &body);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_SUPPORT_PARALLEL_H
