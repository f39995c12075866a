//===- PlannerTest.cpp - What the planner of CPUs chooses and refuses -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductsTesting.h"

namespace annudf::test {
namespace {

/// A search of 200,000 rows of 128 dims in f32 in 512 lists of equal size, 16 probes.
Workload workOf(int64_t queries, int k) {
  Workload work;
  work.rows = 200'000, work.lists = 512, work.probes = 16, work.queries = queries, work.k = k;
  work.dims = 128, work.noBounds = Reason::None, work.formIsDistance = true;
  return work;
}

struct Choice {
  int64_t queries;
  double pass;
  const char *family;
  int k;
  bool rowsAreKept;
};
constexpr Choice kChoices[] = {
    {1, 1, "matrix", 10, true},      {10, 1, "matrix", 10, true},
    {1000, 1, "matrix", 10, true},   {1000, 1, "groups", 1000, true},
    {100, 0.5, "matrix", 10, true},  {100, 0.05, "matrix", 10, true},
    {100, 0.01, "groups", 10, true}, {1000, 0.5, "matrix", 10, true},
    {1000, 0.1, "matrix", 10, true}, {1000, 0.01, "groups", 10, true},
    {1, 0.1, "matrix", 10, true},    {1, 0.01, "groups", 10, true},
    {1000, 1, "groups", 10, false},  {10'000, 1, "groups", 10, false},
};

TEST(Planner, ChoosesAFamilyOfACpu) {
  const Machine avx2{.products = "avx2", .productCost = 0.55};
  const std::unique_ptr<Backend> backend = makeCpuBackend(1);
  for (const Choice &choice : kChoices) {
    Workload work = workOf(choice.queries, choice.k);
    work.rowsAreKept = choice.rowsAreKept, work.pass = choice.pass;
    EXPECT_STREQ(makePlan(backend->families(), work, avx2).family->name(), choice.family)
        << (choice.rowsAreKept ? "rows are kept, " : "rows are converted, ") << choice.queries
        << " queries, k " << choice.k << ", pass " << choice.pass;
  }
}

struct Refusal {
  const char *family;
  void (*change)(Workload &);
  const char *message;
};
constexpr Refusal kRefusals[] = {
    {"tiles", [](Workload &) {},
     "no family of kernels is called 'tiles'; there are groups, matrix"},
    {"matrix", [](Workload &work) { work.element = ANNUDF_ELEMENT_U8; },
     "family 'matrix' cannot run this search: it does not read u8"},
    {"matrix", [](Workload &work) { work.compute = ANNUDF_COMPUTE_F64; },
     "family 'matrix' cannot run this search: it does not compute in f64"},
    {"matrix", [](Workload &work) { work.noBounds = Reason::NoForm, work.formIsDistance = false; },
     "family 'matrix' cannot run this search: the metric is not proved to be a quadratic form"},
    {"matrix",
     [](Workload &work) { work.noBounds = Reason::MissingValues, work.formIsDistance = false; },
     "family 'matrix' cannot run this search: the index may hold missing values"},
    {"matrix", [](Workload &work) { work.formIsDistance = false; },
     "family 'matrix' cannot run this search: the metric has a finalize step, so its bound cannot "
     "be inverted"},
    {"matrix", [](Workload &work) { work.dims = 8193; },
     "family 'matrix' cannot run this search: it takes at most 8192 dims, the index has 8193"},
};

TEST(Planner, RefusesAFamilyOfACpu) {
  const std::unique_ptr<Backend> backend = makeCpuBackend(1);
  for (const auto &[family, change, message] : kRefusals) {
    Workload work = workOf(1000, 10);
    change(work);
    work.family = family;
    const auto kind =
        std::string_view(message).starts_with("no family") ? ErrorKind::Usage : ErrorKind::Input;
    EXPECT_EQ(errorOf([&] { (void)backend->plan(work); }, kind), message);
  }
}

} // namespace
} // namespace annudf::test
