//===- Filters.cpp - Filters in the C API ---------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchArguments.h"

#include "annudf/runtime/engine/FilterCode.h"

#include <algorithm>
#include <limits>

using namespace annudf;
using namespace annudf::capi;

static void give(annudf_filter **to, runtime::RowFilter filter) {
  *to = new annudf_filter(std::move(filter));
}

static int64_t checkCount(const char *name, int64_t count) {
  return checkRange(name, count, 1, std::numeric_limits<int64_t>::max() - 31);
}

annudf_status annudf_filter_from_bitset(const uint32_t *words, int64_t bits,
                                        annudf_filter **filter) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(words, "words");
    call.refuseNull(filter, "filter");
    const int64_t count = runtime::RowFilter::wordsFor(checkCount("bits", bits));
    give(filter, {std::vector<uint32_t>(words, words + count), bits});
  });
}

annudf_status annudf_filter_from_bytes(const uint8_t *bytes, int64_t count,
                                       annudf_filter **filter) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(bytes, "bytes");
    call.refuseNull(filter, "filter");
    std::vector<uint32_t> words(
        static_cast<size_t>(runtime::RowFilter::wordsFor(checkCount("count", count))));
    for (int64_t i = 0; i < count; ++i)
      words[static_cast<size_t>(i / 32)] |= uint32_t(bytes[i] != 0) << (i % 32);
    give(filter, {std::move(words), count});
  });
}

annudf_status annudf_filter_from_bitmap(const uint32_t *words, int64_t queries, int64_t bits,
                                        annudf_filter **filter) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(words, "words");
    call.refuseNull(filter, "filter");
    checkRange("queries", queries, 1, std::numeric_limits<int32_t>::max());
    const int64_t most =
        std::min(runtime::kMostFilterIds, std::numeric_limits<int64_t>::max() / 2 / queries);
    const int64_t count = runtime::RowFilter::wordsFor(queries * checkRange("bits", bits, 1, most));
    *filter = new annudf_filter({std::make_shared<const runtime::QueryBitmap>(
        std::vector<uint32_t>(words, words + count), queries, bits)});
  });
}

annudf_status annudf_filter_from_code(const annudf_artifact *artifact,
                                      const annudf_captures *captures, annudf_filter **filter) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(artifact, "artifact");
    call.refuseNull(filter, "filter");
    *filter = filterOfCode(*artifact, captures);
  });
}

/// The filter keeps copies, so the handles may go.
annudf_filter *capi::filterOfCode(const annudf_artifact &artifact,
                                  const annudf_captures *captures) {
  auto code = std::make_shared<const runtime::Metric>(
      runtime::Metric{artifact.value, artifact.digest, originOf(artifact)});
  runtime::checkRole(runtime::MetricView(*code).asFilter());
  auto bound = std::make_shared<const runtime::BoundCaptures>(captures ? captures->value
                                                                       : runtime::BoundCaptures());
  return new annudf_filter({runtime::Predicate::Code{std::move(code), std::move(bound)}});
}

annudf_status annudf_filter_combine(int32_t how, const annudf_filter *a, const annudf_filter *b,
                                    annudf_filter **filter) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(a, "a");
    call.refuseNull(filter, "filter");
    if (how == ANNUDF_FILTER_NOT) {
      if (b)
        call.refuse("b is a filter, but how is ANNUDF_FILTER_NOT; give NULL");
      if (a->value)
        return give(filter, a->value->inverted());
      std::vector<runtime::Predicate::Step> steps = a->steps();
      steps.emplace_back(runtime::Predicate::Join::Not);
      *filter = new annudf_filter(std::move(steps));
      return;
    }
    call.refuseNull(b, "b");
    if (how != ANNUDF_FILTER_AND && how != ANNUDF_FILTER_OR)
      call.refuse("how is " + std::to_string(how) + "; use a value of enum annudf_filter_join");
    const bool isAnd = how == ANNUDF_FILTER_AND;
    if (a->value && b->value)
      return give(filter, (isAnd ? runtime::RowFilter::both
                                 : runtime::RowFilter::either)(*a->value, *b->value));
    std::vector<runtime::Predicate::Step> steps = a->steps();
    for (runtime::Predicate::Step &step : b->steps())
      steps.push_back(std::move(step));
    steps.emplace_back(isAnd ? runtime::Predicate::Join::And : runtime::Predicate::Join::Or);
    *filter = new annudf_filter(std::move(steps));
  });
}

const annudf_filter_info *annudf_filter_get(const annudf_filter *filter) {
  return filter ? &filter->info : nullptr;
}

void annudf_filter_destroy(annudf_filter *filter) { delete filter; }
