//===- Run.h - Runs traced metrics on the CPU ---------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_CPP_TRACE_RUN_H
#define ANNUDF_TEST_CPP_TRACE_RUN_H

#include "CAPI/CApi.h"
#include "annudf-c/annudf.h"
#include "annudf/cpp/trace.hpp"

#include <bit>
#include <random>
#include <type_traits>

namespace annudf::test {

using OwnedCaptures = Owner<annudf_captures, annudf_captures_destroy>;
using OwnedBackend = Owner<annudf_backend, annudf_backend_destroy>;

/// Rows of numbers of one element type.
template <class T> struct Rows {
  std::vector<T> values;
  int64_t dims = 1;
  int64_t rows() const { return int64_t(values.size()) / dims; }
  const T *row(int64_t number) const { return values.data() + number * dims; }
};

/// Small whole numbers: sums and products of them have no rounding, fused or not.
template <class T> Rows<T> wholeNumbers(int64_t rows, int64_t dims, unsigned seed) {
  std::mt19937 random(seed);
  Rows<T> out{{}, dims};
  for (int64_t i = 0; i < rows * dims; ++i)
    out.values.push_back(T(int(random() % 100) - (std::is_unsigned_v<T> ? 0 : 50)));
  return out;
}

template <class T> constexpr int32_t elementOf() {
  return std::is_same_v<T, float>    ? ANNUDF_ELEMENT_F32
         : std::is_same_v<T, int8_t> ? ANNUDF_ELEMENT_I8
                                     : ANNUDF_ELEMENT_U8;
}

template <class T> annudf_vectors vectorsOf(const Rows<T> &from) {
  return {sizeof(annudf_vectors), from.values.data(), from.rows(), from.dims, elementOf<T>(), {}};
}

/// A value for a capture.
struct Bound {
  std::string name;
  std::string dtype;
  std::vector<char> bytes;
  std::vector<int64_t> shape;
};

template <class T>
Bound bound(std::string name, const std::vector<T> &values, std::vector<int64_t> shape) {
  constexpr char letters[] = "bifu"; // bool, signed, floating point, unsigned.
  const int which = std::is_same_v<T, bool>       ? 0
                    : std::is_floating_point_v<T> ? 2
                    : std::is_signed_v<T>         ? 1
                                                  : 3;
  Bound out{std::move(name), letters[which] + std::to_string(which ? sizeof(T) * 8 : 1), {}, {}};
  for (const T value : values) { // A vector<bool> has no addresses.
    const auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(value);
    out.bytes.insert(out.bytes.end(), bytes.begin(), bytes.end());
  }
  out.shape = std::move(shape);
  return out;
}

/// Compiles for the host; the messages of what was refused.
inline std::string compileTraced(const std::string &text, annudf_artifact **artifact) {
  annudf_compile_options options = {};
  options.size = sizeof options;
  options.skip_lto_ir = 1;
  OwnedDiagnostics diagnostics;
  const annudf_status status =
      annudf_compile(text.data(), text.size(), "traced", &options, artifact, &diagnostics);
  std::string out;
  for (size_t i = 0; status != ANNUDF_OK && i < annudf_diagnostics_count(diagnostics); ++i) {
    const annudf_diagnostic one = diagnosticAt(diagnostics, i);
    out += std::string(one.file) + ':' + std::to_string(one.line) + ": " + one.message + '\n';
  }
  return status == ANNUDF_OK ? "" : out;
}

inline annudf_backend *cpu() {
  static OwnedBackend backend;
  if (!backend) {
    EXPECT_EQ(outcome(annudf_backend_create(nullptr, 1, &backend)), "ok");
  }
  return backend;
}

inline std::string bindValues(const annudf_artifact *artifact, const annudf_extents &extents,
                              const std::vector<Bound> &values, annudf_captures **captures) {
  std::vector<annudf_capture_value> given;
  for (const Bound &one : values) {
    annudf_capture_value value = {};
    value.size = sizeof value, value.name = one.name.c_str(), value.dtype = one.dtype.c_str();
    value.shape = one.shape.empty() ? nullptr : one.shape.data();
    value.rank = int32_t(one.shape.size());
    value.data = one.bytes.data(), value.bytes = one.bytes.size();
    given.push_back(value);
  }
  annudf_captures_options options = {sizeof options, 1, nullptr};
  return outcome(
      annudf_captures_bind(artifact, &extents, given.data(), given.size(), &options, captures));
}

/// A compiled metric.
class Compiled {
public:
  explicit Compiled(const std::string &text) {
    const std::string refused = compileTraced(text, &artifact);
    EXPECT_EQ(refused, "") << text;
  }

  /// The distance of each of `x` to each of `y`.
  template <class T>
  std::vector<float> distances(const Rows<T> &x, const Rows<T> &y,
                               const std::vector<Bound> &values = {}) {
    const annudf_extents extents = {sizeof extents, x.dims, y.rows(), x.rows()};
    OwnedCaptures captures;
    EXPECT_EQ(bindValues(artifact, extents, values, &captures), "ok");
    const annudf_vectors first = vectorsOf(x);
    const annudf_vectors second = vectorsOf(y);
    std::vector<float> out(size_t(x.rows() * y.rows()), -777.0f);
    EXPECT_EQ(outcome(annudf_pairwise_distance(cpu(), artifact, captures, &first, &second, nullptr,
                                               out.data(), nullptr)),
              "ok");
    return out;
  }

private:
  OwnedArtifact artifact;
};

} // namespace annudf::test

#endif // ANNUDF_TEST_CPP_TRACE_RUN_H
