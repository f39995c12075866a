//===- TestMetrics.h - Metrics of the CPU backend's tests ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each metric twice: hooks compiled from udfs/ to bitcode, and the same distance in
// float64 for the brute force.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CPU_TESTMETRICS_H
#define ANNUDF_TEST_RUNTIME_CPU_TESTMETRICS_H

#include "annudf/runtime/engine/Search.h"
#include "runtime/engine/FormTesting.h"
#include "runtime/reference/BruteForce.h"

#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace annudf::test {

inline std::string readBitcode(const std::string &name) {
  const std::string path = std::string(ANNUDF_TEST_UDF_DIR) + "/" + name + ".bc";
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline const std::vector<annudf_element> kAllElements = {ANNUDF_ELEMENT_F32,  ANNUDF_ELEMENT_F16,
                                                         ANNUDF_ELEMENT_I8,   ANNUDF_ELEMENT_U8,
                                                         ANNUDF_ELEMENT_BF16, ANNUDF_ELEMENT_BITS};

struct TestMetric {
  std::string name;
  annudf_order order = ANNUDF_ORDER_MIN;
  annudf_accumulator accumulator = ANNUDF_ACCUMULATOR_F32;
  annudf_compute compute = ANNUDF_COMPUTE_F32;
  bool finalize = true; ///< Else the runtime's own is linked.
  std::vector<annudf_element> elements = kAllElements;
  std::vector<CaptureInfo> captures = {};
  std::vector<annudf_accumulator> fields = {}; ///< For an accumulator of several.
  std::optional<PackedSum> packed = {};        ///< What annudf-pack-lanes would prove.
  std::optional<QuadraticForm> form = {};      ///< What annudf-infer-properties would prove.
  reference::Metric distance;
};

/// Weight of a dimension; exact in float32.
inline float weightOf(int32_t dim) { return 0.25f + 0.125f * float(dim % 23); }
inline constexpr float kMinkowskiP = 2.5f;

inline const std::vector<TestMetric> &testMetrics() {
  using V = const double *;
  auto sum = [](auto term) {
    return [term](V x, V y, int32_t dims) {
      double total = 0;
      for (int32_t d = 0; d < dims; ++d)
        total += term(x[d], y[d], d);
      return total;
    };
  };
  static const std::vector<TestMetric> metrics = {
      {.name = "l2",
       .packed = PackedSum{ANNUDF_PACKED_SQUARED_DIFFERENCE,
                           false,
                           {{ANNUDF_ELEMENT_I8, 258},
                            {ANNUDF_ELEMENT_U8, 258},
                            {ANNUDF_ELEMENT_BITS, ANNUDF_MAX_DIMS}}},
       .distance = sum([](double x, double y, int) { return (x - y) * (x - y); })},
      {.name = "weighted_l2",
       .captures = {{"w", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_DIM, 0}}}},
       .distance = sum([](double x, double y, int d) { return weightOf(d) * (x - y) * (x - y); })},
      {.name = "l1",
       .finalize = false,
       .packed = PackedSum{ANNUDF_PACKED_ABSOLUTE_DIFFERENCE,
                           false,
                           {{ANNUDF_ELEMENT_I8, 65793},
                            {ANNUDF_ELEMENT_U8, 65793},
                            {ANNUDF_ELEMENT_BITS, ANNUDF_MAX_DIMS}}},
       .distance = sum([](double x, double y, int) { return std::fabs(x - y); })},
      {.name = "chebyshev",
       .distance =
           [](V x, V y, int32_t dims) {
             double most = 0;
             for (int32_t d = 0; d < dims; ++d)
               most = std::max(most, std::fabs(x[d] - y[d]));
             return most;
           }},
      {.name = "inner_product",
       .order = ANNUDF_ORDER_MAX,
       .packed = PackedSum{ANNUDF_PACKED_PRODUCT,
                           false,
                           {{ANNUDF_ELEMENT_I8, 1024},
                            {ANNUDF_ELEMENT_U8, 258},
                            {ANNUDF_ELEMENT_BITS, ANNUDF_MAX_DIMS}}},
       .distance = sum([](double x, double y, int) { return x * y; })},
      {.name = "equal", // What differs is subtracted, of a sum that begins with another number.
       .order = ANNUDF_ORDER_MAX,
       .packed = PackedSum{ANNUDF_PACKED_DIFFERENT,
                           true,
                           {{ANNUDF_ELEMENT_I8, ANNUDF_MAX_DIMS},
                            {ANNUDF_ELEMENT_U8, ANNUDF_MAX_DIMS},
                            {ANNUDF_ELEMENT_BITS, ANNUDF_MAX_DIMS}}},
       .distance =
           [](V x, V y, int32_t dims) {
             double total = 7;
             for (int32_t d = 0; d < dims; ++d)
               total -= x[d] != y[d];
             return total / 2;
           }},
      {.name = "hamming",
       .accumulator = ANNUDF_ACCUMULATOR_I32,
       .compute = ANNUDF_COMPUTE_I32,
       .finalize = false,
       .elements = {ANNUDF_ELEMENT_I8, ANNUDF_ELEMENT_U8},
       .packed =
           PackedSum{ANNUDF_PACKED_DIFFERENT_BITS,
                     false,
                     {{ANNUDF_ELEMENT_I8, ANNUDF_MAX_DIMS}, {ANNUDF_ELEMENT_U8, ANNUDF_MAX_DIMS}}},
       .distance = sum([](double x, double y, int) {
         return double(std::popcount(uint8_t(uint8_t(int(x)) ^ uint8_t(int(y)))));
       })},
      {.name = "minkowski",
       .captures = {{"p", ANNUDF_CAPTURE_F32, {}}},
       .distance =
           [](V x, V y, int32_t dims) {
             double total = 0;
             for (int32_t d = 0; d < dims; ++d)
               total += std::pow(std::fabs(x[d] - y[d]), double(kMinkowskiP));
             return std::pow(total, 1 / double(kMinkowskiP));
           }},
      {.name = "l2_f64",
       .accumulator = ANNUDF_ACCUMULATOR_F64,
       .compute = ANNUDF_COMPUTE_F64,
       .finalize = false,
       .distance = sum([](double x, double y, int) { return (x - y) * (x - y); })},
      {.name = "agreement",
       .order = ANNUDF_ORDER_MAX,
       .accumulator = ANNUDF_ACCUMULATOR_I32,
       .distance =
           [](V x, V y, int32_t dims) {
             double total = -5;
             for (int32_t d = 0; d < dims; ++d)
               total += std::fabs(x[d] - y[d]) < 20 ? 1 : 0;
             return total;
           }},
      {.name = "cosine",
       .accumulator = ANNUDF_ACCUMULATOR_STRUCT,
       .fields = {ANNUDF_ACCUMULATOR_F32, ANNUDF_ACCUMULATOR_F32, ANNUDF_ACCUMULATOR_F32},
       .distance =
           [](V x, V y, int32_t dims) {
             double xy = 0, xx = 0, yy = 0;
             for (int32_t d = 0; d < dims; ++d)
               xy += x[d] * y[d], xx += x[d] * x[d], yy += y[d] * y[d];
             return 1 - xy / std::sqrt(xx * yy);
           }},
      {.name = "bray_curtis",
       .accumulator = ANNUDF_ACCUMULATOR_STRUCT,
       .compute = ANNUDF_COMPUTE_F64,
       .fields = {ANNUDF_ACCUMULATOR_F64, ANNUDF_ACCUMULATOR_F64},
       .distance =
           [](V x, V y, int32_t dims) {
             double apart = 0, together = 0;
             for (int32_t d = 0; d < dims; ++d)
               apart += std::fabs(x[d] - y[d]), together += std::fabs(x[d] + y[d]);
             return apart / together;
           }},
      {.name = "tanimoto",
       .accumulator = ANNUDF_ACCUMULATOR_STRUCT,
       .compute = ANNUDF_COMPUTE_I32,
       .elements = {ANNUDF_ELEMENT_I8, ANNUDF_ELEMENT_U8},
       .fields = {ANNUDF_ACCUMULATOR_U32, ANNUDF_ACCUMULATOR_U32, ANNUDF_ACCUMULATOR_I32,
                  ANNUDF_ACCUMULATOR_F32},
       .distance =
           [](V x, V y, int32_t dims) {
             double both = 0.5, either = 0.5;
             for (int32_t d = 0; d < dims; ++d) {
               const auto a = uint8_t(int(x[d])), b = uint8_t(int(y[d]));
               both += std::popcount(uint8_t(a & b)), either += std::popcount(uint8_t(a | b));
             }
             return 1 - both / either + 0.001 * ((dims - 1) % 7);
           }},
      {.name = "asymmetric", .distance = sum([](double x, double y, int d) {
                               return x < y ? 2 * (y - x) : (d % 3 == 0 ? 0.5 : 1.0) * (x - y);
                             })},
  };
  return metrics;
}

