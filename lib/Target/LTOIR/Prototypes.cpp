//===- Prototypes.cpp - Does the PTX define what the ABI declares? --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A linker matches names only: a hook with other parameters links, runs, and gives
// wrong distances. So what was really compiled is read back. The expected side is
// taken from annudf_abi.h by the C++ compiler, not written down a second time.
//
//===----------------------------------------------------------------------===//

#include "annudf/Target/LibNvvm.h"

#include "annudf/ABI/Hooks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace annudf;

namespace {

/// A parameter as PTX spells it: registers have a width and no type.
template <typename T> struct Spelling {
  static std::string get() { return ".b" + std::to_string(8 * sizeof(T)); }
};

/// Before the name nothing stands.
template <> struct Spelling<void> {
  static std::string get() { return ""; }
};

template <typename Result, typename... Parameters> struct Spelling<Result(Parameters...)> {
  static std::string get() {
    std::string text = Spelling<Result>::get() + "(", separator;
    ((text += separator + Spelling<Parameters>::get(), separator = ", "), ...);
    return text + ")";
  }
};

/// `.param .b32 name` and `.param .align 4 .b8 name[8]` as `.b32` and `.b8[8]`.
std::string spellParameters(StringRef list) {
  SmallVector<StringRef> parameters;
  list.split(parameters, ',', -1, /*KeepEmpty=*/false);
  std::string text, separator;
  for (StringRef parameter : parameters) {
    SmallVector<StringRef> words;
    parameter.split(words, ' ', -1, /*KeepEmpty=*/false);
    std::string type;
    for (size_t i = 0; i < words.size(); ++i)
      if (words[i] != ".param" && words[i].starts_with(".b"))
        type = words[i].str();
    if (!words.empty() && words.back().contains('['))
      type += "[" + words.back().split('[').second.str();
    text += separator + type;
    separator = ", ";
  }
  return text;
}

struct PtxFunction {
  std::string name, prototype;
  bool isExternal;
};

/// In one line, without comments.
std::string flatten(StringRef ptx) {
  std::string text, flat;
  while (!ptx.empty()) {
    auto [before, comment] = ptx.split("/*");
    text += before.str() + ' ';
    ptx = comment.split("*/").second;
  }
  SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n');
  for (StringRef line : lines) {
    for (char c : line.split("//").first)
      flat += c == '\t' || c == '\r' ? ' ' : c;
    flat += ' ';
  }
  return flat;
}

/// One `.func` directive after another: `.visible .func (.param .b32 r) name(params)`.
std::vector<PtxFunction> functionsOf(StringRef ptx) {
  const std::string flat = flatten(ptx);
  std::vector<PtxFunction> functions;
  StringRef rest = flat;
  while (true) {
    auto [before, after] = rest.split(".func");
    if (after.empty())
      return functions;
    PtxFunction function;
    function.isExternal = before.rtrim().ends_with(".extern");
    after = after.ltrim();
    std::string result;
    if (after.consume_front("(")) {
      auto [list, tail] = after.split(')');
      result = spellParameters(list);
      after = tail.ltrim();
    }
    function.name = after.take_until([](char c) { return c == '(' || c == ' ' || c == ';'; }).str();
    after = after.drop_front(function.name.size()).ltrim();
    std::string parameters;
    if (after.consume_front("(")) {
      auto [list, tail] = after.split(')');
      parameters = spellParameters(list);
      after = tail;
    }
    function.prototype = result + "(" + parameters + ")";
    functions.push_back(std::move(function));
    rest = after;
  }
}

template <typename... Ts> Error refuse(const Ts &...parts) {
  std::string text;
  raw_string_ostream os(text);
  (os << ... << parts);
  return createStringError(inconvertibleErrorCode(), text);
}

} // namespace

/// "accumulators of 32 and coordinates of 64 bits"
static std::string spellWidths(const HookWidths &widths) {
  return "accumulators of " +
         (widths.form == AccumulatorForm::Words ? "several fields in words of " : std::string()) +
         std::to_string(widths.accumulator) + " and coordinates of " +
         std::to_string(widths.coordinate) + " bits";
}

static std::string spellCuvsMetric(bool hasCapture) {
  return hasCapture ? Spelling<CuvsMetricOfCapture>::get() : Spelling<CuvsMetric>::get();
}

/// That of one function: `symbol` as `declared` by `source`, which has a `variant` of it that was
/// meant, and nothing else called. \param noun  what the function is of, as "metric".
static Error checkDefinition(StringRef ptx, StringRef symbol, StringRef declared, StringRef noun,
                             StringRef source, StringRef variant) {
  bool isFound = false;
  for (const PtxFunction &function : functionsOf(ptx)) {
    if (function.name != symbol) {
      if (function.isExternal)
        return refuse("the compiled ", noun, " calls '", function.name, "', which a ", noun,
                      " may not call");
      continue; // Private, and gone once inlined.
    }
    if (function.isExternal)
      continue; // Found missing below, unless a definition follows.
    if (function.prototype != declared)
      return refuse("the code has ", symbol, " as ", function.prototype, ", ", source, variant,
                    " declares ", declared);
    isFound = true;
  }
  if (!isFound)
    return refuse("the code does not define ", symbol, ", ", source, " declares ", declared);
  return Error::success();
}

