//===- PlanTest.cpp - The planner, without any device ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Plan.h"

#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/ivf_flat/Index.h"

#include "Support/TestFiles.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <type_traits>

namespace annudf::runtime {
namespace {

using test::errorOf;

/// A family that a test makes up.
class Fake : public KernelFamily {
public:
  Fake(const char *name, double cost, FamilyNeeds needs = {}, Refusal unfit = {})
      : name_(name), cost_(cost), needs_(needs), unfit_(std::move(unfit)) {}
  const char *name() const override { return name_; }
  FamilyNeeds needs() const override { return needs_; }
  Refusal unfit(const Workload &, const Machine &) const override { return unfit_; }
  double cost(const Workload &work, const Machine &) const override {
    return cost_ * work.pairsPerList();
  }
  std::string explain(const Workload &, const Machine &) const override {
    return std::string("because of ") + name_;
  }

private:
  const char *name_;
  double cost_;
  FamilyNeeds needs_;
  Refusal unfit_;
};

/// That the planner never takes.
class Passed final : public Fake {
public:
  Passed() : Fake("passed", 0) {}
  bool isFor(const Workload &) const override { return false; }
  bool isForMachine(const Machine &) const override { return false; }
};

Workload someWork() {
  Workload work;
  work.hooks = {ANNUDF_HOOK_INIT, ANNUDF_HOOK_UPDATE};
  work.lists = 10, work.queries = 5, work.probes = 4, work.dims = 8, work.rows = 1000, work.k = 10;
  return work;
}

ExecutionPlan planOf(std::vector<const KernelFamily *> families, const Workload &work = someWork(),
                     const Machine &machine = {.arch = 90}) {
  return makePlan(families, work, machine);
}

std::string nameOf(const ExecutionPlan &plan) { return plan.family->name(); }

TEST(Plan, TakesTheCheapestAndTheFirstOfEqualOnes) {
  const Fake dear("dear", 3), cheap("cheap", 1), same("same", 1);
  EXPECT_EQ(nameOf(planOf({&dear, &cheap})), "cheap");
  EXPECT_EQ(planOf({&cheap, &dear}).family, &cheap);
  EXPECT_EQ(nameOf(planOf({&same, &cheap})), "same");
  EXPECT_EQ(textOf(planOf({&dear, &cheap})), "because of cheap");
  EXPECT_EQ(someWork().pairsPerList(), 2);
  EXPECT_EQ(Workload().pairsPerList(), 0);
}

TEST(Plan, RefusesWhatAFamilyCannotRunAndSaysWhy) {
  const Fake any("any", 9);
  const Fake finalize("finalize", 1, {.hooks = {ANNUDF_HOOK_FINALIZE}});
  const Fake wide("wide", 1, {.accumulators = {ANNUDF_ACCUMULATOR_F64}});
  const Fake integers("integers", 1, {.computes = {ANNUDF_COMPUTE_I32}});
  const Fake bytes("bytes", 1, {.elements = {ANNUDF_ELEMENT_I8, ANNUDF_ELEMENT_U8}});
  const Fake later("later", 1, {.arch = 100});
  const Fake small("small", 1, {}, {Reason::ShortRows, 240, 256});
  const std::pair<const Fake *, const char *> refused[] = {
      {&finalize, "finalize: the metric has no hook 'finalize'"},
      {&wide, "wide: it does not accumulate in f32"},
      {&integers, "integers: it does not compute in f32"},
      {&bytes, "bytes: it does not read f32"},
      {&later, "later: it needs sm_100 or newer, this GPU is sm_90"},
      {&small, "small: a row of 240 bytes is too short to split between warps, it needs 256"}};
  for (const auto &[family, why] : refused) {
    EXPECT_EQ(nameOf(planOf({family, &any})), "any");
    EXPECT_EQ(textOf(planOf({family, &any})), std::string("because of any; not ") + why);
    EXPECT_EQ(errorOf([&, family = family] { (void)planOf({family}); }),
              std::string("no family of kernels can run this search: ") + why);
  }
  // What it needs is there: it is taken.
  Workload work = someWork();
  work.hooks.insert(ANNUDF_HOOK_FINALIZE);
  EXPECT_EQ(nameOf(planOf({&any, &finalize}, work)), "finalize");
  work.accumulator = ANNUDF_ACCUMULATOR_F64;
  EXPECT_EQ(nameOf(planOf({&any, &wide}, work)), "wide");
  work.compute = ANNUDF_COMPUTE_I32;
  EXPECT_EQ(nameOf(planOf({&any, &integers}, work)), "integers");
  work.element = ANNUDF_ELEMENT_U8;
  EXPECT_EQ(nameOf(planOf({&any, &bytes}, work)), "bytes");
  EXPECT_EQ(nameOf(planOf({&any, &later}, work, {.arch = 100})), "later");
}

TEST(Plan, TheFamilyOfTheWorkloadsNameOrNone) {
  const Fake cheap("cheap", 1), dear("dear", 9), late("late", 1, {.arch = 90});
  Workload work = someWork();
  work.family = "dear";
  EXPECT_EQ(nameOf(planOf({&cheap, &dear}, work)), "dear");
  work.family = "Dear";
  EXPECT_EQ(errorOf([&] { (void)planOf({&cheap, &dear}, work); }, ErrorKind::Usage),
            "no family of kernels is called 'Dear'; there are cheap, dear");
  work.family = "late";
  EXPECT_EQ(errorOf([&] { (void)planOf({&cheap, &late}, work, {.arch = 80}); }),
            "family 'late' cannot run this search: it needs sm_90 or newer, this GPU is sm_80");
  // What it passes over for speed it runs by its name.
  const Passed passed;
  EXPECT_EQ(nameOf(planOf({&cheap, &passed})), "cheap");
  work.family = "passed";
  EXPECT_EQ(nameOf(planOf({&cheap, &passed}, work)), "passed");
  EXPECT_EQ(textOf(planOf({&cheap, &passed}, work)), "because of passed; chosen by name");
}

TEST(Plan, TheWorkloadIsThatOfMetricIndexAndSearch) {
  Manifest manifest;
  manifest.hooks = {ANNUDF_HOOK_INIT, ANNUDF_HOOK_UPDATE, ANNUDF_HOOK_FINALIZE};
  manifest.compute = ANNUDF_COMPUTE_F64, manifest.accumulator = ANNUDF_ACCUMULATOR_F64;
  const std::vector<float> rows = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const Index index = Index::build({.nLists = 2}, {rows.data(), 2, 5, ANNUDF_ELEMENT_F32});
  const Workload work = workloadOf(manifest, index, 7, 1, 2);
  EXPECT_EQ(work.hooks, (HookSet{ANNUDF_HOOK_INIT, ANNUDF_HOOK_UPDATE, ANNUDF_HOOK_FINALIZE}));
  EXPECT_NE(work.hooks, (HookSet{ANNUDF_HOOK_INIT, ANNUDF_HOOK_UPDATE}));
  EXPECT_EQ(work.compute, ANNUDF_COMPUTE_F64);
  EXPECT_EQ(work.accumulator, ANNUDF_ACCUMULATOR_F64);
  EXPECT_EQ(work.widths, (HookWidths{.accumulator = 64, .coordinate = 64}));
  EXPECT_EQ(work.dims, 5);
  EXPECT_EQ(work.rows, 2);
  EXPECT_EQ(work.lists, 2u);
  EXPECT_EQ(work.rowBytes, 32u);
  EXPECT_EQ(work.pairsPerList(), 7);
  EXPECT_EQ(work.pass, 1);
  // And what its parameters say.
  const auto one = std::make_shared<const RowFilter>(std::vector<uint32_t>{0b10}, 2);
  const Workload asked = workloadOf(
      manifest, index, 7, 1, SearchParams{.candidates = Lists{2}, .filter = one, .family = "f"});
  EXPECT_EQ(asked.pairsPerList(), 7);
  EXPECT_EQ(asked.pass, 0.5);
  EXPECT_EQ(asked.family, "f");
}

/// Costs less with groups of rows that a filter leaves out.
class Filtered final : public Fake {
public:
  Filtered() : Fake("filtered", 4) {}
  double cost(const Workload &work, const Machine &machine) const override {
    return Fake::cost(work, machine) * work.groupsThatPass(32);
  }
};

TEST(Plan, KnowsWhatAFilterLetsPass) {
  const Fake plain("plain", 2);
  const Filtered filtered;
  Workload work = someWork();
  EXPECT_EQ(work.groupsThatPass(32), 1);
  EXPECT_EQ(textOf(planOf({&plain, &filtered}, work)), "because of plain");
  work.pass = 0.5;
  EXPECT_NEAR(work.groupsThatPass(1), 0.5, 1e-12);
  EXPECT_NEAR(work.groupsThatPass(2), 0.75, 1e-12);
  EXPECT_EQ(textOf(planOf({&plain, &filtered}, work)), "because of plain, 50 % of rows pass");
  work.pass = 0.01;
  EXPECT_NEAR(work.groupsThatPass(32), 0.27502, 1e-5);
  EXPECT_EQ(textOf(planOf({&plain, &filtered}, work)), "because of filtered, 1 % of rows pass");
  work.pass = 0;
  EXPECT_EQ(work.groupsThatPass(32), 0);
  EXPECT_EQ(textOf(planOf({&plain, &filtered}, work)), "because of filtered, 0 % of rows pass");
  EXPECT_EQ(Workload().pass, 1);
}

/// Whatever the metric is proved to be.
TEST(Plan, NoBoundsAreOfRowsThatMayLackCoordinates) {
  Manifest manifest;
  manifest.form.emplace();
  const std::vector<float> rows = {0, 1, 2, 3};
  const MatrixView view = {rows.data(), 2, 2, ANNUDF_ELEMENT_F32};
  const Index whole = Index::build({.nLists = 1}, view),
              index = Index::build({.nLists = 1, .missingValues = true}, view);
  EXPECT_EQ(workloadOf(manifest, whole, 1, 1, 1).noBounds, Reason::None);
  EXPECT_TRUE(workloadOf(manifest, whole, 1, 1, 1).formIsDistance);
  EXPECT_EQ(workloadOf(manifest, index, 1, 1, 1).noBounds, Reason::MissingValues);
  EXPECT_FALSE(workloadOf(manifest, index, 1, 1, 1).formIsDistance);
}

/// With several fields, finalize of the ratio gives the limits.
TEST(Plan, AFormIsOfOneFieldOrOfSeveral) {
  Manifest manifest;
  EXPECT_EQ(workloadOf(manifest).noBounds, Reason::NoForm);
  EXPECT_FALSE(workloadOf(manifest).formIsDistance);
  manifest.form.emplace();
  EXPECT_EQ(workloadOf(manifest).noBounds, Reason::None);
  EXPECT_TRUE(workloadOf(manifest).formIsDistance);
  manifest.form->finalize = QuadraticForm::Finalize::Rises;
  EXPECT_EQ(workloadOf(manifest).noBounds, Reason::None);
  EXPECT_FALSE(workloadOf(manifest).formIsDistance);
  manifest.form->lengths.emplace();
  EXPECT_EQ(workloadOf(manifest).noBounds, Reason::None);
  EXPECT_TRUE(workloadOf(manifest).formIsDistance);
}

/// Nothing changes a plan once it is made.
static_assert(!std::is_copy_assignable_v<ExecutionPlan> &&
              !std::is_move_assignable_v<ExecutionPlan>);

/// A backend that a test makes up: it writes down what it is asked, and refuses some families.
struct FakeResources final : Resources {
  int64_t batchOf(const KernelFamily &family, const Workload &work) override {
    asked += std::string(family.name()) + " in batches; ";
    return std::min(work.queries, most);
  }
  Admission admit(const KernelFamily &family, Workload &work) override {
    asked += std::string(family.name()) + "; ";
    if (family.name() == lacking)
      return {Admission::Verdict::Refused,
              {Reason::NotBound, std::make_shared<const std::string>("w is NaN")}};
    if (!work.rowsAreKept)
      return {};
    work.rowsAreKept = false, work.pass = 0.25; // Seen by costs alone.
    return {Admission::Verdict::Changed,
            {Reason::NotKept, std::make_shared<const std::string>("memory is short")}};
  }
  Instead insteadOf(const KernelFamily &, const Workload &) override { return instead; }

