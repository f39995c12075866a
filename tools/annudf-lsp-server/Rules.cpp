//===- Rules.cpp - The rules of the ABI, for editors ----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include "annudf/Dialect/IR/Annudf.h"
#include "annudf/Dialect/Transforms/Passes.h"
#include "annudf/Frontend/Diagnostics.h"
#include "annudf/Frontend/Source.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace annudf;
namespace json = llvm::json;

/// From a location, which counts from 1, to the end of the word there.
static json::Object rangeOf(Location location, ArrayRef<StringRef> lines) {
  int64_t line = 0, begin = 0;
  if (auto place = location->findInstanceOf<FileLineColLoc>()) {
    line = std::max<int64_t>(place.getLine(), 1) - 1;
    begin = std::max<int64_t>(place.getColumn(), 1) - 1;
  }
  const StringRef rest =
      line < static_cast<int64_t>(lines.size()) ? lines[line].drop_front(begin) : "";
  const auto length =
      rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; }).size();
  return json::Object{
      {"start", json::Object{{"line", line}, {"character", begin}}},
      {"end", json::Object{{"line", line}, {"character", begin + static_cast<int64_t>(length)}}}};
}

/// As the protocol numbers them.
static int severityOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return 1;
  case DiagnosticSeverity::Warning:
    return 2;
  case DiagnosticSeverity::Remark:
  case DiagnosticSeverity::Note:
    return 3;
  }
  llvm_unreachable("a severity that MLIR does not have");
}

json::Array lsp::verify(StringRef text, StringRef uri, const DialectRegistry &registry) {
  json::Array found;
  SmallVector<StringRef> lines, parts;
  text.split(lines, '\n');
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  const ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    json::Array notes;
    for (Diagnostic &note : diagnostic.getNotes())
      notes.push_back(json::Object{
          {"location", json::Object{{"uri", uri}, {"range", rangeOf(note.getLocation(), lines)}}},
          {"message", ir::boundedMessage(note.str())}});
    json::Object entry{{"range", rangeOf(diagnostic.getLocation(), lines)},
                       {"severity", severityOf(diagnostic.getSeverity())},
                       {"source", "annudf"},
                       {"message", ir::boundedMessage(diagnostic.str())}};
    if (!notes.empty())
      entry["relatedInformation"] = std::move(notes);
    found.push_back(std::move(entry));
    return success();
  });
  // The server reads what stands between such lines as files of their own.
  text.split(parts, "// -----");
  for (StringRef part : parts) {
    const std::string before(text.take_front(part.data() - text.data()).count('\n'), '\n');
    OwningOpRef<ModuleOp> module = ir::parseModule(before + part.str(), uri, &context);
    if (!module || ir::collectIn<ir::UdfOpInterface>(*module).empty())
      continue;
    PassManager raising(&context), passes(&context);
    raising.addPass(createRaisePairwisePass({/*keep=*/true}));
    (void)raising.run(*module);
    passes.addPass(createVerifyAnyModulePass()); // A file may be one of kernels.
    (void)passes.run(*module);                   // The handler has what it says.
  }
  return found;
}

/// The first "[L2]" of a message, as messages of annudf have it.
static StringRef labelOf(StringRef message) {
  while (!message.empty()) {
    message = message.split('[').second;
    const StringRef label = message.take_until([](char c) { return c == ']'; });
    if (label.size() >= 2 && llvm::isUpper(label.front()) &&
        llvm::all_of(label.drop_front(), llvm::isDigit))
      return label;
  }
  return "";
}

void lsp::linkRule(json::Object &diagnostic, StringRef page) {
  const std::optional<StringRef> message = diagnostic.getString("message");
  const std::string label = message ? labelOf(*message).str() : "";
  if (label.empty())
    return;
  diagnostic["source"] = "annudf";
  diagnostic["code"] = label;
  std::string address = page.str();
  if (auto file = llvm::MemoryBuffer::getFile(page)) {
    // Editors open a file at a line; a row of a table has no anchor.
    const StringRef rows = (*file)->getBuffer();
    const size_t at = rows.find("\n| " + label + " |");
    const size_t line = rows.take_front(at == StringRef::npos ? 0 : at + 1).count('\n') + 1;
    SmallString<128> path(page);
    if (!llvm::sys::fs::make_absolute(path))
      address = ("file://" + path.str() + "#L" + llvm::Twine(line)).str();
  }
  diagnostic["codeDescription"] = json::Object{{"href", address}};
}
