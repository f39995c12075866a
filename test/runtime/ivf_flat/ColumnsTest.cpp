//===- ColumnsTest.cpp - Values that an index has for its rows --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value is a function of its row's id, so each place of an index can be looked at alone.
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Columns.h"
#include "Support/TestFiles.h"
#include "annudf/runtime/coarse/Coarse.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "coarse/KMeans.h"
#include "runtime/IndexFileTesting.h"
#include "runtime/TestData.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

namespace annudf::runtime {
namespace {

using nlohmann::json;
using test::contains;
using test::errorOf;
using test::integerMatrix;

double ageOf(int64_t id) { return double(id) * 0.25 + 1; }
int16_t rankOf(int64_t id) { return static_cast<int16_t>(id % 1000 - 500); }
bool isOldOf(int64_t id) { return id % 3 == 0; }

/// The columns age (f64), old (i1) and rank (i16) of rows with these ids.
NewColumns columnsOf(const std::vector<int64_t> &ids) {
  std::vector<double> age;
  std::vector<int16_t> rank;
  std::vector<uint8_t> old;
  for (const int64_t id : ids)
    age.push_back(ageOf(id)), rank.push_back(rankOf(id)), old.push_back(isOldOf(id) ? 7 : 0);
  const auto value = [&](const char *dtype, const auto &from) {
    CaptureValue one;
    one.dtype = dtype, one.shape = {int64_t(from.size())}, one.data = from.data();
    one.bytes = from.size() * sizeof(from[0]), one.origin = "a test";
    return one;
  };
  return newColumns(
      {{"rank", value("i16", rank)}, {"age", value("f64", age)}, {"old", value("b1", old)}});
}

std::vector<int64_t> idsFrom(int64_t first, int64_t count) {
  std::vector<int64_t> ids(static_cast<size_t>(count));
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

Index built(const Matrix &base) {
  IndexParams params;
  params.nLists = 6, params.kmeansIterations = 4;
  return Index::build(params, base.view());
}

/// "" if each row of the index has its id's values.
std::string check(const Index &index) {
  if (columnText(index.columns()) != "age (f64), old (i1), rank (i16)")
    return columnText(index.columns());
  int64_t seen = 0;
  for (uint32_t l = 0; l < index.nLists(); ++l) {
    const List &list = index.list(l);
    const ListColumns &columns = index.columnsOf(l);
    for (size_t i = 0; i < size_t(list.size); ++i, ++seen) {
      const int64_t id = list.ids[i];
      double age;
      int16_t rank;
      std::memcpy(&age, columns[0].data() + i * 8, 8);
      std::memcpy(&rank, columns[2].data() + i * 2, 2);
      if (age != ageOf(id) || rank != rankOf(id) || columns[1][i] != std::byte(isOldOf(id)) ||
          columns[0].size() != size_t(list.size) * 8)
        return "row " + std::to_string(id);
    }
  }
  return seen == index.size() ? "" : "rows are missing";
}

TEST(Columns, FollowTheirRows) {
  const test::TempDir dir;
  std::mt19937 random(5);
  std::vector<int64_t> known = idsFrom(0, 300);
  Index index = built(integerMatrix(ANNUDF_ELEMENT_U8, 300, 9));
  const uint64_t generation = index.generation();
  std::vector<int64_t> shuffled = known;
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  index.addColumns(columnsOf(shuffled), shuffled.data());
  EXPECT_EQ(index.generation(), generation);
  ASSERT_EQ(check(index), "");
  for (unsigned step = 0; step < 12; ++step) {
    std::vector<int64_t> ids(1 + random() % 90);
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = int64_t(step + 1) * 100000 + int64_t(random() % 50) + int64_t(i) * 50;
    std::shuffle(ids.begin(), ids.end(), random);
    const Matrix more = integerMatrix(ANNUDF_ELEMENT_U8, int64_t(ids.size()), 9, step + 2);
    const NewColumns columns = columnsOf(ids);
    index.extend(more.view(), {ids.data(), false, &columns});
    known.insert(known.end(), ids.begin(), ids.end());
    ASSERT_EQ(check(index), "") << "extended, step " << step;
    std::shuffle(known.begin(), known.end(), random);
    const std::vector<int64_t> gone(known.begin(), known.begin() + int64_t(random() % 60));
    known.erase(known.begin(), known.begin() + int64_t(gone.size()));
    EXPECT_EQ(index.remove(gone), int64_t(gone.size()));
    ASSERT_EQ(check(index), "") << "removed, step " << step;
    index.save(dir / "index.ivf");
    index = Index::load(dir / "index.ivf");
    ASSERT_EQ(index.size(), int64_t(known.size()));
    ASSERT_EQ(check(index), "") << "loaded, step " << step;
  }
  // Without rows there are columns still, which new rows must have.
  index.remove(known);
  const Matrix more = integerMatrix(ANNUDF_ELEMENT_U8, 4, 9);
  EXPECT_TRUE(contains(errorOf([&] { index.extend(more.view()); }), "column 'age' (f64)"));
  const NewColumns columns = columnsOf(idsFrom(0, 4));
  index.extend(more.view(), {nullptr, false, &columns});
  EXPECT_EQ(check(index), "");
}

TEST(Columns, AreThoseOfTheFirstRows) {
  IndexParams params;
  params.nLists = 3, params.addData = false;
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 40, 4);
  Index index = Index::build(params, base.view());
  const NewColumns columns = columnsOf(idsFrom(0, 40));
  index.extend(base.view(), {nullptr, false, &columns});
  EXPECT_EQ(check(index), "");
  Index oneList = Index::ofOneList(base.view(), false);
  oneList.addColumns(columns);
  EXPECT_EQ(check(oneList), "");
}

TEST(Columns, AreRefusedByName) {
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 40, 4);
  Index index = built(base);
  const auto added = [&](const NewColumns &columns, const int64_t *ids = nullptr) {
    return errorOf([&] { index.addColumns(columns, ids); });
  };
  EXPECT_EQ(added(columnsOf(idsFrom(0, 39))),
            "column 'age' has 39 values for 40 rows; give one a row");
  std::vector<int64_t> ids = idsFrom(1, 40);
  EXPECT_EQ(added(columnsOf(ids), ids.data()), "columns: the row with id 0 has no value; name each "
                                               "id of the index once");
  EXPECT_TRUE(index.columns().empty());
  index.addColumns(columnsOf(idsFrom(0, 40)));
  EXPECT_EQ(added(columnsOf(idsFrom(0, 40))),
            "column 'age' is in the index already; its columns are age (f64), old (i1), rank "
            "(i16)");
  const auto extended = [&](const NewColumns &columns, int64_t rows) {
    const Matrix more = integerMatrix(ANNUDF_ELEMENT_F32, rows, 4);
    return errorOf([&] { index.extend(more.view(), {nullptr, false, &columns}); });
  };
  EXPECT_EQ(
      extended({}, 2),
      "column 'age' (f64) of the index has no values for the new rows; give one per row in the "
      "columns of extend, such as columns={'age': values}");
  EXPECT_EQ(extended(columnsOf({7}), 2), "column 'age' has 1 values for 2 rows; give one a row");
  NewColumns columns = columnsOf({7});
  columns.values[2].column.element = ANNUDF_CAPTURE_U16;
  EXPECT_EQ(extended(columns, 1), "column 'rank' is u16, in the index it is i16; convert it first");
  columns = columnsOf({7});
  columns.values.push_back({{"size", ANNUDF_CAPTURE_I1}, {std::byte(1)}});
  EXPECT_EQ(extended(columns, 1), "column 'size' is not in the index, which has age (f64), old "
                                  "(i1), rank (i16)");
  EXPECT_EQ(check(index), "");
  EXPECT_EQ(index.size(), 40);
  const double number = 0;
  const auto made = [&](const char *name, const char *dtype, std::vector<int64_t> shape) {
    CaptureValue one;
    one.dtype = dtype, one.shape = std::move(shape), one.data = &number, one.bytes = 8;
    one.origin = "here";
    return errorOf([&] { newColumns({{name, one}}); });
  };
  EXPECT_EQ(made("age", "f64", {1}), "NO ERROR");
  EXPECT_TRUE(contains(made("a b", "f64", {1}), "column 'a b' from here: its name is invalid"));
  EXPECT_TRUE(contains(made("age", "f80", {1}), "column 'age' from here: dtype 'f80'"));
  EXPECT_EQ(made("age", "f64", {1, 1}),
            "column 'age' from here: it has 2 axes; give one, with a value for each row");
  EXPECT_EQ(made("age", "f64", {2}),
            "column 'age' from here: it has 8 bytes, 2 values of f64 take 16");
}

TEST(Columns, OfSeveralRowsWithOneIdCannotBeAdded) {
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 40, 4);
  Index index = built(base);
  const int64_t twice = 7;
  index.extend(integerMatrix(ANNUDF_ELEMENT_F32, 1, 4).view(), {&twice, true});
  EXPECT_EQ(
      errorOf([&] { index.addColumns(columnsOf(idsFrom(0, 41))); }),
      "columns: several rows of the index have id 7; give the columns with the rows, to extend()");
}

