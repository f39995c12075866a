//===- PredicateTest.cpp - Searches in which each query has its rows ------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every family, by name, against brute force over the rows that a query may find.
//
//===----------------------------------------------------------------------===//

#include "../PredicateTesting.h"
#include "AgainstPairs.h"
#include "SharedBackend.h"

#include "annudf/runtime/cuda/Cuda.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

constexpr int64_t kRows = 1900;
constexpr int32_t kDims = 96; // Rows of parts have 256 bytes and more.
constexpr uint32_t kLists = 7;
constexpr int64_t kBits = kRows + 5; ///< More than there are ids.

using Join = Predicate::Join;

/// How many rows pass.
enum class Share { None, One, Hundredth, Half, All };
constexpr Share kShares[] = {Share::None, Share::One, Share::Hundredth, Share::Half, Share::All};

int64_t mixed(int64_t query, int64_t id) {
  uint64_t x = uint64_t(query) * 0x9E3779B97F4A7C15U + uint64_t(id) * 0xC2B2AE3D27D4EB4FU;
  x ^= x >> 31, x *= 0xD6E8FEB86659FD93U, x ^= x >> 32;
  return int64_t(x >> 1);
}

Passes randomly(Share share) {
  return [share](int64_t query, int64_t id) {
    switch (share) {
    case Share::None:
      return false;
    case Share::One:
      return id == mixed(query, 0) % kRows;
    case Share::Hundredth:
      return mixed(query, id) % 100 == 0;
    case Share::Half:
      return mixed(query, id) % 2 == 0;
    case Share::All:
      return true;
    }
    return false;
  };
}

struct Tenants {
  std::vector<int32_t> ofRow, ofQuery;
  bool pass(int64_t query, int64_t id) const { return ofRow[size_t(id)] == ofQuery[size_t(query)]; }
};

Tenants tenantsOf(Share share, int64_t queries) {
  Tenants all;
  const int64_t tenants = share == Share::Hundredth ? 100 : share == Share::Half ? 2 : 1;
  for (int64_t id = 0; id < kRows; ++id)
    all.ofRow.push_back(int32_t(share == Share::One ? id : mixed(1, id) % tenants));
  for (int64_t q = 0; q < queries; ++q)
    all.ofQuery.push_back(int32_t(share == Share::None  ? -1
                                  : share == Share::One ? mixed(q, 2) % kRows
                                                        : mixed(q, 2) % tenants));
  return all;
}

std::shared_ptr<const Metric> tenantFilter() {
  static const auto filter = std::make_shared<const Metric>(cudaFilter(sameTenant("")));
  return filter;
}

Predicate::Code codeOf(const Tenants &tenants) {
  return annudf::test::codeOf(
      tenantFilter(), {kDims, int64_t(tenants.ofRow.size()), int64_t(tenants.ofQuery.size())},
      &tenants.ofRow, tenants.ofQuery);
}

Predicate::Code evenRowsCode() {
  static const auto filter = std::make_shared<const Metric>(cudaFilter(evenRows("")));
  return {filter, std::make_shared<const BoundCaptures>(
                      BoundCaptures::bind(filter->artifact.manifest, {kDims, kRows, 0}, {}))};
}

struct Filtered {
  const char *name;
  std::shared_ptr<const Predicate> predicate;
  Passes passes;
};

/// Every kind of filter, and trees of them that need one, two and three results at once.
std::vector<Filtered> everyKind(Share share, int64_t queries) {
  const Passes random = randomly(share);
  const Tenants tenants = tenantsOf(share, queries);
  const auto bitmap = bitmapOf(queries, kBits, random);
  const auto thirds = [](int64_t id) { return id % 3 != 0; };
  const auto rows = filterOf(kBits, thirds);
  const auto code = codeOf(tenants);
  return {{"bitmap", predicateOf({bitmap}), random},
          {"code", predicateOf({code}),
           [tenants](int64_t q, int64_t id) { return tenants.pass(q, id); }},
          {"code of rows and bitmap", predicateOf({evenRowsCode(), bitmap, Join::And}),
           [random](int64_t q, int64_t id) { return id % 2 == 0 && random(q, id); }},
          {"neither", predicateOf({bitmap, code, Join::Or, Join::Not}),
           [=](int64_t q, int64_t id) { return !random(q, id) && !tenants.pass(q, id); }},
          {"tree",
           predicateOf(
               {rows, bitmap, code, Join::Not, Join::And, Join::Or, Join::Not, bitmap, Join::Or}),
           [=](int64_t q, int64_t id) {
             return !(thirds(id) || (random(q, id) && !tenants.pass(q, id))) || random(q, id);
           }}};
}

