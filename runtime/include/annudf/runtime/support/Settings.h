//===- Settings.h - Variables of the environment that choose ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_SUPPORT_SETTINGS_H
#define ANNUDF_RUNTIME_SUPPORT_SETTINGS_H

#include "annudf/Support/Error.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace annudf::runtime {

/// What a variable says, one of `known`; "" where it is not set or empty, which is the default.
/// \throws Error(Usage) naming what else it says: a mistyped one would be the default, unseen.
inline std::string_view settingOf(const char *name, std::span<const std::string_view> known) {
  const char *const given = std::getenv(name);
  const std::string_view value = given ? given : "";
  if (value.empty() || std::find(known.begin(), known.end(), value) != known.end())
    return value;
  std::string names;
  for (const std::string_view one : known)
    names.append(names.empty() ? "" : ", ").append(one);
  throw Error(ErrorKind::Usage,
              name + (" is '" + std::string(value)) + "', it must be one of " + names);
}
inline std::string_view settingOf(const char *name, std::initializer_list<std::string_view> known) {
  return settingOf(name, std::span(known.begin(), known.size()));
}

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_SUPPORT_SETTINGS_H
