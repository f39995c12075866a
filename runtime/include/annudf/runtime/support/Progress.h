//===- Progress.h - How far a long call is -------------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_SUPPORT_PROGRESS_H
#define ANNUDF_RUNTIME_SUPPORT_PROGRESS_H

#include <functional>

namespace annudf::runtime {

/// Called with what runs and the part done, 0 to 1. Returning false stops the
/// work with Error(Interrupted). The call with 1 is a stage's last, and comes before the
/// step that cannot be undone: after it nothing asks again.
using Progress = std::function<bool(const char *stage, double done)>;

/// \throws Error(Interrupted) when there is a `progress` and it says to stop.
void report(const Progress &progress, const char *stage, double done);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_SUPPORT_PROGRESS_H
