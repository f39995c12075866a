//===- WriteContracts.cpp - Contract numbers of the test metrics ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A header with the number of every test metric's descriptor, for the hooks written by
// hand: cpu/udfs/ and cuda/udfs.cu.
//
//===----------------------------------------------------------------------===//

#define ANNUDF_TEST_UDF_DIR ""
#include "runtime/cpu/TestMetrics.h"

#include <cinttypes>
#include <cstdio>

int main(int argc, char **argv) {
  std::FILE *file = argc == 2 ? std::fopen(argv[1], "w") : nullptr;
  if (!file)
    return 1;
  for (const annudf::test::TestMetric &metric : annudf::test::testMetrics())
    std::fprintf(file, "#define ANNUDF_TEST_CONTRACT_%s 0x%016" PRIx64 "ull\n", metric.name.c_str(),
                 annudf::contractOf(annudf::test::artifactOf(metric, "").manifest));
  return std::fclose(file) == 0 ? 0 : 1;
}
