//===- BuiltKernelsOnCpu.cpp - Kernels of annudf-build-kernel on the CPU --===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread of the CPU runs each thread of a block, so that barriers and atomics mean what they do
// on a GPU. Results are compared with the engine's exact search on the CPU.
//
//===----------------------------------------------------------------------===//

#include "Compiler/KernelJit.h"
#include "e2e/Devices.h"
#include "e2e/KernelCells.h"

#include "annudf/Compiler/Compiler.h"
#include "annudf/Support/FileIO.h"

#include <filesystem>

using namespace annudf;
using namespace annudf::test;

namespace {

std::string textOf(const std::string &metric) {
  for (const char *folder : {"test/e2e/metrics/", "docs/examples/metrics/", "lib/Metrics/"})
    if (const std::string path = ANNUDF_SOURCE + ("/" + (folder + metric)) + ".mlir";
        std::filesystem::exists(path))
      return readFile(path, 1 << 20);
  throw std::runtime_error("no file of metric " + metric);
}

class BuiltKernelsOnCpu : public testing::TestWithParam<Kernel> {};

TEST_P(BuiltKernelsOnCpu, GiveTheResultsOfExactSearch) {
  const Kernel &kernel = GetParam();
  const std::string text = textOf(kernel.metric), element(toString(kernel.element));
  const KernelJit jit(text,
                      "builtin.module(annudf-build-kernel{element=" + element +
                          "},annudf-build-kernel{kind=k-nearest k=" + std::to_string(kernel.k) +
                          " element=" + element + "},annudf-inline-hooks)");
  ASSERT_EQ(jit.fault, "");
  CompileOptions options;
  options.archs = {"sm_90"};
  const runtime::Metric metric =
      runtime::Metric::fromArtifact(compileMetric(text, kernel.metric, options), kernel.metric);
  std::string why;
  runtime::Backend *engine = backendOf(Device::Cpu, &why);
  ASSERT_TRUE(engine) << why;
  const Launch launch = [&](const std::string &name, unsigned gridX, unsigned gridY,
                            const std::vector<KernelArray *> &arrays) {
    std::vector<uint64_t> words;
    for (KernelArray *array : arrays)
      for (uint64_t word : array->words(reinterpret_cast<uint64_t>(array->bytes.data())))
        words.push_back(word);
    std::vector<void *> parameters;
    parameters.reserve(words.size());
    for (uint64_t &word : words)
      parameters.push_back(&word);
    jit.launch(name, gridX, gridY, parameters);
  };
  for (int dims : {1, 45}) {
    SCOPED_TRACE(std::to_string(dims) + " dimensions");
    KernelCell(kernel, metric, dims).check(*engine, launch);
  }
}

std::string nameOf(const testing::TestParamInfo<Kernel> &info) {
  return info.param.metric + "_" + std::string(toString(info.param.element));
}
INSTANTIATE_TEST_SUITE_P(All, BuiltKernelsOnCpu,
                         testing::ValuesIn(readKernels(ANNUDF_SOURCE "/test/e2e/kernels.txt")),
                         nameOf);

} // namespace
