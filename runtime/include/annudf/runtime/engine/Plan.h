//===- Plan.h - Which kernels run a search ----------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A backend has kernel families. Each says what it needs and what a search would cost it;
// the planner takes the cheapest that can run the search. How it is run is the backend's. Nothing
// here needs a device, so that plans are tested without one.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_PLAN_H
#define ANNUDF_RUNTIME_ENGINE_PLAN_H

#include "annudf/Artifact/Artifact.h"
#include "annudf/runtime/rows/RowStore.h"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace annudf::runtime {

/// Hooks, a bit each: plans are made for every search, where nothing may ask for memory.
class HookSet {
public:
  constexpr HookSet() = default;
  constexpr HookSet(std::initializer_list<annudf_hook> hooks) {
    for (annudf_hook hook : hooks)
      insert(hook);
  }
  constexpr void insert(annudf_hook hook) { bits_ |= bit(hook); }
  constexpr bool contains(annudf_hook hook) const { return bits_ & bit(hook); }
  friend constexpr bool operator==(const HookSet &, const HookSet &) = default;

private:
  static constexpr uint64_t bit(annudf_hook hook) { return uint64_t(1) << hook; }
  uint64_t bits_ = 0;
};

/// What of a search decides how it is run.
struct Workload {
  // The metric.
  HookSet hooks; ///< That it defines.
  annudf_accumulator accumulator = ANNUDF_ACCUMULATOR_F32;
  annudf_compute compute = ANNUDF_COMPUTE_F32;
  HookWidths widths;
  /// Dimensions in which it may be summed up packed, of rows and queries of the index's element (of
  /// the one with most where there is no index); 0: in none.
  int32_t packedDims = 0;
  /// Why no bounds of it can be computed by matrix products, a text that stays; null: they can.
  const char *noForm = "it is not proved to be a quadratic form";
  /// Nodes of such a form, where its coefficients are computed for each query; 0: for all alike.
  uint32_t ownNodes = 0;
  /// Whether such a form is the distance itself, without finalize, or normalised.
  bool formIsDistance = false;
  size_t bodyBytes = 0; ///< Of its code for the machine; 0 where a backend does not look at it.
  /// Whether distances have the same bits in every kernel that its code is linked into.
  bool fusedAhead = false;
  // The index.
  annudf_element element = ANNUDF_ELEMENT_F32;
  int32_t dims = 0;
  int64_t rows = 0;
  uint32_t lists = 0;
  uint32_t rowBytes = 0; ///< Padded.
  /// That a list which a query probes holds, the mean: large lists are probed more often than small
  /// ones. 0: as many as any list.
  double probedRows = 0;
  bool rowsAreKept = false; ///< In the form that matrix products read, so that none is converted.
  // The search; of a batch, as a backend runs them one by one.
  int64_t queries = 0;
  uint32_t probes = 0;
  int k = 0;
  /// Of the rows, those that the search's filter lets pass (RowFilter::passingShare); 1 without
  /// one.
  double pass = 1;
  bool everyDistance = false; ///< Not the k best are wanted but the distances of all rows.
  std::string family = {}; ///< The only one that may run it; "": any. A plan outlives its params.

  /// Of groups of so many rows, those of which one passes; as if rows passed at random, which is
  /// where fewest are left out.
  double groupsThatPass(int32_t rows) const;
  /// (query, list) pairs to scan.
  double pairs() const { return double(queries) * probes; }
  double pairsPerList() const { return lists == 0 ? 0 : pairs() / lists; }
  /// Queries that scan a row, the mean over all rows. More than pairsPerList() where lists are of
  /// unequal sizes, as large ones have more pairs and more rows.
  double queriesPerRow() const {
    return probedRows > 0 && rows > 0 ? pairs() * probedRows / double(rows) : pairsPerList();
  }
};

/// The metric's part alone.
Workload workloadOf(const Manifest &manifest);
Workload workloadOf(const Manifest &manifest, const RowStore &index, int64_t queries, int k,
                    uint32_t probes);

/// Where a search would run.
struct Machine {
  int32_t arch = 0;         ///< 90 for compute capability 9.0; 0 for a CPU.
  int32_t processors = 1;   ///< Multiprocessors, or threads.
  uint64_t sharedBytes = 0; ///< Of one block; 0 for a CPU.
  /// Of memory that a batch may take for what it leaves of rows; 0: any number.
  uint64_t workspaceBytes = 0;
  bool workspaceIsAsked = false; ///< Whether somebody said so.
  // At their best, for estimates; 0: not known.
  double memoryBytesPerMs = 0; ///< Of the device's memory.
  double clocksPerMs = 0;      ///< Of a processor.
  // What a CPU multiplies matrices with.
  const char *products = ""; ///< A text that stays.
  /// Cost of a row and a query, where the metric's own scan takes 1; 0: not known to be quicker.
  double productCost = 0;
};

/// What a family needs. An empty list: anything will do.
struct FamilyNeeds {
  std::vector<annudf_hook> hooks = {}; ///< That the metric must define.
  std::vector<annudf_accumulator> accumulators = {};
  std::vector<annudf_compute> computes = {};
  std::vector<annudf_element> elements = {};
  int32_t arch = 0;      ///< The oldest.
  bool onlyArch = false; ///< Whether it is the only one, too.
};

/// One way to run a search. Immutable.
class KernelFamily {
public:
  virtual ~KernelFamily() = default;
  /// "tiles"; unique within a backend.
  virtual const char *name() const = 0;
  virtual FamilyNeeds needs() const = 0;
  /// Whether the family is for such metrics at all: else it is passed over without a word.
  virtual bool isFor(const Workload &) const { return true; }
  /// The same of machines, for which another family does this one's work.
  virtual bool isForMachine(const Machine &) const { return true; }
  /// "" if the search fits this machine, beyond what needs() says; else why not.
  virtual std::string unfit(const Workload &, const Machine &) const { return ""; }
  /// How long the scan would take, in units that the families of one backend share.
  virtual double cost(const Workload &, const Machine &) const = 0;
  /// What the cost comes from, for people: "1.2 pairs a list".
  virtual std::string explain(const Workload &, const Machine &) const = 0;
};

/// "" if nothing that the family's needs() names is missing, else what.
std::string whatIsMissing(const KernelFamily &family, const Workload &, const Machine &);

/// "" if the family can run the search, else why not.
std::string whyNot(const KernelFamily &family, const Workload &, const Machine &);

/// The place of the one that has the name. \throws Error(Usage) naming all where none has.
size_t familyNamed(std::span<const KernelFamily *const> families, const std::string &name);

/// What a search is refused with that asks for a family which cannot run it.
Error familyRefusal(const std::string &family, const std::string &why);

/// What the reason for a choice ends in where the caller made it.
inline constexpr const char *kByName = "; asked for by its name";

/// What was chosen.
struct Choice {
  size_t family = 0;    ///< Its place among those that were to choose from.
  std::string refusals; ///< What the others lack that cannot run the search; mostly "".
};

/// The cheapest of the families that can run the search; of equal ones the first. Where the
/// workload names one it is that one or none: what isFor() passes over is a matter of speed.
/// \throws Error(Input) naming what each lacks where none can, or the named one, Error(Usage)
/// naming those that there are where none has the name.
Choice pick(std::span<const KernelFamily *const> families, const Workload &, const Machine &);

/// The same, and why, for people.
struct Plan {
  size_t family = 0; ///< Its place among those that were to choose from.
  std::string name, why;
};

Plan choose(std::span<const KernelFamily *const> families, const Workload &, const Machine &);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_PLAN_H
