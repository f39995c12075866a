//===- JitTest.cpp - Linking, caching and refusing metrics on the CPU -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScanEvery.h"
#include "Support/TestForks.h"
#include "TestMetrics.h"

#include "annudf/runtime/ivf_flat/Index.h"
#include "cpu/jit/Jit.h"
#include "cpu/jit/ScanCache.h"
#include "cpu/search/Queries.h"
#include "kernels/cpu/ScanArgs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <map>
#include <regex>
#include <thread>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

/// The message of the Error that linking this bitcode throws.
std::string refusal(const TestMetric &metric, const std::string &bitcodeName) {
  const Metric bad =
      Metric::fromArtifact(artifactOf(metric, readBitcode(bitcodeName)), "bad.annudf");
  try {
    cpu::compileScan(bad, ANNUDF_ELEMENT_F32);
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  return "accepted";
}

TEST(CpuJit, RefusesBadBitcode) {
  const TestMetric &l2 = testMetric("l2");
  EXPECT_EQ(refusal(l2, "bad_prototype"),
            "bad.annudf: host bitcode: hook annudf1_scan_finalize_a32 is double (i32, i32, i64, "
            "i32, i32, "
            "ptr), the scan calls float (i32, i32, i64, i32, i32, ptr)");
  EXPECT_EQ(refusal(l2, "bad_call"),
            "bad.annudf: host bitcode: calls 'system', which a hook may not call");
  EXPECT_EQ(refusal(l2, "bad_asm"),
            "bad.annudf: host bitcode: 'annudf1_scan_update_a32_x32' holds inline assembly");
  EXPECT_EQ(refusal(l2, "bad_global"),
            "bad.annudf: host bitcode: global 'counter' is not a private constant");
  EXPECT_EQ(
      refusal(l2, "bad_scan"),
      "bad.annudf: host bitcode: defines 'annudf_cpu_scan_a32_x32', which belongs to the scan");
  EXPECT_EQ(refusal(l2, "l2_f64"),
            "bad.annudf: host bitcode: hook annudf1_scan_init_a32 is missing");
  EXPECT_EQ(refusal(l2, "l1"),
            "bad.annudf: host bitcode: hook annudf1_scan_finalize_a32 is missing");
  EXPECT_EQ(refusal(testMetric("l1"), "l2"),
            "bad.annudf: host bitcode: hook annudf1_scan_finalize_a32 is not in the manifest's "
            "list of hooks");
}

/// Code and manifest of different metrics, whose prototypes agree.
TEST(CpuJit, RefusesCodeOfAnotherDescriptor) {
  const TestMetric &l2 = testMetric("l2");
  char expected[17];
  std::snprintf(expected, sizeof(expected), "%016lx",
                (unsigned long)contractOf(artifactOf(l2, "").manifest));
  EXPECT_EQ(refusal(l2, "bad_contract"),
            "metric 'l2' (bad.annudf): its code was made for contract 0123456789abcdef, its "
            "manifest describes " +
                std::string(expected) + ": one of them was altered; compile the metric again");
  EXPECT_EQ(refusal(l2, "bad_unknown_contract"),
            "bad.annudf: host bitcode: annudf1_scan_contract does not return a constant");
  TestMetric other = l2;
  other.order = ANNUDF_ORDER_MAX;
  EXPECT_NE(refusal(other, "l2").find("was altered"), std::string::npos);
  EXPECT_EQ(refusal(l2, "l2"), "accepted");
}

/// A filter's hooks are others, and those of a scan are the runtime's.
TEST(CpuJit, RefusesWhatIsNoFilter) {
  const auto refused = [](const char *bitcode) -> std::string {
    try {
      cpu::compileScan(Metric::fromArtifact(evenRows(readBitcode(bitcode)), "bad.annudf"),
                       ANNUDF_ELEMENT_F32);
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::Input);
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refused("even_rows"), "accepted");
  EXPECT_EQ(refused("l2"), "bad.annudf: host bitcode: hook annudf1_filter_keep is missing");
  EXPECT_EQ(refused("bad_filter"), "bad.annudf: host bitcode: hook annudf1_scan_init_a32 is not in "
                                   "the manifest's list of hooks");
  EXPECT_EQ(refused("bad_filter_contract").substr(0, 68),
            "filter 'even_rows' (bad.annudf): its code was made for contract 0123");
  EXPECT_EQ(refusal(testMetric("l2"), "even_rows"),
            "bad.annudf: host bitcode: hook annudf1_scan_init_a32 is missing");
}

TEST(CpuJit, RefusesDamagedBitcode) {
  const TestMetric &l2 = testMetric("l2");
  const std::string whole = readBitcode("l2");
  for (size_t size : {size_t(0), size_t(3), whole.size() / 2, whole.size() - 4}) {
    const Metric cut = Metric::fromArtifact(artifactOf(l2, whole.substr(0, size)), "cut.annudf");
    EXPECT_THROW(cpu::compileScan(cut, ANNUDF_ELEMENT_F32), Error) << size;
  }
  Artifact relabelled = artifactOf(l2, whole);
  relabelled.payloads[0].triple = "aarch64-linux-gnu";
  try {
    cpu::compileScan(Metric::fromArtifact(relabelled, "other.annudf"), ANNUDF_ELEMENT_F32);
    FAIL() << "accepted";
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "other.annudf: host bitcode: made for 'x86_64-pc-linux-gnu', its "
                               "manifest says 'aarch64-linux-gnu'");
  }
  Artifact none = artifactOf(l2, "");
  none.payloads.clear();
  none.manifest.verified = Verification{1, "0.1.0"};
  try {
    cpu::compileScan(Metric::fromArtifact(none, "none.annudf"), ANNUDF_ELEMENT_F32);
    FAIL() << "accepted";
  } catch (const Error &error) {
    EXPECT_STREQ(
        error.what(),
        "none.annudf: has no code for the CPU; compile it with host code, or search on a GPU");
  }
  none.manifest.verified.reset();
  try {
    cpu::compileScan(Metric::fromArtifact(none, "cuda.annudf"), ANNUDF_ELEMENT_F32);
    FAIL() << "accepted";
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "cuda.annudf: has no host bitcode: CUDA source runs on a GPU only");
  }
}

