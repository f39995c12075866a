//===- Plan.h - Which kernels run a search ----------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A backend has kernel families. Each says what it needs and what a search would cost it; the
// planner takes the cheapest that can run the search, and asks the backend for what is there beside
// metric and index (Resources). The plan is a value that the backend runs. Nothing here needs a
// device, so that plans are tested without one.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_PLAN_H
#define ANNUDF_RUNTIME_ENGINE_PLAN_H

#include "annudf/Artifact/Artifact.h"
#include "annudf/runtime/engine/Reason.h"
#include "annudf/runtime/rows/RowStore.h"

#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

namespace annudf::runtime {

/// Enumerators, a bit each: plans are made for every search, where nothing may ask for memory.
template <class Enum> class EnumSet {
public:
  constexpr EnumSet() = default;
  constexpr EnumSet(std::initializer_list<Enum> values) {
    for (Enum value : values)
      insert(value);
  }
  constexpr void insert(Enum value) { bits_ |= bit(value); }
  constexpr bool contains(Enum value) const { return bits_ & bit(value); }
  constexpr bool empty() const { return bits_ == 0; }
  /// The least that the other has not. \pre there is one.
  constexpr Enum firstNotIn(const EnumSet &other) const {
    return static_cast<Enum>(std::countr_zero(bits_ & ~other.bits_));
  }
  constexpr bool isWithin(const EnumSet &other) const { return (bits_ & ~other.bits_) == 0; }
  friend constexpr bool operator==(const EnumSet &, const EnumSet &) = default;

private:
  static constexpr uint64_t bit(Enum value) { return uint64_t(1) << value; }
  uint64_t bits_ = 0;
};

using HookSet = EnumSet<annudf_hook>;

/// The facts about a search that decide how it is run.
struct Workload {
  // The metric.
  HookSet hooks; ///< That it defines.
  annudf_accumulator accumulator = ANNUDF_ACCUMULATOR_F32;
  annudf_compute compute = ANNUDF_COMPUTE_F32;
  HookWidths widths;
  /// Dimensions in which it may be summed up packed, of rows and queries of the index's element (of
  /// the one with most where there is no index); 0: in none.
  int32_t packedDims = 0;
  /// Why no bounds of its distances can be computed by matrix products; None: they can.
  Reason noBounds = Reason::NoForm;
  /// Nodes of such a form, where its coefficients are computed for each query; 0: for all alike.
  uint32_t ownNodes = 0;
  /// Whether such a form is the distance itself, without finalize, or normalised.
  bool formIsDistance = false;
  size_t bodyBytes =
      0; ///< The size of its code for the machine; 0 where a backend does not look at it.
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
  /// The share of rows that the search's filter lets pass (RowFilter::passingShare); 1 without
  /// one.
  double pass = 1;
  /// The same, where rows that pass are scanned alone: rows, lists and probes are then those of one
  /// list that has them, and `pass` is 1.
  std::optional<double> gathered = {};
  /// As RowFilter::passingShare says, wherever the rows are.
  double passingShare() const { return gathered.value_or(pass); }
  bool passByQuery = false;   ///< Whether other rows pass for other queries.
  bool everyDistance = false; ///< Not the k best are wanted but the distances of all rows.
  bool withinRadius = false; ///< The rows within a radius are wanted; k is a guess at their number.
  std::string family = {};   ///< The only one that may run it; "": any. A plan outlives its params.

