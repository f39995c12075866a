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

/// `.b32` of .f32, .u32 and .s32 too: registers have a width alone. "" of what is no type.
std::string spellWidth(StringRef word) {
  const StringRef digits = word.drop_front(std::min<size_t>(2, word.size()));
  const bool isType = word.size() > 2 && word.front() == '.' && StringRef("bfsu").contains(word[1]);
  return isType && llvm::all_of(digits, isDigit) ? ".b" + digits.str() : "";
}

/// `.param .f32 name` and `.param .align 4 .b8 name[8]` as `.b32` and `.b8[8]`.
std::string spellParameters(StringRef list) {
  SmallVector<StringRef> parameters;
  list.split(parameters, ',', -1, /*KeepEmpty=*/false);
  std::string text, separator;
  for (StringRef parameter : parameters) {
    SmallVector<StringRef> words;
    parameter.split(words, ' ', -1, /*KeepEmpty=*/false);
    std::string type;
    for (size_t i = 0; i < words.size(); ++i)
      if (const std::string width = spellWidth(words[i]); !width.empty())
        type = width;
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
  bool isStrong; ///< Defined for every piece, which no other may do.
};

/// In one line, without comments and what stands in strings, and with a space before each
/// directive. As ptxas reads it: what begins first hides the others, a string has no escapes.
std::string flatten(StringRef ptx) {
  std::string flat;
  auto skipPast = [&](size_t from, StringRef end) {
    const size_t at = ptx.find(end, from);
    ptx = at == StringRef::npos ? "" : ptx.drop_front(at + end.size());
    flat += ' ';
  };
  while (!ptx.empty()) {
    if (ptx.starts_with("/*")) {
      skipPast(2, "*/");
    } else if (ptx.starts_with("//")) {
      skipPast(2, "\n");
    } else if (ptx.front() == '"') {
      skipPast(1, "\"");
    } else {
      if (ptx.front() == '.')
        flat += ' ';
      flat += isSpace(ptx.front()) ? ' ' : ptx.front();
      ptx = ptx.drop_front();
    }
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
    const bool isVisible = before.rtrim().ends_with(".visible");
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
    function.isStrong = isVisible && after.find('{') < after.find(';'); // And is no declaration.
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

static int64_t braces(StringRef word) {
  return static_cast<int64_t>(word.count('{')) - static_cast<int64_t>(word.count('}'));
}

/// From `.align 4 .b8 a[4] = {1, 2}, b; ...`: a and b.
static std::vector<std::string> namesOfData(StringRef text) {
  std::vector<std::string> names;
  std::string kept;
  int depth = 0;
  for (char c : text) {
    if (c == ';' && depth == 0)
      break;
    depth += StringRef("([{").contains(c);
    if (depth == 0)
      kept += c;
    depth -= StringRef(")]}").contains(c);
  }
  SmallVector<StringRef> parts, words;
  StringRef(kept).split(parts, ',');
  for (StringRef part : parts) {
    words.clear();
    part.split('=').first.split(words, ' ', -1, /*KeepEmpty=*/false);
    if (!words.empty())
      names.push_back(words.back().str());
  }
  return names;
}

std::vector<std::string> annudf::strongNamesOfPtx(StringRef ptx) {
  std::vector<std::string> names;
  for (const PtxFunction &function : functionsOf(ptx))
    if (function.isStrong)
      names.push_back(function.name);
  const std::string flat = flatten(ptx);
  for (StringRef rest = flat; !rest.empty();) {
    rest = rest.split(".visible").second.ltrim();
    if (rest.consume_front(".global") || rest.consume_front(".const"))
      llvm::append_range(names, namesOfData(rest));
  }
  return names;
}

std::vector<std::string> annudf::namesOfPtx(StringRef ptx) {
  std::vector<std::string> names;
  for (const PtxFunction &function : functionsOf(ptx))
    if (!function.isExternal)
      names.push_back(function.name);
  const std::string flat = flatten(ptx);
  SmallVector<StringRef> words;
  StringRef(flat).split(words, ' ', -1, /*KeepEmpty=*/false);
  int64_t depth = 0; // Data and kernels are declared outside of functions.
  for (size_t i = 0; i < words.size(); depth += braces(words[i]), ++i) {
    if (depth != 0)
      continue;
    if ((words[i] == ".global" || words[i] == ".const") && (i == 0 || words[i - 1] != ".extern") &&
        (i == 0 || words[i - 1] != ".ptr")) // A parameter that points there.
      llvm::append_range(names, namesOfData(StringRef(words[i].end(),
                                                      flat.data() + flat.size() - words[i].end())));
    const size_t name = i + 1;
    if ((words[i] == ".entry" || words[i] == ".alias") && name < words.size())
      names.push_back(
          words[name]
              .take_until([](char c) { return c == '(' || c == '[' || c == ';' || c == ','; })
              .str());
  }
  return names;
}

std::string annudf::findReservedName(ArrayRef<std::string> names) {
  for (StringRef name : names)
    if (name.starts_with("annudf") && !name.starts_with(kByValuePrefix) && name != kProbeName)
      return name.str();
  return "";
}
