//===- SanitizedTest.cpp - A small search by every kernel -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For compute-sanitizer (scripts/gpu racecheck), under which a kernel takes a hundred times as
// long: each family's, and what comes before and after a scan, over some hundred rows. Needs a GPU;
// without one only the cases themselves are looked at, and the others are skipped and say so.
//
//===----------------------------------------------------------------------===//

#include "AgainstPairs.h"
#include "PlantedFaults.h"
#include "SharedBackend.h"

#include "annudf/runtime/cuda/Cuda.h"
#include "cuda/driver/Driver.h"
#include "cuda/link/Linker.h"
#include "cuda/plan/Families.h"
#include "kernels/cuda/build/BuildArgs.h"
#include "kernels/cuda/common/ProductArgs.h"
#include "kernels/cuda/common/ScanArgs.h"
#include "runtime/MergeTesting.h"
#include "runtime/PredicateTesting.h"
#include "runtime/RadiusTesting.h"

#include <algorithm>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

struct Case {
  const char *family;
  annudf_element element = ANNUDF_ELEMENT_F32;
  int64_t queries = 70; ///< More than a tile has, and the last in part.
  int least = 75;       ///< Architecture.
  int most = 999;
};

const Case kCases[] = {{"tiles"},
                       {"pairs", ANNUDF_ELEMENT_F16, 9},
                       {"parts", ANNUDF_ELEMENT_F32, 2},
                       {"staged", ANNUDF_ELEMENT_F32, 70, 80},
                       {"staged_granules", ANNUDF_ELEMENT_F32, 70, 80},
                       {"packed", ANNUDF_ELEMENT_U8, 70, 80},
                       {"packed_granules", ANNUDF_ELEMENT_I8, 70, 80},
                       {"matrix", ANNUDF_ELEMENT_F32, 140, 90, 90},
                       {"matrix_mma", ANNUDF_ELEMENT_F32, 140, 80}};

const TestMetric &provedMetric(const std::string &name) {
  for (const TestMetric &proved : provedMetrics())
    if (proved.name == name)
      return proved;
  throw std::runtime_error("no test metric " + name);
}

Metric metricFor(const std::string &family) {
  TestMetric l2 = testMetric("l2");
  if (family.starts_with("matrix"))
    return unfusedMetric(provedMetric("proved_l2"));
  if (family != "parts")
    return unfusedMetric(l2);
  Artifact artifact = cudaArtifact(l2, readFatbin("l2_in_parts"));
  artifact.manifest = inParts(artifact.manifest);
  return Metric::fromArtifact(std::move(artifact), "l2_in_parts.annudf");
}

/// Up to these a query's coefficients are computed by 128 threads, and by 64; of more by 32.
constexpr size_t kFewNodes = 24, kManyNodes = 48;

/// Weights, whose form adds 0 to them until it has so many nodes.
Metric metricOfNodes(size_t nodes) {
  TestMetric metric = provedMetric("proved_weighted_l2");
  QuadraticForm &form = *metric.form;
  uint32_t &weight = form.exact.of[Quadratic::XX];
  while (form.nodes.size() < nodes) {
    Coefficient sum{};
    sum.kind = Coefficient::Kind::Sum, sum.a = weight, sum.b = 0; // Node 0 is 0.
    weight = uint32_t(form.nodes.size());
    form.nodes.push_back(std::move(sum));
  }
  form.exact.of[Quadratic::YY] = weight;
  return unfusedMetric(metric);
}

/// Most groups have some of these rows, most granules of eight none.
std::shared_ptr<const RowFilter> someRows(int64_t rows) {
  const std::vector<uint32_t> words(size_t(RowFilter::wordsFor(rows)), 0x00020001U);
  return std::make_shared<const RowFilter>(words, rows);
}

/// Rows 0, 17, 34, ... for even queries, none for every fifth, and all for the others, but those of
/// odd rows.
std::shared_ptr<const Predicate> rowsByQuery(int64_t rows, int64_t queries) {
  const auto even = std::make_shared<const Metric>(cudaFilter(evenRows("")));
  return predicateOf({bitmapOf(queries, rows,
                               [](int64_t query, int64_t row) {
                                 return query % 5 != 0 && (query % 2 == 1 || row % 17 == 0);
                               }),
                      Predicate::Code{even, std::make_shared<const BoundCaptures>()},
                      Predicate::Join::And});
}
bool isFoundBy(int64_t query, int64_t row) {
  return row % 2 == 0 && query % 5 != 0 && (query % 2 == 1 || row % 17 == 0);
}

