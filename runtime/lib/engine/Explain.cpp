//===- Explain.cpp - How a metric comes to a distance ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Explain.h"

#include <bit>
#include <cmath>

namespace annudf::runtime {

double Explanation::value(int64_t step, size_t field) const {
  const uint64_t word = bits.at(static_cast<size_t>(step) * fields.size() + field);
  switch (fields.at(field)) {
  case ANNUDF_ACCUMULATOR_F32:
    return std::bit_cast<float>(static_cast<uint32_t>(word));
  case ANNUDF_ACCUMULATOR_F64:
    return std::bit_cast<double>(word);
  case ANNUDF_ACCUMULATOR_I32:
    return std::bit_cast<int32_t>(static_cast<uint32_t>(word));
  case ANNUDF_ACCUMULATOR_U32:
    return static_cast<uint32_t>(word);
  case ANNUDF_ACCUMULATOR_I64:
    return static_cast<double>(std::bit_cast<int64_t>(word));
  case ANNUDF_ACCUMULATOR_STRUCT:
    break;
  }
  throw std::logic_error("a field of an accumulator is no number");
}

int64_t Explanation::firstNan() const {
  for (int64_t step = 0; step < steps(); ++step)
    for (size_t field = 0; field < fields.size(); ++field)
      if (std::isnan(value(step, field)))
        return step - 1;
  return steps() - 1;
}

std::string Explanation::nanText() const {
  const int64_t first = firstNan();
  if (first < 0)
    return "init makes the accumulator NaN";
  if (first < steps() - 1)
    return "dimension " + std::to_string(first) + " turns the accumulator NaN";
  return std::isnan(distance) ? "finalize makes NaN of the accumulator" : "nothing is NaN";
}

} // namespace annudf::runtime
