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

namespace annudf::runtime {
namespace {

using test::errorOf;

/// A family that a test makes up.
class Fake : public KernelFamily {
public:
  Fake(const char *name, double cost, FamilyNeeds needs = {}, std::string unfit = "")
      : name_(name), cost_(cost), needs_(std::move(needs)), unfit_(std::move(unfit)) {}
  const char *name() const override { return name_; }
  FamilyNeeds needs() const override { return needs_; }
  std::string unfit(const Workload &, const Machine &) const override { return unfit_; }
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
  std::string unfit_;
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

Plan planOf(std::vector<const KernelFamily *> families, const Workload &work = someWork(),
            const Machine &machine = {.arch = 90}) {
  return choose(families, work, machine);
}

TEST(Plan, TakesTheCheapestAndTheFirstOfEqualOnes) {
  const Fake dear("dear", 3), cheap("cheap", 1), same("same", 1);
  EXPECT_EQ(planOf({&dear, &cheap}).name, "cheap");
  EXPECT_EQ(planOf({&cheap, &dear}).family, 0u);
  EXPECT_EQ(planOf({&same, &cheap}).name, "same");
  EXPECT_EQ(planOf({&dear, &cheap}).why, "because of cheap");
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
  const Fake small("small", 1, {}, "a vector is too long");
  const std::pair<const Fake *, const char *> refused[] = {
      {&finalize, "finalize: the metric has no hook 'finalize'"},
      {&wide, "wide: it does not accumulate in f32"},
      {&integers, "integers: it does not compute in f32"},
      {&bytes, "bytes: it does not read f32"},
      {&later, "later: it needs sm_100, this is sm_90"},
      {&small, "small: a vector is too long"}};
  for (const auto &[family, why] : refused) {
    EXPECT_EQ(planOf({family, &any}).name, "any");
    EXPECT_EQ(planOf({family, &any}).why, std::string("because of any; not ") + why);
    EXPECT_EQ(errorOf([&, family = family] { (void)planOf({family}); }),
              std::string("no family of kernels can run this search: ") + why);
  }
  // What it needs is there: it is taken.
  Workload work = someWork();
  work.hooks.insert(ANNUDF_HOOK_FINALIZE);
  EXPECT_EQ(planOf({&any, &finalize}, work).name, "finalize");
  work.accumulator = ANNUDF_ACCUMULATOR_F64;
  EXPECT_EQ(planOf({&any, &wide}, work).name, "wide");
  work.compute = ANNUDF_COMPUTE_I32;
  EXPECT_EQ(planOf({&any, &integers}, work).name, "integers");
  work.element = ANNUDF_ELEMENT_U8;
  EXPECT_EQ(planOf({&any, &bytes}, work).name, "bytes");
  EXPECT_EQ(planOf({&any, &later}, work, {.arch = 100}).name, "later");
}

TEST(Plan, TheFamilyOfTheWorkloadsNameOrNone) {
  const Fake cheap("cheap", 1), dear("dear", 9), late("late", 1, {.arch = 90});
  Workload work = someWork();
  work.family = "dear";
  EXPECT_EQ(planOf({&cheap, &dear}, work).name, "dear");
  work.family = "Dear";
  EXPECT_EQ(errorOf([&] { (void)planOf({&cheap, &dear}, work); }, ErrorKind::Usage),
            "no family of kernels is called 'Dear'; there are cheap, dear");
  work.family = "late";
  EXPECT_EQ(errorOf([&] { (void)planOf({&cheap, &late}, work, {.arch = 80}); }),
            "family 'late' cannot run this search: it needs sm_90, this is sm_80");
  // What it passes over for speed it runs by its name.
  const Passed passed;
  EXPECT_EQ(planOf({&cheap, &passed}).name, "cheap");
  work.family = "passed";
  EXPECT_EQ(planOf({&cheap, &passed}, work).name, "passed");
  EXPECT_EQ(planOf({&cheap, &passed}, work).why, "because of passed");
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
  EXPECT_EQ(planOf({&plain, &filtered}, work).why, "because of plain");
  work.pass = 0.5;
  EXPECT_NEAR(work.groupsThatPass(1), 0.5, 1e-12);
  EXPECT_NEAR(work.groupsThatPass(2), 0.75, 1e-12);
  EXPECT_EQ(planOf({&plain, &filtered}, work).why, "because of plain, 50 % of rows pass");
  work.pass = 0.01;
  EXPECT_NEAR(work.groupsThatPass(32), 0.27502, 1e-5);
  EXPECT_EQ(planOf({&plain, &filtered}, work).why, "because of filtered, 1 % of rows pass");
  work.pass = 0;
  EXPECT_EQ(work.groupsThatPass(32), 0);
  EXPECT_EQ(planOf({&plain, &filtered}, work).why, "because of filtered, 0 % of rows pass");
  EXPECT_EQ(Workload().pass, 1);
}

/// Whatever the metric is proved to be.
TEST(Plan, NoFormIsOfRowsThatMayLackCoordinates) {
  Manifest manifest;
  manifest.form.emplace();
  const std::vector<float> rows = {0, 1, 2, 3};
  const MatrixView view = {rows.data(), 2, 2, ANNUDF_ELEMENT_F32};
  const Index whole = Index::build({.nLists = 1}, view),
              index = Index::build({.nLists = 1, .missingValues = true}, view);
  EXPECT_EQ(workloadOf(manifest, whole, 1, 1, 1).noForm, nullptr);
  EXPECT_TRUE(workloadOf(manifest, whole, 1, 1, 1).formIsDistance);
  EXPECT_STREQ(workloadOf(manifest, index, 1, 1, 1).noForm, "coordinates may be missing");
  EXPECT_FALSE(workloadOf(manifest, index, 1, 1, 1).formIsDistance);
}

/// Of several fields finalize makes of a ratio what limits are found by.
TEST(Plan, AFormIsOfOneFieldOrOfSeveral) {
  Manifest manifest;
  EXPECT_STREQ(workloadOf(manifest).noForm, "it is not proved to be a quadratic form");
  EXPECT_FALSE(workloadOf(manifest).formIsDistance);
  manifest.form.emplace();
  EXPECT_EQ(workloadOf(manifest).noForm, nullptr);
  EXPECT_TRUE(workloadOf(manifest).formIsDistance);
  manifest.form->finalize = QuadraticForm::Finalize::Rises;
  EXPECT_EQ(workloadOf(manifest).noForm, nullptr);
  EXPECT_FALSE(workloadOf(manifest).formIsDistance);
  manifest.form->lengths.emplace();
  EXPECT_EQ(workloadOf(manifest).noForm, nullptr);
  EXPECT_TRUE(workloadOf(manifest).formIsDistance);
}

} // namespace
} // namespace annudf::runtime
