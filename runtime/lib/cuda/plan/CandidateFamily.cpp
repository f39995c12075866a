//===- CandidateFamily.cpp - The family of kernels for candidates ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "FamilyCosts.h"
#include "kernels/cuda/common/RankArgs.h"

#include <bit>

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
  std::span<const ScanEntry> entriesFor(const Workload &work) const override {
    static constexpr ScanEntry kEntry = {ScanSource::Candidates, "annudf_rank_candidates"};
    return ranks(work) ? std::span(&kEntry, 1) : entries();
  }
  double linkMs() const override { return 71; } // As parts.
  Tiling tiling(const Workload &work) const override { return {.ranks = ranks(work)}; }
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
    if (ranks(batch))
      queue.rank(rowsAtOnce(batch), chunks(batch), bytesOfRanking(batch));
    else
      queue.scan(static_cast<uint64_t>(batch.queries) * batch.probes, 16, bytes(batch), kWarps);
  }

private:
  /// Whether a block has room for a query's candidates, and as many others beside it as are needed
  /// while it waits.
  static bool ranks(const Workload &work) {
    constexpr uint64_t kMostBytes = uint64_t(48) << 10;
    return !work.everyDistance && !work.withinRadius && !work.passByQuery &&
           rowsOfList(work) <= ANNUDF_RANK_MOST && bytesOfRanking(work) <= kMostBytes;
  }
  /// That a list has at most.
  static int64_t rowsOfList(const Workload &work) {
    const int64_t lists = std::max<uint32_t>(work.lists, 1);
    return std::min<int64_t>((work.rows + lists - 1) / lists, 2 * ANNUDF_RANK_MOST);
  }
  static uint64_t places(const Workload &work) {
    return uint64_t(groupsOf(rowsOfList(work)) * kGroupRows);
  }
  /// As even parts of a list as a block's warps need rounds.
  static uint32_t rowsAtOnce(const Workload &work) {
    const int64_t rounds = (rowsOfList(work) + ANNUDF_RANK_THREADS - 1) / ANNUDF_RANK_THREADS,
                  parts = std::max<int64_t>(1, rounds) * (ANNUDF_RANK_THREADS / 32);
    return uint32_t(std::max<int64_t>(8, (rowsOfList(work) + parts - 1) / parts));
  }
  static uint32_t chunks(const Workload &work) {
    return std::bit_ceil(std::clamp<uint32_t>(work.rowBytes / 16, ANNUDF_RANK_LEAST_CHUNKS,
                                              ANNUDF_RANK_MOST_CHUNKS));
  }
  static uint64_t bytesOfRanking(const Workload &work) {
    return bytesOfQuery(work) +
           ANNUDF_RANK_BYTES(uint64_t(rowsAtOnce(work)), uint64_t(chunks(work)), places(work));
  }
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
