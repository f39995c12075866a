//===- DeviceFaults.h - What is said of a device that fails -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CUDA_DEVICEFAULTS_H
#define ANNUDF_TEST_RUNTIME_CUDA_DEVICEFAULTS_H

#include "SharedBackend.h"

#include "Support/TestFiles.h"
#include "cuda/driver/Driver.h"

#include <regex>
#include <string>

namespace annudf::test {

/// What follows the driver's words where a kernel has ended the context.
inline constexpr const char *kEnded =
    "; this process cannot use the device any more, start it again";

/// The driver's words for a result, "unspecified launch failure (CUDA_ERROR_LAUNCH_FAILED)".
inline std::string textOf(CUresult result) {
  const char *name = nullptr, *text = nullptr;
  (void)runtime::cuda::Driver::get().cuGetErrorName(result, &name);
  (void)runtime::cuda::Driver::get().cuGetErrorString(result, &text);
  return std::string(text ? text : "unknown error") + " (" + (name ? name : "") + ")";
}

/// The bytes of the error that there is no memory for `what`; 0 for any other text.
inline uint64_t bytesAskedFor(const std::string &error, const std::string &what,
                              const runtime::cuda::Context &context) {
  const std::string before = "out of GPU memory for " + what + ": ",
                    after = " free on " + context.name();
  if (!error.starts_with(before) || !error.ends_with(after))
    return 0;
  const std::string numbers =
      error.substr(before.size(), error.size() - before.size() - after.size());
  std::smatch found;
  static const std::regex pattern("([0-9]+) bytes asked for, ([0-9]+) of ([0-9]+)");
  if (!std::regex_match(numbers, found, pattern) || std::stoull(found[2]) > std::stoull(found[3]))
    return 0;
  return std::stoull(found[1]);
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_CUDA_DEVICEFAULTS_H
