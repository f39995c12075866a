//===- KernelCells.h - Built kernels beside the engine's exact search -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cell is a kernel of test/e2e/kernels.txt and a number of dimensions. Vectors are made so that
// distances tie, overflow and are NaN. Ids and distances have to be the engine's, to the bit.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_E2E_KERNELCELLS_H
#define ANNUDF_TEST_E2E_KERNELCELLS_H

#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/ivf_flat/Index.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace annudf::test {

struct Kernel {
  std::string metric;
  annudf_element element;
  int k;
  /// "l2.f32", of its files.
  std::string name() const { return metric + "." + std::string(toString(element)); }
};

inline std::vector<Kernel> readKernels(const std::string &path) {
  std::ifstream file(path);
  std::vector<Kernel> kernels;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#')
      continue;
    std::istringstream words(line);
    std::string metric, element;
    int k = 0;
    words >> metric >> element >> k;
    const auto known = parseSpelling<annudf_element>(element);
    if (!known || k < 1)
      throw std::runtime_error(path + ": cannot read '" + line + "'");
    kernels.push_back({metric, *known, k});
  }
  if (kernels.empty())
    throw std::runtime_error(path + ": no kernels");
  return kernels;
}

/// An array that a kernel takes: a memref in row-major order, or a number without shape.
struct KernelArray {
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  template <typename T> static KernelArray of(std::vector<int64_t> shape, std::vector<T> values) {
    KernelArray array{std::move(shape), std::vector<std::byte>(values.size() * sizeof(T))};
    std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
    return array;
  }
  template <typename T> std::vector<T> as() const {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  /// Words of the parameters that a kernel has for it, where its memory is at `address`.
  std::vector<uint64_t> words(uint64_t address) const {
    if (shape.empty()) {
      uint64_t number = 0;
      std::memcpy(&number, bytes.data(), bytes.size());
      return {number};
    }
    std::vector<uint64_t> result = {address, address, 0};
    result.insert(result.end(), shape.begin(), shape.end());
    for (size_t i = 1; i <= shape.size(); ++i) {
      uint64_t stride = 1;
      for (size_t j = i; j < shape.size(); ++j)
        stride *= uint64_t(shape[j]);
      result.push_back(stride);
    }
    return result;
  }
};

/// Runs a kernel of blocks of 128 threads; what it writes is in `arrays` afterwards.
using Launch = std::function<void(const std::string &kernel, unsigned gridX, unsigned gridY,
                                  const std::vector<KernelArray *> &arrays)>;

class KernelCell {
public:
  static constexpr int64_t kRows = 300, kQueries = 11;
  static constexpr unsigned kQueriesOfABlock = 8, kParts = 4; // A part has no rows.
  static constexpr int64_t kManyParts = 300, kMerged = 2;     // Some for each of 128 threads.

  KernelCell(const Kernel &kernel, const runtime::Metric &metric, int dims)
      : kernel(kernel), metric(metric), dims(dims), rows(makeVectors(kRows, 1)),
        queries(makeVectors(kQueries, 2)) {}

  void check(runtime::Backend &engine, const Launch &launch) {
    const runtime::Index index = runtime::Index::ofOneList(rows.view(), false);
    const runtime::BoundCaptures captures = runtime::BoundCaptures::bind(
        metric.artifact.manifest, extentsOf(index, queries.view()), makeCaptures());
    std::vector<int64_t> ids(kQueries * kernel.k);
    std::vector<float> distances(ids.size()), all(kQueries * kRows);
    engine.search(index, metric, captures, queries.view(), kernel.k, {}, ids.data(),
                  distances.data());
    engine.distances(index, metric, captures, queries.view(), {}, all.data());
    checkAll(launch, all);
    checkNearest(launch, ids, distances);
    std::vector<int64_t> allIds(all.size());
    engine.search(index, metric, captures, queries.view(), kRows, {}, allIds.data(), all.data());
    checkMerge(launch, allIds, all);
  }

private:
  void checkAll(const Launch &launch, const std::vector<float> &expected) {
    std::vector<KernelArray> arrays = inputs();
    arrays.push_back(blank<float>({kQueries, kRows}));
    run(launch, "all_distances", 3, blocksOfQueries(), arrays);
    expectEqual(expected, arrays.back().as<float>(), kRows);
  }

