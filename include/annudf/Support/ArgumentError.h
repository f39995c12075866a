//===- ArgumentError.h - What is wrong with an argument of a call -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rule of an argument has one home, where it is checked. Bindings, whose callers may know the
// argument by another name, rename it by what the error tells.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_SUPPORT_ARGUMENTERROR_H
#define ANNUDF_SUPPORT_ARGUMENTERROR_H

#include "annudf/Support/Error.h"

#include <cstdint>
#include <string>
#include <utility>

namespace annudf {

/// Texts, as the message has them; "" for what the message does not tell.
struct ArgumentFault {
  std::string argument;     ///< What the message begins with: "k", "queries".
  std::string value = {};   ///< "0"
  std::string allowed = {}; ///< "an integer from 1 to 10"
};

/// An argument that breaks a rule.
class ArgumentError : public Error {
public:
  /// The message is the argument, then `rest`: "k", " is 0, it must be ...".
  ArgumentError(ErrorKind kind, ArgumentFault fault, const std::string &rest)
      : Error(kind, fault.argument + rest), fault_(std::move(fault)) {}
  const ArgumentFault &fault() const { return fault_; }

private:
  ArgumentFault fault_;
};

/// \param says  what is special about a limit, as the end of a sentence: ", 0 for all cores".
/// \throws ArgumentError(Usage) unless least <= value <= most.
inline int64_t checkRange(const char *argument, int64_t value, int64_t least, int64_t most,
                          const char *says = "") {
  if (value >= least && value <= most) [[likely]]
    return value;
  ArgumentFault fault{argument, std::to_string(value),
                      "an integer from " + std::to_string(least) + " to " + std::to_string(most) +
                          says};
  const std::string rest = " is " + fault.value + ", it must be " + fault.allowed;
  throw ArgumentError(ErrorKind::Usage, std::move(fault), rest);
}

} // namespace annudf

#endif // ANNUDF_SUPPORT_ARGUMENTERROR_H
