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
    {Reason::OlderArch, "it needs sm_{0}, this is sm_{1}"},
    {Reason::OtherArch, "it is made of instructions of sm_{0} alone, this is sm_{1}"},
    {Reason::NoForm, "it is not proved to be a quadratic form"},
    {Reason::MissingValues, "coordinates may be missing"},
    {Reason::ProductsAreOff, "ANNUDF_MATRIX is 0"},
    {Reason::EveryDistance, "every distance is wanted"},
    {Reason::LinkerFuses, "the linker decides which products are fused, in each kernel"},
    {Reason::RatioByQuery,
     "the coefficients of its ratio are entries by query or in a device's memory"},
    {Reason::ManyNodes, "its coefficients of each query are made of more than {0} nodes"},
    {Reason::NotHalved, "its rows are not there in half precision"},
    {Reason::NotAskedBefore, "nobody has asked for it before"},
    {Reason::NotBound, "{words}"},
    {Reason::FormIsNoDistance, "its distance is not the form itself, which limits are found by"},
    {Reason::RatioWithoutNumber, "finalize gives no number for a ratio that rounding may give"},
    {Reason::ManyDims, "it takes at most {0} dims"},
    {Reason::NotKept, "no rows kept: {words}"},
    {Reason::ShortRows, "a row of {0} bytes is too short to be shared"},
    {Reason::ManyBest, "it finds up to {0} rows a query"},
    {Reason::WideCoordinates, "coordinates take {0} bits"},
    {Reason::NoPackedSum, "no sum of packed {element} is proved to be it"},
    {Reason::LongPackedSum, "a packed sum of {element} is exact up to {1} dims"},
    {Reason::QueryBytes, "a query takes {0} bytes of shared memory, a block has {1}"},
    {Reason::QueryAndPartsBytes,
     "a query and the parts take {0} bytes of shared memory, a block has {1}"},
    {Reason::TileBytes,
     "{2} queries and the rows ahead take {0} bytes of shared memory, a block has {1}"},
    {Reason::TwoStagesBytes, "two stages take {0} bytes of shared memory, a block has {1}"},
    {Reason::ThreeStagesBytes, "three stages take {0} bytes of shared memory, a block has {1}"},
    {Reason::PanelBytes, "panels take {0} bytes of shared memory, a block has {1}"},
    {Reason::CoefficientBytes,
     "coefficients of each query take {0} bytes of shared memory, a block has {1}"},
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
