//===- IvfFlatTest.cpp - Indexes through the C API ------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeApi.h"

#include <algorithm>
#include <limits>

using namespace annudf;
using namespace annudf::test;

extern "C" annudf_status annudf_test_build_from_c(const float *data, int64_t rows, int64_t dims,
                                                  annudf_ivf_flat_index **index);

namespace {

class CApiIndex : public SmallIndex {};

TEST(CApiNames, ElementsAndCoarseMetrics) {
  int32_t value = -1;
  for (const char *name : {"f32", "f16", "i8", "u8", "bf16", "bits"}) {
    ASSERT_EQ(annudf_element_parse(name, &value), ANNUDF_OK);
    EXPECT_STREQ(annudf_element_name(value), name);
  }
  for (const char *name : {"l2", "inner_product", "cosine"}) {
    ASSERT_EQ(annudf_coarse_parse(name, &value), ANNUDF_OK);
    EXPECT_STREQ(annudf_coarse_name(value), name);
  }
  value = 7;
  EXPECT_EQ(outcome(annudf_element_parse("f64", &value)),
            "usage: element type is 'f64', it must be one of f32, f16, i8, u8, bf16, bits");
  EXPECT_EQ(outcome(annudf_coarse_parse("l1", &value)),
            "usage: coarse metric is 'l1', it must be one of l2, inner_product, cosine");
  EXPECT_EQ(outcome(annudf_element_parse(nullptr, &value)),
            "usage: annudf_element_parse: name is NULL");
  EXPECT_EQ(value, 7);
  EXPECT_EQ(outcome(annudf_coarse_parse("metric", &value)),
            "usage: coarse metric is 'metric', which is reserved for a later version; use one of "
            "l2, inner_product, cosine");
  EXPECT_EQ(value, 7);
  EXPECT_EQ(annudf_element_name(std::numeric_limits<int32_t>::min()), nullptr);
  EXPECT_EQ(annudf_element_name(99), nullptr);
  EXPECT_EQ(annudf_coarse_name(-1), nullptr);
}

TEST_F(CApiIndex, BuildExtendAndProperties) {
  build();
  EXPECT_EQ(infoOf(index).element, ANNUDF_ELEMENT_F32);
  EXPECT_EQ(infoOf(index).dims, 5);
  EXPECT_EQ(infoOf(index).rows, 400);
  EXPECT_EQ(infoOf(index).n_lists, 8);
  EXPECT_EQ(infoOf(index).metric, ANNUDF_COARSE_L2);
  const uint64_t generation = infoOf(index).generation;
  EXPECT_NE(generation, 0u);

  std::vector<float> centers(40, -1), after(40);
  ASSERT_EQ(outcome(annudf_ivf_flat_centers(index, centers.data(), 40)), "ok");
  EXPECT_EQ(std::count(centers.begin(), centers.end(), -1.0f), 0);
  EXPECT_EQ(outcome(annudf_ivf_flat_centers(index, centers.data(), 39)),
            "usage: annudf_ivf_flat_centers: count is 39, the index has 8 centers of 5 dims; give "
            "40 floats");

  std::vector<int64_t> ids(400);
  std::iota(ids.begin(), ids.end(), 5000);
  ASSERT_EQ(outcome(annudf_ivf_flat_extend(nullptr, index, &vectors, IdsOf(ids), nullptr)), "ok");
  EXPECT_EQ(infoOf(index).rows, 800);
  EXPECT_NE(infoOf(index).generation, generation);
  std::vector<int64_t> every(800);
  ASSERT_EQ(outcome(annudf_ivf_flat_ids(index, every.data(), 800)), "ok");
  std::ranges::sort(every);
  EXPECT_EQ(every.front(), 0);
  EXPECT_EQ(every[399], 399);
  EXPECT_EQ((std::vector(every.begin() + 400, every.end())), ids);
  EXPECT_EQ(outcome(annudf_ivf_flat_ids(index, every.data(), 799)),
            "usage: annudf_ivf_flat_ids: count is 799, the index has 800 rows");
  ASSERT_EQ(annudf_ivf_flat_centers(index, after.data(), 40), ANNUDF_OK);
  EXPECT_EQ(centers, after);

  EXPECT_EQ(
      outcome(annudf_ivf_flat_extend(nullptr, index, &vectors, IdsOf({ids.data(), 399}), nullptr)),
      "usage: annudf_ivf_flat_extend: ids: count is 399, there are 400 rows; give one id a "
      "row");
  const annudf_place there = {ANNUDF_MEMORY_CUDA, 0, 0};
  EXPECT_EQ(outcome(annudf_ivf_flat_extend(nullptr, index, &vectors, IdsOf(ids, there), nullptr)),
            "usage: annudf_ivf_flat_extend: backend is NULL, ids is in memory of CUDA device 0; "
            "give the backend of that device");
  ids[3] = -4;
  EXPECT_EQ(outcome(annudf_ivf_flat_extend(nullptr, index, &vectors, IdsOf(ids), nullptr)),
            "input: ids[3] is -4; ids are 0 or above");
  ids[3] = 7000, ids[9] = 399;
  const annudf_ivf_flat_extend_options repeated = {sizeof repeated, nullptr, nullptr, 1,
                                                   nullptr,         0};
  EXPECT_EQ(outcome(annudf_ivf_flat_extend(nullptr, index, &vectors, IdsOf(ids), nullptr)),
            "input: ids[0] is 5000, which the index has; ids must be new unless "
            "allow_repeated_ids is set");
  const auto other = reference::randomVectors(ANNUDF_ELEMENT_U8, 3, 5, 1);
  const annudf_vectors wrong = vectorsOf(other);
  EXPECT_EQ(outcome(annudf_ivf_flat_extend(nullptr, index, &wrong, nullptr, nullptr)),
            "input: rows to add: 5 dims of u8, the index holds 5 dims of f32");
  EXPECT_EQ(infoOf(index).rows, 800);
  ASSERT_EQ(outcome(annudf_ivf_flat_extend(nullptr, index, &vectors, IdsOf(ids), &repeated)), "ok");
  EXPECT_EQ(infoOf(index).rows, 1200);
}

TEST_F(CApiIndex, TellsWhatItIs) {
  build();
  annudf_ivf_flat_info info = infoOf(index);
  EXPECT_EQ(info.rows, 400);
  EXPECT_EQ(info.dims, 5);
  EXPECT_EQ(info.n_lists, 8);
  EXPECT_EQ(info.element, ANNUDF_ELEMENT_F32);
  EXPECT_EQ(info.metric, ANNUDF_COARSE_L2);
  EXPECT_EQ(info.adaptive_centers, 0);
  EXPECT_EQ(info.missing_values, 0);
  EXPECT_NE(info.generation, 0u);
  EXPECT_EQ(outcome(annudf_ivf_flat_get(index, nullptr)),
            "usage: annudf_ivf_flat_get: info is NULL");
  info.size = 8;
  EXPECT_EQ(outcome(annudf_ivf_flat_get(index, &info)),
            "usage: annudf_ivf_flat_get: annudf_ivf_flat_info.size is 8, at least " +
                std::to_string(sizeof info) +
                " are needed; set it to sizeof(annudf_ivf_flat_info)");
}

/// A place that is none, or has no backend, is named whatever the call.
TEST_F(CApiIndex, PlacesAreRefusedByName) {
  build();
  OwnedBackend cpu;
  openCpu(1, &cpu);
  if (!cpu)
    return; // Failed or skipped.
  const std::string itIs = " is in memory of CUDA device 0";
  const std::string noMemory = itIs + ", the backend is " + annudf_backend_get(cpu)->description +
                               "; give the backend of that device";
  const annudf_vectors there = onDevice(vectors);
  annudf_vectors odd = vectors;
  OwnedIndex made;
  const auto built = [&](annudf_backend *on, const annudf_vectors &base) {
    return outcome(annudf_ivf_flat_build(on, &base, 8, nullptr, &made, nullptr));
  };
  const std::string build = "usage: annudf_ivf_flat_build: ";
  EXPECT_EQ(built(nullptr, there),
            build + "backend is NULL, base" + itIs + "; give the backend of that device");
  EXPECT_EQ(built(cpu, there), build + "base" + noMemory);
  odd.place = {7, 0, 0};
  EXPECT_EQ(built(cpu, odd), build + "base.place.memory is 7; use a value of enum annudf_memory");
  odd.place = {ANNUDF_MEMORY_HOST, 1, 0};
  EXPECT_EQ(built(cpu, odd), build + "base.place.device is 1, but memory is ANNUDF_MEMORY_HOST; "
                                     "set it to 0, or memory to ANNUDF_MEMORY_CUDA");
  odd.place = {ANNUDF_MEMORY_HOST, 0, 5};
  EXPECT_EQ(built(cpu, odd), build + "base.place.stream is 5, but memory is ANNUDF_MEMORY_HOST; "
                                     "set it to 0, or memory to ANNUDF_MEMORY_CUDA");
  EXPECT_EQ(made, nullptr);
  const auto extended = [&](annudf_backend *on) {
    return outcome(annudf_ivf_flat_extend(on, index, &there, nullptr, nullptr));
  };
  EXPECT_EQ(extended(nullptr), "usage: annudf_ivf_flat_extend: backend is NULL, rows" + itIs +
                                   "; give the backend of that device");
  EXPECT_EQ(extended(cpu), "usage: annudf_ivf_flat_extend: rows" + noMemory);
  EXPECT_EQ(infoOf(index).rows, 400);
}

/// A CPU's backend is the host, and none is the host too.
TEST_F(CApiIndex, ACpuBackendBuildsExtendsAndRemovesAsNone) {
  OwnedBackend cpu;
  openCpu(1, &cpu);
  if (!cpu)
    return; // Failed or skipped.
  annudf_ivf_flat_build_stats stats = {};
  EXPECT_EQ(outcome(annudf_ivf_flat_build(cpu, &vectors, 8, nullptr, &index, &stats)),
            "usage: annudf_ivf_flat_build: annudf_ivf_flat_build_stats.size is 0, at least " +
                std::to_string(offsetof(annudf_ivf_flat_build_stats, pieces)) +
                " are needed; set it to sizeof(annudf_ivf_flat_build_stats)");
  stats.size = sizeof stats, stats.pieces = 9;
  std::vector<float> centers[2] = {std::vector<float>(40), std::vector<float>(40)};
  for (annudf_backend *const on :
       {static_cast<annudf_backend *>(nullptr), static_cast<annudf_backend *>(cpu)}) {
    OwnedIndex made;
    ASSERT_EQ(outcome(annudf_ivf_flat_build(on, &vectors, 8, nullptr, &made, &stats)), "ok");
    EXPECT_EQ(stats.pieces, 0);
    EXPECT_EQ(stats.lists_on_device, 0);
    EXPECT_EQ(annudf_ivf_flat_device(made), -1);
    ASSERT_EQ(outcome(annudf_ivf_flat_extend(on, made, &vectors, nullptr, nullptr)), "ok");
    const int64_t id = 3;
    int64_t removed = -1;
    ASSERT_EQ(
        outcome(annudf_ivf_flat_remove(on, made, IdsOf({&id, 1}), nullptr, nullptr, &removed)),
        "ok");
    EXPECT_EQ(removed, 1);
    EXPECT_EQ(infoOf(made).rows, 799);
    ASSERT_EQ(outcome(annudf_ivf_flat_centers(made, centers[on ? 1 : 0].data(), 40)), "ok");
  }
  EXPECT_EQ(centers[0], centers[1]);
  EXPECT_EQ(annudf_ivf_flat_device(nullptr), -1);
  annudf_ivf_flat_build_options limited = {};
  limited.size = sizeof limited;
  limited.device_memory_limit = 1;
  EXPECT_EQ(outcome(annudf_ivf_flat_build(nullptr, &vectors, 8, &limited, &index, nullptr)),
            "usage: device_memory_limit is 1, but the index is built on the CPU; leave it out");
}

TEST_F(CApiIndex, Remove) {
  build();
  const uint64_t generation = infoOf(index).generation;
  const int64_t ids[] = {399, 3, 3, 400, 17};
  int64_t removed = -1;
  ASSERT_EQ(outcome(annudf_ivf_flat_remove(nullptr, index, IdsOf(ids), nullptr, nullptr, &removed)),
            "ok");
  EXPECT_EQ(removed, 3);
  EXPECT_EQ(infoOf(index).rows, 397);
  const uint64_t after = infoOf(index).generation;
  EXPECT_NE(after, generation);
  annudf_extents extents = {};
  extents.size = sizeof extents;
  ASSERT_EQ(annudf_ivf_flat_extents(index, &extents), ANNUDF_OK);
  EXPECT_EQ(extents.rows, 399) << "the largest id is 398 now";
  ASSERT_EQ(outcome(annudf_ivf_flat_remove(nullptr, index, IdsOf(ids), nullptr, nullptr, &removed)),
            "ok");
  EXPECT_EQ(removed, 0);
  ASSERT_EQ(outcome(annudf_ivf_flat_remove(nullptr, index, IdsOf({}), nullptr, nullptr, nullptr)),
            "ok");
  EXPECT_EQ(infoOf(index).generation, after);
  const int64_t below[] = {5, -1};
  EXPECT_EQ(
      outcome(annudf_ivf_flat_remove(nullptr, index, IdsOf(below), nullptr, nullptr, &removed)),
      "input: ids[1] is -1; ids are 0 or above");
  EXPECT_EQ(outcome(annudf_ivf_flat_remove(nullptr, index, nullptr, nullptr, nullptr, nullptr)),
            "usage: annudf_ivf_flat_remove: ids is NULL");
  const annudf_ids nowhere = {sizeof nowhere, nullptr, 1, {}};
  EXPECT_EQ(outcome(annudf_ivf_flat_remove(nullptr, index, &nowhere, nullptr, nullptr, nullptr)),
            "usage: annudf_ivf_flat_remove: ids.data is NULL");
  const annudf_place there = {ANNUDF_MEMORY_CUDA, 0, 0};
  EXPECT_EQ(
      outcome(annudf_ivf_flat_remove(nullptr, index, IdsOf(ids, there), nullptr, nullptr, nullptr)),
      "usage: annudf_ivf_flat_remove: backend is NULL, ids is in memory of CUDA device 0; "
      "give the backend of that device");
  EXPECT_EQ(
      outcome(annudf_ivf_flat_remove(nullptr, nullptr, IdsOf(ids), nullptr, nullptr, nullptr)),
      "usage: annudf_ivf_flat_remove: index is NULL");
  ASSERT_EQ(outcome(annudf_ivf_flat_remove(nullptr, index, IdsOf({below, 1}), nullptr, nullptr,
                                           &removed)),
            "ok");
  EXPECT_EQ(removed, 1);
  EXPECT_EQ(infoOf(index).rows, 396);
}

TEST_F(CApiIndex, CentersFirstAndAdaptive) {
  annudf_ivf_flat_build_options options = {};
  options.size = sizeof options;
  options.train_only = 1;
  ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &vectors, 8, &options, &index, nullptr)), "ok");
  EXPECT_EQ(infoOf(index).rows, 0);
  EXPECT_EQ(infoOf(index).n_lists, 8);
  EXPECT_FALSE(infoOf(index).adaptive_centers);
  std::vector<float> trained(40), centers(40);
  ASSERT_EQ(annudf_ivf_flat_centers(index, trained.data(), 40), ANNUDF_OK);
  OwnedIndex adaptive;
  options.adaptive_centers = 1;
  ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &vectors, 8, &options, &adaptive, nullptr)),
            "ok");
  EXPECT_TRUE(infoOf(adaptive).adaptive_centers);
  for (annudf_ivf_flat_index *one : {static_cast<annudf_ivf_flat_index *>(index),
                                     static_cast<annudf_ivf_flat_index *>(adaptive)}) {
    ASSERT_EQ(annudf_ivf_flat_centers(one, centers.data(), 40), ANNUDF_OK);
    EXPECT_EQ(centers, trained);
    ASSERT_EQ(outcome(annudf_ivf_flat_extend(nullptr, one, &vectors, nullptr, nullptr)), "ok");
    ASSERT_EQ(annudf_ivf_flat_centers(one, centers.data(), 40), ANNUDF_OK);
    EXPECT_EQ(centers == trained, !infoOf(one).adaptive_centers);
  }
}

