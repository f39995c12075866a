//===- FailuresTest.cpp - Searches of a device that fails -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory that is all taken, code that does not link, a context that a kernel has ended: each is
// said, and the searches after it find what they should, or say it again. Needs a GPU, which
// nothing else uses meanwhile; without one every test is skipped and says so.
//
//===----------------------------------------------------------------------===//

#include "AgainstPairs.h"
#include "BrokenFragments.h"
#include "DeviceFaults.h"
#include "PlantedFaults.h"

#include "annudf/runtime/cuda/Cuda.h"
#include "cuda/resident/DeviceIndex.h"

#include <cstring>
#include <unistd.h>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::runtime::cuda;
using namespace annudf::test;

namespace {

/// Takes all memory of the device but some.
class Hog {
public:
  /// What is left, in one piece: streams and modules take of it.
  static constexpr size_t kLeft = size_t(16) << 20;

  explicit Hog(const std::shared_ptr<const Context> &context) {
    std::vector<std::unique_ptr<Buffer>> left;
    left.push_back(std::make_unique<Buffer>(context, kLeft));
    for (size_t piece = size_t(64) << 30; piece >= size_t(1) << 20;)
      try {
        taken_.push_back(std::make_unique<Buffer>(context, piece));
      } catch (const Error &) {
        piece /= 2;
      }
  }

private:
  std::vector<std::unique_ptr<Buffer>> taken_;
};

class CudaFailures : public testing::Test {
protected:
  static constexpr int kK = 10;

  void SetUp() override {
    REQUIRE_GPU("what a search says of a device that fails is");
    context = std::make_shared<Context>(backend->device());
  }
  static Index build(const reference::Vectors &base) {
    IndexParams params;
    params.nLists = 4, params.kmeansIterations = 1, params.kmeansTrainsetFraction = 0.01;
    return Index::build(params, view(base));
  }
  /// "" where the queries' nearest rows are found, of all lists.
  std::string fault(Backend &of, const Index &index, const reference::Vectors &base,
                    const reference::Vectors &queries) const {
    const Answer found = search(of, index, queries);
    const TestMetric &l2 = testMetric("l2");
    for (int64_t q = 0; q < std::min<int64_t>(queries.rows, 3); ++q)
      if (std::string text = reference::check(base, reference::allRows(base.rows), queries.row(q),
                                              kK, l2.order, l2.distance, &found.ids[size_t(q * kK)],
                                              &found.distances[size_t(q * kK)]);
          !text.empty())
        return text;
    return "";
  }
  Answer search(Backend &of, const Index &index, const reference::Vectors &queries) const {
    return answerOf(of, index, metric, queries, kK, {.candidates = Lists{4}, .family = "pairs"});
  }
  std::string errorOfSearch(Backend &of, const Index &index,
                            const reference::Vectors &queries) const {
    return errorOf([&] { (void)search(of, index, queries); }, ErrorKind::Environment);
  }

  CudaBackend *const backend = sharedBackend();
  std::shared_ptr<const Context> context;
  const Metric metric = cudaMetric(testMetric("l2"));
};

reference::Vectors vectors(int64_t rows, int32_t dims, uint64_t seed) {
  return reference::randomVectors(ANNUDF_ELEMENT_F32, rows, dims, seed);
}

} // namespace

TEST_F(CudaFailures, AnIndexThatHasNoRoomIsRefusedAndFoundLater) {
  constexpr int64_t kRows = 300000;
  const auto base = vectors(kRows, 32, 1), few = vectors(2000, 32, 2), queries = vectors(20, 32, 3);
  const Index large = build(base), small = build(few);
  ASSERT_EQ(fault(*backend, small, few, queries), "");
  {
    const Hog hog(context);
    const std::string text = errorOfSearch(*backend, large, queries);
    // Whole groups, and what scans may read past the end.
    EXPECT_GT(bytesAskedFor(text, "the index's 300000 rows of 32 dims", *context),
              uint64_t(kRows) * 32 * 4)
        << text;
    EXPECT_GT(bytesAskedFor(errorOfSearch(*backend, large, queries),
                            "the index's 300000 rows of 32 dims", *context),
              0U);
    // What the other index has there had to go, and finds its place again.
    EXPECT_EQ(fault(*backend, small, few, queries), "");
  }
  EXPECT_EQ(fault(*backend, large, base, queries), "");
}

TEST_F(CudaFailures, AWorkspaceThatHasNoRoomIsRefusedAndFoundLater) {
  const auto base = vectors(100000, 32, 4), few = vectors(1, 32, 5), many = vectors(1000, 32, 6);
  const Index index = build(base);
  const auto own = makeCudaDeviceBackend(); // Whose workspace is small yet.
  ASSERT_EQ(fault(*own, index, base, few), "");
  {
    const Hog hog(context);
    const std::string text = errorOfSearch(*own, index, many);
    // A key a row and query, cut into batches, of which each is as large as it may be.
    EXPECT_GT(bytesAskedFor(text, "a search's workspace", *context), uint64_t(64) << 20) << text;
    EXPECT_EQ(fault(*own, index, base, few), "");
  }
  EXPECT_EQ(fault(*own, index, base, many), "");
}

