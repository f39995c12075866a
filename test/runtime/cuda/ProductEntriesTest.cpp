//===- ProductEntriesTest.cpp - Entries of captures that kernels read -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What kernels make of entries of every element and place (FormNodes.h, ProductOwn.cuh), on the
// host: against what reads captures there, and by searches.
//
//===----------------------------------------------------------------------===//

#include "HostSearch.h"

#include "captures/Values.h"

#include <algorithm>
#include <limits>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

struct KindOfEntry {
  annudf_capture_element element;
  const char *name;
  int bits;
  bool isFloat;
};
constexpr bool isFloatKind(const char *kind) noexcept { return kind[0] == 'F'; }
constexpr KindOfEntry kEntries[] = {
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  {ANNUDF_CAPTURE_##NAME, SPELLING, BITS, isFloatKind(#KIND)},
    ANNUDF_CAPTURE_ELEMENTS(ANNUDF_X)
#undef ANNUDF_X
};

size_t bytesOf(const KindOfEntry &kind) { return size_t(kind.bits + 7) / 8; }

/// Bits of an element: all where they are 16 at most; else those of the least and the largest, of
/// those around powers of two, and random ones.
std::vector<uint64_t> bitsOf(const KindOfEntry &kind) {
  std::vector<uint64_t> all;
  if (kind.bits <= 16) {
    for (uint64_t bits = 0; bits < uint64_t(1) << kind.bits; ++bits)
      all.push_back(bits);
    return all;
  }
  for (int power = 0; power < kind.bits; ++power)
    for (int64_t by = -3; by <= 3; ++by)
      for (const uint64_t sign : {1, -1}) // 2^53 + 1 and the negative of it, for one.
        all.push_back(sign * ((uint64_t(1) << power) + uint64_t(by)));
  std::mt19937_64 random(uint64_t(kind.element));
  for (int i = 0; i < 2000; ++i)
    all.push_back(random() >> random() % uint64_t(kind.bits));
  if (kind.element == ANNUDF_CAPTURE_F32)
    for (const float value : {1.5F, -1e-40F, FLT_MAX, -INFINITY, NAN})
      all.push_back(std::bit_cast<uint32_t>(value));
  if (kind.element == ANNUDF_CAPTURE_F64)
    for (const double value : {1.5, -1e-310, DBL_MAX, -HUGE_VAL, double(NAN)})
      all.push_back(std::bit_cast<uint64_t>(value));
  return all;
}

/// What is read is the value, to the bit where a double holds it; else it is within its error,
/// which is half a place.
void expectIs(const Value &value, const annudf_kernels::Real &read) {
  if (!value.isInteger) {
    if (std::isnan(value.real))
      ASSERT_TRUE(std::isnan(read.v));
    else
      ASSERT_EQ(std::bit_cast<uint64_t>(value.real), std::bit_cast<uint64_t>(read.v));
    ASSERT_EQ(read.e.v, 0);
    return;
  }
  const Integer difference = value.integer - Integer(read.v);
  ASSERT_LE(double(difference < 0 ? -difference : difference), read.e.v) << value.text();
  ASSERT_LE(read.e.v, std::abs(read.v) * 0x1p-53) << value.text();
  if (std::abs(read.v) < 0x1p53)
    ASSERT_EQ(read.e.v, 0) << value.text();
}

} // namespace

TEST(CudaProductEntries, AreWhatTheHostReads) {
  for (const KindOfEntry &kind : kEntries) {
    SCOPED_TRACE(kind.name);
    const std::vector<uint64_t> all = bitsOf(kind);
    const size_t size = bytesOf(kind);
    std::vector<uint64_t> memory(all.size()); // No more bytes each, and aligned.
    auto *bytes = reinterpret_cast<std::byte *>(memory.data());
    for (size_t i = 0; i < all.size(); ++i)
      std::memcpy(bytes + i * size, &all[i], size);
    const Load load = loadOf(dtypeOf(kind.element));
    for (size_t i = 0; i < all.size(); ++i)
      ASSERT_NO_FATAL_FAILURE(expectIs(load(bytes + i * size),
                                       annudf_kernels::entryAt(kind.element, bytes, int64_t(i))))
          << "bits " << all[i];
  }
  EXPECT_FALSE(annudf_kernels::entryAt(int32_t(std::size(kEntries)), kEntries, 0).isFinite());
}