Error annudf::checkCuvsPrototype(StringRef ptx, StringRef symbol, bool hasCapture) {
  return checkDefinition(ptx, symbol, spellCuvsMetric(hasCapture), "metric",
                         ANNUDF_CUVS_METRIC_ABI_ID,
                         hasCapture ? " with a capture" : " without captures");
}

Error annudf::checkFunctionPrototype(StringRef ptx, StringRef name, StringRef prototype) {
  return checkDefinition(ptx, name, prototype, "function", "its signature", "");
}

Error annudf::checkPrototypes(StringRef ptx, const HookShape &shape) {
  struct Expectation {
    std::string name, prototype;
    bool isRequired = true, isFound = false;
  };
  std::vector<Expectation> expected;
  auto expect = [&]<typename T>(ScanHook hook, const char *symbol, std::type_identity<T>) {
    expected.push_back({symbol, Spelling<T>::get(), isDefinedBy(hook, shape.hooks)});
  };
  if (shape.isFilter)
    forEachFilterHook([&]<typename T>(FilterHook, const char *symbol, std::type_identity<T>) {
      expected.push_back({symbol, Spelling<T>::get()});
    });
  else if (!forEachScanHook(shape.widths, expect))
    return refuse("no hooks have ", spellWidths(shape.widths));
  for (const PtxFunction &function : functionsOf(ptx)) {
    if (function.isExternal) {
      if (shape.asksForElement && function.name == "annudf1_row_element" &&
          function.prototype == Spelling<decltype(annudf1_row_element)>::get())
        continue;
      if (function.name == shape.linked &&
          function.prototype == spellCuvsMetric(shape.linkedTakesCapture))
        continue;
      if (llvm::is_contained(shape.externs, std::pair(function.name, function.prototype)))
        continue;
      return refuse("the compiled metric calls '", function.name, "', which a hook may not call");
    }
    auto match = llvm::find_if(expected,
                               [&](const Expectation &hook) { return hook.name == function.name; });
    if (match == expected.end()) { // Private, and gone once inlined.
      if (StringRef(function.name).starts_with("annudf1_"))
        return refuse("the compiled metric defines ", function.name, ", which is no hook of a ",
                      shape.isFilter ? "filter" : "metric with " + spellWidths(shape.widths));
      continue;
    }
    if (!match->isRequired)
      return refuse("the compiled metric defines ", function.name,
                    ", which its list of hooks does not have");
    if (match->prototype != function.prototype)
      return refuse("the compiled metric has ", function.name, " as ", function.prototype,
                    ", annudf_abi.h declares ", match->prototype);
    match->isFound = true;
  }
  for (const Expectation &hook : expected)
    if (hook.isRequired && !hook.isFound)
      return refuse("the compiled metric does not define ", hook.name, ", annudf_abi.h declares ",
                    hook.prototype);
  return Error::success();
}

Expected<bool> annudf::findLinkedPrototype(StringRef ptx, StringRef symbol, StringRef prototype) {
  bool isFound = false;
  for (const PtxFunction &function : functionsOf(ptx)) {
    if (function.isExternal || function.name != symbol)
      continue; // Another piece may define it; the linker says so where none does.
    if (function.prototype != prototype)
      return refuse("has ", symbol, " as ", function.prototype, ", but it is declared as ",
                    prototype);
    isFound = true;
  }
  return isFound;
}

std::vector<std::string> annudf::namesOfPtx(StringRef ptx) {
  std::vector<std::string> names;
  for (const PtxFunction &function : functionsOf(ptx))
    if (!function.isExternal)
      names.push_back(function.name);
  const std::string flat = flatten(ptx);
  SmallVector<StringRef> words;
  StringRef(flat).split(words, ' ', -1, /*KeepEmpty=*/false);
  for (size_t i = 0; i < words.size(); ++i) {
    const bool isData = words[i] == ".global" || words[i] == ".const";
    if (!isData && words[i] != ".entry" && words[i] != ".alias")
      continue;
    if (i != 0 && (words[i - 1] == ".extern" || words[i - 1] == ".ptr"))
      continue;          // Somebody else's, and a parameter that points there.
    size_t name = i + 1; // Behind `.align 4 .b8`.
    while (name < words.size() && (words[name].starts_with(".") || isDigit(words[name].front())))
      ++name;
    if (name < words.size())
      names.push_back(
          words[name]
              .take_until([](char c) { return c == '(' || c == '[' || c == ';' || c == ','; })
              .str());
  }
  return names;
}

std::string annudf::findReservedName(ArrayRef<std::string> names) {
  for (StringRef name : names)
    if (name.starts_with("annudf") && !name.starts_with("annudf_by_value_") && name != kProbeName)
      return name.str();
  return "";
}
