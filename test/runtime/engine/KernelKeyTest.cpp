//===- KernelKeyTest.cpp - Every field changes the key --------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/KernelKey.h"

#include "Support/TestFiles.h"

#include <functional>
#include <set>

namespace annudf::runtime {
namespace {

KernelKey someKey() {
  KernelKey key;
  key.abi = "annudf.accumulator.v1", key.abiMajor = 1, key.abiMinor = 0;
  key.contract = "c", key.payload = "p";
  key.rowElement = "f16", key.queryElement = "f16", key.compute = "f32", key.accumulator = "f32";
  key.scan = "s", key.linker = "nvJitLink", key.linkerVersion = "13.0";
  key.options = {"-lto", "-O3"};
  key.arch = "sm_90", key.features = "", key.vectorBits = 0;
  return key;
}

TEST(KernelKey, EveryFieldChangesIt) {
  const std::vector<std::function<void(KernelKey &)>> changes = {
      [](KernelKey &key) { key.abi += "x"; }, [](KernelKey &key) { key.abiMajor = 2; },
      [](KernelKey &key) { key.abiMinor = 1; }, [](KernelKey &key) { key.contract += "x"; },
      [](KernelKey &key) { key.payload += "x"; }, [](KernelKey &key) { key.rowElement = "f32"; },
      [](KernelKey &key) { key.queryElement = "f32"; }, [](KernelKey &key) { key.compute = "f64"; },
      [](KernelKey &key) { key.accumulator = "f64"; }, [](KernelKey &key) { key.scan += "x"; },
      [](KernelKey &key) { key.linker = "LLVM"; },
      [](KernelKey &key) { key.linkerVersion = "13.1"; },
      [](KernelKey &key) { key.options.pop_back(); },
      [](KernelKey &key) { key.options = {"-O3", "-lto"}; },
      [](KernelKey &key) { key.options.emplace_back(); },
      [](KernelKey &key) { key.arch = "sm_90a"; }, [](KernelKey &key) { key.features = "+avx2"; },
      [](KernelKey &key) { key.vectorBits = 512; },
      // The same bytes in other fields.
      [](KernelKey &key) { key.contract = "cp", key.payload = ""; },
      [](KernelKey &key) { key.options = {"-lto-O3"}; },
      [](KernelKey &key) { std::swap(key.linkerVersion, key.linker); }};
  std::set<std::string> seen = {someKey().digest()};
  EXPECT_EQ(someKey().digest(), someKey().digest());
  EXPECT_EQ(someKey().digest().size(), 64u);
  for (size_t i = 0; i < changes.size(); ++i) {
    KernelKey key = someKey();
    changes[i](key);
    EXPECT_TRUE(seen.insert(key.digest()).second) << "change " << i << " is not seen";
  }
}

Metric someMetric() {
  Metric metric;
  Manifest &m = metric.artifact.manifest;
  m.name = "m", m.elements = {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16};
  m.hooks = {ANNUDF_HOOK_INIT, ANNUDF_HOOK_UPDATE};
  m.captures = {{"w", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_DIM, 0}}}};
  metric.artifact.payloads.push_back(Payload::ltoIr(75, "", {}, "code"));
  metric.digest = "d";
  return metric;
}

std::string keyOf(const Metric &metric, annudf_element element = ANNUDF_ELEMENT_F32) {
  return metricKey(metric, metric.artifact.payloads[0], element).digest();
}

