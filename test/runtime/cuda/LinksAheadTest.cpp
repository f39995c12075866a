//===- LinksAheadTest.cpp - Kernels linked in the background --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With the real nvJitLink, and no GPU.
//
//===----------------------------------------------------------------------===//

#include "CudaMetrics.h"
#include "H200.h"

#include "Support/TestFiles.h"
#include "annudf/runtime/support/DiskCache.h"
#include "cuda/link/LinksAhead.h"
#include "gtest/gtest.h"

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::runtime::cuda;
using namespace annudf::test;

namespace {

Metric metricOf(const char *name, const char *code = nullptr) {
  return unfusedMetric(testMetric(name), code ? code : name);
}

const CudaFamily *named(std::string_view name) {
  for (const CudaFamily *family : families())
    if (family->name() == name)
      return family;
  return nullptr;
}

ScanTarget targetOf(std::string_view family, int sm = 90) {
  return {ANNUDF_ELEMENT_F32, sm, named(family)->entries().front()};
}

class OfLinksAhead : public testing::Test {
protected:
  void SetUp() override {
    ::setenv("ANNUDF_CACHE_DIR", folder.path().c_str(), 1);
    ::unsetenv("ANNUDF_CACHE_DISABLE");
  }
  void TearDown() override {
    ::unsetenv("ANNUDF_CACHE_DIR");
    ::setenv("ANNUDF_CACHE_DISABLE", "1", 1);
  }

  /// A search of 1M x 128 by 1,000 queries, which would be `needed`'s.
  LinkQuestion questionOf(const Metric &metric, const CudaFamily *const &needed, int sm = 90) {
    LinkQuestion question = {metric,
                             ANNUDF_ELEMENT_F32,
                             sm,
                             {&needed, 1},
                             workloadOf(metric.artifact.manifest),
                             kH200,
                             1000 * 33700.0,
                             [&, sm](const ScanEntry &entry) {
                               return links.has(metric, {ANNUDF_ELEMENT_F32, sm, entry});
                             }};
    question.work.dims = 128, question.work.rowBytes = 512;
    question.work.queries = 1000, question.work.probes = 32, question.work.lists = 1024;
    question.work.bodyBytes = bodyBytesOf(metric.artifact, sm);
    question.machine.arch = sm;
    return question;
  }
  std::shared_ptr<const LinkedScan> link(const Metric &metric, std::string_view family,
                                         int sm = 90) {
    bool made = false;
    return links.get(metric, targetOf(family, sm), made);
  }
  size_t files() const { return folder.entries(); }

