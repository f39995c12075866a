//===- DeviceUdf.cpp - A metric as a descriptor of a device UDF -----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Artifact/DeviceUdf.h"

#include "annudf/Artifact/Descriptor.h"
#include "annudf/Support/FieldDigest.h"
#include "annudf/Support/Printable.h"

#include <cstdio>

using namespace annudf;

namespace {

constexpr const char *kCacheKeyVersion = "annudf.device_udf.cache_key.v1";
constexpr std::string_view kLtoIrMagic = "\xED"
                                         "CN\x7F";
constexpr int64_t kEntry = sizeof(float);
constexpr size_t kMostPayload = size_t(64) << 20; // No metric comes near this.

/// Header of LTO-IR, as CUDA 13.0 writes it: ten times the architecture, in two bytes.
constexpr size_t kArchOffset = 26;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// 90 and "a" of "sm_90a"; 0 for anything else.
int parseTarget(const std::string &text, std::string &suffix) {
  if (text.compare(0, 3, "sm_") != 0)
    return 0;
  size_t end = 3;
  while (end < text.size() && isDigit(text[end]))
    ++end;
  suffix = text.substr(end);
  // One spelling of each: the text is part of the cache key.
  if (end < 5 || end > 7 || text[3] == '0' || (!suffix.empty() && suffix != "a" && suffix != "f"))
    return 0;
  return std::stoi(text.substr(3, end - 3));
}

std::string hexOf(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    char hex[4];
    std::snprintf(hex, sizeof hex, " %02x", static_cast<unsigned char>(byte));
    text += hex;
  }
  return text.empty() ? " nothing" : text;
}

std::string faultOfPayload(const DeviceUdf &udf) {
  if (udf.payload.empty())
    return "has an empty payload; give the code";
  if (udf.payload.size() > kMostPayload)
    return "has a payload of " + std::to_string(udf.payload.size()) + " bytes, more than " +
           std::to_string(kMostPayload);
  switch (udf.kind) {
  case UdfPayload::LtoIr:
    if (udf.payload.compare(0, kLtoIrMagic.size(), kLtoIrMagic) != 0 || udf.payload.size() <= 32)
      return "has a payload that is no LTO-IR: it begins with" +
             hexOf(std::string_view(udf.payload).substr(0, 4)) + ", LTO-IR with ed 43 4e 7f";
    if (udf.architecture() == 0)
      return "does not say what its LTO-IR was made for; give target, as sm_90";
    return "";
  case UdfPayload::CudaSource:
    if (udf.payload.find('\0') != std::string::npos)
      return "has a NUL in its source, which is no CUDA C++";
    return "";
  }
  return "has a payload of kind " + std::to_string(int(udf.kind)) + ", which is none";
}

} // namespace

const char *annudf::toString(UdfPayload kind) {
  switch (kind) {
  case UdfPayload::LtoIr:
    return "ltoir";
  case UdfPayload::CudaSource:
    return "cuda_source";
  }
  return "invalid";
}

std::vector<int64_t> UdfCapture::effectiveStrides() const {
  if (!strides.empty())
    return strides;
  std::vector<int64_t> steps(shape.size());
  int64_t step = kEntry;
  for (size_t i = shape.size(); i-- > 0;) {
    steps[i] = step;
    if (__builtin_mul_overflow(step, shape[i], &step))
      return {};
  }
  return steps;
}

int DeviceUdf::architecture(std::string *suffix) const {
  std::string ending;
  int sm = 0;
  if (!target.empty()) {
    sm = parseTarget(target, ending);
  } else if (kind == UdfPayload::LtoIr && payload.size() > kArchOffset + 1) {
    const int tenfold = static_cast<unsigned char>(payload[kArchOffset]) |
                        static_cast<unsigned char>(payload[kArchOffset + 1]) << 8;
    sm = tenfold % 10 == 0 && tenfold >= 500 && tenfold < 10000 ? tenfold / 10 : 0;
  }
  if (suffix)
    *suffix = ending;
  return sm;
}

