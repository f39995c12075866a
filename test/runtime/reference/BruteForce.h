//===- BruteForce.h - What a search must return --------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Search by definition: every candidate's distance in float64 from the rows as the
// user gave them, then a sort. Shares nothing with the scans but the ABI's enums:
// not the list layout, not the unpacking, not the selection. A metric is a lambda.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_REFERENCE_BRUTEFORCE_H
#define ANNUDF_TEST_RUNTIME_REFERENCE_BRUTEFORCE_H

#include "annudf/ABI/annudf_abi.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace annudf::reference {

/// Vectors as exact float64 values; every element type fits.
struct Vectors {
  int64_t rows = 0;
  int32_t dims = 0;
  annudf_element element = ANNUDF_ELEMENT_F32;
  std::vector<double> values;   ///< rows x dims.
  std::vector<uint8_t> encoded; ///< The same in the element type, row-major.

  const double *row(int64_t i) const { return &values[size_t(i) * dims]; }
};

/// IEEE half from its value, which must be representable.
inline uint16_t halfBits(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (magnitude == 0)
    return sign;
  int exponent;
  std::frexp(magnitude, &exponent); // magnitude = f * 2^exponent, f in [0.5, 1)
  if (exponent - 1 < -14)           // Subnormal: units of 2^-24.
    return uint16_t(sign | uint16_t(std::ldexp(magnitude, 24)));
  const auto fraction = uint16_t(std::ldexp(magnitude, 11 - exponent)) & 0x3ff;
  return uint16_t(sign | ((exponent - 1 + 15) << 10) | fraction);
}

/// Encodes values, each rounded towards zero to what the element type can hold.
inline Vectors encode(annudf_element element, int32_t dims, std::vector<double> values) {
  Vectors v;
  v.rows = int64_t(values.size()) / dims;
  v.dims = dims;
  v.element = element;
  const bool isHalf = element == ANNUDF_ELEMENT_F16 || element == ANNUDF_ELEMENT_BF16;
  const size_t size = element == ANNUDF_ELEMENT_F32 ? 4 : isHalf ? 2 : 1;
  v.encoded.resize(element == ANNUDF_ELEMENT_BITS ? values.size() / 8 : values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) {
    uint8_t *out = &v.encoded[element == ANNUDF_ELEMENT_BITS ? i / 8 : i * size];
    double &value = values[i];
    if (element == ANNUDF_ELEMENT_BITS) { // Eight coordinates a byte; dims is a multiple.
      value = value > 0 ? 1 : 0;
      *out = uint8_t(*out + (int(value) << i % 8));
    } else if (element == ANNUDF_ELEMENT_F32) {
      const float f = float(value);
      value = f;
      std::memcpy(out, &f, 4);
    } else if (element == ANNUDF_ELEMENT_F16) {
      int exponent;
      std::frexp(value, &exponent);
      const int unit = std::max(exponent - 11, -24); // Ten fraction bits.
      value = std::ldexp(std::trunc(std::ldexp(value, -unit)), unit);
      const uint16_t half = halfBits(value);
      std::memcpy(out, &half, 2);
    } else if (element == ANNUDF_ELEMENT_BF16) {
      int exponent;
      std::frexp(value, &exponent);
      const int unit = std::max(exponent - 8, -133); // Seven fraction bits.
      const auto f = float(value = std::ldexp(std::trunc(std::ldexp(value, -unit)), unit));
      uint32_t bits;
      std::memcpy(&bits, &f, 4);
      const auto upper = uint16_t(bits >> 16);
      std::memcpy(out, &upper, 2);
    } else if (element == ANNUDF_ELEMENT_I8) {
      value = std::clamp(std::trunc(value), -128.0, 127.0);
      const auto i8 = int8_t(value);
      std::memcpy(out, &i8, 1);
    } else {
      value = std::clamp(std::trunc(value), 0.0, 255.0);
      *out = uint8_t(value);
    }
  }
  v.values = std::move(values);
  return v;
}

