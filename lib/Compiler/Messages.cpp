//===- Messages.cpp - What a compile says, and where ----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Messages.h"

#include "annudf/Frontend/Diagnostics.h"
#include "annudf/Support/Printable.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::compiler;

/// The first "[L2]" in a message: rules stand behind the name of what they refuse.
static std::string ruleOf(StringRef message) {
  while (true) {
    message = message.split('[').second;
    if (message.empty())
      return "";
    StringRef label = message.take_until([](char c) { return c == ']'; });
    if (label.size() >= 2 && label.size() < message.size() && llvm::isUpper(label.front()) &&
        llvm::all_of(label.drop_front(), llvm::isDigit))
      return label.str();
  }
}

/// "metric.mlir:3:5: what"
static std::string spell(const annudf::Diagnostic &found) {
  std::string text = found.file;
  if (found.line || found.column)
    text += ":" + std::to_string(found.line) + ":" + std::to_string(found.column);
  return text + ": " + found.message;
}

annudf::Diagnostic Messages::at(Location where) const {
  annudf::Diagnostic found;
  found.file = printable(origin);
  if (auto place = where->findInstanceOf<FileLineColLoc>()) {
    found.file = printable(place.getFilename().str());
    found.line = place.getLine();
    found.column = place.getColumn();
  }
  return found;
}

LogicalResult Messages::record(mlir::Diagnostic &diagnostic) {
  // A text of a million words may hold as many errors.
  if (findings.diagnostics.size() >= ir::kMaxMessages) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && told.empty())
      told = origin + ": more than " + std::to_string(ir::kMaxMessages) + " messages";
    return success();
  }
  annudf::Diagnostic found = at(diagnostic.getLocation());
  llvm::raw_string_ostream os(found.message);
  os << diagnostic;
  found.rule = ruleOf(found.message);
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    os << "; ";
    if (auto place = note.getLocation()->findInstanceOf<FileLineColLoc>())
      os << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn();
    else
      os << origin;
    os << ": " << note;
  }
  found.message = ir::boundedMessage(std::move(found.message));
  const std::string text = spell(found);
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    told += (told.empty() ? "" : "\n") + text;
    break;
  case DiagnosticSeverity::Warning:
    found.severity = annudf::Diagnostic::Severity::Warning;
    findings.warnings.push_back(text);
    break;
  case DiagnosticSeverity::Note:
  case DiagnosticSeverity::Remark:
    found.severity = annudf::Diagnostic::Severity::Remark;
    findings.warnings.push_back(text);
    break;
  }
  findings.diagnostics.push_back(std::move(found));
  return success();
}

std::string Messages::inWords(mlir::Diagnostic &diagnostic) const {
  annudf::Diagnostic found = at(diagnostic.getLocation());
  llvm::raw_string_ostream(found.message) << diagnostic;
  found.message = ir::boundedMessage(std::move(found.message));
  return spell(found);
}

Fault Messages::fault() {
  if (told.empty())
    return refuse("cannot be compiled");
  return {ErrorKind::Input, told};
}

Fault Messages::refuse(const std::string &what) {
  annudf::Diagnostic found;
  found.file = origin;
  found.message = what;
  return refuse(std::move(found));
}

Fault Messages::refuse(Location where, const std::string &what) {
  annudf::Diagnostic found = at(where);
  found.message = what;
  return refuse(std::move(found));
}

Fault Messages::refuse(annudf::Diagnostic found) {
  const std::string text = spell(found);
  findings.diagnostics.push_back(std::move(found));
  return {ErrorKind::Input, text};
}

void Messages::warn(const std::string &what) {
  annudf::Diagnostic found;
  found.severity = annudf::Diagnostic::Severity::Warning;
  found.file = origin;
  found.message = what;
  findings.warnings.push_back(what);
  findings.diagnostics.push_back(std::move(found));
}
