//===- RowStoreTest.cpp - A store of rows that is no index ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/rows/RowStore.h"

#include "Artifact/TestArtifact.h"
#include "Support/TestFiles.h"
#include "annudf/runtime/engine/Search.h"
#include "runtime/TestData.h"

namespace annudf::runtime {
namespace {

/// Two lists without centers, filled by hand: rows of zeros, 8 dimensions each.
class TwoLists : public RowStore {
public:
  explicit TwoLists(const std::vector<std::vector<int64_t>> &ids) {
    dims_ = 8;
    for (const std::vector<int64_t> &some : ids) {
      List &list = lists_.emplace_back();
      list.size = int64_t(some.size());
      list.ids = some;
      list.ids.resize(size_t(list.groups()) * kGroupRows, -1);
      resizeZeroed(list.words, size_t(list.groups() * words()) * kGroupRows);
      size_ += list.size;
      for (const int64_t id : some)
        largestId_ = std::max(largestId_, id);
    }
    changed(std::make_shared<IndexAttachments>());
  }
  void forget(int64_t id) {
    for (List &list : lists_)
      size_ -= std::erase(list.ids, id) ? 1 : 0;
    changed(std::make_shared<IndexAttachments>());
  }
};

TEST(RowStore, SaysWhatASearchAsks) {
  const TwoLists store({{4, 0}, {1, 2, 3}});
  EXPECT_EQ(store.nLists(), 2u);
  EXPECT_EQ(store.size(), 5);
  EXPECT_EQ(store.listSize(1), 3);
  EXPECT_EQ(store.rowExtent(), 5);
  EXPECT_EQ(store.words(), 8);
  EXPECT_TRUE(store.idsAreRowNumbers());
  EXPECT_TRUE(store.onHost());
  EXPECT_EQ(store.device(), -1);
  EXPECT_EQ(store.meanOfRows(), std::vector<float>(8)) << "nobody said where the rows are";
  EXPECT_FALSE(TwoLists({{0, 5}, {1}}).idsAreRowNumbers());
}

TEST(RowStore, WhatIsKeptOfItGoesWithItsState) {
  TwoLists store({{4, 0}, {1, 2, 3}});
  struct Kept : IndexAttachment {};
  bool made = false;
  const auto keep = [&] {
    (void)store.attachments().get<Kept>("kept", [] { return std::make_shared<Kept>(); }, made);
    return made;
  };
  EXPECT_TRUE(keep());
  EXPECT_FALSE(keep());
  const uint64_t before = store.generation();
  store.forget(2);
  EXPECT_NE(store.generation(), before);
  EXPECT_TRUE(keep());
}

TEST(RowStore, ASearchOfItIsCheckedAndPlannedWithoutAnIndex) {
  const TwoLists store({{4, 0}, {1, 2, 3}});
  const Metric metric = Metric::fromArtifact(test::smallArtifact(), "m.annudf");
  const Matrix queries = test::integerMatrix(ANNUDF_ELEMENT_F32, 3, 8);
  const auto check = [&](int k, uint32_t probes) {
    return test::errorOf(
        [&] { checkSearch(store, metric, queries.view(), k, {.candidates = Lists{probes}}); },
        ErrorKind::Usage);
  };
  EXPECT_EQ(check(5, 2), "NO ERROR");
  EXPECT_EQ(check(6, 2), "k is 6, but the index has 5 rows");
  EXPECT_EQ(check(5, 3), "probes is 3, it must be an integer from 1 to 2, the lists of the index");
  const Workload work = workloadOf(metric.artifact.manifest, store, 3, 5, 2u);
  EXPECT_EQ(work.lists, 2u);
  EXPECT_EQ(work.rows, 5);
  EXPECT_EQ(extentsOf(store, queries.view()).rows, 5);
}

} // namespace
} // namespace annudf::runtime