  /// The share of groups of so many rows with a row that passes; as if rows passed at random, which
  /// is where fewest are left out.
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
  uint64_t sharedBytes = 0; ///< A block's; 0 for a CPU.
  /// Memory that a batch may take for what it leaves of rows; 0: any number.
  uint64_t workspaceBytes = 0;
  bool workspaceIsAsked = false; ///< Whether somebody said so.
  // At their best, for estimates; 0: not known.
  double memoryBytesPerMs = 0; ///< The device memory's bandwidth.
  double clocksPerMs = 0;      ///< A multiprocessor's.
  // What a CPU multiplies matrices with.
  const char *products = ""; ///< A text that stays.
  /// Cost of a row and a query, where the metric's own scan takes 1; 0: not known to be quicker.
  double productCost = 0;
};

/// What a family needs. An empty set: anything will do.
struct FamilyNeeds {
  HookSet hooks = {}; ///< That the metric must define.
  EnumSet<annudf_accumulator> accumulators = {};
  EnumSet<annudf_compute> computes = {};
  EnumSet<annudf_element> elements = {};
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
  /// Why the search does not fit this machine, beyond what needs() says.
  virtual Refusal unfit(const Workload &, const Machine &) const { return {}; }
  /// How long the scan would take, in units that the families of one backend share.
  virtual double cost(const Workload &, const Machine &) const = 0;
  /// What the cost comes from, for people: "1.2 pairs a list".
  virtual std::string explain(const Workload &, const Machine &) const = 0;
};

/// Which of the family's needs() is missing.
Refusal whatIsMissing(const KernelFamily &family, const Workload &, const Machine &);

/// Why the family cannot run the search.
Refusal whyNot(const KernelFamily &family, const Workload &, const Machine &);

/// The place of the one that has the name. \throws Error(Usage) naming all where none has.
size_t familyNamed(std::span<const KernelFamily *const> families, const std::string &name);

/// What the reason for a choice ends in where the caller made it.
inline constexpr const char *kByName = "; chosen by name";

/// Families that cannot run a search which they are meant for, each once; mostly none.
class RefusedFamilies {
public:
  struct One {
    const KernelFamily *family = nullptr;
    Refusal why;
  };
  /// \throws std::logic_error where a backend has more than there is room for.
  void add(const KernelFamily &family, Refusal why);
  bool contains(const KernelFamily &family) const;
  const One *begin() const { return all_.data(); }
  const One *end() const { return all_.data() + count_; }

private:
  std::array<One, 16> all_; ///< A plan asks for no memory.
  size_t count_ = 0;
};

/// How a search is run: made once a search, and never changed.
struct ExecutionPlan {
  const KernelFamily *const family;
  const int64_t batch; ///< Queries of every batch but the last, which may have fewer.
  const Workload work; ///< The search, of all queries.
  const Machine machine;
  const RefusedFamilies refused; ///< Others.
  const Refusal without;         ///< What the family does without, though it was planned.
  /// What is being linked while another family runs the search; null: nothing.
  const KernelFamily *const linking;

  /// The workload of a batch of so many queries.
  Workload workOf(int64_t queries) const;
};

/// Why the plan is as it is: "3.12 queries a list: up to 8 share a read, 5 % of rows pass; not
/// staged: the metric takes coordinates of 64 bits, it needs 32".
std::string textOf(const ExecutionPlan &plan);

/// What a backend says of one search to its planner, beside what families cost.
class Resources {
public:
  virtual ~Resources() = default;
  /// Queries of each batch but the last, if the family runs the search.
  virtual int64_t batchOf(const KernelFamily &, const Workload &work) { return work.queries; }

  struct Admission {
    enum class Verdict : uint8_t {
      Admitted,
      Refused, ///< The next best family is asked.
      Changed  ///< The workload has changed, and the cheapest is found anew.
    } verdict = Verdict::Admitted;
    Refusal why = {}; ///< For Changed, what the search does without; it is told.
  };
  /// Makes, or finds, what the family takes beside metric and index.
  virtual Admission admit(const KernelFamily &, Workload &) { return {}; }

  struct Instead {
    const KernelFamily *family = nullptr, *linking = nullptr;
  };
  /// What runs the search while the family that was chosen is linked; nothing where it waits.
  virtual Instead insteadOf(const KernelFamily &, const Workload &) { return {}; }
};

/// The plan of a search by the cheapest family that can run it; of equal ones the first. Where the
/// workload names one it is that one or none: what isFor() passes over is a matter of speed.
/// \throws Error(Input) naming what each lacks where none can, or the named one, Error(Usage)
/// naming those that there are where none has the name.
ExecutionPlan makePlan(std::span<const KernelFamily *const> families, const Workload &,
                       const Machine &, Resources &);
/// The same of a search that is not run, as if all that families take were there.
ExecutionPlan makePlan(std::span<const KernelFamily *const> families, const Workload &,
                       const Machine &);

/// The search of a list of `rows` rows, which are those of the index that pass its filter.
Workload gatheredWork(const Workload &work, int64_t rows);

/// The cost of the family that such a plan takes; infinity where none can run the search.
double leastCost(std::span<const KernelFamily *const> families, const Workload &, const Machine &);

/// For tests: how many plans the calling thread has made, and how many texts of plans and reasons.
struct PlannerCounts {
  uint64_t plans = 0, texts = 0;
};
PlannerCounts &plannerCounts();

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_PLAN_H
