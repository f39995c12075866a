//===- annudf/cpp/progress.hpp - Progress and cancellation ------*- C++ -*-===//
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

#ifndef ANNUDF_CPP_PROGRESS_HPP
#define ANNUDF_CPP_PROGRESS_HPP

#include "annudf/cpp/error.hpp"

#include <exception>
#include <functional>
#include <stop_token>
#include <string_view>

namespace annudf {
inline namespace v0 {

/// Called by the thread that made the call, with what runs ("train", "add", "remove", "save",
/// "upload", "search") and the part of it that is done, 0 to 1. False stops the work with an error
/// of errc::interrupted; what it throws comes out of the call.
using progress = std::function<bool(std::string_view stage, double done)>;

namespace detail {

/// Takes progress and a stop token through C: an exception waits until the call has returned.
class reporting {
public:
  reporting(const progress &progress, const std::stop_token &stop)
      : progress_(progress), stop_(stop), asked_(progress || stop.stop_possible()) {
    if (asked_ && stop_.stop_requested())
      throw error(errc::interrupted, "interrupted: a stop was requested before the call");
  }
  annudf_progress function() const noexcept { return asked_ ? &report : nullptr; }
  void *user() noexcept { return this; }
  void check(annudf_status status) const {
    if (raised_) [[unlikely]]
      std::rethrow_exception(raised_);
    detail::check(status);
  }

private:
  static int report(void *user, const char *stage, double done) noexcept {
    auto &self = *static_cast<reporting *>(user);
    if (self.stop_.stop_requested())
      return 1;
    if (!self.progress_)
      return 0;
    try {
      return self.progress_(stage, done) ? 0 : 1;
    } catch (...) {
      self.raised_ = std::current_exception();
      return 1;
    }
  }
  const progress &progress_;
  const std::stop_token &stop_;
  const bool asked_;
  std::exception_ptr raised_;
};

} // namespace detail

} // namespace v0
} // namespace annudf

#endif // ANNUDF_CPP_PROGRESS_HPP
