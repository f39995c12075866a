//===- Monotone.cpp - That a distance only gets worse ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MonotoneFields.h"

#include <algorithm>
#include <optional>

namespace annudf {

namespace {

constexpr Condition::Kind kKinds[] = {Condition::Kind::NonNegative, Condition::Kind::NonPositive,
                                      Condition::Kind::Positive};

std::optional<Condition> conditionFrom(const Value &value) {
  const auto *pair = value.as<List>();
  const auto *capture = pair && pair->size() == 2 ? (*pair)[0].as<std::string>() : nullptr;
  const auto *relation = capture ? (*pair)[1].as<std::string>() : nullptr;
  for (Condition::Kind kind : kKinds)
    if (relation && *relation == relationOf(kind))
      return Condition{*capture, kind};
  return std::nullopt;
}

} // namespace

const char *relationOf(Condition::Kind kind) {
  switch (kind) {
  case Condition::Kind::NonNegative:
    return ">= 0";
  case Condition::Kind::NonPositive:
    return "<= 0";
  case Condition::Kind::Positive:
    return "> 0";
  }
  return "";
}

std::string conditionsText(const std::vector<Condition> &conditions) {
  std::string text;
  for (const Condition &one : conditions)
    text += (text.empty() ? " where " : " and ") + one.capture + " " + relationOf(one.kind);
  return text;
}

std::string monotoneText(const std::optional<MonotoneDistance> &monotone) {
  if (!monotone)
    return "no";
  return "worse with each dimension" + conditionsText(monotone->where) +
         (monotone->isExtreme ? ", an extreme" : "");
}

Map monotoneToFields(const MonotoneDistance &monotone) {
  List where;
  for (const Condition &one : monotone.where)
    where.push_back(List{one.capture, relationOf(one.kind)});
  Map fields{{"where", std::move(where)}};
  if (monotone.isExtreme)
    fields["extreme"] = true;
  return fields;
}

MonotoneDistance
monotoneFromFields(const Value &value,
                   const std::function<void(const std::string &, const std::string &)> &fail) {
  const auto *fields = value.as<Map>();
  if (!fields)
    fail("", "must be a map");
  const auto where = fields->find("where");
  if (where == fields->end())
    fail(".where", "is missing");
  const auto extreme = fields->find("extreme");
  const bool *isExtreme = extreme == fields->end() ? nullptr : extreme->second.as<bool>();
  if (extreme != fields->end() && !(isExtreme && *isExtreme))
    fail(".extreme", "must be true; of a sum there is no such field");
  if (fields->size() != (isExtreme != nullptr ? 2 : 1))
    fail("", "has a field besides 'where' and 'extreme', which is none that this annudf knows");
  const auto *list = where->second.as<List>();
  if (!list)
    fail(".where", "must be a list");
  MonotoneDistance monotone;
  monotone.isExtreme = isExtreme != nullptr;
  for (size_t i = 0; i < list->size(); ++i)
    if (std::optional<Condition> one = conditionFrom((*list)[i]))
      monotone.where.push_back(std::move(*one));
    else
      fail(".where[" + std::to_string(i) + "]",
           "must be the name of a capture and one of '>= 0', '<= 0', '> 0'");
  return monotone;
}

std::string faultOfMonotone(const MetricDescriptor &m) {
  if (!m.monotone)
    return "";
  const std::string field = "manifest field 'monotone' ";
  if (m.accumulator == ANNUDF_ACCUMULATOR_STRUCT)
    return field + "stands beside an accumulator of several fields";
  const std::vector<Condition> &where = m.monotone->where;
  for (size_t i = 0; i < where.size(); ++i) {
    const std::string which = field + "asks something of capture " + inQuotes(where[i].capture);
    if (std::none_of(m.captures.begin(), m.captures.end(),
                     [&](const CaptureInfo &capture) { return capture.name == where[i].capture; }))
      return which + ", which the metric does not have";
    if (i > 0 && where[i - 1] >= where[i])
      return which + (where[i - 1] == where[i] ? " twice" : " out of order");
  }
  return "";
}

} // namespace annudf
