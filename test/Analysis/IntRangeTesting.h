//===- IntRangeTesting.h - What integers do -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations of the domain of ranges, each with what it gives for two integers.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_ANALYSIS_INTRANGETESTING_H
#define ANNUDF_TEST_ANALYSIS_INTRANGETESTING_H

#include "annudf/Analysis/IntRange.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace annudf::test {

using ranges::IntRange;
using ranges::IntRangeDomain;
using ranges::Wide;

inline uint64_t maskOf(unsigned width) {
  return width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
}

inline int64_t toSigned(uint64_t bits, unsigned width) {
  const uint64_t sign = uint64_t(1) << (width - 1);
  return int64_t((bits ^ sign) - sign);
}

/// Whether `range` holds the value `bits` when there are `dims` dimensions.
inline bool holds(const IntRange &range, uint64_t bits, int64_t dims) {
  const Wide s = toSigned(bits, range.width), u = bits, d = s - dims;
  return range.smin <= s && s <= range.smax && range.umin <= u && u <= range.umax &&
         range.dmin <= d && d <= range.dmax;
}

inline std::string spell(const IntRange &r) {
  auto text = [](Wide low, Wide high) {
    return "[" + std::to_string(int64_t(low)) + ", " + std::to_string(int64_t(high)) + "]";
  };
  return "i" + std::to_string(r.width) + " s" + text(r.smin, r.smax) + " u" + text(r.umin, r.umax) +
         " d" + text(r.dmin, r.dmax);
}

/// What the operation gives; nothing where it has no value.
using Evaluate = std::optional<uint64_t> (*)(uint64_t a, uint64_t b, unsigned width);
using Transfer = IntRange (IntRangeDomain::*)(const IntRange &, const IntRange &) const;

struct Operation {
  const char *name;
  Transfer transfer;
  Evaluate evaluate;
};

inline bool overflows(uint64_t a, uint64_t b, unsigned w) {
  return a == uint64_t(1) << (w - 1) && b == maskOf(w);
}

inline const Operation kOperations[] = {
    {"add", &IntRangeDomain::add,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       return (a + b) & maskOf(w);
     }},
    {"sub", &IntRangeDomain::sub,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       return (a - b) & maskOf(w);
     }},
    {"mul", &IntRangeDomain::mul,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       return (a * b) & maskOf(w);
     }},
    {"divSigned", &IntRangeDomain::divSigned,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       if (b == 0 || overflows(a, b, w))
         return std::nullopt;
       return uint64_t(toSigned(a, w) / toSigned(b, w)) & maskOf(w);
     }},
    {"divUnsigned", &IntRangeDomain::divUnsigned,
     [](uint64_t a, uint64_t b, unsigned) -> std::optional<uint64_t> {
       return b == 0 ? std::nullopt : std::optional<uint64_t>(a / b);
     }},
    {"remSigned", &IntRangeDomain::remSigned,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       if (b == 0 || overflows(a, b, w))
         return std::nullopt;
       return uint64_t(toSigned(a, w) % toSigned(b, w)) & maskOf(w);
     }},
    {"remUnsigned", &IntRangeDomain::remUnsigned,
     [](uint64_t a, uint64_t b, unsigned) -> std::optional<uint64_t> {
       return b == 0 ? std::nullopt : std::optional<uint64_t>(a % b);
     }},
    {"and", &IntRangeDomain::bitAnd,
     [](uint64_t a, uint64_t b, unsigned) -> std::optional<uint64_t> { return a & b; }},
    {"or", &IntRangeDomain::bitOr,
     [](uint64_t a, uint64_t b, unsigned) -> std::optional<uint64_t> { return a | b; }},
    {"xor", &IntRangeDomain::bitXor,
     [](uint64_t a, uint64_t b, unsigned) -> std::optional<uint64_t> { return a ^ b; }},
    {"shiftLeft", &IntRangeDomain::shiftLeft,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       return b >= w ? std::nullopt : std::optional<uint64_t>((a << b) & maskOf(w));
     }},
    {"shiftRightSigned", &IntRangeDomain::shiftRightSigned,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       return b >= w ? std::nullopt
                     : std::optional<uint64_t>(uint64_t(toSigned(a, w) >> b) & maskOf(w));
     }},
    {"shiftRightUnsigned", &IntRangeDomain::shiftRightUnsigned,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       return b >= w ? std::nullopt : std::optional<uint64_t>(a >> b);
     }},
    {"minSigned", &IntRangeDomain::minSigned,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       return toSigned(a, w) < toSigned(b, w) ? a : b;
     }},
    {"maxSigned", &IntRangeDomain::maxSigned,
     [](uint64_t a, uint64_t b, unsigned w) -> std::optional<uint64_t> {
       return toSigned(a, w) > toSigned(b, w) ? a : b;
     }},
    {"minUnsigned", &IntRangeDomain::minUnsigned,
     [](uint64_t a, uint64_t b, unsigned) -> std::optional<uint64_t> { return std::min(a, b); }},
    {"maxUnsigned", &IntRangeDomain::maxUnsigned,
     [](uint64_t a, uint64_t b, unsigned) -> std::optional<uint64_t> { return std::max(a, b); }},
};

} // namespace annudf::test

#endif // ANNUDF_TEST_ANALYSIS_INTRANGETESTING_H