  std::string lacking;
  Instead instead = {};
  int64_t most = 1000;
  std::string asked;
};

TEST(Plan, AsksTheBackendForWhatTheCheapestTakes) {
  const Fake cheap("cheap", 1), next("next", 2), dear("dear", 3);
  const std::vector<const KernelFamily *> families = {&dear, &cheap, &next};
  const auto planWith = [&](FakeResources &resources, const Workload &work = someWork()) {
    return makePlan(families, work, {}, resources);
  };
  FakeResources all;
  all.most = 3;
  const ExecutionPlan cut = planWith(all);
  EXPECT_EQ(cut.family, &cheap);
  EXPECT_EQ(cut.batch, 3);
  EXPECT_EQ(cut.workOf(2).queries, 2);
  EXPECT_EQ(all.asked, "cheap; cheap in batches; ");

  FakeResources some;
  some.lacking = "cheap";
  const ExecutionPlan other = planWith(some);
  EXPECT_EQ(other.family, &next);
  EXPECT_EQ(textOf(other), "because of next; not cheap: w is NaN");
  EXPECT_EQ(some.asked, "cheap; next; next in batches; ");
  Workload named = someWork();
  named.family = "cheap";
  EXPECT_EQ(errorOf([&] { (void)planWith(some, named); }),
            "family 'cheap' cannot run this search: w is NaN");
}

TEST(Plan, ComparesAnewWhereTheWorkloadChanges) {
  const Fake plain("plain", 2);
  const Filtered filtered;
  Workload work = someWork();
  work.rowsAreKept = true;
  FakeResources resources;
  const std::vector<const KernelFamily *> families = {&plain, &filtered};
  const ExecutionPlan plan = makePlan(families, work, {}, resources);
  EXPECT_EQ(resources.asked, "plain; plain; plain in batches; ");
  EXPECT_FALSE(plan.work.rowsAreKept);
  EXPECT_EQ(textOf(plan),
            "because of plain, 25 % of rows pass; converted rows are not kept: memory is short");
}

TEST(Plan, RunsAnotherWhileOneIsLinked) {
  const Fake cheap("cheap", 1), dear("dear", 3);
  const std::vector<const KernelFamily *> families = {&cheap, &dear};
  FakeResources resources;
  resources.instead = {&dear, &cheap};
  const ExecutionPlan plan = makePlan(families, someWork(), {}, resources);
  EXPECT_EQ(plan.family, &dear);
  EXPECT_EQ(textOf(plan), "because of dear; cheap is being linked");
  EXPECT_EQ(resources.asked, "cheap; dear in batches; ");
}

TEST(Plan, MakesNoTextUntilItIsAskedFor) {
  const Fake cheap("cheap", 1), small("small", 1, {}, {Reason::ShortRows, 240, 256}),
      late("late", 1, {.arch = 100});
  const PlannerCounts before = plannerCounts();
  const ExecutionPlan plan = planOf({&small, &late, &cheap});
  EXPECT_EQ(plannerCounts().plans, before.plans + 1);
  EXPECT_EQ(plannerCounts().texts, before.texts);
  EXPECT_EQ(textOf(plan),
            "because of cheap; not small: a row of 240 bytes is too short to split between warps, "
            "it needs 256; late: it needs sm_100 or newer, this GPU is sm_90");
  EXPECT_EQ(plannerCounts().texts, before.texts + 3);
}

TEST(Plan, HasRoomForAsManyRefusedFamiliesAsThereAre) {
  RefusedFamilies refused;
  const Fake one("one", 1), other("other", 1);
  for (int i = 0; i < 16; ++i)
    refused.add(one, Reason::EveryDistance);
  EXPECT_EQ(refused.end() - refused.begin(), 16);
  EXPECT_TRUE(refused.contains(one));
  EXPECT_FALSE(refused.contains(other));
  EXPECT_THROW(refused.add(other, Reason::EveryDistance), std::logic_error);
}

TEST(Reason, HasWordsOfItsOwn) {
  std::set<std::string> all;
  for (size_t i = 0; i < kReasons; ++i) {
    const std::string text =
        textOf(i == size_t(Reason::NotBound)
                   ? Refusal(Reason::NotBound, std::make_shared<const std::string>("words"))
                   : Refusal(static_cast<Reason>(i), 1, 2, 3));
    EXPECT_EQ(text.empty(), i == 0) << i;
    EXPECT_EQ(text.find_first_of("{}"), std::string::npos) << text;
    EXPECT_TRUE(all.insert(text).second) << text;
  }
  EXPECT_FALSE(Refusal());
  EXPECT_TRUE(Refusal(Reason::EveryDistance));
  EXPECT_EQ(textOf({Reason::TileBytes, 1000, 900, 8}),
            "8 queries and the prefetched rows take 1000 bytes of shared memory, a block has 900");
  EXPECT_EQ(textOf({Reason::LongPackedSum, ANNUDF_ELEMENT_U8, 258, 259}),
            "a packed sum of u8 is exact up to 258 dims, the index has 259");
  EXPECT_EQ(textOf({Reason::QueryAndPartsBytes, 1000, 900}),
            "a query and its partial results take 1000 bytes of shared memory, a block has 900");
  EXPECT_EQ(textOf(Reason::NotHalved), "the rows have no copy in half precision yet");
  EXPECT_EQ(textOf(Reason::NotAskedBefore),
            "small searches use it from the second search by the same metric and captures on");
}

TEST(Reason, OfAnUnknownValueIsRefused) {
  const auto unknown = static_cast<Reason>(kReasons);
  try {
    (void)textOf(Refusal(unknown));
    FAIL() << "it has words";
  } catch (const std::logic_error &error) {
    EXPECT_EQ(std::string(error.what()), "reason " + std::to_string(kReasons) +
                                             " has no words; there are " +
                                             std::to_string(kReasons) + " reasons");
  }
}

} // namespace
} // namespace annudf::runtime
