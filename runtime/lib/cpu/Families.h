//===- Families.h - The CPU's families of kernels ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_FAMILIES_H
#define ANNUDF_RUNTIME_LIB_CPU_FAMILIES_H

#include "cpu/products/ProductScan.h"

#include "annudf/runtime/engine/Plan.h"
#include "kernels/cpu/ScanArgs.h"

#include <cmath>
#include <cstdio>
#include <string>

namespace annudf::runtime::cpu {

inline constexpr const char *kOnlyFamily =
    "matrix products need a proved metric and rows of f32 of at most 8192 dimensions";
static_assert(ProductScan::kMostDims == 8192);

inline std::string pairsText(const Workload &work) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.1f queries a row", work.queriesPerRow());
  return text;
}

/// Whether products of matrices are to be thought of: where not, nothing is said of them, as what
/// `why` says after its first reason is what of a metric is slow.
inline bool mayMultiply(const Workload &work) {
  return work.formIsDistance && work.compute == ANNUDF_COMPUTE_F32 &&
         work.element == ANNUDF_ELEMENT_F32 && work.dims <= ProductScan::kMostDims;
}

inline bool multipliesQuicker(const Machine &machine) { return machine.productCost != 0; }

/// The share of rows that any query scans; lists as if chosen at random.
inline double shareRead(const Workload &work) { return -std::expm1(-work.queriesPerRow()); }

/// Where a family scans one batch: a search, or a test that writes it down. The pairs are those of
/// each query's probes [from, to), the nearest list first.
class BatchScan {
public:
  virtual ~BatchScan() = default;
  /// The metric computes all rows of the pairs.
  virtual void scan(uint32_t from, uint32_t to) = 0;
  /// Products of matrices say which rows the metric computes; of rows that are kept, later.
  virtual void multiply(uint32_t from, uint32_t to) = 0;
  /// The metric computes what products left of rows that are kept.
  virtual void computeRest() = 0;
};

class CpuFamily : public KernelFamily {
public:
  /// \param batch  the queries of one batch.
  virtual void run(BatchScan &to, const Workload &batch) const = 0;
};

/// What the plan of a search on a CPU runs.
inline const CpuFamily &familyOf(const ExecutionPlan &plan) {
  return static_cast<const CpuFamily &>(*plan.family);
}

/// A group's rows are the lanes of its vectors, a tile of queries shares the reading of a list.
class Groups final : public CpuFamily {
public:
  const char *name() const override { return "groups"; }
  FamilyNeeds needs() const override { return {}; }
  /// In rows times coordinates: reading a row takes as long as computing it for some queries. Of
  /// groups without a row that passes neither is done.
  double cost(const Workload &work, const Machine &) const override {
    return (kRead * shareRead(work) + work.queriesPerRow()) * double(work.rows) * work.dims *
           work.groupsThatPass(ANNUDF_CPU_GROUP_ROWS);
  }
  std::string explain(const Workload &work, const Machine &machine) const override {
    return mayMultiply(work) && multipliesQuicker(machine) ? pairsText(work) : kOnlyFamily;
  }
  void run(BatchScan &to, const Workload &batch) const override { to.scan(0, batch.probes); }

private:
  static constexpr double kRead = 5;
};

/// A proved form as products of matrices, which leave few rows to compute (ProductScan.h).
class MatrixProducts final : public CpuFamily {
public:
  const char *name() const override { return "matrix"; }
  FamilyNeeds needs() const override {
    return {.computes = {ANNUDF_COMPUTE_F32}, .elements = {ANNUDF_ELEMENT_F32}};
  }
  bool isFor(const Workload &work) const override { return mayMultiply(work); }
  bool isForMachine(const Machine &machine) const override { return multipliesQuicker(machine); }
  Refusal unfit(const Workload &work, const Machine &) const override {
    if (work.noBounds != Reason::None)
      return work.noBounds;
    if (!work.formIsDistance)
      return Reason::FormIsNoDistance;
    if (work.dims > ProductScan::kMostDims)
      return {Reason::ManyDims, ProductScan::kMostDims, work.dims};
    return {};
  }
  /// For all rows, whether they pass or not. A row is converted, or kept and read, once, which
  /// takes as long as computing it for some queries; of a query some rows are computed alone
  /// (docs/results/reasons.md, "What the planner chooses on a CPU"). With a filter a query takes
  /// more of rows that are kept, however many pass (docs/results/reasons.md, "Filters on a CPU").
  double cost(const Workload &work, const Machine &machine) const override {
    const double rows = double(work.rows) * work.dims, queries = double(work.queries) * work.dims,
                 multiplied = work.queriesPerRow() * machine.productCost, k = double(work.k);
    if (work.rowsAreKept)
      return (kRead * shareRead(work) + multiplied) * rows +
             queries * (kKeptQuery + kKeptBest * k +
                        (work.pass < 1 ? kFilteredQuery + kFilteredBest * k : 0));
    return (kConverted + multiplied) * rows + queries * (kQuery + kBest * k);
  }
  std::string explain(const Workload &work, const Machine &machine) const override {
    return pairsText(work) + ", multiplied with " + machine.products +
           (work.rowsAreKept ? ", rows kept in bfloat16" : "");
  }
  /// What the nearest list gives is a limit that bounds of the others are compared with. A radius
  /// is a limit from the start.
  void run(BatchScan &to, const Workload &batch) const override {
    const bool isKept = batch.rowsAreKept;
    const bool nearestFirst = batch.probes < batch.lists && !batch.withinRadius &&
                              (!isKept || batch.pairsPerList() >= kNearestFirst);
    if (nearestFirst)
      isKept ? to.multiply(0, 1) : to.scan(0, 1);
    to.multiply(nearestFirst ? 1 : 0, batch.probes);
    if (isKept)
      to.computeRest();
  }

private:
  /// Queries a list from which on it is worth reading kept rows of the nearest lists twice.
  static constexpr double kNearestFirst = 100;
  static constexpr double kConverted = 32, kQuery = 1800, kBest = 95;
  static constexpr double kRead = 2, kKeptQuery = 650, kKeptBest = 80;
  static constexpr double kFilteredQuery = 150, kFilteredBest = 4;
};

inline const Groups &groups() {
  static constinit const Groups groups;
  return groups;
}
inline const MatrixProducts &matrixProducts() {
  static constinit const MatrixProducts products;
  return products;
}

/// Whether products are chosen of what may be multiplied.
inline bool isQuicker(const Workload &work, const Machine &machine) {
  return matrixProducts().isFor(work) && matrixProducts().isForMachine(machine) &&
         matrixProducts().cost(work, machine) < groups().cost(work, machine);
}

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_FAMILIES_H