/// Lists as a device has them: those of an index, which nobody may ask for before the end.
class Elsewhere final : public ListsElsewhere {
public:
  explicit Elsewhere(const Index &index) : of_(index) {
    for (uint32_t l = 0; l < of_.nLists(); ++l)
      sizes_.push_back(uint32_t(of_.listSize(l)));
  }
  int device() const override { return 7; }
  std::span<const uint32_t> sizes() const override { return sizes_; }

private:
  std::vector<List> fetch() override { return of_.lists(); }
  std::vector<int64_t> fetchIds() override {
    std::vector<int64_t> ids;
    for (const List &list : of_.lists())
      ids.insert(ids.end(), list.ids.begin(), list.ids.end());
    return ids;
  }
  const Index of_;
  std::vector<uint32_t> sizes_;
};

/// What a search reads of the column "age".
/// \param bySlot  whether the metric takes it in any order.
std::vector<std::byte> boundAges(const Index &index, bool bySlot) {
  Manifest manifest;
  manifest.rowOnlyIndexes = bySlot;
  manifest.captures = {{"age", ANNUDF_CAPTURE_F64, {{ANNUDF_EXTENT_ROW, 0}}}};
  const ColumnTypes types = columnTypes(index);
  const BoundCaptures captures =
      BoundCaptures::bindViews(manifest, {9, index.rowExtent(), 0}, {}, false, &types);
  const StoreCaptures bound(index, manifest, captures);
  const auto bytes = bound.get().bytes(0);
  return {bytes.begin(), bytes.end()};
}

