//===- RemoveKernelsTest.cpp - Lists without some rows, run on the host ---===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostCuda.h"

#include "kernels/cuda/build/RemoveLists.cuh"
#include "gtest/gtest.h"

#include <limits>
#include <numeric>
#include <random>

using namespace annudf::test;

namespace {

/// Lists as ScanArgs.h says: chunk c of a row is that of its serial number.
class Lists {
public:
  struct Row {
    int64_t id;
    uint32_t serial;
    bool operator==(const Row &) const = default;
  };

  Lists(const std::vector<std::vector<Row>> &all, uint32_t chunks) : chunks(chunks) {
    for (const auto &list : all) {
      sizes.push_back(uint32_t(list.size()));
      listGroup.push_back(listGroup.back() + uint32_t((list.size() + 31) / 32));
      const uint64_t group = listGroup[listGroup.size() - 2];
      rows.resize(uint64_t(listGroup.back()) * chunks * 32);
      ids.resize(uint64_t(listGroup.back()) * 32, -1);
      for (uint64_t i = 0; i < list.size(); ++i) {
        ids[group * 32 + i] = list[i].id;
        for (uint32_t c = 0; c < chunks; ++c)
          rows[((group + i / 32) * chunks + c) * 32 + i % 32] = {list[i].serial, c, 7, 9};
      }
    }
  }
  uint32_t groups() const { return listGroup.back(); }

  const uint32_t chunks;
  std::vector<uint32_t> sizes, listGroup = {0};
  std::vector<uint4> rows;
  std::vector<int64_t> ids;
};

/// What DeviceRemove.cpp launches, one block of a warp each.
class Remove {
public:
  explicit Remove(const Lists &old) : old(old), stay(old.groups()), before(old.groups() + 1, 0) {}

  Lists by(std::vector<int64_t> gone, bool asBits, int64_t largest) {
    std::vector<unsigned long long> bits;
    if (asBits) {
      bits.resize(size_t(largest / 64 + 1));
      run(0, [&] { annudf_remove_flag(gone.data(), gone.size(), largest, bits.data()); });
    } else {
      std::sort(gone.begin(), gone.end());
    }
    extent = 0;
    run(0, [&] {
      annudf_remove_mark(old.ids.data(), old.groups(), asBits ? bits.data() : nullptr, gone.data(),
                         gone.size(), stay.data(), before.data(), &extent);
    });
    std::exclusive_scan(before.begin(), before.end(), before.begin(), 0u);
    std::vector<uint32_t> sizes(old.sizes.size(), 77);
    run(0, [&] {
      annudf_remove_sizes(before.data(), old.listGroup.data(), uint32_t(sizes.size()),
                          sizes.data());
    });
    std::vector<std::vector<Lists::Row>> shape;
    shape.reserve(sizes.size());
    for (const uint32_t size : sizes)
      shape.emplace_back(size);
    Lists made(shape, old.chunks);
    // As device memory comes.
    std::fill(made.ids.begin(), made.ids.end(), 1234);
    std::fill(made.rows.begin(), made.rows.end(), uint4{5, 5, 5, 5});
    for (uint32_t group = 0; group < made.groups(); ++group)
      run(group, [&] {
        annudf_remove_move(old.rows.data(), old.ids.data(), old.listGroup.data(), stay.data(),
                           before.data(), made.listGroup.data(), uint32_t(sizes.size()), old.chunks,
                           made.rows.data(), made.ids.data());
      });
    return made;
  }
  unsigned long long extent = 0;

private:
  static void run(unsigned block, const std::function<void()> &kernel) {
    blockIdx.x = block;
    Block::run(kLanes, kernel);
    blockIdx.x = 0;
  }
  const Lists &old;
  std::vector<uint32_t> stay, before;
};

void check(const std::vector<std::vector<Lists::Row>> &all, const std::vector<int64_t> &gone,
           uint32_t chunks) {
  int64_t largest = -1, left = -1;
  std::vector<std::vector<Lists::Row>> expected(all.size());
  for (size_t l = 0; l < all.size(); ++l)
    for (const Lists::Row &row : all[l]) {
      largest = std::max(largest, row.id);
      if (std::find(gone.begin(), gone.end(), row.id) != gone.end())
        continue;
      expected[l].push_back(row);
      left = std::max(left, row.id);
    }
  const Lists old(all, chunks), wanted(expected, chunks);
  for (const bool asBits : {true, false}) {
    if (asBits && largest > 1'000'000)
      continue;
    SCOPED_TRACE(asBits ? "bits" : "sorted");
    Remove remove(old);
    const Lists made = remove.by(gone, asBits, largest);
    EXPECT_EQ(remove.extent, static_cast<unsigned long long>(left) + 1);
    ASSERT_EQ(made.sizes, wanted.sizes);
    ASSERT_EQ(made.ids, wanted.ids);
    for (size_t i = 0; i < made.rows.size(); ++i)
      ASSERT_TRUE(made.rows[i].x == wanted.rows[i].x && made.rows[i].y == wanted.rows[i].y &&
                  made.rows[i].z == wanted.rows[i].z && made.rows[i].w == wanted.rows[i].w)
          << "chunk " << i;
  }
}

TEST(CudaRemoveKernels, LeaveWhatTheOthersWouldMake) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<std::vector<Lists::Row>> all(1 + random() % 6);
    uint32_t serial = 1;
    // Ids with gaps and, in some rounds, of several rows.
    const uint32_t most = round % 3 ? 3000 : 150;
    for (auto &list : all)
      for (size_t i = 0, size = random() % 3 ? random() % 300 : random() % 34; i < size; ++i)
        list.push_back({int64_t(random() % most), serial++});
    std::vector<int64_t> gone;
    for (size_t i = 0, count = random() % 2 ? random() % 2000 : random() % 10; i < count; ++i)
      gone.push_back(int64_t(random() % (most + 500)));
    if (random() % 4 == 0) // Whole lists, and stretches of some.
      for (const Lists::Row &row : all[random() % all.size()])
        gone.push_back(row.id);
    SCOPED_TRACE(round);
    check(all, gone, 1 + random() % 5);
  }
}

TEST(CudaRemoveKernels, Edges) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  std::vector<Lists::Row> long_, full;
  for (int64_t i = 0; i < 2000; ++i)
    long_.push_back({i, uint32_t(i + 1)});
  for (int64_t i = 0; i < 64; ++i)
    full.push_back({5000 + i, uint32_t(i + 9000)});
  std::vector<int64_t> stretch(1900);
  std::iota(stretch.begin(), stretch.end(), 17); // 59 groups of which nothing stays.
  check({{}, long_, {}, full, {}}, stretch, 2);
  check({{}, long_, {}, full, {}}, {}, 2);
  check({long_, full}, {5063, 5063, 0, 1999}, 1);
  check({{}, {}}, {1}, 3);
  check({{{kMost, 1}, {3, 2}}}, {kMost}, 1);
  check({{{kMost, 1}, {3, 2}}}, {3}, 1);
  check({{{kMost, 1}, {3, 2}}}, {4, kMost - 1}, 1);
  std::vector<int64_t> all(6000);
  std::iota(all.begin(), all.end(), 0);
  check({long_, full}, all, 2);
}

} // namespace