inline const TestMetric &testMetric(const std::string &name) {
  for (const TestMetric &metric : testMetrics())
    if (metric.name == name)
      return metric;
  throw std::runtime_error("no test metric " + name);
}

/// Metrics of the same hooks with the form that is proved of them, "proved_l2".
inline const std::vector<TestMetric> &provedMetrics() {
  static const std::vector<TestMetric> metrics = [] {
    std::vector<TestMetric> made;
    for (const auto &[name, form] : {std::pair("l2", runtime::test::plainL2()),
                                     std::pair("weighted_l2", runtime::test::weightedL2()),
                                     std::pair("inner_product", runtime::test::innerProduct())}) {
      made.push_back(testMetric(name));
      made.back().name = std::string("proved_") + name;
      made.back().form = form;
    }
    using Course = QuadraticForm::Finalize;
    made.push_back(testMetric("cosine"));
    made.back().name = "proved_cosine";
    made.back().form = runtime::test::plainCosine();
    for (const auto &[name, order, course] :
         {std::tuple("proved_weighted_cosine", ANNUDF_ORDER_MIN, Course::Falls),
          std::tuple("proved_similarity", ANNUDF_ORDER_MAX, Course::Identity),
          std::tuple("proved_chord", ANNUDF_ORDER_MIN, Course::Falls)}) {
      made.push_back(made.back());
      made.back().name = name;
      made.back().order = order;
      made.back().captures = testMetric("weighted_l2").captures;
      made.back().form = runtime::test::weightedCosine();
      made.back().form->lengths->product = 1;
      made.back().form->finalize = course;
    }
    made.push_back(testMetric("cosine"));
    made.back().name = "proved_correlation";
    made.back().fields.assign(5, ANNUDF_ACCUMULATOR_F32);
    made.back().form = runtime::test::correlation();
    return made;
  }();
  return metrics;
}

