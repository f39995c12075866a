//===- annudf-c/cpp/Support.hpp - Errors, progress and owners ---*- C++ -*-===//
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

#ifndef ANNUDF_C_CPP_SUPPORT_HPP
#define ANNUDF_C_CPP_SUPPORT_HPP

#include "annudf-c/Compiler.h"
#include "annudf-c/Support.h"

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annudf {
inline namespace v0 {

/// One remark of the compiler.
struct Diagnostic {
  annudf_severity severity = ANNUDF_SEVERITY_ERROR;
  std::string file, rule, message; ///< rule: its label in docs/abi.md, "L2"; "" if none.
  int line = 0, column = 0;        ///< From 1; 0 where the place is not known.
};

/// What every failing call throws.
class Error : public std::runtime_error {
public:
  Error(annudf_status code, const std::string &what, std::vector<Diagnostic> diagnostics = {})
      : std::runtime_error(what), code_(code), diagnostics_(std::move(diagnostics)) {}

  annudf_status code() const noexcept { return code_; }
  /// Label of the rule that a metric broke; "" where none did.
  std::string rule() const { return first().rule; }
  /// Where, in a metric's source; file "" and 0 where it is not known.
  std::string file() const { return first().file; }
  int line() const { return first().line; }
  int column() const { return first().column; }
  /// All that the compiler had to say.
  const std::vector<Diagnostic> &diagnostics() const noexcept { return diagnostics_; }

private:
  Diagnostic first() const {
    for (const Diagnostic &one : diagnostics_)
      if (one.severity == ANNUDF_SEVERITY_ERROR)
        return one;
    return {};
  }
  annudf_status code_;
  std::vector<Diagnostic> diagnostics_;
};

/// Called by the thread that made the call, with what runs and the part done, 0 to 1. False
/// stops the work with Error(ANNUDF_INTERRUPTED); what it throws comes out of the call.
using Progress = std::function<bool(std::string_view stage, double done)>;

namespace detail {

template <auto Destroy> struct Destroyer {
  template <class T> void operator()(T *object) const noexcept { Destroy(object); }
};
template <class T, auto Destroy> using Owner = std::unique_ptr<T, Destroyer<Destroy>>;
using BufferOwner = Owner<annudf_buffer, annudf_buffer_destroy>;
using DiagnosticsOwner = Owner<annudf_diagnostics, annudf_diagnostics_destroy>;

inline void check(annudf_status status) {
  if (status != ANNUDF_OK)
    throw Error(status, annudf_last_error());
}

inline std::vector<Diagnostic> toVector(const annudf_diagnostics *list) {
  std::vector<Diagnostic> all;
  for (size_t i = 0; i < annudf_diagnostics_count(list); ++i) {
    annudf_diagnostic one = {};
    one.size = sizeof one;
    check(annudf_diagnostics_get(list, i, &one));
    all.push_back({one.severity, one.file, one.rule, one.message, one.line, one.column});
  }
  return all;
}

/// Text of a call that makes a buffer.
template <class Call> std::string text(Call call) {
  annudf_buffer *made = nullptr;
  check(call(&made));
  const BufferOwner owner(made);
  return {annudf_buffer_data(made), annudf_buffer_size(made)};
}

/// Takes a Progress through C: an exception waits until the call has returned.
class Reporting {
public:
  explicit Reporting(const Progress &progress) : progress_(progress) {}
  annudf_progress function() const { return progress_ ? &report : nullptr; }
  void *user() { return this; }
  void check(annudf_status status) const {
    if (raised_)
      std::rethrow_exception(raised_);
    detail::check(status);
  }

private:
  static int report(void *user, const char *stage, double done) noexcept {
    auto &self = *static_cast<Reporting *>(user);
    try {
      return self.progress_(stage, done) ? 0 : 1;
    } catch (...) {
      self.raised_ = std::current_exception();
      return 1;
    }
  }
  const Progress &progress_;
  std::exception_ptr raised_;
};

} // namespace detail

} // namespace v0
} // namespace annudf

#endif // ANNUDF_C_CPP_SUPPORT_HPP
