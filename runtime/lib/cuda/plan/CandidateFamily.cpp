//===- CandidateFamily.cpp - The family of kernels for candidates ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "FamilyCosts.h"

namespace annudf::runtime::cuda {

namespace {

/// As pairs, of rows that are not in groups (Candidates.cuh).
class Candidates final : public CudaFamily {
public:
  const char *name() const override { return "candidates"; }
  std::span<const ScanEntry> entries() const override {
    static constexpr ScanEntry kEntry = {ScanSource::Candidates, "annudf_scan_candidates"};
    return {&kEntry, 1};
  }
  double linkMs() const override { return 71; } // As parts.
  FamilyNeeds needs() const override { return {.arch = 75}; }
  Refusal unfit(const Workload &work, const Machine &machine) const override {
    return unfitBytes(Reason::QueryBytes, bytes(work), machine);
  }
  double cost(const Workload &work, const Machine &) const override {
    return readingsOfPairs(work);
  }
  std::string explain(const Workload &, const Machine &) const override {
    return "each query has rows of its own";
  }
  void enqueue(ScanQueue &queue, const Workload &batch) const override {
    queue.scan(static_cast<uint64_t>(batch.queries) * batch.probes, 16, bytes(batch), kWarps);
  }

private:
  static uint64_t bytes(const Workload &work) {
    return bytesOfQuery(work) + ANNUDF_CANDIDATE_BYTES;
  }
};

} // namespace

std::span<const KernelFamily *const> candidateFamilies() {
  static const Candidates candidates;
  static const KernelFamily *const all[] = {&candidates};
  return all;
}

} // namespace annudf::runtime::cuda
