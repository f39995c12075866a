//===- UploadTest.cpp - The way from host memory to a device --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs a GPU; without one every test is skipped and says so.
//
//===----------------------------------------------------------------------===//

#include "CudaMetrics.h"
#include "SharedBackend.h"

#include "Support/TestFiles.h"
#include "annudf/runtime/cuda/Cuda.h"
#include "cuda/link/Embedded.h"
#include "cuda/resident/DeviceIndex.h"
#include "runtime/TestData.h"
#include "gtest/gtest.h"

#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::runtime::cuda;
using namespace annudf::test;

namespace {

class CudaUpload : public testing::Test {
protected:
  void SetUp() override {
    REQUIRE_GPU("uploads are");
    context = std::make_shared<Context>(0);
  }

  /// What the device has after `count` units of so many bytes were sent; unit i has bytes i, i + 1,
  /// ....
  std::vector<std::byte> sent(PinnedPieces &pieces, uint64_t count, uint64_t bytes) {
    const OwnStream stream(context);
    const Buffer to(context, count * bytes);
    std::atomic<uint64_t> filled{0};
    pieces.send(
        {count, bytes}, stream.get(),
        [&](uint64_t first, uint64_t last, std::byte *out) {
          for (; first < last; ++first, out += bytes, ++filled)
            for (uint64_t b = 0; b < bytes; ++b)
              out[b] = std::byte(uint8_t(first + b));
        },
        [&](uint64_t first, uint64_t units, const std::byte *from) {
          ANNUDF_CUDA(cuMemcpyHtoDAsync, to.device() + first * bytes, from, units * bytes,
                      stream.get());
        },
        {}, "upload");
    EXPECT_EQ(filled, count);
    ContextScope scope(*context);
    std::vector<std::byte> there(count * bytes);
    if (!there.empty())
      ANNUDF_CUDA(cuMemcpyDtoH, there.data(), to.device(), there.size());
    return there;
  }
  static std::vector<std::byte> expected(uint64_t count, uint64_t bytes) {
    std::vector<std::byte> all;
    for (uint64_t i = 0; i < count; ++i)
      for (uint64_t b = 0; b < bytes; ++b)
        all.push_back(std::byte(uint8_t(i + b)));
    return all;
  }

