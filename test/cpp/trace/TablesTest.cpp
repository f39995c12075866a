//===- TablesTest.cpp - The options of a traced metric and the ABI's tables -===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The header of traced metrics includes nothing of annudf, so it says again what annudf_tables.h
// says. Row for row: enumerators, their numbers, what is written of them, and no more and no fewer.
// A row that appears in the tables fails here until the header has it.
//
//===----------------------------------------------------------------------===//

#include "annudf/ABI/annudf_tables.h"
#include "annudf/cpp/trace.hpp"
#include "gtest/gtest.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

namespace annudf::test {
namespace {

/// Spellings by number.
using Table = std::map<int, std::string>;

#define ANNUDF_ROW(NAME, VALUE, SPELLING, ...) {VALUE, SPELLING},
Table elementRows() { return {ANNUDF_ELEMENTS(ANNUDF_ROW)}; }
Table orderRows() { return {ANNUDF_ORDERS(ANNUDF_ROW)}; }
Table coarseRows() { return {ANNUDF_COARSES(ANNUDF_ROW)}; }
Table numericsRows() { return {ANNUDF_NUMERICS(ANNUDF_ROW)}; }
Table extentRows() { return {ANNUDF_EXTENTS(ANNUDF_ROW)}; }
Table accumulatorRows() { return {ANNUDF_ACCUMULATORS(ANNUDF_ROW)}; }
Table computeTypeRows() { return {ANNUDF_COMPUTE_TYPES(ANNUDF_ROW)}; }
Table captureElementRows() { return {ANNUDF_CAPTURE_ELEMENTS(ANNUDF_ROW)}; }
#undef ANNUDF_ROW
#define ANNUDF_ROW(NAME, VALUE, ...) {#NAME, VALUE},
std::map<std::string, int64_t> limitRows() { return {ANNUDF_LIMITS(ANNUDF_ROW)}; }
#undef ANNUDF_ROW

std::vector<std::string> spellings(const Table &of) {
  std::vector<std::string> all;
  for (const auto &[number, spelling] : of)
    all.push_back(spelling);
  std::sort(all.begin(), all.end());
  return all;
}

std::string text(const metric_options &options) {
  return trace_metric("m", [](auto x, auto y, auto acc) { return acc + (x - y); }, options);
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// `named` are the enumerators of the header, `write` sets one.
template <class Enum, class Write>
void compare(const Table &table, const std::vector<std::pair<Enum, std::string>> &named,
             Write write) {
  Table mine;
  for (const auto &[value, spelling] : named) {
    mine[int(value)] = spelling;
    metric_options options;
    const std::string part = write(options, value, spelling);
    EXPECT_TRUE(contains(text(options), part)) << part << " is not in\n" << text(options);
  }
  EXPECT_EQ(mine, table);
}

} // namespace

TEST(TraceTables, Elements) {
  std::vector<std::pair<element, std::string>> named;
  std::map<int, bool> whole;
  for (const tracing::element_row &one : tracing::element_rows) {
    named.emplace_back(one.value, one.name);
    whole[int(one.value)] = one.is_whole;
  }
  compare<element>(elementRows(), named,
                   [](metric_options &options, element one, const std::string &spelling) {
                     options.elements = one;
                     return "elements(" + spelling + ")";
                   });
  enum Kind { FLOAT, SIGNED, UNSIGNED };
#define ANNUDF_ROW(NAME, VALUE, SPELLING, BITS, KIND, SINCE) {VALUE, KIND != FLOAT},
  EXPECT_EQ(whole, (std::map<int, bool>{ANNUDF_ELEMENTS(ANNUDF_ROW)}));
#undef ANNUDF_ROW
  // And a metric that names none takes all of them.
  const std::string all = text({});
  for (const auto &[number, spelling] : elementRows())
    EXPECT_TRUE(contains(all.substr(0, all.find('{')), spelling)) << spelling;
}

TEST(TraceTables, Policies) {
  compare<order>(orderRows(), {{order::min, "min"}, {order::max, "max"}},
                 [](metric_options &options, order one, const std::string &spelling) {
                   options.order = one;
                   return "order(" + spelling + ")";
                 });
  compare<coarse>(
      coarseRows(),
      {{coarse::l2, "l2"}, {coarse::inner_product, "inner_product"}, {coarse::cosine, "cosine"}},
      [](metric_options &options, coarse one, const std::string &spelling) {
        options.coarse = one;
        return "coarse(" + spelling + ")";
      });
  compare<numerics>(numericsRows(),
                    {{numerics::strict, "strict"}, {numerics::reassociate, "reassociate"}},
                    [](metric_options &options, numerics one, const std::string &spelling) {
                      options.numerics = one;
                      // The first is what nothing says.
                      return one == numerics::strict ? std::string() : "numerics(" + spelling + ")";
                    });
}

TEST(TraceTables, Extents) {
  // An extent that is a constant is spelled as its number.
  std::vector<std::string> mine = {"constant", dim.text(), row.text(), query.text()};
  std::sort(mine.begin(), mine.end());
  EXPECT_EQ(mine, spellings(extentRows()));
  EXPECT_EQ(extent(7).text(), "7");
}

namespace {

/// What is written of a capture of T, and of its sign.
template <class T> std::string captureOf() {
  const std::string all =
      trace_metric("m", [w = capture<T>("w", 4)](auto x, auto y, auto acc, auto ctx) {
        const auto entry = ctx(w)[0];
        if constexpr (std::is_same_v<T, bool>)
          return acc + select(entry, x, y);
        else
          return acc + cast<float>(entry) * (x - y);
      });
  const size_t at = all.find("!annudf.capture<4 x ") + std::string("!annudf.capture<4 x ").size();
  const std::string spelled = all.substr(at, all.find('>', at) - at);
  return spelled.starts_with("ui") ? "u" + spelled.substr(2) : spelled; // As MLIR spells it.
}

template <class T> std::string accumulatorOf() {
  return trace_metric("m", hooks{.initial = T(0), .update = [](auto x, auto, auto acc) {
                                   return acc + cast<T>(x);
                                 }});
}

template <class T> std::string computeOf() {
  return trace_metric("m", hooks{.compute = compute<T>, .update = [](auto x, auto y, auto acc) {
                                   return acc + cast<float>(x - y);
                                 }});
}

} // namespace

TEST(TraceTables, CaptureElements) {
  std::vector<std::string> mine = {
      captureOf<float>(),   captureOf<double>(),   captureOf<int32_t>(), captureOf<uint32_t>(),
      captureOf<float16>(), captureOf<bfloat16>(), captureOf<int8_t>(),  captureOf<uint8_t>(),
      captureOf<int16_t>(), captureOf<uint16_t>(), captureOf<int64_t>(), captureOf<uint64_t>(),
      captureOf<bool>()};
  std::sort(mine.begin(), mine.end());
  EXPECT_EQ(mine, spellings(captureElementRows()));
}

TEST(TraceTables, AccumulatorsAndComputeTypes) {
  const std::map<std::string, std::string> accumulators = {{"f32", accumulatorOf<float>()},
                                                           {"f64", accumulatorOf<double>()},
                                                           {"i32", accumulatorOf<int32_t>()},
                                                           {"u32", accumulatorOf<uint32_t>()},
                                                           {"i64", accumulatorOf<int64_t>()}};
  std::vector<std::string> mine;
  for (const auto &[spelling, text] : accumulators) {
    mine.push_back(spelling);
    const bool listed = contains(text, "accumulator(" + spelling + ")");
    EXPECT_TRUE(listed || contains(text, ": " + spelling + ", %x")) << text;
  }
  EXPECT_EQ(mine, spellings(accumulatorRows()));
  const std::map<std::string, std::string> computed = {
      {"f32", computeOf<float>()}, {"f64", computeOf<double>()}, {"i32", computeOf<int32_t>()}};
  mine.clear();
  for (const auto &[spelling, text] : computed) {
    mine.push_back(spelling);
    EXPECT_TRUE(contains(text, "%x: " + spelling)) << text;
  }
  EXPECT_EQ(mine, spellings(computeTypeRows()));
}

TEST(TraceTables, Limits) {
  // test/cpp/trace/refused/seven_fields.cpp is one more.
  EXPECT_EQ(limitRows().at("MAX_FIELDS"), 6);
  EXPECT_EQ(limitRows().at("MAX_NAME"), tracing::longest_name);
  const std::string text =
      trace_metric("m", hooks{.initial = std::array{0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F},
                              .update =
                                  [](auto x, auto, auto acc) {
                                    acc[5] = acc[5] + x;
                                    return acc;
                                  },
                              .finalize = [](auto acc) { return acc[0]; }});
  EXPECT_TRUE(contains(text, "f32, f32, f32, f32, f32, f32")) << text;
}

} // namespace annudf::test
