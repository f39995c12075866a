//===- Log.cpp - NVRTC's log in parts -------------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace llvm;
using namespace annudf;

/// Reads "FILE(LINE): error: TEXT", "FILE(LINE): warning #123-D: TEXT".
static bool readHead(StringRef line, StringRef &file, uint32_t &number, Diagnostic &found) {
  const std::pair<StringRef, Diagnostic::Severity> kinds[] = {
      {"): error", Diagnostic::Severity::Error},
      {"): catastrophic error", Diagnostic::Severity::Error},
      {"): warning", Diagnostic::Severity::Warning},
      {"): remark", Diagnostic::Severity::Remark}};
  for (auto [kind, severity] : kinds) {
    auto [place, rest] = line.split(kind);
    if (place.size() == line.size())
      continue;
    auto [name, digits] = place.rsplit('(');
    if (digits.getAsInteger(10, number))
      continue;
    auto [code, message] = rest.split(": "); // The code is " #20013-D" or nothing.
    file = name;
    found.severity = severity;
    found.message = message.str();
    return true;
  }
  return false;
}

/// Column in line `number` of `source` from the line that the log quotes and the one that
/// points into it: both are indented, the first without the blanks it begins with.
static uint32_t columnOf(StringRef source, uint32_t number, StringRef quote, StringRef pointer) {
  for (uint32_t i = 1; i < number; ++i)
    source = source.split('\n').second;
  StringRef line = source.split('\n').first;
  size_t caret = pointer.find('^'), indent = quote.size() - quote.ltrim().size();
  size_t start = line.find(quote.trim());
  if (caret == StringRef::npos || pointer.trim() != "^" || caret < indent || quote.trim().empty() ||
      start == StringRef::npos)
    return 0;
  return static_cast<uint32_t>(start + caret - indent + 1);
}

std::vector<Diagnostic> annudf::parseLog(StringRef log, StringRef source,
                                         const std::string &origin) {
  SmallVector<StringRef> lines;
  log.split(lines, '\n');
  std::vector<Diagnostic> diagnostics;
  for (size_t i = 0; i < lines.size(); ++i) {
    Diagnostic found;
    StringRef file;
    uint32_t number = 0;
    if (!readHead(lines[i], file, number, found))
      continue;
    StringRef message = found.message;
    // static_assert with a text of ours: the text says all.
    if (message.consume_front("static assertion failed with \"") && message.consume_back("\""))
      found.message = message.str();
    // Its second half, which names what was found.
    message = found.message;
    if (message.consume_front("incomplete type \"annudf_found<")) {
      StringRef type = message.split(", false>").first;
      if (!diagnostics.empty() && type.size() < message.size())
        diagnostics.back().message += "; found is " + type.str();
      continue;
    }
    found.file = file == kSourceName ? origin : file.str();
    if (file == kGeneratedName) {
      if (found.severity != Diagnostic::Severity::Error)
        continue;
      found.file = origin;
      found.message = "in the generated hooks: " + found.message;
    } else if (file == kSourceName) {
      found.line = number;
      if (i + 2 < lines.size())
        found.column = columnOf(source, number, lines[i + 1], lines[i + 2]);
    } else {
      found.line = number;
    }
    diagnostics.push_back(std::move(found));
  }
  // Only what the source itself says has a column; the rest may follow from that.
  if (llvm::any_of(diagnostics, [](const Diagnostic &found) {
        return found.severity == Diagnostic::Severity::Error && found.column > 0;
      }))
    llvm::erase_if(diagnostics, [](const Diagnostic &found) { return found.column == 0; });
  // A template is refused once for every element type, in the same words.
  auto isSame = [](const Diagnostic &a, const Diagnostic &b) {
    return a.line == b.line && a.file == b.file && a.message == b.message;
  };
  diagnostics.erase(std::unique(diagnostics.begin(), diagnostics.end(), isSame), diagnostics.end());
  return diagnostics;
}
