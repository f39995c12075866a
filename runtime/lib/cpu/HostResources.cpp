//===- HostResources.cpp - What one search finds on the host --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostResources.h"

#include "Families.h"
#include "cpu/search/Batch.h"

#include <algorithm>

namespace annudf::runtime::cpu {

int64_t HostResources::batchOf(const KernelFamily &, const Workload &work) {
  const int64_t rows = search_.index.size(),
                coordinates = QueryCoordinates::bytes(work.dims, search_.queries, work.compute),
                products = matrix_ ? ProductScan::bytesOfQuery(work.dims) : 0,
                found = matrix_ && matrix_->hasRows() ? Survivors::bytesPerQuery(work.k, rows) : 0;
  return std::min(work.queries,
                  queriesPerBatch(work.k, rows, work.probes, coordinates + products + found));
}

Resources::Admission HostResources::admit(const KernelFamily &family, Workload &work) {
  using enum Admission::Verdict;
  if (&family != &matrixProducts())
    return {};
  const auto &[index, metric, captures, queries, firstQuery, kernel, slots, machine] = search_;
  bool made = false;
  const auto rows = index.attachments().get<ProductRows>(
      "cpu matrix", [] { return std::make_shared<ProductRows>(); }, made);
  const std::string key = metric.digest + captures.digest();
  if (work.rowsAreKept && !rows->wasAsked(key)) {
    // Whether more searches come nobody knows. One that would convert the rows as well, and those
    // of nearest lists had been read before, takes no longer with rows that stay.
    Workload once = work;
    once.rowsAreKept = false;
    if (work.probes >= work.lists || !isQuicker(once, machine)) {
      work.rowsAreKept = false;
      return {Changed};
    }
  }
  Refusal why;
  const Manifest &manifest = metric.artifact.manifest;
  const ProductKernels &kernels = matrixKernels();
  auto form = rows->bind(index, key, *manifest.form, captures, manifest.order, why);
  if (!form)
    return {Refused, why};
  std::shared_ptr<const KeptRows> kept;
  if (work.rowsAreKept) {
    kept = rows->get(index, kernels, key, *form, machine.processors, why);
    if (!kept) {
      work.rowsAreKept = false;
      return {Changed, why};
    }
  }
  matrix_.emplace(kernels, std::move(form), std::move(kept), work.k);
  if (!matrix_->setFinalize(kernel, manifest.order, slots, firstQuery)) {
    matrix_.reset();
    return {Refused, Reason::RatioWithoutNumber};
  }
  return {};
}

} // namespace annudf::runtime::cpu