struct Case {
  const char *family;
  annudf_element element = ANNUDF_ELEMENT_F32;
  int least = 75; ///< Architecture.
  int most = 999;
};

const Case kCases[] = {{"pairs"},
                       {"pairs", ANNUDF_ELEMENT_F16},
                       {"parts"},
                       {"tiles"},
                       {"tiles", ANNUDF_ELEMENT_U8},
                       {"staged", ANNUDF_ELEMENT_F32, 80},
                       {"staged", ANNUDF_ELEMENT_BF16, 80},
                       {"staged_granules", ANNUDF_ELEMENT_F32, 80},
                       {"packed", ANNUDF_ELEMENT_U8, 80},
                       {"packed_granules", ANNUDF_ELEMENT_I8, 80},
                       {"matrix", ANNUDF_ELEMENT_F32, 90, 90},
                       {"matrix", ANNUDF_ELEMENT_F16, 90, 90},
                       {"matrix_mma", ANNUDF_ELEMENT_F32, 80}};

Metric metricFor(const std::string &family) {
  if (family.starts_with("matrix"))
    for (const TestMetric &proved : provedMetrics())
      if (proved.name == "proved_l2")
        return unfusedMetric(proved);
  if (family != "parts")
    return unfusedMetric(testMetric("l2"));
  Artifact artifact = cudaArtifact(testMetric("l2"), readFatbin("l2_in_parts"));
  artifact.manifest = inParts(artifact.manifest);
  return Metric::fromArtifact(std::move(artifact), "l2_in_parts.annudf");
}

/// "" where a search finds what brute force does of the rows that pass.
std::string differenceFromBruteForce(Backend &backend, const Index &index, const Metric &metric,
                                     const reference::Vectors &base,
                                     const reference::Vectors &queries, int k,
                                     const SearchParams &params, const Passes &passes) {
  const Answer found = answerOf(backend, index, metric, queries, k, params);
  if (!params.family.empty() && found.stats.family != params.family)
    return "was run by " + found.stats.family;
  const TestMetric &l2 = testMetric("l2");
  for (int64_t q = 0; q < queries.rows; q += queries.rows > 100 ? 17 : 1) {
    auto rows = reference::allRows(base.rows);
    std::erase_if(rows, [&](int64_t row) { return !passes(q, row); });
    const std::string fault =
        reference::check(base, rows, queries.row(q), k, l2.order, l2.distance,
                         &found.ids[size_t(q * k)], &found.distances[size_t(q * k)]);
    if (!fault.empty())
      return "query " + std::to_string(q) + ": " + fault;
  }
  return "";
}

class CudaPredicates : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    REQUIRE_GPU("filters that see the query are");
    const Case &of = GetParam();
    if (backend->arch() < of.least || backend->arch() > of.most)
      GTEST_SKIP() << "sm_" << backend->arch() << " has no kernels of " << of.family
                   << ": they are NOT checked";
  }
  CudaBackend *const backend = sharedBackend();
};

class CudaPredicate : public testing::Test {
protected:
  void SetUp() override { REQUIRE_GPU("filters that see the query are"); }
  CudaBackend *const backend = sharedBackend();
  const Metric metric = metricFor("");
  const reference::Vectors base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, kDims, 1),
                           queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 40, kDims, 2);
};

