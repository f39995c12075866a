//===- BuiltKernels.cpp - Kernels of annudf-build-kernel on a GPU -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The PTX of write_built_kernels.py, whose folder ANNUDF_BUILT_KERNELS names, beside the engine's
// exact search on the GPU: results, and how long both take.
//
//===----------------------------------------------------------------------===//

#include "e2e/Devices.h"
#include "e2e/KernelCells.h"

#include "annudf/Support/FileIO.h"
#include "cuda/driver/Driver.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>

using namespace annudf;
using namespace annudf::test;
using namespace annudf::runtime::cuda;

namespace {

constexpr unsigned kThreads = 128;
constexpr unsigned kBlocksOfAProcessor = 7; ///< As many as run at once.

/// An array with a copy on the device, which is copied back at the end.
class OnDevice {
public:
  explicit OnDevice(KernelArray &array) : array(array) {
    if (array.shape.empty())
      return;
    ANNUDF_CUDA(cuMemAlloc, &memory, array.bytes.size());
    ANNUDF_CUDA(cuMemcpyHtoD, memory, array.bytes.data(), array.bytes.size());
  }
  OnDevice(const OnDevice &) = delete;
  ~OnDevice() {
    if (!memory)
      return;
    EXPECT_EQ(Driver::get().cuMemcpyDtoH(array.bytes.data(), memory, array.bytes.size()),
              CUDA_SUCCESS);
    EXPECT_EQ(Driver::get().cuMemFree(memory), CUDA_SUCCESS);
  }
  std::vector<uint64_t> words() const { return array.words(memory); }

private:
  KernelArray &array;
  CUdeviceptr memory = 0;
};

/// The kernels of a file of PTX.
class Module {
public:
  explicit Module(const std::string &path) {
    const std::string ptx = readFile(path, 1 << 24);
    ANNUDF_CUDA(cuModuleLoadData, &module, ptx.c_str());
  }
  Module(const Module &) = delete;
  ~Module() { EXPECT_EQ(Driver::get().cuModuleUnload(module), CUDA_SUCCESS); }

  void launch(const std::string &name, unsigned gridX, unsigned gridY,
              std::vector<uint64_t> words) const {
    CUfunction kernel = nullptr;
    ANNUDF_CUDA(cuModuleGetFunction, &kernel, module, name.c_str());
    std::vector<void *> parameters;
    parameters.reserve(words.size());
    for (uint64_t &word : words)
      parameters.push_back(&word);
    ANNUDF_CUDA(cuLaunchKernel, kernel, gridX, gridY, 1, kThreads, 1, 1, 0, nullptr,
                parameters.data(), nullptr);
  }

private:
  CUmodule module = nullptr;
};

class BuiltKernels : public testing::Test {
protected:
  void SetUp() override {
    const char *named = std::getenv("ANNUDF_BUILT_KERNELS");
    if (!named || !std::filesystem::exists(named))
      GTEST_SKIP() << "SKIPPED, NOT RUN: ANNUDF_BUILT_KERNELS names no folder of "
                      "write_built_kernels.py";
    folder = named;
    std::string why;
    engine = backendOf(Device::Cuda, &why);
    if (!engine)
      GTEST_SKIP() << "SKIPPED, NOT RUN: " << why;
    context.emplace(0);
    scope.emplace(*context);
  }

  runtime::Metric metricOf(const std::string &name) const {
    return runtime::Metric::fromFile(folder + "/" + name + ".annudf");
  }

