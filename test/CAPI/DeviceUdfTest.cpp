//===- DeviceUdfTest.cpp - Descriptors of device UDFs in the C API --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tests of the proof of concept hold of its descriptor, held of ours (cuVS #2133,
// test_device_udf.py), with the name of each there:
//   cache_key_is_stable_for_same_metadata              KeyIsStable
//   cache_key_excludes_capture_pointer_and_owner       KeyLeavesOutWhereCapturesLie
//   cache_key_includes_capture_metadata                KeyHasWhatCapturesAre
//   cache_key_includes_payload_target_and_algorithm_options  KeyHasPayloadTargetAndOptions
//   make_udf_artifact_sets_cache_key_and_descriptor_metadata FromAnArtifact: sizes and pointers
//   ivf_flat_cuda_source_metric_builds_cuda_source_artifact  SourceBecomesAnArtifact
//   search_params_accepts_cuda_source_udf_artifact           SourceBecomesAnArtifact
//   search_params_rejects_cuda_source_captures         CapturesOfSourceInTheFormOfCuvs: of that
//   form
//       alone, as a function with a symbol may have one here
//   search_params_rejects_wrong_abi                    HostileDescriptors
//   search_params_rejects_too_many_captures            HostileDescriptors
//   invalid_payload_kind_fails                         HostileDescriptors
//   backend_compiles_ltoir_artifact                    FromAnArtifact
//   backend_rejects_return_type_mismatch               PrototypesOfForeignCodeAreChecked
//
//===----------------------------------------------------------------------===//

#include "CApi.h"

#include "Compiler/WeightedMetric.h"

#include "annudf-c/DeviceUDF.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>

using namespace annudf::test;

namespace {

const char *const kAbi = "rapids.cuvs.ivf_flat.metric.v1";
const char *const kSm90[] = {"sm_90"};

const char *const kSource = "extern \"C\" __device__ float f(float x, float y, float acc) {\n"
                            "  return acc + (x - y) * (x - y);\n}\n";
const char *const kSourceOfCapture =
    "extern \"C\" __device__ float f(float x, float y, float acc, const float *w, long long dim) "
    "{\n  return acc + w[dim] * (x - y) * (x - y);\n}\n";

/// A descriptor that has no faults, and what it points at.
struct Descriptor {
  annudf_device_udf udf = {};
  annudf_udf_capture captures[2] = {};
  int64_t shape[2] = {128, 1}, strides[2] = {4, 4};
  std::string payload;