std::string errorOf(const std::function<void()> &call) {
  try {
    call();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

} // namespace

/// 225 cells a family and element.
TEST_P(CudaPredicates, FindWhatBruteForceFindsOfTheRowsThatPass) {
  const Case &of = GetParam();
  const auto base = reference::randomVectors(of.element, kRows, kDims, 1);
  const Index index = build(base, kLists);
  const Metric metric = metricFor(of.family);
  for (const int64_t batch : {1, 10, 300}) {
    const auto queries = reference::randomVectors(of.element, batch, kDims, 2);
    for (const Share share : kShares)
      for (const Filtered &filtered : everyKind(share, batch))
        for (const int k : {1, 10, 100})
          ASSERT_EQ("", differenceFromBruteForce(*backend, index, metric, base, queries, k,
                                                 {.candidates = Lists{kLists},
                                                  .predicate = filtered.predicate,
                                                  .family = of.family},
                                                 filtered.passes))
              << filtered.name << ", share " << int(share) << ", " << batch << " queries, k " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, CudaPredicates, testing::ValuesIn(kCases), [](const auto &info) {
  return std::string(info.param.family) + "_" + toString(info.param.element);
});

/// The planner chooses, and a filter of all queries stands beside it.
TEST_F(CudaPredicate, AFilterBesideItCountsToo) {
  const Index index = build(base, kLists);
  const auto odd = [](int64_t id) { return id % 2 == 1; };
  const Passes half = randomly(Share::Half);
  EXPECT_EQ("", differenceFromBruteForce(
                    *backend, index, metric, base, queries, 10,
                    {.candidates = Lists{kLists},
                     .filter = filterOf(kRows, odd),
                     .predicate = predicateOf({bitmapOf(queries.rows, kRows, half)})},
                    [&](int64_t q, int64_t id) { return odd(id) && half(q, id); }));
}

/// What is found is that of the search without one, struck out.
TEST_F(CudaPredicate, OnlyProbedListsAreSearched) {
  const Index index = build(base, kLists);
  const auto passes = randomly(Share::Half);
  const auto predicate = predicateOf({bitmapOf(queries.rows, kRows, passes)});
  constexpr int kK = 20;
  for (const char *family : {"pairs", "tiles"}) {
    SearchParams params = {.candidates = Lists{2}, .family = family};
    const Answer all = answerOf(*backend, index, metric, queries, int(kRows), params);
    params.predicate = predicate;
    const Answer found = answerOf(*backend, index, metric, queries, kK, params);
    for (int64_t q = 0; q < queries.rows; ++q) {
      std::vector<int64_t> expected;
      for (int64_t i = 0; i < kRows; ++i)
        if (const int64_t id = all.ids[size_t(q * kRows + i)]; id >= 0 && passes(q, id))
          expected.push_back(id);
      expected.resize(kK, -1);
      const auto first = found.ids.begin() + q * kK;
      ASSERT_EQ(std::vector<int64_t>(first, first + kK), expected) << family << ", query " << q;
    }
  }
}

/// Rows where the caller has them, in one list.
TEST_F(CudaPredicate, OfRowsOnTheDeviceInOneList) {
  const auto memory = backend->allocate(base.encoded.size(), nullptr);
  backend->copy(memory->address(), reinterpret_cast<uint64_t>(base.encoded.data()), memory->size(),
                nullptr);
  MatrixView there = view(base);
  there.data = reinterpret_cast<const void *>(memory->address()); // NOLINT
  const Index index = backend->storeRows(there, {true, nullptr}, {});
  const Tenants tenants = tenantsOf(Share::Half, queries.rows);
  for (const char *family : {"", "pairs", "tiles", "staged"})
    EXPECT_EQ("", differenceFromBruteForce(
                      *backend, index, metric, base, queries, 10,
                      {.predicate = predicateOf({codeOf(tenants)}), .family = family},
                      [&](int64_t q, int64_t id) { return tenants.pass(q, id); }))
        << family;
}

/// Tenants of rows are a column of the index, which code reads by place.
TEST_F(CudaPredicate, CodeReadsColumns) {
  Index index = build(base, kLists);
  const Tenants tenants = tenantsOf(Share::Half, queries.rows);
  index.addColumns(newColumns({{"tenant", valueOf(tenants.ofRow)}}));
  const Predicate::Code code =
      annudf::test::codeOf(tenantFilter(), {kDims, 0, int64_t(tenants.ofQuery.size())}, nullptr,
                           tenants.ofQuery, columnTypes(index));
  for (const char *family : {"", "pairs", "tiles", "staged"})
    EXPECT_EQ("",
              differenceFromBruteForce(
                  *backend, index, metric, base, queries, 10,
                  {.candidates = Lists{kLists}, .predicate = predicateOf({code}), .family = family},
                  [&](int64_t q, int64_t id) { return tenants.pass(q, id); }))
        << family;
}

/// Runs of one graph, on the caller's arrays, with a predicate that was bound once.
TEST_F(CudaPredicate, PreparedSearchesFindWhatSearchesFind) {
  const Index index = build(base, kLists);
  const SearchParams params = {
      .candidates = Lists{kLists},
      .predicate = predicateOf({codeOf(tenantsOf(Share::Half, queries.rows)),
                                bitmapOf(queries.rows, kRows, randomly(Share::Half)), Join::Or})};
  const Answer expected = answerOf(*backend, index, metric, queries, 10, params);
  const size_t cells = expected.ids.size();
  const auto at = backend->allocate(queries.encoded.size(), nullptr),
             ids = backend->allocate(cells * 8, nullptr),
             distances = backend->allocate(cells * 4, nullptr);
  backend->copy(at->address(), reinterpret_cast<uint64_t>(queries.encoded.data()), at->size(),
                nullptr);
  const auto prepared = backend->prepareDevice(index, metric, bind(metric, kDims), view(queries),
                                               10, params, nullptr, nullptr);
  for (int run = 0; run < 2; ++run) {
    prepared->run(reinterpret_cast<const void *>(at->address()),    // NOLINT
                  reinterpret_cast<int64_t *>(ids->address()),      // NOLINT
                  reinterpret_cast<float *>(distances->address())); // NOLINT
    std::vector<int64_t> found(cells);
    backend->copy(reinterpret_cast<uint64_t>(found.data()), ids->address(), cells * 8, nullptr);
    backend->synchronize(nullptr);
    EXPECT_EQ(found, expected.ids) << run;
  }
}

/// By hand: the cosine of zeros is NaN. Query 0 may find row 5, query 1 rows 6 and 7.
TEST_F(CudaPredicate, NanIsCountedOfRowsThatPassAlone) {
  reference::Vectors rows = base;
  std::memset(&rows.encoded[5 * kDims * sizeof(float)], 0, 3 * kDims * sizeof(float));
  const Metric cosine = cudaMetric(testMetric("cosine"));
  const Index index = backend->storeRows(view(rows), {}, {});
  const Passes passes = [](int64_t q, int64_t id) {
    return q == 0 ? id == 5 || id > 100 : q == 1 ? id == 6 || id == 7 : id > 100;
  };
  const auto predicate = predicateOf({bitmapOf(queries.rows, kRows, passes)});
  for (const char *family : {"pairs", "tiles"}) {
    const Answer found =
        answerOf(*backend, index, cosine, queries, 10, {.predicate = predicate, .family = family});
    EXPECT_EQ(found.stats.nanDistances, 3) << family;
    EXPECT_TRUE(passes(found.stats.nanQuery, found.stats.nanRow)) << family;
  }
}

TEST_F(CudaPredicate, WhatIsOfAnotherSearchIsRefused) {
  const Index index = build(base, kLists);
  const auto search = [&](Predicate::Step step, int64_t firstQuery = 0) {
    return errorOf([&] {
      (void)answerOf(*backend, index, metric, queries, 10,
                     {.candidates = Lists{kLists},
                      .predicate = predicateOf({std::move(step)}),
                      .firstQuery = firstQuery});
    });
  };
  const auto all = randomly(Share::All);
  EXPECT_EQ(search(bitmapOf(39, kRows, all)),
            "the bitmap is for 39 queries, this search has 40; give a row of bits for each query");
  EXPECT_EQ(search(bitmapOf(40, kRows, all), 3),
            "the bitmap is for 40 queries, this search has 40 of a larger one; give a row of bits "
            "for each query");
  EXPECT_NE(search(codeOf(tenantsOf(Share::Half, 39))).find("this search has 40 queries"),
            std::string::npos);
}
