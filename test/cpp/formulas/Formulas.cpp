//===- Formulas.cpp - Formulas in C++, for the test of one formula --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: annudf_formulas FOLDER DIMS [cuda]
//
// test/python/frontend/test_one_formula.py has the same formulas in Python, and this folder has
// them as text. For each element type it writes FOLDER/<type>.x and <type>.y, rows as they lie in
// memory; this writes FOLDER/<formula>.<type>, the float32 distances of each x to each y, and
// <formula>.mlir, what was traced. For the filter: <formula>.<type>, int64 ids of the rows found.
//
//===----------------------------------------------------------------------===//

#include "annudf/annudf.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace {

template <class T> struct Sums {
  T xy, xx, yy;
};
template <class Size, class Count> struct Differences {
  Size sizes;
  Count ones;
};

std::string gFolder;
std::int64_t gDims;
annudf::backend gBackend;

template <class T> std::vector<T> read(const std::string &name) {
  std::ifstream file(gFolder + "/" + name, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty())
    throw std::runtime_error(gFolder + "/" + name + " is empty or not there");
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

void write(const std::string &name, const void *data, std::size_t bytes) {
  std::ofstream file(gFolder + "/" + name, std::ios::binary);
  file.write(static_cast<const char *>(data), std::streamsize(bytes));
  if (!file.flush())
    throw std::runtime_error("cannot write " + gFolder + "/" + name);
}

template <class T> void measure(const std::string &type, const annudf::bound_metric &metric) {
  const std::vector<T> x = read<T>(type + ".x"), y = read<T>(type + ".y");
  const auto distances =
      annudf::pairwise_distance(annudf::matrix_view(x, gDims), annudf::matrix_view(y, gDims),
                                {.metric = metric, .backend = gBackend});
  write(metric.artifact().name() + "." + type, distances.data(),
        std::size_t(distances.rows() * distances.cols()) * sizeof(float));
}

void measure(const annudf::bound_metric &metric, annudf::elements of) {
  write(metric.artifact().name() + ".mlir", metric.text().data(), metric.text().size());
  if (of.contains(annudf::element::f32))
    measure<float>("f32", metric);
  if (of.contains(annudf::element::f16))
    measure<annudf::float16>("f16", metric);
  if (of.contains(annudf::element::bf16))
    measure<annudf::bfloat16>("bf16", metric);
  if (of.contains(annudf::element::i8))
    measure<std::int8_t>("i8", metric);
  if (of.contains(annudf::element::u8))
    measure<std::uint8_t>("u8", metric);
  if (of.contains(annudf::element::bits))
    measure<annudf::packed_bits>("bits", metric);
}

template <class T> void find(const std::string &type, const annudf::code_filter &filter) {
  namespace ivf_flat = annudf::ivf_flat;
  const std::vector<T> x = read<T>(type + ".x"), y = read<T>(type + ".y");
  const auto index = ivf_flat::build({.n_lists = 1}, annudf::matrix_view(y, gDims));
  const auto kept = ivf_flat::filter(index, filter, 0, {.backend = gBackend});
  const auto found = ivf_flat::search(index, annudf::matrix_view(x, gDims), index.size(),
                                      {.n_probes = 1, .filter = kept, .backend = gBackend});
  write(filter.artifact().name() + "." + type, found.neighbors.data(),
        std::size_t(found.neighbors.rows() * found.neighbors.cols()) * sizeof(std::int64_t));
}

void run() {
  using annudf::element;
  constexpr annudf::elements all{element::f32, element::f16, element::bf16,
                                 element::i8,  element::u8,  element::bits};
  constexpr annudf::elements whole{element::i8, element::u8, element::bits};
  const auto weights = read<float>("weights");
  const auto prices = read<float>("prices");

  measure(
      annudf::metric("sizes", [](auto x, auto y, auto acc) { return acc + annudf::abs(x - y); }),
      all);
  measure(annudf::metric("squares",
                         [](auto x, auto y, auto acc) {
                           auto d = x - y;
                           return acc + d * d;
                         }),
          all);
  measure(annudf::metric(
              "weighted",
              [w = annudf::capture<float>("w", annudf::dim)](auto x, auto y, auto acc, auto ctx) {
                auto d = x - y;
                return acc + w[ctx.dim] * d * d;
              })
              .bind({{"w", weights}}),
          all);
  measure(annudf::metric(
              "angle",
              annudf::hooks{
                  .initial = Sums<float>{},
                  .update =
                      [](auto x, auto y, auto acc) {
                        return Sums{acc.xy + x * y, acc.xx + x * x, acc.yy + y * y};
                      },
                  .finalize = [](auto acc) { return 1 - acc.xy / annudf::sqrt(acc.xx * acc.yy); }},
              {.coarse = annudf::coarse::cosine}),
          all);
  measure(annudf::metric("differences",
                         annudf::hooks{.compute = annudf::compute<std::int32_t>,
                                       .initial = Differences<std::int32_t, std::uint32_t>{},
                                       .update =
                                           [](auto x, auto y, auto acc) {
                                             return Differences{
                                                 acc.sizes + annudf::abs(x - y),
                                                 acc.ones + annudf::cast<std::uint32_t>(
                                                                annudf::popcount((x ^ y) & 255))};
                                           },
                                       .finalize =
                                           [](auto acc) {
                                             return acc.sizes * 64 +
                                                    annudf::cast<std::int32_t>(acc.ones);
                                           }}),
          whole);

  const auto affordable =
      annudf::code_filter("affordable", [price = annudf::capture<float>("price", annudf::row),
                                         most = annudf::capture<float>("most")](auto ctx) {
        return price[ctx.row] <= most && ctx.row != 7;
      }).bind({{"price", prices}, {"most", 0.5F}});
  write("affordable.mlir", affordable.text().data(), affordable.text().size());
  find<float>("f32", affordable);
  find<annudf::float16>("f16", affordable);
  find<annudf::bfloat16>("bf16", affordable);
  find<std::int8_t>("i8", affordable);
  find<std::uint8_t>("u8", affordable);
  find<annudf::packed_bits>("bits", affordable);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3 || argc > 4) {
    std::fprintf(stderr, "usage: annudf_formulas FOLDER DIMS [cuda]\n");
    return 2;
  }
  try {
    gFolder = argv[1];
    gDims = std::strtoll(argv[2], nullptr, 10);
    gBackend = argc == 4 ? annudf::backend::cuda(0) : annudf::backend::cpu(1);
    run();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "annudf_formulas: %s\n", error.what());
    return 1;
  }
  return 0;
}
