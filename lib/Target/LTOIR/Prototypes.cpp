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

#include "annudf/ABI/annudf_abi.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace annudf;

namespace {

/// A parameter as PTX spells it: registers have a width and no type.
template <typename T> struct Spelling {
  static std::string get() { return ".b" + std::to_string(8 * sizeof(T)); }
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

/// One `.func` directive after another: `.visible .func (.param .b32 r) name(params)`.
std::vector<PtxFunction> functionsOf(StringRef ptx) {
  std::string flat;
  SmallVector<StringRef> lines;
  ptx.split(lines, '\n');
  for (StringRef line : lines) {
    for (char c : line.split("//").first)
      flat += c == '\t' || c == '\r' ? ' ' : c;
    flat += ' ';
  }
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

Error annudf::checkPrototypes(StringRef ptx, int width) {
  struct Expectation {
    std::string name, prototype;
    bool isExternal = false, isFound = false;
  };
  std::string suffix = width == 64 ? "_64" : "_32";
  Expectation expected[] = {
      {"annudf1_init" + suffix, width == 64 ? Spelling<decltype(annudf1_init_64)>::get()
                                            : Spelling<decltype(annudf1_init_32)>::get()},
      {"annudf1_update" + suffix, width == 64 ? Spelling<decltype(annudf1_update_64)>::get()
                                              : Spelling<decltype(annudf1_update_32)>::get()},
      {"annudf1_finalize" + suffix, width == 64 ? Spelling<decltype(annudf1_finalize_64)>::get()
                                                : Spelling<decltype(annudf1_finalize_32)>::get()},
      {"annudf1_order", Spelling<decltype(annudf1_order)>::get()},
      {"annudf1_dims", Spelling<decltype(annudf1_dims)>::get()},
      {"annudf1_element", Spelling<decltype(annudf1_element)>::get(), /*isExternal=*/true},
  };
  for (const PtxFunction &function : functionsOf(ptx)) {
    Expectation *match = nullptr;
    for (Expectation &candidate : expected)
      if (candidate.name == function.name)
        match = &candidate;
    if (!match && function.isExternal)
      return refuse(
          "the compiled metric calls '", function.name,
          "', which the ABI does not have; annudf1_element is the only external function");
    if (!match) // Private, and gone once inlined.
      continue;
    if (match->isExternal != function.isExternal)
      return refuse("the compiled metric ", function.isExternal ? "only declares " : "defines ",
                    function.name, ", annudf_abi.h has it the other way round");
    if (match->prototype != function.prototype)
      return refuse("the compiled metric has ", function.name, " as ", function.prototype,
                    ", annudf_abi.h declares ", match->prototype);
    match->isFound = true;
  }
  for (const Expectation &hook : expected)
    if (!hook.isFound && !hook.isExternal)
      return refuse("the compiled metric does not define ", hook.name, ", annudf_abi.h declares ",
                    hook.prototype);
  return Error::success();
}
