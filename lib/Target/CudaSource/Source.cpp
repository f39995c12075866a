//===- Source.cpp - What CUDA source defines and includes -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace llvm;
using namespace annudf;

/// The source with comments and literals as blanks, line by line as before.
static std::string withoutCommentsAndLiterals(StringRef source) {
  std::string code = source.str();
  auto blank = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < std::min(end, code.size()); ++i)
      if (code[i] != '\n')
        code[i] = ' ';
    return end;
  };
  for (size_t i = 0; i < source.size();) {
    StringRef rest = source.substr(i);
    if (rest.starts_with("//")) {
      i = blank(i, std::min(source.find('\n', i), source.size()));
    } else if (rest.starts_with("/*")) {
      size_t end = source.find("*/", i + 2);
      i = blank(i, end == StringRef::npos ? source.size() : end + 2);
    } else if (rest.front() == '"' ||
               (rest.front() == '\'' && (i == 0 || !isAlnum(source[i - 1])))) { // 1'000
      size_t end = i + 1;
      while (end < source.size() && source[end] != rest.front() && source[end] != '\n')
        end += source[end] == '\\' ? 2 : 1;
      i = blank(i, end + 1);
    } else {
      ++i;
    }
  }
  return code;
}

/// Where `name` stands as an identifier followed by `next`, as no member and in no
/// namespace that is named; npos if nowhere.
static size_t findToken(StringRef code, StringRef name, StringRef next) {
  auto isPart = [](char c) { return isAlnum(c) || c == '_'; };
  for (size_t at = code.find(name); at != StringRef::npos; at = code.find(name, at + 1)) {
    StringRef before = code.take_front(at).rtrim(), after = code.drop_front(at + name.size());
    if ((at > 0 && isPart(code[at - 1])) || (!after.empty() && isPart(after.front())))
      continue;
    if (before.ends_with(".") || before.ends_with("->") || before.ends_with("::"))
      continue;
    if (after.ltrim().starts_with(next))
      return at;
  }
  return StringRef::npos;
}

static bool hasStruct(StringRef code, StringRef name) {
  for (size_t at = code.find(name); at != StringRef::npos; at = code.find(name, at + 1)) {
    StringRef before = code.take_front(at), after = code.drop_front(at + name.size()).ltrim();
    if (before.rtrim().size() < before.size() && before.rtrim().ends_with("struct") &&
        (after.starts_with("{") || after.starts_with(":")))
      return true;
  }
  return false;
}

SourceForm annudf::findForm(StringRef source) {
  const std::string code = withoutCommentsAndLiterals(source);
  SourceForm form;
  size_t at = findToken(code, "compute_dist_udf_impl", "(");
  form.isPeer = at != StringRef::npos;
  if (!form.isPeer) {
    at = findToken(code, "update", "(");
    form.hasFinalize = findToken(code, "finalize", "(") != StringRef::npos;
  }
  form.hasPoint = hasStruct(code, "point");
  form.hasIsSame = hasStruct(code, "is_same");
  SmallVector<int> open;
  int line = 1;
  for (char c : code) {
    line += c == '\n';
    if (c == '{')
      open.push_back(line);
    else if (c == '}' && !open.empty())
      open.pop_back();
  }
  form.openBrace = open.empty() ? 0 : open.back();
  if (at != StringRef::npos)
    form.line = 1 + static_cast<int>(StringRef(code).take_front(at).count('\n'));
  return form;
}

SourceForm annudf::findSymbol(StringRef source, const std::string &symbol) {
  SourceForm form = findForm(source);
  const std::string code = withoutCommentsAndLiterals(source);
  const size_t at = findToken(code, symbol, "(");
  form.isPeer = form.hasFinalize = false;
  form.symbol = symbol;
  form.line =
      at == StringRef::npos ? 0 : 1 + static_cast<int>(StringRef(code).take_front(at).count('\n'));
  return form;
}

std::string annudf::findIncludedPath(StringRef source) {
  SmallVector<StringRef> lines;
  source.split(lines, '\n');
  for (auto [i, line] : enumerate(lines)) {
    line = line.ltrim();
    if (!line.consume_front("#"))
      continue;
    line = line.ltrim();
    if (!line.consume_front("include"))
      continue;
    const StringRef name =
        line.ltrim().drop_front(line.ltrim().empty() ? 0 : 1).take_until([](char c) {
          return c == '"' || c == '>';
        });
    if (name.starts_with("/") || name.contains(".."))
      return "line " + std::to_string(i + 1) + " includes " + name.str() +
             "; include headers that stand beside NVRTC, by name: a cache does not see others "
             "change";
  }
  return "";
}
