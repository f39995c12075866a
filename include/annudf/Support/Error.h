//===- Error.h - What annudf's artifact and runtime libraries throw -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One exception type, with the exit code a command should end with. The text is
// one line that names the offending value and the place it came from.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_SUPPORT_ERROR_H
#define ANNUDF_SUPPORT_ERROR_H

#include <stdexcept>
#include <string>

namespace annudf {

/// Why an operation was refused.
enum class ErrorKind {
  Usage,       ///< The caller asked for something that makes no sense (exit 2).
  Input,       ///< A file or an array is not what it claims to be (exit 1).
  Environment, ///< A library, a device, memory or disk space is missing (exit 1).
  Interrupted, ///< The user stopped the operation (exit 130).
};

class Error : public std::runtime_error {
public:
  Error(ErrorKind kind, const std::string &message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }
  int exitCode() const { return kind_ == ErrorKind::Usage ? 2 : kind_ == ErrorKind::Interrupted ? 130 : 1; }

private:
  ErrorKind kind_;
};

} // namespace annudf

#endif // ANNUDF_SUPPORT_ERROR_H
