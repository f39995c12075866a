//===- Predicate.cpp - Which rows each query may find ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Predicate.h"

#include "annudf/Support/Error.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>

namespace annudf::runtime {

QueryBitmap::QueryBitmap(std::vector<uint32_t> words, int64_t queries, int64_t bits)
    : words_(std::move(words)), queries_(queries), bits_(bits) {
  if (queries < 1 || bits < 1 || bits > std::numeric_limits<int64_t>::max() / 2 / queries)
    throw Error(ErrorKind::Usage, "bitmap: it has " + std::to_string(queries) + " queries and " +
                                      std::to_string(bits) +
                                      " bits for each; give a bit for each query and id");
  const int64_t all = queries * bits;
  if (!std::cmp_equal(words_.size(), RowFilter::wordsFor(all)))
    throw Error(ErrorKind::Usage, "bitmap: it has " + std::to_string(words_.size()) +
                                      " words for " + std::to_string(queries) + " x " +
                                      std::to_string(bits) + " bits; give " +
                                      std::to_string(RowFilter::wordsFor(all)));
  if (all % 32 != 0)
    words_.back() &= (uint32_t(1) << (all % 32)) - 1;
  for (const uint32_t word : words_)
    count_ += std::popcount(word);
}

Predicate::Predicate(std::vector<Step> steps) : steps_(std::move(steps)) {
  int left = 0;
  for (const Step &step : steps_) {
    const auto *join = std::get_if<Join>(&step);
    const int taken = !join ? 0 : *join == Join::Not ? 1 : 2;
    if (left < taken)
      throw Error(ErrorKind::Usage, "predicate: a join of " + std::to_string(taken) +
                                        " filters follows " + std::to_string(left) +
                                        "; give operands before their join");
    left += 1 - taken;
    depth_ = std::max(depth_, left);
  }
  if (left != 1)
    throw Error(ErrorKind::Usage, "predicate: its steps leave " + std::to_string(left) +
                                      " results; join them to one");
}

} // namespace annudf::runtime