TEST(CpuJit, OneLinkHoweverManyThreadsAsk) {
  const Metric metric = compiled(testMetric("weighted_l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 500, 8, 3);
  IndexParams params;
  params.nLists = 4;
  const Index index = Index::build(params, view(base));
  auto backend = makeCpuBackend(2);
  const auto captures = bind(metric, 8);
  constexpr int kThreads = 16;
  std::atomic<int> links{0};
  std::vector<std::vector<int64_t>> ids(kThreads, std::vector<int64_t>(500 * 5));
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      std::vector<float> distances(500 * 5);
      SearchStats stats;
      backend->search(index, metric, captures, view(base), 5, {Lists{2}}, ids[t].data(),
                      distances.data(), &stats);
      links += stats.links;
      EXPECT_EQ(stats.links == 1, stats.linkMs > 0);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(links, 1);
  for (const auto &other : ids)
    EXPECT_EQ(other, ids[0]);
}

#ifndef __SANITIZE_THREAD__ // Which does not follow a fork with threads.
/// LLVM has locks and tables of its own, which a child would find locked and half made. A fork that
/// waits returns at the link's end, or soon after it where the machine is busy.
TEST(CpuJit, AForkWaitsForALink) {
  using Clock = std::chrono::steady_clock;
  const Metric metric = compiled(testMetric("weighted_l2"));
  int waited = 0;
  for (int i = 0; i < 5; ++i) {
    std::atomic<bool> begun = false;
    Clock::time_point start, end;
    std::thread thread([&] {
      start = Clock::now();
      begun = true;
      (void)cpu::compileScan(metric, ANNUDF_ELEMENT_F32);
      end = Clock::now();
    });
    while (!begun)
      std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(5)); // A link takes some 60.
    Clock::time_point forked;
    EXPECT_EQ(statusOfChild([&] { return cpu::compileScan(metric, ANNUDF_ELEMENT_F32) != nullptr; },
                            [&] { forked = Clock::now(); }),
              0);
    thread.join();
    waited += end - forked < (end - start) / 2;
  }
  EXPECT_GT(waited, 0);
}
#endif

TEST(CpuJit, SecondSearchLinksNothing) {
  const Metric metric = compiled(testMetric("l2"));
  cpu::ScanCache cache;
  bool linked = false;
  auto first = cache.get(metric, ANNUDF_ELEMENT_F32, linked);
  EXPECT_TRUE(linked);
  EXPECT_GT(first->linkMs, 0);
  EXPECT_EQ(first, cache.get(metric, ANNUDF_ELEMENT_F32, linked));
  EXPECT_FALSE(linked);
  EXPECT_NE(first, cache.get(metric, ANNUDF_ELEMENT_U8, linked)) << "another element";
  EXPECT_TRUE(linked);
}

TEST(CpuJit, TheKeyHasMetricElementScanLinkerAndHost) {
  const Metric l2 = compiled(testMetric("l2"));
  const KernelKey key = cpu::scanKey(l2, ANNUDF_ELEMENT_F32);
  EXPECT_EQ(key.abi, ANNUDF_ABI_ID);
  EXPECT_EQ(key.rowElement, "f32");
  EXPECT_EQ(key.linker, "llvm");
  EXPECT_FALSE(key.linkerVersion.empty());
  EXPECT_FALSE(key.options.empty());
  EXPECT_FALSE(key.arch.empty());
  EXPECT_GE(key.vectorBits, 64u);
  EXPECT_EQ(key.scan.size(), 64u);
  EXPECT_EQ(key.digest(), cpu::scanKey(l2, ANNUDF_ELEMENT_F32).digest());
  EXPECT_NE(key.digest(), cpu::scanKey(l2, ANNUDF_ELEMENT_F32, {.explains = true}).digest());
  EXPECT_NE(key.digest(), cpu::scanKey(l2, ANNUDF_ELEMENT_U8).digest());
  EXPECT_NE(key.digest(), cpu::scanKey(compiled(testMetric("l1")), ANNUDF_ELEMENT_F32).digest());
  // The order of results is no part of the code of the hooks, but of the scan that they go into.
  Metric flipped = l2;
  flipped.artifact.manifest.order = ANNUDF_ORDER_MAX;
  EXPECT_NE(key.digest(), cpu::scanKey(flipped, ANNUDF_ELEMENT_F32).digest());
  // Code for another processor is another kernel.
  EXPECT_NE(key.digest(), cpu::scanKey(l2, ANNUDF_ELEMENT_F32, {"x86-64"}).digest());
}

TEST(CpuJit, CacheDropsTheLeastRecentlyUsed) {
  cpu::ScanCache cache(2);
  const Metric l2 = compiled(testMetric("l2")), l1 = compiled(testMetric("l1")),
               chebyshev = compiled(testMetric("chebyshev"));
  bool linked;
  cache.get(l2, ANNUDF_ELEMENT_F32, linked);
  cache.get(l1, ANNUDF_ELEMENT_F32, linked);
  cache.get(l2, ANNUDF_ELEMENT_F32, linked);
  cache.get(chebyshev, ANNUDF_ELEMENT_F32, linked);
  EXPECT_EQ(cache.size(), 2u);
  cache.get(l2, ANNUDF_ELEMENT_F32, linked);
  EXPECT_FALSE(linked);
  cache.get(l1, ANNUDF_ELEMENT_F32, linked);
  EXPECT_TRUE(linked);
}

TEST(CpuJit, FailureIsNotKept) {
  cpu::ScanCache cache;
  const Metric bad =
      Metric::fromArtifact(artifactOf(testMetric("l2"), readBitcode("bad_call")), "bad.annudf");
  bool linked;
  EXPECT_THROW(cache.get(bad, ANNUDF_ELEMENT_F32, linked), Error);
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_THROW(cache.get(bad, ANNUDF_ELEMENT_F32, linked), Error);
}

/// Whether the entry's text has an instruction that matches.
bool has(const std::string &assembly, const std::string &pattern) {
  return llvm::Regex(pattern, llvm::Regex::Newline).match(assembly);
}

/// The basic blocks, by their labels.
std::map<std::string, std::string> blocksOf(const std::string &assembly) {
  std::map<std::string, std::string> blocks;
  std::string label;
  for (const llvm::StringRef line : llvm::split(assembly, '\n'))
    if (line.starts_with(".L") && line.contains(':'))
      label = line.take_until([](char c) { return c == ':'; });
    else if (!label.empty())
      blocks[label] += line.str() + "\n";
  return blocks;
}

TEST(CpuJit, RowsAreLanes) {
  for (const TestMetric &test : testMetrics()) {
    for (annudf_element element : test.elements) {
      const std::string text = cpu::scanAssembly(compiled(test), element);
      EXPECT_FALSE(has(text, "annudf1_")) << test.name << ": a hook was not inlined";
#if defined(__x86_64__)
      if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        continue;
      EXPECT_FALSE(has(text, "gather")) << test.name << " " << toString(element);
      EXPECT_TRUE(has(text, "prefetcht1")) << test.name << ": memory is fetched ahead";
      if (test.name == "weighted_l2")
        EXPECT_TRUE(has(text, "vfmadd[0-9]+ps[[:space:]].*%[yz]mm")) << toString(element);
      if (test.name == "cosine")
        EXPECT_TRUE(has(text, "vfmadd[0-9]+ps[[:space:]].*%[yz]mm")) << toString(element);
      if (test.name == "l2_f64")
        EXPECT_TRUE(has(text, "vfmadd[0-9]+pd[[:space:]].*%[yz]mm")) << toString(element);
      if (test.name == "l2" && element == ANNUDF_ELEMENT_U8)
        EXPECT_TRUE(has(text, "vpsubd[[:space:]].*%[yz]mm"))
            << "a query alone subtracts as integers";
      if (test.name == "l1")
        EXPECT_FALSE(has(text, "vfmadd")) << "nothing in L1 asks for a fused operation";
#endif
    }
  }
}

/// What the vectoriser did not take is told, by whoever links and by each search.
TEST(CpuJit, RemarksOnRowsThatAreNoLanes) {
  for (const TestMetric &test : testMetrics())
    EXPECT_EQ(cpu::compileScan(compiled(test), test.elements.front())->remark, "") << test.name;
  const Metric scalar =
      Metric::fromArtifact(artifactOf(testMetric("l2"), readBitcode("scalar")), "scalar.annudf");
  const std::string remark = "computed one row at a time: fmod";
  EXPECT_EQ(cpu::compileScan(scalar, ANNUDF_ELEMENT_F32)->remark, remark);
  auto backend = makeCpuBackend(1);
  SearchStats stats;
  backend->precompile(scalar, ANNUDF_ELEMENT_F32, &stats);
  EXPECT_EQ(
      std::pair(stats.why, stats.slow),
      std::pair(
          std::string(
              "matrix products need a proved metric and rows of f32 of at most 8192 dimensions"),
          remark));
  backend->precompile(compiled(testMetric("l2")), ANNUDF_ELEMENT_F32, &stats);
  EXPECT_EQ(
      std::pair(stats.why, stats.slow),
      std::pair(
          std::string(
              "matrix products need a proved metric and rows of f32 of at most 8192 dimensions"),
          std::string()));
}

#if defined(__x86_64__) && defined(__GLIBC__)
#if defined(__x86_64__)
/// One operation where the processor has it, else two; a call never.
TEST(CpuJit, AProductIsFusedWhereTheProcessorCan) {
  const Metric fused =
      Metric::fromArtifact(artifactOf(testMetric("l2"), readBitcode("fused")), "fused.annudf");
  const auto has = [&](const char *cpu, const char *what) {
    return cpu::scanAssembly(fused, ANNUDF_ELEMENT_F32, {cpu}).find(what) != std::string::npos;
  };
  EXPECT_TRUE(has("x86-64-v3", "vfmadd"));
  EXPECT_FALSE(has("x86-64-v3", "mulps"));
  EXPECT_TRUE(has("x86-64-v2", "mulps") && has("x86-64-v2", "addps"));
  EXPECT_FALSE(has("x86-64-v2", "fma"));
}

/// The larger of a number and an absolute value: one choice for NaN, none for zeros.
TEST(CpuJit, ALargestDifferenceIsNotAskedForItsSign) {
  const std::string text =
      cpu::scanAssembly(compiled(testMetric("chebyshev")), ANNUDF_ELEMENT_F32, {"x86-64-v3"});
  const auto count = [&](const char *what) {
    const std::regex pattern(what);
    return std::distance(std::sregex_iterator(text.begin(), text.end(), pattern),
                         std::sregex_iterator());
  };
  EXPECT_GT(count("vmaxps\\s"), 0);
  EXPECT_LE(count("vblendvps\\s"), count("vmaxps\\s"));
}
#endif

/// The bitcode with loads as the compiler makes them: of captures, which nothing writes.
std::string withInvariantLoads(const std::string &bitcode) {
  llvm::LLVMContext context;
  auto module = cantFail(parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "metric"), context));
  for (llvm::Function &function : *module)
    for (llvm::Instruction &instruction : instructions(function))
      if (isa<llvm::LoadInst>(instruction))
        instruction.setMetadata(llvm::LLVMContext::MD_invariant_load,
                                llvm::MDNode::get(context, {}));
  std::string text;
  llvm::raw_string_ostream stream(text);
  WriteBitcodeToFile(*module, stream);
  return text;
}

