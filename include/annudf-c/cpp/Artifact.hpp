//===- annudf-c/cpp/Artifact.hpp - Compiled metrics -------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of annudf-c/annudf.hpp, which is to be included.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_C_CPP_ARTIFACT_HPP
#define ANNUDF_C_CPP_ARTIFACT_HPP

#include "annudf-c/Artifact.h"
#include "annudf-c/Compiler.h"
#include "annudf-c/cpp/Support.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annudf {
inline namespace v0 {

struct CompileOptions {
  std::string origin = "metric";       ///< What places in diagnostics call the source.
  std::vector<std::string> archs = {}; ///< "sm_90", ...; empty: all, where libNVVM is found.
  std::string metricName = {};         ///< Which of several.
  std::string inlineCaptures = {};     ///< As annudf_compile_options.
  bool ltoIr = true;                   ///< Code for GPUs.
  bool hostCode = true;                ///< Code for CPUs.
};

/// A compiled metric.
class Artifact {
public:
  /// Compiles text of the dialect. \throws Error with rule and place where it is refused.
  /// \param warnings  if not null, gets what was said nevertheless.
  static Artifact compile(std::string_view source, const CompileOptions &options = {},
                          std::vector<Diagnostic> *warnings = nullptr) {
    std::vector<const char *> archs;
    for (const std::string &arch : options.archs)
      archs.push_back(arch.c_str());
    annudf_compile_options c = {};
    c.size = sizeof c;
    c.archs = archs.data(), c.arch_count = archs.size();
    c.metric_name = options.metricName.c_str();
    c.inline_captures = options.inlineCaptures.c_str();
    c.skip_lto_ir = !options.ltoIr, c.skip_host_bitcode = !options.hostCode;
    annudf_artifact *made = nullptr;
    annudf_diagnostics *said = nullptr;
    const annudf_status status =
        annudf_compile(source.data(), source.size(), options.origin.c_str(), &c, &made, &said);
    Artifact artifact(made);
    const detail::DiagnosticsOwner owner(said);
    std::vector<Diagnostic> list = detail::toVector(said);
    if (status != ANNUDF_OK)
      throw Error(status, annudf_last_error(), std::move(list));
    if (warnings)
      *warnings = std::move(list);
    return artifact;
  }
  static Artifact load(const std::string &path) {
    annudf_artifact *made = nullptr;
    detail::check(annudf_artifact_load(path.c_str(), &made));
    return Artifact(made);
  }
  static Artifact fromBytes(std::span<const std::byte> bytes, const std::string &origin) {
    annudf_artifact *made = nullptr;
    detail::check(annudf_artifact_from_bytes(bytes.data(), bytes.size(), origin.c_str(), &made));
    return Artifact(made);
  }
  void save(const std::string &path) const {
    detail::check(annudf_artifact_save(c(), path.c_str()));
  }

  std::string bytes() const {
    return detail::text([&](annudf_buffer **out) { return annudf_artifact_to_bytes(c(), out); });
  }
  std::string manifest() const { ///< JSON.
    return detail::text([&](annudf_buffer **out) { return annudf_artifact_manifest(c(), out); });
  }
  std::string name() const { return annudf_artifact_name(c()); }
  /// ANNUDF_ROLE_SCAN of a metric, ANNUDF_ROLE_FILTER of what IvfFlat::filter takes.
  annudf_role role() const { return annudf_role(annudf_artifact_role(c())); }
  std::string digest() const { return annudf_artifact_digest(c()); }
  bool hasHostCode() const { return annudf_artifact_has_host_code(c()); }
  bool missingValues() const { return annudf_artifact_missing_values(c()); }
  bool isVerified() const { return annudf_artifact_is_verified(c()); }
  std::vector<std::string> archs() const {
    std::vector<std::string> all;
    for (size_t i = 0; i < annudf_artifact_arch_count(c()); ++i)
      all.emplace_back(annudf_artifact_arch(c(), i));
    return all;
  }
  const annudf_artifact *c() const { return handle_.get(); }

private:
  explicit Artifact(annudf_artifact *handle) : handle_(handle) {}
  detail::Owner<annudf_artifact, annudf_artifact_destroy> handle_;
};

} // namespace v0
} // namespace annudf

#endif // ANNUDF_C_CPP_ARTIFACT_HPP