class CudaSanitized : public testing::Test {
protected:
  static constexpr int32_t kDims = 96; // Rows of parts have 256 bytes and more.

  void SetUp() override { REQUIRE_GPU("the kernels of searches are"); }
  static Index build(const reference::Vectors &base, uint32_t lists) {
    IndexParams params;
    params.nLists = lists, params.kmeansIterations = 2;
    return Index::build(params, view(base));
  }
  /// Brute force agrees with what is found of all lists.
  void expectFound(const Index &index, const Metric &metric, const reference::Vectors &base,
                   const reference::Vectors &queries, int k, const SearchParams &params) const {
    const Answer found = answerOf(*backend, index, metric, queries, k, params);
    if (!params.family.empty()) {
      EXPECT_EQ(found.stats.family, params.family);
    }
    const TestMetric &l2 = testMetric("l2");
    for (int64_t q = 0; q < queries.rows; q += 11) {
      auto rows = reference::allRows(base.rows);
      if (params.filter)
        std::erase_if(rows, [&](int64_t row) { return !params.filter->passes(row); });
      if (params.predicate)
        std::erase_if(rows, [&](int64_t row) { return !isFoundBy(q, row); });
      EXPECT_EQ("", reference::check(base, rows, queries.row(q), k, l2.order, l2.distance,
                                     &found.ids[size_t(q * k)], &found.distances[size_t(q * k)]))
          << "query " << q;
    }
  }
  CudaBackend *const backend = sharedBackend();
};

class CudaSanitizedFamily : public CudaSanitized, public testing::WithParamInterface<Case> {
protected:
  static constexpr int64_t kRows = 700;

  void search(std::shared_ptr<const RowFilter> filter,
              std::shared_ptr<const Predicate> predicate = {}) const {
    const Case &of = GetParam();
    if (backend->arch() < of.least || backend->arch() > of.most)
      GTEST_SKIP() << "sm_" << backend->arch() << " has no kernels of " << of.family
                   << ": they are NOT checked";
    const auto base = reference::randomVectors(of.element, kRows, kDims, 1),
               queries = reference::randomVectors(of.element, of.queries, kDims, 2);
    expectFound(build(base, 3), metricFor(of.family), base, queries, 5,
                {.candidates = Lists{3},
                 .filter = std::move(filter),
                 .predicate = std::move(predicate),
                 .family = of.family});
  }
};

/// Which products compute for each query anew, of captures on the device.
class CudaSanitizedOwn : public CudaSanitized {
protected:
  static constexpr int64_t kRows = 700;

  void search(const std::shared_ptr<const RowFilter> &filter = {}) const {
    using cuda::Driver, cuda::check;
    const Metric metric = metricOfNodes(0);
    const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, kDims, 1),
               queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 140, kDims, 2);
    std::vector<float> weights(kDims);
    for (int32_t d = 0; d < kDims; ++d)
      weights[size_t(d)] = weightOf(d);
    const auto context = std::make_shared<const cuda::Context>(backend->device());
    const cuda::ContextScope scope(*context);
    const cuda::Buffer onDevice(context, weights.size() * sizeof(float));
    ANNUDF_CUDA(cuMemcpyHtoD, onDevice.device(), weights.data(), onDevice.size());
    CaptureValue value;
    value.dtype = "f32", value.shape = {kDims}, value.bytes = onDevice.size();
    value.origin = "test";
    value.data = reinterpret_cast<const void *>(onDevice.device()); // NOLINT
    value.space = MemorySpace::Cuda, value.device = backend->device();
    const auto captures = BoundCaptures::bindViews(metric.artifact.manifest, kDims, {{"w", value}});
    const Index index = build(base, 3);
    for (const char *family : {"matrix", "matrix_mma"})
      if (backend->arch() == 90 || (family == std::string("matrix_mma") && backend->arch() >= 80))
        EXPECT_EQ(differenceFromPairs(*backend, index, metric, captures, queries, 5,
                                      {.candidates = Lists{3}, .filter = filter}, family),
                  "");
  }
};

} // namespace

