//===- NvptxBodies.cpp - Both backends give the same bits -------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each update of WriteNvptxBodies.cpp, whose folder ANNUDF_NVPTX_BODIES names, is evaluated on the
// GPU as compiled by libNVVM and by LLVM's NVPTX backend. NaNs may differ in their payload.
//
//===----------------------------------------------------------------------===//

#include "Compiler/RandomInputs.h"

#include "annudf/Support/FileIO.h"
#include "cuda/driver/Driver.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <vector>

using namespace annudf;
using namespace annudf::runtime::cuda;

namespace {

constexpr unsigned kSamples = 4096, kThreads = 128;

struct Sample {
  float acc, x, y;
  int32_t dim, dims;
};

std::vector<Sample> samplesOf(uint32_t seed) {
  test::Inputs inputs(seed);
  std::vector<Sample> samples;
  samples.reserve(kSamples);
  for (unsigned i = 0; i < kSamples; ++i) {
    const auto dim = int32_t(i % 7 == 0 ? 299 + i : i);
    samples.push_back({inputs.next(), inputs.next(), inputs.next(), dim, dim + 1 + int32_t(i % 3)});
  }
  return samples;
}

std::vector<float> evaluate(const std::string &path, const std::vector<Sample> &samples) {
  const std::string cubin = readFile(path, 1 << 26);
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  CUdeviceptr in = 0, out = 0;
  ANNUDF_CUDA(cuModuleLoadData, &module, cubin.data());
  ANNUDF_CUDA(cuModuleGetFunction, &kernel, module, "annudf_evaluate");
  ANNUDF_CUDA(cuMemAlloc, &in, samples.size() * sizeof(Sample));
  ANNUDF_CUDA(cuMemAlloc, &out, samples.size() * sizeof(float));
  ANNUDF_CUDA(cuMemcpyHtoD, in, samples.data(), samples.size() * sizeof(Sample));
  auto count = static_cast<unsigned>(samples.size());
  void *parameters[] = {&in, &out, &count};
  ANNUDF_CUDA(cuLaunchKernel, kernel, (count + kThreads - 1) / kThreads, 1, 1, kThreads, 1, 1, 0,
              nullptr, parameters, nullptr);
  std::vector<float> results(samples.size());
  ANNUDF_CUDA(cuMemcpyDtoH, results.data(), out, results.size() * sizeof(float));
  ANNUDF_CUDA(cuMemFree, in);
  ANNUDF_CUDA(cuMemFree, out);
  ANNUDF_CUDA(cuModuleUnload, module);
  return results;
}

TEST(NvptxBodies, GiveTheBitsOfLibNvvm) {
  const char *folder = std::getenv("ANNUDF_NVPTX_BODIES");
  if (!folder || !std::filesystem::exists(folder))
    GTEST_SKIP() << "SKIPPED, NOT RUN: ANNUDF_NVPTX_BODIES names no folder of "
                    "annudf_write_nvptx_bodies";
  std::optional<Context> context;
  try {
    context.emplace(0);
  } catch (const Error &error) {
    if (std::getenv("ANNUDF_REQUIRE_GPU"))
      throw;
    GTEST_SKIP() << "SKIPPED, NOT RUN: " << error.what();
  }
  const ContextScope scope(*context);
  constexpr std::string_view kEnding = ".libnvvm.cubin";
  std::set<std::string> bodies;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    if (std::string path = entry.path().string(); path.ends_with(kEnding))
      bodies.insert(path.substr(0, path.size() - kEnding.size()));
  ASSERT_FALSE(bodies.empty()) << folder;
  size_t differing = 0;
  uint32_t seed = 0;
  for (const std::string &body : bodies) {
    const std::vector<Sample> samples = samplesOf(seed++);
    const std::vector<float> expected = evaluate(body + std::string(kEnding), samples);
    const std::vector<float> actual = evaluate(body + ".nvptx.cubin", samples);
    for (size_t i = 0; i < samples.size(); ++i) {
      if (std::bit_cast<uint32_t>(expected[i]) == std::bit_cast<uint32_t>(actual[i]) ||
          (std::isnan(expected[i]) && std::isnan(actual[i])))
        continue;
      const Sample &at = samples[i];
      ADD_FAILURE() << body << ": libNVVM " << expected[i] << ", NVPTX " << actual[i]
                    << " at acc=" << at.acc << " x=" << at.x << " y=" << at.y << " dim=" << at.dim
                    << " dims=" << at.dims;
      ++differing;
      break;
    }
  }
  std::printf("%zu of %zu bodies differ, %u samples each\n", differing, bodies.size(), kSamples);
}

} // namespace
