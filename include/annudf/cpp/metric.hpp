//===- annudf/cpp/metric.hpp - Metrics and filters of code ------*- C++ -*-===//
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

#ifndef ANNUDF_CPP_METRIC_HPP
#define ANNUDF_CPP_METRIC_HPP

#include "annudf-c/IvfFlat.h"
#include "annudf/cpp/backend.hpp"
#include "annudf/cpp/captures.hpp"
#include "annudf/cpp/trace.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <source_location>

namespace annudf {
inline namespace v0 {

/// How values are bound.
struct bind_options {
  bool allow_non_finite = false; ///< Also infinities and NaN.
};

/// Text of the dialect that a metric or filter is made of.
struct text_options {
  std::string origin = "metric"; ///< What places in diagnostics call the text.
  std::string name = {};         ///< Which of several.
};

namespace detail {

/// Source of a metric or filter, and what was compiled of it: once for each target, however many
/// threads ask.
class definition {
public:
  enum class kind { text, cuda_source, compiled };
  definition(std::string text, text_options options)
      : kind_(kind::text), text_(std::move(text)), options_(std::move(options)) {}
  definition(std::string source, cuda_source_options options)
      : kind_(kind::cuda_source), text_(std::move(source)), cuda_(std::move(options)) {}
  explicit definition(annudf::v0::artifact given)
      : kind_(kind::compiled), compiled_{{all_targets, std::move(given)}} {}

  /// For all targets, as `annudf compile` makes it.
  static constexpr std::int32_t all_targets = -1;

  annudf::v0::artifact artifact_for(std::int32_t target) {
    const std::lock_guard guard(lock_);
    for (const auto &[known, made] : compiled_)
      if (known == target || kind_ == kind::compiled)
        return made;
    return compiled_.emplace_back(target, compile(target)).second;
  }
  std::string lower(const char *to, const std::string &arch) const {
    if (kind_ != kind::text)
      throw error(errc::usage, "this metric cannot be shown as " + std::string(to) +
                                   "; only one that was made from text or from a lambda can");
    annudf_lower_options options = {};
    options.size = sizeof options;
    options.arch = arch.c_str(), options.metric_name = options_.name.c_str();
    annudf_buffer *code = nullptr;
    annudf_diagnostics *said = nullptr;
    const annudf_status status = annudf_lower(text_.data(), text_.size(), options_.origin.c_str(),
                                              to, &options, &code, &said);
    const buffer_owner owner(code);
    const diagnostics_owner said_owner(said);
    if (status != ANNUDF_OK)
      throw error(errc(status), annudf_last_error(), to_vector(said));
    return {annudf_buffer_data(code), annudf_buffer_size(code)};
  }
  const std::string &text() const noexcept { return text_; }
  /// Names of the captures, in the order of their declaration. Text that was not compiled yet is
  /// verified for it, once.
  const std::vector<std::string> &captures() {
    const std::lock_guard guard(lock_);
    if (!captures_)
      captures_ = find_captures();
    return *captures_;
  }

private:
  std::vector<std::string> find_captures() const {
    std::vector<std::string> names;
    if (!compiled_.empty()) {
      const annudf_artifact *made = compiled_.front().second.c();
      annudf_capture_declaration declared = {};
      declared.size = sizeof declared;
      for (std::size_t i = 0; i < annudf_artifact_get(made)->capture_count; ++i) {
        check(annudf_artifact_capture(made, i, &declared));
        names.emplace_back(declared.name);
      }
    } else if (kind_ == kind::cuda_source) {
      for (const cuda_capture &declared : cuda_.captures)
        names.push_back(declared.name);
    } else {
      // As the printer writes a declaration; in a string it would escape the quotation mark.
      const std::string written = lower("mlir", ""), start = "= annudf.capture \"";
      for (std::size_t at = 0; (at = written.find(start, at)) != std::string::npos;) {
        at += start.size();
        names.push_back(written.substr(at, written.find('"', at) - at));
      }
    }
    return names;
  }
  annudf::v0::artifact compile(std::int32_t target) const {
    const std::vector<std::string> archs =
        target > 0 ? std::vector<std::string>{"sm_" + std::to_string(target)}
                   : std::vector<std::string>();
    if (kind_ == kind::cuda_source) {
      cuda_source_options options = cuda_;
      if (!archs.empty())
        options.archs = archs;
      return artifact::compile_cuda_source(text_, options);
    }
    return artifact::compile(text_, {.origin = options_.origin,
                                     .archs = archs,
                                     .name = options_.name,
                                     .lto_ir = target != host_target,
                                     .host_code = target <= 0});
  }
  const kind kind_;
  const std::string text_;
  const text_options options_;
  const cuda_source_options cuda_;
  std::mutex lock_;
  std::vector<std::pair<std::int32_t, annudf::v0::artifact>> compiled_;
  std::optional<std::vector<std::string>> captures_;
};

/// A definition with values, and what they were bound to: once for each target and number of dims,
/// of which the last few are kept.
class binding {
public:
  struct entry {
    std::int32_t target;
    std::int64_t dims;
    annudf::v0::artifact code;
    captures_owner captures;
  };
  explicit binding(std::shared_ptr<annudf::v0::detail::definition> of,
                   std::vector<capture_value> values = {}, bind_options options = {})
      : definition_(std::move(of)), values_(std::move(values)), options_(options) {}

  /// What a search hands to C. Lives as long as what is returned.
  std::shared_ptr<const entry> prepare(const backend &on, const searched &rows) const {
    const std::int64_t dims = rows.dims;
    const std::int32_t arch = on.arch();
    const std::lock_guard guard(lock_);
    const auto found = std::find_if(prepared_.begin(), prepared_.end(), [&](const auto &known) {
      return known.first == arch && known.second->dims == dims;
    });
    if (found != prepared_.end()) {
      std::rotate(prepared_.begin(), found, std::next(found));
      return prepared_.front().second;
    }
    const std::int32_t target = target_of(on);
    annudf::v0::artifact code = definition_->artifact_for(target);
    captures_owner bound = bind_captures(code, values_, rows, options_.allow_non_finite);
    auto made =
        std::make_shared<const entry>(entry{target, dims, std::move(code), std::move(bound)});
    if (prepared_.size() == most_prepared)
      prepared_.pop_back(); // A search that uses it holds it.
    prepared_.emplace(prepared_.begin(), arch, made);
    return made;
  }
  /// These values, and those of `more` in place of such of the same name. One call gives a capture
  /// one value: of two, which was meant is not known.
  std::shared_ptr<const binding> with(std::span<const capture_value> more,
                                      bind_options options) const {
    std::vector<capture_value> values = values_;
    if (!more.empty())
      check_names(more);
    for (auto given = more.begin(); given != more.end(); ++given) {
      const capture_value &one = *given;
      const auto is_same = [&](const capture_value &value) { return value.name() == one.name(); };
      if (std::any_of(more.begin(), given, is_same))
        throw error(errc::usage, "capture '" + one.name() + "' is given twice");
      const auto same = std::find_if(values.begin(), values.end(), is_same);
      if (same == values.end())
        values.push_back(one);
      else
        *same = one;
    }
    return std::make_shared<const binding>(definition_, std::move(values), options);
  }
  annudf::v0::detail::definition &definition() const noexcept { return *definition_; }

private:
  void check_names(std::span<const capture_value> given) const {
    const std::vector<std::string> &known = definition_->captures();
    for (const capture_value &one : given) {
      if (std::find(known.begin(), known.end(), one.name()) != known.end())
        continue;
      std::string names;
      for (const std::string &name : known)
        names += (names.empty() ? "" : ", ") + name;
      throw error(errc::usage, "there is no capture '" + one.name() + "' to bind; " +
                                   (names.empty() ? "there are none" : "there are: " + names));
    }
  }
  const std::shared_ptr<annudf::v0::detail::definition> definition_;
  const std::vector<capture_value> values_;
  const bind_options options_;
  mutable std::mutex lock_;
  static constexpr std::size_t most_prepared = 8;
  /// By architecture, the last one used first.
  mutable std::vector<std::pair<std::int32_t, std::shared_ptr<const entry>>> prepared_;
};

/// What metrics and filters of code, bound or not, have in common.
class code {
public:
  /// The artifact with code for CPUs and for every architecture of GPUs that libNVVM is found for.
  annudf::v0::artifact artifact() const {
    return known().definition().artifact_for(detail::definition::all_targets);
  }
  /// The dialect, as the verifier accepted it.
  std::string mlir() const { return known().definition().lower("mlir", ""); }
  /// Another stage: "nvvm-ir", "ptx", or "ltoir", for the oldest architecture or that one.
  std::string lower(const std::string &to, const std::string &arch = {}) const {
    return known().definition().lower(to.c_str(), arch);
  }
  /// Text of the dialect as it was given or traced; "" of what was compiled before.
  const std::string &text() const { return known().definition().text(); }
  /// Writes the artifact to a file; values of captures are not part of it.
  void save(const std::string &path) const { artifact().save(path); }
  /// Compiles it, and links it with the kernel for vectors of that type, so that no search waits.
  void precompile(const backend &on, element of = element::f32) const {
    const backend &where = on ? on : backend::shared();
    const annudf::v0::artifact made = known().definition().artifact_for(target_of(where));
    check(annudf_ivf_flat_precompile(where.c(), made.c(), std::int32_t(of), 0, nullptr));
  }
  /// The same for GPUs of an architecture (90 for compute capability 9.0), which need not be here:
  /// the kernels are left in the cache on disk, where whoever has such a GPU finds them.
  void precompile_for(int arch, element of = element::f32) const {
    const annudf::v0::artifact made = artifact();
    check(annudf_ivf_flat_precompile(nullptr, made.c(), std::int32_t(of), arch, nullptr));
  }

protected:
  code() = default;
  explicit code(std::shared_ptr<const binding> bound) : binding_(std::move(bound)) {}
  const binding &known() const {
    if (!binding_)
      throw error(errc::usage,
                  "the metric or filter is empty; assign one that is made from a source");
    return *binding_;
  }
  std::shared_ptr<const binding> binding_;
};

/// What a trace gives; what it refuses is an error as those of the compiler are.
template <class Trace> std::string traced(const std::source_location &where, Trace trace) {
  try {
    return trace();
  } catch (const std::logic_error &refused) {
    throw error(errc::compile, refused.what(),
                {{severity::error,
                  {},
                  refused.what(),
                  {where.file_name(), int(where.line()), int(where.column())}}});
  }
}

inline std::shared_ptr<const binding> unbound(std::shared_ptr<definition> of) {
  return std::make_shared<const binding>(std::move(of));
}

} // namespace detail

class metric;
namespace detail {
struct search_access;
}

/// A metric with values for its captures. They are bound to an artifact and to the dims of an index
/// at the first search there, and kept; so keep this object where values stay. It never changes;
/// copies share what was bound. A default one stands for the metric of the index.
class bound_metric : public detail::code {
public:
  bound_metric() = default;
  /// A metric without captures, or with those that bind() gave it.
  bound_metric(const metric &unbound);
  /// The built-in metric of that name, "canberra".
  bound_metric(const char *builtin);
  bound_metric(const std::string &builtin);

  /// Other values for some captures; nothing is compiled. \throws error errc::usage for a name that
  /// is given twice, or that no capture has.
  bound_metric bind(std::initializer_list<capture_value> values, bind_options options = {}) const {
    return bind(std::span(values.begin(), values.size()), options);
  }
  bound_metric bind(std::span<const capture_value> values, bind_options options = {}) const {
    return bound_metric(known().with(values, options));
  }
  explicit operator bool() const noexcept { return binding_ != nullptr; }

private:
  friend class metric;
  friend struct detail::search_access;
  explicit bound_metric(std::shared_ptr<const detail::binding> bound) : code(std::move(bound)) {}
};

/// A distance of one's own. Compiled when it is first needed, once for each target (the host, or an
/// architecture of GPUs), also where many threads ask at once. Copies share what was compiled.
class metric : public detail::code {
public:
  /// Compiles a lambda, or an object with init, update and finalize. It is called once with values
  /// that record what it does (annudf/cpp/trace.hpp); what breaks a rule is reported at its lines.
  template <class Hooks>
  metric(std::string_view name, const Hooks &hooks, const metric_options &options = {},
         std::source_location where = std::source_location::current())
      : metric(detail::traced(where, [&] { return trace_metric(name, hooks, options, where); }),
               text_options{where.file_name(), {}}) {}

  /// Text of the dialect.
  static metric from_text(std::string text, text_options options = {}) {
    return metric(std::move(text), std::move(options));
  }
  /// CUDA C++, for GPUs only; its prototypes are checked, what it does is not.
  static metric from_cuda_source(std::string source, cuda_source_options options = {}) {
    return metric(std::make_shared<detail::definition>(std::move(source), std::move(options)));
  }
  /// What was compiled before, with the code that it has.
  static metric from_artifact(annudf::v0::artifact compiled) {
    return metric(std::make_shared<detail::definition>(std::move(compiled)));
  }
  /// The same of a file.
  static metric load(const std::string &path) { return from_artifact(artifact::load(path)); }
  /// A metric that annudf has by itself, "cosine"; one of each name for the whole program.
  static metric builtin(const std::string &name) {
    static auto &known = *new std::map<std::string, metric>; // Not destroyed: see backend::shared.
    static auto &lock = *new std::mutex;
    const std::lock_guard guard(lock);
    if (const auto found = known.find(name); found != known.end())
      return found->second;
    const char *text = annudf_builtin_metric(name.c_str());
    if (!text) {
      std::string names;
      for (std::size_t i = 0; const char *one = annudf_builtin_metric_name(i); ++i)
        names += (i == 0 ? "" : ", ") + std::string(one);
      throw error(names.empty() ? errc::environment : errc::usage,
                  names.empty() ? "built-in metric '" + name +
                                      "' needs annudf's compiler, without "
                                      "which this libannudf was built"
                                : "there is no built-in metric '" + name + "'; there are " + names);
    }
    return known.emplace(name, from_text(text, {.origin = "<built-in metric " + name + ">"}))
        .first->second;
  }

  /// Gives captures their values: numbers, ranges, mdspans, device memory. Host memory is copied
  /// now, and the metric is verified, if it was not. \throws error errc::usage for a name that is
  /// given twice, or that no capture has; errc::compile for a metric that breaks a rule.
  bound_metric bind(std::initializer_list<capture_value> values, bind_options options = {}) const {
    return bind(std::span(values.begin(), values.size()), options);
  }
  bound_metric bind(std::span<const capture_value> values, bind_options options = {}) const {
    return bound_metric(known().with(values, options));
  }

private:
  friend class bound_metric;
  friend class device_udf;
  metric(std::string text, text_options options)
      : metric(std::make_shared<detail::definition>(std::move(text), std::move(options))) {}
  explicit metric(std::shared_ptr<detail::definition> of) : code(detail::unbound(std::move(of))) {}
};

inline bound_metric::bound_metric(const metric &unbound) : code(unbound.binding_) {}
inline bound_metric::bound_metric(const std::string &builtin)
    : bound_metric(metric::builtin(builtin)) {}
inline bound_metric::bound_metric(const char *builtin) : bound_metric(std::string(builtin)) {}

/// A filter of code: which rows are kept, computed from ids, lists, queries and captures. With
/// values for its captures by bind(). ivf_flat::filter makes a filter of a search of it.
class code_filter : public detail::code {
public:
  /// Compiles a lambda as for a metric; it gives whether a row is kept.
  template <class Hook>
  code_filter(std::string_view name, const Hook &hook,
              std::source_location where = std::source_location::current())
      : code_filter(detail::traced(where, [&] { return trace_filter(name, hook, where); }),
                    text_options{where.file_name(), {}}) {}

  /// Text of the dialect, an annudf.filter.
  static code_filter from_text(std::string text, text_options options = {.origin = "filter"}) {
    return code_filter(std::move(text), std::move(options));
  }
  static code_filter from_artifact(annudf::v0::artifact compiled) {
    return code_filter(detail::unbound(std::make_shared<detail::definition>(std::move(compiled))));
  }
  static code_filter load(const std::string &path) { return from_artifact(artifact::load(path)); }

  /// The same filter with values; refuses as a metric's does.
  code_filter bind(std::initializer_list<capture_value> values, bind_options options = {}) const {
    return bind(std::span(values.begin(), values.size()), options);
  }
  code_filter bind(std::span<const capture_value> values, bind_options options = {}) const {
    return code_filter(known().with(values, options));
  }

private:
  friend struct detail::search_access;
  code_filter(std::string text, text_options options)
      : code_filter(detail::unbound(
            std::make_shared<detail::definition>(std::move(text), std::move(options)))) {}
  explicit code_filter(std::shared_ptr<const detail::binding> bound) : code(std::move(bound)) {}
};

} // namespace v0
} // namespace annudf

#endif // ANNUDF_CPP_METRIC_HPP