TEST(Columns, LeaveListsOnTheirDevice) {
  Index host = built(integerMatrix(ANNUDF_ELEMENT_U8, 300, 9));
  Index there({host.element(), host.dims(), host.size(), host.metric(), 0, host.centers(),
               std::make_shared<Elsewhere>(host)});
  std::mt19937 random(6);
  std::vector<int64_t> ids = idsFrom(0, 300);
  std::shuffle(ids.begin(), ids.end(), random);
  for (Index *index : {&host, &there})
    index->addColumns(columnsOf(ids), ids.data());
  const auto same = [&] {
    EXPECT_EQ(there.columns(), host.columns());
    for (uint32_t l = 0; l < host.nLists(); ++l)
      EXPECT_EQ(there.columnsOf(l), host.columnsOf(l)) << "list " << l;
    for (const bool bySlot : {false, true})
      EXPECT_EQ(boundAges(there, bySlot), boundAges(host, bySlot));
    EXPECT_EQ(there.idsAreRowNumbers(), host.idsAreRowNumbers());
    EXPECT_FALSE(there.onHost());
    EXPECT_EQ(there.device(), 7);
  };
  same();
  const Matrix more = integerMatrix(ANNUDF_ELEMENT_U8, 70, 9, 2);
  ids = idsFrom(1000, 70);
  std::shuffle(ids.begin(), ids.end(), random);
  const NewColumns columns = columnsOf(ids);
  const NewIds newIds = {ids.data(), false, &columns};
  const AssignBy by = AssignBy::of(host.metric());
  std::vector<uint32_t> assigned(70);
  CoarseRanker(*host.listCenters(), by.metric, by.order).assign(more.view(), assigned.data());
  host.extend(more.view(), newIds);
  there.changeTo(std::make_shared<Elsewhere>(host), host.size(), host.largestId(), {},
                 there.columnsAfter(newIds, assigned));
  same();
  const std::vector<int64_t> gone = {3, 1003, 299, 17, 17, 5000};
  EXPECT_EQ(host.remove(gone), 4);
  there.changeTo(std::make_shared<Elsewhere>(host), host.size(), host.largestId(), {},
                 there.columnsWithout(gone));
  same();
  EXPECT_EQ(check(there), "");
  EXPECT_TRUE(there.onHost());
}

