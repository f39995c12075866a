//===- LinkTest.cpp - Linking metrics into the scan, without a GPU --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BrokenFragments.h"

#include "annudf/runtime/cuda/Cuda.h"
#include "gtest/gtest.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>
#include <unistd.h>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

/// What check_sass.py says of a cubin: its exit code.
/// \param share  "", or the least percentage of arithmetic in its hot loop.
int checkSass(const std::string &cubin, const cuda::ScanTarget &target, std::string name,
              const std::string &share = "") {
  name += "_" + std::string(target.entry.kernel) + "_" + std::to_string(target.sm);
  // ctest runs tests side by side, and two may link the same metric.
  const std::string path =
      testing::TempDir() + "/" + name + "_" + std::to_string(::getpid()) + ".cubin";
  std::ofstream(path, std::ios::binary) << cubin;
  const std::string command =
      "python3 '" ANNUDF_CHECK_SASS "' '" + path + "' " + target.entry.kernel + " " + share;
  const int status = WEXITSTATUS(std::system(command.c_str()));
  if (status == 0)
    std::filesystem::remove(path);
  return status;
}

constexpr const char *kUnread =
    "no nvdisasm on this machine: inlining is NOT checked. Linked but not disassembled: ";

/// Each kernel that the metric may run.
std::vector<cuda::ScanTarget> targets(const Artifact &artifact, ScanElements elements, int sm) {
  std::vector<cuda::ScanTarget> all;
  for (const cuda::ScanEntry &entry : cuda::entriesFor(artifact, sm, elements))
    all.push_back({elements, sm, entry});
  return all;
}

cuda::ScanTarget aTarget(ScanElements elements, int sm) {
  return {elements, sm, cuda::families()[0]->entries().front()};
}

