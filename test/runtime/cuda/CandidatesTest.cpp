//===- CandidatesTest.cpp - Candidates of queries as lists ----------------===//
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

#include "SharedBackend.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "cuda/build/CandidateStore.h"
#include "runtime/TestData.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <vector>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

constexpr int64_t kQueries = 9;

/// What is made of candidates, read back.
struct Lists {
  std::vector<int64_t> ids;
  std::vector<uint32_t> starts, sizes;
  std::vector<std::byte> rows; ///< Copies; none of rows that are read where they are.
};

std::unique_ptr<DeviceMemory> put(const void *from, size_t bytes, uint64_t shift = 0) {
  auto memory = sharedBackend()->allocate(bytes + shift, nullptr);
  sharedBackend()->copy(memory->address() + shift, reinterpret_cast<uint64_t>(from), bytes,
                        nullptr);
  sharedBackend()->synchronize(nullptr);
  return memory;
}

/// \param shift  of the rows in their memory.
Lists made(const Matrix &base, const std::vector<int64_t> &candidates, bool onDevice,
           uint64_t shift, bool &inPlace) {
  static const auto context = std::make_shared<cuda::Context>(0);
  static const cuda::BuildKernels kernels(context);
  static const auto memory = std::make_shared<cuda::CandidateMemory>(context);
  const cuda::ContextScope scope(*context);
  const auto rows = put(base.storage.data(), base.storage.size(), shift);
  const auto there = put(candidates.data(), candidates.size() * sizeof(int64_t));
  cuda::CandidateCall call = {};
  call.rows = base.view();
  call.rows.data = reinterpret_cast<const void *>(rows->address() + shift);
  call.candidates = {onDevice ? reinterpret_cast<const int64_t *>(there->address())
                              : candidates.data(),
                     kQueries, int64_t(candidates.size()) / kQueries};
  call.onDevice = onDevice;
  call.first = 2, call.count = kQueries - 3; // Some of the queries.
  const cuda::MadeCandidates result = cuda::makeCandidates(context, kernels, *memory, call);
  result.check();
  EXPECT_EQ(result.store->nLists(), uint32_t(call.count));
  EXPECT_EQ(result.store->rowExtent(), base.rows);
  EXPECT_EQ(result.store->listNumber(1), 0);
  EXPECT_EQ(result.store->device(), 0);
  const annudf_device_index &args = result.lists->args();
  inPlace = args.layout == ANNUDF_ROWS_BY_ID;
  EXPECT_EQ(inPlace, args.rows == rows->address() + shift);
  const size_t places = size_t(result.lists->groups()) * kGroupRows;
  Lists lists = {readBack<int64_t>(args.ids, places),
                 readBack<uint32_t>(args.listGroup, args.nLists + 1),
                 readBack<uint32_t>(args.listSize, args.nLists),
                 {}};
  if (!inPlace)
    lists.rows = readBack<std::byte>(args.rows, places * args.chunks * 16);
  return lists;
}

/// What is made of candidates of an index: ids, and slots there.
struct OwnLists {
  std::vector<int64_t> ids;
  std::vector<uint32_t> numbers, starts, sizes;
  annudf_device_index args;
  uint64_t rows; ///< Those of the copy of the index.
};

OwnLists madeOf(const Index &index, const std::vector<int64_t> &candidates, bool onDevice) {
  static const auto context = std::make_shared<cuda::Context>(0);
  static const cuda::BuildKernels kernels(context);
  static const auto memory = std::make_shared<cuda::CandidateMemory>(context);
  const cuda::ContextScope scope(*context);
  const auto there = put(candidates.data(), candidates.size() * sizeof(int64_t));
  const cuda::ListShape shape = {
      {uint32_t(index.size())}, index.dims(), index.words(), {}, {}, false};
  cuda::CandidateCall call = {};
  call.rows = {nullptr, index.size(), index.dims(), index.element()};
  call.of = {&index, std::make_shared<const cuda::DeviceIndex>(shape, context, nullptr),
             std::make_shared<const cuda::SlotsThere>(SlotsOfIds::of(index), context, nullptr)};
  call.candidates = {onDevice ? reinterpret_cast<const int64_t *>(there->address())
                              : candidates.data(),
                     kQueries, int64_t(candidates.size()) / kQueries};
  call.onDevice = onDevice;
  call.first = 2, call.count = kQueries - 3;
  const cuda::MadeCandidates result = cuda::makeCandidates(context, kernels, *memory, call);
  result.check();
  EXPECT_EQ(result.store->source(), &index);
  EXPECT_EQ(result.store->largestId(), index.largestId());
  const annudf_device_index &args = result.lists->args();
  const size_t places = size_t(result.lists->groups()) * kGroupRows;
  return {readBack<int64_t>(args.ids, places),
          readBack<uint32_t>(args.numbers, places),
          readBack<uint32_t>(args.listGroup, args.nLists + 1),
          readBack<uint32_t>(args.listSize, args.nLists),
          args,
          call.of.copy->args().rows};
}

