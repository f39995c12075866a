//===- SearchTest.cpp - Checks before a search; metrics from files *- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/ivf_flat/Index.h"

#include "Artifact/TestArtifact.h"
#include "Support/TestFiles.h"
#include "runtime/TestData.h"

namespace annudf::runtime {
namespace {

using test::errorOf;

class CheckSearch : public testing::Test {
protected:
  CheckSearch()
      : index(Index::build(params(), test::integerMatrix(ANNUDF_ELEMENT_F32, 50, 8).view())),
        metric(Metric::fromArtifact(test::smallArtifact(), "m.annudf")),
        queries(test::integerMatrix(ANNUDF_ELEMENT_F32, 3, 8)) {}
  static IndexParams params() {
    IndexParams p;
    p.nLists = 5;
    return p;
  }
  std::string check(const MatrixView &view, int k, uint32_t probes, ErrorKind kind) {
    SearchParams p;
    p.candidates = Lists{probes};
    return errorOf([&] { checkSearch(index, metric, view, k, p); }, kind);
  }
  Index index;
  Metric metric;
  Matrix queries;
};

TEST_F(CheckSearch, AcceptsTheLimits) {
  for (int k : {1, 50})
    for (uint32_t probes : {1u, 5u})
      EXPECT_EQ(check(queries.view(), k, probes, ErrorKind::Usage), "NO ERROR");
}

TEST_F(CheckSearch, NamesValueAndLimit) {
  EXPECT_EQ(check(MatrixView{queries.storage.data(), 0, 8}, 1, 1, ErrorKind::Input),
            "queries: there are 0 rows; give at least one");
  EXPECT_EQ(check(MatrixView{nullptr, 3, 8}, 1, 1, ErrorKind::Input),
            "queries: 3 rows without data");
  const auto from = [&](int64_t first) {
    return errorOf([&] { checkSearch(index, metric, queries.view(), 1, {.firstQuery = first}); },
                   ErrorKind::Input);
  };
  EXPECT_EQ(from(-1),
            "the first query has number -1 and there are 3 queries; numbers are 0 to 2147483646");
  EXPECT_EQ(from(2147483645), "the first query has number 2147483645 and there are 3 queries; "
                              "numbers are 0 to 2147483646");
  EXPECT_EQ(check(queries.view(), 0, 1, ErrorKind::Usage),
            "k is 0, it must be an integer from 1 to 1073741824");
  EXPECT_EQ(check(queries.view(), -4, 1, ErrorKind::Usage),
            "k is -4, it must be an integer from 1 to 1073741824");
  EXPECT_EQ(check(queries.view(), ANNUDF_MAX_K + 1, 1, ErrorKind::Usage),
            "k is 1073741825, it must be an integer from 1 to 1073741824");
  EXPECT_EQ(check(queries.view(), 51, 1, ErrorKind::Usage), "k is 51, but the index has 50 rows");
  EXPECT_EQ(check(queries.view(), 1, 0, ErrorKind::Usage),
            "probes is 0, it must be an integer from 1 to 5, the lists of the index");
  EXPECT_EQ(check(queries.view(), 1, 6, ErrorKind::Usage),
            "probes is 6, it must be an integer from 1 to 5, the lists of the index");
  EXPECT_EQ(check(test::integerMatrix(ANNUDF_ELEMENT_F32, 3, 9).view(), 1, 1, ErrorKind::Input),
            "queries have 9 dims, the index has 8");
  EXPECT_EQ(check(test::integerMatrix(ANNUDF_ELEMENT_I8, 3, 8).view(), 1, 1, ErrorKind::Input),
            "metric 'weighted_l2' (m.annudf) takes f32, u8, the queries are i8");
  EXPECT_EQ(check(test::integerMatrix(ANNUDF_ELEMENT_U8, 3, 8).view(), 1, 1, ErrorKind::Input),
            "NO ERROR")
      << "another type than the rows have";
}

TEST_F(CheckSearch, BitsAndTheirBytes) {
  const Matrix base = test::integerMatrix(ANNUDF_ELEMENT_BITS, 50, 24);
  index = Index::build(params(), base.view());
  Artifact artifact = test::smallArtifact();
  artifact.manifest.elements = {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_BITS};
  metric = Metric::fromArtifact(artifact, "m.annudf");
  for (annudf_element element : artifact.manifest.elements)
    EXPECT_EQ(check(test::integerMatrix(element, 3, 24).view(), 1, 1, ErrorKind::Input),
              "NO ERROR");
  EXPECT_EQ(check(test::integerMatrix(ANNUDF_ELEMENT_U8, 3, 3).view(), 1, 1, ErrorKind::Input),
            "queries have 3 dims, the index has 24 of bits; give them as bits too if their bytes "
            "are packed");
  EXPECT_EQ(check(test::integerMatrix(ANNUDF_ELEMENT_F32, 3, 3).view(), 1, 1, ErrorKind::Input),
            "queries have 3 dims, the index has 24");
  index = Index::build(params(), test::integerMatrix(ANNUDF_ELEMENT_U8, 50, 12).view());
  EXPECT_EQ(check({base.storage.data(), 3, 12, ANNUDF_ELEMENT_BITS}, 1, 1, ErrorKind::Input),
            "queries: 12 dims of bits; a row is whole bytes, so pad it with zeros to a multiple of "
            "8 dims");
}

TEST_F(CheckSearch, MetricAgainstIndex) {
  Artifact artifact = test::smallArtifact();
  artifact.manifest.elements = {ANNUDF_ELEMENT_I8, ANNUDF_ELEMENT_U8};
  metric = Metric::fromArtifact(artifact, "m.annudf");
  EXPECT_EQ(check(queries.view(), 1, 1, ErrorKind::Input),
            "metric 'weighted_l2' (m.annudf) takes i8, u8, the index holds f32");
  artifact = test::smallArtifact();
  artifact.manifest.dims = 128;
  metric = Metric::fromArtifact(artifact, "m.annudf");
  EXPECT_EQ(check(queries.view(), 1, 1, ErrorKind::Input),
            "metric 'weighted_l2' (m.annudf) was compiled for 128 dims, the index has 8");
}

TEST(SearchStages, OnesThatNobodyHasRoomForAreNone) {
  std::vector<StageTime> stages;
  for (std::string_view name : kStages)
    for (double ms : {1.0, 2.5})
      addStage(stages, name, ms);
  ASSERT_EQ(stages.size(), std::size(kStages));
  EXPECT_EQ(stages[2].name, "sort");
  EXPECT_EQ(stages[2].ms, 3.5);
  try {
    addStage(stages, "rest", 1);
    FAIL();
  } catch (const std::logic_error &error) {
    EXPECT_STREQ(error.what(), "searches have no stage 'rest'");
  }
}

TEST(Metric, DigestIsThatOfTheFile) {
  const test::TempDir dir;
  writeArtifact(test::smallArtifact(), dir / "m.annudf");
  const Metric metric = Metric::fromFile(dir / "m.annudf");
  EXPECT_EQ(metric.digest, sha256Hex(readFile(dir / "m.annudf", 1 << 20)));
  EXPECT_EQ(metric.digest, Metric::fromArtifact(test::smallArtifact(), "memory").digest);
  Artifact other = test::smallArtifact();
  other.payloads[0].bytes += 'x';
  EXPECT_NE(metric.digest, Metric::fromArtifact(other, "memory").digest);
  EXPECT_EQ(metric.origin, dir / "m.annudf");
}

} // namespace
} // namespace annudf::runtime