/// So that a family that is added is looked at too.
TEST(CudaSanitizedCases, AreEveryFamily) {
  std::vector<std::string> all, cases;
  for (const cuda::CudaFamily *family : cuda::families())
    all.emplace_back(family->name());
  for (const Case &one : kCases)
    cases.emplace_back(one.family);
  std::sort(all.begin(), all.end()), std::sort(cases.begin(), cases.end());
  EXPECT_EQ(cases, all);
}

/// Which needs no GPU.
TEST(CudaSanitizedCases, HaveWhatTheirFamilyNeeds) {
  Workload within;
  within.withinRadius = true;
  for (const Case &one : kCases) {
    const Metric metric = metricFor(one.family);
    const auto fit = cuda::familiesFor(metric.artifact, 90, ScanElements(one.element));
    const auto family = std::find_if(fit.begin(), fit.end(), [&](const auto *of) {
      return of->name() == std::string_view(one.family);
    });
    if (family == fit.end()) { // For other machines; by its name it runs.
      EXPECT_STREQ(one.family, "matrix_mma");
      continue;
    }
    for (const auto &entries : {(*family)->entries(), (*family)->entriesFor(within).last(1)})
      for (const cuda::ScanEntry &entry : entries)
        EXPECT_EQ(cuda::linkScanKernel(metric.artifact, {one.element, 90, entry}).substr(1, 3),
                  "ELF")
            << one.family << " " << entry.kernel;
  }
}

/// Every shape of the kernel; needs no GPU either.
TEST(CudaSanitizedCases, CoefficientsAreComputedByBlocksOfEverySize) {
  const auto threads = [](size_t nodes) {
    const Metric metric = metricOfNodes(nodes);
    const auto fit = cuda::familiesFor(metric.artifact, 90, ScanElements(ANNUDF_ELEMENT_F32));
    EXPECT_TRUE(std::any_of(fit.begin(), fit.end(), [](const auto *of) {
      return of->name() == std::string_view("matrix");
    }));
    return ANNUDF_MATRIX_OWN_THREADS(metric.artifact.manifest.form->nodes.size());
  };
  EXPECT_EQ(threads(0), 128);
  EXPECT_EQ(threads(kFewNodes + 1), 64);
  EXPECT_EQ(threads(kManyNodes + 1), 32);
}

TEST_P(CudaSanitizedFamily, Searches) { search(nullptr); }

TEST_P(CudaSanitizedFamily, SearchesWithAFilter) { search(someRows(kRows)); }

/// Bits of each query, and code.
TEST_P(CudaSanitizedFamily, SearchesWithAFilterThatSeesTheQuery) {
  search(nullptr, rowsByQuery(kRows, GetParam().queries));
}

TEST_P(CudaSanitizedFamily, SearchesByRadius) {
  const Case &of = GetParam();
  if (backend->arch() < of.least || backend->arch() > of.most)
    GTEST_SKIP() << "sm_" << backend->arch() << " has no kernels of " << of.family
                 << ": they are NOT checked";
  const auto base = reference::randomVectors(of.element, kRows, kDims, 1),
             queries = reference::randomVectors(of.element, of.queries, kDims, 2);
  const Index index = build(base, 3);
  const Metric metric = metricFor(of.family);
  const BoundCaptures captures = bind(metric, kDims);
  RadiusSearch search{*backend, index, metric, captures, view(queries), {}};
  search.params.candidates = Lists{3}, search.params.family = of.family;
  const EveryNeighbour every(search, of.family == std::string("parts") ? "parts" : "pairs");
  const auto radii = every.radii();
  for (const float radius : {radii[5], radii[7], radii[9]}) // Some rows, half of them, all but one.
    EXPECT_TRUE(areEqual(search.run(radius), every.within(radius))) << radius;
}

INSTANTIATE_TEST_SUITE_P(Every, CudaSanitizedFamily, testing::ValuesIn(kCases),
                         [](const auto &info) { return std::string(info.param.family); });

TEST_F(CudaSanitizedOwn, CoefficientsOfEachQuery) { search(); }
TEST_F(CudaSanitizedOwn, CoefficientsOfEachQueryWithAFilter) { search(someRows(kRows)); }