/// An index whose ids are found by each of the ways of SlotsOfIds, and its ids by slot.
std::vector<std::pair<Index, std::vector<int64_t>>> indexesByIds(int64_t rows) {
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, rows, 8);
  std::vector<std::pair<Index, std::vector<int64_t>>> made;
  std::mt19937 random(3);
  for (const int64_t step : {int64_t(0), int64_t(2), int64_t(1) << 40}) {
    std::vector<int64_t> ids(static_cast<size_t>(rows));
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = 7 + int64_t(i) * std::max<int64_t>(step, 1);
    if (step != 0)
      std::shuffle(ids.begin(), ids.end(), random);
    made.emplace_back(Index::ofOneList(base.view(), false, 1, {ids.data(), 0}), ids);
  }
  return made;
}

std::vector<int64_t> someCandidates(int64_t columns, int64_t rows) {
  std::mt19937 random(static_cast<unsigned>(columns));
  std::vector<int64_t> ids(size_t(kQueries * columns));
  for (int64_t &id : ids)
    id = random() % 6 == 0 ? -1 : int64_t(random() % unsigned(rows));
  std::fill_n(ids.begin() + 3 * columns, columns, -1); // A query without candidates.
  return ids;
}

TEST(CudaCandidates, AreInTheListsOfTheirQueriesOnce) {
  REQUIRE_GPU("candidates are sorted there");
  // More columns than rows; and more than a block has room for, which the host sorts.
  for (const int64_t columns : {1, 31, 33, 200, 4096, 4097})
    for (const bool onDevice : {false, true})
      for (const annudf_element element :
           {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_BITS})
        for (const auto [dims, shift] : {std::pair(16, 0), {128, 0}, {24, 0}, {128, 4}}) {
          SCOPED_TRACE(std::string(toString(element)) + ", " + std::to_string(dims) + " dims, " +
                       std::to_string(columns) + " columns" + (onDevice ? " there" : ""));
          const Matrix base = integerMatrix(element, 500, dims);
          const std::vector<int64_t> given = someCandidates(columns, base.rows);
          bool inPlace = false;
          const Lists lists = made(base, given, onDevice, uint64_t(shift), inPlace);
          const auto bytes = size_t(bytesOfRow(element, dims));
          EXPECT_EQ(inPlace, bytes % 16 == 0 && shift == 0);
          const size_t padded = (bytes + 15) / 16 * 16;
          for (size_t q = 0; q < lists.sizes.size(); ++q) {
            const auto from = given.begin() + std::ptrdiff_t((q + 2) * size_t(columns));
            std::set<int64_t> expected(from, from + columns);
            expected.erase(-1);
            const auto own = lists.ids.begin() + std::ptrdiff_t(lists.starts[q] * kGroupRows),
                       end = lists.ids.begin() + std::ptrdiff_t(lists.starts[q + 1] * kGroupRows);
            ASSERT_EQ(std::set<int64_t>(own, own + lists.sizes[q]), expected) << q;
            ASSERT_EQ(lists.sizes[q], expected.size()) << q;
            ASSERT_EQ(std::count(own + lists.sizes[q], end, -1), end - own - lists.sizes[q]) << q;
            for (size_t i = 0; !inPlace && i < size_t(end - own); ++i) {
              std::vector<std::byte> row(padded);
              if (own[std::ptrdiff_t(i)] >= 0)
                std::memcpy(row.data(),
                            base.storage.data() + size_t(own[std::ptrdiff_t(i)]) * bytes, bytes);
              const size_t at = (lists.starts[q] * kGroupRows + i) * padded;
              ASSERT_EQ(std::memcmp(lists.rows.data() + at, row.data(), padded), 0)
                  << q << " " << i;
            }
          }
        }
}

