//===- annudf/cpp/error.hpp - What failing calls throw ----------*- C++ -*-===//
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

#ifndef ANNUDF_CPP_ERROR_HPP
#define ANNUDF_CPP_ERROR_HPP

#include "annudf-c/Compiler.h"
#include "annudf-c/Support.h"

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace annudf {
inline namespace v0 {

/// What kind of failure an error is.
enum class errc : int {
  usage = ANNUDF_USAGE,             ///< The caller asked for something that makes no sense.
  input = ANNUDF_INPUT,             ///< A file or an array is not what it claims to be.
  environment = ANNUDF_ENVIRONMENT, ///< A library, a device, memory or disk is missing.
  interrupted = ANNUDF_INTERRUPTED, ///< A stop token or a progress function stopped it.
  compile = ANNUDF_COMPILE,         ///< A metric was refused; diagnostics say where and why.
  internal = ANNUDF_INTERNAL        ///< A mistake of annudf.
};

enum class severity : int {
  error = ANNUDF_SEVERITY_ERROR,
  warning = ANNUDF_SEVERITY_WARNING,
  remark = ANNUDF_SEVERITY_REMARK
};

/// A place in a metric's source. `file` is "" and the numbers are 0 where it is not known.
struct source_place {
  std::string file = {};
  int line = 0;   ///< From 1.
  int column = 0; ///< From 1.
  bool operator==(const source_place &) const = default;
};

/// One remark of the compiler.
struct diagnostic {
  annudf::v0::severity severity = annudf::v0::severity::error;
  std::string rule = {}; ///< Its label in docs/spec/rules.md, "L2"; "" if none.
  std::string message = {};
  source_place location = {};
};

/// What every call of annudf that fails throws.
class error : public std::runtime_error {
public:
  error(errc code, const std::string &what, std::vector<diagnostic> diagnostics = {})
      : std::runtime_error(what), code_(code),
        diagnostics_(std::make_shared<const std::vector<diagnostic>>(std::move(diagnostics))) {}

  /// What kind of failure it is; errc::interrupted of a call that was stopped.
  errc code() const noexcept { return code_; }
  /// Label of the rule that a metric broke; "" where none did.
  std::string rule() const { return first().rule; }
  /// Where it broke it: for a traced lambda a line of that lambda.
  source_place location() const { return first().location; }
  /// All that the compiler had to say, warnings too.
  const std::vector<annudf::v0::diagnostic> &diagnostics() const noexcept { return *diagnostics_; }

private:
  annudf::v0::diagnostic first() const {
    for (const annudf::v0::diagnostic &one : *diagnostics_)
      if (one.severity == severity::error)
        return one;
    return {};
  }
  errc code_;
  // Shared: copying an exception must not throw.
  std::shared_ptr<const std::vector<annudf::v0::diagnostic>> diagnostics_;
};

namespace detail {

template <auto Destroy> struct destroyer {
  template <class T> void operator()(T *object) const noexcept { Destroy(object); }
};
/// An object of the C API.
template <class T, auto Destroy> using owner = std::unique_ptr<T, destroyer<Destroy>>;
using buffer_owner = owner<annudf_buffer, annudf_buffer_destroy>;
using diagnostics_owner = owner<annudf_diagnostics, annudf_diagnostics_destroy>;

inline void check(annudf_status status) {
  if (status != ANNUDF_OK) [[unlikely]]
    throw error(errc(status), annudf_last_error());
}

inline std::vector<diagnostic> to_vector(const annudf_diagnostics *list) {
  std::vector<diagnostic> all;
  for (std::size_t i = 0; i < annudf_diagnostics_count(list); ++i) {
    annudf_diagnostic one = {};
    one.size = sizeof one;
    check(annudf_diagnostics_get(list, i, &one));
    all.push_back(
        {severity(one.severity), one.rule, one.message, {one.file, one.line, one.column}});
  }
  return all;
}

/// Text of a call that makes a buffer.
template <class Call> std::string text_of(Call call) {
  annudf_buffer *made = nullptr;
  check(call(&made));
  const buffer_owner owner(made);
  return {annudf_buffer_data(made), annudf_buffer_size(made)};
}

} // namespace detail

} // namespace v0
} // namespace annudf

#endif // ANNUDF_CPP_ERROR_HPP