  TempDir folder;
  LinkedScans links;
  Background background;
  const CudaFamily *const pairs = named("pairs"), *const tiles = named("tiles"),
                          *const staged = named("staged");
};

TEST_F(OfLinksAhead, TheChoiceIsLinkedWhileAnotherRuns) {
  const Metric l2 = metricOf("l2");
  LinksAhead ahead(links, background);
  const LinkQuestion question = questionOf(l2, staged);
  EXPECT_EQ(ahead.insteadOf(question), pairs);
  (void)link(l2, "pairs");
  EXPECT_EQ(ahead.begin(question), staged);
  EXPECT_FALSE(links.has(l2, targetOf("tiles")));
  // Who needs it waits for that link, and for no other.
  bool made = true;
  const auto scan = links.get(l2, targetOf("staged"), made);
  EXPECT_EQ(scan->cubin.substr(1, 3), "ELF");
  if (!made) // Else it came before the thread.
    EXPECT_TRUE(scan->ahead);
  background.finish();
  EXPECT_EQ(files(), 2u); // On disk both.
  EXPECT_EQ(ahead.insteadOf(question), nullptr);
  EXPECT_EQ(ahead.begin(question), nullptr);
  LinkedScans later; // As if of another process.
  EXPECT_TRUE(later.has(l2, targetOf("staged")));
  EXPECT_TRUE(later.get(l2, targetOf("staged"), made)->fromDisk);
}

TEST_F(OfLinksAhead, ASearchThatTakesLongOrHasNoEstimateWaits) {
  const Metric l2 = metricOf("l2");
  LinksAhead ahead(links, background);
  const auto answer = [&](auto change, const Metric &metric, const CudaFamily *needed,
                          int sm = 90) {
    LinkQuestion question = questionOf(metric, needed, sm);
    change(question);
    return ahead.insteadOf(question);
  };
  const auto as = [](LinkQuestion &) {};
  EXPECT_EQ(answer(as, l2, staged), pairs);
  EXPECT_EQ(answer(as, l2, tiles), pairs);
  EXPECT_EQ(answer(as, l2, pairs), nullptr); // No other is shorter.
  // 10,000 x 500k x 1024: 26,000 rows a query.
  EXPECT_EQ(answer(
                [](LinkQuestion &question) {
                  question.work.dims = 1024, question.work.rowBytes = 4096;
                  question.rows = 10000 * 26000.0;
                },
                l2, staged),
            nullptr);
  EXPECT_EQ(answer([](LinkQuestion &question) { question.machine.clocksPerMs = 0; }, l2, staged),
            nullptr);
  // Hooks of which nobody knows what they take, or too much.
  EXPECT_EQ(answer(as, metricOf("minkowski"), tiles), nullptr);
  EXPECT_EQ(answer(as, metricOf("cosine"), tiles), nullptr);
  EXPECT_EQ(answer(as, metricOf("l2"), staged, 80), nullptr);
  // CUDA C++, whose products the linker may fuse in one kernel and not in the other.
  EXPECT_EQ(answer(as,
                   Metric::fromArtifact(cudaArtifact(testMetric("l2"), readFatbin("l2")), "test"),
                   staged),
            nullptr);
  // Other bits are no answer to a search by parts.
  EXPECT_EQ(answer(as, l2, named("parts")), nullptr);
  // Pairs, too, need room for a query.
  EXPECT_EQ(answer([](LinkQuestion &question) { question.machine.sharedBytes = 100; }, l2, staged),
            nullptr);
  // None that is slower than pairs, be it there.
  const auto few = [](LinkQuestion &question) {
    question.work.queries = 10, question.rows = 337000;
  };
  (void)link(metricOf("equal"), "tiles");
  EXPECT_EQ(answer(few, metricOf("equal"), pairs), nullptr);
  EXPECT_EQ(answer(as, metricOf("equal"), pairs), tiles);
  // What is there is run at once, though the search is longer: it was in memory.
  (void)link(l2, "tiles");
  EXPECT_EQ(answer([](LinkQuestion &question) { question.rows *= 15; }, l2, staged), tiles);
  EXPECT_EQ(answer([](LinkQuestion &question) { question.rows *= 20; }, l2, staged), nullptr);
}

TEST_F(OfLinksAhead, ManySearchesHaveItLinkedOnce) {
  constexpr int kThreads = 32;
  const Metric l2 = metricOf("l2");
  std::barrier start(kThreads);
  std::atomic<int> linked{0}, byPairs{0};
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  LinksAhead ahead(links, background);
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      start.arrive_and_wait();
      for (;;) { // As searches do, until the choice is there.
        const LinkQuestion question = questionOf(l2, staged);
        bool made = false;
        if (const CudaFamily *other = ahead.insteadOf(question)) {
          EXPECT_EQ(other, pairs);
          (void)links.get(l2, targetOf("pairs"), made);
          linked += made, ++byPairs;
          if (ahead.begin(question))
            continue;
        }
        const auto scan = links.get(l2, targetOf("staged"), made);
        EXPECT_TRUE(made || scan->ahead);
        break;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(linked, 1);
  EXPECT_GE(byPairs, 1);
  EXPECT_EQ(links.size(), 2u);
}

TEST_F(OfLinksAhead, AFailureIsToldByTheSearchThatNeedsIt) {
  // Hooks of other widths, whose template says nothing: linked as a whole, and refused.
  const Metric wrong = metricOf("l2", "l2_f64");
  (void)link(metricOf("l2"), "pairs");
  LinksAhead ahead(links, background);
  const LinkQuestion question = questionOf(wrong, staged);
  EXPECT_EQ(ahead.begin(question), staged);
  background.leave(&ahead);
  EXPECT_EQ(ahead.insteadOf(question), nullptr);
  EXPECT_EQ(links.size(), 1u);
  bool made = false;
  const std::string told = errorOf([&] { (void)links.get(wrong, targetOf("staged"), made); });
  EXPECT_NE(told.find("cannot link metric 'l2' for sm_90"), std::string::npos) << told;
}

TEST_F(OfLinksAhead, ABackendThatGoesWaitsForItsLink) {
  const Metric l2 = metricOf("l2"), other = metricOf("inner_product");
  (void)link(l2, "pairs");
  for (int round = 0; round < 2; ++round) {
    const Metric &metric = round ? other : l2;
    {
      LinksAhead ahead(links, background);
      const auto copy = std::make_unique<Metric>(metric); // Gone before the link is.
      EXPECT_EQ(ahead.begin(questionOf(*copy, staged)), staged);
      EXPECT_EQ(ahead.begin(questionOf(*copy, tiles)), tiles);
    }
    EXPECT_FALSE(links.has(metric, targetOf("tiles"))); // Dropped.
  }
}

/// What nvJitLink makes with its first link is undone by exit() first; it is to have been made.
TEST_F(OfLinksAhead, NothingBeginsBeforeALinkOfTheArchitecture) {
  const Metric l2 = metricOf("l2");
  ASSERT_FALSE(hasLinkedFor(103)) << "of another test";
  LinksAhead ahead(links, background);
  const LinkQuestion question = questionOf(l2, staged, 103);
  EXPECT_EQ(ahead.insteadOf(question), pairs); // Which is linked then.
  EXPECT_EQ(ahead.begin(question), nullptr);
  // It is there, as another process linked it.
  std::string fault;
  ASSERT_TRUE(DiskCache::ofEnvironment().store(linkKey(l2, targetOf("pairs", 103)).digest(),
                                               "a cubin", fault));
  EXPECT_EQ(ahead.insteadOf(question), nullptr);
  (void)link(l2, "tiles", 103);
  EXPECT_EQ(ahead.begin(question), staged);
}

TEST_F(OfLinksAhead, ExitWhileLinkingKeepsTheKernel) {
  const Metric l2 = metricOf("l2");
  (void)link(l2, "pairs"); // By this process, from which the other is forked.
  const pid_t process = ::fork();
  if (process == 0) {
    ::alarm(60);
    auto *const ahead = new LinksAhead; // As in a backend that nobody destroys.
    LinkQuestion question = questionOf(l2, staged);
    const bool begun = ahead->begin(question) == staged;
    const pid_t child = ::fork(); // Ends by way of the same handlers, without the thread.
    if (child == 0)
      std::exit(3);
    int status = 0;
    ::waitpid(child, &status, 0);
    std::exit(begun && WIFEXITED(status) && WEXITSTATUS(status) == 3 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(process, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(files(), 2u);
  LinkedScans later;
  EXPECT_TRUE(later.has(l2, targetOf("staged")));
}

} // namespace