/// Rows around a few centers, in the range of the element type: i8 and u8 use all of it.
inline Vectors randomVectors(annudf_element element, int64_t rows, int32_t dims, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const bool small = element != ANNUDF_ELEMENT_I8 && element != ANNUDF_ELEMENT_U8;
  const double scale = small ? 1.0 : 40.0;
  const double middle = element == ANNUDF_ELEMENT_U8 ? 128.0 : 0.0;
  std::vector<double> centers(size_t(16) * dims), values(size_t(rows) * dims);
  std::mt19937_64 centersRandom(dims); // Base and queries share them, whatever their seed.
  for (double &c : centers)
    c = middle + scale * normal(centersRandom);
  for (int64_t i = 0; i < rows; ++i) {
    const size_t center = random() % 16;
    for (int32_t d = 0; d < dims; ++d)
      values[size_t(i) * dims + d] = centers[center * dims + d] + 0.5 * scale * normal(random);
  }
  return encode(element, dims, std::move(values));
}

/// Distance of a query and a row of `dims` coordinates.
using Metric = std::function<double(const double *x, const double *y, int32_t dims)>;

struct Neighbours {
  std::vector<int64_t> ids;
  std::vector<double> distances;
};

/// The k best of `candidates` (rows of base), best first; NaN never enters.
inline Neighbours search(const Vectors &base, const std::vector<int64_t> &candidates,
                         const double *query, int k, annudf_order order, const Metric &metric) {
  std::vector<std::pair<double, int64_t>> found;
  for (int64_t id : candidates) {
    const double d = metric(query, base.row(id), base.dims);
    if (!std::isnan(d))
      found.emplace_back(d, id);
  }
  std::sort(found.begin(), found.end(), [&](const auto &a, const auto &b) {
    if (a.first != b.first)
      return order == ANNUDF_ORDER_MIN ? a.first < b.first : a.first > b.first;
    return a.second < b.second;
  });
  if (found.size() > size_t(k))
    found.resize(k);
  Neighbours result;
  for (const auto &[d, id] : found) {
    result.ids.push_back(id);
    result.distances.push_back(d);
  }
  return result;
}

/// Empty if a backend's answer for one query is right, else what is wrong with it:
///  - rank by rank, the distance is the expected one within `tolerance` relative;
///  - each id is a candidate, occurs once, and has that distance: ties and values
///    that float32 cannot tell apart may stand in any order;
///  - beyond the candidates, -1 and the worst value.
/// \param scale  distances below `scale` are compared absolutely (cancellation).
inline std::string check(const Vectors &base, const std::vector<int64_t> &candidates,
                         const double *query, int k, annudf_order order, const Metric &metric,
                         const int64_t *ids, const float *distances, double tolerance = 1e-5,
                         double scale = 1e-6) {
  std::ostringstream fault;
  const Neighbours expected = search(base, candidates, query, k, order, metric);
  const std::set<int64_t> allowed(candidates.begin(), candidates.end());
  std::set<int64_t> seen;
  auto close = [&](double a, double b) {
    return a == b || std::fabs(a - b) <= tolerance * std::max({std::fabs(a), std::fabs(b), scale});
  };
  for (int i = 0; i < k; ++i) {
    if (size_t(i) >= expected.ids.size()) {
      const double worst = order == ANNUDF_ORDER_MIN ? std::numeric_limits<double>::infinity()
                                                     : -std::numeric_limits<double>::infinity();
      if (ids[i] != -1 || distances[i] != worst)
        fault << "rank " << i << ": id " << ids[i] << " distance " << distances[i]
              << " where no candidate is left";
    } else if (!close(distances[i], expected.distances[i])) {
      fault << "rank " << i << ": distance " << distances[i] << ", expected "
            << expected.distances[i] << " (ids " << ids[i] << ", " << expected.ids[i] << ")";
    } else if (!allowed.count(ids[i])) {
      fault << "rank " << i << ": id " << ids[i] << " is no candidate";
    } else if (!seen.insert(ids[i]).second) {
      fault << "rank " << i << ": id " << ids[i] << " occurs twice";
    } else if (const double own = metric(query, base.row(ids[i]), base.dims);
               !close(distances[i], own)) {
      fault << "rank " << i << ": id " << ids[i] << " has distance " << own << ", reported "
            << distances[i];
    }
    if (!fault.str().empty())
      break;
  }
  return fault.str();
}

inline std::vector<int64_t> allRows(int64_t rows) {
  std::vector<int64_t> ids(rows);
  for (int64_t i = 0; i < rows; ++i)
    ids[i] = i;
  return ids;
}

} // namespace annudf::reference

#endif // ANNUDF_TEST_RUNTIME_REFERENCE_BRUTEFORCE_H