/// A slot has 64 bits, of which the first are a scalar's.
TEST(CudaProductEntries, OfScalarsAreInSlots) {
  for (const KindOfEntry &kind : kEntries) {
    SCOPED_TRACE(kind.name);
    Manifest manifest;
    manifest.name = "m";
    manifest.captures = {{"s", kind.element, {}}};
    const std::string dtype = dtypeOf(kind.element);
    const Load load = loadOf(dtype);
    const std::vector<uint64_t> all = bitsOf(kind);
    for (size_t i = 0; i < all.size(); i += all.size() / 200 + 1) {
      CaptureValue value;
      value.dtype = dtype, value.data = &all[i], value.bytes = bytesOf(kind);
      value.origin = "a test";
      const Value is = load(static_cast<const std::byte *>(value.data));
      const auto captures = BoundCaptures::bindViews(manifest, {4, 0, 0}, {{"s", value}}, true);
      const uint64_t slot = captures.slot(0);
      ASSERT_NO_FATAL_FAILURE(expectIs(is, annudf_kernels::entryAt(kind.element, &slot, 0)));
    }
  }
}

namespace {

const EntryIndex kQuery{EntryIndex::Kind::Query}, kSecond{EntryIndex::Kind::Number, 1};
constexpr int32_t kBase = 3; ///< Number of the first query.

/// Where weights are: the extents of their array, and what is read of it.
struct Place {
  const char *name;
  std::vector<CaptureExtent> extents;
  std::vector<EntryIndex> indices;
};
const std::vector<Place> &allPlaces() {
  static const std::vector<Place> places = {
      {"a dimension", {{ANNUDF_EXTENT_DIM, 0}}, {runtime::test::kDim}},
      {"a query", {{ANNUDF_EXTENT_QUERY, 0}}, {kQuery}},
      {"a query and dimension",
       {{ANNUDF_EXTENT_QUERY, 0}, {ANNUDF_EXTENT_DIM, 0}},
       {kQuery, runtime::test::kDim}},
      {"the second of each dimension",
       {{ANNUDF_EXTENT_DIM, 0}, {ANNUDF_EXTENT_CONSTANT, 3}},
       {runtime::test::kDim, kSecond}},
      {"a scalar", {}, {}},
  };
  return places;
}

/// Floats that the element has, from its least to its largest; such as are no more than 2^53, or
/// some that are.
std::vector<float> valuesOf(const KindOfEntry &kind, bool isHuge) {
  if (kind.isFloat) {
    const float least = kind.element == ANNUDF_CAPTURE_F16 ? 0x1p-24F : 0x1p-40F;
    const float most = kind.element == ANNUDF_CAPTURE_F16 ? 65504 : 0x1p20F;
    return {0, 1, -1, 0.75F, -1.625F, 3, 30, least, -least, most, -most};
  }
  const bool isSigned = kind.name[0] == 'i' && kind.bits > 1;
  std::vector<float> values = {0, 1};
  if (kind.bits >= 8)
    values.insert(values.end(), {2, 3, 77});
  const int most = isHuge ? kind.bits : std::min(kind.bits, 53);
  for (int power = 7; power < most; power += kind.bits / 8)
    values.insert(values.end(), {std::ldexp(1.0F, power) - 1, std::ldexp(0.75F, power)});
  if (!isSigned && kind.bits > 1) // What is negative if it is read as signed.
    values.push_back(std::ldexp(255.0F, most - 8));
  if (isSigned) {
    for (float &value : values)
      value = value == 3 || value > 100 ? -value : value;
    values.push_back(-std::ldexp(1.0F, most - 1)); // The least.
  }
  return values;
}

/// Weights of an element at a place, and the same as floats.
struct Weights {
  std::vector<float> values; ///< The whole array's.
  BoundCaptures ofElement, ofFloats;