std::string annudf::faultOf(const UdfCapture &capture) {
  const std::string which = "capture " + inQuotes(capture.name) + " ";
  if (!isName(capture.name))
    return which + "has no name; use letters, digits and _, not beginning with a digit";
  if (capture.dtype != "float32")
    return which + "has dtype " + inQuotes(capture.dtype) +
           ", and " ANNUDF_CUVS_METRIC_ABI_ID " has float32; convert it";
  if (capture.shape.size() != 1)
    return which + "has " + std::to_string(capture.shape.size()) +
           " extents, and " ANNUDF_CUVS_METRIC_ABI_ID " has one, with an entry a dimension";
  const int64_t entries = capture.shape[0];
  if (entries < 1 || entries > ANNUDF_MAX_DIMS)
    return which + "has " + std::to_string(entries) + " entries; vectors have 1 to " +
           std::to_string(ANNUDF_MAX_DIMS) + " dimensions";
  if (!capture.strides.empty() && capture.strides.size() != 1)
    return which + "has " + std::to_string(capture.strides.size()) + " strides for 1 extent";
  if (entries > 1 && capture.effectiveStrides()[0] != kEntry)
    return which + "has a stride of " + std::to_string(capture.strides[0]) +
           " bytes, and " ANNUDF_CUVS_METRIC_ABI_ID " reads one float after the other; copy it";
  if (capture.device < 0)
    return which + "is on device " + std::to_string(capture.device) + "; devices count from 0";
  if (capture.pointer == 0)
    return which + "has no address; give that of its first entry on the device";
  if (capture.pointer % kEntry != 0)
    return which + "has an address that no float has; align it to 4 bytes";
  return "";
}

std::string annudf::faultOf(const DeviceUdf &udf) {
  if (udf.abi != ANNUDF_CUVS_METRIC_ABI_ID)
    return "has ABI " + inQuotes(udf.abi) + ", annudf takes " ANNUDF_CUVS_METRIC_ABI_ID;
  if (!udf.target.empty() && udf.architecture() == 0)
    return "has target " + inQuotes(udf.target) + "; write it as sm_90";
  if (const std::string fault = faultOfPayload(udf); !fault.empty())
    return fault;
  if (!isName(udf.symbol))
    return "has symbol " + inQuotes(udf.symbol) +
           ", which is no name of a function; use letters, digits and _";
  if (udf.symbol.starts_with("annudf1_"))
    return "has symbol " + inQuotes(udf.symbol) + ", which is a name of annudf's hooks; rename it";
  if (udf.cacheKey.size() > 4096 || !isPrintable(udf.cacheKey))
    return "has cache key " + inQuotes(udf.cacheKey) + ", which is too long or cannot be printed";
  if (udf.captures.size() > 1)
    return "has " + std::to_string(udf.captures.size()) +
           " captures, and " ANNUDF_CUVS_METRIC_ABI_ID " has one";
  for (const UdfCapture &capture : udf.captures)
    if (const std::string fault = faultOf(capture); !fault.empty())
      return fault;
  return "";
}

std::string annudf::cacheKeyOf(const DeviceUdf &udf, const std::vector<std::string> &options) {
  FieldDigest digest;
  digest.text(kCacheKeyVersion).text(udf.abi).text(toString(udf.kind)).text(udf.payload);
  digest.text(udf.symbol).text(udf.target).number(options.size());
  for (const std::string &option : options)
    digest.text(option);
  digest.number(udf.captures.size());
  for (const UdfCapture &capture : udf.captures) {
    digest.text(capture.name).text(capture.dtype).number(capture.shape.size());
    for (const int64_t extent : capture.shape)
      digest.number(static_cast<uint64_t>(extent));
    const std::vector<int64_t> strides = capture.effectiveStrides();
    digest.number(strides.size());
    for (const int64_t stride : strides)
      digest.number(static_cast<uint64_t>(stride));
    digest.number(static_cast<uint64_t>(capture.device)).number(capture.readOnly);
  }
  return std::string(kCacheKeyVersion) + ":" + digest.finish();
}
