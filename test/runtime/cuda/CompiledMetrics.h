//===- CompiledMetrics.h - The compiler's own artifacts ---------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CUDA_COMPILEDMETRICS_H
#define ANNUDF_TEST_RUNTIME_CUDA_COMPILEDMETRICS_H

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace annudf::test {

/// The folder of scripts/gpu artifacts; "" where ANNUDF_TEST_ARTIFACTS names none with that file.
inline std::string compiledMetricsWith(const std::string &file) {
  const char *path = std::getenv("ANNUDF_TEST_ARTIFACTS");
  return path && std::filesystem::exists(std::string(path) + "/" + file) ? path : "";
}

} // namespace annudf::test

/// Skips the test where there is none, and says what stays unchecked: "searches there are".
#define REQUIRE_COMPILED_METRICS(FOLDER, FILE, WHAT)                                               \
  if ((FOLDER) = annudf::test::compiledMetricsWith(FILE); (FOLDER).empty())                        \
  GTEST_SKIP() << "ANNUDF_TEST_ARTIFACTS names no folder of scripts/gpu artifacts: " WHAT          \
                  " NOT checked"

#endif // ANNUDF_TEST_RUNTIME_CUDA_COMPILEDMETRICS_H