  explicit Descriptor(std::string text = kSourceOfCapture,
                      int32_t kind = ANNUDF_DEVICE_UDF_CUDA_SOURCE, size_t count = 1)
      : payload(std::move(text)) {
    for (annudf_udf_capture &capture : captures) {
      capture.size = sizeof capture;
      capture.name = &capture == captures ? "w" : "v";
      capture.dtype = "float32";
      capture.shape = shape;
      capture.ndim = 1;
      capture.pointer = 0x1000;
      capture.flags = ANNUDF_UDF_CAPTURE_READONLY;
    }
    udf.size = sizeof udf;
    udf.abi = kAbi;
    udf.payload_kind = kind;
    udf.payload = payload.data();
    udf.payload_size = payload.size();
    udf.symbol_name = "f";
    udf.captures = captures;
    udf.n_captures = count;
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
};

std::string keyOf(const std::function<void(Descriptor &)> &change = {},
                  std::vector<const char *> options = {"dtype=float32"}) {
  Descriptor given;
  if (change)
    change(given);
  OwnedBuffer key;
  EXPECT_EQ(outcome(annudf_device_udf_cache_key(&given.udf, options.data(), options.size(), &key)),
            "ok");
  return textOf(key);
}

/// What is said of a descriptor that is changed so.
std::string checked(const std::function<void(Descriptor &)> &change) {
  Descriptor given;
  change(given);
  return outcome(annudf_device_udf_check(&given.udf));
}

struct Made {
  annudf_device_udf_owner *handle = nullptr;
  ~Made() { annudf_device_udf_destroy(handle); }
  const annudf_device_udf &operator*() const { return *annudf_device_udf_get(handle); }
};

void compileText(const char *text, OwnedArtifact &artifact) {
  annudf_compile_options options = {};
  options.size = sizeof options;
  options.skip_lto_ir = 1;
  OwnedDiagnostics diagnostics;
  ASSERT_EQ(
      outcome(annudf_compile(text, std::strlen(text), "m.mlir", &options, &artifact, &diagnostics)),
      "ok");
}

annudf_device_udf_options optionsOf(const annudf_udf_capture *captures, size_t count) {
  annudf_device_udf_options options = {};
  options.size = sizeof options;
  options.arch = "sm_90";
  options.symbol_name = "sym";
  options.captures = captures;
  options.n_captures = count;
  options.dims = 128;
  return options;
}

std::string imported(const annudf_device_udf &udf, OwnedArtifact &artifact) {
  annudf_device_udf_import options = {};
  options.size = sizeof options;
  options.archs = kSm90;
  options.arch_count = 1;
  OwnedDiagnostics diagnostics;
  return outcome(annudf_device_udf_to_artifact(&udf, &options, &artifact, &diagnostics));
}

bool haveTool(annudf_cuda_compiler which) {
  OwnedBuffer text;
  return annudf_describe_cuda_compiler(which, &text) == ANNUDF_OK;
}

#define ANNUDF_NEEDS(WHICH)                                                                        \
  if (!haveTool(WHICH))                                                                            \
  GTEST_SKIP() << "no CUDA toolkit"

} // namespace

TEST(DeviceUdf, KeyIsStable) {
  EXPECT_EQ(keyOf(), keyOf());
  // The same in other processes and machines.
  EXPECT_EQ(keyOf(), "annudf.device_udf.cache_key.v1:"
                     "819c2cb434d6e8c71022f8d141a6643a4b15696d1cedc24be308eff5eb6b37cb");
}

TEST(DeviceUdf, KeyLeavesOutWhereCapturesLie) {
  EXPECT_EQ(keyOf(), keyOf([](Descriptor &d) { d.captures[0].pointer = 0x987654; }));
  EXPECT_EQ(keyOf(), keyOf([](Descriptor &d) { d.captures[0].strides = d.strides; })); // The same.
  EXPECT_EQ(keyOf(), keyOf([](Descriptor &d) { d.udf.cache_key = "another"; }));
}

TEST(DeviceUdf, KeyHasWhatCapturesAre) {
  const std::function<void(Descriptor &)> changes[] = {
      [](Descriptor &d) { d.captures[0].name = "v"; },
      [](Descriptor &d) { d.captures[0].dtype = "int32"; },
      [](Descriptor &d) { d.shape[0] = 256; },
      [](Descriptor &d) { d.captures[0].ndim = 2; },
      [](Descriptor &d) { d.strides[0] = 8, d.captures[0].strides = d.strides; },
      [](Descriptor &d) { d.captures[0].device_id = 1; },
      [](Descriptor &d) { d.captures[0].flags = 0; },
      [](Descriptor &d) { d.udf.n_captures = 0; },
      [](Descriptor &d) { d.udf.n_captures = 2; }};
  std::vector<std::string> keys = {keyOf()};
  for (const auto &change : changes) {
    const std::string key = keyOf(change);
    EXPECT_EQ(std::count(keys.begin(), keys.end(), key), 0);
    keys.push_back(key);
  }
}

TEST(DeviceUdf, KeyHasPayloadTargetAndOptions) {
  const std::string base = keyOf();
  EXPECT_NE(base, keyOf([](Descriptor &d) { d.payload[0] = ' '; }));
  EXPECT_NE(base, keyOf([](Descriptor &d) { d.udf.target = "sm_90"; }));
  EXPECT_NE(base, keyOf([](Descriptor &d) { d.udf.symbol_name = "g"; }));
  EXPECT_NE(base, keyOf([](Descriptor &d) { d.udf.abi = "rapids.cuvs.ivf_pq.metric.v1"; }));
  EXPECT_NE(base, keyOf([](Descriptor &d) { d.udf.payload_kind = ANNUDF_DEVICE_UDF_LTOIR; }));
  EXPECT_NE(base, keyOf({}, {"dtype=int32"}));
  // Where one option ends is part of it.
  EXPECT_NE(keyOf({}, {"ab", "c"}), keyOf({}, {"a", "bc"}));
  EXPECT_NE(keyOf({}, {"a", ""}), keyOf({}, {"a"}));
}

TEST(DeviceUdf, HostileDescriptors) {
  EXPECT_EQ(checked([](Descriptor &) {}), "ok");
  const std::string call = "usage: annudf_device_udf_check: ";
  const std::string text = "input: the descriptor ";
  const std::string capture = text + "capture 'w' ";
  const std::pair<std::string, std::function<void(Descriptor &)>> cases[] = {
      {call + "udf.abi is NULL", [](Descriptor &d) { d.udf.abi = nullptr; }},
      {call + "udf.payload is NULL", [](Descriptor &d) { d.udf.payload = nullptr; }},
      {call + "udf.symbol_name is NULL", [](Descriptor &d) { d.udf.symbol_name = nullptr; }},
      {call + "udf.payload_kind is 0; 1 is LTO-IR, 2 CUDA source",
       [](Descriptor &d) { d.udf.payload_kind = 0; }},
      {call + "udf.payload_kind is 3; 1 is LTO-IR, 2 CUDA source",
       [](Descriptor &d) { d.udf.payload_kind = 3; }},
      {call + "udf.flags is 1, this annudf knows none; set it to 0",
       [](Descriptor &d) { d.udf.flags = 1; }},
      {call + "udf.payload_size is 18446744073709551615; at most 1073741824 bytes are taken",
       [](Descriptor &d) { d.udf.payload_size = SIZE_MAX; }},
      {call + "captures is NULL", [](Descriptor &d) { d.udf.captures = nullptr; }},
      {call + "n_captures is 18446744073709551615; a device UDF has at most 64 captures",
       [](Descriptor &d) { d.udf.n_captures = SIZE_MAX; }},
      {call + "captures[0].name is NULL", [](Descriptor &d) { d.captures[0].name = nullptr; }},
      {call + "captures[0].dtype is NULL", [](Descriptor &d) { d.captures[0].dtype = nullptr; }},
      {call + "captures[0].shape is NULL", [](Descriptor &d) { d.captures[0].shape = nullptr; }},
      {call + "captures[0].ndim is -1; it must be 0 to 32",
       [](Descriptor &d) { d.captures[0].ndim = -1; }},
      {call + "captures[0].ndim is 2147483647; it must be 0 to 32",
       [](Descriptor &d) { d.captures[0].ndim = INT32_MAX; }},
      {call + "captures[0].flags is 3, this annudf knows the bits of 1 only; clear the others, or "
              "update annudf",
       [](Descriptor &d) { d.captures[0].flags = 3; }},
      {call + "captures[0].reserved is 7; set it to 0",
       [](Descriptor &d) { d.captures[0].reserved = 7; }},
      {text + "has ABI 'rapids.cuvs.ivf_pq.metric.v1', annudf takes rapids.cuvs.ivf_flat.metric.v1",
       [](Descriptor &d) { d.udf.abi = "rapids.cuvs.ivf_pq.metric.v1"; }},
      {text + "has an empty payload; give the code", [](Descriptor &d) { d.udf.payload_size = 0; }},
      {text + "has a NUL in its source, which is no CUDA C++",
       [](Descriptor &d) { d.payload[3] = '\0'; }},
      {text +
           "has a payload that is no LTO-IR: it begins with 65 78 74 65, LTO-IR with ed 43 4e 7f",
       [](Descriptor &d) { d.udf.payload_kind = ANNUDF_DEVICE_UDF_LTOIR; }},
      {text + "has target 'sm_ninety'; write it as sm_90",
       [](Descriptor &d) { d.udf.target = "sm_ninety"; }},
      {text + "has target 'sm_090'; write it as sm_90",
       [](Descriptor &d) { d.udf.target = "sm_090"; }},
      {text + "has symbol '', which is no name of a function; use letters, digits and _",
       [](Descriptor &d) { d.udf.symbol_name = ""; }},
      {text + "has symbol 'f\"', which is no name of a function; use letters, digits and _",
       [](Descriptor &d) { d.udf.symbol_name = "f\""; }},
      {text + "has symbol 'f\\x0ag', which is no name of a function; use letters, digits and _",
       [](Descriptor &d) { d.udf.symbol_name = "f\ng"; }},
      {text + "has symbol 'm\xc3\xa9trique', which is no name of a function; use letters, digits "
              "and _",
       [](Descriptor &d) { d.udf.symbol_name = "m\xc3\xa9trique"; }},
      {text + "has symbol 'annudf1_scan_contract', which is a name of annudf's hooks; rename it",
       [](Descriptor &d) { d.udf.symbol_name = "annudf1_scan_contract"; }},
      {text + "has cache key 'a\\x0ab', which is too long or cannot be printed",
       [](Descriptor &d) { d.udf.cache_key = "a\nb"; }},
      {text + "has 2 captures, and rapids.cuvs.ivf_flat.metric.v1 has one",
       [](Descriptor &d) { d.udf.n_captures = 2; }},
      {capture + "has dtype 'int32', and rapids.cuvs.ivf_flat.metric.v1 has float32; convert it",
       [](Descriptor &d) { d.captures[0].dtype = "int32"; }},
      {capture + "has 0 extents, and rapids.cuvs.ivf_flat.metric.v1 has one, with an entry a "
                 "dimension",
       [](Descriptor &d) { d.captures[0].ndim = 0; }},
      {capture + "has 2 extents, and rapids.cuvs.ivf_flat.metric.v1 has one, with an entry a "
                 "dimension",
       [](Descriptor &d) { d.captures[0].ndim = 2; }},
      {capture + "has 0 entries; vectors have 1 to 1048576 dimensions",
       [](Descriptor &d) { d.shape[0] = 0; }},
      {capture + "has -128 entries; vectors have 1 to 1048576 dimensions",
       [](Descriptor &d) { d.shape[0] = -128; }},
      {capture + "has 9223372036854775807 entries; vectors have 1 to 1048576 dimensions",
       [](Descriptor &d) { d.shape[0] = INT64_MAX; }},
      {capture +
           "has a stride of 8 bytes, and rapids.cuvs.ivf_flat.metric.v1 reads one float after "
           "the other; copy it",
       [](Descriptor &d) { d.strides[0] = 8, d.captures[0].strides = d.strides; }},
      {capture + "has a stride of -4 bytes, and rapids.cuvs.ivf_flat.metric.v1 reads one float "
                 "after the other; copy it",
       [](Descriptor &d) { d.strides[0] = -4, d.captures[0].strides = d.strides; }},
      {capture + "is on device -1; devices count from 0",
       [](Descriptor &d) { d.captures[0].device_id = -1; }},
      {capture + "has no address; give that of its first entry on the device",
       [](Descriptor &d) { d.captures[0].pointer = 0; }},
      {capture + "has an address that no float has; align it to 4 bytes",
       [](Descriptor &d) { d.captures[0].pointer = 0x1002; }},
  };
  for (const auto &[expected, change] : cases)
    EXPECT_EQ(checked(change), expected);
  EXPECT_EQ(outcome(annudf_device_udf_check(nullptr)), call + "udf is NULL");
  EXPECT_NE(checked([](Descriptor &d) { d.udf.size = 8; }).find("annudf_device_udf.size is 8"),
            std::string::npos);
  EXPECT_NE(
      checked([](Descriptor &d) { d.captures[0].size = 0; }).find("annudf_udf_capture.size is 0"),
      std::string::npos);
}

TEST(DeviceUdf, FromAnArtifact) {
  ANNUDF_NEEDS(ANNUDF_CUDA_LIBNVVM);
  OwnedArtifact artifact;
  compileText(kWeighted, artifact);
  Descriptor given;
  annudf_device_udf_options options = optionsOf(given.captures, 1);
  Made first, second;
  ASSERT_EQ(outcome(annudf_device_udf_from_artifact(artifact, &options, &first.handle, nullptr)),
            "ok");
  const annudf_device_udf &udf = *first;
  EXPECT_STREQ(udf.abi, kAbi);
  EXPECT_EQ(udf.payload_kind, ANNUDF_DEVICE_UDF_LTOIR);
  EXPECT_GT(udf.payload_size, 1024u);
  EXPECT_EQ(std::memcmp(udf.payload, "\xED\x43\x4E\x7F", 4), 0);
  EXPECT_STREQ(udf.symbol_name, "sym");
  EXPECT_STREQ(udf.target, "sm_90");
  EXPECT_EQ(udf.flags, 0u);
  ASSERT_EQ(udf.n_captures, 1u);
  EXPECT_STREQ(udf.captures[0].name, "w");
  EXPECT_EQ(udf.captures[0].pointer, 0x1000u);
  EXPECT_EQ(udf.captures[0].shape[0], 128);
  EXPECT_EQ(udf.captures[0].flags, uint32_t(ANNUDF_UDF_CAPTURE_READONLY));
  EXPECT_EQ(std::string(udf.cache_key).find("annudf.device_udf.cache_key.v1:"), 0u);
  EXPECT_EQ(outcome(annudf_device_udf_check(&udf)), "ok");
  // Elsewhere in memory it is the same code.
  given.captures[0].pointer = 0x2000;
  ASSERT_EQ(outcome(annudf_device_udf_from_artifact(artifact, &options, &second.handle, nullptr)),
            "ok");
  EXPECT_STREQ(udf.cache_key, (*second).cache_key);
  annudf_capture_value value = {};
  value.size = sizeof value;
  ASSERT_EQ(outcome(annudf_device_udf_capture_value(&udf, 0, &value)), "ok");
  EXPECT_STREQ(value.name, "w");
  EXPECT_EQ(value.place.memory, ANNUDF_MEMORY_CUDA);
  EXPECT_EQ(value.bytes, 512u);
}

TEST(DeviceUdf, CapturesAreThoseOfTheMetric) {
  ANNUDF_NEEDS(ANNUDF_CUDA_LIBNVVM);
  OwnedArtifact artifact;
  compileText(kWeighted, artifact);
  Descriptor given;
  auto made = [&](const std::function<void(annudf_device_udf_options &)> &change) {
    annudf_device_udf_options options = optionsOf(given.captures, 1);
    change(options);
    Made owner;
    const std::string text =
        outcome(annudf_device_udf_from_artifact(artifact, &options, &owner.handle, nullptr));
    const size_t end = text.find(": ", text.find(": artifact ") + 2);
    return end == std::string::npos ? text : text.substr(end + 2);
  };
  using Options = annudf_device_udf_options;
  EXPECT_EQ(
      made([](Options &o) { o.dims = 129; }),
      "capture 'w' has 128 entries, the index has 129 dimensions; give one entry a dimension");
  EXPECT_EQ(made([](Options &o) { o.dims = 0; }),
            "dims is 0; give the dimensions of the index, which capture 'w' has to have an entry "
            "for each of");
  EXPECT_EQ(made([](Options &o) { o.n_captures = 0; }),
            "metric weighted reads a capture, and none is given; say where the array lies on the "
            "device");
  EXPECT_EQ(made([](Options &o) { o.n_captures = 2; }),
            "2 captures are given, and rapids.cuvs.ivf_flat.metric.v1 has one");
  given.captures[0].name = "v";
  EXPECT_EQ(made([](Options &) {}), "metric weighted has no capture 'v'");
  EXPECT_EQ(made([](Options &o) { o.arch = nullptr; }),
            "LTO-IR is for one architecture; give arch, such as sm_90");
}

TEST(DeviceUdf, ThereAndBack) {
  ANNUDF_NEEDS(ANNUDF_CUDA_LIBNVVM);
  ANNUDF_NEEDS(ANNUDF_CUDA_NVRTC);
  OwnedArtifact artifact, back;
  compileText(kWeighted, artifact);
  Descriptor given;
  annudf_device_udf_options options = optionsOf(given.captures, 1);
  Made owner;
  ASSERT_EQ(outcome(annudf_device_udf_from_artifact(artifact, &options, &owner.handle, nullptr)),
            "ok");
  ASSERT_EQ(imported(*owner, back), "ok");
  EXPECT_TRUE(annudf_artifact_get(artifact)->verified_rules);
  EXPECT_FALSE(
      annudf_artifact_get(back)->verified_rules); // A descriptor's sender may say anything.
  EXPECT_FALSE(annudf_artifact_get(back)->has_host_code);
  ASSERT_EQ(annudf_artifact_get(back)->payload_count, 2u);
  annudf_payload payload = {};
  payload.size = sizeof payload;
  ASSERT_EQ(outcome(annudf_artifact_payload(back, 1, &payload)), "ok");
  EXPECT_EQ(payload.kind, ANNUDF_PAYLOAD_LINKED);
  EXPECT_STREQ(payload.target, "sm_90");
  EXPECT_EQ(payload.bytes, (*owner).payload_size);
  // It lives in files as any other.
  OwnedBuffer bytes;
  OwnedArtifact read;
  ASSERT_EQ(outcome(annudf_artifact_to_bytes(back, &bytes)), "ok");
  EXPECT_EQ(outcome(annudf_artifact_from_bytes(annudf_buffer_data(bytes), annudf_buffer_size(bytes),
                                               "b", &read)),
            "ok");
  OwnedBuffer text;
  ASSERT_EQ(outcome(annudf_artifact_describe(read, "b", &text)), "ok");
  EXPECT_NE(textOf(text).find("linked-lto-ir"), std::string::npos);
  EXPECT_NE(textOf(text).find("verified      no"), std::string::npos);
  // And is no descriptor again: nothing in it could be verified.
  Made none;
  EXPECT_NE(outcome(annudf_device_udf_from_artifact(read, &options, &none.handle, nullptr))
                .find("holds no module that could be lowered"),
            std::string::npos);
}

TEST(DeviceUdf, SourceBecomesAnArtifact) {
  ANNUDF_NEEDS(ANNUDF_CUDA_NVRTC);
  OwnedArtifact artifact;
  ASSERT_EQ(imported(Descriptor(kSource, ANNUDF_DEVICE_UDF_CUDA_SOURCE, 0).udf, artifact), "ok");
  EXPECT_FALSE(annudf_artifact_get(artifact)->verified_rules);
  OwnedArtifact withCapture;
  ASSERT_EQ(imported(Descriptor().udf, withCapture), "ok");
  OwnedBuffer json;
  ASSERT_EQ(outcome(annudf_artifact_manifest(withCapture, &json)), "ok");
  EXPECT_NE(textOf(json).find("\"name\": \"w\""), std::string::npos) << textOf(json);
  OwnedArtifact other;
  EXPECT_EQ(
      imported(Descriptor("float g(float x) { return x; }", ANNUDF_DEVICE_UDF_CUDA_SOURCE, 0).udf,
               other),
      "compile: <device UDF>: defines no function 'f', which the descriptor names");
  EXPECT_NE(imported(Descriptor(kSource).udf, other)
                .find("f must be 'float f(float x, float y, float acc, const float *capture, "
                      "int64_t dim)'"),
            std::string::npos);
}

TEST(DeviceUdf, CapturesOfSourceInTheFormOfCuvs) {
  ANNUDF_NEEDS(ANNUDF_CUDA_NVRTC);
  const std::string source =
      "template <typename T, typename AccT, int Veclen>\n"
      "__device__ void compute_dist_udf_impl(AccT &acc, AccT x, AccT y) { acc += x * y; }\n";
  OwnedArtifact plain, none;
  EXPECT_EQ(imported(Descriptor(source, ANNUDF_DEVICE_UDF_CUDA_SOURCE, 0).udf, plain), "ok");
  EXPECT_NE(imported(Descriptor(source).udf, none).find("compute_dist_udf_impl has no captures"),
            std::string::npos);
}

TEST(DeviceUdf, PrototypesOfForeignCodeAreChecked) {
  ANNUDF_NEEDS(ANNUDF_CUDA_LIBNVVM);
  ANNUDF_NEEDS(ANNUDF_CUDA_NVRTC);
  OwnedArtifact artifact, none;
  compileText(kWeighted, artifact);
  Descriptor given;
  annudf_device_udf_options options = optionsOf(given.captures, 1);
  Made owner;
  ASSERT_EQ(outcome(annudf_device_udf_from_artifact(artifact, &options, &owner.handle, nullptr)),
            "ok");
  annudf_device_udf udf = *owner;
  udf.n_captures = 0; // It links as well, and would read any address.
  EXPECT_EQ(imported(udf, none),
            "compile: <device UDF>: the code has sym as .b32(.b32, .b32, .b32, .b64, .b64), "
            "rapids.cuvs.ivf_flat.metric.v1 without captures declares .b32(.b32, .b32, .b32)");
  udf = *owner;
  udf.symbol_name = "other";
  EXPECT_NE(imported(udf, none).find("other"), std::string::npos);
  udf = *owner;
  std::string damaged(static_cast<const char *>(udf.payload), udf.payload_size);
  damaged.resize(damaged.size() / 2);
  udf.payload = damaged.data();
  udf.payload_size = damaged.size();
  EXPECT_NE(imported(udf, none), "ok");
}
