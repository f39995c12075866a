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
    weighted.manifest.captures.push_back({"p", ANNUDF_CAPTURE_I32, {}});
    toHandle(weighted, &artifact);
  }
  std::string bind(std::vector<annudf_capture_value> values, int64_t dims = 3) {
    OwnedCaptures captures;
    const annudf_extents extents = {sizeof extents, dims, 0, 0};
    const std::string text = outcome(
        annudf_captures_bind(artifact, &extents, values.data(), values.size(), nullptr, &captures));
    EXPECT_EQ(captures != nullptr, text == "ok");
    return text;
  }
  OwnedArtifact artifact;
  const int64_t three[1] = {3};
  const std::vector<float> weights = {1, 2, 3};
  const int64_t power = 2;
  const annudf_capture_value w = arrayValue("w", weights, three);
  const annudf_capture_value p = scalarValue();
  const annudf_extents dims3 = {sizeof dims3, 3, 0, 0};
  annudf_capture_value scalarValue() const {
    annudf_capture_value value = {};
    value.size = sizeof value, value.name = "p", value.dtype = "i64";
    value.data = &power, value.bytes = sizeof power, value.origin = "p=2";
    return value;
  }
};

TEST_F(CApiCaptures, BindsByName) {
  EXPECT_EQ(bind({p, w}), "ok");
  OwnedArtifact plain;
  toHandle(artifactOf(testMetric("l2"), "no code is needed here"), &plain);
  OwnedCaptures none;
  EXPECT_EQ(outcome(annudf_captures_bind(plain, &dims3, nullptr, 0, nullptr, &none)), "ok");
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
  EXPECT_EQ(bind({w, p}, 0), "usage: dims is 0, it must be an integer from 1 to 2147483647");
  annudf_capture_value value = w;
  value.name = "v";
  EXPECT_EQ(bind({w, p, value}),
            "usage: metric 'weighted_l2' has no capture 'v'; it declares w, p");
  value.name = nullptr;
  EXPECT_EQ(bind({value}), who + "name of a capture's value is NULL");
  value = w, value.dtype = nullptr;
  EXPECT_EQ(bind({value}), who + "value of capture 'w': dtype is NULL");
  value.dtype = "c64";
  EXPECT_EQ(bind({p, value}), "input: capture 'w' from the caller: dtype 'c64' is not supported; "
                              "give f16, bf16, f32, f64, i8 to i64, u8 to u64 or b1");
  value = w, value.shape = nullptr;
  EXPECT_EQ(bind({value}), who + "value of capture 'w': shape is NULL");
  value = w, value.rank = -1;
  EXPECT_EQ(bind({value}), who + "value of capture 'w': rank is -1; it must be 0 to 32");
  value = w, value.data = nullptr;
  EXPECT_EQ(bind({value}), who + "value of capture 'w': data is NULL");
  value = w, value.bytes = 8;
  EXPECT_EQ(bind({p, value}),
            "input: capture 'w' from the caller: it has 8 bytes, 3 x f32 takes 12");
  const int64_t minus[1] = {-3};
  value = w, value.shape = minus;
  EXPECT_EQ(bind({p, value}).find("input: capture 'w' from the caller: declared dim x f32"), 0u);
  value = w, value.size = 0;
  EXPECT_EQ(bind({value}).find("usage: annudf_capture_value.size is 0, at least"), 0u);
  EXPECT_EQ(outcome(annudf_captures_bind(nullptr, &dims3, nullptr, 0, nullptr, nullptr)),
            who + "artifact is NULL");
  EXPECT_EQ(outcome(annudf_captures_bind(artifact, &dims3, nullptr, 1, nullptr, nullptr)),
            who + "values is NULL");
  annudf_captures_destroy(nullptr);
}

TEST_F(CApiCaptures, NonFiniteOnlyWithLeave) {
  const std::vector<float> bad = {1, NAN, 3};
  const annudf_capture_value values[] = {arrayValue("w", bad, three), p};
  const annudf_captures_options allow = {sizeof allow, 1, nullptr};
  OwnedCaptures captures;
  EXPECT_EQ(outcome(annudf_captures_bind(artifact, &dims3, values, 2, nullptr, &captures)),
            "input: capture 'w' from the caller: element 1, nan, is not finite");
  EXPECT_EQ(outcome(annudf_captures_bind(artifact, &dims3, values, 2, &allow, &captures)), "ok");
}

