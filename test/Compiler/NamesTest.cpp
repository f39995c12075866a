//===- NamesTest.cpp - Users' names beside the compiler's symbols --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HookJit.h"

#include "annudf/ABI/Hooks.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <gtest/gtest.h>
#include <set>

using namespace annudf;
using namespace annudf::test;

namespace {

/// A metric that calls a helper, with a capture: `names` are theirs.
std::string named(const std::string &metric, const std::string &helper,
                  const std::string &capture) {
  return "annudf.metric @" + metric +
         " order(min) coarse(l2) elements(f32) {\n"
         "  %c = annudf.capture \"" +
         capture +
         "\" : !annudf.capture<f32>\n"
         "  %t = annudf.capture \"table\" : !annudf.capture<dim x f32>\n"
         "  annudf.init {\n    %0 = arith.constant 0.0 : f32\n    annudf.yield %0 : f32\n  }\n"
         "  annudf.update (%acc: f32, %x: f32, %y: f32) {\n"
         "    %d = annudf.index dim\n    %s = annudf.load %c[] : !annudf.capture<f32>\n"
         "    %w = annudf.load %t[%d] : !annudf.capture<dim x f32>\n"
         "    %1 = func.call @" +
         helper +
         "(%x, %w) : (f32, f32) -> f32\n"
         "    %2 = func.call @f(%1, %s) : (f32, f32) -> f32\n    annudf.yield %2 : f32\n  }\n}\n"
         "func.func private @" +
         helper +
         "(%a: f32, %b: f32) -> f32 {\n"
         "  %0 = arith.mulf %a, %b : f32\n  func.return %0 : f32\n}\n" +
         "func.func private @f(%a: f32, %b: f32) -> f32 {\n"
         "  %0 = arith.addf %a, %b : f32\n  func.return %0 : f32\n}\n";
}

/// Has all that a lowering makes symbols of: hooks of two widths, a table, functions of math.
std::string symbolRich(const std::string &acc) {
  return "annudf.metric @m order(min) coarse(l2) elements(f32) dims(2) {\n"
         "  %t = annudf.capture \"t\" = dense<[2.0, 3.0]> : tensor<2xf32> : "
         "!annudf.capture<dim x f32>\n"
         "  annudf.init {\n    %0 = arith.constant 0.0 : " +
         acc + "\n    annudf.yield %0 : " + acc +
         "\n  }\n"
         "  annudf.update (%acc: " +
         acc +
         ", %x: f32, %y: f32) {\n"
         "    %d = annudf.index dim\n    %w = annudf.load %t[%d] : !annudf.capture<dim x f32>\n"
         "    %0 = func.call @h(%x, %w) : (f32, f32) -> f32\n    annudf.yield %acc : " +
         acc + "\n  }\n  annudf.finalize (%acc: " + acc +
         ") {\n    %0 = arith.constant 1.0 : f32\n    %1 = func.call @h(%0, %0) : (f32, f32) -> "
         "f32\n"
         "    annudf.yield %1 : f32\n  }\n}\n"
         "func.func private @h(%a: f32, %b: f32) -> f32 {\n  %0 = math.powf %a, %b : f32\n"
         "  %1 = math.sin %0 : f32\n  %2 = math.erf %1 : f32\n  func.return %2 : f32\n}\n";
}

/// Names in bytes of LTO-IR, whose table of strings has nothing between them.
void addNamesIn(const std::string &bytes, std::vector<std::string> &names) {
  const auto isOfName = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (size_t at = 0; (at = bytes.find("annudf", at)) != std::string::npos;) {
    size_t end = at;
    while (end < bytes.size() && isOfName(bytes[end]))
      ++end;
    end = std::min({end, bytes.find("annudf", at + 1), bytes.find("__nv", at + 1)});
    names.push_back(bytes.substr(at, end - at));
    at = end;
  }
}

/// The symbols of the code that is made today: of host bitcode, of LTO-IR, of the CPU's scan.
std::vector<std::string> symbolsOfCode() {
  std::vector<std::string> names;
  for (const char *acc : {"f32", "f64"}) {
    Artifact artifact = compileText(symbolRich(acc), haveLibNvvm());
    for (const std::string &name : symbolsOf(artifact.find(PayloadKind::HostBitcode)->bytes))
      names.push_back(name);
    if (haveLibNvvm())
      addNamesIn(artifact.findLtoIr(90)->bytes, names);
  }
  std::ifstream file(ANNUDF_SCAN_BITCODE, std::ios::binary);
  const std::string scan(std::istreambuf_iterator<char>(file), {});
  EXPECT_FALSE(scan.empty()) << ANNUDF_SCAN_BITCODE;
  for (const std::string &name : symbolsOf(scan))
    names.push_back(name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  // Others are refused as names (M12, C7, F6).
  std::erase_if(names, [](const std::string &name) {
    return name.empty() || name.size() > 255 || std::isdigit(static_cast<unsigned char>(name[0])) ||
           !std::all_of(name.begin(), name.end(),
                        [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  });
  return names;
}

/// The symbols of code made today, and what one of the lowerings once made.
std::vector<std::string> internalNames() {
  std::vector<std::string> names = symbolsOfCode();
  for (const char *expected : {"annudf1_scan_update_a32_x32", "annudf1_scan_update_a64_x32",
                               "annudf1_scan_finalize_a32", "annudf1_scan_contract"})
    EXPECT_EQ(std::count(names.begin(), names.end(), expected), 1) << expected;
  for (const char *name : {"annudf_body_update",
                           "annudf_helper_f_0",
                           "annudf_helper_0_f",
                           "annudf_helper_1_f",
                           "annudf_helper_0_annudf_helper_0_f",
                           "annudf_table_0",
                           "annudf_table_1",
                           "annudf_cpu_scan_a32_x32",
                           "annudf_cpu_order",
                           "annudf_cpu_dims",
                           "annudf_cpu_contract",
                           "annudf_scan_pair",
                           "annudf_scan_tile",
                           "annudf_read_contract",
                           "annudf1_element",
                           "annudf1_order",
                           "annudf1_dims",
                           "annudf1_update_32",
                           "powf",
                           "sqrtf",
                           "fmaf",
                           "memcpy",
                           "__nv_powf",
                           "main"})
    names.push_back(name);
  std::set<std::string> hooks; // Several widths share one.
  for (int a : {32, 64})
    for (int x : {32, 64})
      for (AccumulatorForm form : {AccumulatorForm::Word, AccumulatorForm::Words})
        for (ScanHook hook : kScanHooks)
          hooks.insert(symbolOf(hook, {a, x, form}));
  names.insert(names.end(), hooks.begin(), hooks.end());
  names.insert(names.end(), std::begin(kRuntimeConstants), std::end(kRuntimeConstants));
  return names;
}

/// Names of metrics, helpers and captures never become symbols: each is taken, or refused by
/// the rule on names of helpers.
TEST(Names, EveryInternalSymbolServesAsAnyName) {
  int n = 0;
  for (const std::string &name : internalNames()) {
    const std::string texts[] = {named("m", name, "c"), named(name, "g" + name, name)};
    for (const std::string &text : texts) {
      if (text.find("func.func private @" + name + "(") != std::string::npos &&
          compileError(text).find("[F6]") != std::string::npos)
        continue;
      // The device's lowering on every eighth: it takes libNVVM.
      Artifact artifact = compileText(text, haveLibNvvm() && n++ % 8 == 0,
                                      "dims=2 values={table = dense<[2.0, 3.0]> : tensor<2xf32>}");
      HookJit hooks(artifact);
      hooks.bind(0, 0.5f);
      EXPECT_EQ(std::bit_cast<float>(hooks.update(0u, std::bit_cast<uint32_t>(4.0f), 0u, 1, 2)),
                12.5f)
          << text;
    }
  }
}

} // namespace
