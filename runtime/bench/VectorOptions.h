//===- VectorOptions.h - Options of benchmarks on made-up vectors -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_BENCH_VECTOROPTIONS_H
#define ANNUDF_BENCH_VECTOROPTIONS_H

#include "annudf/Artifact/Artifact.h"
#include "annudf/Support/Error.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace annudf::bench {

struct VectorOptions {
  std::string metric, dtype = "f32";
  int64_t rows = 1000000, k = 10;
  int32_t dims = 128;
  std::vector<int64_t> batches;
  int repeats;

  VectorOptions(std::vector<int64_t> batches, int repeats)
      : batches(std::move(batches)), repeats(repeats) {}

  void addTo(CLI::App &app, const std::string &repeated) {
    app.option_defaults()->always_capture_default();
    app.add_option("--metric", metric, "M.annudf without captures; scripts/gpu artifacts")
        ->required();
    app.add_option("--rows", rows)->check(CLI::PositiveNumber);
    app.add_option("--dims", dims)->check(CLI::PositiveNumber);
    app.add_option("--dtype", dtype, "f32, f16, bf16, i8 or u8");
    app.add_option("--k", k)->check(CLI::PositiveNumber);
    app.add_option("--batch", batches)->delimiter(',')->check(CLI::PositiveNumber);
    app.add_option("--repeats", repeats, repeated)->check(CLI::PositiveNumber);
  }
  int64_t largestBatch() const { return *std::max_element(batches.begin(), batches.end()); }
};

inline double median(std::vector<double> &ms) {
  std::sort(ms.begin(), ms.end());
  return ms[ms.size() / 2];
}

inline uint64_t addressOf(const void *memory) { return reinterpret_cast<uint64_t>(memory); }

/// Runs `bench` with the element type that was given. \returns the exit code.
template <class Bench> int run(const char *program, const VectorOptions &load, Bench bench) {
  try {
    std::string why;
    const auto element = parseSpelling<annudf_element>(load.dtype, &why);
    if (!element)
      throw Error(ErrorKind::Usage, "dtype " + why);
    bench(*element);
  } catch (const Error &error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return error.exitCode();
  }
  return 0;
}

} // namespace annudf::bench

#endif // ANNUDF_BENCH_VECTOROPTIONS_H