TEST(KernelKey, OfAMetricHasItsContractAndItsCode) {
  const std::vector<std::function<void(Metric &)>> changes = {
      [](Metric &m) { m.artifact.manifest.abiMinor += 1; },
      [](Metric &m) { m.artifact.manifest.order = ANNUDF_ORDER_MAX; },
      [](Metric &m) { m.artifact.manifest.coarse = ANNUDF_COARSE_COSINE; },
      [](Metric &m) { m.artifact.manifest.coarseOrder = ANNUDF_ORDER_MAX; },
      [](Metric &m) { m.artifact.manifest.accumulator = ANNUDF_ACCUMULATOR_F64; },
      [](Metric &m) { m.artifact.manifest.compute = ANNUDF_COMPUTE_F64; },
      [](Metric &m) { m.artifact.manifest.elements.pop_back(); },
      [](Metric &m) { m.artifact.manifest.numerics = ANNUDF_NUMERICS_REASSOCIATE; },
      [](Metric &m) { m.artifact.manifest.dims = 4; },
      [](Metric &m) { m.artifact.manifest.hooks.push_back(ANNUDF_HOOK_FINALIZE); },
      [](Metric &m) { m.artifact.manifest.captures[0].element = ANNUDF_CAPTURE_F64; },
      [](Metric &m) { m.artifact.manifest.captures[0].name = "v"; },
      [](Metric &m) { m.artifact.manifest.captures[0].extents[0].kind = ANNUDF_EXTENT_ROW; },
      [](Metric &m) { m.artifact.manifest.captures.clear(); },
      [](Metric &m) { m.artifact.payloads[0].bytes += "x"; },
      [](Metric &m) { m.artifact.payloads[0].sm = 80; },
      [](Metric &m) { m.artifact.payloads[0].suffix = "a"; }};
  std::set<std::string> seen = {keyOf(someMetric())};
  EXPECT_TRUE(seen.insert(keyOf(someMetric(), ANNUDF_ELEMENT_F16)).second);
  for (size_t i = 0; i < changes.size(); ++i) {
    Metric metric = someMetric();
    changes[i](metric);
    EXPECT_TRUE(seen.insert(keyOf(metric)).second) << "change " << i << " is not seen";
  }
  // Names and places change no code: such metrics share a kernel.
  Metric renamed = someMetric();
  renamed.artifact.manifest.name = "other", renamed.artifact.manifest.sourceLine = 7;
  renamed.origin = "elsewhere", renamed.digest = "e";
  EXPECT_EQ(keyOf(renamed), keyOf(someMetric()));
}

TEST(KernelCache, LinksOnceAKeyAndAsksForItOnceAMetric) {
  KernelCache<const int> cache;
  int asked = 0, linked = 0;
  Metric first = someMetric(), second = someMetric(), other = someMetric();
  second.digest = "e", other.digest = "f";
  auto get = [&](const Metric &metric, const std::string &arch, const char *entry = "") {
    bool made = false;
    (void)cache.get(
        metric, ANNUDF_ELEMENT_F32, entry,
        [&] {
          ++asked;
          KernelKey key = metricKey(metric, metric.artifact.payloads[0], ANNUDF_ELEMENT_F32);
          key.arch = arch;
          key.options = {entry};
          return key;
        },
        [&](const std::string &digest) {
          EXPECT_EQ(digest.size(), 64u);
          ++linked;
          return std::make_shared<const int>(linked);
        },
        made);
    return made;
  };
  const auto find = [&](const Metric &metric, const char *entry = "") {
    return cache.find(metric, ANNUDF_ELEMENT_F32, entry) != nullptr;
  };
  EXPECT_FALSE(find(first));
  EXPECT_TRUE(get(first, "sm_90"));
  EXPECT_FALSE(get(first, "sm_90"));
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(find(first));
  EXPECT_FALSE(find(first, "one kernel"));
  EXPECT_FALSE(find(second));         // Nobody asked for it, and to ask for its key takes time.
  EXPECT_FALSE(get(second, "sm_90")); // Another file, the same code.
  EXPECT_TRUE(get(other, "sm_90a"));
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(linked, 2);
  EXPECT_TRUE(get(first, "sm_90", "one kernel"));
  EXPECT_FALSE(get(first, "sm_90", "one kernel"));
  EXPECT_FALSE(get(first, "sm_90"));
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(cache.size(), 3u);
  EXPECT_TRUE(find(second));
  // The digest is that which links get, once asked for.
  const auto makeKey = [&] {
    ++asked;
    return KernelKey();
  };
  EXPECT_EQ(cache.digest(first, ANNUDF_ELEMENT_F32, "", makeKey).size(), 64u);
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(cache.digest(first, ANNUDF_ELEMENT_F16, "", makeKey), KernelKey().digest());
  EXPECT_EQ(asked, 5);
}

} // namespace
} // namespace annudf::runtime