TEST(CudaCandidates, OfAnIndexHaveTheirSlots) {
  REQUIRE_GPU("candidates are sorted there");
  for (const auto &[index, ids] : indexesByIds(500))
    for (const int64_t columns : {1, 33, 600, 4097})
      for (const bool onDevice : {false, true}) {
        SCOPED_TRACE("ids from " + std::to_string(ids[0]) + ", " + std::to_string(columns) +
                     " columns" + (onDevice ? " there" : ""));
        std::vector<int64_t> given = someCandidates(columns, index.size());
        for (int64_t &id : given)
          id = id < 0 ? id : ids[size_t(id)];
        const OwnLists lists = madeOf(index, given, onDevice);
        EXPECT_EQ(lists.args.layout, uint32_t(ANNUDF_ROWS_BY_NUMBER));
        EXPECT_EQ(lists.args.rows, lists.rows);
        for (size_t q = 0; q < lists.sizes.size(); ++q) {
          const auto from = given.begin() + std::ptrdiff_t((q + 2) * size_t(columns));
          std::set<int64_t> expected(from, from + columns);
          expected.erase(-1);
          const size_t first = lists.starts[q] * kGroupRows, end = lists.starts[q + 1] * kGroupRows;
          ASSERT_EQ(lists.sizes[q], expected.size()) << q;
          std::set<int64_t> own;
          for (size_t i = first; i < first + lists.sizes[q]; ++i) {
            ASSERT_EQ(lists.ids[i], ids[lists.numbers[i]]) << q;
            own.insert(lists.ids[i]);
          }
          ASSERT_EQ(own, expected) << q;
          for (size_t i = first + lists.sizes[q]; i < end; ++i)
            ASSERT_EQ(lists.ids[i], -1);
        }
      }
}

TEST(CudaCandidates, IdsThatAreNotOfTheIndexAreNamed) {
  REQUIRE_GPU("candidates are looked at there");
  for (const auto &[index, ids] : indexesByIds(100))
    for (const int64_t columns : {40, 5000})
      for (const bool onDevice : {false, true})
        for (const int64_t wrong :
             {int64_t(6), int64_t(-2), ids.back() + 1, INT64_MAX, INT64_MIN}) {
          if (std::find(ids.begin(), ids.end(), wrong) != ids.end())
            continue;
          std::vector<int64_t> given(size_t(kQueries * columns), ids[5]);
          given[size_t(4 * columns + 7)] = wrong, given[size_t(5 * columns)] = 3;
          try {
            (void)madeOf(index, given, onDevice);
            FAIL() << wrong << " was taken";
          } catch (const Error &error) {
            EXPECT_EQ(error.what(), "candidates[4, 7] is " + std::to_string(wrong) +
                                        ", which is no id of the index; give ids of its rows, or "
                                        "-1 for none");
          }
        }
}

TEST(CudaCandidates, NumbersThatAreNoRowsAreNamed) {
  REQUIRE_GPU("candidates are looked at there");
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 500, 16);
  for (const int64_t columns : {40, 5000})
    for (const bool onDevice : {false, true})
      for (const int64_t wrong : {int64_t(500), int64_t(-2), int64_t(1) << 40, INT64_MIN}) {
        std::vector<int64_t> given = someCandidates(columns, base.rows);
        given[size_t(4 * columns + 7)] = wrong, given[size_t(5 * columns)] = 900;
        bool inPlace = false;
        try {
          (void)made(base, given, onDevice, 0, inPlace);
          FAIL() << wrong << " was taken";
        } catch (const Error &error) {
          EXPECT_EQ(error.what(), "candidates[4, 7] is " + std::to_string(wrong) +
                                      ", the dataset has 500 rows; give -1 to 499, where -1 is "
                                      "none");
        }
      }
}

} // namespace
