//===- DeviceUdfTest.cpp - Descriptors of device UDFs in annudf.hpp -------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the proof of concept's tests hold of its descriptor, in C++: a stable key, captures'
// metadata, sizes of payloads, conversion from and to C. test/CAPI/DeviceUdfTest.cpp has the rest.
//
//===----------------------------------------------------------------------===//

#include "CppApi.h"

#include <set>

using namespace cpp_api;

namespace {

constexpr std::string_view kSource =
    "extern \"C\" __device__ float f(float x, float y, float acc, const float *w, long long dim) "
    "{\n  return acc + w[dim] * (x - y) * (x - y);\n}\n";

/// Fields of the source above, for 128 dimensions.
annudf::device_udf_fields source() {
  return {.payload_kind = annudf::udf_payload::cuda_source,
          .payload = std::string(kSource),
          .symbol_name = "f",
          .captures = {{.name = "w", .shape = {128}, .pointer = 0x1000}}};
}

/// The key of what is changed so.
template <class Change> std::string key_of(Change change) {
  annudf::device_udf_fields fields = source();
  change(fields);
  return annudf::device_udf(fields).cache_key();
}

template <class Change> std::string refused(Change change) {
  return error_of([&] { (void)key_of(change); });
}

annudf::metric weighted() {
  return annudf::metric("weighted", [w = annudf::capture<float>("w", annudf::dim)](
                                        auto x, auto y, auto acc, auto ctx) {
    auto d = x - y;
    return acc + w[ctx.dim] * d * d;
  });
}

bool have(annudf_cuda_compiler which) {
  annudf_buffer *text = nullptr;
  const annudf_status status = annudf_describe_cuda_compiler(which, &text);
  const annudf::detail::buffer_owner owner(text);
  return status == ANNUDF_OK;
}

#define ANNUDF_NEEDS(WHICH)                                                                        \
  if (!have(WHICH))                                                                                \
  GTEST_SKIP() << "no CUDA toolkit"

} // namespace

TEST(CppDeviceUdf, KeyIsThatOfC) {
  const annudf::device_udf udf(source());
  EXPECT_EQ(udf.cache_key(), key_of([](auto &) {}));
  EXPECT_EQ(udf.cache_key(), udf.make_cache_key());
  EXPECT_EQ(udf.cache_key().find("annudf.device_udf.cache_key.v1:"), 0u);
  // test/CAPI/DeviceUdfTest.cpp has this number, too.
  EXPECT_EQ(udf.make_cache_key({"dtype=float32"}),
            "annudf.device_udf.cache_key.v1:"
            "819c2cb434d6e8c71022f8d141a6643a4b15696d1cedc24be308eff5eb6b37cb");
  EXPECT_NE(udf.make_cache_key({"ab", "c"}), udf.make_cache_key({"a", "bc"}));
}

TEST(CppDeviceUdf, KeyHasWhatCapturesAreAndNotWhereTheyLie) {
  const std::string base = key_of([](auto &) {});
  EXPECT_EQ(base, key_of([](auto &f) { f.captures[0].pointer = 0x987654; }));
  EXPECT_EQ(base, key_of([](auto &f) { f.captures[0].owner = std::make_shared<int>(1); }));
  EXPECT_EQ(base, key_of([](auto &f) { f.captures[0].strides = {4}; })); // The same.
  const std::set<std::string> others = {key_of([](auto &f) { f.captures[0].name = "v"; }),
                                        key_of([](auto &f) { f.captures[0].shape = {256}; }),
                                        key_of([](auto &f) { f.captures[0].device_id = 1; }),
                                        key_of([](auto &f) { f.captures[0].readonly = false; }),
                                        key_of([](auto &f) { f.payload += "\n"; }),
                                        key_of([](auto &f) { f.symbol_name = "g"; }),
                                        key_of([](auto &f) { f.target = "sm_90"; }),
                                        key_of([](auto &f) { f.captures.clear(); })};
  EXPECT_EQ(others.size(), 8u);
  EXPECT_EQ(others.count(base), 0u);
}

