//===- ColumnsTest.cpp - Columns through annudf.hpp and the C API ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CppApi.h"

#include "annudf-c/annudf.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>

using namespace cpp_api;
namespace ivf_flat = annudf::ivf_flat;

namespace {

constexpr std::int64_t kDims = 5;

float age_of(std::int64_t id) { return float(id * 37 % 101) / 16; }
std::vector<float> ages_of(const std::vector<std::int64_t> &ids) {
  std::vector<float> ages;
  ages.reserve(ids.size());
  for (const std::int64_t id : ids)
    ages.push_back(age_of(id));
  return ages;
}
std::vector<std::int64_t> ids_from(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

annudf::code_filter affordable() {
  return annudf::code_filter::from_text(example("filters/affordable.mlir"));
}

/// An index whose columns are functions of ids, a metric and a filter that read them.
class CppColumns : public testing::Test {
protected:
  CppColumns() {
    std::mt19937 random(1);
    for (float &value : data)
      value = float(random() % 61) - 30;
    index = std::make_unique<ivf_flat::index>(ivf_flat::build({.n_lists = 7}, rows(0, 400)));
  }
  annudf::matrix_view<const float> rows(std::int64_t first, std::int64_t count) const {
    return {data.data() + first * kDims, count, kDims};
  }
  static std::vector<annudf::capture_value> columns_of(const std::vector<float> &ages) {
    return {{"age", ages}, {"price", ages}};
  }
  void add(const std::vector<std::int64_t> &ids) {
    const std::vector<float> ages = ages_of(ids);
    ivf_flat::add_columns(*index, columns_of(ages), ids);
  }
  /// By columns and by arrays that ids index, to the bit.
  void compare() const {
    const std::vector<float> all = ages_of(ids_from(0, index->row_extent()));
    for (const std::int64_t probes : {std::int64_t(3), index->n_lists()}) {
      const auto ours = found(decay, cheap, probes);
      const auto theirs = found(decay.bind({{"age", all}}), cheap.bind({{"price", all}}), probes);
      EXPECT_EQ(ours.first, theirs.first);
      ASSERT_EQ(ours.second.size(), theirs.second.size());
      EXPECT_EQ(std::memcmp(ours.second.data(), theirs.second.data(), 4 * ours.second.size()), 0);
    }
  }
  std::pair<std::vector<std::int64_t>, std::vector<float>> found(const annudf::bound_metric &metric,
                                                                 const annudf::code_filter &filter,
                                                                 std::int64_t probes) const {
    ivf_flat::search_params params;
    params.n_probes = probes, params.metric = metric;
    params.filter = ivf_flat::filter(*index, filter);
    const auto all = ivf_flat::search(*index, rows(500, 9), 20, params);
    return {{all.neighbors.begin(), all.neighbors.end()},
            {all.distances.begin(), all.distances.end()}};
  }

  std::vector<float> data = std::vector<float>(600 * kDims);
  std::unique_ptr<ivf_flat::index> index;
  const annudf::bound_metric decay = example_metric("time_decay").bind({{"half_life", 2.0f}});
  const annudf::code_filter cheap = affordable().bind({{"most", 4.0f}});
};

TEST_F(CppColumns, GiveWhatArraysGive) {
  std::mt19937 random(2);
  std::vector<std::int64_t> ids = ids_from(0, 400);
  std::shuffle(ids.begin(), ids.end(), random);
  add(ids);
  compare();
  ids = ids_from(1000, 150);
  std::shuffle(ids.begin(), ids.end(), random);
  const std::vector<float> ages = ages_of(ids);
  ivf_flat::extend(*index, rows(400, 150), columns_of(ages), ids);
  compare();
  ids.resize(70);
  EXPECT_EQ(ivf_flat::remove(*index, ids), 70);
  compare();
  const temp_folder folder;
  ivf_flat::save(*index, folder / "index");
  index = std::make_unique<ivf_flat::index>(ivf_flat::load(folder / "index"));
  compare();
  const auto columns = ivf_flat::columns(*index);
  ASSERT_EQ(columns.size(), 2u);
  EXPECT_EQ(columns[0].name + " " + columns[0].dtype, "age f32");
  EXPECT_EQ(columns[1].name, "price");
}

TEST_F(CppColumns, AreRefusedByName) {
  EXPECT_EQ(error_of([&] { (void)found(decay, cheap, 2); }),
            usage("filter 'affordable' needs capture 'price' (row x f32), which was not given; the "
                  "index has no columns"));
  add(ids_from(0, 400));
  EXPECT_EQ(error_of([&] { ivf_flat::extend(*index, rows(400, 2)); }),
            "2 column 'age' (f32) of the index has no values for the new rows; give one per row in "
            "the columns of extend, such as columns={'age': values}");
  const std::vector<float> ages(3);
  EXPECT_EQ(error_of([&] { ivf_flat::extend(*index, rows(400, 2), columns_of(ages)); }),
            "2 column 'age' has 3 values for 2 rows; give one a row");
  EXPECT_EQ(error_of([&] { ivf_flat::add_columns(*index, columns_of(ages), ids_from(0, 3)); }),
            usage("ids has 3 entries, the index has 400 rows; name each id once"));
  EXPECT_EQ(error_of([&] { ivf_flat::add_columns(*index, {{"young", ages}}); }),
            "2 column 'young' has 3 values for 400 rows; give one a row");
  // Bound by one index, it is refused by one without the column.
  (void)found(decay, cheap, 2);
  const ivf_flat::index other = ivf_flat::build({.n_lists = 7}, rows(0, 400));
  ivf_flat::search_params params;
  params.metric = decay;
  EXPECT_EQ(
      error_of([&] { (void)ivf_flat::search(other, rows(0, 1), 3, params); }),
      usage("metric 'time_decay' takes capture 'age' of the index; the index has no columns"));
}

TEST(CApiColumns, RefuseWhatIsNoColumn) {
  annudf_ivf_flat_index *index = nullptr;
  const std::vector<float> data(40 * 2);
  const annudf_vectors rows = {sizeof rows, data.data(), 40, 2, ANNUDF_ELEMENT_F32, {}};
  ASSERT_EQ(annudf_ivf_flat_build(nullptr, &rows, 1, nullptr, &index, nullptr), ANNUDF_OK);
  annudf_ivf_flat_info info = {};
  info.size = sizeof info, info.n_columns = 7;
  EXPECT_EQ(annudf_ivf_flat_get(index, &info), ANNUDF_OK);
  EXPECT_EQ(info.n_columns, 0u);
  annudf_column column = {};
  EXPECT_EQ(annudf_ivf_flat_column(index, 0, &column), ANNUDF_USAGE);
  EXPECT_STREQ(annudf_last_error(), "annudf_ivf_flat_column: annudf_column.size is 0; set it to "
                                    "sizeof(annudf_column)");
  column.size = sizeof column;
  EXPECT_EQ(annudf_ivf_flat_column(index, 0, &column), ANNUDF_USAGE);
  EXPECT_STREQ(annudf_last_error(),
               "annudf_ivf_flat_column: number is 0; the index has no columns");
  const std::int64_t shape[] = {40};
  annudf_capture_value value = {};
  value.size = sizeof value, value.name = "odd", value.dtype = "b1", value.shape = shape;
  value.rank = 1, value.data = data.data(), value.bytes = 40;
  const annudf_capture_value twice[] = {value, value};
  EXPECT_EQ(annudf_ivf_flat_add_columns(nullptr, index, nullptr, twice, 2), ANNUDF_USAGE);
  EXPECT_STREQ(annudf_last_error(), "annudf_ivf_flat_add_columns: column 'odd' is given twice");
  EXPECT_EQ(annudf_ivf_flat_add_columns(nullptr, nullptr, nullptr, &value, 1), ANNUDF_USAGE);
  annudf_capture_value elsewhere = value;
  elsewhere.place = {ANNUDF_MEMORY_CUDA, 2, 0};
  EXPECT_EQ(annudf_ivf_flat_add_columns(nullptr, index, nullptr, &elsewhere, 1), ANNUDF_USAGE);
  EXPECT_STREQ(annudf_last_error(),
               "annudf_ivf_flat_add_columns: backend is NULL, column 'odd' is in memory of CUDA "
               "device 2; give the backend of that device");
  EXPECT_EQ(annudf_ivf_flat_add_columns(nullptr, index, nullptr, &value, 1), ANNUDF_OK);
  EXPECT_EQ(annudf_ivf_flat_column(index, 0, &column), ANNUDF_OK);
  EXPECT_STREQ(column.name, "odd");
  EXPECT_STREQ(column.dtype, "b1");
  annudf_ivf_flat_destroy(index);
}

} // namespace