/// Magnitude below which a distance may be the difference of larger numbers.
inline double cancellation(const TestMetric &metric, const reference::Vectors &base) {
  if (metric.name == "cosine") // One less what may be almost one.
    return 1;
  if (metric.name != "inner_product")
    return 1e-6;
  double square = 0;
  for (double v : base.values)
    square += v * v;
  return square / base.rows;
}

/// FNV-1a of a name, so that each case has its own data, the same on every run.
inline uint64_t seedOf(const std::string &name) {
  uint64_t hash = 14695981039346656037u;
  for (char c : name)
    hash = (hash ^ uint8_t(c)) * 1099511628211u;
  return hash;
}

inline Artifact artifactOf(const TestMetric &metric, std::string bitcode) {
  Artifact artifact;
  Manifest &m = artifact.manifest;
  m.name = metric.name;
  m.order = metric.order;
  m.accumulator = metric.accumulator;
  m.compute = metric.compute;
  m.elements = metric.elements;
  m.captures = metric.captures;
  m.fields = metric.fields;
  m.packed = metric.packed;
  m.form = metric.form;
  m.hooks = {ANNUDF_HOOK_INIT, ANNUDF_HOOK_UPDATE};
  if (metric.finalize)
    m.hooks.push_back(ANNUDF_HOOK_FINALIZE);
  m.requiredFeatures = featuresOf(m);
  m.abiMinor = minorOf(m);
  artifact.payloads.push_back(
      Payload::hostBitcode("x86_64-pc-linux-gnu", {"test", "1"}, std::move(bitcode)));
  return artifact;
}

