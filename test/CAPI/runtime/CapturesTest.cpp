//===- CapturesTest.cpp - Binding captures through the C API --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeApi.h"

using namespace annudf;
using namespace annudf::test;

namespace {

class CApiCaptures : public testing::Test {
protected:
  void SetUp() override {
    Artifact weighted = artifactOf(testMetric("weighted_l2"), "no code is needed here");
    weighted.manifest.captures.push_back({"p", "i32", {}});
    toHandle(weighted, &artifact);
  }
  std::string bind(std::vector<annudf_capture_value> values, int64_t dims = 3) {
    OwnedCaptures captures;
    const std::string text = outcome(
        annudf_captures_bind(artifact, dims, values.data(), values.size(), false, &captures));
    EXPECT_EQ(captures != nullptr, text == "ok");
    return text;
  }
  OwnedArtifact artifact;
  const int64_t three[1] = {3};
  const std::vector<float> weights = {1, 2, 3};
  const int64_t power = 2;
  const annudf_capture_value w = arrayValue("w", weights, three);
  const annudf_capture_value p = {sizeof p, "p", "i64", nullptr, 0, &power, sizeof power, "p=2"};
};

TEST_F(CApiCaptures, BindsByName) {
  EXPECT_EQ(bind({p, w}), "ok");
  OwnedArtifact plain;
  toHandle(artifactOf(testMetric("l2"), "no code is needed here"), &plain);
  OwnedCaptures none;
  EXPECT_EQ(outcome(annudf_captures_bind(plain, 3, nullptr, 0, false, &none)), "ok");
  EXPECT_NE(none, nullptr);
}

TEST_F(CApiCaptures, EveryDtypeOfNumPy) {
  const struct {
    const char *dtype;
    size_t size;
  } dtypes[] = {{"i8", 1},  {"u8", 1},  {"b1", 1},  {"i16", 2}, {"u16", 2}, {"f16", 2},
                {"i32", 4}, {"u32", 4}, {"f32", 4}, {"i64", 8}, {"u64", 8}, {"f64", 8}};
  const std::vector<char> zeros(24);
  for (const auto &dtype : dtypes) {
    annudf_capture_value value = w;
    value.dtype = dtype.dtype, value.data = zeros.data(), value.bytes = 3 * dtype.size;
    EXPECT_EQ(bind({p, value}), "ok") << dtype.dtype;
  }
}

TEST_F(CApiCaptures, Refuses) {
  const std::string who = "usage: annudf_captures_bind: ";
  EXPECT_EQ(bind({w}), "usage: metric 'weighted_l2' needs capture 'p' (scalar i32), which was not "
                       "given");
  EXPECT_EQ(bind({w, p, w}), who + "capture 'w' is given twice");
  EXPECT_EQ(bind({w, p}, 4), "input: capture 'w' from the caller: declared dim x f32 with dim = 4, "
                             "got 3 x f32");
  EXPECT_EQ(bind({w, p}, 0), "usage: dims = 0: must be between 1 and 2147483647");
  annudf_capture_value value = w;
  value.name = "v";
  EXPECT_EQ(bind({w, p, value}),
            "usage: metric 'weighted_l2' has no capture 'v'; it declares w, p");
  value.name = nullptr;
  EXPECT_EQ(bind({value}), who + "name of a capture's value is NULL");
  value = w, value.dtype = nullptr;
  EXPECT_EQ(bind({value}), who + "value of capture 'w': dtype is NULL");
  value.dtype = "c64";
  EXPECT_EQ(bind({p, value}), "input: capture 'w' from the caller: dtype 'c64' cannot be bound");
  value = w, value.shape = nullptr;
  EXPECT_EQ(bind({value}), who + "value of capture 'w': shape is NULL");
  value = w, value.rank = -1;
  EXPECT_EQ(bind({value}), who + "value of capture 'w': rank is -1");
  value = w, value.data = nullptr;
  EXPECT_EQ(bind({value}), who + "value of capture 'w': data is NULL");
  value = w, value.bytes = 8;
  EXPECT_EQ(bind({p, value}), "input: capture 'w' from the caller: 8 bytes are not 3 x f32");
  const int64_t minus[1] = {-3};
  value = w, value.shape = minus;
  EXPECT_EQ(bind({p, value}).find("input: capture 'w' from the caller: declared dim x f32"), 0u);
  value = w, value.size = 0;
  EXPECT_EQ(bind({value}).find("usage: annudf_capture_value.size is 0, at least"), 0u);
  EXPECT_EQ(outcome(annudf_captures_bind(nullptr, 3, nullptr, 0, false, nullptr)),
            who + "artifact is NULL");
  EXPECT_EQ(outcome(annudf_captures_bind(artifact, 3, nullptr, 1, false, nullptr)),
            who + "values is NULL");
  annudf_captures_destroy(nullptr);
}

TEST_F(CApiCaptures, NonFiniteOnlyWithLeave) {
  const std::vector<float> bad = {1, NAN, 3};
  const annudf_capture_value values[] = {arrayValue("w", bad, three), p};
  OwnedCaptures captures;
  EXPECT_EQ(outcome(annudf_captures_bind(artifact, 3, values, 2, false, &captures)),
            "input: capture 'w' from the caller: element 1, nan, is not finite");
  EXPECT_EQ(outcome(annudf_captures_bind(artifact, 3, values, 2, true, &captures)), "ok");
}

/// A caller compiled against a later header has larger structs, in arrays too.
TEST_F(CApiCaptures, LargerStructsOfLaterVersions) {
  struct Later {
    annudf_capture_value known;
    uint64_t added;
  };
  Later values[] = {{w, 0}, {p, 0}};
  values[0].known.size = values[1].known.size = sizeof(Later);
  OwnedCaptures captures;
  EXPECT_EQ(outcome(annudf_captures_bind(artifact, 3, &values[0].known, 2, false, &captures)),
            "ok");
  values[1].added = 1;
  EXPECT_EQ(outcome(annudf_captures_bind(artifact, 3, &values[0].known, 2, false, &captures))
                .find("usage: annudf_capture_value sets a field that this library"),
            0u);
}

} // namespace
