//===- OutOfMemory.cpp - The end of a command that has no memory left ------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include <cstdlib>
#include <exception>
#include <new>
#include <unistd.h>

void annudf::tool::endWithoutMemory() {
  constexpr char kText[] = "annudf: out of memory\n";
  const ssize_t ignored = ::write(STDERR_FILENO, kText, sizeof kText - 1);
  (void)ignored;
  ::_exit(1);
}

/// What no handler caught: an allocation that failed in a thread, or where an exception
/// may not pass.
[[noreturn]] static void onTerminate() {
  if (const std::exception_ptr current = std::current_exception()) {
    try {
      std::rethrow_exception(current);
    } catch (const std::bad_alloc &) {
      annudf::tool::endWithoutMemory();
    } catch (...) {
    }
  }
  std::abort();
}

void annudf::tool::tellWhereMemoryRunsOut() { std::set_terminate(onTerminate); }
