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
  // An option that there is not must not become a file.
  if (argc != 2 || *argv[1] == '-' || *argv[1] == '\0') {
    std::fprintf(stderr, "usage: %s FILE, which may not begin with '-'\n", argv[0]);
    return 2;
  }
  std::FILE *file = std::fopen(argv[1], "w");
  if (!file) {
    std::perror(argv[1]);
    return 1;
  }
  for (const auto *metrics : {&annudf::test::testMetrics(), &annudf::test::provedMetrics()})
    for (const annudf::test::TestMetric &metric : *metrics)
      std::fprintf(file, "#define ANNUDF_TEST_CONTRACT_%s 0x%016" PRIx64 "ull\n",
                   metric.name.c_str(),
                   annudf::contractOf(annudf::test::artifactOf(metric, "").manifest));
  for (const annudf::Artifact &filter : {annudf::test::evenRows(""), annudf::test::sameTenant("")})
    std::fprintf(file, "#define ANNUDF_TEST_CONTRACT_%s 0x%016" PRIx64 "ull\n",
                 filter.manifest.name.c_str(), annudf::contractOf(filter.manifest));
  // The same code with another hook, and under every coarse policy: the contract covers that, so
  // each has its number.
  const annudf::Manifest plain =
      annudf::test::artifactOf(annudf::test::testMetric("l2"), "").manifest;
  std::fprintf(file, "#define ANNUDF_TEST_CONTRACT_l2_in_parts 0x%016" PRIx64 "ull\n",
               annudf::contractOf(annudf::test::inParts(plain)));
  annudf::MetricDescriptor l2 = plain;
  for (auto coarse : {ANNUDF_COARSE_L2, ANNUDF_COARSE_INNER_PRODUCT, ANNUDF_COARSE_COSINE})
    for (auto order : {ANNUDF_ORDER_MIN, ANNUDF_ORDER_MAX}) {
      l2.coarse = coarse, l2.coarseOrder = order;
      std::fprintf(file, "#define ANNUDF_TEST_CONTRACT_l2_%s_%s 0x%016" PRIx64 "ull\n",
                   annudf::toString(coarse), annudf::toString(order), annudf::contractOf(l2));
    }
  return std::fclose(file) == 0 ? 0 : 1;
}