TEST_F(CApiIndex, MissingValues) {
  annudf_ivf_flat_build_options options = {};
  options.size = sizeof options;
  options.missing_values = 1;
  auto some = base;
  const float nan = NAN;
  std::memcpy(some.encoded.data() + 4 * (7 * 5 + 2), &nan, 4);
  vectors = vectorsOf(some);
  EXPECT_EQ(outcome(annudf_ivf_flat_build(nullptr, &vectors, 8, nullptr, &index, nullptr)),
            "input: base: row 7, dim 2 is nan; every coordinate must be finite unless "
            "index and metric say missing_values");
  ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &vectors, 8, &options, &index, nullptr)), "ok");
  EXPECT_TRUE(infoOf(index).missing_values);
  ASSERT_EQ(outcome(annudf_ivf_flat_extend(nullptr, index, &vectors, nullptr, nullptr)), "ok");
}

TEST_F(CApiIndex, BuildFromC) {
  const auto *data = reinterpret_cast<const float *>(base.encoded.data());
  ASSERT_EQ(outcome(annudf_test_build_from_c(data, 400, 5, &index)), "ok");
  EXPECT_EQ(infoOf(index).n_lists, 2);
}

TEST_F(CApiIndex, OptionsReachTheBuild) {
  annudf_ivf_flat_build_options options = {};
  options.size = sizeof options;
  OwnedIndex defaults, same, other;
  ASSERT_EQ(annudf_ivf_flat_build(nullptr, &vectors, 8, nullptr, &defaults, nullptr), ANNUDF_OK);
  options.kmeans_n_iters = 20, options.kmeans_trainset_fraction = 0.5, options.seed = 1;
  ASSERT_EQ(annudf_ivf_flat_build(nullptr, &vectors, 8, &options, &same, nullptr), ANNUDF_OK);
  options.seed = 2, options.kmeans_n_iters = 1, options.metric = ANNUDF_COARSE_COSINE;
  ASSERT_EQ(annudf_ivf_flat_build(nullptr, &vectors, 8, &options, &other, nullptr), ANNUDF_OK);
  std::vector<float> a(40), b(40), c(40);
  ASSERT_EQ(annudf_ivf_flat_centers(defaults, a.data(), 40), ANNUDF_OK);
  ASSERT_EQ(annudf_ivf_flat_centers(same, b.data(), 40), ANNUDF_OK);
  ASSERT_EQ(annudf_ivf_flat_centers(other, c.data(), 40), ANNUDF_OK);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_EQ(infoOf(other).metric, ANNUDF_COARSE_COSINE);
}