TEST_F(CudaSanitized, ManyQueriesChooseTheirLists) {
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 400, 12, 3),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, ANNUDF_FEW_QUERIES + 5, 12, 4);
  expectFound(build(base, 40), metricFor("tiles"), base, queries, 5,
              {.candidates = Lists{40}, .family = "tiles"});
}

TEST_F(CudaSanitized, ManyListsAreSortedInSteps) {
  constexpr uint32_t kLists = ANNUDF_SORT_MOST_LISTS + 3;
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kLists + 50, 4, 5),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 12, 4, 6);
  const Answer found = answerOf(*backend, build(base, kLists), metricFor("tiles"), queries, 5,
                                {.candidates = Lists{20}, .family = "tiles"});
  EXPECT_EQ(found.stats.family, "tiles");
}

/// Another kernel finishes them.
TEST_F(CudaSanitized, MoreResultsThanABlockHolds) {
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, ANNUDF_FINISH_MOST_K + 300, 8, 7),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 3, 8, 8);
  expectFound(build(base, 3), metricFor("pairs"), base, queries, ANNUDF_FINISH_MOST_K + 1,
              {.candidates = Lists{3}, .family = "pairs"});
}

/// The last group is not full; or there is none.
TEST_F(CudaSanitized, GatheredRows) {
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 700, 12, 3),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 40, 12, 4);
  const Index index = build(base, 6);
  for (const auto &filter :
       {someRows(700), std::make_shared<const RowFilter>(std::vector<uint32_t>(22), 700)}) {
    const auto search = [&](const char *gather) {
      ::setenv("ANNUDF_GATHER", gather, 1);
      const Answer found = answerOf(*backend, index, metricFor("tiles"), queries, 5,
                                    {.filter = filter, .family = "tiles"});
      ::unsetenv("ANNUDF_GATHER");
      return found;
    };
    const Answer lists = search("0"), gathered = search("1");
    EXPECT_NE(gathered.stats.why.find("gathered"), std::string::npos) << gathered.stats.why;
    EXPECT_EQ(gathered.ids, lists.ids);
    EXPECT_EQ(gathered.distances, lists.distances);
  }
}

TEST_F(CudaSanitized, EveryDistance) {
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 500, 8, 9),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 3, 8, 10);
  const Metric metric = metricFor("tiles");
  std::vector<float> distances(1500, -777);
  backend->distances(build(base, 3), metric, bind(metric, 8), view(queries), {}, distances.data());
  for (size_t i = 0; i < distances.size(); ++i) {
    const double expected =
        testMetric("l2").distance(queries.row(int64_t(i / 500)), base.row(int64_t(i % 500)), 8);
    ASSERT_NEAR(distances[i], expected, 1e-4 + 1e-5 * expected) << i;
  }
}

/// Rows of whole chunks are read where they are, and so are those of an index, others from copies;
/// many columns are sorted by the host.
TEST_F(CudaSanitized, Candidates) {
  const Metric metric = metricFor("tiles");
  for (const auto &[dims, isIndex] : {std::pair(8, false), {36, false}, {37, false}, {36, true}}) {
    const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 300, dims, 13),
               queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 5, dims, 14);
    const Index index = build(base, 3);
    const BoundCaptures captures = bind(metric, dims);
    for (const int64_t columns : {40, 700, ANNUDF_BUILD_CANDIDATES + 1}) {
      std::vector<int64_t> candidates(size_t(5 * columns));
      for (size_t i = 0; i < candidates.size(); ++i)
        candidates[i] = int64_t(i * 7 % 301) - 1;
      std::vector<int64_t> ids(50);
      std::vector<float> distances(50);
      const CandidateRows given = {candidates.data(), 5, columns};
      if (isIndex)
        backend->refineOwn(index, given, {}, metric, captures, view(queries), {}, 10, {},
                           ids.data(), distances.data());
      else
        backend->refine(view(base), {}, given, {}, metric, captures, view(queries), {}, 10, {},
                        ids.data(), distances.data());
      for (int64_t q = 0; q < 5; ++q) {
        std::set<int64_t> own(candidates.begin() + q * columns,
                              candidates.begin() + (q + 1) * columns);
        own.erase(-1);
        EXPECT_EQ(reference::check(base, {own.begin(), own.end()}, queries.row(q), 10,
                                   ANNUDF_ORDER_MIN, testMetric("l2").distance,
                                   &ids[size_t(q * 10)], &distances[size_t(q * 10)], 1e-4),
                  "")
            << dims << " dims, " << columns << " columns, query " << q;
      }
    }
  }
}

