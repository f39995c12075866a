//===- Plan.cpp - Which kernels run a search ------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Plan.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <utility>

namespace annudf::runtime {
namespace {

template <class Enum> bool allows(const EnumSet<Enum> &allowed, Enum value) {
  return allowed.empty() || allowed.contains(value);
}

/// A filter's share, for people.
std::string passText(const Workload &work) {
  if (work.passingShare() >= 1)
    return "";
  char text[64];
  std::snprintf(text, sizeof text, ", %.3g %% of rows pass%s", work.passingShare() * 100,
                work.gathered ? " and are gathered" : "");
  return text;
}

} // namespace

double Workload::groupsThatPass(int32_t rows) const {
  return pass >= 1 ? 1 : -std::expm1(rows * std::log1p(-pass));
}

Workload workloadOf(const Manifest &manifest) {
  Workload work;
  for (annudf_hook hook : manifest.hooks)
    work.hooks.insert(hook);
  work.accumulator = manifest.accumulator;
  work.compute = manifest.compute;
  work.widths = manifest.hookWidths();
  if (manifest.form)
    work.noBounds = Reason::None;
  work.formIsDistance =
      manifest.form &&
      (manifest.form->lengths || manifest.form->finalize == QuadraticForm::Finalize::Identity);
  if (manifest.packed)
    for (const PackedElement &entry : manifest.packed->elements)
      work.packedDims = std::max(work.packedDims, entry.dims);
  return work;
}

Workload workloadOf(const Manifest &manifest, const RowStore &index, int64_t queries, int k,
                    uint32_t probes) {
  Workload work = workloadOf(manifest);
  work.element = index.element();
  work.packedDims = manifest.packed ? manifest.packed->dimsOf(work.element) : 0;
  work.dims = index.dims();
  work.rows = index.size();
  work.lists = index.nLists();
  work.rowBytes = static_cast<uint32_t>(index.words()) * sizeof(uint32_t);
  work.queries = queries;
  work.probes = probes;
  work.k = k;
  if (index.missingValues()) // Products would spread what is missing over a whole row.
    work.noBounds = Reason::MissingValues, work.formIsDistance = false;
  return work;
}

Refusal whatIsMissing(const KernelFamily &family, const Workload &work, const Machine &machine) {
  const FamilyNeeds needs = family.needs();
  if (!needs.hooks.isWithin(work.hooks))
    return {Reason::NoHook, needs.hooks.firstNotIn(work.hooks)};
  if (!allows(needs.accumulators, work.accumulator))
    return {Reason::OtherAccumulator, work.accumulator};
  if (!allows(needs.computes, work.compute))
    return {Reason::OtherCompute, work.compute};
  if (!allows(needs.elements, work.element))
    return {Reason::OtherElement, work.element};
  if (needs.onlyArch && machine.arch != needs.arch)
    return {Reason::OtherArch, needs.arch, machine.arch};
  if (machine.arch < needs.arch)
    return {Reason::OlderArch, needs.arch, machine.arch};
  return {};
}

Refusal whyNot(const KernelFamily &family, const Workload &work, const Machine &machine) {
  if (Refusal missing = whatIsMissing(family, work, machine))
    return missing;
  return family.unfit(work, machine);
}

size_t familyNamed(std::span<const KernelFamily *const> families, const std::string &name) {
  for (size_t i = 0; i < families.size(); ++i)
    if (families[i]->name() == name)
      return i;
  std::string names;
  for (const KernelFamily *family : families)
    names += (names.empty() ? "" : ", ") + std::string(family->name());
  throw Error(ErrorKind::Usage,
              "no family of kernels is called '" + name + "'; there are " + names);
}

void RefusedFamilies::add(const KernelFamily &family, Refusal why) {
  if (count_ == all_.size())
    throw std::logic_error("more than " + std::to_string(count_) + " families were refused");
  all_[count_++] = {&family, std::move(why)};
}

bool RefusedFamilies::contains(const KernelFamily &family) const {
  return std::any_of(begin(), end(), [&](const One &one) { return one.family == &family; });
}

namespace {

/// "tiles: it needs sm_75 or newer, this GPU is sm_70; pairs: ..."
std::string textOf(const RefusedFamilies &refused) {
  std::string text;
  for (const auto &[family, why] : refused)
    text += (text.empty() ? "" : "; ") + std::string(family->name()) + ": " + textOf(why);
  return text;
}

/// Where a search names the family.
[[noreturn]] void refuse(const KernelFamily &family, const Refusal &why) {
  throw Error(ErrorKind::Input,
              "family '" + std::string(family.name()) + "' cannot run this search: " + textOf(why));
}

/// \param refused  those that are not to be taken; what else cannot run the search is added.
const KernelFamily &cheapest(std::span<const KernelFamily *const> families, const Workload &work,
                             const Machine &machine, RefusedFamilies &refused) {
  if (!work.family.empty()) {
    const KernelFamily &named = *families[familyNamed(families, work.family)];
    if (const Refusal why = whyNot(named, work, machine))
      refuse(named, why);
    return named;
  }
  const KernelFamily *best = nullptr;
  double least = 0;
  for (const KernelFamily *family : families) {
    if (!family->isFor(work) || !family->isForMachine(machine) || refused.contains(*family))
      continue;
    if (Refusal why = whyNot(*family, work, machine)) {
      refused.add(*family, std::move(why));
      continue;
    }
    const double cost = family->cost(work, machine);
    if (!best || cost < least)
      best = family, least = cost;
  }
  if (!best)
    throw Error(ErrorKind::Input, "no family of kernels can run this search: " + textOf(refused));
  return *best;
}

} // namespace

ExecutionPlan makePlan(std::span<const KernelFamily *const> families, const Workload &asked,
                       const Machine &machine, Resources &resources) {
  plannerCounts().plans += 1;
  Workload work = asked;
  RefusedFamilies refused;
  Refusal without;
  for (;;) {
    const KernelFamily &best = cheapest(families, work, machine, refused);
    Resources::Admission admission = resources.admit(best, work);
    if (admission.verdict == Resources::Admission::Verdict::Refused) {
      if (!work.family.empty())
        refuse(best, admission.why);
      refused.add(best, std::move(admission.why));
      continue;
    }
    if (admission.why)
      without = std::move(admission.why);
    if (admission.verdict == Resources::Admission::Verdict::Changed)
      continue;
    const Resources::Instead instead = resources.insteadOf(best, work);
    const KernelFamily &family = instead.family ? *instead.family : best;
    const int64_t batch = resources.batchOf(family, work);
    return {&family,        batch, std::move(work), machine, std::move(refused), std::move(without),
            instead.linking};
  }
}

ExecutionPlan makePlan(std::span<const KernelFamily *const> families, const Workload &work,
                       const Machine &machine) {
  Resources all;
  return makePlan(families, work, machine, all);
}

Workload gatheredWork(const Workload &work, int64_t rows) {
  Workload one = work;
  one.gathered = work.passingShare();
  one.rows = rows, one.lists = one.probes = 1, one.probedRows = double(rows);
  one.pass = 1;
  if (one.noBounds == Reason::None)
    one.noBounds = Reason::Gathered;
  return one;
}

double leastCost(std::span<const KernelFamily *const> families, const Workload &work,
                 const Machine &machine) {
  double least = std::numeric_limits<double>::infinity();
  for (const KernelFamily *family : families) {
    const bool isAsked = work.family.empty() ? family->isFor(work) && family->isForMachine(machine)
                                             : work.family == family->name();
    if (isAsked && !whyNot(*family, work, machine))
      least = std::min(least, family->cost(work, machine));
  }
  return least;
}

Workload ExecutionPlan::workOf(int64_t queries) const {
  Workload of = work;
  of.queries = queries;
  return of;
}

std::string textOf(const ExecutionPlan &plan) {
  plannerCounts().texts += 1;
  const Workload work = plan.workOf(plan.batch);
  std::string text = plan.family->explain(work, plan.machine) + passText(work);
  if (const std::string others = textOf(plan.refused); !others.empty())
    text += "; not " + others;
  if (plan.without)
    text += "; " + textOf(plan.without);
  if (plan.linking)
    return text + "; " + plan.linking->name() + " is being linked";
  return work.family.empty() ? text : text + kByName;
}

PlannerCounts &plannerCounts() {
  thread_local PlannerCounts counts;
  return counts;
}

} // namespace annudf::runtime
