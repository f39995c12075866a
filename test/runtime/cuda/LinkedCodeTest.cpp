//===- LinkedCodeTest.cpp - Metrics that call linked code, on a GPU -------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs a GPU and the artifacts of test/CAPI/runtime/GpuArtifacts.cpp (scripts/gpu artifacts);
// without one of them every test is skipped and says so. That each links is tested without a GPU.
//
//===----------------------------------------------------------------------===//

#include "CompiledMetrics.h"
#include "CudaMetrics.h"
#include "SharedBackend.h"

#include "annudf/runtime/cuda/Cuda.h"
#include "cuda/plan/Families.h"
#include "gtest/gtest.h"

#include <random>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

/// Numbers from -100 to 100: whatever is fused, and in whatever order it is summed, no rounding
/// takes place.
reference::Vectors wholeNumbers(int64_t rows, int32_t dims, unsigned seed) {
  std::mt19937 random(seed);
  reference::Vectors out;
  out.rows = rows, out.dims = dims;
  std::vector<float> floats(size_t(rows * dims));
  for (float &number : floats) {
    number = float(int(random() % 201) - 100);
    out.values.push_back(number);
  }
  out.encoded.resize(floats.size() * sizeof(float));
  std::memcpy(out.encoded.data(), floats.data(), out.encoded.size());
  return out;
}

struct Result {
  std::vector<int64_t> ids;
  std::vector<float> distances;
  std::string family;
};

class CudaLinkedCode : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    REQUIRE_COMPILED_METRICS(folder, "cpp/linked_none.annudf", "searches with linked code are");
    REQUIRE_GPU("searches with linked code are");
  }
  Metric read(const std::string &name) const {
    return Metric::fromFile(folder + "/cpp/linked_" + name + ".annudf");
  }
  Result search(const Index &index, const Metric &metric, const reference::Vectors &queries,
                const char *family) {
    Result result;
    SearchStats stats;
    const SearchParams params = {.candidates = Lists{6}, .family = family};
    result.ids.assign(size_t(queries.rows) * kK, -777);
    result.distances.assign(size_t(queries.rows) * kK, -777.0F);
    backend->search(index, metric, bind(metric, queries.dims), view(queries), kK, params,
                    result.ids.data(), result.distances.data(), &stats);
    result.family = stats.family;
    return result;
  }
  static constexpr int kK = 10;
  std::string folder;
  CudaBackend *const backend = sharedBackend();
};

} // namespace

TEST_P(CudaLinkedCode, FindsWhatTheFormulaWithoutItFinds) {
  const Metric linked = read(GetParam());
  const Metric none = read("none");
  int families = 0;
  for (const int32_t dims : {70, 128}) { // Below 64 there is no family "parts".
    const reference::Vectors base = wholeNumbers(3000, dims, 71);
    const reference::Vectors queries = wholeNumbers(40, dims, 72);
    IndexParams params;
    params.nLists = 12;
    const Index index = Index::build(params, view(base));
    for (const cuda::CudaFamily *family : cuda::familiesFor(linked.artifact, backend->arch())) {
      SCOPED_TRACE(std::string(family->name()) + ", dims " + std::to_string(dims));
      const Result expected = search(index, none, queries, family->name());
      const Result found = search(index, linked, queries, family->name());
      EXPECT_EQ(found.family, family->name());
      EXPECT_EQ(found.ids, expected.ids);
      EXPECT_EQ(found.distances, expected.distances);
      for (size_t i = 0; i < found.ids.size(); ++i) { // By no code of ours.
        double sum = 0;
        for (int32_t d = 0; d < dims; ++d) {
          const double apart = 2 * (queries.row(int64_t(i) / kK)[d] - base.row(found.ids[i])[d]);
          sum += apart * apart;
        }
        ASSERT_EQ(double(found.distances[i]), sum) << "result " << i;
      }
      ++families;
    }
  }
  // For both dims: pairs, tiles, parts and staged.
  EXPECT_GE(families, 8);
}

INSTANTIATE_TEST_SUITE_P(Kinds, CudaLinkedCode,
                         testing::Values("cuda_source", "numba", "ltoir", "ptx"),
                         [](const auto &info) { return info.param; });
