//===- DeviceUdf.cpp - Descriptors of device UDFs in the C API ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf-c/DeviceUDF.h"

#include "CompilerWrap.h"
#include "annudf/Compiler/DeviceUdf.h"

using namespace annudf;
using namespace annudf::capi;

/// The C structs point into `value`, which never changes.
struct annudf_device_udf_owner {
  DeviceUdf value;
  std::vector<annudf_udf_capture> captures;
  annudf_device_udf udf;
};

namespace {

/// Counts and extents as the caller says them; what they mean faultOf() judges.
UdfCapture toCapture(const Call &call, const annudf_udf_capture &given, size_t index) {
  const std::string which = "captures[" + std::to_string(index) + "].";
  call.refuseNull(given.name, (which + "name").c_str());
  call.refuseNull(given.dtype, (which + "dtype").c_str());
  if (given.ndim < 0 || given.ndim > ANNUDF_MAX_ARRAY_RANK)
    call.refuse(which + "ndim is " + std::to_string(given.ndim) + "; it must be 0 to " +
                std::to_string(ANNUDF_MAX_ARRAY_RANK));
  if (given.ndim > 0)
    call.refuseNull(given.shape, (which + "shape").c_str());
  if (given.flags & ~uint32_t(ANNUDF_UDF_CAPTURE_READONLY))
    call.refuse(which + "flags is " + std::to_string(given.flags) +
                ", this annudf knows the bits of 1 only; clear the others, or update annudf");
  if (given.reserved != 0)
    call.refuse(which + "reserved is " + std::to_string(given.reserved) + "; set it to 0");
  UdfCapture capture;
  capture.name = given.name;
  capture.dtype = given.dtype;
  if (given.ndim > 0)
    capture.shape.assign(given.shape, given.shape + given.ndim);
  if (given.ndim > 0 && given.strides)
    capture.strides.assign(given.strides, given.strides + given.ndim);
  capture.device = given.device_id;
  capture.pointer = given.pointer;
  capture.readOnly = given.flags & ANNUDF_UDF_CAPTURE_READONLY;
  return capture;
}

std::vector<UdfCapture> toCaptures(const Call &call, const annudf_udf_capture *captures,
                                   size_t count) {
  if (count > 0)
    call.refuseNull(captures, "captures");
  if (count > ANNUDF_MAX_CAPTURES)
    call.refuse("n_captures is " + std::to_string(count) + "; a device UDF has at most " +
                std::to_string(ANNUDF_MAX_CAPTURES) + " captures");
  std::vector<UdfCapture> result;
  // The array's elements are as large as the caller's header says, not this library's.
  const char *at = reinterpret_cast<const char *>(captures);
  for (size_t i = 0; i < count; ++i) {
    const auto *element = reinterpret_cast<const annudf_udf_capture *>(at);
    const auto given =
        copyOptions(element, ANNUDF_SIZE_WITH(annudf_udf_capture, reserved), "annudf_udf_capture");
    result.push_back(toCapture(call, given, i));
    at += element->size;
  }
  return result;
}

DeviceUdf toUdf(const Call &call, const annudf_device_udf *udf) {
  call.refuseNull(udf, "udf");
  const auto given =
      copyOptions(udf, ANNUDF_SIZE_WITH(annudf_device_udf, target), "annudf_device_udf");
  call.refuseNull(given.abi, "udf.abi");
  call.refuseNull(given.payload, "udf.payload");
  call.refuseNull(given.symbol_name, "udf.symbol_name");
  if (given.payload_kind != ANNUDF_DEVICE_UDF_LTOIR &&
      given.payload_kind != ANNUDF_DEVICE_UDF_CUDA_SOURCE)
    call.refuse("udf.payload_kind is " + std::to_string(given.payload_kind) +
                "; 1 is LTO-IR, 2 CUDA source");
  if (given.flags != 0)
    call.refuse("udf.flags is " + std::to_string(given.flags) +
                ", this annudf knows none; set it to 0");
  DeviceUdf result;
  result.abi = given.abi;
  result.kind = static_cast<UdfPayload>(given.payload_kind);
  constexpr size_t kMost = size_t(1) << 30; // More is no size but a slip; nothing is read.
  if (given.payload_size > kMost)
    call.refuse("udf.payload_size is " + std::to_string(given.payload_size) + "; at most " +
                std::to_string(kMost) + " bytes are taken");
  result.payload.assign(static_cast<const char *>(given.payload), given.payload_size);
  result.symbol = given.symbol_name;
  result.captures = toCaptures(call, given.captures, given.n_captures);
  result.cacheKey = textOf(given.cache_key);
  result.target = textOf(given.target);
  return result;
}

DeviceUdf toCheckedUdf(const Call &call, const annudf_device_udf *udf) {
  DeviceUdf result = toUdf(call, udf);
  if (const std::string fault = faultOf(result); !fault.empty())
    throw Error(ErrorKind::Input, "the descriptor " + fault);
  return result;
}

annudf_device_udf_owner *makeOwner(DeviceUdf udf) {
  auto owner = std::make_unique<annudf_device_udf_owner>();
  owner->value = std::move(udf);
  const DeviceUdf &value = owner->value;
  for (const UdfCapture &capture : value.captures) {
    annudf_udf_capture out = {};
    out.size = sizeof out;
    out.name = capture.name.c_str();
    out.dtype = capture.dtype.c_str();
    out.shape = capture.shape.data();
    out.strides = capture.strides.empty() ? nullptr : capture.strides.data();
    out.ndim = static_cast<int32_t>(capture.shape.size());
    out.device_id = capture.device;
    out.pointer = capture.pointer;
    out.flags = capture.readOnly ? ANNUDF_UDF_CAPTURE_READONLY : 0;
    owner->captures.push_back(out);
  }
  annudf_device_udf &out = owner->udf;
  out = {};
  out.size = sizeof out;
  out.abi = value.abi.c_str();
  out.payload_kind = static_cast<int32_t>(value.kind);
  out.payload = value.payload.data();
  out.payload_size = value.payload.size();
  out.symbol_name = value.symbol.c_str();
  out.captures = owner->captures.empty() ? nullptr : owner->captures.data();
  out.n_captures = owner->captures.size();
  out.cache_key = value.cacheKey.c_str();
  out.target = value.target.c_str();
  return owner.release();
}

} // namespace