TEST_F(CApiIndex, BuildRefuses) {
  const auto error = [&](int64_t lists, const annudf_ivf_flat_build_options *options = nullptr) {
    return outcome(annudf_ivf_flat_build(nullptr, &vectors, lists, options, &index, nullptr));
  };
  EXPECT_EQ(error(-1), "usage: n_lists is -1, it must be an integer from 0 to 16777216");
  EXPECT_EQ(error(401),
            "input: base: it has 400 rows, fewer than the 401 lists; ask for at most 400");
  annudf_ivf_flat_build_options options = {};
  EXPECT_EQ(error(8, &options).find("usage: annudf_ivf_flat_build_options.size is 0, at least"),
            0u);
  options.size = sizeof options;
  options.metric = 9;
  EXPECT_EQ(error(8, &options),
            "usage: annudf_ivf_flat_build: metric is 9; use a value of enum annudf_coarse");
  options.metric = 0, options.kmeans_n_iters = -1;
  EXPECT_EQ(error(8, &options),
            "usage: kmeans_n_iters is -1, it must be an integer from 1 to 10000");
  options.kmeans_n_iters = 0, options.threads = -1;
  EXPECT_EQ(error(8, &options),
            "usage: threads is -1, it must be an integer from 0 to 1024, 0 for all cores");
  options.threads = 0, options.kmeans_trainset_fraction = 1.5;
  EXPECT_EQ(error(8, &options).find("usage: k-means training fraction = 1.5"), 0u);

  vectors.element = 17;
  EXPECT_EQ(error(8),
            "usage: annudf_ivf_flat_build: element is 17; use a value of enum annudf_element");
  vectors = vectorsOf(base);
  vectors.dims = int64_t(1) << 40;
  EXPECT_EQ(error(8),
            "usage: base: dims is 1099511627776, it must be an integer from 0 to 2147483647");
  vectors = vectorsOf(base);
  vectors.rows = -1;
  EXPECT_EQ(error(8),
            "usage: base: rows is -1, it must be an integer from 0 to 9223372036854775807");
  vectors.rows = 0;
  EXPECT_EQ(error(8), "input: base: it has no rows");
  vectors = vectorsOf(base);
  vectors.data = nullptr;
  EXPECT_EQ(error(8), "input: base: no data");
  auto infinite = base;
  const float inf = INFINITY;
  std::memcpy(infinite.encoded.data() + 4 * (7 * 5 + 2), &inf, 4);
  vectors = vectorsOf(infinite);
  EXPECT_EQ(error(8), "input: base: row 7, dim 2 is inf; every coordinate must be finite");
  EXPECT_EQ(outcome(annudf_ivf_flat_build(nullptr, nullptr, 8, nullptr, &index, nullptr)),
            "usage: annudf_ivf_flat_build: base is NULL");
  EXPECT_EQ(outcome(annudf_ivf_flat_build(nullptr, &vectors, 8, nullptr, nullptr, nullptr)),
            "usage: annudf_ivf_flat_build: index is NULL");
  EXPECT_EQ(index, nullptr);
}

TEST(CApiIndexNull, DestroyTakesNull) {
  annudf_ivf_flat_destroy(nullptr);
  annudf_ivf_flat_info info = {};
  EXPECT_EQ(outcome(annudf_ivf_flat_get(nullptr, &info)),
            "usage: annudf_ivf_flat_get: index is NULL");
  const annudf_vectors none = {sizeof none, nullptr, 0, 0, 0, {}};
  EXPECT_EQ(annudf_ivf_flat_extend(nullptr, nullptr, &none, nullptr, nullptr), ANNUDF_USAGE);
  EXPECT_EQ(annudf_ivf_flat_save(nullptr, "a", nullptr, nullptr), ANNUDF_USAGE);
  EXPECT_EQ(annudf_ivf_flat_load(nullptr, 0, nullptr), ANNUDF_USAGE);
  EXPECT_EQ(annudf_ivf_flat_centers(nullptr, nullptr, 0), ANNUDF_USAGE);
  EXPECT_EQ(annudf_ivf_flat_ids(nullptr, nullptr, 0), ANNUDF_USAGE);
}

} // namespace
