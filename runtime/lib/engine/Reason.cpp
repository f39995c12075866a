//===- Reason.cpp - The words of reasons ----------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Reason.h"

#include "annudf/Artifact/Artifact.h"
#include "annudf/runtime/engine/Plan.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace annudf::runtime {
namespace {

struct Words {
  Reason reason;
  /// {0}, {1} and {2} are numbers, {hook} and the like the first as the ABI spells it, {words}
  /// those of the refusal.
  std::string_view text;
};

constexpr Words kWords[] = {
    {Reason::None, ""},
    {Reason::NoHook, "the metric has no hook '{hook}'"},
    {Reason::OtherAccumulator, "it does not accumulate in {accumulator}"},
    {Reason::OtherCompute, "it does not compute in {compute}"},
    {Reason::OtherElement, "it does not read {element}"},
    {Reason::OlderArch, "it needs sm_{0} or newer, this GPU is sm_{1}"},
    {Reason::OtherArch, "it runs on sm_{0} only, this GPU is sm_{1}"},
    {Reason::NoForm, "the metric is not proved to be a quadratic form"},
    {Reason::MissingValues, "the index may hold missing values"},
    {Reason::ProductsAreOff, "the environment sets ANNUDF_MATRIX=0"},
    {Reason::EveryDistance, "the call computes every distance, not the k best"},
    {Reason::LinkerFuses, "the metric holds CUDA source, linked code or LTO-IR of another "
                          "compiler, which the linker may "
                          "round differently in each kernel"},
    {Reason::RatioByQuery, "its ratio reads a capture by query or in GPU memory, where only host "
                           "arrays without extent query are allowed"},
    {Reason::ManyNodes, "its coefficients take more than {0} steps for each query"},
    {Reason::NotHalved, "the rows have no copy in half precision yet"},
    {Reason::Gathered, "gathered rows are not converted for products"},
    {Reason::NotAskedBefore,
     "small searches use it from the second search by the same metric and captures on"},
    {Reason::NotBound, "{words}"},
    {Reason::FormIsNoDistance, "the metric has a finalize step, so its bound cannot be inverted"},
    {Reason::RatioWithoutNumber,
     "finalize gives NaN for a ratio just outside its range, which rounding may produce"},
    {Reason::ManyDims, "it takes at most {0} dims, the index has {1}"},
    {Reason::NotKept, "converted rows are not kept: {words}"},
    {Reason::ShortRows, "a row of {0} bytes is too short to split between warps, it needs {1}"},
    {Reason::ManyBest, "it finds at most {0} rows a query, k is {1}"},
    {Reason::WideCoordinates, "the metric takes coordinates of {0} bits, it needs 32"},
    {Reason::NoPackedSum, "the metric is not proved to be a packed sum of {element}"},
    {Reason::LongPackedSum, "a packed sum of {element} is exact up to {1} dims, the index has {2}"},
    {Reason::QueryBytes, "a query takes {0} bytes of shared memory, a block has {1}"},
    {Reason::QueryAndPartsBytes,
     "a query and its partial results take {0} bytes of shared memory, a block has {1}"},
    {Reason::TileBytes,
     "{2} queries and the prefetched rows take {0} bytes of shared memory, a block has {1}"},
    {Reason::TwoStagesBytes, "two stages take {0} bytes of shared memory, a block has {1}"},
    {Reason::ThreeStagesBytes, "three stages take {0} bytes of shared memory, a block has {1}"},
    {Reason::PanelBytes, "panels take {0} bytes of shared memory, a block has {1}"},
    {Reason::CoefficientBytes,
     "a query's coefficients take {0} bytes of shared memory, a block has {1}"},
};

constexpr bool isInOrder() {
  for (size_t i = 0; i < std::size(kWords); ++i)
    if (size_t(kWords[i].reason) != i)
      return false;
  return std::size(kWords) == kReasons;
}
static_assert(isInOrder(), "every reason has its words, in the order of the enum");

template <class Spelt> std::string spelt(uint64_t number) {
  return toString(static_cast<Spelt>(number));
}

std::string valueOf(std::string_view name, const Refusal &refusal) {
  const uint64_t first = refusal.numbers[0];
  if (name == "words")
    return refusal.words ? *refusal.words : "";
  if (name == "hook")
    return spelt<annudf_hook>(first);
  if (name == "accumulator")
    return spelt<annudf_accumulator>(first);
  if (name == "compute")
    return spelt<annudf_compute>(first);
  if (name == "element")
    return spelt<annudf_element>(first);
  return std::to_string(refusal.numbers.at(size_t(name.front() - '0')));
}

} // namespace

std::string textOf(const Refusal &refusal) {
  const auto at = size_t(refusal.reason);
  if (at >= std::size(kWords))
    throw std::logic_error("reason " + std::to_string(at) + " has no words; there are " +
                           std::to_string(kReasons) + " reasons");
  plannerCounts().texts += 1;
  std::string text;
  std::string_view rest = kWords[at].text;
  for (size_t open; (open = rest.find('{')) != std::string_view::npos;) {
    const size_t close = rest.find('}', open);
    text.append(rest.substr(0, open)) += valueOf(rest.substr(open + 1, close - open - 1), refusal);
    rest.remove_prefix(close + 1);
  }
  return text.append(rest);
}

} // namespace annudf::runtime