  std::shared_ptr<Context> context;
};

TEST_F(CudaUpload, PiecesOfEverySize) {
  PinnedPieces pieces(context, 1000); // It grows, and a unit may be larger.
  for (const uint64_t bytes : {1, 7, 100, 999, 1000, 1001, 5000})
    for (const uint64_t count : {0, 1, 2, 9, 10, 11, 20, 31, 1234})
      ASSERT_EQ(sent(pieces, count, bytes), expected(count, bytes)) << count << " x " << bytes;
  EXPECT_EQ(pieces.atOnce({100, 300}), 3u);
  EXPECT_EQ(pieces.atOnce({2, 300}), 2u);
  EXPECT_EQ(pieces.atOnce({100, 3000}), 1u);
}

TEST_F(CudaUpload, AFaultLeavesThePiecesInOrder) {
  PinnedPieces pieces(context, 64);
  const OwnStream stream(context);
  const auto none = [](uint64_t, uint64_t, const std::byte *) {};
  const auto fill = [](uint64_t, uint64_t, std::byte *) {};
  EXPECT_THROW(pieces.send(
                   {100, 8}, stream.get(),
                   [](uint64_t first, uint64_t, std::byte *) {
                     if (first >= 40)
                       throw std::runtime_error("no such row");
                   },
                   none, {}, "upload"),
               std::runtime_error);
  std::vector<double> told;
  EXPECT_EQ(errorOf(
                [&] {
                  pieces.send(
                      {100, 8}, stream.get(), fill, none,
                      [&](const char *, double done) {
                        told.push_back(done);
                        return done < 0.3;
                      },
                      "upload");
                },
                ErrorKind::Interrupted),
            "interrupted (upload)");
  EXPECT_EQ(told, (std::vector<double>{0, 0.08, 0.16, 0.24, 0.32}));
  EXPECT_EQ(sent(pieces, 100, 8), expected(100, 8));
}

TEST_F(CudaUpload, ThreadsTakeTurns) {
  PinnedPieces pieces(context, 4096);
  std::vector<std::thread> threads;
  for (uint64_t t = 1; t <= 6; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 10; ++round)
        ASSERT_EQ(sent(pieces, 500 + t, 40 * t), expected(500 + t, 40 * t));
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// Lists of every size, empty ones among them, in pieces that end within lists and between them.
TEST_F(CudaUpload, ListsArriveWhole) {
  const Module search(context, searchModule().data());
  for (const annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_U8})
    for (const int32_t dims : {3, 40}) {
      const Matrix base = integerMatrix(element, 3000, dims);
      IndexParams params;
      params.nLists = 20, params.kmeansIterations = 3, params.addData = false;
      Index index = Index::build(params, base.view());
      for (const int64_t rows : {0, 33, 3000}) {
        if (rows != 0)
          index.extend({base.storage.data(), rows, dims, element});
        for (const uint64_t piece : {uint64_t(1), uint64_t(20000), PinnedPieces::kMostBytes}) {
          PinnedPieces pieces(context, piece);
          const DeviceIndex copy(index, context, search, pieces, {});
          const annudf_device_index &args = copy.args();
          std::vector<uint32_t> words(copy.groups() * args.chunks * 128), expected;
          std::vector<int64_t> ids(copy.groups() * kGroupRows), expectedIds;
          ContextScope scope(*context);
          if (rows != 0) {
            ANNUDF_CUDA(cuMemcpyDtoH, words.data(), args.rows, words.size() * 4);
            ANNUDF_CUDA(cuMemcpyDtoH, ids.data(), args.ids, ids.size() * 8);
          }
          for (const List &list : index.lists()) {
            expectedIds.insert(expectedIds.end(), list.ids.begin(), list.ids.end());
            for (int64_t chunk = 0; chunk < list.groups() * args.chunks; ++chunk)
              for (int row = 0; row < 32; ++row)
                for (int word = 0; word < 4; ++word)
                  expected.push_back(list.words[size_t((chunk * 4 + word) * 32 + row)]);
          }
          ASSERT_EQ(ids, expectedIds);
          ASSERT_EQ(words, expected) << rows << " rows, pieces of " << piece;
        }
      }
    }
}

/// The copy that a search makes can be stopped; who waited for it makes it then.
TEST_F(CudaUpload, AStoppedSearchHarmsNoOther) {
  const auto backend = makeCudaDeviceBackend();
  const Metric metric = cudaMetric(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 4000, 24, 1);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 7, 24, 2);
  IndexParams params;
  params.nLists = 12, params.kmeansIterations = 3;
  const Index index = Index::build(params, view(base));
  const BoundCaptures captures = bind(metric, 24);
  const auto search = [&](const Progress &progress, SearchStats *stats = nullptr) {
    std::vector<int64_t> ids(size_t(queries.rows) * 5);
    std::vector<float> distances(ids.size());
    backend->search(index, metric, captures, view(queries), 5,
                    {.candidates = Lists{12}, .progress = progress}, ids.data(), distances.data(),
                    stats);
    return ids;
  };
  for (const double at : {0.0, 1.0})
    EXPECT_EQ(errorOf(
                  [&] {
                    (void)search([&](const char *stage, double done) {
                      return std::strcmp(stage, "upload") != 0 || done != at;
                    });
                  },
                  ErrorKind::Interrupted),
              "interrupted (upload)");
  // One is held in its upload until the others wait, then stopped.
  std::atomic<bool> inside{false};
  std::thread stopped([&] {
    EXPECT_EQ(errorOf(
                  [&] {
                    (void)search([&](const char *stage, double) {
                      if (std::strcmp(stage, "upload") != 0)
                        return true;
                      inside = true;
                      std::this_thread::sleep_for(std::chrono::milliseconds(100));
                      return false;
                    });
                  },
                  ErrorKind::Interrupted),
              "interrupted (upload)");
  });
  while (!inside)
    std::this_thread::yield();
  std::atomic<int> uploads{0};
  std::vector<std::vector<int64_t>> found(4);
  std::vector<std::thread> threads;
  for (auto &ids : found)
    threads.emplace_back([&] {
      SearchStats stats;
      ids = search({}, &stats);
      uploads += stats.uploadMs > 0;
    });
  for (std::thread &thread : threads)
    thread.join();
  stopped.join();
  EXPECT_EQ(uploads, 1);
  for (const auto &ids : found)
    EXPECT_EQ(ids, found[0]);
}

} // namespace