std::string refusal(const Artifact &artifact, ErrorKind kind, int sm = 90,
                    annudf_element element = ANNUDF_ELEMENT_F32) {
  try {
    cuda::linkScanKernel(artifact, aTarget(element, sm));
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  return "accepted";
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// More elements take minutes: of the tests of the label `long`.
bool isLong() { return std::getenv("ANNUDF_LONG_TESTS") != nullptr; }

class EveryMetricLinks : public testing::TestWithParam<std::tuple<std::string, int>> {};

TEST_P(EveryMetricLinks, AndNoHookIsCalled) {
  const auto &[name, sm] = GetParam();
  const TestMetric &metric = testMetric(name);
  const Artifact artifact = cudaArtifact(metric, readFatbin(name));
  int unread = 0;
  for (annudf_element element : metric.elements) {
    // The first and the last, one and four to a word: both on sm_90, elsewhere one of them. If
    // long, on sm_90 all: how an element is read does not hang on the architecture.
    const bool isFirst = element == metric.elements.front();
    const bool isLast = element == metric.elements.back();
    const bool isShort = (isFirst && sm != 100) || (isLast && (sm == 90 || sm == 100));
    if (!isShort && !(isLong() && sm == 90))
      continue;
    for (const cuda::ScanTarget &target : targets(artifact, element, sm)) {
      double ms = 0;
      const std::string cubin = cuda::linkScanKernel(artifact, target, &ms);
      EXPECT_GT(ms, 0);
      ASSERT_EQ(cubin.substr(0, 4), "\x7f"
                                    "ELF");
      const int status = checkSass(cubin, target, name + "_" + toString(element));
      if (status == 77)
        ++unread;
      else
        EXPECT_EQ(status, 0) << name << " " << toString(element) << " sm_" << sm << " "
                             << target.entry.kernel;
    }
  }
  if (unread) // Last, so that every element is linked all the same.
    GTEST_SKIP() << kUnread << unread;
}

std::vector<std::string> metricNames() {
  std::vector<std::string> names;
  for (const TestMetric &metric : testMetrics())
    names.push_back(metric.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Cuda, EveryMetricLinks,
                         testing::Combine(testing::ValuesIn(metricNames()),
                                          testing::Values(80, 90, 100, 120)),
                         [](const auto &info) {
                           return std::get<0>(info.param) + "_sm" +
                                  std::to_string(std::get<1>(info.param));
                         });

/// Optimising and assembling the kernels that a search does not run was most of a link.
TEST(CudaLink, HoldsTheKernelOfItsEntryAlone) {
  const Artifact artifact = cudaArtifact(testMetric("l2"), readFatbin("l2"));
  std::set<std::string> names;
  for (const cuda::CudaFamily *family : cuda::families())
    for (const cuda::ScanEntry &entry : family->entries())
      names.insert(entry.kernel);
  ASSERT_GE(names.size(), 2u);
  for (const cuda::ScanTarget &target : targets(artifact, ANNUDF_ELEMENT_F32, 90)) {
    const std::string cubin = cuda::linkScanKernel(artifact, target);
    EXPECT_TRUE(contains(cubin, ".text.annudf_read_contract"));
    for (const std::string &name : names)
      EXPECT_EQ(contains(cubin, ".text." + name), name == target.entry.kernel) << name;
  }
}

TEST(CudaLink, EveryInputOfALinkIsInItsKey) {
  const Metric metric =
      Metric::fromArtifact(cudaArtifact(testMetric("l2"), readFatbin("l2")), "test");
  std::set<std::string> keys;
  size_t made = 0;
  for (const cuda::ScanEntry &entry : cuda::entriesFor(metric.artifact, 90))
    for (annudf_element rows : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16})
      for (annudf_element queries : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16})
        for (int sm : {80, 90}) {
          const cuda::ScanTarget target = {{rows, queries}, sm, entry};
          keys.insert(cuda::linkKey(metric, target).digest()), ++made;
        }
  Metric other = metric; // A body of another size may take other fragments.
  other.artifact.payloads[0].bytes += std::string(8192, '\0');
  keys.insert(cuda::linkKey(other, aTarget(ANNUDF_ELEMENT_F32, 90)).digest()), ++made;
  EXPECT_EQ(keys.size(), made);
  // So is how hooks are written into a template, where a kernel is linked so.
  std::string filled;
  for (const cuda::ScanEntry &entry : cuda::entriesFor(metric.artifact, 90))
    for (int sm : {80, 90})
      if (cuda::linkKey(metric, {{ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F32}, sm, entry})
              .options.back() == "fill=3")
        filled += entry.kernel + std::string(" ") + std::to_string(sm) + " ";
  EXPECT_EQ(filled, "annudf_scan_pair 90 annudf_scan_staged 90 ");
  // The very library, as patches of a release have its number.
  EXPECT_EQ(cuda::linkerVersion().build.size() % 2, 0u);
  EXPECT_TRUE(contains(cuda::linkKey(metric, aTarget(ANNUDF_ELEMENT_F32, 90)).linkerVersion,
                       cuda::linkerVersion().build));
}

TEST(CudaLink, OneFragmentServesEveryArchitecture) {
  const Artifact artifact = cudaArtifact(testMetric("weighted_l2"), readFatbin("weighted_l2"));
  for (int sm : {75, 86, 87, 88, 89, 103, 110, 121})
    EXPECT_EQ(cuda::linkScanKernel(artifact, aTarget(ANNUDF_ELEMENT_F16, sm)).substr(0, 4), "\x7f"
                                                                                            "ELF")
        << sm;
}

/// The time of a link goes with the machine code that comes of it, and can be tested where others
/// use the machine too: these had grown to 93 KB unseen (docs/results/links.md).
TEST(CudaLink, TheLinkOfWhatFollowsBoundsIsShort) {
  const Artifact artifact = cudaArtifact(testMetric("l2"), readFatbin("l2"));
  for (const char *kernel : {"annudf_finish_exact", "annudf_finish_granules", "annudf_within_exact",
                             "annudf_within_granules"})
    for (int sm : {80, 90}) {
      const cuda::ScanTarget target = {
          ANNUDF_ELEMENT_F32, sm, {cuda::ScanSource::Survivors, kernel}};
      EXPECT_LT(cuda::linkScanKernel(artifact, target).size(), 40'000u) << kernel << " sm_" << sm;
    }
}

/// L2's update is two instructions: what else is in the loop is what the search adds to it.
TEST(CudaLink, TheHotLoopOfL2IsItsArithmeticWithoutLocalMemory) {
  const Artifact artifact = cudaArtifact(testMetric("l2"), readFatbin("l2"));
  std::set<std::pair<std::string, cuda::ScanSource>> entries;
  for (const cuda::CudaFamily *family : cuda::families())
    for (const cuda::ScanEntry &entry : family->entries())
      entries.insert({entry.kernel, entry.source});
  int seen = 0, unread = 0;
  for (const auto &[kernel, source] : entries) {
    const bool isStaged = kernel == "annudf_scan_staged", isPacked = kernel == "annudf_scan_packed";
    if (!isStaged && !isPacked && !kernel.starts_with("annudf_finish_"))
      continue;
    // Its terms are packed where elements are bits.
    const annudf_element element = isPacked ? ANNUDF_ELEMENT_BITS : ANNUDF_ELEMENT_F32;
    for (int sm : {80, 90}) {
      const cuda::ScanTarget target = {element, sm, {source, kernel.c_str()}};
      const int status = checkSass(cuda::linkScanKernel(artifact, target), target, "l2_loop",
                                   isStaged ? "90" : "0");
      ++seen, unread += status == 77;
      EXPECT_TRUE(status == 0 || status == 77) << kernel << " sm_" << sm;
    }
  }
  EXPECT_EQ(seen, 8);
  if (unread)
    GTEST_SKIP() << kUnread << unread;
}

constexpr size_t kParts = 4;
class ExampleMetrics : public testing::TestWithParam<size_t> {};

/// The compiler's own output, where a build or scripts/gpu artifacts has put it. In parts, which
/// run side by side: a link and its disassembly take most of a second.
TEST_P(ExampleMetrics, LinkAndNoHookIsCalled) {
  const char *folder = std::getenv("ANNUDF_TEST_ARTIFACTS");
  if (!folder)
    GTEST_SKIP() << "ANNUDF_TEST_ARTIFACTS is not set: compiled example metrics are NOT checked";
  constexpr int kArchs[] = {80, 90, 100};
  size_t seen = 0;
  int unread = 0;
  std::set<std::filesystem::path> paths; // In an order.
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    paths.insert(entry.path());
  for (const std::filesystem::path &path : paths) {
    if (path.extension() != ".annudf")
      continue;
    const Artifact artifact = readArtifact(path.string());
    if (artifact.hasLinkedCode())
      continue; // It may be called, and for one architecture alone: test/e2e/LinkedCode.cpp.
    const std::vector<annudf_element> &elements = artifact.manifest.elements;
    if (elements.empty())
      continue; // A filter.
    // Every element, and every architecture: how an element is read does not hang on where. Unless
    // long, the examples take turns.
    const size_t turn = seen++, pairs = std::max(elements.size(), std::size(kArchs));
    if (turn % kParts != GetParam())
      continue;
    for (size_t i = 0; i < pairs; ++i) {
      if (!isLong() && i != turn % pairs)
        continue;
      const annudf_element element = elements[i % elements.size()];
      const int sm = kArchs[(turn / elements.size() + i) % std::size(kArchs)];
      for (const cuda::ScanTarget &target : targets(artifact, element, sm)) {
        const std::string cubin = cuda::linkScanKernel(artifact, target);
        ASSERT_EQ(cubin.substr(0, 4), "\x7f"
                                      "ELF")
            << path;
        const int status =
            checkSass(cubin, target, artifact.manifest.name + "_" + toString(element));
        if (status == 77)
          ++unread;
        else
          EXPECT_EQ(status, 0) << path << " " << toString(element) << " sm_" << sm << " "
                               << target.entry.kernel;
      }
    }
  }
  EXPECT_GT(seen, 0u) << folder << " holds no .annudf file";
  if (unread)
    GTEST_SKIP() << kUnread << unread;
}

INSTANTIATE_TEST_SUITE_P(Cuda, ExampleMetrics, testing::Range(size_t(0), kParts));

/// A kernel that does call: the check must see it, or it proves nothing.
TEST(CudaLink, TheCheckFindsACallThatIsLeft) {
  const TestMetric &metric = testMetric("l2");
  const cuda::ScanTarget target = aTarget(ANNUDF_ELEMENT_F32, 90);
  const std::string cubin =
      cuda::linkScanKernel(cudaArtifact(metric, readFatbin("not_inlined")), target);
  const int status = checkSass(cubin, target, "not_inlined");
  if (status == 77)
    GTEST_SKIP() << "no nvdisasm on this machine";
  EXPECT_EQ(status, 1);
}

TEST(CudaLink, RefusesWhatIsNotLtoIr) {
  const TestMetric &l2 = testMetric("l2");
  EXPECT_EQ(refusal(cudaArtifact(l2, "; ModuleID = 'metric.ll' and more text"), ErrorKind::Input),
            "metric 'l2': the sm_75 payload (38 bytes) is not LTO-IR: it begins with 3b 20 4d 6f, "
            "LTO-IR with ed 43 4e "
            "7f");
  EXPECT_EQ(refusal(cudaArtifact(l2, ""), ErrorKind::Input),
            "metric 'l2': the sm_75 payload (0 bytes) is not LTO-IR: it begins with nothing, "
            "LTO-IR with ed 43 4e 7f");
  EXPECT_TRUE(contains(refusal(cudaArtifact(l2, "\xED"
                                                "CN\x7F"),
                               ErrorKind::Input),
                       "(4 bytes) is not LTO-IR"));
}

/// A hook that is missing among them.
TEST(CudaLink, NamesAMetricThatDoesNotLinkWithTheLinkersLog) {
  for (const BrokenFragment &fragment : brokenFragments())
    EXPECT_EQ(
        otherThanExpected(refusal(cudaArtifact(testMetric("l2"), fragment.bytes), ErrorKind::Input),
                          fragment, 90),
        "");
}

TEST(CudaLink, NamesTheArchitecturesThatArePresent) {
  Artifact artifact = cudaArtifact(testMetric("l2"), readFatbin("l2"));
  artifact.payloads[0].sm = 90;
  artifact.payloads.push_back(artifact.payloads[0]);
  artifact.payloads[1].sm = 100;
  EXPECT_EQ(refusal(artifact, ErrorKind::Input, 80),
            "metric 'l2' has no GPU code for sm_80; it has sm_90, sm_100: compile it with "
            "--arch=sm_80 or older");
  artifact.payloads.clear();
  EXPECT_TRUE(contains(refusal(artifact, ErrorKind::Input), "it has none"));
}

TEST(CudaLink, RefusesLtoIrNewerThanTheLinker) {
  Artifact artifact = cudaArtifact(testMetric("l2"), readFatbin("l2"));
  artifact.payloads[0].producer = {"libnvvm", "99.1"};
  const std::string message = refusal(artifact, ErrorKind::Environment);
  const cuda::LinkerVersion version = cuda::linkerVersion();
  EXPECT_TRUE(contains(message, "libnvvm 99.1")) << message;
  EXPECT_TRUE(contains(message, "newer than nvJitLink " + std::to_string(version.major) + "." +
                                    std::to_string(version.minor) + " (" + version.path + ")"))
      << message;
}

TEST(CudaLink, RefusesAnElementTheMetricDoesNotTake) {
  EXPECT_EQ(refusal(cudaArtifact(testMetric("hamming"), readFatbin("hamming")), ErrorKind::Input),
            "metric 'hamming' does not take f32 vectors");
}

TEST(CudaLink, NamesAnUnknownArchitecture) {
  const std::string message =
      refusal(cudaArtifact(testMetric("l2"), readFatbin("l2")), ErrorKind::Environment, 777);
  EXPECT_TRUE(contains(message, "for sm_777")) << message;
}

/// In a process of its own, as the library is looked for once.
TEST(CudaLinkDeathTest, SaysWhereItLookedForNvJitLink) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("ANNUDF_NVJITLINK", "/nonexistent/nvjitlink.so", 1);
        try {
          cuda::linkerVersion();
        } catch (const Error &error) {
          std::fprintf(stderr, "%s", error.what());
          std::exit(error.kind() == ErrorKind::Environment ? 7 : 8);
        }
        std::exit(9);
      },
      testing::ExitedWithCode(7),
      "no nvJitLink found.*looked at /nonexistent/nvjitlink.so.*ANNUDF_NVJITLINK");
}

TEST(CudaLink, WithoutAGpuTheBackendSaysSoInOneLine) {
  const CudaEnvironment environment = describeCuda();
  EXPECT_TRUE(environment.built);
  EXPECT_TRUE(environment.linkerFound) << environment.linker;
  if (environment.driverFound)
    GTEST_SKIP() << "this machine has a CUDA driver";
  EXPECT_TRUE(environment.devices.empty());
  try {
    makeCudaBackend();
    FAIL() << "made a backend without a driver";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Environment);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    EXPECT_TRUE(contains(error.what(), "CUDA driver")) << error.what();
    EXPECT_EQ(environment.driver, error.what());
  }
}

} // namespace