/// A capture by row is read, and its root computed, once for all coordinates; the numbers of rows,
/// of 64 bits, do not halve the vectors.
TEST(CpuJit, ValuesOfRowsAreReadBeforeTheirCoordinates) {
  const Metric metric = Metric::fromArtifact(
      artifactOf(testMetric("l2"), withInvariantLoads(readBitcode("row_weights"))), "rows.annudf");
  for (const char *cpu : {"x86-64-v3", "x86-64-v4"})
    for (const annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_U8}) {
      const std::string text = cpu::scanAssembly(metric, element, {cpu});
      EXPECT_TRUE(has(text, "vsqrtps"));
      int loops = 0;
      for (const auto &[label, body] : blocksOf(text))
        if (has(body, "[[:space:]]j[a-z]+[[:space:]]+" + label + "$") &&
            has(body, "vfmadd[0-9]+ps")) {
          ++loops;
          EXPECT_FALSE(has(body, "gather|vsqrtps|vfmadd[0-9]+ps[[:space:]].*%xmm")) << body;
        }
      EXPECT_GE(loops, 2) << cpu << ": of one query and of several";
    }
}

/// A call that stays scalar costs 10 to 40 times as much, and keeps all of its loop from vectors.
TEST(CpuJit, FunctionsOfLibmAreVectors) {
  const Metric metric = Metric::fromArtifact(artifactOf(testMetric("l2"), readBitcode("functions")),
                                             "functions.annudf");
  const std::string text = cpu::scanAssembly(metric, ANNUDF_ELEMENT_F32);
  for (const char *name : {"log1pf", "tanhf", "atan2f", "erff"}) {
    EXPECT_TRUE(has(text, std::string("_ZGV[bde]N[0-9]+v+_") + name)) << name;
    EXPECT_FALSE(has(text, std::string("[^_a-z0-9]") + name + "[@\\s]"))
        << name << " is called for one row";
  }
  EXPECT_NE(refusal(testMetric("l2"), "functions").find("accepted"), std::string::npos);
}
#endif

