//===- Diagnostics.cpp - What MLIR says, in bounds ------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Frontend/Diagnostics.h"

#include "annudf/Support/Printable.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;
using namespace annudf;

std::string annudf::ir::boundedMessage(std::string text) {
  if (text.size() > kMaxMessage) {
    size_t end = kMaxMessage;
    while (end > 0 && (text[end] & 0xc0) == 0x80)
      --end;
    const size_t rest = text.size() - end;
    text.resize(end);
    text += "... (" + std::to_string(rest) + " more bytes)";
  }
  return printable(text, Lines::Keep);
}

static const char *wordOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  llvm_unreachable("every severity has a word");
}

static void print(Diagnostic &diagnostic, llvm::raw_ostream &os) {
  if (auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    os << ir::boundedMessage(place.getFilename().str()) << ":" << place.getLine() << ":"
       << place.getColumn() << ": ";
  os << wordOf(diagnostic.getSeverity()) << ": " << ir::boundedMessage(diagnostic.str()) << "\n";
}

/// Whether a driver may print any line of it.
static bool hasShortLines(StringRef source) {
  while (!source.empty()) {
    auto [line, rest] = source.split('\n');
    if (line.size() > ir::kMaxMessage || !isPrintable(line, Lines::Keep))
      return false;
    source = rest;
  }
  return true;
}

DiagnosticEngine::HandlerTy annudf::ir::boundedHandler(StringRef source, llvm::raw_ostream &os) {
  return [shortLines = hasShortLines(source), count = size_t(0),
          &os](Diagnostic &diagnostic) mutable -> LogicalResult {
    if (++count > kMaxMessages) {
      if (count == kMaxMessages + 1)
        os << "more than " << kMaxMessages << " messages; the others are left out\n";
      return success();
    }
    const auto isShort = [](Diagnostic &part) {
      const std::string text = part.str();
      return text.size() <= kMaxMessage && isPrintable(text, Lines::Keep);
    };
    auto notes = diagnostic.getNotes();
    if (shortLines && isShort(diagnostic) && std::all_of(notes.begin(), notes.end(), isShort))
      return failure();
    print(diagnostic, os);
    for (Diagnostic &note : notes)
      print(note, os);
    return success();
  };
}