TEST_F(CudaSanitized, BuildsExtendsAndRemoves) {
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 900, 20, 11);
  for (const annudf_coarse metric : {ANNUDF_COARSE_L2, ANNUDF_COARSE_COSINE}) {
    IndexParams params;
    params.nLists = 5, params.kmeansIterations = 2, params.metric = metric;
    params.adaptiveCenters = true;
    Index index = backend->buildFromHost(params, {base.encoded.data(), 700, 20, base.element});
    backend->extendFromHost(index, {base.encoded.data() + size_t(700) * 80, 200, 20, base.element});
    expectFound(index, metricFor("tiles"), base, base, 5, {.candidates = Lists{5}});
    std::vector<int64_t> ids;
    for (int64_t id = 0; id < 900; id += 3)
      ids.push_back(id);
    EXPECT_EQ(backend->remove(index, ids), 300);
    EXPECT_EQ(index.size(), 600);
    (void)answerOf(*backend, index, metricFor("tiles"), base, 5, {.candidates = Lists{5}});
  }
}

TEST_F(CudaSanitized, DISABLED_PlantedRace) {
  EXPECT_EQ(run(kRace, std::make_shared<cuda::Context>(backend->device())), CUDA_SUCCESS);
}

TEST_F(CudaSanitized, DISABLED_PlantedReadPastTheEnd) {
  EXPECT_EQ(run(kReadPastTheEnd, std::make_shared<cuda::Context>(backend->device())), CUDA_SUCCESS);
}

/// Rows that are put in groups where they are, and piece by piece.
TEST_F(CudaSanitized, StoredRows) {
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F16, 701, 97, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F16, 9, 97, 2);
  const auto memory = backend->allocate(base.encoded.size(), nullptr);
  backend->copy(memory->address(), reinterpret_cast<uint64_t>(base.encoded.data()), memory->size(),
                nullptr);
  MatrixView there = view(base);
  there.data = reinterpret_cast<const void *>(memory->address()); // NOLINT
  for (const Index &index :
       {backend->storeRows(there, {true, nullptr}, {}), backend->storeRows(view(base), {}, {})})
    expectFound(index, metricFor("tiles"), base, queries, 5, {.candidates = Lists{1}});
}

TEST_F(CudaSanitized, MergedParts) {
  std::mt19937_64 random(5);
  for (const int64_t k : {3, 40, 1100}) {
    const MergeCase one(random, 3, 5, 500, k, 20, true);
    const auto results = uint64_t(one.queries * k);
    const auto put = [&](const void *from, uint64_t bytes) {
      auto memory = backend->allocate(bytes, nullptr);
      backend->copy(memory->address(), reinterpret_cast<uint64_t>(from), bytes, nullptr);
      return memory;
    };
    const auto ids = put(one.ids.data(), one.ids.size() * 8),
               distances = put(one.distances.data(), one.distances.size() * 4),
               to = backend->allocate(results * 8, nullptr),
               at = backend->allocate(results * 4, nullptr);
    backend->mergeParts({reinterpret_cast<const int64_t *>(ids->address()),     // NOLINT
                         reinterpret_cast<const float *>(distances->address()), // NOLINT
                         one.parts, one.queries, one.found, one.order, one.translations},
                        k, reinterpret_cast<int64_t *>(to->address()),      // NOLINT
                        reinterpret_cast<float *>(at->address()), nullptr); // NOLINT
    std::vector<int64_t> gotIds(results);
    std::vector<float> gotDistances(results);
    backend->copy(reinterpret_cast<uint64_t>(gotIds.data()), to->address(), results * 8, nullptr);
    backend->copy(reinterpret_cast<uint64_t>(gotDistances.data()), at->address(), results * 4,
                  nullptr);
    backend->synchronize(nullptr);
    one.check(gotIds, gotDistances);
  }
}
