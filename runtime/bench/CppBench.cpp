//===- CppBench.cpp - What annudf.hpp costs beside the C API --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Searches of one query in a tiny index, in turns through C and through C++: each call of the one
// is followed by one of the other. Prints medians, and the median of the differences.
//
//===----------------------------------------------------------------------===//

#include "annudf-c/annudf.h"
#include "annudf/annudf.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

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

} // namespace

int main(int argc, char **argv) {
  const int count = argc > 1 ? int(std::strtol(argv[1], nullptr, 10)) : 20000;
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
    const annudf_vectors rows = {sizeof rows, query.data(), 1, kDims, ANNUDF_ELEMENT_F32};
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
