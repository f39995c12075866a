//===- PlannerPageTest.cpp - docs/develop/planner.md and the CUDA backend's plans -===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "H200.h"
#include "kernels/cuda/common/MatrixArgs.h"
#include "runtime/DocTables.h"

#include "cuda/plan/Families.h"

#include "Support/TestFiles.h"

#include <set>

namespace annudf::runtime::cuda {
namespace {

using test::kH200;
using test::numberOf;
using test::tableBelow;

constexpr const char *kPage = "planner.md", *kRefusals = "planner-refusals.md";

/// As the page says: 1,000,000 rows of 128 dims in f32 in 1,024 lists of equal size, 32 probes.
Workload workOf(int64_t queries, int k = 10) {
  Workload work;
  work.hooks = {ANNUDF_HOOK_INIT, ANNUDF_HOOK_UPDATE};
  work.rows = 1'000'000, work.lists = 1024, work.probes = 32, work.queries = queries, work.k = k;
  work.dims = 128, work.rowBytes = 512, work.bodyBytes = 2000, work.fusedAhead = true;
  return work;
}

/// What the page calls metrics.
constexpr test::Named<Workload> kMetrics[] = {
    {"any", [](Workload &) {}},
    {"of a large body", [](Workload &work) { work.bodyBytes = kLargeBodyBytes + 1; }},
    {"with `combine`", [](Workload &work) { work.hooks.insert(ANNUDF_HOOK_COMBINE); }},
    {"a proved form", [](Workload &work) { work.noBounds = Reason::None; }},
    {"one with weights by query",
     [](Workload &work) { work.noBounds = Reason::None, work.ownNodes = 12; }},
    {"a packed sum of u8",
     [](Workload &work) { work.element = ANNUDF_ELEMENT_U8, work.packedDims = 258; }},
};

TEST(PlannerPage, TellsWhatIsChosenOnAGpu) {
  const auto table = tableBelow(kPage, "### On a GPU");
  EXPECT_GE(table.size(), 20u);
  std::set<std::string> chosen;
  for (const std::vector<std::string> &cells : table) {
    Workload work = workOf(int64_t(numberOf(cells.at(1))), int(numberOf(cells.at(2))));
    test::change(kMetrics, cells.at(0), work);
    work.pass = cells.at(3) == "all" ? 1 : numberOf(cells.at(3));
    Manifest manifest;
    manifest.form.emplace();
    work.noBounds = whyNoBounds(work, manifest); // As the backend does.
    const std::string name = makePlan(kernelFamilies(), work, kH200).family->name();
    EXPECT_EQ(cells.at(4), "`" + name + "`") << cells.at(0) << ", " << cells.at(1) << " queries, k "
                                             << cells.at(2) << ", " << cells.at(3);
    chosen.insert(name);
  }
  // All but those that no H200 runs unless named.
  EXPECT_EQ(chosen.size(), families().size() - 1);
}

TEST(PlannerPage, NamesEveryFamilyOfAGpu) {
  std::set<std::string> told, names;
  for (const std::vector<std::string> &cells : tableBelow(kPage, "### Of a GPU"))
    told.insert(cells.at(0));
  for (const CudaFamily *family : families())
    names.insert("`" + std::string(family->name()) + "`");
  EXPECT_EQ(told, names);
  // And the headers, which say what the statistics may.
  for (const char *header : {"annudf-c/IvfFlat.h", "annudf/cpp/params.hpp"}) {
    std::ifstream file(std::string(ANNUDF_DOCS_DIR "/../include/") + header);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    for (const CudaFamily *family : families())
      EXPECT_NE(text.find('"' + std::string(family->name()) + '"'), std::string::npos)
          << header << ": " << family->name();
  }
}

/// What the page calls searches, by which a family is refused.
struct Asked {
  Workload work = workOf(1000);
  Machine machine = kH200;
};
constexpr test::Named<Asked> kSearches[] = {
    {"any", [](Asked &) {}},
    {"sm_75", [](Asked &asked) { asked.machine.arch = 75; }},
    {"sm_80", [](Asked &asked) { asked.machine.arch = 80; }},
    {"sm_100", [](Asked &asked) { asked.machine.arch = 100; }},
    {"28,000 dims", [](Asked &asked) { asked.work.dims = 28'000; }},
    {"60,000 dims", [](Asked &asked) { asked.work.dims = 60'000; }},
    {"a metric without `combine`", [](Asked &) {}},
    {"rows of 240 bytes",
     [](Asked &asked) {
       asked.work.hooks.insert(ANNUDF_HOOK_COMBINE);
       asked.work.rowBytes = 240;
     }},
    {"compute type f64",
     [](Asked &asked) {
       asked.work.compute = ANNUDF_COMPUTE_F64;
       asked.work.accumulator = ANNUDF_ACCUMULATOR_F64;
       asked.work.widths = {.accumulator = 64, .coordinate = 64};
     }},
    {"40 KiB of shared memory", [](Asked &asked) { asked.machine.sharedBytes = 40 * 1024; }},
    {"64 KiB of shared memory",
     [](Asked &asked) {
       asked.machine.sharedBytes = 64 * 1024;
       asked.work.packedDims = 258, asked.work.noBounds = Reason::None;
     }},
    {"products that the linker fuses", [](Asked &asked) { asked.work.fusedAhead = false; }},
    {"k = 257",
     [](Asked &asked) {
       asked.work.k = 257, asked.work.packedDims = 258, asked.work.noBounds = Reason::None;
     }},
    {"no packed sum is proved", [](Asked &) {}},
    {"259 dims of u8, proved for 258",
     [](Asked &asked) {
       asked.work.element = ANNUDF_ELEMENT_U8, asked.work.dims = 259, asked.work.packedDims = 258;
     }},
    {"no form is proved", [](Asked &) {}},
    {"128 nodes by query of 5,000 dims",
     [](Asked &asked) {
       asked.machine.sharedBytes = 101'376, asked.work.dims = 5000;
       asked.work.noBounds = Reason::None, asked.work.ownNodes = 128;
     }},
    {"missing values", [](Asked &asked) { asked.work.noBounds = Reason::MissingValues; }},
};

TEST(PlannerPage, HasEveryRefusalOfAGpu) {
  const auto table = tableBelow(kRefusals, "### By a GPU");
  std::set<std::string> refused;
  for (const std::vector<std::string> &cells : table) {
    Asked asked;
    test::change(kSearches, cells.at(1), asked);
    asked.work.family = cells.at(0).substr(1, cells.at(0).size() - 2);
    std::string said;
    try {
      (void)makePlan(kernelFamilies(), asked.work, asked.machine);
    } catch (const Error &error) {
      said = error.what();
      EXPECT_EQ(error.kind(), said.starts_with("no family") ? ErrorKind::Usage : ErrorKind::Input);
    }
    EXPECT_EQ(test::refusalOf(asked.work.family, cells.at(2)), said) << cells.at(1);
    refused.insert(asked.work.family);
  }
  for (const CudaFamily *family : families())
    EXPECT_TRUE(refused.contains(family->name())) << family->name();
}

/// What a search has that bounds have no use for, in the order of the page.
TEST(PlannerPage, SaysWhyASearchHasNoUseForBounds) {
  Manifest manifest;
  manifest.form.emplace();
  Workload proved = workOf(1000);
  proved.noBounds = Reason::None;
  EXPECT_EQ(whyNoBounds(proved, manifest), Reason::None);
  std::vector<std::string> said;
  const auto why = [&](auto change) {
    Workload work = proved;
    change(work);
    said.push_back(textOf({whyNoBounds(work, manifest), ANNUDF_MATRIX_OWN_NODES}));
  };
  why([](Workload &work) { work.noBounds = Reason::NoForm; });
  why([](Workload &work) { work.noBounds = Reason::MissingValues; });
  ::setenv("ANNUDF_MATRIX", "0", 1);
  why([](Workload &) {});
  ::unsetenv("ANNUDF_MATRIX");
  why([](Workload &work) { work.everyDistance = true; });
  why([](Workload &work) { work.fusedAhead = false; });
  EXPECT_EQ(ownNodesOf(manifest, {}), 0u);
  Coefficient &entry = manifest.form->nodes.emplace_back();
  entry.kind = Coefficient::Kind::Entry;
  entry.indices.emplace_back().kind = EntryIndex::Kind::Query;
  const auto whyOwn = [&] {
    why([&](Workload &work) { work.ownNodes = ownNodesOf(manifest, {}); });
    const std::string last = said.back();
    if (last.empty())
      said.pop_back();
    return last;
  };
  EXPECT_EQ(whyOwn(), "");
  manifest.form->lengths.emplace();
  whyOwn();
  manifest.form->lengths.reset();
  manifest.form->nodes.resize(ANNUDF_MATRIX_OWN_NODES);
  EXPECT_EQ(whyOwn(), "");
  manifest.form->nodes.emplace_back();
  EXPECT_EQ(ownNodesOf(manifest, {}), ANNUDF_MATRIX_OWN_NODES + 1u);
  whyOwn();
  std::vector<std::string> told;
  for (const std::vector<std::string> &cells : tableBelow(kRefusals, "### Without products"))
    told.push_back(cells.at(0));
  EXPECT_EQ(told, said);
  // A filter is none.
  proved.pass = 0.01;
  EXPECT_EQ(whyNoBounds(proved, manifest), Reason::None);
}

} // namespace
} // namespace annudf::runtime::cuda