  Weights(Data &data, const KindOfEntry &kind, const Place &place, bool isHuge, uint32_t seed) {
    std::mt19937 random(seed);
    const std::vector<float> pool = valuesOf(kind, isHuge);
    const auto dims = int64_t(data.weights.size());
    const auto queries = int64_t(kBase + data.queries.size());
    std::vector<int64_t> shape;
    size_t count = 1;
    for (const CaptureExtent &extent : place.extents) {
      shape.push_back(extent.kind == ANNUDF_EXTENT_DIM     ? dims
                      : extent.kind == ANNUDF_EXTENT_QUERY ? queries
                                                           : extent.constant);
      count *= size_t(shape.back());
    }
    for (size_t i = 0; i < count; ++i)
      values.push_back(pool[random() % pool.size()]);
    if (place.extents.empty()) // The least or the largest.
      values[0] = pool.back();
    data.ofQueries.assign(data.queries.size(), Vector(size_t(dims)));
    for (size_t q = 0; q < data.queries.size(); ++q)
      for (size_t d = 0; d < size_t(dims); ++d) {
        size_t at = 0;
        for (size_t i = 0; i < shape.size(); ++i)
          at = at * size_t(shape[i]) + (place.indices[i].kind == EntryIndex::Kind::Dim ? d
                                        : place.indices[i].kind == EntryIndex::Kind::Query
                                            ? kBase + q
                                            : 1);
        data.ofQueries[q][d] = values[at];
      }
    const auto bound = [&](annudf_capture_element element) {
      Manifest manifest;
      manifest.name = "m";
      manifest.captures = {{"w", element, place.extents}};
      return BoundCaptures::bindViews(
          manifest, {int32_t(dims), 0, queries},
          {{"w", runtime::test::given("f32", shape, values.data(), values.size())}});
    };
    ofElement = bound(kind.element), ofFloats = bound(ANNUDF_CAPTURE_F32);
  }
};

const Hooks &weightedL2() {
  static const Hooks hooks = {"l2",
                              runtime::test::weightedL2(),
                              Course::Identity,
                              ANNUDF_ORDER_MIN,
                              true,
                              [](Fields sums, float w, float x, float y) {
                                const float difference = x - y;
                                return Fields{sums[0] + w * difference * difference};
                              },
                              [](Fields sums, float) { return sums[0]; }};
  return hooks;
}

std::optional<runtime::cuda::BoundNumbers>
numbersFor(const Place &place, const BoundCaptures &captures, int32_t dims, std::string &why) {
  QuadraticForm form = weightedL2().form;
  for (Coefficient &node : form.nodes)
    if (node.kind == Coefficient::Kind::Entry)
      node.indices = place.indices;
  return runtime::cuda::ownNumbersOf(form, captures, dims, {}, ANNUDF_ORDER_MIN, why);
}

void check(const KindOfEntry &kind, const Place &place, size_t dims, bool isHuge) {
  SCOPED_TRACE(std::string(kind.name) + " of " + place.name + ", dims " + std::to_string(dims) +
               (isHuge ? ", huge" : ""));
  Data data = dataOf(uint32_t(dims), dims, kKinds[0].change);
  data.lists.resize(3);
  const Weights weights(data, kind, place, isHuge, uint32_t(dims) + uint32_t(kind.element));
  std::string why;
  const auto numbers = numbersFor(place, weights.ofElement, int32_t(dims), why),
             same = numbersFor(place, weights.ofFloats, int32_t(dims), why);
  ASSERT_TRUE(numbers && same) << why;
  const annudf_slots slots = {{weights.ofElement.slot(0)}}, asFloats = {{weights.ofFloats.slot(0)}};
  Search search(data, weightedL2(), *numbers, slots, kBase);
  ASSERT_TRUE(holds(search, 10));
  EXPECT_EQ(search.isNothing, 0u);
  const auto boundsOf = [&](const runtime::cuda::BoundNumbers &by, const annudf_slots &of) {
    return HostProducts(data.lists, data.mean(), by).bounds(data.queries, of, kBase);
  };
  const std::vector<float> bounds = boundsOf(*numbers, slots), floats = boundsOf(*same, asFloats);
  if (!isHuge) {
    EXPECT_EQ(bounds, floats);
    return;
  }
  float most = 0; // Doubles are off, for all that is known.
  for (const float bound : floats)
    most = bound < INFINITY ? std::max(most, std::abs(bound)) : most;
  for (size_t i = 0; i < bounds.size(); ++i)
    if (bounds[i] != floats[i]) // Without a row both are infinite.
      ASSERT_NEAR(bounds[i], floats[i], most * 1e-4F) << i;
}

} // namespace

/// Which are those of the same weights as floats.
TEST(CudaProductEntries, OfEveryElementGiveTheSameBounds) {
  for (const KindOfEntry &kind : kEntries)
    for (const Place &place : allPlaces())
      for (const size_t dims : {5, 70}) {
        check(kind, place, dims, false);
        if (kind.bits == 64 && !kind.isFloat)
          check(kind, place, dims, true);
        if (HasFailure())
          return;
      }
}
