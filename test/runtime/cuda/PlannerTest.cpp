//===- PlannerTest.cpp - What the planner of GPUs chooses and refuses -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "H200.h"
#include "kernels/cuda/common/ProductArgs.h"

#include "cuda/plan/Families.h"

#include "Support/TestFiles.h"

#include <fstream>
#include <iterator>
#include <set>

namespace annudf::runtime::cuda {
namespace {

using test::kH200;

/// A search of 1,000,000 rows of 128 dims in f32 in 1,024 lists of equal size, 32 probes.
Workload workOf(int64_t queries, int k = 10) {
  Workload work;
  work.hooks = {ANNUDF_HOOK_INIT, ANNUDF_HOOK_UPDATE};
  work.rows = 1'000'000, work.lists = 1024, work.probes = 32, work.queries = queries, work.k = k;
  work.dims = 128, work.rowBytes = 512, work.bodyBytes = 2000, work.fusedAhead = true;
  return work;
}

void any(Workload &) {}
void largeBody(Workload &work) { work.bodyBytes = kLargeBodyBytes + 1; }
void withCombine(Workload &work) { work.hooks.insert(ANNUDF_HOOK_COMBINE); }
void proved(Workload &work) { work.noBounds = Reason::None; }
void weightsByQuery(Workload &work) { work.noBounds = Reason::None, work.ownNodes = 12; }
void packedSum(Workload &work) { work.element = ANNUDF_ELEMENT_U8, work.packedDims = 258; }

struct Choice {
  void (*metric)(Workload &);
  int64_t queries;
  int k;
  double pass;
  const char *family;
};
constexpr Choice kChoices[] = {
    {any, 1, 10, 1, "pairs"},
    {any, 100, 10, 1, "tiles"},
    {any, 1000, 10, 1, "staged"},
    {any, 10'000, 10, 1, "staged_granules"},
    {any, 10'000, 1000, 1, "staged"},
    {any, 100, 10, 0.1, "tiles"},
    {any, 100, 10, 0.01, "tiles"},
    {any, 100, 10, 0.001, "pairs"},
    {any, 1000, 10, 0.5, "staged"},
    {any, 10'000, 10, 0.1, "staged_granules"},
    {any, 1000, 10, 0.01, "tiles"},
    {any, 10'000, 10, 0.01, "tiles"},
    {any, 10'000, 10, 0.001, "staged_granules"},
    {largeBody, 10'000, 10, 1, "tiles"},
    {withCombine, 1, 10, 1, "parts"},
    {withCombine, 100, 10, 1, "tiles"},
    {withCombine, 1000, 10, 1, "staged"},
    {withCombine, 10'000, 10, 1, "staged_granules"},
    {packedSum, 1, 10, 1, "pairs"},
    {packedSum, 1000, 10, 1, "packed"},
    {packedSum, 100, 10, 1, "packed"},
    {packedSum, 10'000, 10, 1, "packed_granules"},
    {packedSum, 10'000, 10, 0.01, "packed_granules"},
    {packedSum, 100, 10, 0.01, "tiles"},
    {proved, 1, 10, 1, "pairs"},
    {proved, 100, 10, 1, "matrix"},
    {proved, 10'000, 10, 1, "matrix"},
    {proved, 10'000, 1000, 1, "staged"},
    {proved, 10'000, 10, 0.1, "matrix"},
    {proved, 10'000, 10, 0.001, "matrix"},
    {proved, 1000, 10, 0.001, "matrix"},
    {proved, 100, 10, 0.1, "matrix"},
    {proved, 100, 10, 0.01, "tiles"},
    {proved, 100, 10, 0.001, "pairs"},
    {weightsByQuery, 1, 10, 1, "pairs"},
    {weightsByQuery, 100, 10, 1, "matrix"},
    {weightsByQuery, 1000, 10, 1, "matrix"},
    {weightsByQuery, 10'000, 10, 1, "matrix"},
    {weightsByQuery, 10'000, 10, 0.001, "matrix"},
};

TEST(Planner, ChoosesAFamilyOfAGpu) {
  std::set<std::string> chosen;
  for (const Choice &choice : kChoices) {
    Workload work = workOf(choice.queries, choice.k);
    choice.metric(work);
    work.pass = choice.pass;
    Manifest manifest;
    manifest.form.emplace();
    work.noBounds = whyNoBounds(work, manifest); // As the backend does.
    const std::string name = makePlan(kernelFamilies(), work, kH200).family->name();
    EXPECT_EQ(name, choice.family) << "kChoices[" << &choice - kChoices << "]";
    chosen.insert(name);
  }
  // No H200 runs the family that is left unless it is named.
  EXPECT_EQ(chosen.size(), families().size() - 1);
}

/// The headers say what the family of the statistics may be.
TEST(Planner, HeadersNameEveryFamilyOfAGpu) {
  for (const char *header : {"annudf-c/IvfFlat.h", "annudf/cpp/params.hpp"}) {
    std::ifstream file(std::string(ANNUDF_INCLUDE_DIR "/") + header);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    for (const CudaFamily *family : families())
      EXPECT_NE(text.find('"' + std::string(family->name()) + '"'), std::string::npos)
          << header << ": " << family->name();
  }
}

struct Asked {
  Workload work = workOf(1000);
  Machine machine = kH200;
};
struct Refusal {
  const char *family;
  void (*change)(Asked &);
  const char *message;
};
constexpr Refusal kRefusals[] = {
    {"Tiles", [](Asked &) {},
     "no family of kernels is called 'Tiles'; there are tiles, pairs, parts, staged, "
     "staged_granules, packed, packed_granules, matrix, matrix_mma"},
    {"groups", [](Asked &) {},
     "no family of kernels is called 'groups'; there are tiles, pairs, parts, staged, "
     "staged_granules, packed, packed_granules, matrix, matrix_mma"},
    {"pairs", [](Asked &asked) { asked.work.dims = 60'000; },
     "family 'pairs' cannot run this search: a query takes 240000 bytes of shared memory, a block "
     "has 232448"},
    {"tiles", [](Asked &asked) { asked.work.dims = 28'000; },
     "family 'tiles' cannot run this search: 8 queries and the prefetched rows take 920576 bytes "
     "of shared memory, a block has 232448"},
    {"parts", [](Asked &) {},
     "family 'parts' cannot run this search: the metric has no hook 'combine'"},
    {"parts",
     [](Asked &asked) {
       asked.work.hooks.insert(ANNUDF_HOOK_COMBINE);
       asked.work.rowBytes = 240;
     },
     "family 'parts' cannot run this search: a row of 240 bytes is too short to split between "
     "warps, it needs 256"},
    {"staged",
     [](Asked &asked) {
       asked.work.compute = ANNUDF_COMPUTE_F64;
       asked.work.accumulator = ANNUDF_ACCUMULATOR_F64;
       asked.work.widths = {.accumulator = 64, .coordinate = 64};
     },
     "family 'staged' cannot run this search: the metric takes coordinates of 64 bits, it needs "
     "32"},
    {"staged", [](Asked &asked) { asked.machine.arch = 75; },
     "family 'staged' cannot run this search: it needs sm_80 or newer, this GPU is sm_75"},
    {"staged", [](Asked &asked) { asked.machine.sharedBytes = 40 * 1024; },
     "family 'staged' cannot run this search: two stages take 43536 bytes of shared memory, a "
     "block has 40960"},
    {"staged_granules", [](Asked &asked) { asked.work.fusedAhead = false; },
     "family 'staged_granules' cannot run this search: the metric holds CUDA source, linked code "
     "or LTO-IR of another compiler, which the linker may round differently in each kernel"},
    {"staged_granules",
     [](Asked &asked) {
       asked.work.k = 257, asked.work.packedDims = 258, asked.work.noBounds = Reason::None;
     },
     "family 'staged_granules' cannot run this search: it finds at most 256 rows a query, k is "
     "257"},
    {"packed", [](Asked &) {},
     "family 'packed' cannot run this search: the metric is not proved to be a packed sum of f32"},
    {"packed",
     [](Asked &asked) {
       asked.work.element = ANNUDF_ELEMENT_U8, asked.work.dims = 259, asked.work.packedDims = 258;
     },
     "family 'packed' cannot run this search: a packed sum of u8 is exact up to 258 dims, the "
     "index has 259"},
    {"packed",
     [](Asked &asked) {
       asked.machine.sharedBytes = 64 * 1024;
       asked.work.packedDims = 258, asked.work.noBounds = Reason::None;
     },
     "family 'packed' cannot run this search: three stages take 83216 bytes of shared memory, a "
     "block has 65536"},
    {"packed_granules",
     [](Asked &asked) {
       asked.work.k = 257, asked.work.packedDims = 258, asked.work.noBounds = Reason::None;
     },
     "family 'packed_granules' cannot run this search: it finds at most 256 rows a query, k is "
     "257"},
    {"matrix", [](Asked &) {},
     "family 'matrix' cannot run this search: the metric is not proved to be a quadratic form"},
    {"matrix", [](Asked &asked) { asked.work.noBounds = Reason::MissingValues; },
     "family 'matrix' cannot run this search: the index may hold missing values"},
    {"matrix",
     [](Asked &asked) {
       asked.work.compute = ANNUDF_COMPUTE_F64;
       asked.work.accumulator = ANNUDF_ACCUMULATOR_F64;
       asked.work.widths = {.accumulator = 64, .coordinate = 64};
     },
     "family 'matrix' cannot run this search: it does not accumulate in f64"},
    {"matrix", [](Asked &asked) { asked.machine.arch = 80; },
     "family 'matrix' cannot run this search: it runs on sm_90 only, this GPU is sm_80"},
    {"matrix", [](Asked &asked) { asked.machine.arch = 100; },
     "family 'matrix' cannot run this search: it runs on sm_90 only, this GPU is sm_100"},
    {"matrix",
     [](Asked &asked) {
       asked.work.k = 257, asked.work.packedDims = 258, asked.work.noBounds = Reason::None;
     },
     "family 'matrix' cannot run this search: it finds at most 256 rows a query, k is 257"},
    {"matrix",
     [](Asked &asked) {
       asked.machine.sharedBytes = 64 * 1024;
       asked.work.packedDims = 258, asked.work.noBounds = Reason::None;
     },
     "family 'matrix' cannot run this search: panels take 108864 bytes of shared memory, a block "
     "has 65536"},
    {"matrix_mma", [](Asked &) {},
     "family 'matrix_mma' cannot run this search: the metric is not proved to be a quadratic form"},
    {"matrix_mma",
     [](Asked &asked) {
       asked.machine.sharedBytes = 101'376, asked.work.dims = 5000;
       asked.work.noBounds = Reason::None, asked.work.ownNodes = 128;
     },
     "family 'matrix_mma' cannot run this search: a query's coefficients take 106560 bytes of "
     "shared memory, a block has 101376"},
    {"matrix_mma", [](Asked &asked) { asked.machine.arch = 75; },
     "family 'matrix_mma' cannot run this search: it needs sm_80 or newer, this GPU is sm_75"},
};

TEST(Planner, RefusesEveryFamilyOfAGpu) {
  std::set<std::string> refused;
  for (const auto &[family, change, message] : kRefusals) {
    Asked asked;
    change(asked);
    asked.work.family = family;
    const auto kind =
        std::string_view(message).starts_with("no family") ? ErrorKind::Usage : ErrorKind::Input;
    EXPECT_EQ(
        test::errorOf([&] { (void)makePlan(kernelFamilies(), asked.work, asked.machine); }, kind),
        message);
    refused.insert(family);
  }
  for (const CudaFamily *family : families())
    EXPECT_TRUE(refused.contains(family->name())) << family->name();
}

TEST(Planner, SaysWhyASearchHasNoUseForBounds) {
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
  const std::string byLinker = "the metric holds CUDA source, linked code or LTO-IR of another "
                               "compiler, which the linker may round differently in each kernel";
  const std::string byRatio =
      "its ratio reads a capture by query or in GPU memory, where only host "
      "arrays without extent query are allowed";
  const std::vector<std::string> expected = {
      "the metric is not proved to be a quadratic form",
      "the index may hold missing values",
      "the environment sets ANNUDF_MATRIX=0",
      "the call computes every distance, not the k best",
      byLinker,
      byRatio,
      "its coefficients take more than 128 steps for each query",
  };
  EXPECT_EQ(said, expected);
  // A filter is none, and a radius.
  proved.pass = 0.01, proved.withinRadius = true;
  EXPECT_EQ(whyNoBounds(proved, manifest), Reason::None);
}

} // namespace
} // namespace annudf::runtime::cuda