  void checkNearest(const Launch &launch, const std::vector<int64_t> &ids,
                    const std::vector<float> &distances) {
    std::vector<KernelArray> arrays = inputs();
    arrays.push_back(blank<float>({kQueries, kParts, kernel.k}));
    arrays.push_back(blank<int64_t>({kQueries, kParts, kernel.k}));
    run(launch, "k_nearest", kParts, blocksOfQueries(), arrays);
    expectMerged(launch, arrays.end()[-2], arrays.end()[-1], ids, distances);
  }

  /// Merges lists of which the last holds the best rows, the one before it the next ones, and so
  /// on.
  void checkMerge(const Launch &launch, const std::vector<int64_t> &ids,
                  const std::vector<float> &distances) {
    const int64_t k = kernel.k, size = kManyParts * k;
    const float worst = metric.artifact.manifest.order == ANNUDF_ORDER_MAX ? -INFINITY : INFINITY;
    std::vector<float> listDistances(size_t(kMerged * size), worst), bestDistances;
    std::vector<int64_t> listIds(listDistances.size(), -1), bestIds;
    for (int64_t query = 0; query < kMerged; ++query)
      for (int64_t rank = 0; rank < std::min(kRows, size); ++rank) {
        const int64_t list = kManyParts - 1 - rank / k, from = query * kRows + rank;
        const auto to = size_t(query * size + list * k + rank % k);
        listDistances[to] = distances[size_t(from)], listIds[to] = ids[size_t(from)];
        if (rank < k)
          bestDistances.push_back(distances[size_t(from)]), bestIds.push_back(ids[size_t(from)]);
      }
    expectMerged(launch, KernelArray::of({kMerged, kManyParts, k}, listDistances),
                 KernelArray::of({kMerged, kManyParts, k}, listIds), bestIds, bestDistances);
  }

  void expectMerged(const Launch &launch, const KernelArray &listDistances,
                    const KernelArray &listIds, const std::vector<int64_t> &ids,
                    const std::vector<float> &distances) {
    const int64_t count = listIds.shape[0];
    std::vector<KernelArray> merged = {listDistances, listIds, blank<float>({count, kernel.k}),
                                       blank<int64_t>({count, kernel.k})};
    run(launch, "k_nearest_merge", unsigned(count), 1, merged);
    expectEqual(distances, merged[2].as<float>(), kernel.k);
    EXPECT_EQ(ids, merged[3].as<int64_t>());
  }

  static unsigned blocksOfQueries() { return (kQueries + kQueriesOfABlock - 1) / kQueriesOfABlock; }

  static void run(const Launch &launch, const std::string &name, unsigned gridX, unsigned gridY,
                  std::vector<KernelArray> &arrays) {
    std::vector<KernelArray *> given;
    for (KernelArray &array : arrays)
      given.push_back(&array);
    launch(name, gridX, gridY, given);
  }

  /// Bits, but that NaN equals NaN and -0 equals 0.
  static void expectEqual(const std::vector<float> &expected, const std::vector<float> &actual,
                          int64_t columns) {
    ASSERT_EQ(expected.size(), actual.size());
    for (size_t i = 0; i < expected.size(); ++i)
      if (expected[i] != actual[i] && !(std::isnan(expected[i]) && std::isnan(actual[i]))) {
        FAIL() << "the distance of query " << i / columns << " in column " << i % columns << " is "
               << actual[i] << ", the engine's is " << expected[i];
      }
  }

  /// Filled with what no kernel writes.
  template <typename T> static KernelArray blank(std::vector<int64_t> shape) {
    size_t count = 1;
    for (int64_t size : shape)
      count *= size_t(size);
    return KernelArray::of(std::move(shape), std::vector<T>(count, T(-12345)));
  }

  std::vector<KernelArray> inputs() const {
    std::vector<KernelArray> arrays;
    for (const runtime::Matrix *matrix : {&queries, &rows})
      arrays.push_back({{matrix->rows, dims}, matrix->storage});
    const std::map<std::string, runtime::NumericArray> values = makeCaptures();
    for (const CaptureInfo &capture : metric.artifact.manifest.captures) {
      const runtime::NumericArray &value = values.at(capture.name);
      arrays.push_back({value.shape, value.storage});
    }
    return arrays;
  }

