//===- LinksAhead.cpp - Kernels linked in the background ------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinksAhead.h"

#include "Template.h"

#include "annudf/runtime/support/Clock.h"

#include <algorithm>

namespace annudf::runtime::cuda {

namespace {

ScanTarget targetOf(const LinkQuestion &question, const CudaFamily &family) {
  return {question.elements, question.sm, family.entry()};
}

std::string keyOf(const MetricView &metric, const ScanTarget &target) {
  return metric.digest + "/" + std::to_string(int(metric.as)) + "/" +
         std::to_string(int(target.elements.rows)) + "/" +
         std::to_string(int(target.elements.queries)) + "/" + std::to_string(target.sm) + "/" +
         target.entry.kernel;
}

/// The family whose hooks' text says what an update costs: a link of it is short.
const CudaFamily &pairs() {
  return **std::find_if(families().begin(), families().end(), [](const CudaFamily *family) {
    return std::string_view(family->name()) == "pairs";
  });
}

} // namespace

std::vector<const CudaFamily *> LinksAhead::missing(const LinkQuestion &question) const {
  std::vector<const CudaFamily *> missing;
  for (const CudaFamily *family : question.needed)
    if (!question.isThere(*family))
      missing.push_back(family);
  return missing;
}

std::optional<double> LinksAhead::slotsOf(const LinkQuestion &question) {
  bool made = false;
  return *slots_.get(
      question.metric.digest + "/" + std::to_string(question.sm),
      [&] {
        const auto hooks = hookText(question.metric.artifact, targetOf(question, pairs()));
        return std::make_shared<const std::optional<double>>(hooks ? updateSlots(*hooks)
                                                                   : std::nullopt);
      },
      made);
}

const CudaFamily *LinksAhead::insteadOf(const LinkQuestion &question) {
  const std::vector<const CudaFamily *> missing = this->missing(question);
  if (missing.empty() || !isFusedAhead(question.metric.artifact, question.sm))
    return nullptr;
  double waitMs = 0;
  for (const CudaFamily *family : missing) {
    const std::string key = keyOf(question.metric, targetOf(question, *family));
    if (!family->isExact() || background_.failed(key)) // This search is told why.
      return nullptr;
    const auto since = background_.since(key);
    waitMs += since ? std::max(0.0, family->linkMs() - msSince(*since)) : family->linkMs();
  }
  // None that is slower than pairs, for which the search's time is estimated.
  const double most = pairs().cost(question.work, question.machine);
  std::vector<LinkCandidate> candidates;
  for (const CudaFamily *family : families())
    if (std::find(missing.begin(), missing.end(), family) == missing.end() &&
        family->isFor(question.work) && whyNot(*family, question.work, question.machine).empty() &&
        family->cost(question.work, question.machine) <= most)
      candidates.push_back({family, question.isThere(*family)});
  const auto choose = [&](double slots) {
    return insteadOfWaiting(candidates, waitMs,
                            scanMsAtMost(question.work, question.machine, question.rows, slots));
  };
  if (!choose(0)) // The hook's text takes some milliseconds, too.
    return nullptr;
  const std::optional<double> slots = slotsOf(question);
  const CudaFamily *chosen = slots ? choose(*slots) : nullptr;
  // exit() undoes what nvJitLink makes with its first link before it waits for a later one, unless
  // that is the first.
  if (chosen && question.isThere(*chosen) && !hasLinkedFor(question.sm))
    return nullptr;
  return chosen;
}

const CudaFamily *LinksAhead::begin(const LinkQuestion &question) {
  const std::vector<const CudaFamily *> missing = this->missing(question);
  if (missing.empty() || !hasLinkedFor(question.sm))
    return nullptr;
  if (std::all_of(missing.begin(), missing.end(), [&](const CudaFamily *family) {
        return background_.since(keyOf(question.metric, targetOf(question, *family)));
      }))
    return missing.front();
  // Its own, as the search may end before the link.
  struct Copy {
    Metric metric;
    annudf_role as;
  };
  const auto copy = std::make_shared<const Copy>(
      Copy{{question.metric.artifact, question.metric.digest, question.metric.origin},
           question.metric.as});
  for (const CudaFamily *family : missing) {
    const ScanTarget target = targetOf(question, *family);
    if (!background_.add(this, keyOf(question.metric, target), [&links = links_, copy, target] {
          MetricView metric = copy->metric;
          metric.as = copy->as;
          links.link(metric, target);
        }))
      return nullptr;
  }
  return missing.front();
}

} // namespace annudf::runtime::cuda
