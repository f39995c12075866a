//===- PassingRowsTest.cpp - The rows alone that pass a filter ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs a GPU, or the stand-in of host/; without either every test is skipped and says so.
//
//===----------------------------------------------------------------------===//

#include "cuda/build/PassingRows.h"
#include "SharedBackend.h"

#include "gtest/gtest.h"

#include <random>
#include <vector>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

struct Row {
  int64_t id;
  uint32_t first; ///< Word of its first chunk.
  bool operator==(const Row &) const = default;
};

/// Lists of rows of two chunks, on the device.
class Lists {
public:
  Lists(const std::vector<std::vector<Row>> &all,
        const std::shared_ptr<const cuda::Context> &context)
      : context_(context) {
    std::vector<uint32_t> sizes;
    for (const auto &list : all)
      sizes.push_back(uint32_t(list.size()));
    const std::vector<float> none;
    index = std::make_unique<cuda::DeviceIndex>(
        cuda::ListShape{sizes, 8, kChunks * 4, none, none, false}, context, nullptr);
    std::vector<int64_t> ids(index->groups() * 32, -1);
    std::vector<uint32_t> words(index->groups() * 32 * kChunks * 4, 99);
    uint64_t group = 0;
    for (const auto &list : all) {
      for (size_t i = 0; i < list.size(); ++i) {
        ids[group * 32 + i] = list[i].id;
        words[wordOf(group + i / 32, i % 32, 0)] = list[i].first;
        words[wordOf(group + i / 32, i % 32, 1)] = list[i].first + 1000000;
      }
      group += (list.size() + 31) / 32;
    }
    const auto put = [](uint64_t to, const auto &values) {
      sharedBackend()->copy(to, reinterpret_cast<uint64_t>(values.data()),
                            values.size() * sizeof(values[0]), nullptr);
    };
    put(index->args().ids, ids), put(index->args().rows, words);
    sharedBackend()->synchronize(nullptr);
  }
  static uint64_t wordOf(uint64_t group, uint64_t row, uint64_t chunk) {
    return ((group * kChunks + chunk) * 32 + row) * 4;
  }

  static constexpr uint32_t kChunks = 2;
  std::unique_ptr<cuda::DeviceIndex> index;

private:
  const std::shared_ptr<const cuda::Context> context_;
};

void check(const std::vector<std::vector<Row>> &all, const RowFilter &filter) {
  static const auto context = std::make_shared<cuda::Context>(0);
  static const cuda::BuildKernels kernels(context);
  static const auto memory = std::make_shared<cuda::CandidateMemory>(context);
  const cuda::ContextScope scope(*context);
  const Lists lists(all, context);
  std::vector<Row> expected;
  for (const auto &list : all)
    for (const Row &row : list)
      if (filter.passes(row.id))
        expected.push_back(row);
  const auto words = sharedBackend()->allocate(filter.words().size() * 4, nullptr);
  sharedBackend()->copy(words->address(), reinterpret_cast<uint64_t>(filter.words().data()),
                        filter.words().size() * 4, nullptr);
  sharedBackend()->synchronize(nullptr);
  // As many as expected, or more where several rows have an id.
  for (const int64_t most : {filter.count(), int64_t(0)}) {
    const cuda::ListOfRows made =
        cuda::gatherPassing(context, kernels, *memory, *lists.index, words->address(), most);
    ASSERT_EQ(made.rows, int64_t(expected.size()));
    const annudf_device_index &args = made.list->args();
    EXPECT_EQ(args.nLists, 1u);
    EXPECT_EQ(args.layout, uint32_t(ANNUDF_ROWS_IN_GROUPS));
    const uint64_t groups = (expected.size() + 31) / 32;
    EXPECT_EQ(made.list->groups(), groups);
    EXPECT_EQ(readBack<uint32_t>(args.listGroup, 2), (std::vector<uint32_t>{0, uint32_t(groups)}));
    EXPECT_EQ(readBack<uint32_t>(args.listSize, 1)[0], expected.size());
    const auto ids = readBack<int64_t>(args.ids, groups * 32);
    const auto rows =
        readBack<uint32_t>(args.rows, (groups * Lists::kChunks + ANNUDF_PAST_END) * 32 * 4);
    for (size_t i = 0; i < ids.size(); ++i) {
      const bool is = i < expected.size();
      const uint32_t first = rows[Lists::wordOf(i / 32, i % 32, 0)],
                     second = rows[Lists::wordOf(i / 32, i % 32, 1)];
      ASSERT_EQ((Row{ids[i], first}), is ? expected[i] : (Row{-1, 0})) << i;
      ASSERT_EQ(second, is ? first + 1000000 : 0) << i;
    }
    for (size_t i = groups * Lists::kChunks * 32 * 4; i < rows.size(); ++i)
      ASSERT_EQ(rows[i], 0u);
  }
}

TEST(CudaPassing, RowsInTheOrderOfTheLists) {
  REQUIRE_GPU("gathered rows are");
  std::mt19937 random(3);
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    const uint32_t ids = round % 3 == 2 ? 200 : 5000; // Several rows have one.
    std::vector<std::vector<Row>> all(1 + random() % 7);
    uint32_t first = 0;
    for (auto &list : all)
      for (size_t i = 0, size = random() % 3 ? random() % 300 : random() % 34; i < size; ++i)
        list.push_back({int64_t(random() % ids), ++first});
    for (const uint32_t of : {1u, 2u, 100u}) { // One in so many.
      std::vector<uint32_t> words(size_t(RowFilter::wordsFor(ids)));
      for (uint32_t id = 0; id < ids; ++id)
        words[id / 32] |= uint32_t(random() % of == 0) << id % 32;
      check(all, {std::move(words), ids});
    }
    check(all, {std::vector<uint32_t>(size_t(RowFilter::wordsFor(ids))), ids});
  }
}

TEST(CudaPassing, AreKeptForTheLastFilter) {
  cuda::PassingRows rows(10);
  const RowFilter a({1}, 32), b({3}, 32);
  int made = 0;
  const auto listOf = [&](int64_t count) {
    return [&made, count] {
      ++made;
      return cuda::ListOfRows{
          std::make_shared<cuda::DeviceIndex>(cuda::CandidateShape{},
                                              std::vector<std::shared_ptr<const void>>()),
          count};
    };
  };
  EXPECT_FALSE(rows.has(a));
  const auto first = rows.of(a, listOf(7));
  EXPECT_TRUE(rows.has(a));
  EXPECT_EQ(rows.of(a, listOf(8)).list, first.list);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(rows.of(b, listOf(11)).rows, 11); // Too many to keep.
  EXPECT_FALSE(rows.has(a));
  EXPECT_FALSE(rows.has(b));
  EXPECT_EQ(rows.of(b, listOf(10)).rows, 10);
  EXPECT_TRUE(rows.has(b));
  EXPECT_EQ(made, 3);
}

} // namespace