TEST(CppDeviceUdf, ViewsAndC) {
  const annudf::device_udf udf(source());
  EXPECT_EQ(udf.abi(), "rapids.cuvs.ivf_flat.metric.v1");
  EXPECT_EQ(udf.payload_kind(), annudf::udf_payload::cuda_source);
  ASSERT_EQ(udf.payload().size(), kSource.size());
  EXPECT_EQ(std::memcmp(udf.payload().data(), kSource.data(), kSource.size()), 0);
  EXPECT_EQ(udf.symbol_name(), "f");
  EXPECT_EQ(udf.target(), "");
  const annudf_device_udf &c = udf.c();
  EXPECT_EQ(c.payload_size, kSource.size());
  ASSERT_EQ(c.n_captures, 1u);
  EXPECT_STREQ(c.captures[0].name, "w");
  EXPECT_STREQ(c.captures[0].dtype, "float32");
  EXPECT_EQ(c.captures[0].ndim, 1);
  EXPECT_EQ(c.captures[0].shape[0], 128);
  EXPECT_EQ(c.captures[0].strides, nullptr);
  EXPECT_EQ(c.captures[0].flags, std::uint32_t(ANNUDF_UDF_CAPTURE_READONLY));
  EXPECT_EQ(c.cache_key, udf.cache_key());
  // Copies share it; what is read back is the same, and outlives what it was read from.
  std::optional<annudf::device_udf> first(udf);
  auto kept = std::make_shared<int>(1);
  const annudf::device_udf back = annudf::device_udf::from_c(first->c(), kept);
  first.reset();
  EXPECT_EQ(back.cache_key(), udf.cache_key());
  EXPECT_EQ(back.captures()[0].shape, std::vector<std::int64_t>{128});
  EXPECT_EQ(back.captures()[0].pointer, 0x1000u);
  EXPECT_EQ(back.captures()[0].owner, kept);
  EXPECT_NE(back.payload().data(), udf.payload().data());
}

TEST(CppDeviceUdf, DeviceArraysAreCaptures) {
  const auto kept = std::make_shared<int>(1);
  const auto *address = reinterpret_cast<const float *>(std::uintptr_t(0x2000));
  const auto capture = annudf::udf_capture::of("w", annudf::device_array(address, {128}, 1, kept));
  EXPECT_EQ(capture.dtype, "float32");
  EXPECT_EQ(capture.pointer, 0x2000u);
  EXPECT_EQ(capture.device_id, 1);
  EXPECT_EQ(capture.owner, kept);
  const auto *bytes = reinterpret_cast<const std::uint8_t *>(address);
  EXPECT_EQ(refused([&](auto &f) {
              f.captures = {annudf::udf_capture::of("w", annudf::device_array(bytes, {128}))};
            }),
            "2 the descriptor capture 'w' has dtype 'uint8', and rapids.cuvs.ivf_flat.metric.v1 "
            "has float32; convert it");
}

TEST(CppDeviceUdf, HostileDescriptors) {
  const std::string text = "2 the descriptor ";
  EXPECT_EQ(refused([](auto &f) { f.abi = "rapids.cuvs.ivf_pq.metric.v1"; }),
            text + "has ABI 'rapids.cuvs.ivf_pq.metric.v1', annudf takes "
                   "rapids.cuvs.ivf_flat.metric.v1");
  EXPECT_EQ(refused([](auto &f) { f.payload.clear(); }),
            text + "has an empty payload; give the code");
  EXPECT_EQ(refused([](auto &f) { f.payload_kind = annudf::udf_payload(7); }),
            usage("annudf_device_udf_check: udf.payload_kind is 7; 1 is LTO-IR, 2 CUDA source"));
  EXPECT_EQ(refused([](auto &f) { f.symbol_name = std::string("f\0g", 3); }),
            text + "has a NUL in a name: 'f\\x00...'; remove it");
  EXPECT_EQ(refused([](auto &f) { f.captures[0].name = std::string("w\0", 2); }),
            text + "has a NUL in a name: 'w\\x00...'; remove it");
  EXPECT_EQ(refused([](auto &f) { f.cache_key = "a\nb"; }),
            text + "has cache key 'a\\x0ab', which is too long or cannot be printed");
  EXPECT_EQ(refused([](auto &f) { f.captures.push_back(f.captures[0]); }),
            text + "has 2 captures, and rapids.cuvs.ivf_flat.metric.v1 has one");
  EXPECT_EQ(refused([](auto &f) { f.captures[0].strides = {4, 4}; }),
            usage("capture 'w' has 2 strides for 1 extents; give one an extent, or none"));
  EXPECT_EQ(refused([](auto &f) { f.captures[0].pointer = 0; }),
            text + "capture 'w' has no address; give that of its first entry on the device");
  annudf_device_udf none = {};
  EXPECT_EQ(error_of([&] { (void)annudf::device_udf::from_c(none); }).find("1 "), 0u);
}

