//===- CppBench.cpp - What annudf.hpp costs beside the C API --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// annudf_cpp_bench [COUNT]: searches of one query in a tiny index, in turns through C and through
// C++: each call of the one is followed by one of the other. Prints medians, and the median of the
// differences.
// annudf_cpp_bench compile [COUNT]: lambdas are traced and compiled, no two of them alike; the
// first of the process, which loads what is needed, and the median of the others.
//
//===----------------------------------------------------------------------===//

#include "annudf-c/annudf.h"
#include "annudf/annudf.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <class Call> double nanosecondsOf(Call call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

/// Both with a number in it, so that none was compiled before.
annudf::metric weightedL2(float number) {
  return annudf::metric("weighted_l2", [number, w = annudf::capture<float>("w", annudf::dim)](
                                           auto x, auto y, auto acc, auto ctx) {
    auto d = x - y;
    return acc + w[ctx.dim] * d * d * number;
  });
}

template <class T> struct Sums {
  T xy, xx, yy;
};

annudf::metric agingCosine(float number) {
  return annudf::metric(
      "aging_cosine",
      annudf::hooks{
          .initial = Sums<float>{},
          .update = [](auto x, auto y,
                       auto acc) { return Sums{acc.xy + x * y, acc.xx + x * x, acc.yy + y * y}; },
          .finalize =
              [number, age = annudf::capture<float>("age", annudf::row)](auto acc, auto ctx) {
                auto cosine = 1 - acc.xy / annudf::sqrt(acc.xx * acc.yy);
                return annudf::select(acc.xx > 0, cosine, 1) * annudf::exp2(age[ctx.row] / number);
              }},
      {.coarse = annudf::coarse::cosine});
}

void compiles(int count, const char *name, annudf::metric (*make)(float)) {
  struct Target {
    const char *name;
    annudf::compile_options options;
  };
  const Target targets[] = {{"host", {.lto_ir = false}},
                            {"sm_90", {.archs = {"sm_90"}, .host_code = false}},
                            {"all", {}}};
  for (const Target &target : targets) {
    std::vector<double> traces, rest;
    for (int i = 0; i <= count; ++i) {
      std::string text;
      traces.push_back(nanosecondsOf([&] { text = make(float(i + 1)).text(); }));
      rest.push_back(nanosecondsOf([&] { annudf::artifact::compile(text, target.options); }));
    }
    const double firstTrace = traces.front(), first = rest.front();
    traces.erase(traces.begin()), rest.erase(rest.begin());
    std::printf("{\"metric\": \"%s\", \"target\": \"%s\", \"first_trace_ms\": %.2f, "
                "\"first_compile_ms\": %.1f, \"trace_ms\": %.3f, \"compile_ms\": %.1f}\n",
                name, target.name, firstTrace * 1e-6, first * 1e-6, median(traces) * 1e-6,
                median(rest) * 1e-6);
  }
}

/// And what the first search costs besides: the scan is compiled with the metric, for this CPU.
void links(int count) {
  constexpr int64_t kDims = 8;
  const std::vector<float> base(64 * kDims), weights(kDims, 2.0f);
  const auto index =
      annudf::ivf_flat::build({.n_lists = 1, .threads = 1}, annudf::matrix_view(base, kDims));
  const annudf::matrix_view<const float> query(base.data(), 1, kDims);
  std::vector<double> times;
  for (int i = 0; i <= count; ++i) {
    const auto bound = weightedL2(float(i + 1000)).bind({{"w", weights}});
    annudf::search_stats stats;
    annudf::ivf_flat::search(index, query, 1, {.n_probes = 1, .metric = bound, .stats = &stats});
    times.push_back(stats.link_ms);
  }
  const double first = times.front();
  times.erase(times.begin());
  std::printf("{\"metric\": \"weighted_l2\", \"first_cpu_link_ms\": %.1f, \"cpu_link_ms\": %.1f}\n",
              first, median(times));
}

void searches(int count) {
  constexpr int64_t kDims = 8, kK = 10;
  std::vector<float> base(64 * kDims);
  for (size_t i = 0; i < base.size(); ++i)
    base[i] = float(i * 37 % 101);
  const auto index =
      annudf::ivf_flat::build({.n_lists = 1, .threads = 1}, annudf::matrix_view(base, kDims));
  const annudf::backend backend = annudf::backend::cpu(1);
  const auto metric = annudf::metric("weighted_l2", [w = annudf::capture<float>("w", annudf::dim)](
                                                        auto x, auto y, auto acc, auto ctx) {
    auto d = x - y;
    return acc + w[ctx.dim] * d * d;
  });
  const std::vector<float> weights(kDims, 2.0f);
  const auto bound = metric.bind({{"w", weights}});
  const annudf::matrix_view<const float> query(base.data(), 1, kDims);

  // What C is given is what C++ gives it: the same code, captures and backend.
  const auto entry =
      annudf::detail::search_access::of(bound, annudf::coarse::l2).prepare(backend, kDims);
  std::vector<float> distances(kK);
  std::vector<int64_t> neighbors(kK);
  const auto throughC = [&] {
    annudf_ivf_flat_search_options options = {};
    options.size = sizeof options;
    const annudf_vectors rows = {sizeof rows, query.data(), 1, kDims, ANNUDF_ELEMENT_F32, {}};
    if (annudf_ivf_flat_search(backend.c(), index.c(), entry->code.c(), entry->captures.get(),
                               &rows, kK, 1, &options, neighbors.data(), distances.data(),
                               nullptr) != ANNUDF_OK)
      std::abort();
  };
  const auto throughCpp = [&] {
    const auto found = annudf::ivf_flat::search(
        index, query, kK, {.n_probes = 1, .metric = bound, .backend = backend});
    neighbors[0] = found.neighbors(0, 0);
  };
  const auto throughSpans = [&] {
    annudf::ivf_flat::search(index, query, kK, distances, neighbors,
                             {.n_probes = 1, .metric = bound, .backend = backend});
  };
  std::vector<double> c, cpp, spans, more, moreOfSpans;
  for (int i = -1000; i < count; ++i) {
    const double one = nanosecondsOf(throughC), two = nanosecondsOf(throughCpp),
                 three = nanosecondsOf(throughSpans);
    if (i < 0) // The first ones warm up.
      continue;
    c.push_back(one), cpp.push_back(two), spans.push_back(three);
    more.push_back(two - one), moreOfSpans.push_back(three - one);
  }
  std::printf("{\"searches\": %d, \"c_ns\": %.0f, \"cpp_ns\": %.0f, \"cpp_spans_ns\": %.0f, "
              "\"cpp_more_ns\": %.0f, \"cpp_spans_more_ns\": %.0f}\n",
              count, median(c), median(cpp), median(spans), median(more), median(moreOfSpans));
}

} // namespace

int main(int argc, char **argv) {
  const bool compile = argc > 1 && std::strcmp(argv[1], "compile") == 0;
  const int at = compile ? 2 : 1;
  const int count = argc > at ? int(std::strtol(argv[at], nullptr, 10)) : compile ? 21 : 20000;
  if (!compile) {
    searches(count);
    return 0;
  }
  compiles(count, "weighted_l2", weightedL2);
  compiles(count, "aging_cosine", agingCosine);
  links(count);
  return 0;
}
