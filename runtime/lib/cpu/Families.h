//===- Families.h - The CPU's families of kernels ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_FAMILIES_H
#define ANNUDF_RUNTIME_LIB_CPU_FAMILIES_H

#include "cpu/products/MatrixScan.h"

#include "annudf/runtime/engine/Plan.h"
#include "kernels/cpu/ScanArgs.h"

#include <cmath>
#include <cstdio>
#include <string>

namespace annudf::runtime::cpu {

inline constexpr const char *kOnlyFamily = "the CPU has no other";

inline std::string pairsText(const Workload &work) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.1f queries a row", work.queriesPerRow());
  return text;
}

/// Whether products of matrices are to be thought of: where not, nothing is said of them, as what
/// `why` says after its first reason is what of a metric is slow.
inline bool mayMultiply(const Workload &work) {
  return work.formIsDistance && work.compute == ANNUDF_COMPUTE_F32 &&
         work.element == ANNUDF_ELEMENT_F32 && work.dims <= MatrixScan::kMostDims;
}

inline bool multipliesQuicker(const Machine &machine) { return machine.productCost != 0; }

/// Of the rows, those that any query scans; lists as if chosen at random.
inline double shareRead(const Workload &work) { return -std::expm1(-work.queriesPerRow()); }

/// A group's rows are the lanes of its vectors, a tile of queries shares the reading of a list.
class Groups final : public KernelFamily {
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

private:
  static constexpr double kRead = 5;
};

/// A proved form as products of matrices, which leave few rows to compute (MatrixScan.h).
class MatrixProducts final : public KernelFamily {
public:
  static constexpr const char *kName = "matrix";
  const char *name() const override { return kName; }
  FamilyNeeds needs() const override {
    return {.computes = {ANNUDF_COMPUTE_F32}, .elements = {ANNUDF_ELEMENT_F32}};
  }
  bool isFor(const Workload &work) const override { return mayMultiply(work); }
  bool isForMachine(const Machine &machine) const override { return multipliesQuicker(machine); }
  std::string unfit(const Workload &work, const Machine &) const override {
    if (work.noForm)
      return work.noForm;
    if (!work.formIsDistance)
      return "its distance is not the form itself, which limits are found by";
    if (work.dims > MatrixScan::kMostDims)
      return "it takes at most " + std::to_string(MatrixScan::kMostDims) + " dims";
    return "";
  }
  /// Of all rows, whether they pass or not. A row is converted, or kept and read, once, which takes
  /// as long as computing it for some queries; of a query some rows are computed alone
  /// (docs/benchmarks/cpu.md). With a filter a query takes more of rows that are kept, however
  /// many pass.
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

private:
  static constexpr double kConverted = 32, kQuery = 1800, kBest = 95;
  static constexpr double kRead = 2, kKeptQuery = 650, kKeptBest = 80;
  static constexpr double kFilteredQuery = 1850, kFilteredBest = 12;
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_FAMILIES_H