/// Typed arrays with strides are converted once, here; the digest tells equal values.
TEST_F(CApiCaptures, StridedArraysAndTheirDigest) {
  const double padded[] = {3, -1, 2, -1, 1, -1}; // Every other one, backwards: 1, 2, 3.
  const int64_t backwards[1] = {-16};
  annudf_capture_value strided = w;
  strided.dtype = "f64", strided.strides = backwards, strided.data = padded + 4, strided.bytes = 0;
  const annudf_capture_value plainly[] = {w, p}, stepping[] = {strided, p};
  OwnedCaptures plain, same, other;
  ASSERT_EQ(outcome(annudf_captures_bind(artifact, &dims3, plainly, 2, nullptr, &plain)), "ok");
  ASSERT_EQ(outcome(annudf_captures_bind(artifact, &dims3, stepping, 2, nullptr, &same)), "ok");
  EXPECT_EQ(std::string(annudf_captures_digest(plain)).size(), 64u);
  EXPECT_STREQ(annudf_captures_digest(plain), annudf_captures_digest(same));
  strided.data = padded + 5; // -1, -1, -1
  const annudf_capture_value changed[] = {strided, p};
  ASSERT_EQ(outcome(annudf_captures_bind(artifact, &dims3, changed, 2, nullptr, &other)), "ok");
  EXPECT_STRNE(annudf_captures_digest(plain), annudf_captures_digest(other));
  EXPECT_STREQ(annudf_captures_digest(nullptr), "");
}

/// Device memory is not looked at, so any address will do here; no CPU search takes it.
TEST_F(CApiCaptures, DeviceMemoryIsKeptAndReleasedOnce) {
  int released = 0;
  const auto release = [](void *owner) { ++*static_cast<int *>(owner); };
  annudf_capture_value device = w;
  device.place = {ANNUDF_MEMORY_CUDA, 1, 0};
  device.data = reinterpret_cast<const void *>(uintptr_t(4096));
  device.release = release, device.owner = &released;
  const annudf_capture_value values[] = {device, p};
  {
    OwnedCaptures one, two;
    ASSERT_EQ(outcome(annudf_captures_bind(artifact, &dims3, values, 2, nullptr, &one)), "ok");
    EXPECT_EQ(released, 0);
    ASSERT_EQ(outcome(annudf_captures_bind(artifact, &dims3, values, 2, nullptr, &two)), "ok");
    EXPECT_STRNE(annudf_captures_digest(one), annudf_captures_digest(two));
  }
  EXPECT_EQ(released, 2);
  const std::string who = "input: capture 'w' from the caller: on CUDA device 1 ";
  const auto refused = [&](annudf_capture_value value) {
    const int before = released;
    const std::string text = bind({value, p});
    EXPECT_EQ(released, before + 1) << text;
    return text;
  };
  annudf_capture_value wrong = device;
  wrong.dtype = "i32";
  EXPECT_EQ(refused(wrong), who + "it is i32, declared dim x f32; convert it on the device first");
  const int64_t gaps[1] = {8};
  wrong = device, wrong.strides = gaps;
  EXPECT_EQ(refused(wrong), who + "it is not in C order; make it contiguous on the device first");
  wrong = device, wrong.data = reinterpret_cast<const void *>(uintptr_t(4098));
  EXPECT_EQ(refused(wrong), who + "its address is not a multiple of 4");
  wrong = device, wrong.place.stream = 2;
  EXPECT_EQ(refused(wrong),
            "usage: annudf_captures_bind: value of capture 'w': place.stream is 2; a "
            "search reads captures on the stream of its queries, so set it to 0");
  wrong = device, wrong.place.memory = 7;
  EXPECT_EQ(refused(wrong), "usage: annudf_captures_bind: value of capture 'w'.place.memory is 7; "
                            "use a value of enum annudf_memory");
}

/// Host memory with `release` is kept as long as it is read; what was copied is released at once.
TEST_F(CApiCaptures, HostMemoryIsKeptAndReleasedOnce) {
  int released = 0;
  annudf_capture_value kept = w;
  kept.release = [](void *owner) { ++*static_cast<int *>(owner); };
  kept.owner = &released;
  {
    const annudf_capture_value values[] = {kept, p};
    OwnedCaptures captures;
    ASSERT_EQ(outcome(annudf_captures_bind(artifact, &dims3, values, 2, nullptr, &captures)), "ok");
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  const double wide[] = {1, 2, 3};
  annudf_capture_value converted = kept;
  converted.dtype = "f64", converted.data = wide, converted.bytes = sizeof wide;
  const annudf_capture_value values[] = {converted, p};
  OwnedCaptures captures;
  ASSERT_EQ(outcome(annudf_captures_bind(artifact, &dims3, values, 2, nullptr, &captures)), "ok");
  EXPECT_EQ(released, 2);
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
  EXPECT_EQ(
      outcome(annudf_captures_bind(artifact, &dims3, &values[0].known, 2, nullptr, &captures)),
      "ok");
  values[1].added = 1;
  EXPECT_EQ(outcome(annudf_captures_bind(artifact, &dims3, &values[0].known, 2, nullptr, &captures))
                .find("usage: annudf_capture_value sets a field that this library"),
            0u);
}

} // namespace
