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
#include <stdexcept>

namespace annudf::runtime::cuda {

namespace {

/// Those of a family's kernels that are not there.
std::vector<ScanTarget> missingOf(const LinkQuestion &question, const CudaFamily &family) {
  std::vector<ScanTarget> missing;
  for (const ScanEntry &entry : family.entriesFor(question.work))
    if (!question.isThere(entry))
      missing.push_back({question.elements, question.sm, entry});
  return missing;
}

std::string keyOf(const MetricView &metric, const ScanTarget &target) {
  return metric.digest + "/" + std::to_string(int(metric.as)) + "/" +
         std::to_string(int(target.elements.rows)) + "/" +
         std::to_string(int(target.elements.queries)) + "/" + std::to_string(target.sm) + "/" +
         target.entry.kernel;
}

/// The family whose hooks' text says what an update costs: a link of it is short.
const CudaFamily &pairs() {
  for (const CudaFamily *family : families())
    if (std::string_view(family->name()) == "pairs")
      return *family;
  throw std::logic_error("no CUDA family is called pairs, by which links are estimated");
}

} // namespace

std::vector<const CudaFamily *> LinksAhead::missing(const LinkQuestion &question) const {
  std::vector<const CudaFamily *> missing;
  for (const CudaFamily *family : question.needed)
    if (!missingOf(question, *family).empty())
      missing.push_back(family);
  return missing;
}

std::optional<double> LinksAhead::slotsOf(const LinkQuestion &question) {
  bool made = false;
  return *slots_.get(
      question.metric.digest + "/" + std::to_string(question.sm),
      [&] {
        const auto hooks = hookText(question.metric.artifact,
                                    {question.elements, question.sm, pairs().entries().front()});
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
    if (!family->isExact())
      return nullptr;
    double leftMs = family->linkMs();
    for (const ScanTarget &target : missingOf(question, *family)) {
      const std::string key = keyOf(question.metric, target);
      if (background_.failed(key)) // This search is told why.
        return nullptr;
      if (const auto since = background_.since(key))
        leftMs = std::min(leftMs, std::max(0.0, family->linkMs() - msSince(*since)));
    }
    waitMs += leftMs;
  }
  // None that is slower than pairs, for which the search's time is estimated.
  const double most = pairs().cost(question.work, question.machine);
  std::vector<LinkCandidate> candidates;
  for (const CudaFamily *family : families())
    if (std::find(missing.begin(), missing.end(), family) == missing.end() &&
        family->isFor(question.work) && family->isForMachine(question.machine) &&
        !whyNot(*family, question.work, question.machine) &&
        family->cost(question.work, question.machine) <= most)
      candidates.push_back({family, missingOf(question, *family).empty()});
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
  if (chosen && missingOf(question, *chosen).empty() && !hasLinkedFor(question.sm))
    return nullptr;
  return chosen;
}

const CudaFamily *LinksAhead::begin(const LinkQuestion &question) {
  const std::vector<const CudaFamily *> missing = this->missing(question);
  if (missing.empty() || !hasLinkedFor(question.sm))
    return nullptr;
  std::vector<ScanTarget> targets;
  for (const CudaFamily *family : missing)
    for (const ScanTarget &target : missingOf(question, *family))
      targets.push_back(target);
  if (std::all_of(targets.begin(), targets.end(), [&](const ScanTarget &target) {
        return background_.since(keyOf(question.metric, target));
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
  for (const ScanTarget &target : targets) {
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