#if defined(__x86_64__)
/// Older vector units hold fewer rows in registers: other loops, the same distances.
TEST(CpuJit, OlderProcessorsScanTheSame) {
  constexpr int kRows = 75, kQueries = 6;
  for (const char *cpu : {"x86-64", "x86-64-v3", "x86-64-v4"}) {
    if (std::string(cpu) == "x86-64-v3" && !__builtin_cpu_supports("x86-64-v3"))
      continue;
    if (std::string(cpu) == "x86-64-v4" && !__builtin_cpu_supports("x86-64-v4"))
      continue;
    for (const char *name : {"weighted_l2", "l2_f64", "asymmetric", "cosine", "bray_curtis"}) {
      const TestMetric &test = testMetric(name);
      const Metric metric = compiled(test);
      for (annudf_element element : test.elements) {
        const auto kernel = cpu::compileScan(metric, element, {cpu});
        for (int32_t dims : {5, 64}) {
          if (!faultOfDims(element, dims).empty())
            continue;
          const auto base = reference::randomVectors(element, kRows, dims, 21);
          const auto queries = reference::randomVectors(element, kQueries, dims, 22);
          IndexParams params;
          params.nLists = 1;
          const Index index = Index::build(params, view(base));
          const auto distances = scanEvery(*kernel, index, metric, view(queries));
          for (int q = 0; q < kQueries; ++q)
            for (int r = 0; r < kRows; ++r) {
              const double expected = test.distance(queries.row(q), base.row(r), dims);
              ASSERT_NEAR(distances[q][r], expected,
                          1e-5 * std::max(expected, cancellation(test, base)))
                  << cpu << " " << name << " " << toString(element) << " dims " << dims;
            }
        }
      }
    }
  }
}
#endif

TEST(CpuJit, DescribesTheHost) {
  EXPECT_NE(makeCpuBackend(1)->describe().find("CPU, 1 thread, "), std::string::npos);
  EXPECT_THROW(makeCpuBackend(-1), Error);
}

} // namespace
