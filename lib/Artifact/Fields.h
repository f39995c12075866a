//===- Fields.h - Reading a map of the manifest -----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_ARTIFACT_FIELDS_H
#define ANNUDF_LIB_ARTIFACT_FIELDS_H

#include "Value.h"

#include "annudf/Artifact/Descriptor.h"
#include "annudf/Support/Error.h"
#include "annudf/Support/Printable.h"

#include <algorithm>
#include <span>

namespace annudf {

/// Reads one map, naming file and field in every complaint.
class Fields {
public:
  Fields(const Value &map, const std::string &origin, const std::string &path)
      : map_(map.as<Map>()), origin_(origin), path_(path) {
    if (!map_)
      fail("", "must be a map");
  }

  [[noreturn]] void fail(const std::string &field, const std::string &what) const {
    const std::string place = path_ + (path_.empty() || field.empty() ? "" : ".") + field;
    throw Error(ErrorKind::Input,
                origin_ + ": manifest " + (place.empty() ? "" : "field '" + place + "' ") + what);
  }

  const Value &get(const char *field) const {
    const auto found = map_->find(field);
    if (found == map_->end())
      fail(field, "is missing");
    return found->second;
  }

  std::string text(const char *field) const {
    const auto *value = get(field).as<std::string>();
    if (!value)
      fail(field, "must be text");
    return *value;
  }

  uint64_t number(const char *field, uint64_t most) const {
    const auto *value = get(field).as<uint64_t>();
    if (!value)
      fail(field, "must be an integer not below 0");
    if (*value > most)
      fail(field, "is " + std::to_string(*value) + "; it must be at most " + std::to_string(most));
    return *value;
  }

  /// One line that can be printed as it is.
  std::string line(const char *field, size_t most) const {
    std::string value = text(field);
    if (value.size() > most)
      fail(field, "has " + std::to_string(value.size()) + " bytes; it must have at most " +
                      std::to_string(most));
    if (!isPrintable(value))
      fail(field, "is " + inQuotes(value) + "; it must be printable");
    return value;
  }

  bool has(const char *field) const { return map_->contains(field); }

  /// A field that is true, or absent. `without` is what has no such field.
  bool flag(const char *field, const std::string &without) const {
    const bool *value = has(field) ? get(field).as<bool>() : nullptr;
    if (has(field) && (!value || !*value))
      fail(field, "must be true; " + without + " has no such field");
    return has(field);
  }

  /// Nothing else may stand in the map: what this annudf does not know, it does not ignore.
  void allow(std::initializer_list<std::string_view> known,
             std::span<const std::string_view> too = {}) const {
    for (const auto &[field, value] : *map_)
      if (std::find(known.begin(), known.end(), field) == known.end() &&
          std::find(too.begin(), too.end(), field) == too.end())
        fail(printable(std::string_view(field).substr(0, 60)), "is unknown to this annudf");
  }

  const List &list(const char *field) const {
    const auto *value = get(field).as<List>();
    if (!value)
      fail(field, "must be a list");
    return *value;
  }

  /// One of the spellings of a table of the ABI.
  template <typename Enum> Enum choice(const char *field, const Value &value) const {
    const auto *text = value.as<std::string>();
    if (!text)
      fail(field, "must be text");
    std::string why;
    if (auto parsed = parseSpelling<Enum>(*text, &why))
      return *parsed;
    fail(field, why);
  }
  template <typename Enum> Enum choice(const char *field) const {
    return choice<Enum>(field, get(field));
  }

  Fields map(const char *field) const {
    return Fields(get(field), origin_, path_.empty() ? field : path_ + "." + field);
  }

  const std::string &origin() const { return origin_; }

private:
  const Map *map_;
  std::string origin_, path_;
};

} // namespace annudf

#endif // ANNUDF_LIB_ARTIFACT_FIELDS_H
