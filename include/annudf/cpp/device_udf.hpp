//===- annudf/cpp/device_udf.hpp - Descriptors of device UDFs ---*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of annudf/annudf.hpp, which is to be included. docs/use/device-udf.md says what the fields
// mean and what a metric may need of the ABI.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_DEVICE_UDF_HPP
#define ANNUDF_CPP_DEVICE_UDF_HPP

#include "annudf-c/DeviceUDF.h"
#include "annudf/cpp/metric.hpp"

namespace annudf {
inline namespace v0 {

/// What the payload of a descriptor is.
enum class udf_payload : std::int32_t {
  lto_ir = ANNUDF_DEVICE_UDF_LTOIR,
  cuda_source = ANNUDF_DEVICE_UDF_CUDA_SOURCE
};

/// Where the array of a descriptor's capture lies.
struct udf_capture {
  std::string name;
  std::string dtype = "float32"; ///< The only one yet.
  std::vector<std::int64_t> shape = {};
  std::vector<std::int64_t> strides = {}; ///< In bytes; empty: C order, no gaps.
  std::int32_t device_id = 0;
  std::uint64_t pointer = 0; ///< Address of the first entry.
  bool readonly = true;
  std::shared_ptr<const void> owner = {}; ///< Keeps the memory alive; no part of what it is.

  /// An array in memory of a device as a capture, with its owner.
  static udf_capture of(std::string name, const device_array &array) {
    return {.name = std::move(name),
            .dtype = dtype_of(array.dtype()),
            .shape = array.shape(),
            .strides = {},
            .device_id = array.device(),
            .pointer = reinterpret_cast<std::uintptr_t>(array.data()),
            .readonly = true,
            .owner = array.owner()};
  }

private:
  /// As NumPy calls what the C API calls "f32".
  static std::string dtype_of(std::string_view element) {
    if (element == "b1")
      return "bool";
    if (element == "bf16")
      return "bfloat16";
    const std::string bits(element.substr(1));
    return (element[0] == 'f' ? "float" : element[0] == 'i' ? "int" : "uint") + bits;
  }
};

/// All fields of a descriptor, for one that comes from elsewhere.
struct device_udf_fields {
  std::string abi = "rapids.cuvs.ivf_flat.metric.v1";
  udf_payload payload_kind = udf_payload::lto_ir;
  std::string payload = {}; ///< Bytes of LTO-IR, or CUDA C++.
  std::string symbol_name = {};
  std::vector<udf_capture> captures = {}; ///< At most one.
  std::string cache_key = {};             ///< "": that of device_udf::make_cache_key().
  std::string target = {};                ///< "sm_90"; "": what the header of the LTO-IR says.
};

/// How a metric becomes a descriptor.
struct udf_options {
  std::string symbol_name = {};           ///< "": "annudf_metric_NAME".
  std::string inline_captures = {};       ///< As compile_options: for what has no place in it.
  std::vector<udf_capture> captures = {}; ///< The one that is left, with an entry a dimension.
};

/// How a descriptor becomes a metric.
struct udf_import {
  std::string name = "device_udf";     ///< The metric's.
  std::vector<std::string> archs = {}; ///< Empty: that of the LTO-IR; of source all.
};

/// Code of a metric for a GPU, and where its capture lies: the descriptor of cuVS's proof of
/// concept of Python metrics. Code in a descriptor is trusted, as CUDA source is. It never changes;
/// copies are the same descriptor.
class device_udf {
public:
  /// \throws error errc::input for fields that describe nothing of that ABI, and names the field.
  explicit device_udf(device_udf_fields fields) : state_(make(std::move(fields))) {}
  /// A copy of a descriptor of C; its captures' arrays are borrowed as there.
  /// \param owner  keeps them alive.
  static device_udf from_c(const annudf_device_udf &udf,
                           const std::shared_ptr<const void> &owner = nullptr) {
    detail::check(annudf_device_udf_check(&udf));
    device_udf_fields fields;
    fields.abi = udf.abi;
    fields.payload_kind = udf_payload(udf.payload_kind);
    fields.payload.assign(static_cast<const char *>(udf.payload), udf.payload_size);
    fields.symbol_name = udf.symbol_name;
    fields.cache_key = udf.cache_key ? udf.cache_key : "";
    fields.target = udf.target ? udf.target : "";
    for (std::size_t i = 0; i < udf.n_captures; ++i) { // At most one, as was checked.
      const annudf_udf_capture &from = udf.captures[i];
      const auto ndim = std::size_t(from.ndim);
      udf_capture capture{.name = from.name};
      capture.dtype = from.dtype;
      capture.shape.assign(from.shape, from.shape + ndim);
      if (from.strides)
        capture.strides.assign(from.strides, from.strides + ndim);
      capture.device_id = from.device_id, capture.pointer = from.pointer;
      capture.readonly = (from.flags & ANNUDF_UDF_CAPTURE_READONLY) != 0;
      capture.owner = owner;
      fields.captures.push_back(std::move(capture));
    }
    return device_udf(std::move(fields));
  }
  /// A metric as a descriptor. \throws error errc::compile, with rule() from R1 to R14, where it
  /// needs more than the ABI has; errc::usage for captures that are not the metric's.
  /// \param arch  "sm_90"; the code serves newer ones too.
  static device_udf from_metric(const metric &from, const std::string &arch,
                                const udf_options &options = {}) {
    return from_artifact(from.known().definition().artifact_for(detail::host_target), arch,
                         options);
  }
  /// The same of what was compiled before.
  static device_udf from_artifact(const artifact &from, const std::string &arch,
                                  const udf_options &options = {}) {
    const c_captures captures(options.captures);
    annudf_device_udf_options c = {};
    c.size = sizeof c;
    c.arch = arch.c_str(), c.symbol_name = options.symbol_name.c_str();
    c.inline_captures = options.inline_captures.c_str();
    c.captures = captures.data(), c.n_captures = captures.size();
    c.dims = options.captures.empty() || options.captures[0].shape.empty()
                 ? 0
                 : options.captures[0].shape[0];
    annudf_device_udf_owner *made = nullptr;
    annudf_diagnostics *said = nullptr;
    const annudf_status status = annudf_device_udf_from_artifact(from.c(), &c, &made, &said);
    const detail::owner<annudf_device_udf_owner, annudf_device_udf_destroy> owner(made);
    const detail::diagnostics_owner said_owner(said);
    if (status != ANNUDF_OK)
      throw error(errc(status), annudf_last_error(), detail::to_vector(said));
    return from_c(*annudf_device_udf_get(made),
                  options.captures.empty() ? nullptr : options.captures[0].owner);
  }

  const std::string &abi() const noexcept { return fields().abi; }
  udf_payload payload_kind() const noexcept { return fields().payload_kind; }
  /// Lives as long as a copy of this object.
  std::span<const std::byte> payload() const noexcept {
    return std::as_bytes(std::span(fields().payload));
  }
  const std::string &symbol_name() const noexcept { return fields().symbol_name; }
  const std::vector<udf_capture> &captures() const noexcept { return fields().captures; }
  /// Names the code; the same in every process, wherever captures lie.
  const std::string &cache_key() const noexcept { return fields().cache_key; }
  const std::string &target() const noexcept { return fields().target; }
  /// For C; lives as long as a copy of this object.
  const annudf_device_udf &c() const noexcept { return state_->c; }

  /// A key of what is in it.
  /// \param options  what else the code was made with, in order.
  std::string make_cache_key(const std::vector<std::string> &options = {}) const {
    std::vector<const char *> list;
    for (const std::string &one : options)
      list.push_back(one.c_str());
    return key_of(c(), list);
  }
  /// An artifact that searches by this code, on GPUs; not marked as verified.
  /// \param warnings  if not null, gets what was said nevertheless.
  artifact to_artifact(const udf_import &options = {},
                       std::vector<diagnostic> *warnings = nullptr) const {
    const std::vector<const char *> archs = artifact::pointers(options.archs);
    const annudf_device_udf_import import = {sizeof import, options.name.c_str(), archs.data(),
                                             archs.size()};
    return artifact::made(warnings, [&](annudf_artifact **out, annudf_diagnostics **said) {
      return annudf_device_udf_to_artifact(&c(), &import, out, said);
    });
  }
  /// A metric that searches by this code, its capture read where it lies.
  bound_metric to_metric(const udf_import &options = {},
                         std::vector<diagnostic> *warnings = nullptr) const {
    const metric made = metric::from_artifact(to_artifact(options, warnings));
    std::vector<capture_value> values;
    for (const udf_capture &one : captures())
      values.emplace_back(one.name, device_array(reinterpret_cast<const float *>(
                                                     static_cast<std::uintptr_t>(one.pointer)),
                                                 one.shape, one.device_id, one.owner));
    return made.bind(values);
  }

private:
  /// Captures as C has them; they point into what they were made of.
  class c_captures {
  public:
    explicit c_captures(const std::vector<udf_capture> &of) {
      for (const udf_capture &one : of) {
        if (!one.strides.empty() && one.strides.size() != one.shape.size())
          throw error(errc::usage, "capture '" + one.name + "' has " +
                                       std::to_string(one.strides.size()) + " strides for " +
                                       std::to_string(one.shape.size()) +
                                       " extents; give one an extent, or none");
        annudf_udf_capture to = {};
        to.size = sizeof to;
        to.name = one.name.c_str(), to.dtype = one.dtype.c_str();
        to.shape = one.shape.data(), to.ndim = std::int32_t(one.shape.size());
        to.strides = one.strides.empty() ? nullptr : one.strides.data();
        to.device_id = one.device_id, to.pointer = one.pointer;
        to.flags = one.readonly ? std::uint32_t(ANNUDF_UDF_CAPTURE_READONLY) : 0;
        list_.push_back(to);
      }
    }
    const annudf_udf_capture *data() const noexcept { return list_.data(); }
    std::size_t size() const noexcept { return list_.size(); }

  private:
    std::vector<annudf_udf_capture> list_;
  };
  struct state {
    explicit state(device_udf_fields from) : fields(std::move(from)), captures(fields.captures) {}
    state(const state &) = delete; // `c` points into it.
    state &operator=(const state &) = delete;
    device_udf_fields fields;
    c_captures captures;
    annudf_device_udf c = {};
  };

  static std::string key_of(const annudf_device_udf &of, const std::vector<const char *> &options) {
    return detail::text_of([&](annudf_buffer **out) {
      return annudf_device_udf_cache_key(&of, options.data(), options.size(), out);
    });
  }
  /// C's texts end at a NUL, where another name than that given would be taken.
  static void refuse_nul(const std::string &text) {
    if (const std::size_t at = text.find('\0'); at != std::string::npos)
      throw error(errc::input, "the descriptor has a NUL in a name: '" + text.substr(0, at) +
                                   "\\x00...'; remove it");
  }
  static std::shared_ptr<const state> make(device_udf_fields from) {
    for (const std::string *text : {&from.abi, &from.symbol_name, &from.cache_key, &from.target})
      refuse_nul(*text);
    for (const udf_capture &one : from.captures)
      refuse_nul(one.name), refuse_nul(one.dtype);
    auto made = std::make_shared<state>(std::move(from));
    const device_udf_fields &fields = made->fields;
    annudf_device_udf &c = made->c;
    c.size = sizeof c;
    c.abi = fields.abi.c_str(), c.symbol_name = fields.symbol_name.c_str();
    c.payload_kind = std::int32_t(fields.payload_kind);
    c.payload = fields.payload.data(), c.payload_size = fields.payload.size();
    c.captures = made->captures.data(), c.n_captures = made->captures.size();
    c.target = fields.target.c_str();
    detail::check(annudf_device_udf_check(&c));
    if (fields.cache_key.empty())
      made->fields.cache_key = key_of(c, {});
    c.cache_key = fields.cache_key.c_str();
    detail::check(annudf_device_udf_check(&c)); // The key too.
    return made;
  }
  const device_udf_fields &fields() const noexcept { return state_->fields; }
  std::shared_ptr<const state> state_;
};

} // namespace v0
} // namespace annudf

#endif // ANNUDF_CPP_DEVICE_UDF_HPP
