//===- annudf/cpp/artifact.hpp - Compiled metrics and filters ---*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of annudf/annudf.hpp, which is to be included.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_ARTIFACT_HPP
#define ANNUDF_CPP_ARTIFACT_HPP

#include "annudf-c/Artifact.h"
#include "annudf-c/Compiler.h"
#include "annudf/cpp/error.hpp"
#include "annudf/cpp/trace.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace annudf {
inline namespace v0 {

// As the C API numbers them.
static_assert(int(coarse::l2) == ANNUDF_COARSE_L2 &&
              int(coarse::inner_product) == ANNUDF_COARSE_INNER_PRODUCT &&
              int(coarse::cosine) == ANNUDF_COARSE_COSINE);

/// How text of the dialect is compiled.
struct compile_options {
  std::string origin = "metric";       ///< What places in diagnostics call the source.
  std::vector<std::string> archs = {}; ///< "sm_90", ...; empty: all, where libNVVM is found.
  std::string name = {};               ///< Which of several metrics.
  std::string inline_captures = {};    ///< Options of annudf-inline-captures, "dims=128".
  bool lto_ir = true;                  ///< Code for GPUs.
  bool host_code = true;               ///< Code for CPUs.
  /// The quadratic form of its distance, where it is proved.
  bool form = true;
  /// Who makes code for GPUs: "libnvvm", or "nvptx", which makes PTX without a CUDA toolkit.
  std::string device_backend = "libnvvm";
};

/// A value that a metric in CUDA source reads, a member of its context.
struct cuda_capture {
  std::string name;
  std::string element = "f32"; ///< "f32", "f64", "i32" or "u32".
  bool per_dim = true;         ///< One entry a dimension; else a scalar.
};

/// What CUDA source does not say itself; see annudf_cuda_source_options.
struct cuda_source_options {
  std::string name = {}; ///< A C identifier; "": "cuda_source".
  annudf::order order = annudf::order::min;
  annudf::coarse coarse = annudf::coarse::l2;
  std::optional<annudf::order> coarse_order = {}; ///< None: what suits `coarse`.
  annudf::elements elements = {};                 ///< Empty: all that `compute_type` can hold.
  std::string accumulator = "f32";                ///< Or "f64", "i32", "u32", "i64".
  std::string compute_type = {};                  ///< "f32", "f64", "i32"; "": what suits.
  double initial = 0;                             ///< The accumulator before the first dimension.
  std::vector<cuda_capture> captures = {};
  bool missing_values = false; ///< The source knows what to do with a NaN.
  std::string origin = "metric.cu";
  std::vector<std::string> archs = {}; ///< "sm_90", ...; empty: every supported one.
};

/// A compiled metric or filter. It never changes; copies are the same artifact.
class artifact {
public:
  /// Compiles text of the dialect. \throws error with rule and place where it is refused.
  /// \param warnings  if not null, gets what was said nevertheless.
  static artifact compile(std::string_view source, const compile_options &options = {},
                          std::vector<diagnostic> *warnings = nullptr) {
    const std::vector<const char *> archs = pointers(options.archs);
    annudf_compile_options c = {};
    c.size = sizeof c;
    c.archs = archs.data(), c.arch_count = archs.size();
    c.metric_name = options.name.c_str();
    c.inline_captures = options.inline_captures.c_str();
    c.skip_lto_ir = !options.lto_ir, c.skip_host_bitcode = !options.host_code;
    c.skip_form = !options.form;
    c.device_backend = options.device_backend.c_str();
    return made(warnings, [&](annudf_artifact **out, annudf_diagnostics **said) {
      return annudf_compile(source.data(), source.size(), options.origin.c_str(), &c, out, said);
    });
  }
  /// Compiles CUDA C++ with NVRTC, for GPUs only; what it does is not verified.
  static artifact compile_cuda_source(std::string_view source,
                                      const cuda_source_options &options = {},
                                      std::vector<diagnostic> *warnings = nullptr) {
    static constexpr const char *dim[] = {"dim"};
    const std::vector<const char *> archs = pointers(options.archs);
    std::vector<const char *> elements;
    for (const tracing::element_row &one : tracing::element_rows)
      if (options.elements.contains(one.value))
        elements.push_back(one.name);
    std::vector<annudf_cuda_capture> captures;
    for (const cuda_capture &one : options.captures)
      captures.push_back({one.name.c_str(), one.element.c_str(), one.per_dim ? dim : nullptr,
                          one.per_dim ? std::size_t(1) : std::size_t(0)});
    const auto spelled = [](order one) { return one == order::min ? "min" : "max"; };
    annudf_cuda_source_options c = {};
    c.size = sizeof c;
    c.archs = archs.data(), c.arch_count = archs.size();
    c.name = options.name.c_str(), c.order = spelled(options.order);
    c.coarse = annudf_coarse_name(std::int32_t(options.coarse));
    c.coarse_order = options.coarse_order ? spelled(*options.coarse_order) : nullptr;
    c.elements = elements.data(), c.element_count = elements.size();
    c.accumulator = options.accumulator.c_str();
    c.compute_type = options.compute_type.empty() ? nullptr : options.compute_type.c_str();
    c.initial = options.initial;
    c.captures = captures.data(), c.capture_count = captures.size();
    c.missing_values = options.missing_values;
    return made(warnings, [&](annudf_artifact **out, annudf_diagnostics **said) {
      return annudf_compile_cuda_source(source.data(), source.size(), options.origin.c_str(), &c,
                                        out, said);
    });
  }
  /// Reads a file that save() or `annudf compile` wrote.
  static artifact load(const std::string &path) {
    annudf_artifact *made = nullptr;
    detail::check(annudf_artifact_load(path.c_str(), &made));
    return artifact(made);
  }
  /// \param origin  what messages call it.
  static artifact from_bytes(std::span<const std::byte> bytes, const std::string &origin) {
    annudf_artifact *made = nullptr;
    detail::check(annudf_artifact_from_bytes(bytes.data(), bytes.size(), origin.c_str(), &made));
    return artifact(made);
  }
  /// Writes the file, whole or not at all.
  void save(const std::string &path) const {
    detail::check(annudf_artifact_save(c(), path.c_str()));
  }

  std::string bytes() const { ///< Those of the file.
    return detail::text_of([&](annudf_buffer **out) { return annudf_artifact_to_bytes(c(), out); });
  }
  std::string manifest() const { ///< JSON.
    return detail::text_of([&](annudf_buffer **out) { return annudf_artifact_manifest(c(), out); });
  }
  /// The manifest for people.
  std::string describe() const {
    return detail::text_of(
        [&](annudf_buffer **out) { return annudf_artifact_describe(c(), info().name, out); });
  }
  /// The LTO-IR that a device of `arch` ("sm_90") links.
  std::string lto_ir(const std::string &arch) const {
    return detail::text_of(
        [&](annudf_buffer **out) { return annudf_artifact_ltoir(c(), arch.c_str(), out); });
  }
  std::string name() const { return info().name; }
  std::string digest() const { return info().digest; } ///< SHA-256 of the bytes.
  /// Whether it keeps and drops rows, and ranks none.
  bool is_filter() const noexcept { return info().role == ANNUDF_ROLE_FILTER; }
  bool has_host_code() const noexcept { return info().has_host_code != 0; }
  bool missing_values() const noexcept { return info().missing_values != 0; }
  bool is_verified() const noexcept { return info().verified_rules != 0; }
  std::vector<std::string> archs() const { ///< That it holds GPU code for.
    return {info().archs, info().archs + info().arch_count};
  }
  const annudf_artifact *c() const noexcept { return handle_.get(); }

  /// Takes an artifact of the C API over.
  explicit artifact(annudf_artifact *handle) : handle_(handle, &annudf_artifact_destroy) {}

private:
  friend class device_udf;
  const annudf_artifact_info &info() const noexcept { return *annudf_artifact_get(c()); }
  static std::vector<const char *> pointers(const std::vector<std::string> &texts) {
    std::vector<const char *> all;
    for (const std::string &one : texts)
      all.push_back(one.c_str());
    return all;
  }
  template <class Call> static artifact made(std::vector<diagnostic> *warnings, Call call) {
    annudf_artifact *handle = nullptr;
    annudf_diagnostics *said = nullptr;
    const annudf_status status = call(&handle, &said);
    const detail::diagnostics_owner owner(said);
    artifact result(handle);
    std::vector<diagnostic> list = detail::to_vector(said);
    if (status != ANNUDF_OK)
      throw error(errc(status), annudf_last_error(), std::move(list));
    if (warnings)
      *warnings = std::move(list);
    return result;
  }
  std::shared_ptr<annudf_artifact> handle_;
};

} // namespace v0
} // namespace annudf

#endif // ANNUDF_CPP_ARTIFACT_HPP