  std::string folder;
  runtime::Backend *engine = nullptr;
  std::optional<Context> context;
  std::optional<ContextScope> scope;
};

TEST_F(BuiltKernels, GiveTheResultsOfExactSearch) {
  int cells = 0;
  for (const Kernel &kernel : readKernels(folder + "/kernels.txt")) {
    const Module module(folder + "/" + kernel.name() + ".ptx");
    const runtime::Metric metric = metricOf(kernel.metric);
    const Launch launch = [&](const std::string &name, unsigned gridX, unsigned gridY,
                              const std::vector<KernelArray *> &arrays) {
      std::vector<std::unique_ptr<OnDevice>> copies;
      std::vector<uint64_t> words;
      for (KernelArray *array : arrays) {
        copies.push_back(std::make_unique<OnDevice>(*array));
        for (uint64_t word : copies.back()->words())
          words.push_back(word);
      }
      module.launch(name, gridX, gridY, words);
      ANNUDF_CUDA(cuCtxSynchronize);
    };
    for (int dims : {1, 45, 128}) {
      SCOPED_TRACE(kernel.name() + ", " + std::to_string(dims) + " dimensions");
      KernelCell(kernel, metric, dims).check(*engine, launch);
      ++cells;
    }
  }
  std::printf("%d cells of all distances and of the nearest rows\n", cells);
}

double msOf(const std::function<void()> &run) {
  std::vector<double> times;
  for (int i = 0; i < 7; ++i) {
    const auto began = std::chrono::steady_clock::now();
    run();
    const auto took = std::chrono::steady_clock::now() - began;
    times.push_back(std::chrono::duration<double, std::milli>(took).count());
  }
  std::ranges::nth_element(times, times.begin() + 3);
  return times[3];
}

/// l1 is no quadratic form, so that the engine, too, calls its hooks for each row.
TEST_F(BuiltKernels, TakeAtMostFourTimesAsLong) {
  constexpr int64_t rows = 500'000, k = 10;
  constexpr int dims = 128;
  const Module module(folder + "/l1.f32.ptx");
  const runtime::Metric metric = metricOf("l1");
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> numbers(rows * dims);
  for (float &number : numbers)
    number = uniform(random);
  KernelArray base = KernelArray::of({rows, dims}, numbers);
  const OnDevice stored(base);
  const runtime::Index index =
      runtime::Index::ofOneList({numbers.data(), rows, dims, ANNUDF_ELEMENT_F32}, false);
  for (int64_t batch : {1, 10, 100, 1000}) {
    const runtime::MatrixView queries = {numbers.data(), batch, dims, ANNUDF_ELEMENT_F32};
    std::vector<int64_t> ids(size_t(batch * k));
    std::vector<float> distances(ids.size());
    const auto search = [&] {
      engine->search(index, metric, {}, queries, k, {.waitForLinks = true}, ids.data(),
                     distances.data());
    };
    search(); // Links, and copies the rows to the device.
    const double engineMs = msOf(search);
    const auto blocks =
        unsigned((batch + KernelCell::kQueriesOfABlock - 1) / KernelCell::kQueriesOfABlock);
    // As many blocks as run at once.
    const unsigned parts =
        std::max(1U, kBlocksOfAProcessor * unsigned(context->processors()) / blocks);
    std::vector<float> some(numbers.begin(), numbers.begin() + batch * dims);
    KernelArray given = KernelArray::of({batch, dims}, some);
    KernelArray partDistances =
        KernelArray::of({batch, parts, k}, std::vector<float>(size_t(batch * parts * k)));
    KernelArray partIds =
        KernelArray::of({batch, parts, k}, std::vector<int64_t>(size_t(batch * parts * k)));
    KernelArray found = KernelArray::of({batch, k}, std::vector<float>(ids.size()));
    KernelArray foundIds = KernelArray::of({batch, k}, ids);
    double kernelMs = 0, scanMs = 0, mergeMs = 0;
    {
      const OnDevice q(given), pd(partDistances), pi(partIds), d(found), i(foundIds);
      const auto joined = [](std::initializer_list<const OnDevice *> arrays) {
        std::vector<uint64_t> words;
        for (const OnDevice *array : arrays)
          for (uint64_t word : array->words())
            words.push_back(word);
        return words;
      };
      const auto scan = [&] {
        module.launch("k_nearest", parts, blocks, joined({&q, &stored, &pd, &pi}));
      };
      const auto merge = [&] {
        module.launch("k_nearest_merge", unsigned(batch), 1, joined({&pd, &pi, &d, &i}));
      };
      const auto ran = [](const std::function<void()> &launch) {
        launch();
        ANNUDF_CUDA(cuCtxSynchronize);
      };
      const auto both = [&] { scan(), merge(); };
      ran(both);
      kernelMs = msOf([&] { ran(both); });
      scanMs = msOf([&] { ran(scan); });
      mergeMs = msOf([&] { ran(merge); });
    }
    EXPECT_EQ(foundIds.as<int64_t>(), ids);
    EXPECT_EQ(found.as<float>(), distances);
    std::printf(
        "l1, %lld x %d f32, k %lld, batch %lld: engine %.3f ms, kernels %.3f ms, %.2f times "
        "(scan %.3f ms, merge %.3f ms, %u parts)\n",
        (long long)rows, dims, (long long)k, (long long)batch, engineMs, kernelMs,
        kernelMs / engineMs, scanMs, mergeMs, parts);
    EXPECT_LE(kernelMs, 4 * engineMs) << "batch " << batch;
  }
}

} // namespace