TEST(CppDeviceUdf, MetricsThatNeedMoreAreRefusedByRule) {
  const annudf::metric dot("dot", [](auto x, auto y, auto acc) { return acc + x * y; },
                           {.order = annudf::order::max, .coarse = annudf::coarse::inner_product});
  try {
    (void)annudf::device_udf::from_metric(dot, "sm_90");
    FAIL() << "it was taken";
  } catch (const annudf::v0::error &error) {
    EXPECT_EQ(error.code(), annudf::errc::compile);
    EXPECT_EQ(error.rule(), "R5") << error.what();
  }
}

TEST(CppDeviceUdf, ThereAndBack) {
  ANNUDF_NEEDS(ANNUDF_CUDA_LIBNVVM);
  ANNUDF_NEEDS(ANNUDF_CUDA_NVRTC);
  const auto kept = std::make_shared<int>(1);
  const annudf::udf_capture w{.name = "w", .shape = {128}, .pointer = 0x1000, .owner = kept};
  const auto udf = annudf::device_udf::from_metric(weighted(), "sm_90",
                                                   {.symbol_name = "mine", .captures = {w}});
  EXPECT_EQ(udf.payload_kind(), annudf::udf_payload::lto_ir);
  EXPECT_GT(udf.payload().size(), 1024u);
  EXPECT_EQ(udf.symbol_name(), "mine");
  EXPECT_EQ(udf.target(), "sm_90");
  EXPECT_EQ(udf.captures()[0].owner, kept);
  // Elsewhere in memory it is the same code.
  annudf::udf_capture moved = w;
  moved.pointer = 0x2000;
  EXPECT_EQ(udf.cache_key(),
            annudf::device_udf::from_artifact(weighted().artifact(), "sm_90",
                                              {.symbol_name = "mine", .captures = {moved}})
                .cache_key());

  std::vector<annudf::diagnostic> warnings;
  const annudf::artifact back = udf.to_artifact({.name = "back", .archs = {"sm_90"}}, &warnings);
  EXPECT_EQ(back.name(), "back");
  EXPECT_FALSE(back.is_verified());
  EXPECT_FALSE(back.has_host_code());
  EXPECT_EQ(back.archs(), std::vector<std::string>{"sm_90"});
  // A metric borrows the capture's memory, and keeps its owner.
  const long before = kept.use_count();
  const annudf::bound_metric metric = udf.to_metric({.name = "again"});
  EXPECT_EQ(metric.artifact().name(), "again");
  EXPECT_GT(kept.use_count(), before);
  const std::vector<float> x(128);
  const annudf::matrix_view rows(x, 128);
  EXPECT_EQ(error_of([&] { (void)annudf::pairwise_distance(rows, rows, {.metric = metric}); }),
            "2 <device UDF>: calls linked device code, which runs on a GPU only");
  EXPECT_EQ(error_of([&] { (void)annudf::device_udf::from_artifact(back, "sm_90"); }),
            "5 artifact " + back.digest().substr(0, 12) +
                ": holds no module that could be lowered to rapids.cuvs.ivf_flat.metric.v1; its "
                "code was taken on trust");
}
