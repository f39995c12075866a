//===- ExampleMetrics.cpp - What the example metrics mean, in float64 -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "e2e/ExampleMetrics.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace annudf::test;

/// Sums `term` over the dimensions.
template <typename Term> static Distance sum(const Vector &q, const Vector &b, Term term) {
  Distance out;
  for (size_t i = 0; i < q.size(); ++i) {
    double t = term(i, q[i], b[i]);
    out.value += t, out.magnitude += std::fabs(t);
  }
  return out;
}

static ExampleMetric named(const char *name) {
  ExampleMetric metric;
  metric.name = name;
  return metric;
}

const std::vector<ExampleMetric> &annudf::test::exampleMetrics() {
  static const std::vector<ExampleMetric> metrics = [] {
    std::vector<ExampleMetric> list;
    ExampleMetric l2 = named("l2");
    l2.takesBits = true;
    l2.distance = [](const Vector &q, const Vector &b, const Vector &, double) {
      return sum(q, b, [](size_t, double x, double y) { return (x - y) * (x - y); });
    };
    list.push_back(l2);
    ExampleMetric weighted = named("weighted_l2");
    weighted.takesBfloat = false; // It does not list bf16.
    weighted.needsWeights = true;
    weighted.exactOnIntegers = false;
    weighted.distance = [](const Vector &q, const Vector &b, const Vector &w, double) {
      return sum(q, b, [&](size_t i, double x, double y) { return w[i] * (x - y) * (x - y); });
    };
    list.push_back(weighted);
    ExampleMetric l1 = named("l1");
    l1.takesBits = true;
    l1.distance = [](const Vector &q, const Vector &b, const Vector &, double) {
      return sum(q, b, [](size_t, double x, double y) { return std::fabs(x - y); });
    };
    list.push_back(l1);
    ExampleMetric chebyshev = named("chebyshev");
    chebyshev.distance = [](const Vector &q, const Vector &b, const Vector &, double) {
      Distance out{-HUGE_VAL, 0};
      for (size_t i = 0; i < q.size(); ++i)
        out.value = std::max(out.value, std::fabs(q[i] - b[i]));
      out.magnitude = out.value;
      return out;
    };
    list.push_back(chebyshev);
    ExampleMetric product = named("inner_product");
    product.largestFirst = true;
    product.takesBits = true;
    product.distance = [](const Vector &q, const Vector &b, const Vector &, double) {
      return sum(q, b, [](size_t, double x, double y) { return x * y; });
    };
    list.push_back(product);
    ExampleMetric cosine = named("cosine");
    cosine.exactOnIntegers = false;
    cosine.leastDims = 3; // With one coordinate it is 0, 2 or, for the vector 0, none.
    cosine.distance = [](const Vector &q, const Vector &b, const Vector &, double) {
      const auto product = [](size_t, double x, double y) { return x * y; };
      const double lengths = std::sqrt(sum(q, q, product).value * sum(b, b, product).value);
      // One less what may be almost one.
      return Distance{1 - sum(q, b, product).value / lengths, 1};
    };
    list.push_back(cosine);
    ExampleMetric inParts = cosine;
    inParts.name = "long_cosine";
    inParts.inParts = true;
    list.push_back(inParts);
    ExampleMetric known = named("nan_euclidean");
    known.missingValues = true;
    known.exactOnIntegers = false;
    known.distance = [](const Vector &q, const Vector &b, const Vector &, double) {
      double squares = 0, count = 0;
      for (size_t i = 0; i < q.size(); ++i)
        if (!std::isnan(q[i]) && !std::isnan(b[i]))
          squares += (q[i] - b[i]) * (q[i] - b[i]), ++count;
      const double distance = std::sqrt(squares * double(q.size()) / count); // 0 / 0 is NaN.
      return Distance{distance, distance};
    };
    list.push_back(known);
    ExampleMetric hamming = named("bitwise_hamming");
    hamming.bytesOnly = hamming.takesBits = true;
    hamming.distance = [](const Vector &q, const Vector &b, const Vector &, double) {
      return sum(q, b, [](size_t, double x, double y) {
        return double(std::popcount(unsigned(x) ^ unsigned(y)));
      });
    };
    list.push_back(hamming);
    ExampleMetric jaccard = named("jaccard");
    jaccard.bytesOnly = jaccard.takesBits = true;
    jaccard.exactOnIntegers = false;
    jaccard.distance = [](const Vector &q, const Vector &b, const Vector &, double) {
      double both = 0, any = 0;
      for (size_t i = 0; i < q.size(); ++i)
        both += q[i] != 0 && b[i] != 0, any += q[i] != 0 || b[i] != 0;
      return Distance{any == 0 ? 0 : (any - both) / any, 1};
    };
    list.push_back(jaccard);
    ExampleMetric minkowski = named("minkowski");
    minkowski.needsOrder = true;
    minkowski.exactOnIntegers = false;
    minkowski.distance = [](const Vector &q, const Vector &b, const Vector &, double p) {
      Distance out =
          sum(q, b, [&](size_t, double x, double y) { return std::pow(std::fabs(x - y), p); });
      out.value = out.magnitude = std::pow(out.value, 1 / p);
      return out;
    };
    list.push_back(minkowski);
    ExampleMetric decay = named("time_decay");
    decay.needsAges = true;
    decay.exactOnIntegers = false;
    decay.distance = [](const Vector &q, const Vector &b, const Vector &age, double halfLife) {
      Distance out = sum(q, b, [](size_t, double x, double y) { return (x - y) * (x - y); });
      out.value = out.magnitude = out.value * std::exp2(age[0] / halfLife);
      return out;
    };
    list.push_back(decay);
    ExampleMetric personal = weighted;
    personal.name = "personal_l2";
    personal.needsWeights = false;
    personal.needsQueryWeights = true;
    list.push_back(personal);
    return list;
  }();
  return metrics;
}

double annudf::test::decodeHalf(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == 31)
    return mantissa ? NAN : sign * HUGE_VAL;
  return sign * (exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24));
}
