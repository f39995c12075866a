//===- Progress.cpp - How far a long call is --------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/support/Progress.h"

#include "annudf/Support/Error.h"

#include <string>

namespace annudf::runtime {

void report(const Progress &progress, const char *stage, double done) {
  if (progress && !progress(stage, done))
    throw Error(ErrorKind::Interrupted, std::string("interrupted (") + stage + ")");
}

} // namespace annudf::runtime
