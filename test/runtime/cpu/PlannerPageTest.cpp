//===- PlannerPageTest.cpp - docs/develop/planner.md and the CPU backend's plans --===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixTesting.h"

#include "runtime/DocTables.h"

#include <iterator>
#include <set>

namespace annudf::test {
namespace {

constexpr const char *kPage = "planner.md", *kRefusals = "planner-refusals.md";

/// As the page says: 200,000 rows of 128 dims in f32 in 512 lists of equal size, 16 probes.
Workload workOf(int64_t queries, int k) {
  Workload work;
  work.rows = 200'000, work.lists = 512, work.probes = 16, work.queries = queries, work.k = k;
  work.dims = 128, work.noBounds = Reason::None, work.formIsDistance = true;
  return work;
}

TEST(PlannerPage, TellsWhatIsChosenOnACpu) {
  const Machine avx2{.products = "avx2", .productCost = 0.55};
  const std::unique_ptr<Backend> backend = makeCpuBackend(1);
  const auto table = tableBelow(kPage, "### On a CPU");
  EXPECT_GE(table.size(), 12u);
  for (const std::vector<std::string> &cells : table) {
    Workload work = workOf(int64_t(numberOf(cells.at(1))), int(numberOf(cells.at(2))));
    work.rowsAreKept = cells.at(0) == "rows are kept";
    EXPECT_TRUE(work.rowsAreKept || cells.at(0) == "rows are converted") << cells.at(0);
    work.pass = cells.at(3) == "all" ? 1 : numberOf(cells.at(3));
    EXPECT_EQ(cells.at(4),
              std::string("`") + makePlan(backend->families(), work, avx2).family->name() + "`")
        << cells.at(0) << ", " << cells.at(1) << " queries, k " << cells.at(2) << ", "
        << cells.at(3);
  }
}

TEST(PlannerPage, NamesEveryFamilyOfACpu) {
  const std::unique_ptr<Backend> backend = makeCpuBackend(1);
  std::set<std::string> told, names;
  for (const std::vector<std::string> &cells : tableBelow(kPage, "### Of a CPU"))
    told.insert(cells.at(0));
  for (const KernelFamily *family : backend->families())
    names.insert("`" + std::string(family->name()) + "`");
  EXPECT_EQ(told, names);
}

constexpr Named<Workload> kSearches[] = {
    {"any", [](Workload &) {}},
    {"rows of u8", [](Workload &work) { work.element = ANNUDF_ELEMENT_U8; }},
    {"compute type f64", [](Workload &work) { work.compute = ANNUDF_COMPUTE_F64; }},
    {"no form is proved",
     [](Workload &work) { work.noBounds = Reason::NoForm, work.formIsDistance = false; }},
    {"missing values",
     [](Workload &work) { work.noBounds = Reason::MissingValues, work.formIsDistance = false; }},
    {"`finalize` changes the form", [](Workload &work) { work.formIsDistance = false; }},
    {"8,193 dims", [](Workload &work) { work.dims = 8193; }},
};

TEST(PlannerPage, HasEveryRefusalOfACpu) {
  const std::unique_ptr<Backend> backend = makeCpuBackend(1);
  const auto table = tableBelow(kRefusals, "### By a CPU");
  EXPECT_EQ(table.size(), std::size(kSearches));
  for (const std::vector<std::string> &cells : table) {
    Workload work = workOf(1000, 10);
    change(kSearches, cells.at(1), work);
    work.family = cells.at(0).substr(1, cells.at(0).size() - 2);
    std::string said;
    try {
      (void)backend->plan(work);
    } catch (const Error &error) {
      said = error.what();
      EXPECT_EQ(error.kind(), said.starts_with("no family") ? ErrorKind::Usage : ErrorKind::Input);
    }
    EXPECT_EQ(refusalOf(work.family, cells.at(2)), said) << cells.at(1);
  }
}

} // namespace
} // namespace annudf::test
