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

namespace annudf::runtime {
namespace {

template <class T> bool allows(const std::vector<T> &allowed, const T &value) {
  return allowed.empty() || std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

/// Of a filter, for people.
std::string passText(const Workload &work) {
  if (work.pass >= 1)
    return "";
  char text[48];
  std::snprintf(text, sizeof text, ", %.3g %% of rows pass", work.pass * 100);
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
    work.noForm = nullptr;
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
    work.noForm = "coordinates may be missing", work.formIsDistance = false;
  return work;
}

std::string whatIsMissing(const KernelFamily &family, const Workload &work,
                          const Machine &machine) {
  const FamilyNeeds needs = family.needs();
  for (annudf_hook hook : needs.hooks)
    if (!work.hooks.contains(hook))
      return std::string("the metric has no hook '") + toString(hook) + "'";
  if (!allows(needs.accumulators, work.accumulator))
    return std::string("it does not accumulate in ") + toString(work.accumulator);
  if (!allows(needs.computes, work.compute))
    return std::string("it does not compute in ") + toString(work.compute);
  if (!allows(needs.elements, work.element))
    return std::string("it does not read ") + toString(work.element);
  if (machine.arch < needs.arch)
    return "it needs sm_" + std::to_string(needs.arch) + ", this is sm_" +
           std::to_string(machine.arch);
  if (needs.onlyArch && machine.arch != needs.arch)
    return "it is made of instructions of sm_" + std::to_string(needs.arch) +
           " alone, this is sm_" + std::to_string(machine.arch);
  return "";
}

std::string whyNot(const KernelFamily &family, const Workload &work, const Machine &machine) {
  const std::string missing = whatIsMissing(family, work, machine);
  return missing.empty() ? family.unfit(work, machine) : missing;
}

Error familyRefusal(const std::string &family, const std::string &why) {
  return {ErrorKind::Input, "family '" + family + "' cannot run this search: " + why};
}

size_t familyNamed(std::span<const KernelFamily *const> families, const std::string &name) {
  std::string names;
  for (size_t i = 0; i < families.size(); ++i) {
    if (families[i]->name() == name)
      return i;
    names += (names.empty() ? "" : ", ") + std::string(families[i]->name());
  }
  throw Error(ErrorKind::Usage,
              "no family of kernels is called '" + name + "'; there are " + names);
}

Choice pick(std::span<const KernelFamily *const> families, const Workload &work,
            const Machine &machine) {
  if (!work.family.empty()) {
    const size_t named = familyNamed(families, work.family);
    if (const std::string why = whyNot(*families[named], work, machine); !why.empty())
      throw familyRefusal(work.family, why);
    return {named, ""};
  }
  size_t best = families.size();
  double least = 0;
  std::string refusals;
  for (size_t i = 0; i < families.size(); ++i) {
    if (!families[i]->isFor(work) || !families[i]->isForMachine(machine))
      continue;
    if (const std::string why = whyNot(*families[i], work, machine); !why.empty()) {
      refusals += (refusals.empty() ? "" : "; ") + std::string(families[i]->name()) + ": " + why;
      continue;
    }
    const double cost = families[i]->cost(work, machine);
    if (best == families.size() || cost < least)
      best = i, least = cost;
  }
  if (best == families.size())
    throw Error(ErrorKind::Input, "no family of kernels can run this search: " + refusals);
  return {best, std::move(refusals)};
}

Plan choose(std::span<const KernelFamily *const> families, const Workload &work,
            const Machine &machine) {
  const Choice choice = pick(families, work, machine);
  const KernelFamily &chosen = *families[choice.family];
  return {choice.family, chosen.name(),
          chosen.explain(work, machine) + passText(work) +
              (choice.refusals.empty() ? "" : "; not " + choice.refusals)};
}

} // namespace annudf::runtime