/// The file of an index with columns, and what reading a changed one says.
class ColumnsFile : public testing::Test {
protected:
  void SetUp() override {
    Index index = built(integerMatrix(ANNUDF_ELEMENT_U8, 100, 9));
    index.addColumns(columnsOf(idsFrom(0, 100)));
    index.save(path);
    bytes = readFile(path, 1 << 20);
  }
  std::string load(const std::string &changed) {
    test::writePlainly(path, changed);
    std::string error = errorOf([&] { (void)Index::load(path); });
    for (size_t at; (at = error.find(path)) != std::string::npos;)
      error.replace(at, path.size(), "ivf");
    return error;
  }
  std::string with(const std::function<void(json &)> &change) {
    return load(test::withIndexHeader(bytes, change));
  }
  const test::TempDir dir;
  const std::string path = dir / "index.ivf";
  std::string bytes;
};

TEST_F(ColumnsFile, EveryTruncation) {
  EXPECT_EQ(load(bytes), "NO ERROR");
  for (size_t size = 64; size < bytes.size(); size += 37)
    EXPECT_TRUE(contains(load(bytes.substr(0, size)), "ivf: truncated: ")) << size;
}

TEST_F(ColumnsFile, HasMissingValuesToo) {
  IndexParams params;
  params.nLists = 3, params.missingValues = true;
  Index index = Index::build(params, integerMatrix(ANNUDF_ELEMENT_F32, 100, 9).view());
  index.addColumns(columnsOf(idsFrom(0, 100)));
  index.save(path);
  const Index read = Index::load(path);
  EXPECT_TRUE(read.missingValues());
  EXPECT_EQ(read.fill(), index.fill());
  EXPECT_EQ(check(read), "");
}

TEST_F(ColumnsFile, HeadersThatLie) {
  const auto columns = [&](const json &value) {
    return with([&](json &h) { h["columns"] = value; });
  };
  EXPECT_EQ(with([](json &) {}), "NO ERROR");
  EXPECT_TRUE(contains(with([](json &h) { h.erase("columns"); }), "bytes follow the index"));
  const std::string noList = "ivf: index header field 'columns' is not a list of names and element "
                             "types, 1 to 64 of each";
  EXPECT_EQ(columns(json::array()), noList);
  EXPECT_EQ(columns(7), noList);
  EXPECT_EQ(columns({"age"}), noList);
  EXPECT_EQ(columns({"age", 7}), noList);
  EXPECT_EQ(columns({"a b", "f64"}),
            "ivf: index header field 'columns' has 'a b', which is no name");
  EXPECT_TRUE(contains(columns({"age", "f80"}),
                       "ivf: index header field 'columns' has 'age' of a type that is 'f80'"));
  EXPECT_EQ(columns({"b", "i1", "a", "i1"}),
            "ivf: index header field 'columns' has 'a' after 'b'; names are sorted, each once");
  EXPECT_TRUE(contains(columns({"age", "f64", "old", "f64", "rank", "i16"}), "ivf: truncated: "));
  EXPECT_TRUE(contains(columns({"age", "i8", "old", "i1", "rank", "i16"}), "bytes follow"));
  // The same bytes of the file, read as truth values.
  EXPECT_EQ(columns({"age", "f64", "old", "i1", "rank", "i16"}), "NO ERROR");
  json many = json::array();
  for (int i = 0; i < 65; ++i)
    many.push_back("c" + std::to_string(100 + i)), many.push_back("i1");
  EXPECT_EQ(columns(many), noList);
}

} // namespace
} // namespace annudf::runtime