annudf_status annudf_device_udf_check(const annudf_device_udf *udf) {
  return guard(__func__, [&](Call call) { toCheckedUdf(call, udf); });
}

annudf_status annudf_device_udf_cache_key(const annudf_device_udf *udf, const char *const *options,
                                          size_t option_count, annudf_buffer **key) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(key, "key");
    const DeviceUdf given = toUdf(call, udf);
    *key = makeBuffer(cacheKeyOf(given, checkedList(call, options, option_count, "options")));
  });
}

annudf_status annudf_device_udf_capture_value(const annudf_device_udf *udf, size_t index,
                                              annudf_capture_value *value) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(value, "value");
    const DeviceUdf given = toCheckedUdf(call, udf);
    if (index >= given.captures.size())
      call.refuse("index is " + std::to_string(index) + ", the device UDF has " +
                  std::to_string(given.captures.size()) + " captures; count from 0");
    constexpr size_t kSmallest = ANNUDF_SIZE_WITH(annudf_capture_value, owner);
    if (value->size < kSmallest)
      call.refuse("annudf_capture_value.size is " + std::to_string(value->size) + ", at least " +
                  std::to_string(kSmallest) +
                  " are needed; set it to sizeof(annudf_capture_value)");
    const annudf_udf_capture &capture = udf->captures[index]; // There is at most one.
    annudf_capture_value filled = {};
    filled.size = value->size;
    filled.name = capture.name;
    filled.dtype = "f32";
    filled.shape = capture.shape;
    filled.rank = capture.ndim;
    filled.place = {ANNUDF_MEMORY_CUDA, capture.device_id, 0};
    filled.data = reinterpret_cast<const void *>(static_cast<uintptr_t>(capture.pointer));
    filled.bytes = static_cast<size_t>(given.captures[index].shape[0]) * sizeof(float);
    filled.origin = "the descriptor";
    std::memcpy(value, &filled, std::min(value->size, sizeof filled));
  });
}

annudf_status annudf_device_udf_from_artifact(const annudf_artifact *artifact,
                                              const annudf_device_udf_options *given,
                                              annudf_device_udf_owner **owner,
                                              annudf_diagnostics **diagnostics) {
  return guard(__func__, [&](Call call) {
    withDiagnostics(diagnostics, [&](std::vector<Diagnostic> &found) {
      call.refuseNull(artifact, "artifact");
      call.refuseNull(owner, "owner");
      const auto fields = copyOptions(given, ANNUDF_SIZE_WITH(annudf_device_udf_options, dims),
                                      "annudf_device_udf_options");
      DeviceUdfOptions options;
      options.arch = textOf(fields.arch);
      options.symbol = textOf(fields.symbol_name);
      options.inlineCaptures = textOf(fields.inline_captures);
      options.captures = toCaptures(call, fields.captures, fields.n_captures);
      options.dims = fields.dims;
      *owner = makeOwner(makeDeviceUdf(
          artifact->value, "artifact " + artifact->digest.substr(0, 12), options, &found));
    });
  });
}

const annudf_device_udf *annudf_device_udf_get(const annudf_device_udf_owner *owner) {
  return owner ? &owner->udf : nullptr;
}

void annudf_device_udf_destroy(annudf_device_udf_owner *owner) { delete owner; }

annudf_status annudf_device_udf_to_artifact(const annudf_device_udf *udf,
                                            const annudf_device_udf_import *given,
                                            annudf_artifact **artifact,
                                            annudf_diagnostics **diagnostics) {
  return guard(__func__, [&](Call call) {
    withDiagnostics(diagnostics, [&](std::vector<Diagnostic> &found) {
      call.refuseNull(artifact, "artifact");
      const DeviceUdf code = toCheckedUdf(call, udf);
      const auto fields = copyOptions(given, ANNUDF_SIZE_WITH(annudf_device_udf_import, arch_count),
                                      "annudf_device_udf_import");
      DeviceUdfImport options;
      if (fields.name && *fields.name)
        options.name = fields.name;
      options.archs = checkedList(call, fields.archs, fields.arch_count, "archs");
      *artifact = makeArtifact(compileDeviceUdf(code, "<device UDF>", options, &found));
    });
  });
}
