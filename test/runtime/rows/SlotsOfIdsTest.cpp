//===- SlotsOfIdsTest.cpp - Which row of a store has an id ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/rows/SlotsOfIds.h"

#include "Support/TestFiles.h"
#include "annudf/Support/Error.h"

#include <gtest/gtest.h>

namespace annudf::runtime {
namespace {

/// Lists with these ids, and no coordinates.
class Ids final : public RowStore {
public:
  explicit Ids(const std::vector<std::vector<int64_t>> &lists) {
    for (const std::vector<int64_t> &ids : lists) {
      List &list = lists_.emplace_back();
      list.size = int64_t(ids.size());
      list.ids = ids;
      list.ids.resize(size_t(list.groups() * kGroupRows), -1);
      size_ += list.size;
    }
  }
};

std::vector<int64_t> from(int64_t first, int64_t count, int64_t step = 1) {
  std::vector<int64_t> ids;
  ids.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    ids.push_back(first + i * step);
  return ids;
}

enum class Form { Run, Table, Sorted };

Form formOf(const SlotsOfIds &slots) {
  return !slots.ids().empty() ? Form::Sorted : slots.slots().empty() ? Form::Run : Form::Table;
}

void check(const std::vector<std::vector<int64_t>> &lists, Form form,
           const std::vector<int64_t> &others) {
  const Ids store(lists);
  const auto slots = SlotsOfIds::of(store);
  EXPECT_EQ(slots, SlotsOfIds::of(store)); // Made once.
  EXPECT_EQ(formOf(*slots), form);
  uint32_t first = 0;
  for (const std::vector<int64_t> &ids : lists) {
    for (size_t i = 0; i < ids.size(); ++i)
      ASSERT_EQ(slots->slotOf(ids[i]), first + i) << ids[i];
    first += uint32_t((ids.size() + 31) / 32 * 32);
  }
  for (const int64_t id : others)
    EXPECT_EQ(slots->slotOf(id), SlotsOfIds::kNone) << id;
}

TEST(SlotsOfIds, FindWhatIsThere) {
  check({from(0, 50)}, Form::Run, {50, -1, INT64_MIN, INT64_MAX});
  check({from(INT64_MAX - 49, 50)}, Form::Run, {0, INT64_MAX - 50, -1, INT64_MIN, -49});
  check({from(7, 32), from(39, 5)}, Form::Run, {6, 44});
  check({from(7, 31), from(38, 5)}, Form::Table, {6, 43, -1, INT64_MIN});
  check({from(0, 10), from(32, 10)}, Form::Table, {10, 15, 31, 42});
  check({from(90, 40), {}, from(0, 30)}, Form::Table, {30, 89, 130, -1});
  check({from(5, 40, 3)}, Form::Table, {6, 4, 123, -1, INT64_MIN});
  check({from(5, 40, 4)}, Form::Sorted, {6, 4, 162, 1000, -1, INT64_MIN});
  check({{int64_t(1) << 40, 3}, {INT64_MAX, 0}}, Form::Sorted, {1, INT64_MAX - 1, -1, INT64_MIN});
}

TEST(SlotsOfIds, AnIdOfTwoRowsIsNamed) {
  for (const auto &lists :
       {std::vector<std::vector<int64_t>>{{0, 1, 9, 4}, {4, 9}}, {{4, 1 << 20}, {4}}})
    EXPECT_EQ(test::errorOf([&] { (void)SlotsOfIds::of(Ids(lists)); }),
              "index: several rows have id 4, so a candidate does not name one; give each row its "
              "own id");
}

} // namespace
} // namespace annudf::runtime