  std::map<std::string, runtime::NumericArray> makeCaptures() const {
    std::map<std::string, runtime::NumericArray> values;
    const auto give = [&](const std::string &name, const std::string &dtype, auto array) {
      values[name] = {dtype, array.shape, array.bytes, "test"};
    };
    for (const CaptureInfo &capture : metric.artifact.manifest.captures) {
      if (capture.extents.empty()) {
        give(capture.name, "f64", KernelArray::of({}, std::vector<double>{2.5}));
        continue;
      }
      std::vector<int64_t> shape;
      size_t count = 1;
      for (const auto &extent : capture.extents) {
        shape.push_back(extent.kind == ANNUDF_EXTENT_DIM     ? dims
                        : extent.kind == ANNUDF_EXTENT_QUERY ? kQueries
                                                             : kRows);
        count *= size_t(shape.back());
      }
      // Few entries of a row capture are not 0, so that fewer than k rows have a distance.
      const bool isRow = capture.extents.front().kind == ANNUDF_EXTENT_ROW;
      std::vector<float> entries(count);
      for (size_t i = 0; i < count; ++i)
        entries[i] = isRow ? (i % 5 == 3 ? float(i % 7) : 0) : float(i * 37 % 61) / 16;
      give(capture.name, "f32", KernelArray::of(shape, entries));
    }
    return values;
  }

  /// Half of the rows are multiples of 1/2 and some are equal, so that distances tie; some of f32
  /// are so large that distances are infinite or NaN.
  runtime::Matrix makeVectors(int64_t count, unsigned seed) const {
    std::mt19937 random(seed + 10 * unsigned(dims));
    std::normal_distribution<float> normal;
    runtime::Matrix made;
    made.rows = count, made.dims = dims, made.element = kernel.element;
    const size_t bytes = size_t(bitsOf(kernel.element)) / 8 * size_t(dims);
    for (int64_t row = 0; row < count; ++row) {
      if (row % 5 == 4) {
        made.storage.resize(made.storage.size() + bytes);
        std::memcpy(&made.storage[size_t(row) * bytes], &made.storage[size_t(row / 2) * bytes],
                    bytes);
        continue;
      }
      for (int dim = 0; dim < dims; ++dim) {
        float real = normal(random);
        if (row % 2 == 0)
          real = std::round(2 * real) / 2;
        if (row % 41 == 40)
          real = random() % 2 ? 2e38f : -2e38f;
        append(made.storage, real, int(random() % (row % 2 ? 256 : 4)));
      }
    }
    return made;
  }

  void append(std::vector<std::byte> &storage, float real, int integer) const {
    const auto put = [&](auto value) {
      const auto *at = reinterpret_cast<const std::byte *>(&value);
      storage.insert(storage.end(), at, at + sizeof value);
    };
    const uint32_t bits = std::bit_cast<uint32_t>(real);
    const int exponent = int(bits >> 23 & 255) - 127 + 15;
    switch (kernel.element) {
    case ANNUDF_ELEMENT_F32:
      return put(real);
    case ANNUDF_ELEMENT_BF16:
      return put(uint16_t(bits >> 16));
    case ANNUDF_ELEMENT_F16: // Cuts the mantissa; what is too small or large becomes 0.
      return put(
          exponent <= 0 || exponent > 30
              ? uint16_t(0)
              : uint16_t((bits >> 16 & 0x8000) | unsigned(exponent) << 10 | (bits >> 13 & 1023)));
    case ANNUDF_ELEMENT_I8:
      return put(int8_t(integer - 128));
    case ANNUDF_ELEMENT_U8:
      return put(uint8_t(integer));
    case ANNUDF_ELEMENT_BITS:
      break;
    }
    throw std::runtime_error("there are no kernels for bits");
  }

  const Kernel &kernel;
  const runtime::Metric &metric;
  const int dims;
  runtime::Matrix rows, queries;
};

} // namespace annudf::test

#endif // ANNUDF_TEST_E2E_KERNELCELLS_H