/// The manifest of a metric with the hook `combine`, too.
inline Manifest inParts(Manifest m) {
  m.hooks.push_back(ANNUDF_HOOK_COMBINE);
  m.numerics = ANNUDF_NUMERICS_REASSOCIATE;
  m.requiredFeatures = featuresOf(m);
  m.abiMinor = minorOf(m);
  return m;
}

/// \param more  sets what the filter's descriptor has beside its name.
template <class More> Artifact filterArtifact(const char *name, std::string bitcode, More more) {
  Artifact artifact;
  Manifest &m = artifact.manifest;
  m.role = ANNUDF_ROLE_FILTER;
  m.name = name;
  more(m);
  m.requiredFeatures = featuresOf(m);
  m.abiMinor = minorOf(m);
  artifact.payloads.push_back(
      Payload::hostBitcode("x86_64-pc-linux-gnu", {"test", "1"}, std::move(bitcode)));
  return artifact;
}

/// A filter without captures: rows whose id is even.
inline Artifact evenRows(std::string bitcode) {
  return filterArtifact("even_rows", std::move(bitcode), [](Manifest &) {});
}

/// A filter that sees the query: rows whose tenant is the query's.
inline Artifact sameTenant(std::string bitcode) {
  return filterArtifact("same_tenant", std::move(bitcode), [](Manifest &m) {
    m.captures = {{"tenant", ANNUDF_CAPTURE_I32, {{ANNUDF_EXTENT_ROW, 0}}},
                  {"mine", ANNUDF_CAPTURE_I32, {{ANNUDF_EXTENT_QUERY, 0}}}};
    m.rowOnlyIndexes = m.seesQuery = true;
  });
}

inline runtime::Metric compiled(const TestMetric &metric) {
  return runtime::Metric::fromArtifact(artifactOf(metric, readBitcode(metric.name)),
                                       metric.name + ".annudf");
}

/// \param queries  of a search, of which captures may have entries.
inline runtime::BoundCaptures bind(const runtime::Metric &metric, int32_t dims,
                                   int64_t queries = 0) {
  std::map<std::string, runtime::NumericArray> values;
  auto array = [](std::vector<int64_t> shape, const std::vector<float> &from) {
    runtime::NumericArray a{"f32", std::move(shape), {}, "test"};
    a.storage.resize(from.size() * sizeof(float));
    std::memcpy(a.storage.data(), from.data(), a.storage.size());
    return a;
  };
  for (const CaptureInfo &capture : metric.artifact.manifest.captures) {
    if (capture.extents.empty()) {
      values[capture.name] = array({}, {kMinkowskiP});
      continue;
    }
    std::vector<int64_t> shape;
    int64_t count = 1;
    for (const CaptureExtent &extent : capture.extents) {
      shape.push_back(extent.kind == ANNUDF_EXTENT_QUERY ? queries : dims);
      count *= shape.back();
    }
    std::vector<float> weights(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i)
      weights[static_cast<size_t>(i)] = weightOf(int32_t(i));
    values[capture.name] = array(shape, weights);
  }
  return runtime::BoundCaptures::bind(metric.artifact.manifest, {dims, 0, queries}, values);
}

inline runtime::MatrixView view(const reference::Vectors &vectors) {
  return {vectors.encoded.data(), vectors.rows, vectors.dims, vectors.element};
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_CPU_TESTMETRICS_H
