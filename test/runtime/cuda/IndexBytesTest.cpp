//===- IndexBytesTest.cpp - What an index takes of a device's memory ------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// At most a twentieth more than the vectors and their ids where a list has 500 rows on average:
// calculated, which needs no GPU, and then that a GPU's copy takes what is calculated.
//
//===----------------------------------------------------------------------===//

#include "SharedBackend.h"

#include "cuda/link/Embedded.h"
#include "cuda/resident/DeviceIndex.h"
#include "runtime/TestData.h"

#include <cmath>
#include <numeric>
#include <vector>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::runtime::cuda;
using namespace annudf::test;

namespace {

constexpr double kMost = 1.05;

/// The index's bytes as a share of the bytes of its vectors and ids.
double share(annudf_element element, int32_t dims, const std::vector<uint32_t> &sizes) {
  const std::vector<float> none;
  const auto rows = std::accumulate(sizes.begin(), sizes.end(), uint64_t(0));
  return double(IndexBytes({sizes, dims, wordsPerRow(element, dims), none, none}).all()) /
         double(rows * (uint64_t(bytesOfRow(element, dims)) + sizeof(int64_t)));
}

/// Sizes of lists from 1 row to `most`, as many of each size.
std::vector<uint32_t> unequal(uint32_t most) {
  std::vector<uint32_t> sizes(most);
  std::iota(sizes.begin(), sizes.end(), 1);
  return sizes;
}

std::vector<uint32_t> equal(uint32_t rows) { return std::vector<uint32_t>(1000, rows); }

struct Kind {
  annudf_element element;
  int32_t dims;
};

} // namespace

/// Rows of whole 16 bytes: what is added is the last group of each list, and a center a list.
TEST(CudaIndexBytes, ATwentiethMoreThanVectorsAndIds) {
  const Kind kinds[] = {
      {ANNUDF_ELEMENT_F32, 4},    {ANNUDF_ELEMENT_F32, 96},  {ANNUDF_ELEMENT_F32, 100},
      {ANNUDF_ELEMENT_F32, 128},  {ANNUDF_ELEMENT_F32, 768}, {ANNUDF_ELEMENT_F32, 1536},
      {ANNUDF_ELEMENT_F16, 96},   {ANNUDF_ELEMENT_F16, 128}, {ANNUDF_ELEMENT_F16, 768},
      {ANNUDF_ELEMENT_BF16, 128}, {ANNUDF_ELEMENT_U8, 16},   {ANNUDF_ELEMENT_U8, 96},
      {ANNUDF_ELEMENT_U8, 128},   {ANNUDF_ELEMENT_U8, 784},  {ANNUDF_ELEMENT_I8, 128},
      {ANNUDF_ELEMENT_I8, 768}};
  for (const auto &[element, dims] : kinds)
    for (const auto &sizes :
         {equal(500), equal(1000), equal(4000), unequal(1000), unequal(1500), unequal(4000)})
      EXPECT_LE(share(element, dims, sizes), kMost)
          << toString(element) << " x " << dims << ", up to " << sizes.back() << " rows a list";
}

/// Any number of dimensions, beside rows that are padded to 16 bytes as the format says.
TEST(CudaIndexBytes, ATwentiethMoreThanPaddedVectorsAndIds) {
  for (const annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_BF16,
                                       ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_I8})
    for (int32_t dims = 1; dims <= 1600; ++dims) {
      const double row = double(bytesOfRow(element, dims)) + 8,
                   padded = double(wordsPerRow(element, dims)) * 4 + 8;
      ASSERT_LE(share(element, dims, unequal(1000)) * row / padded, kMost)
          << toString(element) << " x " << dims;
    }
}

/// So nobody takes it for a bound of everything.
TEST(CudaIndexBytes, WhereItIsMore) {
  const auto percent = [](double share) { return std::lround((share - 1) * 100); };
  EXPECT_EQ(percent(share(ANNUDF_ELEMENT_F32, 96, equal(513))), 6);  // Each has a row too many.
  EXPECT_EQ(percent(share(ANNUDF_ELEMENT_U8, 100, equal(500))), 15); // Rows of 112 bytes.
  // A center is 32 times a row of bits: it takes lists of more rows.
  EXPECT_EQ(percent(share(ANNUDF_ELEMENT_BITS, 1024, equal(500))), 8);
  EXPECT_LE(share(ANNUDF_ELEMENT_BITS, 1024, unequal(4000)), kMost);
}

/// On a card, and on the stand-in for one.
TEST(CudaIndexBytes, AreWhatACopyTakes) {
  REQUIRE_GPU("what an index takes is");
  const auto context = std::make_shared<Context>(0);
  const Module search(context, searchModule().data());
  PinnedPieces pieces(context, PinnedPieces::kMostBytes);
  const ContextScope scope(*context);
  for (const auto &[element, dims] :
       {Kind{ANNUDF_ELEMENT_F32, 96}, Kind{ANNUDF_ELEMENT_F16, 96}, Kind{ANNUDF_ELEMENT_U8, 96}}) {
    constexpr int64_t kRows = 25000;
    IndexParams params;
    params.nLists = kRows / 500, params.kmeansIterations = 2;
    const Index index = Index::build(params, integerMatrix(element, kRows, dims).view());
    const DeviceIndex copy(index, context, search, pieces, {});
    ListShape shape = {{}, dims, index.words(), index.centers(), index.fill()};
    for (const List &list : index.lists())
      shape.sizes.push_back(uint32_t(list.size));
    EXPECT_EQ(copy.bytes(), IndexBytes(shape).all()) << toString(element);
    // What the driver says of each allocation that a search is given.
    uint64_t given = 0;
    const annudf_device_index &args = copy.args();
    for (const uint64_t address :
         {args.rows, args.ids, args.listGroup, args.listSize, args.centers, args.norms}) {
      CUdeviceptr base = 0;
      size_t bytes = 0;
      ANNUDF_CUDA(cuMemGetAddressRange, &base, &bytes, address);
      EXPECT_EQ(base, address);
      given += bytes;
    }
    constexpr uint64_t kRounded = 512; // It may tell what an allocation takes.
    EXPECT_GE(given, copy.bytes()) << toString(element);
    EXPECT_LE(given, copy.bytes() + 6 * kRounded) << toString(element);
    EXPECT_LE(double(given), kMost * double(kRows * (bytesOfRow(element, dims) + 8)))
        << toString(element);
  }
}
