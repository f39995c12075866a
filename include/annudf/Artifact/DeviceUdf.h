//===- DeviceUdf.h - A metric as a descriptor of a device UDF ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the proof of concept of Python metrics in cuVS passes between its languages: code
// of ANNUDF_CUVS_METRIC_ABI_ID, or source of it, and where its capture lies.
// docs/use/device-udf.md says what every field means. Knows neither LLVM nor CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ARTIFACT_DEVICEUDF_H
#define ANNUDF_ARTIFACT_DEVICEUDF_H

#include "annudf/ABI/TargetAbi.h"

#include <cstdint>
#include <string>
#include <vector>

namespace annudf {

enum class UdfPayload { LtoIr = 1, CudaSource = 2 };

/// "ltoir", "cuda_source"
const char *toString(UdfPayload kind);

/// An array on a CUDA device.
struct UdfCapture {
  std::string name;
  std::string dtype;            ///< "float32"
  std::vector<int64_t> shape;   ///< Empty: a scalar.
  std::vector<int64_t> strides; ///< In bytes; empty: C order, no gaps.
  int32_t device = 0;
  uint64_t pointer = 0;
  bool readOnly = true;

  /// Its strides, also where none were given; empty where they would not fit 64 bits.
  std::vector<int64_t> effectiveStrides() const;
};

struct DeviceUdf {
  std::string abi = ANNUDF_CUVS_METRIC_ABI_ID;
  UdfPayload kind = UdfPayload::LtoIr;
  std::string payload;
  std::string symbol;
  std::vector<UdfCapture> captures;
  std::string cacheKey;
  std::string target; ///< "sm_90", what LTO-IR was made for; empty: not said.

  /// 90 and "a" of "sm_90a". Where the target is not said, what LTO-IR says in its own header;
  /// 0 where that says none either, and for source.
  int architecture(std::string *suffix = nullptr) const;
};

/// "" if code of ANNUDF_CUVS_METRIC_ABI_ID can be what it says, else what is wrong: "has 2
/// captures, rapids.cuvs.ivf_flat.metric.v1 has one". What the code does nobody knows.
std::string faultOf(const DeviceUdf &udf);

/// The same for a capture alone: "shape has 2 extents; ...".
std::string faultOf(const UdfCapture &capture);

/// Names the code and all that it was made of, and not where captures lie or who owns them:
/// "annudf.device_udf.cache_key.v1:" and a SHA-256, over fields each after its length.
/// \param options  what else the code was made with, in order: versions of tools, values that are
///                 baked in.
std::string cacheKeyOf(const DeviceUdf &udf, const std::vector<std::string> &options);

} // namespace annudf

#endif // ANNUDF_ARTIFACT_DEVICEUDF_H