TEST_F(CudaFailures, CodeThatDoesNotLinkIsNamedWithTheLinkersLog) {
  const auto base = vectors(2000, 8, 7), queries = vectors(20, 8, 8);
  const Index index = build(base);
  for (const BrokenFragment &fragment : brokenFragments())
    for (const char *family : {"pairs", "staged", "tiles"}) {
      const Metric broken =
          Metric::fromArtifact(cudaArtifact(testMetric("l2"), fragment.bytes), "broken.annudf");
      for (int again = 0; again < 2; ++again) // A failed link leaves nothing that is taken for one.
        EXPECT_EQ(otherThanExpected(errorOf([&] {
                                      (void)answerOf(*backend, index, broken, queries, kK,
                                                     {.candidates = Lists{4}, .family = family});
                                    }),
                                    fragment, backend->arch()),
                  "")
            << family;
      EXPECT_EQ(fault(*backend, index, base, queries), "");
    }
}

namespace {

/// Arrays of one query on the device.
struct OnDevice {
  explicit OnDevice(const std::shared_ptr<const Context> &context, int32_t dims, int k)
      : query(context, size_t(dims) * 4), ids(context, size_t(k) * 8),
        distances(context, size_t(k) * 4) {
    const ContextScope scope(*context);
    ANNUDF_CUDA(cuMemsetD8, query.device(), 0, query.size());
  }
  const void *data() const { return reinterpret_cast<const void *>(query.device()); }
  int64_t *outIds() const { return reinterpret_cast<int64_t *>(ids.device()); }
  float *outDistances() const { return reinterpret_cast<float *>(distances.device()); }
  Buffer query, ids, distances;
};

/// Whether each of several ways to use the device says in one line that it cannot be used; else
/// what is said goes to standard error.
class AfterTheEnd {
public:
  template <class Action> void expect(const char *what, Action action) {
    const std::string text = errorOf(action, ErrorKind::Environment);
    static const std::regex words("CUDA: cu[A-Za-z]+ failed: [a-z -]+ [(]CUDA_ERROR_[A-Z_]+[)]");
    const bool right = text.ends_with(kEnded) &&
                       std::regex_match(text.substr(0, text.size() - std::strlen(kEnded)), words);
    if (!right)
      std::fprintf(stderr, "%s: %s\n", what, text.c_str());
    all_ &= right;
  }
  bool all() const { return all_; }

private:
  bool all_ = true;
};

constexpr int kSaidSo = 7, kNotSaid = 8, kNotEnded = 9;

/// In a process of its own; \returns its exit code. All that it has made is destroyed before.
int searchAfterTheEnd() {
  ::alarm(120); // A search that hangs ends by a signal, which is no exit code.
  const auto backend = makeCudaDeviceBackend();
  const std::shared_ptr<const Context> context = std::make_shared<Context>(backend->device());
  const auto base = vectors(2000, 8, 9), query = vectors(1, 8, 10), other = vectors(500, 8, 11);
  IndexParams params;
  params.nLists = 4, params.kmeansIterations = 1;
  const Index index = Index::build(params, view(base)), later = Index::build(params, view(other));
  const Metric metric = cudaMetric(testMetric("l2"));
  const BoundCaptures captures = bind(metric, 8);
  const SearchParams how = {.candidates = Lists{4}};
  constexpr int kK = 10;
  const OnDevice arrays(context, 8, kK);
  const MatrixView onDevice = {arrays.data(), 1, 8, ANNUDF_ELEMENT_F32};
  const OwnStream stream(context);
  (void)answerOf(*backend, index, metric, query, kK, how);
  const auto prepared =
      backend->prepareDevice(index, metric, captures, onDevice, kK, how, stream.get());
  prepared->run(arrays.data(), arrays.outIds(), arrays.outDistances());
  backend->synchronize(stream.get());

  if (!endsContext(run(kTrap, context)))
    return kNotEnded;
  AfterTheEnd after;
  const auto all = [&] {
    after.expect("search", [&] { (void)answerOf(*backend, index, metric, query, kK, how); });
    after.expect("search of another index",
                 [&] { (void)answerOf(*backend, later, metric, query, kK, how); });
    after.expect("search on a stream", [&] {
      backend->searchDevice(index, metric, captures, onDevice, kK, how, arrays.outIds(),
                            arrays.outDistances(), stream.get());
      backend->synchronize(stream.get());
    });
    after.expect("prepared search", [&] {
      prepared->run(arrays.data(), arrays.outIds(), arrays.outDistances());
      backend->synchronize(stream.get());
    });
    after.expect("build", [&] { (void)backend->buildFromHost(params, view(base)); });
  };
  all();
  all(); // Nothing that the first left behind is waited for.
  return after.all() ? kSaidSo : kNotSaid;
}

} // namespace

/// Its process ends as it should, and another's context is not touched.
TEST_F(CudaFailures, AContextThatAKernelHasEndedIsSaid) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(searchAfterTheEnd()), testing::ExitedWithCode(kSaidSo), "");
  const auto base = vectors(2000, 8, 9), queries = vectors(20, 8, 10);
  EXPECT_EQ(fault(*backend, build(base), base, queries), "");
}
